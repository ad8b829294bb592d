//! Forgets a named checkpoint.

use backsight_core::Result;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Call, Definition, Effect, Group};
use crate::reply::Draft;

pub struct CheckpointDelete;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    name: String,
}

impl Definition for CheckpointDelete {
    const NAME: &'static str = "checkpoint_delete";
    const TITLE: &'static str = "Delete a checkpoint";
    const DESCRIPTION: &'static str = "Delete a named checkpoint.";
    const EFFECT: Effect = Effect::Removes;
    const GROUP: Group = Group::Browser;
    const SHOWS_BUDGET: bool = false;
    const OUTPUT: &'static [(&'static str, &'static str)] = &[("deleted", "string")];
    type Arguments = Arguments;

    fn run(call: &Call<'_>, arguments: Arguments) -> Result<Draft> {
        let deleted = call.workspace.delete_checkpoint(&arguments.name)?.deleted;
        Ok(Draft::new(format!("checkpoint {deleted} is deleted")).fact("deleted", deleted))
    }
}
