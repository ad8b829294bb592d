//! Snapshot points over a scripted adapter: what is captured, what is passed, and when the program stays where it is.

use backsight_core::{Code, NextStep};
use backsight_debug::debugger::{NotableKind, PointRequest, PointState};
use backsight_debug::diff;
use backsight_debug::session::{BreakpointRequest, Control, Outcome, Place};
use serde_json::json;

use crate::facade::{AFTER, LIMIT, LOOP, Scene, command, patiently, stop_of};
use crate::fake_adapter::Handled;

#[test]
fn every_hit_is_captured_and_the_program_goes_on() {
    let scene = Scene::new();
    let fake = scene.looping(5).start();
    scene.attach(None, &fake).unwrap();
    let point = scene.set_point(scene.point("loop"));
    assert!(point.bound && point.state == PointState::Active, "{point:?}");
    scene.break_at(AFTER);
    let moved = scene.go_on();
    assert_eq!(stop_of(&moved).frame.as_ref().unwrap().line, Some(AFTER));
    assert_eq!(moved.captured, 5, "those of the first moment too");
    let series = scene.debugger.series(None, "loop", &diff::Options::default()).unwrap();
    let cells: Vec<_> = series.rows.iter().map(|row| row.cells[0].clone().unwrap()).collect();
    assert_eq!((series.columns, cells.join(" ")), (vec!["i".to_owned()], "1 2 3 4 5".to_owned()));
    let point = scene.only_point();
    assert_eq!((point.hits, point.captured, point.state), (5, 5, PointState::Active));
    assert_eq!(scene.go_on().outcome, Outcome::Exited { code: Some(4) });
    // One row for all hits, not one for each.
    let captures: Vec<_> = scene.told().into_iter().filter(|(kind, ..)| *kind == NotableKind::Capture).collect();
    let [(_, description, details)] = &captures[..] else { panic!("{captures:?}") };
    assert!(description.contains("`loop` 5 times"), "{description}");
    assert_eq!(details["captured"], json!(5));
}

#[test]
fn only_every_third_hit_is_captured_and_all_are_counted() {
    let scene = Scene::new();
    let fake = scene.looping(10).start();
    scene.attach(None, &fake).unwrap();
    scene.set_point(PointRequest { every: Some(3), ..scene.point("loop") });
    scene.break_at(AFTER);
    assert_eq!(scene.go_on().captured, 3);
    let point = scene.only_point();
    assert_eq!((point.hits, point.captured), (10, 3));
    let list = scene.debugger.snapshots(None).unwrap().snapshots;
    let labels: Vec<&str> = list.iter().map(|entry| entry.label.as_str()).collect();
    assert_eq!(labels, ["loop-1", "loop-2", "loop-3"]);
    assert!(list.iter().all(|entry| entry.series.as_deref() == Some("loop")));
}

#[test]
fn after_the_last_hit_the_breakpoint_is_removed_and_the_program_runs_on() {
    let scene = Scene::new();
    let fake = scene.looping(50).start();
    scene.attach(None, &fake).unwrap();
    scene.set_point(PointRequest { max_hits: Some(3), ..scene.point("loop") });
    scene.break_at(AFTER);
    let moved = scene.go_on();
    assert_eq!((moved.captured, stop_of(&moved).frame.as_ref().unwrap().line), (3, Some(AFTER)));
    let point = scene.only_point();
    assert_eq!((point.state, point.breakpoint, point.captured), (PointState::Finished, None, 3));
    let left = scene.debugger.breakpoints(None).unwrap().breakpoints;
    assert_eq!(left.len(), 1, "{left:?}");
    // The place and the name are free again.
    let again = scene.set_point(PointRequest { max_hits: Some(1), ..scene.point("loop") });
    assert_eq!((again.captured, again.state), (0, PointState::Active));
}

#[test]
fn what_cannot_be_a_point_is_refused() {
    let scene = Scene::new();
    let fake = scene.looping(1).start();
    scene.attach(None, &fake).unwrap();
    let refused = |request: PointRequest| scene.debugger.snapshot_on(None, request).unwrap_err().code();
    for (max_hits, every) in [(Some(0), None), (Some(10_001), None), (None, Some(0))] {
        assert_eq!(refused(PointRequest { max_hits, every, ..scene.point("loop") }), Code::Usage);
    }
    assert_eq!(refused(PointRequest { name: Some("snap-1".to_owned()), ..scene.point("x") }), Code::InvalidName);
    let at = |at| BreakpointRequest::new(at);
    let nowhere = PointRequest { breakpoint: BreakpointRequest::line("no.py", 3), ..scene.point("x") };
    assert_eq!(refused(nowhere), Code::PathNotFound);
    assert_eq!(
        refused(PointRequest { breakpoint: BreakpointRequest::line("loop.py", 0), ..scene.point("x") }),
        Code::Usage
    );
    assert_eq!(
        refused(PointRequest { breakpoint: at(Place::Function(" ".to_owned())), ..scene.point("x") }),
        Code::Usage
    );
    let log = BreakpointRequest { log_message: Some("hi".to_owned()), ..BreakpointRequest::line("loop.py", LOOP) };
    assert_eq!(refused(PointRequest { breakpoint: log, ..scene.point("x") }), Code::Usage);
    assert!(scene.debugger.snapshot_points(None).unwrap().points.is_empty());
}

#[test]
fn a_breakpoint_and_a_point_cannot_be_at_one_place() {
    let scene = Scene::new();
    let fake = scene.looping(3).start();
    scene.attach(None, &fake).unwrap();
    let id = scene.set_point(scene.point("loop")).breakpoint.unwrap();
    let at = BreakpointRequest::line("loop.py", LOOP);
    let error = scene.debugger.set_breakpoint(None, at.clone()).unwrap_err();
    assert_eq!(error.code(), Code::Conflict);
    assert!(
        error.message().contains("`loop`") && error.advises(&NextStep::RemoveBreakpoint { id: id.clone() }),
        "{error}"
    );
    let error = scene.debugger.snapshot_on(None, scene.point("other")).unwrap_err();
    assert_eq!(error.code(), Code::Conflict, "one place, two series: {error}");
    let error = scene.debugger.snapshot_on(None, scene.point("loop")).unwrap_err();
    assert_eq!(error.code(), Code::Conflict, "one series, two points: {error}");
    assert_eq!(scene.debugger.snapshot_points(None).unwrap().points.len(), 1);
    // The other way round.
    scene.debugger.remove_breakpoint(None, &id).unwrap();
    assert_eq!(scene.only_point().state, PointState::Finished);
    scene.debugger.set_breakpoint(None, at).unwrap();
    let error = scene.debugger.snapshot_on(None, scene.point("loop")).unwrap_err();
    assert_eq!(error.code(), Code::Conflict, "{error}");
    let moved = scene.go_on();
    assert_eq!((moved.captured, stop_of(&moved).breakpoints.len()), (0, 1), "a breakpoint pauses");
}

#[test]
fn a_program_that_comes_by_all_the_time_can_be_paused() {
    let scene = Scene::new();
    let fake = scene.looping(u64::MAX).start();
    scene.attach(None, &fake).unwrap();
    scene.set_point(PointRequest { max_hits: Some(10_000), ..scene.point("loop") });
    for _ in 0..3 {
        let control = |control, wait| scene.debugger.control(None, control, None, wait, &patiently).unwrap();
        let moved = control(Control::Continue, std::time::Duration::from_millis(30));
        assert!(matches!(moved.outcome, Outcome::StillRunning { .. }), "{moved:?}");
        // For everybody else the program runs, also while it is being looked at.
        let error = scene.debugger.create_snapshot(None, None, Default::default()).unwrap_err();
        assert_eq!(error.code(), Code::NotPaused);
        let moved = control(Control::Pause, LIMIT);
        assert_eq!(stop_of(&moved).point.as_deref(), Some("loop"));
        // It stays paused.
        let captured = scene.only_point().captured;
        scene.debugger.create_snapshot(None, None, Default::default()).unwrap();
        assert_eq!((scene.only_point().captured, captured > 0), (captured, true));
    }
}

/// The debugger has stopped at the point already when it is asked to pause, and says so.
#[test]
fn a_pause_that_comes_too_late_pauses_all_the_same() {
    let scene = Scene::new();
    let fake = scene.looping(3).start_with(|program, wire, message| match command(message) {
        "continue" if program.hits == 0 => {
            wire.reply(message, json!({}));
            Handled::Yes
        }
        "pause" => {
            program.hits = 1;
            wire.refuse(message, "Process is not running.");
            program.stop(wire, LOOP);
            Handled::Yes
        }
        _ => Handled::No,
    });
    scene.attach(None, &fake).unwrap();
    scene.set_point(scene.point("loop"));
    let control = |control, wait| scene.debugger.control(None, control, None, wait, &patiently).unwrap();
    control(Control::Continue, std::time::Duration::ZERO);
    let moved = control(Control::Pause, LIMIT);
    assert_eq!((stop_of(&moved).point.as_deref(), moved.captured), (Some("loop"), 1));
}

/// A capture that takes longer than a moment: whoever wants to pause gets the program when it is done.
#[test]
fn a_pause_waits_for_a_slow_capture() {
    let scene = Scene::new();
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let (arrived, has_arrived) = std::sync::mpsc::channel::<()>();
    let fake = scene.looping(9).start_with(move |program, _, message| {
        if command(message) == "scopes" && program.hits == 2 {
            arrived.send(()).unwrap();
            wait.recv().unwrap();
        }
        Handled::No
    });
    scene.attach(None, &fake).unwrap();
    scene.set_point(scene.point("loop"));
    let control = |control, wait| scene.debugger.control(None, control, None, wait, &patiently).unwrap();
    control(Control::Continue, std::time::Duration::ZERO);
    has_arrived.recv().unwrap();
    let short = control(Control::Pause, std::time::Duration::from_millis(250));
    assert!(matches!(short.outcome, Outcome::StillRunning { .. }), "{short:?}");
    go.send(()).unwrap();
    let moved = scene.debugger.state(None, LIMIT, &patiently).unwrap();
    assert!(matches!(&moved.outcome, Outcome::Stopped(stop) if stop.point.is_some()), "{moved:?}");
    assert_eq!(scene.only_point().captured, 2);
}

#[test]
fn a_step_that_runs_into_a_point_stays_there() {
    let scene = Scene::new();
    let fake = scene.looping(5).start();
    scene.attach(None, &fake).unwrap();
    scene.set_point(scene.point("loop"));
    let moved = scene.debugger.control(None, Control::StepOver, None, LIMIT, &patiently).unwrap();
    let stop = stop_of(&moved);
    assert_eq!((stop.point.as_deref(), moved.captured), (Some("loop"), 1));
    let point = scene.only_point();
    assert_eq!((point.hits, point.captured), (1, 1));
    // From here on it goes on by itself again.
    let moved = scene.go_on();
    assert_eq!((moved.outcome, moved.captured), (Outcome::Exited { code: Some(4) }, 4));
}

#[test]
fn a_capture_that_fails_leaves_the_program_paused_and_says_why() {
    let scene = Scene::new();
    let mut refusals = 1;
    let fake = scene.looping(5).start_with(move |program, wire, message| {
        if command(message) == "scopes" && program.hits == 2 && refusals > 0 {
            refusals -= 1;
            wire.refuse(message, "the frame is in pieces");
            return Handled::Yes;
        }
        Handled::No
    });
    scene.attach(None, &fake).unwrap();
    scene.set_point(scene.point("loop"));
    let moved = scene.go_on();
    let stop = stop_of(&moved);
    assert_eq!((stop.point.as_deref(), moved.captured), (Some("loop"), 1));
    let why = stop.stop.description.as_deref().unwrap();
    assert!(why.contains("the frame is in pieces") && why.contains("`loop`"), "{why}");
    let point = scene.only_point();
    assert_eq!((point.state, point.hits, point.captured), (PointState::Failed, 2, 1));
    assert!(point.problem.unwrap().contains("the frame is in pieces"));
    // Its name is taken as long as its breakpoint is there.
    assert_eq!(scene.debugger.snapshot_on(None, scene.point("loop")).unwrap_err().code(), Code::Conflict);
    scene.break_at(AFTER);
    let moved = scene.go_on();
    let stop = stop_of(&moved);
    assert_eq!((stop.frame.as_ref().unwrap().line, moved.captured), (Some(AFTER), 3));
    let point = scene.only_point();
    assert_eq!((point.state, point.hits, point.captured), (PointState::Active, 5, 4));
}

/// The program moves under the capture of a hit: that hit is looked at again and counted once.
#[test]
fn a_hit_that_moves_while_it_is_looked_at_is_captured_once() {
    let scene = Scene::new();
    let mut moves = 3;
    let fake = scene.looping(2).start_with(move |program, wire, message| {
        if command(message) == "scopes" && program.hits == 1 && moves > 0 {
            moves -= 1;
            wire.event("continued", json!({ "threadId": 1, "allThreadsContinued": true }));
            program.stop(wire, LOOP);
        }
        Handled::No
    });
    scene.attach(None, &fake).unwrap();
    scene.set_point(scene.point("loop"));
    scene.break_at(AFTER);
    let moved = scene.go_on();
    assert_eq!((moved.captured, stop_of(&moved).frame.as_ref().unwrap().line), (2, Some(AFTER)));
    let point = scene.only_point();
    assert_eq!((point.hits, point.captured), (2, 2));
}

/// A breakpoint of the user's in another thread is hit while a point is being finished: it is not run over.
#[test]
fn a_pause_in_another_thread_is_not_run_over() {
    let scene = Scene::new();
    let fake = scene.looping(5).start_with(|program, wire, message| {
        let removes = command(message) == "setBreakpoints" && !message.to_string().contains("\"line\":3");
        if removes && program.hits == 1 {
            program.thread = 2;
            program.stop(wire, AFTER);
        }
        Handled::No
    });
    scene.attach(None, &fake).unwrap();
    scene.break_at(AFTER);
    scene.set_point(PointRequest { max_hits: Some(1), ..scene.point("loop") });
    let moved = scene.go_on();
    let stop = stop_of(&moved);
    assert_eq!((stop.stop.thread_id, stop.frame.as_ref().unwrap().line), (Some(2), Some(AFTER)));
    assert_eq!(moved.captured, 1);
}

/// The program was on its way to the point when it was removed.
#[test]
fn a_last_hit_of_a_removed_point_is_passed_once() {
    let scene = Scene::new();
    let fake = scene.looping(3).start_with(|program, wire, message| {
        if command(message) == "continue" && program.hits < 3 {
            wire.reply(message, json!({}));
            program.hits += 1;
            // The debugger stops at line 3 whatever is set there.
            program.stop(wire, LOOP);
            return Handled::Yes;
        }
        Handled::No
    });
    scene.attach(None, &fake).unwrap();
    let id = scene.set_point(scene.point("loop")).breakpoint.unwrap();
    scene.debugger.remove_breakpoint(None, &id).unwrap();
    let moved = scene.go_on();
    let stop = stop_of(&moved);
    assert_eq!((stop.breakpoints.len(), stop.frame.as_ref().unwrap().line), (0, Some(LOOP)), "the second one is shown");
    scene.debugger.create_snapshot(None, Some("shown"), Default::default()).unwrap();
    let shown = scene.debugger.snapshot(None, "shown").unwrap();
    assert_eq!(shown.frames[0].variables[0].value.text, "2", "the first one was passed");
    assert_eq!(scene.only_point().hits, 0);
}

/// Debuggers that tell every thread of one stop: each thread's hit is one.
#[test]
fn two_threads_at_one_stop_are_two_hits() {
    let scene = Scene::new();
    let fake = scene.looping(3).start_with(|program, wire, message| {
        if command(message) == "continue" && program.hits < 3 {
            wire.reply(message, json!({}));
            program.hits += 1;
            program.thread = 1;
            program.stop(wire, LOOP);
            wire.event(
                "stopped",
                json!({ "reason": "breakpoint", "threadId": 2, "allThreadsStopped": true,
                "preserveFocusHint": true, "hitBreakpointIds": [LOOP] }),
            );
            return Handled::Yes;
        }
        Handled::No
    });
    scene.attach(None, &fake).unwrap();
    scene.break_at(AFTER);
    scene.set_point(scene.point("loop"));
    let moved = scene.go_on();
    assert_eq!(stop_of(&moved).frame.as_ref().unwrap().line, Some(AFTER));
    let list = scene.debugger.snapshots(None).unwrap().snapshots;
    let threads: Vec<i64> = list.iter().map(|entry| entry.thread_id).collect();
    assert_eq!(threads, [1, 2, 1, 2, 1, 2]);
    assert_eq!((scene.only_point().hits, moved.captured), (6, 6));
}

/// The other thread of the stop is at a breakpoint of the user's.
#[test]
fn a_pause_of_another_thread_at_the_same_stop_is_shown() {
    let scene = Scene::new();
    let fake = scene.looping(3).start_with(|program, wire, message| match command(message) {
        "continue" if program.hits == 0 => {
            wire.reply(message, json!({}));
            program.hits = 1;
            program.stop(wire, LOOP);
            wire.event(
                "stopped",
                json!({ "reason": "breakpoint", "threadId": 2, "allThreadsStopped": true,
                "preserveFocusHint": true, "hitBreakpointIds": [AFTER] }),
            );
            Handled::Yes
        }
        _ => Handled::No,
    });
    scene.attach(None, &fake).unwrap();
    scene.break_at(AFTER);
    let pause = scene.debugger.breakpoints(None).unwrap().breakpoints[0].id.clone();
    scene.set_point(scene.point("loop"));
    let moved = scene.go_on();
    let stop = stop_of(&moved);
    assert_eq!((stop.stop.thread_id, stop.breakpoints.clone(), moved.captured), (Some(2), vec![pause], 1));
}
