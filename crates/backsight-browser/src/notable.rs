//! What belongs into the workspace's timeline: the first error of a kind, an endpoint that recovers, a page that is
//! loaded.

use backsight_core::Timestamp;
use serde_json::{Value, json};

use crate::bounds;
use crate::endpoint;
use crate::render::safe;

/// Bytes of an address that goes into the timeline, where it stays for good.
const ADDRESS: usize = 1 << 10;

/// Something for the timeline.
pub type Notable = backsight_core::Notable<NotableKind>;

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
#[derive(Debug)]
pub struct Notables {
    waiting: backsight_core::Notables<NotableKind>,
    /// By which clock they are counted: pages say themselves when something happened.
    now: Timestamp,
}

impl Default for Notables {
    fn default() -> Self {
        Notables { waiting: backsight_core::Notables::default(), now: Timestamp(0) }
    }
}

impl Notables {
    /// What time it is here.
    pub(crate) fn now(&mut self, now: Timestamp) {
        self.now = now;
    }

    fn tell(&mut self, kind: NotableKind, time: Timestamp, description: String, details: Value) {
        self.waiting.tell_at(self.now, kind, time, description, details);
    }

    /// What was said is not kept for good: only its class, where it was said, and by what it is known again.
    pub(crate) fn first_error(&mut self, time: Timestamp, message: &str, source: &str, key: u64) {
        let (class, fingerprint) = (class(message), format!("{key:016x}"));
        let place = if source.is_empty() { String::new() } else { format!(" at {}", safe(source)) };
        let said = format!("first error: {class}{place} ({})", &fingerprint[..8]);
        let details = json!({ "category": "console", "class": class, "source": source, "fingerprint": fingerprint });
        self.tell(NotableKind::FirstError, time, said, details);
    }

    pub(crate) fn failure(&mut self, time: Timestamp, endpoint: &str, status: u16) {
        let details = json!({ "category": "network", "endpoint": endpoint, "status": status });
        self.tell(NotableKind::FirstError, time, format!("{} fails: {status}", safe(endpoint)), details);
    }

    pub(crate) fn recovery(&mut self, time: Timestamp, endpoint: &str, before: u16, status: u16) {
        let details =
            json!({ "category": "network", "endpoint": endpoint, "status": status, "previous_status": before });
        self.tell(
            NotableKind::Recovery,
            time,
            format!("{} works again: {before} -> {status}", safe(endpoint)),
            details,
        );
    }

    pub(crate) fn navigation(&mut self, time: Timestamp, url: &str) {
        let url = endpoint::template(bounds::prefix(url, ADDRESS));
        self.tell(NotableKind::Navigation, time, format!("loaded {}", safe(&url)), json!({ "url": url }));
    }

    /// Takes everything that waits.
    pub fn take(&mut self) -> Vec<Notable> {
        self.waiting.take()
    }
}

/// The class of an error, `TypeError`, as programs name it; `error` when the message begins otherwise.
fn class(message: &str) -> &str {
    const LONGEST: usize = 40;
    let message = message.strip_prefix("Uncaught ").unwrap_or(message);
    let name = message.split_once(':').map_or(message, |(name, _)| name);
    let is_name = (1..=LONGEST).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let is_class = name.ends_with("Error") || name.ends_with("Exception");
    if is_name && is_class { name } else { "error" }
}
