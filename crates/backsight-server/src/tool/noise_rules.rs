//! What is not worth an agent's attention, and is left out of what happened in the app.

use backsight::browser::noise::{Conditions, Rule};
use backsight::browser::request::{AddRules, DisableRule, EnableRule, ListRules, RemoveRule};
use backsight_core::Result;

use super::{Call, Choosing, Group, Shown, ToolChoice};
use crate::reply::Draft;
use crate::words;

pub struct NoiseRules;

impl Choosing for NoiseRules {
    const NAME: &'static str = "noise_rules";
    const TITLE: &'static str = "Noise rules";
    const DESCRIPTION: &'static str = "Ignore, filter out, mute, silence known, noisy console errors, messages and \
        requests: get_changes_since leaves them out and counts them. list, add, remove, enable, disable. 401 and 403 \
        are never noise.";
    const GROUP: Group = Group::Browser;
    const SHOWN: &'static [Shown] = &[
        Shown::new("rules")
            .saying(
                "of text, source, url (regexes), level, method, status, categories, plain, reason, id; all must hold",
            )
            .objects(),
        Shown::new("id"),
    ];
    const OUTPUT: &'static [(&'static str, &'static str)] = &[
        ("rules", "array"),
        ("suggestions", "array"),
        ("added", "array"),
        ("deleted", "string"),
        ("rule", "string"),
        ("warnings", "array"),
    ];

    fn choices() -> Vec<ToolChoice> {
        vec![
            ToolChoice::of("list", list),
            ToolChoice::of("add", add),
            ToolChoice::of("remove", |call, remove: RemoveRule| {
                let deleted = call.workspace.perform(remove)?.deleted;
                Ok(Draft::new(format!("noise rule {deleted} is removed")).fact("deleted", deleted))
            }),
            ToolChoice::of("enable", |call, enable: EnableRule| Ok(switched(&call.workspace.perform(enable)?.rule))),
            ToolChoice::of("disable", |call, disable: DisableRule| {
                Ok(switched(&call.workspace.perform(disable)?.rule))
            }),
        ]
    }
}

fn list(call: &Call<'_>, request: ListRules) -> Result<Draft> {
    let list = call.workspace.perform(request)?;
    let (own, mut rules): (Vec<_>, Vec<_>) = list.rules.iter().partition(|entry| !entry.rule.builtin);
    // The user's first, then those that did something.
    rules.sort_by_key(|entry| std::cmp::Reverse(entry.suppressed));
    let lines = own.iter().chain(&rules).map(|entry| match entry.suppressed {
        0 => line(&entry.rule),
        count => format!("{}; kept out {count}", line(&entry.rule)),
    });
    let summary = format!("{}, {} of them yours", words::count(list.rules.len(), "noise rule"), own.len());
    let mut draft = Draft::new(summary).list("rules", lines.collect(), None);
    if !list.suggestions.is_empty() {
        // As they are added: `rules: [...]`.
        let offered = list.suggestions.iter().filter_map(|offered| serde_json::to_string(&offered.rule).ok());
        draft = draft.list("suggestions", offered.collect(), None);
    }
    Ok(match list.warnings.is_empty() {
        true => draft,
        false => draft.list("warnings", list.warnings, None),
    })
}

fn add(call: &Call<'_>, request: AddRules) -> Result<Draft> {
    let added = call.workspace.perform(request)?.added;
    let lines = added.iter().map(line).collect();
    Ok(Draft::new(format!("{} added", words::count(added.len(), "noise rule"))).list("added", lines, None))
}

fn switched(rule: &Rule) -> Draft {
    let state = if rule.enabled { "on" } else { "off" };
    Draft::new(format!("noise rule {} is {state}", rule.id)).fact("rule", line(rule))
}

/// `user_1 on: text /heartbeat/, level info (chatter)`
fn line(rule: &Rule) -> String {
    let Conditions { categories, level, text, source, url, method, status, plain, .. } = &rule.conditions;
    let quoted = |pattern: &String| if *plain { format!("'{pattern}'") } else { format!("/{pattern}/") };
    let mut parts: Vec<String> = Vec::new();
    parts.extend(
        (!categories.is_empty()).then(|| categories.iter().map(|one| one.as_str()).collect::<Vec<_>>().join("|")),
    );
    for (name, pattern) in [("text", text), ("source", source), ("url", url)] {
        parts.extend(pattern.as_ref().map(|pattern| format!("{name} {}", quoted(pattern))));
    }
    let plain_words = [("level", json_text(level)), ("method", json_text(method)), ("status", json_text(status))];
    parts.extend(plain_words.into_iter().filter_map(|(name, value)| Some(format!("{name} {}", value?))));
    let state = if rule.enabled { "on" } else { "off" };
    let reason = if rule.reason.is_empty() { String::new() } else { format!(" ({})", rule.reason) };
    words::clip(&format!("{} {state}: {}{reason}", rule.id, parts.join(", ")))
}

/// A value as it is on the wire, without quotes.
fn json_text(value: &Option<impl serde::Serialize>) -> Option<String> {
    let value = serde_json::to_value(value.as_ref()?).ok()?;
    Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}
