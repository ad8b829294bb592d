//! What a lane saw and the workspace's timeline should hold. A storm of it is counted, not told one by one.

use std::collections::VecDeque;

use serde_json::{Value, json};

use crate::Timestamp;

/// So many within a minute are told.
const A_MINUTE: usize = 20;
/// So many wait to be taken.
const WAITING: usize = 200;

/// Something for the timeline.
#[derive(Clone, Debug, PartialEq)]
pub struct Notable<Kind> {
    /// What kind.
    pub kind: Kind,
    /// When.
    pub time: Timestamp,
    /// In one line.
    pub description: String,
    /// For programs.
    pub details: Value,
}

/// What has not been taken into the timeline yet.
#[derive(Debug)]
pub struct Notables<Kind> {
    waiting: VecDeque<Notable<Kind>>,
    minute: i64,
    told: usize,
    untold: u64,
}

impl<Kind> Default for Notables<Kind> {
    fn default() -> Self {
        Notables { waiting: VecDeque::new(), minute: 0, told: 0, untold: 0 }
    }
}

impl<Kind> Notables<Kind> {
    /// Tells of something, unless there is too much of it: then the next one that is told says how many were not.
    pub fn tell(&mut self, kind: Kind, time: Timestamp, description: String, details: Value) {
        self.tell_at(time, kind, time, description, details);
    }

    /// The same for something that happened at a `time` that a stranger names: it is counted by when it is told.
    pub fn tell_at(&mut self, now: Timestamp, kind: Kind, time: Timestamp, description: String, details: Value) {
        let minute = now.0.div_euclid(60_000);
        if minute != self.minute {
            (self.minute, self.told) = (minute, 0);
        }
        if self.told >= A_MINUTE || self.waiting.len() >= WAITING {
            self.untold += 1;
            return;
        }
        self.told += 1;
        self.insist(kind, time, description, details);
    }

    /// Tells of something however much there is.
    pub fn insist(&mut self, kind: Kind, time: Timestamp, description: String, mut details: Value) {
        if let (Some(details), untold @ 1..) = (details.as_object_mut(), std::mem::take(&mut self.untold)) {
            details.insert("not_recorded_before".to_owned(), json!(untold));
        }
        self.waiting.push_back(Notable { kind, time, description, details });
    }

    /// Takes everything that waits.
    pub fn take(&mut self) -> Vec<Notable<Kind>> {
        self.waiting.drain(..).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stranger_makes_no_minute_of_its_own() {
        let mut notables = Notables::default();
        for minute in 0..100 {
            notables.tell_at(Timestamp(7), 'e', Timestamp(minute * 60_000), "no".to_owned(), json!({}));
        }
        assert_eq!(notables.take().len(), A_MINUTE);
    }

    #[test]
    fn a_storm_is_counted_and_not_told() {
        let mut notables = Notables::default();
        let mut tell = |time| notables.tell('e', Timestamp(time), "no".to_owned(), json!({}));
        (0..100).for_each(&mut tell);
        assert_eq!(notables.take().len(), A_MINUTE);
        notables.tell('n', Timestamp(60_000), "elsewhere".to_owned(), json!({}));
        let [next] = &notables.take()[..] else { panic!("one") };
        assert_eq!(next.details["not_recorded_before"], json!(80));
        (0..100).for_each(|_| notables.tell('e', Timestamp(60_000), "no".to_owned(), json!({})));
        notables.insist('x', Timestamp(60_000), "the end".to_owned(), json!({}));
        assert_eq!(notables.take().last().map(|last| last.kind), Some('x'));
    }
}
