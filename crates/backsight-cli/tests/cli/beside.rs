//! What a reader of the timeline gets beside its rows: commits of the user's Git, words in what steps changed, and how much
//! room the store took.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use serde_json::{Value, json};

use crate::fixture::Fixture;
use crate::serving::server::Server;

/// Every file below a directory with its bytes and when it was written.
fn everything(directory: &Path) -> Vec<(String, Vec<u8>, SystemTime)> {
    let mut found = Vec::new();
    let mut waiting = vec![directory.to_owned()];
    while let Some(at) = waiting.pop() {
        for entry in fs::read_dir(at).unwrap().map(Result::unwrap) {
            match entry.file_type().unwrap().is_dir() {
                true => waiting.push(entry.path()),
                false => {
                    let written = entry.metadata().unwrap().modified().unwrap();
                    found.push((entry.path().display().to_string(), fs::read(entry.path()).unwrap(), written));
                }
            }
        }
    }
    found.sort();
    found
}

#[test]
fn commits_are_read_as_they_are_and_the_repository_is_not_touched() {
    let fixture = Fixture::new();
    fixture.git("init -q -b main");
    for (number, subject) in [(1, "first"), (2, "second"), (3, "third")] {
        fixture.write("a.txt", &format!("{number}\n"));
        fixture.git("add a.txt");
        fixture.git(&format!("commit -q -m {subject} --date 2026-01-0{number}T00:00:00Z"));
    }
    // Packed ones too, and one on a branch that came in by a merge.
    fixture.git("checkout -q -b side");
    fixture.write("b.txt", "side\n");
    fixture.git("add b.txt");
    fixture.git("commit -q -m beside");
    fixture.git("checkout -q main");
    fixture.git("merge -q --no-ff -m merged side");
    fixture.git("gc -q");
    fixture.track();
    let before = everything(&fixture.root().join(".git"));
    let server = Server::start(&fixture);
    let answer = server.get("/api/commits").ok();
    let told = |answer: &Value| -> Vec<(String, String)> {
        let commits = answer["commits"].as_array().unwrap().iter();
        commits
            .map(|one| (one["id"].as_str().unwrap().to_owned(), one["subject"].as_str().unwrap().to_owned()))
            .collect()
    };
    let git: Vec<(String, String)> = fixture
        .git("log --format=%H%x20%s")
        .lines()
        .map(|line| line.split_once(' ').map(|(id, subject)| (id.to_owned(), subject.to_owned())).unwrap())
        .collect();
    let mut both = [told(&answer), git];
    both.iter_mut().for_each(|list| list.sort());
    assert_eq!(both[0], both[1]);
    assert_eq!((&answer["repository"], &answer["more"]), (&json!(true), &json!(false)));
    assert_eq!(told(&answer)[0].1, "merged");
    let two = server.get("/api/commits?limit=2").ok();
    assert_eq!((told(&two).len(), &two["more"]), (2, &json!(true)));
    assert_eq!(server.get("/api/commits?since=2100-01-01T00:00:00Z").ok()["commits"], json!([]));
    assert_eq!(everything(&fixture.root().join(".git")), before);
    let outside = Fixture::new();
    outside.track();
    assert_eq!(Server::start(&outside).get("/api/commits").ok()["repository"], json!(false));
}

#[test]
fn words_are_found_in_what_steps_changed_and_what_was_not_read_is_said() {
    let fixture = Fixture::new();
    fixture.write("a.txt", "one\ntwo\n");
    fixture.track();
    fixture.write("a.txt", "one\nNeedle here\n");
    fixture.track();
    fixture.write("a.txt", "one\n");
    fs::write(fixture.root().join("b.bin"), b"\0needle").unwrap();
    fixture.track();
    let server = Server::start(&fixture);
    let found = server.get("/api/search?text=needle").ok();
    let lines: Vec<String> = found["lines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| {
            format!(
                "#{} {}:{} {}{}",
                line["sequence_number"],
                line["file"].as_str().unwrap(),
                line["line"],
                line["side"].as_str().unwrap(),
                line["text"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(lines, ["#3 a.txt:2 -Needle here", "#2 a.txt:2 +Needle here"]);
    assert_eq!((&found["steps"], &found["files_not_read"], found.get("next")), (&json!(3), &json!(1), None));
    assert_eq!(server.get("/api/search?text=needle&before=3").ok()["lines"].as_array().unwrap().len(), 1);
    server.get("/api/search?text=%20").fails(400, "USAGE");
}

#[test]
fn a_removal_takes_note_of_the_room_before_and_after() {
    let fixture = Fixture::new();
    for number in 0..5 {
        fixture.write("a.txt", &format!("{number}\n").repeat(2_000 + number));
        fixture.track();
    }
    assert_eq!(fixture.ok("usage").get("history"), None);
    let removed = fixture.ok("gc --keep-count 1");
    let history = fixture.ok("usage")["history"].clone();
    let history = history.as_array().unwrap();
    assert_eq!(history.len(), 2, "{history:?}");
    assert_eq!(history[0]["total_bytes"], removed["bytes_before"]);
    assert_eq!(history[1]["total_bytes"], removed["bytes_after"]);
    assert_eq!((&history[0]["snapshots"], &history[1]["snapshots"]), (&json!(5), &json!(1)));
}
