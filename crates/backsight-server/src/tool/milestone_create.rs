//! Gives a gapless range of snapshots a name.

use backsight::request::CreateMilestone;
use backsight_core::Result;

use super::{Asking, Call, Group, Shown};
use crate::reply::Draft;
use crate::words;

pub struct MilestoneCreate;

impl Asking for MilestoneCreate {
    const NAME: &'static str = "milestone_create";
    const TITLE: &'static str = "Create a milestone";
    const DESCRIPTION: &'static str = "Tag a version: name the snapshots since the last milestone as one piece of \
        work; the title is then a reference.";
    const GROUP: Group = Group::Files;
    const SHOWS_BUDGET: bool = true;
    const SHOWN: &'static [Shown] = &[
        Shown::new("title").text(),
        Shown::new("description"),
        Shown::new("tags"),
        Shown::new("snapshots").saying("exactly these snapshots; default: all since the last milestone"),
        Shown::new("end").saying("the last snapshot of it; default @"),
    ];
    const OUTPUT: &'static [(&'static str, &'static str)] = &[("first", "string"), ("last", "string")];
    type Request = CreateMilestone;

    fn run(call: &Call<'_>, mut request: CreateMilestone) -> Result<Draft> {
        request.who = call.on_behalf(request.who);
        let made = call.workspace.perform(request)?;
        let (first, last) = (made.start_sequence_number.to_string(), made.end_sequence_number.to_string());
        let files = made.summary.affected_files;
        let summary = format!(
            "milestone `{}` holds {first} to {last}: {}",
            words::clip(&made.title),
            words::count(files as usize, "file")
        );
        Ok(Draft::new(summary).fact("first", first).fact("last", last))
    }
}
