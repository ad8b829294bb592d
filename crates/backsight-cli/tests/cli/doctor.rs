//! `doctor` and agents: which are set up, whether they would use it, when they were heard, and what the user does about it.

use std::fs;

use serde_json::{Value, json};

use crate::fixture::Fixture;
use crate::hooks::hook;

/// What `doctor` says of one agent: its state, its message and what to do.
fn about(fixture: &Fixture, agent: &str) -> (String, String, String) {
    let checks = fixture.ok("doctor")["checks"].clone();
    let check =
        checks.as_array().unwrap().iter().find(|check| check["name"] == format!("agent {agent}")).unwrap().clone();
    let text = |name: &str| check[name].as_str().unwrap_or_default().to_owned();
    (text("state"), text("message"), text("hint"))
}

fn prompt(fixture: &Fixture) -> String {
    let payload = json!({
        "hook_event_name": "UserPromptSubmit", "session_id": "s1", "cwd": fixture.root(), "prompt": "do it", "prompt_id": "p1",
    });
    payload.to_string()
}

#[test]
fn an_agent_is_set_up_trusted_heard_and_gone_again() {
    let fixture = Fixture::with_history();
    let names = |fixture: &Fixture| -> Vec<String> {
        let checks = fixture.ok("doctor")["checks"].clone();
        let names = checks.as_array().unwrap().iter().map(|check| check["name"].as_str().unwrap().to_owned());
        names.filter(|name| name.contains("agent")).collect()
    };
    assert_eq!(names(&fixture), ["agents"]);
    fixture.ok("install claude-code --yes");
    assert_eq!(names(&fixture), ["agent claude-code", "other agents"]);

    let (state, message, hint) = about(&fixture, "claude-code");
    assert_eq!(state, "warning");
    assert_eq!(message, "server and hooks for this project, never heard here");
    assert_eq!(hint, "give claude-code a task here, then look again");

    // The user has started it once, and refused to trust the folder.
    let root = fixture.root().to_str().unwrap();
    let trusts = |trust: Value| {
        let settings = json!({ "projects": { root: trust } });
        fs::write(fixture.home().join(".claude.json"), settings.to_string()).unwrap();
    };
    trusts(json!({ "hasTrustDialogAccepted": false }));
    let (state, message, hint) = about(&fixture, "claude-code");
    assert_eq!(state, "warning");
    assert!(message.contains("not trusted as far as its files say, never heard here"), "{message}");
    assert!(hint.contains("trust the folder"), "{hint}");
    trusts(json!({ "hasTrustDialogAccepted": true, "enabledMcpjsonServers": ["backsight"] }));
    assert!(about(&fixture, "claude-code").1.contains(", trusted, never heard here"));

    hook(&fixture, "claude-code", prompt(&fixture).as_bytes());
    let (state, message, hint) = about(&fixture, "claude-code");
    assert_eq!((state.as_str(), hint.as_str()), ("ok", ""));
    assert_eq!(message, "server and hooks for this project, trusted, last heard just now");
    // Another agent was not.
    fixture.ok("install gemini --yes --scope user");
    let (state, message, hint) = about(&fixture, "gemini");
    assert_eq!(state, "warning");
    assert_eq!(
        message,
        "server and hooks for all your projects, not trusted as far as its files say, never heard here"
    );
    assert!(hint.contains("GEMINI_CLI_TRUST_WORKSPACE=true"), "{hint}");

    fixture.ok("install claude-code --uninstall --yes");
    let (state, message, _) = about(&fixture, "claude-code");
    assert_eq!((state.as_str(), message.as_str()), ("warning", "no longer set up here, last heard just now"));
}

/// Every agent with hooks is heard, through the store and through a server that runs.
#[test]
fn every_agent_that_speaks_is_heard() {
    let fixture = Fixture::with_history();
    for agent in ["claude-code", "codex", "gemini", "cursor", "opencode"] {
        let event = match agent {
            "gemini" => "SessionStart",
            "cursor" => "sessionStart",
            "opencode" => "session.created",
            _ => "SessionStart",
        };
        let payload = json!({
            "hook_event_name": event, "session_id": "s1", "sessionID": "s1", "conversation_id": "s1", "cwd": fixture.root(),
            "directory": fixture.root(), "workspace_roots": [fixture.root()], "input": { "sessionID": "s1" },
        });
        hook(&fixture, agent, payload.to_string().as_bytes());
        assert!(about(&fixture, agent).1.ends_with("last heard just now"), "{agent}");
    }
}

/// At 80 columns no line is longer and no word is broken.
#[test]
fn a_terminal_of_80_columns_is_enough() {
    let fixture = Fixture::with_history();
    for client in ["claude-code", "codex", "gemini", "opencode", "vscode"] {
        fixture.ok(&format!("install {client} --yes"));
    }
    let mut script = std::process::Command::new("script");
    let program = env!("CARGO_BIN_EXE_backsight");
    script.args(["-qec", &format!("stty cols 80; NO_COLOR=1 {program} doctor"), "/dev/null"]);
    script.current_dir(fixture.root()).env("HOME", fixture.home()).env_remove("COLUMNS");
    let output = script.output().expect("`script` of util-linux runs");
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("agent codex") && said.contains("GEMINI_CLI_TRUST_WORKSPACE=true"), "{said}");
    for line in said.lines().filter(|line| !line.contains('/')) {
        assert!(line.trim_end().chars().count() <= 80, "{line}");
    }
}
