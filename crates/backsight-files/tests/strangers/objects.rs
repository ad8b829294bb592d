//! Stored objects that a stranger prepared: names that lead elsewhere, and contents that never end.

use std::fs;

use backsight_core::Code;
use backsight_files::{ObjectKind, ObjectReport, Tree};

use crate::lab::{Lab, bounded, deflated, everything};

#[test]
fn a_stored_name_that_some_file_system_takes_for_ours_or_gits_is_damage() {
    let lab = Lab::new();
    lab.write("a", "1");
    let now = lab.capture();
    let blob = lab.plant(ObjectKind::Blob, b"x");
    let names = [
        ".backsight",
        ".BackSight",
        ".backsight.",
        ".backsight ",
        ".back\u{17f}ight",
        ".bac\u{212a}sight",
        ".b\u{200c}acksight",
        ".git",
        ".GIT",
        "..",
        ".",
        "a/b",
    ];
    for name in names {
        for (mode, inner) in [("100644", blob), ("40000", lab.plant_tree(&[("100644", "pwn", blob)]))] {
            let tree = Tree { id: lab.plant_tree(&[(mode, name, inner)]), attributes: None };
            let files = lab.files();
            assert_eq!(files.list(&tree, None).unwrap_err().code(), Code::Damaged, "{name:?}");
            assert_eq!(
                files.plan_restore(&now, &tree, None, everything()).unwrap_err().code(),
                Code::Damaged,
                "{name:?}"
            );
        }
        // Directories without files are named beside the tree.
        let modes = lab.plant(ObjectKind::Blob, format!("empty 755 {name}\0").as_bytes());
        let attributes = Some(lab.plant_tree(&[("100644", "m", modes)]));
        let tree = Tree { id: lab.plant(ObjectKind::Tree, b""), attributes };
        assert_eq!(lab.files().list(&tree, None).unwrap_err().code(), Code::Damaged, "{name:?}");
    }
}

#[test]
fn such_names_in_the_workspace_are_reported_and_never_captured() {
    let lab = Lab::new();
    for name in [".Backsight/x", ".backsight./x", ".GIT/x", "a"] {
        lab.write(name, "1");
    }
    let captured = lab.capture();
    let said: Vec<String> =
        captured.coverage.uncovered.iter().map(|found| format!("{} {}", found.path, found.reason)).collect();
    assert_eq!(said, [".Backsight alias of .backsight", ".GIT alias of .git", ".backsight. alias of .backsight"]);
    assert_eq!(lab.files().list(&captured.tree, None).unwrap().len(), 1);
}

#[test]
fn one_name_twice_in_a_directory_is_damage() {
    let lab = Lab::new();
    lab.capture();
    let blob = lab.plant(ObjectKind::Blob, b"x");
    let inner = lab.plant_tree(&[("100644", "x", blob)]);
    let tree = Tree { id: lab.plant_tree(&[("100644", "a", blob), ("40000", "a", inner)]), attributes: None };
    assert_eq!(lab.files().list(&tree, None).unwrap_err().code(), Code::Damaged);
}

#[test]
fn an_object_that_holds_more_than_it_says_is_damage_and_not_inflated() {
    let lab = Lab::new();
    lab.capture();
    let endless = vec![0; 64 << 20];
    for (number, header) in ["blob 10", "tree 10", "blob 99999999999999", "blob -1", "blob", "x 1"].iter().enumerate() {
        let id = lab.plant(ObjectKind::Blob, format!("{number}").as_bytes());
        lab.plant_raw(&id, &deflated(&[header.as_bytes(), b"\0", &endless].concat()));
        let error = lab.files().objects().read(&id).unwrap_err();
        assert_eq!(error.code(), Code::Damaged, "{header}");
        assert!(error.message().contains(&id.to_string()), "{error}");
    }
}

/// A pack of entries as they are given, and its index.
fn plant_pack(lab: &Lab, name: &str, entries: &[(backsight_core::ObjectId, Vec<u8>)], offset_of: impl Fn(u32) -> u32) {
    let mut pack = [&b"PACK\0\0\0\x02"[..], &(entries.len() as u32).to_be_bytes()].concat();
    let mut listed: Vec<_> = Vec::new();
    for (id, bytes) in entries {
        listed.push((*id, pack.len() as u32));
        pack.extend_from_slice(bytes);
    }
    pack.extend_from_slice(&[0; 20]);
    listed.sort();
    let mut index = b"\xfftOc\0\0\0\x02".to_vec();
    for byte in 0..=255u8 {
        let below = listed.iter().filter(|(id, _)| id.as_bytes()[0] <= byte).count() as u32;
        index.extend_from_slice(&below.to_be_bytes());
    }
    listed.iter().for_each(|(id, _)| index.extend_from_slice(id.as_bytes()));
    listed.iter().for_each(|_| index.extend_from_slice(&[0; 4]));
    listed.iter().for_each(|(_, offset)| index.extend_from_slice(&offset_of(*offset).to_be_bytes()));
    index.extend_from_slice(&[0; 40]);
    let directory = lab.root().join(".backsight/store/snapshots/objects/pack");
    fs::write(directory.join(format!("pack-{name}.pack")), pack).unwrap();
    fs::write(directory.join(format!("pack-{name}.idx")), index).unwrap();
}

fn entry(code: u8, mut size: u64, rest: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut byte = (code << 4) | (size & 15) as u8;
    size >>= 4;
    while size > 0 {
        bytes.push(byte | 0x80);
        byte = (size & 0x7f) as u8;
        size >>= 7;
    }
    bytes.push(byte);
    bytes.extend_from_slice(rest);
    bytes
}

/// The number as a delta spells a size.
fn delta_size(mut size: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while size >= 0x80 {
        bytes.push((size & 0x7f) as u8 | 0x80);
        size >>= 7;
    }
    bytes.push(size as u8);
    bytes
}

fn every_read_is_damage(lab: Lab, ids: Vec<backsight_core::ObjectId>) {
    bounded(move || {
        let files = lab.files();
        for id in ids {
            let error = files.objects().read(&id).unwrap_err();
            assert_eq!(error.code(), Code::Damaged, "{error}");
            assert!(error.message().contains(&id.to_string()), "{error}");
        }
        files.objects().check_objects(&|_, _| {}).unwrap();
        files.objects().check_tree(&lab.capture().tree, &ObjectReport::default()).unwrap();
    });
}

fn id(number: u8) -> backsight_core::ObjectId {
    backsight_core::ObjectId::from_bytes([number; 20])
}

#[test]
fn entries_of_a_pack_that_lie_about_their_size_are_damage() {
    let lab = Lab::new();
    lab.capture();
    let zeros = deflated(&vec![0; 64 << 20]);
    let entries = [
        (id(1), entry(3, 10, &zeros)),
        (id(2), entry(3, u64::MAX >> 4, &zeros)),
        (id(3), entry(5, 10, &zeros)),
        (id(4), entry(6, 10, &[0xff; 30])),
    ];
    plant_pack(&lab, "lies", &entries, |offset| offset);
    every_read_is_damage(lab, vec![id(1), id(2), id(3), id(4)]);
}

#[test]
fn an_index_that_points_nowhere_is_damage() {
    for wrong in [0, 1, 11, 0x7fff_ffff, 0x8000_0000, u32::MAX] {
        let lab = Lab::new();
        lab.capture();
        plant_pack(&lab, "lost", &[(id(1), entry(3, 1, &deflated(b"x")))], move |_| wrong);
        every_read_is_damage(lab, vec![id(1)]);
    }
}

#[test]
fn a_delta_that_copies_without_end_is_damage() {
    let lab = Lab::new();
    lab.capture();
    let base = vec![0; 1 << 20];
    // Copies a mebibyte, a hundred thousand times.
    let copy = [0x80 | 0x40, 0x10];
    let deltas = [1u64 << 40, 100].map(|size| [delta_size(1 << 20), delta_size(size), copy.repeat(100_000)].concat());
    let base_entry = entry(3, 1 << 20, &deflated(&base));
    let mut entries = vec![(id(9), base_entry.clone())];
    let mut distance = base_entry.len();
    for (number, delta) in deltas.iter().enumerate() {
        // The distance as Git spells it, in as many bytes as it takes.
        let mut bytes = vec![(distance & 0x7f) as u8];
        let mut rest = distance >> 7;
        while rest > 0 {
            rest -= 1;
            bytes.insert(0, 0x80 | (rest & 0x7f) as u8);
            rest >>= 7;
        }
        let bytes = entry(6, delta.len() as u64, &[bytes, deflated(delta)].concat());
        distance += bytes.len();
        entries.push((id(number as u8 + 1), bytes));
    }
    plant_pack(&lab, "delta", &entries, |offset| offset);
    every_read_is_damage(lab, vec![id(1), id(2)]);
}

#[test]
fn a_chain_of_deltas_without_an_end_is_damage() {
    let lab = Lab::new();
    lab.capture();
    // Each is a delta of the other.
    let other = |number: u8| entry(7, 4, &[id(number).as_bytes(), &deflated(&[1, 1, 1, b'x'])[..]].concat());
    plant_pack(&lab, "ring", &[(id(1), other(2)), (id(2), other(1))], |offset| offset);
    every_read_is_damage(lab, vec![id(1), id(2)]);
}
