//! What the four tools that change files have in common: the plan, told in full, and the token that ties a
//! confirmation to it.

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
    ("dry_run", "boolean"),
    ("changed", "boolean"),
    ("plan", "string"),
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
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
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
    #[serde(default)]
    on_conflict: Policy,
    /// only the plan; default false
    #[serde(default)]
    dry_run: bool,
}

impl Steps {
    /// In the library's words.
    pub fn request(self, call: &Call<'_>) -> Result<Undo> {
        let count = match self.count.unwrap_or(1) {
            0 => return Err(usage("`count` is 0, not a number from 1".to_owned())),
            count => usize::from(count),
        };
        let (on_conflict, dry_run) = (self.on_conflict.into(), self.dry_run);
        Ok(Undo { count, on_conflict, dry_run, origin: call.plain_origin(None) })
    }
}

/// A plan, or what became of it. `confirm` is the call that carries it out.
pub fn applied(applied: &Applied, verb: &str, confirm: Option<(&'static str, Value)>) -> Draft {
    let touched = applied.reverted.len() + applied.merged.len() + applied.conflicts.len();
    let paths = words::count(touched, "path");
    let summary = match (applied.changed, applied.dry_run, &applied.snapshot) {
        (false, ..) => format!("{verb}: nothing to change"),
        (true, true, _) => format!("{verb} would change {paths}; nothing was changed yet"),
        (true, false, Some(step)) => format!("{verb} changed {paths}, recorded as {}", step.sequence_number),
        (true, false, None) => format!("{verb} changed {paths}"),
    };
    let mut draft = Draft::new(summary)
        .fact("dry_run", applied.dry_run)
        .fact("changed", applied.changed)
        .maybe("snapshot", applied.snapshot.as_ref().map(|step| step.sequence_number.to_string()))
        .maybe("safety", applied.safety.map(|seq| seq.to_string()));
    if let (true, true, Some((tool, mut arguments))) = (applied.dry_run, applied.changed, confirm) {
        let token = token(applied);
        arguments["dry_run"] = json!(false);
        arguments["plan"] = json!(token);
        if let Some(object) = arguments.as_object_mut() {
            object.retain(|_, value| !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty()));
        }
        draft = draft.fact("plan", token).confirm(tool, arguments);
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

fn token(applied: &Applied) -> String {
    format!("plan-{}", applied.fingerprint)
}

/// Refuses when the plan shown to the caller is not the one that would be carried out now.
pub fn check(
    given: Option<&str>,
    tool: &'static str,
    again: &Value,
    plan: impl FnOnce() -> Result<Applied>,
) -> Result<()> {
    let Some(given) = given else { return Ok(()) };
    if given == token(&plan()?) {
        return Ok(());
    }
    let mut again = again.clone();
    if let Some(object) = again.as_object_mut() {
        object.retain(|_, value| !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty()));
    }
    Err(Error::new(
        Code::StateMismatch,
        "this is not the plan you were shown: files changed since; nothing was changed",
    )
    .with_hint("ask for the plan again and look at it")
    .with_next(tool, again))
}
