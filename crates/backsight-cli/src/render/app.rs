//! How the app is, for a person. What the browser lane renders is only painted here; it is safe to print as it comes.

use std::fmt::Display;

use anstyle::Style;
use backsight::Topic;
use backsight::browser::baseline::{BaselineEntry, Comparison, DeviationKind};
use backsight::browser::cdp::{PageState, Watching};
use backsight::browser::entry::LogPage;
use backsight::browser::event::{Category, Level};
use backsight::browser::noise::{Rule, Suggestion};
use backsight::browser::render::{self, Line, Role, WIDEST};
use backsight::browser::report::{CheckpointEntry, Severity};
use backsight::browser::{Health, Verdict};
use backsight::report::{AllChanges, BrowserStatus, CheckpointMade, RuleEntry};
use backsight_core::Timestamp;

use crate::page::{GREEN, Page, RED, Sheet, YELLOW};
use crate::render::debug;
use crate::words::{age, count, enumerate, join, local};

/// What happened.
pub fn changes(page: &mut Page, changes: &AllChanges) {
    lines(&mut page.data, &render::text(&changes.app, layout()));
    let others = changes.lines();
    if !others.is_empty() {
        page.data.line("");
        others.iter().for_each(|line| page.data.line(render::safe(line)));
    }
}

/// What happened, one by one.
pub fn log(page: &mut Page, log: &LogPage) {
    if log.rows.is_empty() {
        page.data.line("Nothing that is kept fits.");
    }
    log.rows.iter().for_each(|row| page.data.line(render::log_row(row)));
    if let (older @ 1.., Some(cursor)) = (log.older, &log.cursor) {
        page.note(format_args!("{older} older: add `--cursor {cursor}`"));
    }
    if !log.dropped.is_empty() {
        let dropped = log.dropped.iter().map(|(category, count)| format!("{} {count}", category.as_str()));
        page.note(format_args!("no longer kept: {}", dropped.collect::<Vec<String>>().join(", ")));
    }
}

/// The checkpoints, as the story of a session.
pub fn checkpoints(page: &mut Page, entries: &[CheckpointEntry]) {
    lines(&mut page.data, &render::checkpoints(entries, layout()));
}

/// A checkpoint that was made.
pub fn created(page: &mut Page, made: &CheckpointMade) {
    let CheckpointMade { checkpoint, evicted, advice, .. } = made;
    let verdict = verdict(&page.data, checkpoint.severity);
    let summary = page.data.dim(format_args!("({})", render::safe(&checkpoint.summary)));
    page.data.line(format_args!("{} → {verdict} {summary}", page.data.bold(render::safe(&checkpoint.name))));
    if let Some(evicted) = evicted {
        page.warning(format_args!("`{}`, the oldest checkpoint, had to make room", render::safe(evicted)));
    }
    if let Some(advice) = advice {
        page.note(render::safe(advice));
    }
}

/// Whether the app is well.
pub fn health(page: &mut Page, health: &Health) {
    let (mark, style) = match health.verdict {
        Verdict::Healthy => ("✓ healthy", GREEN),
        Verdict::Degraded => ("! degraded", YELLOW),
        Verdict::Broken => ("✗ broken", RED),
        Verdict::Unknown => ("? unknown", YELLOW),
    };
    let mark = page.data.paint(style.bold(), mark);
    page.data.line(format_args!("{mark}: {}", render::safe(&health.summary)));
    for reason in &health.reasons {
        page.data.line(format_args!("  - {}", render::safe(reason)));
    }
    if let Some(more) = health.more_reasons {
        page.data.line(format_args!("  and {} more", count(more as u64, "reason")));
    }
    let watching: Vec<String> = health.coverage.watching.iter().map(|label| render::safe(label)).collect();
    let watched = if health.coverage.attached { enumerate(&watching) } else { "nobody watches now".to_owned() };
    let since = format!("since {} ({}); {watched}", render::safe(&health.checkpoint), local(health.from));
    let since = page.data.dim(since);
    page.data.line(since);
    for gap in &health.gap {
        let until = gap.to.map_or_else(|| "now".to_owned(), local);
        let said = format!("not seen: {} to {until}: {}", local(gap.from), render::safe(&gap.reason));
        let said = page.data.dim(said);
        page.data.line(said);
    }
}

/// The noise rules, those that were added first.
pub fn rules(page: &mut Page, rules: &[RuleEntry]) {
    let (builtin, added): (Vec<&RuleEntry>, Vec<&RuleEntry>) = rules.iter().partition(|entry| entry.rule.builtin);
    if added.is_empty() {
        page.data.line("No rules were added.");
    } else {
        page.data.line(page.data.bold("Added"));
        list(&mut page.data, &added);
    }
    let on = builtin.iter().filter(|entry| entry.rule.enabled).count();
    page.data.line(page.data.bold(format_args!("Built in ({on} of {} on)", builtin.len())));
    list(&mut page.data, &builtin);
}

/// Rules that could be added, as they are typed.
pub fn suggestions(page: &mut Page, suggestions: &[Suggestion]) {
    if suggestions.is_empty() {
        return;
    }
    page.data.line(page.data.bold("Could be added"));
    for Suggestion { rule, count, .. } in suggestions {
        let text = rule.text.as_deref().unwrap_or_default().replace('\'', "'\\''");
        page.data.line(format_args!("  backsight noise add --level warning --text '{text}'   said {count} times"));
    }
}

fn list(sheet: &mut Sheet, entries: &[&RuleEntry]) {
    let width = entries.iter().map(|entry| entry.rule.id.chars().count()).max().unwrap_or(0).min(40);
    for entry in entries {
        let RuleEntry { rule, suppressed } = entry;
        let state = if rule.enabled { sheet.paint(GREEN, "on ") } else { sheet.paint(YELLOW, "off") };
        let conditions = if rule.builtin { String::new() } else { conditions(rule) };
        let reason = render::safe(&rule.reason);
        let kept_out = if *suppressed > 0 { format!("[{suppressed} kept out]") } else { String::new() };
        let said = join(&[&conditions, &sheet.dim(reason), &kept_out]);
        sheet.line(format_args!("  {state} {:<width$}  {said}", render::safe(&rule.id)));
    }
}

/// A rule that was added or switched.
pub fn rule(page: &mut Page, what: &str, rule: &Rule) {
    let id = page.data.bold(render::safe(&rule.id));
    page.data.line(format_args!("{what} {id}: {}", conditions(rule)));
}

fn conditions(rule: &Rule) -> String {
    let conditions = &rule.conditions;
    let mut said: Vec<String> = Vec::new();
    let categories: Vec<&str> = conditions.categories.iter().map(|category| category.as_str()).collect();
    said.extend((!categories.is_empty()).then(|| categories.join(", ")));
    said.extend(conditions.level.map(|level| format!("{} or less", level_word(level))));
    let pattern = |name: &str, pattern: &Option<String>| {
        let around = if conditions.plain { '"' } else { '/' };
        pattern.as_ref().map(|pattern| format!("{name} {around}{}{around}", render::safe(pattern)))
    };
    said.extend(pattern("text", &conditions.text));
    said.extend(pattern("source", &conditions.source));
    said.extend(pattern("url", &conditions.url));
    said.extend(conditions.method.as_ref().map(|method| format!("method {}", render::safe(method))));
    said.extend(conditions.status.map(|status| format!("status {status}")));
    said.join(", ")
}

/// As it is typed.
pub fn level_word(level: Level) -> &'static str {
    match level {
        Level::Debug => "debug",
        Level::Info => "info",
        Level::Warning => "warning",
        Level::Error => "error",
    }
}

/// The baselines.
pub fn baselines(page: &mut Page, baselines: &[BaselineEntry], now: Timestamp) {
    for entry in baselines {
        baseline(page, "", entry, now);
    }
}

/// One baseline.
pub fn baseline(page: &mut Page, what: &str, entry: &BaselineEntry, now: Timestamp) {
    let name = page.data.bold(render::safe(&entry.name));
    let knows = enumerate(&[
        count(entry.endpoints as u64, "endpoint"),
        count(entry.known_messages as u64, "known message"),
        count(entry.sockets as u64, "socket"),
    ]);
    let when = page.data.dim(format_args!("({})", age(entry.created, now)));
    page.data.line(join(&[what, &name, &format!("{knows} {when}")]));
}

/// How the app differs from a baseline.
pub fn comparison(page: &mut Page, comparison: &Comparison, now: Timestamp) {
    let verdict = verdict(&page.data, comparison.severity);
    let against = page.data.dim(format_args!(
        "(against {}, saved {})",
        render::safe(&comparison.baseline),
        age(comparison.created, now)
    ));
    page.data.line(format_args!("{verdict}: {} {against}", render::safe(&comparison.summary)));
    for deviation in &comparison.deviations {
        let (kind, style) = deviation_word(deviation.kind);
        let kind = page.data.paint(style, format_args!("{kind:<14}"));
        let differs = match (deviation.expected.as_str(), deviation.actual.as_str()) {
            ("", "") => String::new(),
            ("", actual) => format!(": {}", render::safe(actual)),
            (expected, "") => format!(": expected {}", render::safe(expected)),
            (expected, actual) => format!(": expected {}, is {}", render::safe(expected), render::safe(actual)),
        };
        page.data.line(format_args!("  {kind} {}{differs}", render::safe(&deviation.subject)));
    }
    if let Some(omitted) = comparison.omitted {
        page.data.line(format_args!("  and {} more", omitted));
    }
    if comparison.endpoints_not_seen > 0 {
        let unseen = count(comparison.endpoints_not_seen as u64, "endpoint");
        page.note(format_args!("{unseen} of the baseline were not requested since, so nothing is known of them"));
    }
}

fn deviation_word(kind: DeviationKind) -> (&'static str, Style) {
    match kind {
        DeviationKind::NewError => ("new error", RED),
        DeviationKind::Failing => ("failing", RED),
        DeviationKind::Status => ("status", YELLOW),
        DeviationKind::Shape => ("shape", YELLOW),
        DeviationKind::Slower => ("slower", YELLOW),
        DeviationKind::SocketMissing => ("socket missing", YELLOW),
        DeviationKind::NewWarning => ("new warning", YELLOW),
        DeviationKind::Improved => ("improved", GREEN),
    }
}

/// Who watches, from the answer on the wire.
pub fn status(page: &mut Page, status: &BrowserStatus) {
    if let Some(browser) = &status.browser {
        watched(page, browser);
    }
    let safe = |texts: &[String]| -> Vec<String> { texts.iter().map(|text| render::safe(text)).collect() };
    match safe(&status.coverage.watching).as_slice() {
        [] => page.data.line("Nobody watches the app."),
        watching => page.data.line(format_args!("Watching: {}", enumerate(watching))),
    }
    let unseen: Vec<String> = status.coverage.not_watched.iter().map(|one| one.as_str().to_owned()).collect();
    if !unseen.is_empty() {
        page.data.line(format_args!("Nobody watches {}", enumerate(&unseen)));
    }
    let kept = [count(status.checkpoints as u64, "checkpoint"), count(status.baselines as u64, "baseline")];
    page.data.line(page.data.dim(enumerate(&kept)));
}

fn watched(page: &mut Page, browser: &Watching) {
    let name = match render::safe(&browser.browser) {
        name if name.is_empty() => page.data.paint(YELLOW, "a browser that is gone"),
        name => page.data.bold(name),
    };
    let launched = if browser.launched { ", launched here" } else { "" };
    page.data.line(format_args!("{name} at {}{launched}", render::safe(&browser.address)));
    for shown in &browser.pages {
        let state = match shown.state {
            PageState::Watching => "",
            PageState::Crashed => " [crashed]",
            PageState::Dialog => " [dialog]",
            PageState::Unresponsive => " [unresponsive]",
        };
        let state = if state.is_empty() { String::new() } else { page.data.paint(YELLOW, state) };
        let title = page.data.dim(render::safe(&shown.title));
        page.data.line(format_args!("  {}  {title}{state}", render::safe(&shown.url)));
    }
    if browser.not_watched > 0 {
        let pages = count(browser.not_watched as u64, "page");
        page.data.line(format_args!("  {pages} of other origins not watched"));
    }
    let command: Vec<String> = browser.command.iter().map(|word| render::safe(word)).collect();
    debug::started(&mut page.data, &command);
    browser.notes.iter().for_each(|note| page.note(render::safe(note)));
}

/// What is kept and cannot be used.
pub fn warnings(page: &mut Page, warnings: &[String]) {
    warnings.iter().for_each(|warning| page.warning(render::safe(warning)));
}

/// What to do when nobody watches.
pub fn advise(page: &mut Page, attached: bool, served: bool) {
    match (attached, served) {
        (true, _) => {}
        (false, true) => page.hint("let something watch: `backsight browser launch URL`, or `backsight run COMMAND`"),
        (false, false) => {
            page.hint("start `backsight serve`, then `backsight browser launch URL` or `backsight run COMMAND`")
        }
    }
}

fn verdict(sheet: &Sheet, severity: Severity) -> String {
    let style = match severity {
        Severity::Clean => GREEN,
        Severity::Unknown | Severity::Warning => YELLOW,
        Severity::Error => RED,
    };
    sheet.paint(style.bold(), severity.as_str())
}

/// A category as it is typed.
pub fn category(text: &str) -> Result<Category, String> {
    let found = Category::ALL.into_iter().find(|category| category.as_str() == text);
    found.ok_or_else(|| format!("it is one of {}", enumerate(&Category::ALL.map(Category::as_str))))
}

/// A lane or category as it is typed.
pub fn topic(text: &str) -> Result<Topic, String> {
    let found = Topic::ALL.into_iter().find(|topic| topic.as_str() == text);
    found.ok_or_else(|| format!("it is one of {}", enumerate(&Topic::ALL.map(Topic::as_str))))
}

/// A level as it is typed.
pub fn level(text: &str) -> Result<Level, String> {
    const ALL: [Level; 4] = [Level::Debug, Level::Info, Level::Warning, Level::Error];
    ALL.into_iter()
        .find(|level| level_word(*level) == text)
        .ok_or_else(|| format!("it is one of {}", enumerate(&ALL.map(level_word))))
}

/// As wide as the terminal.
fn layout() -> render::Style {
    let asked = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let found = || rustix::termios::tcgetwinsize(std::io::stdout()).ok().map(|size| usize::from(size.ws_col));
    render::Style { width: asked.or_else(found).filter(|columns| *columns > 0).unwrap_or(WIDEST) }
}

fn lines(sheet: &mut Sheet, lines: &[Line]) {
    for line in lines {
        let painted: String = line.spans.iter().map(|span| paint(sheet, span.role, &span.text)).collect();
        sheet.line(painted);
    }
}

fn paint(sheet: &Sheet, role: Role, text: impl Display) -> String {
    match role {
        Role::Error => sheet.paint(RED, text),
        Role::Warning => sheet.paint(YELLOW, text),
        Role::Good => sheet.paint(GREEN, text),
        Role::Heading => sheet.bold(text),
        Role::Dim => sheet.dim(text),
        Role::Plain => text.to_string(),
    }
}
