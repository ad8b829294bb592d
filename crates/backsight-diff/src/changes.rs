//! The one place that talks to `imara-diff`: two lists of lines in, the changed ranges out.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, Hunk, InternedInput, Interner};

use crate::blocks::{Block, blocks};

/// A run of lines of the old text replaced by a run of lines of the new one. One of the two may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    pub before: Range<usize>,
    pub after: Range<usize>,
}

/// What the changes are for, which decides how they are found and where they go when several places are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Only their number matters, which is the same wherever they are put.
    Count,
    /// A person reads them: histogram diff, block by block, placed where the indentation suggests, as git shows a
    /// diff. See [`blocks`].
    Show,
    /// They are compared with those of another side: Myers diff, placed as low as possible, as `git merge-file`
    /// does. What conflicts depends on how the changes were found, and agreeing with git is worth more here than
    /// agreeing with the diffs shown.
    Merge,
}

/// The changes that turn `before` into `after`, in order; at least one unchanged line lies between any two.
///
/// The time grows in proportion to the lines, however many changes there are. Only where no line for thousands is
/// unlike all others it grows faster: 100,000 random lines of three kinds take half a second, a million 14, git's time.
pub(crate) fn changes(before: &[&[u8]], after: &[&[u8]], purpose: Purpose) -> Vec<Change> {
    if before == after {
        return Vec::new();
    }
    // `imara-diff` asserts this limit. A file of two billion lines gets a correct, if coarse, answer instead.
    if before.len() >= i32::MAX as usize || after.len() >= i32::MAX as usize {
        return vec![Change { before: 0..before.len(), after: 0..after.len() }];
    }
    match purpose {
        Purpose::Count | Purpose::Show => {
            let blocks = blocks(before, after);
            blocks.iter().flat_map(|block| block_changes(before, after, block, purpose)).collect()
        }
        Purpose::Merge => {
            let input = intern(before, after);
            let mut diff = Diff::compute(Algorithm::Myers, &input);
            if can_be_moved(&diff, &input) {
                diff.postprocess_no_heuristic(&input);
            }
            diff.hunks().map(|hunk| change(hunk, 0, 0)).collect()
        }
    }
}

/// Histogram diff takes time with the square of the lines. A block of more than this gets a Myers diff, which gives up
/// on the shortest answer when it takes long; only where hardly any line is unlike all others are there such blocks.
const LONGEST_HISTOGRAM: usize = 4096;

fn block_changes(before: &[&[u8]], after: &[&[u8]], block: &Block, purpose: Purpose) -> Vec<Change> {
    let (old, new) = (&before[block.before.clone()], &after[block.after.clone()]);
    let input = intern(old, new);
    let long = old.len().max(new.len()) > LONGEST_HISTOGRAM;
    let mut diff = Diff::compute(if long { Algorithm::Myers } else { Algorithm::Histogram }, &input);
    if purpose == Purpose::Show && can_be_moved(&diff, &input) {
        diff.postprocess_lines(&input);
    }
    diff.hunks().map(|hunk| change(hunk, block.before.start, block.after.start)).collect()
}

/// Whether moving changes to where they read best is worth its time. For every change on one side all lines of the other
/// may be looked at: this many looks take less than a second, and texts that need more are beyond reading.
fn can_be_moved(diff: &Diff, input: &InternedInput<&[u8]>) -> bool {
    const MOST_LOOKS: u64 = 1 << 32;
    let lines = input.before.len().max(input.after.len());
    diff.hunks().count() as u64 * lines as u64 <= MOST_LOOKS
}

/// A change found in lines that start at the given places of the whole.
fn change(hunk: Hunk, before: usize, after: usize) -> Change {
    Change {
        before: before + hunk.before.start as usize..before + hunk.before.end as usize,
        after: after + hunk.after.start as usize..after + hunk.after.end as usize,
    }
}

/// Interns by hand instead of through `InternedInput::new`, which sizes its tables by the first twenty lines:
/// a large file that opens with blank lines would reserve memory for as many lines as it has bytes.
pub(crate) fn intern<'a>(before: &[&'a [u8]], after: &[&'a [u8]]) -> InternedInput<&'a [u8]> {
    let mut input = InternedInput {
        before: Vec::with_capacity(before.len()),
        after: Vec::with_capacity(after.len()),
        interner: Interner::new(before.len().max(after.len())),
    };
    input.update_before(before.iter().copied());
    input.update_after(after.iter().copied());
    input
}
