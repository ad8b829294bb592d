//! Lets the program go on, or pauses it.

use backsight::debug::debugger::USUAL_WAIT;
use backsight::debug::session::Control;
use backsight_core::Result;
use schemars::JsonSchema;
use serde::Deserialize;

use super::debugging::{MOVED, moved};
use super::{Call, Definition, Effect, Group, usage};
use crate::debug_limits;
use crate::reply::Draft;

pub struct DebugControl;

#[derive(Clone, Copy, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    Continue,
    Pause,
    StepIn,
    StepOver,
    StepOut,
    RunTo,
}

impl Action {
    /// With the line to run to, which only that takes.
    pub fn control(self, file: Option<String>, line: Option<u32>) -> Result<Control> {
        Ok(match (self, file, line) {
            (Action::RunTo, Some(file), Some(line)) => Control::RunTo { file: file.into(), line },
            (Action::RunTo, ..) => return Err(usage("run_to needs `file` and `line`".to_owned())),
            (_, Some(_), _) | (_, _, Some(_)) => {
                return Err(usage("only run_to takes `file` and `line`".to_owned()));
            }
            (Action::Continue, ..) => Control::Continue,
            (Action::Pause, ..) => Control::Pause,
            (Action::StepIn, ..) => Control::StepIn,
            (Action::StepOver, ..) => Control::StepOver,
            (Action::StepOut, ..) => Control::StepOut,
        })
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    #[schemars(skip)]
    session: Option<String>,
    action: Action,
    /// for run_to
    file: Option<String>,
    line: Option<u32>,
    #[schemars(skip)]
    thread: Option<i64>,
    /// default 10000, at most 60000
    wait_ms: Option<u64>,
}

impl Definition for DebugControl {
    const NAME: &'static str = "debug_control";
    const TITLE: &'static str = "Continue, step, pause";
    const DESCRIPTION: &'static str = "Continue, resume, step over, step into or out of a function, run until a line, \
        or pause execution, and wait for the next stop.";
    const EFFECT: Effect = Effect::Runs;
    const GROUP: Group = Group::Debug;
    const SHOWS_BUDGET: bool = false;
    const OUTPUT: &'static [(&'static str, &'static str)] = MOVED;
    type Arguments = Arguments;

    fn run(call: &Call<'_>, arguments: Arguments) -> Result<Draft> {
        let control = arguments.action.control(arguments.file, arguments.line)?;
        let limit = debug_limits::wait(arguments.wait_ms, USUAL_WAIT)?;
        let session = arguments.session.as_deref();
        Ok(moved(call, session, &call.workspace.debug_control(session, control, arguments.thread, limit)?))
    }
}
