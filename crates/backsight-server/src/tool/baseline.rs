//! How the app behaves when it is well, kept under a name, and how it differs from that now.

use backsight::browser::baseline::{BaselineEntry, Comparison, Deviation};
use backsight::browser::render;
use backsight::browser::request::{CompareBaseline, DeleteBaseline, ListBaselines, SaveBaseline};
use backsight_core::Result;

use super::{Call, Choosing, Group, Shown, ToolChoice};
use crate::reply::Draft;
use crate::words;

pub struct Baseline;

impl Choosing for Baseline {
    const NAME: &'static str = "baseline";
    const TITLE: &'static str = "Baseline of the app";
    const DESCRIPTION: &'static str = "Save how the app behaves when it works (status, latency and shape of \
        endpoints' answers, known errors, sockets), and compare later: regressions, a slower API.";
    const GROUP: Group = Group::Browser;
    const SHOWN: &'static [Shown] = &[Shown::new("name")];
    const OUTPUT: &'static [(&'static str, &'static str)] = &[
        ("baselines", "array"),
        ("severity", "string"),
        ("deviations", "array"),
        ("omitted", "integer"),
        ("endpoints_not_seen", "integer"),
        ("deleted", "string"),
        ("warnings", "array"),
    ];

    fn choices() -> Vec<ToolChoice> {
        vec![
            ToolChoice::of("list", list),
            ToolChoice::of("save", |call, save: SaveBaseline| {
                Ok(Draft::new(format!("saved {}", line(&call.workspace.perform(save)?))))
            }),
            ToolChoice::of("compare", |call, compare: CompareBaseline| Ok(compared(call.workspace.perform(compare)?))),
            ToolChoice::of("delete", |call, delete: DeleteBaseline| {
                let deleted = call.workspace.perform(delete)?.deleted;
                Ok(Draft::new(format!("baseline {deleted} is deleted")).fact("deleted", deleted))
            }),
        ]
    }
}

fn list(call: &Call<'_>, request: ListBaselines) -> Result<Draft> {
    let list = call.workspace.perform(request)?;
    let lines = list.baselines.iter().map(|entry| format!("{}, {}", line(entry), words::age(entry.created, call.now)));
    let draft = Draft::new(words::count(list.baselines.len(), "baseline")).list("baselines", lines.collect(), None);
    Ok(match list.warnings.is_empty() {
        true => draft,
        false => draft.list("warnings", list.warnings, None),
    })
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
