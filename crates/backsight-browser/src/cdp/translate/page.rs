//! What happens to pages themselves: navigations, dialogs, crashes, and what the page scripts report.

use std::borrow::Cow;

use backsight_core::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::Context;
use super::wire::{address, cut};
use crate::event::{Action, ActionKind, Event, Level};

#[derive(Deserialize)]
pub struct Navigated<'a> {
    #[serde(borrow)]
    pub frame: FrameInfo<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FrameInfo<'a> {
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    pub parent_id: Option<String>,
    #[serde(default, borrow)]
    pub loader_id: Cow<'a, str>,
    #[serde(default, borrow)]
    url: Cow<'a, str>,
    url_fragment: Option<String>,
    unreachable_url: Option<String>,
}

impl FrameInfo<'_> {
    /// The address a person would say: that of the page which could not be loaded, not of the error in its place.
    pub fn address(&self) -> String {
        match &self.unreachable_url {
            Some(url) if !url.is_empty() => address(url),
            _ => address(&format!("{}{}", self.url, self.url_fragment.as_deref().unwrap_or_default())),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NavigatedWithin<'a> {
    #[serde(borrow)]
    pub frame_id: Cow<'a, str>,
    #[serde(borrow)]
    pub url: Cow<'a, str>,
}

#[derive(Deserialize)]
pub struct Dialog<'a> {
    #[serde(default, borrow)]
    message: Cow<'a, str>,
    #[serde(default, borrow, rename = "type")]
    kind: Cow<'a, str>,
}

#[derive(Deserialize)]
pub struct Called<'a> {
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    #[serde(default, borrow)]
    pub payload: Cow<'a, str>,
}

#[derive(Deserialize)]
pub struct ContextCreated {
    pub context: ContextInfo,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextInfo {
    pub id: i64,
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub aux_data: AuxiliaryData,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct AuxiliaryData {
    pub frame_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attached {
    pub session_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TargetInfoChanged {
    pub target_info: TargetInfo,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TargetInfo {
    pub target_id: String,
    #[serde(default)]
    pub url: String,
}

/// What `actions.js` reports: never what was typed.
#[derive(Deserialize)]
struct Reported {
    kind: ActionKind,
    #[serde(default)]
    target: String,
    #[serde(default)]
    detail: String,
    #[serde(default)]
    at: f64,
    #[serde(default)]
    trusted: bool,
    /// Where, when it is a frame of the page: origin and path.
    #[serde(default)]
    frame: String,
}

/// What is said of an action that is not the user's.
pub const BY_SCRIPT: &str = "by script";

/// What the page's user did, or a script in their place.
pub fn action(context: &mut Context<'_>, payload: &str) -> Option<()> {
    let reported: Reported = serde_json::from_str(payload).ok()?;
    let mut detail = cut(reported.detail, 100);
    if !reported.trusted {
        detail = if detail.is_empty() { BY_SCRIPT.to_owned() } else { format!("{detail}, {BY_SCRIPT}") };
    }
    // The page's clock is the same clock; one that a test set back is not believed.
    let at = Timestamp(reported.at as i64);
    let time = if context.now.0.abs_diff(at.0) < 60_000 { at } else { context.now };
    let (target, page) = (cut(reported.target, 200), context.page());
    let frame = Some(address(&reported.frame)).filter(|frame| !frame.is_empty());
    context.tell(Event::Action(Action { time, kind: reported.kind, target, detail, page, frame }));
    Some(())
}

/// The page of a session is another one, or has another address.
pub fn went(context: &mut Context<'_>, kind: ActionKind, target: String, time: Timestamp) {
    let page = Some(target.clone());
    context.tell(Event::Action(Action { time, kind, target, detail: String::new(), page, frame: None }));
}

/// A dialog opened; the page stands still until somebody answers it.
pub fn dialog(context: &mut Context<'_>, dialog: &Dialog<'_>) {
    let kind = if dialog.kind.is_empty() { "dialog" } else { &dialog.kind };
    let message = cut(dialog.message.to_string(), 1_000);
    context.say(Level::Info, format!("{kind} dialog is open and the page waits for an answer: {message}"));
}

/// What a dialog that opens says, on one line: `confirm "Delete it?"`.
pub(in crate::cdp) fn dialog_words(params: &RawValue) -> String {
    let Some(dialog) = super::read::<Dialog<'_>>(params) else { return "a dialog".to_owned() };
    let kind = if dialog.kind.is_empty() { "dialog" } else { &dialog.kind };
    format!("{} \"{}\"", cut(kind.to_owned(), 20), cut(dialog.message.to_string(), 200))
}
