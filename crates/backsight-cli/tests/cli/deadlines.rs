//! No wait is without an end: a server that is stopped, one that accepts and never answers, input that never ends. A hook
//! answers within five seconds, what needs no server works without it, and what does says what to do.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::agents::client::{Agent, Era};
use crate::agents::eventually;
use crate::fixture::Fixture;
use crate::serving::server::Server;

/// What a hook may take, with the start of the process.
const LONGEST_HOOK: Duration = Duration::from_secs(5);
/// What a command may take that finds a server that is stopped; much less than any time limit.
const AT_ONCE: Duration = Duration::from_secs(2);

fn payload(fixture: &Fixture, name: &str) -> String {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../backsight-server/tests/hooks/fixtures/claude-code");
    let text = fs::read_to_string(fixtures.join(format!("{name}.json"))).unwrap();
    text.replace("{root}", fixture.root().to_str().unwrap())
}

fn hook(fixture: &Fixture, agent: &str) -> Child {
    let mut command = fixture.command(&format!("hook {agent}"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits for a hook: its answer and what it says on stderr.
#[track_caller]
fn answer(mut hook: Child, longest: Duration) -> (Value, String) {
    let began = Instant::now();
    let (mut out, mut err) = (String::new(), String::new());
    hook.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    hook.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    let status = hook.wait().unwrap();
    assert!(began.elapsed() < longest, "{:?}: {out}{err}", began.elapsed());
    assert_eq!(status.code(), Some(0), "{err}");
    (serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}")), err)
}

fn signal(process: u32, name: &str) {
    assert!(Command::new("kill").args([name, &process.to_string()]).status().unwrap().success());
}

/// A server that is stopped, as Ctrl-Z does it.
fn stopped(fixture: &Fixture) -> Server {
    let server = Server::start(fixture);
    stop(&server);
    server
}

/// Stops a server; it is when the kernel says so.
fn stop(server: &Server) {
    signal(server.pid(), "-STOP");
    eventually("it stands still", || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", server.pid())).ok()?;
        stat.rsplit_once(") ")?.1.starts_with('T').then_some(())
    });
}

/// A file system whose server takes every question and answers none, as a network share does that was lost. What asks it
/// waits and cannot be killed. The test needs to be root, or another way to mount; without it it fails.
struct DeadMount {
    place: PathBuf,
    server: Option<JoinHandle<()>>,
}

impl DeadMount {
    fn at(place: &Path) -> Self {
        fs::create_dir(place).unwrap();
        let mut server = File::options().read(true).write(true).open("/dev/fuse").unwrap();
        // `mount` finds the server as its stdin.
        let status = Command::new("mount")
            .args(["-i", "-t", "fuse", "-o", "fd=0,rootmode=40000,user_id=0,group_id=0", "dead"])
            .arg(place)
            .stdin(server.try_clone().unwrap())
            .status();
        assert!(status.is_ok_and(|status| status.success()), "cannot mount with FUSE, which this test needs");
        let server = std::thread::spawn(move || {
            let mut question = vec![0; 1 << 20];
            let _ = server.read(&mut question).unwrap();
            server.write_all(&greeting(&question)).unwrap();
            // A question that was read is one whose answer must be waited for.
            while server.read(&mut question).is_ok() {}
        });
        DeadMount { place: place.to_owned(), server: Some(server) }
    }
}

/// The answer to the kernel's first question: its length, no error, whose question it answers; then version 7.31, and
/// limits of which only the last matters.
fn greeting(question: &[u8]) -> Vec<u8> {
    let mut answer = vec![0; 80];
    answer[0..4].copy_from_slice(&80u32.to_le_bytes());
    answer[8..16].copy_from_slice(&question[8..16]);
    answer[16..20].copy_from_slice(&7u32.to_le_bytes());
    answer[20..24].copy_from_slice(&31u32.to_le_bytes());
    answer[36..40].copy_from_slice(&4096u32.to_le_bytes());
    answer
}

impl Drop for DeadMount {
    fn drop(&mut self) {
        // By force: every wait ends with an error, also the server's.
        let _ = Command::new("umount").arg("-f").arg(&self.place).status();
        let _ = Command::new("umount").arg("-l").arg(&self.place).stderr(Stdio::null()).status();
        let _ = self.server.take().map(JoinHandle::join);
    }
}

#[test]
fn a_hook_beside_a_stopped_server_records_without_it() {
    let fixture = Fixture::new();
    fixture.write("src/a.rs", "one\n");
    fixture.done("track");
    let _server = stopped(&fixture);
    for (name, text) in [("PreToolUse.Edit", "one\n"), ("PostToolUse.Edit", "two\n")] {
        fixture.write("src/a.rs", text);
        let mut child = hook(&fixture, "claude-code");
        child.stdin.take().unwrap().write_all(payload(&fixture, name).as_bytes()).unwrap();
        assert_eq!(answer(child, AT_ONCE), (json!({}), String::new()), "{name}");
    }
    assert_eq!(fixture.ok("show @")["tool"], "Edit");
}

#[test]
fn a_hook_beside_a_server_that_never_answers_records_without_it() {
    let fixture = Fixture::new();
    fixture.write("src/a.rs", "one\n");
    fixture.done("track");
    // Something that holds the seat, accepts, and says nothing.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let store = fixture.root().join(".backsight/store");
    let lock = File::options().create(true).append(true).open(store.join("server.lock")).unwrap();
    lock.lock().unwrap();
    let address = json!({
        "pid": std::process::id(), "url": format!("http://{}", listener.local_addr().unwrap()), "token": "t",
        "version": "0", "started": "2026-01-01T00:00:00Z", "ingest_key": "k",
    });
    fs::write(store.join("server.json"), address.to_string()).unwrap();
    fixture.write("src/b.rs", "new\n");
    let mut child = hook(&fixture, "claude-code");
    child.stdin.take().unwrap().write_all(payload(&fixture, "UserPromptSubmit").as_bytes()).unwrap();
    assert_eq!(answer(child, LONGEST_HOOK), (json!({}), String::new()));
    assert_eq!(fixture.ok("show @")["tool"], "external");
    let began = Instant::now();
    fixture.ask("changes").fails("SERVER_UNREACHABLE", 7);
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
}

#[test]
fn input_that_never_ends_is_cut_and_doctor_tells_of_it() {
    // All at once: each takes as long as it may.
    let waiting = ["claude-code", "codex", "gemini", "cursor", "opencode"].map(|agent| {
        let fixture = Fixture::new();
        let mut child = hook(&fixture, agent);
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(b"{\"hook_event_name\": ").unwrap();
        (agent, fixture, child, stdin)
    });
    for (agent, fixture, child, stdin) in waiting {
        let (said, stderr) = answer(child, LONGEST_HOOK);
        drop(stdin);
        assert!(stderr.starts_with("backsight: this step is not recorded: the hook was cut short"), "{stderr}");
        let key = if agent == "opencode" { "message" } else { "systemMessage" };
        let told = said.as_object().unwrap();
        assert!(if agent == "cursor" { told.is_empty() } else { told.len() == 1 && told.contains_key(key) }, "{said}");
        let told = fixture.run("doctor");
        assert!(told.contains("1 hook was cut short") && told.contains(agent), "{told}");
    }
}

#[test]
fn a_file_system_that_never_answers_holds_no_hook() {
    let fixture = Fixture::with_history();
    let dead = DeadMount::at(&fixture.root().join("far"));
    for place in [fixture.root().to_owned(), dead.place.clone()] {
        let mut command = fixture.command("hook claude-code");
        // What the hook tells its own child means nothing when others say it.
        command.env("BACKSIGHT_HOOK_IS_CHILD", "1");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let prompt = json!({ "hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": place, "prompt": "go" });
        child.stdin.take().unwrap().write_all(prompt.to_string().as_bytes()).unwrap();
        let (said, stderr) = answer(child, LONGEST_HOOK);
        assert!(stderr.contains("the hook was cut short"), "{place:?}: {stderr}");
        assert!(said["systemMessage"].as_str().unwrap().contains("cut short"), "{said}");
    }
    drop(dead);
    fs::remove_dir(fixture.root().join("far")).unwrap();
    let mut child = hook(&fixture, "claude-code");
    child.stdin.take().unwrap().write_all(payload(&fixture, "UserPromptSubmit").as_bytes()).unwrap();
    assert_eq!(answer(child, LONGEST_HOOK), (json!({}), String::new()));
}

#[test]
fn a_gigabyte_of_input_is_given_up_soon() {
    let fixture = Fixture::new();
    let mut child = hook(&fixture, "claude-code");
    let mut stdin = child.stdin.take().unwrap();
    let writing = std::thread::spawn(move || {
        let chunk = vec![b'['; 1 << 20];
        // The hook closes its end when it has seen enough.
        (0..1024).take_while(|_| stdin.write_all(&chunk).is_ok()).count()
    });
    let (_, stderr) = answer(child, LONGEST_HOOK);
    assert!(stderr.contains("larger than 16 MiB"), "{stderr}");
    assert!(writing.join().unwrap() < 100);
}

#[test]
fn commands_beside_a_stopped_server_say_so_at_once() {
    let fixture = Fixture::with_history();
    let server = stopped(&fixture);
    for line in
        ["changes", "changes --wait 5", "health", "checkpoint list", "browser status", "debug status", "noise list"]
    {
        let began = Instant::now();
        let error = fixture.ask(line).fails("SERVER_UNREACHABLE", 7);
        assert!(began.elapsed() < AT_ONCE, "{line}: {:?}", began.elapsed());
        assert!(error["message"].as_str().unwrap().contains("is stopped"), "{line}: {error}");
        assert!(error["hint"].as_str().unwrap().contains(&format!("kill -CONT {}", server.pid())), "{line}: {error}");
    }
    for line in ["status", "log", "track", "doctor", "run true", "diff #1"] {
        let began = Instant::now();
        fixture.done(line);
        assert!(began.elapsed() < AT_ONCE, "{line}: {:?}", began.elapsed());
    }
    signal(server.pid(), "-CONT");
    fixture.ok("changes");
}

#[test]
fn a_server_that_is_stopped_during_a_wait_is_noticed() {
    let fixture = Fixture::with_history();
    let server = Server::start(&fixture);
    let mut waiting = fixture.command("--json changes --wait 50");
    let child = waiting.stdout(Stdio::piped()).spawn().unwrap();
    eventually("it waits", || {
        let connected = fs::read_to_string(format!("/proc/{}/net/tcp", child.id())).ok()?;
        let port: u16 = server.authority.rsplit_once(':')?.1.parse().ok()?;
        connected.contains(&format!("0100007F:{port:04X} 01")).then_some(())
    });
    stop(&server);
    let began = Instant::now();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(7), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
}

#[test]
fn an_agent_that_joined_a_stopped_server_goes_on_with_the_files() {
    let fixture = Fixture::with_history();
    let server = Server::start(&fixture);
    let mut agent = Agent::named(&fixture, "joined", Era::Handshake("2025-06-18"));
    agent.ok("workspace_status", json!({}));
    stop(&server);
    let began = Instant::now();
    agent.ok("workspace_status", json!({}));
    fixture.write("new.txt", "new\n");
    assert_eq!(agent.ok("files_track", json!({}))["snapshot"], "#4");
    assert!(began.elapsed() < AT_ONCE, "{:?}", began.elapsed());
    let refused = agent.call("get_changes_since", json!({}));
    assert!(refused.is_error && refused.text.contains("kill -CONT"), "{}", refused.text);
    signal(server.pid(), "-CONT");
    agent.ok("get_changes_since", json!({}));
}

#[test]
fn a_wrong_command_line_of_a_hook_ends_although_nobody_reads() {
    let fixture = Fixture::new();
    let (reader, mut writer) = std::io::pipe().unwrap();
    // As much as a pipe holds.
    writer.write_all(&[b' '; 65536]).unwrap();
    let mut command = fixture.command("hook claude-code --bogus");
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(writer).spawn().unwrap();
    let status = eventually("it ends", || child.try_wait().unwrap());
    assert_eq!(status.code(), Some(0));
    drop(reader);
}

#[test]
fn paths_without_number_slow_no_later_hook() {
    let fixture = Fixture::new();
    fixture.write("a", "one\n");
    fixture.done("track");
    let tell = |event: &str, tool: &str, part: &str, command: &str| {
        let payload = json!({
            "hook_event_name": event, "session_id": "s", "turn_id": "p", "tool_name": tool, "tool_use_id": part,
            "tool_input": { "command": command }, "cwd": fixture.root(),
        });
        let mut child = hook(&fixture, "codex");
        child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
        answer(child, LONGEST_HOOK)
    };
    let files: String = (0..200_000).map(|file| format!("*** Add File: f{file}\n+\n")).collect();
    let patch = format!("*** Begin Patch\n{files}*** End Patch");
    let (said, stderr) = tell("PreToolUse", "apply_patch", "big", &patch);
    assert!(format!("{said}{stderr}").contains("200000 paths, too many to remember"), "{said} {stderr}");
    fixture.write("a", "two\n");
    tell("PostToolUse", "apply_patch", "big", &patch);
    assert_eq!(fixture.ok("show @")["description"], "apply_patch: 200000 files");
    // What is remembered of a call that is still open is small.
    tell("PreToolUse", "apply_patch", "bigger", &patch);
    let began = Instant::now();
    tell("PreToolUse", "Bash", "small", "ls");
    assert!(began.elapsed() < AT_ONCE, "{:?}", began.elapsed());
}
