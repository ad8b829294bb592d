//! Undoes steps and keeps everything else.

use backsight::request::{PathText, RevertSteps};
use backsight_core::Result;

use super::going;
use super::{Asking, Call, Group, Shown};
use crate::reply::Draft;

pub struct FilesRevert;

impl Asking for FilesRevert {
    const NAME: &'static str = "files_revert";
    const TITLE: &'static str = "Revert steps, keep the rest";
    const DESCRIPTION: &'static str = "Revert, roll back, undo everything that the named steps, messages or sessions \
        changed, and keep all other edits. Answers with the plan; `confirm` in it is the call that carries it out.";
    const GROUP: Group = Group::Files;
    const SHOWS_BUDGET: bool = true;
    const SHOWN: &'static [Shown] = &[
        Shown::new("refs").saying("steps: #12, message:ID, session:ID, a milestone; 3..now").text(),
        Shown::new("paths").text(),
        Shown::new("hunks").saying("ids of files_diff; ID:2-3 for lines").text(),
        Shown::new("on_conflict").saying("default refuse"),
        Shown::new("dry_run").saying("default true: only the plan").unless_said(true),
        Shown::new("plan").saying("the plan's token").text(),
    ];
    const OUTPUT: &'static [(&'static str, &'static str)] = going::OUTPUT;
    type Request = RevertSteps;

    fn run(call: &Call<'_>, mut request: RevertSteps) -> Result<Draft> {
        request.paths = PathText::without_root(request.paths);
        let again = going::again(&request)?;
        request.terms.who = call.on_behalf(request.terms.who);
        going::done(call, request, (Self::NAME, "revert"), again)
    }
}
