//! What changed on disk since the latest snapshot, and where the record stands.

use backsight::report::SyncReport;
use backsight::request::{ReadStatus, ValidateContinuity};
use backsight_core::Result;
use serde_json::{Map, Value, json};

use super::{Call, Choosing, Group, Shown, ToolChoice};
use crate::reply::{Draft, Next};
use crate::words;

pub struct WorkspaceStatus;

impl Choosing for WorkspaceStatus {
    const NAME: &'static str = "workspace_status";
    const TITLE: &'static str = "Workspace status";
    const DESCRIPTION: &'static str = "Status of the workspace: what changed on disk (dirty, uncommitted) since the \
        latest snapshot, and by whom as far as known. `unknown` changes are nobody's who told us, `pending` ones may \
        be an open tool call's. Letters: A added, M modified, D deleted, R renamed, X mode, T type.";
    const GROUP: Group = Group::Files;
    const SHOWS_BUDGET: bool = true;
    const WORD: &'static str = "";
    const OWN: &'static [(&'static str, &'static str)] = &[("verify", "boolean")];
    const SHOWN: &'static [Shown] = &[Shown::new("verify").saying("also check every row's hash")];
    const OUTPUT: &'static [(&'static str, &'static str)] = &[
        ("clean", "boolean"),
        ("latest", "string"),
        ("complete", "boolean"),
        ("milestone", "string"),
        ("chain_head", "string"),
        ("problems", "array"),
        ("changes", "array"),
        ("unknown", "array"),
        ("pending", "array"),
        ("open_calls", "array"),
        ("unseen", "array"),
    ];

    fn choices() -> Vec<ToolChoice> {
        vec![
            ToolChoice::of("status", |call, status: ReadStatus| told(call, status, None)),
            ToolChoice::of("verify", |call, validate: ValidateContinuity| {
                let sync = call.workspace.perform(validate)?;
                told(call, ReadStatus {}, Some(sync))
            }),
        ]
    }

    fn meant(arguments: &mut Map<String, Value>) -> Result<Option<&'static str>> {
        Ok(arguments.shift_remove("verify").is_some_and(|verify| verify == true).then_some("verify"))
    }
}

fn told(call: &Call<'_>, request: ReadStatus, sync: Option<SyncReport>) -> Result<Draft> {
    let status = call.workspace.perform(request)?;
    let changes: Vec<String> = status.changes.iter().map(words::change).collect();
    let uncovered = &status.coverage.uncovered;
    let complete = status.coverage.complete && status.unseen.is_empty();
    let unseen: Vec<String> = uncovered.iter().chain(&status.unseen).map(words::unseen).collect();
    let unread = status.coverage.unread_rules.clone();
    let summary = match (&status.latest, status.clean, complete) {
        (None, ..) => "nothing is recorded yet: record the files with files_track".to_owned(),
        (Some(latest), true, true) => format!("nothing changed since {}", latest.sequence_number),
        (Some(latest), true, false) => format!(
            "nothing changed since {} as far as could be seen: {} could not be read",
            latest.sequence_number,
            words::count(unseen.len(), "path")
        ),
        (Some(latest), false, _) => {
            format!("{} changed since {}", words::count(changes.len(), "path"), latest.sequence_number)
        }
    };
    let calls = status.open_calls.iter().map(|open| {
        let tool = open.origin.tool.as_deref().unwrap_or("a tool call");
        format!("{} {tool} since {}", open.id, words::age(open.since, call.now))
    });
    let latest = call.workspace.shortened(status.latest.clone())?;
    let latest = latest.map(|latest| words::snapshot(&latest, call.now));
    let problems: Option<Vec<String>> =
        sync.as_ref().map(|sync| sync.problems.iter().map(|found| found.message.clone()).collect());
    let record = match &problems {
        None => String::new(),
        Some(found) if found.is_empty() => "; the record is sound".to_owned(),
        Some(found) => format!("; the record has {}", words::count(found.len(), "problem")),
    };
    let mut draft = Draft::new(summary + &record)
        .fact("clean", status.clean)
        .maybe("complete", (!complete).then_some(false))
        .said("latest", latest)
        .said("milestone", status.milestone.map(|milestone| words::clip(&milestone.title)))
        .said("chain_head", sync.as_ref().map(|sync| sync.chain_head.clone()))
        .list("problems", problems.unwrap_or_default(), None);
    let more = Next::new("files_changes", json!({ "from": "@" }));
    draft = draft.list("changes", changes, Some(more));
    let lists = [
        ("unknown", status.unknown.iter().map(ToString::to_string).collect()),
        ("pending", status.pending.iter().map(ToString::to_string).collect()),
        ("open_calls", calls.collect()),
        ("unseen", unseen.into_iter().chain(unread).collect()),
    ];
    for (name, items) in lists.into_iter().filter(|(_, items): &(_, Vec<String>)| !items.is_empty()) {
        draft = draft.list(name, items, None);
    }
    Ok(draft)
}
