//! Starts a browser of our own: found where it was said to be, with its own profile, ended with everything it started.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use backsight_core::{Code, Error, Result};
use rustix::process::{Pid, Signal};

use super::discover::{self, Endpoint};

/// What browsers of this kind are called, the plainest first.
const NAMES: [&str; 8] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
    "brave-browser",
    "brave",
];
/// Where macOS keeps them, which no search path names.
const APPLICATIONS: [&str; 4] = [
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    "/Applications/Brave Browser.app/Contents/MacOS/Brave Browser",
];
/// A browser that is asked to end writes its profile first.
const FAREWELL: Duration = Duration::from_secs(3);
/// Lines of stderr worth quoting.
const LAST_LINES: usize = 8;

/// A browser to start.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    /// The program; without it the usual names are looked for.
    pub program: Option<PathBuf>,
    /// Where to look for them: the directories of `PATH`.
    pub search: Vec<PathBuf>,
    /// Its profile, kept afterwards; without it a fresh one that is removed at the end.
    pub profile: Option<PathBuf>,
    /// Without windows.
    pub headless: bool,
    /// The page to open.
    pub url: Option<String>,
    /// More arguments, as they are.
    pub arguments: Vec<String>,
}

/// A browser that was started here. Dropping it ends the browser and everything that belongs to it.
#[derive(Debug)]
pub(crate) struct Launched {
    child: Child,
    /// The browser ends by itself when this is closed, also if this process dies without a word.
    lifeline: Option<ChildStdin>,
    profile: PathBuf,
    /// A profile of our own, to be removed.
    own: Option<tempfile::TempDir>,
    last_lines: Arc<Mutex<VecDeque<String>>>,
    /// Reads those lines until the last process that can say something is gone.
    listening: Option<JoinHandle<()>>,
    /// What a person should know about how it was started.
    pub notes: Vec<String>,
    /// The command line that was executed, the program first.
    pub command: Vec<String>,
}

impl Launch {
    /// Starts it and waits until it says where it listens.
    pub(crate) async fn start(&self, patience: Duration) -> Result<(Launched, Endpoint)> {
        let program = self.find()?;
        let mut launched = self.spawn(&program)?;
        let deadline = Instant::now() + patience;
        loop {
            if let Ok(endpoint) = discover::from_profile(&launched.profile) {
                return Ok((launched, endpoint));
            }
            if let Some(status) = launched.exited() {
                return Err(launched.failed(&format!("`{}` ended before it was ready ({status})", program.display())));
            }
            if Instant::now() >= deadline {
                let seconds = patience.as_secs();
                return Err(launched.failed(&format!("`{}` was not ready within {seconds} s", program.display())));
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// The program that would be started.
    pub fn find(&self) -> Result<PathBuf> {
        let install = "install one with `apt-get install --no-install-recommends chromium`, or name the program";
        if let Some(program) = &self.program {
            return match program.is_file() {
                true => Ok(program.clone()),
                false => {
                    Err(Error::new(Code::ProgramNotFound, format!("there is no browser at `{}`", program.display()))
                        .with_hint(install))
                }
            };
        }
        let named = NAMES.iter().flat_map(|name| self.search.iter().map(move |directory| directory.join(name)));
        let found = named.chain(APPLICATIONS.iter().map(PathBuf::from)).find(|program| is_program(program));
        found.ok_or_else(|| {
            let message = format!("no Chromium or Chrome was found ({} on the search path)", NAMES.join(", "));
            Error::new(Code::ProgramNotFound, message).with_hint(install)
        })
    }

    fn spawn(&self, program: &Path) -> Result<Launched> {
        let own = match &self.profile {
            Some(profile) => {
                std::fs::create_dir_all(profile)
                    .map_err(|error| Error::io(format!("create the profile `{}`", profile.display()), error))?;
                None
            }
            None => Some(
                tempfile::Builder::new()
                    .prefix("backsight-browser-")
                    .tempdir()
                    .map_err(|error| Error::io("create a directory for the browser's profile", error))?,
            ),
        };
        let profile =
            self.profile.clone().or_else(|| own.as_ref().map(|own| own.path().to_owned())).unwrap_or_default();
        // An old browser's word about where it listened.
        let _ = std::fs::remove_file(profile.join("DevToolsActivePort"));
        let root = rustix::process::geteuid().is_root();
        // The shell only moves its own stdin to where browsers look for a controlling pipe, whose end is their end. The
        // protocol itself is spoken over the port, so nobody reads what the pipe says.
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "exec \"$@\" 3<&0 4>/dev/null </dev/null", "sh"]);
        let flags = self.flags(&profile, root);
        command.arg(program).args(&flags);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn().map_err(|error| Error::io(format!("start `{}`", program.display()), error))?;
        let last_lines = Arc::default();
        let listening = child.stderr.take().and_then(|stderr| listen(stderr, Arc::clone(&last_lines)));
        let mut notes = Vec::new();
        if root {
            notes.push("the browser runs without its sandbox, since it was started as root".to_owned());
        }
        let command = std::iter::once(program.display().to_string()).chain(flags).collect();
        Ok(Launched { lifeline: child.stdin.take(), child, profile, own, last_lines, listening, notes, command })
    }

    fn flags(&self, profile: &Path, root: bool) -> Vec<String> {
        let mut flags: Vec<String> = [
            "--remote-debugging-port=0",
            "--remote-debugging-pipe",
            "--no-first-run",
            "--no-default-browser-check",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-gpu",
            "--disable-quic",
            "--disable-breakpad",
        ]
        .map(str::to_owned)
        .to_vec();
        flags.push(format!("--user-data-dir={}", profile.display()));
        if self.headless {
            flags.push("--headless=new".to_owned());
        }
        if root {
            flags.push("--no-sandbox".to_owned());
        }
        flags.extend(self.arguments.iter().cloned());
        // The address it was started for is opened when everything is ready to see that.
        flags.push("about:blank".to_owned());
        flags
    }
}

impl Launched {
    /// How it ended, once it has.
    pub(crate) fn exited(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// The last it said on stderr. After its end that takes a moment to arrive.
    pub(crate) fn last_words(&mut self) -> Vec<String> {
        if self.exited().is_some() {
            self.await_listening();
        }
        self.last_lines.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// Where it now listens.
    pub(crate) fn endpoint(&self) -> std::result::Result<Endpoint, String> {
        discover::from_profile(&self.profile)
    }

    fn await_listening(&self) {
        let deadline = Instant::now() + Duration::from_millis(500);
        let listens = || self.listening.as_ref().is_some_and(|thread| !thread.is_finished());
        while listens() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn failed(&mut self, what: &str) -> Error {
        let words = self.last_words();
        let said =
            if words.is_empty() { "it said nothing".to_owned() } else { format!("it said: {}", words.join(" | ")) };
        Error::new(Code::BrowserUnreachable, format!("{what}; {said}"))
    }

    /// Asks it to end, and ends whatever remains.
    fn end(&mut self) {
        drop(self.lifeline.take());
        let deadline = Instant::now() + FAREWELL;
        while self.exited().is_none() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
        }
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            // The group is usually empty by now.
            let _ = rustix::process::kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
        self.await_listening();
    }
}

impl Drop for Launched {
    fn drop(&mut self) {
        self.end();
        let Some(own) = self.own.take() else { return };
        // Helpers that were killed a moment ago may still be writing.
        let path = own.keep();
        for _ in 0..50 {
            match std::fs::remove_dir_all(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                _ => return,
            }
        }
    }
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// Reads what the browser says so that it never blocks on it. Ends with the last process that holds the other end.
fn listen(stderr: ChildStderr, last_lines: Arc<Mutex<VecDeque<String>>>) -> Option<JoinHandle<()>> {
    let read = move || {
        for line in BufReader::new(stderr).split(b'\n') {
            let Ok(line) = line else { return };
            let line: String = String::from_utf8_lossy(&line).trim().chars().take(300).collect();
            let mut lines = last_lines.lock().unwrap_or_else(PoisonError::into_inner);
            lines.push_back(line);
            if lines.len() > LAST_LINES {
                lines.pop_front();
            }
        }
    };
    // Without a thread the browser's words are lost, which matters less than the browser.
    std::thread::Builder::new().name("browser-stderr".to_owned()).spawn(read).ok()
}
