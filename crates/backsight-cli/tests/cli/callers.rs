//! What callers call themselves and their work follows one rule on every interface, and an empty path means nothing.

use std::ffi::OsStr;

use serde_json::{Value, json};

use crate::agents::client::Agent;
use crate::fixture::Fixture;
use crate::hooks::hook;
use crate::serving::server::Server;

/// Names that cannot be shown in a list, or that fill it.
fn odd() -> Vec<String> {
    ["t\n#96 forged", "\u{1b}[2J", "a\u{202e}b", "line\u{2028}break", "x\u{7f}", " padded"]
        .map(str::to_owned)
        .into_iter()
        .chain(["é".repeat(101), "s".repeat(1 << 20)])
        .collect()
}

/// A command with one more argument: its answer and its exit status.
fn asked(fixture: &Fixture, line: &str, argument: &str) -> (Value, i32) {
    let answer = fixture.ask_with(line, &[OsStr::new(argument)]);
    (answer.json, answer.status)
}

#[test]
fn odd_names_are_refused_by_every_interface_and_nothing_is_recorded() {
    let fixture = Fixture::new();
    fixture.write("a.txt", "1\n");
    fixture.done("track -m start");
    fixture.write("a.txt", "2\n");
    let server = Server::start(&fixture);
    let mut agent = Agent::new(&fixture);
    for name in odd() {
        for field in ["tool", "session", "message", "part"] {
            let reply = server.post("/api/track", &json!({ field: name }));
            assert_eq!((reply.status, &reply.json()["error"]["code"]), (400, &json!("USAGE")), "{field} {name:.20}");
            agent.fails("files_track", json!({ field: name }), "USAGE");
            if name.len() < 100_000 {
                let (answer, status) = asked(&fixture, "track", &format!("--{field}={name}"));
                assert_eq!((status, &answer["error"]["code"]), (2, &json!("USAGE")), "{field} {name:.20}");
            }
        }
        let reply = server.post("/api/undo", &json!({ "session": name }));
        assert_eq!(reply.json()["error"]["code"], "USAGE", "{name:.20}");
        let reply = server.post("/session", &json!({ "id": name }));
        assert_eq!(reply.json()["error"]["code"], "USAGE", "{name:.20}");
        agent.fails("files_undo", json!({ "session": name }), "USAGE");
        agent.fails("workspace_status", json!({ "client": name }), "USAGE");
    }
    assert_eq!(fixture.ok("log")["rows"].as_array().unwrap().len(), 1, "nothing was recorded");
    assert_eq!(fixture.read("a.txt"), "2\n");
}

#[test]
fn a_hook_records_what_an_agent_calls_oddly_under_a_name_that_is_allowed() {
    let fixture = Fixture::new();
    fixture.write("a.txt", "1\n");
    for (number, name) in odd().into_iter().enumerate() {
        let say = |event: &str| {
            let payload = json!({
                "hook_event_name": event, "session_id": name, "prompt_id": name, "tool_use_id": name, "tool_name": name,
                "cwd": fixture.root(), "tool_input": {}, "tool_response": {},
            });
            let (_, stderr) = hook(&fixture, "claude-code", payload.to_string().as_bytes());
            assert_eq!(stderr, "", "{event} {name:.20}");
        };
        say("PreToolUse");
        fixture.write("a.txt", &format!("{number}\n"));
        say("PostToolUse");
        let row = fixture.ok("show @");
        for field in ["tool", "session", "message", "part"] {
            let text = row[field].as_str().unwrap_or_else(|| panic!("{field}: {row}"));
            assert!(text.len() <= 200 && !text.chars().any(char::is_control), "{field}: {text:?}");
        }
        let session = row["session"].as_str().unwrap().to_owned();
        assert_eq!(asked(&fixture, "session show", &session).0["id"], json!(session));
    }
    fixture.verify();
}

#[test]
fn an_empty_path_is_refused_and_means_nothing() {
    let fixture = Fixture::with_history();
    let before = fixture.picture();
    let server = Server::start(&fixture);
    let mut agent = Agent::new(&fixture);
    for (tool, arguments) in [
        ("files_restore", json!({ "ref": "#1", "paths": [""] })),
        ("files_restore", json!({ "ref": "#1", "paths": ["a.txt", ""] })),
        ("files_restore", json!({ "ref": "#1", "paths": "" })),
        ("files_revert", json!({ "refs": "#2", "paths": [""] })),
        ("files_diff", json!({ "from": "#1", "paths": [""] })),
        ("files_changes", json!({ "paths": [""] })),
        ("files_track", json!({ "declare": [""] })),
        ("files_track", json!({ "phase": "begin", "declare": [""] })),
    ] {
        agent.fails(tool, arguments, "INVALID_PATH");
    }
    for (path, body) in [
        ("/api/restore", json!({ "ref": "#1", "paths": [""] })),
        ("/api/revert", json!({ "refs": ["#2"], "paths": [""] })),
        ("/api/track", json!({ "declare": [""] })),
    ] {
        let answer = server.post(path, &body).json();
        assert_eq!(answer["ok"], false, "{path}: {answer}");
        let message = answer["error"].to_string();
        assert!(message.contains("empty"), "{path}: {message}");
    }
    for line in ["restore '#1' --", "revert '#2' --", "diff '#1' --", "track --declare"] {
        let (answer, status) = asked(&fixture, line, "");
        assert_eq!((status, &answer["error"]["code"]), (2, &json!("INVALID_PATH")), "{line}: {answer}");
    }
    assert_eq!(fixture.picture(), before);
}
