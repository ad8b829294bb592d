//! `backsight show [REF]`: one snapshot, what it changed, and on request the diff, forwards or backwards.

use backsight::Workspace;
use backsight::report::{Diff, Hunks, MayHold, PathChange, Snapshot, SnapshotDetail};
use backsight::request::BinaryFiles;
use backsight_core::Result;
use serde::{Serialize, Serializer};

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

#[derive(Serialize)]
struct Shown {
    #[serde(flatten)]
    detail: SnapshotDetail,
    /// Absent when retention removed the contents.
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<Vec<PathChange>>,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "text")]
    diff: Option<Diff>,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "text")]
    reverse_diff: Option<Diff>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hunks: Option<Hunks>,
}

/// Lines around a hunk.
pub(super) const CONTEXT: usize = 3;

/// The diff as one text; bytes that are not UTF-8 are replaced.
fn text<S: Serializer>(diff: &Option<Diff>, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    let bytes: Vec<u8> = diff.iter().flat_map(|diff| &diff.diffs).flat_map(|file| file.unified.clone()).collect();
    serializer.collect_str(&String::from_utf8_lossy(&bytes))
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let workspace = context.workspace()?;
    let detail = workspace.show_detail(&args.reference)?;
    let id = detail.snapshot.id.as_str().to_owned();
    let changes = match detail.snapshot.expired_at {
        None => Some(workspace.changes_of(&id)?),
        Some(_) => None,
    };
    let shown = Shown {
        changes,
        diff: step_diff(&workspace, &id, args.diff, false, context)?,
        reverse_diff: step_diff(&workspace, &id, args.reverse_diff, true, context)?,
        hunks: args.hunks.then(|| workspace.step_hunks(&id, &[], CONTEXT)).transpose()?,
        detail,
    };
    let readable = context.readable(&workspace, &shown.detail.snapshot)?;
    context.answer(&shown, |page| show(page, &shown, &readable, context))?;
    Ok(Verdict::Done)
}

fn step_diff(workspace: &Workspace, id: &str, wanted: bool, reversed: bool, context: &Context) -> Result<Option<Diff>> {
    let diff = || match context.screen.binary_files() {
        BinaryFiles::Named => workspace.step_diff(id, reversed, &[]),
        BinaryFiles::Whole => workspace.step_patch(id, reversed, &[]),
    };
    wanted.then(diff).transpose()
}

fn show(page: &mut Page, shown: &Shown, snapshot: &Snapshot, context: &Context) {
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

fn describe(page: &mut Page, shown: &Shown, snapshot: &Snapshot, context: &Context) {
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
