//! Sets a breakpoint.

use backsight::debug::request::SetBreakpoint;
use backsight_core::Result;
use serde_json::json;

use super::debugging::{breakpoint, short, with_session};
use super::{Asking, Call, Group, Shown};
use crate::reply::Draft;

pub struct BreakpointSet;

impl Asking for BreakpointSet {
    const NAME: &'static str = "breakpoint_set";
    const TITLE: &'static str = "Set a breakpoint";
    const DESCRIPTION: &'static str = "Set a breakpoint, conditional too: break, stop, pause at a line, function or \
        exception; says when it is not bound.";
    const GROUP: Group = Group::Debug;
    const SHOWN: &'static [Shown] = &[
        Shown::new("file"),
        Shown::new("line"),
        Shown::new("function"),
        Shown::new("exception").saying("all, uncaught"),
        Shown::new("condition"),
        Shown::new("hit_count").text(),
        Shown::new("log_message").saying("printed instead; {x} is x"),
    ];
    const OUTPUT: &'static [(&'static str, &'static str)] =
        &[("id", "string"), ("bound", "boolean"), ("line", "integer"), ("message", "string")];
    type Request = SetBreakpoint;

    fn run(call: &Call<'_>, request: SetBreakpoint) -> Result<Draft> {
        let session = request.session.clone();
        let set = call.workspace.perform(request)?;
        let draft =
            Draft::new(breakpoint(call, &set)).brief("set").fact("id", set.id.as_str()).fact("bound", set.bound);
        Ok(match set.bound {
            true => draft.maybe("line", set.line),
            false => draft
                .maybe("message", set.message.as_deref().map(|text| short(call, text)))
                .more("breakpoint_list", with_session(json!({}), session.as_deref())),
        })
    }
}
