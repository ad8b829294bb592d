//! Reads the workspace for `watch`, on a thread of its own, and carries out what the person asked for. It looks again and
//! again, at a pace set by what looking costs, so that a screen nobody looks at costs next to nothing.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use backsight::browser::request::ReadAppHealth;
use backsight::report::{Applied, HasIds, LogPage, OnConflict, Row};
use backsight::request::{Log, Revert, Sessions, Undo};
use backsight::{PlanToken, Settings, Workspace};
use backsight_core::{Code, Error, Result, Seq, SnapshotId};
use backsight_server::CommandLine;
use rustix::time::{ClockId, clock_gettime};

use super::detail;
use super::model::{App, Disk, Effect, Going, Message, PAGE, Place, Refusal, Work};
use crate::lane::Server;
use crate::words::safe;

/// Sessions that are listed.
const SESSIONS: usize = 12;
/// Lines around a change.
const CONTEXT: usize = 3;
/// Looking takes at most one part in so many of a processor, together with the next bound.
const SHARE: u32 = 400;

/// How often each thing is looked at, at most.
const ROWS: Duration = Duration::from_millis(300);
const FILES: Duration = Duration::from_secs(1);
const HEALTH: Duration = Duration::from_secs(2);
/// The longest time between two looks, however much they cost.
const SLOWEST: Duration = Duration::from_secs(30);

/// What reads the workspace.
pub struct Feed {
    workspace: Workspace,
    root: PathBuf,
    settings: Settings,
    person: String,
    server: Option<Server>,
    told: Sender<Message>,
    /// The rows that are wanted.
    text: String,
    wanted: usize,
    /// The newest row and the open calls when they were last read.
    known: Option<(Seq, Vec<SnapshotId>)>,
    trouble: Option<String>,
}

/// When each thing is looked at next.
struct Due {
    rows: Instant,
    files: Instant,
    health: Instant,
}

/// Where the feed looks, and for whom.
pub struct Subject {
    pub root: PathBuf,
    pub settings: Settings,
    pub person: String,
}

impl Feed {
    pub fn new(subject: Subject, told: Sender<Message>) -> Result<Feed> {
        let Subject { root, settings, person } = subject;
        let workspace = Workspace::open_with(&root, settings.clone())?;
        Ok(Feed {
            workspace,
            root,
            settings,
            person,
            server: None,
            told,
            text: String::new(),
            wanted: PAGE,
            known: None,
            trouble: None,
        })
    }

    /// Until nobody asks any more.
    pub fn run(mut self, orders: &Receiver<Effect>) {
        let now = Instant::now();
        let mut due = Due { rows: now, files: now, health: now };
        loop {
            let next = due.rows.min(due.files).min(due.health);
            match orders.recv_timeout(next.saturating_duration_since(Instant::now())) {
                Ok(order) => self.carry_out(latest(order, orders), &mut due),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            self.look(&mut due);
        }
    }

    fn look(&mut self, due: &mut Due) {
        if due.rows <= Instant::now() {
            due.rows = paced(ROWS, || self.rows(false));
        }
        if due.health <= Instant::now() {
            due.health = paced(HEALTH, || self.health());
        }
        if due.files <= Instant::now() {
            due.files = paced(FILES, || self.files());
        }
    }

    fn tell(&self, message: Message) {
        // When the screen is gone the next order says so.
        let _ = self.told.send(message);
    }

    /// Says what cannot be read, once, and once when it can be again.
    fn or_trouble<T>(&mut self, outcome: Result<T>) -> Option<T> {
        let trouble = outcome.as_ref().err().map(|error| error.message().to_owned());
        if trouble != self.trouble {
            self.trouble.clone_from(&trouble);
            self.tell(Message::Trouble(trouble));
        }
        outcome.ok()
    }

    /// The timeline, when something in it changed or it is `wanted` anyway.
    fn rows(&mut self, wanted: bool) {
        let known = self.newest();
        let Some(known) = self.or_trouble(known) else { return };
        if !wanted && self.known.as_ref() == Some(&known) {
            return;
        }
        let page = self.page();
        let work = self.work();
        let seen = self.workspace.seen(&self.person).ok().flatten().map(|seen| seen.sequence_number);
        let (Some(page), Some(work)) = (self.or_trouble(page), self.or_trouble(work)) else { return };
        self.known = Some(known);
        let (list, more) = (page.rows, page.next_cursor.is_some());
        self.tell(Message::Rows { list, more, text: self.text.clone(), seen });
        self.tell(Message::Worked(work));
    }

    fn newest(&self) -> Result<(Seq, Vec<SnapshotId>)> {
        let calls = self.workspace.open_calls()?;
        Ok((self.workspace.newest_row()?, calls.into_iter().map(|call| call.id).collect()))
    }

    fn page(&self) -> Result<LogPage> {
        let text = Some(self.text.clone()).filter(|text| !text.is_empty());
        let page = self.workspace.log(&Log { text, limit: self.wanted, ..Log::default() })?;
        self.short(page)
    }

    fn work(&self) -> Result<Work> {
        let sessions = match self.workspace.store_path()? {
            Some(_) => self.workspace.sessions(&Sessions { limit: SESSIONS })?,
            None => Vec::new(),
        };
        let calls = self.workspace.open_calls()?;
        Ok(Work { sessions: self.short(sessions)?, calls: self.short(calls)? })
    }

    fn short<T: HasIds>(&self, report: T) -> Result<T> {
        match self.workspace.store_path()? {
            Some(_) => self.workspace.shortened(report),
            None => Ok(report),
        }
    }

    fn files(&mut self) {
        let status = self.workspace.status();
        let Some(status) = self.or_trouble(status) else { return };
        self.tell(Message::Disk(Disk {
            changed: if status.latest.is_some() { status.changes.len() } else { 0 },
            unseen: status.unseen.len(),
            undoable: status.undoable,
            redoable: status.redoable,
        }));
    }

    fn health(&mut self) {
        let app = self.app();
        self.tell(Message::App(app));
    }

    /// Asks the server, and looks for one when none was there or it went.
    fn app(&mut self) -> App {
        if self.server.is_none() {
            match Server::find(&self.root, self.settings.clone()) {
                Ok(found) => self.server = found,
                Err(error) => return App::Failed(error.message().to_owned()),
            }
        }
        let Some(server) = &self.server else { return App::NotServed };
        match server.perform(&ReadAppHealth { client: Some("watch".to_owned()), checkpoint: None }) {
            Ok(health) => App::Known(Box::new(health)),
            Err(error) => {
                self.server = None;
                App::Failed(error.message().to_owned())
            }
        }
    }

    fn carry_out(&mut self, order: Effect, due: &mut Due) {
        match order {
            Effect::Rows { text, wanted } => {
                (self.text, self.wanted) = (text, wanted);
                self.rows(true);
            }
            Effect::Detail(place) => {
                let lines = self.detail(place);
                self.tell(Message::Detail { place, lines });
            }
            Effect::Plan { going, policy } => {
                let outcome = self.go(going, policy, None);
                self.tell(Message::Planned(outcome.map(Box::new).map_err(|error| refusal(&error))));
            }
            Effect::Carry { going, policy, plan } => {
                let outcome = self.go(going, policy, Some(plan));
                self.tell(Message::Carried(outcome.map(Box::new).map_err(|error| refusal(&error))));
                (due.rows, due.files) = (Instant::now(), Instant::now());
            }
            Effect::Seen(seq) => {
                let outcome = self.workspace.set_seen(&self.person, seq);
                self.or_trouble(outcome);
            }
            Effect::Again => {
                self.known = None;
                let now = Instant::now();
                *due = Due { rows: now, files: now, health: now };
            }
            Effect::Suspend | Effect::Quit(_) => {}
        }
    }

    fn detail(&self, place: Place) -> Vec<detail::Line> {
        let outcome = match place {
            Place::Newest => return Vec::new(),
            Place::Disk => self.workspace.range_hunks("@", None, CONTEXT).map(|hunks| detail::of_hunks(&hunks)),
            Place::Row(seq) => self.row_detail(seq),
        };
        outcome.unwrap_or_else(|error| vec![detail::Line { tone: detail::Tone::Note, text: safe(error.message()) }])
    }

    fn row_detail(&self, seq: Seq) -> Result<Vec<detail::Line>> {
        let cursor = Some(format!("before-{}", seq.0 + 1));
        let page = self.workspace.log(&Log { cursor, limit: 1, ..Log::default() })?;
        let page = self.short(page)?;
        let row = page.rows.into_iter().find(|row| row.sequence_number() == seq);
        let row = row.ok_or_else(|| Error::new(Code::RefNotFound, format!("{seq} is no longer there")))?;
        let now = self.workspace.now();
        let hunks = match &row {
            Row::Snapshot(step) if step.expired_at.is_none() => {
                Some(self.workspace.step_hunks(&seq.to_string(), &[], CONTEXT)?)
            }
            _ => None,
        };
        Ok(detail::of_row(&row, hunks.as_ref(), now))
    }

    /// Plans, or does exactly what was planned.
    fn go(&self, going: Going, on_conflict: OnConflict, plan: Option<PlanToken>) -> Result<Applied> {
        let dry_run = plan.is_none();
        let steps = |plan| Undo { on_conflict, dry_run, plan, ..Undo::default() };
        match going {
            Going::Undo => self.workspace.undo(&steps(plan)),
            Going::Redo => self.workspace.redo(&steps(plan)),
            Going::Revert(seq) => {
                let references = vec![seq.to_string()];
                self.workspace.revert_steps(&Revert { references, on_conflict, dry_run, plan, ..Revert::default() })
            }
        }
    }
}

/// Of several wishes to see a place only the last is still wanted; what comes after another wish waits its turn.
fn latest(order: Effect, orders: &Receiver<Effect>) -> Effect {
    let mut order = order;
    while matches!(order, Effect::Detail(_)) {
        match orders.try_recv() {
            Ok(newer) => order = newer,
            Err(_) => break,
        }
    }
    order
}

/// Looks, and says when to look again: not before `least`, and later where looking is dear.
fn paced(least: Duration, look: impl FnOnce()) -> Instant {
    let before = processor_time();
    look();
    let spent = processor_time().saturating_sub(before);
    Instant::now() + pause(least, spent)
}

fn pause(least: Duration, spent: Duration) -> Duration {
    spent.saturating_mul(SHARE).clamp(least, SLOWEST.max(least))
}

/// What this process has used of the processors, all threads together.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let (seconds, nanoseconds) = (u64::try_from(time.tv_sec), u32::try_from(time.tv_nsec));
    Duration::new(seconds.unwrap_or(0), nanoseconds.unwrap_or(0))
}

/// An error as the dialog shows it: everything in it may come from names of files.
fn refusal(error: &Error) -> Refusal {
    let list = |name: &str| error.details()[name].as_array().cloned().unwrap_or_default();
    let line = |entry: &serde_json::Value| {
        let (path, reason) = (entry["path"].as_str()?, entry["reason"].as_str().unwrap_or_default());
        Some(format!("{}: {}", safe(path), safe(reason)))
    };
    let conflicts = match error.code() {
        Code::Conflict => list("conflicts"),
        Code::NotCovered => list("paths"),
        _ => Vec::new(),
    };
    let conflicts = conflicts.iter().filter_map(line).collect();
    let hint = error.hint_in(&CommandLine).map(|hint| safe(&hint));
    Refusal { message: safe(error.message()), hint, conflicts }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looking_that_is_dear_is_done_less_often() {
        assert_eq!(pause(FILES, Duration::from_micros(100)), FILES);
        assert_eq!(pause(FILES, Duration::from_millis(40)), Duration::from_secs(16));
        assert_eq!(pause(FILES, Duration::from_secs(3)), SLOWEST);
    }

    #[test]
    fn of_several_wishes_to_see_a_place_the_last_counts_and_no_deed_is_lost() {
        let (sender, orders) = std::sync::mpsc::channel();
        for seq in [2, 3] {
            sender.send(Effect::Detail(Place::Row(Seq(seq)))).unwrap();
        }
        sender.send(Effect::Again).unwrap();
        sender.send(Effect::Detail(Place::Row(Seq(4)))).unwrap();
        assert_eq!(latest(Effect::Detail(Place::Row(Seq(1))), &orders), Effect::Again);
        assert_eq!(orders.try_recv().unwrap(), Effect::Detail(Place::Row(Seq(4))));
    }
}
