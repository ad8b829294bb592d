//! The server from outside: the real process, spoken to over loopback as an agent's client does.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Result;
use crate::subject::Backsight;

/// A running `backsight serve`; ends with this value.
pub struct Server {
    process: Child,
    authority: String,
    token: String,
}

impl Server {
    /// Starts one for the workspace and waits until it answers.
    pub fn start(backsight: &Backsight) -> Result<Server> {
        let mut command = backsight.command(&["serve"]);
        let mut process = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(process.stdout.take().ok_or("the server has no output")?).read_line(&mut line)?;
        let answer: Value = serde_json::from_str(&line)?;
        let text = |name: &str| answer[name].as_str().map(str::to_owned).ok_or(format!("no `{name}` in {line}"));
        let authority = text("url")?.trim_start_matches("http://").to_owned();
        Ok(Server { process, authority, token: text("token")? })
    }

    /// A connection of one client.
    pub fn connect(&self) -> Result<Connection> {
        let stream = TcpStream::connect(&self.authority)?;
        stream.set_nodelay(true)?;
        let (authority, token) = (self.authority.clone(), self.token.clone());
        Ok(Connection { reader: BufReader::new(stream.try_clone()?), writer: stream, authority, token, requests: 0 })
    }

    /// Resident memory now, in bytes.
    pub fn memory(&self) -> Result<u64> {
        resident(self.process.id())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// One client's connection, kept open between calls.
pub struct Connection {
    reader: BufReader<TcpStream>,
    writer: TcpStream,
    authority: String,
    token: String,
    requests: u64,
}

impl Connection {
    /// Calls a tool over MCP, in the stateless revision, and answers what it said and how long that took.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Result<(Duration, Value)> {
        self.requests += 1;
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
        let body =
            json!({ "jsonrpc": "2.0", "id": self.requests, "method": "tools/call", "params": params }).to_string();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\n\
             mcp-method: tools/call\r\nmcp-name: {tool}\r\ncontent-length: {}\r\n\r\n",
            self.authority,
            self.token,
            body.len()
        );
        let start = Instant::now();
        self.writer.write_all((head + &body).as_bytes())?;
        let (status, text) = self.answer()?;
        let elapsed = start.elapsed();
        let data = text.lines().filter_map(|line| line.strip_prefix("data:")).rfind(|data| !data.trim().is_empty());
        let message: Value = serde_json::from_str(data.unwrap_or(&text))?;
        let result = &message["result"];
        match (status, result["isError"].as_bool()) {
            (200, Some(false)) => Ok((elapsed, result["structuredContent"].clone())),
            _ => Err(format!("`{tool}` answered {status}: {text}").into()),
        }
    }

    /// Posts a body to an address of the API.
    pub fn post(&mut self, path: &str, body: &Value) -> Result<Value> {
        let body = body.to_string();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n",
            self.authority,
            self.token,
            body.len()
        );
        self.writer.write_all((head + &body).as_bytes())?;
        match self.answer()? {
            (200, text) => Ok(serde_json::from_str(&text)?),
            (status, text) => Err(format!("`{path}` answered {status}: {text}").into()),
        }
    }

    fn answer(&mut self) -> Result<(u16, String)> {
        let mut status = 0;
        let mut length = None;
        loop {
            let mut line = String::new();
            if self.reader.read_line(&mut line)? == 0 {
                return Err("the server closed the connection".into());
            }
            let line = line.trim_end().to_ascii_lowercase();
            if let Some(rest) = line.strip_prefix("http/1.1 ") {
                status = rest.split(' ').next().unwrap_or_default().parse()?;
            }
            if let Some(value) = line.strip_prefix("content-length:") {
                length = Some(value.trim().parse::<usize>()?);
            }
            if line.is_empty() {
                break;
            }
        }
        let mut body = Vec::new();
        match length {
            Some(length) => {
                body.resize(length, 0);
                self.reader.read_exact(&mut body)?;
            }
            None => while self.chunk(&mut body)? {},
        }
        Ok((status, String::from_utf8(body)?))
    }

    /// Reads one chunk; false for the last.
    fn chunk(&mut self, body: &mut Vec<u8>) -> Result<bool> {
        let mut line = String::new();
        self.reader.read_line(&mut line)?;
        let size = usize::from_str_radix(line.trim(), 16)?;
        let start = body.len();
        body.resize(start + size, 0);
        self.reader.read_exact(&mut body[start..])?;
        self.reader.read_line(&mut String::new())?;
        Ok(size > 0)
    }
}

/// The time from starting `backsight mcp` until it has answered `initialize`, and its memory a second later.
pub fn start_of_mcp(backsight: &Backsight) -> Result<(Duration, u64)> {
    let mut command = Command::new(&backsight.binary);
    command.arg("-C").arg(&backsight.workspace).arg("mcp");
    crate::subject::clean(&mut command, &backsight.home);
    let start = Instant::now();
    let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut input = process.stdin.take().ok_or("no input")?;
    let mut output = BufReader::new(process.stdout.take().ok_or("no output")?);
    let client = json!({ "name": "bench", "version": "1" });
    let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
    writeln!(input, "{}", json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }))?;
    let mut line = String::new();
    output.read_line(&mut line)?;
    let elapsed = start.elapsed();
    let answer: Value = serde_json::from_str(&line)?;
    if answer["result"]["serverInfo"]["name"] != "backsight" {
        return Err(format!("`initialize` was answered with {line}").into());
    }
    std::thread::sleep(Duration::from_secs(1));
    let memory = resident(process.id())?;
    drop(input);
    process.wait()?;
    Ok((elapsed, memory))
}

fn resident(pid: u32) -> Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no resident memory")?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kilobytes * 1_024)
}
