//! Conversations as real clients hold them, with ids of 36 characters: what a person sees of them on a terminal of any
//! width, what a model is shown in 500 tokens, and that what is shown can be typed.

use std::io::Read;
use std::process::Command;

use pty_process::Size;
use pty_process::blocking;
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use crate::agents::client::Agent;
use crate::fixture::Fixture;
use crate::hooks::hook;
use crate::serving::server::Server;

const SESSION: &str = "1c99f013-739a-45ac-8acc-ba79c9858eb5";
const MESSAGES: [&str; 5] = [
    "2f23207b-dd45-480f-a3ec-99c8f410c781",
    "8534f457-a2ce-4c2c-bb76-cb77b125df2f",
    "42a00403-1111-4222-8333-944455556666",
    "d8441b56-9f3c-4a6e-8f00-5e0f6b1c7a10",
    "b8a1abcd-0c0d-4e0f-9a0b-1c2d3e4f5a6b",
];
const PROMPT: &str =
    "Rename old_name to new_name in 日本語 too,\nwith ghp_0123456789abcdefghijABCDEFGHIJ012345 and run the tests";
const COMMANDS: [&str; 4] = [
    "sed -i 's/old_name/new_name/g' src/main.rs src/lib.rs && cargo test --workspace -q",
    "npm test -- --fix",
    "python3 tools/generate.py --all --verbose > generated/table.rs",
    "cargo fmt && git diff --stat",
];

fn said(fixture: &Fixture, event: Value) {
    let mut event = event;
    event["session_id"] = json!(SESSION);
    event["cwd"] = json!(fixture.root());
    hook(fixture, "claude-code", event.to_string().as_bytes());
}

/// Five messages of Claude Code with four tools each: twenty rows after the first.
fn conversation() -> Fixture {
    let fixture = Fixture::in_memory();
    fixture.write("src/main.rs", "fn main() {}\n");
    for (number, message) in MESSAGES.iter().enumerate() {
        let prompt = if number == 0 { PROMPT } else { "go on" };
        said(&fixture, json!({ "hook_event_name": "UserPromptSubmit", "prompt_id": message, "prompt": prompt }));
        for tool in 0..4 {
            use_tool(&fixture, message, number * 4 + tool);
        }
    }
    fixture
}

fn use_tool(fixture: &Fixture, message: &str, number: usize) {
    let file = format!("src/deep/module_{number}.rs");
    let (tool, input) = match number % 2 {
        0 => ("Bash", json!({ "command": COMMANDS[number / 2 % COMMANDS.len()] })),
        _ => ("Edit", json!({ "file_path": fixture.root().join(&file), "old_string": "", "new_string": "x" })),
    };
    let part = format!("toolu_{:04x}4587b69580{number:02}", number * 2654 % 65536);
    let event = |name: &str| {
        json!({ "hook_event_name": name, "prompt_id": message, "tool_name": tool, "tool_use_id": part,
            "tool_input": input, "tool_response": {} })
    };
    said(fixture, event("PreToolUse"));
    fixture.write(&file, &"x\n".repeat(number + 1));
    said(fixture, event("PostToolUse"));
}

/// What goes into a pipe, as it is.
fn piped(fixture: &Fixture, line: &str) -> String {
    String::from_utf8(fixture.command(line).output().unwrap().stdout).unwrap()
}

/// What is shown on a terminal with so many columns.
fn on_terminal(mut command: Command, columns: u16) -> Vec<String> {
    let (mut pty, pts) = blocking::open().unwrap();
    pty.resize(Size::new(30, columns)).unwrap();
    command.env_remove("COLUMNS").env("TERM", "xterm").env("NO_COLOR", "1").env("LANG", "C.UTF-8");
    let mut child = blocking::Command::from(command).spawn(pts).unwrap();
    let mut shown = Vec::new();
    // The other end goes away with the process, which is how the reading ends.
    let mut piece = [0; 4096];
    while let Ok(length @ 1..) = pty.read(&mut piece) {
        shown.extend_from_slice(&piece[..length]);
    }
    assert!(child.wait().unwrap().success());
    String::from_utf8(shown).unwrap().replace('\r', "").lines().map(str::to_owned).collect()
}

#[test]
fn lists_fit_every_terminal_and_nothing_is_cut_in_a_pipe() {
    let fixture = conversation();
    for columns in [60, 80, 132] {
        for line in ["log", "log --file src/main.rs", "status", "session list", "session show 1c99"] {
            for row in on_terminal(fixture.command(line), columns) {
                assert!(row.width() <= usize::from(columns), "{columns}, {line}: {row}");
            }
        }
    }
    let piped = piped(&fixture, "log");
    assert!(
        piped.contains(&format!("Bash: {} (session 1c99f013, message 2f23207b, part toolu_", COMMANDS[0])),
        "{piped}"
    );
    assert!(!piped.contains('…'), "{piped}");
}

#[test]
fn a_person_sees_client_title_and_short_ids_once() {
    let fixture = conversation();
    let log = on_terminal(fixture.command("log -n 4"), 80);
    assert_eq!(log.len(), 7, "{log:?}");
    assert!(log[1].ends_with("Bash: npm test -- --fix (1c99f013/b8a1abcd)"), "{log:?}");
    assert_eq!(log[5], "1c99f013  claude-code  Rename old_name to new_name in 日本語 too, with…");
    let list = on_terminal(fixture.command("session list"), 80);
    assert_eq!(list, ["1c99f013  just now  claude-code  20 steps  Rename old_name to new_name in 日本…"]);
    let status = on_terminal(fixture.command("status"), 80);
    assert!(
        status.contains(&"Session 1c99f013  claude-code  Rename old_name to new_name in 日本語 too, with…".to_owned())
    );
    let show = on_terminal(fixture.command("session show 1c99"), 80);
    assert_eq!(
        &show[..3],
        ["1c99f013", "title     Rename old_name to new_name in 日本語 too, with…", "client    claude-code"]
    );
    // Long ids where they are asked for, and no secret anywhere in the store's texts.
    assert!(piped(&fixture, "session list --verbose").starts_with(SESSION));
    let told = fixture.ok("session list");
    assert_eq!(told["sessions"][0]["id"], SESSION);
    assert_eq!(told["sessions"][0]["client"], "claude-code");
    assert!(!told.to_string().contains("ghp_"));
    assert_eq!(fixture.ok("log -n 1")["rows"].as_array().unwrap().len(), 1);
}

#[test]
fn notes_and_hints_break_between_words() {
    let fixture = conversation();
    fixture.write("src/main.rs", "fn main() { changed() }\n");
    let status = on_terminal(fixture.command("status"), 50).join("\n");
    let whole = "a tool call that begins now goes on and lists it as not its own (strategy warn)";
    assert!(status.replace("\n      ", " ").contains(whole), "{status}");
    assert!(
        status.contains("\nhint: see the changes with `backsight diff @`,\n      record them with `backsight track`"),
        "{status}"
    );
}

#[test]
fn what_is_shown_can_be_typed_on_every_surface() {
    let fixture = conversation();
    let server = Server::start(&fixture);
    assert_eq!(server.get("/session/1c99").ok()["id"], SESSION);
    assert_eq!(server.get("/session/1c99f013/diff?messageID=b8a1").ok()["diffs"].as_array().unwrap().len(), 4);
    let mut agent = Agent::new(&fixture);
    let plan = agent.ok("files_revert", json!({ "refs": ["message:b8a1"] }));
    assert_eq!(plan["reverted"].as_array().unwrap().len(), 4, "{plan}");
    assert_eq!(
        agent.ok("history_query", json!({ "session": "1c99", "limit": 3 }))["rows"].as_array().unwrap().len(),
        3
    );
    let dry = piped(&fixture, "session revert 1c99 --message b8a1 --dry-run");
    assert!(dry.starts_with("Would take session 1c99f013 back to before b8a1abcd"), "{dry}");
    fixture.done("revert message:b8a1abcd");
    assert!(!fixture.root().join("src/deep/module_19.rs").exists());
    fixture.done("revert part:toolu_0000");
    assert!(!fixture.root().join("src/deep/module_0.rs").exists());
    // Two that begin alike are named, and neither is taken.
    fixture.done("session start 1c99aaaa-0000-4000-8000-000000000000");
    let refused = server.get("/session/1c99").fails(409, "REF_AMBIGUOUS");
    assert!(refused.to_string().contains(SESSION), "{refused}");
    let refused = fixture.ask("session show 1c99").fails("REF_AMBIGUOUS", 4).to_string();
    assert!(refused.contains("1c99aaaa-0000-4000-8000-000000000000") && refused.contains(SESSION), "{refused}");
    agent.fails("history_query", json!({ "session": "1c99" }), "REF_AMBIGUOUS");
    server.end();
}

#[test]
fn a_model_sees_fifteen_rows_in_the_usual_budget() {
    let fixture = conversation();
    let mut agent = Agent::new(&fixture);
    let said = agent.call("history_query", json!({}));
    let rows: Vec<&str> = said.structured["rows"].as_array().unwrap().iter().map(|row| row.as_str().unwrap()).collect();
    assert!(rows.len() >= 15, "{} rows: {}", rows.len(), said.text);
    assert!(said.text.lines().filter(|line| line.starts_with('#')).count() >= 15, "{}", said.text);
    assert!(backsight_core::estimate_tokens(&said.structured.to_string()) <= 500);
    assert_eq!(said.structured["summary"], "21 rows of session 1c99f013 (claude-code)");
    // Each message is named once, at its first row, and can be asked for.
    for message in ["b8a1abcd", "d8441b56", "42a00403"] {
        assert_eq!(rows.iter().filter(|row| row.contains(&format!("@{message} "))).count(), 1, "{rows:?}");
    }
    assert!(rows[1].contains(": Bash: npm test -- --fix"), "{rows:?}");
    let next = &said.structured["next"]["arguments"];
    let rest = agent.ok("history_query", next.clone());
    assert!(rest["rows"][0].as_str().unwrap().contains('@'), "a page names the message it begins in: {rest}");
    assert_eq!(rest["rows"].as_array().unwrap().len() + rows.len(), 21);
    let one = agent.ok("history_query", json!({ "ref": "#2" }));
    assert!(one["summary"].as_str().unwrap().contains("Bash@1c99f013/2f23207b/toolu_0000 "), "{one}");
}

#[test]
fn a_shell_completes_references_sessions_messages_and_agents() {
    let fixture = conversation();
    let values = |line: &str| -> Vec<String> {
        let mut command = fixture.command("completions --values");
        command.args(line.split(' '));
        let told = String::from_utf8(command.output().unwrap().stdout).unwrap();
        told.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect()
    };
    assert_eq!(values("session show "), ["1c99f013"]);
    assert_eq!(values("log --session 1c"), ["1c99f013"]);
    assert_eq!(values("session revert 1c99 --message d"), ["d8441b56"]);
    assert_eq!(values("hook c"), ["claude-code", "codex", "cursor"]);
    assert_eq!(values("revert ")[..4], ["@", "now", "21", "20"]);
    assert!(values("log --text ").is_empty() && values("status --ex").is_empty());
    // In a real shell: what the program offers, else what the script knows.
    let script = fixture.base().join("backsight.bash");
    std::fs::write(&script, piped(&fixture, "completions bash")).unwrap();
    let program = env!("CARGO_BIN_EXE_backsight");
    let press = |words: &str, count: usize| {
        let test = format!(
            "backsight() {{ {program} \"$@\"; }}\n. {}\nCOMP_WORDS=({words}); COMP_CWORD={count}; \
             _backsight_values backsight \"${{COMP_WORDS[$COMP_CWORD]}}\" \"${{COMP_WORDS[$COMP_CWORD-1]}}\"; \
             echo \"${{COMPREPLY[@]}}\"",
            script.display()
        );
        let mut command = fixture.command("status");
        let mut bash = Command::new("bash");
        bash.args(["-c", &test]).current_dir(fixture.root()).env_clear().env("PATH", "/usr/bin:/bin");
        bash.envs(command.env("TERM", "xterm").get_envs().filter_map(|(name, value)| Some((name, value?))));
        let output = bash.output().unwrap();
        String::from_utf8(output.stdout).unwrap() + &String::from_utf8_lossy(&output.stderr)
    };
    assert_eq!(press("backsight session show 1c", 3), "1c99f013\n");
    assert_eq!(press("backsight session unr", 2), "unrevert\n");
    for shell in ["zsh", "fish"] {
        let script = piped(&fixture, &format!("completions {shell}"));
        assert!(script.contains("backsight completions --values"), "{shell}");
    }
    assert!(piped(&fixture, "completions zsh").contains("compdef _backsight_values backsight"));
}

#[test]
fn no_shell_evaluates_what_an_agent_calls_its_session() {
    let fixture = Fixture::new();
    fixture.write("x", "#!/bin/sh\ntouch RAN\n");
    let mark = fixture.root().join("x");
    std::fs::set_permissions(&mark, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let hostile = ["$(./x)", "`./x`", "a;./x", "${IFS}|./x", "'./x'", "a\\", "<(./x)", "~", "*", "--values"];
    for (number, id) in hostile.iter().enumerate() {
        fixture.write("a", &number.to_string());
        let mut command = fixture.command("track");
        // As a word of its own, whatever is in it.
        assert!(
            command
                .arg(format!("--session={id}"))
                .args(["--message=$(./x)", "-m", "`./x` $(./x)"])
                .status()
                .unwrap()
                .success()
        );
    }
    let script = fixture.base().join("backsight.bash");
    std::fs::write(&script, piped(&fixture, "completions bash")).unwrap();
    let test = format!(
        "backsight() {{ {program} \"$@\"; }}\n. {script}\n\
         press() {{ COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _backsight_values backsight \"${{COMP_WORDS[COMP_CWORD]}}\" x; }}\n\
         press backsight session show ''; for word in \"${{COMPREPLY[@]}}\"; do eval \"printf '%s\\n' $word\"; done; echo --\n\
         press backsight session revert '$(./x)' --message ''; printf '%s\\n' \"${{COMPREPLY[@]}}\"; echo --\n\
         press backsight show ''; printf '%s\\n' \"${{COMPREPLY[@]}}\" | head -2",
        program = env!("CARGO_BIN_EXE_backsight"),
        script = script.display(),
    );
    let known = fixture.command("status");
    let mut bash = Command::new("bash");
    bash.args(["-c", &test]).current_dir(fixture.root()).env_clear().env("PATH", "/usr/bin:/bin");
    bash.envs(known.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = bash.output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    let (mut ids, rest): (Vec<&str>, String) = {
        let (ids, rest) = told.split_once("--\n").unwrap();
        (ids.lines().collect(), rest.to_owned())
    };
    ids.sort_unstable();
    // Each is one word on a command line and means itself; what would be an option is not offered.
    let mut wanted: Vec<&str> = hostile.iter().copied().filter(|id| !id.starts_with('-')).collect();
    wanted.sort_unstable();
    assert_eq!(ids, wanted, "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(rest, "\\$\\(./x\\)\n--\n@\nnow\n");
    assert!(!fixture.root().join("RAN").exists(), "a program of the workspace ran");
}
