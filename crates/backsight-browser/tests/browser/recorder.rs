//! A listener that keeps everything it hears, and waits for what a test means.

use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant, SystemTime};

use backsight_browser::cdp::{Clock, Listener, Watching};
use backsight_browser::event::Event;
use backsight_browser::{Amendment, Sign, UnderWay};
use backsight_core::Timestamp;

/// Long enough for a busy machine; a test that fails waits this long.
pub const DEADLINE: Duration = Duration::from_secs(30);

#[derive(Clone, Debug, Default)]
pub struct Record {
    pub events: Vec<Event>,
    pub pictures: Vec<Watching>,
    pub interruptions: Vec<String>,
    pub lost: Vec<(String, u64)>,
    pub under_way: Vec<UnderWay>,
    pub amendments: Vec<Amendment>,
    pub held: usize,
}

impl Record {
    /// What was said on consoles, in order.
    pub fn messages(&self) -> Vec<String> {
        let message = |event: &Event| match event {
            Event::Console(console) => Some(console.message.clone()),
            _ => None,
        };
        self.events.iter().filter_map(message).collect()
    }

    pub fn says(&self, message: &str) -> bool {
        self.count(message) > 0
    }

    pub fn count(&self, message: &str) -> usize {
        self.messages().iter().filter(|said| *said == message).count()
    }

    pub fn lost(&self, what: &str) -> u64 {
        self.lost.iter().filter(|(lost, _)| lost.contains(what)).map(|(_, count)| count).sum()
    }

    pub fn picture(&self) -> Watching {
        self.pictures.last().cloned().unwrap_or_default()
    }
}

#[derive(Default)]
pub struct Recorder {
    record: Mutex<Record>,
    changed: Condvar,
}

impl Recorder {
    pub fn new() -> Arc<Recorder> {
        Arc::default()
    }

    pub fn record(&self) -> Record {
        self.record.lock().unwrap().clone()
    }

    /// Waits until it is so and returns the record; fails with what was heard instead.
    #[track_caller]
    pub fn until(&self, what: &str, is_so: impl Fn(&Record) -> bool) -> Record {
        let deadline = Instant::now() + DEADLINE;
        let mut record = self.record.lock().unwrap();
        while !is_so(&record) {
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "waited in vain for {what}: {record:#?}");
            record = self.changed.wait_timeout(record, left).unwrap().0;
        }
        record.clone()
    }

    /// Waits until this was said.
    #[track_caller]
    pub fn until_said(&self, message: &str) -> Record {
        self.until(message, |record| record.says(message))
    }

    fn note(&self, note: impl FnOnce(&mut Record)) {
        note(&mut self.record.lock().unwrap());
        self.changed.notify_all();
    }
}

impl Listener for Recorder {
    fn heard(&self, events: Vec<Event>) {
        self.note(|record| record.events.extend(events));
    }

    fn amended(&self, amendment: Amendment) {
        self.note(|record| record.amendments.push(amendment));
    }

    fn held(&self, messages: usize) {
        self.note(|record| record.held = messages);
    }

    fn shown(&self, _sign: Sign) {}

    fn under_way(&self, requests: &[UnderWay]) {
        self.note(|record| record.under_way = requests.to_vec());
    }

    fn watching(&self, state: &Watching) {
        self.note(|record| record.pictures.push(state.clone()));
    }

    fn interrupted(&self, reason: &str, _now: Timestamp) {
        self.note(|record| record.interruptions.push(reason.to_owned()));
    }

    fn lost(&self, what: &str, count: u64) {
        self.note(|record| record.lost.push((what.to_owned(), count)));
    }
}

pub fn clock() -> Clock {
    Arc::new(|| Timestamp::from_system(SystemTime::now()))
}
