//! Takes back the newest undos.

use backsight::request::Undo;
use backsight_core::Result;
use schemars::JsonSchema;
use serde::Deserialize;

use super::going::{self, Policy};
use super::{Call, Definition, Effect};
use crate::reply::Draft;

pub struct FilesRedo;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// default 1
    count: Option<u16>,
    #[serde(default)]
    on_conflict: Policy,
    /// only the plan; default false
    #[serde(default)]
    dry_run: bool,
}

impl Definition for FilesRedo {
    const NAME: &'static str = "files_redo";
    const TITLE: &'static str = "Redo";
    const DESCRIPTION: &'static str = "Take back the newest undo.";
    const EFFECT: Effect = Effect::ChangesFiles;
    const OUTPUT: &'static [(&'static str, &'static str)] = going::OUTPUT;
    type Arguments = Arguments;

    fn run(call: &Call<'_>, arguments: Arguments) -> Result<Draft> {
        let count = match arguments.count.unwrap_or(1) {
            0 => return Err(super::usage("`count` is 0, not a number from 1".to_owned())),
            count => usize::from(count),
        };
        let Arguments { on_conflict, dry_run, .. } = arguments;
        let request = Undo { count, on_conflict: on_conflict.into(), dry_run, origin: call.plain_origin(None) };
        Ok(going::applied(&call.workspace.redo(&request)?, "redo", None))
    }
}
