//! What the program printed: the last of it, readable from where one left off.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::Serialize;

/// How much is kept.
const MOST_BYTES: usize = 1 << 20;

/// Pieces of output in their order, the oldest dropped when there are too many bytes.
#[derive(Debug)]
pub(crate) struct Output {
    pieces: VecDeque<Piece>,
    /// How many pieces there were before the first that is kept.
    dropped: u64,
    bytes: usize,
    most_bytes: usize,
}

/// A piece of output.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Piece {
    /// `stdout`, `stderr`, `console` (the debugger itself) or in the debugger's own words.
    pub category: String,
    /// What was printed, as it came; not always a whole line.
    pub text: String,
}

/// What was printed since.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
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
        Output { pieces: VecDeque::new(), dropped: 0, bytes: 0, most_bytes: MOST_BYTES }
    }
}

impl Output {
    pub(crate) fn push(&mut self, category: &str, text: &str) {
        if text.is_empty() {
            return;
        }
        let kept = text.get(text.ceil_char_boundary(text.len().saturating_sub(self.most_bytes))..).unwrap_or_default();
        self.bytes += kept.len();
        self.pieces.push_back(Piece { category: category.to_owned(), text: kept.to_owned() });
        while self.bytes > self.most_bytes {
            let Some(piece) = self.pieces.pop_front() else { break };
            self.bytes -= piece.text.len();
            self.dropped += 1;
        }
    }

    /// The number the next piece will have.
    pub(crate) fn end(&self) -> u64 {
        self.dropped + self.pieces.len() as u64
    }

    /// Pieces from `since` on, up to about `most_bytes` and at least one.
    pub(crate) fn since(&self, since: u64, most_bytes: usize) -> OutputPage {
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
    fn what_is_dropped_or_does_not_fit_is_counted() {
        let mut output = Output { most_bytes: 10, ..Output::default() };
        for number in 0..5 {
            output.push("stdout", &format!("{number}234"));
        }
        let page = output.since(0, 4);
        assert_eq!((page.lost, page.pieces.len(), page.remaining), (3, 1, 1));
        output.push("stdout", &"\u{e9}".repeat(100));
        assert!(output.bytes <= 10);
    }
}
