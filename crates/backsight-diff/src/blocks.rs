//! Cuts a long comparison into blocks that can be compared one by one. Finding changes takes time that grows with the
//! number of lines times the number of changes, which on a large file with an edit every few lines is many seconds;
//! over blocks of bounded size it grows with the number of lines alone. Only decides where to cut.

use std::ops::Range;

use imara_diff::Token;

use crate::changes::intern;

/// A run of lines of the old text and the run of lines of the new text it became.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Block {
    pub before: Range<usize>,
    pub after: Range<usize>,
}

/// A block is closed at the first anchor after so many lines.
const LINES: usize = 512;

/// How many unchanged lines around itself a block includes: as far as a change is ever moved to read better.
const CONTEXT: usize = 128;

/// The blocks that differ, in order, each with unchanged lines around it.
///
/// Neighbours overlap in unchanged lines only, and meet at an *anchor*: a line that occurs once on either side. No
/// change can be moved across an anchor, since moving needs an equal line to trade places with, so the changes of one
/// block never reach those of the next.
pub(crate) fn blocks(before: &[&[u8]], after: &[&[u8]]) -> Vec<Block> {
    let region = Block { before: 0..before.len(), after: 0..after.len() }.trimmed(before, after);
    let region = region.widened(before, after);
    let cuts = cuts(&before[region.before.clone()], &after[region.after.clone()]);
    let starts = cuts.iter().map(|cut| (region.before.start + cut.0, region.after.start + cut.1));
    let end = (region.before.end, region.after.end);
    let mut start = (region.before.start, region.after.start);
    let mut blocks = Vec::new();
    for next in starts.chain([end]) {
        let block = Block { before: start.0..next.0, after: start.1..next.1 };
        if before[block.before.clone()] != after[block.after.clone()] {
            blocks.push(block.trimmed(before, after).widened(before, after));
        }
        start = next;
    }
    blocks
}

impl Block {
    /// Without the lines both sides start and end with.
    fn trimmed(mut self, before: &[&[u8]], after: &[&[u8]]) -> Block {
        let (old, new) = (&before[self.before.clone()], &after[self.after.clone()]);
        let head = old.iter().zip(new).take_while(|(old, new)| old == new).count();
        let (old, new) = (&old[head..], &new[head..]);
        let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
        self.before = self.before.start + head..self.before.end - tail;
        self.after = self.after.start + head..self.after.end - tail;
        self
    }

    /// With the equal lines before and after it, up to [`CONTEXT`] of them.
    fn widened(mut self, before: &[&[u8]], after: &[&[u8]]) -> Block {
        let above = before[..self.before.start].iter().rev().zip(after[..self.after.start].iter().rev());
        let head = above.take(CONTEXT).take_while(|(old, new)| old == new).count();
        let below = before[self.before.end..].iter().zip(&after[self.after.end..]);
        let tail = below.take(CONTEXT).take_while(|(old, new)| old == new).count();
        self.before = self.before.start - head..self.before.end + tail;
        self.after = self.after.start - head..self.after.end + tail;
        self
    }
}

/// Where to cut: the old and new index of anchors far enough from each other.
fn cuts(before: &[&[u8]], after: &[&[u8]]) -> Vec<(usize, usize)> {
    if before.len().max(after.len()) < 2 * LINES {
        return Vec::new();
    }
    let mut last = (0, 0);
    let far_enough = |anchor: &(usize, usize)| {
        let far = (anchor.0 - last.0).max(anchor.1 - last.1) >= LINES;
        if far {
            last = *anchor;
        }
        far
    };
    longest_rising(&common_once(before, after)).into_iter().filter(far_enough).collect()
}

/// The lines that occur exactly once on either side: where each stands in the old text and in the new, in the order
/// of the new.
fn common_once(before: &[&[u8]], after: &[&[u8]]) -> Vec<(usize, usize)> {
    let input = intern(before, after);
    let count = input.interner.num_tokens() as usize;
    let (old, new) = (places(&input.before, count), places(&input.after, count));
    let anchor = |(index, token): (usize, &Token)| match (old[token.0 as usize], new[token.0 as usize]) {
        (Place::Once(place), Place::Once(_)) => Some((place as usize, index)),
        _ => None,
    };
    input.after.iter().enumerate().filter_map(anchor).collect()
}

/// Where a line occurs in one text.
#[derive(Debug, Clone, Copy)]
enum Place {
    Nowhere,
    Once(u32),
    Often,
}

fn places(tokens: &[Token], count: usize) -> Vec<Place> {
    let mut places = vec![Place::Nowhere; count];
    for (index, token) in (0..).zip(tokens) {
        let place = &mut places[token.0 as usize];
        *place = if let Place::Nowhere = place { Place::Once(index) } else { Place::Often };
    }
    places
}

/// As many of the pairs as can be kept so that they rise on both sides; they rise on the right already. What is left
/// out are lines that moved.
fn longest_rising(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // For every length, the pair with the lowest end among all rising runs of that length, and for every pair the one
    // before it in its run.
    let mut ends: Vec<usize> = Vec::new();
    let mut previous: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (index, pair) in pairs.iter().enumerate() {
        let length = ends.partition_point(|&end| pairs[end].0 < pair.0);
        previous.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        match ends.get_mut(length) {
            Some(end) => *end = index,
            None => ends.push(index),
        }
    }
    let mut run: Vec<(usize, usize)> =
        std::iter::successors(ends.last().copied(), |&index| previous[index]).map(|index| pairs[index]).collect();
    run.reverse();
    run
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every line unlike any other.
    fn numbered(count: usize) -> Vec<String> {
        (0..count).map(|number| format!("line {number}\n")).collect()
    }

    fn blocks_of(before: &[String], after: &[String]) -> Vec<(Range<usize>, Range<usize>)> {
        let lines = |text: &[String]| -> Vec<&'static [u8]> {
            text.iter().map(|line| &*line.clone().into_bytes().leak()).collect()
        };
        blocks(&lines(before), &lines(after)).into_iter().map(|block| (block.before, block.after)).collect()
    }

    #[test]
    fn equal_texts_have_no_block_and_short_ones_a_single() {
        assert_eq!(blocks_of(&numbered(3000), &numbered(3000)), []);
        assert_eq!(blocks_of(&numbered(2), &[]), [(0..2, 0..0)]);
        let mut after = numbered(600);
        after[10].push('!');
        after[590].push('!');
        assert_eq!(blocks_of(&numbered(600), &after), [(0..600, 0..600)]);
    }

    #[test]
    fn only_what_differs_is_in_a_block_with_unchanged_lines_around_it() {
        let mut after = numbered(10_000);
        after[1000].push('!');
        after.splice(9000..9000, ["new 1\n".to_owned(), "new 2\n".to_owned()]);
        let expected = [(872..1129, 872..1129), (8872..9128, 8872..9130)];
        assert_eq!(blocks_of(&numbered(10_000), &after), expected);
    }

    #[test]
    fn blocks_stay_small_however_many_changes_there_are() {
        let mut after = numbered(10_000);
        after.iter_mut().step_by(2).for_each(|line| line.push('!'));
        let blocks = blocks_of(&numbered(10_000), &after);
        assert_eq!(blocks.len(), 20);
        assert!(blocks.iter().all(|(before, _)| before.len() <= LINES + 2), "{blocks:?}");
    }

    #[test]
    fn texts_without_an_anchor_are_one_block() {
        let (before, after) =
            (vec!["a\n".to_owned(); 5000], [vec!["a\n".to_owned(); 4999], vec!["b\n".into()]].concat());
        assert_eq!(blocks_of(&before, &after), [(4871..5000, 4871..5000)]);
        let shuffled: Vec<String> = (0..5000).map(|number| format!("{}\n", number * number % 7)).collect();
        let mut other = shuffled.clone();
        other[0] = "x\n".into();
        other[4999] = "x\n".into();
        assert_eq!(blocks_of(&shuffled, &other), [(0..5000, 0..5000)]);
    }

    #[test]
    fn lines_that_moved_are_no_anchors() {
        assert_eq!(longest_rising(&[]), []);
        assert_eq!(longest_rising(&[(9, 0), (1, 1), (2, 2), (0, 3), (3, 4)]), [(1, 1), (2, 2), (3, 4)]);
        assert_eq!(common_once(&[b"a", b"b", b"c", b"b"], &[b"c", b"b", b"a", b"d"]), [(2, 0), (0, 2)]);
    }
}
