//! Which elements of two lists belong together, so that one insertion is one insertion. Lists of any size take a bounded time:
//! what is the same at both ends costs nothing, the rest is compared exactly when it is small, and along elements that occur
//! once when it is large.

use std::collections::HashMap;

/// More cells than this are not compared each with each.
const MOST_CELLS: usize = 40_000;
/// More cells than this are not scored each with each, because scoring looks into the elements.
const MOST_SCORED: usize = 1_024;

/// What became of elements, in the order of both lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// This old element is that new one, changed or not.
    Both(usize, usize),
    /// This old element is gone.
    Old(usize),
    /// This new element has come.
    New(usize),
}

/// Aligns two lists, given as one hash for each element. `likeness` says how much two elements that differ look like the same
/// one, with 0 for not at all.
pub(super) fn align(old: &[u64], new: &[u64], likeness: impl Fn(usize, usize) -> u32) -> Vec<Step> {
    let mut aligner = Aligner { old, new, likeness, steps: Vec::with_capacity(old.len().max(new.len())) };
    aligner.range(Range { old: (0, old.len()), new: (0, new.len()) }, true);
    aligner.steps
}

struct Aligner<'a, F> {
    old: &'a [u64],
    new: &'a [u64],
    likeness: F,
    steps: Vec<Step>,
}

/// Parts of both lists, each from one index to before another.
#[derive(Clone, Copy)]
struct Range {
    old: (usize, usize),
    new: (usize, usize),
}

impl Range {
    fn cells(self) -> usize {
        (self.old.1 - self.old.0).saturating_mul(self.new.1 - self.new.0)
    }
}

impl<F: Fn(usize, usize) -> u32> Aligner<'_, F> {
    fn range(&mut self, range: Range, may_split: bool) {
        let Range { old: (mut old, old_end), new: (mut new, new_end) } = range;
        while old < old_end && new < new_end && self.old[old] == self.new[new] {
            self.steps.push(Step::Both(old, new));
            (old, new) = (old + 1, new + 1);
        }
        let mut same = 0;
        let shorter = (old_end - old).min(new_end - new);
        while same < shorter && self.old[old_end - same - 1] == self.new[new_end - same - 1] {
            same += 1;
        }
        let middle = Range { old: (old, old_end - same), new: (new, new_end - same) };
        match middle.cells() {
            0 => self.gap(middle),
            cells if cells <= MOST_CELLS => self.exactly(middle),
            _ if may_split => self.along_unique(middle),
            _ => self.gap(middle),
        }
        self.steps.extend((0..same).rev().map(|back| Step::Both(old_end - back - 1, new_end - back - 1)));
    }

    /// The longest common subsequence, by the book.
    fn exactly(&mut self, range: Range) {
        let Range { old: (old, old_end), new: (new, new_end) } = range;
        let width = new_end - new + 1;
        let height = old_end - old + 1;
        // `best[row][column]`: how many elements can stay from there to the end.
        let mut best = vec![0_u32; width * height];
        for row in (0..height - 1).rev() {
            for column in (0..width - 1).rev() {
                best[row * width + column] = match self.old[old + row] == self.new[new + column] {
                    true => best[(row + 1) * width + column + 1] + 1,
                    false => best[(row + 1) * width + column].max(best[row * width + column + 1]),
                };
            }
        }
        let (mut row, mut column) = (0, 0);
        let mut gap = (old, new);
        while row < height - 1 && column < width - 1 {
            if self.old[old + row] == self.new[new + column] {
                self.gap(Range { old: (gap.0, old + row), new: (gap.1, new + column) });
                self.steps.push(Step::Both(old + row, new + column));
                (row, column) = (row + 1, column + 1);
                gap = (old + row, new + column);
            } else if best[(row + 1) * width + column] >= best[row * width + column + 1] {
                row += 1;
            } else {
                column += 1;
            }
        }
        self.gap(Range { old: (gap.0, old_end), new: (gap.1, new_end) });
    }

    /// Along the elements that occur once in each list and stand in the same order.
    fn along_unique(&mut self, range: Range) {
        let Range { mut old, mut new } = range;
        for (old_anchor, new_anchor) in self.anchors(range) {
            self.range(Range { old: (old.0, old_anchor), new: (new.0, new_anchor) }, false);
            self.steps.push(Step::Both(old_anchor, new_anchor));
            (old.0, new.0) = (old_anchor + 1, new_anchor + 1);
        }
        self.range(Range { old, new }, false);
    }

    fn anchors(&self, range: Range) -> Vec<(usize, usize)> {
        let mut places: HashMap<u64, (u32, usize, u32, usize)> = HashMap::new();
        for index in range.old.0..range.old.1 {
            let place = places.entry(self.old[index]).or_default();
            (place.0, place.1) = (place.0 + 1, index);
        }
        for index in range.new.0..range.new.1 {
            if let Some(place) = places.get_mut(&self.new[index]) {
                (place.2, place.3) = (place.2 + 1, index);
            }
        }
        let unique = places.into_values().filter(|place| place.0 == 1 && place.2 == 1);
        let mut pairs: Vec<(usize, usize)> = unique.map(|place| (place.1, place.3)).collect();
        pairs.sort_unstable();
        longest_rising(&pairs)
    }

    /// Elements between common ones: pairs of those that look alike are changes, the rest has gone and come.
    fn gap(&mut self, range: Range) {
        let Range { old: (old, old_end), new: (new, new_end) } = range;
        let (height, width) = (old_end - old, new_end - new);
        let equal = height == width;
        if height == 0 || width == 0 || equal || range.cells() > MOST_SCORED {
            // As many as both have, in their order: without a shift that is what happened to them.
            let both = height.min(width);
            self.steps.extend((0..both).map(|index| Step::Both(old + index, new + index)));
            self.steps.extend((old + both..old_end).map(Step::Old));
            self.steps.extend((new + both..new_end).map(Step::New));
            return;
        }
        self.alike(range);
    }

    /// The pairs that look most alike altogether, without crossing.
    fn alike(&mut self, range: Range) {
        let Range { old: (old, old_end), new: (new, new_end) } = range;
        let (height, width) = (old_end - old, new_end - new);
        let at = |row: usize, column: usize| row * (width + 1) + column;
        let mut score = vec![0_u32; height * width];
        let mut best = vec![0_u64; (height + 1) * (width + 1)];
        for row in (0..height).rev() {
            for column in (0..width).rev() {
                let own = (self.likeness)(old + row, new + column);
                score[row * width + column] = own;
                let paired = best[at(row + 1, column + 1)] + u64::from(own);
                best[at(row, column)] = paired.max(best[at(row + 1, column)]).max(best[at(row, column + 1)]);
            }
        }
        let (mut row, mut column) = (0, 0);
        while row < height && column < width {
            let own = u64::from(score[row * width + column]);
            if own > 0 && best[at(row, column)] == best[at(row + 1, column + 1)] + own {
                self.steps.push(Step::Both(old + row, new + column));
                (row, column) = (row + 1, column + 1);
            } else if best[at(row, column)] == best[at(row + 1, column)] {
                self.steps.push(Step::Old(old + row));
                row += 1;
            } else {
                self.steps.push(Step::New(new + column));
                column += 1;
            }
        }
        self.steps.extend((old + row..old_end).map(Step::Old));
        self.steps.extend((new + column..new_end).map(Step::New));
    }
}

/// Of pairs that are sorted by their first, the most whose seconds rise too.
fn longest_rising(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // `ends[length]`: the pair with the smallest second at which a chain of that length can end.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (index, pair) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| pairs[*end].1 < pair.1);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        match ends.get_mut(length) {
            Some(end) => *end = index,
            None => ends.push(index),
        }
    }
    let mut chain: Vec<(usize, usize)> = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(index) = next {
        chain.push(pairs[index]);
        next = before[index];
    }
    chain.reverse();
    chain
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn steps(old: &[u64], new: &[u64]) -> Vec<Step> {
        align(old, new, |_, _| 1)
    }

    /// How many elements went and came, and how many pairs differ.
    fn cost(old: &[u64], new: &[u64], steps: &[Step]) -> (usize, usize) {
        let single = steps.iter().filter(|step| !matches!(step, Step::Both(..))).count();
        let changed = steps.iter().filter(|step| matches!(step, Step::Both(a, b) if old[*a] != new[*b])).count();
        (single, changed)
    }

    #[test]
    fn one_insertion_is_one_insertion_wherever_it_is() {
        let old: Vec<u64> = (0..100_000).collect();
        for at in [0, 50_000, 100_000] {
            let mut new = old.clone();
            new.insert(at, 7_777_777);
            let single: Vec<Step> =
                steps(&old, &new).into_iter().filter(|step| !matches!(step, Step::Both(..))).collect();
            assert_eq!(single, [Step::New(at)]);
        }
    }

    #[test]
    fn large_lists_with_many_edits_are_aligned_along_what_stayed() {
        let old: Vec<u64> = (0..50_000).collect();
        let new: Vec<u64> = old
            .iter()
            .filter(|n| *n % 10 != 3)
            .flat_map(|n| if n % 7 == 0 { vec![*n, n + 1_000_000] } else { vec![*n] })
            .collect();
        let steps = steps(&old, &new);
        let (single, changed) = cost(&old, &new, &steps);
        let (gone, come) =
            (5_000, 50_000_usize.div_ceil(7) - old.iter().filter(|n| *n % 10 == 3 && *n % 7 == 0).count());
        assert!(single + 2 * changed <= gone + come, "{single} and {changed} of {gone} and {come}");
    }

    #[test]
    fn nothing_in_common_takes_no_longer() {
        let old: Vec<u64> = (0..50_000).collect();
        let new: Vec<u64> = (100_000..140_000).collect();
        assert_eq!(cost(&old, &new, &steps(&old, &new)), (10_000, 40_000));
    }

    #[test]
    fn what_looks_alike_is_paired() {
        let like = |old: usize, new: usize| if (old, new) == (1, 0) { 9 } else { 1 };
        assert_eq!(align(&[1, 2], &[3], like), [Step::Old(0), Step::Both(1, 0)]);
        assert_eq!(align(&[1, 2], &[3], |_, _| 0), [Step::Old(0), Step::Old(1), Step::New(0)]);
    }

    proptest! {
        #[test]
        fn every_element_is_there_once_and_in_order(
            old in proptest::collection::vec(0_u64..6, 0..40),
            new in proptest::collection::vec(0_u64..6, 0..40),
        ) {
            let steps = steps(&old, &new);
            let olds: Vec<usize> = steps.iter().filter_map(|step| match step {
                Step::Both(old, _) | Step::Old(old) => Some(*old),
                Step::New(_) => None,
            }).collect();
            let news: Vec<usize> = steps.iter().filter_map(|step| match step {
                Step::Both(_, new) | Step::New(new) => Some(*new),
                Step::Old(_) => None,
            }).collect();
            prop_assert_eq!(olds, (0..old.len()).collect::<Vec<_>>());
            prop_assert_eq!(news, (0..new.len()).collect::<Vec<_>>());
        }

        #[test]
        fn equal_lists_stay_as_they_are(list in proptest::collection::vec(0_u64..4, 0..60)) {
            prop_assert_eq!(cost(&list, &list, &steps(&list, &list)), (0, 0));
        }

        #[test]
        fn one_edit_is_one_step(
            list in proptest::collection::vec(0_u64..4, 1..60), at in any::<prop::sample::Index>(), edit in 0..3,
        ) {
            let mut new = list.clone();
            let at = at.index(list.len());
            match edit {
                0 => new.insert(at, 99),
                1 => _ = new.remove(at),
                _ => new[at] = 99,
            }
            let expected = if edit == 2 { (0, 1) } else { (1, 0) };
            prop_assert_eq!(cost(&list, &new, &steps(&list, &new)), expected);
        }
    }
}
