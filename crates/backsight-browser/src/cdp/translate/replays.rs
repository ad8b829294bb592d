//! Remembers what was told, because browsers tell again: each `enable` replays the last thousand console calls and failed
//! loads. A caller that reconnects to the same browser carries this from one translator to the next.

use std::collections::{HashMap, VecDeque};

use backsight_core::Timestamp;

/// A page keeps 1,000 console calls and as many log entries; this remembers those of some dozen busy pages.
const MAX_SEEN: usize = 32_768;
/// The times of as many targets are remembered.
const MAX_TARGETS: usize = 1_024;

/// What was told before.
#[derive(Clone, Debug, Default)]
pub struct Replays {
    /// How often each thing was told: two equal calls can share a microsecond.
    seen: HashMap<u64, u32>,
    order: VecDeque<u64>,
    /// When each target was watched, the newest time last.
    watched: HashMap<String, Vec<(Timestamp, Timestamp)>>,
    watched_order: VecDeque<String>,
}

/// What one session has replayed so far.
pub type Replayed = HashMap<u64, u32>;

/// A page keeps this many calls and exceptions,
const KEPT: usize = 1_000;
/// and fewer when they are long: 10 MB, in which an ASCII text takes three times its length.
const KEPT_BYTES: usize = 3 << 20;

/// What sessions tell again after their attach, to know where it does not go back to the beginning.
#[derive(Debug, Default)]
pub struct Histories(HashMap<String, History>);

#[derive(Debug, Default)]
struct History {
    said: usize,
    bytes: usize,
    /// Whether some of it was known: then nothing is missing before it.
    reaches_back: bool,
}

impl Histories {
    /// A session begins to tell again.
    pub fn begin(&mut self, session: &str) {
        self.0.insert(session.to_owned(), History::default());
    }

    /// Something was said, after which it may still tell again.
    pub fn said(&mut self, session: &str, bytes: usize, is_known: bool) {
        if let Some(history) = self.0.get_mut(session) {
            history.said += 1;
            history.bytes += bytes;
            history.reaches_back |= is_known;
        }
    }

    /// It has told everything it knows; whether it may have known more once.
    pub fn told(&mut self, session: &str) -> bool {
        let history = self.0.remove(session);
        history.is_some_and(|history| (history.said >= KEPT || history.bytes >= KEPT_BYTES) && !history.reaches_back)
    }
}

impl Replays {
    /// Something is told as it happens.
    pub fn live(&mut self, key: u64) {
        let count = self.seen.entry(key).or_insert(0);
        *count = count.saturating_add(1);
        if *count == 1 {
            self.order.push_back(key);
            if self.order.len() > MAX_SEEN
                && let Some(oldest) = self.order.pop_front()
            {
                self.seen.remove(&oldest);
            }
        }
    }

    /// Whether something that is told afterwards is new; one session says each thing once for each time it happened.
    pub fn is_new(&mut self, key: u64, replayed: &mut Replayed) -> bool {
        let count = replayed.entry(key).or_insert(0);
        *count = count.saturating_add(1);
        let new = *count > self.seen.get(&key).copied().unwrap_or(0);
        if new {
            self.live(key);
        }
        new
    }

    /// A target is watched from now on.
    pub fn begin(&mut self, target: &str, now: Timestamp) {
        if !self.watched.contains_key(target) {
            self.watched_order.push_back(target.to_owned());
            if self.watched_order.len() > MAX_TARGETS
                && let Some(oldest) = self.watched_order.pop_front()
            {
                self.watched.remove(&oldest);
            }
        }
        let times = self.watched.entry(target.to_owned()).or_default();
        times.push((now, now));
        if times.len() > 16 {
            times.remove(0);
        }
    }

    /// A target was heard.
    pub fn heard(&mut self, target: &str, now: Timestamp) {
        if let Some((_, until)) = self.watched.get_mut(target).and_then(|times| times.last_mut()) {
            *until = (*until).max(now);
        }
    }

    /// Whether a target is watched for the first time, as far as is remembered.
    pub fn is_first_watch(&self, target: &str) -> bool {
        self.watched.get(target).is_none_or(|times| times.len() == 1)
    }

    /// Whether something ended while its target was watched, so that it was told then.
    pub fn was_watched(&self, target: &str, time: Timestamp) -> bool {
        self.watched
            .get(target)
            .is_some_and(|times| times.iter().any(|(since, until)| (*since..=*until).contains(&time)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_told_live_is_not_told_again_and_equal_things_keep_their_count() {
        let mut replays = Replays::default();
        replays.live(7);
        replays.live(7);
        let mut second = Replayed::new();
        assert!(!replays.is_new(7, &mut second));
        assert!(!replays.is_new(7, &mut second));
        assert!(replays.is_new(7, &mut second), "a third equal call happened in between");
        let mut third = Replayed::new();
        for _ in 0..3 {
            assert!(!replays.is_new(7, &mut third));
        }
    }

    #[test]
    fn the_memory_is_bounded() {
        let mut replays = Replays::default();
        for key in 0..(MAX_SEEN as u64 * 2) {
            replays.live(key);
        }
        assert_eq!(replays.seen.len(), MAX_SEEN);
        for number in 0..MAX_TARGETS * 2 {
            replays.begin(&number.to_string(), Timestamp(0));
        }
        assert_eq!(replays.watched.len(), MAX_TARGETS);
    }

    #[test]
    fn times_when_nobody_watched_are_told_apart() {
        let mut replays = Replays::default();
        replays.begin("t", Timestamp(10));
        replays.heard("t", Timestamp(20));
        replays.begin("t", Timestamp(30));
        assert!(replays.was_watched("t", Timestamp(15)));
        assert!(!replays.was_watched("t", Timestamp(25)));
        assert!(!replays.was_watched("u", Timestamp(15)));
    }
}
