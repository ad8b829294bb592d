//! `backsight log`: the timeline, newest first, a page at a time.

use std::ffi::OsString;

use backsight::report::{Kind, LogPage};
use backsight::request::Log;
use backsight_core::{Result, Timestamp};

use crate::arguments::kind_parser;
use crate::commands::Verdict;
use crate::context::Context;
use crate::page::Page;
use crate::parse;
use crate::render::snapshot;
use crate::words::safe;

/// List the recorded steps, newest first
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight log --since 2h
  backsight log --file src/main.rs --kind revert
  backsight log --session s1 --limit 0      all of a session

A TIME is an age (2h, 3 days), a local date or time (2026-08-01, 2026-08-01 14:00), or RFC 3339.")]
pub struct Args {
    /// Only steps of this session
    #[arg(long)]
    session: Option<String>,
    /// Only steps of this tool
    #[arg(long)]
    tool: Option<String>,
    /// Only this kind of step
    #[arg(long, value_parser = kind_parser())]
    kind: Option<Kind>,
    /// Only steps that changed this path or something below it
    #[arg(long, value_name = "PATH")]
    file: Option<OsString>,
    /// Only at or after this time
    #[arg(long, value_name = "TIME", value_parser = parse::time_now)]
    since: Option<Timestamp>,
    /// Only at or before this time
    #[arg(long, value_name = "TIME", value_parser = parse::time_now)]
    until: Option<Timestamp>,
    /// At most this many; 0 means all
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
    /// Continue where the last page ended
    #[arg(long)]
    cursor: Option<String>,
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let workspace = context.workspace()?;
    let file = args.file.as_ref().map(|typed| context.paths(&workspace, std::slice::from_ref(typed))).transpose()?;
    let request = Log {
        session: args.session.clone(),
        tool: args.tool.clone(),
        kind: args.kind,
        file: file.and_then(|paths| paths.into_iter().next()),
        since: args.since,
        until: args.until,
        text: None,
        order: Default::default(),
        limit: args.limit,
        cursor: args.cursor.clone(),
    };
    let log = workspace.log(&request)?;
    context.answer(&log, |page| show(page, &log, args, context))?;
    Ok(Verdict::Done)
}

fn show(page: &mut Page, log: &LogPage, args: &Args, context: &Context) {
    let snapshots: Vec<_> = log.snapshots().cloned().collect();
    snapshot::table(&mut page.data, &snapshots, context.now);
    if let Some(cursor) = &log.next_cursor {
        page.hint(format_args!("there are more: add `--cursor {}`, or `--limit 0` for all", safe(cursor)));
    } else if log.rows.is_empty() && args.is_filtered() {
        page.note("no snapshot matches");
    } else if log.rows.is_empty() {
        page.note("no snapshot yet");
        page.hint("record the first one with `backsight track -m \"start\"`");
    }
}

impl Args {
    fn is_filtered(&self) -> bool {
        let times = self.since.is_some() || self.until.is_some();
        let names = self.session.is_some() || self.tool.is_some() || self.kind.is_some() || self.file.is_some();
        times || names || self.cursor.is_some()
    }
}
