//! Three-way merge of one file's lines, with git's idea of what conflicts.

use std::ops::Range;

use crate::changes::{Change, Purpose, changes};
use crate::text::{is_binary, line_end, split_lines};

/// What stands behind the conflict markers.
#[derive(Debug, Clone, Copy)]
pub struct Labels<'a> {
    /// After `<<<<<<<`.
    pub ours: &'a str,
    /// After `>>>>>>>`.
    pub theirs: &'a str,
}

impl Default for Labels<'_> {
    fn default() -> Self {
        Labels { ours: "ours", theirs: "theirs" }
    }
}

/// The outcome of [`merge`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merge {
    /// Both sides' changes, combined.
    Clean(Vec<u8>),
    /// Some changes exclude each other.
    Conflict {
        /// The merged text with both versions of each conflicting passage between markers.
        text: Vec<u8>,
        /// How many passages conflict.
        conflicts: usize,
    },
    /// Both sides changed and at least one of the three is binary: the caller has to choose a side.
    Binary,
}

/// Applies both what `ours` and what `theirs` changed in `base`.
///
/// Changes conflict when they touch the same line of `base`, insert different text at the same place, or lie
/// directly next to each other; identical changes do not. When only one side changed, or both are equal, the
/// answer is that side, binary or not.
#[must_use]
pub fn merge(base: &[u8], ours: &[u8], theirs: &[u8], labels: &Labels) -> Merge {
    if ours == theirs || theirs == base {
        return Merge::Clean(ours.to_vec());
    }
    if ours == base {
        return Merge::Clean(theirs.to_vec());
    }
    if is_binary(base) || is_binary(ours) || is_binary(theirs) {
        return Merge::Binary;
    }
    let line_end = line_end(&[ours, theirs, base]);
    let (base, ours, theirs) = (split_lines(base), split_lines(ours), split_lines(theirs));
    let regions = regions(&changes(&base, &ours, Purpose::Merge), &changes(&base, &theirs, Purpose::Merge));
    Writer { base: &base, ours: &ours, theirs: &theirs, labels, line_end, text: Vec::new(), conflicts: 0 }
        .write(&regions)
}

/// A stretch of base that at least one side changed, with what each side has in its place.
#[derive(Debug)]
struct Region {
    base: Range<usize>,
    ours: Range<usize>,
    theirs: Range<usize>,
    by: Author,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Author {
    Ours,
    Theirs,
    Both,
}

/// Groups changes that touch. The two sides' changes are disjoint exactly when an unchanged line of base lies
/// between them, which is also what git asks for.
fn regions(mut ours: &[Change], mut theirs: &[Change]) -> Vec<Region> {
    let mut regions = Vec::new();
    // How far a position in each side is ahead of the same unchanged line's position in base.
    let (mut ours_shift, mut theirs_shift) = (0, 0);
    while let Some(start) = next_start(ours, theirs) {
        let mut end = start;
        let (first_ours, first_theirs) = (ours, theirs);
        let (before_ours, before_theirs) = (ours_shift, theirs_shift);
        loop {
            let taken = take_touching(&mut ours, &mut end, &mut ours_shift)
                | take_touching(&mut theirs, &mut end, &mut theirs_shift);
            if !taken {
                break;
            }
        }
        let by = match (first_ours.len() == ours.len(), first_theirs.len() == theirs.len()) {
            (false, true) => Author::Ours,
            (true, false) => Author::Theirs,
            _ => Author::Both,
        };
        regions.push(Region {
            base: start..end,
            ours: shifted(start, before_ours)..shifted(end, ours_shift),
            theirs: shifted(start, before_theirs)..shifted(end, theirs_shift),
            by,
        });
    }
    regions
}

fn next_start(ours: &[Change], theirs: &[Change]) -> Option<usize> {
    let starts = [ours.first(), theirs.first()];
    starts.into_iter().flatten().map(|change| change.before.start).min()
}

/// Takes the next change of one side if it starts within or right at the end of the region so far.
fn take_touching(side: &mut &[Change], end: &mut usize, shift: &mut isize) -> bool {
    match side.split_first() {
        Some((change, rest)) if change.before.start <= *end => {
            *end = (*end).max(change.before.end);
            *shift += change.after.len() as isize - change.before.len() as isize;
            *side = rest;
            true
        }
        _ => false,
    }
}

fn shifted(position: usize, shift: isize) -> usize {
    position.saturating_add_signed(shift)
}

struct Writer<'a> {
    base: &'a [&'a [u8]],
    ours: &'a [&'a [u8]],
    theirs: &'a [&'a [u8]],
    labels: &'a Labels<'a>,
    line_end: &'static [u8],
    text: Vec<u8>,
    conflicts: usize,
}

impl Writer<'_> {
    fn write(mut self, regions: &[Region]) -> Merge {
        let mut at = 0;
        for region in regions {
            self.lines(&self.base[at..region.base.start]);
            let (ours, theirs) = (&self.ours[region.ours.clone()], &self.theirs[region.theirs.clone()]);
            match region.by {
                Author::Ours => self.lines(ours),
                Author::Theirs => self.lines(theirs),
                Author::Both if ours == theirs => self.lines(ours),
                Author::Both => self.conflict(ours, theirs),
            }
            at = region.base.end;
        }
        self.lines(&self.base[at..]);
        match self.conflicts {
            0 => Merge::Clean(self.text),
            conflicts => Merge::Conflict { text: self.text, conflicts },
        }
    }

    fn lines(&mut self, lines: &[&[u8]]) {
        for line in lines {
            self.text.extend_from_slice(line);
        }
    }

    /// Lines both versions start or end with are not in dispute and stay outside the markers.
    fn conflict(&mut self, ours: &[&[u8]], theirs: &[&[u8]]) {
        let start = ours.iter().zip(theirs).take_while(|(left, right)| left == right).count();
        let (head, ours, theirs) = (&ours[..start], &ours[start..], &theirs[start..]);
        let same_end = ours.iter().rev().zip(theirs.iter().rev()).take_while(|(left, right)| left == right).count();
        let (ours, tail) = ours.split_at(ours.len() - same_end);
        let theirs = &theirs[..theirs.len() - same_end];

        self.lines(head);
        self.marker(b"<<<<<<<", Some(self.labels.ours));
        self.lines(ours);
        self.marker(b"=======", None);
        self.lines(theirs);
        self.marker(b">>>>>>>", Some(self.labels.theirs));
        self.lines(tail);
        self.conflicts += 1;
    }

    fn marker(&mut self, marker: &[u8], label: Option<&str>) {
        // The last line of a file may lack its terminator; a marker must still start a line.
        if !self.text.is_empty() && !self.text.ends_with(b"\n") {
            self.text.extend_from_slice(self.line_end);
        }
        self.text.extend_from_slice(marker);
        if let Some(label) = label.filter(|label| !label.is_empty()) {
            self.text.push(b' ');
            self.text.extend(label.bytes().map(|byte| if byte.is_ascii_control() { b' ' } else { byte }));
        }
        self.text.extend_from_slice(self.line_end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(base: &str, ours: &str, theirs: &str) -> Merge {
        merge(base.as_bytes(), ours.as_bytes(), theirs.as_bytes(), &Labels::default())
    }

    fn clean(text: &str) -> Merge {
        Merge::Clean(text.as_bytes().to_vec())
    }

    fn conflict(text: &str, conflicts: usize) -> Merge {
        Merge::Conflict { text: text.as_bytes().to_vec(), conflicts }
    }

    #[test]
    fn changes_with_a_line_between_them_merge() {
        assert_eq!(merged("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n"), clean("A\nb\nC\n"));
        assert_eq!(merged("a\nb\nc\n", "b\nc\n", "a\nb\nc\nd\n"), clean("b\nc\nd\n"));
    }

    #[test]
    fn the_same_change_on_both_sides_is_made_once() {
        assert_eq!(merged("a\nb\nc\nd\n", "a\nX\nc\nD\n", "a\nX\nc\nd\n"), clean("a\nX\nc\nD\n"));
        assert_eq!(merged("a\nb\n", "n\na\nb\n", "n\na\nB\n"), clean("n\na\nB\n"));
    }

    #[test]
    fn the_same_line_changed_twice_conflicts() {
        let text = "a\n<<<<<<< ours\nX\n=======\nY\n>>>>>>> theirs\nc\n";
        assert_eq!(merged("a\nb\nc\n", "a\nX\nc\n", "a\nY\nc\n"), conflict(text, 1));
    }

    #[test]
    fn neighbouring_changes_conflict_as_in_git() {
        let text = "<<<<<<< ours\nA\nb\n=======\na\nB\n>>>>>>> theirs\nc\n";
        assert_eq!(merged("a\nb\nc\n", "A\nb\nc\n", "a\nB\nc\n"), conflict(text, 1));
    }

    #[test]
    fn different_insertions_at_one_place_conflict() {
        let text = "a\n<<<<<<< ours\nX\n=======\nY\n>>>>>>> theirs\nb\n";
        assert_eq!(merged("a\nb\n", "a\nX\nb\n", "a\nY\nb\n"), conflict(text, 1));
    }

    #[test]
    fn an_edit_against_a_deletion_conflicts() {
        let text = "a\n<<<<<<< ours\nB\n=======\n>>>>>>> theirs\nc\n";
        assert_eq!(merged("a\nb\nc\n", "a\nB\nc\n", "a\nc\n"), conflict(text, 1));
    }

    #[test]
    fn what_both_versions_share_stays_outside_the_markers() {
        let text = "n\n<<<<<<< ours\nX\n=======\nY\n>>>>>>> theirs\nm\n";
        assert_eq!(merged("a\n", "n\nX\nm\n", "n\nY\nm\n"), conflict(text, 1));
    }

    #[test]
    fn markers_take_the_line_ending_of_the_file() {
        let text = "a\r\n<<<<<<< ours\r\nX\r\n=======\r\nY\r\n>>>>>>> theirs\r\n";
        assert_eq!(merged("a\r\nb\r\n", "a\r\nX\r\n", "a\r\nY\r\n"), conflict(text, 1));
    }

    #[test]
    fn a_missing_final_newline_survives() {
        assert_eq!(merged("a\nb\nc", "A\nb\nc", "a\nb\nC"), clean("A\nb\nC"));
        let text = "<<<<<<< ours\nX\n=======\nY\n>>>>>>> theirs\n";
        assert_eq!(merged("a", "X", "Y"), conflict(text, 1));
    }

    #[test]
    fn a_label_cannot_break_out_of_its_line() {
        let labels = Labels { ours: "me\n=======", theirs: "" };
        let Merge::Conflict { text, .. } = merge(b"a\n", b"b\n", b"c\n", &labels) else {
            panic!("expected a conflict")
        };
        assert_eq!(text, b"<<<<<<< me =======\nb\n=======\nc\n>>>>>>>\n");
    }

    #[test]
    fn binary_content_is_merged_only_when_there_is_nothing_to_decide() {
        assert_eq!(merged("\0a", "\0b", "\0c"), Merge::Binary);
        assert_eq!(merged("\0a", "\0b", "\0a"), clean("\0b"));
        assert_eq!(merged("\0a", "\0a", "\0c"), clean("\0c"));
        assert_eq!(merged("a", "\0b", "\0b"), clean("\0b"));
    }
}
