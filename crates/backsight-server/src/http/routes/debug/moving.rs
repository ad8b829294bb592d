//! Programs are started or attached to, go on, and are let go of.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use backsight::Workspace;
use backsight::debug::debugger::{Disconnected, Moved, SessionList, SessionView};
use backsight::debug::session::{Attach, Launch};
use backsight_core::{Code, Result};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::super::Nothing;
use super::ask::{About, Action, BreakpointInput, wait};
use super::{ADAPTER, PAUSED, SESSION, SOURCE};
use crate::http::operation::Operation;

/// A session begins.
const BEGINS: &[Code] = &[Code::AdapterNotFound, Code::ProgramNotFound, Code::InvalidName, Code::Conflict];

pub fn operations() -> Vec<Operation> {
    vec![
        Operation::get("/api/debug/sessions", "debugSessions", "The programs that are being debugged", sessions)
            .fails(&[&[Code::InvalidConfig]]),
        Operation::post(
            "/api/debug/launch",
            "debugLaunch",
            "Start a program under its debugger and wait for its first stop",
            launch,
        )
        .fails(&[SESSION, BEGINS, SOURCE, ADAPTER, PAUSED]),
        Operation::post("/api/debug/attach", "debugAttach", "Debug a program that runs already", attach)
            .fails(&[SESSION, BEGINS, SOURCE, ADAPTER, PAUSED]),
        Operation::get(
            "/api/debug/state",
            "debugState",
            "Where the program is; of a running one, after waiting for its next stop",
            state,
        )
        .fails(&[SESSION, ADAPTER, PAUSED]),
        Operation::post(
            "/api/debug/control",
            "debugControl",
            "Let the program go on, or pause it, and wait for what comes of it; `still_running` is an answer",
            control,
        )
        .fails(&[SESSION, SOURCE, ADAPTER, PAUSED]),
        Operation::post(
            "/api/debug/disconnect",
            "debugDisconnect",
            "Let go of the program; its snapshots are cleared",
            disconnect,
        )
        .fails(&[SESSION, ADAPTER]),
    ]
}

fn sessions(workspace: &Workspace, _: Nothing) -> Result<SessionList> {
    Ok(workspace.debugger()?.list())
}

#[derive(Deserialize, JsonSchema)]
struct LaunchInput {
    /// The program: a script, a binary, a Go package; relative to the workspace.
    program: PathBuf,
    /// Its arguments.
    #[serde(default)]
    arguments: Vec<String>,
    /// The directory it runs in; the workspace when left out.
    #[serde(default)]
    directory: PathBuf,
    /// What its environment has beyond the server's.
    #[serde(default)]
    environment: BTreeMap<String, String>,
    /// The debugger's name; the one for the program when left out.
    adapter: Option<String>,
    /// The interpreter, or the debugger's own program; one is looked for when left out.
    runtime: Option<PathBuf>,
    /// Pause before anything of the program runs.
    #[serde(default)]
    stop_on_entry: bool,
    /// Set before anything of the program runs.
    #[serde(default)]
    breakpoints: Vec<BreakpointInput>,
    /// More for the debugger's own `launch`, as it is.
    #[serde(default)]
    options: Map<String, Value>,
    /// How long to wait for the first stop; 10000 when left out.
    #[schemars(range(max = 60_000))]
    wait_ms: Option<u64>,
}

fn launch(workspace: &Workspace, input: About<LaunchInput>) -> Result<Moved> {
    let (session, input) = input.parts();
    let launch = Launch {
        program: input.program,
        arguments: input.arguments,
        directory: input.directory,
        environment: input.environment.into_iter().collect(),
        adapter: input.adapter,
        runtime: input.runtime,
        stop_on_entry: input.stop_on_entry,
        breakpoints: input.breakpoints.into_iter().map(BreakpointInput::request).collect::<Result<_>>()?,
        options: input.options,
        wait: wait(input.wait_ms)?,
    };
    workspace.debug_launch(session.as_deref(), launch)
}

#[derive(Deserialize, JsonSchema)]
struct AttachInput {
    /// The debugger's name.
    adapter: String,
    /// The process.
    pid: Option<u32>,
    /// The port of a debugger that waits, instead of a process.
    #[schemars(range(min = 1))]
    port: Option<u16>,
    /// The address of the port; this machine when left out.
    #[serde(default)]
    host: String,
    /// The debugger's own program; one is looked for when left out.
    runtime: Option<PathBuf>,
    /// Set at once.
    #[serde(default)]
    breakpoints: Vec<BreakpointInput>,
    /// More for the debugger's own `attach`, as it is.
    #[serde(default)]
    options: Map<String, Value>,
    /// How long to wait for the first stop; 0 when left out, since a program that runs may never pause.
    #[schemars(range(max = 60_000))]
    wait_ms: Option<u64>,
}

fn attach(workspace: &Workspace, input: About<AttachInput>) -> Result<Moved> {
    let (session, input) = input.parts();
    let attach = Attach {
        adapter: input.adapter,
        pid: input.pid,
        host: input.host,
        port: input.port,
        runtime: input.runtime,
        breakpoints: input.breakpoints.into_iter().map(BreakpointInput::request).collect::<Result<_>>()?,
        options: input.options,
        wait: wait(input.wait_ms.or(Some(0)))?,
        ..Attach::default()
    };
    workspace.debug_attach(session.as_deref(), attach)
}

#[derive(Deserialize, JsonSchema)]
struct StateInput {
    /// How long to wait for a running program's next stop; 0 when left out.
    #[schemars(range(max = 60_000))]
    wait_ms: Option<u64>,
}

fn state(workspace: &Workspace, input: About<StateInput>) -> Result<SessionView> {
    workspace.debug_state(input.session(), wait(input.ask.wait_ms.or(Some(0)))?)
}

#[derive(Deserialize, JsonSchema)]
struct ControlInput {
    /// What the program shall do.
    action: Action,
    /// Where `run_to` goes: a source file, relative to the workspace.
    file: Option<PathBuf>,
    /// The line of that file, from 1.
    #[schemars(range(min = 1))]
    line: Option<u32>,
    /// The thread to step; the one that paused the program when left out.
    thread: Option<i64>,
    /// How long to wait for the next stop; 10000 when left out.
    #[schemars(range(max = 60_000))]
    wait_ms: Option<u64>,
}

fn control(workspace: &Workspace, input: About<ControlInput>) -> Result<Moved> {
    let (session, input) = input.parts();
    let limit: Duration = wait(input.wait_ms)?;
    let control = input.action.control(input.file, input.line)?;
    workspace.debug_control(session.as_deref(), control, input.thread, limit)
}

#[derive(Deserialize, JsonSchema)]
struct DisconnectInput {
    /// Whether the program ends too; one that was started does and one that was attached to does not, when left out.
    end_program: Option<bool>,
}

fn disconnect(workspace: &Workspace, input: About<DisconnectInput>) -> Result<Disconnected> {
    workspace.debugger()?.disconnect(input.session(), input.ask.end_program)
}
