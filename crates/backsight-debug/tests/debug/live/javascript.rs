//! JavaScript in Node.

use std::process::{Command, Stdio};
use std::time::Duration;

use backsight_debug::capture::{Inside, Safety, Scope};
use backsight_debug::diff::{Options, snapshot_diff};
use backsight_debug::report::SnapshotDiff;
use backsight_debug::session::{
    Attach, BreakpointRequest, EvaluateRequest, Outcome, Session, StopReport, VariablesRequest,
};
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

/// Values whose state is not in plain fields.
fn states() -> Subject {
    Subject::script("state.js", Some(installed(&["node"])))
}

/// What changed between the two stops of that program, which must not notice that it was looked at.
fn changed_states(depth: u32) -> SnapshotDiff {
    let subject = states();
    let (session, outcome) = subject.launch(vec![subject.at("FIRST"), subject.at("SECOND")]);
    stopped(outcome);
    let before = capture(&session, depth);
    let same = snapshot_diff(&before, &capture(&session, depth), &Options::default());
    assert_eq!(same.summary.changes(), 0, "{same:#?}");
    stopped(go_on(&session));
    let after = capture(&session, depth);
    for variable in &after.frames[0].variables {
        pages::ask(&session, &variable.name, 0, 0).unwrap();
    }
    go_on(&session);
    let printed: String = session.output(0, 1 << 20).pieces.into_iter().map(|piece| piece.text).collect();
    assert!(printed.contains("ran 0"), "{printed}");
    snapshot_diff(&before, &after, &Options { max_tokens: 100_000, ..Options::default() })
}

/// All changes as `path: old -> new`, sorted.
fn told(diff: &SnapshotDiff) -> Vec<String> {
    let text = |value: &Option<String>| value.as_deref().unwrap_or("-").chars().take(20).collect::<String>();
    let modified =
        diff.modified.iter().map(|it| format!("{}: {} -> {}", it.path, text(&it.old_value), text(&it.new_value)));
    let added = diff.added.iter().map(|it| format!("{}: + {}", it.path, text(&it.value)));
    let removed = diff.removed.iter().map(|it| format!("{}: - {}", it.path, text(&it.value)));
    let mut all: Vec<String> = modified.chain(added).chain(removed).collect();
    all.sort();
    all
}

#[test]
fn keys_of_maps_and_members_of_sets_keep_their_types() {
    let told = told(&changed_states(2));
    let of = |name: &str| told.iter().filter(|line| line.starts_with(name)).cloned().collect::<Vec<_>>();
    assert_eq!(of("keys"), ["keys[1]: - \"number\""]);
    assert_eq!(of("members"), ["members[1]: - 1"]);
    let subject = states();
    let (session, outcome) = subject.launch(vec![subject.at("FIRST")]);
    stopped(outcome);
    let captured = capture(&session, 1);
    for (path, value) in [
        ("keys[1]", "number"),
        ("keys[\"1\"]", "text"),
        ("keys[true]", "b"),
        ("keys[\"true\"]", "tb"),
        ("keys[null]", "n"),
        ("keys[\"null\"]", "tn"),
        ("keys[plain]", "p"),
    ] {
        assert_eq!(at(&captured, path).text, format!("{value:?}"), "{path}");
        assert_eq!(pages::ask(&session, path, 0, 0).unwrap().value.unwrap().value, format!("{value:?}"), "{path}");
    }
}

/// State that is not in plain fields is compared all the same.
#[test]
fn every_state_that_can_be_read_is_compared() {
    let expected = [
        "Static.made: 0 -> 1",
        "Static[\"#hidden\"]: 0 -> 1",
        "address[\"#context\"].href: \"http://example.test -> \"http://example.test",
        "bytes: ArrayBuffer[400] -> ArrayBuffer[400]",
        "cache.hits: 0 -> 1",
        "counter.count: 0 -> 1",
        "dated.extra: 1 -> 2",
        "enormous: base 16: 10000000000 -> base 16: 10000000000",
        "holdsBoth.deep.deeper: Object -> Object",
        "holdsHuge.inner.huge: 14124670321394260368 -> 14124670321394260368",
        "huge: 14124670321394260368 -> 14124670321394260368",
        "keys[1]: - \"number\"",
        "listed.extra: 1 -> 2",
        "machine.deep.deeper: Object -> Object",
        "marked.extra: 1 -> 2",
        "members[1]: - 1",
        "pattern.lastIndex: 0 -> 2",
        "precise[0]: 1152921504606846976n -> 1152921504606846977n",
        "secretive[\"#field\"]: 1 -> 2",
        "shared[1]: 0 -> 1",
        "ticket.lastIndex: 0 -> 1",
        "view[0]: 0 -> 7",
    ];
    assert_eq!(told(&changed_states(2)), expected);
}

/// Likewise when only the variables themselves are captured.
#[test]
fn every_state_that_can_be_read_is_compared_without_being_captured() {
    let told = told(&changed_states(0));
    let names: Vec<&str> = told.iter().filter_map(|line| line.split_once(':')).map(|(name, _)| name).collect();
    let expected = [
        "Counted",
        "Static",
        "address",
        "bytes",
        "cache",
        "counter",
        "dated",
        "enormous",
        "holdsBoth",
        "holdsHuge",
        "huge",
        "keys",
        "listed",
        "machine",
        "marked",
        "members",
        "pattern",
        "precise",
        "secretive",
        "shared",
        "ticket",
        "view",
    ];
    assert_eq!(names, expected);
}

/// What nobody can read is not said to be the same, nor is what holds it.
#[test]
fn what_cannot_be_read_is_not_compared() {
    let subject = states();
    let (session, outcome) = subject.launch(vec![subject.at("FIRST")]);
    stopped(outcome);
    for (depth, holder) in [(0, "holds"), (1, "holds.deep"), (2, "holds.deep.deeper")] {
        let captured = capture(&session, depth);
        let unread = ["promise", "weak", "iterator", "generator", "proxy", "trap", "behindProxy", holder];
        for path in unread {
            let node = at(&captured, path);
            assert_eq!(node.inside, Inside::NotExpanded, "{path}");
            assert!(node.hash.is_none() || node.partial, "{path}: {node:?}");
        }
        let same = snapshot_diff(&captured, &capture(&session, depth), &Options::default());
        // What holds a promise and a number besides is not known to be the same either, nor what a function keeps, also one
        // that a class has.
        let more = same.summary.not_compared - unread.len() as u64;
        assert!(same.summary.changes() == 0 && (2..=4).contains(&more), "{same:#?}");
    }
    let inside = pages::ask(&session, "promise", 0, 0).unwrap();
    assert_eq!((inside.variables.len(), inside.variables[0].value.as_str()), (1, "(not looked into)"));
    assert_eq!(at(&capture(&session, 0), "pattern").text, "/a/gi");
}

/// Half a character is no text outside JavaScript, and no reason not to answer.
#[test]
fn halves_of_characters_are_told() {
    let subject = states();
    let (session, outcome) = subject.launch(vec![subject.at("FIRST")]);
    stopped(outcome);
    let captured = capture(&session, 2);
    let halves = pages::ask(&session, "halves", 0, 0).unwrap();
    assert_eq!(halves.variables[0].value, r#""\ud800x""#);
    let map = at(&captured, &halves.variables[1].path);
    let Inside::Entries(entries) = &map.inside else { panic!("{map:?}") };
    assert_ne!(entries[0].0, entries[1].0);
    let expression = r"'\ud800x\ud83d\ude00'".to_owned();
    let request = EvaluateRequest { expression, thread: None, frame: 0, safe: false, timeout_ms: None };
    assert!(session.evaluate(request).unwrap().value.contains("\u{fffd}x\u{1f600}"));
    assert_eq!(at(&capture(&session, 0), "key").text, "Object");
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
    assert!(inherited.message().contains("computed by code"), "{inherited}");
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

/// A program whose inspector is open already, paused.
fn attached() -> (Running, Session, StopReport, tempfile::TempDir) {
    let subject = subject();
    let port = free_port();
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("wait a bit.js");
    std::fs::write(&program, "let rounds = 0;\nsetInterval(() => {\n  rounds += 1;\n}, 5);\n").unwrap();
    let mut command = Command::new("node");
    command.arg(format!("--inspect=127.0.0.1:{port}")).arg(&program).stdout(Stdio::null()).stderr(Stdio::null());
    let running = Running(command.spawn().unwrap());
    let attach = Attach {
        adapter: Some("node".to_owned()),
        port: Some(port),
        breakpoints: vec![BreakpointRequest::line(&program, 3)],
        wait: PATIENCE,
        ..Attach::default()
    };
    let (session, outcome) = Session::attach(&subject.setup(), attach).unwrap();
    let report = stopped(outcome);
    (running, session, report, folder)
}

#[test]
fn a_running_program_is_attached_to() {
    let (mut running, session, report, _folder) = attached();
    assert_eq!((report.frame.unwrap().line, report.breakpoints), (Some(3), vec!["bp-1".to_owned()]));
    assert_eq!(scope(&capture(&session, 0), "rounds"), Scope::Closure);
    session.disconnect(false).unwrap();
    assert!(running.0.try_wait().unwrap().is_none(), "it goes on without its debugger");
}

/// A program that was there before is ended when that is asked for.
#[test]
fn an_attached_program_is_ended_when_asked() {
    let (mut running, session, _, _folder) = attached();
    session.disconnect(true).unwrap();
    let id = running.0.id().to_string();
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || tell.send(running.0.wait().map(|status| status.success())));
    let ended = told.recv_timeout(Duration::from_secs(20));
    if ended.is_err() {
        Command::new("kill").arg(id).status().unwrap();
    }
    assert!(!ended.expect("it still runs").unwrap());
}
