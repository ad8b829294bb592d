//! The timeline, one row of it, the history of a file, or who wrote each of its lines.

use std::time::Duration;

use backsight::CallSettings;
use backsight::report::{BlameHunk, Conversation, LineOrigin, Origin, Row};
use backsight::request::{BlameFile, LogFilters, Order, ReadLog, ShowStep};
use backsight_core::{Result, Timestamp, one_line};
use serde_json::{Map, Value, json};

use super::{Call, Choosing, Group, Shown, ToolChoice, cursor, files_track::lists};
use crate::reply::{Draft, Next};
use crate::words;

pub struct HistoryQuery;

/// So many rows should fit.
const PAGE: usize = 20;
/// Characters of a row beside its description.
const BESIDE: usize = 60;
/// Characters of a description in a list, at least and at most.
const SHORTEST: usize = 40;
const LONGEST: usize = 160;

/// How long the newest rows may take to be recorded.
const SOON: Duration = Duration::from_millis(300);

impl Choosing for HistoryQuery {
    const NAME: &'static str = "history_query";
    const TITLE: &'static str = "History of changes";
    const DESCRIPTION: &'static str = "History, log of past edits and recent activity: who changed what and when, by \
        agent, session, tool or file, newest first; `ref` shows one step, `blame` who wrote each line. A row that names no message after `@` is of the row before's.";
    const GROUP: Group = Group::Files;
    const SHOWS_BUDGET: bool = true;
    const PAGES: bool = true;
    const WORD: &'static str = "";
    const SHOWN: &'static [Shown] = &[
        Shown::new("ref").saying("one step in full").text(),
        Shown::new("path").named("blame").saying("who wrote each line of this file").text(),
        Shown::new("file").saying("only steps that changed this path").text(),
        Shown::new("session"),
        Shown::new("tool"),
        Shown::new("kind").saying("track, external, safety, restore, revert, undo, redo, milestone, reset").text(),
        Shown::new("text").saying("in the description"),
        Shown::new("since").saying("RFC 3339").text(),
        Shown::new("until").text(),
        Shown::new("oldest_first"),
        Shown::new("limit").saying("default 50"),
        Shown::new("cursor"),
    ];
    const OUTPUT: &'static [(&'static str, &'static str)] = &[
        ("rows", "array"),
        ("time", "string"),
        ("description", "string"),
        ("changes", "array"),
        ("unknown", "array"),
        ("lines", "array"),
    ];

    fn choices() -> Vec<ToolChoice> {
        vec![ToolChoice::of("log", page), ToolChoice::of("show", one), ToolChoice::of("blame", blame)]
    }

    fn meant(arguments: &mut Map<String, Value>) -> Result<Option<&'static str>> {
        Ok(match (arguments.contains_key("ref"), arguments.contains_key("blame")) {
            (_, true) => Some("blame"),
            (true, false) => Some("show"),
            (false, false) => None,
        })
    }
}

/// Records what the live lanes saw a moment ago; if that cannot be recorded just now, it is in a later answer.
fn note_lanes(call: &Call<'_>) {
    let soon = CallSettings { wait: Some(SOON), ..CallSettings::default() };
    let _ = call.workspace.for_call(soon).note_lanes();
}

fn one(call: &Call<'_>, request: ShowStep) -> Result<Draft> {
    note_lanes(call);
    let reference = request.reference.clone();
    let shown = call.workspace.perform(request)?;
    let step = call.workspace.shortened(shown.detail.snapshot)?;
    let changes = shown.changes.unwrap_or_default().iter().map(words::change).collect();
    let unknown = step.unknown_changes.iter().map(words::unknown).collect();
    let more = Next::new("files_diff", json!({ "step": step.sequence_number.to_string() }));
    let draft = Draft::new(words::snapshot(&step, call.now)).said("time", Some(step.timestamp.to_string())).list(
        "changes",
        changes,
        Some(more),
    );
    let draft = lists(draft, vec![("unknown", unknown)]);
    // The summary has all of a description that is one short line.
    Ok(match words::clip(&step.description) == step.description {
        true => draft,
        false => {
            let again = Next::new(HistoryQuery::NAME, json!({ "ref": reference }));
            draft.body("description", &one_line(&step.description), cursor(call.cursor)?, again)
        }
    })
}

/// The arguments with which the same page is asked for again.
fn again(request: &ReadLog) -> Value {
    let LogFilters { session, tool, kind, file, since, until, text, oldest_first, cursor: _ } = &request.filters;
    json!({
        "file": file, "session": session, "tool": tool, "kind": kind, "text": text, "since": since, "until": until,
        "limit": request.limit, "oldest_first": oldest_first.then_some(true),
    })
}

fn page(call: &Call<'_>, mut request: ReadLog) -> Result<Draft> {
    note_lanes(call);
    let more = Next::new(HistoryQuery::NAME, again(&request));
    let order = request.filters.order();
    request.filters.cursor = call.cursor.map(str::to_owned);
    let page = call.workspace.perform(request)?;
    let session = only_session(&page.rows);
    let about = session.map(|session| call.workspace.conversation(session)).transpose()?.unwrap_or_default();
    let has_session = session.is_some();
    let page = call.workspace.shortened(page)?;
    let session = only_session(&page.rows).filter(|_| has_session).map(str::to_owned);
    let rows = rows(&page.rows, session.as_deref(), call);
    let cursors = page.rows.iter().map(|row| match order {
        Order::NewestFirst => format!("before-{}", row.sequence_number().0),
        Order::OldestFirst => format!("after-{}", row.sequence_number().0),
    });
    let rest = if page.next_cursor.is_some() { ", and there are more" } else { "" };
    let summary = match rows.len() {
        0 => "no row answers".to_owned(),
        count => format!("{}{}{rest}", words::count(count, "row"), of_session(session.as_deref(), &about)),
    };
    Ok(Draft::new(summary).onward(&more, page.next_cursor).list_after("rows", rows, cursors.collect(), more))
}

/// The session of all rows that have one: it is said once, in front.
fn only_session(rows: &[Row]) -> Option<&str> {
    let mut sessions = rows.iter().filter_map(|row| words::origin(row).session.as_deref());
    let first = sessions.next()?;
    sessions.all(|session| session == first).then_some(first)
}

/// ` of session 1c99f013 (claude-code)`
fn of_session(session: Option<&str>, about: &Conversation) -> String {
    let client = about.client.as_deref().map(|client| format!(" ({})", one_line(client))).unwrap_or_default();
    session.map(|session| format!(" of session {}{client}", one_line(session))).unwrap_or_default()
}

/// The rows in as many characters as let a page of them fit. A message is named where it begins in the list; the rows
/// after it that name none are of the same.
fn rows(rows: &[Row], session: Option<&str>, call: &Call<'_>) -> Vec<String> {
    let longest = (call.max_tokens * 4 / rows.len().clamp(1, PAGE)).saturating_sub(BESIDE).clamp(SHORTEST, LONGEST);
    let mut before: Option<&Origin> = None;
    let line = |row: &Row, before: Option<&Origin>| words::brief_row(row, session, before, longest, call.now);
    let told = rows.iter().map(|row| {
        let told = line(row, before);
        before = Some(words::origin(row));
        told
    });
    told.collect()
}

fn blame(call: &Call<'_>, request: BlameFile) -> Result<Draft> {
    note_lanes(call);
    let BlameFile { path, reference, start_line, end_line } = request.clone();
    let blame = call.workspace.perform(request)?;
    let lines: Vec<String> = blame.hunks.iter().map(|hunk| blamed(hunk, call.now)).collect();
    let again = json!({ "blame": path, "ref": reference, "start_line": start_line, "end_line": end_line });
    let runs = words::count(lines.len(), "run");
    let summary = format!("{}: {runs} of lines, each by who wrote it last", blame.path);
    Ok(Draft::new(summary).list_from("lines", lines, cursor(call.cursor)?, Next::new(HistoryQuery::NAME, again)))
}

fn blamed(hunk: &BlameHunk, now: Timestamp) -> String {
    let end = hunk.start_line + hunk.lines.len().saturating_sub(1);
    let who = match &hunk.origin {
        LineOrigin::Recorded(version) => {
            let tool = version.origin.tool.as_deref().unwrap_or("a step");
            format!(
                "{} {tool} {}: {}",
                version.sequence_number,
                words::age(version.timestamp, now),
                words::clip(&version.description)
            )
        }
        LineOrigin::External(version) => format!("somebody else, found by {}", version.sequence_number),
        LineOrigin::Baseline(version) => format!("there since {}", version.sequence_number),
        LineOrigin::Unrecorded => "not recorded".to_owned(),
        LineOrigin::Expired(version) => format!("older than {}", version.sequence_number),
    };
    format!("{}-{end} {who}", hunk.start_line)
}
