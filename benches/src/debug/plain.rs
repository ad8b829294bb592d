//! What a plain client does: it starts a debugger as it comes and asks for variables one by one.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::Result;
use crate::debug::programs::{Look, Program};

/// A debugger as it comes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stock {
    Debugpy,
    Delve,
    Lldb,
    Inspector,
}

/// A client with one request on its way at a time.
pub struct Plain {
    process: Child,
    reader: Box<dyn BufRead>,
    writer: Box<dyn Write>,
    sent: u64,
    events: VecDeque<Value>,
    thread: Value,
}

impl Plain {
    /// Starts the program and waits until it is paused at a line.
    pub fn pause_at(stock: Stock, program: &Program, line: u32) -> Result<Plain> {
        let mut plain = Plain::start(stock, program)?;
        plain.ask("initialize", json!({ "adapterID": "plain", "linesStartAt1": true, "columnsStartAt1": true }))?;
        let launch = match stock {
            Stock::Debugpy => {
                json!({ "program": program.program, "cwd": program.folder, "console": "internalConsole", "justMyCode": false })
            }
            Stock::Delve => json!({ "mode": "exec", "program": program.program }),
            Stock::Lldb | Stock::Inspector => json!({ "program": program.program }),
        };
        plain.send("launch", launch)?;
        plain.event("initialized")?;
        let lines = json!({ "source": { "path": program.source }, "breakpoints": [{ "line": line }] });
        plain.ask("setBreakpoints", lines)?;
        plain.ask("configurationDone", json!({}))?;
        plain.thread = plain.event("stopped")?["body"]["threadId"].clone();
        Ok(plain)
    }

    fn start(stock: Stock, program: &Program) -> Result<Plain> {
        let mut command = match (stock, &program.runtime) {
            (Stock::Debugpy, Some(python)) => {
                let mut command = Command::new(python);
                command.args(["-m", "debugpy.adapter"]);
                command
            }
            (Stock::Delve, _) => {
                let mut command = Command::new("dlv");
                command.args(["dap", "--listen=127.0.0.1:0"]);
                command
            }
            _ => Command::new(lldb()),
        };
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process =
            command.spawn().map_err(|error| format!("{command:?} does not run ({error}): run `make tools`"))?;
        let mut output = BufReader::new(process.stdout.take().ok_or("no output")?);
        let input = process.stdin.take().ok_or("no input")?;
        let (reader, writer): (Box<dyn BufRead>, Box<dyn Write>) = match stock {
            Stock::Delve => {
                let mut told = String::new();
                output.read_line(&mut told)?;
                let address = told.trim().rsplit(' ').next().unwrap_or_default();
                let stream = TcpStream::connect(address)?;
                stream.set_nodelay(true)?;
                (Box::new(BufReader::new(stream.try_clone()?)), Box::new(stream))
            }
            _ => (Box::new(output), Box::new(input)),
        };
        Ok(Plain { process, reader, writer, sent: 0, events: VecDeque::new(), thread: Value::Null })
    }

    fn send(&mut self, command: &str, arguments: Value) -> Result<u64> {
        self.sent += 1;
        let message = json!({ "seq": self.sent, "type": "request", "command": command, "arguments": arguments });
        let text = message.to_string();
        self.writer.write_all(format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes())?;
        self.writer.flush()?;
        Ok(self.sent)
    }

    fn ask(&mut self, command: &str, arguments: Value) -> Result<Value> {
        let sent = self.send(command, arguments)?;
        loop {
            let message = self.read()?;
            match message["type"].as_str() {
                Some("response") if message["request_seq"] == json!(sent) => {
                    return match message["success"] == json!(true) {
                        true => Ok(message["body"].clone()),
                        false => Err(format!("`{command}` was refused: {message}").into()),
                    };
                }
                Some("event") => self.events.push_back(message),
                _ => {}
            }
        }
    }

    fn event(&mut self, name: &str) -> Result<Value> {
        loop {
            if let Some(at) = self.events.iter().position(|event| event["event"] == json!(name)) {
                return self.events.remove(at).ok_or_else(|| "it is there".into());
            }
            let message = self.read()?;
            if message["type"] == json!("event") {
                self.events.push_back(message);
            }
        }
    }

    fn read(&mut self) -> Result<Value> {
        let mut length = None;
        loop {
            let mut line = String::new();
            if self.reader.read_line(&mut line)? == 0 {
                return Err("the debugger has gone".into());
            }
            match (line.trim(), length) {
                ("", Some(length)) => {
                    let mut body = vec![0; length];
                    self.reader.read_exact(&mut body)?;
                    return Ok(serde_json::from_slice(&body)?);
                }
                (header, _) => {
                    if let Some((name, value)) = header.split_once(':')
                        && name.eq_ignore_ascii_case("content-length")
                    {
                        length = Some(value.trim().parse()?);
                    }
                }
            }
        }
    }

    fn children(&mut self, reference: &Value, depth: u32) -> Result<usize> {
        let body = self.ask("variables", json!({ "variablesReference": reference }))?;
        let all = body["variables"].as_array().cloned().unwrap_or_default();
        for variable in all.iter().filter(|variable| depth > 0 && variable["variablesReference"].as_i64() > Some(0)) {
            self.children(&variable["variablesReference"], depth - 1)?;
        }
        Ok(all.len())
    }
}

impl Look for Plain {
    fn look(&mut self, depth: u32) -> Result<()> {
        let stack = self.ask("stackTrace", json!({ "threadId": self.thread, "levels": 1 }))?;
        let scopes = self.ask("scopes", json!({ "frameId": stack["stackFrames"][0]["id"] }))?;
        let found = self.children(&scopes["scopes"][0]["variablesReference"].clone(), depth)?;
        if found < 50 { Err(format!("{found} variables instead of 50").into()) } else { Ok(()) }
    }
}

impl Drop for Plain {
    fn drop(&mut self) {
        let _ = self.ask("disconnect", json!({ "terminateDebuggee": true }));
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The newest LLDB that is there.
fn lldb() -> String {
    let names =
        std::iter::once("lldb-dap".to_owned()).chain((18..=22).rev().map(|version| format!("lldb-dap-{version}")));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut names = names.filter(|name| std::env::split_paths(&path).any(|place| place.join(name).is_file()));
    names.next().unwrap_or_else(|| "lldb-dap".to_owned())
}
