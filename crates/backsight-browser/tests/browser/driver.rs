//! A real browser that belongs to a test, and a hand on its protocol that is not the one under test.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use futures_util::{SinkExt, StreamExt};
use rustix::process::{Pid, Signal};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

use crate::recorder::DEADLINE;

/// The directories in which programs are looked for.
pub fn search() -> Vec<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect()
}

fn chromium() -> PathBuf {
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
    let all = names.iter().flat_map(|name| search().into_iter().map(move |directory| directory.join(name)));
    all.into_iter()
        .find(|program| program.is_file())
        .expect("these tests watch a real browser: install one with `apt-get install --no-install-recommends chromium`")
}

/// A browser with a profile of its own, ended with all its helpers.
pub struct Browser {
    child: Child,
    profile: tempfile::TempDir,
    pub port: u16,
    pub socket: String,
}

impl Browser {
    pub fn start() -> Browser {
        Browser::start_with(0, &[])
    }

    /// At this port, or at any for 0, with these further arguments.
    pub fn start_with(port: u16, arguments: &[&str]) -> Browser {
        let profile = tempfile::Builder::new().prefix("backsight-test-").tempdir().unwrap();
        let mut command = Command::new(chromium());
        command.args(["--headless=new", "--no-first-run", "--disable-gpu", "--disable-background-networking"]);
        command.args(["--disable-component-update", "--disable-sync", "--disable-breakpad", "--site-per-process"]);
        command.arg(format!("--remote-debugging-port={port}"));
        command.arg(format!("--user-data-dir={}", profile.path().display()));
        if rustix::process::geteuid().is_root() {
            command.arg("--no-sandbox");
        }
        command
            .args(arguments)
            .arg("about:blank")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0);
        let child = command.spawn().unwrap();
        // Browsers write the file only when the port was theirs to choose.
        let (port, path) = wait_for("the browser to listen", || match port {
            0 => read_port(profile.path()),
            port => ask_port(port).map(|path| (port, path)),
        });
        Browser { child, profile, port, socket: format!("ws://127.0.0.1:{port}{path}") }
    }

    pub fn profile(&self) -> &Path {
        self.profile.path()
    }

    pub fn driver(&self) -> Driver {
        Driver::connect(&self.socket)
    }

    /// Ends it without a word, as a crash would.
    pub fn kill(mut self) {
        self.end();
    }

    fn end(&mut self) {
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = rustix::process::kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.end();
    }
}

fn read_port(profile: &Path) -> Option<(u16, String)> {
    let text = std::fs::read_to_string(profile.join("DevToolsActivePort")).ok()?;
    let (port, path) = text.split_once('\n')?;
    Some((port.parse().ok()?, path.trim().to_owned()))
}

fn ask_port(port: u16) -> Option<String> {
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", port)).ok()?;
    write!(stream, "GET /json/version HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n").ok()?;
    // Browsers keep the connection open, so the answer is over when nothing more comes.
    stream.set_read_timeout(Some(Duration::from_millis(300))).ok()?;
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes);
    let path = text.split_once("/devtools/browser/")?.1.split('"').next()?;
    Some(format!("/devtools/browser/{path}"))
}

/// Tries again until it is there.
#[track_caller]
pub fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + DEADLINE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Processes whose command line names this, helpers included; those that ended and wait to be collected have none.
pub fn processes_of(profile: &Path) -> usize {
    let profile = profile.display().to_string();
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = all.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).contains(&profile)).count()
}

/// A second client of the same browser.
pub struct Driver {
    runtime: tokio::runtime::Runtime,
    socket: WebSocketStream<TcpStream>,
    next: u64,
}

impl Driver {
    pub fn connect(url: &str) -> Driver {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let authority = url.trim_start_matches("ws://").split('/').next().unwrap();
        let socket = runtime.block_on(async {
            let stream = TcpStream::connect(authority).await.unwrap();
            tokio_tungstenite::client_async(url, stream).await.unwrap().0
        });
        Driver { runtime, socket, next: 0 }
    }

    /// Sends a command and waits for its answer.
    #[track_caller]
    pub fn call(&mut self, session: Option<&str>, method: &str, params: Value) -> Value {
        let id = self.send(session, method, params);
        let Driver { runtime, socket, .. } = self;
        runtime.block_on(async {
            let answered = async {
                loop {
                    let Some(Ok(Message::Text(text))) = socket.next().await else { panic!("no answer to {method}") };
                    let message: Value = serde_json::from_str(&text).unwrap();
                    if message["id"] == id {
                        assert!(message.get("error").is_none(), "{method}: {message}");
                        return message["result"].clone();
                    }
                }
            };
            tokio::time::timeout(DEADLINE, answered).await.unwrap_or_else(|_| panic!("no answer to {method}"))
        })
    }

    /// Sends a command that may never be answered.
    pub fn send(&mut self, session: Option<&str>, method: &str, params: Value) -> u64 {
        self.next += 1;
        let mut message = json!({ "id": self.next, "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = json!(session);
        }
        let Driver { runtime, socket, .. } = self;
        runtime.block_on(socket.send(Message::text(message.to_string()))).unwrap();
        self.next
    }

    /// A new tab at this address.
    pub fn open(&mut self, url: &str) -> String {
        let created = self.call(None, "Target.createTarget", json!({ "url": url }));
        created["targetId"].as_str().unwrap().to_owned()
    }

    pub fn attach(&mut self, target: &str) -> String {
        let attached = self.call(None, "Target.attachToTarget", json!({ "targetId": target, "flatten": true }));
        attached["sessionId"].as_str().unwrap().to_owned()
    }

    pub fn evaluate(&mut self, session: &str, script: &str) -> Value {
        let params = json!({ "expression": script, "awaitPromise": true, "returnByValue": true, "userGesture": true });
        self.call(Some(session), "Runtime.evaluate", params)["result"]["value"].clone()
    }

    pub fn navigate(&mut self, session: &str, url: &str) {
        self.call(Some(session), "Page.navigate", json!({ "url": url }));
    }

    /// The addresses of all pages that are open.
    pub fn pages(&mut self) -> Vec<String> {
        let targets = self.call(None, "Target.getTargets", json!({}));
        let pages = targets["targetInfos"].as_array().unwrap().iter().filter(|target| target["type"] == "page");
        pages.map(|page| page["url"].as_str().unwrap().to_owned()).collect()
    }
}
