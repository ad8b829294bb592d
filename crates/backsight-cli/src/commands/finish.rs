//! `backsight finish ID`: what a tool call wrote becomes its step.

use std::ffi::OsString;

use backsight::request::{FinishCall, PathText};
use backsight_core::Result;

use crate::arguments::UnknownChanges;
use crate::commands::Verdict;
use crate::context::Context;
use crate::render::tracked;

/// Finish a tool call: record what it wrote as its step
///
/// What changed since the call began is its own. What changed before, or outside the declared paths, is somebody
/// else's: the strategy says what becomes of it. A refused call stays open.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight finish 0123456789abcdef -m \"rename the parser\"
  backsight finish 0123456789abcdef --declare src/a.rs     only this path is the call's own")]
pub struct Args {
    /// The id that `begin` printed
    #[arg(value_name = "ID")]
    id: String,
    /// What the call did
    #[arg(short = 'm', long = "description", value_name = "TEXT", default_value = "", hide_default_value = true)]
    description: String,
    /// A path the call wrote (repeatable), instead of what it declared when it began
    #[arg(long, value_name = "PATH")]
    declare: Vec<OsString>,
    #[command(flatten)]
    unknown: UnknownChanges,
    /// Keep this snapshot through every retention rule
    #[arg(long)]
    pin: bool,
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let workspace = context.workspace()?;
    let request = FinishCall {
        call: args.id.clone(),
        description: args.description.clone(),
        declare: context.paths(&workspace, &args.declare)?.iter().map(PathText::from).collect(),
        policy: args.unknown.policy(),
        pin: args.pin,
    };
    let report = workspace.perform(request)?;
    context.answer(&report, |page| tracked::show(page, &report, &args.description, context.now))?;
    Ok(Verdict::Done)
}
