//! A workspace with another file system mounted in it: files there are staged beside their targets.

use backsight_core::NextStep;
use std::fs;
use std::path::Path;

use backsight::report::{Kind, OnConflict};
use backsight::request::Restore;

use crate::lab::{Findings, Lab, Scenario, stop_at};
use crate::picture::Picture;
use crate::plans::{recorded, restore_first, small};
use crate::small_disk::SmallDisk;

/// The small plan, once in the workspace and once below `mounted`.
fn twice(lab: &Lab) -> std::path::PathBuf {
    let single = small(lab);
    let workspace = crate::lab::open(&single);
    let third = Picture::of(&single);
    let mut states = vec![third];
    for reference in ["2", "1"] {
        workspace.restore(reference).unwrap();
        states.push(Picture::of(&single));
    }
    let doubled = states.iter().rev().map(|state| {
        let mut both = state.clone();
        both.directory("mounted", 0o755);
        for (path, thing) in &state.0 {
            both.put(&[b"mounted/", path.as_slice()].concat(), thing.clone());
        }
        both
    });
    let doubled: Vec<Picture> = doubled.collect();
    recorded(lab, &doubled.iter().collect::<Vec<_>>())
}

/// Empties a directory in which something may be mounted.
fn clear(directory: &Path) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_symlink() || !path.is_dir() {
            fs::remove_file(path).unwrap();
        } else if path.ends_with("mounted") {
            clear(&path);
        } else {
            fs::remove_dir_all(path).unwrap();
        }
    }
}

#[test]
fn a_restore_across_a_mount_point_stopped_at_every_operation_is_before_or_after() {
    let lab = Lab::new();
    let root = lab.empty();
    fs::create_dir(root.join("mounted")).unwrap();
    let _disk = SmallDisk::mount(&root.join("mounted"));
    let scenario = Scenario::new(&lab, twice(&lab), Kind::Restore, &restore_first);
    let mut findings = Findings::default();
    // Staging beside takes a few operations more than the same restore on one file system.
    for n in 0..=scenario.operations + 20 {
        clear(&root);
        crate::lab::copy_to(&scenario.fixture, &root);
        let outcome = stop_at(&root, n, scenario.action);
        let checked = scenario.check(&root).map_err(|problem| format!("{problem}\n  the answer was {outcome:?}"));
        findings.note(format_args!("stopped at {n} of about {}", scenario.operations), checked);
    }
    clear(&root);
    crate::lab::copy_to(&scenario.fixture, &root);
    restore_first(&crate::lab::open(&root)).unwrap();
    findings.report();
}

#[test]
fn files_below_another_mount_of_the_same_device_are_restored() {
    let lab = Lab::new();
    let (root, volume) = (lab.empty(), lab.empty());
    fs::create_dir(root.join("mounted")).unwrap();
    let _volume = SmallDisk::bind(&volume, &root.join("mounted"));
    crate::lab::copy_to(&twice(&lab), &root);
    let before = Picture::of(&root);
    let workspace = crate::lab::open(&root);
    workspace.restore("1").unwrap();
    assert_ne!(before, Picture::of(&root));
    assert!(workspace.status().unwrap().clean);
    assert_eq!(fs::read(volume.join("replaced.txt")).unwrap(), b"first\n");
    workspace.undo(&Default::default()).unwrap();
    assert_eq!(before.differences(&Picture::of(&root)), "");
    assert_eq!(crate::lab::leftovers(&root, crate::lab::Strictness::Captured), "");
}

/// Nothing can be swapped with it: a restore says so and changes nothing, or leaves it alone.
#[test]
fn a_file_that_is_itself_a_mount_point_is_named_and_can_be_skipped() {
    let lab = Lab::new();
    let (root, volume) = (lab.empty(), lab.empty());
    let names = ["a", "mounted", "z"];
    names.iter().for_each(|name| fs::write(root.join(name), "one\n").unwrap());
    let workspace = crate::lab::open(&root);
    workspace.track().unwrap();
    fs::write(volume.join("host"), "of the host\n").unwrap();
    let _mounted = SmallDisk::bind(&volume.join("host"), &root.join("mounted"));
    ["a", "z"].iter().for_each(|name| fs::write(root.join(name), "two\n").unwrap());
    let texts = || names.map(|name| fs::read_to_string(root.join(name)).unwrap());
    let error = workspace.restore("1").unwrap_err();
    assert!(error.advises(&NextStep::WithSkip), "{error:?}");
    assert_eq!(texts(), ["two\n", "of the host\n", "two\n"]);
    let request = Restore { reference: "1".into(), on_conflict: OnConflict::Skip, ..Restore::default() };
    let applied = workspace.restore_with(&request).unwrap();
    assert_eq!(texts(), ["one\n", "of the host\n", "one\n"]);
    assert!(applied.skipped.iter().any(|left| left.reason.contains("mounted")), "{applied:?}");
    assert_eq!(crate::lab::leftovers(&root, crate::lab::Strictness::Captured), "");
}

/// The files of a volume that is not there are not removed files: a recovery waits for it.
#[test]
fn a_recovery_waits_for_a_volume_that_is_not_mounted() {
    let lab = Lab::new();
    let fixture = twice(&lab);
    let mut findings = Findings::default();
    let mut waited = 0;
    for n in (0..).step_by(5) {
        let (root, volume) = (lab.empty(), lab.empty());
        fs::create_dir(root.join("mounted")).unwrap();
        let stopped = {
            let _volume = SmallDisk::bind(&volume, &root.join("mounted"));
            crate::lab::copy_to(&fixture, &root);
            stop_at(&root, n, &restore_first)
        };
        let workspace = crate::lab::open(&root);
        workspace.log(&Default::default()).unwrap();
        let waits = workspace.undo(&Default::default()).err().filter(|error| error.message().contains("not mounted"));
        waited += usize::from(waits.is_some());
        drop(workspace);
        let _volume = SmallDisk::bind(&volume, &root.join("mounted"));
        let workspace = crate::lab::open(&root);
        let checked = workspace.status().map(drop).map_err(|error| error.to_string());
        let left = crate::lab::leftovers(&root, crate::lab::Strictness::Opened);
        let whole = crate::lab::ensure(
            waits.is_none() || (left.is_empty() && crate::lab::damage(&workspace).is_empty()),
            || left,
        );
        findings.note(format_args!("stopped at {n}"), checked.and(whole));
        if stopped.is_ok() {
            break;
        }
    }
    findings.report();
    assert!(waited > 0, "no recovery had anything on the volume");
}
