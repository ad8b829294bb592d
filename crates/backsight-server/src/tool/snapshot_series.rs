//! The hits of a snapshot point as a table.

use backsight::debug::diff::{DEFAULT_TOKENS, Form, Options};
use backsight::debug::render;
use backsight_core::Result;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::debugging::{Answer, fitted, with_session};
use super::{Call, Definition, Effect, Group};
use crate::reply::Draft;

pub struct SnapshotSeries;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    #[schemars(skip)]
    session: Option<String>,
    name: String,
    path: Option<String>,
}

impl Definition for SnapshotSeries {
    const NAME: &'static str = "snapshot_series";
    const TITLE: &'static str = "Variables over time";
    const DESCRIPTION: &'static str =
        "The snapshots of a snapshot_on as a table: how a value or variable changed over time, in a loop.";
    const EFFECT: Effect = Effect::Reads;
    const GROUP: Group = Group::Debug;
    const DEFAULT_TOKENS: usize = DEFAULT_TOKENS;
    const SHOWS_BUDGET: bool = false;
    const OUTPUT: &'static [(&'static str, &'static str)] = &[("series", "object"), ("lines", "array")];
    type Arguments = Arguments;

    fn run(call: &Call<'_>, arguments: Arguments) -> Result<Draft> {
        let session = arguments.session.as_deref();
        let Arguments { name, path, .. } = &arguments;
        let mut again: Value = json!({ "name": name });
        path.iter().for_each(|path| again["path"] = json!(path));
        let again = with_session(again, session);
        let debugger = call.workspace.debugger()?;
        fitted(call, Self::NAME, again.clone(), |room| {
            let options = Options { max_tokens: room, path: path.clone(), form: Form::Json, ..Options::default() };
            let series = debugger.series(session, name, &options)?;
            let is_cut = series.omitted_rows + series.omitted_columns > 0;
            let mut more = again.clone();
            more["max_tokens"] = json!(call.max_tokens.saturating_mul(4));
            Ok(Answer::new("series", &series, render::compact_series(&series))?.more(is_cut.then_some(more)))
        })
    }
}
