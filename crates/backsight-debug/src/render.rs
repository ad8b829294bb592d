//! How answers read: for a person at a terminal ([`text`]), as a Markdown page ([`markdown`]), and in the fewest words for a
//! model ([`compact`]). All three say the same.
//!
//! Whatever comes from the program is shown so that it can only be read: on one line, without characters that move the
//! cursor, hide or reorder, and without markup that would do something.

mod compact;
mod escape;
mod markdown;
mod terminal;

use std::fmt;

use crate::report::{DiffEntry, Series, SnapshotDiff, SnapshotEntry, SnapshotView};

/// What a piece of text is, for whoever paints it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Something is new.
    Added,
    /// Something is gone.
    Removed,
    /// Something is another value.
    Modified,
    /// Something to know before trusting the rest.
    Warning,
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

/// A diff for a person at a terminal.
pub fn text(diff: &SnapshotDiff) -> Vec<Line> {
    terminal::diff(diff)
}

/// A diff as a Markdown page.
pub fn markdown(diff: &SnapshotDiff) -> String {
    markdown::diff(diff)
}

/// A diff in the fewest words that say all of it.
pub fn compact(diff: &SnapshotDiff) -> String {
    compact::diff(diff)
}

/// The hits of a snapshot point as a table for a model: one line for each, with a mark where nothing changed.
pub fn compact_series(series: &Series) -> String {
    compact::series(series)
}

/// The same as a Markdown table.
pub fn markdown_series(series: &Series) -> String {
    markdown::series(series)
}

/// The values of a snapshot, one on each line.
pub fn compact_view(view: &SnapshotView) -> String {
    compact::view(view)
}

/// Snapshots, one on each line.
pub fn compact_list(entries: &[SnapshotEntry]) -> String {
    compact::list(entries)
}

/// Lines as text without colours.
pub fn plain(lines: &[Line]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Text of the program as one line that does nothing but be read.
pub fn safe(text: &str) -> String {
    escape::safe(text)
}

/// Two different texts of the program, so that they also look different.
pub fn both_safe(one: &str, other: &str) -> (String, String) {
    escape::both_safe(one, other)
}

/// One line of [`compact`].
pub(crate) fn compact_entry(entry: &DiffEntry) -> String {
    compact::entry(entry)
}

/// `3 added, 1 modified`, or that there is nothing.
fn counts(diff: &SnapshotDiff) -> String {
    let summary = diff.summary;
    let all = [(summary.added, "added"), (summary.removed, "removed"), (summary.modified, "modified")];
    let mut said: Vec<String> =
        all.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    // The first words are what is remembered: they say "no changes" only where everything was compared.
    if summary.not_compared > 0 {
        said.push(format!("{} not compared", summary.not_compared));
    } else if said.is_empty() {
        said.push("no changes".to_owned());
    }
    said.push(format!("{} unchanged", summary.unchanged));
    said.join(", ")
}

/// Which values were not compared.
fn not_compared(diff: &SnapshotDiff, say: impl Fn(&str) -> String) -> Option<String> {
    let rest = (diff.not_compared_omitted > 0).then(|| format!("+{} more", diff.not_compared_omitted));
    let names: Vec<String> = diff.not_compared.iter().map(|path| say(path)).chain(rest).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// What of the changes is not shown, and how to see it.
fn omitted(diff: &SnapshotDiff) -> Option<String> {
    let folded: Vec<String> = diff.folded.iter().map(|folded| more(folded.count, &folded.under)).collect();
    let next = diff.next_offset?;
    Some(format!("{} ({} omitted; offset={next} goes on, path=... narrows)", folded.join(", "), diff.omitted))
}

fn more(count: u64, under: &str) -> String {
    match under {
        "" => format!("+{count} more elsewhere"),
        under => format!("+{count} more under {}", safe(under)),
    }
}
