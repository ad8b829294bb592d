//! A program that is being debugged. Everything runs on one thread of its own, so that callers need no runtime and a slow
//! debugger holds nobody else up.

mod breakpoints;
mod by_pid;
pub(crate) mod control;
pub(crate) mod engine;
mod executed;
mod handshake;
pub(crate) mod inspect;
mod link;
mod output;
mod raised;
mod recall;
mod state;
mod visit;
mod watching;

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

use backsight_core::{Admission, Code, Error, NextStep, Result};
use serde_json::{Map, Value, json};
use tokio::sync::oneshot;

pub use breakpoints::{Breakpoint, BreakpointRequest, Place, Purpose};
pub(crate) use breakpoints::{counts_hits, is_reached};
pub use by_pid::target;
pub use control::{Control, FrameView, Outcome, StopReport};
pub use engine::Clock;
pub use executed::Executed;
pub use inspect::{
    EvaluateRequest, EvaluatedView, StackView, ThreadView, VariableView, VariablesPage, VariablesRequest,
};
pub use output::{OutputPage, Piece};
pub use raised::{AlsoThere, Earlier, Exception, Relation};
pub(crate) use recall::Recall;
pub use state::{State, Stop};
pub use visit::{Onward, Visit, Visitor};
pub use watching::AssignRequest;
pub(crate) use watching::Spot;

use crate::adapters::{self, Adapter, fill};
use crate::capture::Capture;
use crate::dap::scratch::Scratch;
use crate::testing::{Build, Framework, ThrownError};
use crate::walk::{self, CapturePlan};
use engine::Engine;
use handshake::Opening;
use link::{Link, Sink, Start};

/// How long a debugger may take to let go of its program.
const FAREWELL: Duration = Duration::from_secs(3);
/// The same for one that is busy with something else.
const HASTE: Duration = Duration::from_millis(500);

/// What every session needs to know about the machine.
#[derive(Clone)]
pub struct Setup {
    /// The debuggers that are known.
    pub adapters: Vec<Adapter>,
    /// Where programs are looked for: the directories of `PATH`.
    pub search: Vec<PathBuf>,
    /// The Rust toolchain whose formatters make LLDB show Rust's types as Rust does; without one the active one is asked for.
    pub rust_sysroot: Option<PathBuf>,
    /// Tells the time.
    pub clock: Clock,
    /// How long a debugger may take to get ready.
    pub timeout: Duration,
}

impl Setup {
    /// The usual one.
    pub fn new(search: Vec<PathBuf>, clock: Clock) -> Self {
        let rust_sysroot = None;
        Setup { adapters: adapters::builtin(), search, rust_sysroot, clock, timeout: Duration::from_secs(30) }
    }
}

/// A program to start under a debugger.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    /// The program: a script, a binary, a Go package.
    pub program: PathBuf,
    /// A test to run instead, as `path::name`; what runs it is found in the project.
    pub test: Option<String>,
    /// What runs the test, once that was found.
    pub framework: Option<Framework>,
    /// The text of a program that is run instead.
    pub runner: Option<&'static str>,
    /// A module of Python to run instead of a program.
    pub module: Option<String>,
    /// What the interpreter is told before the program.
    pub interpreter_arguments: Vec<String>,
    /// How Delve shall run it, where that does not follow from the program.
    pub mode: Option<&'static str>,
    /// What is built before there is a program.
    pub build: Option<Build>,
    /// The program starts another one, which waits for the debugger.
    pub child_listens: bool,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// The directory it runs in.
    pub directory: PathBuf,
    /// What its environment has beyond ours.
    pub environment: Vec<(String, String)>,
    /// The debugger's name; without it the one for the program.
    pub adapter: Option<String>,
    /// The interpreter or the debugger's own program; without it one is looked for.
    pub runtime: Option<PathBuf>,
    /// What it reads from stdin; nothing when left out.
    pub stdin: Option<String>,
    /// Pause before anything of the program runs.
    pub stop_on_entry: bool,
    /// Set before anything of the program runs.
    pub breakpoints: Vec<BreakpointRequest>,
    /// More for the debugger's `launch`, as it is.
    pub options: Map<String, Value>,
    /// How long to wait for the first stop.
    pub wait: Duration,
}

/// A program that runs already.
#[derive(Clone, Debug, Default)]
pub struct Attach {
    /// The debugger's name; of a process, the one for its program when left out.
    pub adapter: Option<String>,
    /// The process.
    pub pid: Option<u32>,
    /// The address of a debugger that waits for us; an empty one is this machine.
    pub host: String,
    /// Its port.
    pub port: Option<u16>,
    /// The debugger's own program; without it one is looked for.
    pub runtime: Option<PathBuf>,
    /// Set at once.
    pub breakpoints: Vec<BreakpointRequest>,
    /// More for the debugger's `attach`, as it is.
    pub options: Map<String, Value>,
    /// Who may be the one that waits for us.
    pub admission: Admission,
    /// How long to wait for the first stop.
    pub wait: Duration,
}

impl Attach {
    /// Refuses a process and a port at once: whoever waits at the port would be told to take over a process that nobody
    /// looked at.
    pub fn check(&self) -> Result<()> {
        match (self.pid, self.port) {
            (Some(_), Some(_)) => Err(Error::new(Code::Usage, "a process and a port were named")
                .then("name only the process", NextStep::WithProcess)
                .or("name only the port", NextStep::WithPort)),
            _ => Ok(()),
        }
    }
}

/// What is known about a session without asking anybody.
#[derive(Clone, Debug)]
pub struct Status {
    /// The debugger.
    pub adapter: String,
    /// Where the program is.
    pub state: State,
    /// Changes whenever the program moves.
    pub epoch: u64,
    /// The process that was started here: the program itself or its debugger.
    pub process: Option<i32>,
    /// What was executed for it.
    pub executed: Executed,
    /// Whether the program was there before.
    pub attached: bool,
    /// Its breakpoints.
    pub breakpoints: Vec<Breakpoint>,
    /// The number the next piece of output will have.
    pub output: u64,
    /// What the debugger said that could not be understood: messages, then bytes that were no messages.
    pub misread: (u64, u64),
}

/// A program that is being debugged. Dropping it is like [`Session::disconnect`]: what was started here is ended, what was
/// attached to goes on.
pub struct Session {
    engine: Arc<Engine>,
    runtime: tokio::runtime::Handle,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Session {
    /// Starts a program under its debugger and waits for its first stop.
    pub fn launch(setup: &Setup, launch: Launch) -> Result<(Session, Outcome)> {
        Session::launch_unless(&Recall::default(), setup, launch)
    }

    /// The same, unless it is taken back before the program is there.
    pub(crate) fn launch_unless(recall: &Recall, setup: &Setup, launch: Launch) -> Result<(Session, Outcome)> {
        let adapter = adapters::choose(&setup.adapters, launch.adapter.as_deref(), &launch.program)?.clone();
        if launch.module.is_none() && launch.runner.is_none() && !launch.program.exists() {
            let message = format!("there is no program at `{}`", launch.program.display());
            return Err(Error::new(Code::ProgramNotFound, message)
                .with_hint("name a script, a binary or a Go package that exists"));
        }
        let runtime = adapters::locate(&adapter, launch.runtime.as_deref(), &launch.directory, &setup.search)?;
        let setup = setup.clone();
        let wait = launch.wait;
        let session = Session::start(recall, move || async move { launched(setup, adapter, runtime, launch).await })?;
        let outcome = session.wait(wait)?;
        Ok((session, outcome))
    }

    /// Attaches to a program that runs already.
    pub fn attach(setup: &Setup, attach: Attach) -> Result<(Session, Outcome)> {
        Session::attach_unless(&Recall::default(), setup, attach)
    }

    /// The same, unless it is taken back before the debugger has answered.
    pub(crate) fn attach_unless(recall: &Recall, setup: &Setup, attach: Attach) -> Result<(Session, Outcome)> {
        attach.check()?;
        let adapter = match (&attach.adapter, attach.pid) {
            (None, Some(pid)) => adapters::of_process(&setup.adapters, pid)?.clone(),
            (named, _) => adapters::choose(&setup.adapters, named.as_deref(), Path::new(""))?.clone(),
        };
        let setup = setup.clone();
        let wait = attach.wait;
        let session = Session::start(recall, move || async move { attached(setup, adapter, attach).await })?;
        let outcome = session.wait(wait)?;
        Ok((session, outcome))
    }

    /// What is known without asking anybody.
    pub fn status(&self) -> Status {
        let moment = self.engine.moment();
        let (messages, bytes, _) = self.engine.connection.noise();
        Status {
            adapter: self.engine.adapter.name.clone(),
            state: moment.seen(),
            epoch: moment.epoch,
            process: self.engine.process_id(),
            executed: self.engine.executed.clone(),
            attached: self.engine.attached,
            breakpoints: self.engine.breakpoints().list().to_vec(),
            output: engine::lock(&self.engine.output).end(),
            misread: (messages, bytes),
        }
    }

    /// Where the program is, with its top frame when it is paused.
    pub fn outcome(&self) -> Result<Outcome> {
        self.run(|engine| async move { engine.outcome().await })
    }

    /// Waits until the program is paused or has ended.
    pub fn wait(&self, limit: Duration) -> Result<Outcome> {
        self.run(move |engine| async move { engine.wait(0, limit).await })
    }

    /// Lets the program go on, or pauses it, and waits for what comes of it.
    pub fn control(&self, control: Control, thread: Option<i64>, limit: Duration) -> Result<Outcome> {
        self.run(move |engine| async move { engine.control(control, thread, limit).await })
    }

    /// Sets a breakpoint and tells whether it is bound.
    pub fn set_breakpoint(&self, request: BreakpointRequest) -> Result<Breakpoint> {
        self.run(move |engine| async move { engine.set_breakpoint(request, Purpose::Pause).await })
    }

    /// The same for a snapshot point of this name; what becomes of its hits is for the visitor to say.
    pub fn set_point(&self, request: BreakpointRequest, name: String) -> Result<Breakpoint> {
        self.run(move |engine| async move { engine.set_breakpoint(request, Purpose::Snapshots(name)).await })
    }

    /// Removes a breakpoint.
    pub fn remove_breakpoint(&self, id: &str) -> Result<Breakpoint> {
        let id = id.to_owned();
        self.run(move |engine| async move { engine.remove_breakpoint(&id).await })
    }

    /// The program's threads.
    pub fn threads(&self) -> Result<Vec<ThreadView>> {
        self.run(|engine| async move { engine.threads().await })
    }

    /// Frames of a thread.
    pub fn stack(&self, thread: Option<i64>, start: u32, count: u32) -> Result<StackView> {
        self.run(move |engine| async move { engine.stack_view(thread, start, count).await })
    }

    /// Variables, or what is inside one of them, page by page. Nothing of the program runs unless the request allows it.
    pub fn variables(&self, request: VariablesRequest) -> Result<VariablesPage> {
        self.run(move |engine| async move { walk::page::variables(&engine, &request).await })
    }

    /// The value of an expression.
    pub fn evaluate(&self, request: EvaluateRequest) -> Result<EvaluatedView> {
        self.run(move |engine| async move { engine.evaluate(&request).await })
    }

    /// Where the calls of a thread are, innermost first.
    pub(crate) fn frames(&self, thread: i64) -> Result<Vec<Spot>> {
        self.run(move |engine| async move { engine.spots(thread).await })
    }

    /// From now on the program stops when a value is written to, where the debugger can see that; whether it can.
    pub(crate) fn watch_memory(&self, expression: String, thread: i64, frame: u32) -> Result<bool> {
        self.run(move |engine| async move { engine.watch_memory(&expression, thread, frame).await })
    }

    /// No memory is watched any more.
    pub(crate) fn watch_nothing(&self) -> Result<()> {
        self.run(|engine| async move { engine.watch_nothing().await })
    }

    /// The line of the instruction before the one a thread is at, where the debugger tells.
    pub(crate) fn line_before(&self, thread: i64) -> Result<Option<u32>> {
        self.run(move |engine| async move { engine.line_before(thread).await })
    }

    /// Gives a variable another value; the epoch in which it was set.
    pub fn assign(&self, request: AssignRequest) -> Result<u64> {
        self.run(move |engine| async move { engine.assign(&request).await })
    }

    /// What the program printed from piece `since` on.
    pub fn output(&self, since: u64, most_bytes: usize) -> OutputPage {
        engine::lock(&self.engine.output).since(since, most_bytes)
    }

    /// The exceptions that may have failed the test that is run, in their order.
    pub(crate) fn thrown(&self) -> Vec<ThrownError> {
        engine::lock(&self.engine.thrown).clone()
    }

    /// One look at the paused program: its id, number and label are for whoever keeps it to give.
    pub fn capture(&self, plan: CapturePlan) -> Result<Capture> {
        self.run(move |engine| async move { walk::capture(&engine, &engine.paused()?, &plan).await })
    }

    /// From now on a visitor sees every stop before anybody else hears of it.
    pub fn visit_stops(&self, visitor: Arc<dyn Visitor>) {
        self.engine.visit_stops(visitor);
    }

    /// Does something once the program has ended or the debugger is gone, unless this is dropped before.
    pub fn at_end(&self, work: impl FnOnce(State) + Send + 'static) {
        let mut moment = self.engine.follow();
        let engine = Arc::downgrade(&self.engine);
        self.runtime.spawn(async move {
            let Ok(end) = moment.wait_for(|now| now.is_over()).await.map(|now| now.state.clone()) else { return };
            // How it ended may become known a moment later.
            if let (State::Exited { code: None }, Some(engine)) = (&end, engine.upgrade()) {
                engine.unpaused().await;
                return work(engine.moment().state);
            }
            work(end);
        });
    }

    /// Ends the session: the program is ended, or goes on without its debugger.
    pub fn disconnect(&self, end_program: bool) -> Result<()> {
        self.run(move |engine| async move {
            farewell(&engine, end_program).await;
            Ok(())
        })
    }

    fn start<F, T>(recall: &Recall, open: F) -> Result<Session>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Future<Output = Result<Arc<Engine>>> + Send + 'static,
    {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()
            .map_err(|error| Error::io("prepare to talk to a debugger", error))?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = std::thread::Builder::new()
            .name("debug".to_owned())
            .spawn(move || {
                // Whoever started this has gone, or says that it is over.
                let _ = runtime.block_on(stopped);
            })
            .map_err(|error| Error::io("start a thread for the debugger", error))?;
        recall.begin(stop);
        let (answer, answered) = sync_channel(1);
        handle.spawn(async move {
            let _ = answer.send(open().await);
        });
        let opened = answered.recv().unwrap_or_else(|_| Err(gone()));
        match (opened, recall.settle()) {
            (Ok(engine), Some(stop)) => Ok(Session { engine, runtime: handle, stop: Some(stop), thread: Some(thread) }),
            (opened, stop) => {
                let taken_back = stop.is_none();
                drop(stop);
                // What was started for it is gone when its thread is.
                let _ = thread.join();
                let failure = opened.map(|engine| drop(engine.take_process())).err().filter(|_| !taken_back);
                Err(failure.unwrap_or_else(recall::taken_back))
            }
        }
    }

    fn run<T, F, W>(&self, work: F) -> Result<T>
    where
        F: FnOnce(Arc<Engine>) -> W,
        W: Future<Output = Result<T>> + Send + 'static,
        T: Send + 'static,
    {
        let (answer, answered) = sync_channel(1);
        let work = work(Arc::clone(&self.engine));
        self.runtime.spawn(async move {
            // Nobody waits any more if it cannot be told.
            let _ = answer.send(work.await);
        });
        answered.recv().unwrap_or_else(|_| Err(gone()))
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("status", &self.status()).finish_non_exhaustive()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let attached = self.engine.attached;
        let _ = self.run(move |engine| async move {
            farewell(&engine, !attached).await;
            Ok(())
        });
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Takes leave of the adapter, and ends what remains of it.
async fn farewell(engine: &Engine, end_program: bool) {
    // One that works on something may never be done.
    let patience = if engine.connection.is_busy() { HASTE } else { FAREWELL };
    let Some(process) = engine.take_process() else {
        let arguments = json!({ "restart": false, "terminateDebuggee": end_program });
        if engine.connection.ended().is_none() && engine.over().is_none() {
            let _ = engine.connection.send("disconnect", arguments, patience).await;
        }
        engine.change(state::Change::Lost("it was disconnected".to_owned()));
        return;
    };
    // Of a program that was there before us only the debugger was started here.
    if !end_program && !engine.attached {
        process.release();
    }
    if engine.connection.ended().is_none() {
        let arguments = json!({ "restart": false, "terminateDebuggee": end_program });
        let answer = engine.connection.send("disconnect", arguments, patience).await;
        if answer.is_err() && end_program {
            // It cannot be asked to end the program, which is none of its group.
            engine.end_program();
        } else if !engine.adapter.quirks.is_program || end_program {
            let mut exit = process.exit();
            let _ = tokio::time::timeout(FAREWELL / 3, exit.wait_for(Option::is_some)).await;
        }
    }
    if end_program {
        // A debugger that died or lost the program has not ended it, whatever it says.
        engine.end_program();
    }
    engine.change(state::Change::Lost("it was disconnected".to_owned()));
}

async fn launched(setup: Setup, adapter: Adapter, runtime: PathBuf, mut launch: Launch) -> Result<Arc<Engine>> {
    let sink = Sink::default();
    let scratch = Scratch::new()?;
    if let Some(runner) = launch.runner {
        launch.program = scratch.file("tests.py", runner)?;
    }
    let stdin = launch.stdin.as_deref().map(|text| scratch.file("stdin", text)).transpose()?;
    let start = Start {
        adapter: &adapter,
        runtime,
        program: &launch.program,
        module: launch.module.as_deref(),
        interpreter_arguments: &launch.interpreter_arguments,
        child_listens: launch.child_listens,
        arguments: &launch.arguments,
        directory: &launch.directory,
        environment: &launch.environment,
        scratch: Some(scratch.path()),
        stdin: stdin.clone(),
        patience: setup.timeout,
        started: OnceLock::new(),
    };
    let link = start.open(&sink).await;
    let build = launch.build.as_ref().map(|build| build.command.clone()).unwrap_or_default();
    let executed = Executed { build, ..start.executed() };
    let link = Link { executed: executed.clone(), ..link.map_err(|error| executed.told_with(error))? };
    let mut values = handshake::values(
        &launch.program,
        &launch.arguments,
        &launch.directory,
        &launch.environment,
        launch.stop_on_entry,
    );
    values.insert("child_listens".to_owned(), json!(launch.child_listens));
    values.extend(launch.mode.map(|mode| ("mode".to_owned(), json!(mode))));
    let rust = || sysroot(&setup, &launch.program);
    values.insert("init_commands".to_owned(), handshake::init_commands(adapter.quirks.walker, rust, stdin.as_deref()));
    values.insert("stdin_file".to_owned(), json!(stdin));
    values.insert("scratch_file".to_owned(), json!(scratch.path().join("program")));
    let arguments = with_options(fill(&adapter.launch, &values), launch.options);
    let opening = Opening { command: "launch", arguments, breakpoints: launch.breakpoints, patience: setup.timeout };
    let opened = opened(adapter, link, sink, &setup, opening, Some(scratch)).await;
    opened.map_err(|error| executed.told_with(error))
}

async fn attached(setup: Setup, adapter: Adapter, attach: Attach) -> Result<Arc<Engine>> {
    if adapter.attach.is_empty() {
        return Err(Error::new(Code::AdapterFailed, format!("`{}` cannot attach to a program", adapter.name)));
    }
    let sink = Sink::default();
    let link = match (attach.port, attach.pid) {
        (Some(port), _) => link::attach(&adapter, &attach.host, port, &attach.admission, setup.timeout).await?,
        (None, Some(pid)) => {
            let runtime = attach.runtime.as_deref();
            let opened = by_pid::open(&adapter, pid, runtime, &setup.search, setup.timeout, &sink).await;
            opened.map_err(|error| by_pid::explained(error, &adapter))?
        }
        (None, None) => {
            return Err(Error::new(Code::Usage, "nothing to attach to: name a process with `pid` or a `port`"));
        }
    };
    let attaches_to_process = attach.port.is_none().then(|| adapter.clone());
    let executed = link.executed.clone();
    let mut values = Map::new();
    values.insert("pid".to_owned(), json!(attach.pid));
    values.insert("port".to_owned(), json!(attach.port));
    values.insert("host".to_owned(), json!(attach.host));
    let program = attach.pid.map(|pid| PathBuf::from(format!("/proc/{pid}/exe")));
    let rust = || program.and_then(|program| sysroot(&setup, &program));
    values.insert("init_commands".to_owned(), handshake::init_commands(adapter.quirks.walker, rust, None));
    let arguments = with_options(fill(&adapter.attach, &values), attach.options);
    let opening = Opening { command: "attach", arguments, breakpoints: attach.breakpoints, patience: setup.timeout };
    let opened = opened(adapter, link, sink, &setup, opening, None).await;
    opened.map_err(|error| match attaches_to_process {
        Some(adapter) => executed.told_with(by_pid::explained(error, &adapter)),
        None => error,
    })
}

async fn opened(
    adapter: Adapter,
    link: Link,
    sink: Sink,
    setup: &Setup,
    opening: Opening,
    scratch: Option<Scratch>,
) -> Result<Arc<Engine>> {
    let engine = Engine::begin(adapter, link, sink, Arc::clone(&setup.clock), scratch);
    match handshake::open(&engine, opening).await {
        Ok(()) => Ok(engine),
        // A program that cannot even begin, such as one that is no JavaScript, has ended: what it said is its output.
        Err(_) if has_ended(&engine).await => Ok(engine),
        Err(error) => {
            // The task that listens holds the engine as long as the adapter speaks.
            drop(engine.take_process());
            Err(with_output(error, &engine))
        }
    }
}

/// Whether the program that was started here has ended by itself, with a code.
async fn has_ended(engine: &Engine) -> bool {
    if engine.attached || !engine.adapter.quirks.is_program || engine.connection.ended().is_none() {
        return false;
    }
    let mut moment = engine.follow();
    let _ = tokio::time::timeout(FAREWELL, moment.wait_for(|now| now.is_over())).await;
    matches!(engine.unpaused().await, Outcome::Exited { code: Some(_) })
}

/// What was said while a program was being started says why it was not: above all a compiler's errors.
fn with_output(error: Error, engine: &Engine) -> Error {
    let said = engine::lock(&engine.output).last_words();
    if said.is_empty() || error.message().contains(&said) {
        return error;
    }
    let told = Error::new(error.code(), format!("{}; it said: {said}", error.message()));
    told.with_advice(error.advice())
}

/// The Rust toolchain that is active, if there is one and the program is Rust's: its formatters take the place of LLDB's own
/// for every type, also for those of C++.
fn sysroot(setup: &Setup, program: &Path) -> Option<PathBuf> {
    if !adapters::is_rust(program) {
        return None;
    }
    setup.rust_sysroot.clone().or_else(|| adapters::rust_sysroot(&setup.search))
}

fn with_options(mut arguments: Value, options: Map<String, Value>) -> Value {
    if let Value::Object(arguments) = &mut arguments {
        arguments.extend(options);
    }
    arguments
}

fn gone() -> Error {
    Error::new(Code::NoSession, "the debug session is over").then("start it again", NextStep::LaunchProgram)
}
