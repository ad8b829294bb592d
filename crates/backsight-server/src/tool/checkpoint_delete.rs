//! Forgets a named checkpoint.

use backsight::browser::request::DeleteCheckpoint;
use backsight_core::Result;

use super::{Asking, Call, Group, Shown};
use crate::reply::Draft;

pub struct CheckpointDelete;

impl Asking for CheckpointDelete {
    const NAME: &'static str = "checkpoint_delete";
    const TITLE: &'static str = "Delete a checkpoint";
    const DESCRIPTION: &'static str = "Delete a named checkpoint.";
    const GROUP: Group = Group::Browser;
    const SHOWN: &'static [Shown] = &[Shown::new("name")];
    const OUTPUT: &'static [(&'static str, &'static str)] = &[("deleted", "string")];
    type Request = DeleteCheckpoint;

    fn run(call: &Call<'_>, request: DeleteCheckpoint) -> Result<Draft> {
        let deleted = call.workspace.perform(request)?.deleted;
        Ok(Draft::new(format!("checkpoint {deleted} is deleted")).fact("deleted", deleted))
    }
}
