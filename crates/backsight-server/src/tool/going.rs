//! What the four tools that change files have in common: the plan, told in full, and the token that ties a
//! confirmation to it.

use backsight::PlanToken;
use backsight::report::{Applied, OnConflict};
use backsight::request::Undo;
use backsight_core::{Code, Error, Result};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::files_track::lists;
use super::{Call, usage};
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

/// What to do about overlapping edits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Policy {
    /// Change nothing and name every conflict.
    #[default]
    Refuse,
    /// Leave the conflicting files as they are.
    Skip,
    /// Merge, with conflict markers where it must be.
    Merge,
}

impl Policy {
    /// As an argument that has to be said: nothing where it is the default.
    pub fn argument(self) -> Option<&'static str> {
        match self {
            Policy::Refuse => None,
            Policy::Skip => Some("skip"),
            Policy::Merge => Some("merge"),
        }
    }
}

impl From<Policy> for OnConflict {
    fn from(policy: Policy) -> OnConflict {
        match policy {
            Policy::Refuse => OnConflict::Refuse,
            Policy::Skip => OnConflict::Skip,
            Policy::Merge => OnConflict::Merge,
        }
    }
}

/// How far undo and redo go.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Steps {
    /// default 1
    count: Option<u16>,
    /// default refuse
    #[serde(default)]
    on_conflict: Policy,
    /// only the plan; default false
    #[serde(default)]
    dry_run: bool,
    /// the plan's token
    plan: Option<String>,
}

impl Steps {
    /// Does it, by the library's function for it.
    pub fn run(
        self,
        call: &Call<'_>,
        (tool, verb): (&'static str, &str),
        go: impl FnOnce(&Undo) -> Result<Applied>,
    ) -> Result<Draft> {
        let count = match self.count.unwrap_or(1) {
            0 => return Err(usage("`count` is 0, not a number from 1".to_owned())),
            count => usize::from(count),
        };
        let again = json!({ "count": self.count, "on_conflict": self.on_conflict.argument() });
        let request = Undo {
            count,
            on_conflict: self.on_conflict.into(),
            dry_run: self.dry_run,
            plan: agreed(self.plan.as_deref())?,
            origin: call.plain_origin(None),
        };
        let done = go(&request).map_err(|error| plan_again(error, tool, &again))?;
        Ok(applied(&done, verb, tool, again))
    }
}

/// The plan that the caller agreed to.
pub fn agreed(plan: Option<&str>) -> Result<Option<PlanToken>> {
    plan.map(str::parse).transpose()
}

/// A refusal of a plan other than the one agreed to, with the call that gives the plan as it is now.
pub fn plan_again(error: Error, tool: &'static str, again: &Value) -> Error {
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
pub fn applied(applied: &Applied, verb: &str, tool: &'static str, again: Value) -> Draft {
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
