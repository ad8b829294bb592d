//! The value of an expression.

use backsight::debug::render;
use backsight::debug::session::EvaluateRequest;
use backsight_core::Result;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::debugging::{number, short, with_session};
use super::{Call, Definition, Effect, Group, cursor};
use crate::debug_limits;
use crate::reply::{Draft, Next};

pub struct Evaluate;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    #[schemars(skip)]
    session: Option<String>,
    expression: String,
    #[serde(default, deserialize_with = "number")]
    frame: Option<u32>,
    #[schemars(skip)]
    thread: Option<i64>,
    /// default true: runs no code
    safe: Option<bool>,
    #[schemars(skip)]
    timeout_ms: Option<u64>,
    #[schemars(skip)]
    cursor: Option<String>,
}

impl Definition for Evaluate {
    const NAME: &'static str = "evaluate";
    const TITLE: &'static str = "Evaluate an expression";
    const DESCRIPTION: &'static str = "Evaluate, print the value of an expression or variable in the paused program.";
    const EFFECT: Effect = Effect::Runs;
    const GROUP: Group = Group::Debug;
    const DEFAULT_TOKENS: usize = 1000;
    const SHOWS_BUDGET: bool = false;
    const OUTPUT: &'static [(&'static str, &'static str)] = &[
        ("value", "string"),
        ("type", "string"),
        ("length", "integer"),
        ("expandable", "boolean"),
        ("epoch", "integer"),
        ("may_have_run_code", "boolean"),
    ];
    type Arguments = Arguments;

    fn run(call: &Call<'_>, arguments: Arguments) -> Result<Draft> {
        let session = arguments.session.as_deref();
        let safe = arguments.safe.unwrap_or(true);
        let Arguments { expression, frame, thread, .. } = &arguments;
        let again = json!({ "expression": expression, "frame": frame, "thread": thread, "safe": arguments.safe });
        let request = EvaluateRequest {
            expression: expression.clone(),
            thread: *thread,
            frame: frame.unwrap_or(0),
            safe,
            timeout_ms: debug_limits::timeout(arguments.timeout_ms)?,
        };
        let value = call.workspace.debugger()?.evaluate(session, request)?;
        let kind = value.kind.as_deref().map(|kind| format!(": {}", short(call, kind))).unwrap_or_default();
        let ran = if value.may_have_run_code { " (code of the program may have run)" } else { "" };
        let more = Next::new(Self::NAME, with_session(again, session));
        Ok(Draft::new(format!("{}{kind}{ran}", short(call, expression)))
            .maybe("type", value.kind.as_deref().map(|kind| short(call, kind)))
            .maybe("length", value.length)
            .maybe("expandable", value.expandable.then_some(true))
            .fact("epoch", value.epoch)
            .fact("may_have_run_code", value.may_have_run_code)
            .body("value", &render::safe(&value.value), cursor(arguments.cursor.as_deref())?, more))
    }
}
