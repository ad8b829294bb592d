//! The snapshots of a session.

use backsight::debug::report::SnapshotEntry;
use backsight::debug::request::ListSnapshots;
use backsight_core::Result;
use serde_json::json;

use super::debugging::{entry, listed, objects, with_session};
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
        let count = list.snapshots.len();
        let snapshots: Vec<SnapshotEntry> = list.snapshots.into_iter().map(|one| entry(call, one)).collect();
        let lines: Vec<String> = snapshots.iter().map(listed).collect();
        let more = Next::new(Self::NAME, with_session(json!({}), session.as_deref()));
        let draft = Draft::new(words::count(count, "snapshot"));
        let draft = draft
            .maybe("session", objects::session(&list.session))
            .maybe("bytes", Some(list.bytes).filter(|_| count > 0));
        let draft = match lines.is_empty() {
            // Seed 000 wants the empty list itself.
            true => draft.fact("snapshots", json!([])),
            false => {
                let told = snapshots.iter().map(objects::snapshot).collect();
                draft.list_from("snapshots", lines, cursor(call.cursor)?, more).told_as(told)
            }
        };
        Ok(match list.warning {
            Some(warning) => draft.list("warnings", vec![warning], None),
            None => draft,
        })
    }
}
