//! An adapter that does what a test tells it to, over a port of this machine. What a test says nothing about it does as a
//! plain debugger would: a program that is paused in `work`, with two variables.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use backsight_core::Timestamp;
use backsight_debug::adapters::{Adapter, Quirks, Reach};
use backsight_debug::dap::wire::{Decoder, Frame, encode};
use backsight_debug::session::{Attach, BreakpointRequest, Outcome, Session, Setup};
use serde_json::{Value, json};

/// Whether a test did something with a request itself.
pub enum Handled {
    Yes,
    /// The plain way.
    No,
}

/// The adapter's side of the connection.
pub struct Wire {
    stream: TcpStream,
    decoder: Decoder,
    /// Requests so far, by command.
    pub heard: Vec<String>,
}

/// A running adapter.
pub struct Fake {
    port: u16,
    thread: Option<JoinHandle<Vec<String>>>,
}

impl Fake {
    /// Starts one; `handle` sees every message first.
    pub fn start(handle: impl FnMut(&mut Wire, &Value) -> Handled + Send + 'static) -> Fake {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let thread = std::thread::spawn(move || serve(&listener, handle));
        Fake { port, thread: Some(thread) }
    }

    /// What a session is told about it.
    pub fn adapter() -> Adapter {
        Adapter {
            name: "fake".to_owned(),
            reach: Reach::Opens,
            attach: json!({ "port": "{port}" }).as_object().unwrap().clone(),
            quirks: Quirks { runs_code: false, evaluates_purely: true, ..Quirks::default() },
            ..Adapter::default()
        }
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn attach(&self) -> backsight_core::Result<(Session, Outcome)> {
        self.attach_with(Fake::adapter(), Vec::new(), Duration::from_secs(10))
    }

    pub fn attach_with(
        &self,
        adapter: Adapter,
        breakpoints: Vec<BreakpointRequest>,
        patience: Duration,
    ) -> backsight_core::Result<(Session, Outcome)> {
        let setup = setup(adapter, patience);
        let attach = Attach {
            adapter: Some("fake".to_owned()),
            port: Some(self.port),
            breakpoints,
            wait: Duration::from_secs(10),
            ..Attach::default()
        };
        Session::attach(&setup, attach)
    }

    /// Waits until the session is over; what was asked, in its order.
    pub fn heard(mut self) -> Vec<String> {
        self.thread.take().unwrap().join().unwrap()
    }
}

pub fn setup(adapter: Adapter, patience: Duration) -> Setup {
    let mut setup = Setup::new(Vec::new(), Arc::new(|| Timestamp::from_system(std::time::SystemTime::now())));
    (setup.adapters, setup.timeout) = (vec![adapter], patience);
    setup
}

fn serve(listener: &TcpListener, mut handle: impl FnMut(&mut Wire, &Value) -> Handled) -> Vec<String> {
    let (stream, _) = listener.accept().unwrap();
    let mut wire = Wire { stream, decoder: Decoder::default(), heard: Vec::new() };
    while let Some(message) = wire.next() {
        if let Some(command) = message["command"].as_str() {
            wire.heard.push(command.to_owned());
        }
        if let Handled::No = handle(&mut wire, &message) {
            wire.plainly(&message);
        }
    }
    wire.heard
}

impl Wire {
    fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(Frame::Message(bytes)) = self.decoder.next_frame() {
                return serde_json::from_slice(&bytes).ok();
            }
            let mut buffer = [0; 4096];
            let count = self.stream.read(&mut buffer).unwrap_or(0);
            if count == 0 {
                return None;
            }
            self.decoder.push(&buffer[..count]);
        }
    }

    /// The next message of the session, in the middle of handling another.
    pub fn next_now(&mut self) -> Value {
        self.next().expect("the session goes on")
    }

    /// Writes bytes as they are.
    pub fn raw(&mut self, bytes: &[u8]) {
        // A session that has gone hears nothing.
        let _ = self.stream.write_all(bytes);
    }

    pub fn say(&mut self, message: &Value) {
        self.raw(&encode(message.to_string().as_bytes()));
    }

    pub fn reply(&mut self, request: &Value, body: Value) {
        self.say(&json!({ "seq": 0, "type": "response", "request_seq": request["seq"], "success": true,
            "command": request["command"], "body": body }));
    }

    pub fn refuse(&mut self, request: &Value, message: &str) {
        self.say(&json!({ "seq": 0, "type": "response", "request_seq": request["seq"], "success": false,
            "command": request["command"], "message": message }));
    }

    pub fn event(&mut self, name: &str, body: Value) {
        self.say(&json!({ "seq": 0, "type": "event", "event": name, "body": body }));
    }

    pub fn stop(&mut self, reason: &str) {
        self.event("stopped", json!({ "reason": reason, "threadId": 1, "allThreadsStopped": true }));
    }

    pub fn close(&mut self) {
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
    }

    /// What a plain debugger does.
    pub fn plainly(&mut self, request: &Value) {
        if request["type"] != json!("request") {
            return;
        }
        match request["command"].as_str().unwrap_or_default() {
            "initialize" => self.reply(request, json!({ "supportsConfigurationDoneRequest": true })),
            "attach" => {
                self.reply(request, json!({}));
                self.event("initialized", json!({}));
            }
            "configurationDone" => {
                self.reply(request, json!({}));
                self.stop("breakpoint");
            }
            "setBreakpoints" => {
                let wanted = request["arguments"]["breakpoints"].as_array().cloned().unwrap_or_default();
                let set: Vec<Value> = wanted
                    .iter()
                    .map(|one| json!({ "id": one["line"], "verified": true, "line": one["line"] }))
                    .collect();
                self.reply(request, json!({ "breakpoints": set }));
            }
            "threads" => self.reply(request, json!({ "threads": [{ "id": 1, "name": "main" }] })),
            "stackTrace" => self.reply(
                request,
                json!({ "stackFrames": [{ "id": 1000, "name": "work", "line": 3, "column": 1,
                "source": { "path": "/no/such/file" } }] }),
            ),
            "scopes" => self.reply(
                request,
                json!({ "scopes": [{ "name": "Locals", "variablesReference": 1, "expensive": false }] }),
            ),
            "variables" if request["arguments"]["variablesReference"] == json!(1) => self.reply(
                request,
                json!({ "variables": [
                { "name": "number", "value": "42", "type": "int", "variablesReference": 0 },
                { "name": "order", "value": "Order {total: 7}", "type": "Order", "variablesReference": 2 },
            ] }),
            ),
            "variables" => self.reply(
                request,
                json!({ "variables": [{ "name": "total", "value": "7", "type": "int", "variablesReference": 0 }] }),
            ),
            "evaluate" => self.reply(request, json!({ "result": "43", "type": "int", "variablesReference": 0 })),
            "continue" | "next" | "stepIn" | "stepOut" => {
                self.reply(request, json!({}));
                self.stop("step");
            }
            _ => self.reply(request, json!({})),
        }
    }
}
