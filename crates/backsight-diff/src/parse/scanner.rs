//! Walks a diff line by line, hands sections to their readers and goes on after a problem to find the next one.

use crate::parse::names::read_binary_line;
use crate::parse::{FormatCode, FormatError};
use crate::patch::FilePatch;
use crate::text::split_lines;

/// Everything found in a diff, problems in line order. When there are errors, the files are incomplete.
pub(crate) struct Scan {
    pub files: Vec<FilePatch>,
    pub errors: Vec<FormatError>,
}

/// Reads the whole diff.
pub(crate) fn scan(diff: &[u8]) -> Scan {
    let lines: Vec<&[u8]> =
        split_lines(diff).into_iter().map(|line| line.strip_suffix(b"\n").unwrap_or(line)).collect();
    let mut scanner = Scanner { lines, at: 0, files: Vec::new(), errors: Vec::new() };
    scanner.run();
    if scanner.files.is_empty() && scanner.errors.is_empty() && !diff.trim_ascii().is_empty() {
        scanner.error(0, FormatCode::NoPatch, "no diff found in the text");
    }
    let mut errors = scanner.errors;
    // A problem with a whole hunk or section is found at its end but belongs to its header.
    errors.sort_by_key(|error| error.line);
    Scan { files: scanner.files, errors }
}

pub(super) struct Scanner<'a> {
    lines: Vec<&'a [u8]>,
    pub at: usize,
    files: Vec<FilePatch>,
    errors: Vec<FormatError>,
}

impl<'a> Scanner<'a> {
    fn run(&mut self) {
        while let Some(line) = self.header_line() {
            let file = if line.starts_with(b"diff --git ") {
                self.git_section()
            } else if self.at_plain_header() {
                self.plain_section()
            } else if let Some(names) = read_binary_line(line) {
                self.plain_binary(names)
            } else {
                self.outside_line(line);
                None
            };
            self.files.extend(file);
        }
    }

    /// The line at the cursor, exactly.
    pub fn line(&self) -> Option<&'a [u8]> {
        self.lines.get(self.at).copied()
    }

    /// The line at the cursor without the `\r` that a diff with CRLF throughout has on its own lines too.
    pub fn header_line(&self) -> Option<&'a [u8]> {
        self.line().map(|line| line.strip_suffix(b"\r").unwrap_or(line))
    }

    pub fn error(&mut self, line: usize, code: FormatCode, message: impl Into<String>) {
        self.errors.push(FormatError { line: line + 1, code, message: message.into() });
    }

    fn starts(&self, ahead: usize, prefix: &[u8]) -> bool {
        self.lines.get(self.at + ahead).is_some_and(|line| line.starts_with(prefix))
    }

    pub fn at_plain_header(&self) -> bool {
        self.starts(0, b"--- ") && self.starts(1, b"+++ ")
    }

    /// A line between sections. Prose is skipped, but not what looks like a piece of a diff gone astray,
    /// since skipping that would lose a change without a word.
    fn outside_line(&mut self, line: &[u8]) {
        let at = self.at;
        self.at += 1;
        if line.starts_with(b"diff --cc ") || line.starts_with(b"diff --combined ") {
            self.error(at, FormatCode::CombinedDiff, "a combined diff cannot be applied to one file");
            self.skip_combined();
        } else if line.starts_with(b"@@ -") {
            self.error(at, FormatCode::HunkWithoutFile, "`@@` without a file header above it");
            self.skip_hunk_lines();
        } else if line.starts_with(b"+++ ") {
            self.error(at, FormatCode::HeaderOrder, "`+++` without `---` above it");
        } else if line.starts_with(b"--- ") && self.starts(0, b"@@ -") {
            self.error(at, FormatCode::HeaderOrder, "`---` without `+++` below it");
            self.at += 1;
            self.skip_hunk_lines();
        } else if line.starts_with(b"\\ No newline") {
            self.error(at, FormatCode::StrayNoNewline, "`\\ No newline at end of file` outside a hunk");
        } else if line == b"GIT binary patch" {
            self.error(at, FormatCode::HeaderOrder, "`GIT binary patch` without a file header above it");
        } else if line.starts_with(b"Binary files ") && line.ends_with(b" differ") {
            self.error(at, FormatCode::BadPath, "cannot tell the two paths on this line apart");
        }
    }

    /// After a broken hunk: skips what still looks like its lines, up to the next header.
    pub fn skip_hunk_lines(&mut self) {
        while let Some(line) = self.line() {
            let part_of_hunk = matches!(line.first(), None | Some(b' ' | b'+' | b'-' | b'\\'));
            if !part_of_hunk || self.at_plain_header() {
                return;
            }
            self.at += 1;
        }
    }

    fn skip_combined(&mut self) {
        while self.line().is_some_and(|line| !line.starts_with(b"diff ")) {
            self.at += 1;
        }
    }
}
