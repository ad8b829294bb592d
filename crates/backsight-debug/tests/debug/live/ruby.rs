//! Ruby under its own debugger, which is told about by a preset alone: it has no walker, and shows values by running `inspect`.

use backsight_debug::capture::Safety;
use backsight_debug::diff::Options;
use backsight_debug::session::{AssignRequest, BreakpointRequest, Control, EvaluateRequest, Outcome, Place};
use backsight_debug::walk::CapturePlan;

use super::subject::{PATIENCE, Subject, installed, stopped};
use crate::facade::{lane, patiently};

fn subject() -> Subject {
    let runtime = installed(&["rdbg", "rdbg3.4", "rdbg3.3", "rdbg3.2", "rdbg3.1"]);
    Subject::script("ruby.rb", Some(runtime))
}

fn shown() -> CapturePlan {
    CapturePlan { depth: 2, safety: Safety::Adapter, ..CapturePlan::default() }
}

#[test]
fn a_program_is_paused_looked_at_stepped_and_compared() {
    let subject = subject();
    let debugger = lane(subject.setup(), subject.source.parent().unwrap());
    let moved = debugger.launch(None, subject.request(vec![subject.at("HERE")]), &patiently).unwrap();
    let stop = stopped(moved.outcome.clone());
    assert_eq!(stop.frame.as_ref().and_then(|frame| frame.line), Some(subject.line("HERE")), "{moved:?}");
    assert_eq!(stop.breakpoints, ["bp-1"], "{moved:?}");
    // Nothing of the program runs unless that is allowed.
    let pure = debugger.create_snapshot(None, None, CapturePlan::default()).unwrap_err();
    assert!(pure.message().contains("runs the program's code"), "{pure}");
    let refused = debugger.evaluate(None, evaluation("order.total", true)).unwrap_err();
    assert!(refused.message().contains("cannot evaluate without running code"), "{refused}");
    let value = debugger.evaluate(None, evaluation("order.total", false)).unwrap();
    assert_eq!((value.value.as_str(), value.may_have_run_code), ("0", true));
    let step = debugger.step_and_diff(None, Control::StepOver, shown(), PATIENCE, &Options::default(), &patiently);
    let step = step.unwrap();
    let stop = stopped(debugger.control(None, Control::Continue, None, PATIENCE, &patiently).unwrap().outcome);
    assert_eq!(stop.frame.unwrap().line, Some(subject.line("HERE")), "{step:?}");
    debugger.create_snapshot(None, Some("one"), shown()).unwrap();
    debugger.control(None, Control::Continue, None, PATIENCE, &patiently).unwrap();
    debugger.create_snapshot(None, Some("two"), shown()).unwrap();
    let diff = debugger.diff_snapshots(None, "one", "two", &Options::default()).unwrap();
    let told: Vec<&str> = diff.modified.iter().chain(&diff.added).map(|entry| entry.path.as_str()).collect();
    assert!(told.iter().any(|path| path.starts_with("at")), "{diff:#?}");
    assert!(told.iter().any(|path| path.starts_with("order")), "{diff:#?}");
    assert!(told.iter().any(|path| path.starts_with("name")), "a text of the same length: {diff:#?}");
    let set = AssignRequest { path: "at".to_owned(), value: "40".to_owned(), thread: None, frame: 0 };
    assert!(debugger.set_variable(None, set).unwrap_err().message().contains("cannot set variables"));
}

fn evaluation(expression: &str, safe: bool) -> EvaluateRequest {
    EvaluateRequest { expression: expression.to_owned(), thread: None, frame: 0, safe, timeout_ms: None }
}

#[test]
fn an_exception_pauses_it_and_its_end_is_known() {
    let subject = subject();
    let debugger = lane(subject.setup(), subject.source.parent().unwrap());
    let at = BreakpointRequest::new(Place::Exception("all".to_owned()));
    let moved = debugger.launch(None, subject.request(vec![at]), &patiently).unwrap();
    let stop = stopped(moved.outcome.clone());
    assert_eq!(stop.frame.as_ref().and_then(|frame| frame.line), Some(subject.line("RAISED")), "{moved:?}");
    let end = debugger.control(None, Control::Continue, None, PATIENCE, &patiently).unwrap();
    assert_eq!(end.outcome, Outcome::Exited { code: Some(1) }, "{end:?}");
    // Ruby keeps what it prints into a pipe until its end.
    let printed = end.printed.as_deref().unwrap_or_default();
    assert!(printed.contains("total 6") && !printed.contains("DEBUGGER:"), "{end:?}");
}
