//! The value of an expression.

use backsight::debug::render;
use backsight::debug::request::EvaluateExpression;
use backsight_core::Result;
use serde_json::json;

use super::debugging::{short, with_session};
use super::{Asking, Call, Group, Shown, cursor};
use crate::reply::{Draft, Next};

pub struct Evaluate;

impl Asking for Evaluate {
    const NAME: &'static str = "evaluate";
    const TITLE: &'static str = "Evaluate an expression";
    const DESCRIPTION: &'static str = "Evaluate, print the value of an expression or variable in the paused program.";
    const GROUP: Group = Group::Debug;
    const DEFAULT_TOKENS: usize = 1000;
    const PAGES: bool = true;
    const SHOWN: &'static [Shown] =
        &[Shown::new("expression"), Shown::new("frame"), Shown::new("safe").saying("default true: runs no code")];
    const OUTPUT: &'static [(&'static str, &'static str)] = &[
        ("value", "string"),
        ("type", "string"),
        ("length", "integer"),
        ("expandable", "boolean"),
        ("may_have_run_code", "boolean"),
    ];
    type Request = EvaluateExpression;

    fn run(call: &Call<'_>, request: EvaluateExpression) -> Result<Draft> {
        let EvaluateExpression { session, expression, frame, thread, safe, .. } = request.clone();
        let frame = Some(frame).filter(|frame| *frame > 0);
        let again = json!({ "expression": expression, "frame": frame, "thread": thread, "safe": safe });
        let value = call.workspace.perform(request)?;
        let kind = value.kind.as_deref().map(|kind| format!(": {}", short(call, kind))).unwrap_or_default();
        let ran = if value.may_have_run_code { " (code of the program may have run)" } else { "" };
        let more = Next::new(Self::NAME, with_session(again, session.as_deref()));
        Ok(Draft::new(format!("{}{kind}{ran}", short(call, &expression)))
            .brief("evaluated")
            .maybe("type", value.kind.as_deref().map(|kind| short(call, kind)))
            .maybe("length", value.length)
            .maybe("expandable", value.expandable.then_some(true))
            .maybe("may_have_run_code", value.may_have_run_code.then_some(true))
            .body("value", &render::safe(&value.value), cursor(call.cursor)?, more))
    }
}
