//! The reference load in a real Chromium: what an agent pays for the whole picture from us, and from chrome-devtools-mcp on
//! the same page.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Result;
use crate::server::Server;
use crate::subject::Backsight;
use crate::table::{Ratio, Row, Table};
use crate::tokens;

/// How long a page may take to make its load.
const PATIENCE: Duration = Duration::from_secs(60);
/// Frames each way; half of what is counted.
const FRAMES: usize = 249;

/// Measures both.
pub fn measure(backsight: &Backsight, table: &mut Table) -> Result<()> {
    let ours = ours(backsight)?;
    let theirs = theirs()?;
    let errors = ours["console"]["errors"].as_array().map_or(0, Vec::len);
    let failures = ours["network"]["failures"].as_array().map_or(0, Vec::len);
    if (errors, failures) != (2, 2) {
        return Err(format!("2 error templates and 2 failing endpoints, yet {ours}").into());
    }
    let texts: Vec<String> = std::iter::once(ours.to_string()).chain(theirs).collect();
    let tokens = tokens::count(&texts.iter().map(String::as_str).collect::<Vec<&str>>())?;
    let bytes: Vec<u64> = texts.iter().map(|text| text.len() as u64).collect();
    let work = "live page in Chromium: the whole answer";
    table.push(Row::bytes(work, bytes[0], "the bar", 2048, Ratio::AtMost(1.0)));
    table.push(Row::counts("the same, o200k tokens", tokens[0], "the bar", 700, Ratio::AtMost(1.0)));
    let peer = "chrome-devtools-mcp, console and network";
    table.push(Row::bytes(work, bytes[0], peer, bytes[1] + bytes[2], Ratio::Multiple));
    let theirs = tokens[1] + tokens[2];
    table.push(Row::counts("the same, o200k tokens", tokens[0], peer, theirs, Ratio::AtMost(0.1)));
    Ok(())
}

/// What `get_changes_since` says of the page.
fn ours(backsight: &Backsight) -> Result<Value> {
    std::fs::create_dir_all(&backsight.workspace)?;
    let site = Site::start()?;
    let server = Server::start(backsight)?;
    let mut connection = server.connect()?;
    connection.call("browser_attach", json!({ "launch": true, "headless": true, "open": site.url }))?;
    site.wait()?;
    let ask = json!({ "wait_ms": 20_000, "quiet_ms": 2_000, "checkpoint": "start" });
    // The first error ends a wait, and all of them are there already; so what comes after the load is waited for apart.
    connection.call("get_changes_since", json!({}))?;
    connection.call("get_changes_since", json!({ "wait_ms": 10_000, "quiet_ms": 1_000 }))?;
    let (_, mut answer) = connection.call("get_changes_since", ask)?;
    connection.call("browser_attach", json!({ "action": "detach" }))?;
    if let Some(object) = answer.as_object_mut() {
        object.retain(|name, _| name != "news" && name != "external_changes");
    }
    Ok(answer)
}

/// What the peer says of it: its list of messages and its list of requests.
fn theirs() -> Result<[String; 2]> {
    let site = Site::start()?;
    let mut peer = Peer::start()?;
    peer.call("tools/call", json!({ "name": "new_page", "arguments": { "url": site.url } }))?;
    site.wait()?;
    let pages = peer.text("list_pages", json!({}))?;
    let page = pages.lines().filter_map(|line| line.split(':').next()?.trim().parse::<u64>().ok()).max();
    let page = page.ok_or(format!("no page in {pages}"))?;
    let console = peer.text("list_console_messages", json!({ "pageId": page }))?;
    let network = peer.text("list_network_requests", json!({ "pageId": page }))?;
    Ok([console, network])
}

/// chrome-devtools-mcp, spoken to over its pipes; ends with this value.
struct Peer {
    process: Child,
    reader: BufReader<std::process::ChildStdout>,
    requests: u64,
}

impl Peer {
    fn start() -> Result<Peer> {
        let program = std::env::current_exe()?;
        let target = program.parent().and_then(Path::parent).ok_or("this program is not in a target directory")?;
        let script = target.join("tools/node_modules/chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js");
        let mut process = Command::new("node")
            .arg(script)
            .args(["--headless", "--isolated", "--executablePath", &chromium()?, "--chromeArg=--no-sandbox"])
            .args(["--no-usage-statistics", "--no-performance-crux"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let reader = BufReader::new(process.stdout.take().ok_or("the peer has no output")?);
        let mut peer = Peer { process, reader, requests: 0 };
        let client = json!({ "name": "bench", "version": "1" });
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
        peer.call("initialize", hello)?;
        peer.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(peer)
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        let input = self.process.stdin.as_mut().ok_or("the peer has no input")?;
        Ok(writeln!(input, "{message}")?)
    }

    fn call(&mut self, method: &str, params: Value) -> Result<Value> {
        self.requests += 1;
        let id = self.requests;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        loop {
            let mut line = String::new();
            if self.reader.read_line(&mut line)? == 0 {
                return Err(format!("chrome-devtools-mcp ended during `{method}`").into());
            }
            let message: Value = serde_json::from_str(&line)?;
            if message["id"] == json!(id) {
                return match message.get("result") {
                    Some(result) if result["isError"] != json!(true) => Ok(result.clone()),
                    _ => Err(format!("`{method}` of chrome-devtools-mcp failed: {message}").into()),
                };
            }
        }
    }

    fn text(&mut self, tool: &str, arguments: Value) -> Result<String> {
        let result = self.call("tools/call", json!({ "name": tool, "arguments": arguments }))?;
        let parts = result["content"].as_array().cloned().unwrap_or_default();
        Ok(parts.iter().filter_map(|part| part["text"].as_str()).collect())
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It ends its browser when its input ends.
        drop(self.process.stdin.take());
        let deadline = Instant::now() + Duration::from_secs(5);
        while Instant::now() < deadline && matches!(self.process.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(50));
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn chromium() -> Result<String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|directory| directory.join("chromium")).find(|file| file.exists());
    let found = found.ok_or("chromium is missing: apt-get install --no-install-recommends chromium")?;
    Ok(found.to_string_lossy().into_owned())
}

/// A site whose only page makes the reference load and then says so.
struct Site {
    url: String,
    done: mpsc::Receiver<()>,
}

impl Site {
    fn start() -> Result<Site> {
        let (pages, sockets) = (TcpListener::bind("127.0.0.1:0")?, TcpListener::bind("127.0.0.1:0")?);
        let url = format!("http://{}/", pages.local_addr()?);
        let page = PAGE.replace("SOCKET", &sockets.local_addr()?.to_string()).replace("FRAMES", &FRAMES.to_string());
        let (say_done, done) = mpsc::channel();
        std::thread::spawn(move || {
            for stream in pages.incoming().flatten() {
                let (page, done) = (page.clone(), say_done.clone());
                std::thread::spawn(move || drop(serve(&stream, &page, &done)));
            }
        });
        std::thread::spawn(move || {
            for stream in sockets.incoming().flatten() {
                std::thread::spawn(move || drop(echo(stream)));
            }
        });
        Ok(Site { url, done })
    }

    fn wait(&self) -> Result<()> {
        self.done.recv_timeout(PATIENCE).map_err(|_| "the page did not make its load in time".into())
    }
}

fn serve(mut stream: &TcpStream, page: &str, done: &mpsc::Sender<()>) -> Result<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let mut head = String::new();
        if reader.read_line(&mut head)? == 0 {
            return Ok(());
        }
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
                break;
            }
        }
        let path = head.split(' ').nth(1).unwrap_or_default().split('?').next().unwrap_or_default().to_owned();
        let (status, kind, body) = match path.as_str() {
            "/" => ("200 OK", "text/html", page),
            "/api/fail" => ("500 Internal Server Error", "application/json", r#"{"error":"database is down"}"#),
            "/api/missing" => ("404 Not Found", "application/json", r#"{"error":"no such thing"}"#),
            _ => ("200 OK", "application/json", r#"{"id":1,"name":"one"}"#),
        };
        if path == "/done" {
            // Whoever waited may have given up.
            let _ = done.send(());
        }
        let length = body.len();
        let head = format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n");
        stream.write_all((head + body).as_bytes())?;
    }
}

/// Answers each frame with itself.
fn echo(stream: TcpStream) -> Result<()> {
    let mut socket = tungstenite::accept(stream)?;
    loop {
        let message = socket.read()?;
        if message.is_text() {
            socket.send(message)?;
        }
    }
}

const PAGE: &str = r#"<!doctype html><title>load</title><link rel="icon" href="data:,"><button id="save">Save</button><script>
const count = FRAMES;
const ids = () => crypto.randomUUID();
function speak() {
  for (let i = 0; i < 1001; i++) {
    if (i < 1000 && i % 10 === 0) console.error(`Error loading user ${ids()}: timeout after ${i}ms`);
    else if (i % 10 === 1 && i < 1000) console.error(`TypeError: cannot render order ${i * 7919} of customer ${ids()}`);
    else if (i % 10 === 2) console.warn(`Slow render: list took ${100 + i}ms`);
    else if (i % 10 === 3) console.log("[vite] hot updated: /src/App.tsx");
    else if (i % 10 === 4) console.log("state", { id: i, name: "n" + i, tags: [1, 2, 3] });
    else console.log("tick " + i);
  }
}
async function ask() {
  for (let i = 0; i < 101; i++) {
    const path = i < 10 ? "/api/fail" : i < 15 ? "/api/missing" : ["/api/items", "/api/users/7"][i % 2];
    await fetch(`${path}?request=${ids()}`).then((answer) => answer.text());
  }
}
function talk() {
  return new Promise((resolve) => {
    const socket = new WebSocket("ws://SOCKET/live");
    let heard = 0;
    socket.onopen = () => { for (let i = 0; i < count; i++) socket.send("frame " + i); };
    socket.onmessage = () => { if (++heard === count) resolve(); };
  });
}
(async () => {
  speak();
  await ask();
  await talk();
  for (let i = 0; i < 50; i++) document.getElementById("save").click();
  await fetch("/done");
})();
</script>"#;
