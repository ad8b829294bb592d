//! What changed between two captures: only the values that changed themselves, not everything they are part of, and of long
//! answers the part that matters most with exact counts of the rest.

mod align;
pub(crate) mod change;
mod elements;
mod fit;
mod frames;
pub(crate) mod preview;
mod runs;
pub(crate) mod scalar;
mod values;
mod variables;
mod words;

use std::collections::HashSet;

use change::{Found, Place, What};
use values::Walk;

use crate::capture::{Capture, Scope};
use crate::report::{SnapshotDiff, Summary, Warning};

pub(crate) use fit::{fitting, fold};
pub(crate) use preview::preview;
pub(crate) use runs::run_of;

/// How many tokens an answer may take when nothing else is said.
pub const DEFAULT_TOKENS: usize = 1_500;

/// What of a diff is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// How many tokens the answer may take, as [`Form`] writes it. At least one change is always told.
    pub max_tokens: usize,
    /// Only what is at or under this path.
    pub path: Option<String>,
    /// How many changes to skip, in the order of their importance.
    pub offset: usize,
    /// What is counted.
    pub form: Form,
}

impl Default for Options {
    fn default() -> Self {
        Options { max_tokens: DEFAULT_TOKENS, path: None, offset: 0, form: Form::Compact }
    }
}

/// How an answer will be written, which decides how many tokens it takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// As text for a model, see [`crate::render::compact`].
    #[default]
    Compact,
    /// As JSON.
    Json,
}

/// What changed from `old` to `new`.
pub fn snapshot_diff(old: &Capture, new: &Capture, options: &Options) -> SnapshotDiff {
    let comparison = compare(old, new);
    fit::fit(words::head(old, new, &comparison), &comparison.found, options)
}

/// What a comparison found, before any of it is chosen.
pub(crate) struct Comparison<'a> {
    pub(crate) found: Found<'a>,
    pub(crate) warnings: Vec<Warning>,
}

/// Compares two captures.
pub(crate) fn compare<'a>(old: &'a Capture, new: &'a Capture) -> Comparison<'a> {
    let calls = frames::pair(old, new);
    let incomplete = || old.incomplete.iter().chain(&new.incomplete);
    let lacks_variables = incomplete().any(|incomplete| incomplete.lacks_variables);
    let mut walk =
        Walk::new(unseen_paths(old, new), lacks_variables, Place { scope: Scope::Local, frame: None, distance: 0 });
    for (distance, call) in calls.calls.iter().enumerate() {
        variables::compare(&mut walk, *call, calls.calls.len() > 1, distance);
    }
    Comparison { warnings: frames::warnings(old, new, &calls), found: walk.found }
}

/// Compares the first frames of two captures, whatever call they are of.
pub(crate) fn compare_first_frames<'a>(old: &'a Capture, new: &'a Capture) -> Option<Found<'a>> {
    let call = frames::Call { old: Some(old.frames.first()?), new: Some(new.frames.first()?) };
    let mut walk = Walk::new(unseen_paths(old, new), false, Place { scope: Scope::Local, frame: None, distance: 0 });
    variables::compare(&mut walk, call, false, 0);
    Some(walk.found)
}

/// Where either capture did not see everything.
fn unseen_paths<'a>(old: &'a Capture, new: &'a Capture) -> HashSet<&'a str> {
    old.incomplete.iter().chain(&new.incomplete).map(|incomplete| incomplete.path.as_str()).collect()
}

impl Comparison<'_> {
    pub(crate) fn summary(&self) -> Summary {
        let count =
            |is: fn(&What<'_>) -> bool| self.found.changes.iter().filter(|change| is(&change.what)).count() as u64;
        Summary {
            added: count(|what| matches!(what, What::Added(..))),
            removed: count(|what| matches!(what, What::Removed(..))),
            modified: count(|what| matches!(what, What::Modified(..))),
            unchanged: self.found.unchanged,
            not_compared: self.found.not_compared.len() as u64,
        }
    }
}

#[cfg(test)]
mod tests;
