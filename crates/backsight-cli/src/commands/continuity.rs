//! `backsight continuity`: where the timeline stands, whether it and the disk are whole, starting over with a reason.

use backsight::report::{ChainProblem, CurrentState, Reset, SyncReport};
use backsight::request::{Behalf, ReadContinuity, ResetContinuity, ValidateContinuity};
use backsight_core::{Code, Result, Seq};
use clap::Subcommand;

use crate::commands::Verdict;
use crate::context::Context;
use crate::page::{GREEN, Page, RED, Sheet, YELLOW};
use crate::render::{snapshot, unknown};
use crate::words::{age, count, count_of, enumerate, join, safe};

/// Say where the timeline stands and whether it is whole
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight continuity state
  backsight continuity validate
  backsight continuity reset --reason \"restored from a backup\"")]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Show where the timeline stands, without looking at the files
    State,
    /// Check every row and milestone, and compare the files with the latest snapshot; exit 1 when something is wrong
    ///
    /// Each problem has a code, what was expected, what is there, and what to do next.
    Validate,
    /// Take the files and the timeline as they are and go on from there
    ///
    /// The last resort. What differs on disk is recorded, open tool calls are given up, and problems of the timeline
    /// are taken note of; all of it is one row with the reason. Nothing is removed, and what is altered later is found
    /// again.
    Reset {
        /// Why; it is kept in the timeline
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let workspace = context.workspace()?;
    match &args.action {
        Action::State => {
            let state = workspace.perform(ReadContinuity {})?;
            context.answer(&state, |page| show_state(page, &state, context))?;
            Ok(Verdict::Done)
        }
        Action::Validate => {
            let report = workspace.perform(ValidateContinuity {})?;
            context.answer(&report, |page| show_report(page, &report))?;
            Ok(Verdict::no_if(!report.in_sync))
        }
        Action::Reset { reason } => {
            let reset = workspace.perform(ResetContinuity { reason: reason.clone(), who: Behalf::default() })?;
            context.answer(&reset, |page| show_reset(page, &reset))?;
            Ok(Verdict::Done)
        }
    }
}

fn row(sheet: &mut Sheet, label: &str, value: String) {
    let label = sheet.dim(format_args!("{label:<9}"));
    sheet.line(format_args!("{label} {value}"));
}

fn show_state(page: &mut Page, state: &CurrentState, context: &Context) {
    let sheet = &mut page.data;
    let Some(latest) = &state.snapshot else {
        sheet.line("Nothing is recorded yet");
        return page.hint("record the first snapshot with `backsight track -m \"start\"`");
    };
    let since = sheet.dim(format_args!("({})", age(latest.timestamp, context.now)));
    let latest = join(&[&snapshot::name(sheet, latest), &snapshot::title(latest), &since]);
    row(sheet, "latest", latest);
    let others = state.rows.saturating_sub(state.snapshots);
    let others = if others > 0 { format!(" and {}", count(others, "event")) } else { String::new() };
    let row_of = format!("{}: {}{others}", count(state.rows, "row"), count(state.snapshots, "snapshot"));
    row(sheet, "timeline", row_of);
    row(sheet, "chain", state.chain_head.clone());
    let milestone = state.milestone.as_ref().map(|last| {
        let (start, end) = (last.start_sequence_number, last.end_sequence_number);
        format!("{} {}", sheet.bold(safe(&last.title)), sheet.dim(format_args!("({start} to {end})")))
    });
    row(sheet, "milestone", milestone.unwrap_or_else(|| "none yet".to_owned()));
    let next = match state.next_milestone_start {
        Some(start) => format!("the next milestone starts at {start}"),
        None => "nothing was recorded since".to_owned(),
    };
    row(sheet, "", next);
    let calls: Vec<String> = state.open_calls.iter().map(|call| call.id.to_string()).collect();
    if !calls.is_empty() {
        row(sheet, "calls", format!("{} not finished: {}", count_of(&calls, "tool call"), enumerate(&calls)));
    }
    row(sheet, "unknown", format!("the strategy is {}", state.strategy));
}

fn show_report(page: &mut Page, report: &SyncReport) {
    let mut open: Vec<&ChainProblem> = report.problems.iter().filter(|found| found.acknowledged_by.is_none()).collect();
    open.sort_by_key(|problem| problem.sequence_number);
    for problem in &open {
        show_problem(&mut page.data, problem);
    }
    show_disk(page, report);
    if report.in_sync {
        let verdict = page.data.paint(GREEN.bold(), "In sync");
        let disk = match report.unknown.compared_with {
            Some(last) if report.unknown.coverage.complete => format!(", and the files are those of {last}"),
            Some(last) => format!(", and what could be seen of the files is as in {last}"),
            None => ", and nothing is recorded yet".to_owned(),
        };
        page.data.line(format_args!("{verdict}: {} checked{disk}", count(report.rows_checked, "row")));
    } else {
        let verdict = page.data.paint(RED.bold(), "Not in sync");
        let parts = [
            (open.len(), "problem of the timeline", "problems of the timeline"),
            (report.unknown.unknown_changes.len(), "unknown change", "unknown changes"),
            (report.unknown.unseen.len(), "path that could not be compared", "paths that could not be compared"),
            (report.unknown.pending.len(), "change of an open tool call", "changes of open tool calls"),
        ];
        let parts: Vec<String> = parts
            .into_iter()
            .filter(|(number, ..)| *number > 0)
            .map(|(number, one, many)| format!("{number} {}", if number == 1 { one } else { many }))
            .collect();
        let rows = count(report.rows_checked, "row");
        page.data.line(format_args!("{verdict}: {rows} checked, {}", enumerate(&parts)));
    }
    if !report.chain_head.is_empty() {
        let chain = page.data.dim(format_args!("chain {}", report.chain_head));
        page.data.line(chain);
    }
    acknowledged(page, &report.problems);
    unknown::left_out(page, &report.unknown);
    advise(page, report, &open);
}

/// One problem: where, which kind, what it is, what should be there and what is.
fn show_problem(sheet: &mut Sheet, problem: &ChainProblem) {
    let number = sheet.paint(YELLOW, problem.sequence_number);
    let code = sheet.paint(RED.bold(), problem.code);
    sheet.line(format_args!("{number} {code}: {}", safe(&problem.message)));
    let facts = [("expected", &problem.expected), ("actual", &problem.actual)];
    let has_facts = facts.iter().any(|(_, value)| value.is_some());
    for (label, value) in facts.into_iter().filter(|_| has_facts) {
        let label = sheet.dim(format_args!("{label:<8}"));
        sheet.line(format_args!("  {label}  {}", safe(value.as_deref().unwrap_or("nothing"))));
    }
    let label = sheet.dim("next    ");
    sheet.line(format_args!("  {label}  {}", next_step(problem)));
    sheet.line("");
}

/// What a person can do about one problem.
fn next_step(problem: &ChainProblem) -> String {
    let at = problem.sequence_number;
    match problem.code {
        Code::SequenceDiscontinuity => "see which snapshots are hurt with `backsight verify`".to_owned(),
        Code::BrokenParent => format!("compare the steps around it: `backsight log --cursor before-{}`", at.0 + 1),
        Code::MilestoneGap | Code::MilestoneOverlap | Code::InvalidRange => {
            "look at the milestones with `backsight milestone list`".to_owned()
        }
        _ => "check the store with `backsight verify`".to_owned(),
    }
}

fn show_disk(page: &mut Page, report: &SyncReport) {
    let (Some(last), true) = (report.unknown.compared_with, report.unknown.has_unknown_changes) else { return };
    let code = page.data.paint(RED.bold(), Code::StateMismatch);
    let number = page.data.paint(YELLOW, last);
    let changes = &report.unknown.unknown_changes;
    let differ = if changes.len() == 1 { "differs" } else { "differ" };
    let files = count_of(changes, "path");
    page.data.line(format_args!("{number} {code}: {files} on disk {differ} from what was last recorded"));
    unknown::list(&mut page.data, &report.unknown.unknown_changes);
    let label = page.data.dim("next    ");
    page.data.line(format_args!("  {label}  record them with `backsight unknown handle integrate`"));
    page.data.line("");
}

/// Problems that a reset took note of are no problems any more, but they are not hidden either.
fn acknowledged(page: &mut Page, problems: &[ChainProblem]) {
    let mut resets: Vec<Seq> = problems.iter().filter_map(|problem| problem.acknowledged_by).collect();
    let known = resets.len() as u64;
    resets.sort();
    resets.dedup();
    if known > 0 {
        page.note(format_args!(
            "{} acknowledged by the reset in {}",
            count(known, "older problem"),
            enumerate(&resets)
        ));
    }
}

fn advise(page: &mut Page, report: &SyncReport, open: &[&ChainProblem]) {
    if !open.is_empty() {
        page.hint("restore `.backsight/store` from a backup, or take note of it and go on: `backsight continuity reset --reason TEXT`");
    } else if report.unknown.has_unknown_changes {
        page.hint("see the changes with `backsight unknown detect --diff`");
    }
}

fn show_reset(page: &mut Page, reset: &Reset) {
    let number = page.data.paint(YELLOW, reset.event.sequence_number);
    let reason = page.data.bold(safe(&reset.event.description));
    page.data.line(format_args!("{number} continuity reset: {reason}"));
    if let Some(integrated) = reset.integrated {
        page.data.line(format_args!("  what differed on disk is recorded as {integrated}, by external"));
    }
    for ChainProblem { code, sequence_number, message, .. } in &reset.acknowledged {
        page.data.line(format_args!("  took note of {sequence_number} {code}: {}", safe(message)));
    }
    for call in &reset.closed_calls {
        page.data.line(format_args!("  gave up tool call {}", call.id));
    }
    page.hint("check with `backsight continuity validate`");
}
