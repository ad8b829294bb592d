//! A full disk: the answer is an error that says what was done, nothing is half done, looking and making room still work,
//! and all is well when there is room again.

use std::fs;
use std::io::Write;
use std::path::Path;

use backsight::report::Kind;
use backsight::request::{Collect, Log};
use backsight::{Code, Disk};

use crate::lab::{Findings, Lab, Scenario, Side, Strictness, damage, ensure, leftovers, none, open, open_on};
use crate::picture::Picture;
use crate::plans::{restore_first, small};
use crate::small_disk::SmallDisk;

/// Takes all files the disk has room for, but `spare`.
fn take_inodes(disk: &SmallDisk, spare: usize) {
    let directory = disk.path().join("filler");
    fs::create_dir(&directory).unwrap();
    let mut made = Vec::new();
    for number in 0.. {
        let path = directory.join(number.to_string());
        match fs::File::create(&path) {
            Ok(_) => made.push(path),
            Err(_) => break,
        }
    }
    made.iter().take(spare).for_each(|path| fs::remove_file(path).unwrap());
}

/// Takes all bytes the disk has room for, but `spare` pages.
fn take_bytes(disk: &SmallDisk, spare: u64) {
    let mut filler = fs::File::create(disk.path().join("filler")).unwrap();
    let page = [1; 4096];
    let mut pages = 0;
    while filler.write_all(&page).is_ok() {
        pages += 1;
    }
    filler.set_len(u64::saturating_sub(pages, spare) * 4096).unwrap();
}

fn free(disk: &SmallDisk) {
    let filler = disk.path().join("filler");
    if filler.is_dir() {
        fs::remove_dir_all(filler).unwrap();
    } else {
        fs::remove_file(filler).unwrap();
    }
}

/// Restores on a disk that `fill` leaves almost full, then again with room.
fn restore_on_full_disk(spares: impl Iterator<Item = u64>, fill: impl Fn(&SmallDisk, u64)) {
    let lab = Lab::new();
    let disk = SmallDisk::mount(&lab.empty());
    let scenario = Scenario::new(&lab, small(&lab), Kind::Restore, &restore_first);
    let (mut findings, mut failed, mut succeeded) = (Findings::default(), 0, 0);
    for spare in spares {
        let root = disk.path().join("copy");
        crate::lab::copy_to(&scenario.fixture, &root);
        fill(&disk, spare);
        let outcome = restore_first(&open(&root));
        let found = Picture::of(&root);
        free(&disk);
        *(if outcome.is_ok() { &mut succeeded } else { &mut failed }) += 1;
        let checked = check(&scenario, &root, &outcome.map_err(|error| error.to_string()), &found);
        findings.note(format_args!("with room for {spare} more"), checked);
        fs::remove_dir_all(&root).unwrap();
    }
    findings.report();
    assert!(failed > 3 && succeeded > 3, "the disk was full {failed} times and large enough {succeeded} times");
}

fn check(scenario: &Scenario<'_>, root: &Path, outcome: &Result<(), String>, found: &Picture) -> Result<(), String> {
    let side = scenario.check(root)?;
    match outcome {
        Ok(()) => ensure(side == Side::After, || "answered, but nothing was restored".to_owned())?,
        // Room for the row is kept before the first path changes, so that what is done is recorded too.
        Err(error) => {
            ensure(side == Side::Before, || format!("restored, but not recorded: {error}"))?;
            none(&format!("after `{error}` the tree was half done"), scenario.before.differences(found))?;
        }
    }
    scenario.check_can_go_on(root, side)
}

#[test]
fn a_restore_without_room_for_another_file_changes_nothing() {
    restore_on_full_disk(0..40, |disk, spare| take_inodes(disk, spare as usize));
}

#[test]
fn a_restore_without_room_for_another_byte_changes_nothing() {
    restore_on_full_disk((0..8).chain((8..120).step_by(3)), take_bytes);
}

#[test]
fn a_snapshot_without_room_is_an_error_and_leaves_a_whole_store() {
    let lab = Lab::new();
    let disk = SmallDisk::mount(&lab.empty());
    let fixture = small(&lab);
    let picture = Picture::of(&fixture);
    let mut findings = Findings::default();
    for spare in 0..60 {
        let root = disk.path().join("copy");
        crate::lab::copy_to(&fixture, &root);
        if spare % 2 == 0 {
            take_bytes(&disk, spare)
        } else {
            take_inodes(&disk, spare as usize / 4)
        }
        let outcome = open(&root).track();
        free(&disk);
        let checked = || -> Result<(), String> {
            let workspace = open(&root);
            none("verify finds", damage(&workspace))?;
            let latest = workspace.status().map_err(|error| format!("status fails: {error}"))?;
            ensure(outcome.is_err() || latest.clean, || {
                "answered, but the snapshot is not what is on disk".to_owned()
            })?;
            workspace.track().map_err(|error| format!("cannot be repeated: {error}"))?;
            ensure(workspace.status().is_ok_and(|status| status.clean), || "still not recorded".to_owned())?;
            none("files changed", picture.differences(&Picture::of(&root)))?;
            none("left behind", leftovers(&root, Strictness::Captured))?;
            none("verify finds at the end", damage(&workspace))
        };
        findings.note(format_args!("with room for {spare} more"), checked());
        fs::remove_dir_all(&root).unwrap();
    }
    findings.report();
}

/// Takes what room there is, again and again, from the moment the files are in place; the room kept for the row too.
fn take_everything_once_done(root: &Path) -> Disk {
    let (journal, filler) = (root.join(".backsight/store/journal"), root.parent().unwrap().join("filler"));
    Disk::new().watched(move |_| {
        let entries: Vec<std::path::PathBuf> =
            fs::read_dir(&journal).map(|found| found.flatten().map(|entry| entry.path()).collect()).unwrap_or_default();
        let has =
            |extension: &str| entries.iter().find(|path| path.extension().is_some_and(|found| found == extension));
        if has("done").is_some() {
            if let Some(reserved) = has("reserve") {
                fs::OpenOptions::new().write(true).open(reserved).unwrap().set_len(0).unwrap();
            }
            let mut filler = fs::OpenOptions::new().append(true).create(true).open(&filler).unwrap();
            while filler.write_all(&[1; 4096]).is_ok() {}
        }
        Ok(())
    })
}

#[test]
fn a_step_that_finds_no_room_is_told_recorded_later_and_keeps_no_reader_out() {
    let lab = Lab::new();
    let disk = SmallDisk::mount(&lab.empty());
    let scenario = Scenario::new(&lab, small(&lab), Kind::Restore, &restore_first);
    let root = disk.path().join("copy");
    crate::lab::copy_to(&scenario.fixture, &root);
    let refused = restore_first(&open_on(&root, take_everything_once_done(&root))).unwrap_err();
    assert_eq!(refused.code(), Code::DiskFull, "{refused}");
    assert!(refused.message().starts_with("the files are restored, but the step is not recorded yet"), "{refused}");
    assert_eq!(scenario.after.differences(&Picture::of(&root)), "");
    // Still full: looking works, and so does making room, which loses nothing that the row will need.
    let rows = open(&root).log(&Log::default()).unwrap().snapshots().count();
    open(&root).status().unwrap();
    open(&root).verify().unwrap();
    let collected = open(&root).gc(&Collect { keep_count: Some(1), ..Collect::default() }).unwrap();
    assert!(!collected.dry_run);
    free(&disk);
    assert_eq!(open(&root).log(&Log::default()).unwrap().snapshots().count(), rows + 1);
    assert_eq!(scenario.after.differences(&Picture::of(&root)), "");
    assert!(open(&root).status().unwrap().clean);
    assert_eq!(damage(&open(&root)), "");
    assert_eq!(leftovers(&root, Strictness::Opened), "");
}

/// Bytes that do not compress, others for each seed.
fn noise(seed: u64, length: usize) -> Vec<u8> {
    let next =
        |state: &u64| Some(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407));
    let states = std::iter::successors(Some(seed), next);
    states.skip(1).take(length).map(|state| (state >> 56) as u8).collect()
}

/// Saying which contents go takes room itself, which is kept for it. A workspace of one file has no stat cache to give up.
#[test]
fn room_is_made_where_not_a_byte_is_left() {
    let lab = Lab::new();
    let disk = SmallDisk::mount(&lab.empty());
    for spare in 0..6 {
        let root = disk.path().join("copy");
        fs::create_dir(&root).unwrap();
        let workspace = open(&root);
        for seed in 1..=4 {
            fs::write(root.join("file"), noise(seed, 400_000)).unwrap();
            workspace.track().unwrap();
        }
        take_bytes(&disk, spare);
        let collected = workspace.gc(&Collect { keep_count: Some(1), ..Collect::default() }).unwrap();
        assert!(collected.bytes_after + 700_000 < collected.bytes_before, "{collected:?}");
        // The room is kept again, for the next time.
        assert!(root.join(".backsight/store/cache/reserve").exists());
        free(&disk);
        drop(workspace);
        fs::remove_dir_all(&root).unwrap();
    }
}

/// SQLite's index of a log is shared memory: where a page of it gets no room the process ends at once.
#[test]
fn an_export_without_room_is_an_error_and_not_the_end() {
    let lab = Lab::on_disk();
    let disk = SmallDisk::with_small_blocks(&lab.path().join("image"), &lab.empty());
    let root = disk.path().join("root");
    fs::create_dir(&root).unwrap();
    let workspace = open(&root);
    for seed in 1..=3 {
        for number in 0..40 {
            fs::write(root.join(number.to_string()), noise(seed * 100 + number, 3000)).unwrap();
        }
        workspace.track().unwrap();
    }
    let (mut failed, mut done) = (0, 0);
    for spare in (0..200).step_by(4) {
        take_bytes(&disk, spare);
        let file = disk.path().join("history");
        match workspace.export_store(&file) {
            Ok(_) => {
                fs::remove_file(file).unwrap();
                done += 1;
            }
            Err(error) => {
                assert_eq!(error.code(), Code::DiskFull, "{error}");
                failed += 1;
            }
        }
        free(&disk);
    }
    assert!(failed > 3 && done > 3, "{failed} without room, {done} with it");
    // To another disk it works without any room here.
    take_bytes(&disk, 0);
    workspace.export_store(&lab.path().join("history")).unwrap();
}
