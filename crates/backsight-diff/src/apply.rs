//! Applies the patch of one file to its content. Nothing is guessed: every line a patch names must be there.

use std::fmt;

use crate::patch::{FilePatch, Hunk, LineKind, PatchKind};
use crate::text::{describe_line, split_lines};

/// Why a patch does not apply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApplyError {
    /// The patch does not hold the content of a binary file.
    Binary,
    /// The patch changes a file that does not exist.
    FileMissing,
    /// The patch creates a file that already exists.
    FileExists,
    /// A hunk's lines are not in the file.
    HunkMismatch {
        /// Number of the hunk, from one.
        hunk: usize,
        /// Line of the file, from one, that differs where the hunk should apply.
        line: usize,
        /// What the hunk expects there; `None` when it expects the end of the file.
        expected: Option<Vec<u8>>,
        /// What is there; `None` when the file has ended.
        actual: Option<Vec<u8>>,
    },
    /// The patch deletes the file but accounts for only part of its lines.
    ContentRemains {
        /// Lines that would be left.
        lines: usize,
    },
}

impl fmt::Display for ApplyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ApplyError::Binary => write!(f, "the patch does not hold the content of a binary file"),
            ApplyError::FileMissing => write!(f, "the file to change does not exist"),
            ApplyError::FileExists => write!(f, "the file to create already exists"),
            ApplyError::ContentRemains { lines } => {
                write!(f, "the patch deletes the file but would leave {lines} lines of it")
            }
            ApplyError::HunkMismatch { hunk, line, expected, actual } => {
                let (expected, actual) = (describe_line(expected.as_deref()), describe_line(actual.as_deref()));
                write!(f, "hunk {hunk} does not apply at line {line}: expected {expected}, found {actual}")
            }
        }
    }
}

impl std::error::Error for ApplyError {}

/// A patched file, and what had to be done to get there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// The content afterwards; `None` when the patch deletes the file.
    pub content: Option<Vec<u8>>,
    /// Hunks that were not where the patch said.
    pub moved: Vec<MovedHunk>,
}

/// A hunk that applied elsewhere than its header says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MovedHunk {
    /// Number of the hunk, from one.
    pub hunk: usize,
    /// How many lines further down it applied; negative when further up.
    pub lines: isize,
}

/// The content after `patch`; `None` when it deletes the file. See [`apply_with_report`].
pub fn apply(patch: &FilePatch, before: Option<&[u8]>) -> Result<Option<Vec<u8>>, ApplyError> {
    apply_with_report(patch, before).map(|applied| applied.content)
}

/// Applies `patch` to `before`, which for a rename or copy is the content of the old path.
///
/// A hunk that is not where its header says is looked for up and down from there, nearest place first; all its
/// old lines have to match, and a hunk without context stays where it is, since it would match almost anywhere.
pub fn apply_with_report(patch: &FilePatch, before: Option<&[u8]>) -> Result<Applied, ApplyError> {
    if patch.binary {
        return Err(ApplyError::Binary);
    }
    let content = match (patch.kind, before) {
        (PatchKind::Added, Some(_)) => return Err(ApplyError::FileExists),
        (PatchKind::Added, None) => &b""[..],
        (_, None) => return Err(ApplyError::FileMissing),
        (_, Some(content)) => content,
    };
    let mut patcher = Patcher { lines: split_lines(content), at: 0, shift: 0, out: Vec::new(), moved: Vec::new() };
    for (index, hunk) in patch.hunks.iter().enumerate() {
        patcher.apply(index + 1, hunk)?;
    }
    let (content, moved) = patcher.finish();
    if patch.kind != PatchKind::Deleted {
        return Ok(Applied { content: Some(content), moved });
    }
    match split_lines(&content).len() {
        0 => Ok(Applied { content: None, moved }),
        lines => Err(ApplyError::ContentRemains { lines }),
    }
}

struct Patcher<'a> {
    lines: Vec<&'a [u8]>,
    /// Lines of the file already copied or replaced.
    at: usize,
    /// How far the last hunk was from where its header said; the next one is expected equally far off.
    shift: isize,
    out: Vec<u8>,
    moved: Vec<MovedHunk>,
}

/// A line of the file that is not what a hunk expects.
struct Mismatch {
    line: usize,
    expected: Option<Vec<u8>>,
}

impl Patcher<'_> {
    fn apply(&mut self, number: usize, hunk: &Hunk) -> Result<(), ApplyError> {
        let stated = hunk.old_begin();
        let guess = stated.saturating_add_signed(self.shift);
        let place = match self.check(hunk, guess) {
            Ok(()) => guess,
            Err(mismatch) => match self.search(hunk, guess) {
                Some(place) => place,
                None => return Err(self.error(number, mismatch)),
            },
        };
        self.shift = place as isize - stated as isize;
        if self.shift != 0 {
            self.moved.push(MovedHunk { hunk: number, lines: self.shift });
        }
        self.copy_to(place);
        for line in hunk.new_lines() {
            self.push(number, &line.as_in_file())?;
        }
        self.at = place + hunk.old_lines().count();
        Ok(())
    }

    /// Adds a line, unless the one before has no terminator: the two would become one line.
    fn push(&mut self, hunk: usize, line: &[u8]) -> Result<(), ApplyError> {
        if self.out.is_empty() || self.out.ends_with(b"\n") {
            self.out.extend_from_slice(line);
            return Ok(());
        }
        let last = split_lines(&self.out).last().map_or(Vec::new(), |last| [*last, b"\n"].concat());
        Err(self.error(hunk, Mismatch { line: self.at.saturating_sub(1), expected: Some(last) }))
    }

    fn copy_to(&mut self, place: usize) {
        for line in &self.lines[self.at..place] {
            self.out.extend_from_slice(line);
        }
        self.at = place;
    }

    fn finish(mut self) -> (Vec<u8>, Vec<MovedHunk>) {
        self.copy_to(self.lines.len());
        (self.out, self.moved)
    }

    /// Whether the hunk fits at `place`.
    fn check(&self, hunk: &Hunk, place: usize) -> Result<(), Mismatch> {
        let mut line = place;
        for old in hunk.old_lines() {
            if line < self.at || !self.lines.get(line).is_some_and(|actual| old.is(actual)) {
                return Err(Mismatch { line, expected: Some(old.as_in_file()) });
            }
            line += 1;
        }
        // An insertion has no line of its own to find; it must at least lie within the file.
        if place < self.at || place > self.lines.len() {
            return Err(Mismatch { line: place, expected: None });
        }
        // Only at the end of the file may the new text lack its newline, or it would run into the next line.
        let unfinished = hunk.new_lines().last().is_some_and(|last| last.no_newline);
        if unfinished && line < self.lines.len() {
            return Err(Mismatch { line, expected: None });
        }
        Ok(())
    }

    fn search(&self, hunk: &Hunk, guess: usize) -> Option<usize> {
        if !hunk.lines.iter().any(|line| line.kind == LineKind::Context) {
            return None;
        }
        let (first, last) = (self.at, self.lines.len());
        let nearest = guess.saturating_sub(last).max(first.saturating_sub(guess)).max(1);
        let furthest = guess.saturating_sub(first).max(last.saturating_sub(guess));
        (nearest..=furthest)
            .flat_map(|distance| [guess.checked_sub(distance), guess.checked_add(distance)])
            .flatten()
            .find(|&place| place >= first && place <= last && self.check(hunk, place).is_ok())
    }

    fn error(&self, hunk: usize, Mismatch { line, expected }: Mismatch) -> ApplyError {
        let actual = self.lines.get(line).map(|line| line.to_vec());
        ApplyError::HunkMismatch { hunk, line: line.saturating_add(1), expected, actual }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_multi_file_diff;

    fn patch(diff: &str) -> FilePatch {
        parse_multi_file_diff(diff.as_bytes()).unwrap().remove(0)
    }

    fn edit(hunks: &str) -> FilePatch {
        patch(&format!("--- a/x\n+++ b/x\n{hunks}"))
    }

    fn applied(patch: &FilePatch, before: &str) -> Result<String, ApplyError> {
        apply(patch, Some(before.as_bytes())).map(|after| String::from_utf8(after.unwrap()).unwrap())
    }

    #[test]
    fn hunks_apply_where_they_say() {
        let patch = edit("@@ -1 +1,2 @@\n-a\n+A\n+A\n@@ -3 +4 @@\n-c\n+C\n");
        assert_eq!(applied(&patch, "a\nb\nc\nd").unwrap(), "A\nA\nb\nC\nd");
    }

    #[test]
    fn a_hunk_with_context_is_found_elsewhere_and_the_move_reported() {
        let patch = edit("@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n@@ -11,3 +11,3 @@\n x\n-y\n+Y\n z\n");
        let before = format!("0\n0\na\nb\nc\n{}x\ny\nz\n", "-\n".repeat(7));
        let report = apply_with_report(&patch, Some(before.as_bytes())).unwrap();
        assert_eq!(report.content.unwrap(), before.replace('b', "B").replace('y', "Y").into_bytes());
        assert_eq!(report.moved, [MovedHunk { hunk: 1, lines: 2 }, MovedHunk { hunk: 2, lines: 2 }]);
    }

    #[test]
    fn a_hunk_without_context_does_not_move() {
        let patch = edit("@@ -1 +1 @@\n-a\n+A\n");
        assert!(matches!(applied(&patch, "0\na\n"), Err(ApplyError::HunkMismatch { line: 1, .. })));
    }

    #[test]
    fn a_mismatch_says_what_and_where() {
        let patch = edit("@@ -1,2 +1,2 @@\n a\n-b\n+B\n");
        let message = |before| applied(&patch, before).unwrap_err().to_string();
        assert_eq!(message("a\nc\n"), "hunk 1 does not apply at line 2: expected `b`, found `c`");
        assert_eq!(message("a\n"), "hunk 1 does not apply at line 2: expected `b`, found the end of the file");
        assert_eq!(message("a\nb"), "hunk 1 does not apply at line 2: expected `b`, found `b` without a newline");
    }

    #[test]
    fn lines_never_run_into_each_other() {
        let append = edit("@@ -1,0 +2 @@\n+b\n");
        assert_eq!(applied(&append, "a\n").unwrap(), "a\nb\n");
        assert!(applied(&append, "a").is_err());
        let unfinished = edit("@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n");
        assert_eq!(applied(&unfinished, "a\n").unwrap(), "b");
        assert!(applied(&unfinished, "a\nc\n").is_err());
    }

    #[test]
    fn existence_is_checked() {
        let added = patch("--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n");
        assert_eq!(apply(&added, None).unwrap(), Some(b"a\n".to_vec()));
        assert_eq!(apply(&added, Some(b"")), Err(ApplyError::FileExists));
        let deleted = patch("--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n");
        assert_eq!(apply(&deleted, Some(b"a\n")).unwrap(), None);
        assert_eq!(apply(&deleted, Some(b"a\nb\n")), Err(ApplyError::ContentRemains { lines: 1 }));
        assert_eq!(apply(&deleted, None), Err(ApplyError::FileMissing));
        assert_eq!(apply(&patch("Binary files a/x and b/x differ\n"), Some(b"")), Err(ApplyError::Binary));
    }

    #[test]
    fn patches_made_by_hand_cannot_break_it() {
        let mut wild = edit("@@ -1,2 +1,2 @@\n a\n-b\n+B\n");
        wild.hunks[0].old_start = usize::MAX;
        assert_eq!(applied(&wild, "a\nb\n").unwrap(), "a\nB\n");
        wild.hunks[0].lines[0].no_newline = true;
        assert!(applied(&wild, "a\nb\n").is_err());
        assert!(applied(&wild, "a").is_err());
    }
}
