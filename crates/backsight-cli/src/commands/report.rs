//! `backsight report`: what happened, as one text or one page, for a pull request or an audit.

use std::io::Write;
use std::path::PathBuf;

use backsight::Workspace;
use backsight::browser::report::CheckpointEntry;
use backsight::report::{Hunks, Kind, RowLine};
use backsight::request::{Log, Order};
use backsight_core::{Code, Error, Result, Seq, Timestamp};
use serde::Serialize;

use crate::arguments::explain;
use crate::commands::Verdict;
use crate::context::Context;
use crate::new_file;
use crate::render::report;
use crate::words::count_of;

/// Write what happened as a report for a pull request or an audit
///
/// The steps, who made them, all differences, how the app was at its checkpoints and which errors were new: as Markdown on
/// stdout, or as one HTML page that needs nothing else.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight report                              all of it, as Markdown
  backsight report --since 12                   since a step
  backsight report --session s1 --html out.html one session, as a page")]
pub struct Args {
    /// Since which step; the first whose contents are kept when left out
    #[arg(long, value_name = "REF", conflicts_with = "session")]
    since: Option<String>,
    /// Only what this session did and is in effect
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Write an HTML page into this file instead; it must not exist
    #[arg(long, value_name = "FILE", conflicts_with = "markdown")]
    html: Option<PathBuf>,
    /// As Markdown on stdout, which is the default
    #[arg(long)]
    markdown: bool,
}

/// What happened.
#[derive(Serialize)]
pub struct Told {
    /// The workspace's name.
    pub workspace: String,
    /// When it was written.
    pub at: Timestamp,
    /// Since which row.
    pub from: Option<Seq>,
    /// Only this session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// What was recorded, oldest first.
    pub rows: Vec<RowLine>,
    /// What differs.
    pub hunks: Hunks,
    /// How the app was at its checkpoints, oldest first.
    pub checkpoints: Vec<CheckpointEntry>,
}

impl Told {
    /// Rows of a kind.
    pub fn of(&self, kind: Kind) -> impl Iterator<Item = &RowLine> {
        self.rows.iter().filter(move |row| row.kind == kind)
    }

    /// How many steps there are.
    pub fn steps(&self) -> usize {
        self.rows.iter().filter(|row| row.files_changed.is_some()).count()
    }
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let workspace = context.workspace()?;
    let told = tell(&workspace, args, context.now).map_err(|error| explain(error, context.start()))?;
    if let Some(file) = &args.html {
        let page = report::html(&told);
        let place = context.start().join(file);
        new_file::write(&place, |file| file.write_all(page.as_bytes()))?;
        let report = serde_json::json!({ "file": place.display().to_string(), "bytes": page.len() });
        context.answer(&report, |out| {
            out.data.line(format_args!("{}: {}", place.display(), count_of(&told.rows, "row")));
        })?;
        return Ok(Verdict::Done);
    }
    context.answer(&told, |page| page.data.raw(report::markdown(&told).as_bytes()))?;
    Ok(Verdict::Done)
}

fn tell(workspace: &Workspace, args: &Args, at: Timestamp) -> Result<Told> {
    let root = workspace.root();
    let name = root.file_name().map_or_else(|| root.display().to_string(), |name| name.to_string_lossy().into_owned());
    let checkpoints = workspace.checkpoints()?.checkpoints;
    let told = |from: Option<Seq>, rows: Vec<RowLine>, hunks: Hunks, checkpoints: Vec<CheckpointEntry>| Told {
        workspace: name,
        at,
        from,
        session: args.session.clone(),
        rows,
        hunks,
        checkpoints,
    };
    if let Some(session) = &args.session {
        let known = workspace.session(session)?.session;
        let rows = rows(workspace, Log { session: Some(known.id.clone()), ..Log::default() })?;
        let (begin, end) = (known.started_at, known.last_at);
        let within = checkpoints.into_iter().filter(|one| (begin..=end).contains(&one.created)).collect();
        return Ok(told(known.baseline, rows, workspace.session_hunks(&known.id, CONTEXT)?, within));
    }
    let from = match &args.since {
        Some(reference) => workspace.show(reference)?,
        None => first_held(workspace)?,
    };
    let number = from.sequence_number;
    let rows = rows(workspace, Log { cursor: Some(format!("after-{}", number.0)), ..Log::default() })?;
    let within = checkpoints.into_iter().filter(|one| one.created >= from.timestamp).collect();
    Ok(told(Some(number), rows, workspace.range_hunks(&number.0.to_string(), None, CONTEXT)?, within))
}

/// Lines around a change.
const CONTEXT: usize = 3;

fn rows(workspace: &Workspace, request: Log) -> Result<Vec<RowLine>> {
    let page = workspace.log(&Log { order: Order::OldestFirst, ..request })?;
    Ok(page.rows.into_iter().map(RowLine::from).collect())
}

fn first_held(workspace: &Workspace) -> Result<backsight::report::Snapshot> {
    let page = workspace.log(&Log { order: Order::OldestFirst, ..Log::default() })?;
    let found = page.snapshots().find(|step| step.expired_at.is_none()).cloned();
    found.ok_or_else(|| {
        Error::new(Code::RefNotFound, "nothing is recorded yet, so there is nothing to report")
            .with_hint("record the files with `backsight track`")
    })
}
