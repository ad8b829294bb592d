//! Removes a breakpoint.

use backsight_core::Result;
use schemars::JsonSchema;
use serde::Deserialize;

use super::debugging::breakpoint;
use super::{Call, Definition, Effect, Group};
use crate::reply::Draft;

pub struct BreakpointRemove;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    #[schemars(skip)]
    session: Option<String>,
    id: String,
}

impl Definition for BreakpointRemove {
    const NAME: &'static str = "breakpoint_remove";
    const TITLE: &'static str = "Remove a breakpoint";
    const DESCRIPTION: &'static str = "Remove a breakpoint; a snapshot point's ends the point.";
    const EFFECT: Effect = Effect::Debugs;
    const GROUP: Group = Group::Debug;
    const COMMON: &'static [&'static str] = &[];
    const OUTPUT: &'static [(&'static str, &'static str)] = &[("id", "string")];
    const SHOWS_OUTPUT: bool = false;
    type Arguments = Arguments;

    fn run(call: &Call<'_>, arguments: Arguments) -> Result<Draft> {
        let removed = call.workspace.debugger()?.remove_breakpoint(arguments.session.as_deref(), &arguments.id)?;
        Ok(Draft::new(format!("removed {}", breakpoint(call, &removed))).fact("id", removed.id))
    }
}
