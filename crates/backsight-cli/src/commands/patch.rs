//! `backsight patch [FROM] [TO]`: which paths differ.

use backsight::request::{ComparePaths, PathText, TwoStates};
use backsight_core::Result;

use crate::arguments::{Paths, examples_then_references, explain};
use crate::commands::Verdict;
use crate::context::Context;
use crate::render::{changes, coverage};

/// List the paths that differ between two states
///
/// Without TO, FROM is compared with the files on disk.
#[derive(clap::Args, Debug)]
#[command(after_long_help = examples_then_references!("\
Letters: A added, M modified, D deleted, R renamed, m permissions, T type

Examples:
  backsight patch                  what changed since the latest snapshot
  backsight patch 3 7 -- src"))]
pub struct Args {
    /// The first state
    #[arg(value_name = "FROM", default_value = "@")]
    from: String,
    /// The second state; the disk when left out
    #[arg(value_name = "TO")]
    to: Option<String>,
    #[command(flatten)]
    only: Paths,
    /// Exit with status 1 when something differs
    #[arg(long)]
    exit_code: bool,
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let workspace = context.workspace()?;
    let paths = context.paths(&workspace, &args.only.paths)?.iter().map(PathText::from).collect();
    let states = TwoStates { from: Some(args.from.clone()), to: args.to.clone(), paths };
    let outcome = workspace.perform(ComparePaths { states });
    let patch = outcome.map_err(|error| explain(error, context.start()))?;
    context.answer(&patch, |page| {
        for change in &patch.changes {
            let line = changes::line(&page.data, change);
            page.data.line(line);
        }
        if patch.changes.is_empty() {
            page.note("no differences");
        }
        coverage::unseen(page, &patch.unseen);
        coverage::uncompared(page, patch.uncompared_renames);
    })?;
    Ok(Verdict::no_if(args.exit_code && !patch.changes.is_empty()))
}
