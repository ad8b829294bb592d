//! The hits of a snapshot point as a table.

use backsight::debug::diff::{DEFAULT_TOKENS, Form, Options};
use backsight::debug::render;
use backsight::debug::request::ReadSeries;
use backsight_core::Result;
use serde_json::{Value, json};

use super::debugging::{Answer, fitted, objects, with_session};
use super::{Asking, Call, Group, Shown};
use crate::reply::Draft;

pub struct SnapshotSeries;

impl Asking for SnapshotSeries {
    const NAME: &'static str = "snapshot_series";
    const TITLE: &'static str = "Variables over time";
    const DESCRIPTION: &'static str =
        "The snapshots of a snapshot_on as a table: how a value or variable changed over time, in a loop.";
    const GROUP: Group = Group::Debug;
    const DEFAULT_TOKENS: usize = DEFAULT_TOKENS;
    const SHOWN: &'static [Shown] = &[Shown::new("name"), Shown::new("path")];
    const OUTPUT: &'static [(&'static str, &'static str)] = &[("series", "object"), ("lines", "array")];
    type Request = ReadSeries;

    fn run(call: &Call<'_>, request: ReadSeries) -> Result<Draft> {
        let ReadSeries { session, name, part } = &request;
        let session = session.as_deref();
        let mut again: Value = json!({ "name": name });
        part.path.iter().for_each(|path| again["path"] = json!(path));
        let again = with_session(again, session);
        let debugger = call.workspace.debugger()?;
        fitted(call, Self::NAME, again.clone(), |room| {
            let options = Options { max_tokens: room, form: Form::Compact, ..part.options() };
            let series = debugger.series(session, name, &options)?;
            let is_cut = series.omitted_rows + series.omitted_columns > 0;
            let mut more = again.clone();
            more["max_tokens"] = json!(call.max_tokens.saturating_mul(4));
            let text = render::compact_series(&series);
            Ok(Answer::new("hits", "series", objects::series(&series), text).more(is_cut.then_some(more)))
        })
    }
}
