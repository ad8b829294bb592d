//! A server process on a fixture's workspace, and the least of an HTTP client: one connection a request.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::fixture::Fixture;

/// A running server; it ends with the test.
pub struct Server {
    /// None for one that somebody else started.
    child: Option<Child>,
    /// `host:port`.
    pub authority: String,
    pub token: String,
    /// Lets pages report.
    pub ingest_key: String,
}

/// What came back.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Server {
    /// Starts one on any free port.
    pub fn start(fixture: &Fixture) -> Server {
        Server::start_at(fixture, 0)
    }

    /// The same with more arguments.
    pub fn start_with(fixture: &Fixture, arguments: &str) -> Server {
        Server::started(fixture, &format!("--port 0 {arguments}"))
    }

    /// The same on a port.
    pub fn start_at(fixture: &Fixture, port: u16) -> Server {
        Server::started(fixture, &format!("--port {port}"))
    }

    fn started(fixture: &Fixture, arguments: &str) -> Server {
        let mut child = fixture.command(&format!("--json serve {arguments}")).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let mut server = Server::known(&said);
        server.child = Some(child);
        server
    }

    /// One that runs already, by its address.
    pub fn known(address: &Value) -> Server {
        let text = |name: &str| address[name].as_str().unwrap().to_owned();
        let authority = text("url").strip_prefix("http://").unwrap().to_owned();
        Server { child: None, authority, token: text("token"), ingest_key: text("ingest_key") }
    }

    pub fn pid(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    /// Ends it in order, as Ctrl-C does.
    pub fn end(mut self) {
        let mut child = self.child.take().unwrap();
        let status = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(status.success() && child.wait().unwrap().success());
    }

    /// Sends a request as it is written, head and body, and reads until the server closes.
    pub fn raw(&self, request: &[u8]) -> Reply {
        let mut stream = self.connect();
        // A server that refuses may close before it has read everything.
        let _ = stream.write_all(request);
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        Reply::parse(&bytes)
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.authority).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    /// The head of an authorised request, without the empty line.
    pub fn head(&self, method: &str, target: &str) -> String {
        format!(
            "{method} {target} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n",
            self.authority, self.token
        )
    }

    pub fn send(&self, method: &str, target: &str, body: &[u8]) -> Reply {
        let head = self.head(method, target);
        let head = format!("{head}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n", body.len());
        self.raw(&[head.as_bytes(), body].concat())
    }

    pub fn get(&self, target: &str) -> Reply {
        self.raw(format!("{}\r\n", self.head("GET", target)).as_bytes())
    }

    pub fn post(&self, target: &str, body: &Value) -> Reply {
        self.send("POST", target, body.to_string().as_bytes())
    }

    /// The API's own description.
    pub fn document(&self) -> Value {
        self.get("/openapi.json").json()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Reply {
    fn parse(bytes: &[u8]) -> Reply {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
        let end = end.unwrap_or_else(|| panic!("no answer: {:?}", String::from_utf8_lossy(bytes)));
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let header = |line: &str| {
            let (name, value) = line.split_once(':').unwrap();
            (name.to_ascii_lowercase(), value.trim().to_owned())
        };
        let mut reply = Reply { status, headers: lines.map(header).collect(), body: bytes[end + 4..].to_vec() };
        if reply.header("transfer-encoding") == Some("chunked") {
            reply.body = unchunked(&reply.body);
        }
        reply
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The body, which must be the envelope of every interface.
    #[track_caller]
    pub fn json(&self) -> Value {
        let text = String::from_utf8_lossy(&self.body);
        assert_eq!(self.header("content-type"), Some("application/json"), "{}: {text}", self.status);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// A success.
    #[track_caller]
    pub fn ok(&self) -> Value {
        let json = self.json();
        assert_eq!((self.status, &json["ok"]), (200, &Value::Bool(true)), "{json}");
        json
    }

    /// A failure with this status and code; the error.
    #[track_caller]
    pub fn fails(&self, status: u16, code: &str) -> Value {
        let json = self.json();
        let found = (self.status, json["ok"].as_bool(), json["error"]["code"].as_str().unwrap_or_default());
        assert_eq!(found, (status, Some(false), code), "{json}");
        json["error"].clone()
    }
}

fn unchunked(mut bytes: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(end) = bytes.windows(2).position(|window| window == b"\r\n") {
        let size = usize::from_str_radix(std::str::from_utf8(&bytes[..end]).unwrap(), 16).unwrap();
        if size == 0 {
            break;
        }
        whole.extend_from_slice(&bytes[end + 2..end + 2 + size]);
        bytes = &bytes[end + 2 + size + 2..];
    }
    whole
}
