//! Pages and frames that load themselves again and again: `location.reload()`, refreshes and navigations by script that come
//! back to the same address. Each load by itself is well; that they never end is told with every one from the fourth on.
//!
//! Loads that the user, the browser or a dev server asked for begin anew, and so does a pause: pages that show figures load
//! themselves every few seconds on purpose.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

use backsight_core::Timestamp;
use serde::Deserialize;

use super::Context;
use super::wire::{StackTrace, address};
use crate::event::{Console, Event, Frame, Level, Speaker};

/// So often a page may come back to an address by itself.
const OFTEN: usize = 4;
/// Loads that are further apart have nothing to do with each other.
const APART_MS: i64 = 3_000;
/// As many loads of a frame are remembered, and as many frames.
const MAX_LOADS: usize = 64;
const MAX_FRAMES: usize = 256;

/// What frames load by themselves.
#[derive(Debug, Default)]
pub struct Reloads {
    frames: HashMap<String, Loads>,
}

#[derive(Debug, Default)]
struct Loads {
    session: String,
    /// Why the next load comes, if the page asked for it.
    reason: Option<String>,
    /// Where it went, without the query, and when, since the user had a part in it.
    went: VecDeque<String>,
    last: Option<Timestamp>,
}

/// `Page.frameRequestedNavigation`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Requested {
    #[serde(default)]
    frame_id: String,
    #[serde(default)]
    reason: String,
    #[serde(default)]
    disposition: String,
}

/// What of `Network.requestWillBeSent` says who loads a document.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Loading<'a> {
    #[serde(default, borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(default)]
    frame_id: String,
    #[serde(borrow)]
    request: Asked<'a>,
    redirect_response: Option<serde::de::IgnoredAny>,
    #[serde(default, borrow)]
    initiator: Initiator<'a>,
}

#[derive(Deserialize)]
struct Asked<'a> {
    #[serde(default, borrow)]
    url: Cow<'a, str>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Initiator<'a> {
    #[serde(borrow)]
    stack: Option<StackTrace<'a>>,
}

impl Reloads {
    /// A page asks for another document.
    pub fn requested(&mut self, context: &Context<'_>, requested: Requested) {
        if requested.disposition != "currentTab" || self.frames.len() >= MAX_FRAMES {
            return;
        }
        let loads = self.frames.entry(requested.frame_id).or_default();
        context.session.clone_into(&mut loads.session);
        loads.reason = Some(requested.reason);
    }

    /// A document is asked for.
    pub fn sent(&mut self, context: &mut Context<'_>, loading: &Loading<'_>) {
        if loading.kind != "Document" || loading.redirect_response.is_some() {
            return;
        }
        let Some(loads) = self.frames.get_mut(&loading.frame_id) else { return };
        let Some(reason) = loads.reason.take() else { return loads.begin() };
        if loads.last.is_some_and(|last| context.now.0 - last.0 > APART_MS) {
            loads.begin();
        }
        loads.last = Some(context.now);
        let place = address(loading.request.url.split(['?', '#']).next().unwrap_or_default());
        let often = loads.went.iter().filter(|went| **went == place).count() + 1;
        loads.went.push_back(place);
        if loads.went.len() > MAX_LOADS {
            loads.went.pop_front();
        }
        if often >= OFTEN {
            let stack = loading.initiator.stack.as_ref().map(StackTrace::frames).unwrap_or_default();
            tell(context, &reason, stack);
        }
    }

    /// The user did something, or a dev server told its page to load again: what comes is no loop.
    pub fn expected(&mut self, session: &str) {
        self.frames.values_mut().filter(|loads| loads.session == session).for_each(Loads::begin);
    }

    /// A session ends.
    pub fn detached(&mut self, session: &str) {
        self.frames.retain(|_, loads| loads.session != session);
    }
}

impl Loads {
    fn begin(&mut self) {
        self.went.clear();
        self.last = None;
    }
}

fn tell(context: &mut Context<'_>, reason: &str, stack: Vec<Frame>) {
    let how = match reason {
        "reload" => "location.reload()",
        "metaTagRefresh" => "a meta refresh",
        "httpHeaderRefresh" => "a Refresh header",
        "formSubmissionGet" | "formSubmissionPost" => "a form that is sent by itself",
        _ => "a navigation by script",
    };
    let message = format!("the page loads itself again and again without the user: {how}");
    let (time, level, speaker, page) = (context.now, Level::Error, Speaker::Browser, context.page());
    let causes = Vec::new();
    context.tell(Event::Console(Console { time, level, speaker, message, stack, causes, page, backfilled: false }));
}
