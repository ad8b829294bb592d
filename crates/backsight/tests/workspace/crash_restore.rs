//! A restore that dies at any of its operations leaves the tree exactly before or exactly after.

use backsight::report::Kind;

use crate::lab::{Findings, Lab, Scenario, Side, share};
use crate::plans::{large, restore_first, small};

fn stop_large_restore(part: u64, parts: u64) {
    let lab = Lab::new();
    let scenario = Scenario::new(&lab, large(&lab), Kind::Restore, &restore_first);
    let (mut findings, mut sides) = (Findings::default(), Vec::new());
    for n in share(scenario.operations, part, parts) {
        let copy = scenario.stopped_at(n);
        // Objects are only written in the beginning; the small restore below is verified at every point.
        let checked = if n / 4 % 8 == 0 { scenario.check(&copy) } else { scenario.check_quickly(&copy) };
        let checked = checked.and_then(|side| {
            if n % 37 == part {
                scenario.check_can_go_on(&copy, side)?;
            }
            Ok(side)
        });
        sides.extend(findings.note(format_args!("stopped at {n} of {}", scenario.operations), checked));
    }
    findings.report();
    assert!([Side::Before, Side::After].iter().all(|side| sides.contains(side)), "the commit point is in between");
}

#[test]
fn a_restore_of_200_files_stopped_at_every_operation_is_before_or_after_first_quarter() {
    stop_large_restore(0, 4);
}

#[test]
fn a_restore_of_200_files_stopped_at_every_operation_is_before_or_after_second_quarter() {
    stop_large_restore(1, 4);
}

#[test]
fn a_restore_of_200_files_stopped_at_every_operation_is_before_or_after_third_quarter() {
    stop_large_restore(2, 4);
}

#[test]
fn a_restore_of_200_files_stopped_at_every_operation_is_before_or_after_fourth_quarter() {
    stop_large_restore(3, 4);
}

#[test]
fn a_small_restore_stopped_at_every_operation_can_be_repeated_and_undone() {
    let lab = Lab::new();
    let scenario = Scenario::new(&lab, small(&lab), Kind::Restore, &restore_first);
    let mut findings = Findings::default();
    for n in 0..=scenario.operations {
        let copy = scenario.stopped_at(n);
        let checked = scenario.check(&copy).and_then(|side| scenario.check_can_go_on(&copy, side));
        findings.note(format_args!("stopped at {n} of {}", scenario.operations), checked);
    }
    findings.report();
}
