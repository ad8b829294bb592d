//! What a step changed, in one call.

use std::time::Duration;

use backsight_core::Result;

use super::answer::StepDiff;
use super::{Debugger, held};
use crate::capture::Capture;
use crate::diff::{self, Options};
use crate::session::{Control, Outcome};
use crate::walk::{CapturePlan, Frames};

impl Debugger {
    /// Captures, lets the program go on, captures where it pauses again, and compares. Both ends can be compared again as
    /// `step-before` and `step-after` until the next step.
    pub fn step_and_diff(
        &self,
        name: Option<&str>,
        control: Control,
        plan: CapturePlan,
        wait: Duration,
        options: &Options,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<StepDiff> {
        let held = self.session(name)?;
        let control = match control {
            Control::RunTo { file, line } => {
                Control::RunTo { file: held::source(&self.options.root, &file)?, line: held::line(line)? }
            }
            control => control,
        };
        // The caller too: a step may return to it. What is compared is where the program is, not who called it.
        let plan = CapturePlan { frame: 0, frames: Frames::Count(2), all_threads: false, ..plan };
        let before = held.session.capture(plan.clone())?;
        let thread = plan.thread.or(Some(before.thread_id));
        let moved = held.control(control, thread, wait, cancelled)?;
        if !matches!(moved.outcome, Outcome::Stopped(_)) {
            return Ok(StepDiff { moved, diff: None });
        }
        let after = held.session.capture(CapturePlan { thread: None, ..plan })?;
        let (before, after) = same_call(before, after);
        let random = [(held.shelf.random)()?, (held.shelf.random)()?];
        let [before, after] = held.shelf.with(|store| Ok(store.set_step([before, after], random)))?;
        let diff = diff::snapshot_diff(&before, &after, options);
        Ok(StepDiff { moved, diff: Some(diff) })
    }
}

/// Of two captures of two frames each, those frames that are of the same call, so that only what the step changed is told.
fn same_call(mut before: Capture, mut after: Capture) -> (Capture, Capture) {
    let calls = match (before.stack_depth, after.stack_depth) {
        (Some(before), Some(after)) => i64::from(after) - i64::from(before),
        _ => deeper_by(&before, &after),
    };
    match calls {
        0 => {
            before.frames.truncate(1);
            after.frames.truncate(1);
        }
        -1 if before.frames.len() > 1 => {
            before.frames.remove(0);
            after.frames.truncate(1);
        }
        1 => before.frames.truncate(1),
        _ => {}
    }
    (before, after)
}

/// How many calls deeper the second is, by the names of the functions.
fn deeper_by(before: &Capture, after: &Capture) -> i64 {
    let function = |capture: &Capture, index: usize| capture.frames.get(index).map(|frame| frame.function.clone());
    if function(before, 0) == function(after, 0) {
        0
    } else if function(before, 1).is_some() && function(before, 1) == function(after, 0) {
        -1
    } else if function(after, 1).is_some() && function(after, 1) == function(before, 0) {
        1
    } else {
        2
    }
}
