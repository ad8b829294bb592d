//! Follows unchanged lines from one version of a text to the next, which is what blame is made of. It knows two
//! versions at a time and nothing of who wrote them.

use std::iter::repeat_n;

use crate::changes::{Purpose, changes};
use crate::text::split_lines;

/// For every line of `after`, as [`split_lines`] splits it, the index of the line of `before` it is unchanged
/// from; `None` where the line is new.
///
/// The lines found unchanged are those that [`generate_unified_diff`](crate::generate_unified_diff) leaves
/// unmarked, so what a person reads in the diff and what is attributed here agree. Binary content is followed by its
/// lines like any other; whether that makes sense is for the caller to know, see [`is_binary`](crate::is_binary).
///
/// ```
/// use backsight_diff::line_origins;
///
/// let before = b"one\ntwo\nthree\n";
/// let after = b"zero\none\n2\nthree\n";
/// assert_eq!(line_origins(before, after), [None, Some(0), None, Some(2)]);
/// ```
#[must_use]
pub fn line_origins(before: &[u8], after: &[u8]) -> Vec<Option<usize>> {
    let (before, after) = (split_lines(before), split_lines(after));
    let mut origins = Vec::with_capacity(after.len());
    let mut unchanged = 0;
    for change in changes(&before, &after, Purpose::Show) {
        origins.extend((unchanged..change.before.start).map(Some));
        origins.extend(repeat_n(None, change.after.len()));
        unchanged = change.before.end;
    }
    origins.extend((unchanged..before.len()).map(Some));
    origins
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_keep_every_line() {
        assert_eq!(line_origins(b"a\nb\n", b"a\nb\n"), [Some(0), Some(1)]);
        assert_eq!(line_origins(b"", b""), []);
    }

    #[test]
    fn from_nothing_every_line_is_new_and_to_nothing_none_is_left() {
        assert_eq!(line_origins(b"", b"a\nb"), [None, None]);
        assert_eq!(line_origins(b"a\nb", b""), []);
    }

    #[test]
    fn lines_keep_their_origin_across_insertions_and_removals() {
        assert_eq!(line_origins(b"a\nb\nc\nd\n", b"n\na\nc\nd\ne\n"), [None, Some(0), Some(2), Some(3), None]);
    }

    #[test]
    fn a_moved_line_is_new_where_it_arrives() {
        assert_eq!(line_origins(b"a\nb\nc\nd\n", b"b\nc\nd\na\n"), [Some(1), Some(2), Some(3), None]);
    }

    #[test]
    fn a_line_is_unchanged_only_with_its_line_ending() {
        assert_eq!(line_origins(b"a\nb", b"a\nb\n"), [Some(0), None]);
        assert_eq!(line_origins(b"a\nb\n", b"a\r\nb\n"), [None, Some(1)]);
    }
}
