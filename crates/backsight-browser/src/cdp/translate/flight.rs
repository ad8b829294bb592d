//! One request under way: what is known of it so far, and what it is told as in the end.

use std::borrow::Cow;

use backsight_core::Timestamp;
use serde::Deserialize;

use super::graphql;
use super::wire::{address, cut};
use crate::bounds;
use crate::event::Request;
use crate::under_way::UnderWay;

/// Bytes of why a request failed.
const MAX_FAILURE: usize = 1_000;
/// Larger bodies are not asked for, unless they say why something failed.
const MAX_BODY: f64 = 64.0 * 1024.0;
/// Even those must not be huge.
const MAX_FAILURE_BODY: f64 = 1024.0 * 1024.0;

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
    error_text: Cow<'a, str>,
    #[serde(default)]
    canceled: bool,
    blocked_reason: Option<String>,
    cors_error_status: Option<CorsError>,
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
    /// It came from memory.
    pub cached: bool,
    /// The body that came back.
    pub body: Body,
    /// When an ended request is told, whatever is missing.
    pub due: Timestamp,
    /// When a request whose document is gone is given up.
    pub left: Option<Timestamp>,
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
}

/// One answer.
#[derive(Debug)]
pub struct Answer {
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
    failure: Option<String>,
    canceled: bool,
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
        Hop {
            session: session.to_owned(),
            loader: sent.loader_id.to_string(),
            url,
            method: match request.method.is_empty() {
                true => "GET".to_owned(),
                false => bounds::method(&request.method),
            },
            preflight: kind == "preflight" || sent.initiator.kind == "preflight",
            started: sent.timestamp,
            wall: sent.wall_time,
            operation: graphql::operation(&request.url, body.map(String::as_str)),
            body: body.map(|body| cut(body.clone(), MAX_BODY as usize)),
            kind,
            page,
        }
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
        End { at, failure: None, canceled: false }
    }

    /// Not everything came.
    pub fn failed(failed: &Failed<'_>) -> Self {
        let failure = match (&failed.cors_error_status, &failed.blocked_reason) {
            (Some(cors), _) => {
                let parameter = if cors.failed_parameter.is_empty() { "" } else { ": " };
                format!("blocked by CORS: {}{parameter}{}", cors.cors_error, cors.failed_parameter)
            }
            (None, Some(reason)) if !reason.is_empty() => format!("blocked: {reason}"),
            _ if failed.error_text.is_empty() => "failed".to_owned(),
            _ => failed.error_text.to_string(),
        };
        End { at: failed.timestamp, failure: Some(cut(failure, MAX_FAILURE)), canceled: failed.canceled }
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
            cached: false,
            body: Body::Unasked,
            due: now,
            left: None,
        }
    }

    /// An answer came.
    pub fn received(&mut self, received: Received<'_>) {
        let response = received.response;
        self.kind.get_or_insert_with(|| received.kind.to_ascii_lowercase());
        self.response = Some(Answer {
            url: address(&response.url),
            status: u16::try_from(response.status).unwrap_or(0),
            mime: response.mime_type.into_owned(),
            cached: response.from_disk_cache || response.from_prefetch_cache,
            service_worker: response.from_service_worker,
        });
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
                describe(&mut request, hop);
            }
            None => request.backfilled = true,
        }
        Some(request)
    }

    /// Whether nothing that could change the event is still to come.
    pub fn is_complete(&self) -> bool {
        let (Some(hop), Some(response), Some(_)) = (&self.hop, &self.response, &self.end) else { return false };
        let settled = !matches!(self.body, Body::Asked { .. });
        // Another address than was asked for: the news of a redirect is still under way in another session.
        let same = bare(&hop.url) == bare(&response.url);
        // A failed answer of a service worker waits, so that the worker can tell it first.
        let waits = response.service_worker && (response.status >= 400 || self.has_failed());
        settled && same && !waits && self.extras >= self.expected_extras
    }

    /// It as something to wait for, unless it is held open on purpose or nobody will tell of it.
    pub fn under_way(&self) -> Option<UnderWay> {
        let hop = self.hop.as_ref()?;
        let streams = self.response.as_ref().is_some_and(|answer| answer.mime == "text/event-stream");
        let ends = hop.kind != "eventsource" && !streams && !self.is_preflight() && !self.is_internal();
        ends.then(|| UnderWay { since: self.since, is_document: hop.kind == "document" })
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
            (None, None) => false,
        }
    }

    /// Whether it ends with this session.
    pub fn is_of(&self, session: &str) -> bool {
        self.last_session == session || self.hop.as_ref().is_some_and(|hop| hop.session == session)
    }

    /// Browsers ask on their own whether they may ask; the request itself tells what comes of it.
    pub fn is_preflight(&self) -> bool {
        self.hop.as_ref().is_some_and(|hop| hop.preflight) || self.kind.as_deref() == Some("preflight")
    }

    /// Data that never left the page, unless it could not be read.
    pub fn is_internal(&self) -> bool {
        let url =
            self.hop.as_ref().map(|hop| hop.url.as_str()).or(self.response.as_ref().map(|answer| answer.url.as_str()));
        url.is_some_and(|url| url.starts_with("data:") || url.starts_with("blob:")) && !self.has_failed()
    }

    /// Whether a service worker answered, or could have: its failures show as nothing but `ERR_FAILED`.
    pub fn is_from_worker(&self) -> bool {
        match &self.response {
            Some(answer) => answer.service_worker,
            None => self.end.as_ref().is_some_and(|end| end.failure.as_deref() == Some("net::ERR_FAILED")),
        }
    }

    /// Whether to ask for the body that came: the shapes of JSON that scripts asked for.
    pub fn wants_body(&self, encoded: f64) -> bool {
        let (Some(hop), Some(answer)) = (&self.hop, &self.response) else { return false };
        let limit = if answer.status >= 400 { MAX_FAILURE_BODY } else { MAX_BODY };
        let has_one = !matches!(answer.status, 0 | 204 | 205 | 304) && hop.method != "HEAD" && !self.not_modified;
        let script = matches!(hop.kind.as_str(), "fetch" | "xhr");
        has_one && script && !hop.preflight && answer.mime.contains("json") && (0.0..=limit).contains(&encoded)
    }

    /// The event; nothing when there is no address to speak of.
    pub fn told(self, now: Timestamp, page: Option<String>) -> Option<Request> {
        let at = self.end.as_ref().map_or(0.0, |end| end.at);
        let mut request = blank(now, page);
        request.kind = self.kind.filter(|kind| !kind.is_empty());
        let mut cached = self.cached;
        if let Some(answer) = self.response {
            request.status = if self.not_modified { 304 } else { answer.status };
            request.url = answer.url;
            cached |= answer.cached;
        }
        match self.hop {
            Some(hop) => {
                request.time = hop.time(at).unwrap_or(now);
                // What a cache answers says nothing about how fast the server is.
                request.duration_ms = hop.duration(at).filter(|_| !cached);
                describe(&mut request, hop);
            }
            None => request.backfilled = true,
        }
        match self.end {
            Some(end) => {
                request.canceled = end.canceled;
                request.failure = end.failure.filter(|_| !end.canceled);
            }
            // Whoever asked is gone.
            None => request.canceled = true,
        }
        // Files and extensions have no status; without a failure they are there.
        if request.status == 0 && request.failure.is_none() && !request.canceled {
            request.status = 200;
        }
        if let Body::Settled(body) = self.body {
            request.response_body = body;
        }
        (!request.url.is_empty()).then_some(request)
    }

    fn has_failed(&self) -> bool {
        self.end.as_ref().is_some_and(|end| end.failure.is_some())
    }
}

/// An address as answers repeat it: without the fragment.
fn bare(url: &str) -> &str {
    url.split('#').next().unwrap_or_default()
}

fn blank(time: Timestamp, page: Option<String>) -> Request {
    Request {
        time,
        method: "GET".to_owned(),
        url: String::new(),
        status: 0,
        failure: None,
        canceled: false,
        duration_ms: None,
        kind: None,
        operation: None,
        request_body: None,
        response_body: None,
        exchange: None,
        page,
        backfilled: false,
    }
}

fn describe(request: &mut Request, hop: Hop) {
    request.method = hop.method;
    request.url = hop.url;
    request.operation = hop.operation;
    request.request_body = hop.body;
    request.page = hop.page.or(request.page.take());
    if !hop.kind.is_empty() {
        request.kind = Some(hop.kind);
    }
}
