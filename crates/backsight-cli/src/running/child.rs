//! The command itself: started with a terminal of its own or with pipes, waited for, and no longer.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use rustix::termios::{self, OptionalActions};

use super::pump::{self, Unread};
use super::record::Tap;
use super::screen::{self, Keyboard};
use super::signals::{Caught, Target};
use super::{Ended, Job, leash};

/// How long after the command's end the rest of its output may take: something that it left behind may hold it for ever.
const REST: Duration = Duration::from_secs(2);

/// A command that runs.
pub struct Running {
    child: Child,
    pid: Arc<Mutex<Option<Pid>>>,
    keyboard: Option<Arc<Keyboard>>,
    over: Receiver<()>,
    streams: usize,
    last_signal: Arc<AtomicI32>,
}

impl Running {
    /// Starts it.
    pub fn start(job: &Job<'_>, tap: &Tap) -> io::Result<Running> {
        let caught = Caught::new()?;
        if io::stdout().is_terminal() && !job.aside {
            with_terminal(job, tap, caught)
        } else {
            with_pipes(job, tap, caught)
        }
    }

    /// Waits for its end and for the rest of its output.
    pub fn wait(mut self) -> io::Result<Ended> {
        let id = pid(&self.child);
        // Until it is reaped its number is nobody else's, so a signal cannot reach a stranger.
        while let Some(Err(rustix::io::Errno::INTR)) =
            id.map(|id| waitid(WaitId::Pid(id), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT))
        {}
        *self.pid.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let status = self.child.wait()?;
        let deadline = Instant::now() + REST;
        let rest = |over: &Receiver<()>| over.recv_timeout(deadline.saturating_duration_since(Instant::now())).is_ok();
        let whole = (0..self.streams).all(|_| rest(&self.over));
        if let Some(keyboard) = &self.keyboard {
            keyboard.put_back();
        }
        let forwarded = Some(self.last_signal.load(Ordering::SeqCst)).filter(|signal| *signal != 0);
        Ok(Ended { status, left_behind: !whole, forwarded })
    }
}

/// Its stdout is a terminal: it gets one of its own, for everything that is a terminal here.
fn with_terminal(job: &Job<'_>, tap: &Tap, caught: Caught) -> io::Result<Running> {
    let keyboard = Keyboard::find()?.map(Arc::new);
    let (pty, pts) = pty_process::blocking::open().map_err(other)?;
    // As the real one is set and sized; where that cannot be found out the new one stays as it is.
    if let Ok(settings) = termios::tcgetattr(io::stdout()) {
        termios::tcsetattr(&pts, OptionalActions::Now, &settings)?;
    }
    if let Some(size) = screen::size() {
        termios::tcsetwinsize(&pty, size)?;
    }
    let mut command = pty_process::blocking::Command::from(leash::plain(job.command));
    if keyboard.is_none() {
        command = command.stdin(Stdio::inherit());
    }
    let apart = !io::stderr().is_terminal();
    if apart {
        command = command.stderr(Stdio::piped());
    }
    let terminal = OwnedFd::from(pty);
    let to_the_front = front(keyboard.clone(), copy(&terminal)?);
    to_the_front();
    let mut child = command.spawn(pts).map_err(other)?;
    let (over, receiver) = sync_channel(2);
    pump::carry(copy(&terminal)?, copy(&io::stdout())?, tap.clone(), Unread::GoOn, over.clone());
    let streams = 1 + carry_errors(&mut child, tap, &over)?;
    follow(child, receiver, streams, keyboard, Some((terminal, to_the_front)), caught)
}

/// Its stdout goes somewhere else: pipes, and everything else is as it is.
fn with_pipes(job: &Job<'_>, tap: &Tap, caught: Caught) -> io::Result<Running> {
    let mut command = leash::command(job.command);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (over, receiver) = sync_channel(2);
    let mut streams = carry_errors(&mut child, tap, &over)?;
    if let Some(out) = child.stdout.take() {
        let to = if job.aside { copy(&io::stderr())? } else { copy(&io::stdout())? };
        pump::carry(File::from(OwnedFd::from(out)), to, tap.clone(), Unread::Break, over);
        streams += 1;
    }
    follow(child, receiver, streams, None, None, caught)
}

fn carry_errors(child: &mut Child, tap: &Tap, over: &SyncSender<()>) -> io::Result<usize> {
    let Some(errors) = child.stderr.take() else { return Ok(0) };
    let from = File::from(OwnedFd::from(errors));
    pump::carry(from, copy(&io::stderr())?, tap.other(), Unread::Break, over.clone());
    Ok(1)
}

/// What makes the keyboard the command's, as soon as our job is in front; keys are read from then on. Where the real
/// terminal hands nothing on it also turns line ends into what it needs, and the command's own must not do so as well.
fn front(keyboard: Option<Arc<Keyboard>>, terminal: File) -> Box<dyn Fn() + Send> {
    let typing = AtomicBool::new(false);
    Box::new(move || {
        let handed_on = keyboard.as_ref().filter(|keyboard| keyboard.hand_on());
        screen::finishes_lines(&terminal, handed_on.is_some());
        let Some(keyboard) = handed_on else { return };
        if let (false, Ok(keys), Ok(terminal)) = (typing.load(Ordering::SeqCst), keyboard.keys(), terminal.try_clone())
        {
            typing.store(true, Ordering::SeqCst);
            pump::type_into(keys, terminal);
        }
    })
}

type OwnTerminal = (OwnedFd, Box<dyn Fn() + Send>);

fn follow(
    child: Child,
    over: Receiver<()>,
    streams: usize,
    keyboard: Option<Arc<Keyboard>>,
    terminal: Option<OwnTerminal>,
    caught: Caught,
) -> io::Result<Running> {
    let known = Arc::new(Mutex::new(pid(&child)));
    let last_signal = Arc::new(AtomicI32::new(0));
    let (terminal, to_the_front) = match terminal {
        Some((terminal, to_the_front)) => (Some(terminal), to_the_front),
        None => (None, Box::new(|| {}) as Box<dyn Fn() + Send>),
    };
    let last = last_signal.clone();
    caught.pass_on(Target { child: known.clone(), terminal, to_the_front, last });
    Ok(Running { child, pid: known, keyboard, over, streams, last_signal })
}

fn pid(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}

fn copy(stream: &impl AsFd) -> io::Result<File> {
    Ok(File::from(stream.as_fd().try_clone_to_owned()?))
}

fn other(error: pty_process::Error) -> io::Error {
    match error {
        pty_process::Error::Io(error) => error,
        error => io::Error::other(error.to_string()),
    }
}
