//! What composing is held to, in cases small enough to read.

use super::*;
use crate::{apply, parse_multi_file_diff, write_patches};

fn parse(diff: &str) -> Vec<FilePatch> {
    parse_multi_file_diff(diff.as_bytes()).unwrap()
}

fn joined(first: &str, second: &str) -> String {
    let patches = compose(&parse(first), &parse(second)).unwrap_or_else(|error| panic!("{error}"));
    String::from_utf8(write_patches(&patches)).unwrap()
}

fn refused(first: &str, second: &str) -> ComposeError {
    compose(&parse(first), &parse(second)).unwrap_err()
}

fn edit(path: &str, hunks: &str) -> String {
    format!("diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n{hunks}")
}

fn rename(from: &str, to: &str) -> String {
    format!("diff --git a/{from} b/{to}\nsimilarity index 100%\nrename from {from}\nrename to {to}\n")
}

fn added(path: &str, line: &str) -> String {
    format!("diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+{line}\n")
}

fn deleted(path: &str, line: &str) -> String {
    format!(
        "diff --git a/{path} b/{path}\ndeleted file mode 100644\n--- a/{path}\n+++ /dev/null\n@@ -1 +0,0 @@\n-{line}\n"
    )
}

#[test]
fn distant_hunks_stay_apart_and_keep_their_places() {
    let first = edit("x", "@@ -10 +10,2 @@\n-a\n+b\n+c\n");
    let second = edit("x", "@@ -2 +1,0 @@\n-z\n@@ -21 +20 @@\n-d\n+e\n");
    let expected = edit("x", "@@ -2 +1,0 @@\n-z\n@@ -10 +9,2 @@\n-a\n+b\n+c\n@@ -20 +20 @@\n-d\n+e\n");
    assert_eq!(joined(&first, &second), expected);
}

#[test]
fn changes_of_changes_melt_together() {
    let first = edit("x", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
    let second = edit("x", "@@ -1,3 +1,3 @@\n-a\n+A\n B\n c\n");
    assert_eq!(joined(&first, &second), edit("x", "@@ -1,3 +1,3 @@\n-a\n-b\n+A\n+B\n c\n"));
    let undone = edit("x", "@@ -2 +2 @@\n-B\n+b\n");
    assert_eq!(joined(&first, &undone), "");
}

#[test]
fn files_that_come_and_go() {
    assert_eq!(joined(&added("x", "a"), &deleted("x", "a")), "");
    assert_eq!(joined(&added("x", "a"), &edit("x", "@@ -1 +1 @@\n-a\n+b\n")), added("x", "b"));
    assert_eq!(joined(&edit("x", "@@ -1 +1 @@\n-a\n+b\n"), &deleted("x", "b")), deleted("x", "a"));
    assert_eq!(joined(&deleted("x", "a"), &added("x", "b")), edit("x", "@@ -1 +1 @@\n-a\n+b\n"));
    assert_eq!(joined(&deleted("x", "a"), &added("x", "a")), "");
    assert_eq!(joined(&added("x", "a"), &added("y", "b")), added("x", "a") + &added("y", "b"));
}

#[test]
fn renames_follow_the_path() {
    assert_eq!(joined(&rename("x", "y"), &rename("y", "z")), rename("x", "z"));
    assert_eq!(joined(&rename("x", "y"), &rename("y", "x")), "");
    assert_eq!(joined(&rename("x", "y"), &deleted("y", "a")), deleted("x", "a"));
    assert_eq!(joined(&added("x", "a"), &rename("x", "y")), added("y", "a"));
    let edited = joined(&rename("x", "y"), &edit("y", "@@ -1 +1 @@\n-a\n+b\n"));
    assert!(edited.contains("rename from x\nrename to y\n--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n"), "{edited}");
    let swap = rename("x", "y") + &rename("y", "x");
    assert_eq!(joined(&swap, &swap), "");
}

#[test]
fn a_copy_of_an_edited_file_starts_from_the_original() {
    let copy = "diff --git a/x b/y\nsimilarity index 100%\ncopy from x\ncopy to y\n";
    let patches = compose(&parse(&edit("x", "@@ -1 +1 @@\n-a\n+b\n")), &parse(copy)).unwrap();
    let results: Vec<_> = patches.iter().map(|patch| apply(patch, Some(b"a\n")).unwrap().unwrap()).collect();
    assert_eq!(results, [b"b\n", b"b\n"]);
    assert_eq!(patches[1].kind, PatchKind::Copied);
}

#[test]
fn modes_join() {
    let mode = |old: &str, new: &str| format!("diff --git a/x b/x\nold mode {old}\nnew mode {new}\n");
    assert_eq!(joined(&mode("100644", "100755"), &mode("100755", "100644")), "");
    let both = joined(&mode("100644", "100755"), &edit("x", "@@ -1 +1 @@\n-a\n+b\n"));
    assert!(both.starts_with("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n--- a/x\n"), "{both}");
}

#[test]
fn binary_changes_stay_opaque() {
    let binary = "diff --git a/x b/x\nBinary files a/x and b/x differ\n";
    assert_eq!(joined(binary, &edit("x", "@@ -1 +1 @@\n-a\n+b\n")), binary);
}

#[test]
fn a_missing_final_newline_is_part_of_the_line() {
    let first = edit("x", "@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n");
    let second = edit("x", "@@ -1 +1 @@\n-b\n\\ No newline at end of file\n+b\n");
    assert_eq!(joined(&first, &second), edit("x", "@@ -1 +1 @@\n-a\n+b\n"));
    let unaware = edit("x", "@@ -1 +1 @@\n-b\n+c\n");
    assert!(matches!(refused(&first, &unaware), ComposeError::Mismatch { line: 1, .. }));
}

#[test]
fn what_does_not_fit_is_refused() {
    let first = edit("x", "@@ -1 +1 @@\n-a\n+b\n");
    let error = refused(&first, &edit("x", "@@ -1 +1 @@\n-z\n+c\n"));
    assert_eq!(error.to_string(), "`x` line 1 is `b` after the first diff, but the second expects `z`");
    let missing = ComposeError::FileMissing { path: b"x".to_vec() };
    assert_eq!(refused(&deleted("x", "a"), &first), missing);
    assert_eq!(refused(&rename("x", "y"), &first), missing);
    assert_eq!(refused(&first, &added("x", "a")), ComposeError::FileExists { path: b"x".to_vec() });
    let past = refused(&added("x", "a"), &edit("x", "@@ -5 +5 @@\n-a\n+b\n"));
    assert_eq!(past, ComposeError::PastEnd { path: b"x".to_vec(), line: 2 });
    assert_eq!(refused(&(first.clone() + &first), &first), ComposeError::Duplicate { path: b"x".to_vec() });
}
