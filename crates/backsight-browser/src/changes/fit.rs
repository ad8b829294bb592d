//! Cuts an answer to a number of entries and to a budget of tokens: what matters least goes first, and whatever goes is
//! counted.

use backsight_core::{estimate_tokens, nearest_tokens};

use crate::report::{Changes, MessageEntry};
use crate::telemetry::console::first_characters;

/// Cuts each list to `cap` entries and the whole to about `max_tokens`, and says how large it is.
pub(super) fn fit(changes: &mut Changes, cap: usize, max_tokens: usize) {
    let lists = lists(changes).len();
    (0..lists).for_each(|list| cut(changes, list, cap));
    for list in 0..lists {
        if measure(changes) <= max_tokens {
            break;
        }
        shorten(changes, list, max_tokens);
    }
    squeeze(changes, max_tokens);
    measure(changes);
}

/// What is left when one entry of each of the worst is still too much: shorter words, then nothing about who watches, then
/// the worst entry alone. What cannot be said in less is said.
fn squeeze(changes: &mut Changes, max_tokens: usize) {
    let errors = changes.console.iter_mut().flat_map(|console| &mut console.errors);
    let behind: usize = errors.map(|entry| entry.causes.len()).sum();
    if behind > 0 && measure(changes) > max_tokens {
        changes.console.iter_mut().flat_map(|console| &mut console.errors).for_each(one_cause);
    }
    for most in [100, 50] {
        if measure(changes) > max_tokens {
            words(changes).for_each(|text| *text = first_characters(text, most));
        }
    }
    if measure(changes) > max_tokens {
        changes.coverage.since = None;
        let gone = std::mem::take(&mut changes.coverage.watching).len();
        *changes.omitted.entry("coverage.watching".to_owned()).or_insert(0) += gone as u64;
    }
    let has_errors = changes.console.as_ref().is_some_and(|console| !console.errors.is_empty());
    let failures = lists(changes).iter().position(|(name, _)| *name == "network.failures").filter(|_| has_errors);
    if let Some(failures) = failures.filter(|_| measure(changes) > max_tokens) {
        cut(changes, failures, 0);
    }
}

/// Leaves one error behind an error and counts the others.
fn one_cause(entry: &mut MessageEntry) {
    let all = entry.causes.len();
    entry.causes.truncate(1);
    entry.more_causes += (all - entry.causes.len()) as u64;
}

/// The words of what went wrong.
fn words(changes: &mut Changes) -> impl Iterator<Item = &mut String> {
    let messages = changes.console.iter_mut().flat_map(|console| &mut console.errors).map(|entry| &mut entry.message);
    let details = changes.network.iter_mut().flat_map(|network| &mut network.failures).map(|entry| &mut entry.detail);
    messages.chain(details)
}

/// Cuts one list as little as is enough, or as much as it can be.
fn shorten(changes: &mut Changes, list: usize, max_tokens: usize) {
    let (name, entries) = &lists(changes)[list];
    let (name, length) = (*name, entries.len());
    // Of the worst at least one is always told.
    let least = usize::from(matches!(name, "console.errors" | "network.failures")).min(length);
    let (mut low, mut high) = (least, length);
    while low < high {
        let middle = (low + high).div_ceil(2);
        let mut tried = changes.clone();
        cut(&mut tried, list, middle);
        match measure(&mut tried) <= max_tokens {
            true => low = middle,
            false => high = middle - 1,
        }
    }
    cut(changes, list, low);
}

fn cut(changes: &mut Changes, list: usize, most: usize) {
    let (name, entries) = &mut lists(changes)[list];
    let (name, gone) = (*name, entries.len().saturating_sub(most));
    if gone > 0 {
        entries.truncate(most);
        *changes.omitted.entry(name.to_owned()).or_insert(0) += gone as u64;
    }
}

/// Says how many tokens it takes, its own measures being part of it; returns the same with caution, for the budget.
fn measure(changes: &mut Changes) -> usize {
    let mut cautious = 0;
    for _ in 0..3 {
        let json = serde_json::to_string(changes).unwrap_or_default();
        cautious = estimate_tokens(&json);
        let measured = (json.len() / 4, nearest_tokens(&json));
        if (changes.token_count, changes.est_tokens) == measured {
            break;
        }
        (changes.token_count, changes.est_tokens) = measured;
    }
    cautious
}

/// A list of whatever.
trait Entries {
    fn len(&self) -> usize;
    fn truncate(&mut self, most: usize);
}

impl<T> Entries for Vec<T> {
    fn len(&self) -> usize {
        Vec::len(self)
    }

    fn truncate(&mut self, most: usize) {
        Vec::truncate(self, most);
    }
}

/// The lists of an answer, what matters least first.
fn lists(changes: &mut Changes) -> Vec<(&'static str, &mut dyn Entries)> {
    let mut lists: Vec<(usize, &'static str, &mut dyn Entries)> = vec![(4, "gap", &mut changes.gap)];
    if let Some(actions) = &mut changes.actions {
        lists.push((0, "actions.actions", &mut actions.actions));
    }
    if let Some(network) = &mut changes.network {
        lists.push((1, "network.new_endpoints", &mut network.new_endpoints));
        lists.push((3, "network.recovered", &mut network.recovered));
        lists.push((6, "network.degraded", &mut network.degraded));
        lists.push((6, "network.mistyped", &mut network.mistyped));
        lists.push((8, "network.still_failing", &mut network.still_failing));
        lists.push((9, "network.pending", &mut network.pending));
        lists.push((10, "network.failures", &mut network.failures));
    }
    if let Some(websocket) = &mut changes.websocket {
        lists.push((2, "websocket.connections", &mut websocket.connections));
        lists.push((5, "websocket.disconnections", &mut websocket.disconnections));
        lists.push((9, "websocket.errors", &mut websocket.errors));
    }
    if let Some(console) = &mut changes.console {
        lists.push((3, "console.handled_later", &mut console.handled_later));
        lists.push((7, "console.warnings", &mut console.warnings));
        lists.push((11, "console.errors", &mut console.errors));
    }
    lists.sort_by_key(|(weight, ..)| *weight);
    lists.into_iter().map(|(_, name, entries)| (name, entries)).collect()
}
