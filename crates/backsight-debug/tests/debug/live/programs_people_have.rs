//! What went wrong with programs as people have them: each of these is a finding, and its name says what is true now.

use std::path::Path;
use std::time::{Duration, Instant};

use backsight_core::Code;
use backsight_debug::diff;
use backsight_debug::session::{BreakpointRequest, Control, EvaluateRequest, Launch, Outcome, Place, VariablesRequest};
use backsight_debug::walk::CapturePlan;
use rustix::process::{Pid, Signal, kill_process};

use super::facade::{Language, Stage};
use super::python::python;
use super::subject::{PATIENCE, Subject, installed, stopped};
use crate::facade::{lane, patiently};

fn put(folder: &Path, name: &str, text: &str) -> std::path::PathBuf {
    let file = folder.join(name);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, text).unwrap();
    file
}

fn script(program: std::path::PathBuf, runtime: std::path::PathBuf) -> Subject {
    Subject { source: program.clone(), program, runtime: Some(runtime), rust_sysroot: None }
}

#[test]
fn a_module_in_the_working_directory_is_not_taken_for_pythons() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["queue.py", "socket.py", "types.py", "threading/__init__.py"] {
        put(folder.path(), name, "raise SystemExit('the wrong module')\n");
    }
    let subject = script(put(folder.path(), "src/app.py", "import queue\nmade = queue.Queue()  # HERE\n"), python());
    let mut request = subject.request(vec![subject.at("HERE")]);
    request.directory = folder.path().to_owned();
    let debugger = lane(subject.setup(), folder.path());
    let moved = debugger.launch(None, request, &patiently).unwrap();
    assert_eq!(stopped(moved.outcome.clone()).breakpoints, ["bp-1"], "{moved:?}");
}

#[test]
fn a_program_that_is_no_javascript_says_why_it_ended() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("bad.js", "let x = ;\n"), ("bad.mjs", "import { nothing } from 'node:fs';\nnothing(;\n")] {
        let subject = script(put(folder.path(), name, text), installed(&["node"]));
        let debugger = lane(subject.setup(), folder.path());
        let moved = debugger.launch(None, subject.request(Vec::new()), &patiently).unwrap();
        assert_eq!(moved.outcome, Outcome::Exited { code: Some(1) }, "{name} {moved:?}");
        assert!(moved.printed.as_deref().unwrap_or_default().contains("SyntaxError"), "{name} {moved:?}");
    }
}

const WAITING: &str = "import threading

def work(amount):
    local = {'amount': amount}
    done.wait()
    return local

done = threading.Event()
worker = threading.Thread(target=work, args=(7,), daemon=True)
worker.start()
import time
time.sleep(0.5)
print('started')  # HERE
";

#[test]
fn another_thread_of_python_that_waits_outside_python_is_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let subject = script(put(folder.path(), "app.py", WAITING), python());
    let debugger = lane(subject.setup(), folder.path());
    debugger.launch(None, subject.request(vec![subject.at("HERE")]), &patiently).unwrap();
    let threads = debugger.threads(None).unwrap();
    let other = threads.iter().find(|thread| !thread.stopped_here).unwrap().id;
    let stack = debugger.stack(None, Some(other), 0, 20).unwrap();
    let found = stack.frames.iter().find(|frame| frame.function == "work");
    let at = found.unwrap_or_else(|| panic!("{threads:?} {stack:?}")).index;
    let request = VariablesRequest { thread: Some(other), frame: at, ..VariablesRequest::default() };
    let page = debugger.variables(None, request).unwrap();
    assert!(page.variables.iter().any(|one| one.name == "amount" && one.value == "7"), "{page:?}");
    let expression = "local['amount'] + 1".to_owned();
    let request = EvaluateRequest { expression, thread: Some(other), frame: at, safe: true, timeout_ms: None };
    assert_eq!(debugger.evaluate(None, request).unwrap().value, "8");
    let plan = CapturePlan { thread: Some(other), frame: at, depth: 1, ..CapturePlan::default() };
    let created = debugger.create_snapshot(None, None, plan).unwrap();
    assert_eq!((created.snapshot.function.as_str(), created.snapshot.thread_id), ("work", other));
}

/// debugpy puts notes of its own into what an exception says and into the name of its frame.
#[test]
fn an_exception_of_python_is_told_without_the_debuggers_notes() {
    let folder = tempfile::tempdir().unwrap();
    let text = "import sys\n\n\ndef work():\n    local = 1\n    sys.exit('bad end')  # HERE\n\n\nwork()\n";
    let subject = script(put(folder.path(), "exits.py", text), python());
    let debugger = lane(subject.setup(), folder.path());
    let at = BreakpointRequest::new(Place::Exception("uncaught".to_owned()));
    let moved = debugger.launch(None, subject.request(vec![at]), &patiently).unwrap();
    let stop = stopped(moved.outcome);
    let frame = stop.frame.as_ref().unwrap();
    assert_eq!((frame.function.as_str(), frame.line), ("work", Some(subject.line("HERE"))), "{stop:?}");
    assert_eq!(stop.stop.description.as_deref(), Some("SystemExit: bad end"));
    let created = debugger.create_snapshot(None, None, CapturePlan::default()).unwrap();
    assert_eq!(created.snapshot.function, "work");
    assert_eq!(debugger.stack(None, None, 0, 5).unwrap().frames[0].function, "work");
}

/// A thread that did what it was told to once waited a fifth of a second before it went on, if there were others.
#[test]
fn a_step_beside_threads_that_wait_takes_no_fifth_of_a_second() {
    let folder = tempfile::tempdir().unwrap();
    let text = WAITING
        .replace("print('started')", "total = 0")
        .replace("  # HERE\n", "  # HERE\nfor item in range(1000):\n    total += item\n");
    let subject = script(put(folder.path(), "app.py", &text), python());
    let debugger = lane(subject.setup(), folder.path());
    debugger.launch(None, subject.request(vec![subject.at("HERE")]), &patiently).unwrap();
    let step = || {
        let started = Instant::now();
        debugger.control(None, Control::StepOver, None, PATIENCE, &patiently).unwrap();
        started.elapsed()
    };
    let mut times: Vec<Duration> = (0..12).map(|_| step()).collect();
    times.sort_unstable();
    assert!(times[6] < Duration::from_millis(150), "{times:?}");
}

#[test]
fn a_thread_that_does_not_exist_is_answered_with_those_that_do() {
    for language in [Language::Python, Language::Go, Language::Cpp] {
        let stage = Stage::of(language, "until");
        stage.launch(&["START"]);
        let error = stage.debugger.stack(None, Some(987_654), 0, 5).unwrap_err();
        assert_eq!(error.code(), Code::Usage, "{language:?} {error}");
        assert!(error.message().contains("there is no thread 987654: "), "{language:?} {error}");
    }
}

/// Whether a process runs; one that has ended and waits for its parent does not.
fn runs(process: i32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    status.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

fn kill(process: i32) {
    kill_process(Pid::from_raw(process).unwrap(), Signal::KILL).unwrap();
}

#[test]
fn a_native_program_whose_debugger_is_gone_is_ended_with_its_session() {
    for kills_server in [false, true] {
        let stage = Stage::of(Language::Cpp, "alive");
        stage.launch(&["HERE"]);
        let printed = stage.debugger.output(None, 0, 10_000).unwrap();
        let said: String = printed.pieces.iter().map(|piece| piece.text.as_str()).collect();
        let own = said.split_once("pid ").unwrap().1.split_whitespace().next().unwrap().parse::<i32>().unwrap();
        let adapter = stage.debugger.list().sessions[0].process.unwrap();
        let server = parent_of(own);
        assert!(runs(own) && server != adapter);
        kill(if kills_server { server } else { adapter });
        let _ = stage.debugger.disconnect(None, None);
        let started = Instant::now();
        while runs(own) {
            assert!(started.elapsed() < Duration::from_secs(10), "the program lives on (server: {kills_server})");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

fn parent_of(process: i32) -> i32 {
    let status = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    status.rsplit_once(") ").unwrap().1.split_whitespace().nth(1).unwrap().parse().unwrap()
}

const HEARD: [(Language, &str, &str); 3] = [
    (
        Language::JavaScript,
        "heard.js",
        "const text = require('fs').readFileSync(0, 'utf8');\nconsole.log('heard', text.trim()); // HERE\n",
    ),
    (
        Language::Go,
        "heard.go",
        "package main\n\nimport (\n\t\"bufio\"\n\t\"fmt\"\n\t\"os\"\n)\n\nfunc main() {\n\ttext, _ := bufio.NewReader(os.Stdin).ReadString('\\n')\n\tfmt.Print(\"heard \", text) // HERE\n}\n",
    ),
    (
        Language::Cpp,
        "heard.cpp",
        "#include <iostream>\n#include <string>\nint main() {\n  std::string text;\n  std::getline(std::cin, text);\n  std::cout << \"heard \" << text << std::endl; // HERE\n}\n",
    ),
];

#[test]
fn a_program_reads_what_it_is_given_under_every_debugger() {
    for (language, name, text) in HEARD {
        let folder = tempfile::tempdir().unwrap();
        let source = put(folder.path(), name, text);
        let subject = match language {
            Language::JavaScript => script(source, installed(&["node"])),
            Language::Go => super::go::built(source, folder.path()),
            _ => super::native::compiled(source, folder.path(), "g++", &["-g", "-O0"]),
        };
        let debugger = lane(subject.setup(), folder.path());
        let at: Vec<BreakpointRequest> = vec![subject.at("HERE")];
        let request = Launch { stdin: Some("seven apples\n".to_owned()), ..subject.request(at) };
        let moved = debugger.launch(None, request, &patiently).unwrap();
        stopped(moved.outcome);
        let end = debugger.control(None, Control::Continue, None, PATIENCE, &patiently).unwrap();
        assert!(end.printed.as_deref().unwrap_or_default().contains("heard seven apples"), "{language:?} {end:?}");
    }
}

/// After an `await` Node itself is the caller, and its `this` is the whole process.
#[test]
fn a_step_after_an_await_does_not_look_at_node_itself() {
    let text = "const fs = require('fs');
async function sell(stock) {
  await null;
  stock.count -= 1; // TAKES
  return stock;
}
fs.stat('.', () => {
  process.nextTick(() => {});
  sell({ count: 3 });
});
";
    let folder = tempfile::tempdir().unwrap();
    let subject = script(put(folder.path(), "sell.js", text), installed(&["node"]));
    let debugger = lane(subject.setup(), folder.path());
    let moved = debugger.launch(None, subject.request(vec![subject.at("TAKES")]), &patiently).unwrap();
    stopped(moved.outcome);
    let caller = &debugger.stack(None, None, 0, 2).unwrap().frames[1];
    assert!(caller.file.as_deref().is_some_and(|file| file.starts_with("node:")), "{caller:?}");
    let plan = CapturePlan { depth: 2, ..CapturePlan::default() };
    let options = diff::Options::default();
    let stepped = debugger.step_and_diff(None, Control::StepOver, plan, PATIENCE, &options, &patiently).unwrap();
    let diff = stepped.diff.unwrap();
    assert!(!diff.warnings.iter().any(|warning| warning.message.contains("incomplete")), "{diff:#?}");
    assert_eq!((diff.summary.modified, diff.modified[0].path.as_str()), (1, "stock.count"), "{diff:#?}");
}
