//! What a capture cannot hold: FIFOs, sockets, devices, what it may not read, what is too large. Reported every time,
//! never opened in a way that blocks, never deleted, never overwritten.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::net::UnixListener;
use std::process::Command;

use serde_json::Value;

use crate::fixture::{Answer, ArgJson, Fixture};

fn uncovered(answer: &Value) -> Vec<(String, String)> {
    let list = answer["coverage"]["uncovered"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    list.iter().map(|entry| (text(&entry["path"]), text(&entry["reason"]))).collect()
}

fn make(fixture: &Fixture, program: &str, arguments: &[&str]) {
    let status = Command::new(program).args(arguments).current_dir(fixture.root()).status().unwrap();
    assert!(status.success(), "{program} {arguments:?}");
}

/// One of each kind, and a file.
fn planted() -> (Fixture, UnixListener) {
    let fixture = Fixture::new();
    fixture.write("a", "a\n");
    fixture.write("d/b", "b\n");
    make(&fixture, "mkfifo", &["fifo", "d/fifo"]);
    make(&fixture, "mknod", &["null", "c", "1", "3"]);
    let socket = UnixListener::bind(fixture.root().join("socket")).unwrap();
    (fixture, socket)
}

#[test]
fn special_files_are_reported_and_never_opened() {
    let (fixture, socket) = planted();
    socket.set_nonblocking(true).unwrap();
    let tracked = fixture.ok("track");
    let special = |path: &str| (path.to_owned(), "special".to_owned());
    assert_eq!(uncovered(&tracked), ["d/fifo", "fifo", "null", "socket"].map(special));
    assert_eq!((&tracked["coverage"]["complete"], &tracked["coverage"]["files"]), (&false.into(), &2.into()));
    for line in ["track", "status"] {
        assert_eq!(uncovered(&fixture.ok(line)).len(), 4, "{line}: reported again");
    }
    assert!(socket.accept().is_err(), "nobody connected");
}

#[test]
fn special_files_survive_every_restore() {
    let (fixture, _socket) = planted();
    fixture.track();
    let before = fixture.picture();
    fixture.write("a", "2\n");
    fs::remove_file(fixture.root().join("d/b")).unwrap();
    fixture.track();
    fixture.ok("restore 1");
    fixture.picture().expect(&before, "restore");
    fixture.ok("undo");
    fixture.ok("redo");
    fixture.picture().expect(&before, "redo");
}

#[test]
fn a_special_file_made_later_stays() {
    let fixture = Fixture::new();
    fixture.write("a", "a\n");
    fixture.track();
    fs::create_dir(fixture.root().join("new")).unwrap();
    make(&fixture, "mkfifo", &["fifo", "new/fifo"]);
    fixture.write("new/file", "f\n");
    fixture.ok("restore 1");
    assert!(fixture.root().join("fifo").exists() && fixture.root().join("new/fifo").exists());
    assert!(!fixture.root().join("new/file").exists());
}

#[test]
fn a_special_file_where_a_file_was_is_not_replaced() {
    let fixture = Fixture::new();
    fixture.write("a", "a\n");
    fixture.write("b", "b\n");
    fixture.track();
    fixture.remove("a");
    make(&fixture, "mkfifo", &["a"]);
    fixture.write("b", "2\n");
    let tracked = fixture.ok("track");
    assert!(uncovered(&tracked).iter().any(|(path, reason)| path == "a" && reason == "special"), "{tracked}");
    let before = fixture.picture();
    for line in ["restore 1", "restore 1 -- a"] {
        fixture.ask(line).fails("NOT_COVERED", 3);
        fixture.picture().expect(&before, line);
    }
    fixture.ok("restore 1 -- b");
    assert_eq!(fixture.read("b"), "b\n");
}

/// The binary as `nobody`, who owns the workspace but not everything in it.
fn as_nobody(fixture: &Fixture, line: &str) -> Answer {
    let command = fixture.command(line).arg_json();
    let mut dropped = Command::new("setpriv");
    dropped.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"]).arg(command.get_program());
    dropped.args(command.get_args()).current_dir(fixture.root()).env_clear();
    dropped.envs(command.get_envs().filter_map(|(key, value)| Some((key, value?))));
    dropped.stdin(std::process::Stdio::null());
    Answer::of(&mut dropped, line)
}

/// A workspace of `nobody`. Needs to run as root to have someone to drop to.
fn of_nobody() -> Fixture {
    let fixture = Fixture::new();
    chown(fixture.base(), Some(65534), Some(65534)).expect("this test drops privileges, so it has to run as root");
    for name in ["ws", "home", "config", "state"] {
        chown(fixture.base().join(name), Some(65534), Some(65534)).unwrap();
    }
    assert!(Command::new("setpriv").arg("--version").output().is_ok(), "setpriv (util-linux) is needed");
    fixture
}

fn give(fixture: &Fixture, path: &str) {
    chown(fixture.root().join(path), Some(65534), Some(65534)).unwrap();
}

fn chmod(fixture: &Fixture, path: &str, mode: u32) {
    fs::set_permissions(fixture.root().join(path), fs::Permissions::from_mode(mode)).unwrap();
}

/// In a container with a limit on processes, or beside a build that takes them all, no thread can be had.
#[test]
fn without_a_thread_it_is_an_error_and_a_hook_says_so() {
    let fixture = of_nobody();
    fixture.write("a", "1\n");
    give(&fixture, "a");
    as_nobody(&fixture, "track").ok();
    let alone = |line: &str, payload: &str| {
        let command = fixture.command(line);
        let mut limited = Command::new("setpriv");
        limited.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--", "prlimit", "--nproc=1"]);
        limited.arg(command.get_program()).args(command.get_args()).current_dir(fixture.root()).env_clear();
        limited.envs(command.get_envs().filter_map(|(key, value)| Some((key, value?))));
        fixture.write("../payload", payload);
        limited.stdin(fs::File::open(fixture.base().join("payload")).unwrap());
        limited.output().expect("`prlimit` is missing: apt-get install util-linux")
    };
    for line in ["status", "track", "diff", "restore 1"] {
        let ended = alone(line, "");
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(6), "{line}: {said}");
        assert!(said.contains("cannot start a thread") && said.contains("hint: "), "{line}: {said}");
    }
    let payload = serde_json::json!({
        "session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "t",
        "cwd": fixture.root(), "tool_input": { "command": "x" },
    });
    let hook = alone("hook claude-code", &payload.to_string());
    let said = String::from_utf8_lossy(&[hook.stdout, hook.stderr].concat()).into_owned();
    assert!(hook.status.success() && said.contains("cannot start a thread"), "{said}");
    // It was for want of a thread alone.
    as_nobody(&fixture, "status").ok();
}

#[test]
fn what_cannot_be_read_is_unknown_and_never_deleted() {
    let fixture = of_nobody();
    for path in ["open", "locked", "dir/inside", "closed/inside"] {
        fixture.write(path, "1\n");
    }
    for path in ["open", "locked", "dir", "dir/inside", "closed", "closed/inside"] {
        give(&fixture, path);
    }
    let first = as_nobody(&fixture, "track").ok();
    assert_eq!(first["coverage"]["complete"], true, "{first}");
    fixture.write("locked", "2\n");
    fixture.write("closed/inside", "2\n");
    fixture.write("open", "2\n");
    fixture.write("newly-locked", "only copy\n");
    for path in ["locked", "newly-locked"] {
        chown(fixture.root().join(path), Some(0), Some(0)).unwrap();
        chmod(&fixture, path, 0o600);
    }
    chown(fixture.root().join("closed"), Some(0), Some(0)).unwrap();
    chmod(&fixture, "closed", 0o700);
    let before = fixture.picture();
    let status = as_nobody(&fixture, "status").ok();
    assert_eq!(status["coverage"]["complete"], false, "{status}");
    assert!(!status["changes"].to_string().contains("\"deleted\""), "unreadable is not deleted: {status}");
    let tracked = as_nobody(&fixture, "track").ok();
    let reasons = uncovered(&tracked);
    for path in ["closed", "locked", "newly-locked"] {
        assert!(reasons.contains(&(path.to_owned(), "unreadable".to_owned())), "{path}: {reasons:?}");
    }
    assert!(!tracked["changes"].to_string().contains("\"deleted\""), "{tracked}");
    // Going back would overwrite bytes that no snapshot holds.
    let answer = as_nobody(&fixture, "restore 1");
    if answer.status == 0 {
        let after = fixture.picture();
        for path in ["locked", "newly-locked", "closed/inside"] {
            assert_eq!(after.0.get(path.as_bytes()), before.0.get(path.as_bytes()), "{path}: {}", answer.json);
        }
    } else {
        assert_eq!((answer.code(), answer.status), ("NOT_COVERED", 3), "{}", answer.json);
        fixture.picture().expect(&before, "refused restore");
    }
    as_nobody(&fixture, "restore 1 -- open").ok();
    assert_eq!(fixture.read("open"), "1\n");
    // Readable again: everything can go back.
    for path in ["locked", "newly-locked", "closed"] {
        give(&fixture, path);
    }
    as_nobody(&fixture, "restore 1").ok();
    for path in ["locked", "closed/inside"] {
        assert_eq!(fixture.read(path), "1\n", "{path}");
    }
    as_nobody(&fixture, "verify").ok();
}

#[test]
fn a_directory_that_cannot_be_written_fails_the_restore_without_a_trace() {
    let fixture = of_nobody();
    for path in ["a", "dir/b", "z"] {
        fixture.write(path, "1\n");
    }
    for path in ["a", "dir", "dir/b", "z"] {
        give(&fixture, path);
    }
    as_nobody(&fixture, "track").ok();
    for path in ["a", "dir/b", "z"] {
        fixture.write(path, "2\n");
    }
    chown(fixture.root().join("dir"), Some(0), Some(0)).unwrap();
    chmod(&fixture, "dir", 0o755);
    let before = fixture.picture();
    let answer = as_nobody(&fixture, "restore 1");
    assert_eq!(answer.status, 6, "{}", answer.json);
    assert!(answer.json["error"]["message"].as_str().unwrap().contains("dir"), "{}", answer.json);
    fixture.picture().expect(&before, "a restore that may not write");
    give(&fixture, "dir");
    as_nobody(&fixture, "restore 1").ok();
    assert_eq!(fixture.read("dir/b"), "1\n");
}

#[test]
fn a_workspace_that_cannot_be_written_is_an_error() {
    let fixture = of_nobody();
    fixture.write("a", "1\n");
    chown(fixture.root(), Some(0), Some(0)).unwrap();
    chmod(&fixture, "", 0o755);
    let answer = as_nobody(&fixture, "track");
    assert_eq!((answer.code(), answer.status), ("IO", 6), "{}", answer.json);
}

#[test]
fn large_files_are_reported_the_first_time_and_every_time() {
    let fixture = Fixture::new();
    fixture.done("config set max_file_size 1000");
    fixture.write("small", &"s".repeat(1000));
    fixture.write("large", &"l".repeat(1001));
    for _ in 0..3 {
        let tracked = fixture.ok("track");
        assert_eq!(uncovered(&tracked), [("large".to_owned(), "too_large".to_owned())]);
        assert_eq!(tracked["coverage"]["files"], 1);
        fixture.write("small", &format!("{}\n", fixture.read("small").len()));
    }
    let before = fixture.read("large");
    fixture.ok("restore 1");
    assert_eq!(fixture.read("large"), before, "never deleted, never cut");
}

#[test]
fn a_file_that_outgrows_the_limit_is_not_overwritten() {
    let fixture = Fixture::new();
    fixture.done("config set max_file_size 1000");
    fixture.write("grows", "1\n");
    fixture.write("b", "1\n");
    fixture.track();
    fixture.write("grows", &"2".repeat(5000));
    fixture.write("b", "2\n");
    let tracked = fixture.ok("track");
    assert_eq!(uncovered(&tracked), [("grows".to_owned(), "too_large".to_owned())]);
    assert!(!tracked["changes"].to_string().contains("\"deleted\""), "too large is not deleted: {tracked}");
    let before = fixture.picture();
    for line in ["restore 1", "restore 1 -- grows"] {
        fixture.ask(line).fails("NOT_COVERED", 3);
        fixture.picture().expect(&before, line);
    }
    let answer = fixture.ask("undo");
    let after = fixture.picture();
    assert_eq!(after.0.get(b"grows".as_slice()), before.0.get(b"grows".as_slice()), "{}", answer.json);
    fixture.done("config set max_file_size 1MB");
    fixture.ok("restore 1");
    assert_eq!(fixture.read("grows"), "1\n");
    fixture.ok("undo");
    assert_eq!(fixture.read("grows").len(), 5000);
}

#[test]
fn a_large_file_made_later_is_not_deleted() {
    let fixture = Fixture::new();
    fixture.done("config set max_file_size 1000");
    fixture.write("a", "1\n");
    fixture.track();
    fixture.write("results/big", &"r".repeat(5000));
    fixture.write("results/small", "s\n");
    fixture.ok("restore 1");
    assert_eq!(fixture.read("results/big").len(), 5000);
    assert!(!fixture.root().join("results/small").exists());
}

/// A file of several megabytes and of bytes that compress badly.
#[test]
fn large_files_within_the_limit_are_exact() {
    let fixture = Fixture::new();
    let mut random = crate::random::Random::new(1);
    let bytes: Vec<u8> = (0..500_000).flat_map(|_| random.next().to_le_bytes()).collect();
    fs::write(fixture.root().join("noise"), &bytes).unwrap();
    fs::write(fixture.root().join("zeros"), vec![0; 5_000_000]).unwrap();
    fixture.track();
    fs::remove_file(fixture.root().join("noise")).unwrap();
    fs::write(fixture.root().join("zeros"), "short").unwrap();
    fixture.ok("restore 1");
    assert!(fs::read(fixture.root().join("noise")).unwrap() == bytes);
    assert!(fs::read(fixture.root().join("zeros")).unwrap() == vec![0; 5_000_000]);
    assert!(fixture.cat("1", b"noise") == bytes);
    fixture.verify();
    crate::store_and_git::assert_fsck(&fixture);
}

/// An owner who is not root restores into his own read-only directories, or is told; never half of it.
#[test]
fn read_only_directories_of_the_owner_are_restored_or_refused_whole() {
    let fixture = of_nobody();
    for path in ["ro/a", "ro/sub/b", "z"] {
        fixture.write(path, "1\n");
    }
    for path in ["ro", "ro/a", "ro/sub", "ro/sub/b", "z"] {
        give(&fixture, path);
    }
    chmod(&fixture, "ro/sub", 0o555);
    chmod(&fixture, "ro", 0o555);
    as_nobody(&fixture, "track").ok();
    let wanted = fixture.picture();
    for path in ["ro/a", "ro/sub/b", "z"] {
        fixture.write(path, "2\n");
    }
    fixture.write("ro/new", "2\n");
    give(&fixture, "ro/new");
    let before = fixture.picture();
    let answer = as_nobody(&fixture, "restore 1");
    match answer.status {
        0 => fixture.picture().expect(&wanted, "restore into read-only directories"),
        _ => {
            assert_eq!(answer.status, 6, "{}", answer.json);
            fixture.picture().expect(&before, "refused restore");
        }
    }
}

/// A store that may not be read is an error, never an empty history.
#[test]
fn a_store_that_may_not_be_read_is_an_error() {
    let fixture = of_nobody();
    fixture.write("a", "1\n");
    // Root's own records are not kept in a directory of another user's.
    fs::create_dir(fixture.home().join(".local")).unwrap();
    fixture.track();
    for line in ["log", "status", "verify", "track", "restore 1", "ls @"] {
        let answer = as_nobody(&fixture, line);
        assert_eq!(answer.code(), "STORE_NOT_OURS", "{line}: {}", answer.json);
        assert!(answer.json.to_string().contains("belongs to user 0"), "{line}: {}", answer.json);
    }
    assert_eq!(fixture.ok("log")["rows"].as_array().unwrap().len(), 1);
    fixture.verify();
}

/// What a capture reads beside the files it captures may be anything too.
#[test]
fn special_files_where_rules_are_expected_are_named_and_not_waited_for() {
    for place in [".git/config", ".git/info/exclude", ".git/index", "sub/.git"] {
        let fixture = Fixture::new();
        fixture.git("init -q");
        fixture.write("sub/a", "a\n");
        fixture.write(".gitignore", "*.log\n");
        fixture.write("x.log", "x\n");
        let _ = fs::remove_file(fixture.root().join(place));
        make(&fixture, "mkfifo", &[place]);
        for line in ["track", "status"] {
            let seen = fixture.run(line);
            assert!(seen.contains(&format!("{place}` was not read: not a regular file")), "{line}: {seen}");
            assert!(seen.contains("---- exit 0"), "{line}: {seen}");
        }
    }
}

#[test]
fn a_workspace_deeper_than_any_is_covered_to_a_thousand_levels() {
    let fixture = Fixture::new();
    fixture.write("a", "a\n");
    // Each from inside the one before: the whole path is longer than the system takes.
    let deep = "for _ in $(seq 50); do d=d/$d; done; for _ in $(seq 100); do mkdir -p $d && cd -P $d || exit 1; done";
    make(&fixture, "sh", &["-c", &format!("d=d; {deep}")]);
    let tracked = fixture.ok("track");
    let found = uncovered(&tracked);
    assert_eq!((found.len(), found[0].1.as_str()), (1, "too_deep"));
    for line in ["status", "verify", "ls 1", "gc --dry-run", "restore 1 --dry-run", "diff 1"] {
        fixture.ok(line);
    }
    make(&fixture, "rm", &["-rf", "d"]);
    fixture.ok("restore 1");
    fixture.verify();
    make(&fixture, "rm", &["-rf", "d"]);
}

/// Sets or takes away an attribute of ext4's, as `+i`.
fn chattr(fixture: &Fixture, change: &str, path: &str) {
    let done = std::process::Command::new("chattr").args([change, path]).current_dir(fixture.root()).status().unwrap();
    assert!(done.success(), "chattr {change} {path}");
}

#[test]
fn what_nobody_may_change_is_named_and_can_be_skipped() {
    let fixture = Fixture::new();
    let names = ["fixed", "log", "closed/a", "closed/b", "free"];
    for name in names {
        fixture.write(name, "one\n");
    }
    fixture.track();
    for name in names {
        fixture.write(name, "two\n");
    }
    fixture.track();
    let protected = [("i", "fixed"), ("a", "log"), ("i", "closed")];
    protected.iter().for_each(|(attribute, path)| chattr(&fixture, &format!("+{attribute}"), path));
    let refused = fixture.ask("restore 1").fails("IO", 6);
    let skipped = fixture.ask("restore 1 --on-conflict skip");
    protected.iter().for_each(|(attribute, path)| chattr(&fixture, &format!("-{attribute}"), path));
    assert!(refused["hint"].as_str().unwrap().contains("--on-conflict skip"), "{refused}");
    assert_eq!(refused["details"]["protected"].as_array().unwrap().len(), 4, "{refused}");
    let skipped = skipped.ok();
    assert_eq!(skipped["skipped"].as_array().unwrap().len(), 4, "{skipped}");
    assert_eq!(names.map(|name| fixture.read(name)), ["two\n", "two\n", "two\n", "two\n", "one\n"]);
    fixture.ok("restore 1");
    assert_eq!(names.map(|name| fixture.read(name)), ["one\n"; 5]);
    fixture.verify();
}

/// A limit on the size of files is an error, not the end of the process half way.
#[test]
fn a_limit_on_the_size_of_files_is_an_error_and_loses_nothing() {
    let fixture = Fixture::new();
    let large: String = (0..40_000).map(|line| format!("{}\n", line * 7919 % 65_537)).collect();
    fixture.write("large", &large);
    fixture.track();
    fixture.write("large", "small\n");
    fixture.track();
    let limited = |line: &str| {
        let command = fixture.command(line);
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", "ulimit -f 100; exec \"$0\" \"$@\""]).arg(command.get_program()).args(command.get_args());
        command.get_envs().for_each(|(name, value)| {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        });
        shell.current_dir(command.get_current_dir().unwrap()).output().unwrap()
    };
    let ended = limited("restore 1");
    assert_eq!(ended.status.code(), Some(6), "{ended:?}");
    assert_eq!(fixture.read("large"), "small\n");
    fixture.ok("status");
    fixture.ok("restore 1");
    assert!(fixture.read("large") == large);
    fixture.verify();
}
