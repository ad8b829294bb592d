//! What was recorded: the timeline, one row of it, the life of a file, and who wrote its lines.

use backsight::Workspace;
use backsight::report::{Blame, Commits, FileVersion, PathChange, Searched, SnapshotDetail};
use backsight::request::{self, ReadLog};
use backsight_core::{Code, Error, Result, Seq, Timestamp, within};
use http::Method;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LOOK, PATH, PathText, REFERENCE, compare};
use crate::http::endpoint::Endpoint;
use crate::http::route::Route;

/// As many commits as a page has unless the caller says how many.
const COMMITS: u16 = 500;
/// As many as it may have.
const MOST_COMMITS: u16 = 5000;

pub fn operations() -> Vec<Endpoint> {
    vec![
        Endpoint::of::<ReadLog>(),
        Endpoint::get("/api/commits", "commits", "The commits of the user's Git, read as they are", commits)
            .fails(&[&[Code::Damaged]]),
        Endpoint::get(
            "/api/search",
            "search",
            "Lines with a text that steps added or removed, newest step first",
            search,
        )
        .fails(&[REFERENCE]),
        Endpoint::get("/api/show", "show", "One snapshot and what it changed", show).fails(&[REFERENCE]),
        Endpoint::get("/api/history", "fileHistory", "The life of one file, through its renames", history)
            .fails(&[PATH, &[Code::PathNotFound]]),
        Endpoint::get("/api/blame", "blame", "Who last wrote each line of a file", blame).fails(&[
            REFERENCE,
            PATH,
            LOOK,
            &[Code::PathNotFound, Code::InvalidRange],
        ]),
    ]
}

impl Route for ReadLog {
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/api/log";
    const ID: &'static str = "log";
    const SUMMARY: &'static str = "What was recorded, newest first, page by page";
    const FAILS: &'static [&'static [Code]] = &[PATH, &[Code::RefAmbiguous]];
}

#[derive(Deserialize, JsonSchema)]
struct SearchInput {
    /// What a line must hold, in letters of any case.
    #[schemars(length(max = request::LONGEST_SEARCH), regex(pattern = r"\S"), example = &"total")]
    text: String,
    /// Only steps before this one: the `next` of the answer before.
    before: Option<u64>,
}

fn search(workspace: &Workspace, input: SearchInput) -> Result<Searched> {
    workspace.search(&request::Search { text: input.text, before: input.before.map(Seq) })
}

#[derive(Deserialize, JsonSchema)]
struct CommitsInput {
    /// Only at or after this time.
    since: Option<Timestamp>,
    /// Only at or before this time.
    until: Option<Timestamp>,
    /// At most this many; 500 unless told otherwise.
    #[schemars(range(min = 1, max = MOST_COMMITS))]
    limit: Option<u16>,
}

fn commits(workspace: &Workspace, input: CommitsInput) -> Result<Commits> {
    let CommitsInput { since, until, limit } = input;
    let limit = within("limit", limit.unwrap_or(COMMITS), 1..=MOST_COMMITS)?;
    workspace.commits(&request::Commits { since, until, limit: limit.into() })
}

#[derive(Deserialize, JsonSchema)]
struct ShowInput {
    /// Which snapshot, as a reference.
    #[serde(rename = "ref")]
    #[schemars(example = &"@")]
    reference: String,
    /// Add what the step did as a unified diff.
    #[serde(default)]
    diff: bool,
    /// Add what takes the step back as a unified diff.
    #[serde(default)]
    reverse_diff: bool,
}

/// One snapshot and what it changed.
#[derive(JsonSchema, Serialize)]
struct Shown {
    #[serde(flatten)]
    detail: SnapshotDetail,
    /// What the step changed; absent when retention removed the contents.
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<Vec<PathChange>>,
    /// What the step did, as a unified diff.
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
    /// What takes it back, as a unified diff.
    #[serde(skip_serializing_if = "Option::is_none")]
    reverse_diff: Option<String>,
}

fn show(workspace: &Workspace, input: ShowInput) -> Result<Shown> {
    let detail = workspace.show_detail(&input.reference)?;
    let id = detail.snapshot.id.as_str();
    let diff = |is_wanted: bool, reversed: bool| -> Result<Option<String>> {
        is_wanted.then(|| Ok(compare::text(&workspace.step_diff(id, reversed, &[])?))).transpose()
    };
    let is_held = detail.snapshot.expired_at.is_none();
    Ok(Shown {
        changes: is_held.then(|| workspace.changes_of(id)).transpose()?,
        diff: diff(input.diff, false)?,
        reverse_diff: diff(input.reverse_diff, true)?,
        detail,
    })
}

#[derive(Deserialize, JsonSchema)]
struct HistoryInput {
    /// Which file.
    path: PathText,
}

/// The life of one file.
#[derive(JsonSchema, Serialize)]
struct History {
    /// Newest first.
    versions: Vec<FileVersion>,
}

fn history(workspace: &Workspace, input: HistoryInput) -> Result<History> {
    Ok(History { versions: workspace.file_history(&input.path.inside()?)? })
}

#[derive(Deserialize, JsonSchema)]
struct BlameInput {
    /// Which file.
    path: PathText,
    /// As of which snapshot, as a reference; the disk when left out.
    #[serde(rename = "ref")]
    #[schemars(example = &"@")]
    reference: Option<String>,
    /// The first line wanted, counted from 1.
    #[schemars(range(min = 1))]
    start_line: Option<u32>,
    /// The last line wanted.
    #[schemars(range(min = 1))]
    end_line: Option<u32>,
}

fn blame(workspace: &Workspace, input: BlameInput) -> Result<Blame> {
    // The disk has two names.
    let reference = input.reference.filter(|reference| reference != "now");
    let mut blame = workspace.blame(&input.path.inside()?, reference.as_deref())?;
    let (start, total) = (input.start_line.unwrap_or(1) as usize, blame.line_count());
    let end = input.end_line.map_or(usize::MAX, |end| end as usize);
    if start > total.max(1) || end < start {
        let end = input.end_line.map_or_else(|| "the end".to_owned(), |end| end.to_string());
        let message = format!("`{}` has {total} lines, so none from {start} to {end}", blame.path);
        return Err(Error::new(Code::InvalidRange, message).with_hint("lines are counted from 1"));
    }
    blame.keep_lines(start, end);
    Ok(blame)
}
