//! Starts a browser of our own: found where it was said to be, with its own profile, ended with everything it started. It
//! is spoken to through pipes and has no port, since a port would let every user of the machine in.

use std::collections::VecDeque;
use std::fs::DirBuilder;
use std::io::{BufRead, BufReader};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use backsight_core::{Code, Error, Result};
use rustix::process::{Pid, Signal};
use tokio::net::unix::pipe::{Receiver, Sender};

use super::connection::pipe::Pipes;
use super::connection::{Connection, Incoming, Limits, Refused};
use super::own_profile::OwnProfile;

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
    /// A profile of our own, to be removed.
    own: Option<OwnProfile>,
    last_lines: Arc<Mutex<VecDeque<String>>>,
    /// Reads those lines until the last process that can say something is gone.
    listening: Option<JoinHandle<()>>,
    /// What a person should know about how it was started.
    pub notes: Vec<String>,
    /// The command line that was executed, the program first.
    pub command: Vec<String>,
}

impl Launch {
    /// Starts it and waits until it answers. It ends when the connection is dropped, also if this process dies without a
    /// word: the kernel closes the pipe.
    pub(crate) async fn start(&self, patience: Duration) -> Result<(Launched, Connection, Incoming)> {
        let program = self.find()?;
        let (mut launched, pipes) = self.spawn(&program)?;
        let (connection, incoming) = Connection::through(pipes, Limits::default());
        let program = program.display();
        match connection.send(None, "Browser.getVersion", &serde_json::json!({}), patience).await {
            Ok(_) => Ok((launched, connection, incoming)),
            Err(Refused::TimedOut) => {
                let seconds = patience.as_secs();
                Err(launched.failed(&format!("`{program}` was not ready within {seconds} s")))
            }
            Err(Refused::Gone) => Err(match launched.ending().await {
                Some(status) => launched.failed(&format!("`{program}` ended before it was ready ({status})")),
                None => launched.failed(&format!("`{program}` does not speak the DevTools protocol through pipes")),
            }),
            Err(Refused::Answered(words)) => Err(launched.failed(&format!("`{program}` refuses: {words}"))),
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

    /// A directory that only its owner can look into: cookies and all that was visited are in it.
    fn profile(&self) -> Result<(PathBuf, Option<OwnProfile>)> {
        if let Some(profile) = &self.profile {
            let is_new = !profile.exists();
            let created = DirBuilder::new().recursive(true).mode(0o700).create(profile);
            created.map_err(|error| Error::io(format!("create the profile `{}`", profile.display()), error))?;
            if is_new {
                // It holds cookies and no source: neither version control nor a snapshot takes it. Where the file cannot be
                // made, the browser starts all the same.
                let _ = std::fs::write(profile.join(".gitignore"), "*\n");
            }
            // The word of an earlier browser about where it listened; this one listens nowhere.
            let _ = std::fs::remove_file(profile.join("DevToolsActivePort"));
            return Ok((profile.clone(), None));
        }
        let own = OwnProfile::new(&std::env::temp_dir());
        let own = own.map_err(|error| Error::io("create a directory for the browser's profile", error))?;
        Ok((own.path().to_owned(), Some(own)))
    }

    fn spawn(&self, program: &Path) -> Result<(Launched, Pipes)> {
        let (profile, own) = self.profile()?;
        let root = rustix::process::geteuid().is_root();
        // The shell only moves its own stdin and stdout to where browsers look for their pipes, 3 and 4, and becomes the
        // browser: without it that would take `unsafe` code between fork and exec.
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null", "sh"]);
        let flags = self.flags(&profile, root);
        command.arg(program).args(&flags);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn().map_err(|error| Error::io(format!("start `{}`", program.display()), error))?;
        let pipes = pipes(&mut child).map_err(|error| Error::io("speak with the browser", error))?;
        let last_lines = Arc::default();
        let listening = child.stderr.take().and_then(|stderr| listen(stderr, Arc::clone(&last_lines)));
        let mut notes = Vec::new();
        if root {
            notes.push("the browser runs without its sandbox, since it was started as root".to_owned());
        }
        let command = std::iter::once(program.display().to_string()).chain(flags).collect();
        Ok((Launched { child, own, last_lines, listening, notes, command }, pipes))
    }

    fn flags(&self, profile: &Path, root: bool) -> Vec<String> {
        let mut flags: Vec<String> = [
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
    /// Where it is, for people; no other browser is ever there.
    pub(crate) fn address(&self) -> String {
        format!("pipe to process {}", self.child.id())
    }

    /// How it ended, if it is ending.
    async fn ending(&mut self) -> Option<ExitStatus> {
        let deadline = Instant::now() + FAREWELL;
        while self.exited().is_none() && Instant::now() < deadline {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        self.exited()
    }

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
            .with_details(serde_json::json!({ "command": self.command }))
    }

    /// Gives it the time to end, which the end of its pipe tells it to, and ends whatever remains.
    fn end(&mut self) {
        if !self.ends_within(FAREWELL / 2) {
            // The pipe may still be open in a task that has not had its turn.
            if let Some(process) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
                let _ = rustix::process::kill_process(process, Signal::TERM);
            }
            self.ends_within(FAREWELL / 2);
        }
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            // The group is usually empty by now.
            let _ = rustix::process::kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
        self.await_listening();
    }

    fn ends_within(&mut self, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        while self.exited().is_none() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
        }
        self.exited().is_some()
    }
}

impl Drop for Launched {
    fn drop(&mut self) {
        self.end();
        let Some(own) = self.own.take() else { return };
        // Helpers that were killed a moment ago may still be writing.
        let path = own.into_path();
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

/// Our ends of the pipes.
fn pipes(child: &mut Child) -> std::io::Result<Pipes> {
    let missing = || std::io::Error::other("there is no pipe");
    let to = OwnedFd::from(child.stdin.take().ok_or_else(missing)?);
    let from = OwnedFd::from(child.stdout.take().ok_or_else(missing)?);
    Ok(Pipes { to: Sender::from_owned_fd(to)?, from: Receiver::from_owned_fd(from)? })
}

fn is_program(path: &Path) -> bool {
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
