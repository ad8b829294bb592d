//! A store is ours or it is not touched: stores that came with a clone, an archive or another user, and our own after
//! something was put into it. Every command and every door is run on each, in a sandbox that notes what is opened,
//! changed, connected to and executed.

mod foreign;
mod hostile;
mod own;
mod sandbox;

use std::path::Path;
use std::process::Output;

use serde_json::json;

use crate::fixture::Fixture;

/// A command line for each command of the binary, with what it reads from stdin. `backsight --help` says which there are.
fn lines() -> Vec<(&'static str, &'static str, String)> {
    let plain = [
        ("init", "init"),
        ("status", "status"),
        ("track", "track -m x"),
        ("begin", "begin --tool t"),
        ("finish", "finish c1"),
        ("abandon", "abandon c1"),
        ("call", "call --tool t -- true"),
        ("log", "log"),
        ("show", "show @"),
        ("ls", "ls @"),
        ("cat", "cat @ a.txt"),
        ("patch", "patch @"),
        ("diff", "diff @"),
        ("blame", "blame a.txt"),
        ("bisect", "bisect -- true"),
        ("revert", "revert @"),
        ("restore", "restore @"),
        ("undo", "undo"),
        ("redo", "redo"),
        ("session", "session list"),
        ("milestone", "milestone list"),
        ("unknown", "unknown detect"),
        ("continuity", "continuity validate"),
        ("known", "known list"),
        ("changes", "changes"),
        ("health", "health"),
        ("checkpoint", "checkpoint list"),
        ("baseline", "baseline list"),
        ("noise", "noise list"),
        ("browser", "browser status"),
        ("debug", "debug status"),
        ("run", "run true"),
        ("pin", "pin @"),
        ("unpin", "unpin @"),
        ("usage", "usage"),
        ("gc", "gc"),
        ("verify", "verify"),
        ("doctor", "doctor"),
        ("config", "config"),
        ("install", "install claude-code --print"),
        ("serve", "serve"),
        ("open", "open --no-start"),
        ("comment", "comment list"),
        ("report", "report"),
        ("watch", "watch --json"),
        ("completions", "completions bash"),
        ("man", "man"),
        ("agent-help", "agent-help"),
        ("export", "export out.history"),
        ("import", "import out.history"),
    ];
    let mut lines: Vec<_> = plain.into_iter().map(|(name, line)| (name, line, String::new())).collect();
    lines.push(("hook", "hook claude-code", payload("UserPromptSubmit")));
    lines.push(("hook", "hook claude-code", payload("PreToolUse")));
    lines.push(("hook", "hook claude-code", payload("PostToolUse")));
    lines.push(("mcp", "mcp", conversation()));
    lines
}

/// Commands that have nothing to do with the workspace they are run in.
const ELSEWHERE: [&str; 2] = ["demo", "help"];

fn payload(event: &str) -> String {
    json!({
        "hook_event_name": event, "session_id": "s1", "prompt": "do it", "tool_name": "Write", "tool_use_id": "u1",
        "tool_input": { "file_path": "a.txt", "content": "x" }, "tool_response": {},
    })
    .to_string()
}

/// What a client says that lists the tools and calls some that look, record and go back.
fn conversation() -> String {
    let call = |id: u32, name: &str| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": name, "arguments": {} } });
    let messages = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "stranger", "version": "1" } } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }),
        call(3, "workspace_status"),
        call(4, "files_track"),
        call(5, "history_query"),
        call(6, "files_undo"),
        call(7, "get_changes_since"),
        json!({ "jsonrpc": "2.0", "id": 8, "method": "resources/list" }),
    ];
    messages.iter().map(|message| format!("{message}\n")).collect()
}

/// Some of the command lines for each of many stores: `count` that come round again and again, so that over all stores
/// every command is tried, with another kind of store each time. `STRANGERS=all` tries every command on every store, which
/// takes an hour.
fn some_lines(round: &mut usize, count: usize) -> Vec<(&'static str, &'static str, String)> {
    let lines = lines();
    if std::env::var_os("STRANGERS").is_some_and(|how| how == "all") {
        return lines;
    }
    let first = *round;
    *round += count;
    (first..*round).map(|at| lines[at % lines.len()].clone()).collect()
}

/// The store was named as not ours, with a next step, in the way of this command.
fn assert_named(name: &str, about: &str, output: &Output) {
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let expected = match name {
        // These do not ask for the store.
        "completions" | "install" | "man" | "agent-help" => {
            return assert_eq!(output.status.code(), Some(0), "{about}: {said}");
        }
        // Whatever store is there, none is put in its place.
        "import" if said.contains("has a history already") => {
            return assert_eq!(output.status.code(), Some(2), "{about}: {said}");
        }
        "mcp" => {
            assert!(said.matches("STORE_NOT_OURS").count() >= 4, "{about}: {said}");
            0
        }
        "hook" | "run" => 0,
        "doctor" => 1,
        _ => {
            assert!(said.contains("STORE_NOT_OURS"), "{about}: {said}");
            3
        }
    };
    assert!(said.contains("nothing of it was used"), "{about}: {said}");
    assert_eq!(output.status.code(), Some(expected), "{about}: {said}");
}

/// What a command may start: itself, what `run`, `call` and `bisect` were asked to run, and beside each run of `bisect` the
/// shell that ends it.
fn assert_ran_nothing_else(name: &str, about: &str, programs: &[String]) {
    let most = match name {
        "run" | "call" => 3,
        "bisect" => 5,
        _ => 1,
    };
    assert!(programs.len() <= most, "{about} ran {programs:?}");
}

/// Files of the user's that a store must never lead to.
fn plant_decoys(fixture: &Fixture) {
    let home = fixture.home();
    for (name, text) in DECOYS {
        std::fs::create_dir_all(home.join(name).parent().unwrap()).unwrap();
        std::fs::write(home.join(name), text).unwrap();
    }
}

const DECOYS: [(&str, &str); 3] = [
    (".bashrc", "mine\n"),
    ("Documents/thesis", "two years\n"),
    (".aws/credentials", "aws_secret_access_key = wJalr\n"),
];

fn assert_decoys_are_whole(home: &Path, about: &str) {
    for (name, text) in DECOYS {
        assert_eq!(std::fs::read_to_string(home.join(name)).unwrap_or_default(), text, "{name} after {about}");
    }
    let kept: Vec<_> = std::fs::read_dir(home.join("Documents")).unwrap().collect();
    assert_eq!(kept.len(), 1, "{kept:?} after {about}");
}

/// Whether a path leads to one of them. Git's own settings in the home directory are read with good reason.
fn is_decoy(fixture: &Fixture, path: &Path) -> bool {
    DECOYS.iter().any(|(name, _)| path == fixture.home().join(name)) || path == fixture.home().join("Documents")
}

#[test]
fn every_command_is_tried() {
    let names = crate::contract::commands(&Fixture::new());
    assert!(names.len() > 40, "{names:?}");
    let lines = lines();
    for name in &names {
        let is_tried = lines.iter().any(|(tried, _, _)| tried == name) || ELSEWHERE.contains(&name.as_str());
        assert!(is_tried, "`{name}` is a command: try it on a store that is not ours, in strangers.rs");
    }
}
