//! `backsight checkpoint`: names for moments of the app, to ask about later.

use backsight::browser::request::{CreateCheckpoint, DeleteCheckpoint, ListCheckpoints};
use backsight_core::Result;
use clap::Subcommand;

use crate::commands::Verdict;
use crate::context::Context;
use crate::lane::Lane;
use crate::render::app;

/// Name moments of the app, to compare with later
///
/// The list reads as the story of a session: how the app was at each checkpoint since the one before. Checkpoints outlive
/// the server. (What was last known of each file is `backsight known`.)
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight checkpoint create session_start     before the first edit
  backsight checkpoint create before_refactor
  backsight changes --since before_refactor
  backsight checkpoint list")]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Create(Create),
    List(List),
    Delete(Delete),
}

/// Give this moment a name; one of the same name is replaced
///
/// Lowercase letters, digits and underscores, at most 50: session_start, pre_commit, before_..., after_..., baseline_...
#[derive(clap::Args, Debug)]
struct Create {
    /// Its name
    #[arg(value_name = "NAME")]
    name: String,
    /// Compare with this baseline instead of with how the app is now
    #[arg(long, value_name = "BASELINE")]
    baseline: Option<String>,
}

/// List the checkpoints, oldest first, with how the app was
#[derive(clap::Args, Debug)]
struct List {}

/// Forget a checkpoint
#[derive(clap::Args, Debug)]
struct Delete {
    /// Its name
    #[arg(value_name = "NAME")]
    name: String,
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let lane = Lane::find(context)?;
    match &args.action {
        Action::Create(args) => create(args, context, &lane)?,
        Action::List(_) => list(context, &lane)?,
        Action::Delete(args) => delete(args, context, &lane)?,
    }
    Ok(Verdict::Done)
}

fn create(args: &Create, context: &Context, lane: &Lane) -> Result<()> {
    let made = lane.perform(CreateCheckpoint { name: args.name.clone(), baseline: args.baseline.clone() })?;
    context.answer(&made, |page| app::created(page, &made))
}

fn list(context: &Context, lane: &Lane) -> Result<()> {
    let list = lane.perform(ListCheckpoints {})?;
    context.answer(&list, |page| {
        app::checkpoints(page, &list.checkpoints);
        if list.checkpoints.is_empty() {
            page.note("no moment of the app has a name yet");
            page.hint("name this one with `backsight checkpoint create session_start`");
        }
        app::warnings(page, &list.warnings);
    })
}

fn delete(args: &Delete, context: &Context, lane: &Lane) -> Result<()> {
    let deleted = lane.perform(DeleteCheckpoint { name: args.name.clone() })?;
    context.answer(&deleted, |page| page.data.line(format_args!("Forgot checkpoint {}", deleted.deleted)))
}
