//! Every tool over the wire: what it answers when all is well, and what it says when it is not.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::client::{Agent, Era};
use crate::fixture::{Fixture, numbered};

/// What a reviewer found a tool to do at its worst. A new tool must be reviewed and added to the table below.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Reviewed {
    /// It reads only.
    Looks,
    /// It adds to what is recorded or kept.
    Adds,
    /// It can remove what is kept.
    Removes,
    /// It can write files of the workspace.
    WritesFiles,
    /// It writes a new file only.
    AddsFile,
    /// It can run programs or code of one, which can write files and reach the network.
    RunsPrograms,
    /// It can end a program.
    EndsPrograms,
}

use Reviewed::*;

const REVIEWED: [(&str, Reviewed); 49] = [
    ("workspace_status", Looks),
    ("files_track", Adds),
    ("files_changes", Looks),
    ("files_diff", Looks),
    ("files_read", Looks),
    ("files_revert", WritesFiles),
    ("files_restore", WritesFiles),
    ("files_undo", WritesFiles),
    ("files_redo", WritesFiles),
    ("history_query", Looks),
    ("bisect", RunsPrograms),
    ("milestone_create", Adds),
    ("milestone_list", Looks),
    ("review_comments", Adds),
    ("workspace_reset", Adds),
    ("get_changes_since", Looks),
    ("browser_log", Looks),
    ("get_session_health", Looks),
    ("checkpoint_create", Adds),
    ("checkpoint_list", Looks),
    ("checkpoint_delete", Removes),
    ("noise_rules", Removes),
    ("baseline", Removes),
    ("browser_attach", RunsPrograms),
    ("browser_status", Looks),
    ("debug_launch", RunsPrograms),
    ("debug_attach", RunsPrograms),
    ("debug_control", RunsPrograms),
    ("debug_state", Looks),
    ("debug_disconnect", EndsPrograms),
    ("debug_output", Looks),
    ("breakpoint_set", RunsPrograms),
    ("breakpoint_list", Looks),
    ("breakpoint_remove", Removes),
    ("stacktrace_get", Looks),
    ("variables_get", Looks),
    ("evaluate", RunsPrograms),
    ("snapshot_create", RunsPrograms),
    ("snapshot_diff", Looks),
    ("snapshot_list", Looks),
    ("snapshot_get", Looks),
    ("snapshot_delete", Removes),
    ("snapshot_clear", Removes),
    ("step_and_diff", RunsPrograms),
    ("run_until_change", RunsPrograms),
    ("variable_set", RunsPrograms),
    ("snapshot_on", RunsPrograms),
    ("snapshot_series", Looks),
    ("snapshot_export", AddsFile),
];

#[test]
fn the_list_is_the_same_in_every_era_and_says_what_each_tool_may_do() {
    let fixture = Fixture::new();
    let lists = Era::ALL.map(|era| Agent::named(&fixture, "tester", era).tools());
    assert!(lists.iter().all(|list| list == &lists[0]));
    let names: Vec<&str> = lists[0].iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, REVIEWED.map(|(name, _)| name), "every tool is reviewed");
    for (tool, (name, reviewed)) in lists[0].iter().zip(REVIEWED) {
        let hints = &tool["annotations"];
        // What the protocol takes for granted need not be said; of tools that only read the last two mean nothing.
        let said = |name: &str, otherwise: bool| hints[name].as_bool().unwrap_or(otherwise);
        assert_eq!(said("readOnlyHint", false), reviewed == Looks, "{name}");
        let harmless = matches!(reviewed, Adds | AddsFile);
        assert!(reviewed == Looks || said("destructiveHint", true) != harmless, "{name}");
        // What lets go of a paused program lets it run.
        let runs = matches!(reviewed, RunsPrograms | EndsPrograms);
        assert_eq!(said("openWorldHint", true), runs, "{name}");
        assert!(reviewed != RunsPrograms || !said("idempotentHint", false), "{name}");
        assert!(tool["title"].is_string(), "{name}");
        // Claude Code looks for it only there.
        assert_eq!(hints["title"], tool["title"], "{name}");
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{name}");
        assert_eq!(tool["outputSchema"]["type"], "object", "{name}");
    }
}

#[test]
fn what_a_bisect_runs_is_in_its_answer_and_in_its_failure() {
    let fixture = Fixture::new();
    fixture.write("check", "#!/bin/sh\ngrep -q good state\n");
    fs::set_permissions(fixture.root().join("check"), fs::Permissions::from_mode(0o755)).unwrap();
    let mut agent = Agent::new(&fixture);
    for state in ["good", "bad", "worse"] {
        fixture.write("state", state);
        agent.ok("files_track", json!({}));
    }
    let found = agent.ok("bisect", json!({ "command": ["./check", "a b"] }));
    assert_eq!((&found["step"], &found["command"]), (&json!("#2"), &json!("./check 'a b'")));
    let failed = agent.call("bisect", json!({ "command": ["./check"], "good": "#2" }));
    assert!(failed.text.contains("./check"), "{}", failed.text);
    assert!(failed.structured["error"]["details"]["command"].to_string().contains("./check"), "{}", failed.structured);
}

#[test]
fn a_day_of_an_agent() {
    let fixture = Fixture::new();
    fixture.write("src/a.rs", &numbered(&[]));
    fixture.write("README.md", "# hello\n");
    let mut agent = Agent::new(&fixture);
    let status = agent.call("workspace_status", json!({}));
    assert_eq!(status.text, "nothing is recorded yet: record the files with files_track");

    let first = agent.ok("files_track", json!({ "description": "start" }));
    assert_eq!((&first["created"], &first["snapshot"]), (&json!(true), &json!("#1")));
    let again = agent.ok("files_track", json!({}));
    assert_eq!((&again["created"], &again["snapshot"]), (&json!(false), &first["snapshot"]));

    let call = agent.ok("files_track", json!({ "phase": "begin" }))["call"].clone();
    fixture.write("src/a.rs", &numbered(&[(3, "agent")]));
    fixture.write("src/new.rs", "fn main() {}\n");
    let status = agent.ok("workspace_status", json!({}));
    assert_eq!(status["changes"], json!(["M src/a.rs", "A src/new.rs"]));
    assert_eq!(status["pending"], json!(["src/a.rs", "src/new.rs"]));
    let step = agent.ok("files_track", json!({ "phase": "finish", "call": call, "description": "edit a" }));
    assert_eq!((&step["snapshot"], &step["changes"]), (&json!("#2"), &json!(["M src/a.rs", "A src/new.rs"])));

    fixture.write("README.md", "# hello, edited by a person\n");
    let changes = agent.ok("files_changes", json!({}));
    assert_eq!(
        (&changes["summary"], &changes["changes"]),
        (&json!("1 path differs between @ and now"), &json!(["M README.md"]))
    );
    let diff = agent.ok("files_diff", json!({ "step": "#2", "paths": "src/a.rs" }));
    assert_eq!((&diff["summary"], &diff["files"]), (&json!("step #2: 1 file, +1 -1"), &json!(["M src/a.rs +1 -1"])));
    assert!(diff["diff"].as_str().unwrap().contains("-line 3\n+agent\n"));
    let between = agent.ok("files_diff", json!({ "from": "#1", "to": "#2", "context": 0 }));
    assert!(between["diff"].as_str().unwrap().contains("@@ -3 +3 @@"), "{between}");
    let old = agent.ok("files_read", json!({ "path": "./src/a.rs", "ref": "#1" }));
    assert_eq!((&old["content"], &old["summary"]), (&json!(numbered(&[])), &json!("src/a.rs at #1: 10 lines")));
    assert_eq!(agent.ok("files_read", json!({ "path": "src" }))["files"], json!(["src/a.rs", "src/new.rs"]));
    let now = agent.ok("files_read", json!({ "path": "README.md", "ref": "now" }));
    assert_eq!(now["content"], "# hello, edited by a person\n");

    // The agent takes its step back; the person's edit stays.
    let plan = agent.call("files_revert", json!({ "refs": "#2" }));
    assert_eq!(plan.structured["reverted"], json!(["M src/a.rs", "D src/new.rs"]));
    assert!(plan.text.contains("to carry it out: files_revert {"), "{}", plan.text);
    let done = agent.ok("files_revert", plan.structured["confirm"]["arguments"].clone());
    assert_eq!((&done["changed"], &done["confirm"]), (&json!(true), &Value::Null));
    assert_eq!(fixture.read("src/a.rs"), numbered(&[]));
    assert_eq!(fixture.read("README.md"), "# hello, edited by a person\n");
    agent.ok("files_undo", json!({}));
    assert_eq!(fixture.read("src/a.rs"), numbered(&[(3, "agent")]));
    agent.ok("files_redo", json!({}));
    assert_eq!(fixture.read("src/a.rs"), numbered(&[]));

    let rows = agent.ok("history_query", json!({ "file": "src/a.rs" }))["rows"].clone();
    assert!(rows[0].as_str().unwrap().ends_with(": redo #5"), "{rows}");
    let one = agent.ok("history_query", json!({ "ref": "#2" }));
    assert!(one["summary"].as_str().unwrap().contains(" tester 2 files +2 -1: edit a"), "{one}");
    let blame = agent.ok("history_query", json!({ "blame": "src/a.rs", "ref": "#2" }));
    assert_eq!(blame["lines"].as_array().unwrap().len(), 3, "{blame}");
    let made = agent.ok("milestone_create", json!({ "title": "first work", "tags": ["a", "b"] }));
    assert_eq!((&made["first"], &made["last"]), (&json!("#1"), &json!("#6")));
    assert_eq!(agent.ok("milestone_list", json!({}))["milestones"], json!(["first work #1..#6 3 files"]));
    assert_eq!(agent.ok("milestone_list", json!({ "ref": "first work" }))["tags"], json!(["a", "b"]));
    assert_eq!(agent.ok("workspace_reset", json!({ "reason": "a test" }))["row"], "#8");
    let sound = agent.ok("workspace_status", json!({ "verify": true }));
    assert_eq!((&sound["clean"], &sound["problems"]), (&json!(true), &Value::Null));
    assert_eq!(sound["summary"], "nothing changed since #6; the record is sound");
    fixture.verify();
}

#[test]
fn mistakes_are_answers_with_a_code_and_the_next_call() {
    let fixture = Fixture::with_history();
    let mut agent = Agent::new(&fixture);
    let cases: [(&str, Value, &str, &str); 24] = [
        ("files_track", json!({ "phase": "finish" }), "USAGE", "`call` is missing"),
        ("files_track", json!({ "phase": "finish", "call": "zzz" }), "CALL_NOT_FOUND", "`zzz`"),
        ("files_track", json!({ "phase": "begin", "call": "zzz" }), "USAGE", "phase finish"),
        ("files_track", json!({ "bogus": 1 }), "USAGE", "unknown argument `bogus`"),
        ("files_track", json!({ "phase": "later" }), "USAGE", "`record`, `begin`, `finish`"),
        ("files_track", json!({ "declare": ["../x"] }), "INVALID_PATH", "leaves the workspace"),
        ("files_changes", json!({ "paths": "/etc/passwd" }), "INVALID_PATH", "is absolute"),
        ("files_changes", json!({ "from": "#99" }), "REF_NOT_FOUND", "`#99`"),
        ("files_changes", json!({ "cursor": "zz" }), "USAGE", "`zz` is no cursor"),
        ("files_diff", json!({ "step": "#2", "to": "#1" }), "USAGE", "`step` goes without"),
        ("files_diff", json!({ "from": ["#1"] }), "USAGE", "expected a string"),
        ("files_read", json!({ "path": "nope" }), "PATH_NOT_FOUND", "`nope`"),
        ("files_revert", json!({}), "USAGE", "missing argument `refs`"),
        ("files_revert", json!({ "refs": [] }), "USAGE", "which steps"),
        ("files_revert", json!({ "refs": "#1" }), "NOTHING_TO_UNDO", "first snapshot"),
        ("files_restore", json!({ "ref": "" }), "REF_NOT_FOUND", "it is empty"),
        ("files_undo", json!({ "count": 0 }), "USAGE", "not a number from 1"),
        ("files_undo", json!({ "count": -1 }), "USAGE", "a number from 0 to 65535"),
        ("files_undo", json!({ "count": 50 }), "NOTHING_TO_UNDO", "only 2 steps"),
        ("files_redo", json!({}), "NOTHING_TO_UNDO", "nothing to redo"),
        ("history_query", json!({ "kind": "bogus" }), "USAGE", "unknown variant `bogus`"),
        ("history_query", json!({ "since": "yesterday" }), "USAGE", "`yesterday` is no time"),
        ("milestone_create", json!({ "title": "m", "snapshots": ["#1", "#3"] }), "SEQUENCE_DISCONTINUITY", ""),
        ("workspace_status", json!({ "max_tokens": 5 }), "USAGE", "not a number from 200"),
    ];
    for (tool, arguments, code, words) in cases {
        let error = agent.fails(tool, arguments.clone(), code);
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(words), "{tool} {arguments}: {message}");
        let hint = error["hint"].as_str().unwrap_or("");
        assert!(!hint.contains("`backsight ") && !hint.contains("`--"), "{tool} {arguments}: {hint}");
        let next = error["next"]["tool"].as_str().unwrap_or(REVIEWED[0].0);
        assert!(REVIEWED.iter().any(|(name, _)| *name == next), "{next}");
    }
    let unknown = agent.request("tools/call", json!({ "name": "nonesuch", "arguments": {} })).unwrap_err();
    assert_eq!(unknown["code"], -32602);
    fixture.verify();
}

#[test]
fn overlapping_edits_are_named_and_nothing_is_changed() {
    let fixture = Fixture::with_history();
    fixture.write("a.txt", &numbered(&[(2, "somebody else")]));
    let mut agent = Agent::new(&fixture);
    let said = agent.call("files_revert", json!({ "refs": ["#2"] }));
    assert_eq!(said.structured["error"]["code"], "CONFLICT");
    assert!(said.text.contains("conflicts:\na.txt: "), "{}", said.text);
    assert!(said.text.contains("on_conflict merge"), "{}", said.text);
    let skipped = agent.ok("files_revert", json!({ "refs": ["#2"], "on_conflict": "skip" }));
    assert_eq!(skipped["changed"], false);
    let merged = agent.ok("files_revert", json!({ "refs": ["#2"], "on_conflict": "merge" }));
    assert_eq!(merged["conflicts"].as_array().unwrap().len(), 1, "{merged}");
    agent.ok("files_revert", merged["confirm"]["arguments"].clone());
    assert!(fixture.read("a.txt").contains("<<<<<<<"));
}

#[test]
fn a_directory_that_may_not_be_tracked_gets_answers_too() {
    let fixture = Fixture::new();
    let mut command = fixture.command("mcp");
    command.current_dir(fixture.home());
    let mut agent = Agent::spawn(command, "tester", Era::Handshake("2025-06-18"));
    agent.open();
    let error = agent.fails("files_track", json!({}), "WORKSPACE_REFUSED");
    assert!(!error["message"].as_str().unwrap().is_empty());
}
