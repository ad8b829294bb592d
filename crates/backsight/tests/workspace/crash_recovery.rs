//! A recovery that dies as well leaves the rest to the next one.

use std::path::Path;

use backsight::report::Kind;
use backsight::{Code, Disk, Error, Workspace};

use crate::lab::{Findings, Lab, Outcome, Scenario, Side, open_on, operations, share, stop_at};
use crate::plans::{large, restore_first, small};

/// Opening is what recovers. A reader is answered all the same where that fails, so the journal says whether it did.
fn look(workspace: &Workspace) -> Outcome {
    workspace.status()?;
    match is_pending(workspace.root()) {
        true => Err(Error::new(Code::Io, "the recovery is not finished")),
        false => Ok(()),
    }
}

fn is_pending(root: &Path) -> bool {
    std::fs::read_dir(root.join(".backsight/store/journal")).is_ok_and(|mut entries| entries.next().is_some())
}

/// Stops the restore at each of `stops` and its recovery at every `stride`-th operation.
fn stop_twice(scenario: &Scenario<'_>, stops: impl Iterator<Item = u64>, stride: usize) {
    let mut findings = Findings::default();
    for n in stops {
        let crashed = scenario.stopped_at(n);
        if !is_pending(&crashed) {
            continue;
        }
        let total = operations(scenario.lab, &crashed, &look);
        for m in (0..=total).step_by(stride) {
            let copy = scenario.lab.copy(&crashed);
            let outcome = stop_at(&copy, m, &look);
            assert!(outcome.is_ok() || m < total, "restore stopped at {n}, recovery at {m} of {total}: {outcome:?}");
            let checked = if m % 16 == 0 { scenario.check(&copy) } else { scenario.check_quickly(&copy) };
            findings.note(format_args!("restore stopped at {n}, its recovery at {m} of {total}"), checked);
        }
    }
    findings.report();
}

fn stop_small_twice(part: u64) {
    let lab = Lab::new();
    let scenario = Scenario::new(&lab, small(&lab), Kind::Restore, &restore_first);
    stop_twice(&scenario, share(scenario.operations, part, 2), 1);
}

#[test]
fn a_recovery_stopped_at_every_operation_of_every_stopped_restore_is_finished_by_the_next_even_points() {
    stop_small_twice(0);
}

#[test]
fn a_recovery_stopped_at_every_operation_of_every_stopped_restore_is_finished_by_the_next_odd_points() {
    stop_small_twice(1);
}

#[test]
fn the_recovery_of_200_files_stopped_here_and_there_is_finished_by_the_next() {
    let lab = Lab::new();
    let scenario = Scenario::new(&lab, large(&lab), Kind::Restore, &restore_first);
    stop_twice(&scenario, (17..scenario.operations).step_by(131), 61);
}

#[test]
fn a_recovery_that_always_dies_one_operation_later_gets_there() {
    let lab = Lab::new();
    let scenario = Scenario::new(&lab, small(&lab), Kind::Restore, &restore_first);
    let mut findings = Findings::default();
    for n in (0..=scenario.operations).step_by(3) {
        let copy = scenario.stopped_at(n);
        let tries = (1..1000).find(|budget| look(&open_on(&copy, Disk::stopping_after(*budget))).is_ok());
        let checked = tries.ok_or_else(|| "a thousand recoveries were not enough".to_owned());
        let checked = checked.and_then(|_| scenario.check(&copy));
        findings.note(format_args!("stopped at {n}"), checked);
    }
    findings.report();
}

/// What was staged can be made again from the store, and half of it is never taken for somebody's edit.
#[test]
fn a_recovery_whose_staged_files_are_gone_stages_them_again_and_may_die_while_it_does() {
    let lab = Lab::new();
    let scenario = Scenario::new(&lab, small(&lab), Kind::Restore, &restore_first);
    let mut findings = Findings::default();
    let is_committed = |root: &Path| {
        let entries = std::fs::read_dir(root.join(".backsight/store/journal")).unwrap();
        entries.map(|entry| entry.unwrap().path()).any(|path| path.extension().is_some_and(|found| found == "commit"))
    };
    let nothing_swapped = |n: &u64| {
        let crashed = scenario.stopped_at(*n);
        is_pending(&crashed) && is_committed(&crashed) && scenario.side(&crashed, &[]) == Ok(Side::Before)
    };
    let n = (0..scenario.operations).find(nothing_swapped).expect("the moment just after the commit point exists");
    let crashed = scenario.stopped_at(n);
    std::fs::remove_dir_all(crashed.join(".backsight/stage")).unwrap();
    let total = operations(&lab, &crashed, &look);
    for m in 0..=total {
        let copy = lab.copy(&crashed);
        let outcome = stop_at(&copy, m, &look);
        assert!(outcome.is_ok() || m < total, "recovery stopped at {m} of {total}: {outcome:?}");
        let side = findings.note(format_args!("recovery stopped at {m} of {total}"), scenario.check_quickly(&copy));
        assert!(side.is_none_or(|side| side == Side::After), "recovery stopped at {m} of {total}: {side:?}");
    }
    findings.report();
}
