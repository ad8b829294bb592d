//! Walks a CPython program from inside: a program of ours is given to its debugger once, and each capture is one call of it.

use std::time::Duration;

use backsight_core::{Code, Error, Result};
use serde_json::{Value, json};

use super::decode;
use crate::dap::types;
use crate::session::engine::{Engine, PATIENCE, Paused};

const WALKER: &str = include_str!("walker.py");
/// Where it is kept: in the debugger's own module, where the program does not look.
const PLACE: &str = "__import__('sys').modules['pydevd'].__dict__";

/// Calls a function of the walker in the paused thread.
pub(super) async fn call(
    engine: &Engine,
    paused: &Paused,
    thread: i64,
    function: &str,
    arguments: &Value,
    patience: Duration,
) -> Result<Value> {
    let frame = engine.frame_id(paused, Some(thread), 0).await?;
    prepare(engine, frame).await?;
    let expression = format!("{PLACE}['_backsight']['{function}']({})", literal(&arguments.to_string()));
    let result = evaluate(engine, frame, expression, patience).await?;
    let bytes = decode::base64(result.trim_matches(['\'', '"'])).ok_or_else(|| unreadable(&result))?;
    serde_json::from_slice(&bytes).map_err(|_| unreadable(&result))
}

async fn prepare(engine: &Engine, frame: i64) -> Result<()> {
    let mut prepared = engine.prepared.lock().await;
    if prepared.is_none() {
        let source = literal(WALKER);
        let expression =
            format!("exec(compile({source}, '<backsight>', 'exec'), {PLACE}.setdefault('_backsight', {{}}))");
        evaluate(engine, frame, expression, PATIENCE).await?;
        *prepared = Some(Value::Bool(true));
    }
    Ok(())
}

async fn evaluate(engine: &Engine, frame: i64, expression: String, patience: Duration) -> Result<String> {
    // In other contexts long texts are cut.
    let arguments = json!({ "expression": expression, "frameId": frame, "context": "clipboard" });
    let body = engine.ask("evaluate", arguments, patience).await?;
    Ok(types::read::<types::Evaluated>(body).result)
}

/// A text as Python reads it. JSON's way of writing texts is Python's too, as long as only ASCII is escaped.
fn literal(text: &str) -> String {
    Value::from(text).to_string()
}

fn unreadable(result: &str) -> Error {
    let beginning: String = result.chars().take(300).collect();
    Error::new(Code::AdapterFailed, format!("the walker failed: {beginning}"))
}
