//! Speaks to the workspace's server in another process, over loopback. One connection a request: nothing to keep alive,
//! and dropping the future takes the request back.
//!
//! No wait is without an end. A server that was stopped is known by its process and never asked; one that falls silent is
//! asked on a second connection whether it lives; one that lives and never answers is given up after what was asked for
//! and a margin. Work that tells of its progress may take as long as it needs.

use std::time::Duration;

use backsight_core::{Advice, Code, Error, NextStep, Result};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::net::TcpStream;
use tokio::sync::mpsc;

use crate::asker::Asker;
use crate::door::{LONGEST_WAIT, Said};
use crate::office::Caller;
use crate::place::Address;
use crate::reply::Reply;
use crate::tool::Groups;

/// How often a server that is silent is looked at, which costs less than asking it.
const TICK: Duration = Duration::from_millis(100);
/// How long an answer may take beyond what was asked for: longer than the server itself waits for others that write.
const MARGIN: Duration = Duration::from_secs(90);
/// The most that is read of an answer; the server sends no larger one.
const LARGEST_ANSWER: usize = 64 << 20;

/// A way to reach one server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    authority: String,
    token: String,
    process: u32,
    patience: Patience,
}

/// How long a client bears a server's silence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// After how much of it the server is asked whether it lives.
    pub glance: Duration,
    /// How long a server that lives may take to say so, and to accept a connection.
    pub alive: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Patience { glance: Duration::from_secs(2), alive: Duration::from_secs(3) }
    }
}

/// A server that went away, or does not answer.
#[derive(Debug)]
pub struct Lost {
    server: Client,
    reason: String,
    heard: bool,
    holds_on: bool,
}

impl Lost {
    /// Whether it may have begun to do what it was asked.
    pub fn was_heard(&self) -> bool {
        self.heard
    }

    /// Whether its process is there and only does not answer: then no other one takes its place.
    pub fn holds_on(&self) -> bool {
        self.holds_on
    }

    /// In the words of the interfaces.
    pub fn into_error(self) -> Error {
        let process = self.server.process;
        let (what, advice) = match (self.heard, self.holds_on) {
            (_, true) if is_stopped(process) => {
                let resume = format!("let it go on with `kill -CONT {process}`, or end it with `kill -9 {process}`");
                ("does not answer", Advice::plain(resume))
            }
            (_, true) => {
                let end = format!("look at it with `ps {process}`; `kill -9 {process}` ends it");
                ("does not answer", Advice::plain(end))
            }
            (true, false) => {
                ("went away before it answered", Advice::step("it may have done the work: look", NextStep::SeeStatus))
            }
            (false, false) => ("cannot be reached", Advice::step("see whether it answers again", NextStep::SeeStatus)),
        };
        let message = format!("the server at {} {what}: {}", self.server.authority, self.reason);
        Error::new(Code::ServerUnreachable, message).with_advice([advice]).with_details(json!({ "heard": self.heard }))
    }
}

/// One line of the answer to a tool call.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// It is still at work.
    Progress(Said),
    /// It is done.
    Reply(ToolReply),
}

/// A tool's answer on its way between two processes.
#[derive(Deserialize, Serialize)]
pub struct ToolReply {
    structured: Value,
    text: String,
    is_error: bool,
}

impl From<Reply> for ToolReply {
    fn from(Reply { structured, text, is_error }: Reply) -> Self {
        ToolReply { structured, text, is_error }
    }
}

/// What a tool is asked between two processes.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ToolRequest {
    /// Its arguments.
    pub arguments: Map<String, Value>,
    /// Whom the client declared itself to be.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub client: Option<String>,
    /// The process that speaks for it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub process: Option<u32>,
    /// The tools it is offered; all when nobody says.
    #[serde(default)]
    pub groups: Groups,
    /// Which conversation asks.
    #[serde(default)]
    pub asker: Asker,
}

impl Client {
    /// The way to the server at an address.
    pub fn new(address: &Address) -> Option<Client> {
        let authority = address.socket()?.to_string();
        let (token, process) = (address.token.clone(), address.pid);
        Some(Client { authority, token, process, patience: Patience::default() })
    }

    /// The same for a caller that bears more or less.
    pub fn with_patience(self, patience: Patience) -> Client {
        Client { patience, ..self }
    }

    /// Whether the server's process is stopped, so that asking it anything would be in vain.
    pub fn is_stopped(&self) -> bool {
        is_stopped(self.process)
    }

    /// Whether it is the server that was lost.
    pub fn is(&self, lost: &Lost) -> bool {
        *self == lost.server
    }

    /// Runs a tool there, passing on what it says meanwhile.
    pub async fn call_tool(
        &self,
        name: &str,
        arguments: &Map<String, Value>,
        caller: &Caller,
        says: &mpsc::Sender<Said>,
    ) -> Result<Reply, Lost> {
        let Caller { name: client, process, groups, asker, .. } = caller.clone();
        let request = json!(ToolRequest { arguments: arguments.clone(), client, process, groups, asker });
        let silence = asked(&request["arguments"], "") + MARGIN;
        let path = format!("/api/tools/{name}");
        let sent = self.while_alive(silence, self.send(Method::POST, &path, &request)).await?;
        let mut body = sent?.into_body();
        let mut pending = Vec::new();
        // Every line is a sign of progress, so each may take as long as the first.
        while let Some(frame) = self.while_alive(silence, body.frame()).await? {
            let frame = frame.map_err(|error| self.lost(error, true))?;
            pending.extend_from_slice(frame.data_ref().unwrap_or(&Bytes::new()));
            while let Some(end) = pending.iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = pending.drain(..=end).collect();
                match serde_json::from_slice(&line).map_err(|error| self.lost(error, true))? {
                    Line::Progress(said) => drop(says.try_send(said)),
                    Line::Reply(ToolReply { structured, text, is_error }) => {
                        return Ok(Reply { structured, text, is_error });
                    }
                }
            }
            if pending.len() > LARGEST_ANSWER {
                return Err(self.lost("a line of its answer has no end", true));
            }
        }
        Err(self.lost("the answer ended too early", true))
    }

    /// Posts JSON and returns the JSON it answers with, whatever the status.
    pub async fn post(&self, path: &str, body: &Value) -> Result<Value> {
        self.ask(Method::POST, path, body).await.map_err(Lost::into_error)
    }

    /// Asks for JSON and returns it, whatever the status.
    pub async fn get(&self, path: &str) -> Result<Value> {
        self.ask(Method::GET, path, &Value::Null).await.map_err(Lost::into_error)
    }

    async fn ask(&self, method: Method, path: &str, body: &Value) -> Result<Value, Lost> {
        let answered = async {
            let response = self.send(method, path, body).await?;
            let body = Limited::new(response.into_body(), LARGEST_ANSWER).collect().await;
            let body = body.map_err(|error| self.lost(error, true))?;
            serde_json::from_slice(&body.to_bytes()).map_err(|error| self.lost(error, true))
        };
        self.while_alive(asked(body, path) + MARGIN, answered).await?
    }

    /// Waits for a part of an answer, as long as the server lives and at most `longest`.
    async fn while_alive<T>(&self, longest: Duration, part: impl Future<Output = T>) -> Result<T, Lost> {
        let over = tokio::time::sleep(longest);
        tokio::pin!(part, over);
        loop {
            let glance = async {
                let until = tokio::time::Instant::now() + self.patience.glance;
                while tokio::time::Instant::now() < until {
                    tokio::time::sleep(TICK).await;
                    if self.is_stopped() {
                        return Err(self.silent(format!("its process {} is stopped", self.process)));
                    }
                }
                self.lives().await
            };
            tokio::select! {
                biased;
                done = &mut part => return Ok(done),
                () = &mut over => {
                    return Err(self.silent(format!("process {} said nothing for {} s", self.process, longest.as_secs())));
                }
                lives = glance => lives?,
            }
        }
    }

    /// Whether it answers anything at all: an address that does not exist costs the server nothing.
    async fn lives(&self) -> Result<(), Lost> {
        match tokio::time::timeout(self.patience.alive, self.send(Method::GET, "/", &Value::Null)).await {
            Ok(answered) => answered.map(drop).map_err(|lost| Lost { heard: true, ..lost }),
            Err(_) => Err(self.silent(format!("process {} does not even say that it lives", self.process))),
        }
    }

    async fn send(&self, method: Method, path: &str, body: &Value) -> Result<Response<Incoming>, Lost> {
        if self.is_stopped() {
            // The kernel would still connect, and the request would wait until the process goes on.
            let reason = format!("its process {} is stopped", self.process);
            return Err(Lost { holds_on: true, ..self.lost(reason, false) });
        }
        let connecting = tokio::time::timeout(self.patience.alive, TcpStream::connect(&self.authority)).await;
        let stream = connecting.map_err(|_| self.lost("it does not accept", false))?;
        let stream = stream.map_err(|error| self.lost(error, false))?;
        // Small requests and answers: waiting to fill a packet only costs time.
        let _ = stream.set_nodelay(true);
        let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
        let (mut sender, connection) = handshake.map_err(|error| self.lost(error, false))?;
        tokio::spawn(connection);
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", &self.authority)
            .header("authorization", format!("Bearer {}", self.token))
            .header("content-type", "application/json")
            .body(Full::new(if body.is_null() { Bytes::new() } else { Bytes::from(body.to_string()) }))
            .map_err(|error| self.lost(error, false))?;
        // A request that is canceled was never sent: the server closed the connection before.
        sender.send_request(request).await.map_err(|error| self.lost(&error, !error.is_canceled()))
    }

    fn silent(&self, reason: String) -> Lost {
        Lost { holds_on: true, ..self.lost(reason, true) }
    }

    fn lost(&self, reason: impl std::fmt::Display, heard: bool) -> Lost {
        Lost { server: self.clone(), reason: reason.to_string(), heard, holds_on: false }
    }
}

/// How long a request asks the server to wait: `wait_ms` and `timeout_ms` in its arguments or its address. More than the
/// server grants is refused there, at once.
fn asked(arguments: &Value, path: &str) -> Duration {
    const NAMES: [&str; 2] = ["wait_ms", "timeout_ms"];
    let query = path.split_once('?').map_or("", |(_, query)| query);
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let in_path = pairs.filter(|(name, _)| NAMES.contains(name)).filter_map(|(_, value)| value.parse().ok());
    let in_body = NAMES.iter().filter_map(|name| arguments.get(name)?.as_u64());
    Duration::from_millis(in_path.chain(in_body).max().unwrap_or(0)).min(LONGEST_WAIT)
}

/// Whether a process is stopped (Ctrl-Z, SIGSTOP, a debugger); where that cannot be seen, it may run.
fn is_stopped(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The state follows the program's name, which is in parentheses and may hold any.
    stat.rsplit_once(')').is_some_and(|(_, rest)| matches!(rest.trim_start().as_bytes().first(), Some(b'T' | b't')))
}
