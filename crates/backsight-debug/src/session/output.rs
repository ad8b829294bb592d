//! What the program printed: the last of it, readable from where one left off.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much of the end is quoted when something fails.
const LAST_WORDS: usize = 1000;
/// Lines are put together up to this length.
const LONGEST: usize = 32 << 10;
/// How much is kept.
const MOST_BYTES: usize = 1 << 20;

/// Pieces of output in their order, the oldest dropped when there are too many bytes.
#[derive(Debug)]
pub(crate) struct Output {
    pieces: VecDeque<Piece>,
    /// How many pieces there were before the first that is kept.
    dropped: u64,
    /// The number after the last piece that somebody has read: what is read does not grow.
    read: u64,
    bytes: usize,
    most_bytes: usize,
}

/// A piece of output.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Piece {
    /// `stdout`, `stderr`, `console` (the debugger itself) or in the debugger's own words.
    pub category: String,
    /// What was printed, as it came; not always a whole line.
    pub text: String,
}

/// What was printed since.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct OutputPage {
    /// In the order it came.
    pub pieces: Vec<Piece>,
    /// Ask from here next time.
    pub next: u64,
    /// Pieces that were asked for and are no longer kept.
    pub lost: u64,
    /// Pieces that are there and did not fit into this page.
    pub remaining: u64,
}

impl Default for Output {
    fn default() -> Self {
        Output { pieces: VecDeque::new(), dropped: 0, read: 0, bytes: 0, most_bytes: MOST_BYTES }
    }
}

impl Piece {
    /// Whether what comes next belongs to its last line.
    fn goes_on(&self, category: &str) -> bool {
        self.category == category && !self.text.ends_with('\n') && self.text.len() < LONGEST
    }
}

impl Output {
    pub(crate) fn push(&mut self, category: &str, text: &str) {
        if text.is_empty() {
            return;
        }
        let kept = text.get(text.ceil_char_boundary(text.len().saturating_sub(self.most_bytes))..).unwrap_or_default();
        self.bytes += kept.len();
        let unread = self.end() > self.read;
        match self.pieces.back_mut().filter(|last| unread && last.goes_on(category)) {
            Some(last) => last.text.push_str(kept),
            None => self.pieces.push_back(Piece { category: category.to_owned(), text: kept.to_owned() }),
        }
        while self.bytes > self.most_bytes {
            let Some(piece) = self.pieces.pop_front() else { break };
            self.bytes -= piece.text.len();
            self.dropped += 1;
        }
    }

    /// The end of everything that was printed.
    pub(crate) fn last_words(&self) -> String {
        let all: String = self.pieces.iter().map(|piece| piece.text.as_str()).collect();
        let from = all.ceil_char_boundary(all.len().saturating_sub(LAST_WORDS));
        all.get(from..).unwrap_or_default().trim().to_owned()
    }

    /// The number the next piece will have.
    pub(crate) fn end(&self) -> u64 {
        self.dropped + self.pieces.len() as u64
    }

    /// Pieces from `since` on, up to about `most_bytes` and at least one.
    pub(crate) fn since(&mut self, since: u64, most_bytes: usize) -> OutputPage {
        let from = since.clamp(self.dropped, self.end());
        let mut bytes = 0;
        let mut pieces = Vec::new();
        for piece in self.pieces.iter().skip((from - self.dropped) as usize) {
            bytes += piece.text.len();
            if bytes > most_bytes && !pieces.is_empty() {
                break;
            }
            pieces.push(piece.clone());
        }
        let next = from + pieces.len() as u64;
        self.read = self.read.max(next);
        OutputPage { pieces, next, lost: from.saturating_sub(since), remaining: self.end() - next }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_read_from_where_one_left_off() {
        let mut output = Output::default();
        output.push("stdout", "a");
        output.push("stderr", "b");
        let page = output.since(0, 100);
        assert_eq!((page.pieces.len(), page.next, page.lost, page.remaining), (2, 2, 0, 0));
        output.push("stdout", "c");
        let page = output.since(page.next, 100);
        assert_eq!((page.pieces[0].text.as_str(), page.next), ("c", 3));
        assert_eq!(output.since(99, 100).next, 3);
    }

    #[test]
    fn a_line_that_comes_in_parts_is_one_piece_until_it_is_read() {
        let mut output = Output::default();
        output.push("stdout", "one\ntw");
        output.push("stdout", "o\n");
        output.push("stdout", "name? ");
        let page = output.since(0, 100);
        assert_eq!(page.pieces.iter().map(|piece| piece.text.as_str()).collect::<Vec<_>>(), ["one\ntwo\n", "name? "]);
        output.push("stdout", "bob\n");
        assert_eq!(output.since(page.next, 100).pieces[0].text, "bob\n");
    }

    #[test]
    fn what_is_dropped_or_does_not_fit_is_counted() {
        let mut output = Output { most_bytes: 10, ..Output::default() };
        for number in 0..5 {
            output.push("stdout", &format!("{number}23\n"));
        }
        let page = output.since(0, 4);
        assert_eq!((page.lost, page.pieces.len(), page.remaining), (3, 1, 1));
        output.push("stdout", &"\u{e9}".repeat(100));
        assert!(output.bytes <= 10);
    }
}
