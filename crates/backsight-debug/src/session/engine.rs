//! One debugged program and its adapter: what is known about it, kept up to date by what the adapter says. The rest of the
//! session asks through here, so that every question is about the stop it was meant for.

use std::os::unix::process::ExitStatusExt;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use backsight_core::{Code, Error, NextStep, Result, Timestamp};
use rustix::process::{Pid, Signal};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::breakpoints::Breakpoints;
use super::control::exception_words;
use super::executed::Executed;
use super::link::{Link, Sink, with_words};
use super::state::{Change, Moment, State, Stop};
use super::visit::{Entering, Visitor};
use crate::adapters::Adapter;
use crate::dap::connection::{Connection, Heard, Incoming, Refused};
use crate::dap::process::{Process, Tail, exit_code};
use crate::dap::scratch::Scratch;
use crate::dap::types::{self, Capabilities, StackFrame};
use crate::testing::ThrownError;

/// Tells the time.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// How long an ordinary question may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
/// How long the end of a process may come after the end of its program.
const EXIT: Duration = Duration::from_secs(3);

/// A session's state, shared by everyone who asks.
pub(crate) struct Engine {
    pub adapter: Adapter,
    pub connection: Connection,
    pub clock: Clock,
    pub output: Sink,
    moment: watch::Sender<Moment>,
    initialized: watch::Sender<bool>,
    capabilities: Mutex<Capabilities>,
    breakpoints: Mutex<Breakpoints>,
    /// Breakpoints of a file are told all at once, so two who change them must not cross.
    pub setting: tokio::sync::Mutex<()>,
    /// The stacks that were asked for in this epoch.
    stacks: Mutex<Stacks>,
    /// Sees every stop first.
    pub visitor: Mutex<Option<Arc<dyn Visitor>>>,
    /// What else happened at the stop that is being looked at, in other threads.
    pub also_stopped: Mutex<Vec<Stop>>,
    /// Exceptions that may have failed the test that is run.
    pub thrown: Mutex<Vec<ThrownError>>,
    /// The program has not come to its first line.
    pub entering: Mutex<Option<Entering>>,
    /// The program makes a step that somebody asked for.
    pub stepping: AtomicBool,
    /// Somebody wants it to pause, and nobody let it go on since.
    pub pausing: AtomicBool,
    /// What the walker needs to be told once.
    pub prepared: tokio::sync::Mutex<Option<Value>>,
    process: Mutex<Option<Process>>,
    /// What was executed for this session; nothing where a debugger waited for us.
    pub executed: Executed,
    /// The program, where its debugger started it and tells.
    program: Mutex<Option<Debuggee>>,
    stderr: Tail,
    /// The program is one that was there before us.
    pub attached: bool,
    /// What the debugger builds goes here, and goes with us. None for a program that was there before.
    _scratch: Option<Scratch>,
}

/// A process that a debugger started.
#[derive(Clone, Copy, Debug)]
struct Debuggee {
    process: Pid,
    /// When it began: another process of the same number began later.
    began: Option<u64>,
}

impl Debuggee {
    fn new(process: Pid) -> Debuggee {
        Debuggee { process, began: began(process) }
    }

    fn lives(&self) -> bool {
        self.began.is_some() && began(self.process) == self.began
    }
}

/// When a process began, in ticks since the system did.
fn began(process: Pid) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero())).ok()?;
    // Its name may hold anything, also blanks and parentheses.
    text.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}

#[derive(Default)]
struct Stacks {
    epoch: u64,
    known: Vec<(i64, u32, Arc<Vec<StackFrame>>)>,
}

/// A stop that is still the present one as long as [`Engine::still`] says so.
#[derive(Clone, Debug)]
pub(crate) struct Paused {
    pub epoch: u64,
    pub stop: Stop,
}

impl Engine {
    /// Takes over an open link; whatever the adapter says from now on is heard.
    pub(crate) fn begin(
        adapter: Adapter,
        link: Link,
        output: Sink,
        clock: Clock,
        scratch: Option<Scratch>,
    ) -> Arc<Engine> {
        let (connection, incoming) = Connection::open(link.reader, link.writer, adapter.quirks.window);
        let engine = Arc::new(Engine {
            adapter,
            connection,
            clock,
            output,
            moment: watch::Sender::new(Moment::new()),
            initialized: watch::Sender::new(false),
            capabilities: Mutex::default(),
            breakpoints: Mutex::default(),
            setting: tokio::sync::Mutex::default(),
            stacks: Mutex::default(),
            visitor: Mutex::default(),
            entering: Mutex::default(),
            also_stopped: Mutex::default(),
            thrown: Mutex::default(),
            stepping: AtomicBool::new(false),
            pausing: AtomicBool::new(false),
            prepared: tokio::sync::Mutex::default(),
            process: Mutex::new(link.process),
            executed: link.executed,
            program: Mutex::default(),
            stderr: link.stderr,
            attached: scratch.is_none(),
            _scratch: scratch,
        });
        tokio::spawn(Arc::clone(&engine).listen(incoming));
        engine
    }

    /// Asks the adapter.
    pub(crate) async fn ask(&self, command: &str, arguments: Value, patience: Duration) -> Result<Value> {
        let answer = self.connection.request(command, arguments, patience).await;
        answer.map_err(|refused| self.failed(command, refused))
    }

    /// Why a request failed, in the words of the one who failed.
    pub(crate) fn failed(&self, command: &str, refused: Refused) -> Error {
        let name = &self.adapter.name;
        match refused {
            Refused::Answered(message) => {
                Error::new(Code::AdapterFailed, format!("`{name}` refused `{command}`: {message}"))
            }
            Refused::TimedOut(_) => {
                Error::new(Code::DebugTimeout, format!("`{name}` did not answer `{command}`: {refused}"))
            }
            Refused::Gone(reason) => match self.over() {
                Some(error) if self.moment.borrow().is_over() => error,
                _ => Error::new(Code::AdapterFailed, with_words(format!("`{name}`: {reason}"), &self.stderr)),
            },
        }
    }

    /// Where the program is.
    pub(crate) fn moment(&self) -> Moment {
        self.moment.borrow().clone()
    }

    /// Follows where the program is.
    pub(crate) fn follow(&self) -> watch::Receiver<Moment> {
        self.moment.subscribe()
    }

    pub(crate) fn change(&self, change: Change) {
        self.change_moment(|moment| moment.change(change));
    }

    pub(crate) fn change_moment(&self, change: impl FnOnce(&mut Moment) -> bool) {
        self.moment.send_if_modified(change);
    }

    /// The present stop, or why there is none.
    pub(crate) fn paused(&self) -> Result<Paused> {
        let moment = self.moment();
        match moment.seen() {
            State::Stopped(stop) => Ok(Paused { epoch: moment.epoch, stop }),
            State::Starting | State::Running => Err(Error::new(Code::NotPaused, "the program is running")
                .then("pause it", NextStep::PauseProgram)
                .or_hint("let it run into a breakpoint")),
            State::Exited { .. } | State::Disconnected { .. } => Err(self.over().unwrap_or_else(|| {
                Error::new(Code::NoSession, "nothing is being debugged")
                    .then("start a program", NextStep::LaunchProgram)
            })),
        }
    }

    /// Whether the program has not moved since.
    pub(crate) fn still(&self, paused: &Paused) -> Result<()> {
        if self.moment.borrow().epoch == paused.epoch {
            return Ok(());
        }
        Err(Error::new(Code::StateChanged, "the program went on while it was being looked at; nothing was kept"))
    }

    /// That the session is over, if it is.
    pub(crate) fn over(&self) -> Option<Error> {
        let message = match self.moment().state {
            State::Exited { code: Some(code) } => format!("the program has ended with exit code {code}"),
            State::Exited { code: None } => "the program has ended".to_owned(),
            State::Disconnected { reason } => format!("the debug session is over: {reason}"),
            _ => return None,
        };
        Some(Error::new(Code::NoSession, message).then("start it again", NextStep::LaunchProgram))
    }

    pub(crate) fn capabilities(&self) -> Capabilities {
        lock(&self.capabilities).clone()
    }

    pub(crate) fn breakpoints(&self) -> MutexGuard<'_, Breakpoints> {
        lock(&self.breakpoints)
    }

    /// The frames of a thread, innermost first, at least `levels` of them where there are as many.
    pub(crate) async fn stack(&self, paused: &Paused, thread: i64, levels: u32) -> Result<Arc<Vec<StackFrame>>> {
        if let Some(known) = self.known_stack(paused.epoch, thread, levels) {
            return Ok(known);
        }
        let mut arguments = json!({ "threadId": thread, "startFrame": 0 });
        if levels < u32::MAX {
            arguments["levels"] = json!(levels);
        }
        let answer = self.ask("stackTrace", arguments, PATIENCE).await;
        let told = answer.map(|body| types::list::<StackFrame>(body, "stackFrames").0);
        let mut frames = match told {
            Ok(frames) if !frames.is_empty() => frames,
            told => self.check_thread(thread).await.and(told)?,
        };
        self.still(paused)?;
        for frame in &mut frames {
            // What debugpy adds to the frame where an exception is, and rustc to every function.
            if let Some(plain) = frame.name.strip_suffix(" (Current frame)").or_else(|| without_hash(&frame.name)) {
                frame.name = plain.to_owned();
            }
        }
        let frames = Arc::new(frames);
        // Who answers with more than was asked for has answered for more.
        let good_for = if frames.len() as u64 > u64::from(levels) { frames.len() as u32 } else { levels };
        let mut stacks = lock(&self.stacks);
        if stacks.epoch != paused.epoch {
            *stacks = Stacks { epoch: paused.epoch, known: Vec::new() };
        }
        stacks.known.retain(|(known, ..)| *known != thread);
        stacks.known.push((thread, good_for, Arc::clone(&frames)));
        Ok(frames)
    }

    /// Whether there is such a thread; otherwise those there are.
    async fn check_thread(&self, thread: i64) -> Result<()> {
        let body = self.ask("threads", Value::Null, PATIENCE).await?;
        let (threads, _) = types::list::<types::Thread>(body, "threads");
        if threads.is_empty() || threads.iter().any(|known| known.id == thread) {
            return Ok(());
        }
        let known: Vec<String> = threads.iter().take(16).map(|one| format!("{} ({})", one.id, one.name)).collect();
        let more = if threads.len() > known.len() { ", ..." } else { "" };
        let message = format!("there is no thread {thread}: {}{more}", known.join(", "));
        Err(Error::new(Code::Usage, message))
    }

    fn known_stack(&self, epoch: u64, thread: i64, levels: u32) -> Option<Arc<Vec<StackFrame>>> {
        let stacks = lock(&self.stacks);
        let known = stacks.known.iter().find(|(known, good_for, _)| *known == thread && *good_for >= levels);
        known.filter(|_| stacks.epoch == epoch).map(|(.., frames)| Arc::clone(frames))
    }

    /// The process that was started for this, once.
    pub(crate) fn take_process(&self) -> Option<Process> {
        lock(&self.process).take()
    }

    pub(crate) fn process_id(&self) -> Option<i32> {
        lock(&self.process).as_ref().and_then(Process::id)
    }

    /// Waits until the adapter is ready to be told about breakpoints.
    pub(crate) async fn ready(&self) {
        // The sender lives as long as this.
        let _ = self.initialized.subscribe().wait_for(|ready| *ready).await;
    }

    async fn listen(self: Arc<Self>, mut incoming: Incoming) {
        while let Some(heard) = incoming.recv().await {
            match heard {
                Heard::Event { name, body } => self.hear(&name, body),
                Heard::Request { seq, command, .. } => {
                    let reason = format!("`{command}` is not supported by this client");
                    self.connection.answer(seq, &command, Err(&reason));
                }
            }
        }
        let exit = self.exit_of_program().await;
        let over = self.moment.borrow().is_over();
        let reason = self.connection.ended().unwrap_or_else(|| "the connection is closed".to_owned());
        match exit {
            Some(code) => self.change(Change::Exited(Some(code))),
            None if over => {}
            None => {
                self.end_program();
                let crash = self.crash().await.map(|signal| format!("{reason}: it crashed (signal {signal})"));
                self.change(Change::Lost(with_words(crash.unwrap_or(reason), &self.stderr)));
            }
        }
    }

    /// A program whose debugger is gone would go on with nobody knowing of it.
    pub(crate) fn end_program(&self) {
        // It may be gone with its debugger.
        if let Some(program) = lock(&self.program).take().filter(Debuggee::lives) {
            let _ = rustix::process::kill_process(program.process, Signal::KILL);
        }
    }

    /// Interrupts the program as Ctrl-C would. A debugger that has it evaluate something takes that as the end of the evaluation,
    /// and the program does not hear of it.
    pub(crate) fn interrupt_program(&self) {
        if let Some(program) = lock(&self.program).filter(Debuggee::lives) {
            let _ = rustix::process::kill_process(program.process, Signal::INT);
        }
    }

    /// Likewise a program that was started here and handles that itself; any other would end.
    pub(crate) fn interrupt_started(&self) {
        let Some(process) = self.process_id().and_then(Pid::from_raw) else { return };
        let status = std::fs::read_to_string(format!("/proc/{}/status", process.as_raw_nonzero())).unwrap_or_default();
        if handles(&status, Signal::INT) {
            let _ = rustix::process::kill_process(process, Signal::INT);
        }
    }

    /// The signal that ended the debugger, if it was one.
    async fn crash(&self) -> Option<i32> {
        let mut exit = lock(&self.process).as_ref().map(Process::exit)?;
        let status = tokio::time::timeout(EXIT, exit.wait_for(Option::is_some)).await.ok()?.ok()?;
        (*status)?.signal()
    }

    fn hear(self: &Arc<Self>, name: &str, body: Value) {
        match name {
            "initialized" => drop(self.initialized.send_replace(true)),
            "stopped" => self.hear_stop(types::read(body)),
            "continued" => {
                let body: types::ContinuedBody = types::read(body);
                self.change(Change::Continued {
                    thread: body.thread_id,
                    all: body.all_threads_continued.unwrap_or(true),
                });
            }
            "process" => {
                let program = body["systemProcessId"].as_i64().and_then(|id| i32::try_from(id).ok());
                let program = program.and_then(Pid::from_raw).filter(|_| !self.attached);
                *lock(&self.program) = program.map(Debuggee::new);
            }
            "exited" => self.change(Change::Exited(body["exitCode"].as_i64())),
            "terminated" => {
                self.change(Change::Exited(None));
                // It stays until it is told that this is all.
                drop(self.connection.send("disconnect", json!({ "restart": false }), PATIENCE));
            }
            "output" => self.hear_output(types::read(body)),
            ThrownError::EVENT => lock(&self.thrown).extend(serde_json::from_value(body).ok()),
            "breakpoint" => {
                if let Some(breakpoint) = body.get("breakpoint") {
                    self.breakpoints().heard(types::read(breakpoint.clone()));
                }
            }
            "capabilities" => {
                let told: Capabilities = types::read(body["capabilities"].clone());
                let filters = told.exception_breakpoint_filters;
                if !filters.is_empty() {
                    lock(&self.capabilities).exception_breakpoint_filters = filters;
                }
            }
            _ => {}
        }
    }

    fn hear_stop(self: &Arc<Self>, body: types::StoppedBody) {
        // A debugger inside the program asks the exception what it says, which runs the program's code. It did so when the
        // program came here; whoever only looks must not make it do so again.
        let is_described = body.reason == "exception" && self.adapter.quirks.runs_code;
        let description = match is_described {
            true => exception_words(body.text.unwrap_or_default(), body.description),
            false => body.text.filter(|text| !text.is_empty()).or(body.description),
        };
        let stop = Stop {
            reason: body.reason,
            description,
            is_described,
            thread_id: body.thread_id,
            all_threads: body.all_threads_stopped.unwrap_or(false),
            known_hits: self.breakpoints().numbered(&body.hit_breakpoint_ids),
            hits: body.hit_breakpoint_ids,
            problem: body.problem,
            ..Stop::default()
        }
        .with_plain_words();
        let before = self.moment();
        let aside = body.preserve_focus_hint == Some(true);
        self.change(Change::Stopped { stop: stop.clone(), aside });
        match (self.moment().is_visiting(), before) {
            (true, before) if !before.is_visiting() => {
                lock(&self.also_stopped).clear();
                tokio::spawn(Arc::clone(self).visit());
            }
            // Another thread of the stop that is being looked at.
            (true, Moment { state: State::Stopped(first), .. }) => {
                lock(&self.also_stopped).push(if aside { stop } else { first });
            }
            _ => {}
        }
    }

    fn hear_output(&self, body: types::OutputBody) {
        let category = body.category.unwrap_or_else(|| "console".to_owned());
        if category == "telemetry" {
            return;
        }
        if let Some(code) = self.adapter.quirks.exit_words.as_deref().and_then(|words| code_after(words, &body.output))
        {
            self.change(Change::Exited(Some(code)));
        }
        lock(&self.output).push(&category, &body.output.replace("\r\n", "\n"));
    }

    /// How the program ended, when the process we started is the program.
    async fn exit_of_program(&self) -> Option<i64> {
        if !self.adapter.quirks.is_program || self.attached {
            return None;
        }
        let mut exit = lock(&self.process).as_ref().map(Process::exit)?;
        // That it is over is known already, or nothing is known until then.
        let patience = if self.moment.borrow().is_over() { PATIENCE } else { EXIT };
        let status = tokio::time::timeout(patience, exit.wait_for(Option::is_some)).await.ok()?.ok()?;
        (*status).and_then(exit_code)
    }

    pub(crate) fn set_capabilities(&self, capabilities: Capabilities) {
        *lock(&self.capabilities) = capabilities;
    }
}

/// Whether a process handles a signal itself, by what the system says about it.
fn handles(status: &str, signal: Signal) -> bool {
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let mask = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    let bit = u32::try_from(signal.as_raw() - 1).ok().and_then(|bit| 1u64.checked_shl(bit)).unwrap_or_default();
    mask & bit != 0
}

/// The number after some words.
fn code_after(words: &str, text: &str) -> Option<i64> {
    let rest = text.split_once(words)?.1;
    rest.split(|character: char| !character.is_ascii_digit() && character != '-').next()?.parse().ok()
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `shop::total` of `shop::total::h0f1981f22de61403`.
fn without_hash(function: &str) -> Option<&str> {
    let (plain, hash) = function.rsplit_once("::h")?;
    (hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handled_signal_is_known_from_the_systems_words() {
        let status = "Name:\tpython\nSigIgn:\t0000000001001000\nSigCgt:\t0000000000000002\n";
        assert!(handles(status, Signal::INT) && !handles(status, Signal::TERM));
        assert!(!handles("Name:\tpython\n", Signal::INT) && !handles("SigCgt:\tx\n", Signal::INT));
    }
}
