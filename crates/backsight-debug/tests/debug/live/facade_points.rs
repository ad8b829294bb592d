//! Snapshot points on each of the four debuggers, and how their sessions end.

use std::time::Duration;

use backsight_core::Code;
use backsight_debug::debugger::{PointRequest, PointState};
use backsight_debug::diff;
use backsight_debug::session::{BreakpointRequest, Control, Launch, Outcome, Place};
use serde_json::json;

use super::facade::{Language, Stage, on_each, stop_of};
use super::subject::PATIENCE;
use crate::facade::patiently;

on_each! { Python as debugpy, JavaScript as node, Go as delve, Cpp as lldb: {
    a_line
    a_function
    exceptions
    a_condition
    every_tenth
    the_last_hit_lets_the_program_run_on
    a_busy_program_is_paused
    a_breakpoint_at_the_same_line
    a_step_runs_into_a_point
    the_end_of_the_program
    the_death_of_the_debugger
    two_sessions
} }

on_each! { Python as debugpy_threads, Go as delve_threads, Cpp as lldb_threads: {
    every_hit_of_two_threads
} }

on_each! { Python as debugpy_crowd, Go as delve_crowd, Cpp as lldb_crowd: {
    the_others_at_a_breakpoint
} }

fn a_line(stage: &Stage) {
    stage.launch(&["BEFORE", "LAST"]);
    assert!(stage.set_point(stage.point(stage.at("LOOP"))).bound);
    assert_eq!(stage.go_on_to("LAST").captured, 30);
    let series = stage.debugger.series(None, "here", &diff::Options::default()).unwrap();
    let column = |name: &str| series.columns.iter().position(|column| column == name).unwrap();
    let (i, total) = (column("i"), column("total"));
    let last = series.rows.last().unwrap();
    assert_eq!((series.hits, last.cells[i].as_deref(), last.cells[total].as_deref()), (30, Some("29"), Some("435")));
    assert_eq!(stage.only_point().hits, 30);
}

fn a_function(stage: &Stage) {
    stage.launch(&["BEFORE", "LAST"]);
    let point = stage.set_point(stage.point(BreakpointRequest::new(stage.language.function("add"))));
    if !point.bound {
        // It is said and not silently never hit.
        assert!(stage.language == Language::JavaScript && point.message.is_some(), "{point:?}");
        return;
    }
    assert_eq!(stage.go_on_to("LAST").captured, 1);
    let capture = stage.debugger.snapshot(None, "here-1").unwrap();
    assert!(capture.frames[0].function.contains("add"), "{capture:?}");
    let left = capture.frames[0].variables.iter().find(|variable| variable.name == "left").unwrap();
    // Where exactly a function begins is the debugger's to say: before or after its arguments are in place.
    assert!(!left.value.text.is_empty());
}

fn exceptions(stage: &Stage) {
    stage.launch(&["BEFORE", "LAST"]);
    let point = stage.set_point(stage.point(BreakpointRequest::new(Place::Exception("all".to_owned()))));
    if stage.language == Language::Go {
        assert!(!point.bound && point.message.is_some(), "Go has panics only: {point:?}");
        return;
    }
    // debugpy tells of an exception in every function it passes: where it is raised and where it is caught.
    let times = if stage.language == Language::Python { 6 } else { 3 };
    assert_eq!(stage.go_on_to("LAST").captured, times);
    let point = stage.only_point();
    assert_eq!((point.hits, point.captured, point.state), (times, times, PointState::Active));
}

fn a_condition(stage: &Stage) {
    stage.launch(&["BEFORE", "LAST"]);
    let at = BreakpointRequest { condition: Some("i == 7".to_owned()), ..stage.at("LOOP") };
    assert!(stage.set_point(stage.point(at)).bound);
    assert_eq!(stage.go_on_to("LAST").captured, 1);
    let capture = stage.debugger.snapshot(None, "here-1").unwrap();
    let i = capture.frames[0].variables.iter().find(|variable| variable.name == "i").unwrap();
    assert_eq!(i.value.text, "7");
}

fn every_tenth(stage: &Stage) {
    stage.launch(&["BEFORE", "LAST"]);
    stage.set_point(PointRequest { every: Some(10), ..stage.point(stage.at("LOOP")) });
    assert_eq!(stage.go_on_to("LAST").captured, 3);
    let point = stage.only_point();
    assert_eq!((point.hits, point.captured), (30, 3));
    let series = stage.debugger.series(None, "here", &diff::Options::default()).unwrap();
    let i = series.columns.iter().position(|column| column == "i").unwrap();
    let cells: Vec<_> = series.rows.iter().map(|row| row.cells[i].clone().unwrap()).collect();
    assert_eq!(cells, ["9", "19", "29"]);
}

fn the_last_hit_lets_the_program_run_on(stage: &Stage) {
    stage.launch(&["BEFORE"]);
    stage.set_point(PointRequest { max_hits: Some(5), ..stage.point(stage.at("LOOP")) });
    let moved = stage.go_on();
    assert!(matches!(moved.outcome, Outcome::Exited { .. }), "{moved:?}");
    assert_eq!(moved.captured, 5);
    assert!(moved.printed.unwrap().contains("finished"));
    assert_eq!(stage.only_point().state, PointState::Finished);
}

fn a_busy_program_is_paused(stage: &Stage) {
    let launch = Launch { arguments: vec!["linger".to_owned()], ..stage.request(&["LOOP"]) };
    let moved = stage.debugger.launch(None, launch, &patiently).unwrap();
    let id = stop_of(&moved).breakpoints[0].clone();
    stage.debugger.remove_breakpoint(None, &id).unwrap();
    stage.set_point(PointRequest { max_hits: Some(10_000), ..stage.point(stage.at("LOOP")) });
    for _ in 0..3 {
        let wait = Duration::from_millis(100);
        let moved = stage.debugger.control(None, Control::Continue, None, wait, &patiently).unwrap();
        assert!(matches!(moved.outcome, Outcome::StillRunning { .. }), "{moved:?}");
        stop_of(&stage.control(Control::Pause));
        let captured = stage.only_point().captured;
        stage.snapshot(None, 0);
        assert_eq!(stage.only_point().captured, captured, "it stays paused");
    }
    assert!(stage.only_point().captured > 0);
}

fn a_breakpoint_at_the_same_line(stage: &Stage) {
    stage.launch(&["BEFORE"]);
    let error = stage.debugger.snapshot_on(None, stage.point(stage.at("BEFORE"))).unwrap_err();
    assert_eq!(error.code(), Code::Conflict);
    stage.set_point(stage.point(stage.at("LOOP")));
    let error = stage.debugger.set_breakpoint(None, stage.at("LOOP")).unwrap_err();
    assert!(error.code() == Code::Conflict && error.message().contains("`here`"), "{error}");
}

fn a_step_runs_into_a_point(stage: &Stage) {
    stage.launch(&["CALL", "CALLED"]);
    stage.set_point(stage.point(stage.at("ADD")));
    let moved = stage.control(Control::StepOver);
    let stop = stage.is_at(&moved, "ADD");
    assert_eq!((stop.point.as_deref(), moved.captured), (Some("here"), 1));
    assert_eq!(stage.snapshot(None, 0).snapshot.frame_index, 0, "it is paused for everybody");
    assert_eq!(stage.go_on_to("CALLED").captured, 0);
}

fn the_end_of_the_program(stage: &Stage) {
    stage.launch(&["BEFORE", "LAST"]);
    stage.snapshot(None, 2);
    stage.go_on_to("LAST");
    stage.snapshot(None, 2);
    let moved = stage.go_on();
    assert!(matches!(moved.outcome, Outcome::Exited { .. }), "{moved:?}");
    let error = stage.debugger.snapshots(None).unwrap_err();
    assert!(error.code() == Code::NoSession && error.message().contains("2 snapshots were cleared"), "{error}");
    // A program may be started again at once, under the same name.
    stage.launch(&["BEFORE"]);
    let ends = stage.ends();
    assert_eq!((ends.len(), &ends[0]["cleared_snapshots"]), (1, &json!(2)), "{ends:?}");
    let code = ends[0]["reason"].as_str().unwrap().contains("exit code 0");
    assert!(code, "{ends:?}");
}

fn the_death_of_the_debugger(stage: &Stage) {
    stage.launch(&["BEFORE"]);
    (0..3).for_each(|_| drop(stage.snapshot(None, 0)));
    let process = stage.debugger.state(None, PATIENCE, &patiently).unwrap().process.unwrap();
    let killed = std::process::Command::new("kill").args(["-9", &process.to_string()]).status().unwrap();
    assert!(killed.success());
    // Whatever is asked next finds that out, at the latest when the end is heard.
    let outcome = loop {
        match stage.debugger.state(None, PATIENCE, &patiently).map(|state| state.outcome) {
            Ok(Outcome::Stopped(_)) | Err(_) => std::thread::yield_now(),
            Ok(outcome) => break outcome,
        }
    };
    assert!(matches!(outcome, Outcome::Exited { .. } | Outcome::Disconnected { .. }), "{outcome:?}");
    assert_eq!(stage.debugger.snapshots(None).unwrap_err().code(), Code::NoSession);
    let ends = stage.ends();
    assert_eq!((ends.len(), &ends[0]["cleared_snapshots"]), (1, &json!(3)), "{ends:?}");
}

fn two_sessions(stage: &Stage) {
    stage.launch(&["BEFORE", "AFTER"]);
    let error = stage.debugger.launch(None, stage.request(&["BEFORE"]), &patiently).unwrap_err();
    assert_eq!(error.code(), Code::Conflict);
    let moved = stage.debugger.launch(Some("second"), stage.request(&["AFTER"]), &patiently).unwrap();
    stage.is_at(&moved, "AFTER");
    stage.debugger.create_snapshot(Some("second"), Some("there"), Default::default()).unwrap();
    let first = stage.debugger.state(Some("main"), PATIENCE, &patiently).unwrap();
    assert_eq!((first.snapshots, stage.debugger.snapshots(Some("second")).unwrap().snapshots.len()), (0, 1));
    stage.debugger.disconnect(Some("second"), None).unwrap();
    stage.go_on_to("AFTER");
}

fn every_hit_of_two_threads(stage: &Stage) {
    stage.launch(&["BEFORE", "LAST"]);
    stage.set_point(stage.point(stage.at("HIT")));
    let moved = stage.go_on_to("LAST");
    let list = stage.debugger.snapshots(None).unwrap().snapshots;
    let mut threads: Vec<i64> = list.iter().map(|entry| entry.thread_id).collect();
    threads.sort_unstable();
    let of = |thread: i64| threads.iter().filter(|other| **other == thread).count();
    let counts = (of(threads[0]), of(*threads.last().unwrap()));
    assert_eq!((moved.captured, counts), (40, (20, 20)), "{threads:?}");
}

/// Four threads come to one line at the same time, twelve times: those that stand there beside the one that paused the program
/// are told, and no others. In Python a thread may still be on its way when the program is paused.
fn the_others_at_a_breakpoint(stage: &Stage) {
    let stage = Stage::of(stage.language, "crowd");
    let mut moved = stage.launch(&["HIT"]);
    let (line, mut stops, mut others, mut all) = (stage.line("HIT"), 0, 0, 0);
    while let Outcome::Stopped(stop) = &moved.outcome {
        stops += 1;
        let is_there = |thread: i64| {
            let stack = stage.debugger.stack(None, Some(thread), 0, 1);
            let frame = stack.ok().and_then(|stack| stack.frames.into_iter().next());
            frame
                .is_some_and(|frame| frame.line == Some(line) && frame.file.is_some_and(|file| file.contains("crowd.")))
        };
        let threads = stage.debugger.threads(None).unwrap().into_iter().map(|thread| thread.id);
        let there: Vec<i64> = threads.filter(|id| Some(*id) != stop.stop.thread_id && is_there(*id)).collect();
        let told: Vec<i64> = stop.also.iter().map(|also| also.thread_id).collect();
        assert!(stop.also.iter().all(|also| also.breakpoints == stop.breakpoints), "{stop:?}");
        assert!(told.iter().all(|thread| there.contains(thread)), "at stop {stops}: {told:?} of {there:?}");
        (others, all) = (others + told.len(), all + there.len());
        moved = stage.go_on();
    }
    assert!(others > 0, "in {stops} stops never two threads at once");
    let enough = if stage.language == Language::Python { all * 3 / 4 } else { all };
    assert!(others >= enough, "{others} of {all} were told");
    assert!(matches!(moved.outcome, Outcome::Exited { .. }), "{moved:?}");
}
