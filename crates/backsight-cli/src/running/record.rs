//! Listens to what a command says, apart from it: the command is never kept waiting. Bytes come through a bounded queue, a
//! thread makes messages of them and sends them on. What does not fit is dropped, counted and said.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

use backsight::browser::event::{Console, Level, Speaker};
use backsight_core::{Code, Error, Result, Timestamp};
use serde::Serialize;

use super::deliver::{Outcome, Report, Server};
use super::ending::{Ending, is_ready};
use crate::terminal::{Channels, Lines, Message};

/// Bytes that may wait to be understood.
const WAITING: usize = 8 << 20;
/// Messages that may wait for a server.
const BACKLOG: usize = 5000;
/// Messages of one report.
const BATCH: usize = 500;
/// Bytes of one report, nearly.
const BATCH_BYTES: usize = 1 << 20;
/// How long a message waits for others.
const TOGETHER: Duration = Duration::from_millis(200);
/// How often an unfinished message is looked at.
const GLANCE: Duration = Duration::from_millis(25);
/// How often the server hears that we are still here.
const SIGN_OF_LIFE: Duration = Duration::from_secs(15);
/// How often a server that is not there is looked for.
const SEARCH: Duration = Duration::from_secs(1);
/// How long the last reports may take.
const FAREWELL: Duration = Duration::from_secs(5);

/// What became of everything the command said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Recorded {
    /// Messages that the server took; an error with its stack is one.
    pub messages: u64,
    /// Errors among them.
    pub errors: u64,
    /// Warnings among them.
    pub warnings: u64,
    /// Lines of the output that it did not get.
    pub lost_lines: u64,
    /// Whether it was ever reached.
    pub reached: bool,
}

/// Where one stream of the command is offered to the recorder.
#[derive(Clone)]
pub struct Tap {
    stream: usize,
    sender: SyncSender<Heard>,
    queue: Arc<Queue>,
}

/// What waits, in numbers.
#[derive(Default)]
struct Queue {
    bytes: AtomicUsize,
    lost_lines: AtomicU64,
    /// For each stream, whether something was lost since the last piece.
    torn: [AtomicBool; 2],
}

enum Heard {
    Piece { stream: usize, bytes: Vec<u8>, time: Timestamp, torn: bool },
    Over(Box<Ending>),
}

impl Tap {
    /// Offers what was said; never waits.
    pub fn offer(&self, bytes: &[u8]) {
        let queue = &self.queue;
        let fits = queue.bytes.fetch_add(bytes.len(), Ordering::SeqCst) + bytes.len() <= WAITING;
        let torn = queue.torn[self.stream].swap(false, Ordering::SeqCst);
        let piece = Heard::Piece { stream: self.stream, bytes: bytes.to_vec(), time: now(), torn };
        if !fits || self.sender.try_send(piece).is_err() {
            queue.bytes.fetch_sub(bytes.len(), Ordering::SeqCst);
            let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
            queue.lost_lines.fetch_add(lines as u64, Ordering::SeqCst);
            queue.torn[self.stream].store(true, Ordering::SeqCst);
        }
    }

    /// The same for the command's other stream.
    pub fn other(&self) -> Tap {
        Tap { stream: 1 - self.stream, ..self.clone() }
    }
}

/// The thread that listens.
pub struct Recorder {
    tap: Tap,
    thread: JoinHandle<Recorded>,
}

impl Recorder {
    /// Starts to listen to what `command` will say.
    pub fn start(server: Server, source: String, command: String) -> Recorder {
        // Far more pieces than fit by their bytes, unless they are tiny.
        let (sender, receiver) = sync_channel(64 << 10);
        let queue = Arc::<Queue>::default();
        let listener = Listener {
            server,
            source,
            command,
            queue: queue.clone(),
            streams: Default::default(),
            backlog: VecDeque::new(),
            recorded: Recorded::default(),
            told_lost: 0,
            next_report: Instant::now(),
            next_search: Instant::now(),
            serves: false,
        };
        Recorder { tap: Tap { stream: 0, sender, queue }, thread: thread::spawn(move || listener.listen(&receiver)) }
    }

    /// Where to offer what is said.
    pub fn tap(&self) -> &Tap {
        &self.tap
    }

    /// The command has ended; what became of everything.
    pub fn finish(self, ending: Ending) -> Result<Recorded> {
        // The queue is full at most for a moment: the thread always reads on.
        let _ = self.tap.sender.send(Heard::Over(Box::new(ending)));
        self.thread.join().map_err(|_| Error::new(Code::Io, "the recorder failed; please report it"))
    }
}

/// What the last report says of the end.
#[derive(Clone, Copy)]
struct Last<'a> {
    reason: &'a str,
    missed: bool,
}

/// A message that waits for a server.
struct Waiting {
    console: Console,
    lines: u64,
}

struct Listener {
    server: Server,
    source: String,
    command: String,
    queue: Arc<Queue>,
    streams: [(Lines, Channels); 2],
    backlog: VecDeque<Waiting>,
    recorded: Recorded,
    /// Lost lines that the server knows of.
    told_lost: u64,
    next_report: Instant,
    next_search: Instant,
    /// Whether the command was heard to serve.
    serves: bool,
}

impl Listener {
    fn listen(mut self, heard: &Receiver<Heard>) -> Recorded {
        loop {
            match heard.recv_timeout(self.patience()) {
                Ok(Heard::Piece { stream, bytes, time, torn }) => {
                    self.queue.bytes.fetch_sub(bytes.len(), Ordering::SeqCst);
                    self.understand(stream, &bytes, time, torn);
                }
                Ok(Heard::Over(ending)) => return self.end(Some(&ending)),
                Err(RecvTimeoutError::Timeout) => self.settle(now()),
                Err(RecvTimeoutError::Disconnected) => return self.end(None),
            }
            let due = Instant::now() >= self.next_report || self.backlog.len() >= BATCH;
            if due && Instant::now() >= self.next_search {
                self.report(None);
            }
        }
    }

    /// How long to wait for the next piece.
    fn patience(&self) -> Duration {
        let open = self.streams.iter().any(|(_, joiner)| joiner.is_open());
        let next = self.next_report.max(self.next_search).saturating_duration_since(Instant::now());
        if open { next.min(GLANCE) } else { next }
    }

    fn understand(&mut self, stream: usize, bytes: &[u8], time: Timestamp, torn: bool) {
        let Some((lines, joiner)) = self.streams.get_mut(stream) else { return };
        let mut found = Vec::new();
        if torn {
            // What comes now does not continue what came before.
            *lines = Lines::default();
            joiner.close(&mut |message| found.push(message));
        }
        lines.feed(bytes, &mut |line| joiner.line(line, time, &mut |message| found.push(message)));
        self.keep(found);
    }

    fn settle(&mut self, time: Timestamp) {
        let mut found = Vec::new();
        self.streams.iter_mut().for_each(|(_, joiner)| joiner.settle(time, &mut |message| found.push(message)));
        self.keep(found);
    }

    fn keep(&mut self, messages: Vec<Message>) {
        if !messages.is_empty() && self.backlog.is_empty() {
            self.next_report = self.next_report.min(Instant::now() + TOGETHER);
        }
        for message in messages {
            self.serves = self.serves || is_ready(&message.text);
            let lines = message.lines;
            self.backlog.push_back(Waiting { console: message.into_console(&self.command), lines });
        }
        while self.backlog.len() > BACKLOG {
            let oldest = self.backlog.pop_front();
            self.recorded.lost_lines += oldest.map_or(0, |oldest| oldest.lines);
        }
    }

    /// Sends what waits, or a sign of life; whether the server took it.
    fn report(&mut self, last: Option<Last<'_>>) -> bool {
        let mut bytes = 0;
        let fits = |waiting: &&Waiting| {
            bytes += waiting.console.message.len() + 200;
            bytes < BATCH_BYTES
        };
        let events: Vec<Console> =
            self.backlog.iter().take(BATCH).take_while(fits).map(|waiting| waiting.console.clone()).collect();
        let lost = self.lost_lines();
        let last = last.filter(|_| events.len() == self.backlog.len());
        let report = Report {
            source: &self.source,
            watches: ["console"],
            events: &events,
            dropped: lost - self.told_lost,
            ended: last.map(|last| last.reason),
            missed: last.is_some_and(|last| last.missed),
        };
        let outcome = self.server.tell(&report);
        self.next_report =
            Instant::now() + if self.backlog.len() > events.len() { Duration::ZERO } else { SIGN_OF_LIFE };
        match outcome {
            Outcome::Arrived => {
                self.recorded.reached = true;
                self.told_lost = lost;
                self.backlog.drain(..events.len());
                events.iter().for_each(|event| self.count(event.level));
            }
            Outcome::Unheard => self.search_later(),
            Outcome::Unsure => {
                self.recorded.lost_lines +=
                    self.backlog.drain(..events.len()).map(|waiting| waiting.lines).sum::<u64>();
                self.search_later();
            }
        }
        outcome == Outcome::Arrived
    }

    fn search_later(&mut self) {
        self.next_search = Instant::now() + SEARCH;
    }

    fn count(&mut self, level: Level) {
        self.recorded.messages += 1;
        match level {
            Level::Error => self.recorded.errors += 1,
            Level::Warning => self.recorded.warnings += 1,
            Level::Info | Level::Debug => {}
        }
    }

    fn lost_lines(&self) -> u64 {
        self.recorded.lost_lines + self.queue.lost_lines.load(Ordering::SeqCst)
    }

    fn end(mut self, ending: Option<&Ending>) -> Recorded {
        let mut found = Vec::new();
        for (lines, joiner) in &mut self.streams {
            if let Some(line) = lines.finish() {
                joiner.line(line, now(), &mut |message| found.push(message));
            }
            joiner.close(&mut |message| found.push(message));
        }
        self.keep(found);
        let (level, missed) = ending.map_or((None, true), |ending| ending.verdict(self.serves));
        if let (Some(level), Some(ending)) = (level, ending) {
            self.backlog.push_back(Waiting { console: self.said(level, ending.message.clone()), lines: 0 });
        }
        let last = Last { reason: ending.map_or("ended", |ending| &ending.reason), missed };
        let deadline = Instant::now() + FAREWELL;
        while self.report(Some(last)) && !self.backlog.is_empty() && Instant::now() < deadline {}
        self.recorded.lost_lines = self.lost_lines() + self.backlog.iter().map(|waiting| waiting.lines).sum::<u64>();
        self.recorded
    }

    /// Something that we say of the command.
    fn said(&self, level: Level, message: String) -> Console {
        Console {
            time: now(),
            level,
            speaker: Speaker::Terminal,
            message,
            stack: Vec::new(),
            causes: Vec::new(),
            page: Some(self.command.clone()),
            backfilled: false,
        }
    }
}

fn now() -> Timestamp {
    Timestamp::from_system(SystemTime::now())
}
