//! The milestones, or one of them.

use backsight::report::Milestone;
use backsight_core::Result;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{Call, Definition, Effect, Needs, cursor};
use crate::reply::{Draft, Next};
use crate::words;

pub struct MilestoneList;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// one milestone in full
    #[serde(rename = "ref")]
    reference: Option<String>,
    cursor: Option<String>,
}

impl Definition for MilestoneList {
    const NAME: &'static str = "milestone_list";
    const TITLE: &'static str = "List milestones";
    const DESCRIPTION: &'static str = "List the milestones, tagged versions, newest first, or one with its files.";
    const EFFECT: Effect = Effect::Reads;
    const NEEDS: Needs = Needs::Milestone;
    const OUTPUT: &'static [(&'static str, &'static str)] =
        &[("milestones", "array"), ("snapshots", "integer"), ("files", "array"), ("tags", "array")];
    type Arguments = Arguments;

    fn run(call: &Call<'_>, arguments: Arguments) -> Result<Draft> {
        let start = cursor(arguments.cursor.as_deref())?;
        let again = Next::new(Self::NAME, json!({ "ref": arguments.reference }));
        match arguments.reference {
            Some(reference) => {
                let detail = call.workspace.milestone(&reference, false)?;
                let files = detail.affected_files.iter().map(ToString::to_string).collect();
                Ok(Draft::new(line(&detail.milestone))
                    .fact("snapshots", detail.snapshot_ids.len())
                    .list("tags", detail.milestone.tags, None)
                    .list_from("files", files, start, again))
            }
            None => {
                let milestones: Vec<String> = call.workspace.milestones()?.iter().rev().map(line).collect();
                let summary = words::count(milestones.len(), "milestone");
                Ok(Draft::new(summary).list_from("milestones", milestones, start, again))
            }
        }
    }
}

fn line(milestone: &Milestone) -> String {
    let Milestone { title, description, start_sequence_number: first, end_sequence_number: last, summary, .. } =
        milestone;
    let text = if description.is_empty() { String::new() } else { format!(": {}", words::clip(description)) };
    format!("{} {first}..{last} {}{text}", words::clip(title), words::count(summary.affected_files as usize, "file"))
}
