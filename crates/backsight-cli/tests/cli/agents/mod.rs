//! What agents see: `backsight mcp` spoken to over its pipes by a small client of our own, and by the clients and suites
//! that others wrote. Those come from `tests/tools/install`; a test that lacks one fails and says so.

mod again;
mod allowed;
mod apps;
mod browser;
mod budget;
pub mod client;
mod debug;
mod hostile;
mod inspector;
mod instructions;
mod looks;
mod need;
mod news;
mod plans;
mod progress;
mod protocol;
mod python;
mod replies;
mod resources;
mod review;
mod search;
mod several;
mod size;
mod story;
mod told;
mod tools;
mod unread;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::fixture::Fixture;

/// A program or file of `tests/tools/install`.
pub fn installed(path: &str) -> PathBuf {
    let tools = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("tools");
    let found = tools.join(path);
    assert!(found.exists(), "`{path}` of the test tools is missing: install them with `make tools`");
    found
}

/// A file of the repository.
pub fn source(path: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    root.join(path)
}

/// A Node program of the test tools, run by the Node that was installed with it.
fn node(program: &str) -> Command {
    let mut command = Command::new(installed("node_modules/.bin/node"));
    command.arg(installed(program)).stdin(Stdio::null());
    command
}

/// Runs something of somebody else's to its end, which must come.
pub fn finish(mut command: Command, limit: Duration) -> Output {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (stdout, stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let readers = [read_all(stdout), read_all(stderr)];
    let status = wait(&mut child, limit);
    let [stdout, stderr] = readers.map(|reader| reader.join().unwrap());
    let status = status.unwrap_or_else(|| {
        let said = String::from_utf8_lossy(&stdout);
        panic!("{command:?} did not end within {limit:?}:\n{said}\n{}", String::from_utf8_lossy(&stderr))
    });
    Output { status, stdout, stderr }
}

fn read_all(mut from: impl std::io::Read + Send + 'static) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.read_to_end(&mut bytes);
        bytes
    })
}

/// Waits for a process to end; kills it when it does not.
fn wait(child: &mut Child, limit: Duration) -> Option<std::process::ExitStatus> {
    let deadline = Instant::now() + limit;
    loop {
        match child.try_wait().unwrap() {
            Some(status) => return Some(status),
            None if Instant::now() > deadline => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// Tries again until it works; for what another process does in its own time.
#[track_caller]
pub fn eventually<T>(what: &str, mut attempt: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        if let Some(found) = attempt() {
            return found;
        }
        assert!(Instant::now() < deadline, "this did not happen: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// `backsight serve` in a workspace, ended with the test.
struct Server {
    child: Child,
    url: String,
    token: String,
}

impl Server {
    fn start(fixture: &Fixture) -> Server {
        let child = fixture.command("serve").stdout(Stdio::null()).spawn().unwrap();
        let shown = eventually("the server says where it is", || {
            let (shown, _) = fixture.json("serve --show");
            (shown["running"] == true).then_some(shown)
        });
        let text = |name: &str| shown[name].as_str().unwrap().to_owned();
        Server { child, url: text("url"), token: text("token") }
    }

    fn mcp(&self) -> String {
        format!("{}/mcp", self.url)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a server answers to a request of the API, as text.
fn post(server: &crate::serving::server::Server, path: &str, body: &Value) -> String {
    String::from_utf8_lossy(&server.post(path, body).body).into_owned()
}

/// Waits until a process has so many threads that wait for a browser or a debugger.
#[track_caller]
fn await_waiting(process: u32, count: usize) {
    eventually("requests wait", || {
        let tasks = std::fs::read_dir(format!("/proc/{process}/task")).ok()?.flatten();
        let names = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok());
        (names.filter(|name| name.trim() == "waiting").count() >= count).then_some(())
    });
}

/// What `server.json` says, if it is there.
fn server_json(fixture: &Fixture) -> Option<Value> {
    let bytes = std::fs::read(fixture.root().join(".backsight/store/server.json")).ok()?;
    serde_json::from_slice(&bytes).ok()
}
