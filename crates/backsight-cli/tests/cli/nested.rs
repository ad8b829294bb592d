//! Repositories inside the workspace are directories with files in them; whatever is called `.git` is never touched.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::fixture::Fixture;
use crate::picture::walk;
use crate::store_and_git::everything;

/// What must not change of a file: bytes, inode, mode, times.
type Trace = (Vec<u8>, u64, u32, [i64; 3]);

/// Everything in every `.git` of the workspace.
fn gits(fixture: &Fixture) -> BTreeMap<PathBuf, Trace> {
    let mut found = BTreeMap::new();
    walk(fixture.root(), Path::new(""), &mut |path, full| {
        if path == Path::new(".backsight") {
            return false;
        }
        if path.components().any(|part| part.as_os_str() == ".git") {
            let metadata = full.symlink_metadata().unwrap();
            let bytes = if metadata.is_file() { fs::read(full).unwrap() } else { Vec::new() };
            let times = [metadata.mtime(), metadata.mtime_nsec(), metadata.ctime_nsec()];
            found.insert(path.to_owned(), (bytes, metadata.ino(), metadata.mode(), times));
        }
        true
    });
    found
}

/// A repository with history and staged changes, a nested one with commits, one without, a submodule and a worktree.
fn family() -> Fixture {
    let fixture = Fixture::new();
    let root = fixture.root();
    fixture.git("init -q .");
    fixture.write("tracked.txt", "t\n");
    fixture.git("add tracked.txt");
    fixture.git("commit -q -m first");
    for (name, commits) in [("nested", true), ("fresh", false)] {
        fixture.write(&format!("{name}/inside.txt"), "i\n");
        fixture.write(&format!("{name}/deep/er.txt"), "d\n");
        fixture.git_in(&root.join(name), "init -q .");
        if commits {
            fixture.git_in(&root.join(name), "add -A");
            fixture.git_in(&root.join(name), "commit -q -m nested");
        }
    }
    let module = fixture.base().join("module");
    fs::create_dir(&module).unwrap();
    fs::write(module.join("lib.c"), "c\n").unwrap();
    fixture.git_in(&module, "init -q .");
    fixture.git_in(&module, "add -A");
    fixture.git_in(&module, "commit -q -m module");
    fixture.git(&format!("-c protocol.file.allow=always submodule add -q {} sub", module.display()));
    fixture.git("worktree add -q tree");
    fixture.write("staged.txt", "s\n");
    fixture.git("add staged.txt");
    fixture.write("staged.txt", "s\nand an edit\n");
    fixture
}

#[test]
fn contents_of_nested_repositories_are_captured_and_restored() {
    let fixture = family();
    let tracked = fixture.ok("track");
    assert_eq!(tracked["coverage"]["complete"], true, "{}", tracked["coverage"]);
    let listed = fixture.ok("ls @");
    let names: Vec<&str> =
        listed["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
    for path in ["nested/inside.txt", "nested/deep/er.txt", "fresh/inside.txt", "sub/lib.c", "tree/tracked.txt"] {
        assert!(names.contains(&path), "{path}: {names:?}");
    }
    assert!(!names.iter().any(|path| path.split('/').any(|part| part == ".git")), "{names:?}");
    let (before, gits_before) = (fixture.picture(), gits(&fixture));
    for path in ["nested/inside.txt", "fresh/deep/er.txt", "sub/lib.c", "tree/tracked.txt"] {
        fixture.write(path, "changed\n");
    }
    fixture.write("sub/new.c", "new\n");
    fs::remove_dir_all(fixture.root().join("nested/deep")).unwrap();
    fixture.track();
    fixture.ok("restore 1");
    fixture.picture().expect(&before, "restore");
    fixture.ok("undo");
    fixture.ok("redo");
    fixture.picture().expect(&before, "redo");
    assert_eq!(gits(&fixture), gits_before);
}

#[test]
fn no_command_touches_a_byte_or_a_time_of_any_git() {
    let fixture = family();
    let (before, status) = (gits(&fixture), fixture.git("status --porcelain"));
    assert!(before.len() > 100, "{}", before.len());
    assert_eq!(gits(&fixture), before, "git itself is quiet");
    everything(&fixture);
    assert_eq!(gits(&fixture), before);
    let after = fixture.git("status --porcelain");
    assert!(!after.contains("backsight"), "{after}");
    assert!(status.contains("AM staged.txt") && after.contains("AM staged.txt"), "{after}");
}

/// A repository made after a snapshot: its files go with a restore, its `.git` and so its directory stay.
#[test]
fn a_repository_made_later_keeps_its_git() {
    let fixture = Fixture::new();
    fixture.write("a", "a\n");
    fixture.track();
    fixture.write("later/file", "f\n");
    fixture.git_in(&fixture.root().join("later"), "init -q .");
    fixture.git_in(&fixture.root().join("later"), "add -A");
    fixture.git_in(&fixture.root().join("later"), "commit -q -m x");
    let before = gits(&fixture);
    fixture.ok("restore 1");
    assert!(!fixture.root().join("later/file").exists());
    assert_eq!(gits(&fixture), before, "the repository itself is not ours to delete");
    fixture.ok("undo");
    assert_eq!(fixture.read("later/file"), "f\n");
    assert_eq!(fixture.git_in(&fixture.root().join("later"), "status --porcelain"), "");
}

/// A file cannot take the place of a directory that holds a repository.
#[test]
fn a_restore_that_would_remove_a_git_is_refused() {
    let fixture = Fixture::new();
    fixture.write("place", "a file\n");
    fixture.write("other", "1\n");
    fixture.track();
    fs::remove_file(fixture.root().join("place")).unwrap();
    fixture.write("place/file", "f\n");
    fixture.git_in(&fixture.root().join("place"), "init -q .");
    fixture.write("other", "2\n");
    let before = fixture.picture();
    for line in ["restore 1", "restore 1 -- place"] {
        fixture.ask(line).fails("NOT_COVERED", 3);
        fixture.picture().expect(&before, line);
    }
    fixture.ok("restore 1 -- other");
    assert_eq!(fixture.read("other"), "1\n");
}

/// `.git` as a file (worktrees, submodules) is as untouchable as a directory.
#[test]
fn a_git_file_is_never_captured_or_removed() {
    let fixture = Fixture::new();
    fixture.write("a", "a\n");
    fixture.track();
    fixture.write("wt/.git", "gitdir: /nowhere\n");
    fixture.write("wt/b", "b\n");
    fixture.write(".git", "gitdir: /nowhere/either\n");
    fixture.track();
    assert!(!fixture.ok("ls @").to_string().contains(".git\""));
    fixture.ok("restore 1");
    assert_eq!(
        (fixture.read("wt/.git").as_str(), fixture.read(".git").as_str()),
        ("gitdir: /nowhere\n", "gitdir: /nowhere/either\n")
    );
}

/// A bare repository has no `.git`; it is a directory of files and is captured like one.
#[test]
fn a_bare_repository_is_files() {
    let fixture = Fixture::new();
    fixture.git("init -q --bare bare.git");
    fixture.track();
    let before = fixture.picture();
    fs::remove_file(fixture.root().join("bare.git/HEAD")).unwrap();
    fixture.ok("restore 1");
    fixture.picture().expect(&before, "restore");
}

/// Another Backsight store further down belongs to someone else.
#[test]
fn a_workspace_inside_the_workspace_is_left_alone() {
    let fixture = Fixture::new();
    fixture.write("a", "a\n");
    fixture.track();
    fixture.write("inner/b", "b\n");
    fixture.ok(&format!("-C {} init", fixture.root().join("inner").display()));
    fixture.ok(&format!("-C {} track", fixture.root().join("inner").display()));
    let tracked = fixture.ok("track");
    let listed = fixture.ok("ls @").to_string();
    assert!(!listed.contains(".backsight/store"), "{listed}");
    fixture.ok("restore 1");
    let inner = fixture.ask(&format!("-C {} verify", fixture.root().join("inner").display()));
    assert_eq!(inner.status, 0, "{tracked} {}", inner.json);
    let inner = fixture.ok(&format!("-C {} restore 1", fixture.root().join("inner").display()));
    assert_eq!(inner["changed"], true);
    assert_eq!(fixture.read("inner/b"), "b\n");
}
