//! The store is a repository any git can read, private to its owner, and invisible to the user's own git.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::fixture::Fixture;
use crate::picture::walk;

/// Directories 0700 and files 0600, all of them.
#[track_caller]
pub fn assert_private(fixture: &Fixture) {
    let own = fixture.root().join(".backsight");
    let mut wrong = Vec::new();
    let mut check = |path: &Path, full: &Path| {
        let metadata = full.symlink_metadata().unwrap();
        let expected = if metadata.is_dir() { 0o700 } else { 0o600 };
        let mode = metadata.permissions().mode() & 0o7777;
        if mode & !expected != 0 {
            wrong.push(format!("{} {mode:04o}", path.display()));
        }
        true
    };
    check(Path::new(".backsight"), &own);
    walk(&own, Path::new(""), &mut check);
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// Real git finds nothing wrong with the store.
#[track_caller]
pub fn assert_fsck(fixture: &Fixture) {
    let mut command = fixture.git_command(fixture.root());
    let output =
        command.args(["--git-dir", ".backsight/store/snapshots", "fsck", "--full", "--strict"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    let fine = |line: &str| line.starts_with("dangling") || line.starts_with("notice:") || line.starts_with("Checking");
    let wrong: Vec<&str> = said.lines().filter(|line| !fine(line)).collect();
    assert!(output.status.success() && wrong.is_empty(), "{wrong:?}");
}

/// Every command once, in an order that leaves traces of all of them.
pub fn everything(fixture: &Fixture) {
    fixture.write("a.txt", "1\n");
    fixture.write("d/b.txt", "1\n");
    fs::create_dir_all(fixture.root().join("empty")).unwrap();
    for line in ["init", "status", "track -m one", "track", "config", "config set max_files 5000"] {
        fixture.ok(line);
    }
    fixture.write("a.txt", "2\n");
    fixture.write("c.txt", "2\n");
    fixture.ok("track --tool t --session s --message m --part p --declare a.txt");
    fs::remove_file(fixture.root().join("d/b.txt")).unwrap();
    fixture.ok("track");
    for line in [
        "log",
        "show @",
        "ls @",
        "patch 1",
        "diff 1",
        "diff 1 2",
        "restore 1 --dry-run",
        "restore 1",
        "undo",
        "redo",
        "undo",
        "revert 2",
        "undo",
        "pin 2",
        "usage",
        "gc --dry-run",
        "gc --keep-count 3",
        "verify",
        "doctor",
        "unpin 2",
        "restore @~1 -- a.txt",
        "undo",
    ] {
        fixture.ok(line);
    }
    fixture.cat("@", b"c.txt");
}

#[test]
fn fsck_finds_nothing_after_everything() {
    let fixture = Fixture::new();
    everything(&fixture);
    assert_fsck(&fixture);
    assert_private(&fixture);
    fixture.ok("gc --keep-count 1");
    assert_fsck(&fixture);
    fixture.verify();
}

#[test]
fn git_reads_every_tree_and_blob() {
    let fixture = Fixture::new();
    fixture.write("a.txt", "text\n");
    fixture.write("d/b", "b\n");
    let tree = fixture.ok("track")["tree"].as_str().unwrap().to_owned();
    let git = |line: &str| fixture.git(&format!("--git-dir .backsight/store/snapshots {line}"));
    assert_eq!(git(&format!("ls-tree -r --name-only {tree}")), "a.txt\nd/b\n");
    assert_eq!(git(&format!("cat-file -p {tree}:a.txt")), "text\n");
    assert!(git("for-each-ref").contains(&tree), "the snapshot is a root: no git gc takes it");
}

/// Somebody runs `git gc` in the store: it is a repository after all.
#[test]
fn a_gc_by_git_itself_loses_nothing() {
    let fixture = Fixture::new();
    let mut pictures = Vec::new();
    for version in 0..5 {
        fixture.write("a.txt", &format!("{version}\n").repeat(200));
        fixture.write(&format!("d/{version}"), "x\n");
        fixture.track();
        pictures.push(fixture.picture());
    }
    fixture.git("--git-dir .backsight/store/snapshots gc -q --aggressive --prune=now");
    fixture.verify();
    for (index, picture) in pictures.iter().enumerate() {
        fixture.ok(&format!("restore {}", index + 1));
        fixture.picture().expect(picture, "restore after git gc");
    }
    fixture.ok("gc --keep-count 4");
    fixture.verify();
    assert_fsck(&fixture);
}

#[test]
fn everything_in_the_store_is_private() {
    let fixture = Fixture::new();
    fixture.write("a", "secret\n");
    fixture.track();
    for _ in 0..3 {
        fixture.write("a", "other secret\n");
        fixture.track();
        fixture.ok("undo");
        assert_private(&fixture);
    }
}

/// Names that are a `.git` on other systems, and `.gitmodules` that git would not accept, are files like any other.
#[test]
fn fsck_accepts_names_that_other_systems_take_for_git() {
    let fixture = Fixture::new();
    for name in [".git ", ".git.", "git~1", ".g\u{200c}it", ".git::$INDEX_ALLOCATION"] {
        fixture.write(&format!("aliases/{name}/file"), "x\n");
    }
    fixture.write(".gitmodules", "[submodule \"../../x\"]\n\tpath = -x\n\turl = -u\n\tupdate = !sh\n");
    fixture.write("a/.gitmodules/file", "x\n");
    fixture.write("a/.gitattributes", &"x".repeat(5000));
    fs::create_dir(fixture.root().join("b")).unwrap();
    for name in [".gitmodules", ".gitattributes", ".gitignore", ".mailmap"] {
        std::os::unix::fs::symlink("x", fixture.root().join("b").join(name)).unwrap();
    }
    fixture.track();
    let before = fixture.picture();
    assert_fsck(&fixture);
    for name in ["aliases", "a", "b"] {
        fs::remove_dir_all(fixture.root().join(name)).unwrap();
    }
    fixture.ok("restore 1");
    fixture.picture().expect(&before, "restore");
}
