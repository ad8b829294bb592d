//! How many connections there are at once. Whoever has shown the token keeps its place. Strangers have few places among
//! them, and the one who came first gives its place up to the next: a neighbour who opens connections and says nothing
//! keeps nobody out.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

/// Places of those who have not shown the token.
const STRANGERS: usize = 256;

/// The places there are.
#[derive(Debug)]
pub struct Connections {
    most: usize,
    strangers: usize,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    next: u64,
    /// In the order in which they came, and how each is told to go.
    strangers: BTreeMap<u64, CancellationToken>,
    known: usize,
}

/// The place of one connection, until it is dropped.
#[derive(Debug)]
pub struct Place {
    connections: Arc<Connections>,
    number: u64,
    leaves: CancellationToken,
    is_known: AtomicBool,
}

impl Connections {
    /// Room for so many.
    pub fn new(most: usize) -> Arc<Connections> {
        let most = most.max(2);
        Arc::new(Connections { most, strangers: STRANGERS.min(most / 2), taken: Mutex::default() })
    }

    /// A place for a newcomer, if need be that of the stranger who has been there longest. None when everybody who is there
    /// has shown the token.
    pub fn enter(self: &Arc<Connections>) -> Option<Arc<Place>> {
        let mut taken = self.lock();
        if taken.strangers.len() >= self.strangers || taken.strangers.len() + taken.known >= self.most {
            let (_, oldest) = taken.strangers.pop_first()?;
            oldest.cancel();
        }
        taken.next += 1;
        let (number, leaves) = (taken.next, CancellationToken::new());
        taken.strangers.insert(number, leaves.clone());
        drop(taken);
        Some(Arc::new(Place { connections: Arc::clone(self), number, leaves, is_known: AtomicBool::new(false) }))
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Whoever has it has shown the token, and keeps it.
    pub fn is_known(&self) {
        let mut taken = self.connections.lock();
        if taken.strangers.remove(&self.number).is_some() {
            taken.known += 1;
            self.is_known.store(true, Ordering::Relaxed);
        }
    }

    /// When it has to be given up.
    pub async fn is_given_up(&self) {
        self.leaves.cancelled().await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.connections.lock();
        match self.is_known.load(Ordering::Relaxed) {
            true => taken.known -= 1,
            false => drop(taken.strangers.remove(&self.number)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_stranger_makes_room_and_nobody_who_is_known_does() {
        let connections = Connections::new(4);
        let first = connections.enter().unwrap();
        let known = connections.enter().unwrap();
        known.is_known();
        let second = connections.enter().unwrap();
        let third = connections.enter().unwrap();
        let is_gone = |place: &Place| place.leaves.is_cancelled();
        assert_eq!([&first, &known, &second, &third].map(|place| is_gone(place)), [true, false, false, false]);
        second.is_known();
        third.is_known();
        let fourth = connections.enter().unwrap();
        fourth.is_known();
        assert!(connections.enter().is_none(), "everybody is known");
        drop(known);
        let fifth = connections.enter().unwrap();
        assert!(!is_gone(&fifth));
        // Whoever was sent away is no stranger any more, and neither known.
        first.is_known();
        drop((first, fifth));
        let taken = connections.lock();
        assert_eq!((taken.strangers.len(), taken.known), (0, 3));
        drop(taken);
    }
}
