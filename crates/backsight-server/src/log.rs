//! A window into the server: a line for every request (what was asked, by whom, how long it took, how it ended) and one for
//! every panic with where it was. Arguments, answers, paths and texts of users and programs are never written.
//!
//! Spans and events are those of `tracing`; what becomes of them is decided here, so that what libraries say about the bytes
//! they carry does not get in.

mod journal;

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::OnceLock;

use backsight_core::Result;
use tracing::Span;
use tracing::field::Empty;

use journal::Journal;

/// Only what is said under this name is written.
const OURS: &str = "backsight";

/// Where the log goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogTo {
    /// To stderr.
    Stderr,
    /// Into a file; when it is large, it becomes `FILE.1` and another is begun.
    File(PathBuf),
}

impl FromStr for LogTo {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text {
            "" => Err("it is `stderr` or a file".to_owned()),
            "stderr" => Ok(LogTo::Stderr),
            file => Ok(LogTo::File(file.into())),
        }
    }
}

impl fmt::Display for LogTo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LogTo::Stderr => f.write_str("stderr"),
            LogTo::File(file) => write!(f, "{}", file.display()),
        }
    }
}

impl LogTo {
    /// The file, from a directory.
    pub fn from(self, directory: &Path) -> LogTo {
        match self {
            LogTo::Stderr => LogTo::Stderr,
            LogTo::File(file) => LogTo::File(directory.join(file)),
        }
    }
}

/// Writes a log from now on, for the whole process. Once is enough: a second one is not begun.
pub fn start(to: &LogTo) -> Result<()> {
    let journal = Journal::open(to)?;
    if tracing::subscriber::set_global_default(journal).is_ok() {
        tell_of_panics();
        let _ = PLACE.set(to.to_string());
    }
    Ok(())
}

/// Where this process writes its log, for people; none when it writes none.
pub fn place() -> Option<String> {
    PLACE.get().cloned()
}

static PLACE: OnceLock<String> = OnceLock::new();

/// A panic is a line with its place; what was said may be about the user's data and is for stderr alone.
fn tell_of_panics() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let place = panic.location().map_or("an unknown place".to_owned(), ToString::to_string);
        let thread = std::thread::current();
        tracing::error!(target: OURS, at = %place, thread = thread.name().unwrap_or("-"), "panic");
        before(panic);
    }));
}

/// A request that is being answered. Dropped without an outcome it was taken back.
pub struct Request(Span);

impl Request {
    /// A request for an operation, by its public name, over an interface.
    pub fn new(interface: &'static str, operation: &'static str, client: Option<&str>) -> Request {
        let client = client.unwrap_or("-");
        Request(tracing::info_span!(target: OURS, "request", interface, operation, client, outcome = Empty))
    }

    /// It was answered: `ok`, or the code of a failure.
    pub fn ended(self, outcome: &str) {
        self.0.record("outcome", outcome);
    }
}
