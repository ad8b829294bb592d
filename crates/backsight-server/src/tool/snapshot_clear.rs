//! Deletes all snapshots of a session.

use backsight_core::Result;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Call, Definition, Effect, Group};
use crate::reply::Draft;
use crate::words;

pub struct SnapshotClear;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    #[schemars(skip)]
    session: Option<String>,
}

impl Definition for SnapshotClear {
    const NAME: &'static str = "snapshot_clear";
    const TITLE: &'static str = "Delete all snapshots";
    const DESCRIPTION: &'static str = "Delete all snapshots of variables.";
    const EFFECT: Effect = Effect::Removes;
    const GROUP: Group = Group::Debug;
    const SHOWS_BUDGET: bool = false;
    const OUTPUT: &'static [(&'static str, &'static str)] = &[("cleared", "integer")];
    type Arguments = Arguments;

    fn run(call: &Call<'_>, arguments: Arguments) -> Result<Draft> {
        let cleared = call.workspace.debugger()?.clear_snapshots(arguments.session.as_deref())?.cleared;
        Ok(Draft::new(format!("{} deleted", words::count(cleared, "snapshot"))).fact("cleared", cleared))
    }
}
