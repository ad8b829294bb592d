//! Stores that the first format wrote are brought to this one, once, with every row and everything that can be done
//! with them. `format_1/make.sh` says how they were made, by the program of that time.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use backsight::report::LineOrigin;
use backsight::request::{Log, Order, Revert};
use backsight::{Code, Workspace};
use rusqlite::Connection;

use crate::lab::{Lab, damage, git_complaints, open};
use crate::scene::path;

fn unpacked(lab: &Lab, name: &str) -> PathBuf {
    let archive = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/workspace/format_1/workspaces.tar.gz");
    let directory = lab.empty();
    let unpacked =
        Command::new("tar").args(["--no-same-owner", "-xzf"]).arg(archive).arg("-C").arg(&directory).status().unwrap();
    assert!(unpacked.success());
    crate::lab::vouch_for(&directory.join(name).join(".backsight/store"));
    directory.join(name)
}

fn database(root: &Path) -> PathBuf {
    root.join(".backsight/store/timeline.db")
}

fn format_of(root: &Path) -> i64 {
    Connection::open(database(root)).unwrap().query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
}

/// What the old program said about every row, oldest first.
fn as_the_old_program_said(name: &str) -> Vec<serde_json::Value> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/workspace/format_1/{name}.log.json"));
    let value: serde_json::Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    let mut rows = value["snapshots"].as_array().unwrap().clone();
    rows.reverse();
    rows
}

fn log(workspace: &Workspace) -> Vec<serde_json::Value> {
    let page = workspace.log(&Log { order: Order::OldestFirst, ..Log::default() }).unwrap();
    page.rows.iter().map(|row| serde_json::to_value(row).unwrap()).collect()
}

fn check_rows(root: &Path, name: &str) {
    let (old, new) = (as_the_old_program_said(name), log(&open(root)));
    assert_eq!(new.len(), old.len());
    for (old, new) in old.iter().zip(&new) {
        for (key, value) in old.as_object().unwrap() {
            assert_eq!(&new[key], value, "{key} of #{}", old["sequence_number"]);
        }
        let more: Vec<&String> =
            new.as_object().unwrap().keys().filter(|key| old.get(key.as_str()).is_none()).collect();
        assert_eq!(more, ["chain_hash"], "nothing is invented for #{}", old["sequence_number"]);
    }
}

#[test]
fn every_row_of_an_old_store_is_kept_and_sealed() {
    let lab = Lab::new();
    for name in ["kept", "expired"] {
        let root = unpacked(&lab, name);
        assert_eq!(format_of(&root), 1);
        check_rows(&root, name);
        assert_eq!(format_of(&root), 4);
        assert_eq!(damage(&open(&root)) + &git_complaints(&root), "");
        let sync = open(&root).validate_workspace_sync().unwrap();
        assert_eq!((sync.in_sync, sync.rows_checked), (true, 10));
        let head = sync.chain_head;
        check_rows(&root, name);
        assert_eq!(open(&root).get_current_state().unwrap().chain_head, head, "it is sealed once");
        Connection::open(database(&root)).unwrap().execute("UPDATE rows SET tool = 'x' WHERE seq = 2", []).unwrap();
        assert_eq!(open(&root).validate_workspace_sync().unwrap().problems[0].sequence_number.0, 2);
    }
}

#[test]
fn reading_alone_brings_an_old_store_forward() {
    let lab = Lab::new();
    type Reading = fn(&Workspace);
    let readings: [Reading; 5] = [
        |workspace| drop(workspace.status().unwrap()),
        |workspace| drop(workspace.show("2").unwrap()),
        |workspace| drop(workspace.open_calls().unwrap()),
        |workspace| drop(workspace.milestones().unwrap()),
        |workspace| drop(workspace.load_file_checkpoint(None).unwrap()),
    ];
    for read in readings {
        let root = unpacked(&lab, "kept");
        read(&open(&root));
        check_rows(&root, "kept");
    }
}

#[test]
fn steps_of_an_old_store_can_be_taken_back_and_forth() {
    let lab = Lab::new();
    let root = unpacked(&lab, "kept");
    let workspace = open(&root);
    let text = |file: &str| fs::read_to_string(root.join(file)).unwrap_or_default();
    workspace.undo(&Default::default()).unwrap();
    assert_eq!(text("still.txt"), "never changes\n", "#10 is undone");
    workspace.undo(&Default::default()).unwrap();
    assert_eq!(text("a.txt"), "one\ntwo\nthree\nfour\n", "#9 is undone");
    workspace.redo(&Default::default()).unwrap();
    assert_eq!(text("a.txt"), "one\nTWO\nthree\n", "and done again");
    workspace.restore("1").unwrap();
    assert_eq!((text("a.txt"), text("d/old-name.txt")), ("one\ntwo\nthree\n".into(), "x\n".into()));
    workspace.restore("session:s1").unwrap();
    assert!(root.join("d/new-name.txt").exists());
    workspace.revert_steps(&Revert { references: vec!["session:s1".into()], ..Revert::default() }).unwrap();
    assert_eq!((text("a.txt"), text("d/old-name.txt")), ("one\ntwo\nthree\n".into(), "x\n".into()));
    assert_eq!(damage(&workspace), "");
    assert!(workspace.validate_workspace_sync().unwrap().in_sync);
}

#[test]
fn the_files_of_an_old_store_have_their_history() {
    let lab = Lab::new();
    for name in ["kept", "expired"] {
        let root = unpacked(&lab, name);
        let workspace = open(&root);
        let rows = |file: &str| -> Vec<u64> {
            let query = Log { file: Some(path(file)), order: Order::OldestFirst, ..Log::default() };
            workspace.log(&query).unwrap().rows.iter().map(|row| row.sequence_number().0).collect()
        };
        assert_eq!(rows("a.txt"), [1, 2, 4, 5, 7, 8, 9], "{name}");
        let versions: Vec<u64> =
            workspace.file_history(&path("a.txt")).unwrap().iter().map(|version| version.sequence_number.0).collect();
        let expected: &[u64] = if name == "kept" { &[9, 8, 7, 5, 4, 2, 1] } else { &[9, 8, 7, 5, 4, 2] };
        assert_eq!(versions, expected, "{name}");
    }
}

fn origins(workspace: &Workspace, file: &str, reference: Option<&str>) -> Vec<String> {
    let blame = workspace.blame(&path(file), reference).unwrap();
    let line = |hunk: &backsight::report::BlameHunk| {
        let origin = match &hunk.origin {
            LineOrigin::Recorded(by) => format!("recorded {}", by.sequence_number.0),
            LineOrigin::External(by) => format!("external {}", by.sequence_number.0),
            LineOrigin::Baseline(by) => format!("baseline {}", by.sequence_number.0),
            LineOrigin::Unrecorded => "unrecorded".to_owned(),
            LineOrigin::Expired(by) => format!("expired {}", by.sequence_number.0),
        };
        hunk.lines.iter().map(|text| format!("{text}: {origin}")).collect::<Vec<_>>()
    };
    blame.hunks.iter().flat_map(line).collect()
}

#[test]
fn lines_of_an_old_store_are_attributed() {
    let lab = Lab::new();
    let workspace = open(&unpacked(&lab, "kept"));
    assert_eq!(origins(&workspace, "a.txt", None), ["one: baseline 1", "TWO: recorded 2", "three: baseline 1"]);
    let fourth = ["one: baseline 1", "TWO: recorded 2", "three: baseline 1", "four: recorded 4"];
    assert_eq!(origins(&workspace, "a.txt", Some("4")), fourth);
    assert_eq!(origins(&workspace, "a.txt", Some("1")), ["one: baseline 1", "two: baseline 1", "three: baseline 1"]);
    assert_eq!(origins(&workspace, "still.txt", Some("9")), ["never changes: baseline 1"]);
    assert_eq!(origins(&workspace, "d/new-name.txt", Some("4")), ["x: baseline 1"], "through the rename");
}

/// What is gone is said to be gone, and never blamed on whoever came next.
#[test]
fn lines_of_an_old_store_that_expired_are_said_to_be() {
    let lab = Lab::new();
    let workspace = open(&unpacked(&lab, "expired"));
    for line in origins(&workspace, "a.txt", None) {
        assert!(line.contains("expired"), "nobody knows any more who wrote {line}");
    }
    let fourth = origins(&workspace, "a.txt", Some("4"));
    assert_eq!(fourth[3], "four: recorded 4");
    assert!(fourth[..3].iter().all(|line| line.contains("expired")), "{fourth:?}");
}

#[test]
fn a_migration_that_was_cut_off_begins_again() {
    let lab = Lab::new();
    let root = unpacked(&lab, "kept");
    {
        // A process that made the new tables and died before its transaction ended.
        let connection = Connection::open(database(&root)).unwrap();
        connection
            .execute_batch("BEGIN IMMEDIATE; ALTER TABLE touched RENAME TO touched_1; CREATE TABLE rows (x)")
            .unwrap();
    }
    assert_eq!(format_of(&root), 1);
    check_rows(&root, "kept");
}

#[test]
fn many_may_open_an_old_store_at_once() {
    let lab = Lab::new();
    let root = unpacked(&lab, "kept");
    let heads: Vec<String> = std::thread::scope(|scope| {
        let open = || scope.spawn(|| open(&root).get_current_state().unwrap().chain_head);
        let threads: Vec<_> = (0..8).map(|_| open()).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(heads.windows(2).all(|pair| pair[0] == pair[1]));
    check_rows(&root, "kept");
}

#[test]
fn a_format_from_the_future_is_refused_by_name_and_left_alone() {
    let lab = Lab::new();
    for format in [5, 99, -1] {
        let root = unpacked(&lab, "kept");
        Connection::open(database(&root)).unwrap().pragma_update(None, "user_version", format).unwrap();
        let bytes = || fs::read(database(&root)).unwrap();
        let before = bytes();
        for error in
            [open(&root).status().unwrap_err(), open(&root).track().unwrap_err(), open(&root).verify().unwrap_err()]
        {
            assert_eq!(error.code(), Code::StoreVersion);
            assert!(error.message().contains(&format!("format {format}")), "{error}");
            assert!(error.hint().is_some());
        }
        assert!(before == bytes(), "a store of another version is not written to");
    }
}
