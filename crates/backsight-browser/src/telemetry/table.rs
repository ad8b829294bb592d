//! A table of groups that cannot grow without bound. When it is full, groups that lie in nobody's window make room; when
//! there are none, what is new is counted together in one group, so no count is ever lost.

use std::collections::HashMap;

/// Whether a key is that of a group for what finds no place: different things that are counted together.
pub(crate) fn is_rest(key: u64) -> bool {
    key > u64::MAX - RESTS
}

/// The key of such a group, one for each `kind`.
pub(super) fn rest(kind: u64) -> u64 {
    u64::MAX - kind % RESTS
}

/// The key of an ordinary group.
pub(super) fn ordinary(hash: u64) -> u64 {
    hash.min(u64::MAX - RESTS)
}

const RESTS: u64 = 16;

/// Something counted in a table.
pub(super) trait Group {
    /// How it is found.
    fn key(&self) -> u64;
    /// The number of the latest event in it.
    fn last(&self) -> u64;
}

/// A table of groups.
#[derive(Debug)]
pub(super) struct Table<G> {
    groups: Vec<G>,
    places: HashMap<u64, usize>,
    room: usize,
    forgotten: Forgotten,
}

/// Groups that made room.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Forgotten {
    /// How many.
    pub(crate) groups: u64,
    /// The number of the latest event in any of them.
    pub(crate) last: u64,
}

impl<G: Group> Table<G> {
    pub(super) fn new(room: usize) -> Self {
        Table { groups: Vec::new(), places: HashMap::new(), room: room.max(1), forgotten: Forgotten::default() }
    }

    /// Whether a group with this key is there or can be added; groups that ended before `oldest_mark` make room for it.
    pub(super) fn has_place(&mut self, key: u64, oldest_mark: u64) -> bool {
        if self.places.contains_key(&key) || self.groups.len() < self.room {
            return true;
        }
        self.make_room(oldest_mark);
        self.groups.len() < self.room
    }

    /// The group with a key, made if it is missing. Whoever asks for one without a place asks for one of [`is_rest`].
    pub(super) fn of(&mut self, key: u64, make: impl FnOnce() -> G) -> &mut G {
        let groups = &mut self.groups;
        let place = *self.places.entry(key).or_insert_with(|| {
            groups.push(make());
            groups.len() - 1
        });
        &mut self.groups[place]
    }

    /// Takes a group out, to come back under another key.
    pub(super) fn take(&mut self, key: u64) -> Option<G> {
        let place = self.places.remove(&key)?;
        let group = self.groups.swap_remove(place);
        if let Some(moved) = self.groups.get(place) {
            self.places.insert(moved.key(), place);
        }
        Some(group)
    }

    /// The group with a key, if there is one.
    pub(super) fn get_mut(&mut self, key: u64) -> Option<&mut G> {
        self.places.get(&key).map(|place| &mut self.groups[*place])
    }

    fn make_room(&mut self, oldest_mark: u64) {
        let most = self.room / 4;
        let mut old: Vec<u64> = self.groups.iter().map(Group::last).filter(|last| *last < oldest_mark).collect();
        if old.is_empty() {
            return;
        }
        let (_, limit, _) = {
            let at = most.min(old.len() - 1);
            old.select_nth_unstable(at)
        };
        let limit = *limit;
        let before = self.groups.len();
        self.groups.retain(|group| group.last() > limit);
        self.forgotten.groups += (before - self.groups.len()) as u64;
        self.forgotten.last = limit.max(self.forgotten.last);
        self.places = self.groups.iter().enumerate().map(|(place, group)| (group.key(), place)).collect();
    }

    #[cfg(test)]
    fn get(&self, key: u64) -> Option<&G> {
        self.places.get(&key).map(|place| &self.groups[*place])
    }

    pub(super) fn forgotten(&self) -> Forgotten {
        self.forgotten
    }

    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &G> {
        self.groups.iter()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut G> {
        self.groups.iter_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Counted {
        key: u64,
        last: u64,
        count: u64,
    }

    impl Group for Counted {
        fn key(&self) -> u64 {
            self.key
        }
        fn last(&self) -> u64 {
            self.last
        }
    }

    fn count(table: &mut Table<Counted>, key: u64, now: u64, oldest_mark: u64) {
        let key = if table.has_place(key, oldest_mark) { key } else { rest(0) };
        let group = table.of(key, || Counted { key, last: 0, count: 0 });
        group.last = now;
        group.count += 1;
    }

    #[test]
    fn what_does_not_fit_is_counted_together() {
        let mut table = Table::new(9);
        (0..1000).for_each(|number| count(&mut table, number, number, 0));
        assert!(table.iter().count() <= 10);
        assert_eq!(table.iter().map(|group| group.count).sum::<u64>(), 1000);
        assert_eq!(table.get(3).unwrap().count, 1);
        assert_eq!(table.get(u64::MAX).unwrap().count, 991);
    }

    #[test]
    fn a_group_that_is_taken_leaves_the_others_in_their_places() {
        let mut table = Table::new(9);
        (0..4).for_each(|number| count(&mut table, number, number, 0));
        assert_eq!(table.take(1).unwrap().key, 1);
        assert!(table.take(1).is_none());
        assert_eq!([0, 2, 3].map(|key| table.get_mut(key).unwrap().key), [0, 2, 3]);
    }

    #[test]
    fn what_lies_in_nobodys_window_makes_room() {
        let mut table = Table::new(9);
        (0..9).for_each(|number| count(&mut table, number, number, 0));
        count(&mut table, 100, 100, 50);
        assert!(table.get(0).is_none() && table.get(8).is_some() && table.get(100).is_some());
        assert!(table.get(u64::MAX).is_none());
        assert_eq!((table.forgotten().groups, table.forgotten().last), (3, 2));
    }
}
