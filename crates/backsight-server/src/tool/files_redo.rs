//! Takes back the newest undos.

use backsight_core::Result;

use super::going::{self, Steps};
use super::{Call, Definition, Effect};
use crate::reply::Draft;

pub struct FilesRedo;

impl Definition for FilesRedo {
    const NAME: &'static str = "files_redo";
    const TITLE: &'static str = "Redo";
    const DESCRIPTION: &'static str = "Take back the newest undo.";
    const EFFECT: Effect = Effect::ChangesFiles;
    const OUTPUT: &'static [(&'static str, &'static str)] = going::OUTPUT;
    type Arguments = Steps;

    fn run(call: &Call<'_>, arguments: Steps) -> Result<Draft> {
        Ok(going::applied(&call.workspace.redo(&arguments.request(call)?)?, "redo", None))
    }
}
