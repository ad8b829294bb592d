//! `backsight show [REF]`: one snapshot, what it changed, and on request the diff, forwards or backwards.

use backsight::report::{MayHold, ShownStep, Snapshot};
use backsight::request::{BinaryFiles, ShowStep};
use backsight_core::Result;

use crate::arguments::examples_then_references;
use crate::commands::Verdict;
use crate::context::Context;
use crate::page::Page;
use crate::render::{changes, hunks, snapshot, unified};
use crate::words::{count, count_of};

/// Show one snapshot and what it changed
///
/// What others changed in the same row is listed apart, and is in neither diff. With --json, `affected_files`,
/// `base_file_hashes` and `result_file_hashes` name the contents before and after; `cat --blob` prints them.
#[derive(clap::Args, Debug)]
#[command(after_long_help = examples_then_references!("\
Examples:
  backsight show
  backsight show 12 --diff
  backsight show 12 --hunks                                names for `revert 12 --hunk`
  backsight show 12 --reverse-diff | git apply --check     would it still come off cleanly?"))]
pub struct Args {
    /// Which snapshot
    #[arg(value_name = "REF", default_value = "@")]
    reference: String,
    /// What the step did, as a unified diff; into a pipe nothing else
    #[arg(long)]
    diff: bool,
    /// What takes the step back, as a unified diff; into a pipe nothing else
    #[arg(long)]
    reverse_diff: bool,
    /// What the step did, hunk by hunk: each with the name that `revert --hunk` takes, its lines numbered
    #[arg(long)]
    hunks: bool,
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let workspace = context.workspace()?;
    let shown = workspace.perform(ShowStep {
        reference: Some(args.reference.clone()),
        diff: args.diff,
        reverse_diff: args.reverse_diff,
        binary: context.screen.binary_files() == BinaryFiles::Whole,
        hunks: args.hunks,
    })?;
    let readable = context.readable(&workspace, &shown.detail.snapshot)?;
    context.answer(&shown, |page| show(page, &shown, &readable, context))?;
    Ok(Verdict::Done)
}

fn show(page: &mut Page, shown: &ShownStep, snapshot: &Snapshot, context: &Context) {
    let is_diff = shown.diff.is_some() || shown.reverse_diff.is_some();
    // A program that applies the diff must not read a description as part of it.
    if !is_diff || page.data.is_terminal() {
        describe(page, shown, snapshot, context);
    }
    if let Some(list) = &shown.hunks {
        hunks::show(page, list, &snapshot.sequence_number.0.to_string());
    }
    for diff in shown.diff.iter().chain(&shown.reverse_diff) {
        for file in &diff.diffs {
            unified::show(&mut page.data, &file.unified);
        }
        let cut = diff.diffs.iter().filter(|file| file.cut.is_some()).count();
        if cut > 0 {
            page.warning(format_args!("{} too large to compare line by line", count(cut as u64, "file")));
        }
        if diff.diffs.is_empty() {
            page.note("no differences: the first snapshot has nothing before it, and some steps change nothing");
        }
    }
}

fn describe(page: &mut Page, shown: &ShownStep, snapshot: &Snapshot, context: &Context) {
    snapshot::card(&mut page.data, snapshot, context.now);
    if let Some(list) = &shown.changes {
        page.data.line("");
        page.data.line(format_args!("{} changed", count_of(list, "path")));
        changes::list(&mut page.data, list);
    }
    if !snapshot.unknown_changes.is_empty() {
        let paths = count_of(&snapshot.unknown_changes, "path");
        page.data.line("");
        page.data.line(format_args!("{paths} changed by somebody else, found when the step was recorded"));
        changes::list_unknown(&mut page.data, &snapshot.unknown_changes);
    }
    for MayHold { of, paths, more } in &snapshot.may_hold {
        page.data.line("");
        let all = paths.len() as u64 + more;
        page.data.line(format_args!("{} may hold the work of {of}; taking it back asks first", count(all, "path")));
        paths.iter().for_each(|path| page.data.line(format_args!("  {path}")));
        if *more > 0 {
            page.data.line(format_args!("  and {more} more"));
        }
    }
    if shown.diff.is_some() || shown.reverse_diff.is_some() || shown.hunks.is_some() {
        page.data.line("");
    }
}
