//! CPython under debugpy.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use backsight_debug::capture::Inside;
use backsight_debug::session::Outcome;

use super::expectations::{self, Ways};
use super::subject::{Subject, absent, at, capture, go_on, on_path, stopped};

const WAYS: Ways = Ways {
    nothing: &["None"],
    shadows: false,
    cycle: true,
    sees_hidden_change: true,
    this: true,
    recurse: "recurse",
    looping: Some("loop"),
    counts_hits: true,
    safe_sum: true,
    unsafe_expression: "order.customer.shout",
    exceptions: Some("all"),
    exit_code: 3,
};

/// A Python that has debugpy: the one `make test` prepares, or whichever is there.
fn python() -> Option<PathBuf> {
    let prepared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/venv/bin/python");
    let found = Some(prepared).filter(|python| python.exists()).or_else(|| on_path(&["python3", "python"]))?;
    let asked = std::process::Command::new(&found).args(["-c", "import debugpy"]).output().ok()?;
    asked.status.success().then_some(found)
}

fn subject() -> Option<Subject> {
    let python = python();
    if python.is_none() {
        absent("a Python with debugpy");
    }
    Some(Subject::script("table.py", Some(python?)))
}

macro_rules! table {
    ($($name:ident: $check:expr;)*) => { $(
        #[test]
        fn $name() {
            if let Some(subject) = subject() {
                ($check)(&subject);
            }
        }
    )* };
}

table! {
    locals_of_every_kind: |subject| expectations::locals_of_every_kind(subject, WAYS);
    two_captures_and_their_difference: |subject| expectations::two_captures_and_their_difference(subject, WAYS);
    frames: |subject| expectations::frames_and_threads(subject, WAYS);
    other_threads: expectations::other_threads;
    control_and_breakpoints: |subject| expectations::control_and_breakpoints(subject, WAYS);
    exceptions: |subject| expectations::exceptions(subject, WAYS);
    expressions_and_variables: |subject| expectations::expressions_and_variables(subject, WAYS);
    the_end: |subject| expectations::running_pausing_and_the_end(subject, WAYS);
    no_process_is_left: expectations::no_process_is_left;
    speed: |subject| expectations::speed(subject, "debugpy");
}

/// `__repr__`, properties, `__eq__` and `__hash__` of the program count their calls.
#[test]
fn a_capture_runs_nothing_of_the_program() {
    let Some(subject) = subject() else { return };
    let (session, outcome) = subject.launch(vec![subject.at("FIRST"), subject.at("SECOND")]);
    stopped(outcome);
    for depth in 0..5 {
        let captured = capture(&session, depth);
        assert!(captured.frames[0].variables.len() > 10);
    }
    stopped(go_on(&session));
    capture(&session, 4);
    let outcome = loop {
        match go_on(&session) {
            Outcome::Stopped(_) => {}
            other => break other,
        }
    };
    assert_eq!(outcome, Outcome::Exited { code: Some(3) });
    let printed: String = session.output(0, 1 << 20).pieces.into_iter().map(|piece| piece.text).collect();
    assert!(printed.contains("ran 0"), "{printed}");
}

/// Capture and resume, a thousand times.
#[test]
fn a_thousand_hits_of_a_loop() {
    let Some(subject) = subject() else { return };
    let (session, outcome) = subject.launch(vec![subject.at("LOOP")]);
    let started = Instant::now();
    let mut outcome = outcome;
    let mut last = String::new();
    let mut hits = 0;
    while let Outcome::Stopped(_) = outcome {
        last = at(&capture(&session, 0), "total").text.clone();
        hits += 1;
        outcome = go_on(&session);
    }
    eprintln!("debugpy: 1000 captures in {:?}", started.elapsed());
    assert_eq!((hits, last.as_str()), (1000, "499500"));
    assert!(started.elapsed() < Duration::from_secs(60));
}

/// An object that is captured at its nearest place is pointed to from the others.
#[test]
fn the_same_object_is_captured_once() {
    let Some(subject) = subject() else { return };
    let (session, outcome) = subject.launch(vec![subject.at("FIRST")]);
    stopped(outcome);
    let captured = capture(&session, 2);
    assert!(matches!(&at(&captured, "order").inside, Inside::Fields(_)));
    assert_eq!(at(&captured, "also").inside, Inside::SeeAt("order".to_owned()));
}
