//! `backsight init`: sets a workspace up. Optional: first use does the same with the ordinary choices.

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use backsight::report::SetUp;
use backsight::request::{SetUpWorkspace, StorePlace};
use backsight_core::{Result, quote};
use clap::ValueEnum;
use serde_json::json;

use crate::commands::Verdict;
use crate::context::Context;
use crate::words::count;

/// Set up a workspace (optional: first use does it)
///
/// Below the root of a Git repository the root becomes the workspace, unless a directory is named.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight init                  the store goes to .backsight/ in the workspace
  backsight init .                this directory, wherever the repository begins
  backsight init --store user     the store goes to your state directory, outside the tree
  backsight init --adopt          take over the history of a store that came with a clone or a copy")]
pub struct Args {
    /// The directory to set up; without it the root of the Git repository you are in, else the current directory
    #[arg(value_name = "DIR", conflicts_with = "adopt")]
    target: Option<PathBuf>,
    /// Where the store lives
    #[arg(long, value_name = "PLACE", value_enum, default_value_t = Place::Workspace)]
    store: Place,
    /// Track this directory even if it is a home directory or the root of the file system
    #[arg(long)]
    any_root: bool,
    /// Take over the history of a store that you did not make here, or that is of another directory which had this path:
    /// snapshots and rows are kept, and whatever could act (settings, journal, keys, open calls) is put aside
    #[arg(long, conflicts_with_all = ["store", "any_root"])]
    adopt: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Place {
    /// In your state directory, outside the tree
    User,
    /// In `.backsight/` inside the workspace
    Workspace,
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    if args.adopt {
        return adopt(context);
    }
    let store = match args.store {
        Place::User => StorePlace::User,
        Place::Workspace => StorePlace::Workspace,
    };
    let outer = context.root();
    let workspace = context.workspace_at(args.target.as_deref())?;
    let done = workspace.perform(SetUpWorkspace { store, any_root: args.any_root, anew: true })?;
    context.answer(&done, |page| {
        let SetUp { created, root, store: place } = &done;
        let done = if *created { "Set up workspace" } else { "Already a workspace:" };
        page.data.line(format_args!("{done} {}", page.data.bold(root)));
        page.data.line(format_args!("The store is {place}"));
        if outer != workspace.root() && workspace.root().starts_with(&outer) {
            let outer = quote(outer.as_os_str().as_bytes());
            page.note(format_args!("it lies inside the workspace {outer}, which keeps its own history"));
        }
        if *created {
            page.hint("record the first snapshot with `backsight track -m \"start\"`");
        }
    })?;
    Ok(Verdict::Done)
}

fn adopt(context: &Context) -> Result<Verdict> {
    let workspace = context.workspace()?;
    let adopted = workspace.adopt()?;
    context.answer(&json!(adopted), |page| {
        page.data.line(format_args!("The store {} is yours now", page.data.bold(quote(adopted.store.as_bytes()))));
        let rows = count(adopted.rows, "row");
        let files = count(adopted.object_files, "file");
        page.data.line(format_args!("Taken over: {rows} of the timeline, {files} with snapshots"));
        let old = quote(adopted.set_aside.as_bytes());
        if adopted.is_left_in_place {
            page.data.line(format_args!("Left alone: {old}"));
            page.note("it is the history of the directory that was here before; its settings, open calls and comments were not copied");
            return page.hint("check the history with `backsight verify`");
        }
        page.data.line(format_args!("Put aside:  {old}"));
        page.note("its settings, open calls, comments, checkpoints, noise rules, baselines and keys were not taken over: they are put aside");
        page.hint("check the history with `backsight verify`; remove what was put aside when you do not need it");
    })?;
    Ok(Verdict::Done)
}
