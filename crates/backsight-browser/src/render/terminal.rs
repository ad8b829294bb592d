//! Changes for a person at a terminal: the verdict first, then what led to it in sections of aligned rows, then what was
//! not seen.

use backsight_core::Timestamp;

use super::escape::safe;
use super::words::{self, clock, duration, thousands};
use super::wrap::wrap;
use super::{Line, Role, Span, Style, WIDEST};
use crate::changes::matters;
use crate::report::{
    ActionEntry, ActionsChanges, Changes, ConsoleChanges, DegradedEntry, DisconnectionEntry, FailureEntry,
    MessageEntry, NetworkChanges, RecoveredEntry, Severity, WebsocketChanges,
};

/// What stands before the rows of a section.
const LABEL: usize = 9;

/// See [`super::text`].
pub fn changes(changes: &Changes, style: Style) -> Vec<Line> {
    let mut page = Page { width: style.width.clamp(20, WIDEST), lines: Vec::new(), quiet: Vec::new() };
    verdict(&mut page, changes);
    if let Some(changes) = &changes.console {
        page.section("Console", changes.total_new, console(changes));
    }
    if let Some(changes) = &changes.network {
        page.section("Network", changes.total_new, network(changes));
    }
    if let Some(changes) = &changes.websocket {
        page.section("WebSockets", changes.total_new, websocket(changes));
    }
    if let Some(acted) = &changes.actions {
        page.section("Actions", acted.total_new, actions(acted, changes.from));
    }
    page.empty();
    let mut footer = footer(changes);
    if !page.quiet.is_empty() {
        footer.insert(0, note(Role::Dim, "no news", words::list(&page.quiet)));
    }
    page.rows(footer);
    page.lines
}

/// How a severity is marked.
pub fn mark(severity: Severity) -> (Role, &'static str) {
    match severity {
        Severity::Clean => (Role::Good, "✓ clean"),
        Severity::Unknown => (Role::Warning, "? unknown"),
        Severity::Warning => (Role::Warning, "! warning"),
        Severity::Error => (Role::Error, "✗ error"),
    }
}

fn verdict(page: &mut Page, changes: &Changes) {
    let (role, mark) = mark(changes.severity);
    page.wrapped(vec![Span::new(role, mark), Span::new(Role::Plain, format!("  {}", safe(&changes.summary)))], 2);
    let window = words::window(changes.from, changes.to);
    let since = format!("  since {}: {}, {window}", safe(&changes.checkpoint), duration(changes.duration_ms));
    page.wrapped(vec![Span::new(Role::Dim, since)], 2);
}

/// A row: what kind of thing, how often, what.
struct Row {
    role: Role,
    label: &'static str,
    count: Option<u64>,
    body: Vec<Span>,
}

impl Row {
    /// A row of what was seen and remarks on it.
    fn new(role: Role, label: &'static str, count: Option<u64>, what: String, remarks: &[String]) -> Row {
        let mut body = vec![Span::new(Role::Plain, what)];
        if !remarks.is_empty() {
            body.push(Span::new(Role::Dim, format!("  {}", remarks.join(" · "))));
        }
        Row { role, label, count, body }
    }
}

fn console(changes: &ConsoleChanges) -> Vec<Row> {
    let message = |role, label, entry: &MessageEntry| {
        let source = (!entry.source.is_empty()).then(|| safe(&entry.source));
        let about = source.into_iter().chain(words::causes(entry, safe)).chain(words::remarks(entry));
        let remarks: Vec<String> = about.chain(id(&entry.id)).collect();
        Row::new(role, label, Some(entry.count), safe(&entry.message), &remarks)
    };
    let errors = changes.errors.iter().map(|entry| message(Role::Error, "error", entry));
    let warnings = changes.warnings.iter().map(|entry| message(Role::Warning, "warning", entry));
    let handled = changes.handled_later.iter().map(|entry| message(Role::Good, "handled", entry));
    errors.chain(warnings).chain(handled).collect()
}

fn network(changes: &NetworkChanges) -> Vec<Row> {
    let mut rows: Vec<Row> = changes.failures.iter().map(|entry| failure(Role::Error, "failed", entry)).collect();
    rows.extend(changes.still_failing.iter().map(|entry| failure(Role::Warning, "still", entry)));
    rows.extend(changes.pending.iter().map(|entry| {
        let what = format!("{} {}", safe(&entry.method), safe(&entry.path));
        Row::new(
            Role::Warning,
            "waits",
            Some(entry.count),
            what,
            &[format!("no answer for {}", duration(entry.age_ms))],
        )
    }));
    rows.extend(changes.mistyped.iter().map(|entry| failure(Role::Warning, "mistyped", entry)));
    rows.extend(changes.degraded.iter().map(|entry| {
        let DegradedEntry { id: own, method, path, duration_ms, baseline_ms } = entry;
        let what = format!("{} {} → {}", safe(method), safe(path), milliseconds(*duration_ms));
        Row::new(Role::Warning, "slow", None, what, &with_id(format!("was {}", milliseconds(*baseline_ms)), own))
    }));
    rows.extend(changes.recovered.iter().map(|entry| {
        let RecoveredEntry { id: own, method, path, status, previous_status } = entry;
        let what = format!("{} {} → {}", safe(method), safe(path), answer(*status));
        Row::new(Role::Good, "recovered", None, what, &with_id(format!("was {}", answer(*previous_status)), own))
    }));
    rows.extend(changes.new_endpoints.iter().map(|endpoint| Row::new(Role::Dim, "new", None, safe(endpoint), &[])));
    rows
}

fn failure(role: Role, label: &'static str, entry: &FailureEntry) -> Row {
    let what = format!("{} {} → {}", safe(&entry.method), safe(&entry.path), answer(entry.status));
    let mut remarks = vec![match entry.previous_status {
        Some(previous) => format!("was {}", answer(previous)),
        None => "first seen".to_owned(),
    }];
    remarks.extend(entry.now.map(|now| format!("now {}", answer(now))));
    remarks.extend(entry.variants.map(|variants| format!("and {} more like it", variants.saturating_sub(1))));
    if !entry.detail.is_empty() {
        remarks.push(safe(&entry.detail));
    }
    remarks.extend(id(&entry.id));
    Row::new(role, label, Some(entry.count), what, &remarks)
}

/// The id of an entry, which `backsight browser entry` takes.
fn id(id: &str) -> Option<String> {
    (!id.is_empty()).then(|| safe(id))
}

fn with_id(remark: String, own: &str) -> Vec<String> {
    [remark].into_iter().chain(id(own)).collect()
}

/// A status, in words when there is none.
fn answer(status: u16) -> String {
    if status == 0 { "no answer".to_owned() } else { status.to_string() }
}

fn milliseconds(number: u64) -> String {
    duration(i64::try_from(number).unwrap_or(i64::MAX))
}

fn websocket(changes: &WebsocketChanges) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    rows.extend(changes.errors.iter().map(|entry| {
        let mut remarks = with_id(safe(&entry.message), &entry.id);
        remarks.extend(entry.recovered.then(|| "connected since".to_owned()));
        let role = if entry.recovered { Role::Dim } else { Role::Error };
        Row::new(role, "error", Some(entry.count), safe(&entry.url), &remarks)
    }));
    rows.extend(changes.disconnections.iter().map(|entry| {
        let DisconnectionEntry { id: own, url, close_code, close_reason, by, count, reconnected } = entry;
        let mut remarks: Vec<String> = close_code.iter().map(u16::to_string).collect();
        remarks.extend(by.map(|by| format!("by the {}", by.as_str())));
        remarks.extend((!close_reason.is_empty()).then(|| safe(close_reason)));
        remarks.extend(reconnected.then(|| "connected again".to_owned()));
        remarks.extend(id(own));
        let role = if matters(entry) { Role::Warning } else { Role::Dim };
        Row::new(role, "closed", Some(*count), safe(url), &remarks)
    }));
    rows.extend(changes.connections.iter().map(|entry| {
        let remarks: Vec<String> = id(&entry.id).into_iter().collect();
        Row::new(Role::Dim, "opened", Some(entry.count), safe(&entry.url), &remarks)
    }));
    rows
}

fn actions(changes: &ActionsChanges, from: Timestamp) -> Vec<Row> {
    let row = |entry: &ActionEntry| {
        let ActionEntry { id: own, kind, target, detail, after_ms, count, frame } = entry;
        let mut remarks: Vec<String> = Vec::new();
        remarks.extend((!detail.is_empty()).then(|| safe(detail)));
        remarks.extend(frame.as_ref().map(|frame| format!("in {}", safe(frame))));
        remarks.push(clock(Timestamp(from.0.saturating_add(*after_ms))));
        remarks.extend(id(own));
        Row::new(Role::Plain, words::action(*kind), Some(count.unwrap_or(1)), safe(target), &remarks)
    };
    changes.actions.iter().map(row).collect()
}

fn note(role: Role, label: &'static str, what: String) -> Row {
    Row { role, label, count: None, body: vec![Span::new(Role::Dim, what)] }
}

/// What was not shown, not seen, and who watched.
fn footer(changes: &Changes) -> Vec<Row> {
    let mut rows: Vec<Row> = changes.gap.iter().map(|gap| note(Role::Warning, "gap", words::gap(gap, safe))).collect();
    if changes.in_flight > 0 {
        let what = format!("{} request(s), how they end is not known yet", thousands(changes.in_flight));
        rows.push(note(Role::Warning, "in flight", what));
    }
    if changes.held > 0 {
        let what = format!("{} message(s) for a moment", thousands(changes.held));
        rows.push(note(Role::Warning, "held back", what));
    }
    if !changes.dropped.is_empty() {
        let what = format!("details are gone, counts are exact: {}", words::by_category(&changes.dropped));
        rows.push(note(Role::Warning, "dropped", what));
    }
    if !changes.omitted.is_empty() {
        let omitted = words::list(changes.omitted.iter().map(|(list, count)| format!("{} {count}", safe(list))));
        rows.push(note(Role::Dim, "omitted", omitted));
    }
    if !changes.suppressed.is_empty() {
        rows.push(note(Role::Dim, "noise", words::by_category(&changes.suppressed)));
    }
    let not_asked = words::not_asked(changes);
    if !not_asked.is_empty() {
        rows.push(note(Role::Dim, "not asked", words::list(not_asked)));
    }
    if let Some(waited) = &changes.waited {
        rows.push(note(Role::Dim, "waited", words::waited(waited)));
    }
    let watched = if changes.coverage.attached { Role::Dim } else { Role::Warning };
    rows.push(note(watched, "watching", words::coverage(&changes.coverage, safe)));
    rows
}

struct Page {
    width: usize,
    lines: Vec<Line>,
    /// Sections in which nothing happened; they share a line.
    quiet: Vec<&'static str>,
}

impl Page {
    fn empty(&mut self) {
        self.lines.push(Line::default());
    }

    fn wrapped(&mut self, spans: Vec<Span>, indent: usize) {
        self.lines.extend(wrap(spans, self.width, indent));
    }

    fn section(&mut self, name: &'static str, total: u64, rows: Vec<Row>) {
        if total == 0 && rows.is_empty() {
            return self.quiet.push(name);
        }
        self.empty();
        let total = format!("  {} new", thousands(total));
        self.wrapped(vec![Span::new(Role::Heading, name), Span::new(Role::Dim, total)], 2);
        self.rows(rows);
    }

    /// Rows with their counts one below the other.
    fn rows(&mut self, rows: Vec<Row>) {
        let counts = rows.iter().filter_map(|row| row.count).map(|count| thousands(count).len() + 1);
        let column = counts.max().unwrap_or(0);
        for row in rows {
            let count = row.count.map(|count| format!("{}×", thousands(count))).unwrap_or_default();
            let gap = if column > 0 { "  " } else { "" };
            let mut spans = vec![
                Span::new(row.role, format!("  {:<LABEL$}", row.label)),
                Span::new(Role::Plain, format!("{gap}{count:>column$}  ")),
            ];
            let indent = 2 + LABEL + gap.len() + column + 2;
            spans.extend(row.body);
            self.wrapped(spans, indent);
        }
    }
}
