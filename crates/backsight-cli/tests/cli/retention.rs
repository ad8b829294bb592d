//! Room on disk: what `gc` removes, what it keeps byte for byte, and what a removed snapshot answers.

use std::fs;
use std::process::Stdio;

use serde_json::Value;

use crate::fixture::{Answer, ArgJson, Fixture};
use crate::picture::Picture;
use crate::random::Random;
use crate::store_and_git::assert_fsck;

/// `count` snapshots, each with some bytes of its own that hardly compress.
fn history(count: u64) -> (Fixture, Vec<Picture>) {
    let fixture = Fixture::new();
    let mut random = Random::new(9);
    let mut pictures = Vec::new();
    for version in 1..=count {
        let bytes: Vec<u8> = (0..5_000).flat_map(|_| random.next().to_le_bytes()).collect();
        fs::write(fixture.root().join("noise"), bytes).unwrap();
        fixture.write(&format!("d/{version}"), "x\n");
        fixture.write("same", "same\n");
        assert_eq!(fixture.track(), version);
        pictures.push(fixture.picture());
    }
    (fixture, pictures)
}

fn seqs(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|seq| seq.as_u64().unwrap()).collect()
}

/// These snapshots are exact, the others say when they expired.
#[track_caller]
fn kept(fixture: &Fixture, pictures: &[Picture], kept: &[u64]) {
    for (index, picture) in pictures.iter().enumerate() {
        let seq = index as u64 + 1;
        if kept.contains(&seq) {
            for (path, bytes) in picture.files() {
                assert!(fixture.cat(&format!("#{seq}"), path) == bytes, "#{seq} {}", String::from_utf8_lossy(path));
            }
        } else {
            for line in ["ls", "restore", "diff", "patch"] {
                let error = fixture.ask(&format!("{line} '#{seq}'")).fails("REF_EXPIRED", 4);
                assert!(error["message"].as_str().unwrap().contains("expired at"), "{error}");
            }
        }
    }
    fixture.verify();
    assert_fsck(fixture);
}

#[test]
fn the_newest_are_kept_by_count_and_the_store_shrinks() {
    let (fixture, pictures) = history(10);
    let before = fixture.ok("usage");
    let on_disk = fixture.picture();
    let dry = fixture.ok("gc --keep-count 3 --dry-run");
    assert_eq!(seqs(&dry["expired"]), (1..=7).collect::<Vec<_>>());
    assert_eq!(fixture.ok("usage")["snapshots"], 10, "a dry run removes nothing");
    let collected = fixture.ok("gc --keep-count 3");
    assert_eq!(seqs(&collected["expired"]), seqs(&dry["expired"]));
    assert_eq!(collected["objects_removed"], dry["objects_removed"]);
    let after = fixture.ok("usage");
    // Seven of ten go; the state before the oldest kept step stays with it, so that the step can be undone.
    let bytes = |usage: &Value, key: &str| usage[key].as_u64().unwrap();
    assert!(bytes(&after, "pack_bytes") * 2 < bytes(&before, "pack_bytes"), "{before} {after}");
    assert!(bytes(&after, "total_bytes") < bytes(&before, "total_bytes"), "{before} {after}");
    assert!(bytes(&after, "total_bytes").abs_diff(bytes(&collected, "bytes_after")) < 4096, "{collected} {after}");
    assert_eq!((&after["snapshots"], &after["expired"]), (&3.into(), &7.into()));
    kept(&fixture, &pictures, &[8, 9, 10]);
    fixture.picture().expect(&on_disk, "gc touches no file of the workspace");
}

#[test]
fn pinned_snapshots_stay() {
    let (fixture, pictures) = history(8);
    fixture.ok("pin 2");
    fixture.write("pinned-by-track", "x\n");
    fixture.ok("track --pin");
    fixture.write("later", "x\n");
    fixture.track();
    fixture.ok("gc --keep-count 1");
    kept(&fixture, &pictures, &[2]);
    fixture.ok("ls 9");
    fixture.ok("unpin 2");
    fixture.ok("gc --keep-count 1");
    kept(&fixture, &pictures, &[]);
}

#[test]
fn a_budget_removes_the_oldest_until_it_fits() {
    let (fixture, pictures) = history(12);
    fixture.done("config set disk_budget 300KB");
    let collected = fixture.ok("gc");
    let gone = seqs(&collected["expired"]);
    assert!(!gone.is_empty() && gone.len() < 12, "{collected}");
    assert_eq!(gone, (1..=gone.len() as u64).collect::<Vec<_>>(), "the oldest first");
    let total = fixture.ok("usage")["total_bytes"].as_u64().unwrap();
    assert!(total <= 300 * 1024 || collected["warnings"].is_array(), "{total} {collected}");
    let rest: Vec<u64> = (gone.len() as u64 + 1..=12).collect();
    kept(&fixture, &pictures, &rest);
}

#[test]
fn a_budget_that_cannot_be_met_says_so_and_keeps_the_newest() {
    let (fixture, pictures) = history(4);
    let collected = fixture.ok("gc --disk-budget 1KB");
    assert!(collected["warnings"].as_array().is_some_and(|warnings| !warnings.is_empty()), "{collected}");
    kept(&fixture, &pictures, &[4]);
}

#[test]
fn nothing_is_removed_without_a_limit() {
    let (fixture, pictures) = history(4);
    assert_eq!(seqs(&fixture.ok("gc")["expired"]), Vec::<u64>::new());
    fixture.ok("gc --keep-days 1");
    kept(&fixture, &pictures, &[1, 2, 3, 4]);
}

/// What is expired stays in the log, and numbers are never used again.
#[test]
fn the_log_remembers_what_expired() {
    let (fixture, _) = history(5);
    fixture.ok("gc --keep-count 1");
    let log = fixture.ok("log");
    let snapshots = log["rows"].as_array().unwrap();
    assert_eq!(snapshots.len(), 5);
    assert!(snapshots[1..].iter().all(|snapshot| snapshot["expired_at"].is_string()), "{log}");
    fixture.write("new", "x\n");
    assert_eq!(fixture.track(), 6);
    let shown = fixture.ask("show 2");
    assert!(shown.status == 0 || shown.code() == "REF_EXPIRED", "{}", shown.json);
}

/// An id, a tree and a prefix of an expired snapshot are "expired", not "unknown".
#[test]
fn every_spelling_of_an_expired_snapshot_is_expired() {
    let (fixture, _) = history(3);
    let log = fixture.ok("log");
    let first = log["rows"][2].clone();
    fixture.ok("gc --keep-count 1");
    let (id, tree) = (first["id"].as_str().unwrap(), first["tree"].as_str().unwrap());
    for reference in [id, tree, &id[..8], &tree[..10], "#1", "1", "@~2"] {
        fixture.ask(&format!("restore '{reference}'")).fails("REF_EXPIRED", 4);
        fixture.ask(&format!("cat '{reference}' same")).fails("REF_EXPIRED", 4);
    }
}

/// The newest step can still be undone; what lies further back is refused and nothing changes.
#[test]
fn undo_into_the_expired_past_is_refused() {
    let (fixture, pictures) = history(5);
    fixture.ok("gc --keep-count 1");
    fixture.ok("undo");
    fixture.picture().expect(&pictures[3], "undo of the newest step");
    let answer = fixture.ask("undo");
    assert_eq!(answer.status, 4, "{}", answer.json);
    fixture.picture().expect(&pictures[3], "undo of an expired step");
}

#[test]
fn gc_beside_running_captures_loses_nothing() {
    let (fixture, _) = history(6);
    let mut children = Vec::new();
    for round in 0..6 {
        fixture.write(&format!("round-{round}"), &format!("{round}\n"));
        for line in ["track", "gc --keep-count 40"] {
            let mut command = fixture.command(line).arg_json();
            children.push((line, command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()));
        }
    }
    for (line, child) in children {
        Answer::read(&child.wait_with_output().unwrap(), line).ok();
    }
    fixture.verify();
    assert_fsck(&fixture);
    fixture.track();
    let before = fixture.picture();
    fixture.write("same", "changed\n");
    fixture.ok("restore @");
    fixture.picture().expect(&before, "restore");
}

/// Many small steps: the store grows by the edits, and the log of the timeline does not grow for ever.
#[test]
fn small_edits_take_little_room() {
    let fixture = Fixture::new();
    for number in 0..20 {
        fixture.write(&format!("d{}/f{number}", number % 5), &format!("line {number}\n").repeat(100));
    }
    fixture.track();
    let before = fixture.ok("usage")["pack_bytes"].as_u64().unwrap();
    for round in 0..230 {
        fixture.write("d3/f3", &format!("{round}\n"));
        fixture.track();
    }
    let usage = fixture.ok("usage");
    let each = usage["pack_bytes"].as_u64().unwrap().saturating_sub(before) / 230;
    assert!(each < 4 * 1024, "{each} bytes a step: {usage}");
    assert!(usage["packs"].as_u64().unwrap() < 60, "{usage}");
    assert!(usage["timeline_bytes"].as_u64().unwrap() < 4_500_000, "{usage}");
    fixture.ok("gc");
    let total = fixture.ok("usage")["total_bytes"].as_u64().unwrap();
    assert!(total / 230 < 6 * 1024, "{total}");
}
