//! `backsight status`: where things stand: the latest step, who is at work, what differs on disk and whose it can be,
//! and what nobody can say anything about.

use backsight::report::{Call, Conversation, Origin, PathChange, Snapshot, Strategy, WorkspaceStatus};
use backsight::request::ReadStatus;
use backsight_core::{RelPath, Result, Seq, Uncovered};

use crate::commands::Verdict;
use crate::context::Context;
use crate::page::Page;
use crate::render::who::{self, Who};
use crate::render::{calls, changes, coverage, session, snapshot, timeline};
use crate::width;
use crate::words::{age, count, count_of, join, safe};

/// Show what changed since the latest snapshot, and whose it can be
///
/// What differs on disk is either the work of a tool call that has not finished, or unknown: changed by nobody who told
/// Backsight. The strategy (`backsight config get unknown_change_strategy`) says what becomes of unknown changes.
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
    let workspace = context.workspace()?;
    let status = workspace.perform(ReadStatus {})?;
    let readable = context.readable(&workspace, &status)?;
    let about = match status.latest.as_ref().and_then(|latest| latest.origin.session.as_deref()) {
        Some(session) => workspace.conversation(session)?,
        None => Conversation::default(),
    };
    context.answer(&status, |page| {
        page.data.line(format_args!("Workspace {}", page.data.bold(safe(&readable.root))));
        match &readable.latest {
            Some(latest) => compared(page, &readable, (latest, &about), context),
            None => untouched(page),
        }
    })?;
    Ok(Verdict::no_if(args.exit_code && !status.clean))
}

fn untouched(page: &mut Page) {
    page.data.line("No snapshot yet, so nothing to compare with");
    page.hint("record the first snapshot with `backsight track -m \"start\"`");
}

fn compared(page: &mut Page, status: &WorkspaceStatus, (latest, about): (&Snapshot, &Conversation), context: &Context) {
    let start = format!("Latest {}", snapshot::name(&page.data, latest));
    let room = page.data.width().map(|width| width.saturating_sub(width::of(&start) + 1));
    let title = snapshot::title(latest);
    let tool = latest.origin.tool.clone().filter(|tool| !who::names(&title, Some(tool)));
    let who = Who::of(&Origin { tool, ..latest.origin.clone() }).and(&age(latest.timestamp, context.now));
    let (title, who) = who.beside(&title, room);
    page.data.line(join(&[&start, &title, &page.data.dim(who)]));
    if let Some(about) = session::about(latest.origin.session.as_deref().unwrap_or_default(), about) {
        page.data.fitted(format_args!("Session {about}"));
    }
    page.data.line(format_args!("{}, {}", count(status.snapshots, "snapshot"), coverage::summary(&status.coverage)));
    if let Some(milestone) = &status.milestone {
        let title = page.data.bold(safe(&milestone.title));
        let since = count(status.snapshots_since_milestone, "snapshot");
        page.data.line(format_args!("Milestone {title} holds {}; {since} since", timeline::range(milestone)));
    }
    calls(page, status, context);
    differing(page, status, latest.sequence_number);
    uncovered(page, status);
    advise(page, status);
}

/// Who is at work.
fn calls(page: &mut Page, status: &WorkspaceStatus, context: &Context) {
    if status.open_calls.is_empty() {
        return;
    }
    let are = if status.open_calls.len() == 1 { "is" } else { "are" };
    page.data.line("");
    page.data.line(format_args!("{} {are} open:", count_of(&status.open_calls, "tool call")));
    calls::list(&mut page.data, &status.open_calls, context.now);
}

/// What differs on disk, by whose work it can be.
fn differing(page: &mut Page, status: &WorkspaceStatus, latest: Seq) {
    let seen = if status.coverage.complete && status.unseen.is_empty() { "" } else { " in what could be seen" };
    if status.changes.is_empty() {
        page.data.line("");
        page.data.line(format_args!("Nothing changed since {latest}{seen}"));
    }
    let is_in = |paths: &[RelPath], change: &PathChange| {
        paths.contains(&change.path) || change.from_path.as_ref().is_some_and(|from| paths.contains(from))
    };
    let (pending, rest): (Vec<PathChange>, Vec<PathChange>) =
        status.changes.iter().cloned().partition(|change| is_in(&status.pending, change));
    let (unknown, unchecked): (Vec<PathChange>, Vec<PathChange>) =
        rest.into_iter().partition(|change| is_in(&status.unknown, change));
    let call = if status.open_calls.len() == 1 { "the open tool call" } else { "an open tool call" };
    let maybe = format!("maybe by {call}");
    let groups =
        [(&pending, maybe.as_str()), (&unknown, "nobody said by whom"), (&unchecked, "not checked by whom (settings)")];
    for (changes, whose) in groups.into_iter().filter(|(changes, _)| !changes.is_empty()) {
        let paths = count_of(changes, "path");
        page.data.line("");
        page.data.line(format_args!("{paths} changed since {latest}{seen}, {whose}:"));
        changes::list(&mut page.data, changes);
    }
    coverage::uncompared(page, status.uncompared_renames);
    if !unknown.is_empty() {
        let them = if unknown.len() == 1 { "it" } else { "them" };
        page.note(consequence(status.strategy, status.open_calls.len(), them));
    }
}

/// What the strategy in force means for those changes.
fn consequence(strategy: Strategy, open_calls: usize, them: &str) -> String {
    let becomes = match strategy {
        Strategy::Strict => format!("refuses until somebody records {them}"),
        Strategy::Warn => format!("goes on and lists {them} as not its own"),
        Strategy::AutoIntegrate => format!("first records {them} as a step by `external`"),
    };
    let what = match open_calls {
        0 => format!("`backsight track` records {them} as your step; a tool call that begins now {becomes}"),
        1 => format!("when the tool call finishes, it {becomes}"),
        _ => format!("the last tool call to finish {becomes}"),
    };
    format!("{what} (strategy {strategy})")
}

/// What the scan did not cover, and what the snapshot did not.
fn uncovered(page: &mut Page, status: &WorkspaceStatus) {
    coverage::warn_of_rules(page, &status.coverage);
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
    if let Some(Call { id, .. }) = status.open_calls.first() {
        page.hint(format_args!("when a call is done, record it with `backsight finish {id} -m \"what it did\"`"));
        page.hint(format_args!("when it died, give it up with `backsight abandon {id}`: the files stay as they are"));
    }
    if !status.changes.is_empty() {
        let record = if status.open_calls.is_empty() { ", record them with `backsight track`" } else { "" };
        page.hint(format_args!("see the changes with `backsight diff @`{record}"));
    } else if status.redoable > 0 {
        page.hint(format_args!("{} can be redone with `backsight redo`", count(status.redoable, "step")));
    } else if status.undoable > 0 {
        page.hint("take the newest step back with `backsight undo`");
    }
}
