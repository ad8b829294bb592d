//! What holds for every command: help, `--json`, exit statuses, streams.

use std::io::{Read, Write};
use std::process::Stdio;

use insta::assert_snapshot;
use serde_json::Value;

use crate::fixture::Fixture;

/// The commands as the program itself lists them.
pub fn commands(fixture: &Fixture) -> Vec<String> {
    let help = fixture.run("-h");
    let groups = help.split("\n\nRecord:\n").nth(1).unwrap().split("\n\nOptions:").next().unwrap();
    let lines = groups.lines().filter(|line| line.starts_with("  "));
    let names = lines.filter_map(|line| line.split_whitespace().next()).map(str::to_owned);
    names.filter(|name| name != "help").collect()
}

/// The least a command needs to run in a workspace with a history.
fn arguments(fixture: &Fixture, command: &str) -> String {
    let arguments = match command {
        "finish" | "abandon" => return fixture.ok("begin")["id"].as_str().unwrap().to_owned(),
        "call" | "run" => "-- /bin/true",
        "checkpoint" | "baseline" | "noise" => "list",
        "browser" => "status",
        "comment" => "list",
        "debug" => "sessions",
        "milestone" | "known" | "session" => "list",
        "unknown" => "detect",
        "continuity" => "state",
        "blame" => "a.txt",
        // Good before the second snapshot.
        "bisect" => "-- sh -c 'test $BACKSIGHT_STEP -lt 2'",
        "show" | "ls" | "patch" | "diff" | "restore" | "pin" | "unpin" => "@",
        "cat" => "@ a.txt",
        "revert" => "'#2'",
        "completions" => "bash",
        "install" => "claude-code --print",
        "hook" => "claude-code",
        "serve" => "--show",
        "open" => "--no-start",
        "export" => "../history",
        "import" => {
            std::fs::create_dir_all(fixture.base().join("imported")).unwrap();
            "../history -C ../imported"
        }
        _ => "",
    };
    arguments.to_owned()
}

#[test]
fn every_command_has_help() {
    let fixture = Fixture::new();
    let commands = commands(&fixture);
    assert!(commands.len() >= 32, "{commands:?}");
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
    // What `mcp` says on stdout is MCP.
    for command in commands(&fixture).into_iter().filter(|command| command != "mcp") {
        let (value, status) = fixture.json(&format!("{command} {}", arguments(&fixture, &command)));
        // `redo` after `undo` and the rest all have something to do here; no server runs, which is an answer "no".
        let expected = i32::from(command == "serve" || command == "open");
        assert_eq!((&value["ok"], status), (&Value::Bool(true), expected), "{command}: {value}");
    }
}

#[test]
fn json_covers_help_version_and_usage_errors() {
    let fixture = Fixture::new();
    assert!(fixture.json("--help").0["help"].as_str().unwrap().contains("Usage: backsight"));
    assert_eq!(fixture.json("--version").0["version"], env!("CARGO_PKG_VERSION"));
    assert_snapshot!(fixture.run("--json track --nonsense"), @r#"
    {"ok":false,"error":{"code":"USAGE","message":"unexpected argument '--nonsense' found","retryable":false,"hint":"see `backsight track --help`"}}
    ---- exit 2
    "#);
    assert_snapshot!(fixture.run("--json"), @r#"
    {"ok":false,"error":{"code":"USAGE","message":"no command was given","retryable":false,"hint":"see `backsight --help`"}}
    ---- exit 2
    "#);
}

#[test]
fn usage_errors_exit_2() {
    let fixture = Fixture::new();
    assert_snapshot!(fixture.run("track --nonsense"), @r"
    ---- stderr
    error: unexpected argument '--nonsense' found

    Usage: backsight track [OPTIONS]

    For more information, try '--help'.
    ---- exit 2
    ");
    assert_snapshot!(fixture.run("shwo"), @r"
    ---- stderr
    error: unrecognized subcommand 'shwo'

      tip: a similar subcommand exists: 'show'

    Usage: backsight [OPTIONS] <COMMAND>

    For more information, try '--help'.
    ---- exit 2
    ");
    assert_snapshot!(fixture.run("restore"), @r"
    ---- stderr
    error: the following required arguments were not provided:
      <REF>

    Usage: backsight restore <REF> [-- <PATH>...]

    For more information, try '--help'.

    hint: a bare # starts a comment in most shells: type `12` or `'#12'`
    ---- exit 2
    ");
    assert_snapshot!(fixture.run("undo 0"), @r"
    ---- stderr
    error: invalid value '0' for '[N]': 0 is not in 1..=65535

    For more information, try '--help'.
    ---- exit 2
    ");
    assert_snapshot!(fixture.run("log --since yesteryear"), @r"
    ---- stderr
    error: invalid value 'yesteryear' for '--since <TIME>': a time is an age such as `2h` or `3 days`, a local `2026-08-01` or `2026-08-01 14:00`, or RFC 3339 such as `2026-08-01T14:00:00Z`

    For more information, try '--help'.
    ---- exit 2
    ");
    assert_snapshot!(fixture.run("gc --disk-budget much"), @r"
    ---- stderr
    error: invalid value 'much' for '--disk-budget <SIZE>': it is a size such as 512, 100MB or 2GB

    For more information, try '--help'.
    ---- exit 2
    ");
}

#[test]
fn a_directory_that_does_not_exist_is_named() {
    let fixture = Fixture::with_history();
    assert_snapshot!(fixture.run("-C nowhere status"), @r"
    ---- stderr
    error: directory `nowhere` does not exist
    hint: name an existing directory with `-C DIR`
    ---- exit 4
    ");
    assert_snapshot!(fixture.run("-C a.txt status"), @r"
    ---- stderr
    error: `a.txt` is not a directory
    ---- exit 4
    ");
}

#[test]
fn long_help_explains_references() {
    assert_snapshot!(Fixture::new().run("show --help"), @r"
    Show one snapshot and what it changed

    What others changed in the same row is listed apart, and is in neither diff. With --json,
    `affected_files`, `base_file_hashes` and `result_file_hashes` name the contents before and after;
    `cat --blob` prints them.

    Usage: backsight show [OPTIONS] [REF]

    Arguments:
      [REF]
              Which snapshot

              [default: @]

    Options:
          --diff
              What the step did, as a unified diff; into a pipe nothing else

          --reverse-diff
              What takes the step back, as a unified diff; into a pipe nothing else

          --hunks
              What the step did, hunk by hunk: each with the name that `revert --hunk` takes, its lines
              numbered

      -h, --help
              Print help (see a summary with '-h')

    Global options:
          --json
              Print exactly one JSON object on stdout

          --verbose
              Show ids in full instead of their first characters

      -C, --directory <DIR>
              Work in the workspace of DIR instead of the current directory

          --wait <SECONDS>
              Wait at most this long for another process that holds the workspace

              [default: 60]

          --color <WHEN>
              When to use colour: auto, always or never; NO_COLOR and CLICOLOR_FORCE count too

              [default: auto]

    Examples:
      backsight show
      backsight show 12 --diff
      backsight show 12 --hunks                                names for `revert 12 --hunk`
      backsight show 12 --reverse-diff | git apply --check     would it still come off cleanly?

    A REF is one of:
      12, '#12'    the snapshot with that number (a bare # starts a shell comment)
      @, @~2       the latest snapshot, the one two before it
      1a2b3c       an id or a tree id, or its first 4 or more digits
      now          the files on disk
      session:ID   the steps of a session; message:ID, part:ID likewise; the start of a long ID will do
      NAME         a milestone; milestone:NAME where the name reads as one of the above
    ---- exit 0
    ");
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
fn when_only_the_answer_is_lost_that_is_what_is_said() {
    let fixture = Fixture::with_history();
    let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else { return };
    let output = fixture.command("undo").stdout(full).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("what was asked for is done, and only the answer is lost"), "{told}");
    assert!(!told.contains("gc") && !fixture.root().join("c.txt").exists(), "{told}");
}

#[test]
fn a_path_in_neither_state_is_no_want_of_differences() {
    let fixture = Fixture::with_history();
    for line in ["diff 1 2 -- no/such", "diff 1 -- a.txt no/such", "patch 1 2 -- no/such", "diff now 1 -- no/such"] {
        let error = fixture.ask(line).fails("PATH_NOT_FOUND", 4);
        assert!(error["message"].as_str().unwrap().contains("`no/such` is neither in "), "{line}: {error}");
    }
    fixture.ok("diff 1 3 -- c.txt");
    fixture.ok("diff 1 2 -- b.txt");
}

#[test]
fn a_text_that_is_too_long_and_a_limit_of_nothing_are_refused() {
    let fixture = Fixture::with_history();
    fixture.ask_with("log --text", &["a".repeat(50_000).as_ref()]).fails("USAGE", 2);
    for key in ["max_file_size", "max_files", "max_new_bytes"] {
        fixture.ask(&format!("config set {key} 0")).fails("INVALID_CONFIG", 2);
    }
    fixture.ok("config set keep_days 0");
}

#[test]
fn nothing_but_data_goes_to_stdout() {
    let fixture = Fixture::with_history();
    for line in ["patch @", "diff @", "log --tool nobody"] {
        let output = fixture.command(line).output().unwrap();
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{line}");
    }
}

#[test]
fn a_command_that_must_wait_says_for_whom() {
    let fixture = Fixture::with_history();
    let lock = std::fs::File::create(fixture.root().join(".backsight/store/lock")).unwrap();
    lock.lock().unwrap();
    (&lock).write_all(b"backsight gc (pid 12)\n").unwrap();
    assert_snapshot!(fixture.run("track --wait 0"), @r"
    ---- stderr
    waiting for `backsight gc` (pid 12), which holds this workspace
    error: `backsight gc (pid 12)` holds the workspace
    hint: wait for it, or allow more time with `--wait SECONDS`
    ---- exit 7
    ");
    let (json, status) = fixture.json("track --wait 0");
    assert_eq!(
        (json["error"]["code"].as_str(), json["error"]["retryable"].as_bool(), status),
        (Some("BUSY"), Some(true), 7)
    );
}
