//! `backsight bisect`: what a person sees, what a script reads, and that an interrupted search leaves nothing.

use std::os::unix::fs::PermissionsExt;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};
use serde_json::json;

use crate::agents::client::Agent;
use crate::agents::eventually;
use crate::fixture::{Answer, Fixture};
use crate::hooks::hook;

/// Seven steps, of which the fifth breaks it.
fn shop() -> Fixture {
    let fixture = Fixture::new();
    for number in 1..=7 {
        let value = if number >= 5 { "TAX" } else { "3" };
        fixture.write("shop.py", &format!("# {number}\nprint({value})\n"));
        fixture.done(&format!("track --tool Edit --session s1 -m 'edit {number}'"));
    }
    fixture
}

#[test]
fn the_step_is_shown_with_the_runs_and_its_diff() {
    let fixture = shop();
    let shown = fixture.run("bisect -- python3 shop.py");
    let lines: Vec<&str> = shown.lines().map(str::trim).collect();
    let runs: Vec<&str> = lines.iter().take(5).map(|line| line.split(" ms").next().unwrap()).collect();
    let verdicts: Vec<&str> = runs.iter().map(|line| line.rsplit_once(' ').unwrap().0.trim()).collect();
    assert_eq!(
        verdicts,
        ["#1 good exit 0", "#7 bad  exit 1", "#4 good exit 0", "#6 bad  exit 1", "#5 bad  exit 1"],
        "{shown}"
    );
    for part in [
        "#5 broke it by Edit (5 runs)",
        "who       Edit, session s1",
        "| NameError: name 'TAX' is not defined",
        "-print(3)",
        "+print(TAX)",
        "hint: take it back with `backsight revert 5`",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let (found, status) = fixture.json("bisect --good 2 --bad 6 --jobs 2 -- python3 shop.py");
    assert_eq!((found["found"]["sequence_number"].as_u64(), status), (Some(5), 0));
    assert_eq!(found["found"]["session"], "s1");
    assert!(found["runs"].as_array().unwrap().iter().all(|run| run["verdict"].is_string()));
}

#[test]
fn what_cannot_be_searched_is_an_error_with_the_next_step() {
    let fixture = shop();
    let cases = [
        ("bisect -- false", "the check fails at #1, the good end, too (exit 1)", "--share DIR", 3),
        ("bisect -- true", "the check passes at #7, the bad end (exit 0)", "--bad", 3),
        ("bisect --good 7 --bad 2 -- true", "the good step #7 does not come before the bad step #2", "--good", 3),
        ("bisect --share nowhere -- true", "there is no directory `nowhere` to share", "", 4),
        ("bisect -- no-such-program", "`no-such-program` cannot be run", "search path", 4),
        ("bisect", "required arguments", "Usage: backsight bisect", 2),
    ];
    for (line, message, hint, status) in cases {
        let shown = fixture.run(line);
        assert!(shown.contains(message) && shown.contains(hint), "{line}: {shown}");
        assert!(shown.ends_with(&format!("---- exit {status}")), "{line}: {shown}");
    }
}

#[test]
fn an_interrupted_search_leaves_no_process_no_files_and_no_row() {
    let fixture = shop();
    let (output, is_running) = ended_by(&fixture, Signal::INT, "7531.9753");
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    assert!(!is_running());
    assert_eq!(left_behind(&fixture), 0);
    assert_eq!(fixture.ok("log -n 1")["rows"][0]["kind"], "track");
}

#[test]
fn a_killed_search_leaves_no_process_and_the_next_one_sweeps_its_files() {
    let fixture = shop();
    let (output, is_running) = ended_by(&fixture, Signal::KILL, "7531.8642");
    assert_eq!(output.status.code(), None, "{output:?}");
    eventually("the command and what it started end with the search", || (!is_running()).then_some(()));
    assert_eq!(left_behind(&fixture), 1, "a killed process removes nothing");
    fixture.done("bisect -- python3 shop.py");
    assert_eq!(left_behind(&fixture), 0);
}

/// Searches with a command that sleeps so long, in a child of its own too, and ends the search by a signal meanwhile; how that
/// ended, and whether a sleeper still runs.
fn ended_by(fixture: &Fixture, signal: Signal, seconds: &'static str) -> (Output, impl Fn() -> bool) {
    let mut command = fixture.command(&format!("bisect -- sh -c 'sleep {seconds} & sleep {seconds}'"));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let sleepers = move || {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
        lines.filter(|line| *line == format!("sleep\0{seconds}\0").as_bytes()).count()
    };
    eventually("the command runs", || (sleepers() == 2).then_some(()));
    let process = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(process, signal).unwrap();
    (child.wait_with_output().unwrap(), move || sleepers() > 0)
}

/// How many directories of searches there are.
fn left_behind(fixture: &Fixture) -> usize {
    std::fs::read_dir(fixture.home().join(".local/state/backsight/bisect")).unwrap().count()
}

#[test]
fn what_a_check_does_to_a_shared_file_is_told_whatever_it_hides() {
    for (hidden, is_told) in [
        ("chmod 600 nm/x", true),
        ("cp -p nm/x ref; printf 'LIB\\n' >nm/x; touch -r ref nm/x", true),
        ("cat nm/x", false),
        ("rm -f nm/x", false),
    ] {
        let fixture = Fixture::new();
        fixture.write(".gitignore", "nm\n");
        fixture.write("nm/x", "lib\n");
        for value in 1..=4 {
            fixture.write("v", &value.to_string());
            fixture.done("track");
        }
        let mut command = fixture.command("--json bisect --share nm --");
        command.args(["sh", "-c", &format!("{hidden} >/dev/null; [ $(cat v) -lt 3 ]")]);
        let answer = Answer::of(&mut command, hidden).ok();
        // Where the file system shares blocks, nothing reaches the workspace's file.
        let is_reached = fixture.read("nm/x") != "lib\n"
            || std::fs::metadata(fixture.root().join("nm/x")).unwrap().permissions().mode() & 0o777 == 0o600;
        let told = answer["shared_changed"].as_array().is_some_and(|changed| !changed.is_empty());
        assert_eq!(told, is_told && is_reached, "{hidden}: {answer}");
    }
}

#[test]
fn an_agent_whose_ends_are_wrong_is_told_of_ends() {
    let fixture = shop();
    fixture.write("no.sh", "#!/bin/sh\nexit 1\n");
    std::fs::set_permissions(fixture.root().join("no.sh"), PermissionsExt::from_mode(0o755)).unwrap();
    fixture.write("shop.py", "1");
    fixture.done("track");
    fixture.write("shop.py", "2");
    fixture.done("track");
    let error = Agent::new(&fixture).fails("bisect", json!({ "command": ["./no.sh"], "good": "#8" }), "INVALID_RANGE");
    assert!(error["hint"].as_str().unwrap().contains("name a step where it works with `good`"), "{error}");
    assert!(!error.to_string().contains("milestone"), "{error}");
}

#[test]
fn while_an_agents_command_runs_files_are_tracked_and_hooks_answer() {
    let fixture = Fixture::new();
    let go = fixture.base().join("go");
    // It waits for the test, and not for ever.
    let wait =
        format!("#!/bin/sh\nfor i in $(seq 600); do [ -e {} ] && exit $(cat v); sleep 0.05; done\n", go.display());
    fixture.write("check.sh", &wait);
    std::fs::set_permissions(fixture.root().join("check.sh"), PermissionsExt::from_mode(0o755)).unwrap();
    for value in ["0", "00", "1"] {
        fixture.write("v", value);
        fixture.done("track");
    }
    let mut agent = Agent::new(&fixture);
    let search = agent.send("tools/call", json!({ "name": "bisect", "arguments": { "command": ["./check.sh"] } }));
    let copies = fixture.home().join(".local/state/backsight/bisect");
    eventually("the check runs", || std::fs::read_dir(&copies).ok()?.next().map(drop));
    let began = Instant::now();
    fixture.write("a", "meanwhile");
    agent.ok("files_track", json!({}));
    let root = fixture.root().display();
    let call = |event: &str| {
        let payload = format!(
            r#"{{"hook_event_name":"{event}","session_id":"s","cwd":"{root}","tool_name":"Edit","tool_use_id":"t","tool_input":{{"file_path":"{root}/a"}}}}"#
        );
        assert_eq!(hook(&fixture, "claude-code", payload.as_bytes()), (json!({}), String::new()));
    };
    call("PreToolUse");
    fixture.write("a", "by the agent");
    call("PostToolUse");
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    std::fs::write(go, "").unwrap();
    assert_eq!(agent.said("bisect", search).structured["step"], "#3");
}
