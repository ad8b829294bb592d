//! `backsight show REF`: one snapshot and what it changed.

use backsight::report::{PathChange, Snapshot};
use backsight_core::Result;
use serde::Serialize;

use crate::arguments::examples_then_references;
use crate::commands::Verdict;
use crate::context::Context;
use crate::render::{changes, snapshot};
use crate::words::count_of;

/// Show one snapshot and what it changed
#[derive(clap::Args, Debug)]
#[command(after_long_help = examples_then_references!("\
Examples:
  backsight show @
  backsight show 12"))]
pub struct Args {
    /// Which snapshot
    #[arg(value_name = "REF")]
    reference: String,
}

#[derive(Serialize)]
struct Shown {
    #[serde(flatten)]
    snapshot: Snapshot,
    /// Absent when retention removed the contents.
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<Vec<PathChange>>,
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let workspace = context.workspace()?;
    let snapshot = workspace.show(&args.reference)?;
    let changes = match snapshot.expired_at {
        None => Some(workspace.changes_of(snapshot.id.as_str())?),
        Some(_) => None,
    };
    let shown = Shown { snapshot, changes };
    context.answer(&shown, |page| {
        snapshot::card(&mut page.data, &shown.snapshot, context.now);
        if let Some(list) = &shown.changes {
            page.data.line("");
            page.data.line(format_args!("{} changed", count_of(list, "path")));
            changes::list(&mut page.data, list);
        }
    })?;
    Ok(Verdict::Done)
}
