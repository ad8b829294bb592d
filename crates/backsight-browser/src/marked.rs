//! A value that remembers what it was at marks. Writing costs nothing more than one copy for each mark after which the
//! value changed; values that do not change pay nothing for marks.

use std::collections::BTreeSet;

/// A value, and what it was at earlier marks.
#[derive(Clone, Debug, Default)]
pub struct Marked<T> {
    now: T,
    /// The value as it was when a mark was the latest and the first change after it came, oldest first.
    before: Vec<(u64, T)>,
}

impl<T: Clone> Marked<T> {
    /// The value now.
    pub fn now(&self) -> &T {
        &self.now
    }

    /// The value at a mark.
    pub fn at(&self, mark: u64) -> &T {
        let later = self.before.partition_point(|(at, _)| *at < mark);
        self.before.get(later).map_or(&self.now, |(_, value)| value)
    }

    /// To change it, given the latest mark; marks must not decrease.
    pub fn change(&mut self, latest_mark: u64) -> &mut T {
        self.change_after(latest_mark, |_| {})
    }

    /// The same for a value of which something is brought up to date only before it is remembered.
    pub fn change_after(&mut self, latest_mark: u64, refresh: impl FnOnce(&mut T)) -> &mut T {
        if self.before.last().is_none_or(|(mark, _)| *mark < latest_mark) {
            refresh(&mut self.now);
            self.before.push((latest_mark, self.now.clone()));
        }
        &mut self.now
    }

    /// How many earlier values are remembered.
    #[cfg(test)]
    pub(crate) fn remembered(&self) -> usize {
        self.before.len()
    }

    /// Forgets what no mark of `live` (in order) needs.
    pub fn keep(&mut self, live: &[u64]) {
        let mut previous = None;
        self.before.retain(|(at, _)| {
            let needed = live.iter().any(|mark| mark <= at && previous.is_none_or(|previous| previous < *mark));
            previous = Some(*at);
            needed
        });
    }
}

impl Marked<u64> {
    /// Counts what `other` counted as well, at every mark.
    pub fn absorb(&mut self, other: &Marked<u64>) {
        let marks: BTreeSet<u64> = self.before.iter().chain(&other.before).map(|(mark, _)| *mark).collect();
        self.before = marks.into_iter().map(|mark| (mark, self.at(mark) + other.at(mark))).collect();
        self.now += other.now;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Two counts that turn out to be one know the sum at every mark.
        #[test]
        fn what_is_absorbed_counts_at_every_mark(steps in prop::collection::vec(0_u8..3, 0..40)) {
            let (mut left, mut right, mut marks) = (Marked::<u64>::default(), Marked::<u64>::default(), vec![(0, 0)]);
            for (time, step) in (1..).zip(steps) {
                let latest = marks.last().map_or(0, |(mark, _)| *mark);
                match step {
                    0 => *left.change(latest) += 1,
                    1 => *right.change(latest) += 1,
                    _ => marks.push((time, left.now() + right.now())),
                }
            }
            left.absorb(&right);
            for (mark, expected) in marks {
                prop_assert_eq!(*left.at(mark), expected);
            }
        }

        /// Changes, marks and forgetting in any order: every live mark still knows its value.
        #[test]
        fn every_live_mark_knows_its_value(steps in prop::collection::vec(0_u8..4, 0..60)) {
            let (mut value, mut live) = (Marked::<u64>::default(), vec![(0, 0)]);
            for (time, step) in (1..).zip(steps) {
                let latest = live.last().map_or(0, |(mark, _)| *mark);
                match step {
                    0 | 1 => *value.change(latest) += 1,
                    2 => live.push((time, *value.now())),
                    _ => {
                        if live.len() > 2 {
                            live.remove(live.len() / 2);
                        }
                        value.keep(&live.iter().map(|(mark, _)| *mark).collect::<Vec<u64>>());
                    }
                }
                for (mark, expected) in &live {
                    prop_assert_eq!(value.at(*mark), expected);
                }
            }
        }
    }
}
