//! What sources tell: one event for each thing that happened in an app. The same types come from a browser's protocol, from
//! `POST /ingest/...` and from `backsight run`.

use std::num::NonZeroU32;

use backsight_core::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::exchange::Exchange;
pub use crate::noise::Tool;
use crate::request_state::RequestState;

/// The four kinds of things that happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// Console calls, exceptions, what the browser itself logs, and lines of a process.
    Console,
    /// Requests, told when they are over.
    Network,
    /// The life of WebSockets and event streams.
    Websocket,
    /// What the user did.
    Actions,
}

impl Category {
    /// All, in the order of a reply.
    pub const ALL: [Category; 4] = [Category::Console, Category::Network, Category::Websocket, Category::Actions];

    /// As on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Category::Console => "console",
            Category::Network => "network",
            Category::Websocket => "websocket",
            Category::Actions => "actions",
        }
    }
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Something was said.
    Console(Console),
    /// A request is over.
    Network(Request),
    /// Something happened to a WebSocket.
    Websocket(Socket),
    /// The user did something.
    Action(Action),
}

impl Event {
    /// Its kind.
    pub fn category(&self) -> Category {
        match self {
            Event::Console(_) => Category::Console,
            Event::Network(_) => Category::Network,
            Event::Websocket(_) => Category::Websocket,
            Event::Action(_) => Category::Actions,
        }
    }

    /// When it happened.
    pub fn time(&self) -> Timestamp {
        match self {
            Event::Console(console) => console.time,
            Event::Network(request) => request.time,
            Event::Websocket(socket) => socket.time,
            Event::Action(action) => action.time,
        }
    }
}

/// Something that happened so many times. How often is a number that goes with the event wherever it is counted: nothing
/// that a page or a process says is ever copied as often as it asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Repeated {
    /// What happened.
    pub event: Event,
    /// How often; so few that no number of reports can overflow a counter.
    pub times: NonZeroU32,
}

impl From<Event> for Repeated {
    fn from(event: Event) -> Self {
        Repeated { event, times: NonZeroU32::MIN }
    }
}

/// How serious a message says it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// `console.debug` and whatever browsers call verbose.
    Debug,
    /// `console.log`, `console.info` and the rest.
    #[serde(alias = "log")]
    Info,
    /// `console.warn`.
    #[serde(alias = "warn")]
    Warning,
    /// `console.error`, failed assertions, uncaught exceptions.
    Error,
}

/// Who said a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// The page's own console calls.
    #[default]
    Page,
    /// An exception or rejection nobody caught.
    Exception,
    /// The browser: blocked loads, violated policies, crashes.
    Browser,
    /// A process: a dev server, a test runner.
    Terminal,
}

/// Something was said.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Console {
    /// When.
    pub time: Timestamp,
    /// How serious.
    pub level: Level,
    /// By whom.
    #[serde(default)]
    pub speaker: Speaker,
    /// What; console arguments formatted and joined. An exception's begins with its class.
    pub message: String,
    /// Where in the code, innermost first; the original source where a source map says so.
    #[serde(default)]
    pub stack: Vec<Frame>,
    /// The errors behind it: its `cause`, the cause of that one and so on, or those that an `AggregateError` holds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
    /// The page's address, or the process's command.
    #[serde(default)]
    pub page: Option<String>,
    /// Whether it happened before anybody was watching and was told afterwards.
    #[serde(default)]
    pub backfilled: bool,
}

/// An error behind another one.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Cause {
    /// What it says, beginning with its class.
    pub message: String,
    /// Where it was made, innermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<Frame>,
}

/// A place in code.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Frame {
    /// The file, as an address or a path.
    pub file: String,
    /// From 1; 0 is unknown.
    #[serde(default)]
    pub line: u32,
    /// From 1; 0 is unknown.
    #[serde(default)]
    pub column: u32,
    /// The function, empty when it has no name.
    #[serde(default)]
    pub function: String,
}

/// A request that is over.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Request {
    /// When it ended.
    pub time: Timestamp,
    /// `GET` and so on.
    pub method: String,
    /// Its address with query; secrets go before anything is kept.
    pub url: String,
    /// The answer's status; 0 when there was none.
    pub status: u16,
    /// Why there was no whole answer: the browser's error, or the rule that blocked it.
    #[serde(default)]
    pub failure: Option<String>,
    /// The page itself gave it up; that is no failure.
    #[serde(default)]
    pub canceled: bool,
    /// From start to end.
    #[serde(default)]
    pub duration_ms: Option<f64>,
    /// What it was for: `document`, `fetch`, `xhr`, `script`, ...
    #[serde(default)]
    pub kind: Option<String>,
    /// The answer's media type without parameters, `text/html`, if the source saw it.
    #[serde(default)]
    pub mime: Option<String>,
    /// The operation of a GraphQL request: one address serves many.
    #[serde(default)]
    pub operation: Option<String>,
    /// The body that was sent, if the source saw it; read for secrets and shape and not kept.
    #[serde(default)]
    pub request_body: Option<String>,
    /// The body that came back, if the source saw it; its shape is kept, and a failure's first words.
    #[serde(default)]
    pub response_body: Option<String>,
    /// Heads, timing and who asked, as only a browser's protocol tells them.
    #[serde(skip)]
    pub exchange: Option<Box<Exchange>>,
    /// The page it belongs to.
    #[serde(default)]
    pub page: Option<String>,
    /// Whether it happened before anybody was watching and was told afterwards.
    #[serde(default)]
    pub backfilled: bool,
}

impl Request {
    /// One of which nothing else is known.
    pub fn new(time: Timestamp, method: &str, url: &str) -> Request {
        Request {
            time,
            method: method.to_owned(),
            url: url.to_owned(),
            status: 0,
            failure: None,
            canceled: false,
            duration_ms: None,
            kind: None,
            mime: None,
            operation: None,
            request_body: None,
            response_body: None,
            exchange: None,
            page: None,
            backfilled: false,
        }
    }

    /// Whether something went wrong with it.
    pub fn is_failure(&self) -> bool {
        RequestState::of(self).is_failure()
    }
}

/// Something happened to a WebSocket, or to an event stream, whose address begins with `http`.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Socket {
    /// When.
    pub time: Timestamp,
    /// The connection's id, unique in its source.
    pub id: String,
    /// Its address; empty when the connection is older than the watching.
    pub url: String,
    /// What.
    #[serde(flatten)]
    pub event: SocketEvent,
    /// The tool of the developer it belongs to, where the source can know that it is not the app's.
    #[serde(default)]
    pub tool: Option<Tool>,
    /// The page it belongs to.
    #[serde(default)]
    pub page: Option<String>,
    /// Whether it happened before anybody was watching and was told afterwards.
    #[serde(default)]
    pub backfilled: bool,
}

/// What can happen to a WebSocket.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum SocketEvent {
    /// It is connected.
    Open,
    /// A frame; its contents are not kept.
    Message {
        /// Whether the page sent it.
        #[serde(default)]
        sent: bool,
        /// How large.
        #[serde(default)]
        bytes: u64,
    },
    /// Something went wrong on a connection, or it never came about.
    Error {
        /// What.
        message: String,
    },
    /// It is closed.
    Close {
        /// The code, when the source can know it.
        #[serde(default)]
        code: Option<u16>,
        /// The reason that was given.
        #[serde(default)]
        reason: String,
        /// Who ended it, when the source can know it.
        #[serde(default)]
        by: Option<Side>,
    },
}

/// Who ended a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The page: it closed the connection, or went away.
    Page,
    /// The other end said that it is over.
    Server,
}

impl Side {
    /// As on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Side::Page => "page",
            Side::Server => "server",
        }
    }
}

/// The user, or a script in their place, did something.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Action {
    /// When.
    pub time: Timestamp,
    /// What.
    #[serde(rename = "type")]
    pub kind: ActionKind,
    /// On what: a test id, an id, a role with its name, or a short CSS path; for a navigation the address.
    #[serde(default)]
    pub target: String,
    /// How much or which: `12 characters`, `Enter`, never what was typed.
    #[serde(default)]
    pub detail: String,
    /// The page.
    #[serde(default)]
    pub page: Option<String>,
    /// The address of the frame in the page, when it was done in one: origin and path.
    #[serde(default)]
    pub frame: Option<String>,
}

/// What a user can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionKind {
    /// A click.
    Click,
    /// Two of them.
    Dblclick,
    /// Typing, of which only the length is told.
    Input,
    /// A choice in a form.
    Change,
    /// A form was sent.
    Submit,
    /// A key that does something, such as Enter or Escape.
    Key,
    /// Another document was loaded.
    Navigate,
    /// The address changed within the document.
    Route,
}
