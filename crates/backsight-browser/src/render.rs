//! How answers read: for a person at a terminal ([`text`]), as a Markdown page ([`markdown`]), and in the fewest words for a
//! model ([`compact`]). All three say the same [`Changes`].
//!
//! Whatever comes from the page is shown so that it can only be read: on one line, without characters that move the
//! cursor, hide or reorder, and without markup that would do something.

mod compact;
mod entry;
mod escape;
mod markdown;
mod terminal;
mod timeline;
mod words;
mod wrap;

use std::fmt;

use crate::entry::{Entry, LogRow};
use crate::report::{Changes, CheckpointEntry};

/// The widest a terminal's line becomes, in columns.
pub const WIDEST: usize = 100;

/// How to lay out for a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// How many columns there are; more than [`WIDEST`] are not used.
    pub width: usize,
}

impl Default for Style {
    fn default() -> Self {
        Style { width: WIDEST }
    }
}

/// What a piece of text is, for whoever paints it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Something is broken.
    Error,
    /// Something may be.
    Warning,
    /// Something is as it should be.
    Good,
    /// The name of a section.
    Heading,
    /// Worth less attention than the rest.
    Dim,
    /// The rest.
    Plain,
}

/// A piece of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// What it is.
    pub role: Role,
    /// What it says; safe to print.
    pub text: String,
}

impl Span {
    fn new(role: Role, text: impl Into<String>) -> Span {
        Span { role, text: text.into() }
    }
}

/// A line, without its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Its pieces.
    pub spans: Vec<Span>,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.spans.iter().try_for_each(|span| f.write_str(&span.text))
    }
}

/// Changes for a person at a terminal.
pub fn text(changes: &Changes, style: Style) -> Vec<Line> {
    terminal::changes(changes, style)
}

/// Changes as a Markdown page.
pub fn markdown(changes: &Changes) -> String {
    markdown::changes(changes)
}

/// Changes in the fewest words that say all of them.
pub fn compact(changes: &Changes) -> String {
    compact::changes(changes)
}

/// One entry in full.
pub fn entry(entry: &Entry) -> String {
    entry::entry(entry)
}

/// A row of the log, on one line.
pub fn log_row(row: &LogRow) -> String {
    entry::row(row)
}

/// Checkpoints as the story of a session: `session_start   → clean`.
pub fn checkpoints(entries: &[CheckpointEntry], style: Style) -> Vec<Line> {
    timeline::checkpoints(entries, style)
}

/// The same as a Markdown list.
pub fn checkpoints_markdown(entries: &[CheckpointEntry]) -> String {
    timeline::markdown(entries)
}

/// Lines as text without colours.
pub fn plain(lines: &[Line]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Text from a page as one line that does nothing but be read.
pub fn safe(text: &str) -> String {
    escape::safe(text)
}
