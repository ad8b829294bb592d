//! What real debuggers cannot be made to do on demand.

use std::time::{Duration, Instant};

use backsight_core::{Code, NextStep};
use backsight_debug::adapters::{Adapter, Quirks, Reach};
use backsight_debug::capture::{Inside, Safety};
use backsight_debug::path;
use backsight_debug::session::{
    BreakpointRequest, Control, EvaluateRequest, Launch, Outcome, Place, Session, State, VariablesRequest,
};
use backsight_debug::walk::CapturePlan;
use serde_json::{Value, json};

use crate::fake_adapter::{Fake, Handled, Wire, setup};

const LIMIT: Duration = Duration::from_secs(10);

fn command(message: &Value) -> &str {
    message["command"].as_str().filter(|_| message["type"] == json!("request")).unwrap_or_default()
}

fn is_stopped(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Stopped(_))
}

fn deep(depth: u32) -> CapturePlan {
    CapturePlan { depth, ..CapturePlan::default() }
}

#[test]
fn a_plain_session_from_beginning_to_end() {
    let fake = Fake::start(|_, _| Handled::No);
    let (session, outcome) = fake.attach().unwrap();
    let Outcome::Stopped(report) = outcome else { panic!("{outcome:?}") };
    assert_eq!((report.frame.unwrap().function.as_str(), report.stop.thread_id), ("work", Some(1)));
    let capture = session.capture(deep(1)).unwrap();
    assert_eq!(path::find(&capture.frames[0], "order.total").unwrap().text, "7");
    assert_eq!(capture.incomplete, []);
    session.disconnect(false).unwrap();
    drop(session);
    let heard = fake.heard();
    assert_eq!(heard.first().map(String::as_str), Some("initialize"));
    assert_eq!(heard.last().map(String::as_str), Some("disconnect"));
}

/// `initialized` before the answer, after it, twice; the answer only when everything is configured.
#[test]
fn every_order_of_the_opening_works() {
    for order in 0..4 {
        let mut kept = None;
        let fake = Fake::start(move |wire, message| {
            match (command(message), order) {
                ("attach", 0) => {
                    wire.event("initialized", json!({}));
                    wire.reply(message, json!({}));
                }
                ("attach", 1 | 2) => {
                    kept = Some(message.clone());
                    wire.event("initialized", Value::Null);
                    if order == 2 {
                        wire.event("initialized", json!({}));
                    }
                }
                ("configurationDone", 1 | 2) => {
                    wire.reply(message, Value::Null);
                    wire.reply(&kept.take().unwrap(), Value::Null);
                    wire.stop("entry");
                }
                _ => return Handled::No,
            }
            Handled::Yes
        });
        let (_session, outcome) =
            fake.attach_with(Fake::adapter(), vec![BreakpointRequest::line("/a", 3)], LIMIT).unwrap();
        assert!(is_stopped(&outcome), "{order}: {outcome:?}");
    }
}

/// A debugger that has no `configurationDone` takes the exceptions for the end of what it is told, also where it has none.
#[test]
fn a_debugger_without_a_word_for_the_end_of_the_beginning_starts() {
    let fake = Fake::start(|wire, message| {
        match command(message) {
            "initialize" => wire.reply(message, json!({})),
            "setExceptionBreakpoints" => {
                wire.reply(message, json!({}));
                wire.stop("entry");
            }
            _ => return Handled::No,
        }
        Handled::Yes
    });
    let (_session, outcome) = fake.attach().unwrap();
    assert!(is_stopped(&outcome), "{outcome:?}");
}

#[test]
fn junk_and_single_bytes_do_not_matter() {
    let fake = Fake::start(|wire, message| {
        wire.raw(b"Listening for nothing in particular\n");
        if command(message) == "variables" {
            let body = json!({ "type": "response", "request_seq": message["seq"], "success": true, "body": { "variables": [
                { "name": "h\u{e9}", "value": "1", "variablesReference": 0 }, "odd", { "value": 3 } ] } });
            let text = body.to_string();
            let bytes = format!("noise without an endContent-Length: {}\r\nOther: x\r\n\r\n{text}", text.len());
            bytes.as_bytes().iter().for_each(|byte| wire.raw(&[*byte]));
            return Handled::Yes;
        }
        Handled::No
    });
    let (session, _) = fake.attach().unwrap();
    let capture = session.capture(deep(0)).unwrap();
    assert_eq!(capture.frames[0].variables[0].name, "h\u{e9}");
    assert!(capture.incomplete[0].reason.contains("2 variables could not be understood"), "{:?}", capture.incomplete);
    assert!(session.status().misread.1 > 0);
}

#[test]
fn what_the_debugger_wants_from_us_is_always_answered() {
    let fake = Fake::start(|wire, message| {
        if command(message) != "configurationDone" {
            return Handled::No;
        }
        for wish in ["runInTerminal", "startDebugging", "somethingNew"] {
            wire.say(&json!({ "seq": 77, "type": "request", "command": wish, "arguments": {} }));
            let answer = wire.next_now();
            assert_eq!(
                (&answer["type"], &answer["request_seq"], &answer["success"]),
                (&json!("response"), &json!(77), &json!(false))
            );
            assert!(answer["message"].as_str().unwrap().contains(wish));
        }
        Handled::No
    });
    let (_session, outcome) = fake.attach().unwrap();
    assert!(is_stopped(&outcome));
}

/// The program goes on by itself in the middle of a capture, and is even paused again when it ends.
#[test]
fn a_capture_that_crosses_a_resume_is_an_error() {
    let moved = std::sync::atomic::AtomicBool::new(false);
    let fake = Fake::start(move |wire, message| {
        let inside = command(message) == "variables" && message["arguments"]["variablesReference"] == json!(2);
        if inside && !moved.swap(true, std::sync::atomic::Ordering::Relaxed) {
            wire.event("continued", json!({ "threadId": 1, "allThreadsContinued": true }));
            wire.stop("breakpoint");
        }
        Handled::No
    });
    let (session, _) = fake.attach().unwrap();
    let error = session.capture(deep(1)).unwrap_err();
    assert_eq!(error.code(), Code::StateChanged, "{error}");
    assert!(session.capture(deep(0)).is_ok());
}

/// Some adapters answer questions about an old stop with success and nothing.
#[test]
fn variables_that_were_announced_and_do_not_come_are_no_empty_capture() {
    let fake = Fake::start(|wire, message| {
        match command(message) {
            "scopes" => wire.reply(
                message,
                json!({ "scopes": [{ "name": "Locals", "variablesReference": 1, "namedVariables": 2 }] }),
            ),
            "variables" => wire.reply(message, json!({ "variables": [] })),
            _ => return Handled::No,
        }
        Handled::Yes
    });
    let (session, _) = fake.attach().unwrap();
    let error = session.capture(deep(0)).unwrap_err();
    assert_eq!(error.code(), Code::AdapterFailed);
    drop(session);
    let asked = fake.heard().iter().filter(|command| *command == "scopes").count();
    assert_eq!(asked, 2, "it is asked once more before it is an error");
}

/// Head and tail of a long list are asked for apart; some adapters send all of it both times.
#[test]
fn a_list_that_comes_whole_whatever_part_is_asked_for_is_told_once() {
    let fake = Fake::start(|wire, message| {
        if command(message) != "variables" {
            return Handled::No;
        }
        let variables: Vec<Value> = match message["arguments"]["variablesReference"] == json!(1) {
            true => vec![json!({ "name": "rows", "value": "[...]", "type": "list", "variablesReference": 2,
                "indexedVariables": 20_000 })],
            false => (0..20_000)
                .map(|at| json!({ "name": at.to_string(), "value": at.to_string(), "type": "int" }))
                .collect(),
        };
        wire.reply(message, json!({ "variables": variables }));
        Handled::Yes
    });
    let (session, _) = fake.attach().unwrap();
    let capture = session.capture(deep(2)).unwrap();
    let said = &capture.incomplete[0].reason;
    let captured: usize = said.strip_prefix("20000 elements, ").unwrap().split(' ').next().unwrap().parse().unwrap();
    assert_eq!(capture.value_count(), captured + 1, "{said}");
    let rows = |start, count| {
        let request = VariablesRequest { expand: Some("rows".to_owned()), start, count, ..Default::default() };
        let page = session.variables(request).unwrap();
        assert_eq!(page.total, Some(20_000));
        page.variables.into_iter().map(|one| one.value).collect::<Vec<_>>()
    };
    assert_eq!(rows(100, 3), ["100", "101", "102"]);
    assert_eq!(rows(19_998, 30_000), ["19998", "19999"], "more is asked for than there is");
}

#[test]
fn a_frame_without_variables_is_a_capture() {
    let fake = Fake::start(|wire, message| {
        if command(message) == "variables" {
            wire.reply(message, json!({ "variables": [] }));
            return Handled::Yes;
        }
        Handled::No
    });
    let (session, _) = fake.attach().unwrap();
    let capture = session.capture(deep(2)).unwrap();
    assert_eq!((capture.variable_count(), capture.incomplete.len()), (0, 0));
}

#[test]
fn an_evaluation_without_an_answer_ends_by_its_limit_and_keeps_the_session_busy() {
    let mut owed: Option<Value> = None;
    let fake = Fake::start(move |wire, message| match (command(message), &mut owed) {
        ("evaluate", None) => {
            owed = Some(message.clone());
            Handled::Yes
        }
        ("threads", Some(request)) => {
            wire.reply(&request.clone(), json!({ "result": "late" }));
            Handled::No
        }
        _ => Handled::No,
    });
    let (session, _) = fake.attach().unwrap();
    let ask = |timeout| EvaluateRequest {
        expression: "f()".to_owned(),
        thread: None,
        frame: 0,
        safe: false,
        timeout_ms: Some(timeout),
    };
    assert_eq!(session.evaluate(ask(50)).unwrap_err().code(), Code::DebugTimeout);
    let busy = session.capture(deep(0)).unwrap_err();
    assert_eq!(busy.code(), Code::Busy, "{busy}");
    assert!(busy.message().contains("evaluate"));
    session.threads().unwrap();
    assert_eq!(session.evaluate(ask(10_000)).unwrap().value, "43");
}

#[test]
fn a_debugger_that_goes_away_ends_the_session_and_nothing_hangs() {
    let fake = Fake::start(|wire, message| {
        if command(message) == "variables" {
            wire.close();
            return Handled::Yes;
        }
        Handled::No
    });
    let (session, _) = fake.attach().unwrap();
    let error = session.capture(deep(0)).unwrap_err();
    assert!(matches!(error.code(), Code::AdapterFailed | Code::NoSession), "{error}");
    let outcome = session.wait(LIMIT).unwrap();
    assert!(matches!(outcome, Outcome::Disconnected { .. }), "{outcome:?}");
    assert_eq!(session.capture(deep(0)).unwrap_err().code(), Code::NoSession);
    assert_eq!(session.control(Control::Continue, None, LIMIT).unwrap_err().code(), Code::NoSession);
    assert!(matches!(session.status().state, State::Disconnected { .. }));
}

#[test]
fn a_program_that_does_not_stop_is_still_running() {
    let fake = Fake::start(|wire, message| {
        if command(message) == "continue" {
            wire.reply(message, json!({}));
            return Handled::Yes;
        }
        if command(message) == "pause" {
            wire.reply(message, json!({}));
            wire.stop("pause");
            return Handled::Yes;
        }
        Handled::No
    });
    let (session, _) = fake.attach().unwrap();
    let started = Instant::now();
    let outcome = session.control(Control::Continue, None, Duration::from_millis(60)).unwrap();
    assert!(matches!(outcome, Outcome::StillRunning { waited_ms } if waited_ms >= 60), "{outcome:?}");
    assert!(started.elapsed() < LIMIT);
    for error in [session.capture(deep(0)).unwrap_err(), session.variables(VariablesRequest::default()).unwrap_err()] {
        assert_eq!(error.code(), Code::NotPaused);
    }
    let outcome = session.control(Control::Pause, None, LIMIT).unwrap();
    assert!(is_stopped(&outcome), "{outcome:?}");
}

#[test]
fn a_refused_step_leaves_the_program_paused() {
    let fake = Fake::start(|wire, message| {
        if command(message) == "stepOut" {
            wire.refuse(message, "there is no caller");
            return Handled::Yes;
        }
        Handled::No
    });
    let (session, _) = fake.attach().unwrap();
    let error = session.control(Control::StepOut, None, LIMIT).unwrap_err();
    assert!(error.message().contains("there is no caller"), "{error}");
    assert!(session.capture(deep(0)).is_ok());
}

#[test]
fn breakpoints_say_when_they_do_not_bind_and_when_they_do_later() {
    let fake = Fake::start(|wire, message| {
        match command(message) {
            "setBreakpoints" => wire
                .reply(message, json!({ "breakpoints": [{ "id": 5, "verified": false, "message": "no such file" }] })),
            "next" => {
                wire.event(
                    "breakpoint",
                    json!({ "reason": "changed", "breakpoint": { "id": 5, "verified": true, "line": 9 } }),
                );
                return Handled::No;
            }
            _ => return Handled::No,
        }
        Handled::Yes
    });
    let (session, _) = fake.attach().unwrap();
    let set = session.set_breakpoint(BreakpointRequest::line("/x.py", 8)).unwrap();
    assert_eq!((set.bound, set.message.as_deref()), (false, Some("no such file")));
    session.control(Control::StepOver, None, LIMIT).unwrap();
    let [known] = session.status().breakpoints.try_into().unwrap();
    assert_eq!((known.bound, known.line), (true, Some(9)));
    let function = session.set_breakpoint(BreakpointRequest::new(Place::Function("f".to_owned()))).unwrap();
    assert!(!function.bound && function.message.unwrap().contains("no breakpoints on functions"));
    let exception = session.set_breakpoint(BreakpointRequest::new(Place::Exception("all".to_owned()))).unwrap();
    assert!(!exception.bound && exception.message.unwrap().contains("cannot pause at exceptions"));
    let condition = BreakpointRequest { condition: Some("i > 5".to_owned()), ..BreakpointRequest::line("/y.py", 8) };
    let condition = session.set_breakpoint(condition).unwrap();
    assert!(!condition.bound && condition.message.unwrap().contains("no conditions"));
}

#[test]
fn the_opening_fails_in_the_debuggers_own_words() {
    let refusing = Fake::start(|wire, message| {
        if command(message) == "attach" {
            wire.say(&json!({ "type": "response", "request_seq": message["seq"], "success": false,
                "body": { "error": { "format": "no process {pid}", "variables": { "pid": "7" } } } }));
            return Handled::Yes;
        }
        Handled::No
    });
    let error = refusing.attach().unwrap_err();
    assert!(error.code() == Code::AdapterFailed && error.message().contains("no process 7"), "{error}");
    let silent = Fake::start(|_, message| if command(message) == "attach" { Handled::Yes } else { Handled::No });
    let error = silent.attach_with(Fake::adapter(), Vec::new(), Duration::from_millis(100)).unwrap_err();
    assert_eq!(error.code(), Code::DebugTimeout, "{error}");
    let closing = Fake::start(|wire, message| {
        if command(message) == "attach" {
            wire.close();
        }
        Handled::Yes
    });
    assert!(closing.attach_with(Fake::adapter(), Vec::new(), Duration::from_millis(500)).is_err());
}

#[test]
fn the_words_of_a_debugger_that_cannot_start_are_quoted() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program");
    std::fs::write(&program, "").unwrap();
    let adapter = |reach, script: &str| Adapter {
        name: "fake".to_owned(),
        programs: vec!["sh".to_owned()],
        arguments: vec!["-c".to_owned(), script.to_owned()],
        reach,
        ..Adapter::default()
    };
    for reach in [Reach::Stdio, Reach::Opens, Reach::Calls] {
        let adapter = adapter(reach, "echo 'no license found' >&2; exit 4");
        let launch = Launch {
            program: program.clone(),
            directory: folder.path().to_owned(),
            adapter: Some("fake".to_owned()),
            runtime: Some("/bin/sh".into()),
            ..Launch::default()
        };
        let error = Session::launch(&setup(adapter, LIMIT), launch).unwrap_err();
        assert_eq!(error.code(), Code::AdapterFailed, "{reach:?}: {error}");
        assert!(error.message().contains("no license found"), "{reach:?}: {error}");
    }
}

#[test]
fn the_stop_of_another_thread_does_not_take_the_focus() {
    let fake = Fake::start(|wire, message| {
        if command(message) == "configurationDone" {
            wire.reply(message, json!({}));
            wire.stop("breakpoint");
            wire.event(
                "stopped",
                json!({ "reason": "breakpoint", "threadId": 2, "allThreadsStopped": true, "preserveFocusHint": true }),
            );
            return Handled::Yes;
        }
        Handled::No
    });
    let (session, _) = fake.attach().unwrap();
    session.threads().unwrap();
    let Outcome::Stopped(report) = session.outcome().unwrap() else { panic!("stopped") };
    assert_eq!(report.stop.thread_id, Some(1));
}

#[test]
fn a_debugger_that_runs_code_is_only_asked_when_that_is_allowed() {
    let fake = Fake::start(|_, _| Handled::No);
    let adapter = Adapter { quirks: Quirks::default(), ..Fake::adapter() };
    let (session, _) = fake.attach_with(adapter, Vec::new(), LIMIT).unwrap();
    let error = session.capture(deep(0)).unwrap_err();
    assert!(error.advises(&NextStep::WithProgramsCode), "{error}");
    let capture = session.capture(CapturePlan { safety: Safety::Adapter, ..deep(1) }).unwrap();
    assert_eq!((capture.safety, capture.variable_count()), (Safety::Adapter, 2));
    let safe = EvaluateRequest { expression: "x".to_owned(), thread: None, frame: 0, safe: true, timeout_ms: None };
    assert!(session.evaluate(safe).unwrap_err().hint().is_some());
    drop(session);
    assert!(!fake.heard().contains(&"evaluate".to_owned()));
}

/// A list of a million elements of which twelve are asked for.
fn long_list(wire: &mut Wire, message: &Value) -> Handled {
    let arguments = &message["arguments"];
    if command(message) != "variables" {
        return Handled::No;
    }
    if arguments["variablesReference"] == json!(1) {
        wire.reply(message, json!({ "variables": [{ "name": "big", "value": "[...]", "type": "[]int", "variablesReference": 9, "indexedVariables": 1_000_000 }] }));
        return Handled::Yes;
    }
    assert_eq!(arguments["filter"], json!("indexed"));
    let (start, count) = (arguments["start"].as_u64().unwrap(), arguments["count"].as_u64().unwrap());
    assert!(count <= 12, "nobody reads {count} elements");
    let elements: Vec<Value> = (start..start + count)
        .map(|at| json!({ "name": format!("[{at}]"), "value": at.to_string(), "variablesReference": 0 }))
        .collect();
    wire.reply(message, json!({ "variables": elements }));
    Handled::Yes
}

#[test]
fn of_a_long_list_the_ends_are_asked_for() {
    let fake = Fake::start(long_list);
    let (session, _) = fake.attach().unwrap();
    let capture = session.capture(deep(3)).unwrap();
    let big = &capture.frames[0].variables[0].value;
    let Inside::Elements(elements) = &big.inside else { panic!("{big:?}") };
    assert_eq!((big.length, elements.len(), elements[11].0), (Some(1_000_000), 12, 999_999));
    assert_eq!(capture.incomplete[0].reason, "1000000 elements, 12 captured");
    let page = session.variables(VariablesRequest::default()).unwrap();
    assert_eq!((page.variables[0].path.as_str(), page.variables[0].length), ("big", Some(1_000_000)));
    let expand = Some("big".to_owned());
    let page = session
        .variables(VariablesRequest {
            expand: expand.clone(),
            start: 999_995,
            count: 10,
            ..VariablesRequest::default()
        })
        .unwrap();
    assert_eq!((page.total, page.next_start), (Some(1_000_000), None));
    let page = session
        .variables(VariablesRequest { expand, start: 500_000, count: 2, ..VariablesRequest::default() })
        .unwrap();
    let told: Vec<(&str, &str)> = page.variables.iter().map(|one| (one.path.as_str(), one.value.as_str())).collect();
    assert_eq!(told, [("big[500000]", "500000"), ("big[500001]", "500001")]);
    assert_eq!(page.next_start, Some(500_002));
}

#[test]
fn what_the_budget_does_not_allow_is_said() {
    let fake = Fake::start(|_, _| Handled::No);
    let (session, _) = fake.attach().unwrap();
    let late = session.capture(CapturePlan { limit: Duration::ZERO, ..deep(3) }).unwrap();
    assert!(late.incomplete[0].reason.contains("timed out after 0 ms: 1 values"), "{:?}", late.incomplete);
    assert_eq!(late.frames[0].variables[1].value.inside, Inside::NotExpanded);
    let few = session.capture(CapturePlan { max_nodes: 0, ..deep(3) }).unwrap();
    assert!(few.incomplete[0].reason.contains("more than 0 values"), "{:?}", few.incomplete);
}

/// A tree in which every object holds ten more must end by its count of values.
#[test]
fn a_tree_without_an_end_ends_by_its_number_of_values() {
    let fake = Fake::start(|wire, message| {
        if command(message) != "variables" {
            return Handled::No;
        }
        let reference = message["arguments"]["variablesReference"].as_u64().unwrap();
        let children: Vec<Value> = (0..10).map(|at| json!({ "name": format!("c{at}"), "value": "{...}", "type": "T", "variablesReference": reference * 10 + at + 1 })).collect();
        wire.reply(message, json!({ "variables": children }));
        Handled::Yes
    });
    let (session, _) = fake.attach().unwrap();
    let capture = session.capture(CapturePlan { max_nodes: 500, ..deep(50) }).unwrap();
    assert!(capture.value_count() < 5000, "{}", capture.value_count());
    assert!(capture.incomplete.iter().any(|said| said.reason.contains("more than 500 values")));
}

#[test]
fn output_is_kept_with_its_category() {
    let fake = Fake::start(|wire, message| {
        if command(message) == "next" {
            wire.event("output", json!({ "category": "stdout", "output": "one\r\n" }));
            wire.event("output", json!({ "output": "two" }));
            wire.event("output", json!({ "category": "telemetry", "output": "three" }));
        }
        Handled::No
    });
    let (session, _) = fake.attach().unwrap();
    session.control(Control::StepOver, None, LIMIT).unwrap();
    let page = session.output(0, 1000);
    let told: Vec<(&str, &str)> = page.pieces.iter().map(|piece| (&*piece.category, &*piece.text)).collect();
    assert_eq!(told, [("stdout", "one\n"), ("console", "two")]);
    assert!(session.output(page.next, 1000).pieces.is_empty());
}
