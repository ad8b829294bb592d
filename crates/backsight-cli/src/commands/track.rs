//! `backsight track`: records the files as they are.

use backsight::request::TrackFiles;
use backsight_core::Result;

use crate::arguments::{UnknownChanges, Who};
use crate::commands::Verdict;
use crate::context::Context;
use crate::render::tracked;

/// Record the files as they are
///
/// When nothing changed since the latest snapshot, that one is the answer and nothing is written. With --declare, only
/// the declared paths are the step's own; the strategy says what becomes of everything else that changed. See `begin`
/// for a tool that does not know beforehand what it will write, and for agents at work at the same time: a `track` only
/// knows when it is called, so it takes what the others have just written for somebody else's.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight track -m \"before the refactoring\"
  backsight track --tool edit --session s1 --message m7 --declare src/a.rs
  backsight track --declare src/a.rs --strategy strict     refuse if anything else changed")]
pub struct Args {
    /// What this step is
    #[arg(short = 'm', long = "description", value_name = "TEXT", default_value = "", hide_default_value = true)]
    description: String,
    #[command(flatten)]
    who: Who,
    #[command(flatten)]
    unknown: UnknownChanges,
    /// Keep this snapshot through every retention rule
    #[arg(long)]
    pin: bool,
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let workspace = context.workspace()?;
    let request = TrackFiles {
        description: args.description.clone(),
        who: args.who.behalf(),
        declare: args.who.declare(context, &workspace)?,
        policy: args.unknown.policy(),
        pin: args.pin,
    };
    let report = workspace.perform(request)?;
    context.answer(&report, |page| tracked::show(page, &report, &args.description, context.now))?;
    Ok(Verdict::Done)
}
