//! What goes wrong has its code, says what happened and what to do.

use serde_json::{Value, json};

use super::{paused, shop, workspace};
use crate::agents::client::Agent;

const NEED_A_SESSION: [(&str, &str); 20] = [
    ("debug_control", r#"{"action": "continue"}"#),
    ("debug_disconnect", "{}"),
    ("debug_output", "{}"),
    ("breakpoint_set", r#"{"function": "add"}"#),
    ("breakpoint_list", "{}"),
    ("breakpoint_remove", r#"{"id": "bp-1"}"#),
    ("stacktrace_get", "{}"),
    ("variables_get", "{}"),
    ("evaluate", r#"{"expression": "1"}"#),
    ("snapshot_create", "{}"),
    ("snapshot_diff", r#"{"snapshot_id_1": "a", "snapshot_id_2": "b"}"#),
    ("snapshot_list", "{}"),
    ("snapshot_get", r#"{"id": "a"}"#),
    ("snapshot_delete", r#"{"id": "a"}"#),
    ("snapshot_clear", "{}"),
    ("step_and_diff", "{}"),
    ("run_until_change", r#"{"expression": "a"}"#),
    ("variable_set", r#"{"path": "a", "value": "1"}"#),
    ("snapshot_on", r#"{"function": "add"}"#),
    ("snapshot_series", r#"{"name": "a"}"#),
];

#[test]
fn without_a_session_every_tool_says_so() {
    let fixture = workspace();
    let mut agent = Agent::new(&fixture);
    for (tool, arguments) in NEED_A_SESSION {
        let arguments: Value = serde_json::from_str(arguments).unwrap();
        let error = agent.fails(tool, arguments.clone(), "NO_SESSION");
        assert!(error["hint"].as_str().unwrap().contains("debug_launch"), "{tool}: {error}");
        let mut named = arguments;
        named["session"] = json!("other");
        agent.fails(tool, named, "NO_SESSION");
    }
    agent.fails("snapshot_export", json!({ "id": "a", "file": "a.json" }), "NO_SESSION");
    agent.fails("debug_state", json!({ "session": "other" }), "NO_SESSION");
}

#[test]
fn while_it_runs_nothing_can_be_looked_at() {
    let fixture = workspace();
    let mut agent = Agent::new(&fixture);
    agent.ok("debug_launch", shop(json!({ "args": ["wait"], "wait_ms": 0 })));
    for (tool, arguments) in [
        ("snapshot_create", json!({})),
        ("step_and_diff", json!({})),
        ("stacktrace_get", json!({})),
        ("variables_get", json!({})),
        ("evaluate", json!({ "expression": "1" })),
        ("debug_control", json!({ "action": "step_over" })),
    ] {
        let error = agent.fails(tool, arguments, "NOT_PAUSED");
        assert!(error["hint"].is_string(), "{tool}: {error}");
    }
}

#[test]
fn wrong_arguments_are_named() {
    let fixture = workspace();
    let mut agent = paused(&fixture);
    agent.ok("snapshot_create", json!({ "label": "one" }));
    let cases: [(&str, Value, &str, &str); 24] = [
        ("debug_launch", json!({}), "USAGE", "say what to run"),
        ("debug_launch", shop(json!({})), "CONFLICT", "`main` is being debugged already"),
        ("debug_launch", json!({ "program": "nope.py", "session": "b" }), "PROGRAM_NOT_FOUND", "nope.py"),
        ("debug_launch", shop(json!({ "session": "b", "adapter": "gdb" })), "ADAPTER_NOT_FOUND", "`gdb`"),
        ("debug_launch", shop(json!({ "session": "b", "breakpoints": "nope.py:3" })), "PATH_NOT_FOUND", "nope.py"),
        ("debug_launch", shop(json!({ "session": "no good" })), "INVALID_NAME", "no good"),
        ("debug_attach", json!({ "adapter": "debugpy", "session": "b" }), "USAGE", "`pid` or `port`"),
        ("debug_control", json!({ "action": "run_to" }), "USAGE", "`file` and `line`"),
        ("debug_control", json!({ "action": "continue", "line": 3 }), "USAGE", "only run_to"),
        ("debug_control", json!({ "action": "jump" }), "USAGE", "`step_over`"),
        ("debug_control", json!({ "action": "continue", "wait_ms": 60_001 }), "USAGE", "60000"),
        ("debug_state", json!({ "wait_ms": 60_001 }), "USAGE", "60000"),
        ("breakpoint_set", json!({}), "USAGE", "`exception`"),
        ("breakpoint_set", json!({ "file": "shop.py" }), "USAGE", "go together"),
        ("breakpoint_set", json!({ "function": "f", "exception": "all" }), "USAGE", "one place"),
        ("breakpoint_set", json!({ "file": "shop.py", "line": 0 }), "USAGE", "from 1"),
        ("breakpoint_remove", json!({ "id": "bp-9" }), "REF_NOT_FOUND", "bp-9"),
        ("snapshot_create", json!({ "frames": "some" }), "USAGE", "top, all or a number"),
        ("snapshot_create", json!({ "label": "snap-1" }), "INVALID_NAME", "snap-1"),
        ("snapshot_create", json!({ "frame": 99 }), "USAGE", "99"),
        ("step_and_diff", json!({ "action": "pause" }), "USAGE", "paused"),
        ("snapshot_on", json!({ "function": "add", "max_hits": 0 }), "USAGE", "`max_hits`"),
        ("snapshot_export", json!({ "id": "one", "file": "../x.json" }), "INVALID_PATH", "leaves the workspace"),
        ("snapshot_export", json!({ "id": "one", "file": "shop.py" }), "CONFLICT", "exists"),
    ];
    for (tool, arguments, code, words) in cases {
        let error = agent.fails(tool, arguments.clone(), code);
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(words), "{tool} {arguments}: {message}");
        let hint = error["hint"].as_str().unwrap_or_default();
        assert!(!hint.contains("`backsight ") && !hint.contains("`--"), "{tool} {arguments}: {hint}");
    }
    assert_eq!(agent.ok("debug_state", json!({}))["outcome"], "stopped", "nothing of that moved the program");
}

#[test]
fn every_snapshot_that_is_not_there_is_named() {
    let fixture = workspace();
    let mut agent = paused(&fixture);
    agent.ok("snapshot_create", json!({ "label": "one" }));
    let diff = |first: &str, second: &str| json!({ "snapshot_id_1": first, "snapshot_id_2": second });
    let error = agent.fails("snapshot_diff", diff("one", "nope"), "SNAPSHOT_NOT_FOUND");
    assert!(
        error["message"].as_str().unwrap().contains("`nope`") && !error["message"].as_str().unwrap().contains("`one`")
    );
    let error = agent.fails("snapshot_diff", diff("nope", "neither"), "SNAPSHOT_NOT_FOUND");
    assert_eq!(error["details"]["missing"], json!(["nope", "neither"]), "{error}");
    for tool in ["snapshot_get", "snapshot_delete"] {
        agent.fails(tool, json!({ "id": "nope" }), "SNAPSHOT_NOT_FOUND");
    }
    assert_eq!(agent.ok("snapshot_delete", json!({ "id": "one" }))["count"], 1);
    agent.fails("snapshot_get", json!({ "id": "one" }), "SNAPSHOT_NOT_FOUND");
    assert_eq!(agent.ok("snapshot_list", json!({}))["summary"], "0 snapshots");
}

#[test]
fn a_debugger_that_is_missing_comes_with_its_install_command() {
    let fixture = workspace();
    let mut agent = Agent::new(&fixture);
    // The tests' own environment has no search path.
    let error = agent.fails("debug_launch", json!({ "program": "shop.py" }), "ADAPTER_NOT_FOUND");
    assert!(error["hint"].as_str().unwrap().contains("pip install debugpy"), "{error}");
}
