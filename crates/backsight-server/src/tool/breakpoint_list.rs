//! The breakpoints of a session.

use backsight_core::Result;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::debugging::{breakpoint, with_session};
use super::{Call, Definition, Effect, Group, cursor};
use crate::reply::{Draft, Next};
use crate::words;

pub struct BreakpointList;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    #[schemars(skip)]
    session: Option<String>,
    #[schemars(skip)]
    cursor: Option<String>,
}

impl Definition for BreakpointList {
    const NAME: &'static str = "breakpoint_list";
    const TITLE: &'static str = "List breakpoints";
    const DESCRIPTION: &'static str = "List the breakpoints, and which are not bound.";
    const EFFECT: Effect = Effect::Reads;
    const GROUP: Group = Group::Debug;
    const SHOWS_BUDGET: bool = false;
    const OUTPUT: &'static [(&'static str, &'static str)] = &[("breakpoints", "array")];
    type Arguments = Arguments;

    fn run(call: &Call<'_>, arguments: Arguments) -> Result<Draft> {
        let session = arguments.session.as_deref();
        let list = call.workspace.debugger()?.breakpoints(session)?.breakpoints;
        let lines = list.iter().map(|one| breakpoint(call, one)).collect();
        let unbound = list.iter().filter(|one| !one.bound).count();
        let rest = if unbound > 0 { format!(", {unbound} of them not bound") } else { String::new() };
        let more = Next::new(Self::NAME, with_session(json!({}), session));
        let draft = Draft::new(format!("{}{rest}", words::count(list.len(), "breakpoint")));
        Ok(draft.list_from("breakpoints", lines, cursor(arguments.cursor.as_deref())?, more))
    }
}
