//! `backsight revert REF...`: undoes steps and keeps everyone else's edits.

use backsight::HunkChoice;
use backsight::request::{PathText, RevertSteps};
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
/// paths undoes only those. With --hunk only some lines are undone, named as `show REF --hunks` shows them. A range takes
/// back what differs between two states, by any writer. Of a milestone, what was found changed outside stays too. To go back to a state exactly, see
/// `restore`.
#[derive(clap::Args, Debug)]
#[command(after_long_help = examples_then_references!("\
Examples:
  backsight revert 12 --dry-run
  backsight revert session:s1
  backsight revert 12 --hunk h3f9a0c12d4 --hunk h81d0aa7c05:2-3
  backsight revert @..now -- src/main.rs             what is not recorded yet
  backsight revert 12 14 --on-conflict skip -- src"))]
pub struct Args {
    /// Which steps, or one range: 3..7, @..now
    #[arg(value_name = "REF", required = true)]
    references: Vec<String>,
    /// Also take back what was found changed outside within a milestone
    #[arg(long)]
    with_others: bool,
    /// Only this hunk; with lines behind it, h3f9a0c12d4:2-3,7, only those. Can be given several times
    #[arg(long = "hunk", value_name = "HUNK")]
    hunks: Vec<HunkChoice>,
    #[command(flatten)]
    only: Paths,
    #[command(flatten)]
    going: Going,
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let workspace = context.workspace()?;
    let paths = context.paths(&workspace, &args.only.paths)?.iter().map(PathText::from).collect();
    let outcome = workspace.perform(RevertSteps {
        refs: args.references.clone(),
        with_others: args.with_others,
        paths,
        hunks: args.hunks.clone(),
        on_conflict: args.going.policy(),
        terms: args.going.terms(),
    });
    let report = outcome.map_err(|error| explain(error, context.start()))?;
    context.answer(&report, |page| applied::show(page, &report, &VERB))?;
    Ok(applied::verdict(&report))
}
