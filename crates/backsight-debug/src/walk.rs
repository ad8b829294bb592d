//! Captures what a paused program holds, under a budget of time and values. Where a debugger can be given a program of ours,
//! one request walks everything inside it and nothing of the user's runs; elsewhere variables are asked for level by level.

mod asked;
mod decode;
mod lldb;
mod memory;
pub(crate) mod page;
pub(crate) mod python;
mod signature;
mod told;

use std::time::Duration;

use backsight_core::{Code, Error, NextStep, Result};
use serde_json::{Value, json};

use crate::adapters::Walker;
use crate::capture::{Capture, FrameCapture, Incomplete, Safety};
use crate::session::engine::{Engine, PATIENCE, Paused};
use crate::session::inspect::{EvaluateRequest, EvaluatedView, thread_of, unsafe_expression};
use told::{Told, ToldNode};

/// How many elements from the beginning of a long list are captured.
const HEAD: u64 = 8;
/// And from its end.
const TAIL: u64 = 4;
/// What a walker may take beyond its own limit before it is given up on.
const GRACE: Duration = Duration::from_secs(2);

/// What to capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturePlan {
    /// The thread; without it the one that paused the program.
    pub thread: Option<i64>,
    /// The first frame, 0 is the innermost.
    pub frame: u32,
    /// How many frames from there outwards.
    pub frames: Frames,
    /// Also the other threads, each from its innermost frame.
    pub all_threads: bool,
    /// How deep values are expanded: 0 is the variables themselves.
    pub depth: u32,
    /// Expressions to evaluate in the first frame.
    pub watches: Vec<String>,
    /// Of the frames only these expressions, and not their variables.
    pub only_watches: bool,
    /// What may run.
    pub safety: Safety,
    /// How long it may take; what is not seen by then is said.
    pub limit: Duration,
    /// How many values at most.
    pub max_nodes: usize,
    /// One of two in a row, for which a caller waits: hashes may take half of the usual time.
    pub in_a_row: bool,
}

/// How many frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Frames {
    /// One.
    #[default]
    Top,
    /// So many.
    Count(u32),
    /// All there are, up to a bound that is said when it is met.
    All,
}

/// More frames than anybody reads.
const MOST_FRAMES: u32 = 200;

impl Default for CapturePlan {
    fn default() -> Self {
        CapturePlan {
            thread: None,
            frame: 0,
            frames: Frames::Top,
            all_threads: false,
            depth: 0,
            watches: Vec::new(),
            only_watches: false,
            safety: Safety::Pure,
            limit: Duration::from_secs(2),
            max_nodes: 20_000,
            in_a_row: false,
        }
    }
}

impl Frames {
    fn count(self) -> u32 {
        match self {
            Frames::Top => 1,
            Frames::Count(count) => count.clamp(1, MOST_FRAMES),
            Frames::All => MOST_FRAMES,
        }
    }
}

/// What was found, before it is a capture.
struct Found {
    frames: Vec<FrameCapture>,
    incomplete: Vec<Incomplete>,
    stack_depth: Option<u32>,
}

/// One look at the paused program. If the program moves meanwhile there is no capture.
pub(crate) async fn capture(engine: &Engine, paused: &Paused, plan: &CapturePlan) -> Result<Capture> {
    engine.idle()?;
    let thread = thread_of(paused, plan.thread)?;
    // That the frame exists is asked first: a capture of nothing would look like a frame without variables.
    engine.frame_id(paused, Some(thread), plan.frame).await?;
    let found = find(engine, paused, thread, plan).await?;
    engine.still(paused)?;
    let mut found = found;
    if plan.frames == Frames::All && found.stack_depth.is_some_and(|depth| depth > plan.frame + MOST_FRAMES) {
        let reason = format!("{} frames, {MOST_FRAMES} captured", found.stack_depth.unwrap_or_default());
        found.incomplete.push(Incomplete::new("", reason));
    }
    if found.frames.is_empty() {
        let message = format!("`{}` told no frame of thread {thread}", engine.adapter.name);
        return Err(Error::new(Code::AdapterFailed, message));
    }
    Ok(Capture {
        id: String::new(),
        label: String::new(),
        number: 0,
        timestamp: (engine.clock)(),
        thread_id: thread,
        stack_depth: found.stack_depth,
        depth: plan.depth,
        safety: plan.safety,
        frames: found.frames,
        incomplete: found.incomplete,
    })
}

async fn find(engine: &Engine, paused: &Paused, thread: i64, plan: &CapturePlan) -> Result<Found> {
    let quirks = &engine.adapter.quirks;
    let walker = if plan.safety == Safety::Pure { quirks.walker } else { Walker::None };
    let walked = match walker {
        Walker::None => None,
        walker => Some(walked(engine, paused, thread, plan, walker, true).await),
    };
    match walked {
        Some(Ok(told)) => Ok(told.into()),
        // The debugger has no place for a program of ours; asking it step by step runs nothing either.
        Some(Err(error)) if error.code() == Code::AdapterFailed && !quirks.runs_code => {
            let mut found = asked::capture(engine, paused, thread, plan).await?;
            let reason = format!("asked step by step, since the walker failed: {}", error.message());
            found.incomplete.push(Incomplete::new("", reason));
            Ok(found)
        }
        Some(Err(error)) => Err(error),
        None if plan.safety == Safety::Pure && quirks.runs_code => Err(runs_code(engine)),
        None => asked::capture(engine, paused, thread, plan).await,
    }
}

/// Gives the walker to the debugger before the program runs, where it can be: then nothing of the program's can be in the place
/// of what the walker uses. What fails here is tried again, and told, when somebody asks for variables.
pub(crate) async fn prepare(engine: &Engine) {
    if engine.adapter.quirks.walker == Walker::Python {
        let _ = python::prepare(engine).await;
    }
}

/// What a walker tells of a plan; without hashes only what is shown counts.
async fn walked(
    engine: &Engine,
    paused: &Paused,
    thread: i64,
    plan: &CapturePlan,
    walker: Walker,
    hash: bool,
) -> Result<Told> {
    let mut arguments = arguments(plan, thread);
    arguments["hash"] = json!(hash);
    let patience = plan.limit + GRACE;
    let told = match walker {
        Walker::None => return Err(runs_code(engine)),
        Walker::Python => python::call(engine, paused, thread, "capture", &arguments, patience).await?,
        Walker::Lldb => {
            let frame = engine.frame_id(paused, Some(thread), plan.frame).await?;
            lldb::call(engine, "capture", &arguments, frame, patience).await?
        }
        Walker::Inspector => engine.ask("backsight/capture", arguments, patience).await?,
    };
    if let Some(error) = told["error"].as_str() {
        return Err(Error::new(Code::AdapterFailed, error.to_owned()));
    }
    Told::read(told)
}

/// Asks the walker of Python something about the paused thread.
pub(crate) async fn ask_python(
    engine: &Engine,
    paused: &Paused,
    thread: i64,
    function: &str,
    arguments: Value,
) -> Result<Value> {
    python::call(engine, paused, thread, function, &arguments, PATIENCE).await
}

/// Asks LLDB's walker something about a frame.
pub(crate) async fn ask_lldb(
    engine: &Engine,
    paused: &Paused,
    thread: i64,
    frame: u32,
    function: &str,
    mut arguments: Value,
) -> Result<Value> {
    (arguments["thread"], arguments["frame"]) = (json!(thread), json!(frame));
    let id = engine.frame_id(paused, Some(thread), frame).await?;
    lldb::call(engine, function, &arguments, id, PATIENCE).await
}

/// Reads any bytes as what a walker answers; whether they are such an answer.
pub(crate) fn read_bytes(bytes: &[u8]) -> bool {
    let told = serde_json::from_slice(bytes).ok().and_then(|body| Told::read(body).ok());
    told.map(Found::from).is_some()
}

fn runs_code(engine: &Engine) -> Error {
    let message = format!("`{}` runs the program's code to show its variables", engine.adapter.name);
    Error::new(Code::AdapterFailed, message).then("allow that", NextStep::WithProgramsCode)
}

/// An expression whose evaluation runs nothing.
pub(crate) async fn evaluate(
    engine: &Engine,
    paused: &Paused,
    request: &EvaluateRequest,
    patience: Duration,
) -> Result<EvaluatedView> {
    let thread = thread_of(paused, request.thread)?;
    let frame = engine.frame_id(paused, Some(thread), request.frame).await?;
    let arguments = json!({ "expression": request.expression, "frame": request.frame, "thread": thread });
    let answer = match engine.adapter.quirks.walker {
        Walker::Python => python::call(engine, paused, thread, "evaluate", &arguments, patience).await?,
        Walker::Lldb => lldb::call(engine, "evaluate", &arguments, frame, patience).await?,
        Walker::Inspector => {
            let limit = patience.as_millis() as u64;
            let arguments = json!({ "expression": request.expression, "frameId": frame, "timeout": limit });
            // V8 ends it itself, and only then answers.
            engine.ask("backsight/evaluate", arguments, patience + GRACE).await?
        }
        Walker::None => return Err(unsafe_expression("there is no way to evaluate without running code")),
    };
    engine.still(paused)?;
    if let Some(why) = answer["refused"].as_str() {
        return Err(unsafe_expression(why));
    }
    if let Some(error) = answer["error"].as_str() {
        return Err(Error::new(Code::AdapterFailed, format!("`{}`: {error}", request.expression)));
    }
    let node: ToldNode = serde_json::from_value(answer["v"].clone())
        .map_err(|error| Error::new(Code::AdapterFailed, format!("the walker's answer cannot be read: {error}")))?;
    Ok(EvaluatedView {
        epoch: paused.epoch,
        value: node.shown(),
        kind: Some(node.kind.clone()),
        expandable: node.is_open(),
        length: node.length,
        may_have_run_code: false,
    })
}

/// A plan as the walkers take it.
fn arguments(plan: &CapturePlan, thread: i64) -> Value {
    json!({
        "thread": thread, "frame": plan.frame, "frames": plan.frames.count(), "threads": plan.all_threads,
        "depth": plan.depth, "watches": plan.watches, "nodes": plan.max_nodes, "ms": plan.limit.as_millis() as u64,
        "head": HEAD, "tail": TAIL, "only": plan.only_watches, "half": plan.in_a_row,
    })
}
