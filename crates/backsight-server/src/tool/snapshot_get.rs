//! Reads a snapshot back.

use backsight::debug::diff::{DEFAULT_TOKENS, Form, Options};
use backsight::debug::render;
use backsight::debug::request::ReadSnapshot;
use backsight_core::Result;
use serde_json::{Value, json};

use super::debugging::{Answer, entry, fitted, objects, offset_of, with_session};
use super::{Asking, Call, Group, Shown};
use crate::reply::Draft;

pub struct SnapshotGet;

impl Asking for SnapshotGet {
    const NAME: &'static str = "snapshot_get";
    const TITLE: &'static str = "Read a snapshot";
    const DESCRIPTION: &'static str = "Values of the variables in a snapshot, all or under a path.";
    const GROUP: Group = Group::Debug;
    const DEFAULT_TOKENS: usize = DEFAULT_TOKENS;
    const SHOWN: &'static [Shown] = &[Shown::new("id"), Shown::new("path"), Shown::new("offset")];
    const OUTPUT: &'static [(&'static str, &'static str)] = &[("view", "object"), ("lines", "array")];
    type Request = ReadSnapshot;

    fn run(call: &Call<'_>, request: ReadSnapshot) -> Result<Draft> {
        let ReadSnapshot { session, id, part } = &request;
        let (session, path) = (session.as_deref(), &part.path);
        let again = |offset: Option<usize>| -> Value {
            let mut again = json!({ "id": id });
            path.iter().for_each(|path| again["path"] = json!(path));
            offset.iter().for_each(|offset| again["offset"] = json!(offset));
            with_session(again, session)
        };
        let debugger = call.workspace.debugger()?;
        fitted(call, Self::NAME, again(offset_of(part)), |room| {
            let options = Options { max_tokens: room, form: Form::Compact, ..part.options() };
            let mut view = debugger.read_snapshot(session, id, &options)?;
            view.snapshot = entry(call, view.snapshot);
            let more = view.next_offset.map(|next| again(Some(next)));
            Ok(Answer::new("snapshot", "view", objects::view(&view), render::compact_view(&view)).more(more))
        })
    }
}
