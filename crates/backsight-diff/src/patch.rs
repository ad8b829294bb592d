//! A parsed diff: plain data that the parser produces and every other operation takes.

use std::borrow::Cow;

use crate::header::HeaderStyle;
use crate::text::Counts;

/// What one section of a diff does to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePatch {
    /// Path before, without prefix; `None` when the patch creates the file.
    pub old_path: Option<Vec<u8>>,
    /// Path after, without prefix; `None` when the patch deletes the file.
    pub new_path: Option<Vec<u8>>,
    /// Git mode before, when the diff says it.
    pub old_mode: Option<u32>,
    /// Git mode after, when the diff says it.
    pub new_mode: Option<u32>,
    /// Object id before in hex, possibly abbreviated, when the diff says it.
    pub old_id: Option<Vec<u8>>,
    /// Object id after in hex, possibly abbreviated, when the diff says it.
    pub new_id: Option<Vec<u8>>,
    /// What happens to the file.
    pub kind: PatchKind,
    /// Percentage from `similarity index`, for renames and copies.
    pub similarity: Option<u8>,
    /// Whether the content changed in a way the diff does not spell out in lines; `hunks` is then empty.
    pub binary: bool,
    /// Which header the section had, and is written with again.
    pub style: HeaderStyle,
    /// The changed passages, in order.
    pub hunks: Vec<Hunk>,
}

/// What happens to a file. Whether its content is binary is a separate question: [`FilePatch::binary`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PatchKind {
    /// The file is created.
    Added,
    /// The file is deleted.
    Deleted,
    /// The content changes in place.
    Modified,
    /// The file moves, perhaps with changes.
    Renamed,
    /// A new file is made from another one, perhaps with changes.
    Copied,
    /// Only the mode changes.
    ModeOnly,
}

/// One passage of changes with its surroundings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// First line of the old range, from one; for an empty range, the line before it.
    pub old_start: usize,
    /// Lines of the old range.
    pub old_len: usize,
    /// First line of the new range, from one; for an empty range, the line before it.
    pub new_start: usize,
    /// Lines of the new range.
    pub new_len: usize,
    /// The text after the second `@@`; empty when there is none.
    pub section: Vec<u8>,
    /// The lines.
    pub lines: Vec<Line>,
}

/// One line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Which side has the line.
    pub kind: LineKind,
    /// The line without its `\n`; a `\r` before it is included.
    pub bytes: Vec<u8>,
    /// Whether the line ends its file without `\n`.
    pub no_newline: bool,
}

/// Which side of a hunk has a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LineKind {
    /// Both sides.
    Context,
    /// Only the old side.
    Removed,
    /// Only the new side.
    Added,
}

/// How many lines a parsed diff adds and removes.
#[must_use]
pub fn count_changes(patches: &[FilePatch]) -> Counts {
    let lines = || patches.iter().flat_map(|patch| &patch.hunks).flat_map(|hunk| &hunk.lines);
    Counts {
        additions: lines().filter(|line| line.kind == LineKind::Added).count(),
        deletions: lines().filter(|line| line.kind == LineKind::Removed).count(),
    }
}

impl Hunk {
    /// How many lines of the old file lie before the hunk.
    pub(crate) fn old_begin(&self) -> usize {
        lines_before(self.old_start, self.old_len)
    }

    /// How many lines of the new file lie before the hunk.
    pub(crate) fn new_begin(&self) -> usize {
        lines_before(self.new_start, self.new_len)
    }

    pub(crate) fn old_lines(&self) -> impl Iterator<Item = &Line> {
        self.lines.iter().filter(|line| line.kind != LineKind::Added)
    }

    pub(crate) fn new_lines(&self) -> impl Iterator<Item = &Line> {
        self.lines.iter().filter(|line| line.kind != LineKind::Removed)
    }
}

fn lines_before(start: usize, len: usize) -> usize {
    if len == 0 { start } else { start.saturating_sub(1) }
}

impl Line {
    /// The line as it stands in a file, with its terminator if it has one.
    pub(crate) fn as_in_file(&self) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        if !self.no_newline {
            bytes.push(b'\n');
        }
        bytes
    }

    /// Whether `line`, which carries its terminator, is this line.
    pub(crate) fn is(&self, line: &[u8]) -> bool {
        match line.strip_suffix(b"\n") {
            Some(bytes) => !self.no_newline && bytes == self.bytes,
            None => self.no_newline && line == self.bytes,
        }
    }
}

impl FilePatch {
    /// The path a person would call this patch by.
    #[must_use]
    pub fn display_path(&self) -> Cow<'_, str> {
        let path = self.new_path.as_ref().or(self.old_path.as_ref());
        path.map_or(Cow::Borrowed(""), |path| String::from_utf8_lossy(path))
    }
}
