//! Console calls and uncaught exceptions.
//!
//! A rejected promise is reported before anybody could know whether somebody will handle it a moment later; such reports
//! wait [`GRACE_MS`] for a revocation and are never told when it comes. An error with others behind it waits as long for those.

use std::borrow::Cow;
use std::collections::VecDeque;

use backsight_core::Timestamp;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::causes;
use super::format;
use super::wire::{Hash, RemoteObject, StackTrace, cut, epoch_millis, frame, split_stack, text_frames};
use super::{Asked, Context, Told};
use crate::amend::Amendment;
use crate::event::{Console, Event, Frame, Level, Speaker};
use crate::fingerprint::frames::is_own;

/// How long a rejection may be handled late without being told.
pub const GRACE_MS: i64 = 250;
/// As many rejections wait; in a flood the rest is told at once.
const MAX_HELD: usize = 1_000;
/// So many messages at once wait for the errors behind them; the rest is told with what is known.
const MAX_ASKED: usize = 64;
/// Rejections that were told are remembered to say when they are handled after all.
const MAX_TOLD: usize = 64;

/// So far apart a worker and its page hear of the same exception.
const SAME_MS: u64 = 2_000;
/// Longer frames are no error of a compiler.
const MAX_FRAME: usize = 1 << 20;

/// What waits.
#[derive(Debug, Default)]
pub struct Voices {
    held: VecDeque<Held>,
    /// The number of the next message that waits for the errors behind it.
    next: u64,
    told: VecDeque<(String, i64, Console)>,
    /// What workers threw lately, and when.
    thrown: VecDeque<(String, Timestamp)>,
}

#[derive(Debug)]
struct Held {
    session: String,
    /// A rejection's number, by which it may be taken back.
    exception: Option<i64>,
    /// The number under which it waits for the errors behind it.
    inner: Option<u64>,
    until: Timestamp,
    console: Console,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Called<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    args: Vec<RemoteObject<'a>>,
    #[serde(default)]
    timestamp: f64,
    #[serde(borrow)]
    stack_trace: Option<StackTrace<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Thrown<'a> {
    #[serde(default)]
    timestamp: f64,
    #[serde(borrow)]
    exception_details: ExceptionDetails<'a>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct ExceptionDetails<'a> {
    exception_id: i64,
    #[serde(borrow)]
    text: Cow<'a, str>,
    line_number: i64,
    column_number: i64,
    url: Option<String>,
    #[serde(borrow)]
    stack_trace: Option<StackTrace<'a>>,
    #[serde(borrow)]
    exception: Option<RemoteObject<'a>>,
}

/// What came over a WebSocket.
#[derive(Deserialize)]
pub struct FrameReceived<'a> {
    #[serde(borrow)]
    response: Payload<'a>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Payload<'a> {
    #[serde(borrow)]
    payload_data: Cow<'a, str>,
}

/// How Vite's dev server tells its pages that something does not compile: the pages draw it and log nothing.
#[derive(Deserialize)]
struct CompileError {
    err: CompilerWords,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct CompilerWords {
    message: String,
    plugin: String,
    id: String,
    loc: Option<CompilerPlace>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct CompilerPlace {
    file: Option<String>,
    line: i64,
    column: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Revoked {
    exception_id: i64,
}

impl Voices {
    /// `Runtime.consoleAPICalled`.
    pub fn called(&mut self, context: &mut Context<'_>, called: Called<'_>) {
        let Some(level) = level(&called.kind) else { return };
        let time = epoch_millis(called.timestamp);
        let identity = called.args.iter().fold(Hash::new().with(called.kind.as_bytes()), |hash, argument| {
            hash.with(format::identity(argument).as_bytes())
        });
        let Some(backfilled) = context.first_time("console", called.timestamp, identity) else { return };
        let mut message = format::message(&called.args);
        if called.kind == "assert" {
            message = match message.as_str() {
                "console.assert" | "" => "Assertion failed".to_owned(),
                said => format!("Assertion failed: {said}"),
            };
        }
        let mut stack = stack(level, &called);
        if level >= Level::Warning {
            // Component stacks are part of the text; they name the app's own places where the call was a library's.
            stack.extend(text_frames(&message));
        }
        let error = called.args.iter().find(|argument| argument.subtype.as_deref() == Some("error"));
        let error = error.filter(|_| level >= Level::Warning);
        let causes = error.map(causes::told).unwrap_or_default();
        let (speaker, page) = (Speaker::Page, context.page());
        let console = Console { time, level, speaker, message, stack, causes, page, backfilled };
        let inner = error.and_then(|error| self.ask(context, error));
        self.tell_or_hold(context, console, None, inner);
    }

    /// Asks what is behind an error, if there is anything.
    fn ask(&mut self, context: &mut Context<'_>, error: &RemoteObject<'_>) -> Option<u64> {
        let id = causes::is_deep(error)?;
        if self.held.iter().filter(|held| held.inner.is_some()).count() >= MAX_ASKED {
            return None;
        }
        self.next += 1;
        look(context, self.next, 1, id);
        Some(self.next)
    }

    fn tell_or_hold(
        &mut self,
        context: &mut Context<'_>,
        console: Console,
        exception: Option<i64>,
        inner: Option<u64>,
    ) {
        if exception.is_none() && inner.is_none() || self.held.len() >= MAX_HELD {
            return context.tell(Event::Console(console));
        }
        let (session, until) = (context.session.to_owned(), Timestamp(context.now.0 + GRACE_MS));
        self.held.push_back(Held { session, exception, inner, until, console });
    }

    /// What is behind an error that waits, or that nobody says.
    pub fn looked(&mut self, context: &mut Context<'_>, of: u64, depth: u8, answer: Option<&RawValue>) {
        let found = answer.and_then(causes::read).unwrap_or_default();
        for id in found.held.iter().filter(|id| found.next.as_ref() != Some(id)) {
            context.ask(Asked::Nothing, "Runtime.releaseObject", json!({ "objectId": id }));
        }
        let Some(index) = self.held.iter().position(|held| held.inner == Some(of)) else { return };
        let held = &mut self.held[index];
        if (depth == 1 || found.is_list) && !found.causes.is_empty() {
            // The first look tells all that the message told itself, and one into a list all that was told of it.
            held.console.causes.clear();
        }
        causes::join(&mut held.console.causes, found.causes);
        if let Some(next) = found.next.filter(|_| depth < causes::DEEPEST) {
            return look(context, of, depth + 1, &next);
        }
        held.inner = None;
        if held.exception.is_none()
            && let Some(held) = self.held.remove(index)
        {
            context.tell(Event::Console(held.console));
        }
    }

    /// `Runtime.exceptionThrown`.
    pub fn thrown(&mut self, context: &mut Context<'_>, thrown: Thrown<'_>) {
        let details = &thrown.exception_details;
        if is_of_child(context, details) {
            context.counts.folded += 1;
            return;
        }
        let (message, own_frames) = exception_message(details);
        let identity = Hash::new().with(message_without_preview(details).as_bytes());
        let Some(backfilled) = context.first_time("exception", thrown.timestamp, identity) else { return };
        // Where an error was made says more than where it was thrown again.
        let mut stack = with_own(own_frames, details.stack_trace.as_ref());
        // A rejection without a stack is told with the page and its first line, which is nowhere; the column is that of the
        // text which did not parse.
        // The same is told of a module that does not resolve; a script that does not parse may do so at its beginning.
        let is_beginning =
            details.line_number == 0 && (details.column_number == 0 || details.text.contains("in promise"));
        let is_placed = !is_beginning || message.starts_with("SyntaxError") && !details.text.contains("in promise");
        if stack.is_empty()
            && let Some(url) = details.url.as_deref().filter(|url| !url.is_empty() && is_placed)
        {
            stack.push(frame(url, details.line_number, details.column_number, ""));
        }
        let time = epoch_millis(thrown.timestamp);
        if context.sessions.is_worker(context.session) {
            self.thrown.push_back((message.clone(), time));
            if self.thrown.len() > MAX_TOLD {
                self.thrown.pop_front();
            }
        }
        let (speaker, page) = (Speaker::Exception, context.page());
        let causes = details.exception.as_ref().map(causes::told).unwrap_or_default();
        let console = Console { time, level: Level::Error, speaker, message, stack, causes, page, backfilled };
        let rejection = details.text.contains("in promise").then_some(details.exception_id);
        let inner = details.exception.as_ref().and_then(|exception| self.ask(context, exception));
        self.tell_or_hold(context, console, rejection, inner);
    }

    /// Whether a worker told an exception with these words at about this time.
    pub fn has_thrown(&self, message: &str, time: Timestamp) -> bool {
        self.thrown.iter().any(|(known, at)| known == message && time.0.abs_diff(at.0) < SAME_MS)
    }

    /// `Network.webSocketFrameReceived`: a compiler's error is told like one that was logged.
    pub fn compiled(&self, context: &mut Context<'_>, received: &FrameReceived<'_>) {
        let payload = &received.response.payload_data;
        if !payload.starts_with(r#"{"type":"error","#) {
            return;
        }
        let Ok(CompileError { err }) = serde_json::from_str(payload) else { return };
        let plugin = if err.plugin.is_empty() { "vite" } else { &err.plugin };
        let words = strip_colours(&format!("[plugin:{plugin}] {}", err.message.trim()));
        let place = err.loc.unwrap_or_default();
        let file = place.file.filter(|file| !file.is_empty()).unwrap_or(err.id);
        // Compilers count lines from one.
        let stack = match file.is_empty() {
            true => Vec::new(),
            false => vec![frame(&file, place.line - 1, place.column, "")],
        };
        let (time, page) = (context.now, context.page());
        let (level, speaker, message) = (Level::Error, Speaker::Page, cut(words, format::MAX_MESSAGE));
        let causes = Vec::new();
        context.tell(Event::Console(Console { time, level, speaker, message, stack, causes, page, backfilled: false }));
    }

    /// `Runtime.exceptionRevoked`.
    pub fn revoked(&mut self, context: &mut Context<'_>, revoked: &Revoked) {
        let is_it = |session: &str, exception: i64| session == context.session && exception == revoked.exception_id;
        let is_held = |held: &Held| held.exception.is_some_and(|exception| is_it(&held.session, exception));
        if let Some(index) = self.held.iter().position(is_held) {
            self.held.remove(index);
            context.counts.rejections_withdrawn += 1;
            return;
        }
        if let Some(index) = self.told.iter().position(|(session, exception, _)| is_it(session, *exception)) {
            let told = self.told.remove(index).map(|(_, _, console)| Amendment::Handled(Box::new(console)));
            context.told.extend(told.map(Told::Amended));
        }
    }

    /// What waited long enough, or all of it from a session that ends.
    pub fn tick(&mut self, now: Timestamp, ended: Option<&str>) -> Vec<(String, Event)> {
        let mut due = Vec::new();
        let mut index = 0;
        while let Some(held) = self.held.get(index) {
            if held.until > now && ended != Some(held.session.as_str()) {
                index += 1;
                continue;
            }
            if let Some(held) = self.held.remove(index) {
                let rejection = held.exception.map(|exception| (held.session.clone(), exception, held.console.clone()));
                self.told.extend(rejection);
                if self.told.len() > MAX_TOLD {
                    self.told.pop_front();
                }
                due.push((held.session, Event::Console(held.console)));
            }
        }
        due
    }

    /// How many wait.
    pub fn held(&self) -> usize {
        self.held.len()
    }

    /// Whether anything waits.
    pub fn pending(&self) -> bool {
        !self.held.is_empty()
    }
}

/// Asks for the properties of an error, for the message with this number.
fn look(context: &mut Context<'_>, of: u64, depth: u8, id: &str) {
    let params = json!({ "objectId": id, "ownProperties": true, "generatePreview": true });
    context.ask(Asked::Inner { of, depth }, "Runtime.getProperties", params);
}

/// Whether an exception is one that a worker of a worker did not catch: that one tells it, with its value, which cannot be
/// passed on.
fn is_of_child(context: &Context<'_>, details: &ExceptionDetails<'_>) -> bool {
    let is_null = details.exception.as_ref().is_some_and(|value| value.subtype.as_deref() == Some("null"));
    let url = details.url.as_deref().unwrap_or_default();
    is_null && context.sessions.is_worker(context.session) && context.sessions.has_child(context.session, url)
}

/// Whether a frame of a socket may hold a compiler's error; nearly all do not, and are not read for it.
pub fn may_be_a_compilers(params: &str) -> bool {
    params.len() <= MAX_FRAME && params.contains(r#"{\"type\":\"error\","#)
}

/// How serious a kind of call is; `None` says nothing at all.
fn level(kind: &str) -> Option<Level> {
    match kind {
        // A group's name belongs to what is said in it.
        "startGroup" | "startGroupCollapsed" | "endGroup" | "clear" => None,
        "error" | "assert" => Some(Level::Error),
        "warning" => Some(Level::Warning),
        "debug" => Some(Level::Debug),
        _ => Some(Level::Info),
    }
}

/// An error that is logged knows better than the logging where things went wrong. Harmless messages keep one place only.
fn stack(level: Level, called: &Called<'_>) -> Vec<Frame> {
    if level >= Level::Warning {
        let errors = called.args.iter().filter(|argument| argument.subtype.as_deref() == Some("error"));
        let mut stacks = errors.map(|error| split_stack(error.description.as_deref().unwrap_or_default()).1);
        if let Some(frames) = stacks.find(|frames| !frames.is_empty()) {
            return with_own(frames, called.stack_trace.as_ref());
        }
    }
    let mut frames = called.stack_trace.as_ref().map(StackTrace::frames).unwrap_or_default();
    if level < Level::Warning && called.kind != "trace" {
        frames.truncate(1);
    }
    frames
}

/// The frames of an error; where they are of libraries alone, also those of the stack it came with, if the app is in it.
fn with_own(mut frames: Vec<Frame>, trace: Option<&StackTrace<'_>>) -> Vec<Frame> {
    let has_own = |frames: &[Frame]| frames.iter().any(|frame| is_own(&frame.file));
    if has_own(&frames) {
        return frames;
    }
    let traced = trace.map(StackTrace::frames).unwrap_or_default();
    match frames.is_empty() {
        true => traced,
        false => {
            frames.extend(Some(traced).filter(|traced| has_own(traced)).unwrap_or_default());
            frames
        }
    }
}

/// What an exception says, beginning with its class, and the frames its text holds.
fn exception_message(details: &ExceptionDetails<'_>) -> (String, Vec<Frame>) {
    let promise = if details.text.contains("in promise") { " (in promise)" } else { "" };
    let Some(exception) = &details.exception else {
        let text = details.text.strip_prefix("Uncaught ").unwrap_or(&details.text);
        let text = text.strip_prefix("(in promise) ").unwrap_or(text);
        return (cut(format!("{text}{promise}"), format::MAX_MESSAGE), Vec::new());
    };
    let message = format::value(exception);
    let frames = match exception.subtype.as_deref() {
        Some("error") => split_stack(exception.description.as_deref().unwrap_or_default()).1,
        _ => Vec::new(),
    };
    (cut(format!("{message}{promise}"), format::MAX_MESSAGE), frames)
}

/// The same text for an exception that is told live and for its replay, which has no preview.
fn message_without_preview(details: &ExceptionDetails<'_>) -> String {
    match &details.exception {
        Some(exception) => format!("{}\0{}", details.text, format::identity(exception)),
        None => details.text.clone().into_owned(),
    }
}

/// A text without the colours of a terminal.
fn strip_colours(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |mut plain, part| {
        plain.push_str(part.split_once('m').map_or(part, |(_, after)| after));
        plain
    })
}
