//! Stores that lost bytes: nothing panics, nothing is claimed that is not so, no file is changed by a command that
//! cannot do its work, and what is still on disk is stored again.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::fixture::{Fixture, numbered};
use crate::picture::{Picture, walk};

/// A store with four snapshots, some of whose contents are no longer on disk, and a copy of it.
struct Patient {
    fixture: Fixture,
    known: BTreeMap<u64, Picture>,
    trees: BTreeMap<u64, String>,
}

impl Patient {
    fn new() -> Self {
        let fixture = Fixture::in_memory();
        let mut patient = Patient { fixture, known: BTreeMap::new(), trees: BTreeMap::new() };
        for version in 1..=4 {
            patient.arrange(version);
            let tracked = patient.fixture.ok("track");
            assert_eq!(tracked["sequence_number"], version);
            patient.known.insert(version, patient.fixture.picture());
            patient.trees.insert(version, tracked["tree"].as_str().unwrap().to_owned());
        }
        patient.fixture.done("config set max_files 1000");
        copy(&patient.fixture.root().join(".backsight"), &patient.fixture.base().join("healthy"));
        patient
    }

    /// The files of a version, by hand.
    fn arrange(&self, version: u64) {
        let number = usize::try_from(version).unwrap();
        self.fixture.write("changing.txt", &format!("version {version}\n"));
        self.fixture.write("same.txt", "always the same\n");
        self.fixture.write("deep/er/file.txt", &numbered(&[(number, "edited")]));
        for other in 1..=4 {
            let _ = fs::remove_file(self.fixture.root().join(format!("only-{other}")));
        }
        self.fixture.write(&format!("only-{version}"), &format!("only {version}\n"));
        fs::create_dir_all(self.fixture.root().join("empty")).unwrap();
    }

    /// The healthy store and the files of version 4 again.
    fn heal(&self) {
        // The directory itself stays: a copy of it would be another store.
        for entry in fs::read_dir(self.store()).unwrap().map(|entry| entry.unwrap().path()) {
            match entry.symlink_metadata().unwrap().is_dir() {
                true => fs::remove_dir_all(entry).unwrap(),
                false => fs::remove_file(entry).unwrap(),
            }
        }
        copy(&self.fixture.base().join("healthy/store/."), &self.store());
        self.arrange(4);
    }

    fn store(&self) -> PathBuf {
        self.fixture.root().join(".backsight/store")
    }

    /// Every file of the store, from its top.
    fn files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        walk(&self.store(), Path::new(""), &mut |path, full| {
            if full.is_file() {
                files.push(path.to_owned());
            }
            true
        });
        files
    }

    /// Tries everything a user would try, and checks that each answer is true or an error.
    fn examine(&self, what: &str) {
        let verified = self.fixture.ask("verify");
        assert!([0, 1, 2, 4, 5, 6].contains(&verified.status), "{what}: {}", verified.json);
        let clean = verified.status == 0;
        if verified.status == 1 && verified.json["damage"].is_array() {
            for damage in verified.json["damage"].as_array().unwrap() {
                assert!(!damage["what"].as_str().unwrap().is_empty(), "{what}: {damage}");
            }
        }
        let affected: Vec<u64> = verified.json["damage"]
            .as_array()
            .into_iter()
            .flatten()
            .flat_map(|damage| damage["snapshots"].as_array().unwrap())
            .filter_map(Value::as_u64)
            .collect();
        for version in [1, 3] {
            let before = self.fixture.picture();
            let answer = self.fixture.ask(&format!("restore '#{version}'"));
            let found = self.fixture.picture();
            if answer.status == 0 {
                found.expect(&self.known[&version], &format!("{what}: restore of {version}"));
            } else {
                found.expect(&before, &format!("{what}: failed restore of {version}"));
                // Settings are a person's words; `verify` does not judge them.
                let settings = answer.code() == "INVALID_CONFIG";
                assert!(!clean || settings, "{what}: verify is clean, but {}", answer.json);
                // A `verify` that could not run has no list; one that ran names the version, or what all of them need.
                let listed = verified.json["damage"].as_array();
                let is_announced = affected.contains(&version) || listed.is_none_or(|damage| !damage.is_empty());
                assert!(is_announced || settings, "{what}: #{version} fails unannounced: {}", answer.json);
            }
        }
        self.arrange(4);
        let tracked = self.fixture.ask("track");
        if tracked.status != 0 {
            let settings = tracked.code() == "INVALID_CONFIG";
            assert!(!clean || settings, "{what}: verify is clean, but {}", tracked.json);
            return;
        }
        assert_eq!(tracked.json["tree"].as_str().unwrap(), self.trees[&4], "{what}: the tree of what is on disk");
        let newest = tracked.json["sequence_number"].as_u64().unwrap();
        self.fixture.write("changing.txt", "later\n");
        self.fixture.write("only-1", "later\n");
        self.fixture.ask(&format!("restore '#{newest}'")).ok();
        self.fixture.picture().expect(&self.known[&4], &format!("{what}: restore of what was just recorded"));
        let again = self.fixture.ask("verify");
        for damage in again.json["damage"].as_array().into_iter().flatten() {
            let snapshots = damage["snapshots"].as_array().unwrap();
            assert!(!snapshots.contains(&newest.into()), "{what}: still damaged after a track: {damage}");
        }
    }
}

fn copy(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap().success());
}

/// The ways a file goes bad.
const WAYS: [&str; 7] = ["gone", "empty", "half", "first byte", "middle byte", "last byte", "longer"];

/// False when the file cannot go bad in this way.
fn damage(file: &Path, way: &str) -> bool {
    let bytes = fs::read(file).unwrap();
    let flip = |at: usize| {
        let mut flipped = bytes.clone();
        flipped[at] ^= 0x40;
        flipped
    };
    let damaged = match way {
        "gone" => {
            fs::remove_file(file).unwrap();
            return true;
        }
        _ if bytes.is_empty() && way != "longer" => return false,
        "empty" => Vec::new(),
        "half" => bytes[..bytes.len() / 2].to_vec(),
        "first byte" => flip(0),
        "middle byte" => flip(bytes.len() / 2),
        "last byte" => flip(bytes.len() - 1),
        "longer" => [bytes.as_slice(), b"garbage"].concat(),
        _ => unreachable!(),
    };
    fs::write(file, damaged).unwrap();
    true
}

/// Every way for every file of the store whose path contains `part`.
fn every_way(part: &str) {
    let patient = Patient::new();
    let files: Vec<PathBuf> =
        patient.files().into_iter().filter(|file| file.to_string_lossy().contains(part)).collect();
    assert!(!files.is_empty(), "{part}");
    for file in &files {
        for way in WAYS {
            patient.heal();
            if damage(&patient.store().join(file), way) {
                patient.examine(&format!("{}: {way}", file.display()));
            }
        }
    }
}

#[test]
fn packs() {
    every_way(".pack");
}

#[test]
fn pack_indexes() {
    every_way(".idx");
}

#[test]
fn references() {
    every_way("packed-refs");
}

#[test]
fn head() {
    every_way("snapshots/HEAD");
}

#[test]
fn configuration_of_the_repository() {
    every_way("snapshots/config");
}

#[test]
fn settings() {
    every_way("config.toml");
}

#[test]
fn timeline() {
    every_way("timeline.db");
}

#[test]
fn lock() {
    every_way("store/lock".trim_start_matches("store/"));
}

/// The cache can be deleted or damaged at any time: nobody notices.
#[test]
fn the_stat_cache_heals_silently() {
    let patient = Patient::new();
    for way in WAYS {
        patient.heal();
        assert!(damage(&patient.store().join("cache/stat"), way));
        patient.fixture.verify();
        patient.fixture.write("changing.txt", "VERSION 4\n");
        let status = patient.fixture.ok("status");
        assert_eq!(status["changes"][0]["path"], "changing.txt", "{way}: {status}");
        patient.fixture.write("changing.txt", "version 4\n");
        let tracked = patient.fixture.ok("track");
        assert_eq!((&tracked["created"], tracked["tree"].as_str()), (&false.into(), Some(patient.trees[&4].as_str())));
    }
}

/// Any single flipped byte of the stat cache: a wrong "unchanged" would be the worst bug.
#[test]
fn no_flipped_byte_of_the_stat_cache_hides_a_change() {
    let patient = Patient::new();
    let file = patient.store().join("cache/stat");
    let bytes = fs::read(&file).unwrap();
    for at in (0..bytes.len()).step_by(bytes.len() / 60 + 1) {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1;
        fs::write(&file, flipped).unwrap();
        patient.fixture.write("same.txt", if at % 2 == 0 { "always the Same\n" } else { "always the sAme\n" });
        let status = patient.fixture.ok("status");
        assert_eq!(status["changes"][0]["path"], "same.txt", "byte {at}: {status}");
    }
}

/// A damaged blob of an old snapshot is named with the snapshots and paths it affects.
#[test]
fn verify_names_the_snapshots_and_paths() {
    let patient = Patient::new();
    let fixture = &patient.fixture;
    let listed = fixture.ok("ls 2");
    let blob = |path: &str| {
        let files = listed["files"].as_array().unwrap();
        files.iter().find(|file| file["path"] == path).unwrap()["blob"].as_str().unwrap().to_owned()
    };
    for (path, snapshots) in [("only-2", serde_json::json!([2])), ("same.txt", serde_json::json!([1, 2, 3, 4]))] {
        patient.heal();
        break_object(&patient, &blob(path));
        let verified = fixture.ask("verify");
        assert_eq!((verified.status, verified.code()), (1, "DAMAGED"), "{}", verified.json);
        let damage = verified.json["damage"].as_array().unwrap();
        let named = damage.iter().find(|damage| damage["what"].as_str().unwrap().contains(&blob(path))).unwrap();
        assert_eq!((&named["snapshots"], &named["paths"][0]), (&snapshots, &path.into()), "{named}");
    }
    // `only-2` is nowhere on disk: its snapshot fails in planning, the others work.
    patient.heal();
    break_object(&patient, &blob("only-2"));
    let before = fixture.picture();
    fixture.ask("restore 2").fails("DAMAGED", 5);
    fixture.picture().expect(&before, "restore that needs a damaged blob");
    fixture.ok("restore 1");
    fixture.ok("restore 2 -- changing.txt same.txt");
    assert_eq!(fixture.read("changing.txt"), "version 2\n");
    // The content turns up again: the next track stores it and everything is whole.
    fixture.write("found-again", "only 2\n");
    fixture.track();
    fixture.ok("restore 2");
    fixture.picture().expect(&patient.known[&2], "restore after the content was stored again");
    let again = fixture.ask("verify");
    assert!(again.status == 0 || !again.json["damage"].to_string().contains("only-2"), "{}", again.json);
}

/// Flips bits in the middle of one packed object.
fn break_object(patient: &Patient, id: &str) {
    let directory = patient.store().join("snapshots/objects/pack");
    for pack in fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()) {
        if pack.extension().is_none_or(|extension| extension != "pack") {
            continue;
        }
        let listed = patient.fixture.git_in(pack.parent().unwrap(), &format!("verify-pack -v {}", pack.display()));
        for line in listed.lines().filter(|line| line.starts_with(id)) {
            let numbers: Vec<usize> = line.split_whitespace().skip(3).map(|word| word.parse().unwrap()).collect();
            let (size, offset) = (numbers[0], numbers[1]);
            let mut bytes = fs::read(&pack).unwrap();
            bytes[offset + size / 2] ^= 0xff;
            bytes[offset + size - 1] ^= 0xff;
            fs::write(&pack, bytes).unwrap();
        }
    }
}

/// Losing a pack whose contents are all still on disk: one track makes the store whole again.
#[test]
fn content_that_is_still_on_disk_is_stored_again() {
    let fixture = Fixture::new();
    fixture.write("a", "a\n");
    fixture.write("d/b", "b\n");
    fixture.track();
    let directory = fixture.root().join(".backsight/store/snapshots/objects/pack");
    for extension in ["pack", "idx", "both"] {
        for entry in fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path()) {
            if extension == "both" || entry.extension().is_some_and(|found| found == extension) {
                fs::remove_file(entry).unwrap();
            }
        }
        let verified = fixture.ask("verify");
        assert_eq!(verified.status, 1, "{extension}: {}", verified.json);
        let tracked = fixture.ok("track");
        assert_eq!(fixture.cat("@", b"d/b"), b"b\n", "{extension}: {tracked}");
        fixture.verify();
    }
}

/// Damage behind an unchanged file (same size and time, so never read again) is mended too.
#[test]
fn a_damaged_blob_behind_an_unchanged_file_is_mended_by_track() {
    let fixture = Fixture::new();
    fixture.write("a", "content that stays\n");
    fixture.write("b", "1\n");
    fixture.track();
    for entry in fs::read_dir(fixture.root().join(".backsight/store/snapshots/objects/pack")).unwrap() {
        let path = entry.unwrap().path();
        let mut bytes = fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        if path.extension().is_some_and(|extension| extension == "pack") {
            bytes[middle] ^= 0xff;
            fs::write(&path, bytes).unwrap();
        }
    }
    assert_eq!(fixture.ask("verify").status, 1);
    fixture.write("b", "2\n");
    fixture.track();
    fixture.write("a", "x");
    fixture.ok("restore @~0 -- a");
    assert_eq!(fixture.read("a"), "content that stays\n");
}

/// Garbage where a restore's intent would be: an error or a clean recovery, never a half-done tree.
#[test]
fn a_damaged_journal_changes_no_file() {
    let patient = Patient::new();
    for text in [b"".as_slice(), b"{", b"\0\0\0\0", b"{\"version\":1,\"steps\":[{\"path\":\"same.txt\"}]}"] {
        patient.heal();
        let journal = patient.store().join("journal");
        fs::create_dir_all(&journal).unwrap();
        for name in ["intent", "intent.json", "1"] {
            fs::write(journal.join(name), text).unwrap();
        }
        let before = patient.fixture.picture();
        let status = patient.fixture.ask("status");
        patient.fixture.picture().expect(&before, "status over a damaged journal");
        assert!([0, 5].contains(&status.status), "{}", status.json);
        patient.fixture.ask("verify");
        patient.fixture.picture().expect(&before, "verify over a damaged journal");
    }
}

/// A journal entry that cannot be read: reading goes on, `verify` names it, and nothing is written over it.
#[test]
fn a_journal_entry_that_cannot_be_read_stops_writing_and_no_reading() {
    let patient = Patient::new();
    let journal = patient.store().join("journal");
    fs::create_dir_all(&journal).unwrap();
    fs::write(journal.join("0123.commit"), "{").unwrap();
    let before = patient.fixture.picture();
    for line in ["status", "log", "ls @", "diff 1"] {
        assert_eq!(patient.fixture.ask(line).status, 0, "{line}");
    }
    let verified = patient.fixture.ask("verify");
    assert_eq!(
        (verified.status, verified.json["damage"][0]["what"].as_str()),
        (1, Some("journal")),
        "{}",
        verified.json
    );
    for line in ["track", "restore 1", "undo", "gc"] {
        let answer = patient.fixture.ask(line);
        assert!(answer.json["error"]["hint"].as_str().unwrap().contains("0123.commit"), "{}", answer.json);
        answer.fails("DAMAGED", 5);
    }
    patient.fixture.picture().expect(&before, "commands over an unreadable journal entry");
    fs::remove_file(journal.join("0123.commit")).unwrap();
    patient.fixture.ok("restore 1");
}

/// The timeline overwritten by something else.
#[test]
fn a_timeline_that_is_no_database_is_refused() {
    let patient = Patient::new();
    let before = patient.fixture.picture();
    for name in ["timeline.db-wal", "timeline.db-shm"] {
        let _ = fs::remove_file(patient.store().join(name));
    }
    fs::write(patient.store().join("timeline.db"), "this is no database, it is a text that someone put here\n")
        .unwrap();
    for line in ["status", "track", "restore 1", "undo", "gc", "verify", "log", "usage", "doctor"] {
        let answer = patient.fixture.ask(line);
        assert!(answer.status == 5 || line == "doctor", "{line}: {}", answer.json);
        patient.fixture.picture().expect(&before, line);
    }
}

/// History that vanished is not the same as no history.
#[test]
fn a_timeline_that_is_gone_is_noticed() {
    let patient = Patient::new();
    for entry in fs::read_dir(patient.store()).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.to_string_lossy().contains("timeline.db") {
            fs::remove_file(entry).unwrap();
        }
    }
    let log = patient.fixture.ask("log");
    let verified = patient.fixture.ask("verify");
    assert!(log.status == 5 || verified.status == 5, "an empty history is claimed: {} {}", log.json, verified.json);
}
