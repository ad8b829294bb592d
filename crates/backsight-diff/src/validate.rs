//! Checks a diff and lists everything wrong with it, where the parser stops at the first problem.

use crate::parse::{FormatError, scan};

/// Every problem in a diff, in line order; none exactly when
/// [`parse_multi_file_diff`](crate::parse_multi_file_diff) accepts it.
#[must_use]
pub fn validate_diff_format(diff: &[u8]) -> Vec<FormatError> {
    scan(diff).errors
}
