//! What the fuzzer checks, over its seeds and thousands of damaged copies of them, on every run of the tests.

use backsight_diff::validate_diff_format;

use crate::bodies;
use crate::feeding::{feed, seeds};

/// Damaged copies for each law.
const COPIES: usize = 3000;

#[test]
fn damaged_diffs_are_read_or_refused() {
    feed("diff", bodies::parse, COPIES);
}

#[test]
fn the_diff_of_any_two_texts_leads_there_and_back() {
    feed("diff_and_back", bodies::reverse_apply, COPIES);
}

#[test]
fn any_three_texts_merge_or_conflict() {
    feed("merge", bodies::merge, COPIES);
}

/// A seed that no longer says what its name says would be checked, and check nothing.
#[test]
fn the_seeds_called_broken_are_exactly_those_that_are() {
    for (name, content) in seeds("diff") {
        assert_eq!(!validate_diff_format(&content).is_empty(), name.starts_with("broken-"), "{name}");
    }
}
