//! `backsight debug launch`, `continue`, `next` and the others that let a program go on, or go.

use std::path::{Path, PathBuf};

use backsight::debug::adapters;
use backsight_core::{Code, Error, Result};
use serde_json::{Map, Value, json};

use super::place::{self, Place};
use super::{Desk, Patience};
use crate::commands::Verdict;
use crate::render::debug;

/// Start a program under its debugger and wait for its first stop
///
/// The debugger is the one for the program: debugpy for Python, Node's inspector for JavaScript, Delve for Go, LLDB for
/// binaries of C, C++ and Rust. Flags of the program itself go after `--`.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight debug launch shop.py --break shop.py:12
  backsight debug launch shop.py --break total --exceptions uncaught -- --verbose
  backsight debug launch target/debug/shop --stop-on-entry
  backsight debug launch tests/run.py --runtime .venv/bin/python --env DEBUG=1")]
pub struct Launch {
    /// The program: a script, a binary or a Go package
    #[arg(value_name = "PROGRAM")]
    program: PathBuf,
    /// Its arguments
    #[arg(value_name = "ARGS")]
    arguments: Vec<String>,
    /// Pause here: FILE:LINE or a function (repeatable)
    #[arg(long = "break", value_name = "PLACE", value_parser = place::parse)]
    breaks: Vec<Place>,
    /// Pause at exceptions: all, uncaught, or a name the debugger has for some of them
    #[arg(long, value_name = "WHICH")]
    exceptions: Option<String>,
    /// The debugger, instead of the one for the program
    #[arg(long, value_name = "NAME")]
    adapter: Option<String>,
    /// The interpreter, or the debugger's own program, instead of one that is looked for
    #[arg(long, value_name = "FILE")]
    runtime: Option<PathBuf>,
    /// A variable of the program's environment (repeatable)
    #[arg(long = "env", value_name = "NAME=VALUE", value_parser = variable)]
    environment: Vec<(String, String)>,
    /// The directory it runs in, instead of this one
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Pause before anything of the program runs
    #[arg(long)]
    stop_on_entry: bool,
    #[command(flatten)]
    patience: Patience,
}

fn variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("it is NAME=VALUE".to_owned()),
    }
}

impl Launch {
    pub fn run(&self, desk: &Desk<'_>) -> Result<Verdict> {
        let mut breakpoints: Vec<Value> =
            self.breaks.iter().map(|place| Ok(Value::Object(place.fields(desk)?))).collect::<Result<_>>()?;
        breakpoints.extend(self.exceptions.as_ref().map(|which| json!({ "exception": which })));
        let environment: Map<String, Value> =
            self.environment.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        let body = json!({
            "program": desk.path(&self.program)?,
            "arguments": self.arguments,
            "directory": desk.path(self.cwd.as_deref().unwrap_or(Path::new("")))?,
            "environment": environment,
            "adapter": self.adapter,
            "runtime": self.runtime.as_deref().map(|runtime| program(desk, runtime)).transpose()?,
            "stop_on_entry": self.stop_on_entry,
            "breakpoints": breakpoints,
            "wait_ms": self.patience.timeout,
        });
        moved(desk, "/api/debug/launch", body)
    }
}

/// A program as typed: a bare name is one of the search path.
fn program(desk: &Desk<'_>, typed: &Path) -> Result<String> {
    if typed.components().count() > 1 { desk.path(typed) } else { super::text(typed) }
}

/// Debug a program that runs already; `end` lets it go on
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight debug attach --pid 4242
  backsight debug attach --port 9229 --adapter node        after `node --inspect server.js`
  backsight debug attach --port 5678 --adapter debugpy     after `python -m debugpy --listen 5678 app.py`")]
#[command(group = clap::ArgGroup::new("whom").required(true))]
pub struct Attach {
    /// The process
    #[arg(long, value_name = "PID", group = "whom")]
    pid: Option<u32>,
    /// The port of a debugger that waits for somebody
    #[arg(long, value_name = "PORT", group = "whom", requires = "adapter", value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,
    /// The address of the port, instead of this machine
    #[arg(long, value_name = "ADDRESS", requires = "port")]
    host: Option<String>,
    /// The debugger; of a process, the one for its program when left out
    #[arg(long, value_name = "NAME")]
    adapter: Option<String>,
    /// The debugger's own program, instead of one that is looked for
    #[arg(long, value_name = "FILE")]
    runtime: Option<PathBuf>,
    /// Pause here: FILE:LINE or a function (repeatable)
    #[arg(long = "break", value_name = "PLACE", value_parser = place::parse)]
    breaks: Vec<Place>,
    /// How long to wait for the program to pause, up to 60 [default: 0]
    #[arg(long, value_name = "SECONDS", value_parser = super::milliseconds)]
    timeout: Option<u64>,
}

impl Attach {
    pub fn run(&self, desk: &Desk<'_>) -> Result<Verdict> {
        let adapter = match (&self.adapter, self.pid) {
            (Some(adapter), _) => adapter.clone(),
            (None, Some(pid)) => debugger_of(pid)?,
            (None, None) => return Err(Error::new(Code::Usage, "name the debugger with `--adapter`")),
        };
        let breakpoints: Vec<Value> =
            self.breaks.iter().map(|place| Ok(Value::Object(place.fields(desk)?))).collect::<Result<_>>()?;
        let body = json!({
            "adapter": adapter,
            "pid": self.pid,
            "port": self.port,
            "host": self.host,
            "runtime": self.runtime.as_deref().map(|runtime| program(desk, runtime)).transpose()?,
            "breakpoints": breakpoints,
            "wait_ms": self.timeout,
        });
        moved(desk, "/api/debug/attach", body)
    }
}

/// The debugger for the program of a process.
fn debugger_of(pid: u32) -> Result<String> {
    let program = std::fs::read_link(format!("/proc/{pid}/exe")).map_err(|error| {
        let message = format!("cannot see which program process {pid} runs: {error}");
        Error::new(Code::ProgramNotFound, message).with_hint("name the debugger with `--adapter`")
    })?;
    let name = program.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    // Interpreters are binaries too, and not what is to be debugged.
    match name {
        name if name.starts_with("python") => Ok("debugpy".to_owned()),
        name if name.starts_with("node") => Ok("node".to_owned()),
        _ => Ok(adapters::choose(&adapters::builtin(), None, &program)?.name.clone()),
    }
}

/// List the programs that are being debugged
#[derive(clap::Args, Debug)]
pub struct Sessions {}

impl Sessions {
    pub fn run(&self, desk: &Desk<'_>) -> Result<Verdict> {
        // Where no server runs nothing is debugged.
        let list = match desk.lane.is_served() {
            true => {
                let server = desk.lane.server("debugging")?;
                server.ask(&crate::lane::Request::Get("/api/debug/sessions".to_owned()))?
            }
            false => json!({ "sessions": [] }),
        };
        desk.context.answer(&list, |page| {
            debug::sessions(page, &list, desk.context.start());
            if list["sessions"].as_array().is_none_or(Vec::is_empty) {
                page.hint(match desk.lane.is_served() {
                    true => "start one with `backsight debug launch PROGRAM`",
                    false => "start `backsight serve`, then `backsight debug launch PROGRAM`",
                });
            }
        })?;
        Ok(Verdict::Done)
    }
}

/// Show where the program is; with --timeout, wait for a running one to pause
#[derive(clap::Args, Debug)]
pub struct Status {
    /// How long to wait for a running program to pause, up to 60 [default: 0]
    #[arg(long, value_name = "SECONDS", value_parser = super::milliseconds)]
    timeout: Option<u64>,
}

impl Status {
    pub fn run(&self, desk: &Desk<'_>) -> Result<Verdict> {
        let wait = self.timeout.map(|wait| wait.to_string());
        let state = desk.get("/api/debug/state", &[("wait_ms", wait)])?;
        desk.context.answer(&state, |page| {
            debug::moved(page, &state, desk.context.start());
            debug::session(page, &state, desk.context.start());
            debug::advise(page, &state, |rest| desk.command(rest));
        })?;
        Ok(Verdict::Done)
    }
}

/// Which thread, and how long to wait.
#[derive(clap::Args, Debug)]
struct Moving {
    /// The thread to step, instead of the one that paused the program
    #[arg(long, value_name = "ID", allow_negative_numbers = true)]
    thread: Option<i64>,
    #[command(flatten)]
    patience: Patience,
}

impl Moving {
    fn run(&self, desk: &Desk<'_>, action: &str, place: Map<String, Value>) -> Result<Verdict> {
        let mut body = json!({ "action": action, "thread": self.thread, "wait_ms": self.patience.timeout });
        if let Value::Object(body) = &mut body {
            body.extend(place);
        }
        moved(desk, "/api/debug/control", body)
    }
}

/// Let the program go on to its next stop
#[derive(clap::Args, Debug)]
pub struct Continue {
    #[command(flatten)]
    moving: Moving,
}

impl Continue {
    pub fn run(&self, desk: &Desk<'_>) -> Result<Verdict> {
        self.moving.run(desk, "continue", Map::new())
    }
}

/// Pause the program wherever it is
#[derive(clap::Args, Debug)]
pub struct Pause {
    #[command(flatten)]
    patience: Patience,
}

impl Pause {
    pub fn run(&self, desk: &Desk<'_>) -> Result<Verdict> {
        moved(desk, "/api/debug/control", json!({ "action": "pause", "wait_ms": self.patience.timeout }))
    }
}

/// Run one line, into what it calls
#[derive(clap::Args, Debug)]
pub struct Step {
    #[command(flatten)]
    moving: Moving,
}

impl Step {
    pub fn run(&self, desk: &Desk<'_>) -> Result<Verdict> {
        self.moving.run(desk, "step_in", Map::new())
    }
}

/// Run one line, over what it calls
#[derive(clap::Args, Debug)]
pub struct Next {
    #[command(flatten)]
    moving: Moving,
}

impl Next {
    pub fn run(&self, desk: &Desk<'_>) -> Result<Verdict> {
        self.moving.run(desk, "step_over", Map::new())
    }
}

/// Run until the function returns
#[derive(clap::Args, Debug)]
pub struct Finish {
    #[command(flatten)]
    moving: Moving,
}

impl Finish {
    pub fn run(&self, desk: &Desk<'_>) -> Result<Verdict> {
        self.moving.run(desk, "step_out", Map::new())
    }
}

/// Run to a line, or to whatever pauses the program before
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight debug until shop.py:20")]
pub struct Until {
    /// The line: FILE:LINE
    #[arg(value_name = "FILE:LINE", value_parser = place::line)]
    place: Place,
    #[command(flatten)]
    moving: Moving,
}

impl Until {
    pub fn run(&self, desk: &Desk<'_>) -> Result<Verdict> {
        self.moving.run(desk, "run_to", self.place.fields(desk)?)
    }
}

/// Let go of the program; its snapshots are cleared
///
/// A program that was started here ends, one that was attached to goes on, unless you say otherwise.
#[derive(clap::Args, Debug)]
pub struct End {
    /// Let the program go on without its debugger
    #[arg(long, conflicts_with = "end_program")]
    keep_running: bool,
    /// End the program too
    #[arg(long)]
    end_program: bool,
}

impl End {
    pub fn run(&self, desk: &Desk<'_>) -> Result<Verdict> {
        let end = (self.keep_running || self.end_program).then_some(self.end_program);
        let ended = desk.post("/api/debug/disconnect", json!({ "end_program": end }))?;
        desk.context.answer(&ended, |page| debug::ended(page, &ended))?;
        Ok(Verdict::Done)
    }
}

fn moved(desk: &Desk<'_>, path: &'static str, body: Value) -> Result<Verdict> {
    let moved = desk.post(path, body)?;
    desk.context.answer(&moved, |page| {
        debug::moved(page, &moved, desk.context.start());
        debug::advise(page, &moved, |rest| desk.command(rest));
    })?;
    Ok(Verdict::Done)
}
