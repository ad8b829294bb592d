//! Removes a breakpoint.

use backsight_core::{Code, Result};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::debugging::{breakpoint, with_session};
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
    const DESCRIPTION: &'static str = "Remove, delete a breakpoint or snapshot point.";
    const EFFECT: Effect = Effect::Removes;
    const GROUP: Group = Group::Debug;
    const SHOWS_BUDGET: bool = false;
    const OUTPUT: &'static [(&'static str, &'static str)] = &[("id", "string")];
    type Arguments = Arguments;

    fn run(call: &Call<'_>, arguments: Arguments) -> Result<Draft> {
        let session = arguments.session.as_deref();
        let removed = call.workspace.debugger()?.remove_breakpoint(session, &arguments.id);
        let removed = removed.map_err(|error| match error.code() {
            Code::RefNotFound => {
                let error = error.with_hint("name one as breakpoint_list does");
                error.with_next("breakpoint_list", with_session(json!({}), session))
            }
            _ => error,
        })?;
        Ok(Draft::new(format!("removed {}", breakpoint(call, &removed))).fact("id", removed.id))
    }
}
