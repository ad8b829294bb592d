//! Changes in the fewest words that say all of them, for a model. Lines of ours begin at the margin; what comes from the
//! page stands on lines that begin with a blank, so it cannot pass for ours.

use backsight_core::Timestamp;

use super::escape::safe;
use super::words::{self, action, by_category, list};
use crate::report::{
    ActionsChanges, Changes, ConsoleChanges, DegradedEntry, FailureEntry, MessageEntry, NetworkChanges, RecoveredEntry,
    WebsocketChanges,
};

/// See [`super::compact`].
pub fn changes(changes: &Changes) -> String {
    let mut page = Page(String::new());
    page.line(&format!("{}: {}", changes.severity.as_str(), safe(&changes.summary)));
    let Changes { checkpoint, from, to, duration_ms, .. } = changes;
    page.line(&format!("since {} {from} to {} ({duration_ms} ms)", safe(checkpoint), later(*from, *to)));
    page.line(&format!("new: {}", list(totals(changes))));
    if let Some(console) = &changes.console {
        say_console(&mut page, console);
    }
    if let Some(network) = &changes.network {
        say_network(&mut page, network);
    }
    if let Some(websocket) = &changes.websocket {
        say_websocket(&mut page, websocket);
    }
    if let Some(actions) = &changes.actions {
        say_actions(&mut page, actions);
    }
    say_unseen(&mut page, changes);
    page.0
}

/// How much is new, by category.
fn totals(changes: &Changes) -> Vec<String> {
    let totals = [
        ("console", changes.console.as_ref().map(|changes| changes.total_new)),
        ("network", changes.network.as_ref().map(|changes| changes.total_new)),
        ("websocket", changes.websocket.as_ref().map(|changes| changes.total_new)),
        ("actions", changes.actions.as_ref().map(|changes| changes.total_new)),
    ];
    totals.into_iter().filter_map(|(name, total)| Some(format!("{name} {}", total?))).collect()
}

/// The later of two times, without its date when that is the same.
fn later(from: Timestamp, to: Timestamp) -> String {
    let (from, to) = (from.to_string(), to.to_string());
    match (from.split_once('T'), to.split_once('T')) {
        (Some((first_day, _)), Some((last_day, clock))) if first_day == last_day => clock.to_owned(),
        _ => to,
    }
}

struct Page(String);

impl Page {
    fn line(&mut self, text: &str) {
        self.0.push_str(text);
        self.0.push('\n');
    }

    /// A list under its name; nothing when it is empty.
    fn list<T>(&mut self, name: &str, entries: &[T], say: impl Fn(&T) -> String) {
        if !entries.is_empty() {
            self.line(&format!("{name}:"));
        }
        for entry in entries {
            self.line(&format!(" {}", say(entry)));
        }
    }
}

fn say_console(page: &mut Page, changes: &ConsoleChanges) {
    let message = |entry: &MessageEntry| {
        let source = if entry.source.is_empty() { String::new() } else { format!(" @ {}", safe(&entry.source)) };
        let remarks = words::remarks(entry);
        let remarks = if remarks.is_empty() { String::new() } else { format!(" ({})", remarks.join(", ")) };
        let causes = words::causes(entry, safe).map(|causes| format!(", {causes}")).unwrap_or_default();
        format!("{}{}x {}{source}{causes}{remarks}", id(&entry.id), entry.count, safe(&entry.message))
    };
    page.list("errors", &changes.errors, message);
    page.list("warnings", &changes.warnings, message);
    page.list("handled later, no errors any more", &changes.handled_later, message);
}

fn say_network(page: &mut Page, changes: &NetworkChanges) {
    page.list("failures", &changes.failures, failure);
    page.list("still failing", &changes.still_failing, failure);
    page.list("not answered", &changes.pending, |entry| {
        format!("{}x {} {} for {} ms", entry.count, safe(&entry.method), safe(&entry.path), entry.age_ms)
    });
    page.list("of the wrong type", &changes.mistyped, failure);
    page.list("recovered", &changes.recovered, |entry| {
        let RecoveredEntry { id: own, method, path, status, previous_status } = entry;
        format!("{}{status} {} {} was {previous_status}", id(own), safe(method), safe(path))
    });
    page.list("slow", &changes.degraded, |entry| {
        let DegradedEntry { id: own, method, path, duration_ms, baseline_ms } = entry;
        format!("{}{} {} {duration_ms} ms was {baseline_ms} ms", id(own), safe(method), safe(path))
    });
    page.list("new endpoints", &changes.new_endpoints, |endpoint| safe(endpoint));
}

fn failure(entry: &FailureEntry) -> String {
    let FailureEntry { count, status, .. } = entry;
    let mut said = format!("{}{count}x {status} {} {}", id(&entry.id), safe(&entry.method), safe(&entry.path));
    if let Some(variants) = entry.variants {
        said += &format!(" and {} more like it", variants.saturating_sub(1));
    }
    if let Some(previous) = entry.previous_status {
        said += &format!(" was {previous}");
    }
    if let Some(now) = entry.now {
        said += &format!(" now {now}");
    }
    if !entry.detail.is_empty() {
        said += &format!(": {}", safe(&entry.detail));
    }
    said
}

fn say_websocket(page: &mut Page, changes: &WebsocketChanges) {
    page.list("socket errors", &changes.errors, |entry| {
        let again = if entry.recovered { " (connected since)" } else { "" };
        format!("{}{}x {}{again}: {}", id(&entry.id), entry.count, safe(&entry.url), safe(&entry.message))
    });
    page.list("disconnections", &changes.disconnections, |entry| {
        let code = entry.close_code.map(|code| format!(" {code}")).unwrap_or_default();
        let by = entry.by.map(|by| format!(" by the {}", by.as_str())).unwrap_or_default();
        let again = if entry.reconnected { " (reconnected)" } else { "" };
        let reason =
            if entry.close_reason.is_empty() { String::new() } else { format!(": {}", safe(&entry.close_reason)) };
        format!("{}{}x {}{code}{by}{again}{reason}", id(&entry.id), entry.count, safe(&entry.url))
    });
    page.list("connections", &changes.connections, |entry| {
        format!("{}{}x {}", id(&entry.id), entry.count, safe(&entry.url))
    });
}

fn say_actions(page: &mut Page, changes: &ActionsChanges) {
    page.list("actions, seconds after the start", &changes.actions, |entry| {
        let after = entry.after_ms as f64 / 1000.0;
        let count = entry.count.map(|count| format!("{count}x ")).unwrap_or_default();
        let frame = entry.frame.as_ref().map(|frame| format!("in {}", safe(frame))).unwrap_or_default();
        let words = [safe(&entry.target), safe(&entry.detail), frame];
        let words: Vec<&str> = words.iter().map(String::as_str).filter(|word| !word.is_empty()).collect();
        format!("{}{after} {count}{} {}", id(&entry.id), action(entry.kind), words.join(" ")).trim_end().to_owned()
    });
}

/// The id of an entry before it.
fn id(id: &str) -> String {
    if id.is_empty() { String::new() } else { format!("{id} ") }
}

/// What was hidden, lost, cut or not watched, and by whom the rest was.
fn say_unseen(page: &mut Page, changes: &Changes) {
    if !changes.suppressed.is_empty() {
        page.line(&format!("suppressed as noise: {}", by_category(&changes.suppressed)));
    }
    if !changes.dropped.is_empty() {
        page.line(&format!("dropped details, counts exact: {}", by_category(&changes.dropped)));
    }
    if !changes.omitted.is_empty() {
        let omitted = list(changes.omitted.iter().map(|(list, count)| format!("{} {count}", safe(list))));
        page.line(&format!("omitted: {omitted}"));
    }
    if changes.in_flight > 0 {
        page.line(&format!("in flight: {} request(s), how they end is not known yet", changes.in_flight));
    }
    if changes.held > 0 {
        page.line(&format!("held back for a moment: {} message(s)", changes.held));
    }
    page.list("gaps", &changes.gap, |gap| {
        let end = gap.to.map_or("now".to_owned(), |to| later(gap.from, to));
        format!("{} to {end}: {}", gap.from, safe(&gap.reason))
    });
    let not_asked = words::not_asked(changes);
    if !not_asked.is_empty() {
        page.line(&format!("not asked for: {}", list(not_asked)));
    }
    if let Some(waited) = &changes.waited {
        page.line(&format!("waited: {}", words::waited(waited)));
    }
    page.line(&format!("watching: {}", words::coverage(&changes.coverage, safe)));
    page.line(&format!("tokens as JSON: {} by bytes/4, about {}", changes.token_count, changes.est_tokens));
}
