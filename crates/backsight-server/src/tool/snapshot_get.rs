//! Reads a snapshot back.

use backsight::debug::diff::{DEFAULT_TOKENS, Form, Options};
use backsight::debug::render;
use backsight_core::Result;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::debugging::{Answer, entry, fitted, number, with_session};
use super::{Call, Definition, Effect, Group};
use crate::reply::Draft;

pub struct SnapshotGet;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    #[schemars(skip)]
    session: Option<String>,
    id: String,
    path: Option<String>,
    #[serde(default, deserialize_with = "number")]
    offset: Option<usize>,
}

impl Definition for SnapshotGet {
    const NAME: &'static str = "snapshot_get";
    const TITLE: &'static str = "Read a snapshot";
    const DESCRIPTION: &'static str = "Values of the variables in a snapshot, all or under a path.";
    const EFFECT: Effect = Effect::Reads;
    const GROUP: Group = Group::Debug;
    const DEFAULT_TOKENS: usize = DEFAULT_TOKENS;
    const SHOWS_BUDGET: bool = false;
    const OUTPUT: &'static [(&'static str, &'static str)] = &[("view", "object"), ("lines", "array")];
    type Arguments = Arguments;

    fn run(call: &Call<'_>, arguments: Arguments) -> Result<Draft> {
        let session = arguments.session.as_deref();
        let Arguments { id, path, offset, .. } = &arguments;
        let again = |offset: Option<usize>| -> Value {
            let mut again = json!({ "id": id });
            path.iter().for_each(|path| again["path"] = json!(path));
            offset.iter().for_each(|offset| again["offset"] = json!(offset));
            with_session(again, session)
        };
        let debugger = call.workspace.debugger()?;
        fitted(call, Self::NAME, again(*offset), |room| {
            let options =
                Options { max_tokens: room, path: path.clone(), offset: offset.unwrap_or(0), form: Form::Json };
            let mut view = debugger.read_snapshot(session, id, &options)?;
            view.snapshot = entry(call, view.snapshot);
            let more = view.next_offset.map(|next| again(Some(next)));
            Ok(Answer::new("view", &view, render::compact_view(&view))?.more(more))
        })
    }
}
