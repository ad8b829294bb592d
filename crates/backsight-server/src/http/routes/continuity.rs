//! Where the timeline stands, whether it and the disk are whole, and starting over with a reason.

use backsight::Workspace;
use backsight::report::{CurrentState, Reset, SyncReport};
use backsight::request::Behalf;
use backsight_core::Result;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{LOOK, Nothing, WRITE};
use crate::http::endpoint::Endpoint;

pub fn operations() -> Vec<Endpoint> {
    vec![
        Endpoint::get(
            "/api/continuity",
            "continuityState",
            "Where the timeline stands, without looking at the files",
            state,
        )
        .fails(&[&[backsight_core::Code::InvalidConfig]]),
        Endpoint::get(
            "/api/continuity/validate",
            "continuityValidate",
            "Whether every row is whole and the files are those of the latest snapshot",
            validate,
        )
        .fails(&[LOOK]),
        Endpoint::post(
            "/api/continuity/reset",
            "continuityReset",
            "Take the files and the timeline as they are and go on from there",
            reset,
        )
        .fails(&[LOOK, WRITE]),
    ]
}

fn state(workspace: &Workspace, _: Nothing) -> Result<CurrentState> {
    workspace.get_current_state()
}

fn validate(workspace: &Workspace, _: Nothing) -> Result<SyncReport> {
    workspace.validate_workspace_sync()
}

#[derive(Deserialize, JsonSchema)]
struct ResetInput {
    /// Why; it is kept in the timeline.
    #[schemars(regex(pattern = r"\S"))]
    reason: String,
    #[serde(flatten)]
    who: Behalf,
}

fn reset(workspace: &Workspace, input: ResetInput) -> Result<Reset> {
    workspace.reset_state_continuity(&input.reason, &input.who.origin(&[])?)
}
