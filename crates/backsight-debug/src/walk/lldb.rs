//! Walks a native program from inside LLDB: a script of ours is loaded once, and each capture is one command.

use std::time::Duration;

use backsight_core::{Code, Error, Result};
use serde_json::{Value, json};

use super::decode;
use crate::dap::types;
use crate::session::engine::{Engine, PATIENCE};

/// What reads memory comes first: it is one file for LLDB.
const WALKER: &str = concat!(
    include_str!("lldb/memory.py"),
    "\n\n",
    include_str!("lldb/layouts.py"),
    "\n\n",
    include_str!("lldb/digests.py"),
    "\n\n",
    include_str!("lldb/values.py"),
    "\n\n",
    include_str!("lldb/walking.py"),
    "\n\n",
    include_str!("lldb/asked.py"),
);
const NAME: &str = "backsight_walker";

/// Calls a function of the walker.
pub(super) async fn call(
    engine: &Engine,
    function: &str,
    arguments: &Value,
    frame: i64,
    patience: Duration,
) -> Result<Value> {
    prepare(engine, frame).await?;
    let encoded = backsight_core::base64(arguments.to_string().as_bytes());
    let result = command(engine, frame, &format!("{NAME} {function} {encoded}"), patience).await?;
    let answer = result.lines().find_map(|line| line.trim().strip_prefix("backsight:"));
    let bytes = answer.and_then(decode::base64).ok_or_else(|| unreadable(&result))?;
    serde_json::from_slice(&bytes).map_err(|_| unreadable(&result))
}

/// Gives the walker to LLDB, once.
pub(super) async fn prepare(engine: &Engine, frame: i64) -> Result<()> {
    let mut prepared = engine.prepared.lock().await;
    match &*prepared {
        Some(Value::String(failure)) => Err(Error::new(Code::AdapterFailed, failure.clone())),
        Some(_) => Ok(()),
        None => {
            let loaded = load(engine, frame).await;
            *prepared = Some(loaded.as_ref().map_or_else(|error| json!(error.message()), |()| json!(true)));
            loaded
        }
    }
}

async fn load(engine: &Engine, frame: i64) -> Result<()> {
    let folder = tempfile::Builder::new().prefix("backsight-").tempdir();
    let folder = folder.map_err(|error| Error::io("create a directory for LLDB's script", error))?;
    let file = folder.path().join(format!("{NAME}.py"));
    std::fs::write(&file, WALKER).map_err(|error| Error::io("write LLDB's script", error))?;
    let said = command(engine, frame, &format!("command script import \"{}\"", file.display()), PATIENCE).await?;
    let ready = command(engine, frame, &format!("{NAME} ready e30="), PATIENCE).await?;
    if ready.contains("backsight:") {
        return Ok(());
    }
    Err(Error::new(Code::AdapterFailed, format!("LLDB did not load the walker: {} {}", said.trim(), ready.trim())))
}

/// Runs a command of LLDB. The backtick makes it one whatever it looks like.
async fn command(engine: &Engine, frame: i64, command: &str, patience: Duration) -> Result<String> {
    let arguments = json!({ "expression": format!("`{command}"), "frameId": frame, "context": "repl" });
    let body = engine.ask("evaluate", arguments, patience).await?;
    Ok(types::read::<types::Evaluated>(body).result)
}

fn unreadable(result: &str) -> Error {
    let beginning: String = result.chars().take(300).collect();
    Error::new(Code::AdapterFailed, format!("the walker failed: {beginning}"))
}
