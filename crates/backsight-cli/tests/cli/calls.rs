//! `begin`, `finish`, `abandon`, `call`, and what `track` does about changes that are not its own.

use std::process::Stdio;

use insta::assert_snapshot;
use serde_json::json;

use crate::fixture::{Answer, ArgJson, Fixture, numbered};

/// Somebody changed `b.txt`; the step is about to change `a.txt`.
fn scenario() -> Fixture {
    let fixture = Fixture::with_history();
    fixture.write("b.txt", "by somebody else\n");
    fixture
}

/// The same, and the step has changed `a.txt`.
fn written() -> Fixture {
    let fixture = scenario();
    fixture.write("a.txt", &numbered(&[(2, "agent"), (7, "step")]));
    fixture
}

fn begin(fixture: &Fixture, line: &str) -> String {
    let output = fixture.command(line).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let id = String::from_utf8(output.stdout).unwrap();
    assert!(id.len() == 17 && id.ends_with('\n'), "the id alone: {id:?}");
    id.trim_end().to_owned()
}

fn rows(fixture: &Fixture) -> usize {
    fixture.ok("log --limit 0")["rows"].as_array().unwrap().len()
}

#[test]
fn warn_goes_on_and_lists_what_is_not_the_steps() {
    let fixture = written();
    assert_snapshot!(fixture.run("track -m step --declare a.txt --strategy warn"), @r"
    #4 [SHORT] step (1 path changed)
      M a.txt
    ---- stderr
    warning: 1 path in this snapshot was changed by somebody else, not by this step:
      M b.txt
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("log --limit 1"), @r"
    #4  [SHORT]  just now  +1 -1  1 file  step [also 1 unknown change]
    ---- stderr
    hint: there are more: add `--cursor before-4`, or `--limit 0` for all
    ---- exit 0
    ");
    fixture.done("undo");
    assert_eq!(fixture.read("b.txt"), "by somebody else\n", "an undo leaves it alone");
}

#[test]
fn strict_refuses_names_the_files_and_changes_nothing() {
    let fixture = written();
    assert_snapshot!(fixture.run("track -m step --declare a.txt --strategy strict"), @r"
    ---- stderr
    error: 1 file was changed outside Backsight, so recording the step is refused and nothing was changed: b.txt (modified)
      M b.txt
    hint: look with `backsight unknown detect --diff`, record them with `backsight unknown handle integrate`, or go on once with `--force`
    ---- exit 3
    ");
    assert_eq!(rows(&fixture), 3);
    let error = fixture.ask("track --declare a.txt --strategy reject").fails("STATE_MISMATCH", 3);
    assert_eq!(error["details"]["unknown_changes"][0]["file_path"], "b.txt");
    let forced = fixture.ok("track --declare a.txt --strategy strict --force");
    assert_eq!(forced["unknown_changes"][0]["file_path"], "b.txt");
}

#[test]
fn auto_integrate_records_the_others_first() {
    let fixture = written();
    assert_snapshot!(fixture.run("track -m step --declare a.txt --strategy auto-integrate"), @r"
    #5 [SHORT] step (1 path changed)
      M a.txt
    ---- stderr
    note: 1 path was changed by somebody else and recorded first, as #4 by external:
      M b.txt
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("log --limit 2"), @r"
    #5  [SHORT]  just now  +1 -1  1 file  step
    #4  [SHORT]  just now  +1 -1  1 file  [external] changed outside: b.txt
    ---- stderr
    hint: there are more: add `--cursor before-4`, or `--limit 0` for all
    ---- exit 0
    ");
}

#[test]
fn the_three_strategies_leave_three_histories() {
    let outcome = |strategy: &str| {
        let fixture = written();
        let answer = fixture.ask(&format!("track --declare a.txt --strategy {strategy}"));
        let unknown = fixture.ok("show @")["unknown_changes"].as_array().map_or(0, Vec::len);
        (answer.status, rows(&fixture), unknown)
    };
    assert_eq!(outcome("strict"), (3, 3, 0));
    assert_eq!(outcome("warn"), (0, 4, 1));
    assert_eq!(outcome("auto-integrate"), (0, 5, 0));
    assert_eq!(outcome("integrate"), outcome("auto-integrate"));
}

#[test]
fn the_setting_decides_when_nothing_is_said() {
    let fixture = written();
    fixture.done("config set unknown_change_strategy strict");
    fixture.ask("track --declare a.txt").fails("STATE_MISMATCH", 3);
    fixture.ok("track --declare a.txt --strategy warn");
}

#[test]
fn a_strategy_nobody_knows_is_a_usage_error() {
    assert_snapshot!(Fixture::new().run("track --strategy maybe"), @r"
    ---- stderr
    error: invalid value 'maybe' for '--strategy <HOW>'
      [possible values: strict, warn, auto-integrate]

    For more information, try '--help'.
    ---- exit 2
    ");
}

#[test]
fn a_call_owns_what_changed_between_begin_and_finish() {
    let fixture = scenario();
    let id = begin(&fixture, "begin --tool edit --session s1");
    fixture.write("a.txt", &numbered(&[(2, "agent"), (7, "step")]));
    assert_snapshot!(fixture.run(&format!("finish {id} -m 'the step'")), @r"
    #4 [SHORT] the step (1 path changed)
      M a.txt
    ---- stderr
    warning: 1 path in this snapshot was changed by somebody else, not by this step:
      M b.txt
    ---- exit 0
    ");
    let shown = fixture.ok("show @");
    assert_eq!(
        (&shown["tool"], &shown["session"], &shown["affected_files"]),
        (&json!("edit"), &json!("s1"), &json!(["a.txt"]))
    );
    fixture.ask(&format!("finish {id}")).fails("CALL_NOT_FOUND", 4);
}

#[test]
fn begin_says_what_was_there_before_and_what_to_do_next() {
    let fixture = scenario();
    assert_snapshot!(fixture.run("begin --tool edit"), @r#"
    [SNAPSHOT-ID]
    ---- stderr
    warning: 1 path was changed by somebody else before the call, so it is not the call's:
      M b.txt
    hint: when the tool is done: `backsight finish [SNAPSHOT-ID] -m "what it did"`
    ---- exit 0
    "#);
    assert_snapshot!(fixture.run("begin --tool fmt --session s2 --declare c.txt"), @r#"
    [SNAPSHOT-ID]
    ---- stderr
    warning: 1 path was changed by somebody else before the call, so it is not the call's:
      M b.txt
    note: 1 other tool call is open:
      [SNAPSHOT-ID]  edit (began just now, after #3)
    hint: when the tool is done: `backsight finish [SNAPSHOT-ID] -m "what it did"`
    ---- exit 0
    "#);
}

#[test]
fn begin_under_each_strategy() {
    let refused = scenario();
    refused.ask("begin --strategy strict").fails("STATE_MISMATCH", 3);
    assert!(refused.ok("status").get("open_calls").is_none(), "a refused call is not open");
    refused.ok("begin --strategy strict --force");
    let integrated = scenario();
    assert_snapshot!(integrated.run("begin --strategy auto-integrate"), @r#"
    [SNAPSHOT-ID]
    ---- stderr
    note: 1 path was changed by somebody else before the call, and recorded first as #4 by external:
      M b.txt
    hint: when the tool is done: `backsight finish [SNAPSHOT-ID] -m "what it did"`
    ---- exit 0
    "#);
}

#[test]
fn begin_as_json_is_the_call() {
    let fixture = scenario();
    let begun = fixture.ok("begin --tool edit --session s1 --message m --part p --declare a.txt");
    assert_eq!(begun["id"].as_str().unwrap().len(), 16);
    assert_eq!(
        (&begun["based_on"], &begun["tool"], &begun["declared"]),
        (&json!(3), &json!("edit"), &json!(["a.txt"]))
    );
    assert_eq!(begun["unknown_changes"][0]["file_path"], "b.txt");
}

#[test]
fn finish_takes_declared_paths_a_pin_and_a_strategy() {
    let fixture = Fixture::with_history();
    let id = begin(&fixture, "begin");
    fixture.write("a.txt", "mine\n");
    fixture.write("b.txt", "not mine\n");
    let line = format!("finish {id} --declare a.txt --pin -m both");
    fixture.ask(&format!("{line} --strategy strict")).fails("STATE_MISMATCH", 3);
    assert_eq!(fixture.ok("status")["open_calls"][0]["id"], id.as_str(), "a refused call stays open");
    let finished = fixture.ok(&format!("{line} --strategy auto-integrate"));
    assert_eq!(
        (&finished["integrated"], &finished["sequence_number"], &finished["pinned"]),
        (&json!(4), &json!(5), &json!(true))
    );
}

#[test]
fn abandon_records_nothing_and_leaves_the_files() {
    let fixture = Fixture::with_history();
    let id = begin(&fixture, "begin --tool edit --session s1");
    fixture.write("a.txt", "half done\n");
    assert_snapshot!(fixture.run(&format!("abandon {id}")), @r"
    Abandoned [SNAPSHOT-ID] edit, session s1 (began just now)
    ---- stderr
    hint: what it wrote is still on disk: see it with `backsight diff @`, drop it with `backsight restore @`
    ---- exit 0
    ");
    assert_eq!((rows(&fixture), fixture.read("a.txt").as_str()), (3, "half done\n"));
    fixture.ask(&format!("abandon {id}")).fails("CALL_NOT_FOUND", 4);
}

#[test]
fn what_another_call_may_have_written_is_left_to_it() {
    let fixture = Fixture::with_history();
    let first = begin(&fixture, "begin --tool one --declare a.txt");
    let second = begin(&fixture, "begin --tool two --declare b.txt");
    fixture.write("a.txt", "one\n");
    fixture.write("b.txt", "two\n");
    assert_snapshot!(fixture.run(&format!("finish {first} -m 'one is done'")), @r"
    #4 [SHORT] one is done (1 path changed)
      M a.txt
    ---- stderr
    note: 1 changed path is not recorded yet, but left to open tool calls:
      b.txt
    ---- exit 0
    ");
    assert_eq!(fixture.ok(&format!("finish {second}"))["changes"][0]["path"], "b.txt");
}

#[test]
fn call_runs_a_command_and_speaks_on_stderr_only() {
    let fixture = scenario();
    assert_snapshot!(fixture.run("call --tool sh --session s1 -- /bin/sh -c 'echo said; echo x > x.txt'"), @r"
    said
    ---- stderr
    #4 [SHORT] /bin/sh -c 'echo said; echo x > x.txt' (1 path changed)
      A x.txt
    warning: 1 path in this snapshot was changed by somebody else, not by this step:
      M b.txt
    ---- exit 0
    ");
    let shown = fixture.ok("show @");
    assert_eq!(
        (&shown["tool"], &shown["session"], &shown["affected_files"]),
        (&json!("sh"), &json!("s1"), &json!(["x.txt"]))
    );
}

#[test]
fn call_records_a_command_that_fails_and_ends_like_it() {
    let fixture = Fixture::with_history();
    assert_snapshot!(fixture.run("call -m half -- /bin/sh -c 'echo x > x.txt; exit 42'"), @r"
    ---- stderr
    #4 [SHORT] half (1 path changed)
      A x.txt
    note: the command ended with status 42
    ---- exit 42
    ");
    let killed = fixture.command("call -- /bin/sh -c 'kill -9 $$'").output().unwrap();
    assert_eq!(killed.status.code(), Some(137));
    assert!(fixture.ok("status").get("open_calls").is_none());
}

#[test]
fn a_command_that_cannot_start_leaves_no_call_behind() {
    let fixture = Fixture::with_history();
    assert_snapshot!(fixture.run("call -- /no/such/program"), @r"
    ---- stderr
    error: cannot run `/no/such/program`: No such file or directory (os error 2)
    ---- exit 6
    ");
    assert!(fixture.ok("status").get("open_calls").is_none());
    assert_snapshot!(fixture.run("call"), @r"
    ---- stderr
    error: the following required arguments were not provided:
      <COMMAND>...

    Usage: backsight call -- <COMMAND>...

    For more information, try '--help'.
    ---- exit 2
    ");
}

#[test]
fn call_under_strict_does_not_run_the_command() {
    let fixture = scenario();
    fixture.ask("call --strategy strict -- /bin/sh -c 'echo x > x.txt'").fails("STATE_MISMATCH", 3);
    assert!(!fixture.root().join("x.txt").exists());
}

#[test]
fn a_call_that_may_not_finish_says_that_it_is_still_open() {
    let fixture = Fixture::with_history();
    let line = "call --strategy strict --declare a.txt -- /bin/sh -c 'echo x > x.txt'";
    assert_snapshot!(fixture.run(line), @r"
    ---- stderr
    error: 1 file was changed outside Backsight, so recording the step is refused and nothing was changed: x.txt (created); the command ran (status 0), and its call [SNAPSHOT-ID] is still open
      A x.txt
    hint: look with `backsight status`, then record it with `backsight finish [SNAPSHOT-ID] --force`
    ---- exit 3
    ");
}

#[test]
fn call_as_json_keeps_stdout_to_itself() {
    let fixture = Fixture::with_history();
    let mut command = fixture.command("call -m x -- /bin/sh -c 'echo said; echo x > x.txt; exit 1'").arg_json();
    let output = command.stderr(Stdio::piped()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "said\n");
    let answer = Answer::read(&output, "call");
    assert_eq!((answer.status, &answer.json["exit_status"]), (1, &json!(1)));
    assert_eq!(answer.json["command"][0], "/bin/sh");
    assert_eq!(answer.json["begun"]["based_on"], 3);
    assert_eq!(
        (&answer.json["finished"]["description"], &answer.json["finished"]["created"]),
        (&json!("x"), &json!(true))
    );
}

#[test]
fn call_hands_stdin_and_the_start_directory_on() {
    let fixture = Fixture::with_history();
    fixture.write("sub/seen", "s\n");
    let input = std::fs::File::open(fixture.root().join("b.txt")).unwrap();
    let output = fixture.command("-C sub call -- /bin/cat - seen").stdin(input).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "b\ns\n");
}

/// A file that could not be seen when it changed: its new line is nobody's, and its old lines keep their writer.
#[test]
fn a_line_written_while_the_file_could_not_be_seen_is_nobodys() {
    let fixture = Fixture::new();
    fixture.write("g", "first\n");
    fixture.track();
    fixture.done("config set max_file_size 20");
    fixture.write("g", "first\nsecond, and too long\n");
    fixture.write("other", "x\n");
    fixture.done("track -m unseen");
    fixture.done("config set max_file_size 1MB");
    fixture.done("track -m seen");
    let blame = fixture.ok("blame g @");
    let states: Vec<_> = blame["hunks"].as_array().unwrap().iter().map(|hunk| hunk["state"].clone()).collect();
    assert_eq!(states, ["baseline", "unrecorded"], "{blame}");
}

/// Whoever pipes a diff into `patch` applies the diff and nothing that somebody wrote into a description.
#[test]
fn a_piped_diff_holds_no_description() {
    let fixture = Fixture::with_history();
    fixture.write("a.txt", "changed\n");
    let smuggled = "evil\n\n--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-b\n+HACKED\n";
    let tracked = fixture.ask_with("track -m", &[std::ffi::OsStr::new(smuggled)]);
    assert_eq!(tracked.status, 0, "{}", tracked.json);
    let text = fixture.run("show @ --diff");
    assert!(text.starts_with("diff --git a/a.txt b/a.txt") && !text.contains("HACKED"), "{text}");
}

/// An open call keeps nobody from hearing that the disk is not what was recorded.
#[test]
fn pending_changes_are_not_in_sync() {
    let fixture = Fixture::with_history();
    fixture.ok("begin");
    fixture.write("a.txt", "by whom?\n");
    assert_eq!(fixture.json("continuity validate").0["in_sync"], false);
    let checked = fixture.ok("unknown check --strategy strict");
    assert!(checked["warnings"][0].as_str().unwrap().contains("open tool call"), "{checked}");
    let handled = fixture.ok("unknown handle integrate");
    assert!(handled["message"].as_str().unwrap().contains("open tool call"), "{handled}");
}
