//! Sets a breakpoint.

use backsight_core::Result;
use serde_json::json;

use super::debugging::{Spot, breakpoint, with_session};
use super::{Call, Definition, Effect, Group};
use crate::reply::Draft;

pub struct BreakpointSet;

impl Definition for BreakpointSet {
    const NAME: &'static str = "breakpoint_set";
    const TITLE: &'static str = "Set a breakpoint";
    const DESCRIPTION: &'static str = "Set a breakpoint, conditional too: break, stop, pause at a line, function or \
        exception; says when it is not bound.";
    const EFFECT: Effect = Effect::Runs;
    const GROUP: Group = Group::Debug;
    const SHOWS_BUDGET: bool = false;
    const OUTPUT: &'static [(&'static str, &'static str)] =
        &[("id", "string"), ("bound", "boolean"), ("line", "integer")];
    type Arguments = Spot;

    fn run(call: &Call<'_>, arguments: Spot) -> Result<Draft> {
        let session = arguments.session.clone();
        let set = call.workspace.debugger()?.set_breakpoint(session.as_deref(), arguments.request()?)?;
        let draft = Draft::new(breakpoint(call, &set)).fact("id", set.id.as_str()).fact("bound", set.bound);
        Ok(match set.bound {
            true => draft.maybe("line", set.line),
            false => draft.more("breakpoint_list", with_session(json!({}), session.as_deref())),
        })
    }
}
