//! Revert with merges, undo and redo die like a restore does: before or after, never between.

use backsight::report::{Kind, OnConflict};
use backsight::request::{Revert, Undo};
use backsight::seeds::Seed002 as _;
use backsight::{RelPath, Workspace};

use crate::lab::{Findings, Lab, Outcome, Scenario, open};
use crate::picture::{Picture, Thing};
use crate::plans::recorded;

/// An agent's step between two of the user's; its files were edited since, some in other places, some in the same.
fn three_steps(lab: &Lab) -> std::path::PathBuf {
    let lines = |changed: &[(usize, &str)]| -> String {
        let line = |number| {
            changed
                .iter()
                .find(|(at, _)| *at == number)
                .map_or(format!("line {number}"), |(_, text)| (*text).to_owned())
        };
        (0..20).map(|number| line(number) + "\n").collect()
    };
    let mut first = Picture::default();
    first.file("merged.txt", 0o644, lines(&[])).file("also/merged.txt", 0o600, lines(&[])).file(
        "same.txt",
        0o644,
        lines(&[]),
    );
    first.file("deleted.txt", 0o644, "the agent deletes it\n").file("mode.sh", 0o644, "#!/bin/sh\n").link("link", "a");
    first.file("kind", 0o644, "becomes a directory\n").file("overlap.txt", 0o644, lines(&[]));
    let mut second = first.clone();
    second.file("merged.txt", 0o644, lines(&[(3, "agent")])).file("also/merged.txt", 0o600, lines(&[(4, "agent")]));
    second.file("same.txt", 0o644, lines(&[(1, "agent")])).remove(b"deleted.txt").file("mode.sh", 0o755, "#!/bin/sh\n");
    second.link("link", "b").file("added/new.txt", 0o644, "new\n").directory("added/empty", 0o711);
    second.file("kind/inside", 0o644, "a directory\n").file("overlap.txt", 0o644, lines(&[(7, "agent")]));
    let mut third = second.clone();
    third.file("merged.txt", 0o644, lines(&[(3, "agent"), (15, "user")])).file("users.txt", 0o644, "mine\n");
    third.file("also/merged.txt", 0o640, lines(&[(0, "user"), (4, "agent")])).file(
        "overlap.txt",
        0o644,
        lines(&[(7, "user")]),
    );
    let mut fourth = third.clone();
    fourth.file("unrecorded.txt", 0o644, "mine, not recorded\n");
    recorded(lab, &[&first, &second, &third, &fourth])
}

fn revert_second(workspace: &Workspace) -> Outcome {
    workspace
        .revert_steps(&Revert { references: vec!["2".into()], on_conflict: OnConflict::Merge, ..Default::default() })
        .map(drop)
}

fn undo(workspace: &Workspace) -> Outcome {
    workspace.undo(&Undo { on_conflict: OnConflict::Skip, ..Default::default() }).map(drop)
}

fn redo(workspace: &Workspace) -> Outcome {
    workspace.redo(&Undo { on_conflict: OnConflict::Skip, ..Default::default() }).map(drop)
}

fn stop_everywhere(scenario: &Scenario<'_>) {
    let mut findings = Findings::default();
    for n in 0..=scenario.operations {
        let copy = scenario.stopped_at(n);
        let checked = scenario.check(&copy).and_then(|side| {
            if n % 5 == 0 {
                scenario.check_can_go_on(&copy, side)?;
            }
            Ok(())
        });
        findings.note(format_args!("stopped at {n} of {}", scenario.operations), checked);
    }
    findings.report();
}

#[test]
fn a_revert_with_merges_stopped_at_every_operation_is_before_or_after() {
    let lab = Lab::new();
    let scenario = Scenario::new(&lab, three_steps(&lab), Kind::Revert, &revert_second);
    let Thing::File { bytes, .. } = &scenario.after.0[&b"overlap.txt"[..]] else { panic!("a file") };
    assert!(
        bytes.starts_with(b"line 0") && bytes.windows(7).any(|window| window == b"<<<<<<<"),
        "conflicts are marked"
    );
    assert!(scenario.after.0.contains_key(&b"users.txt"[..]), "the user's file stays");
    stop_everywhere(&scenario);
}

#[test]
fn an_undo_stopped_at_every_operation_is_before_or_after() {
    let lab = Lab::new();
    let fixture = three_steps(&lab);
    open(&fixture).restore("1").unwrap();
    let scenario = Scenario::new(&lab, fixture, Kind::Undo, &undo);
    stop_everywhere(&scenario);
}

#[test]
fn a_redo_stopped_at_every_operation_is_before_or_after() {
    let lab = Lab::new();
    let fixture = three_steps(&lab);
    open(&fixture).restore("1").unwrap();
    undo(&open(&fixture)).unwrap();
    let scenario = Scenario::new(&lab, fixture, Kind::Redo, &redo);
    stop_everywhere(&scenario);
}

#[test]
fn a_restore_of_some_paths_stopped_at_every_operation_is_before_or_after() {
    let lab = Lab::new();
    let paths: Vec<RelPath> =
        ["added", "kind", "merged.txt", "deleted.txt"].iter().map(|path| path.parse().unwrap()).collect();
    let action = |workspace: &Workspace| workspace.revert("1", &paths).map(drop);
    let scenario = Scenario::new(&lab, three_steps(&lab), Kind::Restore, &action);
    stop_everywhere(&scenario);
}
