//! Reads diffs of any number of files: git's format, plain `diff -u`, with or without prefixes.
//!
//! Inside a hunk the line counts of its header decide what belongs to it, never what a line looks like, so that
//! a removed `-- a/x` (written `--- a/x`) or a diff inside a diff cannot be taken for a header.

mod extended;
mod file;
mod hunk;
mod names;
mod scanner;

use std::fmt;

use crate::patch::FilePatch;
pub(crate) use scanner::scan;

/// Why a diff could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    /// The first problem.
    pub first: FormatError,
    /// How many more there are; [`validate_diff_format`](crate::validate_diff_format) lists them all.
    pub more: usize,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.first)?;
        match self.more {
            0 => Ok(()),
            more => write!(f, " (and {more} more)"),
        }
    }
}

impl std::error::Error for ParseError {}

/// One thing wrong with a diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormatError {
    /// Line of the diff, from one.
    pub line: usize,
    /// What is wrong, for programs.
    pub code: FormatCode,
    /// What is wrong, for people.
    pub message: String,
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

/// The kinds of problem a diff can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FormatCode {
    /// There is text, but no diff in it.
    NoPatch,
    /// `diff --cc`: a diff against several parents, which cannot be applied to one file.
    CombinedDiff,
    /// A header line stands where it may not, or its counterpart is missing.
    HeaderOrder,
    /// A header line that is known cannot be read.
    BadHeader,
    /// A header line appears twice.
    DuplicateHeader,
    /// A path is empty, wrongly quoted, or cannot be told from the one beside it.
    BadPath,
    /// Two header lines name different files.
    PathMismatch,
    /// A header is followed by no change at all.
    EmptySection,
    /// A `@@` line belongs to no file.
    HunkWithoutFile,
    /// A `@@` line cannot be read.
    BadHunkHeader,
    /// A hunk ends before it has the lines its header announces.
    HunkTooShort,
    /// A hunk goes on after it has the lines its header announces.
    HunkTooLong,
    /// A hunk starts before the previous one ends, or after the end of the file.
    HunkOrder,
    /// A hunk changes nothing.
    HunkWithoutChange,
    /// A line inside a hunk starts with neither space, `+`, `-` nor `\`.
    UnknownLinePrefix,
    /// A `\ No newline at end of file` follows a line that cannot be the last of its file.
    StrayNoNewline,
    /// A `GIT binary patch` is not complete.
    BadBinaryPatch,
}

/// Reads every file section of a diff; text around them, such as a mail or a commit message, is skipped.
///
/// Empty input is a diff of nothing. Text without any diff in it is an error, as is anything that
/// [`validate_diff_format`](crate::validate_diff_format) reports: a change is never silently left out.
pub fn parse_multi_file_diff(diff: &[u8]) -> Result<Vec<FilePatch>, ParseError> {
    let scan = scan(diff);
    let more = scan.errors.len().saturating_sub(1);
    match scan.errors.into_iter().next() {
        Some(first) => Err(ParseError { first, more }),
        None => Ok(scan.files),
    }
}

#[cfg(test)]
mod tests;
