//! Brings back the steps that were undone last.

use backsight::request::RedoSteps;
use backsight_core::Result;

use super::going;
use super::{Asking, Call, Group, Shown};
use crate::reply::Draft;

pub struct FilesRedo;

impl Asking for FilesRedo {
    const NAME: &'static str = "files_redo";
    const TITLE: &'static str = "Redo what was undone";
    const DESCRIPTION: &'static str = "Redo: bring back the change that was undone last (or count of them).";
    const GROUP: Group = Group::Files;
    const SHOWS_BUDGET: bool = true;
    const SHOWN: &'static [Shown] = going::COUNTED;
    const OUTPUT: &'static [(&'static str, &'static str)] = going::OUTPUT;
    type Request = RedoSteps;

    fn run(call: &Call<'_>, mut request: RedoSteps) -> Result<Draft> {
        let again = going::again(&request)?;
        request.steps.terms.who = call.on_behalf(request.steps.terms.who);
        going::done(call, request, (Self::NAME, "redo"), again)
    }
}
