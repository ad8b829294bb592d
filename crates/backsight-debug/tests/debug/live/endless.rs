//! Expressions that do not end by themselves: each is ended, the session can be used again, and a session that is busy with one
//! can be ended at once.

use std::time::{Duration, Instant};

use backsight_core::{Code, NextStep, Result};
use backsight_debug::session::{EvaluateRequest, EvaluatedView, Session};
use backsight_debug::walk::CapturePlan;

use super::facade::{Language, Stage};
use super::subject::{Subject, capture, stopped};

/// Longer than anything that is ended takes on a busy machine, shorter than what nobody would wait for.
const BOUND: Duration = Duration::from_secs(20);

fn evaluate(session: &Session, expression: &str, safe: bool) -> Result<EvaluatedView> {
    let expression = expression.to_owned();
    session.evaluate(EvaluateRequest { expression, thread: None, frame: 0, safe, timeout_ms: Some(400) })
}

/// Each expression is ended, and another one is answered after it.
fn each_is_ended(session: &Session, expressions: &[(&str, bool)]) {
    for (expression, safe) in expressions {
        let began = Instant::now();
        let error = evaluate(session, expression, *safe).map(|view| panic!("`{expression}`: {view:?}")).unwrap_err();
        assert_eq!(error.code(), Code::DebugTimeout, "`{expression}`: {error}");
        assert!(error.message().contains("was ended"), "`{expression}`: {error}");
        assert!(began.elapsed() < BOUND, "`{expression}`: {:?}", began.elapsed());
        let next = session
            .evaluate(EvaluateRequest {
                expression: "1 + 1".to_owned(),
                thread: None,
                frame: 0,
                safe: false,
                timeout_ms: Some(20_000),
            })
            .unwrap_or_else(|error| panic!("after `{expression}`: {error}"));
        assert_eq!(next.value, "2", "after `{expression}`");
        assert!(!capture(session, 1).frames.is_empty());
    }
}

#[test]
fn node() {
    let subject = Language::JavaScript.subject();
    let (session, outcome) = subject.launch(vec![subject.at("BEFORE")]);
    stopped(outcome);
    let regex = "/(a+)+$/.test('a'.repeat(40) + '!')";
    let endless = "(() => { while (1) {} })()";
    each_is_ended(&session, &[(regex, false), (endless, false)]);
    let waits = "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)";
    each_is_ended(&session, &[(waits, false)]);
    // V8 cannot end its own functions, so what only reads is not given to it.
    let unbounded = [
        regex,
        endless,
        waits,
        "Array(2**27).fill(0).map(x => x).length",
        "Array(2**26).fill('a').sort().length",
        "'a'.repeat(2**29)",
        "'a'.padStart(2**29)",
        "2n ** 2n ** 40n",
        "1n << 1000000000n",
        "JSON.stringify(globalThis)",
        "structuredClone(process)",
    ];
    for expression in unbounded {
        let began = Instant::now();
        let error = evaluate(&session, expression, true).map(|view| panic!("`{expression}`: {view:?}")).unwrap_err();
        assert_eq!(error.code(), Code::AdapterFailed, "`{expression}`: {error}");
        assert!(error.advises(&NextStep::WithUnsafeExpression), "`{expression}`: {error:?}");
        assert!(began.elapsed() < Duration::from_secs(5), "`{expression}`: {:?}", began.elapsed());
        let plan = CapturePlan { watches: vec![expression.to_owned()], ..CapturePlan::default() };
        let watched = session.capture(plan).unwrap();
        assert_eq!(watched.frames[0].variables.last().unwrap().value.kind, "error", "`{expression}`");
    }
}

#[test]
fn python() {
    let subject = Language::Python.subject();
    let (session, outcome) = subject.launch(vec![subject.at("BEFORE")]);
    stopped(outcome);
    let regex = "__import__('re').match('(a+)+$', 'a' * 40 + '!')";
    let sleeps = "__import__('time').sleep(1000)";
    let endless = "while True: pass";
    each_is_ended(&session, &[(endless, false), ("[0 for _ in iter(int, 1)]", false), (regex, false), (sleeps, false)]);
}

#[test]
fn native() {
    let subject = Language::Cpp.subject();
    let (session, outcome) = subject.launch(vec![subject.at("BEFORE")]);
    stopped(outcome);
    each_is_ended(&session, &[("while (1) {} 1", false)]);
}

#[test]
fn go_says_what_it_cannot_end() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("main.go");
    let text = "\
package main

import \"os\"

var sink int

func spin(until int) int {
	for sink != until {
		sink++
		if sink > 1000 {
			sink = 0
		}
	}
	return sink
}

func main() {
	sink = len(os.Args)
	if sink > 5 {
		spin(sink)
	}
	sink = 3 // HERE
}
";
    std::fs::write(&source, text).unwrap();
    let subject = Subject { program: source.clone(), source, runtime: None, rust_sysroot: None };
    let (session, outcome) = subject.launch(vec![subject.at("HERE")]);
    stopped(outcome);
    // Delve hears nothing while it calls a function: that is said, and the session ends at once all the same.
    let error = evaluate(&session, "call spin(-1)", false).unwrap_err();
    assert_eq!(error.code(), Code::DebugTimeout, "{error}");
    assert!(error.hint().unwrap().contains("could not be ended"), "{error:?}");
    assert_eq!(evaluate(&session, "sink", true).unwrap_err().code(), Code::Busy);
    let began = Instant::now();
    session.disconnect(true).unwrap();
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}

/// A session whose debugger is busy is left without waiting for it.
#[test]
fn a_busy_session_ends_at_once() {
    for (language, expression) in [
        (Language::Python, "__import__('time').sleep(1000)"),
        (Language::JavaScript, "(() => { while (1) {} })()"),
        (Language::Cpp, "while (1) {} 1"),
    ] {
        let stage = Stage::new(language);
        stage.launch(&["BEFORE"]);
        std::thread::scope(|scope| {
            let busy = scope.spawn(|| {
                let request = EvaluateRequest {
                    expression: expression.to_owned(),
                    thread: None,
                    frame: 0,
                    safe: false,
                    timeout_ms: Some(60_000),
                };
                stage.debugger.evaluate(None, request)
            });
            let began = Instant::now();
            stage.debugger.disconnect(None, None).unwrap();
            assert!(began.elapsed() < Duration::from_secs(10), "{language:?}: {:?}", began.elapsed());
            assert!(busy.join().unwrap().is_err());
        });
    }
}
