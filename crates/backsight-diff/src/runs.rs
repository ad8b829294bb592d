//! The runs of changed lines between two texts, and the text in which some of them are undone. A run is what a person can
//! take back by itself: at least one unchanged line lies between any two.

use std::ops::Range;

use crate::changes::{Purpose, changes};
use crate::text::{line_end, split_lines};

/// Lines of the old text that became lines of the new one. One of the two may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// Which lines of the old text, from zero.
    pub before: Range<usize>,
    /// Which lines of the new text, from zero.
    pub after: Range<usize>,
}

impl Run {
    /// How many lines it shows: those that went, then those that came.
    #[must_use]
    pub fn lines(&self) -> usize {
        self.before.len() + self.after.len()
    }
}

/// The runs that turn `before` into `after`, in order: the same lines that a unified diff shows with a sign, whatever the
/// number of lines around them.
#[must_use]
pub fn runs(before: &[u8], after: &[u8]) -> Vec<Run> {
    let found = changes(&split_lines(before), &split_lines(after), Purpose::Show);
    found.into_iter().map(|change| Run { before: change.before, after: change.after }).collect()
}

/// `after` with the chosen lines undone. `is_chosen` is asked for a run and a line of it, counted from zero as a unified
/// diff shows them: those that went first, then those that came. A chosen line that went is put back, a chosen line that
/// came goes. Lines that took each other's place stand beside each other: the first with the first, and so on.
///
/// With no line chosen the answer is `after`, with all of them `before`.
#[must_use]
pub fn undo_lines(before: &[u8], after: &[u8], is_chosen: impl Fn(usize, usize) -> bool) -> Vec<u8> {
    let (old, new) = (split_lines(before), split_lines(after));
    let mut lines: Vec<&[u8]> = Vec::with_capacity(new.len());
    let mut at = 0;
    for (index, run) in runs(before, after).into_iter().enumerate() {
        lines.extend(&new[at..run.after.start]);
        let went = run.before.len();
        for place in 0..went.max(run.after.len()) {
            if place < went && is_chosen(index, place) {
                lines.push(old[run.before.start + place]);
            }
            if place < run.after.len() && !is_chosen(index, went + place) {
                lines.push(new[run.after.start + place]);
            }
        }
        at = run.after.end;
    }
    lines.extend(&new[at..]);
    joined(&lines, line_end(&[after, before]))
}

/// The lines as one text. Only the last may lack its end: one that stood last in its text may have lines behind it here.
fn joined(lines: &[&[u8]], end: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(lines.iter().map(|line| line.len()).sum());
    for (index, line) in lines.iter().enumerate() {
        text.extend_from_slice(line);
        if index + 1 < lines.len() && !line.ends_with(b"\n") {
            text.extend_from_slice(end);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn undone(before: &str, after: &str, chosen: &[(usize, usize)]) -> String {
        let text = undo_lines(before.as_bytes(), after.as_bytes(), |run, line| chosen.contains(&(run, line)));
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn a_run_alone_goes_back_and_the_others_stay() {
        let (before, after) = ("a\nb\nc\nd\ne\n", "A\nb\nc\nd\nE\nf\n");
        assert_eq!(runs(before.as_bytes(), after.as_bytes()).len(), 2);
        assert_eq!(undone(before, after, &[]), after);
        assert_eq!(undone(before, after, &[(0, 0), (0, 1)]), "a\nb\nc\nd\nE\nf\n");
        assert_eq!(undone(before, after, &[(1, 0), (1, 1), (1, 2)]), "A\nb\nc\nd\ne\n");
    }

    #[test]
    fn a_line_goes_back_to_the_place_of_the_one_beside_it() {
        let (before, after) = ("1\n2\n3\n", "one\ntwo\nthree\n");
        assert_eq!(undone(before, after, &[(0, 1), (0, 4)]), "one\n2\nthree\n");
        assert_eq!(undone(before, after, &[(0, 1)]), "one\n2\ntwo\nthree\n");
        assert_eq!(undone(before, after, &[(0, 4)]), "one\nthree\n");
    }

    #[test]
    fn a_last_line_without_an_end_does_not_run_into_the_next() {
        assert_eq!(undone("a", "b", &[(0, 0)]), "a\nb");
        assert_eq!(undone("x\r\na", "x\r\nb\r\n", &[(0, 0)]), "x\r\na\r\nb\r\n");
        assert_eq!(undone("x\na", "x\nb\n", &[(0, 0), (0, 1)]), "x\na");
    }
}
