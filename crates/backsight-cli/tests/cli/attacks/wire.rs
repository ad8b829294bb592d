//! HTTP by hand: an attacker sends what no library would.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::fixture::Fixture;

/// A real server on a workspace of its own.
pub struct Target {
    fixture: Fixture,
    process: Option<Child>,
    said: String,
    token: String,
    ingest_key: String,
    authority: String,
}

/// What came back; status 0 when the connection was closed without a word.
pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Target {
    pub fn start() -> Target {
        let fixture = Fixture::new();
        let mut command = fixture.command("serve");
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut said = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut said).unwrap();
        let file = fixture.root().join(".backsight/store/server.json");
        let address: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        let authority = address["url"].as_str().unwrap().trim_start_matches("http://").to_owned();
        let token = address["token"].as_str().unwrap().to_owned();
        let ingest_key = address["ingest_key"].as_str().unwrap().to_owned();
        Target { fixture, process: Some(process), said, token, ingest_key, authority }
    }

    pub fn fixture(&self) -> &Fixture {
        &self.fixture
    }

    pub fn token(&self) -> &str {
        &self.token
    }

    pub fn ingest_key(&self) -> String {
        self.ingest_key.clone()
    }

    pub fn bearer(&self) -> String {
        format!("Bearer {}", self.token)
    }

    pub fn authority(&self) -> &str {
        &self.authority
    }

    pub fn address(&self) -> SocketAddr {
        self.authority.parse().unwrap()
    }

    pub fn pid(&self) -> u32 {
        self.process.as_ref().unwrap().id()
    }

    /// Resident memory in bytes.
    pub fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches("kB").trim().parse::<u64>().unwrap() * 1024
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.authority).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(15))).unwrap();
        stream.set_write_timeout(Some(Duration::from_secs(15))).unwrap();
        stream
    }

    /// The head of a request that would be let in.
    pub fn head(&self, method: &str, path: &str, more: &[(&str, &str)]) -> String {
        let more: String = more.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nauthorization: {}\r\n{more}\r\n",
            self.authority,
            self.bearer()
        )
    }

    /// Exactly these headers and the length of the body.
    pub fn ask(&self, request: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let length = body.len();
        let text =
            format!("{request} HTTP/1.1\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}");
        let mut stream = self.connect();
        // A server that has said no may close while the rest is still being sent.
        let _ = stream.write_all(text.as_bytes());
        Reply::read(stream)
    }

    pub fn get(&self, path: &str) -> Reply {
        self.ask(&format!("GET {path}"), &[("host", &self.authority), ("authorization", &self.bearer())], "")
    }

    pub fn post(&self, path: &str, body: &str) -> Reply {
        let headers = [
            ("host", self.authority.as_str()),
            ("authorization", &self.bearer()),
            ("content-type", "application/json"),
        ];
        self.ask(&format!("POST {path}"), &headers, body)
    }

    pub fn mcp(&self, body: &str) -> Reply {
        let accept = ("accept", "application/json, text/event-stream");
        let headers = [
            ("host", self.authority.as_str()),
            ("authorization", &self.bearer()),
            ("content-type", "application/json"),
            accept,
        ];
        self.ask("POST /mcp", &headers, body)
    }

    /// A tool's structured answer.
    pub fn tool(&self, name: &str, arguments: Value) -> Value {
        self.reply(name, arguments)["structured"].clone()
    }

    /// A tool's answer in both forms.
    pub fn reply(&self, name: &str, arguments: Value) -> Value {
        let reply = self.post(&format!("/api/tools/{name}"), &json!({ "arguments": arguments }).to_string());
        let lines = reply.body.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines.filter_map(|line| line.get("reply").cloned()).next_back().unwrap_or_default()
    }

    pub fn is_alive(&self) -> bool {
        self.get("/api/status").status == 200
    }

    /// How many rows the timeline has, asked without the server.
    pub fn rows(&self) -> usize {
        self.fixture.json("log").0["rows"].as_array().unwrap().len()
    }

    /// Ends the server and answers everything it printed.
    pub fn end(mut self) -> String {
        let process = self.process.take().unwrap();
        terminate(process.id());
        let output = process.wait_with_output().unwrap();
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        format!("{}{out}{err}", self.said)
    }
}

fn terminate(pid: u32) {
    let killed = std::process::Command::new("kill").arg(pid.to_string()).status().unwrap();
    assert!(killed.success());
}

impl Target {
    /// Ends the server in order, after which everything it was told is recorded, and reads the timeline.
    pub fn recorded(mut self) -> Value {
        let mut process = self.process.take().unwrap();
        let asked = std::process::Command::new("kill").args(["-INT", &process.id().to_string()]).status().unwrap();
        assert!(asked.success() && process.wait().unwrap().success());
        self.fixture.ok("log --limit 200")
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        if let Some(mut process) = self.process.take() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

impl Reply {
    fn read(mut stream: TcpStream) -> Reply {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        let head = head.to_ascii_lowercase();
        let body = if head.contains("transfer-encoding: chunked") { unchunked(body) } else { body.to_owned() };
        Reply { status, head, body }
    }
}

fn unchunked(mut rest: &str) -> String {
    let mut body = String::new();
    while let Some((size, tail)) = rest.split_once("\r\n") {
        let Ok(size) = usize::from_str_radix(size, 16) else { break };
        let Some(chunk) = tail.get(..size).filter(|_| size > 0) else { break };
        body.push_str(chunk);
        rest = tail.get(size + 2..).unwrap_or_default();
    }
    body
}
