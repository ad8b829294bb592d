//! Edits that the clock does not show: content decides, never time.

use std::collections::BTreeSet;
use std::fs::{self, File, FileTimes};

use crate::fixture::Fixture;
use crate::ignore_rules::git_tree;

/// The blob ids git gives to texts, in one run.
fn git_ids(fixture: &Fixture, texts: &[String]) -> Vec<String> {
    let directory = fixture.base().join("texts");
    fs::create_dir_all(&directory).unwrap();
    let files: Vec<_> = (0..texts.len()).map(|index| directory.join(index.to_string())).collect();
    for (file, text) in files.iter().zip(texts) {
        fs::write(file, text).unwrap();
    }
    let output =
        fixture.git_command(&directory).args(["hash-object", "--no-filters", "--"]).args(&files).output().unwrap();
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn edits_of_the_same_size_right_before_and_after_a_track_are_all_seen() {
    let fixture = Fixture::new();
    let texts: Vec<String> = (0..200).map(|round| format!("{round:04}\n")).collect();
    let ids = git_ids(&fixture, &texts);
    let mut trees = Vec::new();
    for text in &texts {
        fixture.write("a", text);
        trees.push(fixture.ok("track")["tree"].as_str().unwrap().to_owned());
    }
    assert_eq!(trees.iter().collect::<BTreeSet<_>>().len(), 200);
    // Git's own word for every tree: one entry, the blob.
    let mut command = fixture.git_command(fixture.root());
    command.args(["--git-dir", ".backsight/store/snapshots", "cat-file", "--batch-check=%(objectname)"]);
    let input: String = trees.iter().map(|tree| format!("{tree}:a\n")).collect();
    fs::write(fixture.base().join("input"), input).unwrap();
    let output = command.stdin(File::open(fixture.base().join("input")).unwrap()).output().unwrap();
    let found: Vec<String> = String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect();
    assert_eq!(found, ids);
}

#[test]
fn an_edit_with_its_time_put_back_is_seen() {
    let fixture = Fixture::new();
    fixture.write("a", "one\n");
    let path = fixture.root().join("a");
    let old = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    File::options().write(true).open(&path).unwrap().set_times(FileTimes::new().set_modified(old)).unwrap();
    fixture.track();
    for text in ["two\n", "six\n", "ten\n"] {
        fs::write(&path, text).unwrap();
        File::options().write(true).open(&path).unwrap().set_times(FileTimes::new().set_modified(old)).unwrap();
        let status = fixture.ok("status");
        assert_eq!((&status["clean"], &status["changes"][0]["path"]), (&false.into(), &"a".into()), "{text}");
        let tracked = fixture.ok("track");
        assert_eq!(tracked["tree"].as_str().unwrap(), git_tree(&fixture, &["a".to_owned()].into()), "{text}");
    }
}

#[test]
fn a_file_replaced_by_rename_with_size_and_time_kept_is_seen() {
    let fixture = Fixture::new();
    fixture.write("a", "one\n");
    fixture.track();
    for text in ["two\n", "six\n", "ten\n"] {
        let path = fixture.root().join("a");
        let time = fs::metadata(&path).unwrap().modified().unwrap();
        let new = fixture.base().join("new");
        fs::write(&new, text).unwrap();
        File::options().write(true).open(&new).unwrap().set_times(FileTimes::new().set_modified(time)).unwrap();
        fs::rename(&new, &path).unwrap();
        let tracked = fixture.ok("track");
        assert_eq!(fixture.cat("@", b"a"), text.as_bytes());
        assert_eq!(tracked["created"], true);
    }
}

#[test]
fn two_files_swapped_are_seen() {
    let fixture = Fixture::new();
    fixture.write("a", "one\n");
    fixture.write("b", "two\n");
    fixture.track();
    let path = |name: &str| fixture.root().join(name);
    fs::rename(path("a"), path("t")).unwrap();
    fs::rename(path("b"), path("a")).unwrap();
    fs::rename(path("t"), path("b")).unwrap();
    assert_eq!(fixture.ok("track")["created"], true);
    assert_eq!((fixture.cat("@", b"a"), fixture.cat("@", b"b")), (b"two\n".to_vec(), b"one\n".to_vec()));
}

#[test]
fn times_in_the_future_and_before_1970_hide_nothing() {
    let fixture = Fixture::new();
    let path = fixture.root().join("a");
    let epoch = std::time::SystemTime::UNIX_EPOCH;
    let year = std::time::Duration::from_secs(365 * 24 * 3600);
    for (index, time) in [epoch - year, epoch, epoch + 200 * year, epoch + year / 3].into_iter().enumerate() {
        for text in [format!("{index}a\n"), format!("{index}b\n")] {
            fs::write(&path, &text).unwrap();
            File::options().write(true).open(&path).unwrap().set_times(FileTimes::new().set_modified(time)).unwrap();
            fixture.track();
            assert_eq!(fixture.cat("@", b"a"), text.as_bytes());
        }
    }
}

/// A restore writes files; the very next edits of the same size must be seen too.
#[test]
fn edits_right_after_a_restore_are_seen() {
    let fixture = Fixture::new();
    fixture.write("a", "one\n");
    fixture.track();
    for round in 0..20 {
        fixture.write("a", "two\n");
        fixture.ok("restore 1");
        fixture.write("a", &format!("{round:03}\n"));
        let status = fixture.ok("status");
        assert_eq!(status["clean"], false, "round {round}");
    }
}

/// Nothing changed means the same snapshot, however often the files are touched.
#[test]
fn touching_files_is_no_change() {
    let fixture = Fixture::new();
    fixture.write("a", "one\n");
    fixture.write("d/b", "two\n");
    fixture.track();
    for _ in 0..3 {
        fixture.write("a", "one\n");
        fs::remove_file(fixture.root().join("d/b")).unwrap();
        fixture.write("d/b", "two\n");
        let tracked = fixture.ok("track");
        assert_eq!((&tracked["created"], &tracked["sequence_number"]), (&false.into(), &1.into()));
    }
}
