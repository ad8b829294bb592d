//! `export` and `import`: a whole history in one file, taken over whole or not at all.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::fixture::Fixture;

fn another(fixture: &Fixture, name: &str) -> PathBuf {
    let path = fixture.base().join(name);
    fs::create_dir(&path).unwrap();
    path
}

/// Nothing of a store, also not a half one.
fn is_untouched(directory: &Path) -> bool {
    let own = directory.join(".backsight");
    !own.exists() || fs::read_dir(own).unwrap().next().is_none()
}

#[test]
fn a_history_moves_in_one_file() {
    let fixture = Fixture::with_history();
    fixture.done("milestone create 'Phase 1'");
    fixture.done("config set max_file_size 5KiB");
    fixture.done("pin 1");
    let exported = fixture.ok("export ../history");
    let file = fixture.base().join("history");
    assert_eq!(exported["bytes"], fs::metadata(&file).unwrap().len());
    let head = fixture.ok("verify")["chain_head"].clone();
    let copy = another(&fixture, "copy");
    fs::write(copy.join("a.txt"), "of the user\n").unwrap();
    let imported = fixture.ok("-C ../copy import ../history");
    assert_eq!(imported["rows"], exported["rows"]);
    assert_eq!(fs::read_to_string(copy.join("a.txt")).unwrap(), "of the user\n");
    let verified = fixture.ok("-C ../copy verify");
    assert_eq!((&verified["clean"], &verified["chain_head"]), (&true.into(), &head));
    fixture.done("-C ../copy restore 'Phase 1'");
    assert_eq!(fs::read_to_string(copy.join("a.txt")).unwrap(), fixture.read("a.txt"));
    assert_eq!(fs::read_to_string(copy.join("c.txt")).unwrap(), "c\n");
    // What acts is not taken over; and the store is this user's, with an identity of its own.
    assert_ne!(
        fixture.ok("-C ../copy config get max_file_size")["value"],
        fixture.ok("config get max_file_size")["value"]
    );
    assert_ne!(
        fs::read(copy.join(".backsight/store/identity")).unwrap(),
        fs::read(fixture.root().join(".backsight/store/identity")).unwrap()
    );
    fs::write(copy.join("new"), "n\n").unwrap();
    fixture.done("-C ../copy track");
    assert_eq!(fs::read_to_string(copy.join(".backsight/.gitignore")).unwrap(), "*\n");
}

#[test]
fn nothing_is_written_over() {
    let fixture = Fixture::with_history();
    fixture.done("export ../history");
    let refused = fixture.ask("export ../history").fails("USAGE", 2);
    assert!(refused["message"].as_str().unwrap().contains("exists already"), "{refused}");
    let refused = fixture.ask("import ../history").fails("USAGE", 2);
    assert!(refused["message"].as_str().unwrap().contains("has a history already"), "{refused}");
    fixture.verify();
    another(&fixture, "empty");
    fixture.ask("-C ../empty export ../nothing").fails("WORKSPACE_NOT_FOUND", 4);
    assert!(!fixture.base().join("nothing").exists());
}

#[test]
fn what_came_with_the_directory_is_named_before_the_file_is_looked_for() {
    let fixture = Fixture::new();
    let elsewhere = another(&fixture, "elsewhere");
    std::os::unix::fs::symlink(&elsewhere, fixture.root().join(".backsight")).unwrap();
    let refused = fixture.ask("import ../not-there").fails("STORE_NOT_OURS", 3);
    assert_eq!(refused["details"]["reason"], "special", "{refused}");
    assert!(fs::read_dir(elsewhere).unwrap().next().is_none());
}

#[test]
fn what_is_cut_short_damaged_or_something_else_leaves_nothing() {
    let fixture = Fixture::with_history();
    fixture.done("export ../history");
    let file = fixture.base().join("history");
    let whole = fs::read(&file).unwrap();
    let copy = another(&fixture, "copy");
    let mut changed = whole.clone();
    let middle = whole.len() / 2;
    changed[middle] ^= 1;
    let cases: [(&[u8], &str, i32, &str); 5] = [
        (&whole[..whole.len() - 1], "DAMAGED", 5, "cut short"),
        (&whole[..middle], "DAMAGED", 5, "cut short"),
        (&changed, "DAMAGED", 5, "is damaged"),
        (b"#!/bin/sh\n", "USAGE", 2, "not an exported store"),
        (b"backsight store 9\n", "STORE_VERSION", 5, "format 9"),
    ];
    for (bytes, code, status, words) in cases {
        fs::write(&file, bytes).unwrap();
        let refused = fixture.ask("-C ../copy import ../history").fails(code, status);
        assert!(refused["message"].as_str().unwrap().contains(words), "{refused}");
        assert!(is_untouched(&copy), "{words}");
    }
    fixture.ask("-C ../copy import ..").fails("USAGE", 2);
    fixture.ask("-C ../copy import ../nowhere").fails("IO", 6);
    fs::write(&file, &whole).unwrap();
    fixture.done("-C ../copy import ../history");
    assert_eq!(fixture.ok("-C ../copy verify")["clean"], true);
}

#[test]
fn an_import_that_is_killed_is_started_again() {
    let fixture = Fixture::new();
    for step in 0..5 {
        let noise: Vec<u8> = (0..2_000_000_u32).map(|at| (at.wrapping_mul(2_654_435_761 + step) >> 13) as u8).collect();
        fs::write(fixture.root().join("noise"), noise).unwrap();
        fixture.done("track");
    }
    fixture.done("export ../history");
    let copy = another(&fixture, "copy");
    for milliseconds in [5, 15, 30, 60] {
        let mut command = fixture.command("-C ../copy import ../history");
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(milliseconds));
        let _ = child.kill();
        if child.wait().unwrap().success() {
            break;
        }
        assert!(!copy.join(".backsight/store").exists() || fixture.ok("-C ../copy verify")["clean"] == true);
    }
    if !copy.join(".backsight/store").exists() {
        fixture.done("-C ../copy import ../history");
    }
    assert_eq!(fixture.ok("-C ../copy verify")["clean"], true);
    assert_eq!(fixture.ok("-C ../copy log")["rows"].as_array().unwrap().len(), 5);
    let left: Vec<_> = fs::read_dir(copy.join(".backsight")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    let is_making = |name: &std::ffi::OsString| name.to_string_lossy().starts_with("making-");
    // One that was killed before it held anything may remain; none with contents does.
    for name in left.iter().filter(|name| is_making(name)) {
        assert!(!copy.join(".backsight").join(name).join("snapshots").exists(), "{left:?}");
    }
}
