//! `status` explains: who is at work, whose changes are whose, what comes next. `show`, `cat` and `verify` in depth.

use insta::assert_snapshot;
use serde_json::json;

use crate::fixture::{Fixture, numbered};

#[test]
fn pending_and_unknown_changes_are_told_apart() {
    let fixture = Fixture::with_history();
    fixture.write("b.txt", "by somebody else\n");
    fixture.done("begin --tool edit --session s1");
    fixture.write("a.txt", "by the tool\n");
    assert_snapshot!(fixture.run("status"), @r#"
    Workspace [TMP]/ws
    Latest #3 [SHORT] add c (just now)
    3 snapshots, 3 files

    1 tool call is open:
      [SNAPSHOT-ID]  edit, session s1 (began just now, after #3)

    1 path changed since #3, maybe by the open tool call:
      M a.txt

    1 path changed since #3, nobody said by whom:
      M b.txt
    ---- stderr
    note: when the tool call finishes, it goes on and lists it as not its own (strategy warn)
    hint: when a call is done, record it with `backsight finish [SNAPSHOT-ID] -m "what it did"`
    hint: when it died, give it up with `backsight abandon [SNAPSHOT-ID]`: the files stay as they are
    hint: see the changes with `backsight diff @`
    ---- exit 0
    "#);
    let status = fixture.ok("status");
    assert_eq!((&status["pending"], &status["strategy"]), (&json!(["a.txt"]), &json!("warn")));
    assert_eq!(status["open_calls"][0]["tool"], "edit");
}

#[test]
fn the_strategy_in_force_is_explained() {
    let note = |fixture: &Fixture| {
        let seen = fixture.run("status");
        seen.lines().find(|line| line.starts_with("note:")).unwrap_or_default().to_owned()
    };
    let fixture = Fixture::with_history();
    fixture.write("a.txt", "by somebody else\n");
    fixture.write("b.txt", "by somebody else\n");
    let mut notes = Vec::new();
    for strategy in ["strict", "warn", "auto-integrate"] {
        fixture.done(&format!("config set unknown_change_strategy {strategy}"));
        notes.push(note(&fixture));
    }
    fixture.done("config set unknown_change_strategy warn");
    fixture.done("begin");
    notes.push(note(&fixture));
    fixture.done("begin");
    notes.push(note(&fixture));
    assert_snapshot!(notes.join("\n"), @r"
    note: `backsight track` records them as your step; a tool call that begins now refuses until somebody records them (strategy strict)
    note: `backsight track` records them as your step; a tool call that begins now goes on and lists them as not its own (strategy warn)
    note: `backsight track` records them as your step; a tool call that begins now first records them as a step by `external` (strategy auto-integrate)
    note: when the tool call finishes, it goes on and lists them as not its own (strategy warn)
    note: the last tool call to finish goes on and lists them as not its own (strategy warn)
    ");
}

#[test]
fn what_the_settings_leave_out_is_not_called_unknown() {
    let fixture = Fixture::with_history();
    fixture.write("build.log", "l\n");
    assert_snapshot!(fixture.run("status"), @r"
    Workspace [TMP]/ws
    Latest #3 [SHORT] add c (just now)
    3 snapshots, 4 files

    1 path changed since #3, not checked by whom (settings):
      A build.log
    ---- stderr
    hint: see the changes with `backsight diff @`, record them with `backsight track`
    ---- exit 0
    ");
    assert!(fixture.ok("status").get("unknown").is_none());
}

#[test]
fn several_open_calls_are_listed_with_what_they_declare() {
    let fixture = Fixture::with_history();
    fixture.done("begin --tool edit --session s1 --declare a.txt --declare b.txt");
    fixture.done("begin");
    fixture.write("a.txt", "by a tool\n");
    assert_snapshot!(fixture.run("status"), @r#"
    Workspace [TMP]/ws
    Latest #3 [SHORT] add c (just now)
    3 snapshots, 3 files

    2 tool calls are open:
      [SNAPSHOT-ID]  edit, session s1 (began just now, after #3)
        declares a.txt and b.txt
      [SNAPSHOT-ID]  an unnamed tool (began just now, after #3)

    1 path changed since #3, maybe by an open tool call:
      M a.txt
    ---- stderr
    hint: when a call is done, record it with `backsight finish [SNAPSHOT-ID] -m "what it did"`
    hint: when it died, give it up with `backsight abandon [SNAPSHOT-ID]`: the files stay as they are
    hint: see the changes with `backsight diff @`
    ---- exit 0
    "#);
}

#[test]
fn the_last_milestone_and_what_came_since() {
    let fixture = Fixture::with_history();
    fixture.done("milestone create 'First things'");
    assert_snapshot!(fixture.run("status"), @r"
    Workspace [TMP]/ws
    Latest #3 [SHORT] add c (just now)
    3 snapshots, 3 files
    Milestone First things holds #1 to #3; 0 snapshots since

    Nothing changed since #3
    ---- stderr
    hint: take the newest step back with `backsight undo`
    ---- exit 0
    ");
    fixture.write("a.txt", "more\n");
    fixture.done("track -m more --tool edit --session s1");
    assert_snapshot!(fixture.run("status"), @r"
    Workspace [TMP]/ws
    Latest #5 [SHORT] more (edit, session s1, just now)
    4 snapshots, 3 files
    Milestone First things holds #1 to #3; 1 snapshot since

    Nothing changed since #5
    ---- stderr
    hint: take the newest step back with `backsight undo`
    ---- exit 0
    ");
}

#[test]
fn show_tells_what_is_not_the_steps_own() {
    let fixture = Fixture::with_history();
    fixture.write("a.txt", &numbered(&[(2, "agent"), (7, "step")]));
    fixture.write("b.txt", "by somebody else\n");
    fixture.done("track -m step --declare a.txt");
    assert_snapshot!(fixture.run("show @"), @r"
    #4 [SNAPSHOT-ID]
    what      step
    when      [DATE] [TIME] +00:00 (just now)
    kind      track
    took      [N] [UNIT]
    lines     +1 -1
    declared  a.txt
    tree      [OBJECT]
    base      [OBJECT]
    start     [OBJECT] (before the step's own changes)
    coverage  3 files
    chain     [CHAIN]

    1 path changed
      M a.txt

    1 path changed by somebody else, found when the step was recorded
      M b.txt
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("show @ --diff"), @r"
    diff --git a/a.txt b/a.txt
    index [SHORT]..[SHORT] 100644
    --- a/a.txt
    +++ b/a.txt
    @@ -4,7 +4,7 @@ line 3
     line 4
     line 5
     line 6
    -line 7
    +step
     line 8
     line 9
     line 10
    ---- exit 0
    ");
    let shown = fixture.ok("show @ --reverse-diff");
    assert!(shown["start_tree"].is_string() && shown["chain_hash"].as_str().unwrap().len() == 64);
    assert_eq!(shown["unknown_changes"][0]["file_path"], "b.txt");
    assert_eq!(shown["affected_files"], json!(["a.txt"]));
    let [before, after] = ["base_file_hashes", "result_file_hashes"].map(|key| shown[key]["a.txt"].as_str().unwrap());
    assert_eq!(fixture.ok(&format!("cat --blob {before}"))["content"], numbered(&[(2, "agent")]));
    assert_eq!(fixture.ok(&format!("cat --blob {after}"))["content"], fixture.read("a.txt"));
    assert!(shown["reverse_diff"].as_str().unwrap().contains("-step\n+line 7\n"));
    assert!(shown.get("diff").is_none());
}

#[test]
fn a_reverse_diff_is_what_git_apply_takes() {
    let fixture = Fixture::with_history();
    fixture.write("a.txt", &numbered(&[(2, "agent"), (9, "mine")]));
    let output = fixture.command("show 2 --reverse-diff").output().unwrap();
    let patch = fixture.base().join("back.patch");
    std::fs::write(&patch, output.stdout).unwrap();
    fixture.git(&format!("apply {}", patch.display()));
    assert_eq!(fixture.read("a.txt"), numbered(&[(9, "mine")]));
}

#[test]
fn diffs_of_the_first_snapshot_and_of_an_expired_one() {
    let fixture = Fixture::with_history();
    assert!(fixture.run("show 1 --diff").contains("note: no differences: the first snapshot has nothing before it"));
    fixture.done("gc --keep-count 1");
    fixture.ask("show 2 --diff").fails("REF_EXPIRED", 4);
    assert_eq!(fixture.ok("show 2")["affected_files"], json!(["a.txt"]), "the row outlives its contents");
}

#[test]
fn a_refused_revert_shows_how_to_see_both_versions() {
    let fixture = Fixture::new();
    fixture.write("it's", "one\n");
    fixture.done("track");
    fixture.write("it's", "two\n");
    fixture.done("track");
    fixture.write("it's", "three\n");
    let seen = fixture.command("revert @").output().unwrap();
    let seen = String::from_utf8(seen.stderr).unwrap();
    assert!(seen.contains("    now   backsight cat now 'it'\\''s'\n"), "{seen}");
    let back = seen.lines().find_map(|line| line.trim().strip_prefix("back  backsight ")).unwrap().to_owned();
    assert_eq!(fixture.command(&back).output().unwrap().stdout, b"one\n");
    let error = fixture.ask("undo").fails("CONFLICT", 3);
    let current = error["details"]["conflicts"][0]["current"].as_str().unwrap().to_owned();
    assert_eq!(fixture.command(&format!("cat --blob {current}")).output().unwrap().stdout, b"three\n");
}

#[test]
fn cat_by_id_takes_nothing_else() {
    let fixture = Fixture::with_history();
    fixture.ask("cat --blob 12").fails("USAGE", 2);
    fixture.ask("cat --blob 0000000000000000000000000000000000000000 @ a.txt").fails("USAGE", 2);
    fixture.ask("cat @").fails("USAGE", 2);
    fixture.ask("cat --blob 0000000000000000000000000000000000000000").fails("PATH_NOT_FOUND", 4);
    let json = fixture.ok("ls @");
    let blob = json["files"][1]["blob"].as_str().unwrap();
    let expected = json!({"ok": true, "blob": blob, "size": 2, "encoding": "utf-8", "content": "b\n"});
    assert_eq!(fixture.ok(&format!("cat --blob {blob}")), expected);
}

#[test]
fn a_noted_head_proves_the_past() {
    let fixture = Fixture::with_history();
    let noted = fixture.ok("verify")["chain_head"].as_str().unwrap().to_owned();
    fixture.write("a.txt", "later\n");
    fixture.done("track");
    assert_snapshot!(fixture.run(&format!("verify --head {noted}")), @r"
    Whole: 9 objects and 4 rows read and checked, 4 snapshots complete
    Nothing up to the head you noted was altered
    Chain head [CHAIN]
    ---- exit 0
    ");
    let other = Fixture::with_history();
    assert_snapshot!(other.run(&format!("verify --head {noted}")), @r"
    damaged timeline.db: no row has the hash [CHAIN]: what was recorded up to it was altered or replaced
    7 objects and 3 rows read and checked, 3 snapshots complete
    ---- stderr
    error: the store is damaged: 1 problem
    hint: compare the store with a backup of it; `backsight continuity validate` checks row by row
    ---- exit 1
    ");
    assert_snapshot!(other.run("verify --head 12"), @r"
    ---- stderr
    error: invalid value '12' for '--head <HASH>': a chain head is 64 hex digits

    For more information, try '--help'.
    ---- exit 2
    ");
}
