//! What `watch` knows and where the person is in it, as one value, and what each message makes of it. Nothing here looks at
//! a disk or a terminal: what has to be done is handed back as [`Effect`]s.

use std::ops::Range;

use backsight::PlanToken;
use backsight::browser::Health;
use backsight::report::OnConflict;
use backsight::report::{Applied, Call, Kind, Row, Session};
use backsight_core::{Seq, Timestamp};

use super::detail::{Line, Tone};
use super::keys::Key;
use crate::render::graph::Alphabet;

/// Rows that are asked for at first, and how many more when the person comes to the end.
pub const PAGE: usize = 200;

/// Everything there is to draw.
#[derive(Debug)]
pub struct Model {
    /// The workspace's directory, ready to be shown.
    pub root: String,
    /// Ages are counted from here.
    pub now: Timestamp,
    pub look: Look,
    pub rows: Rows,
    /// None until the disk was looked at.
    pub disk: Option<Disk>,
    pub work: Work,
    /// None until the app was asked about.
    pub app: Option<App>,
    /// Where the person is.
    pub chosen: Place,
    /// What the chosen place holds; none while it is read.
    pub detail: Option<Vec<Line>>,
    /// The first line of it that is shown.
    pub top: usize,
    /// How many lines of it, and how many rows, the last drawing had room for.
    pub room: Room,
    pub focus: Focus,
    pub mode: Mode,
    /// What was last done, or went wrong.
    pub said: Option<Said>,
    /// What cannot be read now; while there is something, what is shown may be old.
    pub trouble: Option<String>,
}

/// How it is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    pub alphabet: Alphabet,
    pub is_coloured: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Room {
    pub rows: usize,
    pub lines: usize,
}

/// Rows of the timeline, the newest first.
#[derive(Debug, Default)]
pub struct Rows {
    /// None until the timeline was read.
    pub list: Option<Vec<Row>>,
    /// There are older ones.
    pub more: bool,
    /// Only rows that hold this text; empty means all.
    pub text: String,
    /// How many were asked for.
    pub wanted: usize,
    /// Up to which row the person had looked; none when they never have.
    pub seen: Option<Seq>,
}

/// How the files on disk differ from the latest snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disk {
    pub changed: usize,
    /// Paths that could not be looked at.
    pub unseen: usize,
    pub undoable: u64,
    pub redoable: u64,
}

/// Who works on what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// The sessions that last did something, the newest first.
    pub sessions: Vec<Session>,
    /// Tool calls that began and have not finished.
    pub calls: Vec<Call>,
}

/// What is known of the app.
#[derive(Clone, Debug)]
pub enum App {
    /// No server runs, so nobody watches it.
    NotServed,
    Known(Box<Health>),
    /// It could not be asked.
    Failed(String),
}

/// What is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The newest there is, whatever comes.
    Newest,
    /// What is on disk and not recorded.
    Disk,
    Row(Seq),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Focus {
    Timeline,
    Detail,
}

/// What keys mean.
#[derive(Debug)]
pub enum Mode {
    Looking,
    /// A text to look for is being typed.
    Searching(String),
    /// The list of keys is shown.
    Keys,
    /// Something is about to be taken back.
    Asking(Asking),
}

/// A way back, on its way from plan to deed.
#[derive(Debug)]
pub struct Asking {
    pub going: Going,
    pub policy: OnConflict,
    pub stage: Stage,
}

#[derive(Debug)]
pub enum Stage {
    Planning,
    /// This would be done.
    Planned(Box<Applied>),
    /// It was refused, with what was in the way.
    Refused(Refusal),
    Doing,
}

/// What can be taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Going {
    Undo,
    Redo,
    Revert(Seq),
}

/// Why something was not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub message: String,
    pub hint: Option<String>,
    /// What is in the way, one line each; ready to be shown.
    pub conflicts: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    pub text: String,
    pub is_trouble: bool,
}

/// What happened.
#[derive(Debug)]
pub enum Message {
    Typed(Key),
    /// The terminal has another size, or was away.
    Redraw,
    Clock(Timestamp),
    Rows {
        list: Vec<Row>,
        more: bool,
        text: String,
        seen: Option<Seq>,
    },
    Worked(Work),
    Disk(Disk),
    App(App),
    Detail {
        place: Place,
        lines: Vec<Line>,
    },
    Planned(Result<Box<Applied>, Refusal>),
    Carried(Result<Box<Applied>, Refusal>),
    /// Something cannot be read; none when it can again.
    Trouble(Option<String>),
    /// Ends with this signal.
    Signal(i32),
    /// What reads the workspace ended, which it never should.
    Gone,
}

/// What has to be done.
#[derive(Debug, PartialEq, Eq)]
pub enum Effect {
    Rows {
        text: String,
        wanted: usize,
    },
    Detail(Place),
    Plan {
        going: Going,
        policy: OnConflict,
    },
    Carry {
        going: Going,
        policy: OnConflict,
        plan: PlanToken,
    },
    /// The person has seen all up to here.
    Seen(Seq),
    /// Everything is to be read again.
    Again,
    /// The shell gets the terminal back until it lets us go on.
    Suspend,
    Quit(Quit),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quit {
    Done,
    Signal(i32),
    Broken,
}

impl Model {
    pub fn new(root: String, now: Timestamp, look: Look) -> Model {
        Model {
            root,
            now,
            look,
            rows: Rows { wanted: PAGE, ..Rows::default() },
            disk: None,
            work: Work::default(),
            app: None,
            chosen: Place::Newest,
            detail: None,
            top: 0,
            room: Room::default(),
            focus: Focus::Timeline,
            mode: Mode::Looking,
            said: None,
            trouble: None,
        }
    }

    /// What is asked for before the first message.
    pub fn first(&self) -> Effect {
        Effect::Rows { text: String::new(), wanted: self.rows.wanted }
    }

    /// Whether what is on disk has a line of its own.
    pub fn shows_disk(&self) -> bool {
        self.disk.is_some_and(|disk| disk.changed > 0) && self.rows.text.is_empty()
    }

    fn rows(&self) -> &[Row] {
        self.rows.list.as_deref().unwrap_or_default()
    }

    /// Lines of the timeline: the disk, when it has one, and the rows.
    pub fn length(&self) -> usize {
        self.rows().len() + usize::from(self.shows_disk())
    }

    /// What stands in a line of the timeline.
    pub fn place(&self, index: usize) -> Option<Place> {
        match (self.shows_disk(), index) {
            (true, 0) => Some(Place::Disk),
            (shown, index) => self.rows().get(index - usize::from(shown)).map(|row| Place::Row(row.sequence_number())),
        }
    }

    /// The row in a line of the timeline.
    pub fn row(&self, index: usize) -> Option<&Row> {
        let skipped = usize::from(self.shows_disk());
        index.checked_sub(skipped).and_then(|index| self.rows().get(index))
    }

    /// The line that is chosen. A row that is gone from the list leaves the choice at the next older one.
    pub fn index(&self) -> usize {
        let skipped = usize::from(self.shows_disk());
        match self.chosen {
            Place::Newest | Place::Disk => 0,
            Place::Row(seq) => {
                let older = self.rows().iter().position(|row| row.sequence_number() <= seq);
                older.map_or(self.length().saturating_sub(1), |index| index + skipped)
            }
        }
    }

    /// What is chosen, by its own name.
    pub fn chosen_place(&self) -> Option<Place> {
        self.place(self.index())
    }

    pub fn chosen_row(&self) -> Option<&Row> {
        self.row(self.index())
    }

    /// Whether something is being taken back.
    pub fn is_doing(&self) -> bool {
        matches!(&self.mode, Mode::Asking(Asking { stage: Stage::Doing, .. }))
    }

    /// Whether the person has not seen a row.
    pub fn is_new(&self, seq: Seq) -> bool {
        self.rows.seen.is_some_and(|seen| seq > seen)
    }

    /// The lines of a list of `length` that `room` shows so that `chosen` is among them, in the middle where it can be.
    pub fn window(length: usize, chosen: usize, room: usize) -> Range<usize> {
        let start = chosen.saturating_sub(room / 2).min(length.saturating_sub(room));
        start..(start + room).min(length)
    }
}

/// What a message makes of the model, and what has to be done then.
pub fn update(model: &mut Model, message: Message) -> Vec<Effect> {
    let before = model.chosen_place();
    let mut effects = handle(model, message);
    let after = model.chosen_place();
    if before != after {
        model.detail = None;
        model.top = 0;
        effects.extend(after.map(Effect::Detail));
    }
    effects
}

fn handle(model: &mut Model, message: Message) -> Vec<Effect> {
    match message {
        Message::Typed(key) => return typed(model, key),
        Message::Redraw => {}
        Message::Clock(now) => model.now = now,
        Message::Rows { list, more, text, seen } => {
            // An answer to what is no longer asked.
            if text == model.rows.text {
                model.rows.list = Some(list);
                model.rows.more = more;
                model.rows.seen = seen;
            }
        }
        Message::Worked(work) => model.work = work,
        Message::Disk(disk) => {
            let is_news = model.disk.is_some_and(|before| before != disk) && model.chosen_place() == Some(Place::Disk);
            model.disk = Some(disk);
            // The same line may now stand for another difference.
            if is_news && model.shows_disk() {
                return vec![Effect::Detail(Place::Disk)];
            }
        }
        Message::App(app) => model.app = Some(app),
        Message::Detail { place, lines } => {
            if model.chosen_place() == Some(place) {
                model.top = model.top.min(lines.len().saturating_sub(1));
                model.detail = Some(lines);
            }
        }
        Message::Planned(outcome) => {
            if let Mode::Asking(asking) = &mut model.mode {
                asking.stage = match outcome {
                    Ok(applied) => Stage::Planned(applied),
                    Err(refusal) => Stage::Refused(refusal),
                };
            }
        }
        Message::Carried(outcome) => carried(model, outcome),
        Message::Trouble(trouble) => model.trouble = trouble,
        Message::Signal(signal) => return vec![Effect::Quit(Quit::Signal(signal))],
        Message::Gone => return vec![Effect::Quit(Quit::Broken)],
    }
    Vec::new()
}

fn carried(model: &mut Model, outcome: Result<Box<Applied>, Refusal>) {
    let Mode::Asking(asking) = &mut model.mode else { return };
    match outcome {
        Ok(applied) => {
            model.said = Some(Said { text: done(asking.going, &applied), is_trouble: !applied.conflicts.is_empty() });
            model.mode = Mode::Looking;
            model.chosen = Place::Newest;
        }
        Err(refusal) => asking.stage = Stage::Refused(refusal),
    }
}

/// `reverted #5: 1 path put back, recorded as #7; z takes it back`
fn done(going: Going, applied: &Applied) -> String {
    let totals = crate::render::applied::totals(applied);
    let what = match going {
        Going::Undo => "undid",
        Going::Redo => "redid",
        Going::Revert(_) => "reverted",
    };
    let targets = crate::words::enumerate(&applied.targets);
    let Some(snapshot) = &applied.snapshot else {
        return format!("nothing to change: {targets} is already taken back");
    };
    let back = if going == Going::Undo { "Z brings it back" } else { "z takes it back" };
    let marked = if applied.conflicts.is_empty() { "" } else { "; search the files for <<<<<<<" };
    format!("{what} {targets}: {totals}; recorded as {}; {back}{marked}", snapshot.sequence_number)
}

fn typed(model: &mut Model, key: Key) -> Vec<Effect> {
    match key {
        Key::Ctrl('c') => return vec![Effect::Quit(Quit::Done)],
        Key::Ctrl('z') => return vec![Effect::Suspend],
        _ => {}
    }
    match &mut model.mode {
        Mode::Keys => {
            model.mode = Mode::Looking;
            Vec::new()
        }
        Mode::Searching(_) => searching(model, key),
        Mode::Asking(_) => asking(model, key),
        Mode::Looking => looking(model, key),
    }
}

fn searching(model: &mut Model, key: Key) -> Vec<Effect> {
    let Mode::Searching(text) = &mut model.mode else { return Vec::new() };
    match key {
        Key::Char(letter) => text.push(letter),
        Key::Backspace => drop(text.pop()),
        Key::Escape => model.mode = Mode::Looking,
        Key::Enter => {
            let text = std::mem::take(text);
            model.mode = Mode::Looking;
            return look_for(model, text);
        }
        _ => {}
    }
    Vec::new()
}

/// Lists only the rows that hold a text, of all there are.
fn look_for(model: &mut Model, text: String) -> Vec<Effect> {
    if text == model.rows.text {
        return Vec::new();
    }
    model.rows = Rows { text: text.clone(), wanted: PAGE, ..Rows::default() };
    model.chosen = Place::Newest;
    vec![Effect::Rows { text, wanted: PAGE }]
}

fn asking(model: &mut Model, key: Key) -> Vec<Effect> {
    let Mode::Asking(asking) = &mut model.mode else { return Vec::new() };
    let can_plan_anew = matches!(&asking.stage, Stage::Refused(refusal) if !refusal.conflicts.is_empty());
    let policy = match key {
        Key::Char('s') if can_plan_anew => Some(OnConflict::Skip),
        Key::Char('m') if can_plan_anew => Some(OnConflict::Merge),
        _ => None,
    };
    if let Some(policy) = policy {
        let going = asking.going;
        *asking = Asking { going, policy, stage: Stage::Planning };
        return vec![Effect::Plan { going, policy }];
    }
    match (key, &asking.stage) {
        // What is being done is waited for.
        (_, Stage::Doing) => {}
        (Key::Char('y') | Key::Enter, Stage::Planned(applied)) => {
            if let (true, Some(plan)) = (applied.changed, applied.plan.clone()) {
                let (going, policy) = (asking.going, asking.policy);
                asking.stage = Stage::Doing;
                return vec![Effect::Carry { going, policy, plan }];
            }
            model.mode = Mode::Looking;
        }
        (Key::Escape | Key::Char('n' | 'q'), _) => model.mode = Mode::Looking,
        _ => {}
    }
    Vec::new()
}

fn looking(model: &mut Model, key: Key) -> Vec<Effect> {
    if key != Key::Escape {
        model.said = None;
    }
    match key {
        Key::Char('q') => return vec![Effect::Quit(Quit::Done)],
        Key::Char('?') => model.mode = Mode::Keys,
        Key::Char('/') => model.mode = Mode::Searching(model.rows.text.clone()),
        Key::Char('z') => return plan(model, Going::Undo),
        Key::Char('Z') => return plan(model, Going::Redo),
        Key::Char('R') => return revert(model),
        Key::Char('s') => return see(model),
        Key::Char('r') | Key::Ctrl('l') => return vec![Effect::Again],
        Key::Tab => model.focus = if model.focus == Focus::Timeline { Focus::Detail } else { Focus::Timeline },
        Key::Enter | Key::Right | Key::Char('l') => model.focus = Focus::Detail,
        Key::Left | Key::Char('h') => model.focus = Focus::Timeline,
        Key::Escape => return leave(model),
        key if model.focus == Focus::Detail => scroll(model, key),
        key => return walk(model, key),
    }
    Vec::new()
}

/// Escape leaves what was entered last.
fn leave(model: &mut Model) -> Vec<Effect> {
    if model.said.take().is_some() {
        return Vec::new();
    }
    if model.focus == Focus::Detail {
        model.focus = Focus::Timeline;
        return Vec::new();
    }
    look_for(model, String::new())
}

fn plan(model: &mut Model, going: Going) -> Vec<Effect> {
    let policy = OnConflict::Refuse;
    model.mode = Mode::Asking(Asking { going, policy, stage: Stage::Planning });
    vec![Effect::Plan { going, policy }]
}

fn revert(model: &mut Model) -> Vec<Effect> {
    let step = model.chosen_row().filter(|row| crate::render::graph::kind(row).holds_files());
    match step.map(Row::sequence_number) {
        Some(seq) => plan(model, Going::Revert(seq)),
        None => {
            let text = "only a step can be taken back; choose one with j and k".to_owned();
            model.said = Some(Said { text, is_trouble: true });
            Vec::new()
        }
    }
}

fn see(model: &mut Model) -> Vec<Effect> {
    let newest = model.rows().first().map(Row::sequence_number).filter(|_| model.rows.text.is_empty());
    let Some(newest) = newest else { return Vec::new() };
    model.rows.seen = Some(newest);
    model.said = Some(Said { text: format!("seen up to {newest}"), is_trouble: false });
    vec![Effect::Seen(newest)]
}

/// Moves through the timeline.
fn walk(model: &mut Model, key: Key) -> Vec<Effect> {
    let (index, last) = (model.index(), model.length().saturating_sub(1));
    let page = model.room.rows.saturating_sub(1).max(1);
    let target = match key {
        Key::Char('j') | Key::Down => index + 1,
        Key::Char('k') | Key::Up => index.saturating_sub(1),
        Key::PageDown | Key::Ctrl('d') => index + page,
        Key::PageUp | Key::Ctrl('u') => index.saturating_sub(page),
        Key::Char('g') | Key::Home => 0,
        Key::Char('G') | Key::End => last,
        Key::Char(']') => notable(model, (index + 1)..=last).unwrap_or(index),
        Key::Char('[') => notable(model, (0..index).rev()).unwrap_or(index),
        _ => return Vec::new(),
    };
    let target = target.min(last);
    // At the top the choice goes with what comes.
    model.chosen = if target == 0 { Place::Newest } else { model.place(target).unwrap_or(Place::Newest) };
    let is_near_the_end = model.rows.more && target + page >= last;
    if !is_near_the_end || model.rows().len() < model.rows.wanted {
        return Vec::new();
    }
    model.rows.wanted += PAGE;
    vec![Effect::Rows { text: model.rows.text.clone(), wanted: model.rows.wanted }]
}

/// The first of these lines that is an error, a mark or a way back.
fn notable(model: &Model, lines: impl IntoIterator<Item = usize>) -> Option<usize> {
    let is_notable = |index: &usize| {
        model.row(*index).is_some_and(|row| {
            matches!(
                crate::render::graph::kind(row),
                Kind::FirstError
                    | Kind::Recovery
                    | Kind::Milestone
                    | Kind::Reset
                    | Kind::Bisect
                    | Kind::Restore
                    | Kind::Revert
                    | Kind::Undo
                    | Kind::Redo
                    | Kind::DebuggerStop
            )
        })
    };
    lines.into_iter().find(is_notable)
}

/// Moves through what is chosen.
fn scroll(model: &mut Model, key: Key) {
    let Some(lines) = &model.detail else { return };
    let page = model.room.lines.saturating_sub(1).max(1);
    let last = lines.len().saturating_sub(model.room.lines);
    let starts = |tone: Tone| lines.iter().enumerate().filter(move |(_, line)| line.tone == tone).map(|(at, _)| at);
    let target = match key {
        Key::Char('j') | Key::Down => model.top + 1,
        Key::Char('k') | Key::Up => model.top.saturating_sub(1),
        Key::PageDown | Key::Ctrl('d') | Key::Char(' ') => model.top + page,
        Key::PageUp | Key::Ctrl('u') => model.top.saturating_sub(page),
        Key::Char('g') | Key::Home => 0,
        Key::Char('G') | Key::End => last,
        Key::Char(']') => starts(Tone::File).find(|at| *at > model.top).unwrap_or(model.top),
        Key::Char('[') => starts(Tone::File).rfind(|at| *at < model.top).unwrap_or(0),
        _ => return,
    };
    model.top = target.min(last);
}

/// The keys, as `?` lists them.
pub const KEYS: &[(&str, &str)] = &[
    ("j k", "next, previous: row, or line of the diff"),
    ("g G", "newest, oldest; top, end"),
    ("space ^d ^u", "a page down, a page up"),
    ("] [", "next, previous: error, mark or way back; file of the diff"),
    ("Enter Tab", "into the diff, and back (h, Esc)"),
    ("/", "search the whole timeline; Esc shows all again"),
    ("z Z", "undo, redo: shows what it would do and asks"),
    ("R", "revert the chosen step: shows and asks"),
    ("s", "mark everything as seen"),
    ("r", "read everything again"),
    ("?", "these keys"),
    ("q ^C", "quit"),
];

#[cfg(test)]
#[path = "model_tests.rs"]
pub mod tests;
