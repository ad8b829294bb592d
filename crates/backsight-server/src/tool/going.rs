//! What the four tools that change files have in common: the plan, told in full, and the token that ties a
//! confirmation to it.

use backsight::operation::Perform;
use backsight::report::Applied;
use backsight_core::{Code, Error, Result};
use serde::Serialize;
use serde_json::{Value, json};

use super::files_track::lists;
use super::{Call, Shown};
use crate::reply::Draft;
use crate::words;

/// The facts of their answers.
pub const OUTPUT: &[(&str, &str)] = &[
    ("changed", "boolean"),
    ("confirm", "object"),
    ("snapshot", "string"),
    ("safety", "string"),
    ("targets", "array"),
    ("reverted", "array"),
    ("merged", "array"),
    ("kept", "array"),
    ("skipped", "array"),
    ("conflicts", "array"),
    ("warnings", "array"),
];

/// What undo and redo show of their requests.
pub const COUNTED: &[Shown] = &[
    Shown::new("count").saying("default 1"),
    Shown::new("on_conflict").saying("default refuse"),
    Shown::new("dry_run").saying("only the plan; default false"),
    Shown::new("plan").saying("the plan's token").text(),
];

/// The arguments with which the same is asked again, without those that say which plan, and for whom unless that was said.
pub fn again(request: &impl Serialize) -> Result<Value> {
    let written = serde_json::to_value(request);
    let mut again = written.map_err(|error| super::usage(format!("the request cannot be written: {error}")))?;
    if let Some(fields) = again.as_object_mut() {
        fields.retain(|name, value| match name.as_str() {
            "dry_run" | "plan" => false,
            "on_conflict" => *value != "refuse",
            _ => true,
        });
    }
    Ok(said(again))
}

/// Carries out a way back: the plan, with the call that carries it out, or what became of it.
pub fn done<R: Perform<Answer = Applied>>(
    call: &Call<'_>,
    request: R,
    (tool, verb): (&'static str, &str),
    again: Value,
) -> Result<Draft> {
    let done = call.workspace.perform(request).map_err(|error| plan_again(error, tool, &again))?;
    Ok(applied(&done, verb, tool, again))
}

/// A refusal of a plan other than the one agreed to, with the call that gives the plan as it is now.
fn plan_again(error: Error, tool: &'static str, again: &Value) -> Error {
    if error.code() != Code::StateMismatch {
        return error;
    }
    let mut arguments = said(again.clone());
    arguments["dry_run"] = json!(true);
    error.with_next(tool, arguments)
}

/// Without what is not said.
fn said(mut arguments: Value) -> Value {
    if let Some(object) = arguments.as_object_mut() {
        object.retain(|_, value| !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty()));
    }
    arguments
}

/// A plan, with the call of `tool` that carries it out, or what became of it.
fn applied(applied: &Applied, verb: &str, tool: &'static str, again: Value) -> Draft {
    let touched = applied.reverted.len() + applied.merged.len() + applied.conflicts.len();
    let paths = words::count(touched, "path");
    let summary = match (applied.changed, applied.dry_run, &applied.snapshot) {
        (false, ..) => format!("{verb}: nothing to change"),
        (true, true, _) => format!("{verb} would change {paths}; nothing was changed yet"),
        (true, false, Some(step)) => format!("{verb} changed {paths}, recorded as {}", step.sequence_number),
        (true, false, None) => format!("{verb} changed {paths}"),
    };
    let mut draft = Draft::new(summary)
        .fact("changed", applied.changed && !applied.dry_run)
        .maybe("snapshot", applied.snapshot.as_ref().map(|step| step.sequence_number.to_string()))
        .said("safety", applied.safety.map(|seq| seq.to_string()));
    if let (true, Some(token)) = (applied.changed, &applied.plan) {
        let mut arguments = said(again);
        arguments["dry_run"] = json!(false);
        arguments["plan"] = json!(token);
        draft = draft.confirm(tool, arguments);
    }
    let kept = applied.kept.iter().map(|kept| format!("{}: {}", kept.path, kept.reason)).collect();
    let targets = applied.targets.iter().map(ToString::to_string).collect();
    lists(
        draft,
        vec![
            ("conflicts", applied.conflicts.iter().map(words::conflict).collect()),
            ("skipped", applied.skipped.iter().map(words::conflict).collect()),
            ("reverted", applied.reverted.iter().map(words::change).collect()),
            ("merged", applied.merged.iter().map(words::change).collect()),
            ("targets", targets),
            ("warnings", applied.warnings.clone()),
            ("kept", kept),
        ],
    )
}
