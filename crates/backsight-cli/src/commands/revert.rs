//! `backsight revert REF...`: undoes steps and keeps everyone else's edits.

use backsight::report::Origin;
use backsight::request::Revert;
use backsight_core::Result;

use crate::arguments::{Going, Paths, examples_then_references, explain};
use crate::commands::Verdict;
use crate::context::Context;
use crate::render::applied::{self, Verb};

const VERB: Verb =
    Verb { present: "revert", past: "reverted", progressive: "reverting", joint: "", back: "backsight undo" };

/// Undo steps and keep everything else
///
/// Edits made after a step, by anyone, stay; where they touch the same file the two are merged. A step with declared
/// paths undoes only those. Of a milestone, what was found changed outside stays too. To go back to a state exactly, see
/// `restore`.
#[derive(clap::Args, Debug)]
#[command(after_long_help = examples_then_references!("\
Examples:
  backsight revert 12 --dry-run
  backsight revert session:s1
  backsight revert 12 14 --on-conflict skip -- src"))]
pub struct Args {
    /// Which steps
    #[arg(value_name = "REF", required = true)]
    references: Vec<String>,
    /// Also take back what was found changed outside within a milestone
    #[arg(long)]
    with_others: bool,
    #[command(flatten)]
    only: Paths,
    #[command(flatten)]
    going: Going,
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let workspace = context.workspace()?;
    let request = Revert {
        references: args.references.clone(),
        with_others: args.with_others,
        paths: context.paths(&workspace, &args.only.paths)?,
        on_conflict: args.going.policy(),
        dry_run: args.going.dry_run,
        plan: args.going.plan.clone(),
        origin: Origin::default(),
    };
    let outcome = workspace.revert_steps(&request);
    let report = outcome.map_err(|error| explain(error, context.start()))?;
    context.answer(&report, |page| applied::show(page, &report, &VERB))?;
    Ok(applied::verdict(&report))
}
