//! The one place that talks to `imara-diff`: two lists of lines in, the changed ranges out.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput, Interner};

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
    /// A person reads them: histogram diff, placed where the indentation suggests, as git shows a diff.
    Show,
    /// They are compared with those of another side: Myers diff, placed as low as possible, as `git merge-file`
    /// does. What conflicts depends on how the changes were found, and agreeing with git is worth more here than
    /// agreeing with the diffs shown.
    Merge,
}

/// The changes that turn `before` into `after`, in order; at least one unchanged line lies between any two.
pub(crate) fn changes(before: &[&[u8]], after: &[&[u8]], purpose: Purpose) -> Vec<Change> {
    if before == after {
        return Vec::new();
    }
    // `imara-diff` asserts this limit. A file of two billion lines gets a correct, if coarse, answer instead.
    if before.len() >= i32::MAX as usize || after.len() >= i32::MAX as usize {
        return vec![Change { before: 0..before.len(), after: 0..after.len() }];
    }
    let input = intern(before, after);
    let diff = match purpose {
        Purpose::Count => Diff::compute(Algorithm::Histogram, &input),
        Purpose::Show => {
            let mut diff = Diff::compute(Algorithm::Histogram, &input);
            diff.postprocess_lines(&input);
            diff
        }
        Purpose::Merge => {
            let mut diff = Diff::compute(Algorithm::Myers, &input);
            diff.postprocess_no_heuristic(&input);
            diff
        }
    };
    diff.hunks()
        .map(|hunk| Change {
            before: hunk.before.start as usize..hunk.before.end as usize,
            after: hunk.after.start as usize..hunk.after.end as usize,
        })
        .collect()
}

/// Interns by hand instead of through `InternedInput::new`, which sizes its tables by the first twenty lines:
/// a large file that opens with blank lines would reserve memory for as many lines as it has bytes.
fn intern<'a>(before: &[&'a [u8]], after: &[&'a [u8]]) -> InternedInput<&'a [u8]> {
    let mut input = InternedInput {
        before: Vec::with_capacity(before.len()),
        after: Vec::with_capacity(after.len()),
        interner: Interner::new(before.len().max(after.len())),
    };
    input.update_before(before.iter().copied());
    input.update_after(after.iter().copied());
    input
}
