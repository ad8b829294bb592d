//! CPython under debugpy.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use backsight_core::{NextStep, Result};
use backsight_debug::capture::{Inside, Safety};
use backsight_debug::diff::{Options, snapshot_diff};
use backsight_debug::session::{Attach, EvaluateRequest, Outcome, Session, VariablesRequest};
use backsight_debug::walk::CapturePlan;

use super::expectations::{self, Ways};
use super::pages;
use super::subject::{
    PATIENCE, Running, Subject, at, capture, free_port, go_on, names, plan, stopped, to_the_end, until_listening,
};

const WAYS: Ways = Ways {
    nothing: &["None"],
    shadows: false,
    cycle: true,
    sees_hidden_change: true,
    this: true,
    recurse: "recurse",
    looping: Some("loop"),
    assignment: None,
    safe_sum: true,
    unsafe_expression: "order.customer.shout",
    exceptions: Some("all"),
    exception: "caught it",
    exit_code: 3,
};

/// The Python with debugpy that `tests/tools/install` prepares.
pub fn python() -> PathBuf {
    let tools = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("tools");
    let debugpy = tools.join("venv/bin/debugpy");
    assert!(debugpy.exists(), "debugpy is missing in `{}`: install it with `make tools`", tools.display());
    debugpy.with_file_name("python")
}

fn subject() -> Subject {
    Subject::script("table.py", Some(python()))
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
    other_threads: expectations::other_threads;
    control_and_breakpoints: |subject| expectations::control_and_breakpoints(subject, WAYS);
    exceptions: |subject| expectations::exceptions(subject, WAYS);
    expressions: |subject| expectations::expressions(subject, WAYS);
    variables: |subject| pages::all(subject, WAYS.shadows);
    the_end: |subject| expectations::running_pausing_and_the_end(subject, WAYS);
    no_process_is_left: expectations::no_process_is_left;
    speed: |subject| expectations::speed(subject, "debugpy");
}

/// `__repr__`, properties, `__eq__` and `__hash__` of the program count their calls.
#[test]
fn a_capture_runs_nothing_of_the_program() {
    let subject = subject();
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

/// Nor do pages of variables, unless it is allowed.
#[test]
fn variables_run_nothing_of_the_program() {
    let subject = subject();
    let (session, outcome) = subject.launch(vec![subject.at("FIRST")]);
    stopped(outcome);
    for path in ["order", "order.customer", "order.items[0]", "watch(order.customer)", "also", "watch(order is also)"] {
        pages::ask(&session, path, 0, 0).unwrap();
    }
    let property = pages::ask(&session, "order.customer.shout", 0, 0).unwrap_err();
    assert!(property.message().contains("computed by code"), "{property}");
    assert!(property.advises(&NextStep::WithProgramsCode), "{property:?}");
    let globals = VariablesRequest { scope: Some("globals".to_owned()), ..VariablesRequest::default() };
    let globals = session.variables(globals).unwrap();
    let runs = globals.variables.iter().find(|variable| variable.name == "runs").unwrap();
    assert_eq!(runs.value, "0");
    assert_eq!(pages::ask(&session, &runs.path, 0, 0).unwrap().value.unwrap().value, "0");
    let allowed = VariablesRequest {
        expand: Some("order.customer".to_owned()),
        safety: Safety::Adapter,
        ..VariablesRequest::default()
    };
    let allowed = session.variables(allowed).unwrap();
    assert_eq!(allowed.safety, Safety::Adapter);
    assert_eq!(allowed.variables.iter().find(|it| it.name == "shout").unwrap().value, "'ANN'", "{allowed:#?}");
    let runs = pages::ask(&session, "runs", 0, 0).unwrap().value.unwrap().value;
    assert_ne!(runs, "0", "what was allowed ran");
}

/// A class may have a class of its own, whose `__eq__` and `__hash__` are the program's.
#[test]
fn classes_of_classes_are_not_asked() {
    let subject = Subject::script("classes.py", Some(python()));
    let (session, outcome) = subject.launch(vec![subject.at("CLASSES")]);
    stopped(outcome);
    assert_eq!(at(&capture(&session, 3), "made.field").text, "1");
    pages::ask(&session, "made", 0, 0).unwrap();
    pages::ask(&session, "keyed", 0, 0).unwrap();
    for (expression, value) in [("made.field", "1"), ("keyed[1].field", "1"), ("1 in pair", "False")] {
        assert_eq!(evaluate(&session, expression).unwrap(), value, "{expression}");
    }
    for expression in ["made + 1", "held[made]", "pair[kind]", "not made", "made == made"] {
        // Refused or not, nothing may have run.
        let _ = evaluate(&session, expression);
    }
    assert_eq!(go_on(&session), Outcome::Exited { code: Some(0) });
    let printed: String = session.output(0, 1 << 20).pieces.into_iter().map(|piece| piece.text).collect();
    assert!(printed.contains("ran 0"), "{printed}");
}

/// What is stored is read; what only code can tell is refused, and not told to be missing.
#[test]
fn attributes_are_read_where_they_are_stored() {
    let subject = Subject::script("classes.py", Some(python()));
    let (session, outcome) = subject.launch(vec![subject.at("CLASSES")]);
    stopped(outcome);
    let read = [("point.x", "3"), ("point.y + space.a", "9"), ("kind.shared", "None"), ("made.shared", "None")];
    for (expression, value) in read.into_iter().chain([("kind.__qualname__", "'Made'")]) {
        assert_eq!(evaluate(&session, expression).unwrap(), value, "{expression}");
    }
    for expression in ["guarded.stored", "eager.anything", "kind.__name__"] {
        let refused = evaluate(&session, expression).unwrap_err();
        assert!(refused.message().contains("computed by code"), "{expression}: {refused}");
        assert!(refused.advises(&NextStep::WithUnsafeExpression), "{refused:?}");
    }
    let missing = evaluate(&session, "made.nothing").unwrap_err();
    assert!(missing.message().contains("no attribute 'nothing'"), "{missing}");
    assert_eq!(at(&capture(&session, 2), "space.a").text, "5");
    assert_eq!(pages::ask(&session, "space.a", 0, 0).unwrap().value.unwrap().path, "space.a");
    assert_eq!(go_on(&session), Outcome::Exited { code: Some(0) });
    let printed: String = session.output(0, 1 << 20).pieces.into_iter().map(|piece| piece.text).collect();
    assert!(printed.contains("ran 0"), "{printed}");
}

/// State that is not in fields is looked at all the same, and what cannot be looked into never counts as unchanged.
#[test]
fn state_beside_fields_is_compared_or_said_not_to_be() {
    let subject = Subject::script("state.py", Some(python()));
    let (session, outcome) = subject.launch(vec![subject.at("BEFORE"), subject.at("AFTER")]);
    stopped(outcome);
    let before = capture(&session, 3);
    let same = snapshot_diff(&before, &capture(&session, 3), &Options::default());
    assert_eq!(same.summary.changes(), 0, "{same:#?}");
    // `cycle`, `held.cycle`, `iterator`, `holders[0][0][0]` that holds a cycle too deep inside, and `endless`, too long to hash.
    assert_eq!(same.summary.not_compared, 5, "{same:#?}\n{:#?}", names(&before));
    assert_eq!(at(&before, "several[2]").text, "3");
    assert_eq!(pages::ask(&session, "lengthy", 500, 1).unwrap().variables[0].value, "500.0");
    assert_eq!(pages::ask(&session, "inc", 0, 0).unwrap().variables[0].path, "inc.n");
    stopped(go_on(&session));
    let diff = snapshot_diff(&before, &capture(&session, 3), &Options { max_tokens: 100_000, ..Options::default() });
    let mut told: Vec<&str> =
        diff.modified.iter().chain(&diff.added).chain(&diff.removed).map(|entry| entry.path.as_str()).collect();
    told.sort_unstable();
    let expected = "again big data default.__defaults__[0][0] generator.local hidden holders[0][0][0] inc.n iterator \
        kind.made large lengthy lock plain[0] replaced.a seen[0] several[1] shape.a single text under[a] wide words";
    for path in expected.split_whitespace() {
        assert!(told.contains(&path), "`{path}` is missing in {told:#?}");
    }
    assert!(diff.summary.not_compared >= 2, "{diff:#?}");
    assert_eq!(to_the_end(&session), Outcome::Exited { code: Some(0) });
    let printed: String = session.output(0, 1 << 20).pieces.into_iter().map(|piece| piece.text).collect();
    assert!(printed.contains("ran 0"), "{printed}");
}

/// What has too much inside to be hashed is named, and by no empty path.
#[test]
fn what_is_not_hashed_is_named() {
    let subject = Subject::script("state.py", Some(python()));
    let (session, outcome) = subject.launch(vec![subject.at("BEFORE")]);
    stopped(outcome);
    let captured = capture(&session, 0);
    assert!(captured.incomplete.iter().all(|one| !one.path.is_empty()), "{:#?}", captured.incomplete);
    let reason = |path: &str| captured.incomplete.iter().find(|one| one.path == path).map(|one| one.reason.as_str());
    assert!(reason("endless").unwrap().contains("too much to hash"), "{:#?}", captured.incomplete);
    assert!(at(&captured, "held").partial, "what holds a cycle is not known whole");
    assert_eq!((reason("wide"), reason("large")), (None, None), "{:#?}", captured.incomplete);
}

/// Names of files that are not UTF-8 come as such texts.
#[test]
fn half_characters_do_not_hide_the_frame() {
    let subject = Subject::script("classes.py", Some(python()));
    let (session, outcome) = subject.launch(vec![subject.at("CLASSES")]);
    stopped(outcome);
    let captured = capture(&session, 2);
    assert_eq!(at(&captured, r"halves[\udfff]").text, "1");
    assert_eq!(at(&captured, r"halves[k\ud800]").text, r"'v\ud800'");
    assert_eq!(pages::ask(&session, "halves", 0, 0).unwrap().variables.len(), 2);
}

fn evaluate(session: &Session, expression: &str) -> Result<String> {
    let expression = expression.to_owned();
    let request = EvaluateRequest { expression, thread: None, frame: 0, safe: true, timeout_ms: None };
    Ok(session.evaluate(request)?.value)
}

/// What the debugger itself shows runs the program's code, and the capture says that it was allowed to.
#[test]
fn a_capture_that_may_run_code_does_and_says_so() {
    let subject = subject();
    let (session, outcome) = subject.launch(vec![subject.at("FIRST")]);
    stopped(outcome);
    let runs = || pages::ask(&session, "runs", 0, 0).unwrap().value.unwrap().value.parse::<u64>().unwrap();
    assert_eq!(runs(), 0);
    let mut before = 0;
    for safety in [Safety::Adapter, Safety::Full] {
        let captured = session.capture(CapturePlan { safety, ..plan(2) }).unwrap();
        assert_eq!(captured.safety, safety);
        assert_eq!(at(&captured, "order.customer.shout").text, "'ANN'", "properties are evaluated");
        assert!(runs() > before, "{safety:?} ran nothing");
        before = runs();
    }
}

/// Capture and resume, a thousand times.
#[test]
fn a_thousand_hits_of_a_loop() {
    let subject = subject();
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
    // Were the thread woken by chance only, each would take a fifth of a second.
    assert!(started.elapsed() < Duration::from_secs(60));
}

/// An object that is captured at its nearest place is pointed to from the others.
#[test]
fn the_same_object_is_captured_once() {
    let subject = subject();
    let (session, outcome) = subject.launch(vec![subject.at("FIRST")]);
    stopped(outcome);
    let captured = capture(&session, 2);
    assert!(matches!(&at(&captured, "order").inside, Inside::Fields(_)));
    assert_eq!(at(&captured, "also").inside, Inside::SeeAt("order".to_owned()));
}

/// A program that waits for a debugger at a port, through the adapter that comes with debugpy.
#[test]
fn a_program_that_waits_for_a_debugger_is_attached_to() {
    let subject = subject();
    let port = free_port();
    let mut command = Command::new(subject.runtime.as_ref().unwrap());
    command.args([
        "-Xfrozen_modules=off",
        "-m",
        "debugpy",
        "--listen",
        &format!("127.0.0.1:{port}"),
        "--wait-for-client",
    ]);
    command.arg(&subject.program).stdout(Stdio::null()).stderr(Stdio::null());
    let mut running = Running(command.spawn().unwrap());
    // Whoever attaches is told at once that nobody waits; here somebody is about to.
    until_listening(port);
    let attach = Attach {
        adapter: Some("debugpy".to_owned()),
        port: Some(port),
        breakpoints: vec![subject.at("FIRST")],
        wait: PATIENCE,
        ..Attach::default()
    };
    let (session, outcome) = Session::attach(&subject.setup(), attach).unwrap();
    stopped(outcome);
    let captured = capture(&session, 2);
    assert_eq!(at(&captured, "order.customer.name").text, "'Ann'");
    session.disconnect(false).unwrap();
    // It goes on without its debugger, and ends by itself.
    assert_eq!(running.0.wait().unwrap().code(), Some(3));
}

/// Threads that the debugger holds wait in code of its own, which is not what they were doing.
#[test]
fn other_threads_are_where_the_program_is() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("busy.py");
    let text = "\
import threading, time
begun = []
def work(mine):
    begun.append(mine)
    while True:
        mine += 1
for start in (10, 20):
    threading.Thread(target=work, args=(start,), daemon=True).start()
while len(begun) < 2:
    time.sleep(0.01)
here = 1
here = 2  # HERE
";
    std::fs::write(&source, text).unwrap();
    let subject = Subject { program: source.clone(), source, runtime: Some(python()), rust_sysroot: None };
    let (session, outcome) = subject.launch(vec![subject.at("HERE")]);
    stopped(outcome);
    let plan = CapturePlan { all_threads: true, ..CapturePlan::default() };
    let all = session.capture(plan).unwrap();
    let functions: Vec<&str> = all.frames.iter().map(|frame| frame.function.as_str()).collect();
    assert_eq!(functions, ["<module>", "work", "work"]);
}
