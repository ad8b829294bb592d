//! Deletes all snapshots of a session.

use backsight::debug::request::ClearSnapshots;
use backsight_core::Result;

use super::{Asking, Call, Group, Shown};
use crate::reply::Draft;
use crate::words;

pub struct SnapshotClear;

impl Asking for SnapshotClear {
    const NAME: &'static str = "snapshot_clear";
    const TITLE: &'static str = "Delete all snapshots";
    const DESCRIPTION: &'static str = "Delete all snapshots of variables.";
    const GROUP: Group = Group::Debug;
    const SHOWN: &'static [Shown] = &[];
    const OUTPUT: &'static [(&'static str, &'static str)] = &[("cleared", "integer")];
    type Request = ClearSnapshots;

    fn run(call: &Call<'_>, request: ClearSnapshots) -> Result<Draft> {
        let cleared = call.workspace.perform(request)?.cleared;
        Ok(Draft::new(format!("{} deleted", words::count(cleared, "snapshot"))).fact("cleared", cleared))
    }
}
