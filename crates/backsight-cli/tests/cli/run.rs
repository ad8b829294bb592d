//! `backsight run`: the command's user notices nothing of it, nothing is left behind, and what it says is told.

mod recording;
pub mod terminal;

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use insta::assert_snapshot;

use crate::fixture::Fixture;

/// `backsight run` with a command that a shell reads.
fn run(fixture: &Fixture, script: &str) -> Command {
    run_program(fixture, &["sh", "-c", script])
}

fn run_program(fixture: &Fixture, words: &[&str]) -> Command {
    let mut command = fixture.command("run --name app --");
    command.args(words).env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command
}

fn python(fixture: &Fixture, program: &str) -> Command {
    run_program(fixture, &["/usr/bin/python3", "-u", "-c", program])
}

#[track_caller]
pub fn eventually<T>(what: &str, mut attempt: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(found) = attempt() {
            return found;
        }
        assert!(Instant::now() < deadline, "this did not happen: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Whether a process runs; one that only waits to be reaped does not.
fn is_alive(pid: &str) -> bool {
    let status = std::fs::read_to_string(PathBuf::from("/proc").join(pid).join("stat"));
    status.is_ok_and(|status| !status.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z'))
}

/// A command that says its number and then waits.
struct Waiting {
    child: Child,
    pid: String,
}

impl Waiting {
    fn start(mut command: Command) -> Waiting {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut pid = String::new();
        let out = child.stdout.as_mut().unwrap();
        let mut byte = [0];
        while out.read(&mut byte).unwrap() == 1 && byte[0] != b'\n' {
            pid.push(char::from(byte[0]));
        }
        assert!(is_alive(&pid), "{pid}");
        Waiting { child, pid }
    }

    fn signal(&self, name: &str) {
        assert!(Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap().success());
    }

    fn output(self) -> (Output, String) {
        (self.child.wait_with_output().unwrap(), self.pid)
    }
}

#[test]
fn into_pipes_both_streams_go_byte_for_byte() {
    let fixture = Fixture::new();
    let script = r"printf 'out \033[31mred\033[0m\n\000\377'; printf 'err\rprogress\n' >&2";
    let Output { status, stdout, stderr } = run(&fixture, script).output().unwrap();
    assert_eq!(status.code(), Some(0));
    assert_eq!(stdout, b"out \x1b[31mred\x1b[0m\n\x00\xff");
    let note =
        b"note: no server runs in this workspace, so nothing is recorded yet; start one with `backsight serve`\n";
    let end = stderr.strip_prefix(&note[..]).expect("the note comes first");
    assert!(end.starts_with(b"err\rprogress\n"), "{:?}", String::from_utf8_lossy(end));
}

#[test]
fn the_exit_status_is_the_commands() {
    let fixture = Fixture::new();
    for (script, expected) in
        [("exit 0", 0), ("exit 3", 3), ("exit 255", 255), ("kill -TERM $$", 143), ("kill -9 $$", 137)]
    {
        assert_eq!(run(&fixture, script).output().unwrap().status.code(), Some(expected), "{script}");
    }
}

#[test]
fn a_command_that_cannot_be_started_says_so_as_shells_do() {
    let fixture = Fixture::new();
    fixture.write("data.txt", "not a program");
    let transcript = |words: &[&str]| {
        let command = run_program(&fixture, words);
        fixture.transcript(command).lines().filter(|line| !line.starts_with("note:")).collect::<Vec<_>>().join("\n")
    };
    assert_snapshot!(transcript(&["no-such-program"]), @r"
    ---- stderr
    error: cannot run `no-such-program`: No such file or directory (os error 2)
    warning: not recorded: 1 line of the output; no server ran
    hint: start one with `backsight serve`
    ---- exit 127
    ");
    assert_snapshot!(transcript(&["./data.txt"]), @r"
    ---- stderr
    error: cannot run `./data.txt`: Permission denied (os error 13)
    warning: not recorded: 1 line of the output; no server ran
    hint: start one with `backsight serve`
    ---- exit 126
    ");
}

#[test]
fn the_command_runs_where_it_was_typed_whichever_workspace_hears_it() {
    let fixture = Fixture::new();
    fixture.write("other/here.txt", "");
    let mut command = fixture.command("-C .. run --name app -- pwd");
    command.current_dir(fixture.root().join("other")).env("PATH", std::env::var_os("PATH").unwrap_or_default());
    let output = command.output().unwrap();
    let typed = fixture.root().join("other").canonicalize().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), typed.to_str().unwrap());
}

#[test]
fn stdin_is_the_commands() {
    let fixture = Fixture::new();
    let mut child = run(&fixture, "cat; echo end").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"typed\n").unwrap();
    assert_eq!(child.wait_with_output().unwrap().stdout, b"typed\nend\n");
}

#[test]
fn a_reader_that_goes_away_ends_the_command_as_it_would_without_us() {
    let fixture = Fixture::new();
    let mut command = run_program(&fixture, &["yes", "line"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut some = [0; 100];
    child.stdout.take().unwrap().read_exact(&mut some).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(128 + 13));
}

#[test]
fn signals_reach_the_command_and_its_answer_counts() {
    let fixture = Fixture::new();
    let script = "trap 'echo told; exit 7' TERM; echo $$; while :; do sleep 0.05; done";
    for signal in ["-TERM", "-TERM"] {
        let waiting = Waiting::start(run(&fixture, script));
        waiting.signal(signal);
        let (output, _) = waiting.output();
        assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(7), &b"told\n"[..]));
    }
}

#[test]
fn nothing_is_left_behind_when_we_are_killed() {
    let fixture = Fixture::new();
    let waiting = Waiting::start(run(&fixture, "echo $$; exec sleep 1000"));
    waiting.signal("-KILL");
    let pid = waiting.pid.clone();
    eventually("the command is gone", || (!is_alive(&pid)).then_some(()));
    waiting.output();
}

#[test]
fn json_is_one_object_and_the_commands_stdout_goes_aside() {
    let fixture = Fixture::new();
    let mut command = fixture.command("--json run sh -c");
    let output = command.args(["echo out; exit 4"]).output().unwrap();
    assert_eq!(output.status.code(), Some(4));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&json["ok"], &json["exit_status"]), (&true.into(), &4.into()), "{json}");
    assert_eq!(json["recorded"]["lost_lines"], 1, "{json}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("out\n"));
}

#[test]
fn something_left_behind_does_not_hold_the_end_up() {
    let fixture = Fixture::new();
    let mut command = run(&fixture, "sleep 1000 & echo $!");
    let output = command.output().unwrap();
    let pid = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("left something behind"), "{said}");
    assert!(Command::new("kill").arg(pid.trim()).status().unwrap().success());
}
