//! Lets the program go on, or pauses it.

use backsight::debug::request::ControlProgram;
use backsight_core::Result;

use super::debugging::{MOVED, moved};
use super::{Asking, Call, Group, Shown};
use crate::reply::Draft;

pub struct DebugControl;

impl Asking for DebugControl {
    const NAME: &'static str = "debug_control";
    const TITLE: &'static str = "Continue, step, pause";
    const DESCRIPTION: &'static str = "Continue, resume, step over, step into or out of a function, run until a line, \
        or pause execution, and wait for the next stop.";
    const GROUP: Group = Group::Debug;
    const SHOWN: &'static [Shown] = &[
        Shown::new("action"),
        Shown::new("file").saying("for run_to"),
        Shown::new("line"),
        Shown::new("wait_ms").saying("default 10000, at most 60000"),
    ];
    const OUTPUT: &'static [(&'static str, &'static str)] = MOVED;
    type Request = ControlProgram;

    fn run(call: &Call<'_>, request: ControlProgram) -> Result<Draft> {
        let session = request.session.clone();
        Ok(moved(call, session.as_deref(), &call.workspace.perform(request)?))
    }
}
