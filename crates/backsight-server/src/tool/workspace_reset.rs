//! Takes note of a broken continuity, with a reason, and goes on from what is on disk.

use backsight_core::Result;
use schemars::JsonSchema;
use serde::Deserialize;

use super::files_track::lists;
use super::{Call, Definition, Effect};
use crate::reply::Draft;
use crate::words;

pub struct WorkspaceReset;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// why, for the record
    reason: String,
}

impl Definition for WorkspaceReset {
    const NAME: &'static str = "workspace_reset";
    const TITLE: &'static str = "Reset continuity";
    const DESCRIPTION: &'static str = "Accept the files as they are now: records outside changes, closes open tool \
        calls, acknowledges problems of the timeline. Changes no file and removes no history.";
    const EFFECT: Effect = Effect::Records;
    const OUTPUT: &'static [(&'static str, &'static str)] =
        &[("row", "string"), ("integrated", "string"), ("acknowledged", "array"), ("closed_calls", "array")];
    type Arguments = Arguments;

    fn run(call: &Call<'_>, arguments: Arguments) -> Result<Draft> {
        let reset = call.workspace.reset_state_continuity(&arguments.reason, &call.plain_origin(None))?;
        let row = reset.event.sequence_number;
        let draft = Draft::new(format!("continuity was reset as {row}: {}", words::clip(&arguments.reason)))
            .fact("row", row.to_string())
            .maybe("integrated", reset.integrated.map(|seq| seq.to_string()));
        let acknowledged = reset.acknowledged.iter().map(|problem| problem.message.clone()).collect();
        let closed = reset.closed_calls.iter().map(|call| call.id.to_string()).collect();
        Ok(lists(draft, vec![("acknowledged", acknowledged), ("closed_calls", closed)]))
    }
}
