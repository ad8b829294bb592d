//! What was requested before anybody watched: the page's own performance timeline, together with the failed loads the
//! browser replays. Neither is whole: the timeline knows no methods, hides foreign answers and ends when it is full, the
//! replay knows failures only. What is known to be missing is counted.

use std::collections::HashMap;

use backsight_core::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::replays::Replayed;
use super::requests::error_page;
use super::sessions::Session;
use super::wire::{address, shortened};
use super::{Asked, Context};
use crate::event::{Event, Request};

/// What the page is asked; it gives back JSON.
const SCRIPT: &str = include_str!("../earlier.js");
/// How long failed loads wait for the timeline.
const WAIT_MS: i64 = 2_000;
/// As many of them wait in one session; more are told at once. Browsers replay a thousand.
const MAX_WAITING: usize = 2_000;
/// Entries of a timeline that are looked at, as many as the script tells; each is compared with what failed.
const MAX_ENTRIES: usize = 5_000;
/// How long they wait for their reasons.
const REASON_MS: i64 = 250;

/// What is being found out, by session.
#[derive(Debug, Default)]
pub struct Earlier {
    sessions: HashMap<String, Inquiry>,
}

#[derive(Debug)]
struct Inquiry {
    asked: bool,
    until: Timestamp,
    failed: Vec<FailedLoad>,
}

/// A load that failed, as the browser's log has it.
#[derive(Clone, Debug)]
pub struct FailedLoad {
    time: Timestamp,
    /// What did not load.
    pub url: String,
    status: u16,
    failure: Option<String>,
    /// The request's id.
    pub request: Option<String>,
    /// Whether it was replayed.
    pub backfilled: bool,
    page: Option<String>,
}

/// What the script gives back.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Timeline {
    entries: Vec<TimelineEntry>,
    /// At least so many that are not among them.
    missing: u64,
}

#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct TimelineEntry {
    url: String,
    kind: String,
    status: u16,
    /// Milliseconds since the epoch.
    end: f64,
    duration: f64,
    /// Why it is the browser's error page that is shown, if it is.
    failure: Option<String>,
}

/// `Page.FrameTree`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FrameTree {
    frame: FrameShown,
    #[serde(default)]
    child_frames: Vec<FrameTree>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FrameShown {
    #[serde(default)]
    loader_id: String,
    unreachable_url: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Frames {
    frame_tree: FrameTree,
}

#[derive(Deserialize)]
struct Evaluated {
    result: EvaluatedValue,
}

#[derive(Deserialize)]
struct EvaluatedValue {
    value: Option<String>,
}

impl Earlier {
    /// A session begins; whatever has a document has a timeline.
    pub fn attached(&mut self, session: &str, kind: &str, now: Timestamp) {
        if matches!(kind, "page" | "iframe") {
            let until = Timestamp(now.0 + WAIT_MS);
            self.sessions.insert(session.to_owned(), Inquiry { asked: false, until, failed: Vec::new() });
        }
    }

    /// The browser replayed a load that failed.
    pub fn failed(&mut self, context: &mut Context<'_>, load: FailedLoad) {
        // Also after the timeline came: another entry may say why this one failed.
        let until = Timestamp(context.now.0 + REASON_MS);
        let inquiry = || Inquiry { asked: true, until, failed: Vec::new() };
        let inquiry = self.sessions.entry(context.session.to_owned()).or_insert_with(inquiry);
        match inquiry.failed.len() < MAX_WAITING {
            true => inquiry.failed.push(load),
            false => load.tell(context),
        }
    }

    /// Which sessions are still to be asked.
    pub fn unasked(&mut self) -> Vec<String> {
        let unasked = self.sessions.iter_mut().filter(|(_, inquiry)| !inquiry.asked);
        unasked
            .map(|(session, inquiry)| {
                inquiry.asked = true;
                session.clone()
            })
            .collect()
    }

    /// Asks the page of a session for its timeline.
    pub fn ask(&self, context: &mut Context<'_>, session: &Session) {
        let mut params = serde_json::json!({ "expression": SCRIPT, "returnByValue": true, "awaitPromise": true, "silent": true, "timeout": 1_000 });
        if let (Some(world), Some(params)) = (session.world, params.as_object_mut()) {
            params.insert("contextId".to_owned(), world.into());
        }
        let asked = Asked::Timeline { session: context.session.to_owned() };
        context.ask(asked, "Runtime.evaluate", params);
        context.ask(Asked::Frames, "Page.getFrameTree", serde_json::json!({}));
    }

    /// The timeline, or that there is none.
    pub fn answered(&mut self, context: &mut Context<'_>, answer: Option<&RawValue>) {
        let Timeline { mut entries, missing } = answer.and_then(timeline).unwrap_or_default();
        let missing = missing.saturating_add(entries.len().saturating_sub(MAX_ENTRIES) as u64);
        // What a page did while it was watched was told then, and when it was not watched is told as a gap.
        if context.replays.is_first_watch(context.sessions.target_id(context.session)) {
            context.counts.earlier_missing = context.counts.earlier_missing.saturating_add(missing);
        }
        entries.truncate(MAX_ENTRIES);
        entries.iter_mut().for_each(|entry| entry.url = address(&entry.url));
        // Entries without an answer are the likelier owners of a failure.
        entries.sort_by_key(|entry| entry.status != 0);
        let Some(inquiry) = self.sessions.remove(context.session) else { return };
        let mut failed = with_reasons(inquiry.failed);
        for entry in entries {
            let is_it = |load: &FailedLoad| {
                load.url == entry.url && (entry.status == 0 || load.status == 0 || entry.status == load.status)
            };
            let load = failed.iter().position(is_it).map(|index| failed.remove(index));
            entry.tell(context, load.as_ref());
        }
        failed.into_iter().for_each(|load| load.tell(context));
    }

    /// Failed loads whose timeline never came, or whose session ends.
    pub fn tick(&mut self, context: &mut Context<'_>, ended: Option<&str>) {
        let now = context.now;
        let due = |session: &str, inquiry: &Inquiry| inquiry.until <= now || ended == Some(session);
        let sessions: Vec<String> = self
            .sessions
            .iter()
            .filter(|(session, inquiry)| due(session, inquiry))
            .map(|(session, _)| session.clone())
            .collect();
        for session in sessions {
            let failed = self.sessions.remove(&session).map(|inquiry| inquiry.failed).unwrap_or_default();
            with_reasons(failed).into_iter().for_each(|load| load.tell(context));
        }
    }

    /// Whether anything waits.
    pub fn pending(&self) -> bool {
        !self.sessions.is_empty()
    }
}

/// The frames within a page, or that they are not known: those which show the browser's error page could not be loaded. The
/// page's own document tells its failure in the timeline.
pub fn frames(context: &mut Context<'_>, answer: Option<&RawValue>) {
    let read = |answer: &RawValue| serde_json::from_str::<Frames>(answer.get()).ok();
    let Some(frames) = answer.and_then(read) else { return };
    let mut open = frames.frame_tree.child_frames;
    while let Some(FrameTree { frame, child_frames }) = open.pop() {
        open.extend(child_frames);
        let Some(url) = frame.unreachable_url.filter(|url| !url.is_empty()) else { continue };
        if context.replays.is_new(error_page(&frame.loader_id), &mut Replayed::new()) {
            let failure = Some("the frame shows the browser's error page".to_owned());
            let (time, page, url) = (context.now, context.page(), address(&url));
            let load = FailedLoad { time, url, status: 0, failure, request: None, backfilled: true, page };
            let mut request = load.into_request();
            request.kind = Some("document".to_owned());
            context.tell(Event::Network(request));
        }
    }
}

impl FailedLoad {
    /// From `Connecting to '...' violates the following Content Security Policy directive: \"...\"`.
    pub fn forbidden(time: Timestamp, url: &str, directive: &str, backfilled: bool, page: Option<String>) -> Self {
        let failure = Some(format!("blocked by the content security policy: {}", shortened(directive, 300)));
        FailedLoad { time, url: address(url), status: 0, failure, request: None, backfilled, page }
    }

    /// From `Failed to load resource: the server responded with a status of 404 (Not Found)` or `...: net::ERR_FAILED`.
    pub fn of(
        time: Timestamp,
        url: &str,
        text: &str,
        request: Option<String>,
        backfilled: bool,
        page: Option<String>,
    ) -> Self {
        let after = |mark: &str| text.split_once(mark).map(|(_, rest)| rest);
        let digits = |rest: &str| rest.chars().take_while(char::is_ascii_digit).collect::<String>();
        let status = after("status of ").and_then(|rest| digits(rest).parse().ok()).unwrap_or(0);
        let failure = (status == 0).then(|| shortened(after("resource: ").unwrap_or(text), 300));
        FailedLoad { time, url: address(url), status, failure, request, backfilled, page }
    }

    /// From `Access to fetch at '...' from origin '...' has been blocked by CORS policy: ...`.
    pub fn blocked(time: Timestamp, url: &str, text: &str, page: Option<String>) -> Self {
        let reason = text.split_once("CORS policy: ").map_or(text, |(_, reason)| reason);
        let failure = Some(format!("blocked by CORS: {}", shortened(reason, 300)));
        FailedLoad { time, url: address(url), status: 0, failure, request: None, backfilled: true, page }
    }

    /// As a request; nobody knows its method.
    pub fn into_request(self) -> Request {
        let mut request = Request::new(self.time, "GET", &self.url);
        request.status = self.status;
        request.failure = self.failure;
        request.page = self.page;
        request.backfilled = self.backfilled;
        request
    }

    fn tell(self, context: &mut Context<'_>) {
        context.tell(Event::Network(self.into_request()));
    }
}

/// The same failure is logged twice when a policy blocks it, and the second entry knows why.
fn with_reasons(failed: Vec<FailedLoad>) -> Vec<FailedLoad> {
    let (blocked, mut loads): (Vec<_>, Vec<_>) = failed.into_iter().partition(|load| load.request.is_none());
    for reason in blocked {
        match loads.iter_mut().find(|load| load.url == reason.url && load.failure.as_deref() == Some("net::ERR_FAILED"))
        {
            Some(load) => load.failure = reason.failure,
            None => loads.push(reason),
        }
    }
    loads.sort_by_key(|load| load.time);
    loads
}

fn timeline(answer: &RawValue) -> Option<Timeline> {
    let evaluated: Evaluated = serde_json::from_str(answer.get()).ok()?;
    serde_json::from_str(&evaluated.result.value?).ok()
}

impl TimelineEntry {
    fn tell(self, context: &mut Context<'_>, load: Option<&FailedLoad>) {
        let time = Timestamp(self.end as i64);
        let target = context.sessions.target_id(context.session);
        let earlier = context.sessions.is_earlier(context.session, time);
        let local = self.url.starts_with("data:") || self.url.starts_with("blob:") || self.url.is_empty();
        if local || !earlier || context.replays.was_watched(target, time) {
            return;
        }
        let status = load.map_or(self.status, |load| load.status.max(self.status));
        let failure = load.and_then(|load| load.failure.clone()).or(self.failure);
        if status == 0 && failure.is_none() {
            // An answer from elsewhere that does not let itself be seen: it came, more is not known.
            context.counts.earlier_unknown += 1;
            return;
        }
        let kind = match self.kind.as_str() {
            "xmlhttprequest" => "xhr",
            "navigation" => "document",
            other => other,
        };
        let mut request =
            FailedLoad { time, url: self.url, status, failure, request: None, backfilled: true, page: context.page() }
                .into_request();
        request.kind = Some(kind.to_owned()).filter(|kind| !kind.is_empty());
        request.duration_ms = (self.duration > 0.0).then(|| (self.duration * 1_000.0).round() / 1_000.0);
        context.tell(Event::Network(request));
    }
}
