//! The answer to "what happened since": from groups to a ranked, filtered and bounded list of what matters. How bad it is
//! is decided before anything is filtered or cut.

mod fit;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use backsight_core::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::endpoint;
use crate::event::{Category, Level, Side};
use crate::fingerprint;
use crate::log::{self, Log};
use crate::report::{
    ActionEntry, ActionsChanges, Changes, ConnectionEntry, ConsoleChanges, Coverage, DegradedEntry, DisconnectionEntry,
    FailureEntry, Gap, MessageEntry, NetworkChanges, PendingEntry, RecoveredEntry, Severity, SocketErrorEntry, Waited,
    WebsocketChanges,
};
use crate::request_state::Says;
use crate::telemetry::console::Message;
use crate::telemetry::network;
use crate::telemetry::sockets::{Way, What};
use crate::telemetry::{Telemetry, is_rest};
use crate::under_way::InFlight;
use crate::window::Window;

/// Entries of a list at most.
const CAP: usize = 50;
/// Where the bytes that were cut off long texts are counted.
pub(crate) const TEXT_BYTES: &str = "text_bytes";
/// An endpoint is slow when it takes so many times what it took before,
const SLOWER: u32 = 3;
/// and so many milliseconds longer at least.
const SLOWER_BY: u32 = 100;

/// A dev server that starts again is back within so many milliseconds.
const RESTART_MS: i64 = 3_000;

/// What to leave out by how bad it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Filter {
    /// Nothing.
    #[default]
    All,
    /// What is neither an error nor a warning.
    Warnings,
    /// Everything but errors.
    ErrorsOnly,
}

/// What else an answer depends on.
pub(crate) struct Frame<'a> {
    pub(crate) reference: String,
    pub(crate) from: Timestamp,
    pub(crate) to: Timestamp,
    pub(crate) coverage: Coverage,
    pub(crate) gaps: Vec<Gap>,
    pub(crate) in_flight: InFlight,
    pub(crate) held: u64,
    pub(crate) waited: Option<Waited>,
    pub(crate) include: &'a [Category],
    pub(crate) filter: Filter,
    pub(crate) max_tokens: usize,
}

/// What happened within a window.
pub(crate) fn changes(telemetry: &Telemetry, window: &Window<'_>, frame: Frame<'_>) -> Changes {
    let mut found = Found {
        suppressed: BTreeMap::new(),
        expected: 0,
        log: &telemetry.log,
        home: telemetry.page().map(endpoint::origin),
    };
    let (console, console_counts) = found.console(telemetry, window, frame.from);
    let network = found.network(telemetry, window, &frame.in_flight);
    let in_flight = frame.in_flight.all();
    let mut websocket = found.websocket(telemetry, window, frame.to);
    lost_streams(&mut websocket, &frame.in_flight);
    let actions = found.actions(window, frame.from);
    let mut dropped = BTreeMap::new();
    for category in Category::ALL {
        if let (_, lost @ 1..) = window.totals(category) {
            dropped.insert(category, lost);
        }
    }
    let mut omitted = BTreeMap::new();
    let tables = [
        ("console.groups", telemetry.messages.forgotten()),
        ("network.endpoints", telemetry.endpoints.forgotten()),
        ("websocket.addresses", telemetry.sockets.forgotten()),
    ];
    for (name, forgotten) in tables.into_iter().filter(|(_, table)| table.groups > 0 && window.reaches(table.last)) {
        omitted.insert(name.to_owned(), forgotten.groups);
    }
    let beyond = telemetry.messages.iter().filter(|message| is_rest(message.key) && message.level >= Level::Warning);
    if let together @ 1.. = beyond.map(|message| window.said(message)).sum::<u64>() {
        omitted.insert("console.messages_kept_together".to_owned(), together);
    }
    if let cut @ 1.. = window.cut() {
        omitted.insert(TEXT_BYTES.to_owned(), cut);
    }
    let expected = found.expected;
    let verdict = Verdict { console: console_counts, network: &network, websocket: &websocket, expected };
    let severity = verdict.severity(&frame);
    let summary = verdict.summary(severity, &frame);
    let mut changes = Changes {
        severity,
        summary,
        checkpoint: frame.reference,
        from: frame.from,
        to: frame.to,
        duration_ms: frame.to.0 - frame.from.0,
        console: Some(console),
        network: Some(network),
        websocket: Some(websocket),
        actions: Some(actions),
        suppressed: found.suppressed,
        dropped,
        omitted,
        gap: frame.gaps,
        in_flight,
        held: frame.held,
        waited: frame.waited,
        coverage: frame.coverage,
        token_count: 0,
        est_tokens: 0,
    };
    select(&mut changes, frame.include, frame.filter);
    fit::fit(&mut changes, CAP, frame.max_tokens);
    changes
}

impl Changes {
    /// Cuts the answer to fewer tokens than it was made for, because it is told together with something else.
    pub fn fit_to(&mut self, max_tokens: usize) {
        fit::fit(self, CAP, max_tokens);
    }
}

/// Leaves out what was not asked for.
fn select(changes: &mut Changes, include: &[Category], filter: Filter) {
    let wanted = |category| include.is_empty() || include.contains(&category);
    changes.console = changes.console.take().filter(|_| wanted(Category::Console));
    changes.network = changes.network.take().filter(|_| wanted(Category::Network));
    changes.websocket = changes.websocket.take().filter(|_| wanted(Category::Websocket));
    changes.actions = changes.actions.take().filter(|_| wanted(Category::Actions));
    if filter == Filter::All {
        return;
    }
    if let Some(network) = &mut changes.network {
        network.new_endpoints.clear();
        network.recovered.clear();
    }
    if let Some(websocket) = &mut changes.websocket {
        websocket.connections.clear();
    }
    if let Some(actions) = &mut changes.actions {
        actions.actions.clear();
    }
    if filter == Filter::ErrorsOnly {
        if let Some(console) = &mut changes.console {
            console.warnings.clear();
        }
        if let Some(network) = &mut changes.network {
            network.still_failing.clear();
            network.pending.clear();
            network.mistyped.clear();
            network.degraded.clear();
        }
        if let Some(websocket) = &mut changes.websocket {
            websocket.disconnections.clear();
        }
    }
}

/// What is gathered on the way.
struct Found<'a> {
    suppressed: BTreeMap<Category, u64>,
    /// How many different troubles happened that the baseline knows.
    expected: usize,
    /// Where entries are found in full.
    log: &'a Log,
    /// The origin of the page.
    home: Option<&'a str>,
}

/// How many different errors and warnings were said.
#[derive(Clone, Copy, Default)]
struct Said {
    errors: Counted,
    warnings: Counted,
}

/// Different messages, by whether they were known.
#[derive(Clone, Copy, Default)]
struct Counted {
    new: usize,
    again: usize,
}

impl Counted {
    fn of(said: &[(&Message, u64)], window: &Window<'_>) -> Counted {
        let again = said.iter().filter(|(message, _)| window.is_recurring(message)).count();
        Counted { new: said.len() - again, again }
    }

    fn any(self) -> bool {
        self.new + self.again > 0
    }
}

impl Found<'_> {
    fn suppress(&mut self, category: Category, count: u64) {
        *self.suppressed.entry(category).or_insert(0) += count;
    }

    fn console(&mut self, telemetry: &Telemetry, window: &Window<'_>, from: Timestamp) -> (ConsoleChanges, Said) {
        let mut errors: Vec<(&Message, u64)> = Vec::new();
        let mut warnings = Vec::new();
        let mut handled_later = Vec::new();
        for message in telemetry.messages.iter() {
            if message.level < Level::Warning || !window.reaches(message.last) {
                continue;
            }
            let handled = window.handled(message);
            if handled > 0 && message.noise.is_none() {
                handled_later.push((message, handled));
            }
            match (window.said(message).saturating_sub(handled), &message.noise) {
                (0, _) => {}
                (count, Some(_)) => self.suppress(Category::Console, count),
                (_, None) if window.is_expected(message) => self.expected += 1,
                (count, None) if message.level == Level::Error => errors.push((message, count)),
                (count, None) => warnings.push((message, count)),
            }
        }
        let said = Said { errors: Counted::of(&errors, window), warnings: Counted::of(&warnings, window) };
        let (total_new, _) = window.totals(Category::Console);
        let log = self.log;
        let times = Times { from, load: telemetry.load().map(|(_, time)| time) };
        let list = |said| messages(said, window, times, log);
        let (errors, warnings, handled_later) = (list(errors), list(warnings), list(handled_later));
        (ConsoleChanges { total_new, errors, warnings, handled_later }, said)
    }

    fn network(&mut self, telemetry: &Telemetry, window: &Window<'_>, in_flight: &InFlight) -> NetworkChanges {
        let (total_new, _) = window.totals(Category::Network);
        let pending = in_flight.overdue.iter().map(|(endpoint, (count, age_ms))| PendingEntry {
            method: endpoint.method.clone(),
            path: endpoint.shown(self.home),
            age_ms: *age_ms,
            count: *count,
        });
        let mut found = NetworkChanges { total_new, pending: pending.collect(), ..NetworkChanges::default() };
        let mut first_seen: Vec<&network::Known> = Vec::new();
        let mut known: Vec<&network::Known> =
            telemetry.endpoints.iter().filter(|known| window.reaches(known.last)).collect();
        known.sort_by_key(|known| known.first);
        for known in known {
            let before = window.before(known);
            let counts: Vec<u64> = known.outcomes.iter().map(|counted| window.answered(known, counted)).collect();
            if counts.iter().all(|count| *count == 0) {
                continue;
            }
            let failed = self.failures(known, before, &counts, &mut found);
            let now = known.state.now();
            let path = || known.endpoint.shown(self.home);
            match before {
                Some(before) if before.failing && !now.failing => found.recovered.push(RecoveredEntry {
                    id: self.log.newest(Category::Network, known.key),
                    method: known.endpoint.method.clone(),
                    path: path(),
                    status: now.status,
                    previous_status: before.status,
                }),
                None if !failed && known.noise.is_none() => first_seen.push(known),
                _ => {}
            }
            if known.noise.is_none()
                && let Some(before) = before
                && let Some((earlier, since)) = window.medians(known, &before)
                && since > earlier.saturating_mul(SLOWER)
                && since - earlier >= SLOWER_BY
            {
                found.degraded.push(DegradedEntry {
                    id: self.log.newest(Category::Network, known.key),
                    method: known.endpoint.method.clone(),
                    path: path(),
                    duration_ms: since.into(),
                    baseline_ms: earlier.into(),
                });
            }
        }
        if window.expects() {
            self.expected += found.still_failing.len();
            found.still_failing.clear();
        }
        found.new_endpoints = self.new_endpoints(&first_seen);
        for list in [&mut found.failures, &mut found.still_failing, &mut found.mistyped] {
            *list = folded(std::mem::take(list));
        }
        found
    }

    /// Adds what went wrong at an endpoint; whether anything did.
    fn failures(
        &mut self,
        known: &network::Known,
        before: Option<network::EndpointState>,
        counts: &[u64],
        found: &mut NetworkChanges,
    ) -> bool {
        let now = known.state.now();
        let mut any = false;
        for (counted, count) in known.outcomes.iter().zip(counts) {
            if *count == 0 || counted.outcome.state.says() < Says::Warning {
                continue;
            }
            if counted.noise.is_some() {
                self.suppress(Category::Network, *count);
                continue;
            }
            any = true;
            let status = counted.outcome.status;
            let was_failing_so = before.is_some_and(|before| before.fails_like(counted.outcome));
            let entry = FailureEntry {
                id: self.log.id_of(Category::Network, log::thing(known.key, Some(counted.outcome))),
                method: known.endpoint.method.clone(),
                path: known.endpoint.shown(self.home),
                status,
                previous_status: before.map(|before| before.status),
                count: *count,
                now: Some(now.status).filter(|now| *now != status),
                detail: counted.detail.clone(),
                variants: None,
            };
            match (counted.outcome.is_failure(), was_failing_so, now.failing) {
                (false, ..) => found.mistyped.push(entry),
                (true, false, _) => found.failures.push(entry),
                (true, true, true) => found.still_failing.push(entry),
                // It recovered, and is told as such.
                (true, true, false) => {}
            }
        }
        any
    }

    /// Endpoints as they are listed: what belongs to the page together, and many that differ in one segment together.
    fn new_endpoints(&self, first_seen: &[&network::Known]) -> Vec<String> {
        let (parts, own): (Vec<&network::Known>, Vec<&network::Known>) =
            first_seen.iter().copied().partition(|known| known.is_static);
        let names: Vec<String> =
            own.iter().map(|known| format!("{} {}", known.endpoint.method, known.endpoint.shown(self.home))).collect();
        let texts: Vec<&str> = names.iter().map(String::as_str).collect();
        let families = endpoint::families(&texts);
        let mut listed = fold(names.iter().cloned().map(Some).collect(), &families, |first, family| {
            format!("{first} and {} more like it", family.len() - 1)
        });
        match parts.len() {
            0 => {}
            1 => listed.push("(a script, style, image or font)".to_owned()),
            many => listed.push(format!("({many} scripts, styles, images or fonts)")),
        }
        listed
    }

    fn websocket(&mut self, telemetry: &Telemetry, window: &Window<'_>, now: Timestamp) -> WebsocketChanges {
        let (total_new, _) = window.totals(Category::Websocket);
        let mut found = WebsocketChanges { total_new, ..WebsocketChanges::default() };
        found.disconnections.extend(lost_dev_servers(telemetry, now).filter(|(_, lasts)| *lasts).map(|(lost, _)| lost));
        for address in telemetry.sockets.iter().filter(|address| window.reaches(address.last)) {
            let opened = window.opened(address);
            let is_noise = |way: &Way| address.noise.is_some() || way.noise.is_some();
            let endings = address.endings.iter().enumerate();
            let endings = endings.map(|(at, way)| (What::Ended(at), way, window.went(address, What::Ended(at), way)));
            let errors = address.errors.iter().enumerate();
            let errors = errors.map(|(at, way)| (What::Failed(at), way, window.went(address, What::Failed(at), way)));
            let some = |(_, _, count): &(What, &Way, u64)| *count > 0;
            let (hidden_endings, endings): (Vec<_>, Vec<_>) =
                endings.filter(some).partition(|(_, way, _)| is_noise(way));
            let (hidden_errors, errors): (Vec<_>, Vec<_>) = errors.filter(some).partition(|(_, way, _)| is_noise(way));
            let hidden = hidden_endings.iter().chain(&hidden_errors).map(|(_, _, count)| count).sum::<u64>();
            let hidden = hidden + if address.noise.is_some() { opened } else { 0 };
            if hidden > 0 {
                self.suppress(Category::Websocket, hidden);
            }
            let url = || address.url.clone();
            let log = self.log;
            let id = |what: What| log.id_of(Category::Websocket, log::thing(address.key, what));
            if opened > 0 && address.noise.is_none() {
                found.connections.push(ConnectionEntry { id: id(What::Opened), url: url(), count: opened });
            }
            found.disconnections.extend(endings.into_iter().map(|(what, way, count)| DisconnectionEntry {
                id: id(what),
                url: url(),
                close_code: way.code,
                close_reason: way.text.clone(),
                by: way.by,
                count,
                reconnected: address.open_now > 0 && opened > 0,
            }));
            let error = |(what, way, count): (What, &Way, u64)| SocketErrorEntry {
                id: id(what),
                url: url(),
                message: way.text.clone(),
                count,
                recovered: address.has_recovered(way),
            };
            found.errors.extend(errors.into_iter().map(error));
        }
        found
    }

    fn actions(&mut self, window: &Window<'_>, from: Timestamp) -> ActionsChanges {
        let (total_new, _) = window.totals(Category::Actions);
        let mut actions: Vec<ActionEntry> = Vec::new();
        for acted in window.actions() {
            if acted.noise {
                self.suppress(Category::Actions, 1);
                continue;
            }
            let action = &acted.action;
            match actions.last_mut() {
                Some(last)
                    if last.kind == action.kind && last.target == action.target && last.frame == action.frame =>
                {
                    last.count = Some(last.count.unwrap_or(1) + 1);
                    last.detail.clone_from(&action.detail);
                    last.id = log::id(Category::Actions, acted.number);
                }
                _ => actions.push(ActionEntry {
                    id: log::id(Category::Actions, acted.number),
                    kind: action.kind,
                    target: action.target.clone(),
                    detail: action.detail.clone(),
                    after_ms: (action.time.0 - from.0).max(0),
                    count: None,
                    frame: action.frame.clone(),
                }),
            }
        }
        ActionsChanges { total_new, actions }
    }
}

/// Many that fail in the same way and differ in one part of the path together.
fn folded(failures: Vec<FailureEntry>) -> Vec<FailureEntry> {
    let name = |entry: &FailureEntry| format!("{} {} {}", entry.status, entry.method, entry.path);
    let names: Vec<String> = failures.iter().map(name).collect();
    let families = endpoint::families(&names.iter().map(String::as_str).collect::<Vec<&str>>());
    let counts: Vec<u64> = failures.iter().map(|entry| entry.count).collect();
    fold(failures.into_iter().map(Some).collect(), &families, |first, family| FailureEntry {
        count: family.iter().map(|at| counts[*at]).sum(),
        variants: Some(family.len()),
        ..first
    })
}

/// What times of messages are compared with.
#[derive(Clone, Copy)]
struct Times {
    /// Where the window begins.
    from: Timestamp,
    /// The latest load of a page.
    load: Option<Timestamp>,
}

impl Times {
    /// When something was said first and last, if that is worth telling.
    fn of(self, message: &Message, count: u64) -> (Option<i64>, Option<i64>) {
        const APART_MS: i64 = 1_000;
        let (first, last) = (message.first_time.0 - self.from.0, message.last_time.0 - self.from.0);
        match count > 1 && last - first.max(0) >= APART_MS {
            true => (Some(first).filter(|first| *first >= 0), Some(last)),
            false => (None, None),
        }
    }
}

/// Messages as they are listed: new ones first, exceptions before what was logged, what was said most often before the rest,
/// and then in the order in which they were first said; many that differ in one word together.
fn messages(mut said: Vec<(&Message, u64)>, window: &Window<'_>, times: Times, log: &Log) -> Vec<MessageEntry> {
    said.sort_by_key(|(message, count)| {
        (window.is_recurring(message), !message.is_exception, Reverse(*count), message.first)
    });
    let templates: Vec<&str> = said.iter().map(|(message, _)| message.template.as_str()).collect();
    let families = fingerprint::families(&templates);
    let entry = |(message, count): &(&Message, u64)| {
        let (after_ms, last_ms) = times.of(message, *count);
        MessageEntry {
            id: log.id_of(Category::Console, log::thing(message.key, ())),
            message: message.said().to_owned(),
            source: message.place.clone(),
            causes: message.causes.clone(),
            more_causes: message.more_causes as u64,
            count: *count,
            after_ms,
            last_ms,
            before_load: times.load.is_some_and(|load| message.last_time < load),
            recurring: window.is_recurring(message),
            variants: None,
        }
    };
    fold(said.iter().map(|said| Some(entry(said))).collect(), &families, |first, family| MessageEntry {
        count: family.iter().map(|at| said[*at].1).sum(),
        recurring: family.iter().all(|at| window.is_recurring(said[*at].0)),
        variants: Some(family.len()),
        ..first
    })
}

/// Puts each family in the place of its first member.
fn fold<T>(mut entries: Vec<Option<T>>, families: &[Vec<usize>], join: impl Fn(T, &[usize]) -> T) -> Vec<T> {
    for family in families {
        let Some((first, rest)) = family.split_first() else { continue };
        if let Some(entry) = entries[*first].take() {
            entries[*first] = Some(join(entry, family));
        }
        rest.iter().for_each(|at| entries[*at] = None);
    }
    entries.into_iter().flatten().collect()
}

/// Dev servers whose connection is lost, and whether that has lasted for longer than a restart takes. What the window of
/// the question is does not matter: as long as it lasts, the page is not what the code says.
fn lost_dev_servers(telemetry: &Telemetry, now: Timestamp) -> impl Iterator<Item = (DisconnectionEntry, bool)> {
    telemetry.sockets.iter().filter_map(move |address| {
        let since = address.dev_server_lost()?;
        let entry = DisconnectionEntry {
            id: String::new(),
            url: address.url.clone(),
            close_code: None,
            close_reason: "the dev server's connection is lost".to_owned(),
            by: None,
            count: 1,
            reconnected: false,
        };
        Some((entry, now.0 - since.0 >= RESTART_MS))
    })
}

/// Adds event streams that are lost, also those that were before the window, unless it tells of the loss itself.
fn lost_streams(websocket: &mut WebsocketChanges, in_flight: &InFlight) {
    for (endpoint, age_ms) in &in_flight.lost {
        let url = endpoint.shown(None);
        if websocket.disconnections.iter().any(|ending| ending.url == url && matters(ending)) {
            continue;
        }
        websocket.disconnections.push(DisconnectionEntry {
            id: String::new(),
            url,
            close_code: None,
            close_reason: format!("the event stream is lost for {} s", age_ms / 1_000),
            by: None,
            count: 1,
            reconnected: false,
        });
    }
}

/// The connection of a dev server that was lost a moment ago: nobody knows yet whether it starts again or is gone.
pub(crate) fn just_lost(telemetry: &Telemetry, now: Timestamp) -> Option<Gap> {
    let from = telemetry.sockets.iter().filter_map(|address| address.dev_server_lost()).min()?;
    let is_new = lost_dev_servers(telemetry, now).all(|(_, lasts)| !lasts);
    let reason = "the dev server's connection was lost a moment ago".to_owned();
    is_new.then_some(Gap { from, to: None, reason })
}

/// Whether a disconnection is worth a warning. A page that is loaded again closes its sockets in order and opens them again,
/// and what the page itself closes in order is no loss; with a code of its own (3000 and above) it says that something is
/// wrong.
pub(crate) fn matters(ending: &DisconnectionEntry) -> bool {
    let in_order = matches!(ending.close_code, Some(1000 | 1001));
    let by_page = ending.by == Some(Side::Page) && ending.close_code.is_none_or(|code| code < 3000);
    // Servers end event streams whenever they like, since every browser connects again.
    !(by_page || ending.reconnected && (in_order || is_stream(ending)))
}

/// Whether it was an event stream and no socket; a WebTransport has such an address too.
pub(crate) fn is_stream(ending: &DisconnectionEntry) -> bool {
    ending.url.starts_with("http") && ending.close_reason.contains("event stream")
}

/// `1 request(s) without an answer (GET /api/slow for 12 s)`
fn waiting(pending: &[PendingEntry]) -> String {
    let count: u64 = pending.iter().map(|entry| entry.count).sum();
    let oldest = pending.iter().max_by_key(|entry| entry.age_ms);
    let oldest = oldest.map(|entry| format!(" ({} {} for {} s)", entry.method, entry.path, entry.age_ms / 1_000));
    format!("{count} request(s) without an answer{}", oldest.unwrap_or_default())
}

/// What decides how bad it is.
struct Verdict<'a> {
    console: Said,
    network: &'a NetworkChanges,
    websocket: &'a WebsocketChanges,
    expected: usize,
}

impl Verdict<'_> {
    fn severity(&self, frame: &Frame<'_>) -> Severity {
        let (network, websocket) = (self.network, self.websocket);
        let broken = websocket.errors.iter().any(|error| !error.recovered);
        if self.console.errors.any() || !network.failures.is_empty() || broken {
            return Severity::Error;
        }
        let unwell = !network.pending.is_empty() || !network.mistyped.is_empty();
        let still = unwell || !network.still_failing.is_empty() || !network.degraded.is_empty();
        if self.console.warnings.any() || still || websocket.disconnections.iter().any(matters) {
            return Severity::Warning;
        }
        // Whoever names a category wants to know about that one.
        let unseen = frame.include.iter().any(|category| frame.coverage.not_watched.contains(category));
        match frame.coverage.attached && frame.gaps.is_empty() && !unseen && frame.held == 0 {
            true => Severity::Clean,
            false => Severity::Unknown,
        }
    }

    fn summary(&self, severity: Severity, frame: &Frame<'_>) -> String {
        let (network, websocket) = (self.network, self.websocket);
        let endings = || websocket.disconnections.iter().filter(|ending| matters(ending));
        let lost = |is_it: &dyn Fn(&DisconnectionEntry) -> bool| endings().filter(|ending| is_it(ending)).count();
        let parts = [
            (self.console.errors.new, "new console error(s)"),
            (self.console.errors.again, "console error(s) again"),
            (network.failures.len(), "network failure(s)"),
            (websocket.errors.iter().filter(|error| !error.recovered).count(), "websocket error(s)"),
            (lost(&|ending| !is_stream(ending)), "websocket disconnection(s)"),
            (lost(&is_stream), "event stream(s) lost"),
            (self.console.warnings.new, "new console warning(s)"),
            (self.console.warnings.again, "console warning(s) again"),
            (network.still_failing.len(), "endpoint(s) still failing"),
            (network.mistyped.len(), "answer(s) of the wrong type"),
            (network.degraded.len(), "slower endpoint(s)"),
            (network.recovered.len(), "endpoint(s) recovered"),
            (websocket.errors.iter().filter(|error| error.recovered).count(), "websocket(s) connected again"),
            (self.expected, "known in the baseline"),
        ];
        let said = parts.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
        let parts: Vec<String> = said.chain(network.pending.first().map(|_| waiting(&network.pending))).collect();
        let found = if parts.is_empty() { "No significant changes".to_owned() } else { parts.join(", ") };
        let doubt = match frame.coverage.attached {
            false => Some("nothing is attached now".to_owned()),
            true if !frame.gaps.is_empty() && severity == Severity::Unknown => {
                let lasting = frame.gaps.iter().find(|gap| gap.to.is_none()).map(|gap| gap.reason.clone());
                Some(lasting.unwrap_or_else(|| "not all of the time was watched".to_owned()))
            }
            true if !frame.coverage.not_watched.is_empty() => {
                let names: Vec<&str> = frame.coverage.not_watched.iter().map(|category| category.as_str()).collect();
                Some(format!("nobody watches {}", names.join(", ")))
            }
            true => None,
        };
        let oldest =
            frame.in_flight.oldest.as_ref().map(|endpoint| format!(" ({} {})", endpoint.method, endpoint.path));
        let within = frame.in_flight.within;
        let in_flight = format!("{within} request(s) are still in flight{}", oldest.unwrap_or_default());
        let in_flight = (within > 0).then_some(in_flight);
        let held = (frame.held > 0).then(|| format!("{} message(s) are held back for a moment", frame.held));
        let doubts: Vec<String> = doubt.into_iter().chain(in_flight).chain(held).collect();
        match (doubts.is_empty(), parts.is_empty()) {
            (false, _) => format!("{found} seen, but {}", doubts.join(" and ")),
            (true, true) => format!("{found}."),
            (true, false) => found,
        }
    }
}
