//! What pages and processes report by themselves. One event that cannot be understood takes nothing from the others: it
//! is counted and said why.

use axum::Router;
use axum::body::Bytes;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use backsight::Workspace;
use backsight::browser::Ingest;
use backsight::browser::event::{Action, Category, Console, Event, Request, Socket};
use backsight_core::{Code, Error, Result, Timestamp, is_unsafe_to_show};
use http::{HeaderMap, header};
use schemars::generate::SchemaSettings;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Shared, failure, openapi};

/// Events that were not understood are told one by one up to here, and counted beyond.
const REASONS: usize = 20;
/// Events of one report at most: a page may tell of many frames with one event that says how many.
const MOST: usize = 200_000;
/// Characters of a source's name.
const LABEL: usize = 200;

pub(super) fn router() -> Router<Shared> {
    Router::new().route("/ingest", post(mixed)).route("/ingest/{category}", post(of_category))
}

/// A report as it comes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Report {
    /// Who reports.
    source: Option<String>,
    /// What it can see.
    #[serde(default)]
    watches: Vec<Category>,
    #[serde(default)]
    events: Vec<Map<String, Value>>,
    /// How many events it had to drop.
    #[serde(default, deserialize_with = "whole")]
    dropped: u64,
    /// Why it is the last report.
    ended: Option<String>,
    /// What whoever watches the page over its browser's protocol left in it.
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
struct Understood {
    ingest: Ingest,
    dropped: u64,
    rejected: Vec<(usize, String)>,
}

async fn mixed(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    take(shared, None, headers, body).await
}

async fn of_category(
    State(shared): State<Shared>,
    category: Result<Path<Category>, PathRejection>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    match category {
        Ok(Path(category)) => take(shared, Some(category), headers, body).await,
        Err(_) => failure(
            &Error::new(Code::RouteNotFound, "there is no such category of events")
                .with_hint("post to /ingest/console, /ingest/network, /ingest/websocket, /ingest/actions or /ingest"),
        ),
    }
}

async fn take(shared: Shared, category: Option<Category>, headers: HeaderMap, body: Bytes) -> Response {
    let origin = headers.get(header::ORIGIN).and_then(|origin| origin.to_str().ok()).map(str::to_owned);
    let taken = shared.door.local(move |workspace| record(workspace, category, origin.as_deref(), &body)).await;
    taken.map_or_else(|error| failure(&error), |answer| axum::Json(answer).into_response())
}

fn record(workspace: &Workspace, category: Option<Category>, origin: Option<&str>, body: &[u8]) -> Result<Value> {
    let report: Report = serde_json::from_slice(body).map_err(|error| {
        Error::new(Code::Usage, format!("the report is not understood: {error}"))
            .with_hint("send {\"source\": \"...\", \"events\": [...]}; GET /openapi.json describes each event")
    })?;
    let Understood { ingest, dropped, rejected } = understand(report, category, origin, workspace.now());
    let browser = workspace.browser()?;
    if dropped > 0 {
        browser.lost(format!("{} could not keep {dropped} event(s)", ingest.source));
    }
    let taken = browser.ingest(ingest);
    let mut answer = json!({ "ok": true, "taken": taken, "rejected": rejected.len() });
    if !rejected.is_empty() {
        let reasons = rejected.iter().take(REASONS);
        let reason = |(index, reason): &(usize, String)| json!({ "index": index, "reason": reason });
        answer["reasons"] = reasons.map(reason).collect();
    }
    Ok(answer)
}

fn understand(report: Report, category: Option<Category>, origin: Option<&str>, now: Timestamp) -> Understood {
    let source = match report.source.as_deref().map(label).filter(|source| !source.is_empty()) {
        Some(source) => source,
        None => origin.map_or_else(|| "reports".to_owned(), |origin| format!("page {}", label(origin))),
    };
    // Whoever tells of one category only is not taken to watch the others.
    let (source, watches) = match (category, report.watches.is_empty()) {
        (Some(category), true) => (format!("{source} ({})", category.as_str()), vec![category]),
        _ => (source, report.watches),
    };
    let (mut events, mut rejected, mut dropped) = (Vec::new(), Vec::new(), report.dropped);
    for (index, mut event) in report.events.into_iter().enumerate() {
        let times = event.remove("count").and_then(|count| count.as_u64()).unwrap_or(1).max(1);
        match event_of(event, category, now) {
            Ok(event) => {
                let fitting = usize::try_from(times).unwrap_or(MOST).min(MOST.saturating_sub(events.len()));
                dropped = dropped.saturating_add(times - fitting as u64);
                events.extend(std::iter::repeat_n(event, fitting));
            }
            Err(reason) => rejected.push((index, reason)),
        }
    }
    let ended = report.ended.as_deref().map(label);
    Understood { ingest: Ingest { source, watches, events, ended, watched_by: report.watched_by }, dropped, rejected }
}

/// A text for people: one line, and not too long.
fn label(text: &str) -> String {
    text.chars().filter(|character| !is_unsafe_to_show(*character)).take(LABEL).collect::<String>().trim().to_owned()
}

fn event_of(
    mut event: Map<String, Value>,
    category: Option<Category>,
    now: Timestamp,
) -> std::result::Result<Event, String> {
    let category = match (category, event.remove("category")) {
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
    parsed.map_err(|error| error.to_string())
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
            "source": { "type": ["string", "null"], "description": "Who reports: `terminal: npm run dev`." },
            "watches": {
                "type": "array",
                "description": "Which categories the source can see; this address's when left out.",
                "items": { "enum": Category::ALL.map(Category::as_str) },
            },
            "events": { "type": "array", "description": "What happened; nothing is a sign of life.", "items": event },
            "dropped": {
                "type": "integer", "minimum": 0, "description": "How many events the source could not keep.",
            },
            "watched_by": {
                "type": ["string", "null"],
                "description": "The mark that whoever watches the page over DevTools left in it; it tells the same.",
            },
            "ended": { "type": ["string", "null"], "description": "Why this is the last report, if it is." },
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
