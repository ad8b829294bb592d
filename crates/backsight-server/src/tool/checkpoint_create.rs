//! Gives this moment of the app a name.

use backsight::browser::render;
use backsight::browser::request::CreateCheckpoint;
use backsight_core::Result;

use super::{Asking, Call, Group, Shown};
use crate::reply::Draft;

pub struct CheckpointCreate;

impl Asking for CheckpointCreate {
    const NAME: &'static str = "checkpoint_create";
    const TITLE: &'static str = "Create a checkpoint of the app";
    const DESCRIPTION: &'static str = "Mark a moment with a name for get_changes_since: session_start before the \
        first edit, before_x, after_x, pre_commit. At most 20; kept across restarts.";
    const GROUP: Group = Group::Browser;
    const SHOWN: &'static [Shown] =
        &[Shown::new("name"), Shown::new("baseline").saying("compare with this baseline later")];
    const OUTPUT: &'static [(&'static str, &'static str)] = &[
        ("name", "string"),
        ("created", "string"),
        ("severity", "string"),
        ("evicted", "string"),
        ("advice", "string"),
    ];
    type Request = CreateCheckpoint;

    fn run(call: &Call<'_>, request: CreateCheckpoint) -> Result<Draft> {
        let made = call.workspace.perform(request)?;
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
