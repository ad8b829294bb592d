//! `backsight status`: what differs on disk from the latest snapshot, and what nobody can say anything about.

use backsight::report::{Snapshot, WorkspaceStatus};
use backsight_core::{Result, Uncovered};

use crate::commands::Verdict;
use crate::context::Context;
use crate::page::Page;
use crate::render::{changes, coverage, snapshot};
use crate::words::{age, count, count_of, join, safe};

/// Show what changed since the latest snapshot
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Letters: A added, M modified, D deleted, R renamed, m permissions, T type, ? not covered

Examples:
  backsight status
  backsight status --exit-code    exit 1 when something differs")]
pub struct Args {
    /// Exit with status 1 when something differs
    #[arg(long)]
    exit_code: bool,
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let status = context.workspace()?.status()?;
    context.answer(&status, |page| {
        page.data.line(format_args!("Workspace {}", page.data.bold(safe(&status.root))));
        match &status.latest {
            Some(latest) => compared(page, &status, latest, context),
            None => untouched(page),
        }
    })?;
    Ok(Verdict::no_if(args.exit_code && !status.clean))
}

fn untouched(page: &mut Page) {
    page.data.line("No snapshot yet, so nothing to compare with");
    page.hint("record the first snapshot with `backsight track -m \"start\"`");
}

fn compared(page: &mut Page, status: &WorkspaceStatus, latest: &Snapshot, context: &Context) {
    let (name, title) = (snapshot::name(&page.data, latest), snapshot::title(latest));
    let age = page.data.dim(format_args!("({})", age(latest.timestamp, context.now)));
    page.data.line(format_args!("Latest {}", join(&[&name, &title, &age])));
    page.data.line(format_args!("{}, {}", count(status.snapshots, "snapshot"), coverage::summary(&status.coverage)));
    page.data.line("");
    let seen = if status.coverage.complete && status.unseen.is_empty() { "" } else { " in what could be seen" };
    if status.changes.is_empty() {
        page.data.line(format_args!("Nothing changed since {}{seen}", latest.sequence_number));
    } else {
        let paths = count_of(&status.changes, "path");
        page.data.line(format_args!("{paths} changed since {}{seen}:", latest.sequence_number));
        changes::list(&mut page.data, &status.changes);
    }
    uncovered(page, status);
    advise(page, status);
}

/// What the scan did not cover, and what the snapshot did not.
fn uncovered(page: &mut Page, status: &WorkspaceStatus) {
    let now: &[Uncovered] = &status.coverage.uncovered;
    let then: Vec<Uncovered> = status.unseen.iter().filter(|entry| !now.contains(entry)).cloned().collect();
    let titles = [coverage::not_covered(now.len()), format!("{} could not be compared", count_of(&then, "path"))];
    for (entries, title) in [now, &then].into_iter().zip(titles) {
        if !entries.is_empty() {
            page.data.line("");
            page.data.line(format_args!("{title}:"));
            coverage::list(&mut page.data, entries);
        }
    }
    if let Some(advice) = now.iter().find_map(|entry| coverage::advice(entry.reason)) {
        page.hint(advice);
    }
}

fn advise(page: &mut Page, status: &WorkspaceStatus) {
    if !status.changes.is_empty() {
        page.hint("see the changes with `backsight diff @`, record them with `backsight track`");
    } else if status.redoable > 0 {
        page.hint(format_args!("{} can be redone with `backsight redo`", count(status.redoable, "undo")));
    } else if status.undoable > 0 {
        page.hint("take the newest step back with `backsight undo`");
    }
}
