//! The milestones, or one of them.

use backsight::report::Milestone;
use backsight::request::{ListMilestones, ReadMilestone};
use backsight_core::Result;
use serde_json::{Map, Value, json};

use super::{Call, Choosing, Group, Needs, Shown, ToolChoice, cursor};
use crate::reply::{Draft, Next};
use crate::words;

pub struct MilestoneList;

impl Choosing for MilestoneList {
    const NAME: &'static str = "milestone_list";
    const TITLE: &'static str = "List milestones";
    const DESCRIPTION: &'static str = "List the milestones, tagged versions, newest first, or one with its files.";
    const GROUP: Group = Group::Files;
    const NEEDS: Needs = Needs::Milestone;
    const SHOWS_BUDGET: bool = true;
    const PAGES: bool = true;
    const WORD: &'static str = "";
    const SHOWN: &'static [Shown] = &[Shown::new("ref").saying("one milestone in full").text(), Shown::new("cursor")];
    const OUTPUT: &'static [(&'static str, &'static str)] =
        &[("milestones", "array"), ("snapshots", "integer"), ("files", "array"), ("tags", "array")];

    fn choices() -> Vec<ToolChoice> {
        vec![ToolChoice::of("list", list), ToolChoice::of("show", show)]
    }

    fn meant(arguments: &mut Map<String, Value>) -> Result<Option<&'static str>> {
        Ok(arguments.contains_key("ref").then_some("show"))
    }
}

fn list(call: &Call<'_>, request: ListMilestones) -> Result<Draft> {
    let milestones: Vec<String> = call.workspace.perform(request)?.milestones.iter().map(line).collect();
    let summary = words::count(milestones.len(), "milestone");
    let again = Next::new(MilestoneList::NAME, json!({}));
    Ok(Draft::new(summary).list_from("milestones", milestones, cursor(call.cursor)?, again))
}

fn show(call: &Call<'_>, request: ReadMilestone) -> Result<Draft> {
    let again = Next::new(MilestoneList::NAME, json!({ "ref": request.reference }));
    let detail = call.workspace.perform(ReadMilestone { diff: false, ..request })?;
    let files = detail.affected_files.iter().map(ToString::to_string).collect();
    Ok(Draft::new(line(&detail.milestone))
        .fact("snapshots", detail.snapshot_ids.len())
        .list("tags", detail.milestone.tags, None)
        .list_from("files", files, cursor(call.cursor)?, again))
}

fn line(milestone: &Milestone) -> String {
    let Milestone { title, description, start_sequence_number: first, end_sequence_number: last, summary, .. } =
        milestone;
    let text = if description.is_empty() { String::new() } else { format!(": {}", words::clip(description)) };
    format!("{} {first}..{last} {}{text}", words::clip(title), words::count(summary.affected_files as usize, "file"))
}
