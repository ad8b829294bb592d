//! What the dashboard's pages show, each in one answer: what happened since a person last looked, the timeline in short, and
//! differences ready to be drawn. And what a person who looks keeps: a place in the timeline, marks on contents.

use backsight::Workspace;
use backsight::browser::Ask;
use backsight::report::{AllChanges, Hunks, Row, RowLine, Seen, Session, Snapshot, Status, Viewed};
use backsight::request::{self, Log, Order, PathText, Person, ReadTimeline};
use backsight_core::{Code, Effect, Error, ObjectId, Operation, RelPath, Result, Seq, Waits, countable, short_enough};
use http::Method;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::browser::CHECKPOINT;
use super::{LOOK, PATH, REFERENCE, WRITE};
use crate::http::endpoint::Endpoint;
use crate::http::route::{Route, routes};

/// Rows and files since a person last looked that are listed.
const ROWS: usize = 500;
const FILES: usize = 500;
/// Lines around a change when the caller does not say.
const CONTEXT: u16 = 3;

routes! {
    GET "/api/since" since: ReadSince,
        "What happened since a person last looked: verdict, files, errors",
        [REFERENCE, CHECKPOINT, &[Code::Cancelled], LOOK, WRITE], quotes => since;
    GET "/api/seen" seen: ReadSeen, "Up to where in the timeline a person has looked", [] => seen;
    POST "/api/seen" markSeen: MarkSeen,
        "Move a person's place in the timeline", [CHECKPOINT, &[Code::Cancelled], LOOK, WRITE] => mark_seen;
    GET "/api/timeline" timeline: ReadTimeline,
        "The rows of the timeline in short, for long lists", [PATH, &[Code::RefAmbiguous]];
    GET "/api/hunks" hunks: DrawHunks,
        "A step, a range or a session as lines with marks, ready to be drawn",
        [REFERENCE, PATH, LOOK, &[Code::SessionNotFound]] => hunks;
    GET "/api/attempts" attempts: CompareAttempts,
        "Two sessions or two ranges side by side", [REFERENCE, &[Code::SessionNotFound]] => attempts;
    GET "/api/viewed" viewed: ReadViewed, "The contents that a person has read, by their ids", [] => viewed;
    POST "/api/viewed" markViewed: MarkViewed, "Mark contents as read, or take marks back", [WRITE] => mark_viewed;
}

/// As whom a person asks about the app.
fn client(person: &str) -> String {
    format!("dashboard:{person}")
}

/// What happened since a person last looked.
#[derive(JsonSchema, Serialize)]
pub struct Since {
    /// Who looks.
    person: String,
    /// Up to where they have looked; absent when they never have.
    #[serde(skip_serializing_if = "Option::is_none")]
    seen: Option<Seen>,
    /// The newest row.
    newest: Seq,
    /// Rows since then, newest first.
    rows: Vec<RowLine>,
    /// How many more rows there are.
    more_rows: u64,
    /// The state that the files are compared with; absent when no contents are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<Seq>,
    /// Files that differ from then on disk now.
    files: Vec<FileLine>,
    /// How many more files.
    more_files: u64,
    /// Lines added, over all files.
    additions: u64,
    /// Lines removed, over all files.
    deletions: u64,
    /// What happened in the app and in debugged programs, and because of what.
    changes: AllChanges,
}

/// One file that differs.
#[derive(JsonSchema, Serialize)]
pub struct FileLine {
    /// Which.
    file: RelPath,
    /// How.
    status: Status,
    /// Lines added.
    additions: u64,
    /// Lines removed.
    deletions: u64,
}

/// Ask what happened since a person last looked.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ReadSince {
    /// Who looks.
    #[serde(flatten)]
    person: Person,
}

impl Operation for ReadSince {
    type Answer = Since;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForBrowser;

    fn check(&self) -> Result<()> {
        self.person.name().map(drop)
    }
}

fn since(workspace: &Workspace, input: ReadSince) -> Result<Since> {
    let person = input.person.name()?;
    let ask = Ask { peek: true, ..Ask::default() };
    // Before the rows are read: asking records what the live lanes saw.
    let changes = workspace.changes(&client(&person), &[], &ask)?;
    let seen = workspace.seen(&person)?;
    let newest = workspace.newest_row()?;
    let from = beginning(workspace, seen.as_ref())?;
    let after = seen.as_ref().map_or(0, |seen| seen.sequence_number.0);
    let page = workspace.log(&Log { limit: ROWS, ..Log::default() })?;
    let mut rows: Vec<RowLine> = page.rows.into_iter().map(RowLine::from).collect();
    rows.retain(|row| row.sequence_number.0 > after);
    // Rows are numbered without gaps.
    let more_rows = newest.0.saturating_sub(after).saturating_sub(rows.len() as u64);
    let diff = from.map(|from| workspace.diff_with(&request::Diff::new(from.0.to_string(), None))).transpose()?;
    let (additions, deletions) = diff.as_ref().map_or((0, 0), |diff| (diff.additions, diff.deletions));
    let mut files: Vec<FileLine> = diff.into_iter().flat_map(|diff| diff.diffs).map(file_line).collect();
    let more_files = files.len().saturating_sub(FILES) as u64;
    files.truncate(FILES);
    Ok(Since { person, seen, newest, rows, more_rows, from, files, more_files, additions, deletions, changes })
}

fn file_line(diff: backsight::report::FileDiff) -> FileLine {
    FileLine { file: diff.file, status: diff.status, additions: diff.additions, deletions: diff.deletions }
}

/// The state to compare with: the latest at or before a place, or the first of all, whose contents are kept.
fn beginning(workspace: &Workspace, seen: Option<&Seen>) -> Result<Option<Seq>> {
    let (order, cursor) = match seen {
        Some(seen) => (Order::NewestFirst, Some(format!("before-{}", seen.sequence_number.0.saturating_add(1)))),
        None => (Order::OldestFirst, None),
    };
    let mut request = Log { order, cursor, limit: 200, ..Log::default() };
    loop {
        let page = workspace.log(&request)?;
        let is_held = |step: &&Snapshot| step.expired_at.is_none();
        let held = page.rows.iter().filter_map(Row::snapshot).find(is_held).map(|step| step.sequence_number);
        match (held, page.next_cursor) {
            (None, Some(next)) => request.cursor = Some(next),
            (held, _) => return Ok(held),
        }
    }
}

/// Up to where a person has looked.
#[derive(JsonSchema, Serialize)]
pub struct LookedUpTo {
    /// Absent when they never have.
    #[serde(skip_serializing_if = "Option::is_none")]
    seen: Option<Seen>,
    /// The newest row.
    newest: Seq,
}

/// Ask up to where in the timeline a person has looked.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ReadSeen {
    /// Who looks.
    #[serde(flatten)]
    person: Person,
}

impl Operation for ReadSeen {
    type Answer = LookedUpTo;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        self.person.name().map(drop)
    }
}

fn seen(workspace: &Workspace, input: ReadSeen) -> Result<LookedUpTo> {
    Ok(LookedUpTo { seen: workspace.seen(&input.person.name()?)?, newest: workspace.newest_row()? })
}

/// Move a person's place in the timeline.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct MarkSeen {
    /// Who looks.
    #[serde(flatten)]
    person: Person,
    /// Up to which row; the newest when left out.
    sequence_number: Option<u64>,
}

impl Operation for MarkSeen {
    type Answer = Seen;
    const EFFECT: Effect = Effect::Records;
    const WAITS: Waits = Waits::ForBrowser;

    fn check(&self) -> Result<()> {
        self.person.name().map(drop)
    }
}

fn mark_seen(workspace: &Workspace, input: MarkSeen) -> Result<Seen> {
    let person = input.person.name()?;
    let row = input.sequence_number.map_or_else(|| workspace.newest_row(), |row| Ok(Seq(row)))?;
    let seen = workspace.set_seen(&person, row)?;
    workspace.changes(&client(&person), &[], &Ask::default())?;
    Ok(seen)
}

/// Draw a step, a range or a session as lines with marks.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct DrawHunks {
    /// One step, as a reference; instead of `from` and of `of_session`.
    #[serde(rename = "ref")]
    #[schemars(example = &"@")]
    reference: Option<String>,
    /// The first state of a range, as a reference.
    from: Option<String>,
    /// Its second state; the files on disk when left out.
    to: Option<String>,
    /// All that a session did and is in effect.
    of_session: Option<String>,
    /// Only this path and what lies below it.
    path: Option<PathText>,
    /// Lines around each change; 3 unless told otherwise.
    context: Option<u16>,
}

impl Operation for DrawHunks {
    type Answer = Drawn;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        for (name, text) in
            [("ref", &self.reference), ("from", &self.from), ("to", &self.to), ("of_session", &self.of_session)]
        {
            short_enough(name, text.as_deref().unwrap_or_default())?;
        }
        self.path.as_ref().map_or(Ok(()), |path| path.inside().map(drop))
    }
}

/// What was asked for, and what it did.
#[derive(JsonSchema, Serialize)]
pub struct Drawn {
    /// The step, when one was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<Snapshot>,
    #[serde(flatten)]
    hunks: Hunks,
}

fn hunks(workspace: &Workspace, input: DrawHunks) -> Result<Drawn> {
    let DrawHunks { reference, from, to, of_session, path, context } = input;
    let paths: Vec<RelPath> = path.map(|path| path.inside()).transpose()?.into_iter().collect();
    let context = usize::from(context.unwrap_or(CONTEXT));
    match (reference, from, of_session) {
        (Some(reference), None, None) if to.is_none() => {
            let step = workspace.show(&reference)?;
            let is_held = step.expired_at.is_none();
            let hunks = is_held.then(|| workspace.step_hunks(&reference, &paths, context)).transpose()?;
            Ok(Drawn { step: Some(step), hunks: hunks.unwrap_or_default() })
        }
        (None, Some(from), None) => {
            let request = request::Diff { paths, context, ..request::Diff::new(from, to) };
            Ok(Drawn { step: None, hunks: workspace.hunks_with(&request)? })
        }
        (None, None, Some(session)) if to.is_none() && paths.is_empty() => {
            Ok(Drawn { step: None, hunks: workspace.session_hunks(&session, context)? })
        }
        _ => Err(Error::new(
            Code::Usage,
            "one of `ref`, `from` and `of_session` says what is meant; `to` goes with `from`, `path` with one of the first two",
        )),
    }
}

/// Compare two sessions or two ranges side by side.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct CompareAttempts {
    /// One: a session, or a range of two references such as `3..7` or `3..now`.
    #[schemars(example = &"3..7")]
    one: String,
    /// The other.
    other: String,
}

impl Operation for CompareAttempts {
    type Answer = Attempts;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        short_enough("one", &self.one)?;
        short_enough("other", &self.other)
    }
}

/// Two attempts beside each other.
#[derive(JsonSchema, Serialize)]
pub struct Attempts {
    /// One.
    one: Attempt,
    /// The other.
    other: Attempt,
}

/// What a session or a range came to.
#[derive(JsonSchema, Serialize)]
pub struct Attempt {
    /// As it was asked for.
    name: String,
    /// The session, when it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<Session>,
    /// The row that holds the files it began with; absent when it began with none.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<Seq>,
    /// The Git tree id of these files.
    #[serde(skip_serializing_if = "Option::is_none")]
    from_tree: Option<ObjectId>,
    /// How many steps it has.
    steps: u64,
    /// What it changed; of a session, what is in effect.
    hunks: Hunks,
}

fn attempts(workspace: &Workspace, input: CompareAttempts) -> Result<Attempts> {
    let CompareAttempts { one, other } = input;
    Ok(Attempts { one: attempt(workspace, one)?, other: attempt(workspace, other)? })
}

fn attempt(workspace: &Workspace, name: String) -> Result<Attempt> {
    let session = match (workspace.session(&name), name.split_once("..")) {
        (Err(error), Some((from, to))) if error.code() == Code::SessionNotFound => {
            return stretch(workspace, from, to, name.clone());
        }
        (found, _) => found?.session,
    };
    let hunks = workspace.session_hunks(&session.id, CONTEXT.into())?;
    let (from, from_tree, steps) = (session.baseline, session.baseline_tree, session.step_count);
    Ok(Attempt { name, session: Some(session), from, from_tree, steps, hunks })
}

/// A range as an attempt: what differs between two states, or between one and the files on disk.
fn stretch(workspace: &Workspace, from: &str, to: &str, name: String) -> Result<Attempt> {
    let first = workspace.show(from)?;
    let last = (!["", "now"].contains(&to)).then(|| workspace.show(to)).transpose()?;
    let after = Some(format!("after-{}", first.sequence_number.0));
    let rows = workspace.log(&Log { order: Order::OldestFirst, cursor: after, ..Log::default() })?.rows;
    let is_within = |step: &&Snapshot| last.as_ref().is_none_or(|last| step.sequence_number <= last.sequence_number);
    let steps = rows.iter().filter_map(Row::snapshot).filter(is_within).count() as u64;
    let to = last.as_ref().map(|last| last.sequence_number.0.to_string());
    let request = request::Diff::new(first.sequence_number.0.to_string(), to);
    let hunks = workspace.hunks_with(&request::Diff { context: CONTEXT.into(), ..request })?;
    let (from, from_tree) = (Some(first.sequence_number), Some(first.tree));
    Ok(Attempt { name, session: None, from, from_tree, steps, hunks })
}

/// List the contents that a person has read.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ReadViewed {
    /// Who looks.
    #[serde(flatten)]
    person: Person,
}

impl Operation for ReadViewed {
    type Answer = Viewed;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        self.person.name().map(drop)
    }
}

fn viewed(workspace: &Workspace, input: ReadViewed) -> Result<Viewed> {
    workspace.viewed(&input.person.name()?)
}

/// Mark contents as read, or take marks back.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct MarkViewed {
    /// Who looks.
    #[serde(flatten)]
    person: Person,
    /// Contents that were read, by their ids.
    #[serde(default)]
    #[schemars(length(max = 1000))]
    add: Vec<ObjectId>,
    /// Contents whose marks are taken back.
    #[serde(default)]
    #[schemars(length(max = 1000))]
    remove: Vec<ObjectId>,
}

impl Operation for MarkViewed {
    type Answer = Viewed;
    const EFFECT: Effect = Effect::Records;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        countable("add", self.add.len())?;
        countable("remove", self.remove.len())?;
        self.person.name().map(drop)
    }
}

fn mark_viewed(workspace: &Workspace, input: MarkViewed) -> Result<Viewed> {
    workspace.set_viewed(&input.person.name()?, &input.add, &input.remove)
}
