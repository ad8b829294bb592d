//! `backsight restore REF`: takes the tree to a recorded state, exactly.

use backsight::request::{PathText, RestoreFiles};
use backsight_core::Result;

use crate::arguments::{Going, Paths, examples_then_references, explain};
use crate::commands::Verdict;
use crate::context::Context;
use crate::render::applied::{self, Verb};

const VERB: Verb =
    Verb { present: "restore", past: "restored", progressive: "restoring", joint: "to ", back: "backsight undo" };

/// Take the files to a recorded state, exactly
///
/// Files created later go, after they are stored in a snapshot. With paths, only those. To undo one step and keep
/// what came after it, see `revert`.
#[derive(clap::Args, Debug)]
#[command(after_long_help = examples_then_references!("\
Examples:
  backsight restore 12 --dry-run
  backsight restore 12 --on-conflict skip
  backsight restore @ -- src/main.rs"))]
pub struct Args {
    /// Which state
    #[arg(value_name = "REF")]
    reference: String,
    #[command(flatten)]
    only: Paths,
    #[command(flatten)]
    going: Going,
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let workspace = context.workspace()?;
    let (reference, on_conflict, terms) = (args.reference.clone(), args.going.policy(), args.going.terms());
    let paths = context.paths(&workspace, &args.only.paths)?.iter().map(PathText::from).collect();
    let outcome = workspace.perform(RestoreFiles { reference, paths, on_conflict, terms });
    let report = outcome.map_err(|error| explain(error, context.start()))?;
    context.answer(&report, |page| applied::show(page, &report, &VERB))?;
    Ok(applied::verdict(&report))
}
