//! `backsight log`: the timeline as a graph of steps, sessions and milestones, a page at a time; or one file's life.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;

use backsight::Workspace;
use backsight::report::{FileVersion, Kind, LogPage};
use backsight::request::{LogFilters, PathText, ReadFileLife, ReadLog};
use backsight_core::{Code, RelPath, Result, Seq, Timestamp};
use serde::Serialize;

use crate::arguments::kind_parser;
use crate::commands::Verdict;
use crate::context::Context;
use crate::page::Page;
use crate::parse;
use crate::render::{session, timeline};
use crate::words::safe;

/// List what was recorded, newest first
///
/// Steps, events and milestones in columns: number, id, age, lines added and removed, files, and what it was. Long ids of sessions and
/// messages are shown as far as they are unlike all others, which is enough wherever one is asked for. When
/// sessions take part, each has a column of its own in front, and rows of no session have the first. With --file and
/// no other filter, the life of one file is shown, through its renames.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Rows: * step, o found changed (external), . safety, < restore, revert, undo or redo, = milestone, X reset, ! event
(on a UTF-8 terminal: \u{25cf} \u{25cb} \u{b7} \u{21ba} \u{25c6} \u{2573} \u{25b8})

Examples:
  backsight log -n 5                           the newest five
  backsight log --since 2h
  backsight log --file src/main.rs             what happened to one file
  backsight log --session s1 --limit 0         all of a session
  backsight log --text parser --kind milestone --reverse

A TIME is an age (2h, 3 days), a local date or time (2026-08-01, 2026-08-01 14:00), or RFC 3339.")]
pub struct Args {
    /// Only rows of this session
    #[arg(long)]
    session: Option<String>,
    /// Only rows of this tool
    #[arg(long)]
    tool: Option<String>,
    /// Only this kind of row
    #[arg(long, value_parser = kind_parser())]
    kind: Option<Kind>,
    /// Only steps that changed this path or something below it
    #[arg(long, value_name = "PATH")]
    file: Option<OsString>,
    /// Only rows whose description, tool or session holds this text, in letters of any case
    #[arg(long)]
    text: Option<String>,
    /// Only at or after this time
    #[arg(long, value_name = "TIME", value_parser = parse::time_now)]
    since: Option<Timestamp>,
    /// Only at or before this time
    #[arg(long, value_name = "TIME", value_parser = parse::time_now)]
    until: Option<Timestamp>,
    /// Oldest first
    #[arg(long)]
    reverse: bool,
    /// At most this many; 0 means all
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    limit: u32,
    /// Continue where the last page ended
    #[arg(long)]
    cursor: Option<String>,
}

/// A page and, when one file was asked for, all that happened to it.
#[derive(Serialize)]
struct Logged {
    #[serde(flatten)]
    page: LogPage,
    #[serde(skip_serializing_if = "Option::is_none")]
    versions: Option<Vec<FileVersion>>,
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let workspace = context.workspace()?;
    let file = args.file.as_ref().map(|typed| context.paths(&workspace, std::slice::from_ref(typed))).transpose()?;
    let file = file.and_then(|paths| paths.into_iter().next());
    let filters = LogFilters {
        session: args.session.clone(),
        tool: args.tool.clone(),
        kind: args.kind,
        file: file.as_ref().map(PathText::from),
        since: args.since,
        until: args.until,
        text: args.text.clone(),
        oldest_first: args.reverse,
        cursor: args.cursor.clone(),
    };
    let page = workspace.perform(ReadLog { filters, limit: Some(args.limit) })?;
    let versions = match &file {
        Some(file) if !args.is_narrowed() && !page.rows.is_empty() => life_of(&workspace, file, args.reverse)?,
        _ => None,
    };
    let logged = Logged { page, versions };
    let touched = if context.screen.is_json() { BTreeMap::new() } else { touched(&workspace, &logged.page)? };
    let readable = Logged {
        page: context.readable(&workspace, &logged.page)?,
        versions: context.readable(&workspace, &logged.versions)?,
    };
    let about = about(&workspace, &logged.page, &readable.page)?;
    context.answer(&logged, |page| {
        show(page, &readable, &touched, (args, context));
        // For a person in front of a terminal; a program asks for the sessions.
        if page.data.width().is_some() && readable.versions.is_none() && !about.is_empty() {
            page.data.line("");
            about.iter().for_each(|line| page.data.fitted(line));
        }
    })?;
    Ok(Verdict::Done)
}

/// Whose sessions those of a page are, the newest first.
fn about(workspace: &Workspace, whole: &LogPage, readable: &LogPage) -> Result<Vec<String>> {
    let mut seen = BTreeSet::new();
    let mut lines = Vec::new();
    for (whole, readable) in whole.snapshots().zip(readable.snapshots()) {
        let (Some(id), Some(shown)) = (&whole.origin.session, &readable.origin.session) else { continue };
        if seen.insert(id) {
            lines.extend(session::about(shown, &workspace.conversation(id)?));
        }
    }
    Ok(lines)
}

/// What steps changed that say nothing about themselves.
fn touched(workspace: &Workspace, page: &LogPage) -> Result<BTreeMap<Seq, Vec<RelPath>>> {
    let silent = page.snapshots().filter(|step| step.description.is_empty() && step.base_tree.is_some());
    let files = silent.map(|step| Ok((step.sequence_number, workspace.show_detail(step.id.as_str())?.affected_files)));
    files.collect()
}

/// What happened to a file; none for a directory, which has no life of its own.
fn life_of(workspace: &Workspace, file: &RelPath, oldest_first: bool) -> Result<Option<Vec<FileVersion>>> {
    let mut versions = match workspace.perform(ReadFileLife { path: file.into() }) {
        Err(error) if error.code() == Code::PathNotFound => return Ok(None),
        other => other?.versions,
    };
    if oldest_first {
        versions.reverse();
    }
    let is_file = versions.iter().any(|version| version.before.or(version.after).is_some());
    Ok(is_file.then_some(versions))
}

fn show(page: &mut Page, logged: &Logged, touched: &BTreeMap<Seq, Vec<RelPath>>, (args, context): (&Args, &Context)) {
    if let Some(versions) = &logged.versions {
        let shown = if args.limit == 0 { versions.len() } else { versions.len().min(args.limit as usize) };
        timeline::versions(&mut page.data, &versions[..shown], context.now);
        if shown < versions.len() {
            page.hint(format_args!("{} more: add `--limit 0` for all", versions.len() - shown));
        }
        return;
    }
    let log = &logged.page;
    timeline::show(page, &log.rows, touched, context.alphabet, context.now);
    if let Some(cursor) = &log.next_cursor {
        page.hint(format_args!("there are more: add `--cursor {}`, or `--limit 0` for all", safe(cursor)));
    } else if log.rows.is_empty() && args.is_filtered() {
        page.note("nothing recorded matches");
    } else if log.rows.is_empty() {
        page.note("no snapshot yet");
        page.hint("record the first one with `backsight track -m \"start\"`");
    }
}

impl Args {
    /// Whether anything but a path narrows the list.
    fn is_narrowed(&self) -> bool {
        let times = self.since.is_some() || self.until.is_some();
        let names = self.session.is_some() || self.tool.is_some() || self.kind.is_some() || self.text.is_some();
        times || names || self.cursor.is_some()
    }

    fn is_filtered(&self) -> bool {
        self.is_narrowed() || self.file.is_some()
    }
}
