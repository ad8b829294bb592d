//! The ways into a debugged program: nobody but the session finds one, and a stranger who tries does not spoil it.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use backsight_core::Code;
use backsight_debug::session::{BreakpointRequest, Control, EvaluateRequest, Place, Session, VariablesRequest};
use backsight_debug::walk::CapturePlan;

use super::facade::Language;
use super::python::python;
use super::subject::{Subject, capture, stopped};

/// Another user than the one the tests run as, where the tests may become one.
fn as_other_user(script: &str) -> Option<String> {
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "bash", "-c", script]).stderr(Stdio::null());
    rustix::process::geteuid()
        .is_root()
        .then(|| String::from_utf8_lossy(&command.output().unwrap().stdout).into_owned())
}

/// The ports at which a process, its group and its children listen.
fn listening(process: i32) -> Vec<u16> {
    let of_group = |pid: &i32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let words: Vec<i32> = stat
            .rsplit_once(')')
            .map(|(_, rest)| rest)
            .unwrap_or_default()
            .split_whitespace()
            .skip(1)
            .take(2)
            .filter_map(|word| word.parse().ok())
            .collect();
        *pid == process || words.contains(&process)
    };
    let all = std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let files = all
        .filter(of_group)
        .flat_map(|pid| std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten());
    let sockets: Vec<PathBuf> = files.filter_map(|file| std::fs::read_link(file.path()).ok()).collect();
    let tables =
        ["/proc/net/tcp", "/proc/net/tcp6"].map(|table| std::fs::read_to_string(table).unwrap_or_default()).concat();
    let rows = tables.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    rows.filter(|row| row.get(3) == Some(&"0A") && sockets.contains(&PathBuf::from(format!("socket:[{}]", row[9]))))
        .map(|row| u16::from_str_radix(row[1].rsplit_once(':').unwrap().1, 16).unwrap())
        .collect()
}

fn started(language: Language) -> (Subject, Session) {
    let subject = language.subject();
    let (session, outcome) = subject.launch(vec![subject.at("BEFORE")]);
    stopped(outcome);
    (subject, session)
}

fn wait_for(what: &Path) -> String {
    let began = Instant::now();
    loop {
        match std::fs::read_to_string(what) {
            Ok(text) if text.ends_with('\n') => return text,
            _ => assert!(began.elapsed() < Duration::from_secs(60), "{}", what.display()),
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whoever calls the port for debugpy first is not the debugger: neither another process of this user, nor one that says
/// something and goes, nor another user.
#[test]
fn a_stranger_who_calls_first_is_not_the_debugger() {
    let folder = tempfile::tempdir().unwrap();
    let (runtime, port, go) = (folder.path().join("python"), folder.path().join("port"), folder.path().join("go"));
    // Tells the port and waits until the strangers have called.
    let script = format!(
        "#!/bin/bash\nfor a in \"$@\"; do case \"$a\" in 127.0.0.1:*) echo ${{a##*:}} >{};; esac; done\nwhile [ ! -e {} ]; do sleep 0.01; done\nexec {} \"$@\"\n",
        port.display(),
        go.display(),
        python().display()
    );
    std::fs::write(&runtime, script).unwrap();
    std::fs::set_permissions(&runtime, std::fs::Permissions::from_mode(0o755)).unwrap();
    let subject = Subject { runtime: Some(runtime), ..Language::Python.subject() };
    std::thread::scope(|scope| {
        let strangers = scope.spawn(|| {
            let port: u16 = wait_for(&port).trim().parse().unwrap();
            let call = || TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
            drop(call());
            call().write_all(b"GET / HTTP/1.0\r\n\r\n").unwrap();
            let mut held = call();
            let fake = "{\"seq\":1,\"type\":\"event\",\"event\":\"initialized\"}";
            held.write_all(format!("Content-Length: {}\r\n\r\n{fake}", fake.len()).as_bytes()).unwrap();
            let said = as_other_user(&format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo called; timeout 20 cat <&3"));
            assert!(said.is_none_or(|said| said == "called\n"), "another user was spoken to");
            std::fs::write(&go, "").unwrap();
            held
        });
        let (session, outcome) = subject.launch(vec![subject.at("BEFORE")]);
        stopped(outcome);
        assert!(!capture(&session, 1).frames.is_empty());
        let mut held = strangers.join().unwrap();
        let mut heard = Vec::new();
        // Hung up on, without a word.
        let _ = held.read_to_end(&mut heard);
        assert_eq!(heard, b"");
        assert!(listening(session.status().process.unwrap()).is_empty(), "the port is closed");
    });
}

#[test]
fn nobody_finds_the_name_of_nodes_inspector() {
    let (_subject, session) = started(Language::JavaScript);
    let [port] = listening(session.status().process.unwrap())[..] else { panic!("one port") };
    let ask = |path: &str, headers: &str| {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{headers}\r\n").unwrap();
        let mut answer = vec![0; 4096];
        let count = stream.read(&mut answer).unwrap_or(0);
        String::from_utf8_lossy(&answer[..count]).into_owned()
    };
    for path in ["/json", "/json/list", "/json/version", "/json/protocol"] {
        let answer = ask(path, "");
        assert!(!answer.contains("ws://") && answer.contains(" 404 "), "{path}: {answer}");
    }
    let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n";
    for path in ["/", "/00000000-0000-0000-0000-000000000000", "/json/list"] {
        let answer = ask(path, upgrade);
        assert!(!answer.contains(" 101 "), "{path}: {answer}");
    }
    // The name is in nothing that others can read about the process.
    let command = std::fs::read_to_string(format!("/proc/{}/cmdline", session.status().process.unwrap())).unwrap();
    assert!(command.contains("--inspect-publish-uid=stderr") && !command.contains("ws://"), "{command}");
    assert!(!capture(&session, 1).frames.is_empty());
}

#[test]
fn other_users_are_not_heard_by_delve_and_lldb_has_no_port() {
    let (_subject, session) = started(Language::Cpp);
    assert!(listening(session.status().process.unwrap()).is_empty());
    let (_subject, session) = started(Language::Go);
    for port in listening(session.status().process.unwrap()) {
        let hello = "{\\\"seq\\\":1,\\\"type\\\":\\\"request\\\",\\\"command\\\":\\\"threads\\\"}";
        let script = format!(
            "exec 3<>/dev/tcp/127.0.0.1/{port}; printf \"Content-Length: 44\\r\\n\\r\\n{hello}\" >&3; timeout 3 cat <&3"
        );
        assert!(as_other_user(&script).is_none_or(|said| said.is_empty()));
    }
    assert!(!capture(&session, 1).frames.is_empty());
}

/// Expressions that a debugger takes for commands to itself, by every way that says it only reads.
#[test]
fn no_expression_is_a_command_to_the_debugger() {
    let safely = |session: &Session, expression: &str| {
        let expression = expression.to_owned();
        session.evaluate(EvaluateRequest { expression, thread: None, frame: 0, safe: true, timeout_ms: None })
    };
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("ran");
    let touch = format!("platform shell touch {}", mark.display());
    for (language, commands) in [
        (
            Language::Go,
            vec![
                "dlv config showGlobalVariables true".to_owned(),
                " \n dlv\tconfig -list".to_owned(),
                "/* */dlv help".to_owned(),
                "call main.add(1, 2)".to_owned(),
                "call\tmain.add(1, 2)".to_owned(),
            ],
        ),
        (
            Language::Cpp,
            vec![
                format!("`{touch}"),
                format!(" `{touch}"),
                format!("?{touch}"),
                format!(":{touch}"),
                touch.clone(),
                format!("x`{touch}"),
                "script import os".to_owned(),
            ],
        ),
        (
            Language::Python,
            vec!["%env".to_owned(), "!id".to_owned(), "backsight! end {}".to_owned(), "import os".to_owned()],
        ),
        (
            Language::JavaScript,
            vec!["require('fs').writeFileSync('/tmp/x', '')".to_owned(), "process.exit()".to_owned()],
        ),
    ] {
        let (_subject, session) = started(language);
        for command in &commands {
            let error = safely(&session, command).map(|view| panic!("{command}: {view:?}")).unwrap_err();
            assert_eq!(error.code(), Code::AdapterFailed, "{command}: {error}");
            let expand = VariablesRequest { expand: Some(command.clone()), ..VariablesRequest::default() };
            assert!(session.variables(expand).is_err(), "{command}");
            let plan = CapturePlan { watches: vec![command.clone()], ..CapturePlan::default() };
            let seen = session.capture(plan).unwrap_or_else(|error| panic!("{command}: {error}"));
            let watched = seen.frames[0].variables.iter().find(|one| one.name == *command).unwrap();
            assert_eq!(watched.value.kind, "error", "{command}: {watched:?}");
        }
        assert!(!mark.exists(), "{language:?}");
        assert!(!capture(&session, 1).frames.is_empty());
    }
}

/// Conditions and log messages run code, since they are asked for; they are no commands either.
#[test]
fn no_condition_and_no_log_message_is_a_command_to_the_debugger() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("ran");
    let touch = format!("platform shell touch {}", mark.display());
    let native = [format!("`{touch}"), format!("?{touch}"), touch.clone()];
    let go = ["dlv config showGlobalVariables true".to_owned(), "dlv config -list".to_owned()];
    for (language, commands) in [(Language::Cpp, &native[..]), (Language::Go, &go[..])] {
        let (subject, session) = started(language);
        for command in commands {
            for (condition, log_message) in [(Some(command.clone()), None), (None, Some(format!("{{{command}}}")))] {
                // Refused or not, nothing comes of it.
                let _ = session.set_breakpoint(BreakpointRequest { condition, log_message, ..subject.at("LAST") });
            }
            let place = Place::Function(command.clone());
            let _ = session.set_breakpoint(BreakpointRequest::new(place));
        }
        let _ = session.control(Control::Continue, None, Duration::from_secs(10));
        assert!(!mark.exists(), "{language:?}");
        let said: String = session.output(0, 1 << 20).pieces.into_iter().map(|piece| piece.text).collect();
        assert!(!said.contains("stackTraceDepth"), "{said}");
    }
}

/// What a debugger builds is this user's alone, and goes with a server that was killed.
#[test]
fn scratch_directories_are_private_and_none_is_left() {
    if std::env::var_os(HOLDER).is_some() {
        hold_a_session();
    }
    let place = tempfile::tempdir().unwrap();
    let here = std::env::current_exe().unwrap();
    let mut command = Command::new(here);
    command.args(["--exact", "live::doors::scratch_directories_are_private_and_none_is_left", "--nocapture"]);
    command.env(HOLDER, "yes").env("TMPDIR", place.path()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut holder = super::subject::Running(command.spawn().unwrap());
    wait_for(&place.path().join("paused"));
    let scratch = || {
        let all = std::fs::read_dir(place.path()).unwrap().flatten().map(|entry| entry.path());
        all.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("backsight")).collect::<Vec<_>>()
    };
    assert_eq!(scratch().len(), 1);
    assert_eq!(std::fs::metadata(&scratch()[0]).unwrap().mode() & 0o777, 0o700);
    holder.0.kill().unwrap();
    let began = Instant::now();
    while !scratch().is_empty() {
        assert!(began.elapsed() < Duration::from_secs(30), "{:?}", scratch());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Tells the test that it is the process that it kills.
const HOLDER: &str = "BACKSIGHT_TEST_HOLDER";

/// Debugs a program until it is killed.
fn hold_a_session() -> ! {
    let (_subject, _session) = started(Language::Python);
    std::fs::write(std::env::temp_dir().join("paused"), "yes\n").unwrap();
    loop {
        std::thread::park();
    }
}

/// What a program said of its secrets is not in the timeline.
#[test]
fn exceptions_and_ends_tell_the_timeline_no_secret() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("login.py");
    let text = "\
def login(user, password):
    secret_list = ['alpha-1', ['beta-22']]
    here = 1  # HERE
    raise ValueError('bad password s3' + 'cr3t, and ' + password)
try:
    login('bob', 'xyz' + 'zy-vault')
except ValueError:
    pass
raise RuntimeError('cannot open xyz' + 'zy-vault')
";
    std::fs::write(&source, text).unwrap();
    let subject = Subject { program: source.clone(), source, runtime: Some(python()), rust_sysroot: None };
    let debugger = crate::facade::lane(subject.setup(), folder.path());
    let breakpoints = vec![subject.at("HERE"), BreakpointRequest::new(Place::Exception("all".to_owned()))];
    let mut said =
        format!("{:?}", debugger.launch(None, subject.request(breakpoints), &crate::facade::patiently).unwrap());
    let plan = CapturePlan { depth: 3, ..CapturePlan::default() };
    said += &format!("{:?}", debugger.create_snapshot(None, None, plan).unwrap());
    said += &format!("{:?}", debugger.snapshot(None, "snapshot-1").unwrap());
    for expand in ["secret_list", "secret_list[1]"] {
        let request = VariablesRequest { expand: Some(expand.to_owned()), ..VariablesRequest::default() };
        said += &format!("{:?}", debugger.variables(None, request).unwrap());
    }
    let go_on = || debugger.control(None, Control::Continue, None, super::subject::PATIENCE, &crate::facade::patiently);
    for _ in 0..6 {
        said += &format!("{:?} {:?}", go_on(), debugger.list());
    }
    for notable in debugger.take_notables() {
        said += &format!("{} {}", notable.description, notable.details);
    }
    assert!(said.contains("ValueError") && said.contains("RuntimeError"), "{said}");
    for secret in ["s3cr3t", "xyzzy", "alpha-1", "beta-22"] {
        assert!(!said.contains(secret), "{secret} in {said}");
    }
}
