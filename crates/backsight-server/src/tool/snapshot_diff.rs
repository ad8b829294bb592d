//! What changed between two snapshots.

use backsight::debug::diff::{DEFAULT_TOKENS, Form, Options};
use backsight::debug::render;
use backsight_core::Result;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::debugging::{Answer, fitted, number, with_session};
use super::{Call, Definition, Effect, Group};
use crate::reply::Draft;

pub struct SnapshotDiff;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    #[schemars(skip)]
    session: Option<String>,
    /// id or label
    snapshot_id_1: String,
    snapshot_id_2: String,
    path: Option<String>,
    #[serde(default, deserialize_with = "number")]
    offset: Option<usize>,
}

impl Definition for SnapshotDiff {
    const NAME: &'static str = "snapshot_diff";
    const TITLE: &'static str = "Compare two snapshots";
    const DESCRIPTION: &'static str = "Compare, diff two snapshots of variables: what changed between them.";
    const EFFECT: Effect = Effect::Reads;
    const GROUP: Group = Group::Debug;
    const DEFAULT_TOKENS: usize = DEFAULT_TOKENS;
    const SHOWS_BUDGET: bool = false;
    const OUTPUT: &'static [(&'static str, &'static str)] = &[("diff", "object"), ("lines", "array")];
    type Arguments = Arguments;

    fn run(call: &Call<'_>, arguments: Arguments) -> Result<Draft> {
        let session = arguments.session.as_deref();
        let Arguments { snapshot_id_1: first, snapshot_id_2: second, path, offset, .. } = &arguments;
        let again = |offset: Option<usize>| -> Value {
            let mut again = json!({ "snapshot_id_1": first, "snapshot_id_2": second });
            path.iter().for_each(|path| again["path"] = json!(path));
            offset.iter().for_each(|offset| again["offset"] = json!(offset));
            with_session(again, session)
        };
        let debugger = call.workspace.debugger()?;
        fitted(call, Self::NAME, again(*offset), |room| {
            let options =
                Options { max_tokens: room, path: path.clone(), offset: offset.unwrap_or(0), form: Form::Json };
            let diff = debugger.diff_snapshots(session, first, second, &options)?;
            let more = diff.next_offset.map(|next| again(Some(next)));
            Ok(Answer::new("diff", &diff, render::compact(&diff))?.more(more))
        })
    }
}
