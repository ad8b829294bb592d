//! Looks at a paused program through its adapter: threads, frames, variables page by page, expressions. What is handed out
//! carries the epoch it belongs to and is refused when the program has moved since.

use std::time::Duration;

use backsight_core::{Code, Error, NextStep, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::control::{FrameView, view};
use super::engine::{Engine, PATIENCE, Paused};
use crate::adapters::Walker;
use crate::capture::{Incomplete, Safety, Scope};
use crate::dap::types;
use crate::walk;

/// The longest value that is shown.
const LONGEST: usize = 2000;
/// What V8 says of an expression whose time was up.
const ENDED_BY_V8: &str = "Execution was terminated";
/// How long an expression that took too long may take to be ended.
const END: Duration = Duration::from_secs(4);

/// A thread.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct ThreadView {
    /// The debugger's number for it.
    pub id: i64,
    /// Its name.
    pub name: String,
    /// Whether it is the one that paused the program.
    pub stopped_here: bool,
}

/// Some frames of a thread.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct StackView {
    /// Whose.
    pub thread_id: i64,
    /// Changes whenever the program moves.
    pub epoch: u64,
    /// Innermost first.
    pub frames: Vec<FrameView>,
    /// Whether there are more behind them.
    pub more: bool,
}

/// Which variables to read.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Deserialize)]
#[serde(default)]
pub struct VariablesRequest {
    /// The thread; without it the one that paused the program.
    pub thread: Option<i64>,
    /// The frame, 0 is the innermost.
    pub frame: u32,
    /// The scope, by its name; without it the local ones.
    pub scope: Option<String>,
    /// What is inside this: a path as answers write it (`order.items[3]`, `prices[apple]`), or an expression.
    pub expand: Option<String>,
    /// From which one on.
    pub start: u64,
    /// How many at most; 0 is as many as is usual.
    pub count: u64,
    /// What may run to show a value.
    pub safety: Safety,
}

/// A page of variables.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct VariablesPage {
    /// Changes whenever the program moves.
    pub epoch: u64,
    /// What was allowed to run.
    pub safety: Safety,
    /// The scopes of the frame, when no variable was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
    /// The value that was asked for, when it was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<VariableView>,
    /// What is inside it, or the variables.
    pub variables: Vec<VariableView>,
    /// How many there are in all, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// Ask from here for more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_start: Option<u64>,
    /// What was not seen, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub incomplete: Vec<Incomplete>,
}

/// A variable, or a value inside one.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct VariableView {
    /// Its name, index or key.
    pub name: String,
    /// The way to it, for `expand`.
    pub path: String,
    /// Its type.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// What a variable of the frame is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// Its value, cut at a limit; of a container its type and length.
    pub value: String,
    /// How many elements, characters or bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<u64>,
    /// Whether there is something inside.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub expandable: bool,
    /// Declared and not yet given a value.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unset: bool,
}

/// An expression to evaluate.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Deserialize)]
pub struct EvaluateRequest {
    /// In the program's language.
    pub expression: String,
    /// The thread; without it the one that paused the program.
    #[serde(default)]
    pub thread: Option<i64>,
    /// The frame, 0 is the innermost.
    #[serde(default)]
    pub frame: u32,
    /// Only read: nothing of the program runs, and what would need that is refused.
    #[serde(default)]
    pub safe: bool,
    /// How long it may take.
    #[serde(default)]
    pub timeout_ms: Option<u64>,
}

/// The value of an expression.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct EvaluatedView {
    /// Changes whenever the program moves.
    pub epoch: u64,
    /// As the debugger shows it.
    pub value: String,
    /// Its type.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Whether there is something inside, which `variables` shows when it is asked to expand the expression.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub expandable: bool,
    /// How many elements it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<u64>,
    /// Whether code of the program may have run.
    pub may_have_run_code: bool,
}

impl Engine {
    /// The threads of the program.
    pub(crate) async fn threads(&self) -> Result<Vec<ThreadView>> {
        if let Some(error) = self.over() {
            return Err(error);
        }
        let here = self.paused().ok().and_then(|paused| paused.stop.thread_id);
        let body = self.ask("threads", serde_json::Value::Null, PATIENCE).await?;
        let (threads, _) = types::list::<types::Thread>(body, "threads");
        let view = |thread: types::Thread| ThreadView {
            id: thread.id,
            stopped_here: Some(thread.id) == here,
            name: thread.name,
        };
        Ok(threads.into_iter().map(view).collect())
    }

    /// Frames of a thread from `start` on.
    pub(crate) async fn stack_view(&self, thread: Option<i64>, start: u32, count: u32) -> Result<StackView> {
        let paused = self.paused()?;
        let thread = thread_of(&paused, thread)?;
        let wanted = start.saturating_add(count).saturating_add(1);
        let frames = self.stack(&paused, thread, wanted).await?;
        let shown = frames.iter().zip(0u32..).skip(start as usize).take(count as usize);
        let frames_shown: Vec<FrameView> = shown.map(|(frame, index)| view(index, frame)).collect();
        let more = frames.len() > start as usize + frames_shown.len();
        Ok(StackView { thread_id: thread, epoch: paused.epoch, frames: frames_shown, more })
    }

    /// The value of an expression.
    pub(crate) async fn evaluate(&self, request: &EvaluateRequest) -> Result<EvaluatedView> {
        let paused = self.paused()?;
        self.idle()?;
        let patience = request.timeout_ms.map_or(Duration::from_secs(5), Duration::from_millis);
        let quirks = &self.adapter.quirks;
        let calls = quirks.is_command(&request.expression);
        if request.safe && calls {
            return Err(unsafe_expression("it calls a function, or is a command to the debugger itself"));
        }
        if request.safe && quirks.walker != Walker::None {
            let answer = walk::evaluate(self, &paused, request, patience).await;
            return self.or_ended(answer, patience).await;
        }
        if request.safe && !quirks.evaluates_purely {
            return Err(unsafe_expression(&format!("`{}` cannot evaluate without running code", self.adapter.name)));
        }
        let frame = self.frame_id(&paused, request.thread, request.frame).await?;
        // Where a person would type, some take more for commands to themselves: what only reads never goes there. Delve takes
        // commands everywhere, and is kept from them by their first word.
        let context = match (quirks.walker, request.safe) {
            (Walker::Lldb, _) => "watch",
            (_, true) => "clipboard",
            (_, false) => "repl",
        };
        let mut arguments = json!({ "expression": request.expression, "frameId": frame, "context": context });
        // V8 ends it itself, and only then answers.
        let grace = if quirks.walker == Walker::Inspector { END } else { Duration::ZERO };
        arguments["timeout"] = json!(patience.as_millis() as u64);
        let answer = self.ask("evaluate", arguments, patience + grace).await;
        let body = self.or_ended(answer, patience).await?;
        self.still(&paused)?;
        let told: types::Evaluated = types::read(body);
        Ok(EvaluatedView {
            epoch: paused.epoch,
            value: clipped(told.result),
            kind: told.kind,
            expandable: told.variables_reference > 0,
            length: told.indexed_variables.filter(|length| *length > 0),
            may_have_run_code: !quirks.evaluates_purely || calls,
        })
    }

    /// An answer; what did not end in time is ended, so that the session can be used again.
    async fn or_ended<T>(&self, answer: Result<T>, patience: Duration) -> Result<T> {
        let error = match answer {
            Err(error) if error.code() == Code::DebugTimeout => error,
            Err(error) if error.message().contains(ENDED_BY_V8) => return Err(ended(patience)),
            answer => return answer,
        };
        self.end_evaluation().await;
        if self.connection.caught_up(END).await {
            return Err(ended(patience));
        }
        Err(error
            .with_hint("it could not be ended and goes on: wait for it")
            .or("end the session", NextStep::EndProgram))
    }

    /// Ends what the program was made to evaluate, where its debugger has a way to.
    async fn end_evaluation(&self) {
        match self.adapter.quirks.walker {
            Walker::Python => walk::python::end_evaluation(self, END / 4).await,
            Walker::Lldb => self.interrupt_program(),
            Walker::Inspector => {}
            Walker::None => {
                let thread = self.paused().ok().and_then(|paused| paused.stop.thread_id);
                let _ = self.connection.send("pause", json!({ "threadId": thread.unwrap_or_default() }), END).await;
            }
        }
    }

    /// The adapter's number for a frame.
    pub(crate) async fn frame_id(&self, paused: &Paused, thread: Option<i64>, index: u32) -> Result<i64> {
        let thread = thread_of(paused, thread)?;
        let frames = self.stack(paused, thread, index.saturating_add(1)).await?;
        let frame = frames.get(index as usize).ok_or_else(|| {
            let message = format!("thread {thread} has {} frames, so none with the index {index}", frames.len());
            Error::new(Code::Usage, message)
        })?;
        Ok(frame.id)
    }

    /// The scopes of a frame.
    pub(crate) async fn scopes(&self, paused: &Paused, frame: i64) -> Result<Vec<types::Scope>> {
        let body = self.ask("scopes", json!({ "frameId": frame }), PATIENCE).await?;
        self.still(paused)?;
        Ok(types::list(body, "scopes").0)
    }
}

/// The thread that was asked for, or the one that paused the program.
pub(crate) fn thread_of(paused: &Paused, thread: Option<i64>) -> Result<i64> {
    thread.or(paused.stop.thread_id).ok_or_else(|| {
        Error::new(Code::Usage, "the debugger did not say which thread paused the program: name one with `thread`")
    })
}

fn ended(patience: Duration) -> Error {
    let message = format!("the expression did not end within {} ms, so it was ended", patience.as_millis());
    Error::new(Code::DebugTimeout, message).then("give it more time", NextStep::WithTimeout)
}

pub(crate) fn unsafe_expression(why: &str) -> Error {
    Error::new(Code::AdapterFailed, format!("the expression was not evaluated: {why}"))
        .then("allow it to run the program's code", NextStep::WithUnsafeExpression)
}

/// Whether a scope holds a function's own variables.
pub(crate) fn is_local(scope: &types::Scope) -> bool {
    let hint = scope.presentation_hint.as_deref().unwrap_or_default();
    let name = scope.name.to_ascii_lowercase();
    let named = ["local", "arg", "block", "closure", "catch"].iter().any(|word| name.starts_with(word));
    matches!(hint, "locals" | "arguments") || (hint.is_empty() && named)
}

/// The scope with that name.
pub(crate) fn choose_scope<'a>(scopes: &'a [types::Scope], name: &str) -> Result<&'a types::Scope> {
    scopes.iter().find(|scope| scope.name.eq_ignore_ascii_case(name)).ok_or_else(|| {
        let known: Vec<&str> = scopes.iter().map(|scope| scope.name.as_str()).collect();
        Error::new(Code::Usage, format!("there is no scope `{name}`, only {}", known.join(", ")))
    })
}

fn clipped(text: String) -> String {
    match text.len() > LONGEST {
        true => {
            let end = text.floor_char_boundary(LONGEST);
            format!("{}... ({} bytes)", text.get(..end).unwrap_or_default(), text.len())
        }
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_is_found_by_its_name_however_it_is_written() {
        let scope = |name: &str| types::Scope { name: name.to_owned(), ..types::Scope::default() };
        let scopes = [scope("Locals"), scope("Globals")];
        assert_eq!(choose_scope(&scopes, "globals").unwrap().name, "Globals");
        let error = choose_scope(&scopes, "registers").map(drop).unwrap_err();
        assert!(error.message().contains("Locals, Globals"), "{error}");
    }

    #[test]
    fn long_values_are_cut_at_a_letter() {
        let text = clipped("é".repeat(LONGEST));
        assert!(text.len() < LONGEST + 40 && text.ends_with("bytes)"), "{text}");
        assert_eq!(clipped("é".to_owned()), "é");
    }
}
