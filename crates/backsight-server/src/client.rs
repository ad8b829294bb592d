//! Speaks to the workspace's server in another process, over loopback. One connection a request: nothing to keep alive,
//! and dropping the future takes the request back.

use std::time::Duration;

use backsight_core::{Code, Error, Result};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::net::TcpStream;
use tokio::sync::mpsc;

use crate::door::Said;
use crate::office::Caller;
use crate::place::Address;
use crate::reply::Reply;
use crate::tool::Groups;

/// How long connecting may take.
const CONNECT: Duration = Duration::from_secs(2);

/// A way to reach one server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    authority: String,
    token: String,
}

/// A server that went away.
#[derive(Debug)]
pub struct Lost {
    server: Client,
    reason: String,
    heard: bool,
}

impl Lost {
    /// Whether it may have begun to do what it was asked.
    pub fn was_heard(&self) -> bool {
        self.heard
    }

    /// In the words of the interfaces.
    pub fn into_error(self) -> Error {
        let (what, hint) = match self.heard {
            true => ("went away before it answered", "it may have done the work: look with workspace_status"),
            false => ("cannot be reached", "ask again"),
        };
        let message = format!("the server at {} {what}: {}", self.server.authority, self.reason);
        Error::new(Code::ServerUnreachable, message)
            .with_hint(hint)
            .with_next("workspace_status", json!({}))
            .with_details(json!({ "heard": self.heard }))
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
}

impl Client {
    /// The way to the server at an address.
    pub fn new(address: &Address) -> Option<Client> {
        Some(Client { authority: address.socket()?.to_string(), token: address.token.clone() })
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
        let Caller { name: client, process, groups, .. } = caller.clone();
        let request = ToolRequest { arguments: arguments.clone(), client, process, groups };
        let response = self.send(Method::POST, &format!("/api/tools/{name}"), &json!(request)).await?;
        let mut body = response.into_body();
        let mut pending = Vec::new();
        while let Some(frame) = body.frame().await {
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
        }
        Err(self.lost("the answer ended too early", true))
    }

    /// Posts JSON and returns the JSON it answers with, whatever the status.
    pub async fn post(&self, path: &str, body: &Value) -> Result<Value> {
        let response = self.send(Method::POST, path, body).await.map_err(Lost::into_error)?;
        let body = response.into_body().collect().await.map_err(|error| self.lost(error, true).into_error())?;
        serde_json::from_slice(&body.to_bytes()).map_err(|error| self.lost(error, true).into_error())
    }

    /// Asks for JSON and returns it, whatever the status.
    pub async fn get(&self, path: &str) -> Result<Value> {
        let response = self.send(Method::GET, path, &Value::Null).await.map_err(Lost::into_error)?;
        let body = response.into_body().collect().await.map_err(|error| self.lost(error, true).into_error())?;
        serde_json::from_slice(&body.to_bytes()).map_err(|error| self.lost(error, true).into_error())
    }

    async fn send(&self, method: Method, path: &str, body: &Value) -> Result<Response<Incoming>, Lost> {
        let connecting = tokio::time::timeout(CONNECT, TcpStream::connect(&self.authority)).await;
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
        sender.send_request(request).await.map_err(|error| self.lost(error, true))
    }

    fn lost(&self, reason: impl std::fmt::Display, heard: bool) -> Lost {
        Lost { server: self.clone(), reason: reason.to_string(), heard }
    }
}
