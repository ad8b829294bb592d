//! Gives a gapless range of snapshots a name.

use backsight::request::NewMilestone;
use backsight_core::Result;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Call, Definition, Effect, one_or_many};
use crate::reply::Draft;
use crate::words;

pub struct MilestoneCreate;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    title: String,
    #[serde(default)]
    description: String,
    #[serde(default, deserialize_with = "one_or_many")]
    tags: Vec<String>,
    /// exactly these snapshots; default: all since the last milestone
    #[serde(default, deserialize_with = "one_or_many")]
    snapshots: Vec<String>,
    /// the last snapshot of it; default @
    end: Option<String>,
}

impl Definition for MilestoneCreate {
    const NAME: &'static str = "milestone_create";
    const TITLE: &'static str = "Create a milestone";
    const DESCRIPTION: &'static str = "Tag a version: name the snapshots since the last milestone as one piece of \
        work; the title is then a reference.";
    const EFFECT: Effect = Effect::Records;
    const OUTPUT: &'static [(&'static str, &'static str)] = &[("first", "string"), ("last", "string")];
    type Arguments = Arguments;

    fn run(call: &Call<'_>, arguments: Arguments) -> Result<Draft> {
        let Arguments { title, description, tags, snapshots, end } = arguments;
        let new = NewMilestone { title, description, tags, origin: call.plain_origin(None) };
        let made = match (snapshots.is_empty(), end) {
            (true, end) => call.workspace.create_milestone_by_range(&new, end.as_deref())?,
            (false, None) => call.workspace.create_milestone(&new, &snapshots)?,
            (false, Some(_)) => return Err(super::usage("`snapshots` goes without `end`".to_owned())),
        };
        let (first, last) = (made.start_sequence_number.to_string(), made.end_sequence_number.to_string());
        let files = made.summary.affected_files;
        let summary = format!(
            "milestone `{}` holds {first} to {last}: {}",
            words::clip(&made.title),
            words::count(files as usize, "file")
        );
        Ok(Draft::new(summary).fact("first", first).fact("last", last))
    }
}
