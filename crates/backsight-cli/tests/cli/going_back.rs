//! `revert`, `restore`, `undo`, `redo`: what is put back, what stays, and the way back.

use insta::assert_snapshot;

use crate::fixture::{Fixture, numbered};

#[test]
fn revert_keeps_later_edits_by_merging() {
    let fixture = Fixture::with_history();
    fixture.write("a.txt", &numbered(&[(2, "agent"), (9, "mine")]));
    fixture.write("b.txt", "mine\n");
    assert_snapshot!(fixture.run("revert '#2' --dry-run"), @"");
    assert_eq!(fixture.read("a.txt"), numbered(&[(2, "agent"), (9, "mine")]));
    assert_snapshot!(fixture.run("revert '#2'"), @"");
    assert_eq!(fixture.read("a.txt"), numbered(&[(9, "mine")]));
    assert_eq!(fixture.read("b.txt"), "mine\n");
}

#[test]
fn revert_without_later_edits_puts_back() {
    let fixture = Fixture::with_history();
    assert_snapshot!(fixture.run("revert session:s1"), @"");
    assert_snapshot!(fixture.run("revert '#2'"), @"");
    assert_snapshot!(fixture.run("log"), @"");
    assert_snapshot!(fixture.run("show @"), @"");
}

#[test]
fn a_conflict_is_refused_and_named() {
    let fixture = Fixture::with_history();
    fixture.write("a.txt", &numbered(&[(2, "mine")]));
    assert_snapshot!(fixture.run("revert '#2'"), @"");
    assert_eq!(fixture.read("a.txt"), numbered(&[(2, "mine")]));
}

#[test]
fn a_conflict_can_be_skipped_or_merged() {
    let fixture = Fixture::with_history();
    fixture.write("a.txt", &numbered(&[(2, "mine")]));
    assert_snapshot!(fixture.run("revert '#2' --on-conflict skip"), @"");
    assert_snapshot!(fixture.run("revert '#2' --on-conflict merge"), @"");
    assert_snapshot!(fixture.read("a.txt"), @"");
}

#[test]
fn restore_is_exact() {
    let fixture = Fixture::with_history();
    fixture.write("later.txt", "l\n");
    assert_snapshot!(fixture.run("restore '#1' --dry-run"), @"");
    assert!(fixture.root().join("later.txt").exists());
    assert_snapshot!(fixture.run("restore '#1'"), @"");
    assert!(!fixture.root().join("later.txt").exists());
    assert_snapshot!(fixture.run("restore '#1'"), @"");
}

#[test]
fn restore_of_one_path_leaves_the_rest() {
    let fixture = Fixture::with_history();
    fixture.write("b.txt", "mine\n");
    assert_snapshot!(fixture.run("restore '#1' -- a.txt"), @"");
    assert_eq!(fixture.read("b.txt"), "mine\n");
}

#[test]
fn undo_and_redo_go_back_and_forth() {
    let fixture = Fixture::with_history();
    assert_snapshot!(fixture.run("undo --dry-run"), @"");
    assert_snapshot!(fixture.run("undo"), @"");
    assert!(!fixture.root().join("c.txt").exists());
    assert_snapshot!(fixture.run("status"), @"");
    assert_snapshot!(fixture.run("redo"), @"");
    assert_eq!(fixture.read("c.txt"), "c\n");
    assert_snapshot!(fixture.run("undo 2"), @"");
    assert_eq!(fixture.read("a.txt"), numbered(&[]));
    assert_snapshot!(fixture.run("log"), @"");
}

#[test]
fn nothing_to_undo_or_redo() {
    let fixture = Fixture::new();
    assert_snapshot!(fixture.run("undo"), @"");
    fixture.write("a", "a\n");
    fixture.done("track");
    assert_snapshot!(fixture.run("redo"), @"");
    assert_snapshot!(fixture.run("undo 7"), @"");
}

#[test]
fn undo_of_an_edited_path_is_a_conflict() {
    let fixture = Fixture::with_history();
    fixture.write("c.txt", "mine\n");
    assert_snapshot!(fixture.run("undo"), @"");
    assert_eq!(fixture.read("c.txt"), "mine\n");
}
