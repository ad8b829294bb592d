//! What holds for every command: help, `--json`, exit statuses, streams.

use std::io::Read;
use std::process::Stdio;

use insta::assert_snapshot;
use serde_json::Value;

use crate::fixture::Fixture;

/// The commands as the program itself lists them.
fn commands(fixture: &Fixture) -> Vec<String> {
    let help = fixture.run("-h");
    let section = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let names = section.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned);
    names.filter(|name| name != "help").collect()
}

/// The least a command needs to run in a workspace with a history.
fn arguments(command: &str) -> &'static str {
    match command {
        "show" | "ls" | "patch" | "diff" | "restore" | "pin" | "unpin" => "@",
        "cat" => "@ a.txt",
        "revert" => "'#2'",
        "completions" => "bash",
        _ => "",
    }
}

#[test]
fn every_command_has_help() {
    let fixture = Fixture::new();
    let commands = commands(&fixture);
    assert!(commands.len() >= 22, "{commands:?}");
    for command in commands {
        for flag in ["-h", "--help"] {
            let seen = fixture.run(&format!("{command} {flag}"));
            assert!(seen.contains("Usage: backsight") && seen.ends_with("---- exit 0"), "{command}: {seen}");
        }
    }
}

#[test]
fn every_command_answers_with_one_json_object() {
    let fixture = Fixture::with_history();
    for command in commands(&fixture) {
        let (value, status) = fixture.json(&format!("{command} {}", arguments(&command)));
        // `redo` after `undo` and the rest all have something to do here.
        assert_eq!((&value["ok"], status), (&Value::Bool(true), 0), "{command}: {value}");
    }
}

#[test]
fn json_covers_help_version_and_usage_errors() {
    let fixture = Fixture::new();
    assert!(fixture.json("--help").0["help"].as_str().unwrap().contains("Usage: backsight"));
    assert_eq!(fixture.json("--version").0["version"], env!("CARGO_PKG_VERSION"));
    assert_snapshot!(fixture.run("--json track --nonsense"), @"");
    assert_snapshot!(fixture.run("--json"), @"");
}

#[test]
fn usage_errors_exit_2() {
    let fixture = Fixture::new();
    assert_snapshot!(fixture.run("track --nonsense"), @"");
    assert_snapshot!(fixture.run("shwo"), @"");
    assert_snapshot!(fixture.run("show"), @"");
    assert_snapshot!(fixture.run("undo 0"), @"");
    assert_snapshot!(fixture.run("log --since yesteryear"), @"");
    assert_snapshot!(fixture.run("gc --disk-budget much"), @"");
}

#[test]
fn a_directory_that_does_not_exist_is_named() {
    let fixture = Fixture::with_history();
    assert_snapshot!(fixture.run("-C nowhere status"), @"");
    assert_snapshot!(fixture.run("-C a.txt status"), @"");
}

#[test]
fn long_help_explains_references() {
    assert_snapshot!(Fixture::new().run("show --help"), @"");
}

#[test]
fn a_reader_that_went_away_is_no_failure() {
    let fixture = Fixture::with_history();
    fixture.write("long.txt", &"many lines\n".repeat(100_000));
    let mut child = fixture.command("diff @").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
}

#[test]
fn a_full_disk_behind_stdout_is_an_error() {
    let fixture = Fixture::with_history();
    let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else { return };
    let status = fixture.command("log").stdout(full).stderr(Stdio::null()).status().unwrap();
    assert_eq!(status.code(), Some(6));
}

#[test]
fn nothing_but_data_goes_to_stdout() {
    let fixture = Fixture::with_history();
    for line in ["patch @", "diff @", "log --tool nobody"] {
        let output = fixture.command(line).output().unwrap();
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{line}");
    }
}
