//! Walks a CPython program from inside: a program of ours is given to its debugger once, and each capture is one question to it.
//!
//! Both go past the program. The walker is loaded by an expression without a frame, which the debugger evaluates in a module of
//! its own, with Python's own functions; when a program is launched that happens before anything of it has run. Its questions
//! are no Python: it takes them out of what the debugger is asked to evaluate before a name is looked up anywhere.

use std::time::Duration;

use backsight_core::{Code, Error, NextStep, Result};
use serde_json::{Value, json};

use super::decode;
use crate::dap::connection::Refused;
use crate::dap::types;
use crate::session::engine::{Engine, PATIENCE, Paused};

/// One program in several files.
const WALKER: &str = concat!(
    include_str!("python/genuine.py"),
    "\n\n",
    include_str!("python/values.py"),
    "\n\n",
    include_str!("python/hashes.py"),
    "\n\n",
    include_str!("python/walking.py"),
    "\n\n",
    include_str!("python/expressions.py"),
    "\n\n",
    include_str!("python/debugger.py"),
);
/// What the walker needs of Python itself; it finds no other name.
const NAMES: &str = "AttributeError BaseException BaseExceptionGroup Ellipsis Exception KeyError KeyboardInterrupt NameError NotImplemented NotImplementedError \
    RecursionError RuntimeError TypeError ValueError __build_class__ abs all any bool bytearray bytes classmethod compile \
    complex dict enumerate float frozenset getattr hasattr hash id int iter len list map max memoryview min object ord \
    property range repr reversed set setattr slice sorted staticmethod str sum tuple type zip";
/// Loads it. `type` and the class of native functions are reached through values, since their names may be the program's.
/// Debuggers differ in whether they tell the value of what they evaluate without a frame, but all tell what failed: so the
/// answer is the error at the end.
const LOAD: &str = "((lambda kind, native, real: exec(compile(SOURCE, '<backsight>', 'exec', 0, True), {'sys': sys, \
    'KIND': kind, 'NATIVE': native, '__name__': 'backsight', '__builtins__': {name: real[name] for name in NAMES if name in \
    real}}) if kind(exec) is native and kind(compile) is native else {}['replaced'])(().__class__.__class__, \
    [].append.__class__, sys.modules['builtins'].__dict__), {}['backsight is ready'])";
/// What a question to the walker begins with.
const ASKED: &str = "backsight! ";

/// Asks the walker something in the paused thread.
pub(super) async fn call(
    engine: &Engine,
    paused: &Paused,
    thread: i64,
    function: &str,
    arguments: &Value,
    patience: Duration,
) -> Result<Value> {
    // It is the paused thread that answers, also for others: one that waits outside Python hears nothing.
    let here = paused.stop.thread_id.unwrap_or(thread);
    let frame = engine.frame_id(paused, Some(here), 0).await?;
    let mut arguments = arguments.clone();
    (arguments["here"], arguments["thread"]) = (json!(here), json!(thread));
    let question = format!("{ASKED}{function} {arguments}");
    for again in [true, false] {
        prepare(engine).await?;
        let result = evaluate(engine, frame, &question, patience).await?;
        let bytes = decode::base64(result.trim_matches(['\'', '"']));
        match bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()) {
            Some(answer) => return Ok(answer),
            // Whatever answered was not the walker, so it is not there any more.
            None => *engine.prepared.lock().await = None,
        }
        if !again {
            return Err(unreadable(&result));
        }
    }
    Err(unreadable(""))
}

/// Gives the walker to the debugger, once. A failure is forgotten: another stop may have a better end.
pub(crate) async fn prepare(engine: &Engine) -> Result<()> {
    let mut prepared = engine.prepared.lock().await;
    if prepared.is_some() {
        return Ok(());
    }
    let names = Value::from(NAMES.split_whitespace().collect::<Vec<_>>()).to_string();
    let expression = LOAD.replace("NAMES", &names).replace("SOURCE", &Value::from(WALKER).to_string());
    let arguments = json!({ "expression": expression, "context": "clipboard" });
    let said = match engine.connection.request("evaluate", arguments, PATIENCE).await {
        Err(Refused::Answered(said)) => said,
        Err(refused) => return Err(engine.failed("evaluate", refused)),
        Ok(body) => types::read::<types::Evaluated>(body).result,
    };
    let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    if last.contains("'backsight is ready'") {
        *prepared = Some(Value::Bool(true));
        return Ok(());
    }
    let reason = match last.rsplit_once("Refused: ") {
        Some((_, reason)) => reason.to_owned(),
        None if last.contains("'replaced'") => "the program replaced `exec` or `compile` of Python itself".to_owned(),
        None => last.chars().take(300).collect(),
    };
    let message = format!("nothing can be read without running the program's code: {reason}");
    Err(Error::new(Code::AdapterFailed, message).then("allow that", NextStep::WithProgramsCode))
}

/// Why a text is no expression of Python, if the walker is there and can tell.
pub(crate) async fn syntax_problem(engine: &Engine, text: &str) -> Option<String> {
    if engine.prepared.lock().await.is_none() {
        return None;
    }
    let question = format!("{ASKED}parse {}", json!({ "expression": text }));
    let arguments = json!({ "expression": question, "context": "clipboard" });
    let body = engine.connection.request("evaluate", arguments, PATIENCE).await.ok()?;
    let told = types::read::<types::Evaluated>(body).result;
    let bytes = decode::base64(told.trim_matches(['\'', '"']))?;
    let told: Value = serde_json::from_slice(&bytes).ok()?;
    told["problem"].as_str().map(str::to_owned)
}

/// Ends what the program was made to evaluate. The debugger has a thread of its own for what is asked without a frame; it does
/// not answer while something written in C holds the whole interpreter, as a regular expression does: that hears signals only.
pub(crate) async fn end_evaluation(engine: &Engine, patience: Duration) {
    if engine.prepared.lock().await.is_none() {
        return;
    }
    let arguments = json!({ "expression": format!("{ASKED}end {{}}"), "context": "clipboard" });
    if let Err(Refused::TimedOut(_)) = engine.connection.send("evaluate", arguments, patience).await {
        engine.interrupt_started();
    }
}

async fn evaluate(engine: &Engine, frame: i64, expression: &str, patience: Duration) -> Result<String> {
    // In other contexts long texts are cut.
    let arguments = json!({ "expression": expression, "frameId": frame, "context": "clipboard" });
    let body = engine.ask("evaluate", arguments, patience).await?;
    Ok(types::read::<types::Evaluated>(body).result)
}

fn unreadable(result: &str) -> Error {
    let beginning: String = result.chars().take(300).collect();
    Error::new(Code::AdapterFailed, format!("the walker failed: {beginning}"))
}
