//! What the command says is told by `backsight changes`, whatever happens to the server meanwhile.

use std::process::Stdio;

use serde_json::{Value, json};

use super::{Waiting, eventually, is_alive, python, run};
use crate::fixture::Fixture;
use crate::serving::server::Server;

fn served() -> (Fixture, Server) {
    let fixture = Fixture::new();
    fixture.done("init");
    let server = Server::start(&fixture);
    (fixture, server)
}

fn changes(fixture: &Fixture) -> Value {
    fixture.ok("changes --since start")
}

/// The errors told, as `message @ source`.
fn errors(changes: &Value) -> Vec<String> {
    let errors = changes["console"]["errors"].as_array().cloned().unwrap_or_default();
    let text = |entry: &Value, name: &str| entry[name].as_str().unwrap_or_default().to_owned();
    errors.iter().map(|entry| format!("{} @ {}", text(entry, "message"), text(entry, "source"))).collect()
}

#[test]
fn errors_and_warnings_are_told_with_their_places() {
    let (fixture, _server) = served();
    fixture.write("boom.py", "def total(amount):\n    return amount + 1\n\ntotal(None)\n");
    let script = "echo starting; echo 'warning: unused variable' >&2; /usr/bin/python3 boom.py; \
                  printf '\\033[31m✖\\033[0m build failed\\n'";
    let output = run(&fixture, script).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let told = changes(&fixture);
    assert_eq!(told["severity"], "error", "{told}");
    let errors = errors(&told);
    assert_eq!(errors.len(), 2, "{told}");
    let trace = |error: &String| error.starts_with("TypeError: unsupported operand") && error.contains("boom.py:2");
    assert!(errors.iter().any(trace), "{told}");
    assert!(errors.iter().any(|error| error.starts_with("✖ build failed")), "{errors:?}");
    assert_eq!(told["console"]["warnings"][0]["message"], "warning: unused variable");
    assert_eq!(told["console"]["total_new"], 4, "{told}");
}

#[test]
fn a_command_that_fails_is_an_error_and_one_that_was_ended_is_a_warning() {
    let (fixture, server) = served();
    server.post("/ingest", &json!({ "source": "another", "events": [] })).ok();
    let ask = || fixture.ok("changes");
    assert_eq!(ask()["severity"], "clean");
    assert_eq!(run(&fixture, "exit 3").output().unwrap().status.code(), Some(3));
    let told = ask();
    assert_eq!(errors(&told), ["`app` (sh -c 'exit 3') ended with status 3 @ app"]);
    // As long as it is gone nothing is clean, whoever else watches.
    for _ in 0..2 {
        let told = ask();
        assert_eq!(told["severity"], "unknown", "{told}");
        let gone = "terminal: app is not watched any more: the command ended with status 3";
        assert_eq!(told["gap"][0]["reason"], gone, "{told}");
        assert!(told["summary"].as_str().unwrap().contains(gone), "{told}");
    }
    let waiting = Waiting::start(run(&fixture, "echo $$; exec sleep 1000"));
    eventually("it is back", || (ask()["severity"] == "clean").then_some(()));
    waiting.signal("-TERM");
    assert_eq!(waiting.output().0.status.code(), Some(143));
    let told = ask();
    let warning = told["console"]["warnings"][0]["message"].as_str().unwrap_or_default();
    assert_eq!(warning, "`app` (sh -c 'echo $$; exec sleep 1000') was ended by signal 15 (SIGTERM)", "{told}");
    assert_eq!(ask()["severity"], "unknown");
    // A command that is over is told without alarm, and is not missed.
    assert_eq!(run(&fixture, "exit 0").output().unwrap().status.code(), Some(0));
    let told = ask();
    assert_eq!(told["coverage"]["ended"], json!(["terminal: app: the command ended with status 0"]), "{told}");
    assert_eq!(ask()["severity"], "clean");
}

#[test]
fn it_watches_while_it_runs_and_no_longer() {
    let (fixture, _server) = served();
    let waiting = Waiting::start(run(&fixture, "echo $$; read line; echo 'error: late'"));
    let coverage = eventually("it watches", || {
        let told = changes(&fixture);
        (told["coverage"]["attached"] == true).then(|| told["coverage"].clone())
    });
    assert_eq!(coverage["watching"], json!(["terminal: app"]));
    assert_eq!(coverage["not_watched"], json!(["network", "websocket", "actions"]));
    let mut waiting = waiting;
    drop(waiting.child.stdin.take());
    waiting.child.wait().unwrap();
    let told = changes(&fixture);
    assert_eq!(told["coverage"]["attached"], false, "{told}");
    assert_eq!(errors(&told), ["error: late @ app"]);
}

#[test]
fn a_line_is_told_soon_while_the_command_runs() {
    let (fixture, _server) = served();
    let waiting = Waiting::start(run(&fixture, "echo $$; echo 'error: soon'; exec sleep 1000"));
    eventually("the error is told", || (errors(&changes(&fixture)) == ["error: soon @ app"]).then_some(()));
    waiting.signal("-TERM");
    let (_, pid) = waiting.output();
    assert!(!is_alive(&pid));
}

#[test]
fn a_server_that_comes_goes_and_comes_back_is_found() {
    let fixture = Fixture::new();
    fixture.done("init");
    let program = "import os\nprint(os.getpid())\n\
                   for line in __import__('sys').stdin: print('error: ' + line.strip())";
    let mut waiting = Waiting::start(python(&fixture, program));
    let mut says = {
        let mut input = waiting.child.stdin.take().unwrap();
        move |line: &str| std::io::Write::write_all(&mut input, format!("{line}\n").as_bytes()).unwrap()
    };
    says("before any server");
    let first = Server::start(&fixture);
    eventually("the first is told", || {
        (errors(&changes(&fixture)) == ["error: before any server @ app"]).then_some(())
    });
    drop(first);
    says("while it was away");
    let _second = Server::start(&fixture);
    eventually("the second is told", || {
        (errors(&changes(&fixture)) == ["error: while it was away @ app"]).then_some(())
    });
    drop(says);
    let (output, _) = waiting.output();
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_flood_is_passed_on_whole_and_what_is_not_recorded_is_counted() {
    let (fixture, _server) = served();
    let mut command = fixture.command("--json run --name app -- seq 300000");
    let output = command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let passed = output.stderr.iter().filter(|byte| **byte == b'\n').count();
    assert!(passed >= 300_000, "{passed}");
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let number = |name: &str| json["recorded"][name].as_u64().unwrap();
    assert_eq!(number("messages") + number("lost_lines"), 300_000, "{json}");
    let told = changes(&fixture);
    assert_eq!(told["console"]["total_new"].as_u64(), Some(number("messages")), "{told}");
    let lost = told["gap"].to_string().contains("could not keep");
    assert_eq!(lost, number("lost_lines") > 0, "{told}");
}

#[test]
fn without_a_server_the_command_runs_and_says_what_is_missing() {
    let fixture = Fixture::new();
    let output = run(&fixture, "seq 3").stderr(Stdio::piped()).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), &b"1\n2\n3\n"[..]));
    insta::assert_snapshot!(String::from_utf8_lossy(&output.stderr), @r"
    note: no server runs in this workspace, so nothing is recorded yet; start one with `backsight serve`
    warning: not recorded: 3 lines of the output; no server ran
    hint: start one with `backsight serve`
    ");
    assert!(!fixture.root().join(".backsight").exists(), "to run a command sets nothing up");
}
