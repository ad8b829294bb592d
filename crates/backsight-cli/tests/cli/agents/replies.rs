//! Every tool called for real, well and badly: its schema declares all that the answer holds (the client checks each), and
//! the object costs a model about as much as the text, since some clients show a model only the object.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::client::Agent;
use super::debug::{paused, python, workspace};
use super::eventually;
use super::size::tokens;
use crate::fixture::Fixture;

/// A call of each tool that succeeds, in an order in which they can; those of the debugger after a program is paused.
const CALLS: [(&str, &str); 47] = [
    ("workspace_status", r#"{"verify": true}"#),
    ("files_track", r#"{"description": "start"}"#),
    ("files_changes", r##"{"from": "#1"}"##),
    ("files_diff", r##"{"from": "#1"}"##),
    ("files_read", r#"{"path": "shop.py"}"#),
    ("files_revert", r#"{"refs": "@"}"#),
    ("files_restore", r##"{"ref": "#1"}"##),
    ("files_undo", "{}"),
    ("files_redo", "{}"),
    ("history_query", "{}"),
    ("bisect", r#"{"command": ["./check"]}"#),
    ("milestone_create", r#"{"title": "first"}"#),
    ("milestone_list", r#"{"ref": "first"}"#),
    ("review_comments", "{}"),
    ("workspace_reset", r#"{"reason": "a test"}"#),
    ("get_changes_since", "{}"),
    ("browser_log", "{}"),
    ("get_session_health", "{}"),
    ("checkpoint_create", r#"{"name": "session_start"}"#),
    ("checkpoint_list", "{}"),
    ("checkpoint_delete", r#"{"name": "session_start"}"#),
    ("noise_rules", "{}"),
    ("baseline", "{}"),
    ("browser_status", "{}"),
    ("browser_attach", r#"{"action": "detach"}"#),
    ("debug_state", "{}"),
    ("debug_output", "{}"),
    ("breakpoint_set", r#"{"file": "shop.py", "line": 15}"#),
    ("breakpoint_list", "{}"),
    ("breakpoint_remove", r#"{"id": "bp-2"}"#),
    ("stacktrace_get", "{}"),
    ("variables_get", "{}"),
    ("evaluate", r#"{"expression": "price"}"#),
    ("snapshot_create", r#"{"label": "one"}"#),
    ("step_and_diff", "{}"),
    ("snapshot_create", r#"{"label": "two"}"#),
    ("snapshot_diff", r#"{"snapshot_id_1": "one", "snapshot_id_2": "two"}"#),
    ("snapshot_list", "{}"),
    ("snapshot_get", r#"{"id": "one"}"#),
    ("snapshot_export", r#"{"id": "one", "file": "one.json"}"#),
    ("snapshot_delete", r#"{"id": "one"}"#),
    ("snapshot_clear", "{}"),
    ("snapshot_on", r#"{"file": "shop.py", "line": 15, "name": "rounds"}"#),
    ("debug_control", r#"{"action": "continue"}"#),
    ("snapshot_series", r#"{"name": "rounds"}"#),
    ("run_until_change", r#"{"expression": "price", "max_steps": 2}"#),
    ("variable_set", r#"{"path": "price", "value": "price"}"#),
];

/// The shop, waiting for a debugger at a port.
struct Waiting(Child, u16);

impl Waiting {
    fn start(fixture: &Fixture) -> Waiting {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new(python());
        command.args(["-m", "debugpy", "--listen", &format!("127.0.0.1:{port}"), "--wait-for-client", "shop.py"]);
        command.current_dir(fixture.root()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Waiting(command.spawn().unwrap(), port)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn every_tool_declares_what_its_answers_hold() {
    let fixture = workspace();
    fixture.write("check", "#!/bin/sh\n! grep -q '# edited' shop.py\n");
    std::fs::set_permissions(fixture.root().join("check"), std::fs::Permissions::from_mode(0o755)).unwrap();
    fixture.done("track -m before");
    fixture.write("shop.py", &format!("{}# edited\n", fixture.read("shop.py")));
    // The client checks every answer against the schema; the first one is that of debug_launch.
    let mut agent = paused(&fixture);
    for (tool, arguments) in CALLS {
        agent.ok(tool, serde_json::from_str(arguments).unwrap());
    }
    let waiting = Waiting::start(&fixture);
    let attach = json!({ "adapter": "debugpy", "port": waiting.1, "session": "other" });
    eventually("debugpy listens", || (!agent.call("debug_attach", attach.clone()).is_error).then_some(()));
    agent.ok("debug_disconnect", json!({ "session": "other" }));
    for tool in agent.tools() {
        let name = tool["name"].as_str().unwrap();
        let others = ["debug_launch", "debug_attach", "debug_disconnect"];
        assert!(
            CALLS.iter().any(|(tool, _)| *tool == name) || others.contains(&name),
            "`{name}` is not called: add it"
        );
        agent.fails(name, json!({ "bogus": 1, "max_tokens": 200 }), "USAGE");
        let declared = tool["outputSchema"]["properties"].as_object().unwrap();
        let envelope = ["summary", "left_out", "next", "news", "external_changes", "client", "ok", "error"];
        assert!(envelope.iter().all(|name| declared.contains_key(*name)), "{name}: {declared:?}");
    }
}

/// A workspace as one has it after an hour: fourteen files of some length, all edited.
fn edited() -> (Fixture, Agent) {
    let fixture = Fixture::in_memory();
    let source = std::fs::read_to_string(super::source("crates/backsight-core/src/error.rs")).unwrap();
    let text = |index: usize| source.lines().skip(index).take(60).map(|line| format!("{line}\n")).collect::<String>();
    for index in 0..14 {
        fixture.write(&format!("src/module_{index}/parser.rs"), &text(index));
    }
    let mut agent = Agent::new(&fixture);
    agent.ok("files_track", json!({ "description": "start" }));
    for index in 0..14 {
        fixture.write(
            &format!("src/module_{index}/parser.rs"),
            &format!("//! Edited.\n{}", text(index).replace("Error", "Failure")),
        );
    }
    (fixture, agent)
}

/// What ordinary questions about files are answered.
fn answers() -> Vec<(String, String, String)> {
    let (_fixture, mut agent) = edited();
    let mut answers = Vec::new();
    let mut ask = |tool: &str, arguments: Value| -> Value {
        let said = agent.call(tool, arguments);
        assert!(!said.is_error, "{tool}: {}", said.text);
        answers.push((tool.to_owned(), said.structured.to_string(), said.text));
        said.structured
    };
    ask("workspace_status", json!({}));
    ask("files_changes", json!({}));
    ask("files_diff", json!({ "paths": "src/module_1/parser.rs" }));
    ask("files_track", json!({ "description": "rename the error in the parser" }));
    ask("files_read", json!({ "path": "src/module_2/parser.rs" }));
    ask("files_read", json!({ "path": "src" }));
    ask("history_query", json!({ "ref": "#2" }));
    ask("history_query", json!({ "blame": "src/module_1/parser.rs" }));
    let plan = ask("files_revert", json!({ "refs": "#2" }));
    ask("files_revert", plan["confirm"]["arguments"].clone());
    ask("files_undo", json!({}));
    ask("files_redo", json!({}));
    ask("files_restore", json!({ "ref": "#2" }));
    ask("files_track", json!({}));
    ask("workspace_status", json!({}));
    ask("history_query", json!({}));
    ask("milestone_create", json!({ "title": "first work" }));
    ask("milestone_list", json!({}));
    ask("workspace_reset", json!({ "reason": "a test" }));
    answers
}

/// Tokens that the frame of a short answer may cost: braces, quotes and a few names.
const FRAME: usize = 15;

#[test]
fn the_object_costs_a_model_hardly_more_than_the_text() {
    let answers = answers();
    let texts: Vec<String> = answers.iter().flat_map(|(_, object, text)| [object.clone(), text.clone()]).collect();
    let counts = tokens(&texts);
    let mut sums = (0, 0);
    for ((tool, object, text), count) in answers.iter().zip(counts.chunks(2)) {
        let (cost, of_text) = (count[0], count[1]);
        assert!(
            cost * 100 <= of_text * 115 || cost <= of_text + FRAME,
            "{tool}: {cost} of {of_text}\n{object}\n{text}"
        );
        sums = (sums.0 + cost, sums.1 + of_text);
    }
    assert!(sums.0 * 100 <= sums.1 * 115, "{sums:?}");
}

#[test]
fn an_object_says_nothing_that_says_nothing() {
    for (tool, object, _) in answers() {
        let object: Value = serde_json::from_str(&object).unwrap();
        for (name, value) in object.as_object().unwrap() {
            let is_empty = value.is_null() || *value == json!([]) || *value == json!("") || *value == json!({});
            assert!(!is_empty, "{tool}: {name} is {value}");
            let is_long_id = value.as_str().is_some_and(|text| {
                text.split_whitespace()
                    .any(|word| word.len() >= 32 && word.bytes().all(|byte| byte.is_ascii_hexdigit()))
            });
            assert!(!is_long_id, "{tool}: {name} is {value}");
        }
        for name in ["ok", "client", "strategy", "tree", "id"] {
            assert!(object.get(name).is_none(), "{tool}: {name}");
        }
    }
}
