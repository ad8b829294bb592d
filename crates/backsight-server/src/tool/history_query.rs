//! The timeline, one row of it, the history of a file, or who wrote each of its lines.

use std::time::Duration;

use backsight::CallSettings;
use backsight::report::{BlameHunk, Conversation, Kind, LineOrigin, Origin, Row};
use backsight::request::{LogFilters, Order, PathText, ReadLog};
use backsight_core::{Result, Timestamp, one_line};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{Call, Definition, Effect, cursor, files_track::lists, path, usage};
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

#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// one step in full
    #[serde(rename = "ref")]
    reference: Option<String>,
    /// who wrote each line of this file
    blame: Option<String>,
    /// only steps that changed this path
    file: Option<String>,
    session: Option<String>,
    tool: Option<String>,
    /// track, external, safety, restore, revert, undo, redo, milestone, reset
    kind: Option<String>,
    /// in the description
    text: Option<String>,
    /// RFC 3339
    since: Option<String>,
    until: Option<String>,
    #[serde(default)]
    oldest_first: bool,
    /// default 50
    limit: Option<u32>,
    cursor: Option<String>,
}

impl Definition for HistoryQuery {
    const NAME: &'static str = "history_query";
    const TITLE: &'static str = "History of changes";
    const DESCRIPTION: &'static str = "History, log of past edits and recent activity: who changed what and when, by \
        agent, session, tool or file, newest first; `ref` shows one step, `blame` who wrote each line. A row that names no message after `@` is of the row before's.";
    const EFFECT: Effect = Effect::Reads;
    const OUTPUT: &'static [(&'static str, &'static str)] = &[
        ("rows", "array"),
        ("time", "string"),
        ("description", "string"),
        ("changes", "array"),
        ("unknown", "array"),
        ("lines", "array"),
    ];
    type Arguments = Arguments;

    fn run(call: &Call<'_>, arguments: Arguments) -> Result<Draft> {
        let soon = CallSettings { wait: Some(SOON), ..CallSettings::default() };
        // What the live lanes saw a moment ago; if it cannot be recorded just now, it is in a later answer.
        let _ = call.workspace.for_call(soon).note_lanes();
        match (&arguments.reference, &arguments.blame) {
            (reference, Some(file)) => blame(call, file, reference.as_deref(), cursor(arguments.cursor.as_deref())?),
            (Some(reference), None) => one(call, reference, cursor(arguments.cursor.as_deref())?),
            (None, None) => page(call, arguments),
        }
    }
}

fn one(call: &Call<'_>, reference: &str, start: usize) -> Result<Draft> {
    let step = call.workspace.shortened(call.workspace.show(reference)?)?;
    let changes = call.workspace.changes_of(reference)?.iter().map(words::change).collect();
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
            let again = Next::new("history_query", json!({ "ref": reference }));
            draft.body("description", &one_line(&step.description), start, again)
        }
    })
}

fn page(call: &Call<'_>, arguments: Arguments) -> Result<Draft> {
    let again = json!({
        "file": arguments.file, "session": arguments.session, "tool": arguments.tool, "kind": arguments.kind,
        "text": arguments.text, "since": arguments.since, "until": arguments.until, "limit": arguments.limit,
        "oldest_first": arguments.oldest_first.then_some(true),
    });
    let filters = LogFilters {
        session: arguments.session,
        tool: arguments.tool,
        kind: arguments.kind.as_deref().map(kind).transpose()?,
        file: arguments.file.map(PathText),
        since: arguments.since.as_deref().map(time).transpose()?,
        until: arguments.until.as_deref().map(time).transpose()?,
        text: arguments.text,
        oldest_first: arguments.oldest_first,
        cursor: arguments.cursor,
    };
    let order = filters.order();
    let page = call.workspace.perform(ReadLog { filters, limit: arguments.limit })?;
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
    let more = Next::new("history_query", again);
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

fn kind(text: &str) -> Result<Kind> {
    let names = || Kind::ALL.iter().map(|kind| kind.as_str()).collect::<Vec<_>>().join(", ");
    let found = Kind::ALL.iter().find(|kind| kind.as_str() == text).copied();
    found.ok_or_else(|| usage(format!("`{text}` is no kind of row")).with_hint(format!("it is one of {}", names())))
}

fn time(text: &str) -> Result<Timestamp> {
    let wrong = |error: String| usage(format!("`{text}` is no time: {error}"));
    text.parse().map_err(|error| wrong(error).with_hint("write it as 2026-01-31T12:00:00Z"))
}

fn blame(call: &Call<'_>, file: &str, reference: Option<&str>, start: usize) -> Result<Draft> {
    let blame = call.workspace.blame(&path(file)?, reference)?;
    let lines: Vec<String> = blame.hunks.iter().map(|hunk| blamed(hunk, call.now)).collect();
    let more = Next::new("history_query", json!({ "blame": file, "ref": reference }));
    let summary = format!("{file}: {} of lines, each by who wrote it last", words::count(lines.len(), "run"));
    Ok(Draft::new(summary).list_from("lines", lines, start, more))
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
