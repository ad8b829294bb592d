//! Every fixture is understood, whichever client sends it.

use std::fmt::Write as _;

use backsight_core::Code;
use backsight_server::hook::{Agent, Effect, Event, parse};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::stage::{fixture, fixtures};

/// The event in a line.
fn line(event: &Event) -> String {
    match event {
        Event::SessionStart { .. } => "session start".to_owned(),
        Event::Prompt { message, .. } => format!("prompt, message {}", message.as_deref().unwrap_or("?")),
        Event::ToolBegin(call) => format!("begin {} {} {}", call.tool, call.part, effect(&call.effect)),
        Event::Asked { title, .. } => format!("asked about {}", title.as_deref().unwrap_or("something")),
        Event::ToolEnd { call, ending } => {
            let took = ending.took.map_or_else(String::new, |took| format!(" in {} ms", took.as_millis()));
            let goes_on = ending.background.as_ref().map_or_else(String::new, |background| format!(" {background:?}"));
            format!("end {} {} {:?}{took}{goes_on}", call.tool, call.part, ending.outcome)
        }
        Event::BatchEnd { parts, .. } => format!("batch end {}", parts.join(" ")),
        Event::TurnEnd { in_background, .. } => format!("turn end{}", if *in_background { ", goes on" } else { "" }),
        Event::SessionEnd { .. } => "session end".to_owned(),
        Event::Ignored => "ignored".to_owned(),
    }
}

fn effect(effect: &Effect) -> String {
    match effect {
        Effect::Nothing => "writes nothing".to_owned(),
        Effect::Anything => "writes anything".to_owned(),
        Effect::Ours(ours) => format!("is our {}", ours.name),
        Effect::Writes(paths) => {
            let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
            format!("writes {}", names.join(" "))
        }
    }
}

fn understood(agent: Agent) -> String {
    let mut text = String::new();
    for name in fixtures(agent) {
        let event = parse(agent, &fixture(agent, &name, "/ws")).unwrap_or_else(|error| panic!("{name}: {error}"));
        writeln!(text, "{name}: {}", line(&event)).unwrap();
    }
    text
}

#[test]
fn claude_code_is_understood() {
    assert_snapshot!(understood(Agent::ClaudeCode), @r"
    Notification: ignored
    PermissionDenied: end Bash toolu_01Bash Denied
    PermissionRequest.Bash: asked about Bash: npm test -- --fix
    PostToolBatch: batch end toolu_01Edit toolu_01Bash
    PostToolUse.Bash: end Bash toolu_01Bash Done in 142 ms
    PostToolUse.Bash.after-permission-dialog: end Bash toolu_66064a51808361 Done in 356 ms
    PostToolUse.Bash.background: end Bash toolu_660645ebd11720 Done in 69 ms Background { pid: None }
    PostToolUse.Edit: end Edit toolu_01Edit Done in 10 ms
    PostToolUseFailure: end Bash toolu_01Bash Failed in 26 ms
    PreToolUse.Bash: begin Bash toolu_01Bash writes anything
    PreToolUse.Bash.background: begin Bash toolu_660645ebd11720 writes anything
    PreToolUse.Edit: begin Edit toolu_01Edit writes /ws/src/a.rs
    PreToolUse.Read: begin Read toolu_01Read writes nothing
    PreToolUse.mcp: begin mcp__github__create_issue toolu_01Mcp writes anything
    PreToolUse.subagent: begin Write toolu_01Sub writes /ws/src/b.rs
    SessionEnd: session end
    SessionStart: session start
    SessionStart.compact: ignored
    Stop: turn end
    Stop.background: turn end, goes on
    StopFailure: turn end
    UserPromptSubmit: prompt, message 0b7a1d6e-44cf-4b0a-8a55-b1c0d3f1e201
    ");
}

#[test]
fn codex_is_understood() {
    assert_snapshot!(understood(Agent::Codex), @r"
    Interrupt: turn end
    PermissionRequest: asked about Bash: rm -rf x
    PostToolUse.Bash: end Bash call_bash Done
    PostToolUse.Bash.exit3: end Bash call_18e8885eff6724380 Done
    PostToolUse.apply_patch: end apply_patch call_patch Done
    PreToolUse.Bash: begin Bash call_bash writes anything
    PreToolUse.apply_patch: begin apply_patch call_patch writes src/a.rs src/b.rs
    SessionEnd: session end
    SessionStart: session start
    Stop: turn end
    UserPromptSubmit: prompt, message 0199a213-9000-7000-8000-000000000001
    ");
}

#[test]
fn gemini_is_understood() {
    assert_snapshot!(understood(Agent::Gemini), @r"
    AfterAgent: turn end
    AfterTool.replace.notfound: end replace replace-9a8e8d9097f7ae55 Failed
    AfterTool.run_shell_command: end run_shell_command run_shell_command-772cfe365cb62dee Done
    AfterTool.run_shell_command.background: end run_shell_command run_shell_command-c12fb1c8ed501c83 Done Background { pid: Some(8590) }
    AfterTool.run_shell_command.exit3: end run_shell_command run_shell_command-2eaf22a133f1b4c1 Failed
    AfterTool.write_file: end write_file write_file-02acd25c58fff81f Done
    BeforeAgent: prompt, message ?
    BeforeTool.mcp: begin mcp_github_create_issue mcp_github_create_issue-956d7aafb64b7386 writes anything
    BeforeTool.read_file: begin read_file read_file-9077ce8160f818b3 writes nothing
    BeforeTool.run_shell_command: begin run_shell_command run_shell_command-772cfe365cb62dee writes anything
    BeforeTool.write_file: begin write_file write_file-02acd25c58fff81f writes /ws/src/a.rs
    Notification.ToolPermission: asked about run_shell_command: npm test
    PreCompress: ignored
    SessionEnd: session end
    SessionStart: session start
    ");
}

#[test]
fn cursor_is_understood() {
    assert_snapshot!(understood(Agent::Cursor), @r"
    afterFileEdit: ignored
    beforeSubmitPrompt: prompt, message 490b90b7-a2ce-4c2c-bb76-cb77b125df2f
    postToolUse.Shell: end Shell tool_shell Done in 4120 ms
    postToolUse.Write: end Write tool_write Done in 3 ms
    postToolUseFailure: end Shell tool_shell Failed in 30000 ms
    postToolUseFailure.denied: end Shell tool_shell Denied in 0 ms
    preToolUse.Read: begin Read tool_read writes nothing
    preToolUse.Shell: begin Shell tool_shell writes anything
    preToolUse.Write: begin Write tool_write writes /ws/src/a.rs
    sessionEnd: session end
    sessionStart: session start
    stop: turn end
    ");
}

#[test]
fn opencode_is_understood() {
    assert_snapshot!(understood(Agent::OpenCode), @r"
    chat.message: prompt, message msg_01
    session.created: session start
    session.deleted: session end
    session.idle: turn end
    tool.execute.after.bash: end bash call_bash Done
    tool.execute.after.bash.exit3: end bash call_18e888cb3941e7940 Failed
    tool.execute.after.edit: end edit call_edit Done
    tool.execute.before.bash: begin bash call_bash writes anything
    tool.execute.before.edit: begin edit call_edit writes /ws/src/a.rs
    tool.execute.before.read: begin read call_read writes nothing
    tool.execute.error: end bash call_bash Failed
    ");
}

#[test]
fn a_payload_without_what_it_needs_is_an_error_and_never_a_panic() {
    for &agent in Agent::ALL {
        for payload in [json!(null), json!([]), json!("x"), json!({}), json!({"hook_event_name": 7})] {
            assert_eq!(parse(agent, &payload).unwrap_err().code(), Code::Usage, "{agent} {payload}");
        }
        for name in fixtures(agent) {
            for key in keys(&fixture(agent, &name, "/ws")) {
                let mut payload = fixture(agent, &name, "/ws");
                for value in [json!(null), json!(7), json!([[]]), json!({"a": {}}), json!("x".repeat(600))] {
                    payload[&key] = value;
                    // Whatever it says, it says it without falling over.
                    let _ = parse(agent, &payload);
                }
            }
        }
    }
}

#[test]
fn codex_is_recognised_when_it_runs_the_plugins_hooks() {
    let from = |agent, name| Agent::ClaudeCode.speaking(&fixture(agent, name, "/ws"));
    assert_eq!(from(Agent::Codex, "PreToolUse.Bash"), Agent::Codex);
    assert_eq!(from(Agent::ClaudeCode, "PreToolUse.Bash"), Agent::ClaudeCode);
}

#[test]
fn an_agent_is_found_by_its_name() {
    for &agent in Agent::ALL {
        assert_eq!(agent.as_str().parse::<Agent>().unwrap(), agent);
    }
    assert_eq!("emacs".parse::<Agent>().unwrap_err().code(), Code::Usage);
}

fn keys(value: &Value) -> Vec<String> {
    value.as_object().unwrap().keys().cloned().collect()
}
