//! What belongs into the workspace's timeline: the first error of a kind, an endpoint that recovers, a page that is
//! loaded. A storm of them is counted, not told one by one.

use std::collections::VecDeque;

use backsight_core::Timestamp;
use serde_json::{Value, json};

/// So many within a minute are told.
const A_MINUTE: usize = 20;
/// So many wait to be taken.
const WAITING: usize = 200;

/// Something for the timeline.
#[derive(Clone, Debug, PartialEq)]
pub struct Notable {
    /// What kind.
    pub kind: NotableKind,
    /// When.
    pub time: Timestamp,
    /// In one line.
    pub description: String,
    /// For programs.
    pub details: Value,
}

/// What can be notable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotableKind {
    /// Something failed in a way not seen before.
    FirstError,
    /// Something that failed works again.
    Recovery,
    /// Another document was loaded.
    Navigation,
}

/// What has not been taken into the timeline yet.
#[derive(Debug, Default)]
pub struct Notables {
    waiting: VecDeque<Notable>,
    minute: i64,
    told: usize,
    untold: u64,
}

impl Notables {
    pub(crate) fn first_error(&mut self, time: Timestamp, message: &str, source: &str) {
        let details = json!({ "category": "console", "message": message, "source": source });
        self.tell(NotableKind::FirstError, time, format!("first error: {message}"), details);
    }

    pub(crate) fn failure(&mut self, time: Timestamp, endpoint: &str, status: u16) {
        let details = json!({ "category": "network", "endpoint": endpoint, "status": status });
        self.tell(NotableKind::FirstError, time, format!("{endpoint} fails: {status}"), details);
    }

    pub(crate) fn recovery(&mut self, time: Timestamp, endpoint: &str, before: u16, status: u16) {
        let details =
            json!({ "category": "network", "endpoint": endpoint, "status": status, "previous_status": before });
        self.tell(NotableKind::Recovery, time, format!("{endpoint} works again: {before} -> {status}"), details);
    }

    pub(crate) fn navigation(&mut self, time: Timestamp, url: &str) {
        self.tell(NotableKind::Navigation, time, format!("loaded {url}"), json!({ "url": url }));
    }

    fn tell(&mut self, kind: NotableKind, time: Timestamp, description: String, mut details: Value) {
        let minute = time.0.div_euclid(60_000);
        if minute != self.minute {
            (self.minute, self.told) = (minute, 0);
        }
        if self.told == A_MINUTE || self.waiting.len() == WAITING {
            self.untold += 1;
            return;
        }
        self.told += 1;
        if let (Some(details), untold @ 1..) = (details.as_object_mut(), std::mem::take(&mut self.untold)) {
            details.insert("not_recorded_before".to_owned(), json!(untold));
        }
        self.waiting.push_back(Notable { kind, time, description, details });
    }

    /// Takes everything that waits.
    pub fn take(&mut self) -> Vec<Notable> {
        self.waiting.drain(..).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_storm_is_counted_and_not_told() {
        let mut notables = Notables::default();
        (0..100).for_each(|number| notables.first_error(Timestamp(number), "no", "a.js:1"));
        assert_eq!(notables.take().len(), A_MINUTE);
        notables.navigation(Timestamp(60_000), "http://localhost/");
        let [navigation] = &notables.take()[..] else { panic!("one navigation") };
        assert_eq!(navigation.details["not_recorded_before"], json!(80));
    }
}
