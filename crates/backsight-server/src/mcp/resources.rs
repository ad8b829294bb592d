//! The timeline, every snapshot's diff, what happened in the app since each checkpoint, and what changed in a program, as
//! Markdown that a person can read.

use backsight::Workspace;
use backsight::browser::render;
use backsight::browser::report::{Changes, CheckpointEntry};
use backsight::report::{Row, Snapshot};
use backsight::request::Log;
use backsight_core::{Code, Error, many_lines, one_line};
use rmcp::model::{
    CacheScope, ErrorData, ListResourcesResult, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};

use serde_json::json;

use crate::advice::Tools;
use crate::reply::{UNTRUSTED, harmless_value as harmless};
use crate::{percent, words};

/// The rows of the timeline, newest first.
const TIMELINE: &str = "backsight://timeline";
/// A snapshot's diff comes after this.
const SNAPSHOT: &str = "backsight://snapshot/";
/// What happened in the app since the server started.
const CHANGES: &str = "backsight://changes";
/// What happened in the app since a checkpoint, whose name comes after this.
const CHECKPOINT: &str = "backsight://checkpoint/";
/// What changed between two snapshots of a program, whose ids or labels come after this.
const DEBUG_DIFF: &str = "backsight://debug/diff/";
/// The hits of a snapshot point, whose name comes after this.
const DEBUG_SERIES: &str = "backsight://debug/series/";
const MARKDOWN: &str = "text/markdown";
/// Snapshots listed on one page.
const PAGE: usize = 50;
/// Lines of diff in one resource; the rest is fetched with the tool.
const DIFF_LINES: usize = 2000;
/// What a snapshot changed never changes.
const SNAPSHOT_TTL_MS: u64 = 86_400_000;

pub fn list(workspace: &Workspace, cursor: Option<&str>) -> Result<ListResourcesResult, ErrorData> {
    let page = workspace.log(&Log { limit: PAGE, cursor: cursor.map(str::to_owned), ..Log::default() });
    let page = page.map_err(|error| {
        ErrorData::invalid_params(one_line(error.message()).into_owned(), Some(harmless(error.to_json(&Tools))))
    })?;
    let timeline = Resource::new(TIMELINE, "timeline").with_description("Who changed what, newest first");
    let snapshots = page.rows.iter().filter_map(Row::snapshot).map(|step| {
        let uri = format!("{SNAPSHOT}{}", step.sequence_number.0);
        Resource::new(uri, title(step)).with_description("What this snapshot changed, as a diff")
    });
    let first = cursor.is_none().then_some(timeline);
    let resources = first.into_iter().chain(snapshots).map(|resource| resource.with_mime_type(MARKDOWN)).collect();
    let mut result = ListResourcesResult::with_all_items(resources);
    result.next_cursor = page.next_cursor;
    Ok(result)
}

/// The app's resources: what happened since the start, and since each named checkpoint.
pub fn of_app(checkpoints: &[CheckpointEntry]) -> Vec<Resource> {
    let since_start = Resource::new(CHANGES, "changes").with_description("What happened in the app since the start");
    let named = checkpoints.iter().map(|checkpoint| {
        let uri = format!("{CHECKPOINT}{}", checkpoint.name);
        let title = format!("{} -> {}", words::clip(&checkpoint.name), checkpoint.severity);
        Resource::new(uri, title).with_description("What happened in the app since this checkpoint")
    });
    std::iter::once(since_start).chain(named).map(|resource| resource.with_mime_type(MARKDOWN)).collect()
}

/// The checkpoint since which a resource tells what happened in the app, if it is such a one.
pub fn checkpoint_of(uri: &str) -> Option<String> {
    match uri.strip_prefix(CHECKPOINT) {
        Some(name) => percent::decoded(name).filter(|name| !name.is_empty()),
        None => (uri == CHANGES).then(|| "start".to_owned()),
    }
}

/// What happened in the app, as a resource.
pub fn app_changes(changes: Result<Changes, Error>, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    changes
        .map(|changes| contents(format!("{}\nUntrusted: {UNTRUSTED}.\n", render::markdown(&changes)), uri, 0))
        .map_err(|error| refused(error, uri))
}

/// What can be read about a program that is being debugged.
pub enum Debugged {
    /// What changed between two snapshots.
    Diff(String, String),
    /// The hits of a snapshot point.
    Series(String),
}

/// What a resource tells about a program, if it is such a one.
pub fn debugged_of(uri: &str) -> Option<Debugged> {
    let name = |text: &str| percent::decoded(text).filter(|name| !name.is_empty());
    if let Some(series) = uri.strip_prefix(DEBUG_SERIES) {
        return name(series).map(Debugged::Series);
    }
    let (first, second) = uri.strip_prefix(DEBUG_DIFF)?.split_once('/')?;
    Some(Debugged::Diff(name(first)?, name(second)?))
}

/// A page about a program, as a resource.
pub fn debugged(page: Result<String, Error>, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    page.map(|page| contents(page, uri, 0)).map_err(|error| refused(error, uri))
}

pub fn templates(with_app: bool, with_debugger: bool) -> Vec<ResourceTemplate> {
    let snapshot = ResourceTemplate::new(format!("{SNAPSHOT}{{ref}}"), "snapshot")
        .with_description("What a snapshot changed, as a diff; ref as in the tools");
    let checkpoint = ResourceTemplate::new(format!("{CHECKPOINT}{{name}}"), "checkpoint")
        .with_description("What happened in the app since a checkpoint");
    let diff = ResourceTemplate::new(format!("{DEBUG_DIFF}{{first}}/{{second}}"), "debug diff")
        .with_description("What changed between two snapshots of a program");
    let series = ResourceTemplate::new(format!("{DEBUG_SERIES}{{name}}"), "debug series")
        .with_description("The hits of a snapshot point as a table");
    let of_program = [diff, series].into_iter().filter(|_| with_debugger);
    let shown = std::iter::once(snapshot).chain(with_app.then_some(checkpoint)).chain(of_program);
    shown.map(|template| template.with_mime_type(MARKDOWN)).collect()
}

pub fn read(workspace: &Workspace, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    if uri == TIMELINE {
        return timeline(workspace).map(|text| contents(text, uri, 0)).map_err(|error| refused(error, uri));
    }
    let reference = uri.strip_prefix(SNAPSHOT).filter(|rest| !rest.is_empty()).ok_or_else(|| unknown(uri))?;
    let reference = percent::decoded(reference).ok_or_else(|| unknown(uri))?;
    // A number or an id names the same snapshot for ever; `@` does not.
    let ttl = if reference.bytes().all(|byte| byte.is_ascii_hexdigit()) { SNAPSHOT_TTL_MS } else { 0 };
    snapshot(workspace, &reference).map(|text| contents(text, uri, ttl)).map_err(|error| refused(error, uri))
}

/// Whether such a resource can exist.
pub fn exists(uri: &str) -> bool {
    let is_snapshot = uri.strip_prefix(SNAPSHOT).is_some_and(|rest| !rest.is_empty());
    uri == TIMELINE || checkpoint_of(uri).is_some() || debugged_of(uri).is_some() || is_snapshot
}

/// Whether what it says changes when something is recorded.
pub fn changes(uri: &str) -> bool {
    let is_latest = |rest: &str| rest.starts_with('@') || rest.starts_with("%40");
    let is_series = matches!(debugged_of(uri), Some(Debugged::Series(_)));
    uri == TIMELINE || checkpoint_of(uri).is_some() || is_series || uri.strip_prefix(SNAPSHOT).is_some_and(is_latest)
}

pub fn unknown(uri: &str) -> ErrorData {
    let message = format!(
        "there is no resource `{}`: there are {TIMELINE}, {SNAPSHOT}REF, {CHANGES}, {CHECKPOINT}NAME, \
         {DEBUG_DIFF}FIRST/SECOND and {DEBUG_SERIES}NAME",
        words::clip(uri)
    );
    ErrorData::resource_not_found(message, Some(json!({ "uri": one_line(uri) })))
}

fn refused(error: Error, uri: &str) -> ErrorData {
    let mut details = harmless(error.to_json(&Tools));
    details["uri"] = json!(one_line(uri));
    let message = one_line(error.message()).into_owned();
    match error.code() {
        Code::Io | Code::Damaged | Code::StoreVersion => ErrorData::internal_error(message, Some(details)),
        _ => ErrorData::resource_not_found(message, Some(details)),
    }
}

fn contents(text: String, uri: &str, ttl_ms: u64) -> ReadResourceResult {
    let mut result = ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(MARKDOWN)]);
    result.ttl_ms = Some(ttl_ms);
    result.cache_scope = Some(CacheScope::Private);
    result
}

fn title(step: &Snapshot) -> String {
    match step.description.is_empty() {
        true => format!("{} {}", step.sequence_number, step.kind.as_str()),
        false => format!("{} {}", step.sequence_number, words::clip(&step.description)),
    }
}

fn timeline(workspace: &Workspace) -> Result<String, Error> {
    let page = workspace.shortened(workspace.log(&Log { limit: PAGE, ..Log::default() })?)?;
    let now = workspace.now();
    let mut text = String::from("# Timeline\n\n");
    for row in &page.rows {
        text.push_str(&format!("- {}\n", plain(&words::row(row, now))));
    }
    match (page.rows.is_empty(), page.next_cursor) {
        (true, _) => text.push_str("Nothing is recorded yet.\n"),
        (_, Some(cursor)) => text.push_str(&format!("\nOlder rows: history_query with cursor `{cursor}`.\n")),
        _ => {}
    }
    Ok(text)
}

fn snapshot(workspace: &Workspace, reference: &str) -> Result<String, Error> {
    let step = workspace.shortened(workspace.show(reference)?)?;
    let diff = workspace.step_diff(reference, false, &[])?;
    let now = workspace.now();
    let mut text = format!("# {}\n\n{}\n\n", plain(&title(&step)), plain(&words::snapshot(&step, now)));
    let unified: String = diff.diffs.iter().map(|file| String::from_utf8_lossy(&file.unified).into_owned()).collect();
    let shown: String = many_lines(&unified).split_inclusive('\n').take(DIFF_LINES).collect();
    let fence = "`".repeat(longest_run(&shown, '`').max(2) + 1);
    if !shown.is_empty() {
        text.push_str(&format!("{fence}diff\n{shown}{fence}\n"));
    }
    let cut = unified.lines().count().saturating_sub(DIFF_LINES);
    if cut > 0 {
        let seq = step.sequence_number;
        text.push_str(&format!("\n{cut} more lines: files_diff with step `{seq}` and cursor `{DIFF_LINES}`.\n"));
    }
    Ok(text)
}

/// Text from files and people, without what Markdown or a terminal would act on.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for character in one_line(text).chars() {
        match character {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' => plain.extend(['\\', character]),
            _ => plain.push(character),
        }
    }
    plain
}

fn longest_run(text: &str, wanted: char) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for character in text.chars() {
        run = if character == wanted { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}
