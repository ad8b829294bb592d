//! Diffs written here apply with `git apply` and GNU `patch`, and those git writes can be read and applied here.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use backsight_diff::{
    FileChange, FilePatch, FileSide, Options, PatchKind, apply, generate_unified_diff, write_patches,
};
use proptest::prelude::*;

use crate::inputs::{cases, diff, diff_with, history, options, parsed, side};

fn command(dir: &Path, program: &str, arguments: &[&str]) -> Output {
    Command::new(program)
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .env("GIT_CEILING_DIRECTORIES", dir.parent().unwrap_or(dir))
        .current_dir(dir)
        .output()
        .unwrap()
}

fn run(dir: &Path, program: &str, arguments: &[&str]) -> Vec<u8> {
    let output = command(dir, program, arguments);
    let talk = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?}: {talk}{}", String::from_utf8_lossy(&output.stdout));
    output.stdout
}

/// What `git apply` makes of the file `x`.
fn git_applied(old: &[u8], patch: &[u8]) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("x"), old).unwrap();
    fs::write(dir.path().join("patch"), patch).unwrap();
    run(dir.path(), "git", &["apply", "--whitespace=nowarn", "--unidiff-zero", "patch"]);
    fs::read(dir.path().join("x")).unwrap()
}

/// What GNU `patch` makes of the file `x`.
fn patch_applied(old: &[u8], patch: &[u8]) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("x"), old).unwrap();
    fs::write(dir.path().join("patch"), patch).unwrap();
    run(dir.path(), "patch", &["-p1", "--binary", "--force", "--fuzz=0", "-i", "patch"]);
    fs::read(dir.path().join("x")).unwrap()
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn git_applies_what_is_written_here(texts in history(1), options in options()) {
        let patch = diff_with(&texts[0], &texts[1], &options);
        prop_assume!(!patch.is_empty());
        prop_assert_eq!(git_applied(&texts[0], &patch), &texts[1][..]);
        prop_assert_eq!(git_applied(&texts[0], &write_patches(&parsed(&patch))), &texts[1][..]);
    }

    #[test]
    fn patch_applies_what_is_written_here(texts in history(1)) {
        // For `patch`, a diff from nothing creates a file, and it refuses when an empty one is there.
        prop_assume!(!texts[0].is_empty() && !texts[1].is_empty() && texts[0] != texts[1]);
        prop_assert_eq!(patch_applied(&texts[0], &diff(&texts[0], &texts[1])), &texts[1][..]);
    }

    #[test]
    fn what_git_writes_applies_here(texts in history(1), context in 0..4u8, algorithm in 0..2usize) {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("old")).unwrap();
        fs::create_dir_all(dir.path().join("new")).unwrap();
        fs::write(dir.path().join("old/x y"), &texts[0]).unwrap();
        fs::write(dir.path().join("new/x y"), &texts[1]).unwrap();
        let algorithm = ["--diff-algorithm=myers", "--diff-algorithm=histogram"][algorithm];
        let arguments = ["diff", "--no-index", algorithm, &format!("-U{context}"), "old/x y", "new/x y"];
        let written = command(dir.path(), "git", &arguments).stdout;
        match parsed(&written).as_slice() {
            [] => prop_assert_eq!(&texts[0], &texts[1]),
            [patch] => {
                prop_assert_eq!(patch.old_path.as_deref(), Some(&b"old/x y"[..]));
                prop_assert_eq!(patch.new_path.as_deref(), Some(&b"new/x y"[..]));
                prop_assert_eq!(apply(patch, Some(&texts[0])).unwrap(), Some(texts[1].clone()));
                prop_assert_eq!(&parsed(&write_patches(&parsed(&written)))[0], patch);
            }
            several => prop_assert!(false, "{} patches for one file", several.len()),
        }
    }

    #[test]
    fn what_gnu_diff_writes_applies_here(texts in history(1)) {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("x.orig"), &texts[0]).unwrap();
        fs::write(dir.path().join("x"), &texts[1]).unwrap();
        let written = command(dir.path(), "diff", &["-u", "--text", "x.orig", "x"]).stdout;
        if let [patch] = parsed(&written).as_slice() {
            prop_assert_eq!(patch.new_path.as_deref(), Some(&b"x"[..]));
            prop_assert_eq!(apply(patch, Some(&texts[0])).unwrap(), Some(texts[1].clone()));
        } else {
            prop_assert_eq!(&texts[0], &texts[1]);
        }
    }
}

#[test]
fn gits_diff_of_a_whole_repository_is_read() {
    let dir = repository();
    for arguments in [&["diff", "-M", "-C", "--cached"][..], &["diff", "-M", "--cached", "--no-prefix", "--full-index"]]
    {
        let written = run(dir.path(), "git", arguments);
        let patches = parsed(&written);
        let found: Vec<(String, PatchKind, bool)> =
            patches.iter().map(|patch| (patch.display_path().into_owned(), patch.kind, patch.binary)).collect();
        assert_eq!(
            found,
            [
                ("binary".into(), PatchKind::Modified, true),
                ("dir b/two words".into(), PatchKind::Modified, false),
                ("empty".into(), PatchKind::Added, false),
                ("executable".into(), PatchKind::ModeOnly, false),
                ("gone".into(), PatchKind::Deleted, false),
                ("link".into(), PatchKind::Deleted, false),
                ("link".into(), PatchKind::Added, false),
                ("moved to".into(), PatchKind::Renamed, false),
                ("é".into(), PatchKind::Modified, false),
            ]
        );
        assert_eq!(write_patches(&parsed(&write_patches(&patches))), write_patches(&patches));
        if arguments.contains(&"-C") {
            assert_eq!(String::from_utf8_lossy(&write_patches(&patches)), String::from_utf8_lossy(&written));
        }
    }
}

#[test]
fn gits_binary_patches_are_recognised() {
    let dir = repository();
    let patches = parsed(&run(dir.path(), "git", &["diff", "-M", "--cached", "--binary"]));
    assert_eq!(patches.len(), 9);
    assert!(patches.iter().any(|patch| patch.binary && patch.display_path() == "binary"));
}

#[test]
fn git_applies_every_kind_of_change_written_here() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    run(root, "git", &["init", "-q"]);
    let text = "one\ntwo\nthree\nfour\nfive\nsix\n";
    for name in ["edit", "gone", "old name", "mode"] {
        fs::write(root.join(name), text).unwrap();
    }
    let edited = text.replace("two", "zwei");
    let with_mode = |mode, side: FileSide<'static>| FileSide { mode: Some(mode), ..side };
    let edited: &'static str = Box::leak(edited.into_boxed_str());
    let file = |path: &'static str, content: &'static str| side(path.as_bytes(), content.as_bytes());
    let changes = [
        (Some(file("edit", text)), Some(file("edit", edited))),
        (Some(file("gone", text)), None),
        (None, Some(file("sub/ma\u{df} \"q\"", "new\n"))),
        (None, Some(file("empty", ""))),
        (Some(file("old name", text)), Some(file("new\tname", edited))),
        (Some(file("mode", text)), Some(with_mode(0o100755, file("mode", text)))),
    ];
    let patch: Vec<u8> = changes
        .iter()
        .flat_map(|&(old, new)| generate_unified_diff(&FileChange { old, new }, &Options::default()).text)
        .collect();
    fs::write(root.join("patch"), &patch).unwrap();
    run(root, "git", &["apply", "patch"]);

    let read = |name: &str| fs::read_to_string(root.join(name)).ok();
    assert_eq!(read("edit").as_deref(), Some(edited));
    assert_eq!(read("gone"), None);
    assert_eq!(read("sub/ma\u{df} \"q\"").as_deref(), Some("new\n"));
    assert_eq!(read("empty").as_deref(), Some(""));
    assert_eq!((read("old name"), read("new\tname").as_deref()), (None, Some(edited)));
    let kinds: Vec<PatchKind> = parsed(&patch).iter().map(|patch: &FilePatch| patch.kind).collect();
    use PatchKind::{Added, Deleted, ModeOnly, Modified, Renamed};
    assert_eq!(kinds, [Modified, Deleted, Added, Added, Renamed, ModeOnly]);
}

/// A repository with one staged change of every kind.
fn repository() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    let write = |name: &str, content: &[u8]| fs::write(root.join(name), content).unwrap();
    fs::create_dir(root.join("dir b")).unwrap();
    let long: String = (0..30).map(|number| format!("line {number}\n")).collect();
    write("moved from", long.as_bytes());
    write("dir b/two words", b"--- a/x\n+++ b/x\ncommon\n");
    write("é", b"no newline");
    write("binary", b"\0one");
    write("gone", b"text\n");
    write("executable", b"text\n");
    write("link", b"text\n");
    run(root, "git", &["init", "-q"]);
    run(root, "git", &["add", "-A"]);
    run(root, "git", &["-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "-m", "first"]);

    fs::remove_file(root.join("moved from")).unwrap();
    write("moved to", long.replace("line 7\n", "line seven\n").as_bytes());
    write("dir b/two words", b"-- a/x\n++ b/x\ncommon\n");
    write("é", b"with newline\n");
    write("binary", b"\0two");
    fs::remove_file(root.join("gone")).unwrap();
    write("empty", b"");
    fs::remove_file(root.join("link")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("target", root.join("link")).unwrap();
    run(root, "git", &["add", "-A"]);
    run(root, "git", &["update-index", "--chmod=+x", "executable"]);
    dir
}
