//! Recording: snapshots, and tool calls that begin and finish.

use backsight::Workspace;
use backsight::report::{Begun, Call, Tracked};
use backsight::request::{Begin, Behalf, Finish, Track};
use backsight_core::{Code, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LOOK, Nothing, PATH, PathText, Policy, WRITE};
use crate::http::endpoint::Endpoint;

const RECORD: &[Code] = &[Code::StateMismatch];
const CALL: &[Code] = &[Code::CallNotFound];

pub fn operations() -> Vec<Endpoint> {
    vec![
        Endpoint::post("/api/track", "track", "Record the files as they are", track)
            .fails(&[RECORD, PATH, LOOK, WRITE]),
        Endpoint::post("/api/begin", "begin", "Begin a tool call: what it writes becomes its step", begin)
            .fails(&[RECORD, PATH, LOOK, WRITE]),
        Endpoint::post("/api/finish", "finish", "Finish a tool call: record what it wrote as its step", finish)
            .fails(&[CALL, RECORD, PATH, LOOK, WRITE]),
        Endpoint::post("/api/abandon", "abandon", "Give a tool call up: record nothing", abandon).fails(&[CALL, WRITE]),
        Endpoint::get("/api/calls", "openCalls", "Tool calls that began and have not finished", open_calls),
    ]
}

#[derive(Deserialize, JsonSchema)]
struct TrackInput {
    /// What this step is.
    #[serde(default)]
    description: String,
    #[serde(flatten)]
    who: Behalf,
    /// The paths the tool wrote: what else changed is not its own, and a revert leaves that alone.
    #[serde(default)]
    declare: Vec<PathText>,
    #[serde(flatten)]
    policy: Policy,
    /// Keep this snapshot through every retention rule.
    #[serde(default)]
    pin: bool,
}

fn track(workspace: &Workspace, input: TrackInput) -> Result<Tracked> {
    let TrackInput { description, who, declare, policy, pin } = input;
    let origin = who.origin(&declare)?;
    workspace.track_with(&Track { description, origin, unknown: policy.unknown(), pinned: pin })
}

#[derive(Deserialize, JsonSchema)]
struct BeginInput {
    #[serde(flatten)]
    who: Behalf,
    /// The paths the tool will write, if it knows.
    #[serde(default)]
    declare: Vec<PathText>,
    #[serde(flatten)]
    policy: Policy,
}

fn begin(workspace: &Workspace, input: BeginInput) -> Result<Begun> {
    let BeginInput { who, declare, policy } = input;
    workspace.begin(&Begin { origin: who.origin(&declare)?, unknown: policy.unknown(), title: None })
}

#[derive(Deserialize, JsonSchema)]
struct FinishInput {
    /// The id that `begin` gave.
    call: String,
    /// What the call did.
    #[serde(default)]
    description: String,
    /// The paths the call wrote, instead of what it declared when it began.
    #[serde(default)]
    declare: Vec<PathText>,
    #[serde(flatten)]
    policy: Policy,
    /// Keep this snapshot through every retention rule.
    #[serde(default)]
    pin: bool,
}

fn finish(workspace: &Workspace, input: FinishInput) -> Result<Tracked> {
    let FinishInput { call, description, declare, policy, pin } = input;
    let declared = PathText::all(&declare)?;
    workspace.finish(&Finish {
        call,
        description,
        declared,
        unknown: policy.unknown(),
        pinned: pin,
        ..Finish::default()
    })
}

#[derive(Deserialize, JsonSchema)]
struct AbandonInput {
    /// The id that `begin` gave.
    call: String,
}

fn abandon(workspace: &Workspace, input: AbandonInput) -> Result<Call> {
    workspace.abandon(&input.call)
}

/// Tool calls at work.
#[derive(JsonSchema, Serialize)]
struct OpenCalls {
    /// Each of them.
    open_calls: Vec<Call>,
}

fn open_calls(workspace: &Workspace, _: Nothing) -> Result<OpenCalls> {
    Ok(OpenCalls { open_calls: workspace.open_calls()? })
}
