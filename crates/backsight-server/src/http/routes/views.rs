//! What the dashboard's pages show, each in one answer: what happened since a person last looked, the timeline in short, and
//! differences ready to be drawn. And what a person who looks keeps: a place in the timeline, marks on contents.

use backsight::browser::Ask;
use backsight::report::{AllChanges, Hunks, Row, RowLine, Seen, Session, Snapshot, Status, Viewed};
use backsight::request::{self, Log, Order, ReadTimeline};
use backsight::{Workspace, names};
use backsight_core::{Code, Error, ObjectId, RelPath, Result, Seq};
use http::Method;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::browser::CHECKPOINT;
use super::{ID, LOOK, PATH, PathText, REFERENCE, WRITE};
use crate::http::endpoint::Endpoint;
use crate::http::route::Route;

/// Rows and files since a person last looked that are listed.
const ROWS: usize = 500;
const FILES: usize = 500;
/// Lines around a change when the caller does not say.
const CONTEXT: u16 = 3;
/// Who looks when the caller does not say.
const ANYBODY: &str = "me";

pub fn operations() -> Vec<Endpoint> {
    vec![
        Endpoint::get("/api/since", "since", "What happened since a person last looked: verdict, files, errors", since)
            .fails(&[REFERENCE, CHECKPOINT, &[Code::Cancelled], LOOK, WRITE])
            .quotes(),
        Endpoint::get("/api/seen", "seen", "Up to where in the timeline a person has looked", seen),
        Endpoint::post("/api/seen", "markSeen", "Move a person's place in the timeline", mark_seen).fails(&[
            CHECKPOINT,
            &[Code::Cancelled],
            LOOK,
            WRITE,
        ]),
        Endpoint::of::<ReadTimeline>(),
        Endpoint::get(
            "/api/hunks",
            "hunks",
            "A step, a range or a session as lines with marks, ready to be drawn",
            hunks,
        )
        .fails(&[REFERENCE, PATH, LOOK, &[Code::SessionNotFound]]),
        Endpoint::get("/api/attempts", "attempts", "Two sessions side by side", attempts)
            .fails(&[REFERENCE, &[Code::SessionNotFound]]),
        Endpoint::get("/api/viewed", "viewed", "The contents that a person has read, by their ids", viewed),
        Endpoint::post("/api/viewed", "markViewed", "Mark contents as read, or take marks back", mark_viewed)
            .fails(&[WRITE]),
    ]
}

/// Who looks.
#[derive(Deserialize, JsonSchema)]
pub struct Person {
    /// Who looks; `me` when left out.
    #[schemars(length(max = 100), regex(pattern = ID))]
    person: Option<String>,
}

impl Person {
    /// A name that can be one.
    pub fn name(self) -> Result<String> {
        let name = self.person.unwrap_or_else(|| ANYBODY.to_owned());
        if names::is_name(&name) {
            return Ok(name);
        }
        let name = backsight_core::quote(name.as_bytes());
        Err(Error::new(Code::Usage, format!("`{name}` cannot name a person"))
            .with_hint("use a short name such as `ada`"))
    }
}

/// As whom a person asks about the app.
fn client(person: &str) -> String {
    format!("dashboard:{person}")
}

/// What happened since a person last looked.
#[derive(JsonSchema, Serialize)]
struct Since {
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
struct FileLine {
    /// Which.
    file: RelPath,
    /// How.
    status: Status,
    /// Lines added.
    additions: u64,
    /// Lines removed.
    deletions: u64,
}

fn since(workspace: &Workspace, input: Person) -> Result<Since> {
    let person = input.name()?;
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
struct Place {
    /// Absent when they never have.
    #[serde(skip_serializing_if = "Option::is_none")]
    seen: Option<Seen>,
    /// The newest row.
    newest: Seq,
}

fn seen(workspace: &Workspace, input: Person) -> Result<Place> {
    Ok(Place { seen: workspace.seen(&input.name()?)?, newest: workspace.newest_row()? })
}

#[derive(Deserialize, JsonSchema)]
struct SeenInput {
    #[serde(flatten)]
    person: Person,
    /// Up to which row; the newest when left out.
    sequence_number: Option<u64>,
}

fn mark_seen(workspace: &Workspace, input: SeenInput) -> Result<Seen> {
    let person = input.person.name()?;
    let row = input.sequence_number.map_or_else(|| workspace.newest_row(), |row| Ok(Seq(row)))?;
    let seen = workspace.set_seen(&person, row)?;
    workspace.changes(&client(&person), &[], &Ask::default())?;
    Ok(seen)
}

impl Route for ReadTimeline {
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/api/timeline";
    const ID: &'static str = "timeline";
    const SUMMARY: &'static str = "The rows of the timeline in short, for long lists";
    const FAILS: &'static [&'static [Code]] = &[PATH, &[Code::RefAmbiguous]];
}

#[derive(Deserialize, JsonSchema)]
struct HunksInput {
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

/// What was asked for, and what it did.
#[derive(JsonSchema, Serialize)]
struct Drawn {
    /// The step, when one was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<Snapshot>,
    #[serde(flatten)]
    hunks: Hunks,
}

fn hunks(workspace: &Workspace, input: HunksInput) -> Result<Drawn> {
    let HunksInput { reference, from, to, of_session, path, context } = input;
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

#[derive(Deserialize, JsonSchema)]
struct AttemptsInput {
    /// One session.
    one: String,
    /// The other.
    other: String,
}

/// Two sessions beside each other.
#[derive(JsonSchema, Serialize)]
struct Attempts {
    /// One.
    one: Attempt,
    /// The other.
    other: Attempt,
}

/// What a session came to.
#[derive(JsonSchema, Serialize)]
struct Attempt {
    /// The session.
    session: Session,
    /// What it changed and is in effect.
    hunks: Hunks,
}

fn attempts(workspace: &Workspace, input: AttemptsInput) -> Result<Attempts> {
    let attempt = |id: &str| -> Result<Attempt> {
        let session = workspace.session(id)?.session;
        Ok(Attempt { hunks: workspace.session_hunks(&session.id, CONTEXT.into())?, session })
    };
    Ok(Attempts { one: attempt(&input.one)?, other: attempt(&input.other)? })
}

fn viewed(workspace: &Workspace, input: Person) -> Result<Viewed> {
    workspace.viewed(&input.name()?)
}

#[derive(Deserialize, JsonSchema)]
struct ViewedInput {
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

fn mark_viewed(workspace: &Workspace, input: ViewedInput) -> Result<Viewed> {
    workspace.set_viewed(&input.person.name()?, &input.add, &input.remove)
}
