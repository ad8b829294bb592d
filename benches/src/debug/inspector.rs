//! The same for Node, whose debugger is no adapter: its inspector, asked for the properties of one object at a time.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tungstenite::stream::MaybeTlsStream;
use tungstenite::{Message, WebSocket};

use crate::Result;
use crate::debug::programs::{Look, Program};

/// A client of Node's inspector with one request on its way at a time.
pub struct Inspector {
    process: Child,
    socket: WebSocket<MaybeTlsStream<TcpStream>>,
    sent: u64,
    /// What happened while an answer was waited for.
    events: Vec<Value>,
    /// The objects that hold the locals.
    scopes: Vec<Value>,
}

impl Inspector {
    /// Starts the program and waits until it is paused at a line.
    pub fn pause_at(program: &Program, line: u32) -> Result<Inspector> {
        let mut command = Command::new("node");
        command.arg("--inspect-brk=127.0.0.1:0").arg(&program.program).stderr(Stdio::piped()).stdout(Stdio::null());
        let mut process = command.spawn().map_err(|error| format!("node does not run ({error}): run `make tools`"))?;
        let mut told = BufReader::new(process.stderr.take().ok_or("no stderr")?);
        let mut text = String::new();
        let address = loop {
            text.clear();
            if told.read_line(&mut text)? == 0 {
                return Err("node has gone".into());
            }
            if let Some(at) = text.find("ws://") {
                break text[at..].trim().to_owned();
            }
        };
        // What else it says must not fill its pipe.
        std::thread::spawn(move || std::io::copy(&mut told, &mut std::io::sink()));
        let (socket, _) = tungstenite::connect(address)?;
        if let MaybeTlsStream::Plain(stream) = socket.get_ref() {
            stream.set_nodelay(true)?;
        }
        let mut inspector = Inspector { process, socket, sent: 0, events: Vec::new(), scopes: Vec::new() };
        inspector.ask("Runtime.enable", json!({}))?;
        inspector.ask("Debugger.enable", json!({}))?;
        let url = format!("file://{}", program.program.display());
        inspector.ask("Debugger.setBreakpointByUrl", json!({ "url": url, "lineNumber": line - 1 }))?;
        inspector.ask("Runtime.runIfWaitingForDebugger", json!({}))?;
        inspector.paused()?;
        inspector.ask("Debugger.resume", json!({}))?;
        let paused = inspector.paused()?;
        let scopes = paused["params"]["callFrames"][0]["scopeChain"].as_array().cloned().unwrap_or_default();
        let local = |scope: &&Value| matches!(scope["type"].as_str(), Some("local" | "block"));
        inspector.scopes = scopes.iter().filter(local).map(|scope| scope["object"]["objectId"].clone()).collect();
        Ok(inspector)
    }

    fn ask(&mut self, method: &str, parameters: Value) -> Result<Value> {
        self.sent += 1;
        let sent = self.sent;
        let message = json!({ "id": sent, "method": method, "params": parameters });
        self.socket.send(Message::text(message.to_string()))?;
        loop {
            let heard = self.read()?;
            if heard["id"] == json!(sent) {
                return match heard.get("error") {
                    None => Ok(heard["result"].clone()),
                    Some(error) => Err(format!("`{method}` was refused: {error}").into()),
                };
            }
            self.events.push(heard);
        }
    }

    fn read(&mut self) -> Result<Value> {
        loop {
            if let Message::Text(text) = self.socket.read()? {
                return Ok(serde_json::from_str(&text)?);
            }
        }
    }

    fn paused(&mut self) -> Result<Value> {
        loop {
            if let Some(at) = self.events.iter().position(|event| event["method"] == json!("Debugger.paused")) {
                return Ok(self.events.remove(at));
            }
            let heard = self.read()?;
            self.events.push(heard);
        }
    }

    fn properties(&mut self, object: &Value, depth: u32) -> Result<usize> {
        let body = self.ask("Runtime.getProperties", json!({ "objectId": object, "ownProperties": true }))?;
        let all = body["result"].as_array().cloned().unwrap_or_default();
        for inner in
            all.iter().map(|property| &property["value"]["objectId"]).filter(|inner| depth > 0 && inner.is_string())
        {
            self.properties(inner, depth - 1)?;
        }
        Ok(all.len())
    }
}

impl Look for Inspector {
    fn look(&mut self, depth: u32) -> Result<()> {
        let mut found = 0;
        for scope in self.scopes.clone() {
            found += self.properties(&scope, depth)?;
        }
        if found < 50 { Err(format!("{found} variables instead of 50").into()) } else { Ok(()) }
    }
}

impl Drop for Inspector {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
