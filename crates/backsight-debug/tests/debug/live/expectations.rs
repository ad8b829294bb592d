//! What is expected of every debugger.

use std::time::{Duration, Instant};

use backsight_core::Code;
use backsight_debug::capture::{Inside, Scope};
use backsight_debug::diff::{Options, snapshot_diff};
use backsight_debug::session::{BreakpointRequest, Control, EvaluateRequest, Outcome, Place, Session};
use backsight_debug::walk::{CapturePlan, Frames};

use super::subject::{PATIENCE, Subject, at, capture, go_on, names, plan, scope, stopped};

/// In what a language differs.
#[derive(Clone, Copy)]
pub struct Ways {
    /// How `nothing` is written.
    pub nothing: &'static [&'static str],
    /// Whether an outer `x` is hidden by an inner one.
    pub shadows: bool,
    /// Whether `order.me` leads back to `order`.
    pub cycle: bool,
    /// Whether a change at an index that is not captured is noticed.
    pub sees_hidden_change: bool,
    /// Whether the receiver is told from arguments.
    pub this: bool,
    /// A function breakpoint for the function that recurses.
    pub recurse: &'static str,
    /// The name of the function that loops, where there are breakpoints on functions.
    pub looping: Option<&'static str>,
    /// What an evaluation of `number + 1` needs to run: nothing.
    pub safe_sum: bool,
    /// An expression that gives `number` another value, where expressions can.
    pub assignment: Option<&'static str>,
    /// An expression that runs code, which safe mode refuses.
    pub unsafe_expression: &'static str,
    /// The kind of exceptions to pause at; none where there are no exceptions to pause at.
    pub exceptions: Option<&'static str>,
    /// What is said about the exception.
    pub exception: &'static str,
    pub exit_code: i64,
}

/// Locals of every kind, at depth 3.
pub fn locals_of_every_kind(subject: &Subject, ways: Ways) {
    let (session, outcome) = subject.launch(vec![subject.at("FIRST")]);
    let report = stopped(outcome);
    assert!(report.stop.reason.contains("breakpoint"), "{report:?}");
    assert_eq!(report.breakpoints, ["bp-1"], "{report:?}");
    let frame = report.frame.unwrap();
    assert_eq!(frame.line, Some(subject.line("FIRST")));
    assert!(frame.function.contains("work"), "{frame:?}");
    assert!(frame.source.unwrap().contains("FIRST"));
    let capture = capture(&session, 3);
    let table: [(&str, &[&str]); 17] = [
        ("number", &["42"]),
        ("ratio", &["2.5"]),
        ("flag", &["true", "True"]),
        ("nothing", ways.nothing),
        ("text", &["h\u{e9}llo w\u{f6}rld \u{4e16}\u{754c}"]),
        ("count", &["3"]),
        ("label", &["label"]),
        ("x", &["2"]),
        ("order.customer.name", &["Ann"]),
        ("order.items[1].price", &["20"]),
        ("small[2]", &["3"]),
        ("prices[apple]", &["3"]),
        ("prices[pear]", &["5"]),
        ("big[999999]", &["999999"]),
        ("gr\u{f6}\u{df}e", &["7"]),
        ("nested[0][1]", &["2"]),
        ("nested[1][0]", &["3"]),
    ];
    for (path, expected) in table {
        let text = &at(&capture, path).text;
        assert!(expected.iter().any(|one| text.contains(one)), "`{path}` is `{text}`: {:#?}", names(&capture));
    }
    assert_eq!(at(&capture, "big").length, Some(1_000_000));
    assert_eq!(at(&capture, "small").length, Some(3));
    let empty = at(&capture, "empty");
    assert_eq!((empty.length.unwrap_or(0), &empty.inside), (0, &Inside::Leaf), "{empty:?}");
    assert!(at(&capture, "lengthy").text.len() < 1000, "long texts are cut");
    assert!(
        capture.incomplete.iter().any(|said| said.path == "big" && said.reason.contains("1000000")),
        "{:?}",
        capture.incomplete
    );
    assert_eq!((scope(&capture, "count"), scope(&capture, "number")), (Scope::Argument, Scope::Local));
    if ways.this {
        let this = capture.frames[0].variables.iter().any(|variable| variable.scope == Scope::This);
        assert!(this, "{:#?}", names(&capture));
    }
    if ways.shadows {
        assert_eq!(at(&capture, "x#1").text, "1");
    }
    if ways.cycle {
        let me = at(&capture, "order.me");
        assert!(matches!(&me.inside, Inside::SeeAt(_)), "{me:?}");
    }
    let shallow = super::subject::capture(&session, 0);
    assert!(
        matches!(at(&shallow, "order").inside, Inside::NotExpanded | Inside::SeeAt(_)),
        "{:?}",
        at(&shallow, "order")
    );
    assert_eq!(shallow.frames[0].variables.len(), capture.frames[0].variables.len());
}

/// What changed between two stops is told, all of it and nothing else.
pub fn two_captures_and_their_difference(subject: &Subject, ways: Ways) {
    let (session, outcome) = subject.launch(vec![subject.at("FIRST"), subject.at("SECOND")]);
    stopped(outcome);
    let before = capture(&session, 3);
    let same = capture(&session, 3);
    let nothing = snapshot_diff(&before, &same, &Options::default());
    assert_eq!(nothing.summary.changes(), 0, "{nothing:#?}");
    stopped(go_on(&session));
    let after = capture(&session, 3);
    let diff = snapshot_diff(&before, &after, &Options { max_tokens: 100_000, ..Options::default() });
    let mut told: Vec<String> = Vec::new();
    for entry in diff.modified.iter().chain(&diff.added).chain(&diff.removed) {
        told.push(entry.path.clone());
    }
    let expected = ["number", "order.customer.name", "order.items[1].price", "prices[pear]", "small[3]"];
    for path in expected {
        let last = path.rsplit(['.', ']']).next().unwrap_or(path);
        assert!(
            told.iter().any(|one| one == path || (one.ends_with(path.trim_start_matches("order")) && !last.is_empty())),
            "`{path}` is missing in {told:#?}\n{diff:#?}"
        );
    }
    let hidden = told.iter().any(|path| path == "big");
    assert_eq!(hidden, ways.sees_hidden_change, "{told:#?}");
    let others: Vec<&String> = told
        .iter()
        .filter(|path| {
            !(path.as_str() == "big"
                || expected.iter().any(|one| one == path || path.ends_with(one.trim_start_matches("order"))))
        })
        .collect();
    assert!(others.is_empty(), "unexpected changes: {others:?}\n{diff:#?}");
}

/// Recursion, all frames, threads.
pub fn frames_and_threads(subject: &Subject, ways: Ways) {
    let (session, outcome) = subject.launch(vec![subject.at("DEEP")]);
    stopped(outcome);
    let all = session.capture(CapturePlan { frames: Frames::All, ..plan(0) }).unwrap();
    let levels: Vec<String> = all
        .frames
        .iter()
        .filter(|frame| frame.function.contains(ways.recurse))
        .map(|frame| frame.variables.iter().find(|variable| variable.name == "n").unwrap().value.text.clone())
        .collect();
    assert_eq!(levels, ["0", "1", "2", "3", "4", "5"]);
    assert!(all.stack_depth.unwrap() >= 7);
    let stack = session.stack(None, 0, 3).unwrap();
    assert!(stack.frames.len() == 3 && stack.more);
    let third = session.capture(CapturePlan { frame: 2, ..plan(0) }).unwrap();
    assert_eq!((third.frames.len(), third.frames[0].index), (1, 2));
    assert_eq!(third.frames[0].variables.iter().find(|variable| variable.name == "n").unwrap().value.text, "2");
    let none = session.capture(CapturePlan { frame: 5000, ..plan(0) }).unwrap_err();
    assert_eq!(none.code(), Code::Usage, "{none}");
}

/// The other threads are captured too, with what they wait for.
pub fn other_threads(subject: &Subject) {
    let (session, outcome) = subject.launch(vec![subject.at("FIRST")]);
    let here = stopped(outcome).stop.thread_id.unwrap();
    let threads = session.threads().unwrap();
    assert!(threads.len() > 1 && threads.iter().any(|thread| thread.id == here && thread.stopped_here), "{threads:?}");
    let plan = CapturePlan { all_threads: true, frames: Frames::Count(30), ..plan(0) };
    let all = session.capture(plan).unwrap();
    let waiting = all.frames.iter().filter(|frame| frame.thread_id != here).flat_map(|frame| &frame.variables);
    let waiting = waiting.into_iter().find(|variable| variable.name == "waiting");
    assert!(waiting.is_some_and(|variable| variable.value.text.contains("for the end")), "{:?}", all.frames);
}

/// Stepping, running to a line, conditions, hit counts, what does not bind.
pub fn control_and_breakpoints(subject: &Subject, ways: Ways) {
    let (session, outcome) = subject.launch(vec![subject.at("FIRST")]);
    let first = stopped(outcome);
    let next = stopped(session.control(Control::StepOver, None, PATIENCE).unwrap());
    assert!(next.epoch > first.epoch);
    assert_eq!(next.frame.unwrap().line, Some(subject.line("FIRST") + 1));
    let run_to = Control::RunTo { file: subject.source.clone(), line: subject.line("SECOND") };
    let there = stopped(session.control(run_to, None, PATIENCE).unwrap());
    assert_eq!(there.frame.unwrap().line, Some(subject.line("SECOND")));
    assert_eq!(session.status().breakpoints.len(), 1, "the temporary one is gone");
    if let Some(looping) = ways.looping {
        let function = session.set_breakpoint(BreakpointRequest::new(Place::Function(looping.to_owned()))).unwrap();
        assert!(function.bound, "{function:?}");
        let report = stopped(go_on(&session));
        assert_eq!(report.breakpoints, [function.id.as_str()], "{report:?}");
        assert!(report.frame.unwrap().function.contains("loop"));
        session.remove_breakpoint(&function.id).unwrap();
    }
    let counted = BreakpointRequest { hit_count: Some("10".to_owned()), ..subject.at("LOOP") };
    let counted = session.set_breakpoint(counted).unwrap();
    assert!(counted.bound, "{counted:?}");
    assert_eq!(stopped(go_on(&session)).breakpoints, [counted.id.as_str()]);
    assert_eq!(at(&capture(&session, 0), "i").text, "9");
    session.remove_breakpoint(&counted.id).unwrap();
    let every = BreakpointRequest { hit_count: Some("% 100".to_owned()), ..subject.at("LOOP") };
    let every = session.set_breakpoint(every).unwrap();
    let passed = [(); 2].map(|()| {
        assert_eq!(stopped(go_on(&session)).breakpoints, [every.id.as_str()]);
        at(&capture(&session, 0), "i").text.parse::<u64>().unwrap()
    });
    assert_eq!(passed[1] - passed[0], 100, "every hundredth, in every debugger");
    session.remove_breakpoint(&every.id).unwrap();
    let conditional = BreakpointRequest { condition: Some("i == 700".to_owned()), ..subject.at("LOOP") };
    let set = session.set_breakpoint(conditional).unwrap();
    assert!(set.bound, "{set:?}");
    let nowhere = session.set_breakpoint(BreakpointRequest::new(Place::Exception("no such".to_owned()))).unwrap();
    assert!(!nowhere.bound && nowhere.message.is_some(), "{nowhere:?}");
    let report = stopped(go_on(&session));
    assert_eq!(report.breakpoints, [set.id.as_str()]);
    assert_eq!(at(&capture(&session, 0), "i").text, "700");
    let out = stopped(session.control(Control::StepOut, None, PATIENCE).unwrap());
    assert!(!out.frame.unwrap().function.contains("loop"));
    session.remove_breakpoint(&set.id).unwrap();
    assert_eq!(session.remove_breakpoint(&set.id).unwrap_err().code(), Code::RefNotFound);
}

/// A program that pauses at an exception says which.
pub fn exceptions(subject: &Subject, ways: Ways) {
    let Some(kind) = ways.exceptions else { return };
    // What a debugger raises itself before the program begins is nobody's business.
    let (session, outcome) = subject.launch(vec![BreakpointRequest::new(Place::Exception(kind.to_owned()))]);
    let report = stopped(outcome);
    assert!(session.status().breakpoints.iter().all(|set| set.bound), "{:?}", session.status());
    assert_eq!(report.stop.reason, "exception", "{report:?}");
    let said = report.stop.description.unwrap_or_default();
    assert!(said.contains(ways.exception), "`{said}`");
    // Of native code the innermost frame is the one that throws, which is not the program's.
    let frames = session.stack(None, 0, 20).unwrap().frames;
    assert!(frames.iter().any(|frame| frame.line == Some(subject.line("THROW"))), "{frames:?}");
}

/// Evaluation, with and without running code, and watches.
pub fn expressions(subject: &Subject, ways: Ways) {
    let (session, outcome) = subject.launch(vec![subject.at("FIRST")]);
    stopped(outcome);
    let ask = |expression: &str, safe| {
        session.evaluate(EvaluateRequest {
            expression: expression.to_owned(),
            thread: None,
            frame: 0,
            safe,
            timeout_ms: None,
        })
    };
    assert_eq!(ask("number + 1", false).unwrap().value, "43");
    if let Some(assignment) = ways.assignment {
        ask(assignment, false).unwrap();
        assert_eq!(at(&capture(&session, 0), "number").text, "41", "what was changed in this pause is seen");
        ask(&assignment.replace("41", "42"), false).unwrap();
    }
    let safe = ask("number", true).unwrap();
    assert_eq!((safe.value.as_str(), safe.may_have_run_code), ("42", false));
    if ways.safe_sum {
        assert_eq!(ask("number + 1", true).unwrap().value, "43");
    }
    let refused = ask(ways.unsafe_expression, true).unwrap_err();
    assert_eq!(refused.code(), Code::AdapterFailed, "{refused}");
    assert!(ask("no_such_name", false).is_err());
    let watched = session
        .capture(CapturePlan { watches: vec!["number".to_owned(), "no_such_name".to_owned()], ..plan(0) })
        .unwrap();
    assert_eq!(at(&watched, "watch(number)").text, "42");
    assert!(at(&watched, "watch(no_such_name)").text.contains("error"), "{:?}", at(&watched, "watch(no_such_name)"));
}

/// A running program refuses to be looked at, is paused, ends with its code and what it printed.
pub fn running_pausing_and_the_end(subject: &Subject, ways: Ways) {
    let log = BreakpointRequest { log_message: Some("logged on the way".to_owned()), ..subject.at("SECOND") };
    let (session, outcome) = subject.launch(vec![subject.at("FIRST"), log]);
    stopped(outcome);
    session.remove_breakpoint("bp-1").unwrap();
    let outcome = session.control(Control::Continue, None, PATIENCE).unwrap();
    assert_eq!(outcome, Outcome::Exited { code: Some(ways.exit_code) });
    let error = session.capture(plan(0)).unwrap_err();
    assert_eq!(error.code(), Code::NoSession, "{error}");
    let printed: String = session.output(0, 1 << 20).pieces.into_iter().map(|piece| piece.text).collect();
    for once in ["hello from the program", "logged on the way"] {
        assert_eq!(printed.matches(once).count(), 1, "{once}: {printed}");
    }
}

/// Nothing that was started is left when a session is dropped in the middle.
pub fn no_process_is_left(subject: &Subject) {
    let (session, outcome) = subject.launch(vec![subject.at("FIRST")]);
    stopped(outcome);
    let process = session.status().process.unwrap();
    let started = Instant::now();
    let family = family(process);
    assert!(!family.is_empty());
    drop(session);
    assert!(started.elapsed() < Duration::from_secs(20));
    let deadline = Instant::now() + Duration::from_secs(20);
    while family.iter().any(|one| is_alive(*one)) {
        assert!(Instant::now() < deadline, "{family:?} live on");
        std::thread::yield_now();
    }
}

/// A process and everything it started.
fn family(process: i32) -> Vec<i32> {
    let mut found = vec![process];
    let mut at = 0;
    while at < found.len() {
        let children = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", found[at])).unwrap_or_default();
        found.extend(children.split_whitespace().filter_map(|child| child.parse::<i32>().ok()));
        at += 1;
    }
    found
}

fn is_alive(process: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    !(stat.is_empty() || stat.contains(") Z ") || stat.contains(") X "))
}

/// How long captures take, printed; the bounds are generous since the machine may be busy.
pub fn speed(subject: &Subject, name: &str) {
    let (session, outcome) = subject.launch(vec![subject.at("FIRST")]);
    stopped(outcome);
    for depth in [0, 2] {
        let took = median(&session, depth);
        eprintln!("{name}: capture at depth {depth}: {took:?}");
        assert!(took < Duration::from_secs(2), "{name} at depth {depth}: {took:?}");
    }
}

pub fn median(session: &Session, depth: u32) -> Duration {
    let mut times: Vec<Duration> = (0..9)
        .map(|_| {
            let started = Instant::now();
            capture(session, depth);
            started.elapsed()
        })
        .collect();
    times.sort();
    times[4]
}
