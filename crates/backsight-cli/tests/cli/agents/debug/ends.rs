//! However the server ends, nothing of what it debugged is left, and the timeline says so.

use std::time::Duration;

use serde_json::json;

use super::{group, lines, paused, shop, workspace};
use crate::agents::client::{Agent, Era};
use crate::agents::eventually;

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
    assert_eq!(next.ok("workspace_status", json!({}))["ok"], true);
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

/// A server that is killed has no time to end anything.
#[test]
fn a_server_that_is_killed_leaves_no_program_behind() {
    let fixture = workspace();
    let mut agent = Agent::new(&fixture);
    agent.ok("debug_launch", shop(json!({ "args": ["wait"], "wait_ms": 0 })));
    let leader = agent.ok("debug_state", json!({}))["process"].as_u64().unwrap();
    assert!(!group(leader).is_empty());
    agent.signal("-KILL");
    eventually("the program is gone", || group(leader).is_empty().then_some(()));
}
