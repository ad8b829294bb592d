//! Every reply says what others changed since the client's last one: once, to each client, and never its own doing.

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use super::client::{Agent, Era};
use super::{eventually, server_json};
use crate::fixture::Fixture;

fn fixture() -> Fixture {
    let fixture = Fixture::new();
    fixture.write("a.txt", "a\n");
    fixture.write("b.txt", "b\n");
    fixture.done("track -m start");
    fixture
}

#[track_caller]
fn external(agent: &mut Agent) -> Value {
    count(&agent.ok("history_query", json!({})))
}

/// How many files others changed, by a reply: it is silent when there are none.
#[track_caller]
fn count(reply: &Value) -> Value {
    let files = reply.get("external_changes").cloned();
    assert!(files != Some(json!(0)) && files.is_some() == reply.get("news").is_some(), "{reply}");
    files.unwrap_or(json!(0))
}

#[test]
fn an_edit_from_outside_is_told_once() {
    let fixture = fixture();
    let mut agent = Agent::new(&fixture);
    let first = agent.ok("history_query", json!({}));
    assert!(first.get("external_changes").is_none(), "there was no call before this one: {first}");
    assert_eq!(external(&mut agent), 0);
    fixture.write("a.txt", "edited outside\n");
    fixture.write("new.txt", "n\n");
    let said = agent.call("history_query", json!({}));
    assert_eq!(said.structured["external_changes"], 2);
    assert_eq!(said.structured["news"], "2 files changed by others since your last call: a.txt, new.txt");
    assert!(said.text.ends_with("2 files changed by others since your last call: a.txt, new.txt"));
    assert_eq!(external(&mut agent), 0);
    fixture.write("a.txt", "edited again\n");
    assert_eq!(external(&mut agent), 1);
    fixture.done("track -m 'by a person' --session person");
    assert_eq!(external(&mut agent), 0, "what was told on disk is no news when somebody records it");
}

#[test]
fn a_failure_tells_the_news_too() {
    let fixture = fixture();
    let mut agent = Agent::new(&fixture);
    external(&mut agent);
    fixture.write("a.txt", "edited outside\n");
    let said = agent.call("files_read", json!({ "path": "nope" }));
    assert!(said.is_error && said.structured["external_changes"] == 1, "{}", said.structured);
    assert_eq!(external(&mut agent), 0);
}

#[test]
fn what_the_client_does_itself_is_no_news() {
    let fixture = fixture();
    let mut agent = Agent::new(&fixture);
    external(&mut agent);
    let call = agent.ok("files_track", json!({ "phase": "begin" }))["call"].clone();
    fixture.write("a.txt", "by the agent\n");
    assert_eq!(count(&agent.ok("files_track", json!({ "phase": "finish", "call": call }))), 0);
    fixture.write("b.txt", "by the agent\n");
    assert_eq!(count(&agent.ok("files_track", json!({ "session": "turn-7" }))), 0);
    assert_eq!(count(&agent.ok("files_undo", json!({}))), 0);
    assert_eq!(external(&mut agent), 0);
}

#[test]
fn two_clients_hear_of_each_other_and_do_not_eat_each_others_news() {
    for names in [["one", "two"], ["same", "same"]] {
        let fixture = fixture();
        let mut one = Agent::named(&fixture, names[0], Era::Handshake("2025-06-18"));
        let mut two = Agent::named(&fixture, names[1], Era::Modern);
        let called = [&mut one, &mut two].map(|agent| agent.ok("workspace_status", json!({}))["client"].clone());
        let second = if names[0] == names[1] { json!("same-2") } else { Value::Null };
        assert_eq!(called, [Value::Null, second], "only who is called otherwise than it said is told so");
        fixture.write("a.txt", "by a person\n");
        assert_eq!((external(&mut one), external(&mut two)), (json!(1), json!(1)), "{names:?}");
        fixture.write("b.txt", "by the first agent\n");
        one.ok("files_track", json!({}));
        assert_eq!((external(&mut one), external(&mut two)), (json!(0), json!(1)), "{names:?}");
    }
}

#[test]
fn one_connection_may_speak_for_several_clients() {
    let fixture = fixture();
    let mut agent = Agent::named(&fixture, "host", Era::Modern);
    let ask = |agent: &mut Agent, client: &str| {
        let reply = agent.ok("history_query", json!({ "client": client }));
        assert!(reply.get("client").is_none(), "it said so itself: {reply}");
        count(&reply)
    };
    assert_eq!([ask(&mut agent, "a"), ask(&mut agent, "b")], [json!(0), json!(0)]);
    fixture.write("a.txt", "by a person\n");
    assert_eq!([ask(&mut agent, "a"), ask(&mut agent, "b"), ask(&mut agent, "a")], [json!(1), json!(1), json!(0)]);
}

/// What Claude Code's hooks say around an edit of `path`.
pub fn hooked(fixture: &Fixture, session: &str, path: &str, text: &str) {
    for event in ["PreToolUse", "PostToolUse"] {
        let payload = json!({
            "session_id": session, "transcript_path": "/dev/null", "cwd": fixture.root(), "permission_mode": "default",
            "hook_event_name": event, "tool_name": "Write", "tool_use_id": format!("toolu_{session}_{path}"),
            "tool_input": { "file_path": fixture.root().join(path), "content": text }, "tool_response": {},
        });
        let mut command = fixture.command("hook claude-code");
        let mut hook = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        hook.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
        let output = hook.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        if event == "PreToolUse" {
            fixture.write(path, text);
        }
    }
}

#[test]
fn what_the_clients_own_hooks_record_is_no_news_to_it() {
    let fixture = fixture();
    let mut agent = Agent::named(&fixture, "claude-code", Era::Handshake("2025-06-18"));
    external(&mut agent);
    // Hooks tell the server only when they find one.
    eventually("the server says where it is", || server_json(&fixture));
    hooked(&fixture, "s1", "a.txt", "by the agent\n");
    assert_eq!(external(&mut agent), 0, "its own hooks recorded it");
    fixture.write("b.txt", "by a person\n");
    assert_eq!(external(&mut agent), 1);
    // A second conversation of the same agent: nobody can tell which one is this client's, so both are told.
    hooked(&fixture, "s2", "c.txt", "by another\n");
    assert_eq!(external(&mut agent), 1);
}
