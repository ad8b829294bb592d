//! Removes a breakpoint.

use backsight::debug::request::RemoveBreakpoint;
use backsight_core::{Code, Result};
use serde_json::json;

use super::debugging::{breakpoint, with_session};
use super::{Asking, Call, Group, Shown};
use crate::reply::Draft;

pub struct BreakpointRemove;

impl Asking for BreakpointRemove {
    const NAME: &'static str = "breakpoint_remove";
    const TITLE: &'static str = "Remove a breakpoint";
    const DESCRIPTION: &'static str = "Remove, delete a breakpoint or snapshot point.";
    const GROUP: Group = Group::Debug;
    const SHOWN: &'static [Shown] = &[Shown::new("id")];
    const OUTPUT: &'static [(&'static str, &'static str)] = &[("id", "string")];
    type Request = RemoveBreakpoint;

    fn run(call: &Call<'_>, request: RemoveBreakpoint) -> Result<Draft> {
        let session = request.session.clone();
        let session = session.as_deref();
        let removed = call.workspace.perform(request);
        let removed = removed.map_err(|error| match error.code() {
            Code::RefNotFound => {
                let error = error.with_hint("name one as breakpoint_list does");
                error.with_next("breakpoint_list", with_session(json!({}), session))
            }
            _ => error,
        })?;
        Ok(Draft::new(format!("removed {}", breakpoint(call, &removed))).brief("removed").fact("id", removed.id))
    }
}
