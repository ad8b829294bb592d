//! The list of tools as a client first sees it, and how it grows: what a model pays before its first call.

use serde_json::{Value, json};

use super::browser::report;
use super::client::{Agent, Era};
use super::debug::{APPEND, shop, workspace};
use super::size::tokens;
use crate::fixture::Fixture;

/// What the whole list may cost a client that named no groups, when nothing is watched or debugged.
const FIRST_LIST: usize = 3000;

fn agent(fixture: &Fixture, era: Era) -> Agent {
    let mut agent = Agent::spawn(fixture.command("mcp"), "tester", era);
    agent.open();
    agent
}

fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

/// The names of the tools that are listed, and what the list costs.
fn listed(agent: &mut Agent) -> (Vec<String>, usize) {
    let tools = agent.tools();
    let cost = tokens(&[json!(tools).to_string()])[0];
    (names(&tools).into_iter().map(str::to_owned).collect(), cost)
}

/// All names, of which only some are listed at first.
fn every(fixture: &Fixture) -> Vec<String> {
    let mut agent = Agent::new(fixture);
    names(&agent.tools()).into_iter().map(str::to_owned).collect()
}

const LATER: [&str; 7] = [
    "milestone_list",
    "get_session_health",
    "checkpoint_create",
    "browser_status",
    "breakpoint_set",
    "snapshot_create",
    "step_and_diff",
];

#[test]
fn the_first_list_is_cheap_in_every_era_and_every_tool_can_be_called() {
    let fixture = Fixture::with_history();
    let every = every(&fixture);
    for era in Era::ALL {
        let mut agent = agent(&fixture, era);
        let (first, cost) = listed(&mut agent);
        assert!(cost <= FIRST_LIST, "{cost} tokens: {first:?}");
        assert!(LATER.iter().all(|later| !first.iter().any(|name| name == later)), "{first:?}");
        for lane in ["workspace_status", "files_revert", "get_changes_since", "browser_attach", "debug_launch"] {
            assert!(first.iter().any(|name| name == lane), "{lane} of {first:?}");
        }
        for name in every.iter().filter(|name| !first.contains(name)) {
            let answer = agent.request("tools/call", json!({ "name": name, "arguments": { "bogus": 1 } })).unwrap();
            assert_eq!(answer["structuredContent"]["error"]["code"], "USAGE", "{name}: {answer}");
        }
    }
}

#[test]
fn tools_are_listed_when_there_is_something_to_use_them_on() {
    let fixture = workspace();
    let mut agent = agent(&fixture, Era::Handshake("2025-06-18"));
    agent.ok("files_track", json!({}));
    let (first, _) = listed(&mut agent);

    agent.ok("milestone_create", json!({ "title": "first work" }));
    agent.wait_for(|message| message["method"] == "notifications/tools/list_changed");
    assert_eq!(listed(&mut agent).0.len(), first.len() + 1);
    fixture.ok("comment add shop.py:1 'why?' --as ada");
    assert_eq!(listed(&mut agent).0.len(), first.len() + 2);

    report(&fixture, "console", json!([{ "level": "info", "message": "hello" }]));
    let (watched, cost) = listed(&mut agent);
    assert!(watched.iter().any(|name| name == "get_session_health"), "{watched:?}");
    assert!(!watched.iter().any(|name| name == "breakpoint_set"), "{watched:?}");
    println!("app watched: {cost} tokens, {} tools", watched.len());

    agent.ok("debug_launch", shop(json!({ "breakpoints": [format!("shop.py:{APPEND}")] })));
    agent.wait_for(|message| message["method"] == "notifications/tools/list_changed");
    let (debugged, cost) = listed(&mut agent);
    println!("program debugged too: {cost} tokens, {} tools", debugged.len());
    assert_eq!(debugged, every(&fixture));
    // What was listed stays, and a call that only looks makes no news.
    agent.ok("debug_disconnect", json!({}));
    agent.ok("workspace_status", json!({}));
    assert_eq!(listed(&mut agent).0, debugged);
    assert!(!agent.has_heard("notifications/tools/list_changed"));
}

/// The server of the workspace is another process; the stateless era is told by the next list.
#[test]
fn a_client_that_joined_a_server_is_shown_what_happens_there() {
    let fixture = workspace();
    let mut server = agent(&fixture, Era::Handshake("2025-06-18"));
    server.ok("files_track", json!({}));
    let mut joined = agent(&fixture, Era::Modern);
    assert!(!listed(&mut joined).0.iter().any(|name| name == "breakpoint_set"));
    server.ok("debug_launch", shop(json!({ "breakpoints": [format!("shop.py:{APPEND}")] })));
    assert!(listed(&mut joined).0.iter().any(|name| name == "breakpoint_set"));
    joined.ok("breakpoint_list", json!({}));
}
