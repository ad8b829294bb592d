//! Removing and joining packs may die anywhere and never costs a snapshot that is kept.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use backsight::Workspace;
use backsight::request::Collect;

use crate::lab::{
    Findings, Lab, Outcome, Strictness, contents, damage, ensure, git_complaints, leftovers, none, open, operations,
    rows, stop_at,
};
use crate::picture::Picture;

type Contents = BTreeMap<Vec<u8>, (u16, Vec<u8>)>;

fn track(workspace: &Workspace) -> Outcome {
    workspace.track().map(drop)
}

fn keep_two(workspace: &Workspace) -> Outcome {
    workspace.gc(&Collect { keep_count: Some(2), ..Default::default() }).map(drop)
}

fn collect(workspace: &Workspace) -> Outcome {
    workspace.gc(&Collect::default()).map(drop)
}

/// The state after the `number`-th step: two files change each time, one comes and goes.
fn state(number: usize) -> Picture {
    let mut picture = Picture::default();
    picture.file("same.txt", 0o644, "always the same\n").file("every.txt", 0o644, format!("step {number}\n"));
    picture.file("dir/some.txt", 0o600, format!("half step {}\n", number / 2)).directory("dir/empty", 0o700);
    for earlier in 0..=number {
        // So that packs are partly needed.
        picture.file(&format!("since/{earlier}.txt"), 0o644, format!("since step {earlier}\n"));
    }
    if number.is_multiple_of(3) {
        picture.file("dir/third/comes-and-goes.txt", 0o755, format!("third step {number}\n"));
    }
    picture
}

fn steps(lab: &Lab, numbers: std::ops::Range<usize>) -> PathBuf {
    let root = lab.empty();
    for number in numbers {
        state(number).paint(&root);
        open(&root).track().unwrap();
    }
    root
}

/// Every snapshot that is kept, byte for byte.
fn kept(workspace: &Workspace) -> BTreeMap<u64, Contents> {
    let kept = rows(workspace).into_iter().filter(|row| row.expired_at.is_none());
    kept.map(|row| (row.sequence_number.0, contents(workspace, row.id.as_str()))).collect()
}

/// What `wanted` names is in the store just so. Asks only for these, and does not stop at an object that is missing.
fn still_there(root: &Path, wanted: &BTreeMap<u64, Contents>) -> Result<(), String> {
    let workspace = open(root);
    none("verify finds", damage(&workspace))?;
    for (seq, files) in wanted {
        ensure(contents(&workspace, &format!("#{seq}")) == *files, || format!("#{seq} is not what it was"))?;
    }
    Ok(())
}

fn object_bytes(root: &Path) -> u64 {
    let usage = open(root).usage().unwrap();
    usage.pack_bytes + usage.loose_bytes
}

#[test]
fn a_collection_stopped_at_every_operation_keeps_what_is_kept_and_can_be_completed() {
    let lab = Lab::new();
    let fixture = lab.empty();
    for number in 0..5 {
        state(number).paint(&fixture);
        if number == 1 {
            // Streamed into a loose object, and gone in the next step.
            fs::write(fixture.join("large.bin"), vec![1; (16 << 20) + 1]).unwrap();
        }
        open(&fixture).track().unwrap();
    }
    open(&fixture).pin("1", true).unwrap();
    let complete = lab.copy(&fixture);
    keep_two(&open(&complete)).unwrap();
    let (wanted, bytes) = (kept(&open(&complete)), object_bytes(&complete));
    assert_eq!(wanted.len(), 3, "two and the pinned one");
    none("after a whole collection", git_complaints(&complete)).unwrap();

    let total = operations(&lab, &fixture, &keep_two);
    let mut findings = Findings::default();
    for n in 0..=total {
        let copy = lab.copy(&fixture);
        drop(stop_at(&copy, n, &keep_two));
        let checked = || -> Result<(), String> {
            still_there(&copy, &wanted)?;
            keep_two(&open(&copy)).map_err(|error| format!("cannot be completed: {error}"))?;
            still_there(&copy, &wanted)?;
            let found = object_bytes(&copy);
            ensure(found == bytes, || {
                format!("{found} bytes of objects are left, {bytes} when it is not interrupted")
            })?;
            none("left behind", leftovers(&copy, Strictness::Captured))?;
            none("Git finds", git_complaints(&copy))?;
            open(&copy).restore("1").map_err(|error| format!("cannot restore the pinned one: {error}"))?;
            none("restored, it differs", state(0).differences(&Picture::of(&copy)))
        };
        findings.note(format_args!("stopped at {n} of {total}"), checked());
    }
    findings.report();
}

#[test]
fn a_join_of_packs_stopped_at_every_operation_loses_nothing_whatever_is_recorded_next() {
    let lab = Lab::new();
    let fixture = steps(&lab, 0..15);
    state(15).paint(&fixture);
    let complete = lab.copy(&fixture);
    let before = open(&fixture).usage().unwrap().packs;
    open(&complete).track().unwrap();
    let after = open(&complete).usage().unwrap().packs;
    assert!(after < before, "sixteen packs are joined: {before} became {after}");
    let wanted = kept(&open(&complete));

    let total = operations(&lab, &fixture, &track);
    let mut findings = Findings::default();
    for n in 0..=total {
        let copy = lab.copy(&fixture);
        drop(stop_at(&copy, n, &track));
        let checked = || -> Result<(), String> {
            let mut wanted = wanted.clone();
            wanted.retain(|seq, _| *seq <= rows(&open(&copy)).len() as u64);
            still_there(&copy, &wanted)?;
            // Back to what was there once, so that no object is new; then something new.
            for number in [3, 99] {
                state(number).paint(&copy);
                track(&open(&copy)).map_err(|error| format!("cannot record state {number}: {error}"))?;
                none("left behind", leftovers(&copy, Strictness::Captured))?;
                none(&format!("after state {number} is recorded, verify finds"), damage(&open(&copy)))?;
            }
            collect(&open(&copy)).map_err(|error| format!("cannot be collected: {error}"))?;
            still_there(&copy, &wanted).map_err(|error| format!("after a collection: {error}"))?;
            none("Git finds", git_complaints(&copy))
        };
        findings.note(format_args!("stopped at {n} of {total}"), checked());
    }
    findings.report();
}

#[test]
fn many_snapshots_in_a_row_lose_nothing_while_packs_are_joined() {
    let lab = Lab::new();
    let root = steps(&lab, 0..40);
    let workspace = open(&root);
    for (number, row) in rows(&workspace).iter().enumerate() {
        let every = workspace.get_file_at(row.id.as_str(), &"every.txt".parse().unwrap()).unwrap();
        assert_eq!(every, format!("step {number}\n").into_bytes());
    }
    none("in the end", damage(&workspace) + &git_complaints(&root)).unwrap();
}

#[test]
fn a_collection_after_a_damaged_object_was_mended_keeps_the_rest_of_its_pack() {
    let lab = Lab::new();
    let root = lab.empty();
    let mut noise = 1u32;
    let mut random = || {
        noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (noise >> 24) as u8
    };
    let bytes: Vec<u8> = (0..40_000).map(|_| random()).collect();
    let mut picture = state(0);
    picture.file("noise.bin", 0o644, bytes);
    picture.paint(&root);
    open(&root).track().unwrap();
    let wanted = kept(&open(&root));
    damage_the_middle_of_the_pack(&root);
    assert!(!open(&root).verify().unwrap().clean, "the damage is seen");
    open(&root).track().unwrap();
    assert_eq!(kept(&open(&root)), wanted, "the next capture mends it");
    collect(&open(&root)).unwrap();
    still_there(&root, &wanted).unwrap();
}

/// The only pack is mostly noise, so this hits one object.
fn damage_the_middle_of_the_pack(root: &Path) {
    let packs = fs::read_dir(root.join(".backsight/store/snapshots/objects/pack")).unwrap();
    let pack = packs
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|found| found == "pack"))
        .unwrap();
    let mut bytes = fs::read(&pack).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0xff;
    fs::write(&pack, bytes).unwrap();
}
