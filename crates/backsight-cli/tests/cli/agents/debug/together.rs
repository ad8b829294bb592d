//! Several agents and one program: a process that joined another one's server debugs there.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{paused, shop, workspace};
use crate::agents::client::{Agent, Era};

#[test]
fn two_clients_share_a_session() {
    let fixture = workspace();
    let mut first = paused(&fixture);
    let mut second = Agent::named(&fixture, "second", Era::Modern);
    let seen = second.ok("debug_state", json!({}));
    assert_eq!((&seen["outcome"], &seen["frame"]["line"]), (&json!("stopped"), &json!(13)), "{seen}");
    first.ok("snapshot_create", json!({ "label": "by the first", "depth": 1 }));
    let stop = second.ok("debug_control", json!({ "action": "step_over" }));
    assert_eq!(stop["frame"]["line"], 14, "{stop}");
    assert_eq!(first.ok("debug_state", json!({}))["frame"]["line"], 14);
    second.ok("snapshot_create", json!({ "label": "by the second", "depth": 2 }));
    let ids = json!({ "snapshot_id_1": "by the first", "snapshot_id_2": "by the second" });
    let (one, two) = (first.call("snapshot_diff", ids.clone()), second.call("snapshot_diff", ids));
    assert_eq!(one.structured["diff"], two.structured["diff"]);
    assert!(two.structured["diff"]["warnings"].to_string().contains("depth"), "{}", two.text);
}

#[test]
fn whoever_waits_can_take_it_back_and_keeps_nobody_from_working() {
    let fixture = workspace();
    let mut first = Agent::new(&fixture);
    first.ok("debug_launch", shop(json!({ "args": ["wait"], "wait_ms": 0 })));
    let mut second = Agent::named(&fixture, "second", Era::Modern);
    let start = Instant::now();
    let wait = json!({ "name": "debug_state", "arguments": { "wait_ms": 60_000 } });
    let (own, joined) = (first.send("tools/call", wait.clone()), second.send("tools/call", wait));
    second.notify("notifications/cancelled", json!({ "requestId": joined }));
    assert_eq!(second.ok("debug_state", json!({}))["outcome"], "still_running");
    // The stop that one of them makes is what the other waits for.
    assert_eq!(second.ok("debug_control", json!({ "action": "pause" }))["outcome"], "stopped");
    assert_eq!(first.said("debug_state", own).structured["outcome"], "stopped");
    assert!(start.elapsed() < Duration::from_secs(50), "{:?}", start.elapsed());
}

#[test]
fn sessions_are_told_apart_by_name() {
    let fixture = workspace();
    let mut agent = paused(&fixture);
    let other = agent.ok("debug_launch", shop(json!({ "session": "other", "breakpoints": ["add"] })));
    assert_eq!((&other["session"], &other["outcome"]), (&json!("other"), &json!("stopped")), "{other}");
    let all = agent.ok("debug_state", json!({}));
    let sessions = &all["sessions"];
    assert_eq!((&sessions[0]["session"], &sessions[1]["session"]), (&json!("main"), &json!("other")), "{all}");
    assert_eq!((&sessions[0]["outcome"], &sessions[0]["reason"]), (&json!("stopped"), &json!("breakpoint")), "{all}");
    agent.ok("snapshot_create", json!({ "session": "other", "label": "theirs" }));
    agent.fails("snapshot_get", json!({ "id": "theirs" }), "SNAPSHOT_NOT_FOUND");
    let moved = agent.ok("debug_control", json!({ "session": "other", "action": "continue" }));
    assert_eq!(moved["session"], "other");
    assert_eq!(agent.ok("debug_state", json!({ "session": "main" }))["frame"]["line"], 13);
    agent.ok("files_track", json!({}));
    // A session of the debugger is no session of the timeline: what others record under its name is others'.
    agent.ok("workspace_status", json!({}));
    fixture.write("a.txt", "a\n");
    fixture.done("track -m 'by a person' --session other");
    let news = agent.ok("debug_state", json!({ "session": "other" }));
    assert_eq!(news["external_changes"], 1, "{news}");
}

#[test]
fn the_group_is_offered_alone_and_says_that_every_tool_takes_a_session() {
    let fixture = workspace();
    let mut agent = Agent::spawn(fixture.command("mcp --tools debug"), "tester", Era::Handshake("2025-06-18"));
    let client = json!({ "name": "tester", "version": "1" });
    let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
    let answer = agent.request("initialize", hello).unwrap();
    let instructions = answer["instructions"].as_str().unwrap();
    assert!(instructions.contains("Every debug tool takes `session`"), "{instructions}");
    agent.notify("notifications/initialized", json!({}));
    let tools = agent.tools();
    assert_eq!(tools.len(), 24);
    assert!(agent.request("tools/call", json!({ "name": "files_track", "arguments": {} })).is_err());
}
