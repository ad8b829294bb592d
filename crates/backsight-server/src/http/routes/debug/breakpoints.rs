//! Where a debugged program pauses.

use backsight::Workspace;
use backsight::debug::debugger::BreakpointList;
use backsight::debug::session::Breakpoint;
use backsight_core::{Code, Result};
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::Nothing;
use super::ask::{About, BreakpointInput};
use super::{ADAPTER, SESSION, SOURCE};
use crate::http::operation::Operation;

pub fn operations() -> Vec<Operation> {
    vec![
        Operation::get("/api/debug/breakpoints", "breakpointList", "The breakpoints, and whether they are bound", list)
            .fails(&[SESSION]),
        Operation::post(
            "/api/debug/breakpoints",
            "breakpointSet",
            "Set a breakpoint, and say whether it is bound; one at the same place gets the new conditions",
            set,
        )
        .fails(&[SESSION, SOURCE, ADAPTER, &[Code::Conflict]]),
        Operation::post(
            "/api/debug/breakpoints/remove",
            "breakpointRemove",
            "Remove a breakpoint; that of a snapshot point ends the point",
            remove,
        )
        .fails(&[SESSION, ADAPTER, &[Code::RefNotFound]]),
    ]
}

fn list(workspace: &Workspace, input: About<Nothing>) -> Result<BreakpointList> {
    workspace.debugger()?.breakpoints(input.session())
}

fn set(workspace: &Workspace, input: About<BreakpointInput>) -> Result<Breakpoint> {
    let (session, input) = input.parts();
    workspace.debugger()?.set_breakpoint(session.as_deref(), input.request()?)
}

#[derive(Deserialize, JsonSchema)]
struct RemoveInput {
    /// The breakpoint's id: `bp-1`.
    id: String,
}

fn remove(workspace: &Workspace, input: About<RemoveInput>) -> Result<Breakpoint> {
    workspace.debugger()?.remove_breakpoint(input.session(), &input.ask.id)
}
