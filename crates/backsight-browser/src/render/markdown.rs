//! Changes as a Markdown page. Everything from the page of the app is in code spans, in which nothing means anything, and
//! every entry is one line.

use backsight_core::Timestamp;

use super::escape::{code, prose};
use super::words::{self, by_category, clock, duration, list, thousands};
use crate::report::{
    ActionEntry, Changes, ConsoleChanges, DisconnectionEntry, FailureEntry, MessageEntry, NetworkChanges,
    WebsocketChanges,
};

/// See [`super::markdown`].
pub fn changes(changes: &Changes) -> String {
    let mut page = format!("# App: {}\n\n{}\n\n", changes.severity.as_str(), prose(&changes.summary));
    let window = words::window(changes.from, changes.to);
    page += &format!("Since {}: {}, {window}.\n", code(&changes.checkpoint), duration(changes.duration_ms));
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
        section(&mut page, "Actions", actions.total_new);
        entries(&mut page, "In order", &actions.actions, |entry| action(entry, changes.from));
    }
    say_unseen(&mut page, changes);
    page
}

fn section(page: &mut String, name: &str, total: u64) {
    *page += &format!("\n## {name}\n\n{} new.\n", thousands(total));
}

/// A list under its name; nothing when it is empty.
fn entries<T>(page: &mut String, name: &str, entries: &[T], say: impl Fn(&T) -> String) {
    if !entries.is_empty() {
        *page += &format!("\n{name}:\n\n");
    }
    for entry in entries {
        *page += &format!("- {}\n", say(entry));
    }
}

fn say_console(page: &mut String, changes: &ConsoleChanges) {
    let message = |entry: &MessageEntry| {
        let source = if entry.source.is_empty() { String::new() } else { format!(" at {}", code(&entry.source)) };
        let remarks: String = words::remarks(entry).iter().map(|remark| format!(", {remark}")).collect();
        let causes = words::causes(entry, code).map(|causes| format!(", {causes}")).unwrap_or_default();
        format!("{}× {}{source}{causes}{remarks}", thousands(entry.count), code(&entry.message))
    };
    section(page, "Console", changes.total_new);
    entries(page, "Errors", &changes.errors, message);
    entries(page, "Warnings", &changes.warnings, message);
    entries(page, "Handled later, no errors any more", &changes.handled_later, message);
}

fn say_network(page: &mut String, changes: &NetworkChanges) {
    let endpoint = |method: &str, path: &str| code(&format!("{method} {path}"));
    let failure = |entry: &FailureEntry| {
        let mut said =
            format!("{}× {}: status {}", thousands(entry.count), endpoint(&entry.method, &entry.path), entry.status);
        said += &entry
            .variants
            .map(|variants| format!(", and {} more like it", variants.saturating_sub(1)))
            .unwrap_or_default();
        said += &entry.previous_status.map_or(", first seen".to_owned(), |previous| format!(", was {previous}"));
        said += &entry.now.map(|now| format!(", now {now}")).unwrap_or_default();
        if entry.detail.is_empty() { said } else { format!("{said}, {}", code(&entry.detail)) }
    };
    section(page, "Network", changes.total_new);
    entries(page, "Failures", &changes.failures, failure);
    entries(page, "Still failing", &changes.still_failing, failure);
    entries(page, "Not answered", &changes.pending, |entry| {
        let endpoint = endpoint(&entry.method, &entry.path);
        format!("{}× {endpoint}: for {}", thousands(entry.count), words::duration(entry.age_ms))
    });
    entries(page, "Answered with a page", &changes.mistyped, failure);
    entries(page, "Recovered", &changes.recovered, |entry| {
        let endpoint = endpoint(&entry.method, &entry.path);
        format!("{endpoint}: status {}, was {}", entry.status, entry.previous_status)
    });
    entries(page, "Slow", &changes.degraded, |entry| {
        let endpoint = endpoint(&entry.method, &entry.path);
        format!("{endpoint}: {} ms, was {} ms", entry.duration_ms, entry.baseline_ms)
    });
    entries(page, "New endpoints", &changes.new_endpoints, |endpoint| code(endpoint));
}

fn say_websocket(page: &mut String, changes: &WebsocketChanges) {
    section(page, "WebSockets", changes.total_new);
    entries(page, "Errors", &changes.errors, |entry| {
        let again = if entry.recovered { ", connected since" } else { "" };
        format!("{}× {}: {}{again}", thousands(entry.count), code(&entry.url), code(&entry.message))
    });
    entries(page, "Disconnections", &changes.disconnections, |entry| {
        let DisconnectionEntry { url, close_code, close_reason, by, count, reconnected, .. } = entry;
        let number = close_code.map(|number| format!(", code {number}")).unwrap_or_default();
        let reason = if close_reason.is_empty() { String::new() } else { format!(", {}", code(close_reason)) };
        let by = by.map(|by| format!(", by the {}", by.as_str())).unwrap_or_default();
        let again = if *reconnected { ", connected again" } else { "" };
        format!("{}× {}{number}{by}{reason}{again}", thousands(*count), code(url))
    });
    entries(page, "Connections", &changes.connections, |entry| {
        format!("{}× {}", thousands(entry.count), code(&entry.url))
    });
}

fn action(entry: &ActionEntry, from: Timestamp) -> String {
    let ActionEntry { kind, target, detail, after_ms, count, .. } = entry;
    let at = Timestamp(from.0.saturating_add(*after_ms));
    let shown = |text: &String| if text.is_empty() { String::new() } else { format!(" {}", code(text)) };
    let times = count.map(|count| format!(" {}×", thousands(count))).unwrap_or_default();
    format!("{} {}{times}{}{}", clock(at), words::action(*kind), shown(target), shown(detail))
}

/// What was hidden, lost, cut or not watched, and by whom the rest was.
fn say_unseen(page: &mut String, changes: &Changes) {
    *page += "\n## Seen and not seen\n\n";
    *page += &format!("- watching: {}\n", words::coverage(&changes.coverage, code));
    if let Some(waited) = &changes.waited {
        *page += &format!("- waited: {}\n", words::waited(waited));
    }
    for gap in &changes.gap {
        *page += &format!("- gap: {}\n", words::gap(gap, code));
    }
    if changes.held > 0 {
        *page += &format!("- held back for a moment: {} message(s)\n", thousands(changes.held));
    }
    if changes.in_flight > 0 {
        *page += &format!("- in flight: {} request(s), how they end is not known yet\n", thousands(changes.in_flight));
    }
    if !changes.suppressed.is_empty() {
        *page += &format!("- suppressed as noise: {}\n", by_category(&changes.suppressed));
    }
    if !changes.dropped.is_empty() {
        *page += &format!("- details are gone, counts are exact: {}\n", by_category(&changes.dropped));
    }
    if !changes.omitted.is_empty() {
        let omitted = list(changes.omitted.iter().map(|(list, count)| format!("{} {count}", code(list))));
        *page += &format!("- omitted: {omitted}\n");
    }
    let not_asked = words::not_asked(changes);
    if !not_asked.is_empty() {
        *page += &format!("- not asked for: {}\n", list(not_asked));
    }
}
