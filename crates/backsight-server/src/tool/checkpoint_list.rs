//! The named checkpoints as a timeline.

use backsight::browser::render;
use backsight::browser::report::CheckpointEntry;
use backsight::browser::request::ListCheckpoints;
use backsight_core::{Result, Timestamp};

use super::{Asking, Call, Group, Shown};
use crate::reply::Draft;
use crate::words;

pub struct CheckpointList;

impl Asking for CheckpointList {
    const NAME: &'static str = "checkpoint_list";
    const TITLE: &'static str = "List checkpoints";
    const DESCRIPTION: &'static str = "List the named checkpoints, oldest first, with how the app was.";
    const GROUP: Group = Group::Browser;
    const SHOWN: &'static [Shown] = &[];
    const OUTPUT: &'static [(&'static str, &'static str)] = &[("checkpoints", "array"), ("warnings", "array")];
    type Request = ListCheckpoints;

    fn run(call: &Call<'_>, request: ListCheckpoints) -> Result<Draft> {
        let list = call.workspace.perform(request)?;
        let lines: Vec<String> = list.checkpoints.iter().map(|entry| line(entry, call.now)).collect();
        let draft = Draft::new(words::count(lines.len(), "checkpoint")).list("checkpoints", lines, None);
        Ok(match list.warnings.is_empty() {
            true => draft,
            false => draft.list("warnings", list.warnings, None),
        })
    }
}

/// `session_start -> clean 3m: No significant changes`
fn line(entry: &CheckpointEntry, now: Timestamp) -> String {
    let baseline = entry.baseline.as_ref().map(|name| format!(" (baseline {name})")).unwrap_or_default();
    let earlier = if entry.earlier_run { ", before this server started" } else { "" };
    let CheckpointEntry { name, severity, summary, created, .. } = entry;
    format!(
        "{name}{baseline} -> {severity} {}{earlier}: {}",
        words::age(*created, now),
        words::clip(&render::safe(summary))
    )
}
