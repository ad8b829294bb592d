//! `backsight gc`: removes the contents of old snapshots and what nothing needs any more.

use backsight::report::Collected;
use backsight::request::CollectContents;
use backsight_core::Result;

use crate::commands::Verdict;
use crate::context::Context;
use crate::page::Page;
use crate::words::{bytes, count, enumerate, safe};

/// Remove the contents of old snapshots by age, count or size
///
/// Flags override the settings for this run. Pinned snapshots and the latest one are kept; rows stay in the log.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight gc --dry-run
  backsight gc --keep-days 14 --keep-count 100
  backsight gc --disk-budget 500M")]
pub struct Args {
    /// Remove contents of snapshots older than this
    #[arg(long, value_name = "N")]
    keep_days: Option<u32>,
    /// Keep at least this many of the newest
    #[arg(long, value_name = "N")]
    keep_count: Option<u32>,
    /// Remove the oldest until the store is at most this large
    #[arg(long, value_name = "SIZE", value_parser = backsight::parse_size)]
    disk_budget: Option<u64>,
    /// Say what would be removed and change nothing
    #[arg(long)]
    dry_run: bool,
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let request = CollectContents {
        keep_days: args.keep_days,
        keep_count: args.keep_count,
        disk_budget: args.disk_budget,
        dry_run: args.dry_run,
    };
    let collected = context.workspace()?.perform(request)?;
    context.answer(&collected, |page| show(page, &collected))?;
    Ok(Verdict::Done)
}

fn show(page: &mut Page, collected: &Collected) {
    let remove = if collected.dry_run { "Would remove" } else { "Removed" };
    let objects = count(collected.objects_removed, "object");
    match (enumerate(&collected.expired), collected.objects_removed) {
        (snapshots, 0) if snapshots.is_empty() => page.data.line("Nothing to remove"),
        (snapshots, 0) => page.data.line(format_args!("{remove} the contents of {snapshots}")),
        (snapshots, _) if snapshots.is_empty() => page.data.line(format_args!("{remove} {objects} nothing needs")),
        (snapshots, _) => page.data.line(format_args!("{remove} the contents of {snapshots}: {objects}")),
    }
    let (before, after) = (bytes(collected.bytes_before), bytes(collected.bytes_after));
    // The timeline's own bookkeeping can outweigh what a small store gives back.
    match (collected.bytes_after < collected.bytes_before, collected.dry_run) {
        (false, _) => page.data.line(format_args!("The store takes {after}")),
        (true, true) => page.data.line(format_args!("The store would go from {before} to {after}")),
        (true, false) => page.data.line(format_args!("The store went from {before} to {after}")),
    }
    for warning in &collected.warnings {
        page.warning(safe(warning));
    }
    if collected.dry_run {
        page.note("this was a dry run, nothing changed");
    }
}
