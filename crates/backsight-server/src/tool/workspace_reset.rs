//! Takes note of a broken continuity, with a reason, and goes on from what is on disk.

use backsight::request::ResetContinuity;
use backsight_core::Result;

use super::files_track::lists;
use super::{Asking, Call, Group, Shown};
use crate::reply::Draft;
use crate::words;

pub struct WorkspaceReset;

impl Asking for WorkspaceReset {
    const NAME: &'static str = "workspace_reset";
    const TITLE: &'static str = "Reset continuity";
    const DESCRIPTION: &'static str = "Accept the files as they are now: records outside changes, closes open tool \
        calls, acknowledges problems of the timeline. Changes no file and removes no history.";
    const GROUP: Group = Group::Files;
    const SHOWS_BUDGET: bool = true;
    const SHOWN: &'static [Shown] = &[Shown::new("reason").saying("why, for the record")];
    const OUTPUT: &'static [(&'static str, &'static str)] =
        &[("row", "string"), ("integrated", "string"), ("acknowledged", "array"), ("closed_calls", "array")];
    type Request = ResetContinuity;

    fn run(call: &Call<'_>, mut request: ResetContinuity) -> Result<Draft> {
        request.who = call.on_behalf(request.who);
        let reason = words::clip(&request.reason);
        let reset = call.workspace.perform(request)?;
        let row = reset.event.sequence_number;
        let draft = Draft::new(format!("continuity was reset as {row}: {reason}"))
            .fact("row", row.to_string())
            .maybe("integrated", reset.integrated.map(|seq| seq.to_string()));
        let acknowledged = reset.acknowledged.iter().map(|problem| problem.message.clone()).collect();
        let closed = reset.closed_calls.iter().map(|call| call.id.to_string()).collect();
        Ok(lists(draft, vec![("acknowledged", acknowledged), ("closed_calls", closed)]))
    }
}
