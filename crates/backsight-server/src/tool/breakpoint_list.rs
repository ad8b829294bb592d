//! The breakpoints of a session.

use backsight::debug::request::ListBreakpoints;
use backsight_core::Result;
use serde_json::json;

use super::debugging::{breakpoint, objects, with_session};
use super::{Asking, Call, Group, Shown, cursor};
use crate::reply::{Draft, Next};
use crate::words;

pub struct BreakpointList;

impl Asking for BreakpointList {
    const NAME: &'static str = "breakpoint_list";
    const TITLE: &'static str = "List breakpoints";
    const DESCRIPTION: &'static str = "List the breakpoints, and which are not bound.";
    const GROUP: Group = Group::Debug;
    const PAGES: bool = true;
    const SHOWN: &'static [Shown] = &[];
    const OUTPUT: &'static [(&'static str, &'static str)] = &[("breakpoints", "array")];
    type Request = ListBreakpoints;

    fn run(call: &Call<'_>, request: ListBreakpoints) -> Result<Draft> {
        let session = request.session.clone();
        let session = session.as_deref();
        let list = call.workspace.perform(request)?.breakpoints;
        let lines = list.iter().map(|one| breakpoint(call, one)).collect();
        let told = list.iter().map(|one| objects::breakpoint(call, one)).collect();
        let unbound = list.iter().filter(|one| !one.bound).count();
        let rest = if unbound > 0 { format!(", {unbound} of them not bound") } else { String::new() };
        let more = Next::new(Self::NAME, with_session(json!({}), session));
        let draft = Draft::new(format!("{}{rest}", words::count(list.len(), "breakpoint")));
        Ok(draft.list_from("breakpoints", lines, cursor(call.cursor)?, more).told_as(told))
    }
}
