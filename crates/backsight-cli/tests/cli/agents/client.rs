//! A small MCP client for `backsight mcp`: lines of JSON over its pipes, in either era of the protocol. Every reply of a
//! tool is checked against the schema the tool declares.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::wait;
use crate::fixture::Fixture;

/// Long enough for a slow machine, short enough to see that something hangs.
const PATIENCE: Duration = Duration::from_secs(30);

/// How a client opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// Every request says who asks and in which revision.
    Modern,
    /// `initialize` first, in this revision.
    Handshake(&'static str),
}

impl Era {
    pub const ALL: [Era; 3] = [Era::Modern, Era::Handshake("2025-11-25"), Era::Handshake("2025-06-18")];
}

/// An agent with its own `backsight mcp`.
pub struct Agent {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
    era: Era,
    name: String,
    last_id: u64,
    /// What arrived that nobody waited for yet.
    heard: Vec<Value>,
    schemas: Map<String, Value>,
    /// What it says it can do.
    capabilities: Value,
}

/// What a tool answered.
#[derive(Clone, Debug)]
pub struct Said {
    pub structured: Value,
    pub text: String,
    pub is_error: bool,
}

impl Agent {
    /// An agent of the older handshake.
    pub fn new(fixture: &Fixture) -> Agent {
        Agent::named(fixture, "tester", Era::Handshake("2025-06-18"))
    }

    pub fn named(fixture: &Fixture, name: &str, era: Era) -> Agent {
        let mut agent = Agent::silent(fixture, name, era);
        agent.open();
        agent
    }

    /// One that has not said anything yet. It is shown every tool in full, so that each answer is checked.
    pub fn silent(fixture: &Fixture, name: &str, era: Era) -> Agent {
        Agent::spawn(fixture.command("mcp --tools all"), name, era)
    }

    /// The same with another command.
    pub fn spawn(mut command: Command, name: &str, era: Era) -> Agent {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let value = serde_json::from_str(&line).unwrap_or_else(|_| json!({ "not json": line }));
                if sender.send(value).is_err() {
                    return;
                }
            }
        });
        let stdin = child.stdin.take();
        let name = name.to_owned();
        Agent {
            child,
            stdin,
            lines,
            era,
            name,
            last_id: 0,
            heard: Vec::new(),
            schemas: Map::new(),
            capabilities: json!({}),
        }
    }

    /// Says from now on that it can do this.
    pub fn declare(&mut self, capabilities: Value) {
        self.capabilities = capabilities;
    }

    /// Says hello the way its era does.
    pub fn open(&mut self) {
        if let Era::Handshake(version) = self.era {
            let client = json!({ "name": self.name, "version": "1" });
            let params = json!({ "protocolVersion": version, "capabilities": self.capabilities, "clientInfo": client });
            let answer = self.request("initialize", params).unwrap();
            assert_eq!(answer["protocolVersion"], version);
            self.notify("notifications/initialized", json!({}));
        }
    }

    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Sends a line as it is.
    pub fn send_line(&mut self, line: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(line).and_then(|()| stdin.write_all(b"\n")).and_then(|()| stdin.flush()).unwrap();
    }

    pub fn notify(&mut self, method: &str, params: Value) {
        self.send_line(json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string().as_bytes());
    }

    /// Sends a request and does not wait; its id.
    pub fn send(&mut self, method: &str, mut params: Value) -> u64 {
        self.last_id += 1;
        if self.era == Era::Modern {
            let meta = params.as_object_mut().unwrap().entry("_meta").or_insert_with(|| json!({}));
            meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            meta["io.modelcontextprotocol/clientInfo"] = json!({ "name": self.name, "version": "1" });
            meta["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
        }
        let request = json!({ "jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params });
        self.send_line(request.to_string().as_bytes());
        self.last_id
    }

    /// Waits for the answer to a request: its result, or its error.
    #[track_caller]
    pub fn answer(&mut self, id: u64) -> Result<Value, Value> {
        let mut message = self.wait_for(|message| message["id"] == id && message.get("method").is_none());
        match message.get_mut("result") {
            Some(result) => Ok(result.take()),
            None => Err(message["error"].take()),
        }
    }

    #[track_caller]
    pub fn request(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.send(method, params);
        self.answer(id)
    }

    /// The first message for which `wanted` holds, heard already or still to come.
    #[track_caller]
    pub fn wait_for(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(index) = self.heard.iter().position(&wanted) {
            return self.heard.remove(index);
        }
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(message) if wanted(&message) => return message,
                Ok(message) => self.heard.push(message),
                Err(error) => panic!("nothing came: {error}; heard {:?}", self.heard),
            }
        }
    }

    /// Everything heard so far that nobody waited for.
    pub fn overheard(&mut self, for_at_least: Duration) -> Vec<Value> {
        loop {
            match self.lines.recv_timeout(for_at_least) {
                Ok(message) => self.heard.push(message),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    return std::mem::take(&mut self.heard);
                }
            }
        }
    }

    /// Whether a notification came that no test waited for.
    pub fn has_heard(&self, method: &str) -> bool {
        self.heard.iter().any(|message| message["method"] == method)
    }

    /// The tools as they are listed.
    pub fn tools(&mut self) -> Vec<Value> {
        self.request("tools/list", json!({})).unwrap()["tools"].as_array().unwrap().clone()
    }

    /// Calls a tool, whatever the answer.
    #[track_caller]
    pub fn call(&mut self, tool: &str, arguments: Value) -> Said {
        let id = self.send("tools/call", json!({ "name": tool, "arguments": arguments }));
        self.said(tool, id)
    }

    /// The answer of a tool that was called.
    #[track_caller]
    pub fn said(&mut self, tool: &str, id: u64) -> Said {
        let result = self.answer(id).unwrap_or_else(|error| panic!("{tool}: {error}"));
        let said = Said {
            structured: result["structuredContent"].clone(),
            text: result["content"][0]["text"].as_str().unwrap().to_owned(),
            is_error: result["isError"] == true,
        };
        assert_eq!(result["content"].as_array().unwrap().len(), 1);
        assert_eq!(said.is_error, said.structured["ok"] == false, "{tool}: {result}");
        self.check_schema(tool, &said.structured);
        said
    }

    /// Calls a tool that must succeed; its structured answer.
    #[track_caller]
    pub fn ok(&mut self, tool: &str, arguments: Value) -> Value {
        let said = self.call(tool, arguments);
        assert!(!said.is_error, "{tool}: {}", said.text);
        said.structured
    }

    /// Calls a tool that must fail with this code; the error.
    #[track_caller]
    pub fn fails(&mut self, tool: &str, arguments: Value, code: &str) -> Value {
        let said = self.call(tool, arguments);
        assert_eq!(said.structured["error"]["code"], code, "{tool}: {}", said.text);
        assert!(said.text.starts_with(&format!("{code}: ")), "{}", said.text);
        said.structured["error"].clone()
    }

    fn check_schema(&mut self, tool: &str, answer: &Value) {
        if self.schemas.is_empty() {
            let tools = self.tools();
            let schemas =
                tools.iter().map(|tool| (tool["name"].as_str().unwrap().to_owned(), tool["outputSchema"].clone()));
            self.schemas = schemas.collect();
        }
        // A list by need has none.
        if self.schemas.values().all(Value::is_null) {
            return;
        }
        let declared = &self.schemas[tool]["properties"];
        for (name, value) in answer.as_object().unwrap() {
            let kind = declared[name]["type"].as_str();
            let kind = kind.unwrap_or_else(|| panic!("{tool} does not declare `{name}`: {value}"));
            let fits = match kind {
                "string" => value.is_string(),
                "boolean" => value.is_boolean(),
                "integer" => value.is_u64() || value.is_i64(),
                "array" => value.is_array(),
                "object" => value.is_object(),
                _ => false,
            };
            assert!(fits, "{tool}: `{name}` is {value}, declared as {kind}");
        }
    }

    /// Closes stdin and waits for the end.
    pub fn leave(mut self) -> ExitStatus {
        drop(self.stdin.take());
        wait(&mut self.child, Duration::from_secs(10)).expect("it ends when its client is gone")
    }

    /// Sends a signal by its number.
    pub fn signal(&self, signal: &str) {
        let status = Command::new("kill").args([signal, &self.process().to_string()]).status().unwrap();
        assert!(status.success());
    }

    /// Waits for the end; none when it does not come in time.
    pub fn wait(&mut self, limit: Duration) -> Option<ExitStatus> {
        wait(&mut self.child, limit)
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
