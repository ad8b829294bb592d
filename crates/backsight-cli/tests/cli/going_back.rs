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
    ---- exit 0
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
    Would restore to #1: 3 paths put back
      M a.txt
      D c.txt
      D later.txt
    ---- stderr
    note: this was a dry run, nothing changed
    ---- exit 0
    ");
    assert!(fixture.root().join("later.txt").exists());
    assert_snapshot!(fixture.run("restore '#1'"), @r"
    Restored to #1: 3 paths put back
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
    Would undo #3: 1 path put back
      D c.txt
    ---- stderr
    note: this was a dry run, nothing changed
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("undo"), @r"
    Undid #3: 1 path put back
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
    hint: 1 undo can be redone with `backsight redo`
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
    Undid #3 and #2: 2 paths put back
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
