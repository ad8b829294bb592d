//! Whether the app is well: one verdict with reasons, read off the same answer that `get_changes_since` gives. It says
//! nothing about Backsight's own server.

use backsight_core::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::changes::{TEXT_BYTES, is_stream, matters};
use crate::report::{Changes, Coverage, Gap, Severity};

/// Reasons listed at most.
const REASONS: usize = 10;

/// How the app is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Nothing is wrong, and somebody watched.
    Healthy,
    /// It works, with warnings.
    Degraded,
    /// Something is broken.
    Broken,
    /// Nothing is known to be wrong, and not everything was watched.
    Unknown,
}

/// The app's health.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Health {
    /// In one word.
    pub verdict: Verdict,
    /// In one line.
    pub summary: String,
    /// What speaks against it, the worst first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// How many more reasons there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub more_reasons: Option<usize>,
    /// Since which checkpoint: `session_start` when there is one, else `start`.
    pub checkpoint: String,
    /// Since when.
    pub from: Timestamp,
    /// When nothing was seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gap: Vec<Gap>,
    /// Who watches.
    pub coverage: Coverage,
}

impl Health {
    /// The health that an answer about all categories shows.
    pub fn of(changes: Changes) -> Health {
        let verdict = match changes.severity {
            Severity::Clean => Verdict::Healthy,
            Severity::Warning => Verdict::Degraded,
            Severity::Error => Verdict::Broken,
            Severity::Unknown => Verdict::Unknown,
        };
        let mut reasons = reasons(&changes);
        let cut: u64 = changes.omitted.iter().filter(|(list, _)| is_reason(list)).map(|(_, count)| count).sum();
        let more = reasons.len().saturating_sub(REASONS) + usize::try_from(cut).unwrap_or(usize::MAX);
        reasons.truncate(REASONS);
        Health {
            verdict,
            summary: changes.summary,
            reasons,
            more_reasons: Some(more).filter(|more| *more > 0),
            checkpoint: changes.checkpoint,
            from: changes.from,
            gap: changes.gap,
            coverage: changes.coverage,
        }
    }
}

fn is_reason(list: &str) -> bool {
    const NONE: [&str; 6] =
        ["actions.actions", "network.new_endpoints", "network.recovered", "websocket.connections", "gap", TEXT_BYTES];
    !NONE.contains(&list)
}

fn reasons(changes: &Changes) -> Vec<String> {
    let mut reasons = Vec::new();
    let times = |count: u64| if count > 1 { format!(" ({count} times)") } else { String::new() };
    let (console, network, websocket) = (&changes.console, &changes.network, &changes.websocket);
    for error in console.iter().flat_map(|console| &console.errors) {
        reasons.push(format!("error: {}{}", error.message, times(error.count)));
    }
    for failure in network.iter().flat_map(|network| network.failures.iter().chain(&network.still_failing)) {
        let what = if failure.status == 0 { failure.detail.clone() } else { failure.status.to_string() };
        reasons.push(format!("{} {} fails: {what}{}", failure.method, failure.path, times(failure.count)));
    }
    for error in websocket.iter().flat_map(|websocket| &websocket.errors).filter(|error| !error.recovered) {
        reasons.push(format!("socket {}: {}{}", error.url, error.message, times(error.count)));
    }
    for ending in websocket.iter().flat_map(|websocket| &websocket.disconnections).filter(|ending| matters(ending)) {
        let back = if ending.reconnected { ", connected again" } else { "" };
        let why = if ending.close_reason.is_empty() { String::new() } else { format!(": {}", ending.close_reason) };
        let what = if is_stream(ending) { "event stream" } else { "socket" };
        reasons.push(format!("{what} {} disconnected{back}{why}{}", ending.url, times(ending.count)));
    }
    for waits in network.iter().flat_map(|network| &network.pending) {
        let times = times(waits.count);
        reasons.push(format!("{} {} has no answer after {} s{times}", waits.method, waits.path, waits.age_ms / 1_000));
    }
    for file in network.iter().flat_map(|network| &network.mistyped) {
        reasons.push(format!("{} {} was {}{}", file.method, file.path, file.detail, times(file.count)));
    }
    for slow in network.iter().flat_map(|network| &network.degraded) {
        let (before, since) = (slow.baseline_ms, slow.duration_ms);
        reasons.push(format!("{} {} is slower: {before} -> {since} ms", slow.method, slow.path));
    }
    for warning in console.iter().flat_map(|console| &console.warnings) {
        reasons.push(format!("warning: {}{}", warning.message, times(warning.count)));
    }
    reasons
}
