//! Takes back the newest steps.

use backsight_core::Result;

use super::going::{self, Steps};
use super::{Call, Definition, Effect};
use crate::reply::Draft;

pub struct FilesUndo;

impl Definition for FilesUndo {
    const NAME: &'static str = "files_undo";
    const TITLE: &'static str = "Undo the last change";
    const DESCRIPTION: &'static str =
        "Undo, take back, discard the last edit or step (or count of them), whoever made it; edits elsewhere stay.";
    const EFFECT: Effect = Effect::ChangesFiles;
    const OUTPUT: &'static [(&'static str, &'static str)] = going::OUTPUT;
    type Arguments = Steps;

    fn run(call: &Call<'_>, arguments: Steps) -> Result<Draft> {
        arguments.run(call, (Self::NAME, "undo"), |request| call.workspace.undo(request))
    }
}
