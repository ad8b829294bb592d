//! Every kind of thing turned into every other kind, and back: the tree must come back exactly.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use crate::fixture::Fixture;
use crate::picture::Picture;

const KINDS: [&str; 14] = [
    "absent",
    "file",
    "other-file",
    "executable",
    "empty-file",
    "link-to-file",
    "link-to-directory",
    "dangling-link",
    "empty-directory",
    "directory",
    "nested",
    "nested-empty",
    "private-directory",
    "directory-of-links",
];

fn make(root: &Path, name: &str, kind: &str) {
    let path = root.join(name);
    let file = |path: &Path, text: &str, mode: u32| {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    match kind {
        "absent" => {}
        "file" => file(&path, &format!("text of {name}\n"), 0o644),
        "other-file" => file(&path, "something else", 0o640),
        "executable" => file(&path, &format!("text of {name}\n"), 0o755),
        "empty-file" => file(&path, "", 0o644),
        "link-to-file" => symlink("target", &path).unwrap(),
        "link-to-directory" => symlink("targets", &path).unwrap(),
        "dangling-link" => symlink("no/where", &path).unwrap(),
        "empty-directory" => fs::create_dir(&path).unwrap(),
        "directory" => {
            file(&path.join("a"), "a\n", 0o644);
            file(&path.join("b"), "b\n", 0o600);
        }
        "nested" => {
            file(&path.join("a"), "deeper a\n", 0o644);
            file(&path.join("x/y/z"), "z\n", 0o755);
        }
        "nested-empty" => fs::create_dir_all(path.join("x/y")).unwrap(),
        "private-directory" => {
            file(&path.join("a"), "a\n", 0o400);
            fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        }
        "directory-of-links" => {
            fs::create_dir(&path).unwrap();
            symlink("../target", path.join("a")).unwrap();
            symlink("..", path.join("x")).unwrap();
        }
        _ => unreachable!(),
    }
}

fn clear(root: &Path, name: &str) {
    let path = root.join(name);
    match path.symlink_metadata() {
        Err(_) => {}
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path).unwrap(),
        Ok(_) => fs::remove_file(path).unwrap(),
    }
}

fn pairs() -> impl Iterator<Item = (String, &'static str, &'static str)> {
    let all = (0..KINDS.len()).flat_map(|from| (0..KINDS.len()).map(move |to| (from, to)));
    all.map(|(from, to)| (format!("p{from:02}-{to:02}"), KINDS[from], KINDS[to]))
}

/// A workspace where every pair went from its first kind (#1) to its second.
fn changed() -> (Fixture, Picture, Picture) {
    let fixture = Fixture::in_memory();
    fixture.write("target", "t\n");
    fixture.write("targets/inside", "i\n");
    for (name, from, _) in pairs() {
        make(fixture.root(), &name, from);
    }
    let before = fixture.picture();
    assert_eq!(fixture.track(), 1);
    for (name, _, to) in pairs() {
        clear(fixture.root(), &name);
        make(fixture.root(), &name, to);
    }
    let after = fixture.picture();
    (fixture, before, after)
}

#[test]
fn a_restore_undoes_every_change_of_type_at_once() {
    let (fixture, before, after) = changed();
    assert_eq!(fixture.track(), 2);
    fixture.ok("restore '#1'");
    fixture.picture().expect(&before, "restore");
    fixture.ok("undo");
    fixture.picture().expect(&after, "undo");
    fixture.ok("redo");
    fixture.picture().expect(&before, "redo");
    fixture.ok("restore '#2'");
    fixture.picture().expect(&after, "restore of the later state");
    fixture.verify();
}

#[test]
fn a_restore_over_changes_nobody_recorded_stores_them_first() {
    let (fixture, before, after) = changed();
    let applied = fixture.ok("restore '#1'");
    fixture.picture().expect(&before, "restore");
    let safety = applied["safety"].as_u64().unwrap();
    fixture.ok(&format!("restore '#{safety}'"));
    fixture.picture().expect(&after, "restore of the safety snapshot");
    fixture.ok("undo");
    fixture.picture().expect(&before, "undo of that");
    fixture.verify();
}

#[test]
fn a_revert_undoes_every_change_of_type_at_once() {
    let (fixture, before, after) = changed();
    assert_eq!(fixture.track(), 2);
    fixture.ok("revert '#2'");
    fixture.picture().expect(&before, "revert");
    fixture.ok("undo");
    fixture.picture().expect(&after, "undo");
    fixture.ok("redo");
    fixture.picture().expect(&before, "redo");
    fixture.ok("undo 2");
    fixture.picture().expect(&before, "undo of the revert and of the step");
    fixture.verify();
}

#[test]
fn a_restore_of_one_path_changes_its_type_and_nothing_else() {
    let (fixture, before, after) = changed();
    let mut expected = after;
    // A third of the pairs, every kind on both sides: each is a run of its own.
    for (name, from, to) in pairs().enumerate().filter(|(index, _)| index % 3 == 1).map(|(_, pair)| pair) {
        if (from, to) == ("absent", "absent") {
            fixture.ask(&format!("restore '#1' -- {name}")).fails("PATH_NOT_FOUND", 4);
            continue;
        }
        fixture.ok(&format!("restore '#1' -- {name}"));
        expected = expected.without(&name);
        expected.0.extend(before.at(&name).0);
        fixture.picture().expect(&expected, &format!("{to} back to {from}"));
    }
    fixture.verify();
}

#[test]
fn a_change_of_type_is_undone_one_by_one() {
    let fixture = Fixture::new();
    fixture.write("target", "t\n");
    fixture.write("targets/inside", "i\n");
    fixture.track();
    let mut pictures = vec![fixture.picture()];
    for kind in KINDS.iter().chain(KINDS.iter().rev()) {
        clear(fixture.root(), "p");
        make(fixture.root(), "p", kind);
        if fixture.ok("track")["created"] == true {
            pictures.push(fixture.picture());
        }
    }
    assert!(pictures.len() > 20, "{}", pictures.len());
    for picture in pictures.iter().rev().skip(1) {
        fixture.ok("undo");
        fixture.picture().expect(picture, "undo");
    }
    for picture in pictures.iter().skip(1) {
        fixture.ok("redo");
        fixture.picture().expect(picture, "redo");
    }
    fixture.verify();
}

/// What the user ignores inside a directory stays, whatever the directory becomes.
#[test]
fn ignored_contents_of_a_directory_are_never_lost() {
    for kind in KINDS {
        let fixture = Fixture::new();
        fixture.write(".gitignore", "*.ign\n");
        fixture.write("target", "t\n");
        fixture.write("targets/inside", "i\n");
        make(fixture.root(), "p", kind);
        fixture.track();
        let mut expected = fixture.picture();
        clear(fixture.root(), "p");
        fixture.write("p/kept", "kept\n");
        fixture.write("p/deep/secret.ign", "only copy\n");
        let before = fixture.picture();
        let answer = fixture.ask("restore '#1'");
        let after = fixture.picture();
        let secret = before.0[b"p/deep/secret.ign".as_slice()].clone();
        if expected
            .0
            .get(b"p".as_slice())
            .is_some_and(|thing| !matches!(thing, crate::picture::Thing::Directory { .. }))
        {
            answer.fails("NOT_COVERED", 3);
            after.expect(&before, &format!("refused restore of {kind}"));
            continue;
        }
        answer.ok();
        for path in [b"p".as_slice(), b"p/deep"] {
            expected.0.entry(path.to_vec()).or_insert(before.0[path].clone());
        }
        expected.0.insert(b"p/deep/secret.ign".to_vec(), secret);
        after.expect(&expected, &format!("restore of {kind}"));
        fixture.ok("undo");
        fixture.picture().expect(&before, &format!("undo of the restore of {kind}"));
    }
}
