//! What a step changed, in one call, on each of the four debuggers.

use backsight_debug::debugger::StepDiff;
use backsight_debug::diff;
use backsight_debug::session::{Control, Outcome};

use super::facade::{Stage, on_each, plan, stop_of};
use super::subject::PATIENCE;
use crate::facade::patiently;

on_each! { Python as debugpy, JavaScript as node, Go as delve, Cpp as lldb: {
    over_a_call
    into_a_call
    out_of_a_call
    over_a_return
    to_a_line
    to_the_end
} }

fn step(stage: &Stage, control: Control) -> StepDiff {
    let options = diff::Options::default();
    let stepped = stage.debugger.step_and_diff(None, control, plan(1), PATIENCE, &options, &patiently);
    stepped.unwrap_or_else(|error| panic!("{error}"))
}

/// The value a path has after the step, when the step changed it.
fn became(stepped: &StepDiff, path: &str) -> Option<String> {
    let diff = stepped.diff.as_ref().unwrap();
    let changed = diff.modified.iter().chain(&diff.added).find(|entry| entry.path == path)?;
    changed.new_value.clone().or(changed.value.clone())
}

fn function(stepped: &StepDiff) -> String {
    stop_of(&stepped.moved).frame.as_ref().unwrap().function.clone()
}

fn over_a_call(stage: &Stage) {
    stage.launch(&["CALL"]);
    let stepped = step(stage, Control::StepOver);
    stage.is_at(&stepped.moved, "CALLED");
    assert_eq!(became(&stepped, "total").as_deref(), Some("3"), "{stepped:#?}");
    assert_eq!(stepped.diff.as_ref().unwrap().summary.changes(), 1, "{stepped:#?}");
    // Nobody asked to keep the ends, and they can be compared again.
    assert!(stage.debugger.snapshots(None).unwrap().snapshots.is_empty());
    assert_eq!(stage.diff("step-before", "step-after").summary, stepped.diff.unwrap().summary);
}

fn into_a_call(stage: &Stage) {
    stage.launch(&["CALL"]);
    let mut stepped = step(stage, Control::StepIn);
    assert!(function(&stepped).contains("add"), "{stepped:#?}");
    let diff = stepped.diff.take().unwrap();
    // The new frame is new, and what the caller holds has not changed.
    assert!(diff.at_a.contains("work") && diff.at_b.contains("add"), "{diff:#?}");
    assert_eq!((diff.summary.modified, diff.summary.removed), (0, 0), "{diff:#?}");
}

fn out_of_a_call(stage: &Stage) {
    stage.launch(&["ADD"]);
    let stepped = step(stage, Control::StepOut);
    assert!(function(&stepped).contains("work"), "{stepped:#?}");
    let diff = stepped.diff.as_ref().unwrap();
    assert!(diff.at_a.contains("work") && diff.at_b.contains("work"), "{diff:#?}");
    // Of the callee nothing is compared: `left` and `right` are not gone, they are elsewhere.
    assert_eq!(diff.summary.removed, 0, "{diff:#?}");
}

fn over_a_return(stage: &Stage) {
    stage.launch(&["RETURN"]);
    let mut stepped = step(stage, Control::StepOver);
    // Some pause at the closing brace first.
    if function(&stepped).contains("add") {
        stepped = step(stage, Control::StepOver);
    }
    assert!(function(&stepped).contains("work"), "{stepped:#?}");
    let diff = stepped.diff.as_ref().unwrap();
    assert!(diff.at_a.contains("work") && diff.summary.removed == 0, "{diff:#?}");
}

fn to_a_line(stage: &Stage) {
    stage.launch(&["BEFORE"]);
    let stepped = step(stage, Control::RunTo { file: stage.place(), line: stage.line("AFTER") });
    stage.is_at(&stepped.moved, "AFTER");
    assert_eq!(became(&stepped, "retry_count").as_deref(), Some("3"), "{stepped:#?}");
    let left = stage.debugger.breakpoints(None).unwrap().breakpoints;
    assert_eq!(left.len(), 1, "the way there is gone: {left:?}");
}

fn to_the_end(stage: &Stage) {
    stage.launch(&["LAST"]);
    let stepped = step(stage, Control::Continue);
    assert!(matches!(stepped.moved.outcome, Outcome::Exited { .. }), "{stepped:?}");
    assert_eq!(stepped.diff, None);
}
