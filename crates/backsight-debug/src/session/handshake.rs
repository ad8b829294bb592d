//! The beginning of a session, in the one order that every adapter understands: some answer `launch` at once, some only when
//! everything is set up, and some say that they are ready before and some after that.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use backsight_core::{Code, Error, Result};
use serde_json::{Map, Value, json};

use super::breakpoints::{BreakpointRequest, Place, Purpose};
use super::engine::{Engine, PATIENCE, lock};
use super::state::{Change, Moment};
use super::visit::Entering;
use crate::adapters::Walker;
use crate::dap::types;
use crate::walk;

/// What `launch` or `attach` is sent with.
pub(crate) struct Opening {
    pub command: &'static str,
    pub arguments: Value,
    pub breakpoints: Vec<BreakpointRequest>,
    pub patience: Duration,
}

/// Goes through the whole opening; the program runs, or is paused at its entry, when this returns.
pub(crate) async fn open(engine: &Arc<Engine>, mut opening: Opening) -> Result<()> {
    if engine.adapter.quirks.raises_before_entry && opening.command == "launch" {
        wait_with_exceptions(engine, &mut opening);
    }
    let greeting = json!({
        "clientID": "backsight", "clientName": "Backsight", "adapterID": engine.adapter.name, "locale": "en",
        "pathFormat": "path", "linesStartAt1": true, "columnsStartAt1": true, "supportsVariableType": true,
        "supportsVariablePaging": true, "supportsRunInTerminalRequest": false, "supportsMemoryReferences": true,
        "supportsProgressReporting": false, "supportsInvalidatedEvent": false,
    });
    let body = engine.ask("initialize", greeting, opening.patience).await?;
    engine.set_capabilities(types::read(body));
    for (command, arguments) in &engine.adapter.before {
        let asked = engine.ask(command, arguments.clone(), PATIENCE).await;
        // An adapter in between may not know what the debugger behind it knows.
        asked.map(drop).or_else(|error| if engine.attached { Ok(()) } else { Err(error) })?;
    }
    let launch = engine.connection.send(opening.command, opening.arguments, opening.patience);
    tokio::pin!(launch);
    let mut answered = false;
    let mut moment = engine.follow();
    let late = tokio::time::sleep(opening.patience);
    tokio::pin!(late);
    // Some say that they are ready before they answer, some after.
    loop {
        tokio::select! {
            () = engine.ready() => break,
            answer = &mut launch, if !answered => {
                answer.map_err(|refused| engine.failed(opening.command, refused))?;
                answered = true;
            }
            _ = moment.wait_for(Moment::is_over) => return Err(ended(engine)),
            () = &mut late => return Err(not_ready(engine, opening.patience)),
        }
    }
    walk::prepare(engine).await;
    for request in opening.breakpoints {
        engine.breakpoints().add(request, Purpose::Pause)?;
    }
    configure(engine).await?;
    if !answered {
        launch.await.map_err(|refused| engine.failed(opening.command, refused))?;
    }
    if engine.adapter.quirks.first_threads_old {
        engine.ask("threads", Value::Null, PATIENCE).await?;
    }
    engine.change(Change::Started);
    Ok(())
}

/// Debuggers that run on the program's own interpreter raise exceptions before the program begins: those it is to pause at
/// are told at its first line.
fn wait_with_exceptions(engine: &Engine, opening: &mut Opening) {
    let is_exception = |request: &BreakpointRequest| matches!(request.at, Place::Exception(_));
    if opening.breakpoints.iter().any(is_exception) {
        let stays = opening.arguments["stopOnEntry"] == true;
        opening.arguments["stopOnEntry"] = json!(true);
        *lock(&engine.entering) = Some(Entering { stays });
        engine.see_stops_first();
    }
}

/// Tells about all breakpoints, and that this is all.
async fn configure(engine: &Engine) -> Result<()> {
    let files = engine.breakpoints().files();
    for file in files {
        set_lines(engine, &file).await?;
    }
    set_functions(engine).await?;
    let waits = lock(&engine.entering).is_some();
    if !waits {
        set_exceptions(engine).await?;
    }
    let can = engine.capabilities();
    if can.supports_configuration_done_request {
        engine.ask("configurationDone", json!({}), PATIENCE).await?;
    } else if can.exception_breakpoint_filters.is_empty() {
        // To a debugger that has no word for it this request says that everything was told. It may not know it.
        let _ = engine.connection.request("setExceptionBreakpoints", json!({ "filters": [] }), PATIENCE).await;
    }
    Ok(())
}

/// What the debugger would ignore is kept back, or done here.
fn keep_back(engine: &Engine) {
    let can = engine.capabilities();
    let counts = can.supports_hit_conditional_breakpoints && !engine.adapter.quirks.miscounts_hits;
    engine.breakpoints().keep_back(&engine.adapter.name, &can, counts);
    if engine.breakpoints().counts_here() {
        engine.see_stops_first();
    }
}

/// Conditions that are no expressions are told at once, where that can be seen before the program comes by.
async fn check_conditions(engine: &Engine) {
    if engine.adapter.quirks.walker != Walker::Python {
        return;
    }
    let conditions = engine.breakpoints().unchecked_conditions();
    for (id, condition) in conditions {
        if let Some(problem) = walk::python::syntax_problem(engine, &condition).await {
            engine.breakpoints().keep_one_back(&id, &format!("its condition cannot be read: {problem}"));
        }
    }
}

/// Tells the adapter the breakpoints of one file and notes what it makes of them.
pub(crate) async fn set_lines(engine: &Engine, file: &Path) -> Result<()> {
    keep_back(engine);
    check_conditions(engine).await;
    let wanted = engine.breakpoints().in_file(file);
    let lines: Vec<Value> = wanted.iter().map(|breakpoint| breakpoint["line"].clone()).collect();
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned());
    let arguments = json!({ "source": { "path": file, "name": name }, "breakpoints": wanted, "lines": lines });
    let body = engine.ask("setBreakpoints", arguments, PATIENCE).await?;
    let (answers, _) = types::list(body, "breakpoints");
    engine.breakpoints().answered(|place| matches!(place, Place::Line { file: other, .. } if other == file), answers);
    Ok(())
}

/// Likewise for functions.
pub(crate) async fn set_functions(engine: &Engine) -> Result<()> {
    keep_back(engine);
    let wanted = engine.breakpoints().in_functions();
    if !engine.capabilities().supports_function_breakpoints {
        let ids: Vec<String> = engine
            .breakpoints()
            .list()
            .iter()
            .filter(|it| matches!(it.request.at, Place::Function(_)))
            .map(|it| it.id.clone())
            .collect();
        let message = format!("`{}` has no breakpoints on functions", engine.adapter.name);
        ids.iter().for_each(|id| engine.breakpoints().refuse(id, &message));
        return Ok(());
    }
    let body = engine.ask("setFunctionBreakpoints", json!({ "breakpoints": wanted }), PATIENCE).await?;
    let (answers, _) = types::list(body, "breakpoints");
    engine.breakpoints().answered(|place| matches!(place, Place::Function(_)), answers);
    if engine.adapter.quirks.binds_any_function {
        let message = format!("`{}` does not say whether there is such a function", engine.adapter.name);
        engine.breakpoints().remark_functions(&message);
    }
    Ok(())
}

/// Likewise for exceptions, whose names differ from adapter to adapter.
pub(crate) async fn set_exceptions(engine: &Engine) -> Result<()> {
    let offered: Vec<String> =
        engine.capabilities().exception_breakpoint_filters.into_iter().map(|filter| filter.filter).collect();
    let wanted = engine.breakpoints().exceptions();
    if offered.is_empty() {
        for (id, _) in wanted {
            engine.breakpoints().refuse(&id, &format!("`{}` cannot pause at exceptions", engine.adapter.name));
        }
        return Ok(());
    }
    let mut filters: Vec<String> = Vec::new();
    let mut bound = Vec::new();
    for (id, name) in wanted {
        let ours = engine.adapter.quirks.exceptions.iter().find(|(known, _)| *known == name);
        let theirs = ours.map_or_else(|| vec![name.clone()], |(_, filters)| filters.clone());
        // Adapters take filters they do not have without a word.
        if theirs.iter().all(|filter| offered.contains(filter)) {
            filters.extend(theirs);
            bound.push(id);
        } else {
            let message =
                format!("`{}` knows no exceptions `{name}`, only {}", engine.adapter.name, offered.join(", "));
            engine.breakpoints().refuse(&id, &message);
        }
    }
    filters.sort();
    filters.dedup();
    engine.ask("setExceptionBreakpoints", json!({ "filters": filters }), PATIENCE).await?;
    bound.iter().for_each(|id| engine.breakpoints().bind(id));
    Ok(())
}

/// What the templates of an adapter's entry may name.
pub(crate) fn values(
    program: &Path,
    arguments: &[String],
    directory: &Path,
    environment: &[(String, String)],
    stop_on_entry: bool,
) -> Map<String, Value> {
    let environment: Map<String, Value> =
        environment.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str()))).collect();
    let folder = if program.is_dir() { program } else { program.parent().unwrap_or(directory) };
    let is_go_source = program.is_dir() || program.extension().is_some_and(|extension| extension == "go");
    let values = json!({
        "program": program, "program_directory": folder, "arguments": arguments, "directory": directory, "environment": environment,
        "stop_on_entry": stop_on_entry, "mode": if is_go_source { "debug" } else { "exec" },
    });
    match values {
        Value::Object(values) => values,
        _ => Map::new(),
    }
}

/// Commands that make LLDB show Rust's own types as Rust does, when its toolchain is here, and give the program its stdin.
pub(crate) fn init_commands(walker: Walker, sysroot: impl FnOnce() -> Option<PathBuf>, stdin: Option<&Path>) -> Value {
    if walker != Walker::Lldb {
        return Value::Null;
    }
    let mut commands = Vec::new();
    commands.extend(stdin.map(|file| format!("settings set target.input-path \"{}\"", file.display())));
    let formatters = sysroot().map(|sysroot| sysroot.join("lib/rustlib/etc"));
    if let Some(folder) = formatters.filter(|folder| folder.join("lldb_lookup.py").is_file()) {
        commands.push(format!("command script import \"{}\"", folder.join("lldb_lookup.py").display()));
        if folder.join("lldb_commands").is_file() {
            commands.push(format!("command source -s 1 \"{}\"", folder.join("lldb_commands").display()));
        }
    }
    json!(commands)
}

fn ended(engine: &Engine) -> Error {
    let error = engine.over().unwrap_or_else(|| Error::new(Code::AdapterFailed, "the debugger is gone"));
    Error::new(Code::AdapterFailed, format!("`{}` could not begin: {}", engine.adapter.name, error.message()))
}

fn not_ready(engine: &Engine, patience: Duration) -> Error {
    let message = format!("`{}` was not ready within {} ms", engine.adapter.name, patience.as_millis());
    Error::new(Code::DebugTimeout, message)
}
