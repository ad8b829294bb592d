//! What the parser is held to, in cases small enough to read.

use super::*;
use crate::header::HeaderStyle;
use crate::patch::{LineKind, PatchKind};
use crate::validate_diff_format;

fn parse(diff: &str) -> Vec<FilePatch> {
    parse_multi_file_diff(diff.as_bytes()).unwrap_or_else(|error| panic!("{error}"))
}

fn one(diff: &str) -> FilePatch {
    let mut patches = parse(diff);
    assert_eq!(patches.len(), 1);
    patches.remove(0)
}

fn paths(diff: &str) -> (Option<String>, Option<String>) {
    let patch = one(diff);
    let text = |path: Option<Vec<u8>>| path.map(|path| String::from_utf8(path).unwrap());
    (text(patch.old_path), text(patch.new_path))
}

fn both(path: &str) -> (Option<String>, Option<String>) {
    (Some(path.to_owned()), Some(path.to_owned()))
}

fn errors(diff: &str) -> Vec<(usize, FormatCode)> {
    let errors = validate_diff_format(diff.as_bytes());
    assert_eq!(parse_multi_file_diff(diff.as_bytes()).is_err(), !errors.is_empty());
    errors.into_iter().map(|error| (error.line, error.code)).collect()
}

const HUNK: &str = "@@ -1 +1 @@\n-a\n+b\n";

#[test]
fn a_git_diff_is_read_in_full() {
    let patch = one("diff --git a/x b/x\nindex 7898192..6178079 100644\n--- a/x\n+++ b/x\n\
                     @@ -1,2 +1,2 @@ fn main() {\n a\n-b\n\\ No newline at end of file\n+c\n");
    assert_eq!((patch.kind, patch.style, patch.binary), (PatchKind::Modified, HeaderStyle::Git, false));
    assert_eq!((patch.old_mode, patch.new_mode), (Some(0o100644), Some(0o100644)));
    assert_eq!(patch.old_id.as_deref(), Some(&b"7898192"[..]));
    let hunk = &patch.hunks[0];
    assert_eq!((hunk.old_start, hunk.old_len, hunk.new_start, hunk.new_len), (1, 2, 1, 2));
    assert_eq!(hunk.section, b"fn main() {");
    let lines: Vec<_> = hunk.lines.iter().map(|line| (line.kind, &line.bytes[..], line.no_newline)).collect();
    let expected: [(LineKind, &[u8], bool); 3] =
        [(LineKind::Context, b"a", false), (LineKind::Removed, b"b", true), (LineKind::Added, b"c", false)];
    assert_eq!(lines, expected);
}

#[test]
fn lines_that_look_like_headers_are_content() {
    let patch = one("--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n--- a/lib\n-diff --git a/b b/b\n-@@ -1 +1 @@\n\
                     +++ b/lib\n+-- a/lib\n+\\ No newline at end of file\n");
    assert_eq!(patch.hunks[0].lines.len(), 6);
    assert_eq!(patch.hunks[0].lines[0].bytes, b"-- a/lib");
    assert_eq!(patch.hunks[0].lines[3].bytes, b"++ b/lib");
}

#[test]
fn names_with_everything_in_them() {
    let git = |names: &str| paths(&format!("diff --git {names}\nold mode 100644\nnew mode 100755\n"));
    assert_eq!(git("a/x b/x"), both("x"));
    assert_eq!(git("a/x y b/x y"), both("x y"));
    assert_eq!(git("a/x b/x b/x b/x"), both("x b/x"));
    assert_eq!(git("a/lib/b/x b/lib/b/x"), both("lib/b/x"));
    assert_eq!(git(r#""a/\303\251" "b/\303\251""#), both("é"));
    assert_eq!(git("i/x w/x"), both("x"));
    assert_eq!(git("b/x a/x"), both("x"));
    // Without prefix, a directory that is called like one stays.
    assert_eq!(git("a/x a/x"), both("a/x"));
    assert_eq!(git("x x"), both("x"));
}

#[test]
fn plain_names_keep_what_is_no_prefix() {
    let plain = |old: &str, new: &str| paths(&format!("--- {old}\n+++ {new}\n{HUNK}"));
    assert_eq!(plain("a/x", "b/x"), both("x"));
    assert_eq!(plain("a/x", "a/x"), both("a/x"));
    assert_eq!(plain("x y\t2024-01-01 00:00:00.000000000 +0000", "x y\t2024-01-01 00:00:01.0 +0000"), both("x y"));
    assert_eq!(plain("\"a/t\\t\"\tnow", "\"b/t\\t\""), both("t\t"));
    assert_eq!(plain("x.orig", "x"), (Some("x.orig".into()), Some("x".into())));
}

#[test]
fn creation_and_deletion_in_both_styles() {
    let created = one("--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n");
    assert_eq!((created.kind, created.old_path), (PatchKind::Added, None));
    let dated = one("--- x\t1970-01-01 00:00:00.000000000 +0000\n+++ x\t2024-01-01\n@@ -0,0 +1 @@\n+a\n");
    assert_eq!((dated.kind, dated.old_path), (PatchKind::Added, None));
    let deleted = one("diff --git a/x b/x\ndeleted file mode 100755\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n");
    assert_eq!((deleted.kind, deleted.old_mode, deleted.new_path), (PatchKind::Deleted, Some(0o100755), None));
    let empty = one("diff --git a/x b/x\nnew file mode 100644\nindex 0000000..e69de29\n");
    assert_eq!((empty.kind, empty.hunks.len()), (PatchKind::Added, 0));
}

#[test]
fn renames_copies_and_binaries() {
    let moved = one("diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n");
    assert_eq!((moved.kind, moved.similarity), (PatchKind::Renamed, Some(100)));
    let copied = one(&format!("diff --git a/x b/y\ncopy from x\ncopy to y\n--- a/x\n+++ b/y\n{HUNK}"));
    assert_eq!((copied.kind, copied.hunks.len()), (PatchKind::Copied, 1));
    let binary = one("diff --git a/x b/x\nindex 1..2 100644\nBinary files a/x and b/x differ\n");
    assert_eq!((binary.kind, binary.binary), (PatchKind::Modified, true));
    let patch = "diff --git a/x b/x\nindex 1..2\nGIT binary patch\nliteral 3\nKc${NkAS\n\nliteral 3\n--- a/x\n\n";
    assert_eq!(parse(&format!("{patch}diff --git a/y b/y\nold mode 100644\nnew mode 100755\n")).len(), 2);
    assert_eq!(paths("Binary files a/x and y and b/x and y differ\n"), both("x and y"));
}

#[test]
fn text_around_patches_is_skipped() {
    let mail = format!(
        "From: me\nSubject: [PATCH] x\n\n---\n x | 2 +-\n\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n{HUNK}-- \n2.47.3\n\n"
    );
    assert_eq!(parse(&mail).len(), 1);
    let log = format!(
        "commit 1\n\n    message\n\n--- a/x\n+++ b/x\n{HUNK}\ncommit 2\n\n    other\n\n--- a/y\n+++ b/y\n{HUNK}"
    );
    assert_eq!(parse(&log).len(), 2);
    assert_eq!(parse("\n"), []);
}

#[test]
fn line_endings_and_a_missing_last_newline() {
    let crlf = one("--- a/x\r\n+++ b/x\r\n@@ -1,2 +1,2 @@\r\n \r\n-a\r\n+b\r\n");
    assert_eq!(crlf.new_path.as_deref(), Some(&b"x"[..]));
    assert_eq!(crlf.hunks[0].lines[1].bytes, b"a\r");
    let stripped = one("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n\n-a\n+b");
    assert_eq!(
        (stripped.hunks[0].lines[0].kind, &stripped.hunks[0].lines[2].bytes[..]),
        (LineKind::Context, &b"b"[..])
    );
}

#[test]
fn wrong_hunks_are_reported_where_they_are() {
    use FormatCode as C;
    let file = |rest: &str| errors(&format!("--- a/x\n+++ b/x\n{rest}"));
    assert_eq!(file("@@ -1 +1 @@\n-a\n+b\n+c\n"), [(6, C::HunkTooLong)]);
    assert_eq!(file("@@ -1,2 +1 @@\n-a\n+b\n"), [(3, C::HunkTooShort)]);
    assert_eq!(file("@@ -1 +1,2 @@\n-a\n-b\n+c\n"), [(5, C::HunkTooLong)]);
    assert_eq!(file("@@ -1 +1\n-a\n+b\n@@ -5 +5 @@\n-a\n+b\n"), [(3, C::BadHunkHeader)]);
    assert_eq!(file("@@ -0 +1 @@\n-a\n+b\n"), [(3, C::BadHunkHeader)]);
    assert_eq!(file("@@ -1 +1 @@\n a\n"), [(3, C::HunkWithoutChange)]);
    assert_eq!(file("@@ -1,2 +1,2 @@\nx\n-a\n+b\n"), [(4, C::UnknownLinePrefix)]);
    assert_eq!(file("@@ -5 +5 @@\n-a\n+b\n@@ -1 +1 @@\n-a\n+b\n"), [(6, C::HunkOrder)]);
    assert_eq!(file("@@ -1 +1 @@\n\\ No newline at end of file\n-a\n+b\n"), [(4, C::StrayNoNewline)]);
    assert_eq!(file("@@ -1,2 +1 @@\n-a\n\\ No newline at end of file\n-b\n+c\n"), [(3, C::StrayNoNewline)]);
    assert_eq!(file("@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n@@ -3 +3 @@\n-a\n+b\n"), [(7, C::HunkOrder)]);
}

#[test]
fn wrong_headers_are_reported_where_they_are() {
    use FormatCode as C;
    assert_eq!(errors("hello\n"), [(1, C::NoPatch)]);
    assert_eq!(errors(HUNK), [(1, C::HunkWithoutFile)]);
    assert_eq!(errors(&format!("+++ b/x\n--- a/x\n{HUNK}")), [(1, C::HeaderOrder), (2, C::HeaderOrder)]);
    assert_eq!(errors("--- a/x\n+++ b/x\n"), [(2, C::EmptySection)]);
    assert_eq!(errors("diff --git a/x b/x\nindex 1..2\n"), [(1, C::EmptySection)]);
    assert_eq!(errors("diff --git a/x b/x\nold mode 100644\n"), [(1, C::HeaderOrder)]);
    assert_eq!(errors("diff --git a/x b/x\nold mode 100644\nnew mode 100644\n"), [(1, C::EmptySection)]);
    assert_eq!(errors("diff --git a/x b/y\nrename from x\n"), [(1, C::HeaderOrder)]);
    assert_eq!(
        errors("diff --git a/x b/x\nold mode 1\nold mode 1\nnew mode 9\n"),
        [(1, C::HeaderOrder), (3, C::DuplicateHeader), (4, C::BadHeader)]
    );
    assert_eq!(errors(&format!("diff --git a/x b/x\n--- a/y\n+++ b/x\n{HUNK}")), [(1, C::PathMismatch)]);
    assert_eq!(errors(&format!("--- \"a/x\n+++ b/x\n{HUNK}")), [(1, C::BadPath)]);
    assert_eq!(errors("diff --cc x\n@@@ -1 -1 +1 @@@\n++a\n"), [(1, C::CombinedDiff)]);
    assert_eq!(errors("diff --git a/x b/x\nGIT binary patch\n"), [(2, C::BadBinaryPatch)]);
}

#[test]
fn every_problem_is_listed_and_the_first_is_named() {
    let diff =
        format!("--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-a\n+b\n@@ bad\ndiff --git a/y b/y\n--- a/y\n+++ b/y\n{HUNK}+c\n");
    assert_eq!(errors(&diff).len(), 3);
    let error = parse_multi_file_diff(diff.as_bytes()).unwrap_err();
    assert_eq!(error.to_string(), "line 3: hunk lacks 1 old and 0 new lines its header announces (and 2 more)");
}
