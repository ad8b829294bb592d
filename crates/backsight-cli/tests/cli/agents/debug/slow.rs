//! A debugger that does not answer keeps its own callers waiting and nobody else.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{APPEND, paused, python, workspace};
use crate::agents::client::Agent;
use crate::agents::{await_waiting, post};
use crate::fixture::Fixture;
use crate::serving::server::Server;

/// How long a look at the files may take while others wait; the fastest of several looks, since the machine is shared.
const BAR: Duration = Duration::from_millis(200);
/// How many evaluations hang.
const HANGING: usize = 32;
/// How many may wait for the debugger at once.
const MOST: usize = 48;

/// An expression that does not come back within a test.
fn endless() -> Value {
    json!({ "expression": "__import__('time').sleep(600)", "safe": false, "timeout_ms": 60_000 })
}

#[track_caller]
fn is_quick(mut look: impl FnMut()) {
    let mut times = Vec::new();
    for _ in 0..9 {
        let start = Instant::now();
        look();
        times.push(start.elapsed());
    }
    assert!(times.iter().min().unwrap() < &BAR, "{times:?}");
    assert!(times.iter().max().unwrap() < &Duration::from_secs(10), "{times:?}");
}

fn hang(agent: &mut Agent, count: usize) -> Vec<u64> {
    let call = json!({ "name": "evaluate", "arguments": endless() });
    (0..count).map(|_| agent.send("tools/call", call.clone())).collect()
}

fn edited(fixture: &Fixture) {
    fixture.write("notes.txt", "by hand\n");
}

#[test]
fn evaluations_that_hang_keep_no_file_tool_waiting() {
    let fixture = workspace();
    fixture.done("track -m start");
    let mut agent = paused(&fixture);
    edited(&fixture);
    let first = hang(&mut agent, HANGING);
    await_waiting(agent.process(), HANGING);
    is_quick(|| drop(agent.ok("workspace_status", json!({}))));
    agent.ok("files_track", json!({ "description": "meanwhile" }));
    // More than may wait: the rest is told so at once.
    let more = hang(&mut agent, MOST + 10);
    for _ in 0..10 {
        let answer = agent.wait_for(|message| {
            let error = &message["result"]["structuredContent"]["error"];
            error["message"].as_str().is_some_and(|text| text.contains("requests wait for the debugger"))
        });
        let error = &answer["result"]["structuredContent"]["error"];
        assert_eq!((&error["code"], &error["retryable"]), (&json!("BUSY"), &json!(true)), "{answer}");
        assert!(more.contains(&answer["id"].as_u64().unwrap()));
    }
    is_quick(|| drop(agent.ok("workspace_status", json!({}))));
    // When every thread waits for the program, it can still be ended, and then none waits any more.
    agent.ok("debug_disconnect", json!({}));
    agent.answer(first[0]).unwrap();
}

#[test]
fn the_same_holds_for_programs_that_ask_over_http() {
    let fixture = workspace();
    fixture.done("track -m start");
    let server = Server::start(&fixture);
    let places = json!([{ "file": "shop.py", "line": APPEND }]);
    let launch = json!({ "program": "shop.py", "runtime": python(), "breakpoints": places, "wait_ms": 60_000 });
    let stopped = post(&server, "/api/debug/launch", &launch);
    assert!(stopped.contains("\"stopped\""), "{stopped}");
    edited(&fixture);
    let body = endless();
    std::thread::scope(|scope| {
        let waiting: Vec<_> =
            (0..HANGING).map(|_| scope.spawn(|| post(&server, "/api/debug/evaluate", &body))).collect();
        await_waiting(server.pid(), HANGING);
        let mut agent = Agent::new(&fixture);
        is_quick(|| drop(agent.ok("workspace_status", json!({}))));
        let ended = post(&server, "/api/debug/disconnect", &json!({}));
        assert!(ended.contains("\"ok\":true"), "{ended}");
        for answer in waiting {
            assert!(answer.join().unwrap().contains("\"ok\":false"));
        }
    });
}

#[test]
fn limits_are_the_same_for_agents_and_programs() {
    let fixture = workspace();
    let server = Server::start(&fixture);
    let mut agent = Agent::new(&fixture);
    let cases = [
        ("evaluate", "/api/debug/evaluate", json!({ "expression": "1", "timeout_ms": 60_001 })),
        ("evaluate", "/api/debug/evaluate", json!({ "expression": "1", "timeout_ms": 0 })),
        ("snapshot_create", "/api/debug/snapshots", json!({ "depth": 21 })),
        ("snapshot_create", "/api/debug/snapshots", json!({ "frames": 201 })),
        ("snapshot_on", "/api/debug/points", json!({ "function": "f", "depth": 4_000_000 })),
        ("step_and_diff", "/api/debug/step", json!({ "depth": 21 })),
        ("step_and_diff", "/api/debug/step", json!({ "wait_ms": 60_001 })),
        ("debug_control", "/api/debug/control", json!({ "action": "continue", "wait_ms": 60_001 })),
        ("variables_get", "/api/debug/variables", json!({ "count": 10_001 })),
    ];
    for (tool, path, arguments) in cases {
        let told = agent.fails(tool, arguments.clone(), "USAGE");
        let answer: Value = serde_json::from_str(&post(&server, path, &arguments)).unwrap();
        let error = &answer["error"];
        assert_eq!((&error["code"], &error["message"]), (&json!("USAGE"), &told["message"]), "{tool} {arguments}");
    }
}
