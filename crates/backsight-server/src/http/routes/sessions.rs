//! Sessions: agent conversations, with the bodies and spellings of seed 002.

use backsight::report::{
    OnConflict, Phase, Session, SessionDetail, SessionDiff, SessionReverted, SessionStarted, SessionTracked,
    SessionUnreverted,
};
use backsight::request::{self, NewSession, RevertSession, SessionTrack, Sessions, Unrevert};
use backsight::{PlanToken, Workspace};
use backsight_core::{Code, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ID, LOOK, PATH, PathText, Policy, WRITE};
use crate::http::endpoint::Endpoint;

const SESSION: &[Code] = &[Code::SessionNotFound, Code::RefAmbiguous];
const MESSAGE: &[Code] = &[Code::SessionNotFound, Code::MessageNotFound, Code::RefAmbiguous];
/// How what changes files can fail.
const GOING: &[Code] = &[Code::Conflict, Code::NotCovered, Code::RefExpired, Code::StateMismatch];

/// As many sessions as a list has when nobody says.
const PAGE: u32 = 20;

pub fn operations() -> Vec<Endpoint> {
    vec![
        Endpoint::post("/session", "sessionStart", "Start a session, with a snapshot of what is there", start)
            .fails(&[LOOK, WRITE]),
        Endpoint::get("/session", "sessionList", "The sessions, the latest first", list),
        Endpoint::get("/session/{id}", "sessionShow", "One session: its messages and where it is reverted to", show)
            .fails(&[SESSION]),
        Endpoint::post("/session/{id}/track", "sessionTrack", "Record what a message does, before and after it", track)
            .fails(&[SESSION, PATH, LOOK, WRITE, &[Code::StateMismatch, Code::CallNotFound]]),
        Endpoint::get("/session/{id}/diff", "sessionDiff", "What the session itself changed and is in effect", diff)
            .fails(&[MESSAGE, PATH, &[Code::RefExpired]]),
        Endpoint::post(
            "/session/{id}/revert",
            "sessionRevert",
            "Take the session back to before a message, or before a part of it",
            revert,
        )
        .fails(&[MESSAGE, GOING, LOOK, WRITE]),
        Endpoint::post("/session/{id}/unrevert", "sessionUnrevert", "Take the session's reverts back", unrevert)
            .fails(&[SESSION, GOING, &[Code::NothingToUnrevert], LOOK, WRITE]),
    ]
}

#[derive(Deserialize, JsonSchema)]
struct StartInput {
    /// Its id; a random one when left out.
    #[schemars(length(max = 200), regex(pattern = ID))]
    id: Option<String>,
    /// What a person calls it.
    title: Option<String>,
}

fn start(workspace: &Workspace, input: StartInput) -> Result<SessionStarted> {
    workspace.start_session(&NewSession { id: input.id, title: input.title })
}

#[derive(Deserialize, JsonSchema)]
struct ListInput {
    /// At most this many; 0 means all, 20 unless told otherwise.
    limit: Option<u32>,
}

/// The sessions.
#[derive(JsonSchema, Serialize)]
struct SessionList {
    /// The latest first.
    sessions: Vec<Session>,
    /// Whether there are more than were asked for.
    has_more: bool,
}

fn list(workspace: &Workspace, input: ListInput) -> Result<SessionList> {
    let wanted = input.limit.unwrap_or(PAGE) as usize;
    // One more than is wanted says whether there are more.
    let limit = if wanted == 0 { 0 } else { wanted.saturating_add(1) };
    let mut sessions = workspace.sessions(&Sessions { limit })?;
    let has_more = wanted > 0 && sessions.len() > wanted;
    if has_more {
        sessions.truncate(wanted);
    }
    Ok(SessionList { sessions, has_more })
}

#[derive(Deserialize, JsonSchema)]
struct ShowInput {
    /// Which session: its id, or at least four characters that it begins with.
    #[schemars(length(max = 200), regex(pattern = ID), example = &"s1")]
    id: String,
}

fn show(workspace: &Workspace, input: ShowInput) -> Result<SessionDetail> {
    workspace.session(&input.id)
}

#[derive(Deserialize, JsonSchema)]
struct TrackInput {
    /// Which session: its id, or at least four characters that it begins with.
    #[schemars(length(max = 200), regex(pattern = ID), example = &"s1")]
    id: String,
    /// The message; `before` and `after` need one.
    #[serde(rename = "messageID")]
    #[schemars(length(max = 200), regex(pattern = ID), example = &"m1")]
    message: Option<String>,
    /// The part of the message.
    #[serde(rename = "partID")]
    #[schemars(length(max = 200), regex(pattern = ID))]
    part: Option<String>,
    /// Whether the message's work is about to begin, has ended, or neither is said.
    #[serde(default)]
    phase: Phase,
    /// The tool that makes the change.
    #[schemars(length(max = 100), regex(pattern = ID))]
    tool: Option<String>,
    /// What was done.
    #[serde(default)]
    description: String,
    /// The paths the message writes: what else changed is not its own.
    #[serde(default)]
    declare: Vec<PathText>,
    #[serde(flatten)]
    policy: Policy,
}

fn track(workspace: &Workspace, input: TrackInput) -> Result<SessionTracked> {
    let TrackInput { id, message, part, phase, tool, description, declare, policy } = input;
    let (declared, unknown) = (PathText::all(&declare)?, policy.unknown());
    workspace.track_session(&SessionTrack { session: id, message, part, phase, tool, description, declared, unknown })
}

#[derive(Deserialize, JsonSchema)]
struct DiffInput {
    /// Which session: its id, or at least four characters that it begins with.
    #[schemars(length(max = 200), regex(pattern = ID), example = &"s1")]
    id: String,
    /// Only this message.
    #[serde(rename = "messageID")]
    #[schemars(length(max = 200), regex(pattern = ID), example = &"m1")]
    message: Option<String>,
    /// Only these paths and what lies below them.
    #[serde(default)]
    paths: Vec<PathText>,
    /// Leave out the text of files with more bytes than this, and say so; 8 MiB unless told otherwise.
    max_file_bytes: Option<u64>,
}

fn diff(workspace: &Workspace, input: DiffInput) -> Result<SessionDiff> {
    let usual = request::SessionDiff::new(input.id);
    workspace.session_diff(&request::SessionDiff {
        message: input.message,
        paths: PathText::all(&input.paths)?,
        max_file_bytes: input.max_file_bytes.unwrap_or(usual.max_file_bytes),
        ..usual
    })
}

#[derive(Deserialize, JsonSchema)]
struct RevertInput {
    /// Which session: its id, or at least four characters that it begins with.
    #[schemars(length(max = 200), regex(pattern = ID), example = &"s1")]
    id: String,
    /// This message and everything later of the session is undone.
    #[serde(rename = "messageID")]
    #[schemars(length(max = 200), regex(pattern = ID), example = &"m1")]
    message: String,
    /// Only from this part of the message on.
    #[serde(rename = "partID")]
    #[schemars(length(max = 200), regex(pattern = ID))]
    part: Option<String>,
    /// What to do where later edits overlap.
    #[serde(default)]
    on_conflict: OnConflict,
    /// Say what would be done and change nothing.
    #[serde(default)]
    dry_run: bool,
    /// Only the plan with this token, which a dry run answered with; any other is refused, with what changed since.
    plan: Option<PlanToken>,
}

fn revert(workspace: &Workspace, input: RevertInput) -> Result<SessionReverted> {
    let RevertInput { id, message, part, on_conflict, dry_run, plan } = input;
    workspace.revert_session(&RevertSession {
        session: id,
        message,
        part,
        on_conflict,
        dry_run,
        plan,
        ..RevertSession::default()
    })
}

#[derive(Deserialize, JsonSchema)]
struct UnrevertInput {
    /// Which session: its id, or at least four characters that it begins with.
    #[schemars(length(max = 200), regex(pattern = ID), example = &"s1")]
    id: String,
    /// What to do where later edits overlap.
    #[serde(default)]
    on_conflict: OnConflict,
    /// Say what would be done and change nothing.
    #[serde(default)]
    dry_run: bool,
    /// Only the plan with this token, which a dry run answered with; any other is refused, with what changed since.
    plan: Option<PlanToken>,
}

fn unrevert(workspace: &Workspace, input: UnrevertInput) -> Result<SessionUnreverted> {
    let UnrevertInput { id, on_conflict, dry_run, plan } = input;
    workspace.unrevert_session(&Unrevert { session: id, on_conflict, dry_run, plan, ..Unrevert::default() })
}
