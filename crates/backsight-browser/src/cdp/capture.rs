//! Watches a browser and tells a listener what happens in it. Everything runs on one thread of its own, so that callers need
//! no runtime and a slow browser holds nobody up.

use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use backsight_core::{Admission, Code, Error, Result, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

use super::launch::Launch;
use super::origins::Origins;
use super::translate::Replays;
use super::watch::{self, Order};
use crate::amend::Amendment;
use crate::event::Event;
use crate::signs::Sign;
use crate::under_way::UnderWay;

/// Tells the time.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Whoever wants to know what happens. Called from one thread, in order; what takes long here delays what comes next and
/// nothing else.
pub trait Listener: Send + Sync + 'static {
    /// Things happened.
    fn heard(&self, events: Vec<Event>);
    /// Something else turned out about what was heard.
    fn amended(&self, amendment: Amendment);
    /// How many messages are held back for a moment, whenever that changes.
    fn held(&self, messages: usize);
    /// Hot reload shows something.
    fn shown(&self, sign: Sign);
    /// The requests that are under way, all of them, whenever that changes.
    fn under_way(&self, requests: &[UnderWay]);
    /// The whole picture, whenever it changes.
    fn watching(&self, state: &Watching);
    /// Nothing is seen from now on: the browser was closed or the connection lost. `watching` follows when it is back.
    fn interrupted(&self, reason: &str, now: Timestamp);
    /// Something is known to be lost: that many of what.
    fn lost(&self, what: &str, count: u64);
}

/// Which browser.
#[derive(Clone, Debug)]
pub enum Place {
    /// `ws://...`, `http://host:port`, `host:port`; on this machine.
    Url(String),
    /// `ws://.../devtools/browser/ID`: this browser and no other that may listen there now. Once it was found, one that is
    /// started again at the same port is it too.
    Known(String),
    /// A debugging port.
    Port(u16),
    /// A profile directory, in which a browser says where it listens.
    Profile(PathBuf),
    /// Wherever one is: the usual profiles of the person whose home directory this is, then port 9222.
    Find {
        /// Without it only the port is tried.
        home: Option<PathBuf>,
    },
    /// A new one.
    Launch(Launch),
}

/// What to watch, and how.
#[derive(Clone)]
pub struct Attach {
    /// Which browser.
    pub place: Place,
    /// Which pages: `http://localhost:3000`, `app.test`, `*.example.test`, `file:`. None are all of this machine.
    pub origins: Vec<String>,
    /// Every page, whatever its address.
    pub all_pages: bool,
    /// Whether scripts of ours run in the pages: user actions and the close codes of WebSockets need them.
    pub page_hooks: bool,
    /// A mark to leave in the pages, by which a script in them can say who watches them.
    pub mark: Option<String>,
    /// What was told of this browser before. Whoever attaches anew with the same memory is told nothing twice.
    pub memory: Memory,
    /// Who may be the browser that is spoken with; one that is launched is.
    pub admission: Admission,
    /// Tells the time.
    pub clock: Clock,
    /// How long the browser may take until it answers.
    pub timeout: Duration,
}

impl Attach {
    /// The usual way of watching.
    pub fn new(place: Place, clock: Clock) -> Self {
        Attach {
            place,
            origins: Vec::new(),
            all_pages: false,
            page_hooks: true,
            mark: None,
            memory: Memory::default(),
            admission: Admission::default(),
            clock,
            timeout: Duration::from_secs(30),
        }
    }
}

impl std::fmt::Debug for Attach {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Attach { place, origins, all_pages, page_hooks, timeout, .. } = self;
        f.debug_struct("Attach")
            .field("place", place)
            .field("origins", origins)
            .field("all_pages", all_pages)
            .field("page_hooks", page_hooks)
            .field("timeout", timeout)
            .finish_non_exhaustive()
    }
}

/// Remembers what a browser has told, since it tells everything again to each who comes. Clones share what they remember.
#[derive(Clone, Debug, Default)]
pub struct Memory(Arc<Mutex<Option<(String, Replays)>>>);

impl Memory {
    /// What this browser has told; of another one nothing is known.
    pub(crate) fn recall(&self, browser: &str) -> Replays {
        let remembered = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        remembered.filter(|(known, _)| known == browser).map(|(_, replays)| replays).unwrap_or_default()
    }

    pub(crate) fn keep(&self, browser: &str, replays: Replays) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((browser.to_owned(), replays));
    }
}

/// What is watched.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Watching {
    /// The browser's name and version; empty while none is there.
    pub browser: String,
    /// Where its protocol is spoken.
    pub address: String,
    /// The pages that are watched.
    pub pages: Vec<Page>,
    /// Workers of those pages.
    pub workers: usize,
    /// Pages that are open and match no origin.
    pub not_watched: usize,
    /// Whether it was started here and ends with the watching.
    pub launched: bool,
    /// The command line with which it was started here, the program first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// What a person should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A page that is watched.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Page {
    /// The browser's id for it.
    pub id: String,
    /// Its address.
    pub url: String,
    /// Its title.
    pub title: String,
    /// Since when it is watched.
    pub since: Timestamp,
    /// How it is.
    pub state: PageState,
    /// What its open dialog says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialog: Option<String>,
}

/// How a page is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PageState {
    /// Everything in it is seen.
    #[default]
    Watching,
    /// Its process died; a reload revives it.
    Crashed,
    /// A dialog is open and its scripts stand still until somebody answers it.
    Dialog,
    /// It did not answer in time.
    Unresponsive,
}

/// A browser that is watched. Dropping it is like [`Capture::stop`].
#[derive(Debug)]
pub struct Capture {
    orders: mpsc::UnboundedSender<Order>,
    state: Arc<Mutex<Watching>>,
    thread: Option<JoinHandle<()>>,
}

impl Capture {
    /// Finds or starts the browser and watches it. Returns when the pages that are open are being watched.
    #[expect(clippy::disallowed_methods, reason = "each caller gives one order and waits for its answer")]
    pub fn start(attach: Attach, listener: Arc<dyn Listener>) -> Result<Capture> {
        let origins = Origins::new(&attach.origins, attach.all_pages)?;
        let (orders, taken) = mpsc::unbounded_channel();
        let (ready, started) = sync_channel(1);
        let state = Arc::new(Mutex::new(Watching::default()));
        let watch = watch::Watch { attach, origins, listener, state: Arc::clone(&state) };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()
            .map_err(|error| Error::io("prepare to talk to a browser", error))?;
        let thread = std::thread::Builder::new()
            .name("browser".to_owned())
            .spawn(move || runtime.block_on(watch.run(taken, ready)))
            .map_err(|error| Error::io("start a thread for the browser", error))?;
        let capture = Capture { orders, state, thread: Some(thread) };
        match started.recv() {
            Ok(Ok(())) => Ok(capture),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(Error::new(Code::BrowserUnreachable, "the watching ended before it began")),
        }
    }

    /// What is watched now.
    pub fn watching(&self) -> Watching {
        lock(&self.state).clone()
    }

    /// Takes a page of a browser that was started here to an address; without a page the first one, or a new one. The address
    /// at which it arrived, which [`Capture::watching`] has by then too.
    pub fn navigate(&self, page: Option<&str>, url: &str) -> Result<String> {
        self.navigation(page, url)()
    }

    /// The same as something to wait for.
    pub(crate) fn navigation(&self, page: Option<&str>, url: &str) -> impl FnOnce() -> Result<String> + use<> {
        let gone = || Error::new(Code::BrowserUnreachable, "the browser is gone");
        let (answer, answered) = sync_channel(1);
        let order = Order::Navigate { page: page.map(str::to_owned), url: url.to_owned(), answer };
        let sent = self.orders.send(order).map_err(|_| gone());
        move || {
            sent?;
            answered.recv().map_err(|_| gone())?
        }
    }

    /// Finds out which pages stand still; done when that is known and the listener has heard of it, or when the caller has
    /// no more patience. Something to wait for, which says whether it is known.
    pub(crate) fn check(&self, patience: Duration) -> impl FnOnce() -> bool + use<> {
        let (answer, answered) = sync_channel(1);
        let sent = self.orders.send(Order::Check { answer });
        // Without a browser nobody answers, and its pages are not watched anyway.
        move || sent.is_err() || !matches!(answered.recv_timeout(patience), Err(RecvTimeoutError::Timeout))
    }

    /// Watches no more. Pages stay as they are; a browser that was started here is ended.
    pub fn stop(self) {
        drop(self);
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        // If the thread has ended by itself there is nobody to be told.
        let _ = self.orders.send(Order::Stop);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

pub(crate) fn lock(state: &Mutex<Watching>) -> MutexGuard<'_, Watching> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
