//! What the program printed, line by line from where one left off.

use backsight::debug::render;
use backsight::debug::request::ReadOutput;
use backsight::debug::request::limits::MOST_OUTPUT;
use backsight::debug::session::{OutputPage, Piece};
use backsight_core::Result;
use serde_json::json;

use super::debugging::with_session;
use super::{Asking, Call, Group, Shown, usage};
use crate::reply::{Draft, Next};
use crate::words;

/// Characters of a line that are told together.
const LONGEST: usize = 200;
/// Bytes of output for each token of the answer: no more than these can fit.
const BYTES_A_TOKEN: u64 = 12;

pub struct DebugOutput;

impl Asking for DebugOutput {
    const NAME: &'static str = "debug_output";
    const TITLE: &'static str = "What the program printed";
    const DESCRIPTION: &'static str =
        "Output: what the program or script printed (stdout, stderr; print), oldest first.";
    const GROUP: Group = Group::Debug;
    const DEFAULT_TOKENS: usize = 1000;
    const PAGES: bool = true;
    const SHOWN: &'static [Shown] = &[Shown::new("since").saying("from next_since")];
    const OUTPUT: &'static [(&'static str, &'static str)] =
        &[("output", "array"), ("next_since", "integer"), ("lost", "integer")];
    type Request = ReadOutput;

    fn run(call: &Call<'_>, request: ReadOutput) -> Result<Draft> {
        let (session, since) = (request.session.clone(), request.since);
        let session = session.as_deref();
        let from = match call.cursor {
            Some(cursor) => Cursor::read(cursor)?,
            None => Cursor { piece: since, part: 0 },
        };
        let most = (call.max_tokens as u64).saturating_mul(BYTES_A_TOKEN).min(MOST_OUTPUT);
        let most = request.max_bytes.unwrap_or(most);
        let page = call.workspace.perform(ReadOutput { since: from.piece, max_bytes: Some(most), ..request })?;
        let (lines, cursors) = lines(&page, from);
        let more =
            Next::new(Self::NAME, with_session(json!({ "since": Some(since).filter(|since| *since > 0) }), session));
        let lost = match page.lost {
            0 => String::new(),
            lost => format!(", {} before them no longer kept", words::count(lost as usize, "piece")),
        };
        let rest = if page.remaining > 0 { ", and there are more" } else { "" };
        let summary = match lines.len() {
            0 => format!("nothing was printed{lost}"),
            count => format!("{}{lost}{rest}", words::count(count, "line")),
        };
        let onward = (page.remaining > 0).then(|| Cursor { piece: page.next, part: 0 }.write());
        Ok(Draft::new(summary)
            .fact("next_since", page.next)
            .maybe("lost", (page.lost > 0).then_some(page.lost))
            .onward(&more, onward)
            .list_after("output", lines, cursors, more))
    }
}

/// A place between two parts of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cursor {
    /// The piece that comes next.
    piece: u64,
    /// How many of its parts were told already.
    part: usize,
}

impl Cursor {
    fn read(text: &str) -> Result<Cursor> {
        let (piece, part) = text.split_once('.').unwrap_or((text, "0"));
        match (piece.parse(), part.parse()) {
            (Ok(piece), Ok(part)) => Ok(Cursor { piece, part }),
            _ => Err(usage(format!("`{text}` is no cursor")).with_hint("pass what the last reply gave in `next`")),
        }
    }

    fn write(self) -> String {
        match self.part {
            0 => self.piece.to_string(),
            part => format!("{}.{part}", self.piece),
        }
    }
}

/// The lines of a page, each with the cursor after it. Programs print in pieces that are no lines: those of one kind are
/// joined up to the end of the line, and lines too long to be told whole are cut in parts.
fn lines(page: &OutputPage, from: Cursor) -> (Vec<String>, Vec<String>) {
    let (mut lines, mut cursors) = (Vec::new(), Vec::new());
    let mut line: Option<(&str, String, Cursor)> = None;
    let mut finish = |line: &mut Option<(&str, String, Cursor)>| {
        if let Some((category, text, cursor)) = line.take() {
            lines.push(format!("{}{}", mark(category), render::safe(text.trim_end_matches(['\r', '\n']))));
            cursors.push(cursor.write());
        }
    };
    let first = page.next - page.pieces.len() as u64;
    for (number, piece) in (first..).zip(&page.pieces) {
        let skipped = if number == from.piece { from.part } else { 0 };
        let all = parts(piece);
        for (index, part) in all.iter().enumerate().skip(skipped) {
            let after = match index + 1 == all.len() {
                true => Cursor { piece: number + 1, part: 0 },
                false => Cursor { piece: number, part: index + 1 },
            };
            let joins = line.as_ref().is_some_and(|(category, text, _)| {
                *category == piece.category && text.chars().count() + part.chars().count() <= LONGEST
            });
            if !joins {
                finish(&mut line);
            }
            let (_, text, cursor) = line.get_or_insert_with(|| (&piece.category, String::new(), after));
            text.push_str(part);
            *cursor = after;
            if part.ends_with('\n') {
                finish(&mut line);
            }
        }
    }
    finish(&mut line);
    (lines, cursors)
}

/// A piece cut at the ends of lines and where lines are too long.
fn parts(piece: &Piece) -> Vec<&str> {
    let mut parts = Vec::new();
    for mut line in piece.text.split_inclusive('\n') {
        while let Some((end, _)) = line.char_indices().nth(LONGEST) {
            let (part, rest) = line.split_at(end);
            parts.push(part);
            line = rest;
        }
        parts.push(line);
    }
    parts
}

/// What was not printed to stdout says so.
fn mark(category: &str) -> String {
    match category {
        "stdout" => String::new(),
        other => format!("[{}] ", render::safe(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(pieces: &[(&str, &str)]) -> OutputPage {
        let pieces: Vec<Piece> = pieces
            .iter()
            .map(|(category, text)| Piece { category: (*category).into(), text: (*text).into() })
            .collect();
        OutputPage { next: pieces.len() as u64, pieces, lost: 0, remaining: 0 }
    }

    #[test]
    fn pieces_become_lines_and_every_cursor_goes_on_without_gap_or_overlap() {
        let long = "x".repeat(LONGEST + 50);
        let pieces = [
            ("stdout", "a"),
            ("stdout", "\nb\nc"),
            ("stderr", "oops\u{1b}[2J\n"),
            ("stdout", "d\n"),
            ("stdout", long.as_str()),
        ];
        let page = page(&pieces);
        let start = Cursor { piece: 0, part: 0 };
        let (all, cursors) = lines(&page, start);
        assert_eq!(all[..5], ["a", "b", "c", "[stderr] oops\\u{1b}[2J", "d"]);
        assert_eq!(all[5..].concat(), long);
        for (index, cursor) in cursors.iter().enumerate() {
            let from = Cursor::read(cursor).unwrap();
            // A page begins with the piece that was asked for.
            let rest = OutputPage { pieces: page.pieces[from.piece as usize..].to_vec(), ..page.clone() };
            assert_eq!(lines(&rest, from).0, all[index + 1..], "{cursor}");
        }
    }

    #[test]
    fn a_cursor_that_is_none_is_refused() {
        assert!(Cursor::read("x").is_err() && Cursor::read("1.x").is_err());
        assert_eq!(Cursor::read("3.2").unwrap().write(), "3.2");
    }
}
