//! One request under way: what is known of it so far, and what it is told as in the end.

use std::borrow::Cow;
use std::sync::Arc;

use backsight_core::Timestamp;
use serde::Deserialize;

use super::graphql;
use super::wire::{address, cut};
use crate::bounds;
use crate::event::Request;
use crate::under_way::{AskedFor, Phase, UnderWay};

/// Bytes of why a request failed.
const MAX_FAILURE: usize = 1_000;
/// Larger bodies are not asked for, unless they say why something failed.
const MAX_BODY: f64 = 64.0 * 1024.0;
/// Even those must not be huge.
const MAX_FAILURE_BODY: f64 = 1024.0 * 1024.0;

/// Why a document is not shown in a frame.
const FRAMING: &str = "blocked: its X-Frame-Options or frame-ancestors forbids to show it in this frame";

/// How long a failed answer waits for the end of its body, which a page that does not read it never causes.
const REFUSED_MS: i64 = 500;
/// How long a refusal that only the network saw waits for the page's side of it.
const WITHHELD_MS: i64 = 1_000;
/// How long another answer waits for it.
const OPEN_MS: i64 = 3_000;

/// `Network.requestWillBeSent`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sent<'a> {
    #[serde(borrow)]
    pub request_id: Cow<'a, str>,
    #[serde(default, borrow)]
    loader_id: Cow<'a, str>,
    #[serde(borrow)]
    request: SentRequest<'a>,
    #[serde(default)]
    timestamp: f64,
    #[serde(default)]
    wall_time: f64,
    #[serde(borrow)]
    pub redirect_response: Option<Response<'a>>,
    #[serde(default)]
    pub redirect_has_extra_info: bool,
    #[serde(default, borrow, rename = "type")]
    kind: Cow<'a, str>,
    frame_id: Option<String>,
    #[serde(default)]
    initiator: Initiator,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SentRequest<'a> {
    #[serde(borrow)]
    url: Cow<'a, str>,
    #[serde(default, borrow)]
    method: Cow<'a, str>,
    post_data: Option<String>,
}

#[derive(Deserialize, Default)]
struct Initiator {
    #[serde(rename = "type", default)]
    kind: String,
}

/// A `Network.Response`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Response<'a> {
    #[serde(default, borrow)]
    url: Cow<'a, str>,
    #[serde(default)]
    status: i64,
    #[serde(default, borrow)]
    mime_type: Cow<'a, str>,
    #[serde(default)]
    from_disk_cache: bool,
    #[serde(default)]
    from_prefetch_cache: bool,
    #[serde(default)]
    from_service_worker: bool,
}

/// `Network.responseReceived`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Received<'a> {
    #[serde(borrow)]
    pub request_id: Cow<'a, str>,
    #[serde(default, borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    response: Response<'a>,
    #[serde(default)]
    timestamp: f64,
    #[serde(default)]
    pub has_extra_info: bool,
}

/// The `...ExtraInfo` events and others of which only the id matters.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Extra<'a> {
    #[serde(borrow)]
    pub request_id: Cow<'a, str>,
    #[serde(default)]
    pub status_code: i64,
}

/// `Network.loadingFinished`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Finished<'a> {
    #[serde(borrow)]
    pub request_id: Cow<'a, str>,
    #[serde(default)]
    pub timestamp: f64,
    #[serde(default)]
    pub encoded_data_length: f64,
}

/// `Network.loadingFailed`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Failed<'a> {
    #[serde(borrow)]
    pub request_id: Cow<'a, str>,
    #[serde(default)]
    timestamp: f64,
    #[serde(default, borrow, rename = "type")]
    pub kind: Cow<'a, str>,
    #[serde(default, borrow)]
    pub error_text: Cow<'a, str>,
    #[serde(default)]
    pub canceled: bool,
    blocked_reason: Option<String>,
    cors_error_status: Option<CorsError>,
}

impl<'a> Received<'a> {
    /// The address, if it is an event stream that begins.
    pub fn stream(&self) -> Option<&str> {
        let is_stream = self.kind == "EventSource" && self.response.status == 200;
        Some(&*self.response.url).filter(|_| is_stream && self.response.mime_type == "text/event-stream")
    }
}

impl<'a> Failed<'a> {
    /// Whether a document does not let itself be shown in a frame; the browser says only that it was blocked.
    fn is_framing(&self) -> bool {
        self.kind == "Document" && self.error_text == "net::ERR_BLOCKED_BY_RESPONSE"
    }

    /// The same as the end of something that was whole so far.
    pub fn into_finished(self) -> Finished<'a> {
        Finished { request_id: self.request_id, timestamp: self.timestamp, encoded_data_length: 0.0 }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CorsError {
    #[serde(default)]
    cors_error: String,
    #[serde(default)]
    failed_parameter: String,
}

/// What is known of a request.
#[derive(Debug)]
pub struct Flight {
    /// When it was first heard of.
    pub since: Timestamp,
    /// Where it was last heard.
    pub last_session: String,
    /// What was asked; absent when the asking is older than the watching, or only late.
    pub hop: Option<Hop>,
    /// What was answered.
    pub response: Option<Answer>,
    /// What it is for.
    pub kind: Option<String>,
    /// How it ended.
    pub end: Option<End>,
    /// As many `responseReceivedExtraInfo` are announced.
    pub expected_extras: usize,
    /// As many came.
    pub extras: usize,
    /// The network said 304 where the page was told 200.
    pub not_modified: bool,
    /// The status with which the network refused it, and since when that is known. Of answers that the browser itself
    /// does not let through, because of their type or their origin, nothing else is told.
    refused: Option<(u16, Timestamp)>,
    /// It came from memory.
    pub cached: bool,
    /// The body that came back.
    pub body: Body,
    /// When an ended request is told, whatever is missing.
    pub due: Timestamp,
    /// When a request whose document is gone is given up.
    pub left: Option<Timestamp>,
    /// The address that was asked for first; redirects lead elsewhere.
    first: String,
    /// The session that has the body, and how large it is once it is whole.
    pub body_in: String,
    pub encoded: Option<f64>,
    /// Whether it was told although its body is not over.
    pub told: bool,
    /// Whether the page waits for the end of the body, and has for a while.
    pub awaited: bool,
}

/// One asking.
#[derive(Debug)]
pub struct Hop {
    /// Where it was asked.
    pub session: String,
    /// The document it belongs to.
    pub loader: String,
    /// The address, without its fragment.
    pub url: String,
    method: String,
    kind: String,
    preflight: bool,
    started: f64,
    wall: f64,
    body: Option<String>,
    operation: Option<String>,
    page: Option<String>,
    asked: Arc<AskedFor>,
}

/// One answer.
#[derive(Debug)]
pub struct Answer {
    /// When it came, by our clock and by the protocol's.
    came: Timestamp,
    at: f64,
    url: String,
    status: u16,
    mime: String,
    cached: bool,
    service_worker: bool,
}

/// How a request ended.
#[derive(Debug)]
pub struct End {
    at: f64,
    how: How,
}

/// The ways to end. When several are told of one request, the strongest holds, in this order: a document that failed also
/// finishes, which is the browser's own error page, or is aborted, when that page asks again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum How {
    /// The page gave it up.
    Canceled,
    /// Everything came.
    Finished,
    /// Not everything came, for this reason.
    Failed(String),
}

/// What is known of the body that came back.
#[derive(Debug)]
pub enum Body {
    /// It was not asked for.
    Unasked,
    /// It was asked for.
    Asked {
        /// Until when it is waited for.
        until: Timestamp,
    },
    /// It came, or never will.
    Settled(Option<String>),
}

impl Hop {
    /// What is asked in a session whose main frame is `main_frame`.
    pub fn of(session: &str, main_frame: &str, sent: &Sent<'_>, page: Option<String>) -> Self {
        let request = &sent.request;
        let kind = sent.kind.to_ascii_lowercase();
        // A navigation belongs to the page it leads to. What forms post is what people typed, so it stays unread.
        let leaves = kind == "document" && sent.frame_id.as_deref() == Some(main_frame);
        let url = address(&request.url);
        let page = if leaves { Some(url.clone()) } else { page };
        let body = request.post_data.as_ref().filter(|_| matches!(kind.as_str(), "fetch" | "xhr"));
        let method = match request.method.is_empty() {
            true => "GET".to_owned(),
            false => bounds::method(&request.method),
        };
        let operation = graphql::operation(&request.url, body.map(String::as_str));
        Hop {
            session: session.to_owned(),
            loader: sent.loader_id.to_string(),
            asked: Arc::new(AskedFor { method: method.clone(), url: url.clone(), operation: operation.clone() }),
            url,
            method,
            preflight: kind == "preflight" || sent.initiator.kind == "preflight",
            started: sent.timestamp,
            wall: sent.wall_time,
            operation,
            body: body.map(|body| cut(body.clone(), MAX_BODY as usize)),
            kind,
            page,
        }
    }

    /// When it was asked, by the browser's clock if that can be believed.
    pub fn asked_at(&self, now: Timestamp) -> Timestamp {
        const LATE_MS: i64 = 60_000;
        let told = Timestamp((self.wall * 1_000.0) as i64);
        if (0..LATE_MS).contains(&(now.0 - told.0)) { told } else { now }
    }

    /// Whether it is for a document.
    pub fn is_document(&self) -> bool {
        self.kind == "document"
    }

    /// The wall's time at a moment of the protocol's own clock.
    fn time(&self, moment: f64) -> Option<Timestamp> {
        let known = self.wall > 0.0 && self.started > 0.0 && moment > 0.0;
        known.then(|| Timestamp(((self.wall + moment - self.started) * 1_000.0).floor() as i64))
    }

    fn duration(&self, moment: f64) -> Option<f64> {
        let known = self.started > 0.0 && moment >= self.started;
        // Microseconds are what the clock has; more digits are noise.
        known.then(|| ((moment - self.started) * 1_000_000.0).round() / 1_000.0)
    }
}

impl End {
    /// Everything came.
    pub fn finished(at: f64) -> Self {
        End { at, how: How::Finished }
    }

    /// Not everything came.
    pub fn failed(failed: &Failed<'_>) -> Self {
        if failed.canceled {
            return End { at: failed.timestamp, how: How::Canceled };
        }
        let failure = match (&failed.cors_error_status, &failed.blocked_reason) {
            (Some(cors), _) => {
                let parameter = if cors.failed_parameter.is_empty() { "" } else { ": " };
                format!("blocked by CORS: {}{parameter}{}", cors.cors_error, cors.failed_parameter)
            }
            (None, Some(reason)) if reason == "other" && failed.is_framing() => FRAMING.to_owned(),
            (None, Some(reason)) if !reason.is_empty() => format!("blocked: {reason}"),
            _ if failed.error_text.is_empty() => "failed".to_owned(),
            _ => failed.error_text.to_string(),
        };
        End { at: failed.timestamp, how: How::Failed(cut(failure, MAX_FAILURE)) }
    }
}

impl Flight {
    /// One of which nothing is known.
    pub fn new(now: Timestamp) -> Self {
        Flight {
            since: now,
            last_session: String::new(),
            hop: None,
            response: None,
            kind: None,
            end: None,
            expected_extras: 0,
            extras: 0,
            not_modified: false,
            refused: None,
            cached: false,
            body: Body::Unasked,
            due: now,
            left: None,
            first: String::new(),
            body_in: String::new(),
            encoded: None,
            told: false,
            awaited: false,
        }
    }

    /// It is asked for.
    pub fn asks(&mut self, hop: Hop) {
        if self.first.is_empty() {
            self.first.clone_from(&hop.url);
        }
        self.hop = Some(hop);
    }

    /// It ended, perhaps not for the first time.
    pub fn ends(&mut self, end: End, due: Timestamp) {
        if self.end.as_ref().is_none_or(|known| known.how < end.how) {
            self.end = Some(end);
            self.due = due;
        }
    }

    /// The page's own time limit for this address was over, so that giving it up is a failure.
    pub fn times_out(&mut self, waited: impl FnOnce(&str) -> Option<String>) {
        if let Some(end) = self.end.as_mut().filter(|end| end.how == How::Canceled)
            && let Some(reason) = waited(&self.first)
        {
            end.how = How::Failed(reason);
        }
    }

    /// An answer came.
    pub fn received(&mut self, received: Received<'_>, now: Timestamp) {
        let response = received.response;
        self.kind.get_or_insert_with(|| received.kind.to_ascii_lowercase());
        self.response = Some(Answer {
            came: now,
            at: received.timestamp,
            url: address(&response.url),
            status: u16::try_from(response.status).unwrap_or(0),
            mime: response.mime_type.into_owned(),
            cached: response.from_disk_cache || response.from_prefetch_cache,
            service_worker: response.from_service_worker,
        });
    }

    /// The network saw an answer of this status.
    pub fn received_extra(&mut self, status: i64, now: Timestamp) {
        self.extras += 1;
        self.not_modified |= status == 304;
        let status = u16::try_from(status).ok().filter(|status| (400..1000).contains(status));
        self.refused = status.map(|status| (status, now));
    }

    /// The answer was to ask elsewhere: the hop that is over.
    pub fn redirected(&mut self, redirect: &Response<'_>, next: &Hop, page: Option<String>) -> Option<Request> {
        let previous = self.hop.take();
        if previous.as_ref().is_some_and(|hop| hop.preflight) || next.preflight {
            return None;
        }
        let mut request = blank(next.time(next.started).unwrap_or(self.since), page);
        request.status = u16::try_from(redirect.status).unwrap_or(0);
        request.url = address(&redirect.url);
        request.kind = Some(next.kind.clone()).filter(|kind| !kind.is_empty());
        match previous {
            Some(hop) => {
                request.duration_ms = hop.duration(next.started);
                describe(&mut request, &hop);
            }
            None => request.backfilled = true,
        }
        Some(request)
    }

    /// Whether nothing that could change the event is still to come.
    pub fn is_complete(&self) -> bool {
        let (Some(hop), Some(response), Some(end)) = (&self.hop, &self.response, &self.end) else { return false };
        // What is given up may be told as a timeout yet.
        if end.how == How::Canceled {
            return false;
        }
        let settled = !matches!(self.body, Body::Asked { .. });
        // Another address than was asked for: the news of a redirect is still under way in another session.
        let same = bare(&hop.url) == bare(&response.url);
        // A failed answer of a service worker waits, so that the worker can tell it first.
        let waits = response.service_worker && (response.status >= 400 || self.has_failed());
        settled && same && !waits && self.extras >= self.expected_extras
    }

    /// It as something that is not over, unless it was told or nobody will tell of it.
    pub fn under_way(&self) -> Option<UnderWay> {
        let hop = self.hop.as_ref()?;
        let streams = self.response.as_ref().is_some_and(|answer| answer.mime == "text/event-stream");
        let phase = match (&self.response, hop.kind.as_str()) {
            (_, "ping" | "cspviolationreport") => Phase::Held,
            _ if streams => Phase::Held,
            // Half an answer is none to a page that needs all of it.
            (Some(_), _) if self.awaited => Phase::Unanswered,
            (Some(_), _) => Phase::Answered,
            (None, _) => Phase::Unanswered,
        };
        let (since, asked, is_document) = (self.since, Arc::clone(&hop.asked), self.is_document());
        let is_told = self.told && !self.awaited || self.is_preflight() || self.is_internal();
        // Nobody waits for what a document asked for that is gone.
        (!is_told && self.left.is_none()).then_some(UnderWay { since, phase, is_document, asked })
    }

    /// Whether it waited long enough.
    pub fn is_due(&self, now: Timestamp) -> bool {
        match (&self.end, self.left) {
            (Some(_), _) => match self.body {
                Body::Asked { until } => until <= now,
                _ if self.is_from_worker() => super::requests::worker_grace(self.due) <= now,
                _ => self.due <= now,
            },
            (None, Some(left)) => left <= now,
            (None, None) if self.is_withheld() => self.refused.is_some_and(|(_, at)| now.0 - at.0 >= WITHHELD_MS),
            (None, None) => self.is_open(now) && !matches!(self.body, Body::Asked { until } if until > now),
        }
    }

    /// Whether the answer came a while ago and the body is not over: pages need not read it, and may read it for ever.
    pub fn is_open(&self, now: Timestamp) -> bool {
        let wait = |answer: &Answer| if answer.status >= 400 { REFUSED_MS } else { OPEN_MS };
        let is_open = |answer: &Answer| now.0 - answer.came.0 >= wait(answer);
        self.end.is_none() && !self.told && self.response.as_ref().is_some_and(is_open)
    }

    /// Whether an answer came that is still to be told.
    pub fn waits(&self) -> bool {
        self.end.is_some() || self.is_withheld() || self.response.is_some() && !self.told
    }

    /// Whether it was refused and nothing but the network says so.
    fn is_withheld(&self) -> bool {
        self.refused.is_some() && self.response.is_none() && self.is_part()
    }

    /// Whether it is a part of a page, which the browser asks for and may withhold. What scripts ask for they also give up,
    /// and documents may wait for a password.
    fn is_part(&self) -> bool {
        let is_other = |hop: &Hop| !is_script(&hop.kind) && !matches!(&*hop.kind, "document" | "eventsource");
        self.hop.as_ref().is_some_and(is_other)
    }

    /// Whether it was answered with a failure, whose words say why.
    pub fn is_refused(&self) -> bool {
        self.response.as_ref().is_some_and(|answer| answer.status >= 400)
    }

    /// Whether it ends with this session.
    pub fn is_of(&self, session: &str) -> bool {
        self.last_session == session || self.hop.as_ref().is_some_and(|hop| hop.session == session)
    }

    /// Browsers ask on their own whether they may ask; the request itself tells what comes of it.
    pub fn is_preflight(&self) -> bool {
        self.hop.as_ref().is_some_and(|hop| hop.preflight) || self.kind.as_deref() == Some("preflight")
    }

    /// Data that never left the page, unless it could not be read, and pages that are none.
    pub fn is_internal(&self) -> bool {
        let url =
            self.hop.as_ref().map(|hop| hop.url.as_str()).or(self.response.as_ref().map(|answer| answer.url.as_str()));
        let starts = |scheme: &str| url.is_some_and(|url| url.starts_with(scheme));
        let is_data = (starts("data:") || starts("blob:")) && !self.has_failed();
        is_data || starts("about:") || starts("chrome-error:")
    }

    /// Whether a service worker answered, or could have: its failures show as nothing but `ERR_FAILED`.
    pub fn is_from_worker(&self) -> bool {
        match &self.response {
            Some(answer) => answer.service_worker,
            None => self.end.as_ref().is_some_and(|end| end.how == How::Failed("net::ERR_FAILED".to_owned())),
        }
    }

    /// Whether to ask for the body that came: the shapes of JSON that scripts asked for, and the words of whatever failed.
    pub fn wants_body(&self) -> bool {
        self.is_unasked() && self.encoded.is_some_and(|encoded| self.has_wanted(encoded))
    }

    fn has_wanted(&self, encoded: f64) -> bool {
        let (Some(hop), Some(answer)) = (&self.hop, &self.response) else { return false };
        let has_one = !matches!(answer.status, 0 | 204 | 205 | 304) && hop.method != "HEAD" && !self.not_modified;
        let is_wanted = match answer.status >= 400 {
            true => is_text(&answer.mime) && encoded <= MAX_FAILURE_BODY,
            false => is_script(&hop.kind) && answer.mime.contains("json") && encoded <= MAX_BODY,
        };
        has_one && !hop.preflight && encoded >= 0.0 && is_wanted
    }

    /// Whether to ask for the words of a failed answer that is not over, which is done once.
    pub fn wants_words(&self) -> bool {
        self.is_unasked() && self.has_wanted(0.0)
    }

    /// Whether its body may be asked for; of what was told, nobody asks.
    fn is_unasked(&self) -> bool {
        !self.told && matches!(self.body, Body::Unasked)
    }

    /// The event; nothing when there is no address to speak of.
    pub fn told(&self, now: Timestamp, page: Option<String>) -> Option<Request> {
        let answered = self.response.as_ref();
        let at = self.end.as_ref().map(|end| end.at).or(answered.map(|answer| answer.at)).unwrap_or_default();
        let mut request = blank(now, page);
        request.kind = self.kind.clone().filter(|kind| !kind.is_empty());
        if let Some(answer) = answered {
            request.status = if self.not_modified { 304 } else { answer.status };
            request.url.clone_from(&answer.url);
            request.mime = Some(answer.mime.to_ascii_lowercase()).filter(|mime| !mime.is_empty());
        } else if let Some((status, _)) = self.refused.filter(|_| self.is_part() || self.has_failed()) {
            request.status = status;
        }
        // What a cache or a worker answers says nothing about how fast the server is.
        let is_aside = self.cached || answered.is_some_and(|answer| answer.cached || answer.service_worker);
        match &self.hop {
            Some(hop) => {
                request.time = hop.time(at).unwrap_or(now);
                request.duration_ms = hop.duration(at).filter(|_| !is_aside);
                describe(&mut request, hop);
            }
            None => request.backfilled = true,
        }
        match self.end.as_ref().map(|end| &end.how) {
            Some(How::Failed(failure)) => request.failure = Some(failure.clone()),
            Some(How::Canceled) => request.canceled = true,
            Some(How::Finished) => {}
            // Whoever asked is gone, or the body is not over.
            None => request.canceled = answered.is_none() || self.left.is_some(),
        }
        // Files and extensions have no status; without a failure they are there.
        if request.status == 0 && request.failure.is_none() && !request.canceled {
            request.status = 200;
        }
        if let Body::Settled(body) = &self.body {
            request.response_body.clone_from(body);
        }
        (!request.url.is_empty()).then_some(request)
    }

    /// Whether it is for a document.
    pub fn is_document(&self) -> bool {
        self.hop.as_ref().is_some_and(Hop::is_document)
    }

    /// Whether not everything came.
    pub fn has_failed(&self) -> bool {
        self.end.as_ref().is_some_and(|end| matches!(end.how, How::Failed(_)))
    }
}

/// Whether scripts ask for such a thing.
fn is_script(kind: &str) -> bool {
    matches!(kind, "fetch" | "xhr")
}

/// Whether an answer of this type can be read.
fn is_text(mime: &str) -> bool {
    mime.starts_with("text/") || ["json", "xml", "javascript"].iter().any(|part| mime.contains(part))
}

/// An address as answers repeat it: without the fragment.
pub fn bare(url: &str) -> &str {
    url.split('#').next().unwrap_or_default()
}

fn blank(time: Timestamp, page: Option<String>) -> Request {
    Request { page, ..Request::new(time, "GET", "") }
}

fn describe(request: &mut Request, hop: &Hop) {
    request.method.clone_from(&hop.method);
    request.url.clone_from(&hop.url);
    request.operation.clone_from(&hop.operation);
    request.request_body.clone_from(&hop.body);
    request.page = hop.page.clone().or(request.page.take());
    if !hop.kind.is_empty() {
        request.kind = Some(hop.kind.clone());
    }
}
