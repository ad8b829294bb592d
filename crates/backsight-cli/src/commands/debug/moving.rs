//! `backsight debug launch`, `continue`, `next` and the others that let a program go on, or go.

use std::io::Read;
use std::path::{Path, PathBuf};

use backsight::debug::debugger::{Moved, SessionList};
use backsight::debug::request::{
    AttachProgram, ControlAction, ControlProgram, EndSession, InitialBreakpoint, LaunchProgram, ListSessions,
    ProgramState,
};
use backsight_core::{Error, Result};
use backsight_server::Route;

use super::place::{self, Place};
use super::{Desk, Patience};
use crate::commands::Verdict;
use crate::render::debug;

/// More than this is not sent to the server.
const LONGEST_STDIN: u64 = 16 << 20;

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
  backsight debug launch --test tests/test_cart.py::test_total
  backsight debug launch tests/run.py --runtime .venv/bin/python --env DEBUG=1")]
pub struct Launch {
    /// The program: a script, a binary or a Go package
    #[arg(value_name = "PROGRAM", required_unless_present = "test", conflicts_with = "test")]
    program: Option<PathBuf>,
    /// A test to run instead, as PATH::NAME, until it fails: pytest, unittest, go test, cargo test, node:test, vitest, jest
    #[arg(long, value_name = "TEST")]
    test: Option<String>,
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
    /// The interpreter, or the debugger's own program, instead of that of an active virtual environment, of the project's,
    /// or one on the server's search path
    #[arg(long, value_name = "FILE")]
    runtime: Option<PathBuf>,
    /// A variable of the program's environment (repeatable)
    #[arg(long = "env", value_name = "NAME=VALUE", value_parser = variable)]
    environment: Vec<(String, String)>,
    /// The directory it runs in, instead of this one
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// What the program reads from stdin: a text, or - for what is piped into this command
    #[arg(long, value_name = "TEXT")]
    stdin: Option<String>,
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
        let request = LaunchProgram {
            session: desk.session(),
            program: self.program(desk)?,
            test: self.test(desk)?,
            arguments: self.arguments.clone(),
            directory: desk.path(self.cwd.as_deref().unwrap_or(Path::new("")))?,
            environment: self.environment.iter().cloned().collect(),
            adapter: self.adapter.clone(),
            runtime: self.runtime(desk)?,
            stdin: self.stdin()?,
            stop_on_entry: self.stop_on_entry,
            breakpoints: breakpoints(desk, &self.breaks)?,
            exceptions: self.exceptions.clone(),
            wait_ms: self.patience.timeout,
            ..LaunchProgram::default()
        };
        moved(desk, &request)
    }

    fn program(&self, desk: &Desk<'_>) -> Result<PathBuf> {
        match self.program.as_deref() {
            None => Ok(PathBuf::new()),
            // Not a file: the first argument is a module.
            Some(module) if module.as_os_str() == "-m" => Ok(module.to_owned()),
            Some(program) => desk.path(program),
        }
    }

    /// The test with its path from the workspace, as typed here.
    fn test(&self, desk: &Desk<'_>) -> Result<Option<String>> {
        let Some(test) = &self.test else { return Ok(None) };
        let (path, name) = test.split_once("::").map_or((test.as_str(), None), |(path, name)| (path, Some(name)));
        let path = desk.path(Path::new(path))?.to_string_lossy().into_owned();
        Ok(Some(name.map_or(path.clone(), |name| format!("{path}::{name}"))))
    }

    fn stdin(&self) -> Result<Option<String>> {
        match self.stdin.as_deref() {
            Some("-") => {
                let text = std::io::read_to_string(std::io::stdin().take(LONGEST_STDIN));
                text.map(Some).map_err(|error| Error::io("read what the program shall read", error))
            }
            given => Ok(given.map(str::to_owned)),
        }
    }

    /// The interpreter: the one that is named, or of a Python program that of the environment the person is in.
    fn runtime(&self, desk: &Desk<'_>) -> Result<Option<PathBuf>> {
        if let Some(named) = &self.runtime {
            return program(desk, named).map(Some);
        }
        let subject = self.test.as_deref().map(|test| Path::new(test.split("::").next().unwrap_or_default()));
        let subject = subject.or(self.program.as_deref()).unwrap_or(Path::new(""));
        let is_python = subject.as_os_str() == "-m" || subject.extension().is_some_and(|extension| extension == "py");
        let environment = std::env::var_os("VIRTUAL_ENV").map(|folder| PathBuf::from(folder).join("bin/python"));
        let python = environment.filter(|python| is_python && self.adapter.is_none() && python.is_file());
        python.map(super::sendable).transpose()
    }
}

/// A program as typed: a bare name is one of the search path.
fn program(desk: &Desk<'_>, typed: &Path) -> Result<PathBuf> {
    if typed.components().count() > 1 { desk.path(typed) } else { super::sendable(typed.to_owned()) }
}

fn breakpoints(desk: &Desk<'_>, places: &[Place]) -> Result<Vec<InitialBreakpoint>> {
    places.iter().map(|place| place.spec(desk).map(InitialBreakpoint)).collect()
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
    #[arg(long, value_name = "PORT", group = "whom", value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,
    /// The address of the port, instead of this machine
    #[arg(long, value_name = "ADDRESS", requires = "port")]
    host: Option<String>,
    /// The debugger; of a process, the one for its program when left out (a port needs one)
    #[arg(long, value_name = "NAME")]
    adapter: Option<String>,
    /// The debugger's own program, instead of one that is looked for
    #[arg(long, value_name = "FILE")]
    runtime: Option<PathBuf>,
    /// Pause here: FILE:LINE or a function (repeatable)
    #[arg(long = "break", value_name = "PLACE", value_parser = place::parse)]
    breaks: Vec<Place>,
    /// How long to wait for the program to pause, up to 60 [default: 10, and 1 without breakpoints]
    #[arg(long, value_name = "SECONDS", value_parser = super::milliseconds)]
    timeout: Option<u64>,
}

impl Attach {
    pub fn run(&self, desk: &Desk<'_>) -> Result<Verdict> {
        let request = AttachProgram {
            session: desk.session(),
            adapter: self.adapter.clone(),
            pid: self.pid,
            port: self.port,
            host: self.host.clone().unwrap_or_default(),
            runtime: self.runtime.as_deref().map(|runtime| program(desk, runtime)).transpose()?,
            breakpoints: breakpoints(desk, &self.breaks)?,
            wait_ms: self.timeout,
            ..AttachProgram::default()
        };
        moved(desk, &request)
    }
}

/// List the programs that are being debugged
#[derive(clap::Args, Debug)]
pub struct Sessions {}

impl Sessions {
    pub fn run(&self, desk: &Desk<'_>) -> Result<Verdict> {
        // Where no server runs nothing is debugged.
        let list = match desk.lane.is_served() {
            true => desk.perform(&ListSessions {})?,
            false => SessionList { sessions: Vec::new() },
        };
        desk.context.answer(&list, |page| {
            debug::sessions(page, &list.sessions, desk.context.start());
            if list.sessions.is_empty() {
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
        let state = desk.perform(&ProgramState { session: desk.session(), wait_ms: self.timeout })?;
        desk.context.answer(&state, |page| {
            debug::place_of(page, &state.outcome, &state.executed, desk.context.start());
            debug::session(page, &state, desk.context.start());
            debug::advise(page, &state.outcome, |rest| desk.command(rest));
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
    fn run(&self, desk: &Desk<'_>, action: ControlAction) -> Result<Verdict> {
        self.request(desk, ControlProgram::new(action))
    }

    fn request(&self, desk: &Desk<'_>, request: ControlProgram) -> Result<Verdict> {
        let (session, thread, wait_ms) = (desk.session(), self.thread, self.patience.timeout);
        moved(desk, &ControlProgram { session, thread, wait_ms, ..request })
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
        self.moving.run(desk, ControlAction::Continue)
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
        let (session, wait_ms) = (desk.session(), self.patience.timeout);
        moved(desk, &ControlProgram { session, wait_ms, ..ControlProgram::new(ControlAction::Pause) })
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
        self.moving.run(desk, ControlAction::StepIn)
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
        self.moving.run(desk, ControlAction::StepOver)
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
        self.moving.run(desk, ControlAction::StepOut)
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
        let at = self.place.spec(desk)?;
        let run_to = ControlProgram::new(ControlAction::RunTo);
        self.moving.request(desk, ControlProgram { file: at.file, line: at.line, ..run_to })
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
        let ended = desk.perform(&EndSession { session: desk.session(), end_program: end })?;
        desk.context.answer(&ended, |page| debug::ended(page, &ended))?;
        Ok(Verdict::Done)
    }
}

fn moved(desk: &Desk<'_>, request: &impl Route<Answer = Moved>) -> Result<Verdict> {
    let moved = desk.perform(request)?;
    desk.context.answer(&moved, |page| {
        debug::moved(page, &moved, desk.context.start());
        debug::advise(page, &moved.outcome, |rest| desk.command(rest));
    })?;
    Ok(Verdict::Done)
}
