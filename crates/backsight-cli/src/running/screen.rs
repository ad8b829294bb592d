//! The person's terminal: while a command has a terminal of its own, ours hands every key on as it is. Whatever happens,
//! it is put back as it was.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Mutex, PoisonError};

use rustix::termios::{self, OptionalActions, OutputModes, Termios, Winsize};

/// The terminal on stdin, if it is one.
pub struct Keyboard {
    input: OwnedFd,
    /// As it was before.
    before: Mutex<Option<Termios>>,
}

impl Keyboard {
    /// The terminal on stdin; nothing when stdin is something else.
    pub fn find() -> io::Result<Option<Keyboard>> {
        if !io::stdin().is_terminal() {
            return Ok(None);
        }
        Ok(Some(Keyboard { input: io::stdin().as_fd().try_clone_to_owned()?, before: Mutex::default() }))
    }

    /// Hands every key on from now; not while another job is in front, for that would stop us. Whether it does so.
    pub fn hand_on(&self) -> bool {
        let mut before = self.before.lock().unwrap_or_else(PoisonError::into_inner);
        let in_front = termios::tcgetpgrp(&self.input).is_ok_and(|group| group == rustix::process::getpgrp());
        if !in_front {
            return false;
        }
        let Ok(settings) = termios::tcgetattr(&self.input) else { return false };
        let mut raw = settings.clone();
        raw.make_raw();
        let done = termios::tcsetattr(&self.input, OptionalActions::Now, &raw).is_ok();
        // After a stop the shell has set it back, and the first settings are still the ones to go back to.
        before.get_or_insert(settings);
        done
    }

    /// Puts it back as it was.
    pub fn put_back(&self) {
        let before = self.before.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(settings) = before {
            // A terminal that is gone needs nothing put back.
            let _ = termios::tcsetattr(&self.input, OptionalActions::Drain, &settings);
        }
    }

    /// To read the keys from.
    pub fn keys(&self) -> io::Result<File> {
        Ok(File::from(self.input.try_clone()?))
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        self.put_back();
    }
}

/// Whether the job is in front of the terminal it was started from, so that the terminal itself tells the command of
/// Ctrl-C.
pub fn in_front() -> bool {
    let terminal = File::open("/dev/tty");
    let front = terminal.ok().and_then(|terminal| termios::tcgetpgrp(&terminal).ok());
    front.is_some_and(|front| front == rustix::process::getpgrp())
}

/// Whether a terminal turns line ends into what a screen needs, or leaves that to another one behind it.
pub fn finishes_lines(terminal: &File, does: bool) {
    if let Ok(mut settings) = termios::tcgetattr(terminal) {
        settings.output_modes.set(OutputModes::OPOST, does);
        // A terminal that is gone shows nothing.
        let _ = termios::tcsetattr(terminal, OptionalActions::Now, &settings);
    }
}

/// How large the terminal on stdout is.
pub fn size() -> Option<Winsize> {
    termios::tcgetwinsize(io::stdout()).ok()
}
