//! Programs that start others of their own: none of them waits for a debugger that never comes.

use std::path::PathBuf;
use std::time::Duration;

use backsight_debug::session::{Outcome, Session};

use super::python::python;
use super::subject::{PATIENCE, Subject, stopped, to_the_end};

/// Runs a program to its end, and what it printed.
fn run(name: &str, source: &str, runtime: Option<PathBuf>, marks: &[&str]) -> (Outcome, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, source).unwrap();
    let subject = Subject { program: path.clone(), source: path, runtime, rust_sysroot: None };
    let points = marks.iter().map(|mark| subject.at(mark)).collect();
    let mut request = subject.request(points);
    request.wait = Duration::from_secs(20).min(PATIENCE);
    let (session, outcome) = Session::launch(&subject.setup(), request).unwrap();
    let outcome = match outcome {
        Outcome::Stopped(_) => {
            stopped(outcome);
            to_the_end(&session)
        }
        other => other,
    };
    let printed = session.output(0, 1 << 20).pieces.into_iter().map(|piece| piece.text).collect();
    (outcome, printed)
}

#[test]
fn worker_threads_of_node_run() {
    let source = "const { Worker, isMainThread, parentPort } = require('node:worker_threads');
if (isMainThread) {
  for (const number of [1, 2]) new Worker(__filename).on('message', (said) => console.log('worker', number, said));
} else {
  parentPort.postMessage(40 + 2);
}
";
    let (outcome, printed) = run("workers.js", source, None, &[]);
    assert_eq!(outcome, Outcome::Exited { code: Some(0) }, "{printed}");
    assert!(printed.contains("worker 1 42") && printed.contains("worker 2 42"), "{printed}");
    assert!(printed.contains("a worker thread runs") && printed.contains("not debugged"), "{printed}");
}

#[test]
fn forked_processes_of_node_run() {
    let source = "const { fork } = require('node:child_process');
if (process.argv[2] === 'child') {
  process.send(process.execArgv.length);
  process.disconnect();
} else {
  fork(__filename, ['child']).on('message', (said) => console.log('child', said)).on('exit', (code) => console.log('ended', code));
}
";
    let (outcome, printed) = run("forks.js", source, None, &[]);
    assert_eq!(outcome, Outcome::Exited { code: Some(0) }, "{printed}");
    assert!(printed.contains("child 0") && printed.contains("ended 0"), "{printed}");
}

/// Also where there is a breakpoint in what only the child runs.
#[test]
fn forked_processes_of_python_run() {
    let source = "import multiprocessing, os, sys

def work(number):
    return number * 2  # CHILD

if __name__ == '__main__':
    child = os.fork()
    if child == 0:
        work(1)
        os._exit(7)
    print('ended', os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
    with multiprocessing.get_context('fork').Pool(2) as pool:
        print('pool', pool.map(work, [1, 2, 3]), flush=True)
    done = True  # DONE
";
    let (outcome, printed) = run("forks.py", source, Some(python()), &["CHILD", "DONE"]);
    assert_eq!(outcome, Outcome::Exited { code: Some(0) }, "{printed}");
    assert!(printed.contains("ended 7") && printed.contains("pool [2, 4, 6]"), "{printed}");
}
