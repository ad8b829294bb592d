//! Whole conversations: which step belongs to whom, when tools run side by side, fail, are denied or never end, and
//! when the user writes files meanwhile.

use backsight::report::Strategy;
use backsight::request::{Begin, ConfigChange, Undo};
use backsight_server::hook::Agent;
use insta::assert_snapshot;
use serde_json::json;

use crate::stage::Stage;

/// The begin and the end of one tool of a client, and the files it writes: an edit, then a command.
fn script(agent: Agent) -> [(&'static str, &'static str); 2] {
    match agent {
        Agent::ClaudeCode => [("PreToolUse.Edit", "PostToolUse.Edit"), ("PreToolUse.Bash", "PostToolUse.Bash")],
        Agent::Codex => {
            [("PreToolUse.apply_patch", "PostToolUse.apply_patch"), ("PreToolUse.Bash", "PostToolUse.Bash")]
        }
        Agent::Gemini => [
            ("BeforeTool.write_file", "AfterTool.write_file"),
            ("BeforeTool.run_shell_command", "AfterTool.run_shell_command"),
        ],
        Agent::Cursor => [("preToolUse.Write", "postToolUse.Write"), ("preToolUse.Shell", "postToolUse.Shell")],
        Agent::OpenCode => [
            ("tool.execute.before.edit", "tool.execute.after.edit"),
            ("tool.execute.before.bash", "tool.execute.after.bash"),
        ],
    }
}

fn frame(agent: Agent) -> [&'static str; 4] {
    match agent {
        Agent::ClaudeCode | Agent::Codex => ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"],
        Agent::Gemini => ["SessionStart", "BeforeAgent", "AfterAgent", "SessionEnd"],
        Agent::Cursor => ["sessionStart", "beforeSubmitPrompt", "stop", "sessionEnd"],
        Agent::OpenCode => ["session.created", "chat.message", "session.idle", "session.deleted"],
    }
}

#[test]
fn every_agent_is_recorded_without_the_model_doing_anything() {
    for &agent in Agent::ALL {
        let stage = Stage::new(agent);
        let [start, prompt, stop, end] = frame(agent);
        let [(edit_begin, edit_end), (shell_begin, shell_end)] = script(agent);
        stage.say(start);
        stage.write("notes.txt", "by hand, before the prompt\n");
        stage.say(prompt);
        stage.say(edit_begin);
        stage.write("src/a.rs", "two\n");
        stage.say(edit_end);
        stage.write("notes.txt", "by hand, between two tools\n");
        stage.say(shell_begin);
        stage.write("src/b.rs", "formatted\n");
        stage.write("lock", "by the command\n");
        stage.say(shell_end);
        stage.say(stop);
        stage.say(end);
        let rows: Vec<String> = stage.rows().lines().map(str::to_owned).collect();
        assert_eq!(rows.len(), 4, "{agent}: {rows:#?}");
        assert!(rows[0].starts_with("#1 external - "), "{agent}: {rows:#?}");
        assert!(rows[1].starts_with("#2 external - [notes.txt]"), "{agent}: {rows:#?}");
        assert!(rows[2].contains("[src/a.rs]"), "{agent}: {rows:#?}");
        assert!(rows[3].contains("[lock src/b.rs +notes.txt]"), "{agent}: {rows:#?}");
        assert_eq!(stage.open(), 0, "{agent}");
        let step = stage.last();
        let origin = step.origin;
        assert!(origin.session.is_some() && origin.message.is_some() && origin.part.is_some(), "{agent}: {origin:?}");
        // Taking the agent's work back leaves the user's.
        stage.workspace.undo(&Undo { count: 2, ..Undo::default() }).unwrap();
        assert_eq!(stage.read("src/a.rs"), "one\n", "{agent}");
        assert_eq!(stage.read("notes.txt"), "by hand, between two tools\n", "{agent}");
    }
}

#[test]
fn a_session_says_its_client_and_the_first_words_of_its_first_prompt() {
    for &agent in Agent::ALL {
        let stage = Stage::new(agent);
        let [start, prompt, ..] = frame(agent);
        let [(begin, end), _] = script(agent);
        for name in [start, prompt, begin] {
            stage.say(name);
        }
        stage.write("src/a.rs", "two\n");
        stage.say(end);
        let mut again = stage.payload(prompt);
        let said = if agent == Agent::OpenCode { &mut again["input"]["prompt"] } else { &mut again["prompt"] };
        *said = json!("something else");
        stage.send(&again);
        let session = stage.workspace.session(stage.last().origin.session.as_deref().unwrap()).unwrap().session;
        assert_eq!(session.client.as_deref(), Some(agent.as_str()), "{agent}");
        assert_eq!(session.title.as_deref(), Some("rename the parser"), "{agent}");
    }
}

#[test]
fn a_use_whose_id_begins_like_another_is_another() {
    let stage = Stage::new(Agent::ClaudeCode);
    stage.say("UserPromptSubmit");
    let mut longer = stage.payload("PostToolUse.Edit");
    longer["tool_use_id"] = json!("toolu_01Edit2");
    stage.write("src/a.rs", "two\n");
    stage.send(&longer);
    stage.write("src/a.rs", "three\n");
    stage.say("PostToolUse.Edit");
    assert_eq!((stage.last().sequence_number.0, stage.last().origin.part.as_deref()), (3, Some("toolu_01Edit")));
}

#[test]
fn a_step_says_session_message_part_and_tool() {
    let stage = Stage::new(Agent::ClaudeCode);
    for name in ["SessionStart", "UserPromptSubmit", "PreToolUse.Edit"] {
        stage.say(name);
    }
    stage.write("src/a.rs", "two\n");
    stage.say("PostToolUse.Edit");
    let step = stage.last();
    assert_eq!(step.description, "Edit: src/a.rs");
    assert_eq!(step.origin.tool.as_deref(), Some("Edit"));
    assert_eq!(step.origin.session.as_deref(), Some("7f1c2a30-5a3e-4a43-9a55-0d2d0c2f5a01"));
    assert_eq!(step.origin.message.as_deref(), Some("0b7a1d6e-44cf-4b0a-8a55-b1c0d3f1e201"));
    assert_eq!(step.origin.part.as_deref(), Some("toolu_01Edit"));
    assert_eq!(step.origin.declared.len(), 1);
}

#[test]
fn messages_nobody_numbers_are_numbered() {
    let stage = Stage::new(Agent::Gemini);
    for text in ["two\n", "three\n"] {
        stage.say("BeforeAgent");
        stage.say("BeforeTool.write_file");
        stage.write("src/a.rs", text);
        stage.say("AfterTool.write_file");
        stage.say("AfterAgent");
    }
    let message = |reference| stage.workspace.show(reference).unwrap().origin.message.unwrap();
    assert_eq!(message("@~1"), "c8f3d0b2-1111-4222-8333-944455556666:1");
    assert_eq!(message("@"), "c8f3d0b2-1111-4222-8333-944455556666:2");
}

#[test]
fn equal_uses_that_nobody_numbers_have_ids_of_their_own() {
    let stage = Stage::new(Agent::Gemini);
    stage.say("BeforeAgent");
    for text in ["two\n", "three\n", "four\n"] {
        stage.say("BeforeTool.run_shell_command");
        stage.write("src/a.rs", text);
        stage.say("AfterTool.run_shell_command");
    }
    let part = |reference| stage.workspace.show(reference).unwrap().origin.part.unwrap();
    let first = part("@~2");
    assert_eq!((part("@~1"), part("@")), (format!("{first}.2"), format!("{first}.3")));
    assert_eq!(stage.open(), 0);
}

#[test]
fn tools_that_write_nothing_cost_nothing() {
    let stage = Stage::new(Agent::ClaudeCode);
    stage.say("PreToolUse.Read");
    assert!(stage.workspace.store_path().unwrap().is_none(), "not even a store");
    let elsewhere = json!("/somewhere/else.md");
    stage.say_with("PreToolUse.Edit", &[("/tool_input/file_path", elsewhere)]);
    assert!(stage.workspace.store_path().unwrap().is_none(), "a file outside the workspace is nobody's business here");
}

#[test]
fn what_is_heard_twice_happens_once() {
    let stage = Stage::new(Agent::ClaudeCode);
    stage.say("UserPromptSubmit");
    stage.say("UserPromptSubmit");
    stage.say("PreToolUse.Edit");
    stage.say("PreToolUse.Edit");
    assert_eq!(stage.open(), 1);
    stage.write("src/a.rs", "two\n");
    stage.say("PostToolUse.Edit");
    stage.write("src/a.rs", "by hand\n");
    stage.say("PostToolUse.Edit");
    assert_snapshot!(stage.rows(), @r"
    #1 external - [src/a.rs src/b.rs] before the agent's first step
    #2 Edit toolu_01Edit [src/a.rs] Edit: src/a.rs
    ");
}

#[test]
fn two_hooks_that_begin_the_same_use_at_once_make_one_step() {
    let stage = Stage::new(Agent::ClaudeCode);
    stage.say("UserPromptSubmit");
    stage.say("PreToolUse.Bash");
    // The other one looked before the first had begun.
    let origin = stage.workspace.open_calls().unwrap()[0].origin.clone();
    stage.workspace.begin(&Begin { origin, ..Begin::default() }).unwrap();
    stage.write("src/b.rs", "made\n");
    stage.say("PostToolUse.Bash");
    stage.say("PostToolUse.Bash");
    assert_eq!((stage.open(), stage.last().sequence_number.0), (0, 2));
}

#[test]
fn an_end_without_a_begin_records_what_the_tool_declares_and_only_that() {
    let stage = Stage::new(Agent::ClaudeCode);
    stage.say("UserPromptSubmit");
    stage.write("src/a.rs", "two\n");
    stage.write("src/b.rs", "somebody\n");
    stage.say("PostToolUse.Bash");
    stage.say("PostToolUse.Edit");
    assert_snapshot!(stage.rows(), @r"
    #1 external - [src/a.rs src/b.rs] before the agent's first step
    #2 Edit toolu_01Edit [src/a.rs +src/b.rs] Edit: src/a.rs
    ");
}

#[test]
fn tools_side_by_side_keep_their_own() {
    let stage = Stage::new(Agent::ClaudeCode);
    stage.say("UserPromptSubmit");
    stage.say("PreToolUse.Bash");
    stage.say("PreToolUse.Edit");
    stage.say("PreToolUse.subagent");
    stage.write("src/a.rs", "two\n");
    stage.write("src/b.rs", "subagent\n");
    stage.write("built", "by the command\n");
    stage.say("PostToolUse.Edit");
    stage.say("PostToolUse.Bash");
    let ended = [
        ("/tool_use_id", json!("toolu_01Sub")),
        ("/tool_input/file_path", json!(format!("{}/src/b.rs", stage.root()))),
    ];
    stage.say_with("PostToolUse.Edit", &ended);
    assert_snapshot!(stage.rows(), @r"
    #1 external - [src/a.rs src/b.rs] before the agent's first step
    #2 Edit toolu_01Edit [src/a.rs] Edit: src/a.rs
    #3 Bash toolu_01Bash [built] Bash: npm test -- --fix
    #4 Write toolu_01Sub [src/b.rs] Edit: src/b.rs
    ");
    assert_eq!(stage.open(), 0);
}

#[test]
fn a_denied_tool_is_nobodys_step_and_the_users_edit_stays_the_users() {
    for denial in ["PermissionDenied", "PostToolBatch"] {
        let stage = Stage::new(Agent::ClaudeCode);
        stage.say("UserPromptSubmit");
        stage.say("PreToolUse.Bash");
        stage.write("src/b.rs", "the user does it instead\n");
        stage.say(denial);
        assert_eq!(stage.open(), 0, "{denial}");
        stage.say("UserPromptSubmit");
        let rows = stage.rows();
        assert!(rows.ends_with("#2 external - [src/b.rs] changed outside: src/b.rs"), "{denial}: {rows}");
    }
}

#[test]
fn a_failed_tool_owns_what_it_wrote() {
    let stage = Stage::new(Agent::ClaudeCode);
    stage.say("UserPromptSubmit");
    stage.say("PreToolUse.Bash");
    stage.write("src/b.rs", "half\n");
    stage.say("PostToolUseFailure");
    assert_snapshot!(stage.rows(), @r"
    #1 external - [src/a.rs src/b.rs] before the agent's first step
    #2 Bash toolu_01Bash [src/b.rs] Bash: npm test -- --fix (failed)
    ");
}

#[test]
fn codex_reports_no_failures_so_the_end_of_the_turn_finishes() {
    let stage = Stage::new(Agent::Codex);
    stage.say("UserPromptSubmit");
    stage.say("PreToolUse.Bash");
    stage.write("src/b.rs", "half\n");
    stage.say("PreToolUse.apply_patch");
    stage.write("src/a.rs", "two\n");
    stage.say("PostToolUse.apply_patch");
    stage.say("Stop");
    assert_snapshot!(stage.rows(), @r"
    #1 external - [src/a.rs src/b.rs] before the agent's first step
    #2 apply_patch call_patch [src/a.rs] apply_patch: 2 files
    #3 Bash call_bash [src/b.rs] Bash: cargo fmt (interrupted)
    ");
    assert_eq!(stage.open(), 0);
}

#[test]
fn what_goes_on_in_the_background_stays_open() {
    let stage = Stage::new(Agent::ClaudeCode);
    stage.say("UserPromptSubmit");
    stage.say("PreToolUse.subagent");
    stage.say("Stop.background");
    assert_eq!(stage.open(), 1);
    stage.write("src/b.rs", "later\n");
    let ended = [
        ("/tool_use_id", json!("toolu_01Sub")),
        ("/tool_input/file_path", json!(format!("{}/src/b.rs", stage.root()))),
    ];
    stage.say_with("PostToolUse.Edit", &ended);
    assert_eq!((stage.open(), stage.last().origin.part.as_deref()), (0, Some("toolu_01Sub")));
}

#[test]
fn another_session_and_calls_begun_by_hand_are_left_alone() {
    let stage = Stage::new(Agent::ClaudeCode);
    stage.say("UserPromptSubmit");
    let by_hand = stage.workspace.begin(&Begin::default()).unwrap();
    stage.say("PreToolUse.Bash");
    stage.say_with("Stop", &[("/session_id", json!("another"))]);
    assert_eq!(stage.open(), 2);
    stage.say("Stop");
    let open = stage.workspace.open_calls().unwrap();
    assert_eq!(open.iter().map(|call| call.id.clone()).collect::<Vec<_>>(), [by_hand.call.id]);
}

#[test]
fn an_agent_that_died_keeps_nothing_pending_for_ever() {
    let stage = Stage::new(Agent::ClaudeCode);
    stage.say("UserPromptSubmit");
    stage.say("PreToolUse.Bash");
    stage.write("src/b.rs", "half\n");
    stage.hours_pass(1);
    let another = [("/session_id", json!("another"))];
    stage.say_with("UserPromptSubmit", &another);
    assert_eq!((stage.open(), stage.last().sequence_number.0), (1, 1), "it may still be at work");
    stage.hours_pass(6);
    stage.say_with("UserPromptSubmit", &another);
    assert_eq!(stage.open(), 0);
    assert_eq!(stage.last().description, "Bash: npm test -- --fix (interrupted)");
}

#[test]
fn strict_is_said_and_does_not_stop_the_agent() {
    let stage = Stage::new(Agent::ClaudeCode);
    stage.say("UserPromptSubmit");
    let strict = ConfigChange { unknown_change_strategy: Some(Strategy::Strict), ..ConfigChange::default() };
    stage.workspace.update_config(&strict).unwrap();
    stage.write("src/b.rs", "by hand\n");
    let prompt = stage.say("UserPromptSubmit");
    assert_snapshot!(prompt.output["systemMessage"].as_str().unwrap(), @r"Backsight: 1 file was changed outside, which the strategy `strict` asks you to look at (`backsight status`): src/b.rs");
    let begin = stage.say("PreToolUse.Edit");
    assert_eq!(begin.output, prompt.output);
    stage.write("src/a.rs", "two\n");
    stage.say("PostToolUse.Edit");
    assert_snapshot!(stage.rows(), @r"
    #1 external - [src/a.rs src/b.rs] before the agent's first step
    #2 Edit toolu_01Edit [src/a.rs +src/b.rs] Edit: src/a.rs
    ");
    stage.workspace.undo(&Undo::default()).unwrap();
    assert_eq!((stage.read("src/a.rs").as_str(), stage.read("src/b.rs").as_str()), ("one\n", "by hand\n"));
}
