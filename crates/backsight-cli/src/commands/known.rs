//! `backsight known`: what was last believed of each file. Contents stay in the snapshots; nothing is copied.

use backsight::report::{Checkpoint, CheckpointData};
use backsight::request::{CleanKnown, ListKnown, NoteKnown, PathText, ReadKnown};
use backsight_core::{Result, Timestamp};
use clap::Subcommand;

use crate::arguments::{Paths, examples_then_references, explain};
use crate::commands::Verdict;
use crate::context::Context;
use crate::page::{Page, YELLOW};
use crate::parse;
use crate::words::{age, bytes, count, enumerate, local};

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
    let paths = context.paths(&workspace, &args.only.paths)?.iter().map(PathText::from).collect();
    let noted = workspace.perform(NoteKnown { reference: Some(args.reference.clone()), paths });
    let noted = noted.map_err(|error| explain(error, context.start()))?;
    context.answer(&noted, |page| {
        let (id, made) = (&noted.id, &noted.checkpoint);
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
    let notes = context.workspace()?.perform(ListKnown {})?;
    context.answer(&notes, |page| {
        for checkpoint in &notes.checkpoints {
            let id = page.data.paint(YELLOW, &checkpoint.id);
            page.data.line(format_args!("{id}  {}  {}", age(checkpoint.timestamp, context.now), extent(checkpoint)));
        }
        if notes.checkpoints.is_empty() {
            none(page);
        }
    })
}

fn none(page: &mut Page) {
    page.note("nothing is noted yet");
    page.hint("every snapshot makes a note: record one with `backsight track`");
}

fn show(args: &Show, context: &Context) -> Result<()> {
    let known = context.workspace()?.perform(ReadKnown { id: args.id.clone() })?;
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
    let cleaned = context.workspace()?.perform(CleanKnown { older_than: args.older_than })?;
    context.answer(&cleaned, |page| {
        let (removed, left) = (count(cleaned.removed, "note"), count(cleaned.left as u64, "note"));
        page.data.line(format_args!("Removed {removed}, {left} left"));
    })
}
