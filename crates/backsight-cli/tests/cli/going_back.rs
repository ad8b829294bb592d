//! `revert`, `restore`, `undo`, `redo`: what is put back, what stays, and the way back.

use insta::assert_snapshot;

use crate::fixture::{Fixture, numbered};

#[test]
fn revert_keeps_later_edits_by_merging() {
    let fixture = Fixture::with_history();
    fixture.write("a.txt", &numbered(&[(2, "agent"), (9, "mine")]));
    fixture.write("b.txt", "mine\n");
    assert_snapshot!(fixture.run("revert '#2' --dry-run"), @r"
    Would revert #2: 1 path merged
      M a.txt - merged, later edits kept
    ---- stderr
    note: this was a dry run, nothing changed
    hint: do exactly this with `--plan plan-3-[PLAN]` instead of `--dry-run`
    ---- exit 0
    ");
    assert_eq!(fixture.read("a.txt"), numbered(&[(2, "agent"), (9, "mine")]));
    assert_snapshot!(fixture.run("revert '#2'"), @r"
    Reverted #2: 1 path merged
      M a.txt - merged, later edits kept
    Recorded as #5; what was displaced is in #4
    ---- stderr
    hint: take it back with `backsight undo`
    ---- exit 0
    ");
    assert_eq!(fixture.read("a.txt"), numbered(&[(9, "mine")]));
    assert_eq!(fixture.read("b.txt"), "mine\n");
}

#[test]
fn revert_without_later_edits_puts_back() {
    let fixture = Fixture::with_history();
    assert_snapshot!(fixture.run("revert #2"), @r"
    Reverted #2: 1 path put back
      M a.txt
    Recorded as #4; what was displaced is in #3
    ---- stderr
    hint: take it back with `backsight undo`
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("revert '#2'"), @r"
    Reverting #2 changes nothing: 1 path kept
      = a.txt - kept: already as it was before the step
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("log"), @r"
    <    #4  [SHORT]  just now  +1 -1   1 file  revert #2
    *    #3  [SHORT]  just now  +1 -0   1 file  add c
    | *  #2  [SHORT]  just now  +1 -1   1 file  agent edits a (edit, session s1, message m1)
    *    #1  [SHORT]  just now         2 files  start
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("show @"), @r"
    #4 [SNAPSHOT-ID]
    what      revert #2
    when      [DATE] [TIME] +00:00 (just now)
    kind      revert of #2
    took      [N] [UNIT]
    lines     +1 -1
    tree      [OBJECT]
    base      [OBJECT]
    coverage  3 files
    chain     [CHAIN]

    1 path changed
      M a.txt
    ---- exit 0
    ");
}

#[test]
fn a_conflict_is_refused_and_named() {
    let fixture = Fixture::with_history();
    fixture.write("a.txt", &numbered(&[(2, "mine")]));
    assert_snapshot!(fixture.run("revert '#2'"), @r"
    ---- stderr
    error: 1 path was changed since in a way that conflicts; nothing was changed
      a.txt: 1 later edit overlaps the step
        now   backsight cat now a.txt
        back  backsight cat --blob [OBJECT]
    hint: leave these out with `--on-conflict skip`, or merge and mark what overlaps with `--on-conflict merge`
    ---- exit 3
    ");
    assert_eq!(fixture.read("a.txt"), numbered(&[(2, "mine")]));
}

#[test]
fn a_conflict_can_be_skipped_or_merged() {
    let fixture = Fixture::with_history();
    fixture.write("a.txt", &numbered(&[(2, "mine")]));
    assert_snapshot!(fixture.run("revert '#2' --on-conflict skip"), @r"
    Reverting #2 changes nothing: 1 path skipped
      ! a.txt - left as it is: 1 later edit overlaps the step
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("revert '#2' --on-conflict merge"), @r"
    Reverted #2: 1 path in conflict
      ! a.txt - written with conflict markers: 1 overlapping edit marked in the file
    Recorded as #5; what was displaced is in #4
    ---- stderr
    hint: search the files above for `<<<<<<<` and settle each conflict
    hint: take it back with `backsight undo`
    ---- exit 1
    ");
    assert_snapshot!(fixture.read("a.txt"), @r"
    line 1
    <<<<<<< now
    mine
    =======
    line 2
    >>>>>>> before #2
    line 3
    line 4
    line 5
    line 6
    line 7
    line 8
    line 9
    line 10
    ");
}

#[test]
fn restore_is_exact() {
    let fixture = Fixture::with_history();
    fixture.write("later.txt", "l\n");
    assert_snapshot!(fixture.run("restore '#1' --dry-run"), @r"
    Would restore to #1: 1 path put back, 2 paths removed
      M a.txt
      D c.txt
      D later.txt
    ---- stderr
    note: this was a dry run, nothing changed
    hint: do exactly this with `--plan plan-3-[OBJECT]` instead of `--dry-run`
    ---- exit 0
    ");
    assert!(fixture.root().join("later.txt").exists());
    assert_snapshot!(fixture.run("restore '#1'"), @r"
    Restored to #1: 1 path put back, 2 paths removed
      M a.txt
      D c.txt
      D later.txt
    Recorded as #5; what was displaced is in #4
    ---- stderr
    hint: take it back with `backsight undo`
    ---- exit 0
    ");
    assert!(!fixture.root().join("later.txt").exists());
    assert_snapshot!(fixture.run("restore '#1'"), @r"
    Restoring to #1 changes nothing: the files are already as wanted
    ---- exit 0
    ");
}

#[test]
fn restore_of_one_path_leaves_the_rest() {
    let fixture = Fixture::with_history();
    fixture.write("b.txt", "mine\n");
    assert_snapshot!(fixture.run("restore '#1' -- a.txt"), @r"
    Restored to #1: 1 path put back
      M a.txt
    Recorded as #5; what was displaced is in #4
    ---- stderr
    hint: take it back with `backsight undo`
    ---- exit 0
    ");
    assert_eq!(fixture.read("b.txt"), "mine\n");
}

#[test]
fn undo_and_redo_go_back_and_forth() {
    let fixture = Fixture::with_history();
    assert_snapshot!(fixture.run("undo --dry-run"), @r"
    Would undo #3: 1 path removed
      D c.txt
    ---- stderr
    note: this was a dry run, nothing changed
    hint: do exactly this with `--plan plan-3-[PLAN]` instead of `--dry-run`
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("undo"), @r"
    Undid #3: 1 path removed
      D c.txt
    Recorded as #4; what was displaced is in #3
    ---- stderr
    hint: take it back with `backsight redo`
    ---- exit 0
    ");
    assert!(!fixture.root().join("c.txt").exists());
    assert_snapshot!(fixture.run("status"), @r"
    Workspace [TMP]/ws
    Latest #4 [SHORT] undo #3 (just now)
    4 snapshots, 2 files

    Nothing changed since #4
    ---- stderr
    hint: 1 step can be redone with `backsight redo`
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("redo"), @r"
    Redid #4: 1 path put back
      A c.txt
    Recorded as #5; what was displaced is in #4
    ---- stderr
    hint: take it back with `backsight undo`
    ---- exit 0
    ");
    assert_eq!(fixture.read("c.txt"), "c\n");
    assert_snapshot!(fixture.run("undo 2"), @r"
    Undid #3 and #2: 1 path put back, 1 path removed
      M a.txt
      D c.txt
    Recorded as #6; what was displaced is in #5
    ---- stderr
    hint: take it back with `backsight redo`
    ---- exit 0
    ");
    assert_eq!(fixture.read("a.txt"), numbered(&[]));
    assert_snapshot!(fixture.run("log"), @r"
    <    #6  [SHORT]  just now  +1 -2  2 files  undo #3, #2
    <    #5  [SHORT]  just now  +1 -0   1 file  redo #4
    <    #4  [SHORT]  just now  +0 -1   1 file  undo #3
    *    #3  [SHORT]  just now  +1 -0   1 file  add c
    | *  #2  [SHORT]  just now  +1 -1   1 file  agent edits a (edit, session s1, message m1)
    *    #1  [SHORT]  just now         2 files  start
    ---- exit 0
    ");
}

#[test]
fn nothing_to_undo_or_redo() {
    let fixture = Fixture::new();
    assert_snapshot!(fixture.run("undo"), @r"
    ---- stderr
    error: nothing is recorded in `[TMP]/ws` yet
    hint: record the first snapshot with `backsight track`
    ---- exit 4
    ");
    fixture.write("a", "a\n");
    fixture.done("track");
    assert_snapshot!(fixture.run("redo"), @r"
    ---- stderr
    error: there is nothing to redo
    hint: see what was done with `backsight log`
    ---- exit 4
    ");
    assert_snapshot!(fixture.run("undo 7"), @r"
    ---- stderr
    error: there is nothing to undo
    hint: see what was done with `backsight log`
    ---- exit 4
    ");
}

#[test]
fn undo_of_an_edited_path_is_a_conflict() {
    let fixture = Fixture::with_history();
    fixture.write("c.txt", "mine\n");
    assert_snapshot!(fixture.run("undo"), @r"
    ---- stderr
    error: 1 path was changed since in a way that conflicts; nothing was changed
      c.txt: the step created it and it was edited since
        now   backsight cat now c.txt
        back  no file
    hint: leave these out with `--on-conflict skip`, or merge and mark what overlaps with `--on-conflict merge`
    ---- exit 3
    ");
    assert_eq!(fixture.read("c.txt"), "mine\n");
}

/// What a dry run printed is what is done, or nothing is.
#[test]
fn the_token_of_a_dry_run_lets_no_other_plan_be_done() {
    for line in ["restore 1", "revert 2", "undo", "session revert s1 --message m1"] {
        let fixture = Fixture::with_history();
        // A session's answer holds the plan beside what it says of the session.
        let applied = |answer: serde_json::Value| answer.get("applied").cloned().unwrap_or(answer);
        let plan = applied(fixture.ok(&format!("{line} --dry-run")))["plan"].as_str().unwrap().to_owned();
        let (other, file) = (Fixture::with_history(), if line == "undo" { "c.txt" } else { "a.txt" });
        other.write(file, "edited meanwhile\n");
        let before = other.picture();
        let error = other.ask(&format!("{line} --plan {plan}")).fails("STATE_MISMATCH", 3);
        assert_eq!(error["details"]["changed"], serde_json::json!([file]), "{line}: {error}");
        assert_eq!(other.picture(), before, "{line}");
        assert_eq!(applied(fixture.ok(&format!("{line} --plan {plan}")))["changed"], true, "{line}");
    }
    let fixture = Fixture::with_history();
    assert!(fixture.run("undo --plan nonsense").contains("is not a plan's token"));
}

#[test]
fn a_restore_leaves_what_it_cannot_store_where_it_is_allowed_to() {
    let fixture = Fixture::with_history();
    fixture.done("config set max_file_size 1000");
    fixture.write("b.txt", &"x".repeat(5000));
    assert_snapshot!(fixture.run("restore 1"), @r"
    ---- stderr
    error: what is on disk at `b.txt` (too large) is in no snapshot and would be lost
    hint: leave these as they are with `--on-conflict skip`, move them away, or make them readable, so that they can be captured first, or allow larger files with `backsight config set max_file_size 1GB`
    ---- exit 3
    ");
    assert_snapshot!(fixture.run("restore 1 --on-conflict skip"), @r"
    Restored to #1: 1 path put back, 1 path removed, 1 path skipped
      M a.txt
      D c.txt
      ! b.txt - left as it is: too large
    Recorded as #5; what was displaced is in #4
    ---- stderr
    hint: take it back with `backsight undo`
    ---- exit 0
    ");
    assert_eq!(fixture.read("b.txt").len(), 5000);
}

#[test]
fn a_redo_brings_back_some_of_several_steps() {
    let fixture = Fixture::with_history();
    fixture.done("undo 2");
    assert!(fixture.run("redo 3").contains("there are only 2 steps to redo, not 3"));
    assert_snapshot!(fixture.run("redo"), @r"
    Redid #4: 1 path put back
      M a.txt
    Recorded as #5; what was displaced is in #4
    ---- stderr
    hint: take it back with `backsight undo`
    ---- exit 0
    ");
    assert!(fixture.run("status").contains("1 step can be redone with `backsight redo`"));
    fixture.done("redo");
    assert_eq!(fixture.read("c.txt"), "c\n");
}

/// A mounted backup, a container's read-only volume: rescue is when one wants to look.
#[test]
fn a_read_only_file_system_can_be_looked_at() {
    let fixture = Fixture::with_history();
    let view = fixture.base().join("view");
    std::fs::create_dir(&view).unwrap();
    let mount = |arguments: &[&std::ffi::OsStr]| {
        let mounted = std::process::Command::new("mount").args(arguments).output().unwrap();
        assert!(mounted.status.success(), "cannot mount: run the tests as root, or with `sudo -E make test`");
    };
    mount(&["--bind".as_ref(), fixture.root().as_os_str(), view.as_os_str()]);
    mount(&["-o".as_ref(), "remount,bind,ro".as_ref(), view.as_os_str()]);
    let run = |line: &str| {
        let mut command = fixture.command(line);
        command.current_dir(&view);
        fixture.transcript(command)
    };
    let lines =
        ["log", "cat 1 a.txt", "show 2", "ls", "diff 1", "verify", "status", "blame a.txt", "usage", "session list"];
    let said: Vec<(&str, String)> = lines.iter().map(|line| (*line, run(line))).collect();
    let refused = run("track");
    assert!(std::process::Command::new("umount").arg(&view).status().unwrap().success());
    for (line, said) in said {
        assert!(said.ends_with("exit 0"), "{line}: {said}");
    }
    assert!(refused.contains("cannot be written to") && refused.ends_with("exit 6"), "{refused}");
}
