//! Programs that run already and were started without any debugger, attached to by the number of their process. The program
//! goes on when the debugger leaves.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use backsight_core::Code;
use backsight_debug::session::{Attach, BreakpointRequest, Session};

use super::subject::{PATIENCE, Running, Subject, at, capture, go_on, installed, stopped};

/// Starts a program and waits until it says that it runs.
fn started(mut command: Command) -> (Running, BufReader<std::process::ChildStdout>) {
    let mut running = Running(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    let mut says = BufReader::new(running.0.stdout.take().unwrap());
    let mut line = String::new();
    says.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    (running, says)
}

fn write(folder: &Path, name: &str, source: &str) -> PathBuf {
    let file = folder.join(name);
    std::fs::write(&file, source).unwrap();
    file
}

fn built(compiler: &str, arguments: &[&str], source: &Path) -> PathBuf {
    let program = source.with_extension("");
    let built = Command::new(installed(&[compiler])).args(arguments).arg("-o").arg(&program).arg(source).output();
    let built = built.unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    program
}

/// Attaches, hits a breakpoint twice, sees that a round was made in between, and leaves; then all of it once more: Node opens
/// its inspector for a process only once.
fn attached(adapter: &str, command: Command, source: &Path, runtime: Option<PathBuf>) {
    let (mut running, _says) = started(command);
    for _ in 0..2 {
        attach_once(adapter, &mut running, source, runtime.clone());
    }
}

fn attach_once(adapter: &str, running: &mut Running, source: &Path, runtime: Option<PathBuf>) {
    let subject = Subject { source: source.to_owned(), program: source.to_owned(), runtime, rust_sysroot: None };
    let attach = Attach {
        adapter: Some(adapter.to_owned()),
        pid: Some(running.0.id()),
        runtime: subject.runtime.clone(),
        breakpoints: vec![BreakpointRequest::line(source, subject.line("HERE"))],
        wait: PATIENCE,
        ..Attach::default()
    };
    let (session, outcome) = Session::attach(&subject.setup(), attach).unwrap_or_else(|error| panic!("{error:?}"));
    let report = stopped(outcome);
    assert_eq!(report.breakpoints, ["bp-1"], "{report:?}");
    assert!(session.status().attached);
    let rounds = || at(&capture(&session, 1), "rounds").text.parse::<u64>().unwrap();
    let first = rounds();
    stopped(go_on(&session));
    assert_eq!(rounds(), first + 1);
    session.remove_breakpoint("bp-1").unwrap();
    session.disconnect(false).unwrap();
    assert!(running.0.try_wait().unwrap().is_none(), "it goes on without its debugger");
}

#[test]
fn python() {
    let folder = tempfile::tempdir().unwrap();
    let text = "import time\n\ndef spin():\n    rounds = 0\n    print('ready', flush=True)\n    while True:\n        time.sleep(0.001)\n        rounds += 1  # HERE\n\nspin()\n";
    let source = write(folder.path(), "spin.py", text);
    installed(&["gdb"]);
    let python = super::python::python();
    let mut command = Command::new(&python);
    command.arg(&source);
    attached("debugpy", command, &source, Some(python));
}

/// What pydevd leaves for a moment when a debugger detaches: it is over and still the debugger of the process, so that one put
/// there now takes it for its own and does not call.
#[test]
fn python_that_another_debugger_is_just_leaving() {
    let folder = tempfile::tempdir().unwrap();
    let text = "import time\nimport debugpy, debugpy.server\nimport pydevd\n\nleaving = pydevd.PyDB()\nleaving.pydb_disposed = True\n\ndef spin():\n    rounds = 0\n    print('ready', flush=True)\n    end = time.monotonic() + 2\n    while True:\n        time.sleep(0.001)\n        if time.monotonic() > end and pydevd.get_global_debugger() is leaving:\n            pydevd.set_global_debugger(None)\n        rounds += 1  # HERE\n\nspin()\n";
    let source = write(folder.path(), "spin.py", text);
    installed(&["gdb"]);
    let python = super::python::python();
    let mut command = Command::new(&python);
    command.arg(&source);
    let (mut running, _says) = started(command);
    attach_once("debugpy", &mut running, &source, Some(python));
}

#[test]
fn node() {
    let folder = tempfile::tempdir().unwrap();
    let text = "let rounds = 0;\nconsole.log('ready');\nsetInterval(() => {\n  rounds += 1; // HERE\n}, 1);\n";
    let source = write(folder.path(), "spin.js", text);
    let mut command = Command::new(installed(&["node"]));
    // Where the inspector will be once it is asked for; else every program has the same port.
    command.arg("--inspect-port=127.0.0.1:0").arg(&source);
    attached("node", command, &source, None);
}

#[test]
fn native() {
    let folder = tempfile::tempdir().unwrap();
    let text = "#include <cstdio>\n#include <unistd.h>\nint main() {\n    long rounds = 0;\n    puts(\"ready\");\n    fflush(stdout);\n    for (;;) {\n        usleep(1000);\n        rounds++; // HERE\n    }\n}\n";
    let source = write(folder.path(), "spin.cpp", text);
    installed(&super::native::LLDB);
    attached("lldb-dap", Command::new(built("g++", &["-g", "-O0"], &source)), &source, None);
}

#[test]
fn go() {
    let folder = tempfile::tempdir().unwrap();
    let text = "package main\n\nimport (\n\t\"fmt\"\n\t\"time\"\n)\n\nfunc main() {\n\trounds := 0\n\tfmt.Println(\"ready\")\n\tfor {\n\t\ttime.Sleep(time.Millisecond)\n\t\trounds++ // HERE\n\t}\n}\n";
    let source = write(folder.path(), "spin.go", text);
    installed(&["dlv"]);
    attached("delve", Command::new(built("go", &["build", "-gcflags=all=-N -l"], &source)), &source, None);
}

/// The signal that opens Node's inspector would end anything else.
#[test]
fn what_is_not_node_is_not_signalled() {
    let mut command = Command::new("sh");
    command.args(["-c", "echo ready; read end"]).stdin(Stdio::piped());
    let (mut running, _says) = started(command);
    let subject = Subject::script("table.js", None);
    let attach = |pid| Attach { adapter: Some("node".to_owned()), pid, wait: PATIENCE, ..Attach::default() };
    let error = Session::attach(&subject.setup(), attach(Some(running.0.id()))).map(drop).unwrap_err();
    assert_eq!(error.code(), Code::AdapterFailed, "{error}");
    assert!(error.hint().unwrap().contains("--inspect"), "{error:?}");
    assert!(running.0.try_wait().unwrap().is_none());
    let nobody = Session::attach(&subject.setup(), attach(Some(i32::MAX as u32))).map(drop).unwrap_err();
    assert_eq!(nobody.code(), Code::ProgramNotFound, "{nobody}");
    let nothing = Session::attach(&subject.setup(), attach(None)).map(drop).unwrap_err();
    assert!(nothing.code() == Code::Usage && nothing.message().contains("`pid`"), "{nothing}");
}
