//! A look at a paused program: its threads, calls and variables, and what it printed.

use backsight::Workspace;
use backsight::debug::capture::Safety;
use backsight::debug::session::{
    EvaluateRequest, EvaluatedView, OutputPage, StackView, ThreadView, VariablesPage, VariablesRequest,
};
use backsight_core::Result;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::Nothing;
use super::ask::{About, usage};
use super::{ADAPTER, PAUSED, SESSION};
use crate::debug_limits;
use crate::http::operation::Operation;

/// How many frames are told when nobody says.
const FRAMES: u32 = 20;
/// How much output is told at once when nobody says.
const OUTPUT: u64 = 64 << 10;
/// The most at once.
const MOST_OUTPUT: u64 = 1 << 20;

pub fn operations() -> Vec<Operation> {
    vec![
        Operation::get("/api/debug/threads", "debugThreads", "The program's threads", threads)
            .fails(&[SESSION, ADAPTER, PAUSED]),
        Operation::get("/api/debug/stack", "debugStack", "The calls a thread is in, innermost first", stack)
            .fails(&[SESSION, ADAPTER, PAUSED]),
        Operation::post(
            "/api/debug/variables",
            "debugVariables",
            "The variables of a frame, or what is inside one of them, page by page; nothing of the program runs",
            variables,
        )
        .fails(&[SESSION, ADAPTER, PAUSED]),
        Operation::post(
            "/api/debug/evaluate",
            "debugEvaluate",
            "The value of an expression; nothing of the program runs unless that is allowed",
            evaluate,
        )
        .fails(&[SESSION, ADAPTER, PAUSED]),
        Operation::get("/api/debug/output", "debugOutput", "What the program printed", output).fails(&[SESSION]),
    ]
}

/// The threads of a program.
#[derive(JsonSchema, Serialize)]
struct ThreadList {
    /// As the debugger orders them.
    threads: Vec<ThreadView>,
}

fn threads(workspace: &Workspace, input: About<Nothing>) -> Result<ThreadList> {
    Ok(ThreadList { threads: workspace.debugger()?.threads(input.session())? })
}

#[derive(Deserialize, JsonSchema)]
struct StackInput {
    /// The thread; the one that paused the program when left out.
    thread: Option<i64>,
    /// The first frame, 0 is the innermost.
    #[serde(default)]
    start: u32,
    /// How many frames; 20 when left out.
    #[schemars(range(min = 1, max = 1_000))]
    count: Option<u32>,
}

fn stack(workspace: &Workspace, input: About<StackInput>) -> Result<StackView> {
    let count = debug_limits::frames(input.ask.count, FRAMES)?;
    workspace.debugger()?.stack(input.session(), input.ask.thread, input.ask.start, count)
}

#[derive(Deserialize, JsonSchema)]
struct VariablesInput {
    /// The thread; the one that paused the program when left out.
    thread: Option<i64>,
    /// The frame, 0 is the innermost.
    #[serde(default)]
    frame: u32,
    /// The scope, by its name; the local ones when left out.
    scope: Option<String>,
    /// What is inside this: a path such as `order.items`, or an expression.
    expand: Option<String>,
    /// From which one on.
    #[serde(default)]
    start: u64,
    /// How many at most; as many as is usual when left out.
    #[schemars(range(min = 1, max = 10_000))]
    count: Option<u64>,
}

fn variables(workspace: &Workspace, input: About<VariablesInput>) -> Result<VariablesPage> {
    let (session, input) = input.parts();
    let VariablesInput { thread, frame, scope, expand, start, count } = input;
    let (count, safety) = (debug_limits::variables(count)?, Safety::Pure);
    let request = VariablesRequest { thread, frame, scope, expand, start, count, safety };
    workspace.debugger()?.variables(session.as_deref(), request)
}

#[derive(Deserialize, JsonSchema)]
struct EvaluateInput {
    /// In the program's language.
    expression: String,
    /// The thread; the one that paused the program when left out.
    thread: Option<i64>,
    /// The frame, 0 is the innermost.
    #[serde(default)]
    frame: u32,
    /// Only read: nothing of the program runs, and what would need that is refused; true when left out.
    safe: Option<bool>,
    /// How long it may take.
    #[schemars(range(min = 1, max = 60_000))]
    timeout_ms: Option<u64>,
}

fn evaluate(workspace: &Workspace, input: About<EvaluateInput>) -> Result<EvaluatedView> {
    let (session, input) = input.parts();
    let EvaluateInput { expression, thread, frame, safe, timeout_ms } = input;
    let timeout_ms = debug_limits::timeout(timeout_ms)?;
    let request = EvaluateRequest { expression, thread, frame, safe: safe.unwrap_or(true), timeout_ms };
    workspace.debugger()?.evaluate(session.as_deref(), request)
}

#[derive(Deserialize, JsonSchema)]
struct OutputInput {
    /// The number of the first piece: the `next` of the answer before.
    #[serde(default)]
    since: u64,
    /// About how many bytes at most; 65536 when left out.
    #[schemars(range(min = 1, max = 1_048_576))]
    max_bytes: Option<u64>,
}

fn output(workspace: &Workspace, input: About<OutputInput>) -> Result<OutputPage> {
    let most = input.ask.max_bytes.unwrap_or(OUTPUT);
    if !(1..=MOST_OUTPUT).contains(&most) {
        return Err(usage(format!("`max_bytes` is a number from 1 to {MOST_OUTPUT}")));
    }
    workspace.debugger()?.output(input.session(), input.ask.since, most as usize)
}
