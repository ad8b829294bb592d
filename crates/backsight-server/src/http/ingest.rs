//! What pages and processes report by themselves. One event that cannot be understood takes nothing from the others: it
//! is counted and said why.

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use axum::body::Bytes;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Extension, Router};
use backsight::Workspace;
use backsight::browser::endpoint::normal_origin;
use backsight::browser::event::{Action, ActionKind, Category, Console, Event, Repeated, Request, Socket, Speaker};
use backsight::browser::{Ingest, SourceKind};
use backsight_core::{Code, Error, Result, Timestamp, is_unsafe_to_show};
use http::{HeaderMap, header};
use schemars::generate::SchemaSettings;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::guard::Visitor;
use super::{Shared, failure, openapi};

/// Events that were not understood are told one by one up to here, and counted beyond.
const REASONS: usize = 20;
/// Events of one report at most, each as often as it says: a page may tell of many frames with one event.
const MOST: u32 = 200_000;
/// Bytes of one event at most. Twice what is kept of the longest text, since JSON has long ways to write a character.
const EVENT: usize = 2 << 20;
/// Milliseconds after which a page has told what happened; what it says is older happened then.
const LATEST: i64 = 3_600_000;
/// Characters of a source's name, and of a reason.
const LABEL: usize = 200;

pub(super) fn router() -> Router<Shared> {
    Router::new().route("/ingest", post(mixed)).route("/ingest/{category}", post(of_category))
}

/// A report as it comes. Its events stay as they are written until it is their turn, so that a report takes no more memory
/// than its bytes and its longest event.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Report<'a> {
    /// Who reports.
    source: Option<String>,
    /// Which of several tabs that show the same page.
    tab: Option<String>,
    /// What it can see.
    #[serde(default)]
    watches: BTreeSet<Category>,
    #[serde(borrow, default)]
    events: Vec<&'a RawValue>,
    /// How many events it had to drop.
    #[serde(default, deserialize_with = "whole")]
    dropped: u64,
    /// Why it is the last report.
    ended: Option<String>,
    /// Whether the source should go on, so that it is missed.
    #[serde(default)]
    missed: bool,
    /// The mark that DevTools' client left in the page, if one watches it.
    watched_by: Option<String>,
}

/// JSON knows one kind of number.
fn whole<'de, D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<u64, D::Error> {
    let number = f64::deserialize(deserializer)?;
    match number >= 0.0 && number.fract() == 0.0 {
        true => Ok(number as u64),
        false => Err(serde::de::Error::custom("`dropped` is no count")),
    }
}

/// A report as the lane takes it.
#[derive(Debug)]
pub struct Understood {
    /// What goes to the lane.
    pub ingest: Ingest,
    /// How many events were lost, in the source or because the report has too many.
    pub dropped: u64,
    /// How many events were not understood.
    pub rejected: u64,
    /// Why, and which, for the first of them.
    pub reasons: Vec<(usize, String)>,
}

async fn mixed(
    State(shared): State<Shared>,
    Extension(visitor): Extension<Visitor>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    take(shared, None, visitor, headers, body).await
}

async fn of_category(
    State(shared): State<Shared>,
    Extension(visitor): Extension<Visitor>,
    category: Result<Path<Category>, PathRejection>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    match category {
        Ok(Path(category)) => take(shared, Some(category), visitor, headers, body).await,
        Err(_) => failure(
            &Error::new(Code::RouteNotFound, "there is no such category of events")
                .with_hint("post to /ingest/console, /ingest/network, /ingest/websocket, /ingest/actions or /ingest"),
        ),
    }
}

async fn take(
    shared: Shared,
    category: Option<Category>,
    visitor: Visitor,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let origin = headers.get(header::ORIGIN).and_then(|origin| origin.to_str().ok()).map(str::to_owned);
    // One report at a time is taken apart: many at once would take many times the memory and be no sooner recorded, since
    // the lane has one lock. Whoever has the token waits for no page.
    let turn = match visitor {
        Visitor::Owner => shared.reports.acquire().await,
        // The guard lets none but pages report without the token.
        Visitor::Page | Visitor::Viewer | Visitor::Passer => shared.page_reports.acquire().await,
    };
    let about = About { category, visitor, origin };
    let taken = shared.door.local(move |workspace| record(workspace, &about, &body)).await;
    drop(turn);
    taken.map_or_else(|error| failure(&error), |answer| axum::Json(answer).into_response())
}

/// What is known of a report beside its body.
#[derive(Clone, Debug)]
pub struct About {
    /// Of which category all of its events are; each says so itself when there is none.
    pub category: Option<Category>,
    /// Who sends it.
    pub visitor: Visitor,
    /// The page's origin, in its browser's words.
    pub origin: Option<String>,
}

fn record(workspace: &Workspace, about: &About, body: &[u8]) -> Result<Value> {
    let Understood { ingest, dropped, rejected, reasons } = understand(body, about, workspace.now())?;
    let browser = workspace.browser()?;
    if dropped > 0 {
        browser.lost(format!("{} could not keep {dropped} event(s)", ingest.source));
    }
    let taken = browser.ingest(ingest);
    let mut answer = json!({ "ok": true, "taken": taken, "rejected": rejected });
    if !reasons.is_empty() {
        let reason = |(index, reason): &(usize, String)| json!({ "index": index, "reason": reason });
        answer["reasons"] = reasons.iter().map(reason).collect();
    }
    Ok(answer)
}

/// Reads the body of a report, whatever it is: what it means for the lane, or why it is no report.
pub fn understand(body: &[u8], about: &About, now: Timestamp) -> Result<Understood> {
    let unreadable = |problem: String| {
        Error::new(Code::Usage, format!("the report is not understood: {}", shortened(&problem)))
            .with_hint("send {\"source\": \"...\", \"events\": [...]}; GET /openapi.json describes each event")
    };
    let report: Report<'_> = serde_json::from_slice(body).map_err(|error| unreadable(error.to_string()))?;
    if let Some(index) = report.events.iter().position(|event| !event.get().starts_with('{')) {
        return Err(unreadable(format!("event {index} is no object")));
    }
    let (kind, mut source) = source_of(about, report.source.as_deref());
    let mut watches: Vec<Category> = report.watches.into_iter().collect();
    // A source that tells of one category only is not taken to watch the others.
    if let (Some(category), true) = (about.category, watches.is_empty()) {
        source = format!("{source} ({})", category.as_str());
        watches = vec![category];
    }
    let ended = report.ended.as_deref().map(label);
    let (missed, watched_by) = (report.missed, report.watched_by);
    let tab = report.tab.as_deref().map(label);
    let ingest = Ingest { source, kind, tab, watches, events: Vec::new(), ended, missed, watched_by };
    let mut understood = Understood { ingest, dropped: report.dropped, rejected: 0, reasons: Vec::new() };
    let mut room = MOST;
    for (index, event) in report.events.into_iter().enumerate() {
        match event_of(event, about, now) {
            Ok((event, times)) => {
                let fitting = u32::try_from(times).unwrap_or(MOST).min(room);
                room -= fitting;
                understood.dropped = understood.dropped.saturating_add(times - u64::from(fitting));
                let times = NonZeroU32::new(fitting);
                understood.ingest.events.extend(times.map(|times| Repeated { event, times }));
            }
            Err(reason) => understood.reject(index, &reason),
        }
    }
    Ok(understood)
}

impl Understood {
    fn reject(&mut self, index: usize, reason: &str) {
        self.rejected += 1;
        if self.reasons.len() < REASONS {
            self.reasons.push((index, shortened(reason)));
        }
    }
}

/// Whose report it is. A visitor with the token may call itself what it likes. A page may not: it is known by the origin
/// that its browser vouches for, and what it calls itself comes after that, so that it can never pass for another source.
fn source_of(about: &About, given: Option<&str>) -> (SourceKind, String) {
    let given = given.map(label).filter(|given| !given.is_empty());
    let origin = about.origin.as_deref().map(label).filter(|origin| !origin.is_empty() && origin != "null");
    if about.visitor == Visitor::Owner {
        let named = given.or_else(|| origin.map(|origin| format!("page {origin}")));
        return (SourceKind::Process, named.unwrap_or_else(|| "reports".to_owned()));
    }
    let page = match origin {
        Some(origin) => format!("page {origin}"),
        // Browsers name no origin for files.
        None if given.as_deref() == Some("page file://") => "page file://".to_owned(),
        None => "page without origin".to_owned(),
    };
    let called = given.filter(|given| *given != page);
    (SourceKind::Page, called.map_or_else(|| page.clone(), |called| format!("{page}: {called}")))
}

/// A text for people: one line, and not too long.
fn label(text: &str) -> String {
    text.chars().filter(|character| !is_unsafe_to_show(*character)).take(LABEL).collect::<String>().trim().to_owned()
}

/// What is wrong with something, which may quote all of it.
fn shortened(problem: &str) -> String {
    match problem.char_indices().nth(LABEL) {
        Some((end, _)) => format!("{}…", &problem[..end]),
        None => problem.to_owned(),
    }
}

/// An event and how often it happened.
fn event_of(event: &RawValue, about: &About, now: Timestamp) -> std::result::Result<(Event, u64), String> {
    if event.get().len() > EVENT {
        return Err(format!("it is larger than {EVENT} bytes"));
    }
    let mut event: Map<String, Value> = serde_json::from_str(event.get()).map_err(|error| error.to_string())?;
    let times = times_of(event.remove("count").as_ref())?;
    let category = match (about.category, event.remove("category")) {
        (Some(category), _) => category,
        (None, Some(named)) => serde_json::from_value(named).map_err(|error| format!("`category`: {error}"))?,
        (None, None) => return Err("it has no `category`".to_owned()),
    };
    match event.get("time") {
        None | Some(Value::Null) => drop(event.insert("time".to_owned(), json!(now))),
        // JavaScript's `Date.now()`.
        Some(Value::Number(time)) => {
            let time = time.as_f64().filter(|time| (0.0..253_402_300_800_000.0).contains(time));
            let time = Timestamp(time.ok_or("`time` is no time")? as i64);
            event.insert("time".to_owned(), json!(time));
        }
        Some(_) => {}
    }
    let event = Value::Object(event);
    let parsed = match category {
        Category::Console => serde_json::from_value::<Console>(event).map(Event::Console),
        Category::Network => serde_json::from_value::<Request>(event).map(Event::Network),
        Category::Websocket => serde_json::from_value::<Socket>(event).map(Event::Websocket),
        Category::Actions => serde_json::from_value::<Action>(event).map(Event::Action),
    };
    let mut event = parsed.map_err(|error| error.to_string())?;
    if about.visitor == Visitor::Page {
        about.speaks_for_itself(&mut event, now)?;
    }
    Ok((event, times))
}

impl About {
    /// Whether a page speaks of itself and of now, and what else it says is taken out or refused.
    fn speaks_for_itself(&self, event: &mut Event, now: Timestamp) -> std::result::Result<(), String> {
        let (time, page) = match event {
            Event::Console(console) => (&mut console.time, &mut console.page),
            Event::Network(request) => (&mut request.time, &mut request.page),
            Event::Websocket(socket) => (&mut socket.time, &mut socket.page),
            Event::Action(action) => (&mut action.time, &mut action.page),
        };
        *time = (*time).clamp(Timestamp(now.0.saturating_sub(LATEST)), now);
        if page.as_deref().is_some_and(|page| !self.is_own(page)) {
            *page = None;
        }
        match event {
            Event::Console(Console { speaker: Speaker::Browser | Speaker::Terminal, .. }) => {
                Err("`speaker`: a page speaks for itself, as `page` or `exception`".to_owned())
            }
            Event::Action(Action { kind: ActionKind::Navigate | ActionKind::Route, target, .. })
                if !self.is_own(target) =>
            {
                Err("`target`: a page tells of its own addresses".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// Whether an address is one of the page's own, by the origin its browser vouches for. A page without an origin (a
    /// file) has only such addresses as have none either.
    fn is_own(&self, address: &str) -> bool {
        let origin = normal_origin(address);
        match self.origin.as_deref().filter(|origin| !origin.is_empty() && *origin != "null") {
            Some(own) => origin.is_empty() || origin == normal_origin(own),
            None => !(origin.starts_with("http:") || origin.starts_with("https:") || origin.starts_with("//")),
        }
    }
}

fn times_of(count: Option<&Value>) -> std::result::Result<u64, String> {
    let count = match count {
        None | Some(Value::Null) => return Ok(1),
        Some(count) => count.as_f64().filter(|count| *count >= 1.0 && count.fract() == 0.0),
    };
    count.map(|count| count as u64).ok_or_else(|| "`count` is not a whole number from 1 on".to_owned())
}

/// Its places in the OpenAPI document.
pub(super) fn described() -> Vec<(&'static str, &'static str, Value)> {
    let of_category = |category: Category, mut schema: Value| {
        relax_time(&mut schema);
        (path_of(category), "post", operation(id_of(category), &format!("Report {}", words_of(category)), schema))
    };
    let any = json!({
        "type": "object",
        "description": "An event of any category, which it names.",
        "required": ["category"],
        "properties": { "category": { "enum": Category::ALL.map(Category::as_str) } },
    });
    vec![
        ("/ingest", "post", operation("ingest", "Report events of several categories", any)),
        of_category(Category::Console, schema::<Console>()),
        of_category(Category::Network, schema::<Request>()),
        of_category(Category::Websocket, schema::<Socket>()),
        of_category(Category::Actions, schema::<Action>()),
    ]
}

fn path_of(category: Category) -> &'static str {
    match category {
        Category::Console => "/ingest/console",
        Category::Network => "/ingest/network",
        Category::Websocket => "/ingest/websocket",
        Category::Actions => "/ingest/actions",
    }
}

fn id_of(category: Category) -> &'static str {
    match category {
        Category::Console => "ingestConsole",
        Category::Network => "ingestNetwork",
        Category::Websocket => "ingestWebsocket",
        Category::Actions => "ingestActions",
    }
}

fn words_of(category: Category) -> &'static str {
    match category {
        Category::Console => "what was said: console calls, exceptions, lines of a process",
        Category::Network => "requests that are over",
        Category::Websocket => "what happened to WebSockets",
        Category::Actions => "what the user did",
    }
}

fn schema<T: schemars::JsonSchema>() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

/// The time may be left out, and may be a number.
fn relax_time(schema: &mut Value) {
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| name != "time");
    }
    let meaning = "When: RFC 3339, or milliseconds since 1970; now when left out.";
    schema["properties"]["time"] = json!({ "type": ["string", "number"], "description": meaning });
}

fn operation(id: &str, summary: &str, event: Value) -> Value {
    let body = json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "source": { "type": ["string", "null"], "description": "Who reports: `terminal: npm run dev`. A page is its origin first." },
            "watches": {
                "type": "array",
                "description": "Which categories the source can see; this address's when left out.",
                "items": { "enum": Category::ALL.map(Category::as_str) },
            },
            "events": { "type": "array", "description": "What happened; nothing is a sign of life.", "items": event },
            "dropped": {
                "type": "integer", "minimum": 0, "description": "How many events the source could not keep.",
            },
            "tab": {
                "type": ["string", "null"],
                "description": "Which of several tabs that show the same page: one that is closed ends no other.",
            },
            "watched_by": {
                "type": ["string", "null"],
                "description": "The mark that whoever watches the page over DevTools left in it; it tells the same.",
            },
            "ended": { "type": ["string", "null"], "description": "Why this is the last report, if it is." },
            "missed": {
                "type": "boolean",
                "description": "With `ended`: it should go on, so that answers are not `clean` until it is back.",
            },
        },
    });
    let answer = json!({
        "type": "object",
        "required": ["ok", "taken", "rejected"],
        "properties": {
            "ok": { "const": true },
            "taken": { "type": "integer", "description": "How many events were taken." },
            "rejected": { "type": "integer", "description": "How many were not understood." },
            "reasons": {
                "type": "array",
                "description": "Why, for the first of them.",
                "items": {
                    "type": "object",
                    "properties": { "index": { "type": "integer" }, "reason": { "type": "string" } },
                },
            },
        },
    });
    let mut responses = openapi::guarded(&[Code::Usage, Code::Damaged, Code::StoreVersion, Code::Io, Code::Busy]);
    let content = json!({ "application/json": { "schema": answer } });
    responses.insert("200".to_owned(), json!({ "description": "Done", "content": content }));
    json!({
        "operationId": id,
        "tags": ["Live"],
        "summary": summary,
        "security": [{ "token": [] }, { "ingestKey": [] }],
        "requestBody": { "required": true, "content": { "application/json": { "schema": body } } },
        "responses": responses,
    })
}
