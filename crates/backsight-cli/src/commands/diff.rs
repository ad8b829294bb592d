//! `backsight diff [FROM] [TO]`: the differences as a unified diff or as counts.

use backsight::Workspace;
use backsight::report::{FileDiff, LineCounts, Status};
use backsight::request::{BinaryFiles, CompareStates, Diff, PathText, TwoStates, UnifiedForm};
use backsight_core::{RelPath, Result};

use crate::arguments::{Paths, examples_then_references, explain};
use crate::commands::Verdict;
use crate::context::Context;
use crate::page::{GREEN, Page, RED, Sheet};
use crate::render::{changes, coverage, hunks, unified};
use crate::words::{count, count_of, safe};

/// Show the differences between two states
///
/// Without TO, FROM is compared with the files on disk; without FROM, the latest snapshot is. What one step changed is
/// shown by `backsight show REF --diff`. The output is what `git apply` and `patch -p1` read.
#[derive(clap::Args, Debug)]
#[command(after_long_help = examples_then_references!("\
Examples:
  backsight diff                     what changed since the latest snapshot
  backsight diff 3 7 --stat
  backsight show 7 --diff            what step 7 changed
  backsight diff --hunks             names for `revert @..now --hunk`
  backsight diff @~1 @ -- src/main.rs"))]
pub struct Args {
    /// The first state
    #[arg(value_name = "FROM", default_value = "@")]
    from: String,
    /// The second state; the disk when left out
    #[arg(value_name = "TO")]
    to: Option<String>,
    #[command(flatten)]
    only: Paths,
    /// Count added and removed lines instead of showing them
    #[arg(long)]
    stat: bool,
    /// Hunk by hunk: each with the name that `revert FROM..TO --hunk` takes, its lines numbered
    #[arg(long, conflicts_with_all = ["stat", "max_file_bytes"])]
    hunks: bool,
    /// Exit with status 1 when something differs
    #[arg(long)]
    exit_code: bool,
    /// Lines of context around each change
    #[arg(short = 'U', long = "unified", value_name = "N", default_value_t = 3)]
    context: u16,
    /// Leave out the text of files larger than this, and say so
    #[arg(long, value_name = "SIZE", default_value = "8MB", value_parser = backsight::parse_size)]
    max_file_bytes: u64,
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let workspace = context.workspace()?;
    let paths = context.paths(&workspace, &args.only.paths)?;
    if args.hunks {
        return by_hunks(args, &workspace, paths, context);
    }
    let paths = paths.iter().map(PathText::from).collect();
    let binary = context.screen.binary_files() == BinaryFiles::Whole;
    let compared = workspace.perform(CompareStates {
        states: TwoStates { from: Some(args.from.clone()), to: args.to.clone(), paths },
        max_file_bytes: Some(args.max_file_bytes),
        context: Some(args.context),
        form: UnifiedForm { binary, ..UnifiedForm::default() },
    });
    let diff = compared.map_err(|error| explain(error, context.start()))?.diff;
    if args.stat {
        context.answer(&LineCounts::of(&diff), |page| {
            stat(page, &diff.diffs, (diff.additions, diff.deletions));
            coverage::unseen(page, &diff.unseen);
            coverage::uncompared(page, diff.uncompared_renames);
        })?;
    } else {
        context.answer(&diff, |page| {
            show(page, &diff.diffs);
            coverage::unseen(page, &diff.unseen);
            coverage::uncompared(page, diff.uncompared_renames);
        })?;
    }
    Ok(Verdict::no_if(args.exit_code && !diff.diffs.is_empty()))
}

/// The same hunk by hunk.
fn by_hunks(args: &Args, workspace: &Workspace, paths: Vec<RelPath>, context: &Context) -> Result<Verdict> {
    let lines = usize::from(args.context);
    let request = Diff { paths, context: lines, ..Diff::new(args.from.clone(), args.to.clone()) };
    let found = workspace.hunks_with(&request).map_err(|error| explain(error, context.start()))?;
    let range = format!("{}..{}", request.from, request.to.as_deref().unwrap_or("now"));
    context.answer(&found, |page| {
        hunks::show(page, &found, &range);
        coverage::unseen(page, &found.unseen);
    })?;
    Ok(Verdict::no_if(args.exit_code && !found.files.is_empty()))
}

/// The files as one unified diff.
pub(super) fn show(page: &mut Page, files: &[FileDiff]) {
    for file in files {
        unified::show(&mut page.data, &file.unified);
    }
    for file in files.iter().filter(|file| file.unified.is_empty()) {
        page.note(format_args!("{}: {}, which this format cannot show", file.file, what_else(file.status)));
    }
    finish(page, files);
}

/// The files with how many lines come and go in each.
pub(super) fn stat(page: &mut Page, files: &[FileDiff], (additions, deletions): (u64, u64)) {
    let width = files.iter().map(|file| name(file).chars().count()).max().unwrap_or(0);
    for file in files {
        let (letter, style) = changes::letter(file.status);
        let letter = page.data.paint(style, letter);
        let counts = match &file.cut {
            Some(cut) => safe(cut),
            None if file.binary => "binary".to_owned(),
            None if file.additions + file.deletions == 0 => what_else(file.status).to_owned(),
            None => plus_minus(&page.data, file),
        };
        page.data.line(format_args!("{letter} {:<width$}  {counts}", name(file)));
    }
    if !files.is_empty() {
        page.data.line(format_args!("{}: {}", count_of(files, "path"), totals(files, additions, deletions)));
    }
    finish(page, files);
}

/// `2 lines added, 1 line removed, 1 path not compared`: of what was not compared nothing was counted.
fn totals(files: &[FileDiff], additions: u64, deletions: u64) -> String {
    let cut: Vec<&FileDiff> = files.iter().filter(|file| file.cut.is_some()).collect();
    let mut parts = Vec::new();
    if cut.len() < files.len() {
        let (added, removed) = (count(additions, "line"), count(deletions, "line"));
        parts.extend([format!("{added} added"), format!("{removed} removed")]);
    }
    if !cut.is_empty() {
        parts.push(format!("{} not compared", count_of(&cut, "path")));
    }
    parts.join(", ")
}

/// What a path differs in when no line does.
fn what_else(status: Status) -> &'static str {
    match status {
        Status::Added => "new and empty",
        Status::Deleted => "was empty",
        Status::Renamed => "renamed",
        Status::ModeChanged => "permissions differ",
        Status::TypeChanged => "the type differs",
        Status::Modified => "no line differs",
    }
}

fn name(file: &FileDiff) -> String {
    match &file.from_file {
        Some(from) => format!("{from} -> {}", file.file),
        None => file.file.to_string(),
    }
}

fn plus_minus(sheet: &Sheet, file: &FileDiff) -> String {
    let added = sheet.paint(GREEN, format_args!("+{}", file.additions));
    let removed = sheet.paint(RED, format_args!("-{}", file.deletions));
    format!("{added} {removed}")
}

fn finish(page: &mut Page, files: &[FileDiff]) {
    let cut = files.iter().filter(|file| file.cut.is_some()).count();
    if cut > 0 {
        page.warning(format_args!("{} too large to compare line by line", count(cut as u64, "file")));
        page.hint("raise the bound with `--max-file-bytes SIZE`");
    }
    if files.is_empty() {
        page.note("no differences");
    }
}
