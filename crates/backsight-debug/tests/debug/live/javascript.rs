//! JavaScript in Node.

use std::process::{Command, Stdio};

use backsight_debug::capture::{Inside, Safety, Scope};
use backsight_debug::session::{Attach, BreakpointRequest, Outcome, Session, VariablesRequest};
use backsight_debug::walk::CapturePlan;

use super::expectations::{self, Ways};
use super::pages;
use super::subject::{
    PATIENCE, Running, Subject, at, capture, free_port, go_on, installed, names, plan, scope, stopped,
};

const WAYS: Ways = Ways {
    nothing: &["null"],
    shadows: true,
    cycle: true,
    sees_hidden_change: true,
    this: true,
    recurse: "recurse",
    looping: None,
    assignment: Some("number = 41"),
    safe_sum: true,
    unsafe_expression: "order.total",
    exceptions: Some("all"),
    exception: "caught it",
    exit_code: 3,
};

fn subject() -> Subject {
    Subject::script("table.js", Some(installed(&["node"])))
}

macro_rules! table {
    ($($name:ident: $check:expr;)*) => { $(
        #[test]
        fn $name() {
            ($check)(&subject());
        }
    )* };
}

table! {
    locals_of_every_kind: |subject| expectations::locals_of_every_kind(subject, WAYS);
    two_captures_and_their_difference: |subject| expectations::two_captures_and_their_difference(subject, WAYS);
    frames: |subject| expectations::frames_and_threads(subject, WAYS);
    control_and_breakpoints: |subject| expectations::control_and_breakpoints(subject, WAYS);
    exceptions: |subject| expectations::exceptions(subject, WAYS);
    expressions: |subject| expectations::expressions(subject, WAYS);
    variables: |subject| pages::all(subject, WAYS.shadows);
    the_end: |subject| expectations::running_pausing_and_the_end(subject, WAYS);
    no_process_is_left: expectations::no_process_is_left;
    speed: |subject| expectations::speed(subject, "node");
}

/// Getters, `toString`, `toJSON` and a proxy's traps count their calls.
#[test]
fn a_capture_runs_nothing_of_the_program() {
    let subject = subject();
    let (session, outcome) = subject.launch(vec![subject.at("FIRST"), subject.at("SECOND")]);
    stopped(outcome);
    for depth in 0..5 {
        let captured = capture(&session, depth);
        assert!(captured.frames[0].variables.len() > 10);
    }
    let captured = capture(&session, 2);
    assert_eq!(at(&captured, "order.total").text, "(not called)");
    assert!(at(&captured, "proxy").text.contains("Proxy"));
    assert_eq!(at(&captured, "later").inside, Inside::Unset, "{:#?}", names(&captured));
    stopped(go_on(&session));
    let outcome = go_on(&session);
    assert_eq!(outcome, Outcome::Exited { code: Some(3) });
    let printed: String = session.output(0, 1 << 20).pieces.into_iter().map(|piece| piece.text).collect();
    assert!(printed.contains("ran 0"), "{printed}");
}

/// Nor do pages of variables, unless it is allowed.
#[test]
fn variables_run_nothing_of_the_program() {
    let subject = subject();
    let (session, outcome) = subject.launch(vec![subject.at("FIRST")]);
    stopped(outcome);
    for path in ["order", "order.customer", "proxy", "watch(order.items)", "prices", "this"] {
        pages::ask(&session, path, 0, 0).unwrap();
    }
    let getter = pages::ask(&session, "order.total", 0, 0).unwrap_err();
    assert!(getter.message().contains("computed by code"), "{getter}");
    let inherited = pages::ask(&session, "order.customer.shout", 0, 0).unwrap_err();
    assert!(inherited.message().contains("change the program"), "{inherited}");
    let closure = VariablesRequest { scope: Some("closure".to_owned()), ..VariablesRequest::default() };
    let closure = session.variables(closure).unwrap();
    let runs = closure.variables.iter().find(|variable| variable.name == "runs").unwrap();
    assert_eq!((runs.value.as_str(), runs.path.as_str()), ("0", "runs"));
}

/// The debugger itself runs no getter; when everything is allowed they run, and the capture says so.
#[test]
fn a_capture_that_may_run_code_does_and_says_so() {
    let subject = subject();
    let (session, outcome) = subject.launch(vec![subject.at("FIRST")]);
    stopped(outcome);
    for (safety, total, runs) in [(Safety::Adapter, "(getter)", "0"), (Safety::Full, "30", "1")] {
        let captured = session.capture(CapturePlan { safety, ..plan(1) }).unwrap();
        assert_eq!((captured.safety, at(&captured, "order.total").text.as_str()), (safety, total));
        assert_eq!(pages::ask(&session, "runs", 0, 0).unwrap().value.unwrap().value, runs, "{safety:?}");
    }
}

/// A breakpoint that prints, and one that counts.
#[test]
fn log_messages_and_hit_counts() {
    let subject = subject();
    let log = BreakpointRequest { log_message: Some("deep {n + 1}".to_owned()), ..subject.at("DEEP") };
    let count = BreakpointRequest { hit_count: Some("10".to_owned()), ..subject.at("LOOP") };
    let (session, outcome) = subject.launch(vec![log, count]);
    stopped(outcome);
    assert_eq!(at(&capture(&session, 0), "i").text, "9");
    let printed: String = session.output(0, 1 << 20).pieces.into_iter().map(|piece| piece.text).collect();
    assert!(printed.contains("deep 1\n"), "{printed}");
}

/// A program whose inspector is open already.
#[test]
fn a_running_program_is_attached_to() {
    let subject = subject();
    let port = free_port();
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("wait a bit.js");
    std::fs::write(&program, "let rounds = 0;\nsetInterval(() => {\n  rounds += 1;\n}, 5);\n").unwrap();
    let mut command = Command::new("node");
    command.arg(format!("--inspect=127.0.0.1:{port}")).arg(&program).stdout(Stdio::null()).stderr(Stdio::null());
    let mut running = Running(command.spawn().unwrap());
    let attach = Attach {
        adapter: "node".to_owned(),
        port: Some(port),
        breakpoints: vec![BreakpointRequest::line(&program, 3)],
        wait: PATIENCE,
        ..Attach::default()
    };
    let (session, outcome) = Session::attach(&subject.setup(), attach).unwrap();
    let report = stopped(outcome);
    assert_eq!((report.frame.unwrap().line, report.breakpoints), (Some(3), vec!["bp-1".to_owned()]));
    assert_eq!(scope(&capture(&session, 0), "rounds"), Scope::Closure);
    session.disconnect(false).unwrap();
    assert!(running.0.try_wait().unwrap().is_none(), "it goes on without its debugger");
}
