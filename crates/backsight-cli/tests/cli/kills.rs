//! `kill -9` at any moment: the next command works, the store verifies clean, and the workspace is exactly as before
//! the command or exactly as after it. The moments are spread over how long the command takes when left alone.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::fixture::Fixture;
use crate::picture::Picture;
use crate::random::Random;
use crate::store_and_git::assert_fsck;

const FILES: u64 = 300;

/// Some files in a few directories; `version` decides which exist, their text, kind and mode.
fn fill(fixture: &Fixture, version: u64) {
    use std::os::unix::fs::{PermissionsExt, symlink};
    for directory in 0..10 {
        let _ = fs::remove_dir_all(fixture.root().join(format!("d{directory}")));
    }
    let mut random = Random::new(version);
    for number in 0..FILES {
        let name = format!("d{}/s{}/f{number}", number % 10, number % 3);
        let path = fixture.root().join(&name);
        match random.below(12) {
            0 => {}
            1 => {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                symlink(format!("to-{version}"), path).unwrap();
            }
            2 => fixture.write(&format!("{name}/inside"), &format!("{version}\n")),
            3 => fs::create_dir_all(path).unwrap(),
            4 => {
                fixture.write(&name, "same\n");
                let mode = if version.is_multiple_of(2) { 0o600 } else { 0o755 };
                fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
            }
            5 | 6 => fixture.write(&name, "always the same\n"),
            _ => fixture.write(&name, &format!("{version} {number}\n").repeat(50)),
        }
    }
}

fn spawn(fixture: &Fixture, line: &str) -> Child {
    let mut command: Command = fixture.command(line);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// How long `line` takes when nobody kills it.
fn duration(fixture: &Fixture, line: &str) -> Duration {
    let start = Instant::now();
    assert!(spawn(fixture, line).wait().unwrap().success(), "{line}");
    start.elapsed()
}

/// Runs `line` and kills it after a `share` of `whole`; whether it was still running. The pause is the stimulus
/// itself: which moment it hits may differ from run to run, what must hold after it does not.
fn kill(fixture: &Fixture, line: &str, whole: Duration, share: f64) -> bool {
    let mut child = spawn(fixture, line);
    std::thread::sleep(whole.mul_f64(share));
    let running = child.try_wait().unwrap().is_none();
    child.kill().unwrap();
    child.wait().unwrap();
    running
}

/// The shares of the run time at which `rounds` kills fall, with a little noise.
fn shares(seed: u64, rounds: u64) -> Vec<f64> {
    let mut random = Random::new(seed);
    (0..rounds).map(|round| (round as f64 + random.below(100) as f64 / 100.0) / rounds as f64 * 1.1).collect()
}

/// Kills `line` again and again. `back` takes the files from after `line` to before it; the tree must be one of the two
/// whenever somebody looks.
fn loops(line: &str, rounds: u64, back: impl Fn(&Fixture)) {
    let fixture = Fixture::in_memory();
    fill(&fixture, 1);
    fixture.track();
    fill(&fixture, 2);
    fixture.track();
    fixture.ok("restore 1");
    back(&fixture);
    let before = fixture.picture();
    duration(&fixture, line);
    let after = fixture.picture();
    assert!(before != after);
    back(&fixture);
    let whole = duration(&fixture, line);
    let mut killed = 0;
    for (round, share) in shares(rounds, rounds).into_iter().enumerate() {
        if fixture.picture() != before {
            back(&fixture);
            fixture.picture().expect(&before, "the start of a round");
        }
        killed += u64::from(kill(&fixture, line, whole, share));
        // The recovery can be killed as well.
        if round % 3 == 0 {
            kill(&fixture, "status", whole, share / 2.0);
        }
        fixture.ok("status");
        let found = fixture.picture();
        assert!(
            found == before || found == after,
            "{line} killed at {share}: neither before:\n{}nor after:\n{}",
            found.difference(&before),
            found.difference(&after)
        );
        if round % 4 == 0 {
            fixture.verify();
        }
    }
    fixture.verify();
    assert!(killed * 3 >= rounds, "{line}: only {killed} of {rounds} kills found it running");
    gapless(&fixture);
    assert_fsck(&fixture);
}

/// Sequence numbers have no holes and no doubles.
fn gapless(fixture: &Fixture) {
    let mut seqs = Vec::new();
    let mut cursor = String::new();
    for _ in 0..100 {
        let page = fixture.ok(&format!("log --limit 100 {cursor}"));
        let snapshots = page["rows"].as_array().unwrap();
        seqs.extend(snapshots.iter().map(|snapshot| snapshot["sequence_number"].as_u64().unwrap()));
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("--cursor {next}"),
            None => break,
        }
    }
    seqs.reverse();
    let expected: Vec<u64> = (1..=seqs.len() as u64).collect();
    assert_eq!(seqs, expected);
}

#[test]
fn a_killed_restore_leaves_before_or_after() {
    loops("restore 1", 20, |fixture| drop(fixture.ok("restore 2")));
}

#[test]
fn a_killed_restore_over_unrecorded_changes_leaves_before_or_after() {
    loops("restore 1", 10, |fixture| fill(fixture, 3));
}

#[test]
fn a_killed_undo_leaves_before_or_after() {
    // The newest step is a restore of #2, or the redo of it.
    loops("undo", 10, |fixture| {
        if fixture.ok("status")["redoable"] == 0 {
            fixture.ok("restore 2");
        } else {
            fixture.ok("redo");
        }
    });
}

#[test]
fn a_killed_track_changes_no_file_and_the_next_one_is_right() {
    let fixture = Fixture::in_memory();
    let mut whole = Duration::ZERO;
    for (round, share) in shares(7, 16).into_iter().enumerate() {
        fill(&fixture, round as u64);
        let before = fixture.picture();
        if round == 0 {
            whole = duration(&fixture, "track");
            continue;
        }
        kill(&fixture, "track", whole, share);
        fixture.picture().expect(&before, "killed track");
        let tracked = fixture.ok("track");
        assert_eq!(fixture.ok("status")["clean"], true);
        let seq = tracked["sequence_number"].as_u64().unwrap();
        let (path, bytes) = before.files().last().unwrap();
        assert_eq!(fixture.cat(&format!("#{seq}"), path), bytes, "round {round}");
        if round % 3 == 0 {
            fixture.verify();
        }
    }
    fixture.verify();
    gapless(&fixture);
    assert_fsck(&fixture);
}

#[test]
fn a_killed_gc_loses_no_kept_snapshot() {
    let fixture = Fixture::in_memory();
    let mut pictures: Vec<(u64, Picture)> = Vec::new();
    let mut whole = None;
    for (round, share) in shares(11, 14).into_iter().enumerate() {
        fill(&fixture, 100 + round as u64);
        pictures.push((fixture.track(), fixture.picture()));
        fixture.write("d0/s0/more", &format!("{round}\n"));
        pictures.push((fixture.track(), fixture.picture()));
        match whole {
            None => whole = Some(duration(&fixture, "gc --keep-count 3")),
            Some(whole) => drop(kill(&fixture, "gc --keep-count 3", whole, share)),
        }
        if round % 3 == 1 {
            fixture.verify();
        }
        let (seq, expected) = &pictures[pictures.len() - 2];
        fixture.ok(&format!("restore {seq}"));
        fixture.picture().expect(expected, &format!("kept snapshot {seq} after a killed gc"));
    }
    fixture.ok("gc --keep-count 2");
    fixture.verify();
    gapless(&fixture);
    assert_fsck(&fixture);
}
