//! `backsight redo [N]`: brings back the steps that were undone last.

use backsight::request::RedoSteps;
use backsight_core::Result;

use crate::arguments::Steps;
use crate::commands::Verdict;
use crate::context::Context;
use crate::render::applied::{self, Verb};

const VERB: Verb = Verb { present: "redo", past: "redid", progressive: "redoing", joint: "", back: "backsight undo" };

/// Bring back the step that was undone last
///
/// N steps are brought back, whether they were undone one by one or several at once. Edits on other paths stay.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight redo
  backsight redo 2 --dry-run")]
pub struct Args {
    #[command(flatten)]
    steps: Steps,
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let report = context.workspace()?.perform(RedoSteps { steps: args.steps.request() })?;
    context.answer(&report, |page| applied::show(page, &report, &VERB))?;
    Ok(applied::verdict(&report))
}
