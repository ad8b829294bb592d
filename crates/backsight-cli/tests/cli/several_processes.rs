//! Several processes on one workspace: everybody gets an answer, nobody's work is lost, and who waits is told for whom.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::fixture::{Answer, ArgJson, Fixture};
use crate::store_and_git::assert_fsck;

fn spawn(fixture: &Fixture, line: &str) -> Child {
    let mut command = fixture.command(line).arg_json();
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Every sequence number of the timeline, oldest first.
fn sequence(fixture: &Fixture) -> Vec<u64> {
    let page = fixture.ok("log --limit 100000");
    let snapshots = page["rows"].as_array().unwrap();
    snapshots.iter().rev().map(|snapshot| snapshot["sequence_number"].as_u64().unwrap()).collect()
}

/// Writes to the workspace until told to stop; never torn: whole files by rename.
fn disturb(fixture: &Fixture, stop: &AtomicBool) {
    for round in 0..100_000 {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let temporary = fixture.base().join("next");
        fs::write(&temporary, format!("round {round}\n")).unwrap();
        fs::rename(&temporary, fixture.root().join(format!("busy-{}", round % 7))).unwrap();
    }
}

/// Each agent's step holds its own file and nothing else, even under the strictest policy and with all of them at work.
#[test]
fn the_tool_calls_of_six_agents_do_not_mix() {
    let fixture = Fixture::new();
    for agent in 0..6 {
        fixture.write(&format!("f{agent}"), "start\n");
    }
    fixture.track();
    std::thread::scope(|scope| {
        for agent in 0..6 {
            let fixture = &fixture;
            scope.spawn(move || {
                for round in 0..3 {
                    let begun = fixture.ok(&format!("begin --session s{agent} --declare f{agent} --strategy strict"));
                    fixture.write(&format!("f{agent}"), &format!("{round} by {agent}\n"));
                    let finished = format!("finish {} --strategy strict", begun["id"].as_str().unwrap());
                    assert_eq!(fixture.ok(&finished)["files_changed"], 1);
                }
            });
        }
    });
    assert_eq!(sequence(&fixture), (1..=19).collect::<Vec<u64>>(), "three steps an agent, no holes");
    assert_eq!(fixture.ok("continuity validate")["in_sync"], true);
    fixture.done("revert session:s3");
    let texts: Vec<String> = (0..6).map(|agent| fixture.read(&format!("f{agent}"))).collect();
    let expected: Vec<String> =
        (0..6).map(|agent| if agent == 3 { "start\n".to_owned() } else { format!("2 by {agent}\n") }).collect();
    assert_eq!(texts, expected);
    fixture.verify();
}

#[test]
fn eight_processes_record_at_once_while_files_change() {
    let fixture = Fixture::new();
    for number in 0..100 {
        fixture.write(&format!("d{}/f{number}", number % 5), &format!("{number}\n"));
    }
    fixture.track();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| disturb(&fixture, &stop));
        let mut all: Vec<Answer> = Vec::new();
        for _ in 0..3 {
            let children: Vec<Child> =
                (0..8).map(|number| spawn(&fixture, &format!("track --session s{number}"))).collect();
            all.extend(children.into_iter().map(|child| Answer::read(&child.wait_with_output().unwrap(), "track")));
        }
        stop.store(true, Ordering::Relaxed);
        let created: Vec<u64> = all
            .into_iter()
            .map(Answer::ok)
            .filter(|answer| answer["created"] == true)
            .map(|answer| answer["sequence_number"].as_u64().unwrap())
            .collect();
        assert_eq!(created.iter().collect::<BTreeSet<_>>().len(), created.len(), "one number, one snapshot");
    });
    let seqs = sequence(&fixture);
    assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>(), "no holes");
    fixture.verify();
    assert_fsck(&fixture);
    fixture.track();
    assert_eq!(fixture.ok("status")["clean"], true);
}

#[test]
fn the_first_use_may_be_by_eight_processes_at_once() {
    for _ in 0..3 {
        let fixture = Fixture::new();
        fixture.write("a", "a\n");
        let children: Vec<Child> = (0..8).map(|_| spawn(&fixture, "track")).collect();
        let answers: Vec<_> =
            children.into_iter().map(|child| Answer::read(&child.wait_with_output().unwrap(), "track").ok()).collect();
        assert_eq!(answers.iter().filter(|answer| answer["created"] == true).count(), 1);
        assert_eq!(sequence(&fixture), [1]);
        fixture.verify();
    }
}

/// Restores, undos, tracks, readers and gc at once: each answers, and the store is whole.
#[test]
fn every_kind_of_command_runs_beside_the_others() {
    let fixture = Fixture::new();
    for version in 0..4 {
        for number in 0..30 {
            fixture.write(&format!("f{number}"), &format!("{version} {number}\n"));
        }
        fixture.track();
    }
    for _ in 0..3 {
        let lines = ["restore 1", "restore 3", "track", "undo", "redo", "gc", "log", "status", "diff 1 3", "verify"];
        let children: Vec<(&str, Child)> = lines.iter().map(|line| (*line, spawn(&fixture, line))).collect();
        for (line, child) in children {
            let answer = Answer::read(&child.wait_with_output().unwrap(), line);
            assert!([0, 3, 4].contains(&answer.status), "{line}: {}", answer.json);
        }
    }
    let picture = fixture.picture();
    let versions: BTreeSet<&[u8]> =
        picture.files().map(|(_, bytes)| bytes.split(|byte| *byte == b' ').next().unwrap()).collect();
    assert_eq!(versions.len(), 1, "a restore is whole or not at all: {picture:?}");
    fixture.verify();
    let seqs = sequence(&fixture);
    assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>());
}

/// A restore beside a writer: it either succeeds or says RACED, and the writer's last words are never lost.
#[test]
fn a_restore_beside_a_writer_loses_nothing() {
    let fixture = Fixture::new();
    for number in 0..60 {
        fixture.write(&format!("f{number}"), "original\n");
    }
    fixture.track();
    for round in 0..12u64 {
        for number in 0..60 {
            fixture.write(&format!("f{number}"), &format!("agent {round}\n"));
        }
        let child = spawn(&fixture, "restore 1");
        let mine = format!("mine {round}\n");
        // Not to wait for anything: each round edits at another moment of the restore.
        std::thread::sleep(Duration::from_millis(round * 3));
        fixture.write("f30", &mine);
        let answer = Answer::read(&child.wait_with_output().unwrap(), "restore");
        assert!(answer.status == 0 || answer.code() == "RACED", "{}", answer.json);
        let on_disk = fixture.read("f30") == mine;
        let latest = fixture.ok("status")["latest"]["sequence_number"].as_u64().unwrap();
        let held = (1..=latest).rev().take(4).any(|seq| fixture.cat(&format!("#{seq}"), b"f30") == mine.as_bytes());
        assert!(on_disk || held, "round {round}: the edit is neither on disk nor in a snapshot: {}", answer.json);
    }
}

/// Holds the workspace as another process would.
fn held(fixture: &Fixture) -> fs::File {
    let lock = fs::File::options().write(true).open(fixture.root().join(".backsight/store/lock")).unwrap();
    lock.lock().unwrap();
    lock.set_len(0).unwrap();
    (&lock).write_all(b"backsight gc (pid 4321)\n").unwrap();
    lock
}

#[test]
fn a_command_that_may_not_wait_is_busy() {
    let fixture = Fixture::with_history();
    let _lock = held(&fixture);
    for line in ["track --wait 0", "restore 1 --wait 0", "undo --wait 0", "gc --wait 0"] {
        let answer = fixture.ask(line);
        assert_eq!(answer.json["error"]["retryable"], true, "{line}");
        assert!(answer.json["error"]["message"].as_str().unwrap().contains("4321"), "{}", answer.json);
        answer.fails("BUSY", 7);
    }
    let start = Instant::now();
    fixture.ask("track --wait 1").fails("BUSY", 7);
    let waited = start.elapsed();
    assert!(waited >= Duration::from_secs(1) && waited < Duration::from_secs(5), "{waited:?}");
}

#[test]
fn a_waiting_command_says_for_whom_and_goes_on_when_it_can() {
    let fixture = Fixture::with_history();
    let lock = held(&fixture);
    fixture.write("a.txt", "waiting\n");
    let mut child = spawn(&fixture, "track --wait 30");
    let mut stderr = std::io::BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    std::io::BufRead::read_line(&mut stderr, &mut line).unwrap();
    assert!(line.contains("4321") && line.contains("backsight gc"), "{line}");
    drop(lock);
    let output = child.wait_with_output().unwrap();
    assert_eq!(Answer::read(&output, "track").ok()["created"], true);
}

#[test]
fn reading_does_not_wait_for_a_writer() {
    let fixture = Fixture::with_history();
    let _lock = held(&fixture);
    for line in ["log --wait 0", "show 1 --wait 0", "ls 1 --wait 0", "diff 1 2 --wait 0", "patch 1 2 --wait 0"] {
        fixture.ask(line).ok();
    }
}

/// The lock dies with its process, whatever text it left behind.
#[test]
fn a_lock_of_a_dead_process_holds_nobody() {
    let fixture = Fixture::with_history();
    drop(held(&fixture));
    fixture.write("a.txt", "x\n");
    fixture.ask("track --wait 0").ok();
}
