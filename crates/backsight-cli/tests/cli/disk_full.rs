//! A disk that fills up: the command fails with exit 6, the files are as they were, and all is well once there is room.
//! The workspace is a small tmpfs, so these tests need to be root (or another way to mount); without it they fail.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::fixture::Fixture;
use crate::random::Random;

/// A fixture whose workspace is a file system of `size`.
struct Small {
    fixture: Fixture,
    root: PathBuf,
}

impl Small {
    fn new(size: &str) -> Self {
        let fixture = Fixture::new();
        let root = fixture.root().to_owned();
        let status = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size},mode=755"), "none"])
            .arg(&root)
            .status();
        assert!(status.is_ok_and(|status| status.success()), "cannot mount a tmpfs, which this test needs");
        Small { fixture, root }
    }

    /// Takes all the room that is left, except `spare` bytes.
    fn fill(&self, spare: usize) {
        let path = self.root.join(".backsight-filler");
        let mut bytes = vec![7u8; 64 << 20];
        let _ = fs::write(&path, &bytes);
        let length = fs::metadata(&path).unwrap().len();
        bytes.clear();
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_len(length.saturating_sub(spare as u64)).unwrap();
    }

    fn free(&self) {
        fs::remove_file(self.root.join(".backsight-filler")).unwrap();
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.root).status();
    }
}

fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut random = Random::new(seed);
    (0..length / 8).flat_map(|_| random.next().to_le_bytes()).collect()
}

/// A workspace with two versions of some incompressible files, the filler ignored.
fn two_versions() -> Small {
    let small = Small::new("24m");
    small.fixture.write(".gitignore", ".backsight-filler\n");
    for version in 1..=2u64 {
        for number in 0..20u64 {
            fs::write(small.root.join(format!("f{number}")), noise(version * 100 + number, 100_000)).unwrap();
        }
        assert_eq!(small.fixture.track(), version);
    }
    small
}

#[test]
fn a_track_without_room_fails_and_works_later() {
    let small = two_versions();
    for number in 0..20u64 {
        fs::write(small.root.join(format!("f{number}")), noise(300 + number, 100_000)).unwrap();
    }
    for spare in [0, 20_000, 200_000, 1_000_000] {
        small.fill(spare);
        let before = small.fixture.picture();
        let answer = small.fixture.ask("track");
        assert_eq!(answer.status, 6, "{spare}: {}", answer.json);
        assert!(["DISK_FULL", "IO"].contains(&answer.code()), "{}", answer.json);
        small.fixture.picture().expect(&before, "a track without room");
        small.free();
        small.fixture.verify();
    }
    assert_eq!(small.fixture.ok("track")["sequence_number"], 3);
    small.fixture.verify();
    assert_eq!(small.fixture.cat("3", b"f7"), noise(307, 100_000));
}

#[test]
fn a_restore_without_room_changes_nothing_and_works_later() {
    let small = two_versions();
    for spare in [0, 8_192, 60_000, 500_000, 1_500_000] {
        small.fill(spare);
        let before = small.fixture.picture();
        let answer = small.fixture.ask("restore 1");
        assert_eq!(answer.status, 6, "{spare}: {}", answer.json);
        assert!(["DISK_FULL", "IO"].contains(&answer.code()), "{}", answer.json);
        small.fixture.picture().expect(&before, "a restore without room");
        small.free();
        small.fixture.verify();
        small.fixture.picture().without(".backsight-filler").expect(&before.without(".backsight-filler"), "afterwards");
    }
    small.fixture.ok("restore 1");
    assert!(fs::read(small.root.join("f3")).unwrap() == noise(103, 100_000));
    small.fixture.ok("undo");
    assert!(fs::read(small.root.join("f3")).unwrap() == noise(203, 100_000));
}

/// When the disk is full, `gc` is the way out: it must not need the room it is to make.
#[test]
fn gc_on_a_full_disk_makes_room() {
    let small = two_versions();
    for number in 0..20u64 {
        fs::write(small.root.join(format!("f{number}")), noise(300 + number, 100_000)).unwrap();
    }
    assert_eq!(small.fixture.track(), 3);
    small.fill(64 * 1024);
    let before = small.fixture.ok("usage")["total_bytes"].as_u64().unwrap();
    let answer = small.fixture.ask("gc --keep-count 1");
    assert_eq!(answer.status, 0, "{}", answer.json);
    let after = small.fixture.ok("usage")["total_bytes"].as_u64().unwrap();
    assert!(after < before * 3 / 4, "{before} -> {after}: {}", answer.json);
    small.free();
    small.fixture.verify();
    assert_eq!(small.fixture.cat("3", b"f3"), noise(303, 100_000));
}

/// Hardly any room: whatever the answer is, it is true, and looking and making room work at once.
#[test]
fn a_restore_on_a_nearly_full_disk_says_what_it_did_and_leaves_every_command_working() {
    let small = Small::new("24m");
    small.fixture.write(".gitignore", ".backsight-filler\n");
    for version in ["one", "two"] {
        (0..10).for_each(|number| small.fixture.write(&format!("f{number}"), version));
        small.fixture.track();
    }
    let (mut refused, mut done) = (0, 0);
    for spare in (0..400_000).step_by(20_000) {
        small.fill(spare);
        let answer = small.fixture.ask("restore 1");
        let is_restored = fs::read(small.root.join("f3")).unwrap() == b"one";
        *(if is_restored { &mut done } else { &mut refused }) += 1;
        let told = answer.json["error"]["message"].as_str().unwrap_or("done").to_owned();
        let says_restored = answer.status == 0 || told.contains("the files are restored");
        assert_eq!(says_restored, is_restored, "{spare}: {}", answer.json);
        for command in ["log", "status", "show @", "usage", "gc"] {
            let answer = small.fixture.ask(command);
            assert_eq!(answer.status, 0, "{spare}, {command}: {}", answer.json);
        }
        small.free();
        small.fixture.verify();
        small.fixture.ok("restore 2");
        assert_eq!(fs::read(small.root.join("f3")).unwrap(), b"two");
    }
    assert!(refused > 2 && done > 2, "refused {refused} times, done {done} times");
}
