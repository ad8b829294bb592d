//! `unknown detect`, `unknown check`, `unknown handle`: changes that nobody recorded (seed 003).

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::fixture::{Fixture, numbered};
use crate::timeline::rows;

/// One recorded file of every kind, then one change of every kind that nobody recorded.
fn changed() -> Fixture {
    let fixture = Fixture::new();
    fixture.write("a.txt", &numbered(&[]));
    fixture.write("gone.txt", "gone\n");
    fixture.write("run.sh", "#!/bin/sh\n");
    fs::set_permissions(fixture.root().join("run.sh"), fs::Permissions::from_mode(0o644)).unwrap();
    fs::write(fixture.root().join("raw"), b"x\0y").unwrap();
    symlink("a.txt", fixture.root().join("link")).unwrap();
    fixture.done("track -m start");
    fixture.write("a.txt", &numbered(&[(2, "two")]));
    fixture.remove("gone.txt");
    fixture.write("new.txt", "new\n");
    fs::set_permissions(fixture.root().join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(fixture.root().join("raw"), b"x\0z").unwrap();
    fixture.remove("link");
    symlink("run.sh", fixture.root().join("link")).unwrap();
    fs::create_dir(fixture.root().join("empty")).unwrap();
    fixture
}

/// `a.txt` is recorded and then changed by nobody who says so.
fn edited() -> Fixture {
    let fixture = Fixture::new();
    fixture.write("a.txt", &numbered(&[]));
    fixture.write("b.txt", "b\n");
    fixture.done("track -m start");
    fixture.write("a.txt", &numbered(&[(2, "two")]));
    fixture
}

fn paths(found: &Value) -> Vec<&str> {
    found["affected_files"].as_array().unwrap().iter().map(|path| path.as_str().unwrap()).collect()
}

#[test]
fn every_kind_of_change_is_found_with_what_was_expected_and_what_is_there() {
    assert_snapshot!(changed().run("unknown detect"), @r"
    7 unknown changes since #1
      M a.txt     [SHORT] -> [SHORT]
      A empty     a directory
      D gone.txt  [SHORT] -> nothing
      M link      [SHORT] -> [SHORT]
      A new.txt   nothing -> [SHORT]
      M raw       [SHORT] -> [SHORT]
      M run.sh    [SHORT], other permissions or another kind
    ---- stderr
    hint: see them with `backsight unknown detect --diff`, record them with `backsight unknown handle integrate`
    ---- exit 0
    ");
}

#[test]
fn the_diffs_are_real() {
    let fixture = changed();
    assert_snapshot!(fixture.run("unknown detect --diff -- a.txt gone.txt link raw run.sh empty"), @r"
    diff --git a/a.txt b/a.txt
    index [SHORT]..[SHORT] 100644
    --- a/a.txt
    +++ b/a.txt
    @@ -1,5 +1,5 @@
     line 1
    -line 2
    +two
     line 3
     line 4
     line 5
    diff --git a/gone.txt b/gone.txt
    deleted file mode 100644
    index [SHORT]..[SHORT]
    --- a/gone.txt
    +++ /dev/null
    @@ -1 +0,0 @@
    -gone
    diff --git a/link b/link
    index [SHORT]..[SHORT] 120000
    --- a/link
    +++ b/link
    @@ -1 +1 @@
    -a.txt
    \ No newline at end of file
    +run.sh
    \ No newline at end of file
    diff --git a/raw b/raw
    index [SHORT]..[SHORT] 100644
    Binary files a/raw and b/raw differ
    diff --git a/run.sh b/run.sh
    old mode 100644
    new mode 100755
    ---- stderr
    note: empty: a directory, which this format cannot show
    ---- exit 0
    ");
}

/// Whoever applies the diff backwards has what was last recorded.
#[test]
fn git_takes_the_diff_back() {
    let fixture = changed();
    fs::write(fixture.root().join("raw"), b"x\0y").unwrap();
    fs::remove_dir(fixture.root().join("empty")).unwrap();
    let diff = fixture.ok("unknown detect")["generated_diff"].as_str().unwrap().to_owned();
    fs::write(fixture.base().join("unknown.diff"), diff).unwrap();
    fixture.git("apply -R ../unknown.diff");
    assert_snapshot!(fixture.run("unknown detect --exit-code"), @r"
    Nothing unknown since #1
    ---- exit 0
    ");
}

#[test]
fn the_answer_follows_seed_003() {
    let fixture = changed();
    let found = fixture.ok("unknown detect");
    assert_eq!(found["has_unknown_changes"], true);
    assert_eq!(paths(&found), ["a.txt", "empty", "gone.txt", "link", "new.txt", "raw", "run.sh"]);
    let of = |path: &str| {
        let changes = found["unknown_changes"].as_array().unwrap();
        changes.iter().find(|change| change["file_path"] == path).unwrap().clone()
    };
    assert_eq!(of("a.txt")["change_type"], "modified");
    assert_eq!(of("new.txt")["change_type"], "created");
    assert_eq!(of("gone.txt")["change_type"], "deleted");
    assert_eq!(of("a.txt")["actual_hash"], fixture.git("hash-object a.txt").trim());
    assert_eq!((of("new.txt").get("expected_hash"), of("gone.txt").get("actual_hash")), (None, None));
    assert_eq!(of("run.sh")["expected_hash"], of("run.sh")["actual_hash"]);
    assert!(of("gone.txt")["diff"].as_str().unwrap().contains("-gone\n"));
    assert!(of("raw")["diff"].as_str().unwrap().contains("Binary files"));
    assert_eq!((&found["compared_with"], &found["coverage"]["complete"]), (&json!(1), &json!(true)));
}

#[test]
fn only_the_paths_asked_for_are_looked_at() {
    let fixture = changed();
    fs::create_dir(fixture.root().join("sub")).unwrap();
    fixture.write("sub/x", "x\n");
    assert_eq!(paths(&fixture.ask("unknown detect -- sub new.txt").ok()), ["new.txt", "sub/x"]);
    assert_eq!(paths(&fixture.ask("-C sub unknown detect -- .").ok()), ["sub/x"]);
    fixture.ask("unknown detect -- ../elsewhere").fails("INVALID_PATH", 2);
}

#[test]
fn the_exit_status_says_whether_there_is_any_when_asked() {
    let fixture = edited();
    assert_eq!(fixture.ask("unknown detect").status, 0);
    assert_eq!(fixture.ask("unknown detect --exit-code").status, 1);
    assert_eq!(fixture.ask("unknown detect --exit-code -- b.txt").status, 0);
}

#[test]
fn before_the_first_snapshot_nothing_can_be_unknown() {
    let fixture = Fixture::new();
    fixture.write("a.txt", "a\n");
    assert_snapshot!(fixture.run("unknown detect"), @r#"
    No snapshot yet, so nothing can be unknown
    ---- stderr
    hint: record the first snapshot with `backsight track -m "start"`
    ---- exit 0
    "#);
    assert_eq!(fixture.ok("unknown check --strategy strict")["success"], true);
}

#[test]
fn what_an_open_tool_call_writes_is_pending_and_not_unknown() {
    let fixture = edited();
    fixture.done("unknown handle integrate");
    fixture.done("begin --tool edit --declare b.txt");
    fixture.write("b.txt", "by the tool\n");
    fixture.write("c.txt", "by somebody else\n");
    assert_snapshot!(fixture.run("unknown detect"), @r"
    1 unknown change since #2
      A c.txt  nothing -> [SHORT]
    ---- stderr
    note: 1 changed path left to tool calls that have not finished: they are pending, not unknown
    hint: see them with `backsight unknown detect --diff`, record them with `backsight unknown handle integrate`
    ---- exit 0
    ");
    let found = fixture.ok("unknown detect");
    assert_eq!((&found["pending"], paths(&found)), (&json!(["b.txt"]), vec!["c.txt"]));
}

#[test]
fn excluded_paths_are_counted_and_not_listed() {
    let fixture = edited();
    for path in ["app.log", "deep/x.tmp", "api_generated.rs", "node_modules/x/index.js"] {
        fixture.write(path, "noise\n");
    }
    let found = fixture.ok("unknown detect");
    assert_eq!(paths(&found), ["a.txt"]);
    assert!(found["excluded"].as_u64().unwrap() >= 3, "{}", found["excluded"]);
    // What is never unknown is recorded all the same.
    fixture.done("track");
    assert_eq!(fixture.cat("@", b"app.log"), b"noise\n");
    fixture.done("config set exclude_from_checking '*.txt'");
    fixture.write("a.txt", "again\n");
    fixture.write("app.log", "again\n");
    assert_snapshot!(fixture.run("unknown detect"), @r"
    1 unknown change since #2
      M app.log  [SHORT] -> [SHORT]
    ---- stderr
    note: 1 changed path left out by the setting `exclude_from_checking`
    hint: see them with `backsight unknown detect --diff`, record them with `backsight unknown handle integrate`
    ---- exit 0
    ");
}

#[test]
fn what_cannot_be_seen_is_never_called_unchanged() {
    let fixture = edited();
    fixture.done("track");
    fixture.remove("a.txt");
    std::process::Command::new("mkfifo").arg(fixture.root().join("a.txt")).status().unwrap();
    assert_snapshot!(fixture.run("unknown detect"), @r"
    Nothing unknown since #2 in what could be seen
    ---- stderr
    warning: 1 path could not be compared:
      ? a.txt (special file)
    ---- exit 0
    ");
    assert_eq!(fixture.ask("continuity validate").status, 1);
    fixture.remove("a.txt");
    fixture.write("a.txt", &"much\n".repeat(100));
    fixture.done("config set max_file_size 100");
    let found = fixture.ok("unknown detect");
    assert_eq!(found["unseen"], json!([{ "path": "a.txt", "reason": "too_large" }]));
}

#[test]
fn when_it_cannot_look_it_fails() {
    let fixture = edited();
    let packs = fixture.root().join(".backsight/store/snapshots/objects/pack");
    for entry in fs::read_dir(packs).unwrap() {
        fs::remove_file(entry.unwrap().path()).unwrap();
    }
    fixture.ask("unknown detect").fails("DAMAGED", 5);
    fixture.ask("unknown check").fails("DAMAGED", 5);
    fixture.ask("continuity validate").fails("DAMAGED", 5);
}

#[test]
fn strict_refuses_names_the_files_and_changes_nothing() {
    for word in ["strict", "reject"] {
        let fixture = edited();
        let (before, known) = (fixture.picture(), rows(&fixture));
        let error = fixture.ask(&format!("unknown handle {word}")).fails("STATE_MISMATCH", 3);
        assert!(error["message"].as_str().unwrap().contains("a.txt (modified)"), "{error}");
        assert!(error["hint"].as_str().unwrap().contains("backsight unknown handle integrate"), "{error}");
        let change = &error["details"]["unknown_changes"][0];
        assert_eq!(change["actual_hash"], fixture.git("hash-object a.txt").trim());
        assert_ne!(change["expected_hash"], change["actual_hash"]);
        assert_eq!((fixture.picture(), rows(&fixture)), (before, known));
    }
}

#[test]
fn warn_goes_on_and_lists() {
    let fixture = edited();
    let known = rows(&fixture);
    assert_snapshot!(fixture.run("unknown handle warn"), @r"
    warn: 1 unknown change, left as it is: the strategy `auto-integrate` records it
      a.txt
    ---- exit 0
    ");
    let handled = fixture.ok("unknown handle warn");
    assert_eq!((&handled["success"], &handled["modified_files"]), (&json!(true), &json!(["a.txt"])));
    assert_eq!((handled.get("compensating_snapshot_id"), rows(&fixture)), (None, known));
    assert_eq!(fixture.ask("unknown detect --exit-code").status, 1);
}

#[test]
fn integrate_records_what_is_unknown_as_a_step_by_external() {
    for word in ["auto-integrate", "integrate"] {
        let fixture = edited();
        let handled = fixture.ok(&format!("unknown handle {word}"));
        assert_eq!(handled["compensating_sequence_number"], 2);
        let step = fixture.ok("show @");
        assert_eq!((&step["kind"], &step["id"]), (&json!("external"), &handled["compensating_snapshot_id"]));
        assert_eq!(fixture.ask("unknown detect --exit-code").status, 0);
        fixture.done("revert @");
        assert_eq!(fixture.read("a.txt"), numbered(&[]));
    }
}

#[test]
fn integrate_takes_only_the_paths_named() {
    let fixture = edited();
    fixture.write("b.txt", "other\n");
    fixture.done("unknown handle integrate -- b.txt");
    assert_eq!(paths(&fixture.ok("unknown detect")), ["a.txt"]);
    assert_eq!(fixture.cat("@", b"b.txt"), b"other\n");
    assert_eq!(fixture.cat("@", b"a.txt"), numbered(&[]).as_bytes());
}

#[test]
fn the_setting_decides_when_nothing_is_said_and_force_never_refuses() {
    let fixture = edited();
    fixture.done("config set unknown_change_strategy reject");
    assert_eq!(fixture.ok("config get unknown_change_strategy")["value"], "strict");
    fixture.ask("unknown handle").fails("STATE_MISMATCH", 3);
    assert_eq!(fixture.ok("unknown handle --force")["modified_files"], json!(["a.txt"]));
    fixture.done("config set unknown_change_strategy auto-integrate");
    assert_eq!(fixture.ok("unknown handle")["compensating_sequence_number"], 2);
    assert_snapshot!(fixture.run("unknown handle"), @r"
    auto-integrate: no unknown changes
    ---- exit 0
    ");
}

#[test]
fn a_check_says_whether_a_tool_may_write() {
    let fixture = edited();
    assert_snapshot!(fixture.run("unknown check --strategy strict"), @r"
    No: 1 unknown change, and the strategy is strict
      M a.txt  [SHORT] -> [SHORT]
    ---- stderr
    hint: look with `backsight unknown detect --diff`, record them with `backsight unknown handle integrate`, or go on once with `--force`
    ---- exit 1
    ");
    assert_snapshot!(fixture.run("unknown check --strategy strict -- b.txt"), @r"
    Yes: nothing unknown was found
    ---- exit 0
    ");
    let refused = fixture.ask("unknown check --strategy strict");
    assert_eq!((refused.status, &refused.json["success"]), (1, &json!(false)));
    assert!(refused.json["error"].as_str().unwrap().contains("a.txt (modified)"));
    assert_eq!(fixture.ok("unknown check --strategy strict --force")["success"], true);
    assert_eq!(fixture.ok("unknown check")["success"], true);
    assert_eq!(rows(&fixture), 1);
}

#[test]
fn a_check_handles_when_told_to() {
    let fixture = edited();
    let checked = fixture.ok("unknown check --strategy auto-integrate");
    assert_eq!((checked.get("handled"), rows(&fixture)), (None, 1));
    let checked = fixture.ok("unknown check --strategy auto-integrate --handle");
    assert_eq!(checked["handled"]["compensating_sequence_number"], 2);
    assert_eq!(rows(&fixture), 2);
}

#[test]
fn a_check_that_did_not_look_says_so() {
    let fixture = edited();
    fixture.done("config set enable_unknown_change_detection false");
    assert_snapshot!(fixture.run("unknown check --strategy strict"), @r"
    Yes: nothing unknown was found in what can be told
    ---- stderr
    warning: not looked: `enable_unknown_change_detection` is off
    ---- exit 0
    ");
    // Who asks what is unknown is told all the same.
    assert_eq!(paths(&fixture.ok("unknown detect")), ["a.txt"]);
}

#[test]
fn the_options_of_seed_003_are_kept_and_checked() {
    let fixture = Fixture::with_history();
    for (key, default, value) in [
        ("enable_unknown_change_detection", "true", "false"),
        ("unknown_change_strategy", "warn", "strict"),
        ("keep_all_checkpoints", "false", "true"),
        ("max_checkpoint_age", "7", "30"),
        ("exclude_from_checking", r#"["*.log", "*.tmp", "*_generated.*", "node_modules/**"]"#, r#"["*.bak"]"#),
    ] {
        assert_eq!(fixture.ok(&format!("config get {key}"))["value"], default, "{key}");
        fixture.done(&format!("config set {key} '{value}'"));
        assert_eq!(fixture.ok(&format!("config get {key}"))["value"], value, "{key}");
    }
    for wrong in ["unknown_change_strategy shrug", "max_checkpoint_age never", "keep_all_checkpoints maybe"] {
        fixture.ask(&format!("config set {wrong}")).fails("INVALID_CONFIG", 2);
    }
}

#[test]
fn names_cannot_drive_the_terminal() {
    let fixture = edited();
    fixture.done("track");
    fixture.write("\x1b[2Jx", "x\n");
    assert_snapshot!(fixture.run("unknown detect"), @r#"
    1 unknown change since #2
      A "\033[2Jx"  nothing -> [SHORT]
    ---- stderr
    hint: see them with `backsight unknown detect --diff`, record them with `backsight unknown handle integrate`
    ---- exit 0
    "#);
}
