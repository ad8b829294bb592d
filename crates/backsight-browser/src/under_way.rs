//! Requests that have begun and are not over. While there are any, it is too early to say that nothing happened.

use backsight_core::Timestamp;

/// Whatever takes longer than this many milliseconds is held open on purpose, as long polls are.
const LONG_LIVED_MS: i64 = 10_000;

/// A request that is not over. WebSockets and event streams are none: they are held open on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnderWay {
    /// When it began.
    pub since: Timestamp,
    /// Whether it is for a document; nobody holds those open, however long a server needs to build one.
    pub is_document: bool,
}

impl UnderWay {
    /// Whether a window that begins at `from` is not over without it.
    pub(crate) fn is_awaited(&self, from: Timestamp, now: Timestamp) -> bool {
        self.since >= from && (self.is_document || now.0 - self.since.0 <= LONG_LIVED_MS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_open_on_purpose_is_not_waited_for() {
        let since = Timestamp(100);
        let (request, document) = (UnderWay { since, is_document: false }, UnderWay { since, is_document: true });
        assert!(request.is_awaited(Timestamp(100), Timestamp(10_100)));
        assert!(!request.is_awaited(Timestamp(100), Timestamp(10_101)), "a long poll");
        assert!(!request.is_awaited(Timestamp(101), Timestamp(200)), "it was open before");
        assert!(document.is_awaited(Timestamp(100), Timestamp(60_000)), "a server that builds the page first");
    }
}
