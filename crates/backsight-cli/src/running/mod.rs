//! Runs a command in front of a person who notices nothing of it, and listens. On a terminal the command has a terminal of
//! its own, whose output goes to the real one byte for byte; elsewhere it has pipes. What it says is offered to a [`Tap`].

mod child;
mod deliver;
mod ending;
mod leash;
mod pump;
mod record;
pub mod screen;
mod signals;

use std::ffi::OsString;
use std::io;
use std::process::ExitStatus;

pub use deliver::Server;
pub use ending::{Ending, How, purpose};
pub use leash::exec;
pub use record::{Recorded, Recorder, Tap};

/// What to run, and how.
pub struct Job<'a> {
    /// The command and its arguments; never empty.
    pub command: &'a [OsString],
    /// Whether stdout is wanted for something else, so that the command's goes to stderr.
    pub aside: bool,
}

/// How it ended.
pub struct Ended {
    /// Its status.
    pub status: ExitStatus,
    /// Whether something that it started still holds its output.
    pub left_behind: bool,
    /// The last signal that was passed on to it.
    pub forwarded: Option<i32>,
}

/// Runs the command to its end.
pub fn run(job: &Job<'_>, tap: &Tap) -> io::Result<Ended> {
    child::Running::start(job, tap)?.wait()
}
