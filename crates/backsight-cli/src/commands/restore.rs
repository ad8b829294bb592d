//! `backsight restore REF`: takes the tree to a recorded state, exactly.

use backsight::report::Origin;
use backsight::request::Restore;
use backsight_core::Result;

use crate::arguments::{Paths, examples_then_references};
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
  backsight restore @ -- src/main.rs"))]
pub struct Args {
    /// Which state
    #[arg(value_name = "REF")]
    reference: String,
    #[command(flatten)]
    only: Paths,
    /// Say what would be done and change nothing
    #[arg(long)]
    dry_run: bool,
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let workspace = context.workspace()?;
    let request = Restore {
        reference: args.reference.clone(),
        paths: context.paths(&workspace, &args.only.paths)?,
        dry_run: args.dry_run,
        origin: Origin::default(),
    };
    let report = workspace.restore_with(&request)?;
    context.answer(&report, |page| applied::show(page, &report, &VERB))?;
    Ok(Verdict::Done)
}
