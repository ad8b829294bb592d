//! Takes the tree, or some paths of it, to an earlier state.

use backsight::request::{PathText, RestoreFiles};
use backsight_core::Result;

use super::going;
use super::{Asking, Call, Group, Shown};
use crate::reply::Draft;

pub struct FilesRestore;

impl Asking for FilesRestore {
    const NAME: &'static str = "files_restore";
    const TITLE: &'static str = "Restore files from a snapshot";
    const DESCRIPTION: &'static str = "Restore, go back, bring back: make all files, or some paths, exactly what they \
        were in an earlier snapshot, deleted ones too, without others' later edits; to roll back only your own steps \
        use files_revert. Answers with the plan, like it.";
    const GROUP: Group = Group::Files;
    const SHOWS_BUDGET: bool = true;
    const SHOWN: &'static [Shown] = &[
        Shown::new("ref").saying("the snapshot to go to").text(),
        Shown::new("paths").text(),
        Shown::new("on_conflict").saying("default refuse"),
        Shown::new("dry_run").saying("default true: only the plan").unless_said(true),
        Shown::new("plan").saying("the plan's token").text(),
    ];
    const OUTPUT: &'static [(&'static str, &'static str)] = going::OUTPUT;
    type Request = RestoreFiles;

    fn run(call: &Call<'_>, mut request: RestoreFiles) -> Result<Draft> {
        request.paths = PathText::without_root(request.paths);
        let again = going::again(&request)?;
        request.terms.who = call.on_behalf(request.terms.who);
        going::done(call, request, (Self::NAME, "restore"), again)
    }
}
