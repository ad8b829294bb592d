//! The newest of an endless row of things. Each has a position that never changes, so what was lost is arithmetic.

use std::collections::VecDeque;

/// The newest things, at most as many as there is room for.
#[derive(Debug)]
pub struct Ring<T> {
    kept: VecDeque<T>,
    first: u64,
    room: usize,
}

impl<T> Ring<T> {
    /// Room for `room` things, at least one.
    pub fn new(room: usize) -> Self {
        Ring { kept: VecDeque::new(), first: 0, room: room.max(1) }
    }

    /// Adds one, perhaps in place of the oldest.
    pub fn push(&mut self, thing: T) {
        if self.kept.len() == self.room {
            self.kept.pop_front();
            self.first += 1;
        }
        self.kept.push_back(thing);
    }

    /// The position the next thing will have: how many there have been.
    pub fn end(&self) -> u64 {
        self.first + self.kept.len() as u64
    }

    /// How many things from `position` on are gone.
    pub fn lost_since(&self, position: u64) -> u64 {
        self.first.saturating_sub(position)
    }

    /// What is left from `position` on.
    pub fn since(&self, position: u64) -> impl DoubleEndedIterator<Item = &T> {
        let skipped = usize::try_from(position.saturating_sub(self.first)).unwrap_or(usize::MAX);
        self.kept.range(skipped.min(self.kept.len())..)
    }

    /// Everything that is left.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.kept.iter()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn nothing_is_lost_without_being_counted(room in 1_usize..20, pushed in 0_u64..100, from in 0_u64..120) {
            let mut ring = Ring::new(room);
            (0..pushed).for_each(|number| ring.push(number));
            prop_assert_eq!(ring.end(), pushed);
            let seen: Vec<u64> = ring.since(from).copied().collect();
            let wanted: Vec<u64> = (from..pushed).collect();
            let lost = usize::try_from(ring.lost_since(from)).unwrap().min(wanted.len());
            prop_assert_eq!(&seen[..], &wanted[lost..]);
            prop_assert!(seen.len() <= room);
        }
    }
}
