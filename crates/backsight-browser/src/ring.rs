//! The newest of an endless row of things. Each has a position that never changes, so what was lost is arithmetic. What
//! happened many times in a row takes the place of one: how often is a number, never a copy.

use std::collections::VecDeque;
use std::iter;
use std::num::NonZeroU32;

/// The newest things, at most as many as there is room for.
#[derive(Debug)]
pub struct Ring<T> {
    /// Each with the position of its first time; it stands for all positions up to the next one's.
    kept: VecDeque<(u64, T)>,
    first: u64,
    end: u64,
    room: u64,
}

impl<T> Ring<T> {
    /// Room for `room` things, at least one.
    pub fn new(room: usize) -> Self {
        Ring { kept: VecDeque::new(), first: 0, end: 0, room: room.max(1) as u64 }
    }

    /// Adds one so many times, perhaps in place of the oldest.
    pub fn push(&mut self, thing: T, times: NonZeroU32) {
        self.kept.push_back((self.end, thing));
        self.end += u64::from(times.get());
        self.first = self.first.max(self.end.saturating_sub(self.room));
        while self.kept.get(1).is_some_and(|(next, _)| *next <= self.first) {
            self.kept.pop_front();
        }
    }

    /// The position the next thing will have: how many there have been.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// The newest.
    pub fn last(&self) -> Option<&T> {
        self.kept.back().map(|(_, thing)| thing)
    }

    /// How many things from `position` on are gone.
    pub fn lost_since(&self, position: u64) -> u64 {
        self.first.saturating_sub(position)
    }

    /// What is left from `position` on, each as often as it was added.
    pub fn since(&self, position: u64) -> impl Iterator<Item = &T> {
        let from = position.max(self.first);
        let place = self.kept.partition_point(|(start, _)| *start <= from).saturating_sub(1);
        let ends = self.kept.range(place..).skip(1).map(|(start, _)| *start).chain([self.end]);
        self.kept.range(place..).zip(ends).flat_map(move |((start, thing), end)| {
            let times = end.saturating_sub((*start).max(from));
            // At most as many as there is room for.
            iter::repeat_n(thing, usize::try_from(times).unwrap_or(usize::MAX))
        })
    }

    /// Everything that is left.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.since(0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against a row in which everything stands as often as it was added.
        #[test]
        fn nothing_is_lost_without_being_counted(
            room in 1_usize..20,
            pushed in prop::collection::vec(1_u32..30, 0..20),
            from in 0_u64..300,
        ) {
            let (mut ring, mut row) = (Ring::new(room), Vec::new());
            for (thing, times) in (0..).zip(pushed) {
                ring.push(thing, NonZeroU32::new(times).unwrap());
                row.extend(iter::repeat_n(thing, times as usize));
            }
            prop_assert_eq!(ring.end(), row.len() as u64);
            let seen: Vec<i32> = ring.since(from).copied().collect();
            let wanted = row.get(usize::try_from(from).unwrap()..).unwrap_or_default();
            let lost = usize::try_from(ring.lost_since(from)).unwrap().min(wanted.len());
            prop_assert_eq!(&seen[..], &wanted[lost..]);
            prop_assert!(seen.len() <= room && ring.kept.len() <= room);
            prop_assert_eq!(ring.iter().count(), row.len().min(room));
        }
    }
}
