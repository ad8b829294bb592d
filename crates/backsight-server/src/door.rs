//! The way to the workspace's server, wherever it is: in this process, or in another one that was there first. When the
//! other one ends, this process takes its place, and callers notice nothing.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use backsight::{CallSettings, OwnStore, Progress, Workspace};
use backsight_core::{Code, Effect, Error, Result, Timestamp, Waits};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::sync::{Mutex, MutexGuard, Notify, Semaphore, mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use crate::client::{Client, Lost};
use crate::hook::{Agent, Event};
use crate::office::{Caller, Office};
use crate::place;
use crate::reply::{DEFAULT_TOKENS, Reply};
use crate::tool::{Group, Tool};
use crate::{log, words};

/// How often the timeline is looked at for rows that other processes wrote, while somebody wants to know.
const GLANCE: Duration = Duration::from_millis(250);
/// How long a caller waits for somebody to take a lost server's place.
const SUCCESSION: Duration = Duration::from_secs(5);

/// How long a call waits for others that write; as long as a process waits for another.
pub const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// How many may wait for a browser, and how many for a debugger, at once; each has a thread. Together they are fewer than
/// the requests that one client may have unanswered, so that a client of which all wait can still ask for its files.
const WAITING: usize = 48;
/// How many may wait for a program to end at once.
const ENDING: usize = 8;
/// How often what was notable in the live lanes is recorded.
const NOTES: Duration = Duration::from_millis(500);
/// How long a note waits for another process; it can be made the next time too.
const NOTE_WAIT: Duration = Duration::from_millis(200);
/// How often the watcher is compared with a walk of the whole tree.
const VERIFY: Duration = Duration::from_secs(60);

/// The way to the workspace's server.
pub struct Door {
    office: Arc<Office>,
    /// The server, when it is another process.
    elsewhere: RwLock<Option<Client>>,
    /// The newest row.
    now: watch::Sender<u64>,
    recorded: Notify,
    /// Held by whoever writes.
    writing: Mutex<()>,
    /// Taken by those who wait for a browser.
    browser: Arc<Semaphore>,
    /// Taken by those who wait for a debugger.
    debugger: Arc<Semaphore>,
    /// Taken by those who wait for a program to end.
    ending: Arc<Semaphore>,
}

/// What long work says while it runs.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Said {
    /// How much is done.
    pub done: f64,
    /// Of how much, when that is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub total: Option<f64>,
    /// In words.
    pub message: String,
}

impl Door {
    /// What time it is, by the workspace's clock.
    pub fn time(&self) -> Timestamp {
        self.office.workspace().now()
    }

    /// The way to `office`, in this process.
    pub fn new(office: Office) -> Arc<Door> {
        let door = Arc::new(Door {
            office: Arc::new(office),
            elsewhere: RwLock::new(None),
            now: watch::Sender::new(0),
            recorded: Notify::new(),
            writing: Mutex::new(()),
            browser: Arc::new(Semaphore::new(WAITING)),
            debugger: Arc::new(Semaphore::new(WAITING)),
            ending: Arc::new(Semaphore::new(ENDING)),
        });
        tokio::spawn(glance(Arc::downgrade(&door)));
        door
    }

    /// From now on the server is another process, or this one.
    pub fn set_elsewhere(&self, client: Option<Client>) {
        *self.elsewhere.write().unwrap_or_else(PoisonError::into_inner) = client;
    }

    /// The server, when it is another process.
    pub fn elsewhere(&self) -> Option<Client> {
        self.elsewhere.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes note of what an agent's hook said.
    pub fn heard(&self, agent: Agent, event: &Event) {
        self.office.heard(agent, event);
    }

    /// Told when rows are added; the value is the newest row's number.
    pub fn now(&self) -> watch::Receiver<u64> {
        self.now.subscribe()
    }

    /// Looks at the timeline. While nobody listened nobody looked, so whoever begins to listen looks first: what was
    /// newest long ago must not be taken for now.
    pub async fn look(&self) {
        let office = self.office.clone();
        let newest = tokio::task::spawn_blocking(move || office.workspace().newest_row()).await;
        if let Ok(Ok(newest)) = newest {
            self.now.send_if_modified(|now| std::mem::replace(now, newest.0) != newest.0);
        }
    }

    /// Runs a tool where the server is. Dropping the future cancels the work.
    pub async fn call(
        &self,
        tool: &'static Tool,
        arguments: Map<String, Value>,
        caller: Caller,
        says: mpsc::Sender<Said>,
    ) -> Reply {
        let Some(server) = self.elsewhere() else { return self.call_here(tool, arguments, caller, says).await };
        let request = log::Request::new("server", tool.name, caller.name.as_deref());
        let reply = self.call_there(&server, tool, arguments, caller, says).await;
        request.ended(reply.outcome());
        reply
    }

    /// Runs a tool in the server's process, or after it if it goes.
    async fn call_there(
        &self,
        server: &Client,
        tool: &'static Tool,
        arguments: Map<String, Value>,
        caller: Caller,
        says: mpsc::Sender<Said>,
    ) -> Reply {
        let lost = match server.call_tool(tool.name, &arguments, &caller, &says).await {
            Ok(reply) => return reply,
            Err(lost) => lost,
        };
        if lost.holds_on() {
            // Nobody takes the place of a server that is there; the files can be worked with beside it.
            return match can_be_done_here(tool, &lost) {
                true => self.call_here(tool, arguments, caller, says).await,
                false => Reply::failure(&lost.into_error(), DEFAULT_TOKENS),
            };
        }
        match self.successor(tool, lost).await {
            Ok(None) => self.call_here(tool, arguments, caller, says).await,
            Ok(Some(server)) => match server.call_tool(tool.name, &arguments, &caller, &says).await {
                Ok(reply) => reply,
                Err(lost) => Reply::failure(&lost.into_error(), DEFAULT_TOKENS),
            },
            Err(error) => Reply::failure(&error, DEFAULT_TOKENS),
        }
    }

    /// Runs a tool in this process.
    pub async fn call_here(
        &self,
        tool: &'static Tool,
        arguments: Map<String, Value>,
        caller: Caller,
        says: mpsc::Sender<Said>,
    ) -> Reply {
        let request = log::Request::new("tool", tool.name, caller.name.as_deref());
        let reply = self.run_tool(tool, arguments, caller, says).await;
        request.ended(reply.outcome());
        reply
    }

    async fn run_tool(
        &self,
        tool: &'static Tool,
        arguments: Map<String, Value>,
        caller: Caller,
        says: mpsc::Sender<Said>,
    ) -> Reply {
        let office = self.office.clone();
        let cancelled = Arc::new(AtomicBool::new(false));
        let guard = CancelOnDrop(cancelled.clone());
        let _turn = match tool.takes_turns().then(|| self.turn(LONGEST_WAIT)) {
            None => None,
            Some(turn) => match turn.await {
                Ok(turn) => Some(turn),
                Err(error) => return Reply::failure(&error, DEFAULT_TOKENS),
            },
        };
        let work = move || {
            let workspace = office.workspace().for_call(CallSettings {
                progress: Some(Arc::new(move |progress| drop(says.try_send(said(&progress))))),
                cancelled: Some(Arc::new(move || cancelled.load(Ordering::Relaxed))),
                wait: None,
            });
            office.call(&workspace, tool, arguments, &caller)
        };
        let gone = || Error::new(Code::Io, "the tool failed in a way it should not; nothing more is known");
        let reply = self.run_on(tool.waits, work).await.and_then(|reply| reply.ok_or_else(gone));
        let reply = reply.unwrap_or_else(|error| Reply::failure(&error, DEFAULT_TOKENS));
        drop(guard);
        self.recorded.notify_one();
        reply
    }

    /// Runs something on this process's own view of the workspace.
    pub async fn local<T: Send + 'static, E: From<Gone> + Send + 'static>(
        &self,
        work: impl FnOnce(&Workspace) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        let office = self.office.clone();
        let done = tokio::task::spawn_blocking(move || work(office.workspace())).await;
        self.recorded.notify_one();
        done.unwrap_or_else(|_| Err(Gone.into()))
    }

    /// The same for something that writes, which waits its turn at most `wait`.
    pub async fn local_writing<T: Send + 'static>(
        &self,
        wait: Duration,
        work: impl FnOnce(&Workspace) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let _turn = self.turn(wait).await?;
        self.local(work).await
    }

    /// The same for something that may wait for a browser or a debugger. Dropping the future takes it back.
    pub async fn local_waiting<T: Send + 'static>(
        &self,
        waits: Waits,
        work: impl FnOnce(&Workspace) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let office = self.office.clone();
        let cancelled = Arc::new(AtomicBool::new(false));
        let _guard = CancelOnDrop(cancelled.clone());
        let done = self.run_on(waits, move || {
            let cancelled: Arc<dyn Fn() -> bool + Send + Sync> = Arc::new(move || cancelled.load(Ordering::Relaxed));
            work(&office.workspace().for_call(CallSettings { cancelled: Some(cancelled), ..CallSettings::default() }))
        });
        let done = done.await?.unwrap_or_else(|| Err(Gone.into()));
        self.recorded.notify_one();
        done
    }

    /// Runs something on a thread of its kind; nothing when it panicked. Each kind is bounded and none can use up those of
    /// another; the few for work on the disk never wait for anything outside. Those who would have to wait for a thread behind
    /// others that wait are told so at once: a queue without end helps no caller.
    async fn run_on<T: Send + 'static>(
        &self,
        waits: Waits,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<Option<T>> {
        let (permits, whom) = match waits {
            Waits::ForDisk => return Ok(tokio::task::spawn_blocking(work).await.ok()),
            Waits::ForBrowser => (&self.browser, "the browser"),
            Waits::ForDebugger => (&self.debugger, "the debugger"),
            Waits::ForEnd => (&self.ending, "a program to end"),
        };
        let permit = permits.clone().try_acquire_owned().map_err(|_| {
            let most = if waits == Waits::ForEnd { ENDING } else { WAITING };
            Error::new(Code::Busy, format!("{most} requests wait for {whom} already"))
                .with_hint("ask again when some of them were answered")
        })?;
        let (sender, receiver) = oneshot::channel();
        let run = move || {
            let _permit = permit;
            drop(sender.send(work()));
        };
        let thread = std::thread::Builder::new().name("waiting".to_owned());
        thread.spawn(run).map_err(|error| Error::io("start a thread", error))?;
        Ok(receiver.await.ok())
    }

    /// Records what is notable in the live lanes as it happens, and what is left when `ending` says so.
    pub async fn keep_notes(self: Arc<Self>, ending: CancellationToken) {
        loop {
            let is_over = tokio::select! {
                () = tokio::time::sleep(NOTES) => false,
                () = ending.cancelled() => true,
            };
            let debugger = self.office.workspace().debugger_if_used();
            // What is debugged here ends with the server: nobody could reach it any more.
            if let Some(debugger) = debugger.clone().filter(|_| is_over) {
                let _ = tokio::task::spawn_blocking(move || debugger.disconnect_all()).await;
            }
            if debugger.is_some() || self.office.workspace().browser_if_used().is_some() {
                let patient = CallSettings { wait: Some(NOTE_WAIT), ..CallSettings::default() };
                // What cannot be recorded now is recorded the next time; at the end there is none.
                let noted = self.local::<usize, Error>(move |workspace| workspace.for_call(patient).note_lanes());
                let _ = noted.await;
            }
            if is_over {
                // A browser that was started here ends with the server.
                if let Some(browser) = self.office.workspace().browser_if_used() {
                    let _ = tokio::task::spawn_blocking(move || browser.detach()).await;
                }
                return;
            }
        }
    }

    /// Writers take turns before they take a thread: they would only wait for each other's lock on it, and a thread that
    /// waits answers nobody.
    async fn turn(&self, wait: Duration) -> Result<MutexGuard<'_, ()>> {
        tokio::time::timeout(wait, self.writing.lock()).await.map_err(|_| {
            let message = format!("others have been writing for {} s", wait.as_secs());
            Error::new(Code::Busy, message).with_hint("ask again")
        })
    }

    /// Watches the files from now on, and looks for itself now and then whether the watcher missed anything. Returns when
    /// `ending` says so.
    pub async fn keep_watch(self: Arc<Self>, ending: CancellationToken) {
        let started = self.local(|workspace| workspace.watch()).await;
        // Without a watcher every capture walks the tree: slower and just as right.
        while started.is_ok() {
            tokio::select! {
                () = tokio::time::sleep(VERIFY) => drop(self.local(|workspace| workspace.verify_watch()).await),
                () = ending.cancelled() => return,
            }
        }
    }

    /// Who answers after the server was lost: this process (none), or another one.
    async fn successor(&self, tool: &Tool, lost: Lost) -> Result<Option<Client>> {
        if lost.was_heard() && !tool.effect.reads_only() {
            return Err(lost.into_error());
        }
        let store = self.store()?;
        let deadline = tokio::time::Instant::now() + SUCCESSION;
        while tokio::time::Instant::now() < deadline {
            match self.elsewhere() {
                None => return Ok(None),
                Some(server) if !server.is(&lost) => return Ok(Some(server)),
                Some(_) => {}
            }
            if let Some(address) = place::find_ready(&store)
                && let Some(server) = Client::new(&address).filter(|server| !server.is(&lost))
            {
                self.set_elsewhere(Some(server.clone()));
                return Ok(Some(server));
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Err(lost.into_error())
    }

    fn store(&self) -> Result<OwnStore> {
        let store = self.office.workspace().store()?;
        store.ok_or_else(|| Error::new(Code::ServerUnreachable, "the workspace has no store any more"))
    }
}

/// Whether a tool that a silent server was asked for can run in this process: what it needs is in the store, and the server
/// has not perhaps done it already.
fn can_be_done_here(tool: &Tool, lost: &Lost) -> bool {
    tool.group == Group::Files && (!lost.was_heard() || tool.effect == Effect::Reads)
}

/// Work that ended without an answer, because it panicked.
pub struct Gone;

impl From<Gone> for Error {
    fn from(_: Gone) -> Error {
        Error::new(Code::Io, "the request failed in a way it should not; nothing more is known")
    }
}

impl From<Gone> for rmcp::ErrorData {
    fn from(_: Gone) -> rmcp::ErrorData {
        rmcp::ErrorData::internal_error("the request failed in a way it should not", None)
    }
}

/// Sets a flag when the future that holds it is dropped.
struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn said(progress: &Progress) -> Said {
    let number = |number: u64| number as f64;
    match progress {
        Progress::Waiting { holder } => {
            Said { done: 0.0, total: None, message: format!("waiting for {}", words::clip(holder)) }
        }
        Progress::Noted { message } => Said { done: 0.0, total: None, message: words::clip(message) },
        Progress::Scanning { files } => {
            Said { done: number(*files), total: None, message: format!("looked at {files} files") }
        }
        Progress::Storing { files_done, files_total, .. } => Said {
            done: number(*files_done),
            total: Some(number(*files_total)),
            message: format!("stored {files_done} of {files_total} files"),
        },
        Progress::Applying { done, total } => Said {
            done: number(*done),
            total: Some(number(*total)),
            message: format!("{done} of {total} files put back"),
        },
        Progress::Bisecting { steps, runs, remaining } => Said {
            done: number(*runs),
            total: None,
            message: format!("checking {steps}; {remaining} steps left after {runs} runs"),
        },
        Progress::Verifying { done, total } => Said {
            done: number(*done),
            total: Some(number(*total)),
            message: format!("checked {done} of {total} objects"),
        },
    }
}

/// Notices new rows, also those of other processes, as long as the door exists and somebody listens.
async fn glance(door: std::sync::Weak<Door>) {
    loop {
        let Some(door) = door.upgrade() else { return };
        if door.now.receiver_count() > 0 {
            door.look().await;
        }
        tokio::select! {
            () = door.recorded.notified() => {}
            () = tokio::time::sleep(GLANCE) => {}
        }
    }
}
