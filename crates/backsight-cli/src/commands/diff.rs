//! `backsight diff [FROM] [TO]`: the differences as a unified diff or as counts.

use backsight::report::{Diff, FileDiff, Status};
use backsight::{Workspace, request};
use backsight_core::{RelPath, Result};
use serde::Serialize;

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
    context: usize,
    /// Leave out the text of files larger than this, and say so
    #[arg(long, value_name = "SIZE", default_value = "8MB", value_parser = backsight::parse_size)]
    max_file_bytes: u64,
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let workspace = context.workspace()?;
    let request = request::Diff {
        from: args.from.clone(),
        to: args.to.clone(),
        paths: context.paths(&workspace, &args.only.paths)?,
        max_file_bytes: args.max_file_bytes,
        context: args.context,
        binary: context.screen.binary_files(),
    };
    if args.hunks {
        return by_hunks(&workspace, &request, args.exit_code, context);
    }
    let diff = workspace.diff_with(&request).map_err(|error| explain(error, context.start()))?;
    if args.stat {
        context.answer(&Counts::of(&diff), |page| {
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
fn by_hunks(workspace: &Workspace, request: &request::Diff, exit_code: bool, context: &Context) -> Result<Verdict> {
    let found = workspace.hunks_with(request).map_err(|error| explain(error, context.start()))?;
    let range = format!("{}..{}", request.from, request.to.as_deref().unwrap_or("now"));
    context.answer(&found, |page| {
        hunks::show(page, &found, &range);
        coverage::unseen(page, &found.unseen);
    })?;
    Ok(Verdict::no_if(exit_code && !found.files.is_empty()))
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

/// `--stat --json`: the report without the texts.
#[derive(Serialize)]
pub(super) struct Counts<'a> {
    from: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<String>,
    diffs: Vec<FileCounts<'a>>,
    additions: u64,
    deletions: u64,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    unseen: &'a [backsight_core::Uncovered],
}

#[derive(Serialize)]
pub(super) struct FileCounts<'a> {
    file: &'a RelPath,
    additions: u64,
    deletions: u64,
    status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    from_file: Option<&'a RelPath>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    binary: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<&'a str>,
}

impl<'a> Counts<'a> {
    /// The files without their texts.
    pub(super) fn files(files: &'a [FileDiff]) -> Vec<FileCounts<'a>> {
        let counts = files.iter().map(|file| FileCounts {
            file: &file.file,
            additions: file.additions,
            deletions: file.deletions,
            status: file.status,
            from_file: file.from_file.as_ref(),
            binary: file.binary,
            cut: file.cut.as_deref(),
        });
        counts.collect()
    }

    fn of(diff: &'a Diff) -> Self {
        Counts {
            from: diff.from.to_string(),
            to: diff.to.map(|tree| tree.to_string()),
            diffs: Counts::files(&diff.diffs),
            additions: diff.additions,
            deletions: diff.deletions,
            unseen: &diff.unseen,
        }
    }
}
