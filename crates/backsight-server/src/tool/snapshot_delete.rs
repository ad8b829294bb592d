//! Deletes a snapshot.

use backsight_core::Result;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Call, Definition, Effect, Group};
use crate::reply::Draft;
use crate::words;

pub struct SnapshotDelete;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    #[schemars(skip)]
    session: Option<String>,
    id: String,
}

impl Definition for SnapshotDelete {
    const NAME: &'static str = "snapshot_delete";
    const TITLE: &'static str = "Delete a snapshot";
    const DESCRIPTION: &'static str = "Delete a snapshot of variables, or a snapshot point's by its name.";
    const EFFECT: Effect = Effect::Removes;
    const GROUP: Group = Group::Debug;
    const SHOWS_BUDGET: bool = false;
    const OUTPUT: &'static [(&'static str, &'static str)] = &[("count", "integer"), ("deleted", "array")];
    type Arguments = Arguments;

    fn run(call: &Call<'_>, arguments: Arguments) -> Result<Draft> {
        let deleted = call.workspace.debugger()?.delete_snapshot(arguments.session.as_deref(), &arguments.id)?.deleted;
        let summary = format!("{} deleted", words::count(deleted.len(), "snapshot"));
        Ok(Draft::new(summary).fact("count", deleted.len()).list("deleted", deleted, None))
    }
}
