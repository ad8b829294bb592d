//! Requests that have begun and are not over. While there are any, it is too early to say that nothing happened; and one
//! that is not answered for long is itself something that happened.

use std::collections::BTreeMap;
use std::sync::Arc;

use backsight_core::Timestamp;
use backsight_redact::Redactor;

use crate::endpoint::Endpoint;
use crate::request_state::RequestState;
use crate::telemetry::Telemetry;

/// A question waits for no request that takes longer than this many milliseconds, unless it is for a document.
const LONG_LIVED_MS: i64 = 10_000;
/// So long nobody waits for an answer, unless the endpoint is known to take its time.
const OVERDUE_MS: i64 = 3_000;

/// A request that is not over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnderWay {
    /// When it began.
    pub since: Timestamp,
    /// How far it is.
    pub phase: Phase,
    /// Whether it is for a document; nobody holds those open, however long a server needs to build one.
    pub is_document: bool,
    /// What is asked for.
    pub asked: Arc<AskedFor>,
}

/// How far a request is that is not over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Nothing came yet.
    Unanswered,
    /// The answer began.
    Answered,
    /// It is held open on purpose, and nobody waits for its end: an event stream, a beacon.
    Held,
    /// An event stream that was lost or could not be opened. The browser asks for it again and again.
    Lost,
}

/// What a request asks for. As it was sent: secrets go before it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedFor {
    /// `GET` and so on.
    pub method: String,
    /// Its address.
    pub url: String,
    /// The operation of a GraphQL request.
    pub operation: Option<String>,
}

impl AskedFor {
    /// The endpoint that is asked, without secrets.
    pub(crate) fn endpoint(&self, redactor: &Redactor) -> Endpoint {
        let operation = self.operation.as_deref().map(|operation| redactor.text(operation));
        Endpoint::of(&self.method, &redactor.text(&self.url), operation.as_deref())
    }
}

impl UnderWay {
    /// Whether a window that begins at `from` is not over without it.
    pub(crate) fn is_awaited(&self, from: Timestamp, now: Timestamp) -> bool {
        let is_short = self.is_document || now.0 - self.since.0 <= LONG_LIVED_MS;
        !matches!(self.phase, Phase::Held | Phase::Lost) && self.since >= from && is_short
    }

    /// Whether it is older than any request nobody worries about.
    pub(crate) fn is_old(&self, now: Timestamp) -> bool {
        self.phase == Phase::Unanswered && now.0 - self.since.0 >= OVERDUE_MS
    }

    /// How it stands, given the longest time in which its endpoint ever answered well. An endpoint that was seen to hold its
    /// answer back and then to give it, as long polls do, may take twice as long as it ever did.
    pub(crate) fn state(&self, now: Timestamp, longest_ms: i64) -> RequestState {
        match self.phase {
            Phase::Held => RequestState::Held,
            Phase::Lost => RequestState::Lost,
            Phase::Answered => RequestState::Open,
            Phase::Unanswered if self.is_old(now) && now.0 - self.since.0 > longest_ms.saturating_mul(2) => {
                RequestState::Overdue
            }
            Phase::Unanswered => RequestState::UnderWay,
        }
    }
}

/// The requests that are not over, as an answer tells them.
#[derive(Default)]
pub(crate) struct InFlight {
    /// Those of the window that are not overdue: how many, and the oldest of them.
    pub(crate) within: u64,
    pub(crate) oldest: Option<Endpoint>,
    /// Those that are overdue and no noise, by endpoint: how many, and how long the oldest waits.
    pub(crate) overdue: BTreeMap<Endpoint, (u64, i64)>,
    /// Event streams that are lost and no noise, and for how long.
    pub(crate) lost: BTreeMap<Endpoint, i64>,
}

impl InFlight {
    /// Of these requests, for a window that begins and ends so.
    pub(crate) fn of(
        requests: &[UnderWay],
        telemetry: &Telemetry,
        (from, now): (Timestamp, Timestamp),
        redactor: &Redactor,
    ) -> InFlight {
        let mut found = InFlight::default();
        let mut oldest: Option<&UnderWay> = None;
        for request in requests {
            let is_told = request.is_old(now) || request.phase == Phase::Lost;
            let endpoint = is_told.then(|| request.asked.endpoint(redactor));
            let longest = endpoint.as_ref().map_or(0, |endpoint| telemetry.endpoints.longest(endpoint));
            match (endpoint, request.state(now, longest)) {
                (Some(endpoint), RequestState::Overdue) if !telemetry.is_noise(&request.asked) => {
                    let (count, age) = found.overdue.entry(endpoint).or_insert((0, 0));
                    (*count, *age) = (*count + 1, (*age).max(now.0 - request.since.0));
                }
                (Some(endpoint), RequestState::Lost) if !telemetry.is_noise(&request.asked) => {
                    let age = found.lost.entry(endpoint).or_insert(0);
                    *age = (*age).max(now.0 - request.since.0);
                }
                _ if request.is_awaited(from, now) => {
                    found.within += 1;
                    oldest = oldest.filter(|oldest| oldest.since <= request.since).or(Some(request));
                }
                _ => {}
            }
        }
        found.oldest = oldest.map(|oldest| oldest.asked.endpoint(redactor));
        found
    }

    /// How many they are.
    pub(crate) fn all(&self) -> u64 {
        self.within + self.overdue.values().map(|(count, _)| count).sum::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(phase: Phase, is_document: bool) -> UnderWay {
        let asked = AskedFor { method: "GET".to_owned(), url: "http://app/x".to_owned(), operation: None };
        UnderWay { since: Timestamp(100), phase, is_document, asked: Arc::new(asked) }
    }

    #[test]
    fn a_question_waits_ten_seconds_for_a_request_and_longer_for_a_document() {
        let (request, document) = (request(Phase::Unanswered, false), request(Phase::Unanswered, true));
        assert!(request.is_awaited(Timestamp(100), Timestamp(10_100)));
        assert!(!request.is_awaited(Timestamp(100), Timestamp(10_101)));
        assert!(!request.is_awaited(Timestamp(101), Timestamp(200)), "it was open before");
        assert!(document.is_awaited(Timestamp(100), Timestamp(60_000)), "a server that builds the page first");
    }

    #[test]
    fn what_is_not_answered_for_long_is_overdue_unless_it_is_known_to_take_its_time() {
        let waits = request(Phase::Unanswered, false);
        assert_eq!(waits.state(Timestamp(3_099), 0), RequestState::UnderWay);
        assert_eq!(waits.state(Timestamp(3_100), 0), RequestState::Overdue);
        assert_eq!(waits.state(Timestamp(1_000_000), 0), RequestState::Overdue, "for ever");
        assert_eq!(waits.state(Timestamp(50_100), 25_000), RequestState::UnderWay, "a long poll");
        assert_eq!(waits.state(Timestamp(50_101), 25_000), RequestState::Overdue, "a long poll that hangs");
        assert_eq!(request(Phase::Answered, false).state(Timestamp(60_000), 0), RequestState::Open);
        assert_eq!(request(Phase::Held, false).state(Timestamp(60_000), 0), RequestState::Held);
        assert!(!request(Phase::Held, false).is_awaited(Timestamp(0), Timestamp(101)));
    }
}
