//! Whose edit it is when a tool is interrupted, waits for the user, or goes on in the background: what the user wrote is
//! never taken back with the agent's step, and what the agent wrote is never left without an owner.

use std::thread::sleep;
use std::time::Duration;

use backsight::report::OnConflict;
use backsight::request::{Revert, RevertSession, Undo};
use backsight_core::{Code, Error, Result};
use backsight_server::hook::{Agent, who_asks};
use insta::assert_snapshot;
use serde_json::{Map, Value, json};

use crate::stage::Stage;

const CLAUDE_SESSION: &str = "7f1c2a30-5a3e-4a43-9a55-0d2d0c2f5a01";
const CLAUDE_MESSAGE: &str = "0b7a1d6e-44cf-4b0a-8a55-b1c0d3f1e201";

/// So long the user thinks about a dialog.
const THOUGHT: Duration = Duration::from_millis(1400);

/// Takes the message of Claude Code's fixtures back.
fn revert(stage: &Stage, on_conflict: OnConflict) -> Result<()> {
    let (session, message) = (CLAUDE_SESSION.to_owned(), CLAUDE_MESSAGE.to_owned());
    stage.workspace.revert_session(&RevertSession { session, message, on_conflict, ..Default::default() }).map(drop)
}

/// The paths of a refusal with what is said of each.
fn conflicts(error: &Error) -> String {
    assert_eq!(error.code(), Code::Conflict, "{error}");
    let conflicts = error.details()["conflicts"].as_array().unwrap().clone();
    let line = |one: &Value| format!("{}: {}", one["path"].as_str().unwrap(), one["reason"].as_str().unwrap());
    conflicts.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn an_interrupted_tool_owns_what_it_wrote_and_not_what_the_user_wrote_after() {
    let stage = Stage::live(Agent::ClaudeCode);
    stage.say("UserPromptSubmit");
    stage.say("PreToolUse.Bash");
    stage.write("src/b.rs", "half\n");
    stage.transcribe_end("toolu_01Bash");
    sleep(Duration::from_millis(400));
    stage.write("src/a.rs", "by the user, before the next prompt\n");
    stage.say_with("UserPromptSubmit", &[("/prompt_id", json!("next"))]);
    assert_snapshot!(stage.rows(), @r"
    #1 external - [src/a.rs src/b.rs] before the agent's first step
    #2 Bash toolu_01Bash [src/b.rs +src/a.rs] Bash: npm test -- --fix (interrupted)
    ");
    revert(&stage, OnConflict::Refuse).unwrap();
    assert_eq!(stage.read("src/b.rs"), "b\n");
    assert_eq!(stage.read("src/a.rs"), "by the user, before the next prompt\n");
}

#[test]
fn where_nothing_tells_when_a_tool_was_interrupted_a_revert_asks() {
    let stage = Stage::live(Agent::ClaudeCode);
    stage.say("UserPromptSubmit");
    stage.say("PreToolUse.Bash");
    stage.write("src/b.rs", "half\n");
    stage.say_with("UserPromptSubmit", &[("/prompt_id", json!("next"))]);
    let refusal = revert(&stage, OnConflict::Refuse).unwrap_err();
    assert_snapshot!(refusal.message(), @"1 path may hold another's work; nothing was changed");
    assert_snapshot!(conflicts(&refusal), @"src/b.rs: #2 may hold the user's edit of it");
    revert(&stage, OnConflict::Skip).unwrap();
    assert_eq!(stage.read("src/b.rs"), "half\n");
    let references = vec!["#2".to_owned()];
    let both = Revert { references, on_conflict: OnConflict::Merge, ..Revert::default() };
    stage.workspace.revert_steps(&both).unwrap();
    assert_eq!(stage.read("src/b.rs"), "b\n");
}

#[test]
fn a_turn_that_ends_when_it_is_interrupted_leaves_no_doubt() {
    let stage = Stage::live(Agent::Codex);
    stage.say("UserPromptSubmit");
    stage.say("PreToolUse.Bash");
    stage.write("src/b.rs", "half\n");
    stage.say("Interrupt");
    stage.write("src/a.rs", "by the user\n");
    stage.workspace.undo(&Undo::default()).unwrap();
    assert_eq!((stage.read("src/b.rs").as_str(), stage.read("src/a.rs").as_str()), ("b\n", "by the user\n"));
}

#[test]
fn what_the_user_does_while_asked_is_the_users() {
    for (agent, begin, end) in [
        (Agent::ClaudeCode, "PreToolUse.Bash", "PostToolUse.Bash"),
        (Agent::Cursor, "preToolUse.Shell", "postToolUse.Shell"),
    ] {
        let stage = Stage::live(agent);
        stage.write("keep/old.txt", "old\n");
        stage.write("keep/gone.txt", "the user removes it\n");
        stage.say(if agent == Agent::Cursor { "beforeSubmitPrompt" } else { "UserPromptSubmit" });
        stage.say(begin);
        if agent == Agent::ClaudeCode {
            stage.say("PermissionRequest.Bash");
        }
        stage.write("src/a.rs", "by the user, asked\n");
        stage.write("new.txt", "by the user, asked\n");
        stage.remove("keep/gone.txt");
        sleep(THOUGHT);
        stage.write("src/b.rs", "by the tool\n");
        stage.write("made.txt", "by the tool\n");
        let took = if agent == Agent::Cursor { "/duration" } else { "/duration_ms" };
        stage.say_with(end, &[(took, json!(120))]);
        let rows = stage.rows();
        let last = rows.lines().last().unwrap();
        assert!(last.contains("[made.txt src/b.rs +keep/gone.txt +new.txt +src/a.rs]"), "{agent}: {rows}");
        stage.workspace.undo(&Undo::default()).unwrap();
        assert_eq!(stage.read("src/b.rs"), "b\n", "{agent}");
        assert_eq!(stage.read("src/a.rs"), "by the user, asked\n", "{agent}");
        assert_eq!(stage.read("new.txt"), "by the user, asked\n", "{agent}");
        let is_there = |path: &str| std::path::Path::new(stage.root()).join(path).exists();
        assert!(!is_there("keep/gone.txt") && !is_there("made.txt"), "{agent}");
    }
}

#[test]
fn a_file_the_user_deletes_beside_the_tools_own_is_asked_about() {
    let stage = Stage::live(Agent::ClaudeCode);
    stage.say("UserPromptSubmit");
    stage.say("PreToolUse.Bash");
    stage.say("PermissionRequest.Bash");
    stage.remove("src/a.rs");
    sleep(THOUGHT);
    stage.remove("src/b.rs");
    stage.write("src/c.rs", "by the tool\n");
    stage.say_with("PostToolUse.Bash", &[("/duration_ms", json!(50))]);
    let refusal = revert(&stage, OnConflict::Refuse).unwrap_err();
    assert_snapshot!(conflicts(&refusal), @r"
    src/a.rs: #2 may hold the user's edit of it
    src/b.rs: #2 may hold the user's edit of it
    ");
}

#[test]
fn a_tool_that_nobody_was_asked_about_needs_no_evidence() {
    let stage = Stage::live(Agent::ClaudeCode);
    stage.say("UserPromptSubmit");
    stage.say("PreToolUse.Bash");
    stage.write("src/b.rs", "at once\n");
    sleep(Duration::from_millis(700));
    // Its end is heard late.
    stage.say_with("PostToolUse.Bash", &[("/duration_ms", json!(5))]);
    revert(&stage, OnConflict::Refuse).unwrap();
    assert_eq!(stage.read("src/b.rs"), "b\n");
}

#[test]
fn a_refused_tool_that_no_hook_is_told_of_takes_nothing_of_the_user_along() {
    let stage = Stage::live(Agent::ClaudeCode);
    stage.say("UserPromptSubmit");
    stage.say("PreToolUse.Bash");
    stage.say("PermissionRequest.Bash");
    stage.write("src/a.rs", "by the user, asked\n");
    stage.transcribe_end("toolu_01Bash");
    stage.say_with("UserPromptSubmit", &[("/prompt_id", json!("next"))]);
    assert_snapshot!(stage.rows(), @r"
    #1 external - [src/a.rs src/b.rs] before the agent's first step
    #2 Bash toolu_01Bash [src/a.rs] Bash: npm test -- --fix (interrupted or refused)
    ");
    revert(&stage, OnConflict::Refuse).unwrap_err();
    assert_eq!(stage.read("src/a.rs"), "by the user, asked\n");
    assert_eq!(stage.open(), 0);
}

#[test]
fn a_refused_tool_that_changed_nothing_leaves_nothing() {
    let stage = Stage::live(Agent::ClaudeCode);
    stage.say("UserPromptSubmit");
    stage.say("PreToolUse.Bash");
    stage.say("PermissionRequest.Bash");
    stage.say_with("UserPromptSubmit", &[("/prompt_id", json!("next"))]);
    assert_eq!((stage.open(), stage.last().sequence_number.0), (0, 1));
}

#[test]
fn a_dialog_without_a_duration_is_asked_about() {
    let stage = Stage::live(Agent::Gemini);
    stage.say("BeforeAgent");
    stage.say("BeforeTool.run_shell_command");
    stage.say("Notification.ToolPermission");
    stage.write("src/a.rs", "by the user\n");
    stage.write("src/b.rs", "by the tool\n");
    stage.say("AfterTool.run_shell_command");
    let refusal = stage.workspace.undo(&Undo::default()).unwrap_err();
    assert_eq!(conflicts(&refusal).lines().count(), 2, "{refusal}");
    // Without a dialog there is nothing to ask.
    stage.say("BeforeTool.run_shell_command");
    stage.write("src/b.rs", "by the tool again\n");
    stage.say("AfterTool.run_shell_command");
    stage.workspace.undo(&Undo::default()).unwrap();
    assert_eq!(stage.read("src/b.rs"), "by the tool\n");
}

#[test]
fn an_agent_that_tells_interrupts_leaves_no_doubt_of_a_refusal() {
    let stage = Stage::live(Agent::Gemini);
    stage.say("BeforeAgent");
    stage.say("BeforeTool.run_shell_command");
    stage.say("Notification.ToolPermission");
    stage.write("src/a.rs", "by the user, asked\n");
    stage.say("BeforeAgent");
    assert!(stage.rows().ends_with("external - [src/a.rs] changed outside: src/a.rs"), "{}", stage.rows());
}

#[test]
fn a_refusal_that_looks_like_an_interrupt_takes_nothing_of_the_user_along() {
    let stage = Stage::live(Agent::Codex);
    stage.say("UserPromptSubmit");
    stage.say("PreToolUse.Bash");
    stage.say("PermissionRequest");
    stage.write("src/a.rs", "by the user, asked\n");
    stage.say("Interrupt");
    stage.workspace.undo(&Undo::default()).unwrap_err();
    assert_eq!(stage.read("src/a.rs"), "by the user, asked\n");
}

#[test]
fn opencode_says_when_the_user_allowed_it() {
    let stage = Stage::live(Agent::OpenCode);
    stage.say("chat.message");
    stage.say("tool.execute.before.bash");
    stage.write("src/a.rs", "by the user, asked\n");
    sleep(Duration::from_millis(700));
    let allowed = stage.workspace.now().0;
    stage.write("src/b.rs", "by the tool\n");
    let mut end = stage.payload("tool.execute.after.bash");
    end["input"]["allowed"] = json!(allowed);
    stage.send(&end);
    stage.workspace.undo(&Undo::default()).unwrap();
    assert_eq!((stage.read("src/b.rs").as_str(), stage.read("src/a.rs").as_str()), ("b\n", "by the user, asked\n"));
}

#[test]
fn what_a_command_does_in_the_background_is_its_messages_and_may_be_the_users() {
    let stage = Stage::live(Agent::ClaudeCode);
    stage.say("UserPromptSubmit");
    stage.say("PreToolUse.Bash.background");
    stage.write("src/b.rs", "at once\n");
    stage.say("PostToolUse.Bash.background");
    assert_eq!(stage.open(), 1);
    stage.say("PostToolBatch");
    stage.say("Stop.background");
    stage.write("src/late.rs", "late\n");
    stage.say_with("UserPromptSubmit", &[("/prompt_id", json!("next"))]);
    stage.say("PreToolUse.Edit");
    stage.write("src/a.rs", "declared\n");
    stage.say("PostToolUse.Edit");
    stage.write("src/later.rs", "later\n");
    stage.say("Stop");
    assert_eq!(stage.open(), 0);
    assert_snapshot!(stage.rows(), @r"
    #1 external - [src/a.rs src/b.rs] before the agent's first step
    #2 Bash toolu_660645ebd11720 [src/b.rs] Bash: sleep 2; echo late > src/late.rs
    #3 Bash toolu_660645ebd11720 [src/late.rs] Bash: sleep 2; echo late > src/late.rs (in the background)
    #4 Edit toolu_01Edit [src/a.rs] Edit: src/a.rs
    #5 Bash toolu_660645ebd11720 [src/later.rs] Bash: sleep 2; echo late > src/late.rs (in the background)
    ");
    let refusal = revert(&stage, OnConflict::Refuse).unwrap_err();
    assert_snapshot!(conflicts(&refusal), @r"
    src/late.rs: #3 may hold the user's edit of it
    src/later.rs: #5 may hold the user's edit of it
    ");
    revert(&stage, OnConflict::Skip).unwrap();
    assert_eq!((stage.read("src/b.rs").as_str(), stage.read("src/late.rs").as_str()), ("b\n", "late\n"));
}

#[test]
fn a_background_process_that_is_gone_keeps_nothing_open() {
    let stage = Stage::live(Agent::Gemini);
    let mut process = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    stage.say("BeforeAgent");
    stage.say_with("BeforeTool.run_shell_command", &[("/tool_input", background_input())]);
    let said = format!("Command moved to background (PID: {}). Output hidden.", process.id());
    stage.say_with("AfterTool.run_shell_command.background", &[("/tool_response/returnDisplay", json!(said))]);
    stage.say("AfterAgent");
    assert_eq!(stage.open(), 1, "it still runs");
    stage.write("src/late.rs", "late\n");
    process.kill().unwrap();
    process.wait().unwrap();
    stage.say("BeforeAgent");
    assert_eq!(stage.open(), 0);
    assert!(stage.rows().ends_with("(in the background)"), "{}", stage.rows());
}

fn background_input() -> Value {
    json!({ "command": "sleep 1.2; echo late > src/late.rs", "description": "run it", "is_background": true })
}

#[test]
fn an_edit_through_a_link_is_the_agents() {
    for (link, target, edited) in [("AGENTS.md", "src/a.rs", "AGENTS.md"), ("linked", "src", "linked/a.rs")] {
        let stage = Stage::new(Agent::ClaudeCode);
        std::os::unix::fs::symlink(target, std::path::Path::new(stage.root()).join(link)).unwrap();
        stage.say("UserPromptSubmit");
        let path = [("/tool_input/file_path", json!(format!("{}/{edited}", stage.root())))];
        stage.say_with("PreToolUse.Edit", &path);
        stage.write(edited, "through the link\n");
        stage.say_with("PostToolUse.Edit", &path);
        assert_eq!(stage.last().origin.session.as_deref(), Some(CLAUDE_SESSION), "{}", stage.rows());
        revert(&stage, OnConflict::Refuse).unwrap();
        assert_eq!(stage.read("src/a.rs"), "one\n", "{edited}");
    }
}

#[test]
fn the_conversation_that_calls_our_own_tool_is_known() {
    let arguments = |reference: &str| -> Map<String, Value> {
        json!({ "refs": [reference], "dry_run": false }).as_object().unwrap().clone()
    };
    for (agent, prompt, begin, tool) in [
        (Agent::ClaudeCode, "UserPromptSubmit", "PreToolUse.Bash", "mcp__backsight__files_revert"),
        (Agent::Gemini, "BeforeAgent", "BeforeTool.run_shell_command", "mcp_backsight_files_revert"),
    ] {
        let stage = Stage::live(agent);
        stage.say(prompt);
        let about = |reference: &str| [("/tool_name", json!(tool)), ("/tool_input", json!(arguments(reference)))];
        stage.say_with(begin, &about("@"));
        stage.say_with(begin, &about("@~1"));
        let asks = |name: &str, reference: &str, part: Option<&str>| {
            who_asks(&stage.workspace, name, &arguments(reference), part)
        };
        assert_eq!(asks("files_undo", "@", None), None, "{agent}: another tool");
        let part = (agent == Agent::ClaudeCode).then_some("toolu_01Bash");
        let asker = asks("files_revert", "@~1", part).unwrap_or_else(|| panic!("{agent}"));
        assert!(asker.session.is_some() && asker.message.is_some() && asker.part.is_some(), "{agent}: {asker:?}");
        assert_eq!(asks("files_revert", "@~1", part), None, "{agent}: it was called once");
        assert_eq!(stage.open(), 0, "{agent}: our own tools record by themselves");
    }
}

#[test]
fn a_subagent_with_turns_of_its_own_works_for_its_parents_message() {
    let stage = Stage::new(Agent::Codex);
    stage.say("UserPromptSubmit");
    let hands_over = [("/tool_name", json!("collaborationwait_agent")), ("/tool_use_id", json!("call_wait"))];
    stage.say_with("PreToolUse.Bash", &hands_over);
    assert_eq!(stage.open(), 0, "it writes nothing itself");
    for name in ["PreToolUse.Bash", "PostToolUse.Bash"] {
        let mut payload = stage.payload(name);
        payload["turn_id"] = json!("of its own");
        payload["agent_id"] = json!("01a1e48c-5d32-75d3-992d-6c72a48ff5ea");
        stage.send(&payload);
        stage.write("src/b.rs", "by the subagent\n");
    }
    let step = stage.workspace.show("part:call_bash").unwrap();
    assert_eq!(step.origin.message.as_deref(), Some("0199a213-9000-7000-8000-000000000001"));
}
