//! Gives this moment of the app a name.

use backsight::browser::render;
use backsight_core::Result;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Call, Definition, Effect, Group};
use crate::reply::Draft;

pub struct CheckpointCreate;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    name: String,
    /// compare with this baseline later
    baseline: Option<String>,
}

impl Definition for CheckpointCreate {
    const NAME: &'static str = "checkpoint_create";
    const TITLE: &'static str = "Create a checkpoint of the app";
    const DESCRIPTION: &'static str = "Mark a moment with a name for get_changes_since: session_start before the \
        first edit, before_x, after_x, pre_commit. At most 20; kept across restarts.";
    const EFFECT: Effect = Effect::Records;
    const GROUP: Group = Group::Browser;
    const SHOWS_BUDGET: bool = false;
    const OUTPUT: &'static [(&'static str, &'static str)] = &[
        ("name", "string"),
        ("created", "string"),
        ("severity", "string"),
        ("evicted", "string"),
        ("advice", "string"),
    ];
    type Arguments = Arguments;

    fn run(call: &Call<'_>, arguments: Arguments) -> Result<Draft> {
        let made = call.workspace.create_checkpoint(&arguments.name, arguments.baseline.as_deref())?;
        let checkpoint = made.checkpoint;
        let mut summary =
            format!("{} -> {}: {}", checkpoint.name, checkpoint.severity, render::safe(&checkpoint.summary));
        if let Some(evicted) = &made.evicted {
            summary.push_str(&format!("; the oldest one, {evicted}, made room"));
        }
        Ok(Draft::new(summary)
            .fact("name", checkpoint.name)
            .fact("created", checkpoint.created.to_string())
            .fact("severity", checkpoint.severity.as_str())
            .maybe("evicted", made.evicted)
            .maybe("advice", made.advice))
    }
}
