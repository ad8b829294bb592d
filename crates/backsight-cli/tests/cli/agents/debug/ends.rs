//! However the server ends, nothing of what it debugged is left, and the timeline says so.

use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{group, lines, paused, shop, workspace};
use crate::agents::client::{Agent, Era};
use crate::agents::eventually;
use crate::fixture::Fixture;

#[test]
fn no_program_outlives_the_server() {
    for ending in ["stdin", "-TERM", "-INT", "-HUP"] {
        for runs in [false, true] {
            let fixture = workspace();
            let mut agent = match runs {
                false => paused(&fixture),
                true => {
                    let mut agent = Agent::new(&fixture);
                    agent.ok("debug_launch", shop(json!({ "args": ["wait"], "wait_ms": 0 })));
                    agent
                }
            };
            let leader = agent.ok("debug_state", json!({}))["process"].as_u64().unwrap();
            assert!(!group(leader).is_empty(), "{ending}");
            match ending {
                "stdin" => assert!(agent.leave().success()),
                signal => {
                    agent.signal(signal);
                    assert!(agent.wait(Duration::from_secs(10)).expect("it ends when it is told to").success());
                }
            }
            assert_eq!(group(leader), Vec::<u32>::new(), "{ending}, runs {runs}");
        }
    }
}

#[test]
fn the_timeline_tells_of_stops_captures_and_the_end() {
    let fixture = workspace();
    let mut agent = paused(&fixture);
    agent.ok("snapshot_create", json!({ "label": "before the end" }));
    let rows = |agent: &mut Agent, kind: &str| lines(&agent.ok("history_query", json!({ "kind": kind })), "rows");
    let stops = eventually("the stop is in the timeline", || {
        Some(rows(&mut agent, "debugger_stop")).filter(|rows| !rows.is_empty())
    });
    assert!(stops[0].contains("shop.py"), "{stops:?}");
    let captures = eventually("the snapshot is in the timeline", || {
        Some(rows(&mut agent, "capture")).filter(|rows| !rows.is_empty())
    });
    assert!(captures[0].contains("before the end"), "{captures:?}");
    assert!(agent.leave().success());
    let mut next = Agent::named(&fixture, "next", Era::Modern);
    let ends = rows(&mut next, "debug_end");
    assert!(ends.len() == 1 && ends[0].contains('1'), "it says how many snapshots are cleared: {ends:?}");
    next.ok("workspace_status", json!({}));
    fixture.verify();
}

#[test]
fn several_programs_end_with_the_server_at_once() {
    let fixture = workspace();
    let mut agent = Agent::new(&fixture);
    let leaders: Vec<u64> = ["one", "two", "three"]
        .iter()
        .map(|name| {
            agent.ok("debug_launch", shop(json!({ "session": name, "args": ["wait"], "wait_ms": 0 })));
            agent.ok("debug_state", json!({ "session": name }))["process"].as_u64().unwrap()
        })
        .collect();
    agent.signal("-TERM");
    assert!(agent.wait(Duration::from_secs(10)).expect("it ends when it is told to").success());
    eventually("all of them are gone", || leaders.iter().all(|leader| group(*leader).is_empty()).then_some(()));
}

/// A server that is killed has no time to end anything. A program under debugpy ends by itself when its debugger is gone,
/// one in Node does not: only the second shows that the group is ended.
#[test]
fn a_server_that_is_killed_leaves_no_program_behind() {
    let fixture = workspace();
    fixture.write("wait.js", "setInterval(() => {}, 1000);\n");
    let path = std::env::var_os("PATH").unwrap();
    let node = std::env::split_paths(&path).map(|place| place.join("node")).find(|node| node.is_file());
    let node = json!({ "program": "wait.js", "runtime": node.expect("node is installed"), "wait_ms": 0 });
    for launch in [shop(json!({ "args": ["wait"], "wait_ms": 0 })), node] {
        let mut agent = Agent::new(&fixture);
        agent.ok("debug_launch", launch.clone());
        let leader = agent.ok("debug_state", json!({}))["process"].as_u64().unwrap();
        assert!(!group(leader).is_empty());
        agent.signal("-KILL");
        agent.wait(Duration::from_secs(10));
        let left = eventually_empty(leader);
        assert!(left.is_empty(), "{launch}: {left:?}");
    }
}

/// Nobody has been told of a program whose debugger has not answered yet; it ends with the server all the same.
#[test]
fn no_program_that_is_being_started_outlives_the_server() {
    for ending in ["stdin", "-TERM", "-KILL"] {
        let fixture = workspace();
        let mut agent = Agent::new(&fixture);
        let (leader, _) = hanging(&fixture, &mut agent, "main");
        match ending {
            "stdin" => assert!(agent.leave().success()),
            signal => {
                agent.signal(signal);
                agent.wait(Duration::from_secs(10)).expect("it ends when it is told to");
            }
        }
        let left = eventually_empty(leader);
        assert!(left.is_empty(), "{ending}: {left:?}");
    }
}

/// A debugger that never answers keeps neither other programs nor questions about them waiting, and can be ended.
#[test]
fn a_launch_that_hangs_can_be_ended_and_holds_nobody_up() {
    let fixture = workspace();
    let mut agent = Agent::new(&fixture);
    let (leader, launch) = hanging(&fixture, &mut agent, "stuck");
    let waits = agent.fails("debug_state", json!({ "session": "stuck" }), "BUSY");
    assert!(waits["hint"].as_str().unwrap().contains("debug_disconnect"), "{waits}");
    agent.fails("debug_launch", shop(json!({ "session": "stuck" })), "CONFLICT");
    agent.ok("debug_launch", shop(json!({ "args": ["wait"], "wait_ms": 0 })));
    assert_eq!(agent.ok("debug_state", json!({}))["program"], "shop.py");
    let over = agent.ok("debug_disconnect", json!({ "session": "stuck" }));
    assert_eq!((&over["session"], &over["ended_program"]), (&json!("stuck"), &json!(true)));
    assert_eq!(group(leader), Vec::<u32>::new());
    let told = agent.said("debug_launch", launch);
    assert!(told.is_error && told.text.contains("disconnected"), "{told:?}");
    assert_eq!(agent.ok("debug_state", json!({}))["program"], "shop.py");
    agent.fails("debug_state", json!({ "session": "stuck" }), "NO_SESSION");
}

/// More launches that hang than there may be sessions: the rest is refused, and nobody is told that the server is busy.
#[test]
fn launches_that_hang_leave_room_for_questions() {
    let fixture = workspace();
    let mut agent = Agent::new(&fixture);
    for number in 0..8 {
        hanging(&fixture, &mut agent, &format!("s{number}"));
    }
    for number in 8..60 {
        let launch = json!({ "name": "debug_launch", "arguments": stuck(&format!("s{number}")) });
        agent.send("tools/call", launch);
    }
    agent.fails("debug_launch", stuck("last"), "CONFLICT");
    agent.fails("debug_output", json!({ "session": "last" }), "NO_SESSION");
    agent.fails("debug_state", json!({ "session": "s3" }), "BUSY");
    agent.ok("debug_disconnect", json!({ "session": "s3" }));
    agent.fails("debug_state", json!({ "session": "s3" }), "NO_SESSION");
}

/// An interpreter that says by its last argument who it is, and nothing more.
const STUCK: &str = "\
#!/bin/sh
for last; do :; done
echo $$ >begun.$last.new
mv begun.$last.new begun.$last
exec sleep 1000
";

/// A program whose interpreter never answers.
fn stuck(session: &str) -> Value {
    json!({ "program": "shop.py", "runtime": "./stuck", "session": session, "args": [session] })
}

/// Launches it, and says which group it runs in and by which number the launch will be answered.
fn hanging(fixture: &Fixture, agent: &mut Agent, session: &str) -> (u64, u64) {
    fixture.write("stuck", STUCK);
    std::fs::set_permissions(fixture.root().join("stuck"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let launch = agent.send("tools/call", json!({ "name": "debug_launch", "arguments": stuck(session) }));
    let begun = fixture.root().join(format!("begun.{session}"));
    let leader = eventually("it has begun", || std::fs::read_to_string(&begun).ok()?.trim().parse().ok());
    assert!(!group(leader).is_empty());
    (leader, launch)
}

/// What is left of a group after a while; ended, so that a test that fails leaves nothing behind.
fn eventually_empty(leader: u64) -> Vec<u32> {
    let start = Instant::now();
    while !group(leader).is_empty() && start.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(10));
    }
    let left = group(leader);
    for process in &left {
        let _ = std::process::Command::new("kill").args(["-9", &process.to_string()]).status();
    }
    left
}
