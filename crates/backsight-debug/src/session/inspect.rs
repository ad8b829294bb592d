//! Looks at a paused program through its adapter: threads, frames, variables page by page, expressions. What is handed out
//! carries the epoch it belongs to and is refused when the program has moved since.

use std::time::Duration;

use backsight_core::{Code, Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::control::{FrameView, view};
use super::engine::{Engine, PATIENCE, Paused};
use crate::adapters::Walker;
use crate::dap::types;
use crate::walk;

/// How many variables are read at once unless asked for more.
const PAGE: u64 = 100;
/// The longest value that is shown.
const LONGEST: usize = 2000;

/// A thread.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct ThreadView {
    /// The debugger's number for it.
    pub id: i64,
    /// Its name.
    pub name: String,
    /// Whether it is the one that paused the program.
    pub stopped_here: bool,
}

/// Some frames of a thread.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
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
    /// What is inside a variable that was read before.
    pub reference: Option<String>,
    /// From which one on.
    pub start: u64,
    /// How many at most; 0 is as many as is usual.
    pub count: u64,
}

/// A page of variables.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct VariablesPage {
    /// Changes whenever the program moves; references are good for one epoch.
    pub epoch: u64,
    /// The scopes of the frame, when a frame was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
    /// What was read.
    pub variables: Vec<VariableView>,
    /// How many there are in all, where the debugger tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// Ask from here for more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_start: Option<u64>,
    /// Entries that could not be understood.
    #[serde(skip_serializing_if = "is_zero")]
    pub unreadable: usize,
}

/// A variable as its debugger shows it.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct VariableView {
    /// As the debugger writes it.
    pub name: String,
    /// Its type.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Its value, as the debugger shows it.
    pub value: String,
    /// Asks for what is inside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// How many elements it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<u64>,
    /// Reading what is inside runs the program's code.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lazy: bool,
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
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct EvaluatedView {
    /// Changes whenever the program moves.
    pub epoch: u64,
    /// As the debugger shows it.
    pub value: String,
    /// Its type.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Asks for what is inside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
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

    /// A page of variables.
    pub(crate) async fn variables(&self, request: &VariablesRequest) -> Result<VariablesPage> {
        let paused = self.paused()?;
        self.idle()?;
        let count = if request.count == 0 { PAGE } else { request.count };
        let mut page = VariablesPage { epoch: paused.epoch, ..VariablesPage::default() };
        let (references, length) = match &request.reference {
            Some(reference) => {
                let (reference, length) = parse_reference(reference, paused.epoch)?;
                (vec![reference], length)
            }
            None => {
                let frame = self.frame_id(&paused, request.thread, request.frame).await?;
                let scopes = self.scopes(&paused, frame).await?;
                page.scopes = scopes.iter().map(|scope| scope.name.clone()).collect();
                (choose_scopes(&scopes, request.scope.as_deref())?, None)
            }
        };
        // Who cannot page would send everything.
        let paged = length.is_some() && !self.adapter.quirks.ignores_paging;
        let mut found = Vec::new();
        for reference in references {
            let mut arguments = json!({ "variablesReference": reference });
            if paged {
                arguments["filter"] = json!("indexed");
                arguments["start"] = json!(request.start);
                arguments["count"] = json!(count);
            }
            let body = self.ask("variables", arguments, PATIENCE).await?;
            self.still(&paused)?;
            let (variables, unreadable) = types::list::<types::Variable>(body, "variables");
            page.unreadable += unreadable;
            found.extend(variables);
        }
        page.total = length.or((!paged).then_some(found.len() as u64));
        let got = found.len() as u64;
        let skipped = if paged { 0 } else { request.start };
        let shown = found.into_iter().skip(skipped as usize).take(count as usize);
        page.variables = shown.map(|variable| variable_view(variable, paused.epoch)).collect();
        let next = request.start + page.variables.len() as u64;
        let more = if paged { length.is_some_and(|length| next < length) && got > 0 } else { next < got };
        page.next_start = more.then_some(next);
        Ok(page)
    }

    /// The value of an expression.
    pub(crate) async fn evaluate(&self, request: &EvaluateRequest) -> Result<EvaluatedView> {
        let paused = self.paused()?;
        self.idle()?;
        let patience = request.timeout_ms.map_or(Duration::from_secs(5), Duration::from_millis);
        let quirks = &self.adapter.quirks;
        let calls = quirks.calls_begin_with.iter().any(|prefix| request.expression.trim_start().starts_with(&**prefix));
        if request.safe && calls {
            return Err(unsafe_expression("it calls a function"));
        }
        if request.safe && quirks.walker != Walker::None {
            return walk::evaluate(self, &paused, request, patience).await;
        }
        if request.safe && !quirks.evaluates_purely {
            return Err(unsafe_expression(&format!("`{}` cannot evaluate without running code", self.adapter.name)));
        }
        let frame = self.frame_id(&paused, request.thread, request.frame).await?;
        let context = if quirks.walker == Walker::Lldb { "watch" } else { "repl" };
        let arguments = json!({ "expression": request.expression, "frameId": frame, "context": context });
        let body = self.ask("evaluate", arguments, patience).await?;
        self.still(&paused)?;
        let told: types::Evaluated = types::read(body);
        Ok(EvaluatedView {
            epoch: paused.epoch,
            value: clipped(told.result),
            kind: told.kind,
            reference: reference(told.variables_reference, told.indexed_variables, paused.epoch),
            length: told.indexed_variables.filter(|length| *length > 0),
            may_have_run_code: !quirks.evaluates_purely || calls,
        })
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

pub(crate) fn unsafe_expression(why: &str) -> Error {
    Error::new(Code::AdapterFailed, format!("the expression was not evaluated: {why}"))
        .with_hint("allow it to run the program's code with `safe: false`")
}

/// Whether a scope holds a function's own variables.
pub(crate) fn is_local(scope: &types::Scope) -> bool {
    let hint = scope.presentation_hint.as_deref().unwrap_or_default();
    let name = scope.name.to_ascii_lowercase();
    let named = ["local", "arg", "block", "closure", "catch"].iter().any(|word| name.starts_with(word));
    matches!(hint, "locals" | "arguments") || (hint.is_empty() && named)
}

/// The scope with that name, or else all that hold a function's own variables.
fn choose_scopes(scopes: &[types::Scope], named: Option<&str>) -> Result<Vec<i64>> {
    let Some(name) = named else {
        let local = scopes.iter().filter(|scope| is_local(scope) && !scope.expensive);
        return Ok(local.map(|scope| scope.variables_reference).collect());
    };
    let found = scopes.iter().find(|scope| scope.name.eq_ignore_ascii_case(name));
    found.map(|scope| vec![scope.variables_reference]).ok_or_else(|| {
        let known: Vec<&str> = scopes.iter().map(|scope| scope.name.as_str()).collect();
        Error::new(Code::Usage, format!("there is no scope `{name}`, only {}", known.join(", ")))
    })
}

fn variable_view(variable: types::Variable, epoch: u64) -> VariableView {
    let hint = variable.presentation_hint.unwrap_or_default();
    VariableView {
        reference: reference(variable.variables_reference, variable.indexed_variables, epoch),
        length: variable.indexed_variables.filter(|length| *length > 0),
        lazy: hint.lazy,
        name: variable.name,
        kind: variable.kind,
        value: clipped(variable.value),
    }
}

/// `12:1005` or, of a list, `12:1005:400`: the epoch, the adapter's number, the length.
fn reference(number: i64, length: Option<u64>, epoch: u64) -> Option<String> {
    match length.filter(|length| *length > 0) {
        _ if number <= 0 => None,
        Some(length) => Some(format!("{epoch}:{number}:{length}")),
        None => Some(format!("{epoch}:{number}")),
    }
}

fn parse_reference(text: &str, now: u64) -> Result<(i64, Option<u64>)> {
    let mut parts = text.split(':');
    let epoch = parts.next().and_then(|part| part.parse::<u64>().ok());
    let number = parts.next().and_then(|part| part.parse().ok());
    let length = parts.next().and_then(|part| part.parse().ok());
    let (Some(epoch), Some(number)) = (epoch, number) else {
        return Err(Error::new(Code::Usage, format!("`{text}` is no reference to a variable")));
    };
    if epoch != now {
        let message = format!("`{text}` was read before the program went on: read the variables again");
        return Err(Error::new(Code::StateChanged, message));
    }
    Ok((number, length))
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

fn is_zero(number: &usize) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_good_for_one_epoch() {
        let text = reference(1005, Some(400), 12).unwrap();
        assert_eq!(parse_reference(&text, 12).unwrap(), (1005, Some(400)));
        assert_eq!(parse_reference(&reference(7, None, 12).unwrap(), 12).unwrap(), (7, None));
        assert_eq!(parse_reference(&text, 13).unwrap_err().code(), Code::StateChanged);
        for nonsense in ["", "x", "1", "1:", "a:1", "99999999999999999999:1"] {
            assert_eq!(parse_reference(nonsense, 12).unwrap_err().code(), Code::Usage, "{nonsense}");
        }
        assert_eq!(reference(0, None, 1), None);
    }

    #[test]
    fn the_local_scope_is_found_whatever_it_is_called() {
        let scope = |name: &str, hint: Option<&str>, variables_reference| types::Scope {
            name: name.to_owned(),
            presentation_hint: hint.map(str::to_owned),
            variables_reference,
            ..types::Scope::default()
        };
        let scopes = [scope("Registers", Some("registers"), 3), scope("Locals (warning: optimized)", None, 1)];
        assert_eq!(choose_scopes(&scopes, None).unwrap(), [1]);
        assert_eq!(choose_scopes(&scopes, Some("registers")).unwrap(), [3]);
        assert!(choose_scopes(&scopes, Some("x")).unwrap_err().message().contains("Registers"));
    }

    #[test]
    fn a_long_value_is_cut_and_says_so() {
        let cut = clipped("\u{e9}".repeat(5000));
        assert!(cut.ends_with("... (10000 bytes)") && cut.len() < 2100);
    }
}
