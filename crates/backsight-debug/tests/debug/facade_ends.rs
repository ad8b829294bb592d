//! How sessions begin and end over a scripted adapter: names, crashes, and what becomes of their snapshots.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use backsight_core::{Code, NextStep};
use backsight_debug::debugger::{MAIN, NotableKind};
use backsight_debug::diff;
use backsight_debug::session::{Attach, BreakpointRequest, Control, Launch, Outcome};
use backsight_debug::walk::CapturePlan;
use serde_json::json;

use crate::facade::{LIMIT, LOOP, Scene, command, launched_adapter, patiently, request, stop_of};
use crate::fake_adapter::{Fake, Handled, setup};

fn snapshot(scene: &Scene, name: Option<&str>) -> backsight_core::Result<String> {
    Ok(scene.debugger.create_snapshot(name, None, CapturePlan::default())?.snapshot.id)
}

#[test]
fn the_end_of_the_program_clears_its_snapshots_and_is_told_once() {
    let scene = Scene::new();
    let fake = scene.looping(0).start();
    scene.attach(None, &fake).unwrap();
    for _ in 0..3 {
        snapshot(&scene, None).unwrap();
    }
    assert_eq!(scene.go_on().outcome, Outcome::Exited { code: Some(4) });
    let error = scene.debugger.snapshots(None).unwrap_err();
    assert_eq!(error.code(), Code::NoSession);
    assert!(error.message().contains("its 3 snapshots were cleared"), "{error}");
    assert_eq!(snapshot(&scene, None).unwrap_err().code(), Code::NoSession);
    let state = scene.debugger.state(None, LIMIT, &patiently).unwrap();
    assert_eq!((state.snapshots, state.cleared_snapshots), (0, Some(3)));
    let gone = scene.debugger.disconnect(None, None).unwrap();
    assert_eq!(gone.cleared_snapshots, 3);
    let ends = scene.ends();
    let [(description, details)] = &ends[..] else { panic!("{ends:?}") };
    assert!(description.contains("exit code 4; 3 snapshots were cleared"), "{description}");
    assert_eq!((&details["cleared_snapshots"], &details["debug_session"]), (&json!(3), &json!(MAIN)));
    assert_eq!(scene.debugger.state(None, LIMIT, &patiently).unwrap_err().code(), Code::NoSession);
}

#[test]
fn an_adapter_that_dies_clears_them_too() {
    let scene = Scene::new();
    let fake = scene.looping(1).start_with(|_, wire, message| {
        if command(message) == "threads" {
            wire.close();
        }
        Handled::No
    });
    scene.attach(None, &fake).unwrap();
    snapshot(&scene, None).unwrap();
    scene.debugger.threads(None).unwrap_err();
    let state = scene.debugger.state(None, LIMIT, &patiently).unwrap();
    assert!(matches!(state.outcome, Outcome::Disconnected { .. }), "{state:?}");
    let ends = scene.ends();
    assert_eq!((ends.len(), &ends[0].1["cleared_snapshots"]), (1, &json!(1)), "{ends:?}");
    assert!(ends[0].0.contains("1 snapshot was cleared"), "{ends:?}");
}

#[test]
fn disconnecting_says_what_was_cleared_and_why() {
    let scene = Scene::new();
    // As many do, the program's end is told before the answer.
    let fake = scene.looping(1).start_with(|_, wire, message| {
        if command(message) == "disconnect" {
            wire.event("exited", json!({ "exitCode": 9 }));
            wire.event("terminated", json!({}));
        }
        Handled::No
    });
    scene.attach(None, &fake).unwrap();
    snapshot(&scene, None).unwrap();
    let gone = scene.debugger.disconnect(None, None).unwrap();
    assert_eq!((gone.session.as_str(), gone.ended_program, gone.cleared_snapshots), (MAIN, false, 1));
    assert!(scene.debugger.list().sessions.is_empty());
    let ends = scene.ends();
    assert_eq!((ends.len(), &ends[0].1["reason"]), (1, &json!("it was disconnected")), "{ends:?}");
}

#[test]
fn a_program_that_ends_while_it_is_looked_at_has_ended() {
    let scene = Scene::new();
    let fake = scene.looping(5).start_with(|program, wire, message| {
        if command(message) == "scopes" && program.hits == 3 {
            wire.event("exited", json!({ "exitCode": 6 }));
            wire.event("terminated", json!({}));
            wire.close();
            return Handled::Yes;
        }
        Handled::No
    });
    scene.attach(None, &fake).unwrap();
    scene.set_point(scene.point("loop"));
    let moved = scene.go_on();
    assert_eq!((moved.outcome, moved.captured), (Outcome::Exited { code: Some(6) }, 2));
    let told = scene.told();
    let kinds: Vec<NotableKind> = told.iter().map(|(kind, ..)| *kind).collect();
    assert_eq!(kinds, [NotableKind::Stop, NotableKind::Capture, NotableKind::End], "{told:?}");
    assert_eq!(told[2].2["cleared_snapshots"], json!(0));
    assert!(told[2].1.contains("2 of snapshot points stay until it is disconnected"), "{told:?}");
    // What a point took is there until the session is disconnected, or another has its name.
    assert_eq!(scene.debugger.snapshots(None).unwrap().snapshots.len(), 2);
    assert_eq!(scene.debugger.disconnect(None, None).unwrap().cleared_snapshots, 2);
    assert_eq!(scene.debugger.snapshots(None).unwrap_err().code(), Code::NoSession);
}

#[test]
fn sessions_are_told_apart_by_name() {
    let scene = Scene::new();
    let (first, second, third) = (scene.looping(1).start(), scene.looping(1).start(), scene.looping(1).start());
    scene.attach(None, &first).unwrap();
    let error = scene.attach(None, &second).unwrap_err();
    assert_eq!(error.code(), Code::Conflict);
    assert!(error.advises(&NextStep::EndProgram), "{error}");
    assert_eq!(scene.attach(Some("worker"), &second).unwrap().session, "worker");
    for bad in ["", "a b", "x/y", &"n".repeat(41)] {
        assert_eq!(scene.attach(Some(bad), &third).unwrap_err().code(), Code::InvalidName);
    }
    snapshot(&scene, Some("worker")).unwrap();
    let count = |name| scene.debugger.snapshots(name).unwrap().snapshots.len();
    assert_eq!((count(None), count(Some(MAIN)), count(Some("worker"))), (0, 0, 1));
    let error = scene.debugger.snapshots(Some("nobody")).unwrap_err();
    assert!(error.code() == Code::NoSession && error.hint().unwrap().contains("main, worker"), "{error}");
    // The only one needs no name; of several without a `main` one has to be named.
    scene.debugger.disconnect(None, None).unwrap();
    assert_eq!(count(None), 1);
    scene.attach(Some("other"), &third).unwrap();
    let error = scene.debugger.snapshots(None).unwrap_err();
    assert!(error.code() == Code::Usage && error.message().contains("worker, other"), "{error}");
    scene.debugger.disconnect_all();
    assert_eq!(scene.ends().len(), 3);
    assert!(scene.debugger.list().sessions.is_empty());
}

#[test]
fn a_name_is_free_again_after_the_end() {
    let scene = Scene::new();
    let (first, second) = (scene.looping(0).start(), scene.looping(0).start());
    scene.attach(None, &first).unwrap();
    snapshot(&scene, None).unwrap();
    scene.go_on();
    assert!(stop_of(&scene.attach(None, &second).unwrap()).stop.reason == "entry");
    assert_eq!(scene.debugger.list().sessions.len(), 1);
    assert!(scene.debugger.snapshots(None).unwrap().snapshots.is_empty());
    assert_eq!(scene.ends().len(), 1);
}

/// Beginning takes long, and waiting for the first stop takes longer.
#[test]
fn a_session_that_waits_for_its_first_stop_holds_nobody_up() {
    let scene = Scene::new();
    let running = Fake::start(|wire, message| {
        if command(message) == "configurationDone" {
            wire.reply(message, json!({}));
            return Handled::Yes;
        }
        Handled::No
    });
    let other = scene.looping(1).start();
    let enough = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let attach = Attach { wait: Duration::from_secs(600), ..request(&running) };
            scene.debugger.attach(Some("first"), attach, &|| enough.load(Ordering::SeqCst))
        });
        // It is there before it has paused.
        while scene.debugger.list().sessions.is_empty() {
            std::thread::yield_now();
        }
        stop_of(&scene.attach(Some("second"), &other).unwrap());
        enough.store(true, Ordering::SeqCst);
        let error = waiting.join().unwrap().unwrap_err();
        assert_eq!(error.code(), Code::Cancelled, "{error}");
    });
    // It was the wait that was taken back, not the session.
    let state = scene.debugger.state(Some("first"), Duration::ZERO, &patiently).unwrap();
    assert!(matches!(state.outcome, Outcome::StillRunning { .. }), "{state:?}");
}

#[test]
fn what_nobody_asks_for_any_more_does_not_pile_up() {
    let scene = Scene::new();
    for number in 0..20 {
        let fake = scene.looping(0).start();
        let name = format!("run-{number}");
        scene.attach(Some(&name), &fake).unwrap();
        let moved = scene.debugger.control(Some(&name), Control::Continue, None, LIMIT, &patiently).unwrap();
        assert_eq!(moved.outcome, Outcome::Exited { code: Some(4) });
    }
    let names: Vec<String> = scene.debugger.list().sessions.into_iter().map(|session| session.session).collect();
    assert_eq!((names.len(), names[0].as_str(), names[15].as_str()), (16, "run-4", "run-19"));
    assert_eq!(scene.ends().len(), 20);
}

#[test]
fn a_ninth_program_at_once_is_refused() {
    let scene = Scene::new();
    let fakes: Vec<Fake> = (0..9).map(|_| scene.looping(1).start()).collect();
    for (number, fake) in fakes.iter().take(8).enumerate() {
        scene.attach(Some(&format!("p{number}")), fake).unwrap();
    }
    let error = scene.attach(Some("p8"), &fakes[8]).unwrap_err();
    assert!(error.code() == Code::Conflict && error.message().contains("p0, p1"), "{error}");
    scene.debugger.disconnect(Some("p0"), None).unwrap();
    scene.attach(Some("p8"), &fakes[8]).unwrap();
}

#[test]
fn a_debugger_that_does_not_start_leaves_the_name_free() {
    let mut adapter = setup(launched_adapter("echo no such option >&2; exit 3"), LIMIT);
    adapter.search = vec!["/usr/bin".into(), "/bin".into()];
    let scene = Scene::with(adapter);
    let launch =
        Launch { program: "loop.py".into(), adapter: Some("fake".to_owned()), wait: LIMIT, ..Launch::default() };
    for _ in 0..2 {
        let error = scene.debugger.launch(None, launch.clone(), &patiently).unwrap_err();
        assert_eq!(error.code(), Code::AdapterFailed, "{error}");
        assert!(error.message().contains("no such option"), "{error}");
    }
    assert!(scene.debugger.list().sessions.is_empty() && scene.told().is_empty());
    let missing = Launch { program: "none.py".into(), ..launch };
    assert_eq!(scene.debugger.launch(None, missing, &patiently).unwrap_err().code(), Code::ProgramNotFound);
    let error =
        scene.debugger.attach(None, Attach { adapter: Some("fake".to_owned()), ..Attach::default() }, &patiently);
    assert_eq!(error.unwrap_err().code(), Code::Usage);
}

/// FR-010's neighbour: the program moves while it is captured.
#[test]
fn a_capture_that_crosses_a_resume_is_not_kept() {
    let scene = Scene::new();
    let fake = scene.looping(1).start_with(|program, wire, message| {
        if command(message) == "scopes" {
            wire.event("continued", json!({ "threadId": 1, "allThreadsContinued": true }));
            program.stop(wire, LOOP);
        }
        Handled::No
    });
    scene.attach(None, &fake).unwrap();
    scene.told();
    assert_eq!(snapshot(&scene, None).unwrap_err().code(), Code::StateChanged);
    assert!(scene.debugger.snapshots(None).unwrap().snapshots.is_empty());
    assert!(scene.told().is_empty(), "nothing was captured");
}

#[test]
fn a_step_that_ends_the_program_has_nothing_to_compare() {
    let scene = Scene::new();
    let fake = scene.looping(0).start();
    scene.attach(None, &fake).unwrap();
    let options = diff::Options::default();
    let stepped = scene
        .debugger
        .step_and_diff(None, Control::StepOver, CapturePlan::default(), LIMIT, &options, &patiently)
        .unwrap();
    assert_eq!((stepped.moved.outcome, stepped.diff), (Outcome::Exited { code: Some(4) }, None));
    let error = scene
        .debugger
        .step_and_diff(None, Control::StepOver, CapturePlan::default(), LIMIT, &options, &patiently)
        .unwrap_err();
    assert_eq!(error.code(), Code::NoSession);
}

#[test]
fn a_path_that_was_not_captured_is_not_said_to_be_unchanged() {
    let scene = Scene::new();
    let fake = scene.looping(2).start();
    scene.attach(None, &fake).unwrap();
    let first = snapshot(&scene, None).unwrap();
    let second = snapshot(&scene, None).unwrap();
    let asking = |path: &str| diff::Options { path: Some(path.to_owned()), ..diff::Options::default() };
    let error = scene.debugger.diff_snapshots(None, &first, &second, &asking("nonsense")).unwrap_err();
    assert_eq!(error.code(), Code::PathNotFound);
    assert!(error.message().contains("nonsense") && error.hint().is_some(), "{error}");
    assert_eq!(scene.debugger.read_snapshot(None, &first, &asking("nonsense")).unwrap_err().code(), Code::PathNotFound);
}

#[test]
fn what_can_never_work_is_refused() {
    let scene = Scene::new();
    let fake = scene.looping(2).start();
    scene.attach(None, &fake).unwrap();
    let wrong = BreakpointRequest { hit_count: Some("banana".to_owned()), ..BreakpointRequest::line("loop.py", LOOP) };
    let error = scene.debugger.set_breakpoint(None, wrong).unwrap_err();
    assert!(error.code() == Code::Usage && error.message().contains("banana"), "{error}");
    let nowhere = Launch { program: scene.source(), directory: "no/such/place".into(), ..Launch::default() };
    let error = scene.debugger.launch(Some("other"), nowhere, &patiently).unwrap_err();
    assert!(error.code() == Code::PathNotFound && error.message().contains("no/such/place"), "{error}");
}

/// Who names no session means the one that lives.
#[test]
fn a_session_that_is_over_is_in_nobodys_way() {
    let scene = Scene::new();
    let first = scene.looping(0).start();
    scene.attach(None, &first).unwrap();
    let second = scene.looping(2).start();
    scene.attach(Some("second"), &second).unwrap();
    assert!(snapshot(&scene, None).is_ok(), "both live: the one without a name");
    scene.debugger.control(Some(MAIN), Control::Continue, None, LIMIT, &patiently).unwrap();
    assert_eq!(scene.debugger.snapshots(Some("second")).unwrap().snapshots.len(), 0);
    snapshot(&scene, None).unwrap();
    assert_eq!(scene.debugger.snapshots(Some("second")).unwrap().snapshots.len(), 1);
    let list = scene.debugger.list().sessions;
    assert!(matches!(&list[1].outcome, Outcome::Stopped(stop) if stop.frame.is_some()), "{list:?}");
}
