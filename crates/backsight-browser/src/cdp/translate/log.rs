//! What the browser itself says: `Log` entries and `Audits` issues. Most of it repeats what a request or socket tells
//! better; one failing request is one failure, so that is folded away.

use std::borrow::Cow;
use std::collections::VecDeque;

use backsight_core::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::Context;
use super::console::Voices;
use super::earlier::FailedLoad;
use super::requests::Requests;
use super::sockets::{self, Sockets};
use super::wire::{Hash, StackTrace, address, cut, epoch_millis, frame, shortened};
use crate::event::{Console, Event, Level, Speaker};

/// How long a message waits for the request, socket or message that tells the same.
const GRACE_MS: i64 = 500;
/// How long an element that failed waits for its request.
const BROKEN_MS: i64 = 1_500;
/// As many messages can wait; more are told at once.
const MAX_HELD: usize = 500;
/// As many messages of the browser are remembered for folding issues.
const MAX_TEXTS: usize = 64;

/// What waits, and what was said.
#[derive(Debug, Default)]
pub struct Announcements {
    held: VecDeque<Held>,
    /// What the browser said lately.
    texts: VecDeque<String>,
}

#[derive(Debug)]
struct Held {
    session: String,
    until: Timestamp,
    what: Waiting,
}

/// What a message may repeat, and what is told if it does not.
#[derive(Debug)]
enum Waiting {
    /// A request with this id, or for this address.
    Load(FailedLoad),
    /// A request for this address.
    Blocked { url: String, console: Console },
    /// A request that a content security policy blocks, of which browsers say nothing else when a script fetches it.
    Policy(FailedLoad),
    /// A request for this address that failed: its answer was no style or script because it was none at all.
    Refused { url: String, console: Console },
    /// A socket with this address.
    Socket { url: String, console: Console },
    /// Another message or request that names the same address.
    Issue { url: String, console: Console },
    /// A request for this address that failed, or was answered with something else than was asked for.
    Broken { url: String, console: Console },
    /// An exception of a worker.
    Worker { console: Console },
}

/// What else may tell the same.
pub struct Others<'a> {
    pub sockets: &'a Sockets,
    pub voices: &'a Voices,
}

/// What `failures.js` reports.
#[derive(Deserialize)]
#[serde(untagged)]
pub enum PageFailure {
    /// An element whose data cannot be used.
    Element { element: String, url: String },
    /// An error in a worker.
    Worker { message: String, file: String, line: i64, column: i64 },
    /// A transaction of a database that failed, so that nothing of it was written.
    Database { database: String, error: String },
}

#[derive(Deserialize)]
pub struct EntryAdded<'a> {
    #[serde(borrow)]
    entry: LogEntry<'a>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct LogEntry<'a> {
    #[serde(borrow)]
    source: Cow<'a, str>,
    #[serde(borrow)]
    level: Cow<'a, str>,
    category: Option<String>,
    #[serde(borrow)]
    text: Cow<'a, str>,
    timestamp: f64,
    url: Option<String>,
    line_number: Option<i64>,
    #[serde(borrow)]
    stack_trace: Option<StackTrace<'a>>,
    network_request_id: Option<String>,
    worker_id: Option<String>,
}

#[derive(Deserialize)]
pub struct IssueAdded<'a> {
    #[serde(borrow)]
    issue: Issue<'a>,
}

#[derive(Deserialize)]
struct Issue<'a> {
    #[serde(borrow)]
    code: Cow<'a, str>,
    #[serde(borrow)]
    details: &'a RawValue,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct IssueDetails {
    cors_issue_details: Option<CorsIssue>,
    mixed_content_issue_details: Option<MixedContent>,
    content_security_policy_issue_details: Option<PolicyIssue>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct CorsIssue {
    is_warning: bool,
    cors_error_status: CorsStatus,
    request: IssueRequest,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct CorsStatus {
    cors_error: String,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct IssueRequest {
    request_id: Option<String>,
    url: String,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct MixedContent {
    resolution_status: String,
    #[serde(rename = "insecureURL")]
    insecure_url: String,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct PolicyIssue {
    #[serde(rename = "blockedURL")]
    blocked_url: Option<String>,
    violated_directive: String,
    is_report_only: bool,
}

impl Announcements {
    /// `Log.entryAdded`. What a late attach replays of failed loads is given back, to be told with the earlier requests.
    pub fn entry(
        &mut self,
        context: &mut Context<'_>,
        requests: &mut Requests,
        sockets: &Sockets,
        added: EntryAdded<'_>,
    ) -> Option<FailedLoad> {
        let entry = added.entry;
        // A dedicated worker's own session says the same.
        if entry.source == "worker" && entry.worker_id.as_deref().is_none_or(|id| context.sessions.has_target(id)) {
            context.counts.folded += 1;
            return None;
        }
        // The document's request says so, and with its whole address.
        if entry.is_about_framing() && !context.sessions.is_earlier(context.session, epoch_millis(entry.timestamp)) {
            context.counts.folded += 1;
            return None;
        }
        if let Some(count) = entry.not_shown() {
            context.counts.log_cut += count;
            return None;
        }
        let url = entry.url.as_deref().unwrap_or_default();
        let identity = Hash::new().with(entry.source.as_bytes()).with(entry.text.as_bytes()).with(url.as_bytes());
        let backfilled = context.first_time("log", entry.timestamp, identity)?;
        let time = epoch_millis(entry.timestamp);
        if entry.source == "network" && entry.text.starts_with("Failed to load resource") {
            let id = entry.network_request_id.clone();
            let load = FailedLoad::of(time, url, &entry.text, id, backfilled, context.page());
            return self.load(context, requests, load);
        }
        let console = entry.console(time, backfilled, context.page());
        if entry.category.as_deref() == Some("cors")
            && let Some(url) = quoted(&entry.text)
        {
            if backfilled {
                return Some(FailedLoad::blocked(time, url, &entry.text, context.page()));
            }
            let (known, url) = (requests.knows_address(url), address(url));
            self.fold_or_hold(context, requests, known, Waiting::Blocked { url, console });
        } else if let Some((url, directive)) = policy(&entry) {
            let load = FailedLoad::forbidden(time, url, directive, backfilled, context.page());
            if backfilled {
                return Some(load);
            }
            // The policy speaks first, the blocked request right after, if there is one.
            requests.note_reason(url, directive);
            self.fold_or_hold(context, requests, false, Waiting::Policy(load));
        } else if entry.text.starts_with("Fetch API cannot load") && entry.text.contains("Content Security Policy") {
            // The policy itself said so.
            context.counts.folded += 1;
        } else if entry.text.starts_with("Refused to ")
            && let Some(url) = quoted(&entry.text)
        {
            let url = address(url);
            let known = requests.has_failed(&url);
            self.fold_or_hold(context, requests, known, Waiting::Refused { url, console });
        } else if entry.text.starts_with("WebSocket connection to '")
            && let Some(url) = quoted(&entry.text)
        {
            if sockets::is_closed_early(&entry.text) {
                context.counts.folded += 1;
                return None;
            }
            let (known, url) = (sockets.has_failed(url), address(url));
            self.fold_or_hold(context, requests, known, Waiting::Socket { url, console });
        } else {
            self.remember(&console.message);
            context.tell(Event::Console(console));
        }
        None
    }

    /// `Audits.issueAdded`.
    pub fn issue(&mut self, context: &mut Context<'_>, requests: &mut Requests, added: &IssueAdded<'_>) -> Option<()> {
        if !matches!(&*added.issue.code, "CorsIssue" | "MixedContentIssue" | "ContentSecurityPolicyIssue") {
            return Some(());
        }
        let details: IssueDetails = serde_json::from_str(added.issue.details.get()).ok()?;
        let (url, request, level, message) = details.told()?;
        let (url, message) = (address(&url), shortened(&message, super::format::MAX_MESSAGE));
        let identity = Hash::new().with(added.issue.details.get().as_bytes());
        // Issues have no time; each is replayed by every attach, so each is told once.
        if !context.first_ever("issue", identity) {
            return Some(());
        }
        let known = request.is_some_and(|id| requests.knows(&id)) || self.is_told(requests, &url);
        let (time, speaker, page) = (context.now, Speaker::Browser, context.page());
        let (stack, causes) = Default::default();
        let console = Console { time, level, speaker, message, stack, causes, page, backfilled: false };
        self.fold_or_hold(context, requests, known, Waiting::Issue { url, console });
        Some(())
    }

    /// The page heard of something that failed. Mostly a request or the worker itself tells it too, and better.
    pub fn failure(&mut self, context: &mut Context<'_>, requests: &mut Requests, failure: PageFailure) {
        let (time, page) = (context.now, context.page());
        let said = |level, speaker, message: &str, stack| {
            let message = shortened(message, super::format::MAX_MESSAGE);
            Console { time, level, speaker, message, stack, causes: Vec::new(), page, backfilled: false }
        };
        let what = match failure {
            PageFailure::Element { element, url } => {
                let what = match element.as_str() {
                    "video" => "a film cannot be played",
                    "audio" => "a sound cannot be played",
                    _ => "an image cannot be shown",
                };
                let message = format!(
                    "{what}, its data is broken or of a kind the browser does not know: {}",
                    cut(url.clone(), 200)
                );
                let console = said(Level::Warning, Speaker::Browser, &message, Vec::new());
                Waiting::Broken { url: address(&url), console }
            }
            PageFailure::Worker { message, file, line, column } => {
                let message = message.strip_prefix("Uncaught ").unwrap_or(&message);
                let stack = vec![frame(&file, line - 1, column - 1, "")];
                Waiting::Worker { console: said(Level::Error, Speaker::Exception, message, stack) }
            }
            PageFailure::Database { database, error } => {
                let message = format!("IndexedDB undid a transaction of {}: {error}", cut(database, 100));
                let console = said(Level::Warning, Speaker::Browser, &message, Vec::new());
                return context.tell(Event::Console(console));
            }
        };
        self.fold_or_hold(context, requests, false, what);
    }

    /// What waited long enough, or belongs to a session that ends.
    pub fn tick(
        &mut self,
        context: &mut Context<'_>,
        requests: &mut Requests,
        others: &Others<'_>,
        ended: Option<&str>,
    ) -> Vec<(String, Event)> {
        let mut told = Vec::new();
        let mut index = 0;
        while let Some(held) = self.held.get(index) {
            let known = self.is_known(requests, others, held);
            let due = known || held.until <= context.now || ended == Some(held.session.as_str());
            if !due {
                index += 1;
                continue;
            }
            let Some(held) = self.held.remove(index) else { break };
            match known {
                true => context.counts.folded += 1,
                false => told.push((held.session, self.event(requests, held.what))),
            }
        }
        told
    }

    /// How many of what waits are failures that only the page heard, so far.
    pub fn held(&self) -> usize {
        let is_pages = |held: &&Held| matches!(held.what, Waiting::Broken { .. } | Waiting::Worker { .. });
        self.held.iter().filter(is_pages).count()
    }

    /// Whether anything waits.
    pub fn pending(&self) -> bool {
        !self.held.is_empty()
    }

    fn load(&mut self, context: &mut Context<'_>, requests: &mut Requests, load: FailedLoad) -> Option<FailedLoad> {
        if load.backfilled && !load.request.as_deref().is_some_and(|id| requests.knows(id)) {
            return Some(load);
        }
        let known = load.request.as_deref().is_some_and(|id| requests.knows(id));
        self.fold_or_hold(context, requests, known, Waiting::Load(load));
        None
    }

    fn fold_or_hold(&mut self, context: &mut Context<'_>, requests: &mut Requests, known: bool, what: Waiting) {
        if known {
            context.counts.folded += 1;
        } else if self.held.len() >= MAX_HELD {
            let event = self.event(requests, what);
            context.tell(event);
        } else {
            // A request that was refused may be told only when its body does not come.
            let grace = if matches!(what, Waiting::Broken { .. }) { BROKEN_MS } else { GRACE_MS };
            let (session, until) = (context.session.to_owned(), Timestamp(context.now.0 + grace));
            self.held.push_back(Held { session, until, what });
        }
    }

    fn is_known(&self, requests: &Requests, others: &Others<'_>, held: &Held) -> bool {
        match &held.what {
            Waiting::Load(load) => match &load.request {
                Some(id) => requests.knows(id),
                None => requests.knows_address(&load.url),
            },
            Waiting::Blocked { url, .. } => requests.knows_address(url),
            // A blocked request that is told takes the reason with it.
            Waiting::Policy(load) => !requests.has_reason(&load.url),
            Waiting::Refused { url, .. } => requests.has_failed(url),
            Waiting::Socket { url, .. } => others.sockets.has_failed(url),
            Waiting::Broken { url, .. } => requests.has_failed(url) || requests.is_mistaken(url),
            Waiting::Worker { console } => others.voices.has_thrown(&console.message, console.time),
            Waiting::Issue { url, .. } => self.is_told(requests, url),
        }
    }

    /// Whether a request or a message already says what an issue says about an address.
    fn is_told(&self, requests: &Requests, url: &str) -> bool {
        requests.knows_address(url) || self.texts.iter().any(|text| text.contains(url))
    }

    fn event(&mut self, requests: &mut Requests, what: Waiting) -> Event {
        match what {
            Waiting::Policy(load) => {
                requests.forbidden(&load.url);
                Event::Network(load.into_request())
            }
            Waiting::Load(load) => Event::Network(load.into_request()),
            Waiting::Blocked { console, .. }
            | Waiting::Refused { console, .. }
            | Waiting::Socket { console, .. }
            | Waiting::Issue { console, .. }
            | Waiting::Broken { console, .. }
            | Waiting::Worker { console } => {
                self.remember(&console.message);
                Event::Console(console)
            }
        }
    }

    fn remember(&mut self, text: &str) {
        self.texts.push_back(shortened(text, 1_000));
        if self.texts.len() > MAX_TEXTS {
            self.texts.pop_front();
        }
    }
}

impl LogEntry<'_> {
    /// How many older entries the browser has thrown away, which it says before it tells the others again.
    fn not_shown(&self) -> Option<u64> {
        let count = self.text.strip_suffix(" log entries are not shown.").filter(|_| self.source == "other")?;
        count.parse().ok()
    }

    /// Whether it says that a document does not let itself be shown in a frame.
    fn is_about_framing(&self) -> bool {
        let is_refused = self.text.starts_with("Refused to display '") && self.text.contains(" in a frame ");
        is_refused || self.text.starts_with("Framing '")
    }

    fn console(&self, time: Timestamp, backfilled: bool, page: Option<String>) -> Console {
        let level = match (&*self.source, &*self.level) {
            ("violation" | "recommendation", _) | (_, "verbose") => Level::Debug,
            (_, "warning") => Level::Warning,
            (_, "error") => Level::Error,
            _ => Level::Info,
        };
        let mut stack = self.stack_trace.as_ref().map(StackTrace::frames).unwrap_or_default();
        if let (true, Some(url), Some(line)) = (stack.is_empty(), self.url.as_deref(), self.line_number) {
            // Entries know no column.
            stack.push(frame(url, line, -1, ""));
        }
        // A worker that is not attached speaks through its page.
        let speaker = if self.source == "worker" { Speaker::Page } else { Speaker::Browser };
        // Advice about an element ends with a place for it that only DevTools can fill.
        let text = self.text.trim_end_matches("%o").trim_end();
        let message = shortened(text, super::format::MAX_MESSAGE);
        Console { time, level, speaker, message, stack, causes: Vec::new(), page, backfilled }
    }
}

impl IssueDetails {
    /// The address it is about, the request, how serious it is, and what to say.
    fn told(self) -> Option<(String, Option<String>, Level, String)> {
        let serious = |harmless: bool| if harmless { Level::Warning } else { Level::Error };
        if let Some(cors) = self.cors_issue_details {
            let message =
                format!("request to {} blocked by CORS: {}", cors.request.url, cors.cors_error_status.cors_error);
            return Some((cors.request.url, cors.request.request_id, serious(cors.is_warning), message));
        }
        if let Some(mixed) = self.mixed_content_issue_details {
            let blocked = mixed.resolution_status == "MixedContentBlocked";
            let message = format!("mixed content: {} ({})", mixed.insecure_url, mixed.resolution_status);
            return Some((mixed.insecure_url, None, serious(!blocked), message));
        }
        let policy = self.content_security_policy_issue_details?;
        let url = policy.blocked_url.unwrap_or_default();
        let what = if url.is_empty() { "inline code" } else { url.as_str() };
        let verb = if policy.is_report_only { "would block" } else { "blocked" };
        let message = format!("the content security policy {verb} {what}: {}", policy.violated_directive);
        // Without an address, the directive is what a message about the same would name.
        let key = if url.is_empty() { policy.violated_directive } else { url };
        Some((key, None, serious(policy.is_report_only), message))
    }
}

/// The address a content security policy blocked, and the directive that did it.
fn policy<'a>(entry: &'a LogEntry<'_>) -> Option<(&'a str, &'a str)> {
    let blocked = entry.source == "security" && entry.level == "error";
    let (_, rest) = entry.text.split_once("Content Security Policy directive: \"").filter(|_| blocked)?;
    Some((quoted(&entry.text)?, rest.split('"').next()?))
}

/// The first address in single quotes: `Access to fetch at 'http://...' from origin`.
fn quoted(text: &str) -> Option<&str> {
    text.split('\'').nth(1).filter(|inner| inner.contains("://"))
}
