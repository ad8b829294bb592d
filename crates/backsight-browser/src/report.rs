//! What questions about an app are answered with. Lists that are absent are empty; whatever was cut, lost or left unseen
//! is counted in the same answer.

use std::collections::BTreeMap;

use backsight_core::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::event::{ActionKind, Category, Side};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Nothing notable happened, and somebody was watching.
    Clean,
    /// Nothing notable is known, and not everything was watched.
    Unknown,
    /// Warnings, disconnections, endpoints that still fail or became slow.
    Warning,
    /// Console errors, failed requests, socket errors.
    Error,
}

impl Severity {
    /// As on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Clean => "clean",
            Severity::Unknown => "unknown",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// What happened since a checkpoint.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Changes {
    /// Over all categories, also those that were not asked for.
    pub severity: Severity,
    /// In one line.
    pub summary: String,
    /// What was compared with: `auto` or the reference that was asked for.
    pub checkpoint: String,
    /// When the window begins.
    pub from: Timestamp,
    /// When it ends.
    pub to: Timestamp,
    /// How long it is.
    pub duration_ms: i64,
    /// Absent when it was not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub console: Option<ConsoleChanges>,
    /// Absent when it was not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkChanges>,
    /// Absent when it was not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub websocket: Option<WebsocketChanges>,
    /// Absent when it was not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actions: Option<ActionsChanges>,
    /// Events that noise rules kept out, by category.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub suppressed: BTreeMap<Category, u64>,
    /// Events whose details are gone, by category; counts are exact all the same.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub dropped: BTreeMap<Category, u64>,
    /// Entries that were left out of a list, by list: `console.errors`. Bytes that were cut off long texts: `text_bytes`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub omitted: BTreeMap<String, u64>,
    /// Times within the window when something was not seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gap: Vec<Gap>,
    /// Requests that are not over, so that nobody knows how they end: those of the window, and all that are overdue. Sockets,
    /// event streams and beacons are held open on purpose and do not count.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub in_flight: u64,
    /// Messages that are held back for a moment, so that nobody knows yet what they say.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub held: u64,
    /// How long the question waited and what it saw meanwhile; absent when it did not wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited: Option<Waited>,
    /// Who watched.
    pub coverage: Coverage,
    /// Bytes of this as JSON, divided by 4.
    pub token_count: usize,
    /// What today's tokenisers make of it, nearly.
    pub est_tokens: usize,
}

impl Changes {
    /// The id of the worst entry of which only the beginning is shown.
    pub fn cut_entry(&self) -> Option<&str> {
        let said = self.console.iter().flat_map(|console| console.errors.iter().chain(&console.warnings));
        let said = said.map(|entry| (&entry.message, &entry.id));
        let failed = self.network.iter().flat_map(|network| network.failures.iter().chain(&network.still_failing));
        let failed = failed.map(|entry| (&entry.detail, &entry.id));
        let is_cut = |(text, id): &(&String, &String)| text.ends_with('…') && !id.is_empty();
        said.chain(failed).find(is_cut).map(|(_, id)| id.as_str())
    }
}

/// What came of waiting.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Waited {
    /// How long, in milliseconds.
    pub ms: u64,
    /// What was seen; nothing at all when it is empty, so that an edit may not have taken effect yet.
    pub saw: Vec<Saw>,
}

/// What shows that something has taken effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Saw {
    /// A page took in new code without being loaded again.
    HotUpdate,
    /// A document was loaded.
    Reload,
    /// A build ended, or a server started again.
    Build,
    /// Something else happened, beyond what the app does by itself all the time.
    Activity,
}

/// What was said.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct ConsoleChanges {
    /// All messages, of any level.
    pub total_new: u64,
    /// Errors, one entry for each thing said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<MessageEntry>,
    /// Warnings, likewise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<MessageEntry>,
    /// Rejections that were handled after they were told, now or by an earlier answer: no errors any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub handled_later: Vec<MessageEntry>,
}

/// One thing that was said, however often.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct MessageEntry {
    /// To ask for all of it with; absent when it is no longer kept.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// As last said, at most 200 characters.
    pub message: String,
    /// `file:line` of the app's own code if there is any, else a library's, or who said it. Without the page's own origin.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// The errors behind it with their places, three at most: its `cause`, or those that an `AggregateError` holds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<String>,
    /// How many more there are.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_causes: u64,
    /// How often.
    pub count: u64,
    /// When first and last, in milliseconds after the window's beginning; when that is a second apart or more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_ms: Option<i64>,
    /// See `after_ms`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_ms: Option<i64>,
    /// Whether it was not said any more since the latest load of a page.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub before_load: bool,
    /// Whether it was already known at the checkpoint.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recurring: bool,
    /// When this stands for several messages that differ in one word: how many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variants: Option<usize>,
}

/// What was requested.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct NetworkChanges {
    /// All requests.
    pub total_new: u64,
    /// Endpoints that fail and did not fail so at the checkpoint.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<FailureEntry>,
    /// Endpoints that failed at the checkpoint and still do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub still_failing: Vec<FailureEntry>,
    /// Requests that are not answered for 3 s or longer, and for twice as long as their endpoint ever took, whenever they
    /// began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pending: Vec<PendingEntry>,
    /// Images, fonts, styles and films that were answered with a page, and JSON that is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mistyped: Vec<FailureEntry>,
    /// Endpoints that failed at the checkpoint and succeed now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recovered: Vec<RecoveredEntry>,
    /// Endpoints much slower than before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub degraded: Vec<DegradedEntry>,
    /// Endpoints never seen before, `GET /api/users/{id}`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub new_endpoints: Vec<String>,
}

/// An endpoint that fails in one way.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct FailureEntry {
    /// To ask for all of it with; absent when it is no longer kept.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// `GET` and so on.
    pub method: String,
    /// The endpoint's path, after its origin unless that is the page's own.
    pub path: String,
    /// The answer's status; 0 when there was none.
    pub status: u16,
    /// The endpoint's status at the checkpoint; absent when it had not been seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_status: Option<u16>,
    /// How often.
    pub count: u64,
    /// The endpoint's latest status, when that is no longer this failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<u16>,
    /// Why, as far as the browser or the answer says.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// When this stands for several endpoints that differ in one part of the path: how many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variants: Option<usize>,
}

/// Requests to one endpoint that are not answered.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct PendingEntry {
    /// `GET` and so on.
    pub method: String,
    /// As in a failure.
    pub path: String,
    /// How long the oldest of them waits.
    pub age_ms: i64,
    /// How many.
    pub count: u64,
}

/// An endpoint that failed and succeeds again.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct RecoveredEntry {
    /// To ask for all of it with; absent when it is no longer kept.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// `GET` and so on.
    pub method: String,
    /// As in a failure.
    pub path: String,
    /// Its latest status.
    pub status: u16,
    /// Its status at the checkpoint.
    pub previous_status: u16,
}

/// An endpoint that became slow.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct DegradedEntry {
    /// To ask for all of it with; absent when it is no longer kept.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// `GET` and so on.
    pub method: String,
    /// As in a failure.
    pub path: String,
    /// The median since the checkpoint.
    pub duration_ms: u64,
    /// The median before it.
    pub baseline_ms: u64,
}

/// What WebSockets did.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct WebsocketChanges {
    /// All events, frames included.
    pub total_new: u64,
    /// Connections that ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disconnections: Vec<DisconnectionEntry>,
    /// Connections that began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connections: Vec<ConnectionEntry>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<SocketErrorEntry>,
}

/// Connections to one address that ended in one way.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct DisconnectionEntry {
    /// To ask for all of it with; absent when it is no longer kept.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// Where to.
    pub url: String,
    /// The code, when the source can know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub close_code: Option<u16>,
    /// The reason that was given.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub close_reason: String,
    /// Who ended it, when that is known. What the page itself ends in order is no warning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Side>,
    /// How often.
    pub count: u64,
    /// Whether a connection to the same address is open now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reconnected: bool,
}

/// Connections to one address.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct ConnectionEntry {
    /// To ask for all of it with; absent when it is no longer kept.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// Where to.
    pub url: String,
    /// How many.
    pub count: u64,
}

/// Something that went wrong with connections to one address.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct SocketErrorEntry {
    /// To ask for all of it with; absent when it is no longer kept.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// Where to.
    pub url: String,
    /// What.
    pub message: String,
    /// How often.
    pub count: u64,
    /// It could not connect, and has connected since: no error any more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recovered: bool,
}

/// What the user did.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct ActionsChanges {
    /// All of it.
    pub total_new: u64,
    /// In order; what was done several times in a row is one entry.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<ActionEntry>,
}

/// Something the user did, perhaps several times in a row.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct ActionEntry {
    /// To ask for all of it with; absent when it is no longer kept.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// What.
    #[serde(rename = "type")]
    pub kind: ActionKind,
    /// On what.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub target: String,
    /// How much or which.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// When first, in milliseconds after the window's beginning.
    pub after_ms: i64,
    /// How often in a row; absent when once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// The address of the frame it was done in, when that is not the page itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<String>,
}

/// A time when something was not seen.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Gap {
    /// From when.
    pub from: Timestamp,
    /// Until when; absent when it lasts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Timestamp>,
    /// Why.
    pub reason: String,
}

/// Who watched.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Coverage {
    /// Whether anybody watches now.
    pub attached: bool,
    /// What is watched now: `chromium: 2 pages`, `terminal: npm run dev`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub watching: Vec<String>,
    /// Categories nobody watches now, when anybody watches at all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_watched: Vec<Category>,
    /// Since when without interruption.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// How many events of the window happened before anybody watched and were told afterwards.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub backfilled: u64,
    /// How many events of the window were told twice, by the browser and by the script in the page; they count once.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub seen_twice: u64,
    /// Processes that ended within the window as they should, and how: `terminal: npm run build: the command ended with status
    /// 0`. One that should have gone on is a gap.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ended: Vec<String>,
}

pub(crate) fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A checkpoint, as listed.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct CheckpointEntry {
    /// Its name.
    pub name: String,
    /// When it was made.
    pub created: Timestamp,
    /// How the app had been since the checkpoint before it.
    pub severity: Severity,
    /// The same in one line.
    pub summary: String,
    /// The page at that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
    /// The baseline it stands for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// Whether it was made before this server started: everything the server saw is after it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub earlier_run: bool,
}
