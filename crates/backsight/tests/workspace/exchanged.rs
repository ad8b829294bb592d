//! Two workspaces that are exchanged for each other while a restore runs: nothing of the other one is touched, and the one
//! that was asked about is before or after.

use std::fs;
use std::path::Path;

use backsight::report::Kind;
use backsight::{Code, Disk};

use crate::lab::{Findings, Lab, Scenario, ensure, open_on};
use crate::picture::Picture;
use crate::plans::{restore_first, small, write};

fn exchange(path: &Path, other: &Path) {
    let aside = path.with_extension("aside");
    for (from, to) in [(path, aside.as_path()), (other, path), (&aside, other)] {
        fs::rename(from, to).unwrap();
    }
}

#[test]
fn a_workspace_that_takes_the_place_of_another_is_not_restored_in_its_stead() {
    let lab = Lab::new();
    let scenario = Scenario::new(&lab, small(&lab), Kind::Restore, &restore_first);
    let mut findings = Findings::default();
    for moment in 0..=scenario.operations {
        let (copy, other) = (lab.copy(&scenario.fixture), lab.copy(&scenario.fixture));
        write(&other, "replaced.txt", "of the other one, in no snapshot\n");
        write(&other, "only-there.txt", "this too\n");
        let before = Picture::of(&other);
        let (path, place) = (copy.to_path_buf(), other.to_path_buf());
        let disk = Disk::new().watched(move |operation| {
            if operation == moment {
                exchange(&path, &place);
            }
            Ok(())
        });
        let outcome = restore_first(&open_on(&copy, disk));
        let is_exchanged = fs::read(copy.join("only-there.txt")).is_ok();
        if is_exchanged {
            exchange(&copy, &other);
        }
        let untouched = ensure(before == Picture::of(&other), || {
            format!("the other one was changed: {}", before.differences(&Picture::of(&other)))
        });
        // An exchange that comes when all is done is not noticed, and need not be.
        let told = ensure(
            outcome.as_ref().err().is_none_or(|error| matches!(error.code(), Code::WorkspaceNotFound | Code::Io)),
            || format!("the answer was {outcome:?}"),
        );
        let checked = untouched.and(told).and_then(|()| scenario.check(&copy).map(drop));
        findings.note(format_args!("exchanged ahead of operation {moment} of {}", scenario.operations), checked);
    }
    findings.report();
}
