//! Changes that nobody recorded: find them, ask whether to go on, do something about them.

use backsight::Workspace;
use backsight::report::{HandleResult, UnknownChangeResult, ValidationResult};
use backsight::request::Validation;
use backsight_core::{Code, Result};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{LOOK, PATH, PathText, Policy, WRITE};
use crate::http::endpoint::Endpoint;

pub fn operations() -> Vec<Endpoint> {
    vec![
        Endpoint::get(
            "/api/unknown",
            "unknownDetect",
            "What differs from the latest snapshot and was recorded by nobody",
            detect,
        )
        .fails(&[PATH, LOOK]),
        Endpoint::post("/api/unknown/check", "unknownCheck", "Whether a tool may write these files now", check)
            .fails(&[PATH, LOOK, WRITE]),
        Endpoint::post("/api/unknown/handle", "unknownHandle", "Refuse, list or record what is unknown", handle)
            .fails(&[PATH, LOOK, WRITE, &[Code::StateMismatch]]),
    ]
}

#[derive(Deserialize, JsonSchema)]
struct DetectInput {
    /// Only these paths and what lies below them.
    #[serde(default)]
    paths: Vec<PathText>,
}

fn detect(workspace: &Workspace, input: DetectInput) -> Result<UnknownChangeResult> {
    workspace.detect_unknown_modifications(&PathText::all(&input.paths)?)
}

#[derive(Deserialize, JsonSchema)]
struct CheckInput {
    /// Only these paths and what lies below them.
    #[serde(default)]
    paths: Vec<PathText>,
    #[serde(flatten)]
    policy: Policy,
    /// Do what the strategy says right away.
    #[serde(default)]
    handle: bool,
}

fn check(workspace: &Workspace, input: CheckInput) -> Result<ValidationResult> {
    let options = Validation { unknown: input.policy.unknown(), auto_handle: input.handle };
    workspace.validate_file_state_before_snapshot(&PathText::all(&input.paths)?, &options)
}

#[derive(Deserialize, JsonSchema)]
struct HandleInput {
    /// Only these paths and what lies below them.
    #[serde(default)]
    paths: Vec<PathText>,
    #[serde(flatten)]
    policy: Policy,
}

fn handle(workspace: &Workspace, input: HandleInput) -> Result<HandleResult> {
    workspace.handle_unknown_changes(&PathText::all(&input.paths)?, &input.policy.unknown())
}
