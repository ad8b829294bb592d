//! The snapshots of a session.

use backsight::debug::render;
use backsight::debug::request::ListSnapshots;
use backsight_core::Result;
use serde_json::json;

use super::debugging::{entry, with_session};
use super::{Asking, Call, Group, Shown, cursor};
use crate::reply::{Draft, Next};
use crate::words;

pub struct SnapshotList;

impl Asking for SnapshotList {
    const NAME: &'static str = "snapshot_list";
    const TITLE: &'static str = "List snapshots";
    const DESCRIPTION: &'static str = "List the snapshots of variables, oldest first.";
    const GROUP: Group = Group::Debug;
    const DEFAULT_TOKENS: usize = 1000;
    const PAGES: bool = true;
    const SHOWN: &'static [Shown] = &[];
    const OUTPUT: &'static [(&'static str, &'static str)] =
        &[("snapshots", "array"), ("session", "string"), ("bytes", "integer"), ("warnings", "array")];
    type Request = ListSnapshots;

    fn run(call: &Call<'_>, request: ListSnapshots) -> Result<Draft> {
        let session = request.session.clone();
        let list = call.workspace.perform(request)?;
        let line = |snapshot| {
            let listed = render::compact_list(&[entry(call, snapshot)]);
            listed.lines().nth(1).unwrap_or_default().trim_start().to_owned()
        };
        let count = list.snapshots.len();
        let lines: Vec<String> = list.snapshots.into_iter().map(line).collect();
        let more = Next::new(Self::NAME, with_session(json!({}), session.as_deref()));
        let draft = Draft::new(words::count(count, "snapshot")).fact("session", list.session).fact("bytes", list.bytes);
        let draft = match lines.is_empty() {
            // Seed 000 wants the empty list itself.
            true => draft.fact("snapshots", json!([])),
            false => draft.list_from("snapshots", lines, cursor(call.cursor)?, more),
        };
        Ok(match list.warning {
            Some(warning) => draft.list("warnings", vec![warning], None),
            None => draft,
        })
    }
}
