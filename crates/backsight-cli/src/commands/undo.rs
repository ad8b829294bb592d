//! `backsight undo [N]`: takes the newest steps back.

use backsight::request::UndoSteps;
use backsight_core::Result;

use crate::arguments::Steps;
use crate::commands::Verdict;
use crate::context::Context;
use crate::render::applied::{self, Verb};

const VERB: Verb = Verb { present: "undo", past: "undid", progressive: "undoing", joint: "", back: "backsight redo" };

/// Take back the newest step, restore or revert
///
/// Edits on other paths stay. Repeat it, or give N, to go further back; `redo` goes forward again.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight undo
  backsight undo 3 --dry-run")]
pub struct Args {
    #[command(flatten)]
    steps: Steps,
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let report = context.workspace()?.perform(UndoSteps { steps: args.steps.request() })?;
    context.answer(&report, |page| applied::show(page, &report, &VERB))?;
    Ok(applied::verdict(&report))
}
