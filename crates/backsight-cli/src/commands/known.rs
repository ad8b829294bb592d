//! `backsight known`: what was last believed of each file. Contents stay in the snapshots; nothing is copied.

use backsight::report::{Checkpoint, CheckpointData};
use backsight_core::{Code, Error, NextStep, Result, Timestamp};
use clap::Subcommand;
use serde_json::json;

use crate::arguments::{Paths, examples_then_references, explain};
use crate::commands::Verdict;
use crate::context::Context;
use crate::page::{Page, YELLOW};
use crate::parse;
use crate::words::{age, bytes, count, count_of, enumerate, local, safe};

/// Show and keep what was last known of each file
///
/// Every snapshot makes a note of the files it changed; their contents are the snapshot's, and nothing is copied. Only
/// the latest note is kept, unless `keep_all_checkpoints` says otherwise.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight known show                    the files of the latest note
  backsight known create 12 -- src        note src as it is in #12
  backsight config set keep_all_checkpoints true")]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Create(Create),
    List(List),
    Show(Show),
    Clean(Clean),
}

/// Note files as they are in a snapshot
///
/// Without paths, those that the snapshot changed; for the first one, all.
#[derive(clap::Args, Debug)]
#[command(after_long_help = examples_then_references!("\
Examples:
  backsight known create
  backsight known create 12 -- src/a.rs"))]
struct Create {
    /// Which snapshot
    #[arg(value_name = "REF", default_value = "@")]
    reference: String,
    #[command(flatten)]
    only: Paths,
}

/// List the notes, newest first
#[derive(clap::Args, Debug)]
struct List {}

/// List the files of one note with their sizes; the contents are in --json
#[derive(clap::Args, Debug)]
struct Show {
    /// Its id or the first digits of it; the latest when left out
    #[arg(value_name = "ID")]
    id: Option<String>,
}

/// Remove old notes; the latest one and every snapshot stay
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight known clean                      older than the setting max_checkpoint_age
  backsight known clean --older-than 2h

A TIME is an age (2h, 3 days), a local date or time (2026-08-01, 2026-08-01 14:00), or RFC 3339.")]
struct Clean {
    /// Those made before this time, instead of the setting
    #[arg(long, value_name = "TIME", value_parser = parse::time_now)]
    older_than: Option<Timestamp>,
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    match &args.action {
        Action::Create(args) => create(args, context)?,
        Action::List(_) => list(context)?,
        Action::Show(args) => show(args, context)?,
        Action::Clean(args) => clean(args, context)?,
    }
    Ok(Verdict::Done)
}

fn create(args: &Create, context: &Context) -> Result<()> {
    let workspace = context.workspace()?;
    let paths = context.paths(&workspace, &args.only.paths)?;
    let made = workspace.create_file_checkpoint(&args.reference, &paths);
    let id = made.map_err(|error| explain(error, context.start()))?;
    let made = workspace.list_file_checkpoints()?.into_iter().find(|checkpoint| checkpoint.id == id);
    context.answer(&json!({ "id": id, "checkpoint": made }), |page| {
        let of = made.as_ref().map_or_else(String::new, |made| format!(" {}", extent(made)));
        page.data.line(format_args!("Noted{of} {}", page.data.dim(format_args!("({id})"))));
    })
}

/// `what #3 changed`, `src and a.txt as in #3`
fn extent(checkpoint: &Checkpoint) -> String {
    match &checkpoint.paths {
        Some(paths) => format!("{} as in {}", enumerate(paths), checkpoint.sequence_number),
        None => format!("what {} holds", checkpoint.sequence_number),
    }
}

fn list(context: &Context) -> Result<()> {
    let checkpoints = context.workspace()?.list_file_checkpoints()?;
    context.answer(&json!({ "checkpoints": checkpoints }), |page| {
        for checkpoint in &checkpoints {
            let id = page.data.paint(YELLOW, &checkpoint.id);
            page.data.line(format_args!("{id}  {}  {}", age(checkpoint.timestamp, context.now), extent(checkpoint)));
        }
        if checkpoints.is_empty() {
            none(page);
        }
    })
}

fn none(page: &mut Page) {
    page.note("nothing is noted yet");
    page.hint("every snapshot makes a note: record one with `backsight track`");
}

fn show(args: &Show, context: &Context) -> Result<()> {
    let found = context.workspace()?.load_file_checkpoint(args.id.as_deref())?;
    let known = found.ok_or_else(|| match &args.id {
        Some(id) => Error::new(Code::RefNotFound, format!("no note of known files answers to `{}`", safe(id)))
            .then("list them", NextStep::ListKnown),
        None => Error::new(Code::RefNotFound, "nothing is noted yet")
            .then("every snapshot makes a note: record one", NextStep::RecordFiles),
    })?;
    context.answer(&known, |page| files(page, &known, context))
}

fn files(page: &mut Page, known: &CheckpointData, context: &Context) {
    let id = page.data.paint(YELLOW, &known.id);
    let when = page.data.dim(format_args!("{} ({})", local(known.timestamp), age(known.timestamp, context.now)));
    page.data.line(format_args!("{id}  {when}"));
    let texts = known.files.iter().map(|(path, content)| (path, bytes(content.len() as u64)));
    let others = known.binary_files.keys().map(|path| (path, "binary".to_owned()));
    let mut rows: Vec<_> = texts.chain(others).collect();
    rows.sort();
    let width = rows.iter().map(|(_, size)| size.len()).max().unwrap_or(0);
    for (path, size) in rows {
        let size = page.data.dim(format_args!("{size:>width$}"));
        page.data.line(format_args!("  {size}  {path}"));
    }
    let metadata = &known.metadata;
    page.data.line(format_args!("{}, {}", count(metadata.total_files, "file"), bytes(metadata.total_size_bytes)));
}

fn clean(args: &Clean, context: &Context) -> Result<()> {
    let workspace = context.workspace()?;
    let removed = workspace.cleanup_old_checkpoints(args.older_than)?;
    let left = workspace.list_file_checkpoints()?;
    context.answer(&json!({ "removed": removed, "left": left.len() }), |page| {
        page.data.line(format_args!("Removed {}, {} left", count(removed, "note"), count_of(&left, "note")));
    })
}
