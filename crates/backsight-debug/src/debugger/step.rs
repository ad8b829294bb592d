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
        let plan = CapturePlan { frame: 0, frames: Frames::Count(2), all_threads: false, in_a_row: true, ..plan };
        let before = held.session.capture(plan.clone())?;
        let steps_in = control == Control::StepIn;
        let thread = plan.thread.or(Some(before.thread_id));
        let moved = held.control(control, thread, wait, cancelled)?;
        if !matches!(moved.outcome, Outcome::Stopped(_)) {
            return Ok(StepDiff { moved, diff: None, note: None });
        }
        let plan = CapturePlan { thread: None, ..plan };
        // Callers are only looked at where the step went into a call: they may hold a lot.
        let mut after =
            held.session.capture(CapturePlan { frames: Frames::Count(1 + u32::from(steps_in)), ..plan.clone() })?;
        if !steps_in && pair(&before, &after).is_none() {
            after = held.session.capture(plan)?;
        }
        let Some((before, after)) = same_call(before, after) else {
            let note = "the program paused in another call, so there is nothing to compare it with".to_owned();
            return Ok(StepDiff { moved, diff: None, note: Some(note) });
        };
        let random = [(held.shelf.random)()?, (held.shelf.random)()?];
        let [before, after] = held.shelf.with(|store| Ok(store.set_step([before, after], random)))?;
        let diff = diff::snapshot_diff(&before, &after, options);
        Ok(StepDiff { moved, diff: Some(diff), note: None })
    }
}

/// Of two captures of two frames each, those frames that are of the same call, so that only what the step changed is told.
/// Nothing when the program is elsewhere: variables of the same name there are not the same variables.
fn same_call(mut before: Capture, mut after: Capture) -> Option<(Capture, Capture)> {
    match pair(&before, &after)? {
        (0, 0) => {
            before.frames.truncate(1);
            after.frames.truncate(1);
        }
        (1, 0) => {
            before.frames.remove(0);
            after.frames.truncate(1);
        }
        _ => before.frames.truncate(1),
    }
    Some((before, after))
}

/// Which frames of both are of the same call.
fn pair(before: &Capture, after: &Capture) -> Option<(usize, usize)> {
    [(0, 0), (1, 0), (0, 1)].into_iter().find(|(old, new)| is_same_call(before, *old, after, *new))
}

/// Whether a frame of each capture is of the same call: the same function, as far from the beginning of the same thread. It
/// may be the next call of it, of which the diff warns.
fn is_same_call(before: &Capture, old: usize, after: &Capture, new: usize) -> bool {
    let (Some(old_frame), Some(new_frame)) = (before.frames.get(old), after.frames.get(new)) else { return false };
    let from_bottom = |depth: Option<u32>, index: usize| depth.map(|depth| i64::from(depth) - index as i64);
    let is_as_deep = match (from_bottom(before.stack_depth, old), from_bottom(after.stack_depth, new)) {
        (Some(old), Some(new)) => old == new,
        _ => true,
    };
    before.thread_id == after.thread_id && is_as_deep && old_frame.function == new_frame.function
}
