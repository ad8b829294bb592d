//! How the app behaves when it is well, kept under a name, and how it differs from that now.

use backsight::browser::baseline::{BaselineEntry, Comparison, Deviation};
use backsight::browser::render;
use backsight_core::Result;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Call, Definition, Effect, Group, usage};
use crate::reply::Draft;
use crate::words;

pub struct Baseline;

#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    Save,
    Compare,
    #[default]
    List,
    Delete,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    #[serde(default)]
    action: Action,
    name: Option<String>,
}

impl Definition for Baseline {
    const NAME: &'static str = "baseline";
    const TITLE: &'static str = "Baseline of the app";
    const DESCRIPTION: &'static str = "Save how the app behaves when it works (status, latency and shape of \
        endpoints' answers, known errors, sockets), and compare later: regressions, a slower API.";
    const EFFECT: Effect = Effect::Removes;
    const GROUP: Group = Group::Browser;
    const SHOWS_BUDGET: bool = false;
    const OUTPUT: &'static [(&'static str, &'static str)] = &[
        ("baselines", "array"),
        ("severity", "string"),
        ("deviations", "array"),
        ("omitted", "integer"),
        ("endpoints_not_seen", "integer"),
        ("deleted", "string"),
        ("warnings", "array"),
    ];
    type Arguments = Arguments;

    fn run(call: &Call<'_>, arguments: Arguments) -> Result<Draft> {
        let name = || arguments.name.as_deref().ok_or_else(|| usage("`name` says which baseline".to_owned()));
        match arguments.action {
            Action::Save => Ok(Draft::new(format!("saved {}", line(&call.workspace.save_baseline(name()?)?)))),
            Action::Compare => Ok(compared(call.workspace.compare_baseline(name()?)?)),
            Action::Delete => {
                let deleted = call.workspace.delete_baseline(name()?)?.deleted;
                Ok(Draft::new(format!("baseline {deleted} is deleted")).fact("deleted", deleted))
            }
            Action::List => {
                let list = call.workspace.baselines()?;
                let lines = list
                    .baselines
                    .iter()
                    .map(|entry| format!("{}, {}", line(entry), words::age(entry.created, call.now)));
                let summary = words::count(list.baselines.len(), "baseline");
                let draft = Draft::new(summary).list("baselines", lines.collect(), None);
                Ok(match list.warnings.is_empty() {
                    true => draft,
                    false => draft.list("warnings", list.warnings, None),
                })
            }
        }
    }
}

fn line(entry: &BaselineEntry) -> String {
    let BaselineEntry { name, endpoints, known_messages, sockets, .. } = entry;
    let messages = words::count(*known_messages, "known message");
    format!("{name}: {}, {messages}, {}", words::count(*endpoints, "endpoint"), words::count(*sockets, "socket"))
}

fn compared(comparison: Comparison) -> Draft {
    let lines: Vec<String> = comparison.deviations.iter().map(deviation).collect();
    let summary = format!("{}: {}", comparison.severity, render::safe(&comparison.summary));
    let draft = Draft::new(summary)
        .untrusted()
        .fact("severity", comparison.severity.as_str())
        .maybe("omitted", comparison.omitted)
        .fact("endpoints_not_seen", comparison.endpoints_not_seen);
    if lines.is_empty() { draft } else { draft.list("deviations", lines, None) }
}

/// `failing GET /api/users: 200 -> 500`
fn deviation(deviation: &Deviation) -> String {
    let Deviation { kind, subject, expected, actual } = deviation;
    let kind = serde_json::to_value(kind).ok().and_then(|kind| kind.as_str().map(|kind| kind.replace('_', " ")));
    let change = match (expected.is_empty(), actual.is_empty()) {
        (true, true) => String::new(),
        (false, _) => format!(": {expected} -> {actual}"),
        (true, false) => format!(": {actual}"),
    };
    words::clip(&render::safe(&format!("{} {subject}{change}", kind.unwrap_or_default())))
}
