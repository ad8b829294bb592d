//! Deletes a snapshot.

use backsight::debug::request::DeleteSnapshot;
use backsight_core::Result;

use super::{Asking, Call, Group, Shown};
use crate::reply::Draft;
use crate::words;

pub struct SnapshotDelete;

impl Asking for SnapshotDelete {
    const NAME: &'static str = "snapshot_delete";
    const TITLE: &'static str = "Delete a snapshot";
    const DESCRIPTION: &'static str = "Delete a snapshot of variables, or a snapshot point's by its name.";
    const GROUP: Group = Group::Debug;
    const SHOWN: &'static [Shown] = &[Shown::new("id")];
    const OUTPUT: &'static [(&'static str, &'static str)] = &[("count", "integer"), ("deleted", "array")];
    type Request = DeleteSnapshot;

    fn run(call: &Call<'_>, request: DeleteSnapshot) -> Result<Draft> {
        let deleted = call.workspace.perform(request)?.deleted;
        let summary = format!("{} deleted", words::count(deleted.len(), "snapshot"));
        Ok(Draft::new(summary).fact("count", deleted.len()).list("deleted", deleted, None))
    }
}
