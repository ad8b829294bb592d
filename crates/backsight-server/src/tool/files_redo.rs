//! Brings back the steps that were undone last.

use backsight_core::Result;

use super::going::{self, Steps};
use super::{Call, Definition, Effect};
use crate::reply::Draft;

pub struct FilesRedo;

impl Definition for FilesRedo {
    const NAME: &'static str = "files_redo";
    const TITLE: &'static str = "Redo what was undone";
    const DESCRIPTION: &'static str = "Redo: bring back the change that was undone last (or count of them).";
    const EFFECT: Effect = Effect::ChangesFiles;
    const OUTPUT: &'static [(&'static str, &'static str)] = going::OUTPUT;
    type Arguments = Steps;

    fn run(call: &Call<'_>, arguments: Steps) -> Result<Draft> {
        arguments.run(call, (Self::NAME, "redo"), |request| call.workspace.redo(request))
    }
}
