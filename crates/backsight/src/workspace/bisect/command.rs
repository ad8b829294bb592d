//! Runs the command that judges a step's files, and says what its end means. The command and all it starts are one process
//! group, which ends with the run, and also when this process is killed.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use backsight_core::{Code, Error, Result};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::bisect::Verdict;

/// How much of what a command says last is kept.
const KEPT_OUTPUT: usize = 4 << 10;
/// How often a run is asked whether it is still wanted.
const GLANCE: Duration = Duration::from_millis(50);
/// How long the output is waited for when the command is over: a program it left behind may hold it open.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// What a command says when a step cannot be judged, as with `git bisect run`.
const SKIP: i32 = 125;
/// Signals by which a program ends itself through a fault of its own.
const FAULTS: [Signal; 7] =
    [Signal::SEGV, Signal::ABORT, Signal::BUS, Signal::FPE, Signal::ILL, Signal::TRAP, Signal::SYS];
/// Signals by which others end a program: the user, the system when memory is short.
const ENDED: [Signal; 5] = [Signal::INT, Signal::TERM, Signal::KILL, Signal::HUP, Signal::QUIT];

/// What a run showed.
pub(super) struct Ran {
    pub(super) verdict: Verdict,
    pub(super) because: String,
    /// What it said last.
    pub(super) output: String,
}

/// How a command is run.
pub(super) struct Run<'a> {
    pub(super) command: &'a [String],
    pub(super) directory: &'a Path,
    pub(super) environment: Vec<(&'static str, OsString)>,
    pub(super) timeout: Option<Duration>,
    pub(super) cancelled: &'a dyn Fn() -> bool,
}

impl Run<'_> {
    /// Runs it to its end. What it leaves running is ended with it.
    pub(super) fn carry_out(&self) -> Result<Ran> {
        let mut started = self.start()?;
        let ended = self.wait(&mut started);
        let said = started.end();
        ended.and_then(|end| judged(end, said))
    }

    /// Starts it.
    pub(super) fn start(&self) -> Result<Started> {
        let Some((program, arguments)) = self.command.split_first() else {
            return Err(Error::new(Code::Usage, "there is no command to run"));
        };
        let (reader, writer) = io::pipe().map_err(|error| Error::io("make a pipe", error))?;
        let also = writer.try_clone().map_err(|error| Error::io("make a pipe", error))?;
        let group = Group::new()?;
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(self.directory)
            .envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null()).stdout(writer).stderr(also).process_group(group.number());
        let mut child = command.spawn().map_err(|error| not_started(program, self.directory, &error))?;
        // The pipe ends when the last program that holds it is gone, so this process must not.
        drop(command);
        let output = thread::spawn(move || last_words(reader));
        let (tell, told) = sync_channel(1);
        thread::spawn(move || tell.send(child.wait()));
        Ok(Started { group, told, output })
    }

    fn wait(&self, started: &mut Started) -> Result<End> {
        let began = Instant::now();
        loop {
            if let Some(status) = started.ended_within(GLANCE) {
                return status.map(End::Status);
            }
            if (self.cancelled)() {
                return Err(Error::new(Code::Cancelled, "the search was taken back"));
            }
            if let Some(most) = self.timeout.filter(|most| began.elapsed() > *most) {
                return Ok(End::TimedOut(most));
            }
        }
    }
}

/// A command that was started. Dropping it ends the command and all it started.
pub(super) struct Started {
    group: Group,
    told: Receiver<io::Result<ExitStatus>>,
    output: thread::JoinHandle<Vec<u8>>,
}

impl Started {
    /// How it ended, if it does within a time.
    pub(super) fn ended_within(&mut self, patience: Duration) -> Option<Result<ExitStatus>> {
        match self.told.recv_timeout(patience) {
            Ok(status) => Some(status.map_err(|error| Error::io("wait for the command", error))),
            Err(RecvTimeoutError::Disconnected) => Some(Err(Error::new(Code::Io, "the command was lost"))),
            Err(RecvTimeoutError::Timeout) => None,
        }
    }

    /// Ends it; what it said last.
    pub(super) fn end(self) -> String {
        drop(self.group);
        collect(self.output)
    }
}

/// A process group that ends with this value, or with this process however that ends. Its first member is a shell that waits
/// for the end of a pipe that only this process holds, and then ends the whole group, itself included: as long as it lives, no
/// other group can have the number.
struct Group {
    warden: Child,
}

impl Group {
    fn new() -> Result<Group> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "read word; kill -9 0"]).env_clear().current_dir("/").process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let warden = command.spawn().map_err(|error| Error::io("start `/bin/sh`, which ends a run", error))?;
        Ok(Group { warden })
    }

    /// As a command is told to join it.
    fn number(&self) -> i32 {
        i32::try_from(self.warden.id()).unwrap_or_default()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(group) = Pid::from_raw(self.number()) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.warden.wait();
    }
}

/// How a run ended.
enum End {
    Status(ExitStatus),
    TimedOut(Duration),
}

fn judged(end: End, output: String) -> Result<Ran> {
    let (verdict, because) = match end {
        End::TimedOut(most) => (Verdict::Bad, format!("timed out after {} s", most.as_secs_f64())),
        End::Status(status) => verdict_of(status)?,
    };
    Ok(Ran { verdict, because, output })
}

fn verdict_of(status: ExitStatus) -> Result<(Verdict, String)> {
    // A shell says the same of what it ran by a number.
    let signal = status.signal().or(status.code().map(|code| code - 128)).and_then(named);
    if let Some(signal) = signal {
        if ENDED.contains(&signal) {
            let message = format!("the command was ended by signal {}", signal.as_raw());
            return Err(Error::new(Code::Cancelled, message).with_hint("nothing was recorded; start again"));
        }
        return Ok((Verdict::Bad, format!("signal {}", signal.as_raw())));
    }
    Ok(match status.code() {
        Some(0) => (Verdict::Good, "exit 0".to_owned()),
        Some(SKIP) => (Verdict::Skip, "exit 125".to_owned()),
        Some(code) => (Verdict::Bad, format!("exit {code}")),
        None => (Verdict::Bad, format!("signal {}", status.signal().unwrap_or_default())),
    })
}

/// The signal of a number that means something here.
fn named(number: i32) -> Option<Signal> {
    FAULTS.iter().chain(&ENDED).copied().find(|signal| signal.as_raw() == number)
}

fn not_started(program: &str, directory: &Path, error: &io::Error) -> Error {
    let message = format!("`{program}` cannot be run in `{}`: {error}", directory.display());
    Error::new(Code::ProgramNotFound, message)
        .with_hint("the command runs on a copy of the files: give a program of the search path, or a recorded one")
}

/// The end of what is said, however much that is.
fn last_words(mut reader: impl Read) -> Vec<u8> {
    let (mut kept, mut buffer) = (VecDeque::with_capacity(KEPT_OUTPUT), [0; 8 << 10]);
    while let Ok(count @ 1..) = reader.read(&mut buffer) {
        kept.extend(&buffer[..count]);
        let excess = kept.len().saturating_sub(KEPT_OUTPUT);
        kept.drain(..excess);
    }
    kept.into()
}

fn collect(output: thread::JoinHandle<Vec<u8>>) -> String {
    let (tell, told) = sync_channel(1);
    thread::spawn(move || tell.send(output.join().unwrap_or_default()));
    let kept = told.recv_timeout(LAST_WORDS).unwrap_or_default();
    let text = String::from_utf8_lossy(&kept);
    // The first line was cut in the middle when more was said.
    match text.split_once('\n') {
        Some((_, rest)) if kept.len() >= KEPT_OUTPUT => rest.to_owned(),
        _ => text.into_owned(),
    }
}
