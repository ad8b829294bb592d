//! Every operation of the API.

use backsight::Workspace;
use backsight::report::{Tracked, WorkspaceStatus};
use backsight_core::{Code, Result};
use schemars::JsonSchema;
use serde::Deserialize;

use super::operation::Operation;

/// Every operation, in the order of the document.
pub fn all() -> Vec<Operation> {
    vec![
        Operation::get("/api/status", "status", "What changed on disk since the latest snapshot", status),
        Operation::post("/api/track", "track", "Record the files as they are", track).fails(&[Code::StateMismatch]),
    ]
}

/// Nothing beside the address.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

fn status(workspace: &Workspace, _: Nothing) -> Result<WorkspaceStatus> {
    workspace.status()
}

fn track(workspace: &Workspace, _: Nothing) -> Result<Tracked> {
    workspace.track()
}
