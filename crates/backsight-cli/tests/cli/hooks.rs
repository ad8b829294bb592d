//! `hook`: a real process, the client's payload on stdin, and an agent that is never stopped.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::fixture::Fixture;

/// A payload as the client's published types give it, in this workspace.
fn payload(fixture: &Fixture, agent: &str, name: &str) -> String {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../backsight-server/tests/hooks/fixtures");
    let text = fs::read_to_string(fixtures.join(agent).join(format!("{name}.json"))).unwrap();
    text.replace("{root}", fixture.root().to_str().unwrap())
}

fn spawn(mut command: Command, stdin: &[u8]) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A process that has seen enough may close its end.
    let _ = child.stdin.take().unwrap().write_all(stdin);
    child
}

fn send(command: Command, stdin: &[u8]) -> Output {
    spawn(command, stdin).wait_with_output().unwrap()
}

/// Runs a hook whose client does not read what it says.
pub fn send_unread(command: Command, stdin: &[u8]) {
    let mut command = command;
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    child.stdin.take().unwrap().write_all(stdin).unwrap();
    assert!(child.wait().unwrap().success());
}

/// The agent's hook; whatever happens it exits with 0 and prints one JSON object.
#[track_caller]
pub fn hook(fixture: &Fixture, line: &str, stdin: &[u8]) -> (Value, String) {
    let output = send(fixture.command(&format!("hook {line}")), stdin);
    let text = String::from_utf8(output.stdout).unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{line}: {stderr}");
    let value: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{line}: {error}: {text}"));
    assert!(value.is_object() && text.lines().count() == 1, "{line}: {text}");
    (value, fixture.normalise(&stderr))
}

#[test]
fn a_conversation_is_recorded_by_processes_of_their_own() {
    let fixture = Fixture::new();
    fixture.write("src/a.rs", "one\n");
    let say = |name: &str| {
        let answered = hook(&fixture, "claude-code", payload(&fixture, "claude-code", name).as_bytes());
        assert_eq!(answered, (json!({}), String::new()), "{name}");
    };
    say("SessionStart");
    say("UserPromptSubmit");
    say("PreToolUse.Edit");
    fixture.write("src/a.rs", "two\n");
    say("PostToolUse.Edit");
    say("PreToolUse.Bash");
    fixture.write("src/b.rs", "made\n");
    say("PostToolUse.Bash");
    say("Stop");
    assert_snapshot!(fixture.run("log"), @r"
      *  #3  [SHORT]  just now  +1 -0  1 file  Bash: npm test -- --fix (session [SHORT], message [SHORT], part toolu_01Bash)
      *  #2  [SHORT]  just now  +1 -1  1 file  Edit: src/a.rs (session [SHORT], message [SHORT], part toolu_01Edit)
    *    #1  [SHORT]  just now         1 file  before the agent's first step (external)
    ---- exit 0
    ");
    let row = fixture.ok("show @");
    assert_eq!(row["session"], "7f1c2a30-5a3e-4a43-9a55-0d2d0c2f5a01");
    assert_eq!(
        (&row["message"], &row["part"]),
        (&json!("0b7a1d6e-44cf-4b0a-8a55-b1c0d3f1e201"), &json!("toolu_01Bash"))
    );
    fixture.done("revert message:0b7a1d6e-44cf-4b0a-8a55-b1c0d3f1e201");
    assert_eq!(fixture.read("src/a.rs"), "one\n");
    fixture.verify();
}

#[test]
fn nothing_that_comes_in_stops_the_agent() {
    let fixture = Fixture::new();
    let garbage: [&[u8]; 7] = [b"", b"{", b"null", b"[]", b"\xff\xfe", b"{\"hook_event_name\": 3}", b"{} {}"];
    for agent in ["claude-code", "codex", "gemini", "cursor", "opencode"] {
        for stdin in garbage {
            let (_, stderr) = hook(&fixture, agent, stdin);
            assert!(stderr.starts_with("backsight: this step is not recorded: "), "{agent}: {stderr}");
            assert_eq!(stderr.lines().count(), 1, "{agent}: {stderr}");
        }
    }
    let (_, stderr) = hook(&fixture, "emacs", b"{}");
    assert!(stderr.contains("no agent `emacs` is known"), "{stderr}");
    assert!(!fixture.root().join(".backsight").exists());
}

#[test]
fn wrong_arguments_do_not_exit_with_a_status_that_blocks() {
    let fixture = Fixture::new();
    for line in [
        "hook",
        "hook claude-code --nonsense",
        "--wait x hook claude-code",
        "--wait -1 hook claude-code",
        "hook a b c d",
    ] {
        let output = send(fixture.command(line), b"{}");
        assert_eq!(output.status.code(), Some(0), "{line}");
        assert!(!output.stderr.is_empty(), "{line}");
    }
    assert_eq!(send(fixture.command("track hook --nonsense"), b"").status.code(), Some(2));
}

#[test]
fn a_failure_is_told_to_the_user_on_one_line() {
    let fixture = Fixture::new();
    fixture.done("track");
    fixture.write(".backsight/store/config.toml", "exclude = [\n");
    let (answer, stderr) =
        hook(&fixture, "claude-code", payload(&fixture, "claude-code", "PreToolUse.Bash").as_bytes());
    assert_snapshot!(stderr, @r"backsight: this step is not recorded: `[TMP]/ws/.backsight/store/config.toml` is not valid TOML: line 1: unclosed array, expected `]` (mend or remove the file)");
    let keys: Vec<&String> = answer.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["systemMessage"]);
    assert!(answer["systemMessage"].as_str().unwrap().starts_with("Backsight: this step is not recorded: "));
}

#[test]
fn a_busy_workspace_is_waited_for_only_shortly() {
    let fixture = Fixture::new();
    fixture.write("a.txt", "a\n");
    fixture.done("track");
    let lock = fs::File::options().write(true).open(fixture.root().join(".backsight/store/lock")).unwrap();
    lock.lock().unwrap();
    let began = Instant::now();
    let (_, stderr) = hook(&fixture, "codex", payload(&fixture, "codex", "PreToolUse.Bash").as_bytes());
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    assert!(stderr.starts_with("backsight: this step is not recorded: "), "{stderr}");
}

#[test]
fn a_payload_that_is_too_large_or_never_ends_is_given_up() {
    let fixture = Fixture::new();
    let huge = format!("{{\"x\": \"{}\"}}", "y".repeat(17 << 20));
    let (_, stderr) = hook(&fixture, "gemini", huge.as_bytes());
    assert!(stderr.contains("the payload is larger than 16 MiB"), "{stderr}");
}

#[test]
fn the_project_is_found_from_what_the_agent_says() {
    let fixture = Fixture::new();
    fixture.write("sub/a.txt", "a\n");
    let prompt = payload(&fixture, "claude-code", "UserPromptSubmit");
    let elsewhere = |variable: Option<&str>| {
        let mut command = fixture.command("hook claude-code");
        command.current_dir(fixture.base());
        if let Some(directory) = variable {
            command.env("CLAUDE_PROJECT_DIR", fixture.root().join(directory));
        }
        assert!(send(command, prompt.as_bytes()).status.success());
    };
    elsewhere(Some("sub"));
    assert!(fixture.root().join("sub/.backsight/store").is_dir(), "the project, not the shell's directory");
    fs::remove_dir_all(fixture.root().join("sub/.backsight")).unwrap();
    elsewhere(None);
    assert!(fixture.root().join(".backsight/store").is_dir());
    elsewhere(Some("sub"));
    assert!(!fixture.root().join("sub/.backsight").exists(), "a store above is used");
}

#[test]
fn no_store_is_made_in_a_home_directory() {
    let fixture = Fixture::new();
    let prompt = payload(&fixture, "claude-code", "UserPromptSubmit");
    let prompt = prompt.replace(fixture.root().to_str().unwrap(), fixture.home().to_str().unwrap());
    let (answer, stderr) = hook(&fixture, "claude-code", prompt.as_bytes());
    assert!(stderr.contains("is your home directory") && answer["systemMessage"].is_string(), "{stderr}");
    let tool = payload(&fixture, "claude-code", "PreToolUse.Bash");
    let tool = tool.replace(fixture.root().to_str().unwrap(), fixture.home().to_str().unwrap());
    assert_eq!(hook(&fixture, "claude-code", tool.as_bytes()).0, json!({}), "said once a prompt");
    assert!(!fixture.home().join(".backsight").exists());
}

#[test]
fn the_event_can_be_named_and_json_says_what_was_made_of_it() {
    let fixture = Fixture::new();
    let mut prompt: Value = serde_json::from_str(&payload(&fixture, "gemini", "BeforeAgent")).unwrap();
    prompt.as_object_mut().unwrap().remove("hook_event_name");
    let output = send(fixture.command("--json hook gemini BeforeAgent"), prompt.to_string().as_bytes());
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let expected = json!({"ok": true, "agent": "gemini", "event": "BeforeAgent", "output": {}, "problems": []});
    assert_eq!(answer, expected);
    assert_eq!(fixture.ok("log")["rows"].as_array().unwrap().len(), 1);
}
