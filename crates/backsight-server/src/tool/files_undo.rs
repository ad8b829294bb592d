//! Takes back the newest steps.

use backsight::request::UndoSteps;
use backsight_core::Result;

use super::going;
use super::{Asking, Call, Group, Shown};
use crate::reply::Draft;

pub struct FilesUndo;

impl Asking for FilesUndo {
    const NAME: &'static str = "files_undo";
    const TITLE: &'static str = "Undo the last change";
    const DESCRIPTION: &'static str =
        "Undo, take back, discard the last edit or step (or count of them), whoever made it; edits elsewhere stay.";
    const GROUP: Group = Group::Files;
    const SHOWS_BUDGET: bool = true;
    const SHOWN: &'static [Shown] = going::COUNTED;
    const OUTPUT: &'static [(&'static str, &'static str)] = going::OUTPUT;
    type Request = UndoSteps;

    fn run(call: &Call<'_>, mut request: UndoSteps) -> Result<Draft> {
        let again = going::again(&request)?;
        request.steps.terms.who = call.on_behalf(request.steps.terms.who);
        going::done(call, request, (Self::NAME, "undo"), again)
    }
}
