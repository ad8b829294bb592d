//! Signals that are meant for the command reach it: we are only in between.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use rustix::termios;
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH};
use signal_hook::iterator::Signals;

use super::screen;

/// Signals caught from now on; to be made before the command is started, so that none is lost in between.
pub struct Caught(Signals);

/// Where signals go.
pub struct Target {
    /// The command, until it has ended.
    pub child: Arc<Mutex<Option<Pid>>>,
    /// Its terminal, if it has one of its own.
    pub terminal: Option<OwnedFd>,
    /// Called when our job comes to the front.
    pub to_the_front: Box<dyn Fn() + Send>,
    /// The last one passed on.
    pub last: Arc<AtomicI32>,
}

impl Caught {
    /// Catches them.
    pub fn new() -> io::Result<Caught> {
        let signals = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT];
        Ok(Caught(Signals::new(signals)?))
    }

    /// Passes them on, for as long as the process lives.
    pub fn pass_on(mut self, target: Target) {
        thread::spawn(move || self.0.forever().for_each(|signal| target.handle(signal)));
    }
}

impl Target {
    fn handle(&self, signal: i32) {
        match signal {
            SIGWINCH => self.resize(),
            SIGCONT => (self.to_the_front)(),
            // The terminal has told everybody in front already; twice means "at once" to many programs.
            SIGINT | SIGQUIT if self.terminal.is_none() && screen::in_front() => self.note(signal),
            signal => {
                self.note(signal);
                self.forward(signal);
            }
        }
    }

    fn note(&self, signal: i32) {
        self.last.store(signal, Ordering::SeqCst);
    }

    fn resize(&self) {
        if let (Some(terminal), Some(size)) = (&self.terminal, screen::size()) {
            // A terminal that is gone has no size.
            let _ = termios::tcsetwinsize(terminal, size);
        }
    }

    fn forward(&self, signal: i32) {
        let Some(named) = Signal::from_named_raw(signal) else { return };
        let child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(pid) = *child else { return };
        // A command that has just ended needs no signal.
        let _ = match &self.terminal {
            None => kill_process(pid, named),
            Some(terminal) => {
                let front = termios::tcgetpgrp(terminal).ok();
                let keys = matches!(signal, SIGINT | SIGQUIT);
                kill_process_group(front.filter(|_| keys).unwrap_or(pid), named)
            }
        };
    }
}
