//! An app that does what a test says, watched by a lane whose clock the test moves.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use backsight_browser::event::{
    Action, ActionKind, Category, Console, Event, Frame, Level, Request, Socket, SocketEvent, Speaker,
};
use backsight_browser::report::Changes;
use backsight_browser::{Ask, Browser, Limits, Options, Source, SourceId, SourceKind};
use backsight_core::{Result, Timestamp};

/// The first moment.
pub const START: i64 = 1_800_000_000_000;

/// A lane and its clock.
pub struct App {
    pub browser: Browser,
    time: Arc<AtomicI64>,
}

impl App {
    /// One that is watched.
    pub fn watched() -> App {
        let app = App::alone();
        app.watch();
        app
    }

    /// One that nobody watches.
    pub fn alone() -> App {
        App::with(Limits::default())
    }

    pub fn with(limits: Limits) -> App {
        let time = Arc::new(AtomicI64::new(START));
        let clock = time.clone();
        let clock = Arc::new(move || Timestamp(clock.load(Ordering::Relaxed)));
        App { browser: Browser::new(Options { clock, salt: 7, limits }), time }
    }

    pub fn watch(&self) -> SourceId {
        let watches = Category::ALL.to_vec();
        self.browser.begin_source(Source { label: "page".to_owned(), watches, kind: SourceKind::Browser })
    }

    pub fn now(&self) -> Timestamp {
        Timestamp(self.time.load(Ordering::Relaxed))
    }

    pub fn pass(&self, milliseconds: i64) {
        self.time.fetch_add(milliseconds, Ordering::Relaxed);
    }

    /// Records something, a millisecond after what was before.
    pub fn record(&self, event: Event) {
        self.pass(1);
        self.browser.record([event]);
    }

    pub fn say(&self, level: Level, message: &str) {
        self.record(self.said(level, message));
    }

    /// A message, to be recorded next.
    pub fn said(&self, level: Level, message: &str) -> Event {
        let stack = vec![Frame { file: "http://localhost:3000/app.js".to_owned(), line: 10, ..Frame::default() }];
        Event::Console(Console {
            time: self.soon(),
            level,
            speaker: Speaker::Page,
            message: message.to_owned(),
            stack,
            causes: Vec::new(),
            page: Some("http://localhost:3000/".to_owned()),
            backfilled: false,
        })
    }

    /// A process says something.
    pub fn process(&self, name: &str, level: Level, message: &str) {
        let Event::Console(console) = self.said(level, message) else { return };
        let page = Some(name.to_owned());
        self.record(Event::Console(Console { speaker: Speaker::Terminal, stack: Vec::new(), page, ..console }));
    }

    pub fn error(&self, message: &str) {
        self.say(Level::Error, message);
    }

    pub fn warn(&self, message: &str) {
        self.say(Level::Warning, message);
    }

    pub fn request(&self, method: &str, path: &str, status: u16) {
        self.timed(method, path, status, None);
    }

    pub fn timed(&self, method: &str, path: &str, status: u16, duration_ms: Option<f64>) {
        self.record(self.requested(method, path, status, duration_ms));
    }

    /// A request, to be recorded next.
    pub fn requested(&self, method: &str, path: &str, status: u16, duration_ms: Option<f64>) -> Event {
        let url = if path.contains("://") { path.to_owned() } else { format!("http://localhost:3000{path}") };
        Event::Network(Request {
            status,
            failure: (status == 0).then(|| "net::ERR_CONNECTION_REFUSED".to_owned()),
            duration_ms,
            kind: Some("fetch".to_owned()),
            page: Some("http://localhost:3000/".to_owned()),
            ..Request::new(self.soon(), method, &url)
        })
    }

    pub fn socket(&self, id: &str, event: SocketEvent) {
        self.record(self.happened(id, event));
    }

    /// Something of a socket, to be recorded next.
    pub fn happened(&self, id: &str, event: SocketEvent) -> Event {
        Event::Websocket(Socket {
            time: self.soon(),
            id: id.to_owned(),
            url: "ws://localhost:3000/live".to_owned(),
            event,
            tool: None,
            page: None,
            backfilled: false,
        })
    }

    pub fn act(&self, kind: ActionKind, target: &str) {
        self.record(Event::Action(Action {
            time: self.soon(),
            kind,
            target: target.to_owned(),
            detail: String::new(),
            page: None,
            frame: None,
        }));
    }

    /// When the next event happens.
    fn soon(&self) -> Timestamp {
        Timestamp(self.now().0 + 1)
    }

    /// What is new to a client.
    pub fn changes(&self) -> Changes {
        self.ask(&Ask::default()).unwrap()
    }

    pub fn since(&self, checkpoint: &str) -> Changes {
        self.ask(&Ask { checkpoint: Some(checkpoint.to_owned()), ..Ask::default() }).unwrap()
    }

    pub fn ask(&self, ask: &Ask) -> Result<Changes> {
        self.browser.changes("agent", ask, &|| false)
    }
}
