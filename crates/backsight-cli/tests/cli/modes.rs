//! Permission bits come back exactly, are a change of their own, and nothing else is disturbed to put them back.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::fixture::Fixture;
use crate::picture::identities;

const FILE_MODES: [u32; 15] =
    [0o600, 0o444, 0o755, 0o640, 0o000, 0o777, 0o4755, 0o2755, 0o6711, 0o1644, 0o400, 0o200, 0o111, 0o7777, 0o664];
const DIRECTORY_MODES: [u32; 8] = [0o700, 0o555, 0o1777, 0o2775, 0o000, 0o711, 0o500, 0o7777];

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Files and directories of every mode; a directory's mode is set after it is filled.
fn planted() -> Fixture {
    let fixture = Fixture::new();
    for mode in FILE_MODES {
        let name = format!("file-{mode:04o}");
        fixture.write(&name, &name);
        chmod(&fixture.root().join(&name), mode);
    }
    for mode in DIRECTORY_MODES {
        let (full, empty) = (format!("full-{mode:04o}"), format!("empty-{mode:04o}"));
        fixture.write(&format!("{full}/inside"), &full);
        fs::create_dir(fixture.root().join(&empty)).unwrap();
        chmod(&fixture.root().join(full), mode);
        chmod(&fixture.root().join(empty), mode);
    }
    fixture
}

#[test]
fn every_mode_comes_back_after_deletion() {
    let fixture = planted();
    let tracked = fixture.ok("track");
    assert_eq!(tracked["coverage"]["complete"], true, "{}", tracked["coverage"]);
    let before = fixture.picture();
    for entry in fs::read_dir(fixture.root()).unwrap().map(|entry| entry.unwrap()) {
        if entry.file_name() != ".backsight" {
            let path = entry.path();
            if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::remove_file(path).unwrap() }
        }
    }
    fixture.track();
    fixture.ok("restore 1");
    fixture.picture().expect(&before, "restore");
    fixture.ok("undo");
    fixture.ok("redo");
    fixture.picture().expect(&before, "redo");
    fixture.verify();
}

#[test]
fn every_mode_comes_back_after_a_chmod_and_nothing_is_rewritten() {
    let fixture = planted();
    fixture.track();
    let (before, identities_before) = (fixture.picture(), identities(fixture.root()));
    for mode in FILE_MODES {
        chmod(&fixture.root().join(format!("file-{mode:04o}")), 0o646);
    }
    for mode in DIRECTORY_MODES {
        chmod(&fixture.root().join(format!("full-{mode:04o}")), 0o751);
        chmod(&fixture.root().join(format!("empty-{mode:04o}")), 0o751);
    }
    let tracked = fixture.ok("track");
    for change in tracked["changes"].as_array().unwrap() {
        assert_eq!(change["status"], "mode_changed", "{change}");
    }
    assert_eq!(tracked["changes"].as_array().unwrap().len(), FILE_MODES.len() + 2 * DIRECTORY_MODES.len());
    fixture.ok("restore 1");
    fixture.picture().expect(&before, "restore");
    assert_eq!(identities(fixture.root()), identities_before, "a chmod needs no new file");
}

#[test]
fn a_restore_disturbs_no_other_file() {
    let fixture = Fixture::new();
    for number in 0..40 {
        fixture.write(&format!("d{}/f{number}", number % 4), &format!("{number}\n"));
    }
    fixture.track();
    let before = identities(fixture.root());
    fixture.write("d1/f1", "edited\n");
    fs::remove_file(fixture.root().join("d2/f2")).unwrap();
    fixture.write("d3/new", "new\n");
    fixture.ok("restore 1");
    let after = identities(fixture.root());
    for (path, identity) in &before {
        if ![Path::new("d1/f1"), Path::new("d2/f2")].contains(&path.as_path()) {
            assert_eq!(after.get(path), Some(identity), "{}", path.display());
        }
    }
    assert_eq!(after.len(), before.len());
    for line in ["track", "status", "diff 1", "verify", "gc", "restore 1", "log", "undo", "redo"] {
        fixture.ask(line);
    }
    let last = identities(fixture.root());
    for path in ["d0/f0", "d1/f5", "d2/f6", "d3/f3"] {
        assert_eq!(last[Path::new(path)], before[Path::new(path)], "{path}");
    }
}

/// The umask of the process decides nothing.
#[test]
fn the_umask_has_no_effect() {
    for umask in ["000", "022", "077", "777"] {
        let fixture = planted();
        let before = fixture.picture();
        let run = |line: &str| {
            let mut command = std::process::Command::new("sh");
            command.arg("-c").arg(format!("umask {umask}; exec \"$0\" {line}")).arg(env!("CARGO_BIN_EXE_backsight"));
            command.current_dir(fixture.root()).env("HOME", fixture.home());
            let output = command.output().unwrap();
            assert!(output.status.success(), "umask {umask} {line}: {}", String::from_utf8_lossy(&output.stderr));
        };
        run("track");
        for mode in FILE_MODES {
            fs::remove_file(fixture.root().join(format!("file-{mode:04o}"))).unwrap();
        }
        for mode in DIRECTORY_MODES {
            fs::remove_dir_all(fixture.root().join(format!("full-{mode:04o}"))).unwrap();
            fs::remove_dir_all(fixture.root().join(format!("empty-{mode:04o}"))).unwrap();
        }
        run("restore 1");
        fixture.picture().expect(&before, &format!("umask {umask}"));
        crate::store_and_git::assert_private(&fixture);
    }
}

/// A file that changes content and mode at once, in both directions.
#[test]
fn content_and_mode_change_together() {
    let fixture = Fixture::new();
    fixture.write("key", "secret\n");
    chmod(&fixture.root().join("key"), 0o600);
    fixture.track();
    let before = fixture.picture();
    fixture.write("key", "other\n");
    chmod(&fixture.root().join("key"), 0o4755);
    let tracked = fixture.ok("track");
    assert_eq!(tracked["changes"][0]["status"], "modified");
    assert_eq!(tracked["changes"][0]["before"]["mode"], "0600");
    assert_eq!(tracked["changes"][0]["after"]["mode"], "4755");
    let after = fixture.picture();
    fixture.ok("undo");
    fixture.picture().expect(&before, "undo");
    fixture.ok("redo");
    fixture.picture().expect(&after, "redo");
}

/// Read-only directories are no obstacle, and are read-only again afterwards.
#[test]
fn contents_of_read_only_directories_are_restored() {
    let fixture = Fixture::new();
    fixture.write("ro/a", "a\n");
    fixture.write("ro/sub/b", "b\n");
    chmod(&fixture.root().join("ro/sub"), 0o555);
    chmod(&fixture.root().join("ro"), 0o555);
    fixture.track();
    let before = fixture.picture();
    fixture.write("ro/a", "changed\n");
    fixture.write("ro/new", "n\n");
    fs::remove_file(fixture.root().join("ro/sub/b")).unwrap();
    fixture.track();
    fixture.ok("restore 1");
    fixture.picture().expect(&before, "restore");
}
