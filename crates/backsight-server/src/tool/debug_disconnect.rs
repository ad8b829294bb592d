//! Ends a debug session.

use backsight_core::Result;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Call, Definition, Effect, Group};
use crate::reply::Draft;
use crate::words;

pub struct DebugDisconnect;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    #[schemars(skip)]
    session: Option<String>,
    /// default: if launched here
    end_program: Option<bool>,
}

impl Definition for DebugDisconnect {
    const NAME: &'static str = "debug_disconnect";
    const TITLE: &'static str = "Stop debugging";
    const DESCRIPTION: &'static str = "Stop debugging: end, kill or detach from the process and clear its snapshots.";
    const EFFECT: Effect = Effect::Stops;
    const GROUP: Group = Group::Debug;
    const SHOWS_BUDGET: bool = false;
    const OUTPUT: &'static [(&'static str, &'static str)] =
        &[("session", "string"), ("ended_program", "boolean"), ("cleared_snapshots", "integer")];
    type Arguments = Arguments;

    fn run(call: &Call<'_>, arguments: Arguments) -> Result<Draft> {
        let ended = call.workspace.debugger()?.disconnect(arguments.session.as_deref(), arguments.end_program)?;
        let program = if ended.ended_program { "the program was ended" } else { "the program goes on" };
        let cleared = words::count(ended.cleared_snapshots, "snapshot");
        Ok(Draft::new(format!("session {} is over: {program}, {cleared} cleared", ended.session))
            .fact("session", ended.session)
            .fact("ended_program", ended.ended_program)
            .fact("cleared_snapshots", ended.cleared_snapshots))
    }
}
