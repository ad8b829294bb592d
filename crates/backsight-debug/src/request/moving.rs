//! Programs are started or attached to, go on, and are let go of.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use backsight_core::{Effect, Operation, Result, Waits, countable, few_enough, short_enough};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::limits::{self, usage};
use super::{Asked, BreakpointSpec, InitialBreakpoint};
use crate::debugger::{Debugger, Disconnected, LONGEST_WAIT, Moved, SessionList, SessionView, USUAL_WAIT};
use crate::session::{Attach, BreakpointRequest, Control, Launch, Place};

/// How long a program that was attached to and has no breakpoint is waited for: it may be paused already.
const GLIMPSE: Duration = Duration::from_secs(1);

/// Start a program under its debugger and wait for its first stop.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct LaunchProgram {
    /// What the session is called; `main` when left out.
    pub session: Option<String>,
    /// The program: a script, a binary, a Go package; relative to the workspace. `-m` runs a module of Python, which the
    /// first argument names.
    #[serde(default)]
    pub program: PathBuf,
    /// A test to run instead of a program, as `path::name`, until it fails: what runs it is found in the project.
    pub test: Option<String>,
    /// Its arguments.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// The directory it runs in; the workspace when left out.
    #[serde(default)]
    pub directory: PathBuf,
    /// What its environment has beyond the server's.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// The debugger's name; the one for the program when left out.
    pub adapter: Option<String>,
    /// The interpreter, or the debugger's own program; one is looked for when left out.
    pub runtime: Option<PathBuf>,
    /// What it reads from stdin; nothing when left out.
    pub stdin: Option<String>,
    /// Pause before anything of the program runs.
    #[serde(default)]
    pub stop_on_entry: bool,
    /// Set before anything of the program runs: `FILE:LINE`, a function, or all that a breakpoint can have.
    #[serde(default)]
    pub breakpoints: Vec<InitialBreakpoint>,
    /// Pause at exceptions too: `all`, `uncaught`, or a name the debugger has for some of them.
    pub exceptions: Option<String>,
    /// More for the debugger's own `launch`, as it is.
    #[serde(default)]
    pub options: Map<String, Value>,
    /// How long to wait for the first stop; 10000 when left out.
    #[schemars(range(max = limits::LONGEST_WAIT_MS))]
    pub wait_ms: Option<u64>,
}

impl LaunchProgram {
    /// In the lane's words.
    pub fn launch(&self) -> Result<Launch> {
        let LaunchProgram {
            program, arguments, directory, environment, adapter, runtime, options, stdin, test, ..
        } = self.clone();
        few_enough("arguments", &arguments)?;
        short_enough("adapter", adapter.as_deref().unwrap_or_default())?;
        short_enough("test", test.as_deref().unwrap_or_default())?;
        if program.as_os_str().is_empty() == test.is_none() {
            return Err(usage("say what to run: a `program`, or a `test` as `path::name`"));
        }
        short_enough("stdin", stdin.as_deref().unwrap_or_default())?;
        let paths = [("program", Some(&program)), ("directory", Some(&directory)), ("runtime", runtime.as_ref())];
        paths.iter().try_for_each(|(name, path)| limits::path(name, path.map(PathBuf::as_path)))?;
        countable("environment", environment.len())?;
        environment.values().try_for_each(|value| short_enough("environment", value))?;
        Ok(Launch {
            program,
            arguments,
            directory,
            environment: environment.into_iter().collect(),
            adapter,
            runtime,
            stdin,
            stop_on_entry: self.stop_on_entry,
            breakpoints: breakpoints(&self.breakpoints, self.exceptions.as_deref())?,
            options,
            // Test runners take a while to begin.
            wait: limits::wait(self.wait_ms, if test.is_some() { LONGEST_WAIT } else { USUAL_WAIT })?,
            test,
            ..Launch::default()
        })
    }
}

impl Operation for LaunchProgram {
    type Answer = Moved;
    const EFFECT: Effect = Effect::Runs;
    const WAITS: Waits = Waits::ForDebugger;

    fn check(&self) -> Result<()> {
        self.launch().map(drop)
    }
}

impl Asked for LaunchProgram {
    fn ask(self, debugger: &Debugger, cancelled: &dyn Fn() -> bool) -> Result<Moved> {
        debugger.launch(self.session.as_deref(), self.launch()?, cancelled)
    }
}

/// Debug a program that runs already.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct AttachProgram {
    /// What the session is called; `main` when left out.
    pub session: Option<String>,
    /// The debugger's name; of a process, the one for its program when left out.
    pub adapter: Option<String>,
    /// The process.
    pub pid: Option<u32>,
    /// The port of a debugger that waits, instead of a process.
    #[schemars(range(min = 1))]
    pub port: Option<u16>,
    /// The address of the port; this machine when left out.
    #[serde(default)]
    pub host: String,
    /// The debugger's own program; one is looked for when left out.
    pub runtime: Option<PathBuf>,
    /// Set at once: `FILE:LINE`, a function, or all that a breakpoint can have.
    #[serde(default)]
    pub breakpoints: Vec<InitialBreakpoint>,
    /// Pause at exceptions too: `all`, `uncaught`, or a name the debugger has for some of them.
    pub exceptions: Option<String>,
    /// More for the debugger's own `attach`, as it is.
    #[serde(default)]
    pub options: Map<String, Value>,
    /// How long to wait for the first stop; 10000 when left out, and 1000 without breakpoints: it may be paused already.
    #[schemars(range(max = limits::LONGEST_WAIT_MS))]
    pub wait_ms: Option<u64>,
}

impl AttachProgram {
    /// In the lane's words.
    pub fn attach(&self) -> Result<Attach> {
        let AttachProgram { adapter, pid, port, host, runtime, options, .. } = self.clone();
        short_enough("host", &host)?;
        short_enough("adapter", adapter.as_deref().unwrap_or_default())?;
        limits::path("runtime", runtime.as_deref())?;
        match (pid, port, &adapter) {
            (_, Some(0), _) => return Err(usage("`port` is 0, not a number from 1 to 65535")),
            (None, None, _) => return Err(usage("say what to attach to: `pid` or `port`")),
            (None, Some(_), None) => {
                return Err(usage("a port does not tell whose it is: name the debugger with `adapter`"));
            }
            _ => {}
        }
        let breakpoints = breakpoints(&self.breakpoints, self.exceptions.as_deref())?;
        let usual = if breakpoints.is_empty() { GLIMPSE } else { USUAL_WAIT };
        let wait = limits::wait(self.wait_ms, usual)?;
        let attach = Attach { adapter, pid, host, port, runtime, breakpoints, options, wait, ..Attach::default() };
        attach.check()?;
        Ok(attach)
    }
}

impl Operation for AttachProgram {
    type Answer = Moved;
    const EFFECT: Effect = Effect::Runs;
    const WAITS: Waits = Waits::ForDebugger;

    fn check(&self) -> Result<()> {
        self.attach().map(drop)
    }
}

impl Asked for AttachProgram {
    fn ask(self, debugger: &Debugger, cancelled: &dyn Fn() -> bool) -> Result<Moved> {
        debugger.attach(self.session.as_deref(), self.attach()?, cancelled)
    }
}

fn breakpoints(named: &[InitialBreakpoint], exceptions: Option<&str>) -> Result<Vec<BreakpointRequest>> {
    countable("breakpoints", named.len())?;
    let exceptions = exceptions.map(|which| BreakpointSpec::at(Place::Exception(which.to_owned())));
    named.iter().map(|one| &one.0).chain(&exceptions).map(BreakpointSpec::request).collect()
}

/// List the programs that are being debugged.
#[derive(Clone, Copy, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ListSessions {}

impl Operation for ListSessions {
    type Answer = SessionList;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDebugger;
}

impl Asked for ListSessions {
    fn ask(self, debugger: &Debugger, _: &dyn Fn() -> bool) -> Result<SessionList> {
        Ok(debugger.list())
    }
}

/// Say where the program is; of a running one, after waiting for its next stop.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ProgramState {
    /// Which program, by the name of its session; the only one, or `main`, when left out.
    pub session: Option<String>,
    /// How long to wait for a running program's next stop; 0 when left out.
    #[schemars(range(max = limits::LONGEST_WAIT_MS))]
    pub wait_ms: Option<u64>,
}

impl Operation for ProgramState {
    type Answer = SessionView;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDebugger;

    fn check(&self) -> Result<()> {
        limits::wait(self.wait_ms, Duration::ZERO).map(drop)
    }
}

impl Asked for ProgramState {
    fn ask(self, debugger: &Debugger, cancelled: &dyn Fn() -> bool) -> Result<SessionView> {
        debugger.state(self.session.as_deref(), limits::wait(self.wait_ms, Duration::ZERO)?, cancelled)
    }
}

/// What the program shall do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ControlAction {
    /// Go on.
    Continue,
    /// Pause wherever it is.
    Pause,
    /// One line, into what it calls.
    StepIn,
    /// One line, over what it calls.
    StepOver,
    /// Out of the function.
    StepOut,
    /// To a line, or to whatever pauses it before.
    RunTo,
}

impl ControlAction {
    /// In the lane's words; only a run to a line has a place.
    pub(super) fn control(self, file: Option<PathBuf>, line: Option<u32>) -> Result<Control> {
        limits::line(line)?;
        limits::path("file", file.as_deref())?;
        match (self, file, line) {
            (ControlAction::RunTo, Some(file), Some(line)) => Ok(Control::RunTo { file, line }),
            (ControlAction::RunTo, ..) => Err(usage("run_to needs `file` and `line`")),
            (_, Some(_), _) | (_, _, Some(_)) => Err(usage("only run_to takes `file` and `line`")),
            (ControlAction::Continue, ..) => Ok(Control::Continue),
            (ControlAction::Pause, ..) => Ok(Control::Pause),
            (ControlAction::StepIn, ..) => Ok(Control::StepIn),
            (ControlAction::StepOver, ..) => Ok(Control::StepOver),
            (ControlAction::StepOut, ..) => Ok(Control::StepOut),
        }
    }
}

/// Let the program go on, or pause it, and wait for what comes of it.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
pub struct ControlProgram {
    /// Which program, by the name of its session; the only one, or `main`, when left out.
    pub session: Option<String>,
    /// What the program shall do.
    pub action: ControlAction,
    /// Where `run_to` goes: a source file, relative to the workspace.
    pub file: Option<PathBuf>,
    /// The line of that file, from 1.
    #[schemars(range(min = 1))]
    pub line: Option<u32>,
    /// The thread to step; the one that paused the program when left out.
    pub thread: Option<i64>,
    /// How long to wait for the next stop; 10000 when left out.
    #[schemars(range(max = limits::LONGEST_WAIT_MS))]
    pub wait_ms: Option<u64>,
}

impl ControlProgram {
    /// Let it do something.
    pub fn new(action: ControlAction) -> ControlProgram {
        ControlProgram { session: None, action, file: None, line: None, thread: None, wait_ms: None }
    }
}

impl Operation for ControlProgram {
    type Answer = Moved;
    const EFFECT: Effect = Effect::Runs;
    const WAITS: Waits = Waits::ForDebugger;

    fn check(&self) -> Result<()> {
        limits::wait(self.wait_ms, USUAL_WAIT)?;
        self.action.control(self.file.clone(), self.line).map(drop)
    }
}

impl Asked for ControlProgram {
    fn ask(self, debugger: &Debugger, cancelled: &dyn Fn() -> bool) -> Result<Moved> {
        let control = self.action.control(self.file, self.line)?;
        let limit = limits::wait(self.wait_ms, USUAL_WAIT)?;
        debugger.control(self.session.as_deref(), control, self.thread, limit, cancelled)
    }
}

/// Let go of the program; its snapshots are cleared.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct EndSession {
    /// Which program, by the name of its session; the only one, or `main`, when left out.
    pub session: Option<String>,
    /// Whether the program ends too; one that was started does and one that was attached to does not, when left out.
    pub end_program: Option<bool>,
}

impl Operation for EndSession {
    type Answer = Disconnected;
    const EFFECT: Effect = Effect::Stops;
    const WAITS: Waits = Waits::ForEnd;
}

impl Asked for EndSession {
    fn ask(self, debugger: &Debugger, _: &dyn Fn() -> bool) -> Result<Disconnected> {
        debugger.disconnect(self.session.as_deref(), self.end_program)
    }
}
