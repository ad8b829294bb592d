//! What changed between two snapshots.

use backsight::debug::diff::{DEFAULT_TOKENS, Form, Options};
use backsight::debug::render;
use backsight::debug::request::CompareSnapshots;
use backsight_core::Result;
use serde_json::{Value, json};

use super::debugging::{Answer, fitted, objects, offset_of, with_session};
use super::{Asking, Call, Group, Shown};
use crate::reply::Draft;

pub struct SnapshotDiff;

impl Asking for SnapshotDiff {
    const NAME: &'static str = "snapshot_diff";
    const TITLE: &'static str = "Compare two snapshots";
    const DESCRIPTION: &'static str = "Compare, diff two snapshots of variables: what changed between them.";
    const GROUP: Group = Group::Debug;
    const DEFAULT_TOKENS: usize = DEFAULT_TOKENS;
    const SHOWN: &'static [Shown] = &[
        Shown::new("from").named("snapshot_id_1").saying("id or label"),
        Shown::new("to").named("snapshot_id_2"),
        Shown::new("path"),
        Shown::new("offset"),
    ];
    const OUTPUT: &'static [(&'static str, &'static str)] = &[("diff", "object"), ("lines", "array")];
    type Request = CompareSnapshots;

    fn run(call: &Call<'_>, request: CompareSnapshots) -> Result<Draft> {
        let CompareSnapshots { session, from: first, to: second, part } = &request;
        let (session, path) = (session.as_deref(), &part.path);
        let again = |offset: Option<usize>| -> Value {
            let mut again = json!({ "snapshot_id_1": first, "snapshot_id_2": second });
            path.iter().for_each(|path| again["path"] = json!(path));
            offset.iter().for_each(|offset| again["offset"] = json!(offset));
            with_session(again, session)
        };
        let debugger = call.workspace.debugger()?;
        fitted(call, Self::NAME, again(offset_of(part)), |room| {
            let options = Options { max_tokens: room, form: Form::Compact, ..part.options() };
            let diff = debugger.diff_snapshots(session, first, second, &options)?;
            let more = diff.next_offset.map(|next| again(Some(next)));
            Ok(Answer::new("compared", "diff", objects::diff(&diff), render::compact(&diff)).more(more))
        })
    }
}
