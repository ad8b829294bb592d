//! One thing that happened, in full, and the log it is found in: what questions about single events are answered with.

use std::collections::{BTreeMap, HashSet};

use backsight_core::{Code, Error, Result, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::browser::Browser;
use crate::event::{
    Action, ActionKind, Category, Cause, Console, Event, Frame, Level, Request, Socket, SocketEvent, Speaker,
};
use crate::exchange::{Head, Header, Timing};
use crate::fingerprint;
use crate::log::{self, Found, Record};
use crate::symptom::Symptom;
use crate::telemetry::Telemetry;
use crate::telemetry::console::first_characters;
use crate::window::Start;

/// Rows of a page when nobody says, and at most.
pub const ROWS: usize = 20;
/// The most rows of a page.
pub const MOST_ROWS: usize = 200;
/// Characters of a row.
const ROW: usize = 160;
/// Other texts of the same thing that are shown.
const VARIANTS: usize = 5;

/// One thing that happened, in full. Texts are what pages and programs say, without their secrets.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Entry {
    /// Its id.
    pub id: String,
    /// What kind of thing.
    pub category: Category,
    /// How often it happened in this run.
    pub count: u64,
    /// When first.
    pub first: Timestamp,
    /// When last; that one is shown.
    pub last: Timestamp,
    /// The page's address, or the process's command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
    /// Whether it happened before anybody watched, so that some of it is not known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub backfilled: bool,
    /// What was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub console: Option<SaidInFull>,
    /// What was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<RequestInFull>,
    /// What happened to a socket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub websocket: Option<SocketInFull>,
    /// What the user did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<ActionInFull>,
    /// By what it is known again wherever the app is served, when something went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symptom: Option<Symptom>,
    /// Other texts of the same thing, and what differs from it in one word, with its id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<String>,
    /// Bytes of texts and headers that are not kept.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub cut: BTreeMap<String, u64>,
}

/// Something that was said.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct SaidInFull {
    /// How serious.
    pub level: Level,
    /// By whom.
    pub speaker: Speaker,
    /// All of it, up to 8 KiB.
    pub message: String,
    /// Where in the code, innermost first; original places where a source map says so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<Frame>,
    /// The errors behind it, each with its stack.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
}

/// A request and its answer.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct RequestInFull {
    /// `GET` and so on.
    pub method: String,
    /// Its address.
    pub url: String,
    /// The answer's status; 0 when there was none.
    pub status: u16,
    /// The words after it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub status_text: String,
    /// Why there was no whole answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// The page gave it up.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub canceled: bool,
    /// What it was for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The operation of a GraphQL request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// From start to end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<f64>,
    /// How that was spent, as far as the browser says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timing: Option<Timing>,
    /// Who asked: `script`, `parser`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub initiator: String,
    /// Where in the code it was asked, innermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<Frame>,
    /// `h2`, `http/1.1`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub protocol: String,
    /// Whom it was sent to.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub remote: String,
    /// `cache` or `service worker`, when the answer did not come from the network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub served_by: Option<String>,
    /// What was sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub request_headers: Vec<Header>,
    /// The body that was sent, up to 16 KiB; never what forms post.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_body: Option<String>,
    /// What came back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub response_headers: Vec<Header>,
    /// The body that came back, up to 16 KiB, when it is text that scripts asked for or that says why something failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_body: Option<String>,
}

/// Something that happened to a socket.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct SocketInFull {
    /// Its address.
    pub url: String,
    /// `open`, `error` or `close`.
    pub event: String,
    /// The code of a close, when the source can know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub close_code: Option<u16>,
    /// The reason that was given, or what went wrong.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

/// Something the user did.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct ActionInFull {
    /// What.
    #[serde(rename = "type")]
    pub kind: ActionKind,
    /// On what.
    pub target: String,
    /// How much or which.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// The address of the frame it was done in, when that is not the page itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<String>,
}

/// Which events to list.
#[derive(Clone, Debug, Default)]
pub struct LogAsk {
    /// Only of this category.
    pub category: Option<Category>,
    /// Only console messages at least as serious.
    pub level: Option<Level>,
    /// Only with this text in a message, address, reason or target, in any case.
    pub text: Option<String>,
    /// Only requests with this status: `500`, `5xx`, `failed`.
    pub status: Option<String>,
    /// Only since a checkpoint, a time, `start`, `load` or `last`.
    pub since: Option<String>,
    /// Rows of a page.
    pub limit: Option<usize>,
    /// Where the last page ended.
    pub cursor: Option<String>,
}

/// A page of the log, newest first.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct LogPage {
    /// What happened, newest first.
    pub rows: Vec<LogRow>,
    /// How many rows fit the question and are older than this page.
    pub older: u64,
    /// To ask for those with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// For each row, the cursor of a page that begins after it.
    #[serde(skip)]
    pub cursors: Vec<String>,
    /// Events that are no longer kept one by one, by category. Frames of sockets never are.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub dropped: BTreeMap<Category, u64>,
}

/// One event on a line.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct LogRow {
    /// To ask for all of it with.
    pub id: String,
    /// When.
    pub time: Timestamp,
    /// `error`, `500 GET`, `close`, `click`.
    pub what: String,
    /// Its beginning.
    pub text: String,
    /// How often in a row; absent when once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
}

impl Browser {
    /// One thing that happened, in full, by its id.
    pub fn entry(&self, id: &str) -> Result<Entry> {
        let (category, number) = log::parse(id).ok_or_else(|| {
            Error::new(Code::Usage, format!("`{}` is no id of an entry", backsight_core::quote(id.as_bytes())))
                .with_hint("ids are a letter and a number, such as c12, n7, w3 or a5")
        })?;
        self.look(|telemetry| match telemetry.log.find(category, number) {
            Found::Thing(thing) => {
                let mut entry = Entry::of(&thing.latest);
                (entry.count, entry.first, entry.last) = (thing.count, thing.first, thing.last);
                entry.id = log::id(category, thing.number);
                entry.variants = variants(telemetry, &thing.latest);
                Ok(entry)
            }
            Found::Record(record) => Ok(Entry::of(record)),
            Found::Gone => {
                let message = format!("`{id}` is no longer kept: newer events took its room");
                Err(Error::new(Code::RefExpired, message).with_hint("reproduce it and ask for the new entry"))
            }
            Found::Never => Err(Error::new(Code::RefNotFound, format!("no entry has the id `{id}` in this run"))
                .with_hint("ids are in the answers about what changed, and in the log")),
        })
    }

    /// What happened, one by one, newest first.
    pub fn log(&self, client: &str, ask: &LogAsk) -> Result<LogPage> {
        let since = ask.since.as_deref().map(|since| self.start_of(client, since)).transpose()?;
        let filter = Filter::of(ask, since)?;
        let limit = ask.limit.unwrap_or(ROWS).clamp(1, MOST_ROWS);
        Ok(self.look(|telemetry| {
            let categories = Category::ALL.into_iter().filter(|category| filter.wants(*category));
            let records = categories.flat_map(|category| telemetry.log.of(category));
            let mut found: Vec<&Record> = records.filter(|record| filter.takes(record)).collect();
            found.sort_by_key(|record| std::cmp::Reverse(record.sequence));
            let older = found.len().saturating_sub(limit);
            found.truncate(limit);
            let last = found.last().filter(|_| older > 0).map(|record| record.sequence.to_string());
            let dropped = Category::ALL.into_iter().filter(|category| filter.wants(*category));
            let dropped = dropped.map(|category| (category, telemetry.log.gone(category)));
            LogPage {
                cursors: found.iter().map(|record| record.sequence.to_string()).collect(),
                rows: found.into_iter().map(LogRow::of).collect(),
                older: older as u64,
                cursor: last,
                dropped: dropped.filter(|(_, gone)| *gone > 0).collect(),
            }
        }))
    }
}

/// A question about the log, understood.
struct Filter {
    category: Option<Category>,
    level: Option<Level>,
    text: Option<String>,
    status: Option<Status>,
    since: Option<Start>,
    before: u64,
}

#[derive(Clone, Copy)]
enum Status {
    Is(u16),
    Class(u16),
    Failed,
}

impl Filter {
    fn of(ask: &LogAsk, since: Option<Start>) -> Result<Filter> {
        let before = match ask.cursor.as_deref() {
            Some(cursor) => cursor.parse().map_err(|_| {
                Error::new(Code::Usage, format!("`{}` is no cursor", backsight_core::quote(cursor.as_bytes())))
                    .with_hint("pass the cursor of the last page")
            })?,
            None => u64::MAX,
        };
        let status = ask.status.as_deref().map(Status::of).transpose()?;
        let text = ask.text.as_ref().map(|text| text.to_lowercase());
        Ok(Filter { category: ask.category, level: ask.level, text, status, since, before })
    }

    /// A filter that only events of one category can pass asks for that category.
    fn wants(&self, category: Category) -> bool {
        self.category.is_none_or(|wanted| wanted == category)
            && (self.level.is_none() || category == Category::Console)
            && (self.status.is_none() || category == Category::Network)
    }

    fn takes(&self, record: &Record) -> bool {
        let in_time = match self.since {
            None => true,
            Some(Start::Mark(mark)) => record.sequence >= mark.sequence,
            Some(Start::Time(time)) => record.event.time() > time,
        };
        let fits = match &*record.event {
            Event::Console(console) => self.level.is_none_or(|level| console.level >= level),
            Event::Network(request) => self.status.is_none_or(|status| status.takes(request)),
            Event::Websocket(_) | Event::Action(_) => true,
        };
        record.sequence < self.before
            && in_time
            && fits
            && self.text.as_deref().is_none_or(|text| says(&record.event, text))
    }
}

impl Status {
    fn of(text: &str) -> Result<Status> {
        let digit = |digit: u8| u16::from(digit.wrapping_sub(b'0'));
        match *text.as_bytes() {
            [class @ b'1'..=b'5', b'x', b'x'] => Ok(Status::Class(digit(class))),
            [class @ b'1'..=b'5', tens @ b'0'..=b'9', ones @ b'0'..=b'9'] => {
                Ok(Status::Is(digit(class) * 100 + digit(tens) * 10 + digit(ones)))
            }
            _ if text == "failed" => Ok(Status::Failed),
            _ => {
                let message = format!("`{}` is no status", backsight_core::quote(text.as_bytes()));
                Err(Error::new(Code::Usage, message).with_hint("a status is 404, 5xx or failed"))
            }
        }
    }

    fn takes(self, request: &Request) -> bool {
        match self {
            Status::Is(status) => request.status == status,
            Status::Class(class) => request.status / 100 == class,
            Status::Failed => request.is_failure(),
        }
    }
}

/// Whether an event says a text, which is in small letters.
fn says(event: &Event, text: &str) -> bool {
    let has = |said: &str| said.to_lowercase().contains(text);
    let optional = |said: &Option<String>| said.as_deref().is_some_and(has);
    match event {
        Event::Console(console) => {
            let behind = console.causes.iter().any(|cause| has(&cause.message));
            has(&console.message) || behind || console.stack.iter().any(|frame| has(&frame.file))
        }
        Event::Network(request) => has(&request.url) || optional(&request.failure) || optional(&request.operation),
        Event::Websocket(socket) => has(&socket.url) || has(&socket_words(socket).2),
        Event::Action(action) => has(&action.target) || has(&action.detail),
    }
}

impl LogRow {
    fn of(record: &Record) -> LogRow {
        let (what, text) = match &*record.event {
            Event::Console(console) => (level_word(console.level).to_owned(), console.message.clone()),
            Event::Network(request) => {
                let why = request.failure.as_ref().map(|failure| format!(" {failure}")).unwrap_or_default();
                let given_up = if request.canceled && !request.is_failure() { " (given up by the page)" } else { "" };
                (format!("{} {}", request.status, request.method), format!("{}{why}{given_up}", request.url))
            }
            Event::Websocket(socket) => {
                let (event, code, message) = socket_words(socket);
                let code = code.map(|code| format!(" {code}")).unwrap_or_default();
                (event.to_owned(), format!("{}{code} {message}", socket.url).trim_end().to_owned())
            }
            Event::Action(action) => {
                let frame = action.frame.as_ref().map(|frame| format!(" in {frame}")).unwrap_or_default();
                (kind_word(action.kind), format!("{} {}{frame}", action.target, action.detail).trim_end().to_owned())
            }
        };
        LogRow {
            id: log::id(record.event.category(), record.number),
            time: record.event.time(),
            what,
            text: first_characters(text.trim(), ROW),
            count: Some(record.times).filter(|times| *times > 1),
        }
    }
}

/// As on the wire.
pub(crate) fn level_word(level: Level) -> &'static str {
    match level {
        Level::Debug => "debug",
        Level::Info => "info",
        Level::Warning => "warning",
        Level::Error => "error",
    }
}

fn kind_word(kind: ActionKind) -> String {
    serde_json::to_value(kind).ok().and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_default()
}

/// What happened to a socket: in a word, with which code, and why.
fn socket_words(socket: &Socket) -> (&'static str, Option<u16>, String) {
    match &socket.event {
        SocketEvent::Open => ("open", None, String::new()),
        SocketEvent::Message { .. } => ("message", None, String::new()),
        SocketEvent::Error { message } => ("error", None, message.clone()),
        SocketEvent::Close { code, reason, .. } => ("close", *code, reason.clone()),
    }
}

impl Entry {
    /// By what it is known when a page shows it again; an error when no page can.
    pub fn shown_again(&self) -> Result<&Symptom> {
        self.symptom.as_ref().ok_or_else(|| {
            let message = format!("`{}` is nothing that a page shows again when it is opened", self.id);
            Error::new(Code::Usage, message).with_hint(
                "name an error of a page, a request that fails or a socket that is lost; what a process says is found by a command",
            )
        })
    }

    fn of(record: &Record) -> Entry {
        let time = record.event.time();
        let mut entry = Entry {
            id: log::id(record.event.category(), record.number),
            category: record.event.category(),
            count: record.times,
            first: time,
            last: time,
            page: None,
            backfilled: false,
            console: None,
            network: None,
            websocket: None,
            action: None,
            symptom: Symptom::of(&record.event),
            variants: Vec::new(),
            cut: BTreeMap::new(),
        };
        entry.note("text_bytes", record.cut);
        match &*record.event {
            Event::Console(console) => entry.say(console),
            Event::Network(request) => entry.request(request),
            Event::Websocket(socket) => entry.socket(socket),
            Event::Action(action) => entry.act(action),
        }
        entry
    }

    fn note(&mut self, what: &str, cut: u64) {
        if cut > 0 {
            self.cut.insert(what.to_owned(), cut);
        }
    }

    fn say(&mut self, console: &Console) {
        (self.page, self.backfilled) = (console.page.clone(), console.backfilled);
        let (level, speaker, stack) = (console.level, console.speaker, console.stack.clone());
        let (message, causes) = (console.message.clone(), console.causes.clone());
        self.console = Some(SaidInFull { level, speaker, message, stack, causes });
    }

    fn request(&mut self, request: &Request) {
        (self.page, self.backfilled) = (request.page.clone(), request.backfilled);
        let exchange = request.exchange.as_deref().cloned().unwrap_or_default();
        let mut head = |name: &str, head: Head| {
            self.note(name, head.cut);
            head.headers
        };
        self.network = Some(RequestInFull {
            request_headers: head("request_headers", exchange.request),
            response_headers: head("response_headers", exchange.response),
            method: request.method.clone(),
            url: request.url.clone(),
            status: request.status,
            status_text: exchange.status_text,
            failure: request.failure.clone(),
            canceled: request.canceled,
            kind: request.kind.clone(),
            operation: request.operation.clone(),
            duration_ms: request.duration_ms,
            timing: exchange.timing,
            initiator: exchange.initiator,
            stack: exchange.stack,
            protocol: exchange.protocol,
            remote: exchange.remote,
            served_by: exchange.served_by.map(str::to_owned),
            request_body: request.request_body.clone(),
            response_body: request.response_body.clone(),
        });
    }

    fn socket(&mut self, socket: &Socket) {
        (self.page, self.backfilled) = (socket.page.clone(), socket.backfilled);
        let (event, close_code, message) = socket_words(socket);
        self.websocket = Some(SocketInFull { url: socket.url.clone(), event: event.to_owned(), close_code, message });
    }

    fn act(&mut self, action: &Action) {
        self.page.clone_from(&action.page);
        let Action { kind, target, detail, frame, .. } = action.clone();
        self.action = Some(ActionInFull { kind, target, detail, frame });
    }
}

/// Other texts of a message's thing, and the things that differ from it in one word.
fn variants(telemetry: &Telemetry, shown: &Record) -> Vec<String> {
    let Event::Console(said) = &*shown.event else { return Vec::new() };
    let mut seen: HashSet<&str> = HashSet::from([said.message.as_str()]);
    let same = telemetry.log.of(Category::Console).rev().filter(|record| record.thing == shown.thing);
    let texts = same.filter_map(|record| match &*record.event {
        Event::Console(console) => Some(console.message.as_str()),
        _ => None,
    });
    let others = texts.filter(|text| seen.insert(text)).map(|text| first_characters(text, ROW));
    let mut variants: Vec<String> = others.take(VARIANTS).collect();
    let alike: Vec<_> = telemetry.messages.iter().filter(|message| message.level == said.level).collect();
    let templates: Vec<&str> = alike.iter().map(|message| message.template.as_str()).collect();
    let is_own = |family: &&Vec<usize>| family.iter().any(|at| alike[*at].key == shown.key);
    let families = fingerprint::families(&templates);
    let family = families.iter().find(is_own).into_iter().flatten();
    let near = family.map(|at| alike[*at]).filter(|message| message.key != shown.key).map(|message| {
        let id = telemetry.log.id_of(Category::Console, log::thing(message.key, ()));
        format!("{id} {}", first_characters(message.said(), ROW)).trim_start().to_owned()
    });
    variants.extend(near.take(VARIANTS));
    variants
}
