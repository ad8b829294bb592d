//! What is not worth an agent's attention, and is left out of what happened in the app.

use backsight::browser::noise::{Conditions, Rule};
use backsight_core::Result;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Call, Definition, Effect, Group, usage};
use crate::ask;
use crate::reply::Draft;
use crate::words;

pub struct NoiseRules;

#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    #[default]
    List,
    Add,
    Remove,
    Enable,
    Disable,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    #[serde(default)]
    action: Action,
    /// of text, source, url (regexes), level, method, status, categories, plain, reason, id; all must hold
    #[serde(default)]
    rules: Vec<Map<String, Value>>,
    id: Option<String>,
}

impl Definition for NoiseRules {
    const NAME: &'static str = "noise_rules";
    const TITLE: &'static str = "Noise rules";
    const DESCRIPTION: &'static str = "Ignore, filter out, mute, silence known, noisy console errors, messages and \
        requests: get_changes_since leaves them out and counts them. list, add, remove, enable, disable. 401 and 403 \
        are never noise.";
    const EFFECT: Effect = Effect::Removes;
    const GROUP: Group = Group::Browser;
    const SHOWS_BUDGET: bool = false;
    const OUTPUT: &'static [(&'static str, &'static str)] = &[
        ("rules", "array"),
        ("suggestions", "array"),
        ("added", "array"),
        ("deleted", "string"),
        ("rule", "string"),
        ("warnings", "array"),
    ];
    type Arguments = Arguments;

    fn run(call: &Call<'_>, arguments: Arguments) -> Result<Draft> {
        let id = || arguments.id.as_deref().ok_or_else(|| usage("`id` says which rule".to_owned()));
        match arguments.action {
            Action::List => list(call),
            Action::Add if arguments.rules.is_empty() => Err(usage("`rules` says which rules to add".to_owned())),
            Action::Add => add(call, arguments.rules),
            Action::Remove => {
                let deleted = call.workspace.remove_noise_rule(id()?)?.deleted;
                Ok(Draft::new(format!("noise rule {deleted} is removed")).fact("deleted", deleted))
            }
            Action::Enable | Action::Disable => {
                let rule = call.workspace.enable_noise_rule(id()?, matches!(arguments.action, Action::Enable))?;
                let state = if rule.enabled { "on" } else { "off" };
                Ok(Draft::new(format!("noise rule {} is {state}", rule.id)).fact("rule", line(&rule)))
            }
        }
    }
}

fn list(call: &Call<'_>) -> Result<Draft> {
    let list = call.workspace.noise_rules()?;
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

fn add(call: &Call<'_>, rules: Vec<Map<String, Value>>) -> Result<Draft> {
    let rules = ask::rules(rules.into_iter().map(Value::Object).collect())?;
    let added = call.workspace.add_noise_rules(rules)?.added;
    let lines = added.iter().map(line).collect();
    Ok(Draft::new(format!("{} added", words::count(added.len(), "noise rule"))).list("added", lines, None))
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
