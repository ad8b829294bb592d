//! `backsight redo [N]`: takes the newest undos back.

use backsight_core::Result;

use crate::arguments::Steps;
use crate::commands::Verdict;
use crate::context::Context;
use crate::render::applied::{self, Verb};

const VERB: Verb = Verb { present: "redo", past: "redid", progressive: "redoing", joint: "", back: "backsight undo" };

/// Take back the newest undo
///
/// Edits on other paths stay.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight redo
  backsight redo 3 --dry-run")]
pub struct Args {
    #[command(flatten)]
    steps: Steps,
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let report = context.workspace()?.redo(&args.steps.request())?;
    context.answer(&report, |page| applied::show(page, &report, &VERB))?;
    Ok(Verdict::Done)
}
