//! Programs at work in the tree while a restore runs: what they write is kept, and the answer names it. Some of these run
//! as another user, which needs root.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;
use std::process::Command;
use std::thread;

use serde_json::Value;

use crate::fixture::Fixture;

const FILES: usize = 1500;

/// Two versions of many files, and of two logs around them.
fn logs() -> Fixture {
    let fixture = Fixture::in_memory();
    for version in ["one\n", "two\n"] {
        (0..FILES).for_each(|number| fixture.write(&format!("f{number:04}"), version));
        for log in ["a.log", "z.log"] {
            let text = fs::read_to_string(fixture.root().join(log)).unwrap_or_default();
            fixture.write(log, &format!("{text}{version}"));
        }
        fixture.track();
    }
    fixture
}

/// Runs a restore, and `act` as soon as the restore has come to one of the first files.
fn restore_meanwhile(fixture: &Fixture, act: impl FnOnce() + Send) -> (i32, Value) {
    let watched = fixture.root().join("f0020");
    let inode = fs::metadata(&watched).unwrap().ino();
    thread::scope(|scope| {
        scope.spawn(|| {
            while fs::metadata(&watched).is_ok_and(|found| found.ino() == inode) {
                std::hint::spin_loop();
            }
            act();
        });
        let answer = fixture.ask("restore 1");
        (answer.status, answer.json)
    })
}

/// Whether a row holds `line` in `path`.
fn is_stored(fixture: &Fixture, path: &str, line: &str) -> bool {
    let rows = fixture.ok("log")["rows"].as_array().map_or(0, Vec::len);
    let held = (1..=rows).filter_map(|row| {
        let output = fixture.command(&format!("cat {row} {path}")).output().unwrap();
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    });
    held.into_iter().any(|text| text.contains(line))
}

#[test]
fn a_line_written_to_a_displaced_file_is_stored_and_named() {
    let fixture = logs();
    let mut log = fs::File::options().append(true).open(fixture.root().join("a.log")).unwrap();
    let (status, answer) = restore_meanwhile(&fixture, || log.write_all(b"important line\n").unwrap());
    assert_eq!(status, 0, "{answer}");
    assert_eq!(fixture.read("a.log"), "one\n");
    assert!(answer["warnings"].to_string().contains("`a.log` was written to"), "{answer}");
    assert!(is_stored(&fixture, "a.log", "important line"));
    fixture.ok("undo");
    assert_eq!(fixture.read("a.log"), "one\ntwo\nimportant line\n", "an undo brings it back");
}

/// A program that maps its file and has written to it a moment ago: no stamp moves when it writes again.
#[test]
fn what_is_written_through_shared_memory_is_stored_too() {
    let fixture = logs();
    let program = r#"
import mmap, os, sys
log = open('a.log', 'r+b'); pages = mmap.mmap(log.fileno(), 0); pages[0:3] = b'ONE'
inode = os.stat('f0020').st_ino
print('ready', flush=True)
while os.stat('f0020').st_ino == inode: pass
pages[0:3] = b'MAP'
"#;
    let mut mapping = Command::new("python3");
    mapping.args(["-c", program]).current_dir(fixture.root()).stdout(std::process::Stdio::piped());
    let mut mapping = mapping.spawn().expect("`python3` is missing: apt-get install python3");
    let mut line = String::new();
    let output = mapping.stdout.take().unwrap();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(output), &mut line).unwrap();
    let answer = fixture.ask("restore 1");
    assert!(mapping.wait().unwrap().success());
    assert_eq!(answer.status, 0, "{}", answer.json);
    assert!(is_stored(&fixture, "a.log", "MAP"), "{}", answer.json);
    assert!(answer.json["warnings"].to_string().contains("`a.log` was written to"), "{}", answer.json);
}

#[test]
fn a_restore_that_gives_up_leaves_the_logs_as_their_program_wrote_them_and_is_not_carried_out_later() {
    let fixture = logs();
    let open = |name: &str| fs::File::options().append(true).open(fixture.root().join(name)).unwrap();
    let (mut first, mut last) = (open("a.log"), open("z.log"));
    // A line to each in every attempt, so that none succeeds.
    let root = fixture.root().to_owned();
    let stop = std::sync::atomic::AtomicBool::new(false);
    let answer = thread::scope(|scope| {
        scope.spawn(|| {
            let number = |name: &str| fs::metadata(root.join(name)).map_or(0, |found| found.ino());
            let (watched, mut count) = (number("f0020"), 0);
            while !stop.load(std::sync::atomic::Ordering::SeqCst) {
                if number("f0020") != watched {
                    count += 1;
                    first.write_all(format!("important line {count}\n").as_bytes()).unwrap();
                    last.write_all(b"other line\n").unwrap();
                    while number("f0020") != watched && !stop.load(std::sync::atomic::Ordering::SeqCst) {
                        thread::yield_now();
                    }
                }
            }
        });
        let answer = fixture.ask("restore 1");
        stop.store(true, std::sync::atomic::Ordering::SeqCst);
        answer
    });
    assert_eq!((answer.status, answer.code()), (3, "RACED"), "{}", answer.json);
    let expected = fixture.picture();
    assert!(fixture.read("a.log").starts_with("one\ntwo\nimportant line 1\n"), "{}", fixture.read("a.log"));
    assert!(fixture.read("z.log").starts_with("one\ntwo\nother line\n"));
    assert!((0..FILES).all(|number| fixture.read(&format!("f{number:04}")) == "two\n"));
    fixture.ok("status");
    fixture.picture().expect(&expected, "a look after a restore that gave up");
    fixture.verify();
}

/// As a user who is neither the owner nor in the group of a file in their workspace.
#[test]
fn what_a_user_cannot_keep_of_a_file_is_named_and_given_to_nobody_else() {
    let fixture = Fixture::new();
    let base = fixture.root().parent().unwrap();
    fixture.write("f", "one\n");
    for name in ["", "ws", "home", "config", "state"] {
        chown(base.join(name), Some(5555), Some(5555)).unwrap();
    }
    chown(fixture.root().join("f"), Some(4242), Some(4321)).unwrap();
    fs::set_permissions(fixture.root().join("f"), fs::Permissions::from_mode(0o664)).unwrap();
    let as_user = |line: &str| {
        let command = fixture.command(line);
        let mut wrapped = Command::new("setpriv");
        wrapped.args(["--reuid=5555", "--regid=5555", "--clear-groups"]).arg(command.get_program());
        wrapped.args(command.get_args()).arg("--json").current_dir(fixture.root()).env_clear();
        wrapped.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let output = wrapped.output().expect("`setpriv` is missing: apt-get install util-linux");
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stdout));
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    as_user("track");
    write_through(&fixture.root().join("f"), "two\n");
    let answer = as_user("restore 1");
    assert_eq!(fixture.read("f"), "one\n");
    let warnings = answer["warnings"].to_string();
    assert!(warnings.contains("its owner 4242") && warnings.contains("its group 4321"), "{answer}");
    let found = fs::metadata(fixture.root().join("f")).unwrap();
    assert_eq!((found.uid(), found.gid(), found.mode() & 0o7777), (5555, 5555, 0o644), "no more than everybody had");
}

fn write_through(path: &Path, text: &str) {
    fs::File::options().write(true).truncate(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}
