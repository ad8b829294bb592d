//! A value that is watched or set. Where a debugger can watch memory it stops at the write itself; that is asked for only of
//! plain numbers, whose memory is all there is of them.

use backsight_core::{Code, Error, Result};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::control::{FrameView, view};
use super::engine::{Engine, PATIENCE, Paused};
use super::inspect::{is_local, thread_of};
use crate::adapters::Walker;
use crate::dap::types::{self, StackFrame};
use crate::{path, walk};

/// More frames than that are not asked for.
const MOST_FRAMES: u32 = 1_000;

/// Where a call of a thread is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spot {
    pub function: String,
    /// Empty where the debugger does not know it.
    pub file: String,
    pub line: u32,
}

impl Spot {
    fn new(frame: &StackFrame) -> Spot {
        let file = frame.source.as_ref().and_then(|source| source.path.clone()).unwrap_or_default();
        Spot { function: frame.name.clone(), file, line: frame.line }
    }

    /// As it is told.
    pub(crate) fn view(&self) -> FrameView {
        let source = Some(types::Source { name: None, path: Some(self.file.clone()) });
        let source = source.filter(|_| !self.file.is_empty());
        view(0, &StackFrame { name: self.function.clone(), source, line: self.line, ..StackFrame::default() })
    }
}

/// A variable to set.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Deserialize)]
pub struct AssignRequest {
    /// A variable, a field or an element, as the program's language writes it.
    pub path: String,
    /// Its new value: an expression in the program's language.
    pub value: String,
    /// The thread; without it the one that paused the program.
    #[serde(default)]
    pub thread: Option<i64>,
    /// The frame, 0 is the innermost.
    #[serde(default)]
    pub frame: u32,
}

impl Engine {
    /// Where the calls of a thread are, innermost first.
    pub(crate) async fn spots(&self, thread: i64) -> Result<Vec<Spot>> {
        let paused = self.paused()?;
        let stack = self.stack(&paused, thread, MOST_FRAMES).await?;
        Ok(stack.iter().map(Spot::new).collect())
    }

    /// From now on the program stops when the memory of an expression is written to, if the debugger can do that and the
    /// memory is all there is of the value.
    pub(crate) async fn watch_memory(&self, expression: &str, thread: i64, frame: u32) -> Result<bool> {
        if !self.capabilities().supports_data_breakpoints || self.adapter.quirks.walker != Walker::Lldb {
            return Ok(false);
        }
        let paused = self.paused()?;
        let place = walk::ask_lldb(self, &paused, thread, frame, "place", json!({ "expression": expression })).await?;
        let (Some(address), Some(size)) = (place["address"].as_str(), place["size"].as_u64()) else { return Ok(false) };
        let asked = json!({ "name": address, "asAddress": true, "bytes": size });
        let told = self.ask("dataBreakpointInfo", asked, PATIENCE).await?;
        let Some(id) = told["dataId"].as_str() else { return Ok(false) };
        let wanted = json!({ "breakpoints": [{ "dataId": id, "accessType": "write" }] });
        let told = self.ask("setDataBreakpoints", wanted, PATIENCE).await?;
        let (set, _) = types::list::<types::Breakpoint>(told, "breakpoints");
        Ok(set.first().is_some_and(|set| set.verified))
    }

    /// No memory is watched any more.
    pub(crate) async fn watch_nothing(&self) -> Result<()> {
        if self.over().is_some() {
            return Ok(());
        }
        self.ask("setDataBreakpoints", json!({ "breakpoints": [] }), PATIENCE).await.map(drop)
    }

    /// The line of the instruction before the one a thread is at.
    pub(crate) async fn line_before(&self, thread: i64) -> Result<Option<u32>> {
        let paused = self.paused()?;
        let told = walk::ask_lldb(self, &paused, thread, 0, "before", json!({})).await?;
        Ok(told["line"].as_u64().and_then(|line| u32::try_from(line).ok()).filter(|line| *line > 0))
    }

    /// Gives a variable another value. Whatever the value is made of runs.
    pub(crate) async fn assign(&self, request: &AssignRequest) -> Result<u64> {
        let paused = self.paused()?;
        self.idle()?;
        let AssignRequest { path, value, thread, frame } = request;
        let innermost = *frame == 0 && thread.is_none_or(|thread| Some(thread) == paused.stop.thread_id);
        if self.adapter.quirks.sets_innermost && !innermost {
            let message = format!("`{}` sets variables of the innermost frame only", self.adapter.name);
            return Err(Error::new(Code::AdapterFailed, message).with_hint("run to where it is the innermost one"));
        }
        let can = self.capabilities();
        let id = self.frame_id(&paused, *thread, *frame).await?;
        if self.adapter.quirks.walker == Walker::Lldb {
            let thread = thread_of(&paused, *thread)?;
            let asked = json!({ "expression": path, "value": value });
            let told = walk::ask_lldb(self, &paused, thread, *frame, "assign", asked).await?;
            told["error"].as_str().map_or(Ok(()), |why| Err(not_set(path, why)))?;
        } else if can.supports_set_expression {
            let arguments = json!({ "expression": path, "value": value, "frameId": id });
            self.assigned(path, "setExpression", arguments).await?;
        } else if can.supports_set_variable {
            self.assign_inside(&paused, id, path, value).await?;
        } else {
            return Err(not_set(path, &format!("`{}` cannot set variables", self.adapter.name)));
        }
        self.still(&paused)?;
        Ok(paused.epoch)
    }

    /// By what the variable is inside of: a scope, or another value and what that points to.
    async fn assign_inside(&self, paused: &Paused, frame: i64, path: &str, value: &str) -> Result<()> {
        let above = path::parent(path);
        let mut holders = Vec::new();
        if above.is_empty() {
            let scopes = self.scopes(paused, frame).await?;
            holders.extend(scopes.iter().find(|scope| is_local(scope)).map(|scope| scope.variables_reference));
        } else {
            for expression in [above.to_owned(), format!("*({above})")] {
                let arguments = json!({ "expression": expression, "frameId": frame, "context": "watch" });
                let told = self.ask("evaluate", arguments, PATIENCE).await;
                let told =
                    told.map(|body| types::read::<types::Evaluated>(body).variables_reference).unwrap_or_default();
                holders.extend((told > 0).then_some(told));
            }
        }
        let name = path.get(above.len()..).unwrap_or_default().trim_start_matches('.');
        let mut failed = not_set(path, "the debugger does not tell what it is part of");
        for holder in holders {
            let arguments = json!({ "variablesReference": holder, "name": name, "value": value });
            match self.assigned(path, "setVariable", arguments).await {
                Ok(()) => return Ok(()),
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }

    async fn assigned(&self, path: &str, command: &str, arguments: Value) -> Result<()> {
        self.ask(command, arguments, PATIENCE).await.map(drop).map_err(|error| not_set(path, error.message()))
    }
}

fn not_set(path: &str, why: &str) -> Error {
    Error::new(Code::AdapterFailed, format!("`{}` was not set: {why}", crate::render::safe(path)))
        .with_hint("the value is an expression in the program's language: texts need their quotes")
}
