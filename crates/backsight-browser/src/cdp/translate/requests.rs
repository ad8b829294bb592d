//! The lives of requests: from many messages in any order and from several sessions, one event for each hop.
//!
//! Order is free on the wire: what the network process saw (`...ExtraInfo`) comes before or after what the page saw, and a
//! frame's document starts in one session and ends in another. So a request is known by its id alone, and it is told when
//! everything that is announced has come, or a moment after its end.

use std::collections::{HashMap, HashSet, VecDeque};

use backsight_core::Timestamp;
use serde::Deserialize;

use super::flight::{Body, End, Extra, Failed, Finished, Flight, Hop, Received, Sent, bare};
use super::heads::Heads;
use super::wire::{Hash, address, cut, shortened};
use super::{Asked, Context};
use crate::event::{Event, Request};
use crate::request_state::RequestState;
use crate::under_way::UnderWay;

/// How long an ended request waits for what is still missing.
const GRACE_MS: i64 = 250;
/// How long a failed answer of a service worker waits for the worker's own request to be told.
const WORKER_GRACE_MS: i64 = 500;
/// How long requests of a document that is gone may still end by themselves.
const LEFT_BEHIND_MS: i64 = 1_000;
/// How long an ended request waits for its body.
const BODY_MS: i64 = 1_000;
/// How long it is remembered that a page's time limit was over; the request ends at the same moment.
const TIMEOUT_MS: i64 = 2_000;
/// Of some requests nothing but headers is ever seen.
const GHOST_MS: i64 = 30_000;
/// As many requests are followed at once.
const MAX_FLIGHTS: usize = 2_000;
/// As many ended requests are remembered, for what comes late and for what the console says about them.
const MAX_KNOWN: usize = 4_096;
/// As many failures of addresses are remembered.
const MAX_FAILED: usize = 256;
/// As many documents are remembered; each is soon shown.
const MAX_DOCUMENTS: usize = 64;
/// As many bodies are asked for at once.
const MAX_BODIES: usize = 4;
/// Bytes of a body that are read.
const MAX_TEXT: usize = 64 * 1024;
/// Bytes of the directive that blocked a request.
const MAX_DIRECTIVE: usize = 300;

/// The requests of a connection.
#[derive(Debug, Default)]
pub struct Requests {
    flights: HashMap<String, Flight>,
    order: VecDeque<String>,
    /// Which of them wait for time to pass.
    waiting: HashSet<String>,
    known: HashSet<String>,
    known_order: VecDeque<String>,
    /// Addresses that failed lately.
    failed: VecDeque<String>,
    /// Addresses that were answered with something else than was asked for lately.
    mistaken: VecDeque<String>,
    /// Method and address of what failed in service workers lately.
    worker_failures: VecDeque<(String, Timestamp)>,
    /// Which directive of a policy blocked which address.
    reasons: VecDeque<(String, String)>,
    /// Addresses that pages stopped waiting for, where and when: what of it ends now ends for that reason.
    timeouts: VecDeque<Timeout>,
    /// When the latest documents were asked for, by their loaders, which have the ids of their requests.
    documents: VecDeque<(String, Timestamp)>,
    bodies: usize,
    /// What requests and answers carry beside their bodies.
    pub heads: Heads,
    /// Whether other requests are under way than when it was last asked.
    changed: bool,
}

#[derive(Debug)]
struct Timeout {
    session: String,
    at: Timestamp,
    told: TimedOut,
}

/// What `timeouts.js` reports.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum FromPage {
    /// The page waits for the end of this answer, and has for a while.
    Awaited {
        /// Its address.
        awaited: String,
    },
    /// A time limit is over.
    TimedOut(TimedOut),
}

/// A time limit of the page for a request.
#[derive(Debug, Deserialize)]
pub struct TimedOut {
    url: String,
    /// The limit in milliseconds; 0 when only its signal knows.
    #[serde(default)]
    limit: f64,
}

impl Requests {
    /// What the page itself says of a request.
    pub fn reported(&mut self, context: &Context<'_>, report: FromPage) {
        match report {
            FromPage::TimedOut(told) => self.timed_out(context, told),
            FromPage::Awaited { awaited } => {
                let url = address(&awaited);
                // What a worker asks for may be told by its page.
                let is_it = |hop: &Hop| bare(&hop.url) == bare(&url);
                let flights = self.flights.values_mut().filter(|flight| flight.hop.as_ref().is_some_and(is_it));
                for flight in flights.filter(|flight| flight.response.is_some() && flight.end.is_none()) {
                    flight.awaited = true;
                    self.changed = true;
                }
            }
        }
    }

    /// The page's own time limit for a request is over.
    fn timed_out(&mut self, context: &Context<'_>, told: TimedOut) {
        let told = TimedOut { url: bare(&address(&told.url)).to_owned(), ..told };
        self.timeouts.push_back(Timeout { session: context.session.to_owned(), at: context.now, told });
        if self.timeouts.len() > MAX_FAILED {
            self.timeouts.pop_front();
        }
    }

    /// Why a request of a session for this address was given up, if its time was over.
    fn timeout(&mut self, session: &str, url: &str, now: Timestamp) -> Option<String> {
        let is_it = |timeout: &Timeout| {
            timeout.session == session && timeout.told.url == bare(url) && now.0 - timeout.at.0 < TIMEOUT_MS
        };
        let index = self.timeouts.iter().position(is_it)?;
        let limit = self.timeouts.remove(index)?.told.limit;
        Some(match limit >= 1.0 {
            true => format!("timed out after {limit:.0} ms"),
            false => "timed out: the page's time limit was over".to_owned(),
        })
    }

    /// `Network.requestWillBeSent`.
    pub fn sent(&mut self, context: &mut Context<'_>, sent: Sent<'_>) {
        let id = sent.request_id.to_string();
        if self.is_over(&id) {
            return;
        }
        let next = Hop::of(context.session, context.sessions.target_id(context.session), &sent, context.page());
        self.note_document(&id, &next, context.now);
        let flight = self.flight(context, &id);
        if let Some(redirect) = &sent.redirect_response {
            flight.expected_extras += usize::from(sent.redirect_has_extra_info);
            let told = flight.redirected(redirect, &next, context.page());
            flight.asks(next);
            if let Some(mut request) = told {
                request.exchange = self.heads.take_redirected(&id);
                self.tell(context, request);
            }
        } else if flight.hop.as_ref().is_none_or(|hop| hop.url != next.url) {
            flight.asks(next);
        }
        self.ask_whole_body(context, &id);
        self.settle(context, &id);
    }

    /// `Network.responseReceived`.
    pub fn received(&mut self, context: &mut Context<'_>, received: Received<'_>) {
        let id = received.request_id.to_string();
        if self.is_over(&id) {
            return;
        }
        let flight = self.flight(context, &id);
        flight.expected_extras += usize::from(received.has_extra_info);
        flight.received(received, context.now);
        flight.body_in = context.session.to_owned();
        self.changed = true;
        self.ask_whole_body(context, &id);
        self.settle(context, &id);
    }

    /// `Network.responseReceivedExtraInfo`.
    pub fn received_extra(&mut self, context: &mut Context<'_>, extra: Extra<'_>) {
        let id = extra.request_id.to_string();
        if self.is_over(&id) {
            return;
        }
        let flight = self.flight(context, &id);
        flight.received_extra(extra.status_code, context.now);
        self.settle(context, &id);
    }

    /// `Network.requestServedFromCache`.
    pub fn cached(&mut self, context: &mut Context<'_>, extra: Extra<'_>) {
        let id = extra.request_id.to_string();
        if !self.is_over(&id) {
            self.flight(context, &id).cached = true;
        }
    }

    /// `Network.loadingFinished`.
    pub fn finished(&mut self, context: &mut Context<'_>, finished: Finished<'_>) {
        let id = finished.request_id.to_string();
        if self.is_over(&id) {
            return;
        }
        let flight = self.flight(context, &id);
        flight.ends(End::finished(finished.timestamp), Timestamp(context.now.0 + GRACE_MS));
        flight.body_in = context.session.to_owned();
        flight.encoded = Some(finished.encoded_data_length);
        self.ask_whole_body(context, &id);
        self.settle(context, &id);
    }

    /// Asks for the body once all is known that says whether it is wanted.
    fn ask_whole_body(&mut self, context: &mut Context<'_>, id: &str) {
        if self.flights.get(id).is_some_and(Flight::wants_body) {
            self.ask_body(context, id, "Network.getResponseBody");
        }
    }

    /// Asks for what came of a body, if not too many are asked for already.
    fn ask_body(&mut self, context: &mut Context<'_>, id: &str, method: &'static str) {
        let Some(flight) = self.flights.get_mut(id).filter(|_| context.options.bodies) else { return };
        if self.bodies >= MAX_BODIES {
            context.counts.bodies_skipped += 1;
            return;
        }
        self.bodies += 1;
        flight.body = Body::Asked { until: Timestamp(context.now.0 + BODY_MS) };
        let (asked, params) = (Asked::Body { request: id.to_owned() }, serde_json::json!({ "requestId": id }));
        context.ask_of(&flight.body_in, asked, method, params);
    }

    /// `Network.loadingFailed`.
    pub fn failed(&mut self, context: &mut Context<'_>, failed: Failed<'_>) {
        let id = failed.request_id.to_string();
        if self.is_over(&id) {
            return;
        }
        let flight = self.flight(context, &id);
        flight.kind.get_or_insert_with(|| failed.kind.to_ascii_lowercase());
        flight.ends(End::failed(&failed), Timestamp(context.now.0 + GRACE_MS));
        self.settle(context, &id);
    }

    /// The body that was asked for, or that there is none.
    pub fn body(&mut self, context: &mut Context<'_>, id: &str, body: Option<String>) {
        self.bodies = self.bodies.saturating_sub(1);
        let Some(flight) = self.flights.get_mut(id) else { return };
        // Of a failure the first words are enough; half of anything else has no shape.
        let body = match flight.is_refused() {
            true => body.map(|body| cut(body, MAX_TEXT)),
            false => body.filter(|body| body.len() <= MAX_TEXT),
        };
        context.counts.bodies_skipped += u64::from(body.is_none());
        flight.body = Body::Settled(body);
        match flight.is_open(context.now) {
            true => self.finish(context, id),
            false => self.settle(context, id),
        }
    }

    /// A page went on to another document: what the old one asked for will mostly never end.
    pub fn navigated(&mut self, session: &str, loader: &str, now: Timestamp) {
        for (id, flight) in &mut self.flights {
            let left = flight.hop.as_ref().is_some_and(|hop| hop.session == session && hop.loader != loader);
            if left && flight.end.is_none() {
                self.changed = true;
                flight.left = Some(Timestamp(now.0 + LEFT_BEHIND_MS));
                self.waiting.insert(id.clone());
            }
        }
    }

    /// The address that a request asks for.
    pub fn url_of(&self, id: &str) -> Option<&str> {
        self.flights.get(id)?.hop.as_ref().map(|hop| hop.url.as_str())
    }

    /// When a document was asked for, by its loader.
    pub fn document_asked(&self, loader: &str) -> Option<Timestamp> {
        self.documents.iter().find(|(known, _)| known == loader).map(|(_, asked)| *asked)
    }

    /// Whether the request is or was followed, so that it tells its failure itself.
    pub fn knows(&self, id: &str) -> bool {
        self.known.contains(id) || self.flights.contains_key(id)
    }

    /// Whether a request for this address is under way or failed lately.
    pub fn knows_address(&self, url: &str) -> bool {
        let url = address(url);
        let under_way = |flight: &Flight| flight.hop.as_ref().is_some_and(|hop| hop.url == url);
        self.failed.iter().any(|failed| *failed == url) || self.flights.values().any(under_way)
    }

    /// Whether a request for this address failed lately, and was told.
    pub fn has_failed(&self, url: &str) -> bool {
        self.failed.iter().any(|failed| failed == url)
    }

    /// Whether an answer came from this address lately that is not what was asked for.
    pub fn is_mistaken(&self, url: &str) -> bool {
        self.mistaken.iter().any(|mistaken| mistaken == url)
    }

    /// A content security policy says why it is about to block an address.
    pub fn note_reason(&mut self, url: &str, directive: &str) {
        self.reasons.push_back((address(url), shortened(directive, MAX_DIRECTIVE)));
        if self.reasons.len() > MAX_FAILED {
            self.reasons.pop_front();
        }
    }

    /// Whether no request was told yet that a policy blocked at this address.
    pub fn has_reason(&self, url: &str) -> bool {
        self.reasons.iter().any(|(known, _)| known == url)
    }

    /// A policy blocked an address and there is no request for it: it is told in place of one.
    pub fn forbidden(&mut self, url: &str) {
        if let Some(index) = self.reasons.iter().position(|(known, _)| known == url) {
            self.reasons.remove(index);
        }
        self.note_failure(url);
    }

    /// What waited long enough; with a session that ends, everything of it.
    pub fn tick(&mut self, context: &mut Context<'_>, ended: Option<&str>) {
        let now = context.now;
        let is_due = |flight: &Flight| {
            let here = ended.is_some_and(|session| flight.is_of(session));
            let ghost = flight.hop.is_none() && flight.response.is_none() && now.0 - flight.since.0 > GHOST_MS;
            here || ghost || flight.is_due(now)
        };
        let due: Vec<String> =
            self.order.iter().filter(|id| self.flights.get(*id).is_some_and(is_due)).cloned().collect();
        for id in due {
            match self.flights.get(&id) {
                Some(flight) if ended.is_none() && flight.left.is_none() && flight.is_open(now) => {
                    self.open(context, &id)
                }
                _ => self.finish(context, &id),
            }
        }
    }

    /// An answer whose body is not over. A failure is told with what came of it; of anything else it may still be told that
    /// it broke.
    fn open(&mut self, context: &mut Context<'_>, id: &str) {
        let Some(flight) = self.flights.get_mut(id) else { return };
        if flight.is_refused() {
            match flight.wants_words() && context.options.bodies && self.bodies < MAX_BODIES {
                true => self.ask_body(context, id, "Network.streamResourceContent"),
                false => self.finish(context, id),
            }
            return;
        }
        flight.told = true;
        let page = context.sessions.page(&flight.last_session);
        let told = flight.told(context.now, page).filter(|_| !flight.is_preflight() && !flight.is_internal());
        self.changed = true;
        self.waiting.remove(id);
        if let Some(mut request) = told {
            request.exchange = self.heads.take(id);
            self.tell(context, request);
        }
    }

    /// Whether anything waits for time to pass.
    pub fn pending(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// The requests that are under way or ended and not told.
    pub fn under_way(&self) -> impl Iterator<Item = UnderWay> {
        self.flights.values().filter_map(Flight::under_way)
    }

    /// Whether others are than when it was last asked.
    pub fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    fn is_over(&self, id: &str) -> bool {
        self.known.contains(id) && !self.flights.contains_key(id)
    }

    fn flight(&mut self, context: &mut Context<'_>, id: &str) -> &mut Flight {
        if !self.flights.contains_key(id) {
            if self.flights.len() >= MAX_FLIGHTS {
                self.make_room(context);
            }
            self.order.push_back(id.to_owned());
            self.changed = true;
        }
        let now = context.now;
        let flight = self.flights.entry(id.to_owned()).or_insert_with(|| Flight::new(now));
        flight.last_session = context.session.to_owned();
        flight
    }

    /// The oldest open request is forgotten, which is no failure, and counted.
    fn make_room(&mut self, context: &mut Context<'_>) {
        if let Some(oldest) = self.order.pop_front()
            && let Some(flight) = self.flights.remove(&oldest)
        {
            self.changed = true;
            self.bodies -= usize::from(matches!(flight.body, Body::Asked { .. })).min(self.bodies);
            self.waiting.remove(&oldest);
            self.remember(&oldest);
            context.counts.requests_forgotten += u64::from(!flight.told);
        }
    }

    /// Tells a request for which nothing more is to come.
    fn settle(&mut self, context: &mut Context<'_>, id: &str) {
        let Some(flight) = self.flights.get(id) else { return };
        if flight.is_complete() {
            self.finish(context, id);
        } else if flight.waits() {
            self.waiting.insert(id.to_owned());
        }
    }

    fn finish(&mut self, context: &mut Context<'_>, id: &str) {
        self.order.retain(|other| other != id);
        self.waiting.remove(id);
        let Some(mut flight) = self.flights.remove(id) else { return };
        self.changed = true;
        self.remember(id);
        if matches!(flight.body, Body::Asked { .. }) {
            self.bodies = self.bodies.saturating_sub(1);
            context.counts.bodies_skipped += 1;
        }
        let is_over = flight.told && !flight.has_failed();
        if flight.is_preflight() || flight.is_internal() || is_over {
            return;
        }
        if flight.has_failed() && flight.is_document() {
            context.replays.live(error_page(id));
        }
        let session = flight.hop.as_ref().map(|hop| hop.session.clone()).unwrap_or_default();
        flight.times_out(|url| self.timeout(&session, url, context.now));
        let page = context.sessions.page(&flight.last_session);
        let served_by_worker = flight.is_from_worker();
        let in_worker = flight.hop.as_ref().is_some_and(|hop| context.sessions.is_service_worker(&hop.session));
        let exchange = self.heads.take(id);
        let told = flight.told(context.now, page).map(|request| Request { exchange, ..request });
        match told {
            Some(request) if served_by_worker && self.worker_told(&request, context.now) => {
                context.counts.folded += 1;
                self.note_failure(&request.url);
            }
            Some(request) => {
                if in_worker && request.is_failure() {
                    self.note_worker_failure(&request, context.now);
                }
                self.tell(context, request);
            }
            None => context.counts.requests_unexplained += 1,
        }
    }

    fn tell(&mut self, context: &mut Context<'_>, mut request: Request) {
        if request.is_failure() {
            self.note_failure(&request.url);
            let reason = self.reasons.iter().position(|(url, _)| *url == request.url);
            if request.failure.as_deref() == Some("blocked: csp")
                && let Some((_, directive)) = reason.and_then(|index| self.reasons.remove(index))
            {
                request.failure = Some(format!("blocked by the content security policy: {directive}"));
            }
        }
        if RequestState::of(&request) == RequestState::Mistaken {
            self.mistaken.push_back(request.url.clone());
            if self.mistaken.len() > MAX_FAILED {
                self.mistaken.pop_front();
            }
        }
        context.tell(Event::Network(request));
    }

    fn remember(&mut self, id: &str) {
        if self.known.insert(id.to_owned()) {
            self.known_order.push_back(id.to_owned());
            if self.known_order.len() > MAX_KNOWN
                && let Some(oldest) = self.known_order.pop_front()
            {
                self.known.remove(&oldest);
            }
        }
    }

    /// Remembers when a document was asked for first: redirects come later.
    fn note_document(&mut self, id: &str, hop: &Hop, now: Timestamp) {
        if !hop.is_document() || self.document_asked(id).is_some() {
            return;
        }
        self.documents.push_back((id.to_owned(), hop.asked_at(now)));
        if self.documents.len() > MAX_DOCUMENTS {
            self.documents.pop_front();
        }
    }

    fn note_failure(&mut self, url: &str) {
        self.failed.push_back(url.to_owned());
        if self.failed.len() > MAX_FAILED {
            self.failed.pop_front();
        }
    }

    fn note_worker_failure(&mut self, request: &Request, now: Timestamp) {
        self.worker_failures.push_back((format!("{} {}", request.method, request.url), now));
        if self.worker_failures.len() > MAX_FAILED {
            self.worker_failures.pop_front();
        }
    }

    /// Whether a failure that came through a service worker was already told as the worker's own.
    fn worker_told(&mut self, request: &Request, now: Timestamp) -> bool {
        let key = format!("{} {}", request.method, request.url);
        let is_it = |(known, at): &(String, Timestamp)| *known == key && now.0 - at.0 < 5_000;
        let told = request.is_failure().then(|| self.worker_failures.iter().position(is_it)).flatten();
        told.is_some_and(|index| self.worker_failures.remove(index).is_some())
    }
}

/// By what it is remembered that a document could not be loaded: its loader has the id of the request.
pub fn error_page(loader: &str) -> u64 {
    Hash::new().with(b"error page").with(loader.as_bytes()).0
}

/// How long a failure that came through a service worker waits.
pub fn worker_grace(now: Timestamp) -> Timestamp {
    Timestamp(now.0 + WORKER_GRACE_MS)
}
