//! `known create`, `list`, `show`, `clean`: what was last known of each file (seed 003's file checkpoints).

use insta::assert_snapshot;
use serde_json::json;

use crate::fixture::{Fixture, numbered};
use crate::timeline::{number, tamper};

fn notes(fixture: &Fixture) -> i64 {
    number(fixture, "SELECT count(*) FROM checkpoints")
}

#[test]
fn every_snapshot_notes_what_it_changed_and_only_the_latest_note_is_kept() {
    let fixture = Fixture::with_history();
    assert_eq!(notes(&fixture), 1);
    assert_snapshot!(fixture.run("known list"), @r"
    [SNAPSHOT-ID]  just now  what #3 holds
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("known show"), @r"
    [SNAPSHOT-ID]  [DATE] [TIME] +00:00 (just now)
      2 B  c.txt
    1 file, 2 B
    ---- exit 0
    ");
}

#[test]
fn contents_come_from_the_snapshot_and_not_from_the_disk() {
    let fixture = Fixture::with_history();
    std::fs::write(fixture.root().join("raw"), b"\xff\x00").unwrap();
    fixture.done("track");
    fixture.write("a.txt", "not recorded\n");
    let id = fixture.ok("known create @ -- a.txt raw")["id"].as_str().unwrap().to_owned();
    let known = fixture.ok("known show");
    assert_eq!((&known["id"], &known["files"]["a.txt"]), (&json!(id), &json!(numbered(&[(2, "agent")]))));
    assert_eq!(known["binary_files"]["raw"].as_str().unwrap().len(), 40);
    assert_eq!(known["snapshot_id"], fixture.ok("show @")["id"]);
    assert_eq!(known["metadata"]["total_files"], 2);
    assert!(fixture.run("known show").contains("binary  raw"));
}

#[test]
fn a_note_holds_the_files_named_as_they_are_in_the_snapshot_named() {
    let fixture = Fixture::with_history();
    assert_snapshot!(fixture.run("known create 1 -- a.txt b.txt"), @r"
    Noted a.txt and b.txt as in #1 ([SNAPSHOT-ID])
    ---- exit 0
    ");
    assert_eq!(fixture.ok("known show")["files"]["a.txt"], numbered(&[]));
    assert_eq!(fixture.ok("known list")["checkpoints"][0]["sequence_number"], 1);
    fixture.done("known create 1");
    assert_eq!(fixture.ok("known show")["metadata"]["total_files"], 2);
    let error = fixture.ask("known create 1 -- c.txt").fails("PATH_NOT_FOUND", 4);
    assert!(error["message"].as_str().unwrap().contains("`c.txt` is not in #1"), "{error}");
    fixture.ask("known create 99").fails("REF_NOT_FOUND", 4);
}

#[test]
fn all_notes_are_kept_when_the_setting_says_so_until_they_are_too_old() {
    let fixture = Fixture::new();
    fixture.done("config set keep_all_checkpoints true");
    for step in 1..=3 {
        fixture.write("a.txt", &format!("{step}\n"));
        fixture.done("track");
    }
    assert_eq!(notes(&fixture), 3);
    let first = fixture.ok("known list")["checkpoints"][2]["id"].as_str().unwrap().to_owned();
    assert_eq!(fixture.ok(&format!("known show {first}"))["files"]["a.txt"], "1\n");
    // Eight days later the setting of seven days removes it with the next snapshot.
    tamper(&fixture, &format!("UPDATE checkpoints SET timestamp = timestamp - 8 * 86400000 WHERE id = '{first}'"));
    fixture.write("a.txt", "4\n");
    fixture.done("track");
    assert_eq!(notes(&fixture), 3);
    fixture.ask(&format!("known show {first}")).fails("REF_NOT_FOUND", 4);
    // The snapshot it named is untouched.
    assert_eq!(fixture.cat("1", b"a.txt"), b"1\n");
}

#[test]
fn clean_removes_old_notes_and_keeps_the_latest_one() {
    let fixture = Fixture::new();
    fixture.done("config set keep_all_checkpoints true");
    for step in 1..=4 {
        fixture.write("a.txt", &format!("{step}\n"));
        fixture.done("track");
    }
    tamper(&fixture, "UPDATE checkpoints SET timestamp = timestamp - 86400000 * seq");
    assert_snapshot!(fixture.run("known clean"), @r"
    Removed 0 notes, 4 notes left
    ---- exit 0
    ");
    assert_eq!(fixture.ok("known clean --older-than '60 h'"), json!({ "ok": true, "removed": 1, "left": 3 }));
    fixture.done("config set max_checkpoint_age 1");
    tamper(&fixture, "UPDATE checkpoints SET timestamp = timestamp - 3 * 86400000");
    assert_eq!(fixture.ok("known clean"), json!({ "ok": true, "removed": 2, "left": 1 }));
    assert_eq!(fixture.ok("known list")["checkpoints"][0]["sequence_number"], 4);
    fixture.verify();
}

#[test]
fn retention_keeps_what_a_note_names() {
    let fixture = Fixture::with_history();
    fixture.done("known create 1 -- a.txt");
    fixture.done("gc --keep-count 1");
    assert_eq!(fixture.ok("known show")["files"]["a.txt"], numbered(&[]));
    fixture.verify();
}

#[test]
fn no_file_is_copied() {
    let fixture = Fixture::with_history();
    let before = fixture.ok("usage");
    for _ in 0..20 {
        fixture.done("known create 1");
    }
    let after = fixture.ok("usage");
    assert_eq!((&before["pack_bytes"], &before["loose_bytes"]), (&after["pack_bytes"], &after["loose_bytes"]));
}

#[test]
fn a_note_that_cannot_be_written_leaves_the_snapshot_standing_and_warns() {
    let fixture = Fixture::with_history();
    let database = rusqlite::Connection::open(fixture.root().join(".backsight/store/timeline.db")).unwrap();
    let definition = "SELECT sql FROM sqlite_schema WHERE name = 'checkpoints'";
    let table: String = database.query_row(definition, [], |row| row.get(0)).unwrap();
    drop(database);
    tamper(&fixture, "DROP TABLE checkpoints");
    fixture.write("a.txt", "edited\n");
    let tracked = fixture.ok("track -m 'still recorded'");
    assert_eq!((&tracked["created"], &tracked["sequence_number"]), (&json!(true), &json!(4)));
    let warnings = tracked["warnings"].to_string();
    assert!(warnings.contains("checkpoint"), "{warnings}");
    assert_eq!(fixture.cat("@", b"a.txt"), b"edited\n");
    fixture.write("a.txt", "again\n");
    let seen = fixture.run("track");
    assert!(seen.contains("warning:") && seen.ends_with("---- exit 0"), "{seen}");
    // The way back to notes is to make one by hand, once the cause is gone.
    tamper(&fixture, &table);
    fixture.done("known create");
    assert_eq!(fixture.ok("known list")["checkpoints"][0]["sequence_number"], 5);
    fixture.verify();
}

#[test]
fn nothing_noted_is_said() {
    let fixture = Fixture::new();
    assert_snapshot!(fixture.run("known list"), @r"
    ---- stderr
    note: nothing is noted yet
    hint: every snapshot makes a note: record one with `backsight track`
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("known show"), @r"
    ---- stderr
    error: nothing is noted yet
    hint: every snapshot makes a note: record one with `backsight track`
    ---- exit 4
    ");
    assert_snapshot!(Fixture::with_history().run("known show zzzz"), @r"
    ---- stderr
    error: no note of known files answers to `zzzz`
    hint: list them with `backsight known list`
    ---- exit 4
    ");
}
