//! A capture that dies leaves a whole store, the row or none, and nothing that the next capture does not clear away.

use std::path::Path;

use backsight::Workspace;
use backsight::report::{Kind, Snapshot};

use crate::lab::{
    Findings, Lab, Outcome, Strictness, contents, damage, ensure, git_complaints, git_tree_id, kinds, leftovers, none,
    open, operations, rows, stop_at,
};
use crate::picture::Picture;
use crate::plans::{large, small};

fn track(workspace: &Workspace) -> Outcome {
    workspace.track().map(drop)
}

/// Stops a snapshot of the fixture at every operation; afterwards the same and another state can be recorded.
fn stop_everywhere(lab: &Lab, fixture: &Path) {
    let picture = Picture::of(fixture);
    let rows = if open(fixture).store_path().unwrap().is_some() { kinds(&open(fixture)) } else { Vec::new() };
    let pristine = lab.empty();
    picture.paint(&pristine);
    let wanted = open(&pristine).track().unwrap().snapshot;
    let wanted_contents = contents(&open(&pristine), "@");
    assert_eq!(wanted.tree.to_string(), git_tree_id(lab, &picture), "Git makes the same tree of the same files");

    let total = operations(lab, fixture, &track);
    let mut findings = Findings::default();
    for n in 0..=total {
        let copy = lab.copy(fixture);
        let outcome = stop_at(&copy, n, &track);
        let checked = || -> Result<(), String> {
            ensure(outcome.is_ok() == (n >= total), || format!("{outcome:?}"))?;
            let workspace = open(&copy);
            let found = kinds(&workspace);
            let with_row = [&rows[..], &[Kind::Track]].concat();
            ensure(found == rows || found == with_row, || format!("the timeline has {found:?}"))?;
            ensure(outcome.is_err() || found == with_row, || "answered, but there is no row".to_owned())?;
            if workspace.store_path().unwrap().is_some() {
                none("verify finds", damage(&workspace))?;
            }
            let again = workspace.track().map_err(|error| format!("cannot be repeated: {error}"))?;
            ensure(again.created == (found == rows), || format!("created: {}, with rows {found:?}", again.created))?;
            ensure(again.snapshot.tree == wanted.tree, || {
                format!("tree {}, not {}", again.snapshot.tree, wanted.tree)
            })?;
            ensure(contents(&workspace, "@") == wanted_contents, || "the snapshot holds something else".to_owned())?;
            none("files changed", picture.differences(&Picture::of(&copy)))?;
            none("left behind", leftovers(&copy, Strictness::Captured))?;
            none("without a name that keeps Git from pruning it", unnamed(&copy))?;
            none("in the end", damage(&workspace) + &git_complaints(&copy))
        };
        findings.note(format_args!("stopped at {n} of {total}"), checked());
    }
    findings.report();
}

/// Snapshots that no reference in the store names.
fn unnamed(root: &Path) -> String {
    let names = std::fs::read_to_string(root.join(".backsight/store/snapshots/packed-refs")).unwrap_or_default();
    let is_named =
        |row: &Snapshot| names.contains(&format!("{} refs/backsight/{}/tree\n", row.tree, row.sequence_number.0));
    rows(&open(root)).iter().filter(|row| !is_named(row)).map(|row| format!("    {}\n", row.sequence_number)).collect()
}

/// The same files in a workspace that has no store yet.
fn unrecorded(lab: &Lab, fixture: &Path) -> std::path::PathBuf {
    let root = lab.empty();
    Picture::of(fixture).paint(&root);
    root
}

#[test]
fn a_first_snapshot_stopped_at_every_operation_leaves_a_whole_store() {
    let lab = Lab::new();
    let fixture = unrecorded(&lab, &small(&lab));
    stop_everywhere(&lab, &fixture);
}

#[test]
fn a_first_snapshot_of_200_files_stopped_at_every_operation_leaves_a_whole_store() {
    let lab = Lab::new();
    let fixture = unrecorded(&lab, &large(&lab));
    stop_everywhere(&lab, &fixture);
}

#[test]
fn a_snapshot_of_a_streamed_file_stopped_at_every_operation_leaves_a_whole_store() {
    let lab = Lab::new();
    let fixture = lab.empty();
    open(&fixture).init(&Default::default()).unwrap();
    // Large enough to be streamed into an object of its own.
    std::fs::write(fixture.join("streamed.bin"), vec![7; (16 << 20) + 1]).unwrap();
    let total = operations(&lab, &fixture, &track);
    let mut findings = Findings::default();
    for n in 0..=total {
        let copy = lab.copy(&fixture);
        drop(stop_at(&copy, n, &track));
        let outcome = track(&open(&copy)).map_err(|error| error.to_string());
        let checked = outcome.and_then(|()| none("left behind", leftovers(&copy, Strictness::Captured)));
        findings.note(
            format_args!("stopped at {n} of {total}"),
            checked.and_then(|()| none("in the end", damage(&open(&copy)))),
        );
    }
    findings.report();
}

#[test]
fn a_later_snapshot_stopped_at_every_operation_leaves_a_whole_store() {
    let lab = Lab::new();
    stop_everywhere(&lab, &small(&lab));
}

#[test]
fn what_a_stopped_snapshot_left_is_cleared_by_the_next_even_when_the_files_are_others_by_then() {
    let lab = Lab::new();
    let fixture = small(&lab);
    let total = operations(&lab, &fixture, &track);
    let mut findings = Findings::default();
    for n in 0..=total {
        let copy = lab.copy(&fixture);
        drop(stop_at(&copy, n, &track));
        crate::plans::write(&copy, "replaced.txt", "something else meanwhile\n");
        let workspace = open(&copy);
        let outcome = track(&workspace).map_err(|error| error.to_string());
        let checked = outcome.and_then(|()| none("left behind", leftovers(&copy, Strictness::Captured)));
        let checked = checked.and_then(|()| none("in the end", damage(&workspace) + &git_complaints(&copy)));
        findings.note(format_args!("stopped at {n} of {total}"), checked);
    }
    findings.report();
}

#[test]
fn a_warm_workspace_stopped_at_every_operation_records_what_is_there() {
    let lab = Lab::new();
    let root = small(&lab);
    open(&root).track().unwrap();
    let mut findings = Findings::default();
    // In place, so that the stat cache of the snapshot before is in use: inodes and times are the real ones.
    for n in 0..60 {
        crate::plans::write(&root, "replaced.txt", &format!("edit {n}\n"));
        crate::plans::write(&root, &format!("new/{n}.txt"), "added\n");
        drop(stop_at(&root, n, &track));
        let picture = Picture::of(&root);
        let snapshot = open(&root).track().unwrap().snapshot;
        let checked = ensure(snapshot.tree.to_string() == git_tree_id(&lab, &picture), || {
            "the tree is not what is on disk".to_owned()
        });
        findings.note(format_args!("stopped at {n}"), checked);
    }
    findings.report();
}
