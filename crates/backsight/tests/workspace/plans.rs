//! The trees the tests go back and forth between.

use std::path::{Path, PathBuf};

use backsight::Workspace;

use crate::lab::{Lab, Outcome, open};
use crate::picture::Picture;

/// Takes the workspace to its first snapshot.
pub fn restore_first(workspace: &Workspace) -> Outcome {
    workspace.restore("1").map(drop)
}

/// A workspace with two recorded states and edits that no snapshot holds yet.
pub fn recorded(lab: &Lab, states: &[&Picture]) -> PathBuf {
    let root = lab.empty();
    let (last, recorded) = states.split_last().unwrap();
    for state in recorded {
        state.paint(&root);
        open(&root).track().unwrap();
    }
    last.paint(&root);
    root
}

/// Two hundred files in nested directories; most of what can happen to a path happens between the two.
pub fn large(lab: &Lab) -> PathBuf {
    let first = large_first();
    assert_eq!(first.files(), 200);
    let mut second = first.clone();
    change_large(&mut second);
    let mut third = second.clone();
    third.file("src/m0/f0.rs", 0o644, "edited by hand and not recorded\n").file("notes/today.md", 0o600, "new\n");
    third.remove(b"src/m9/f9.rs");
    recorded(lab, &[&first, &second, &third])
}

fn large_first() -> Picture {
    let mut picture = Picture::default();
    for module in 0..10 {
        for file in 0..17 {
            let mode = [0o644, 0o600, 0o755, 0o640][file % 4];
            picture.file(&format!("src/m{module}/f{file}.rs"), mode, text(module, file, 4));
        }
        picture.link(&format!("links/l{module}"), &format!("../src/m{module}/f0.rs"));
        picture.file(&format!("deep/a/b/c{module}/d/leaf.txt"), 0o644, text(module, 99, 5));
        picture.directory(&format!("empty/e{module}"), 0o755);
    }
    for number in 0..10 {
        picture.file(&format!("turn/t{number}"), 0o644, format!("a file that turns {number}\n"));
    }
    picture.directory("empty/closed", 0o700).directory("src/m8", 0o750);
    picture
}

fn change_large(picture: &mut Picture) {
    for module in 0..10 {
        for file in (0..17).filter(|file| file % 3 != 0) {
            picture.file(&format!("src/m{module}/f{file}.rs"), 0o644, text(module, file, 5));
        }
        // Only the mode.
        picture.file(&format!("src/m{module}/f0.rs"), 0o711, text(module, 0, 4));
        picture.remove(format!("src/m{module}/f15.rs").as_bytes());
        picture.file(&format!("later/x{module}/new.txt"), 0o664, text(module, 7, 3));
    }
    for number in 0..5 {
        // A file becomes a directory, another a symlink; a symlink becomes a file, another one points elsewhere.
        picture.file(&format!("turn/t{number}/inside/one"), 0o644, format!("in what was a file {number}\n"));
        picture.link(&format!("turn/t{}", number + 5), "t0");
        picture.file(&format!("links/l{number}"), 0o644, "was a symlink\n");
        picture.link(&format!("links/l{}", number + 5), "nowhere");
        picture.remove(format!("empty/e{number}").as_bytes());
        picture.directory(&format!("later/empty{number}"), 0o711);
    }
    // Directories become a file and a symlink, or go.
    picture.file("deep/a/b/c0", 0o600, "was a directory\n").link("deep/a/b/c1", "c2").remove(b"deep/a/b/c3");
    picture.directory("empty/closed", 0o755).directory("src/m8", 0o700).directory("deep/a", 0o711);
}

fn text(module: usize, file: usize, lines: usize) -> String {
    (0..lines).map(|line| format!("line {line} of file {file} in module {module}, {} words\n", line * lines)).collect()
}

/// Every kind of action once or twice, on a dozen files.
pub fn small(lab: &Lab) -> PathBuf {
    let mut first = Picture::default();
    first.file("replaced.txt", 0o644, "first\n").file("moded.sh", 0o755, "#!/bin/sh\n");
    first.file("gone/deleted.txt", 0o600, "deleted later\n").link("link", "replaced.txt");
    first.file("to-directory", 0o644, "becomes a directory\n").file("to-file/inner/x", 0o644, "becomes a file\n");
    first.file("to-link", 0o640, "becomes a symlink\n").link("from-link", "elsewhere");
    first.directory("empty", 0o755).directory("moded", 0o750).file("moded/same.txt", 0o644, "same\n");
    first.directory("link-to-directory", 0o755).file("untouched.txt", 0o444, "never touched\n");
    let mut second = first.clone();
    second.file("replaced.txt", 0o644, "second\n").file("moded.sh", 0o600, "#!/bin/sh\n");
    second.remove(b"gone").link("link", "untouched.txt").file("to-directory/y", 0o644, "in a directory\n");
    second.file("to-file", 0o644, "a file now\n").link("to-link", "moded.sh").file("from-link", 0o711, "a file now\n");
    second.remove(b"empty").directory("moded", 0o700).link("link-to-directory", "moded");
    second.file("new/added.txt", 0o644, "added later\n").directory("new-empty", 0o701);
    let mut third = second.clone();
    third.file("replaced.txt", 0o600, "third, not recorded\n").file("new/unrecorded.txt", 0o644, "not recorded\n");
    recorded(lab, &[&first, &second, &third])
}

/// What a test makes of a path that is on its way.
pub fn write(root: &Path, path: &str, text: &str) {
    std::fs::write(root.join(path), text).unwrap_or_else(|error| panic!("write {path}: {error}"));
}
