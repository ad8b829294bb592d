//! `backsight unknown`: changes that nobody recorded: find them, ask whether to go on, do something about them.

use backsight::report::{HandleResult, Strategy, UnknownChangeResult, ValidationResult};
use backsight::request::{CheckUnknown, DetectUnknown, HandleUnknown, PathText, UnknownPolicy};
use backsight_core::{Result, Seq};
use clap::Subcommand;

use crate::arguments::{Paths, UnknownChanges, strategy_parser};
use crate::commands::Verdict;
use crate::context::Context;
use crate::page::{GREEN, Page, RED};
use crate::render::{unified, unknown};
use crate::words::{count_of, enumerate, safe};

/// Find changes that nobody recorded, and handle them
///
/// A change is unknown when a file differs from what was last recorded and no open tool call can have written it.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight unknown detect --diff            what somebody else changed
  backsight unknown check -- src/a.rs        may a tool write this file?
  backsight unknown handle integrate         record it as a step by `external`")]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Detect(Detect),
    Check(Check),
    Handle(Handle),
}

/// List what differs from the latest snapshot and was recorded by nobody
///
/// One line a path: a letter, the path, the content expected and the content found.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Letters: A created, M modified, D deleted

Examples:
  backsight unknown detect
  backsight unknown detect --diff -- src
  backsight unknown detect --exit-code    exit 1 when there is any")]
struct Detect {
    /// Show what changed as unified diffs
    #[arg(long)]
    diff: bool,
    /// Exit with status 1 when there is any
    #[arg(long)]
    exit_code: bool,
    #[command(flatten)]
    only: Paths,
}

/// Ask whether a tool may write these files now; exit 1 when not
///
/// With the strategy `strict` the answer is no while anything is unknown. Nothing is recorded, unless --handle says so.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight unknown check --strategy strict -- src/a.rs
  backsight unknown check --strategy auto-integrate --handle")]
struct Check {
    #[command(flatten)]
    unknown: UnknownChanges,
    /// Do what the strategy says right away
    #[arg(long)]
    handle: bool,
    #[command(flatten)]
    only: Paths,
}

/// Refuse, list or record what is unknown
///
/// Without a strategy the setting `unknown_change_strategy` decides. `reject` and `integrate` are other words for
/// `strict` and `auto-integrate`.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight unknown handle                     as the setting says
  backsight unknown handle integrate -- docs   record what changed below docs")]
struct Handle {
    /// What to do
    #[arg(value_name = "HOW", value_parser = strategy_parser())]
    strategy: Option<Strategy>,
    /// Go on whatever the strategy: what is unknown is listed
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    only: Paths,
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    match &args.action {
        Action::Detect(args) => detect(args, context),
        Action::Check(args) => check(args, context),
        Action::Handle(args) => handle(args, context),
    }
}

fn detect(args: &Detect, context: &Context) -> Result<Verdict> {
    let workspace = context.workspace()?;
    let paths = context.paths(&workspace, &args.only.paths)?.iter().map(PathText::from).collect();
    let found = workspace.perform(DetectUnknown { paths })?;
    context.answer(&found, |page| detected(page, &found, args.diff))?;
    // What could not be compared is not known to be unchanged.
    Ok(Verdict::no_if(args.exit_code && (found.has_unknown_changes || !found.unseen.is_empty())))
}

fn detected(page: &mut Page, found: &UnknownChangeResult, with_diff: bool) {
    let Some(last) = found.compared_with else {
        page.data.line("No snapshot yet, so nothing can be unknown");
        return page.hint("record the first snapshot with `backsight track -m \"start\"`");
    };
    let seen = if found.coverage.complete && found.unseen.is_empty() { "" } else { " in what could be seen" };
    if with_diff {
        for change in &found.unknown_changes {
            match &change.diff {
                Some(diff) => unified::show(&mut page.data, diff.as_bytes()),
                None => page.note(format_args!("{}: a directory, which this format cannot show", change.file_path)),
            }
        }
    } else if found.has_unknown_changes {
        let changes = count_of(&found.unknown_changes, "unknown change");
        let heading = page.data.bold(format_args!("{changes} since {last}{seen}"));
        page.data.line(heading);
        unknown::list(&mut page.data, &found.unknown_changes);
    } else {
        page.data.line(format_args!("Nothing unknown since {last}{seen}"));
    }
    unknown::left_out(page, found);
    match (found.has_unknown_changes, with_diff) {
        (true, false) => page.hint(
            "see them with `backsight unknown detect --diff`, record them with `backsight unknown handle integrate`",
        ),
        (false, true) => page.note(format_args!("nothing unknown since {last}{seen}")),
        _ => {}
    }
}

fn check(args: &Check, context: &Context) -> Result<Verdict> {
    let workspace = context.workspace()?;
    let paths = context.paths(&workspace, &args.only.paths)?.iter().map(PathText::from).collect();
    let checked = workspace.perform(CheckUnknown { paths, policy: args.unknown.policy(), handle: args.handle })?;
    context.answer(&checked, |page| validated(page, &checked))?;
    Ok(Verdict::no_if(!checked.success))
}

fn validated(page: &mut Page, checked: &ValidationResult) {
    let answer = if checked.success { page.data.paint(GREEN.bold(), "Yes") } else { page.data.paint(RED.bold(), "No") };
    let found = match checked.unknown_changes.as_slice() {
        [] if checked.unseen.is_empty() && checked.warnings.is_empty() => "nothing unknown was found".to_owned(),
        [] if checked.unseen.is_empty() => "nothing unknown was found in what can be told".to_owned(),
        [] => format!("{} cannot be looked at", count_of(&checked.unseen, "path")),
        changes => format!("{}, and the strategy is {}", count_of(changes, "unknown change"), checked.strategy),
    };
    page.data.line(format_args!("{answer}: {found}"));
    unknown::list(&mut page.data, &checked.unknown_changes);
    if let Some(handled) = &checked.handled {
        page.data.line(safe(&handled.message));
    }
    for warning in &checked.warnings {
        page.warning(safe(warning));
    }
    if !checked.success && checked.unknown_changes.is_empty() {
        page.hint("see what is the matter with `backsight status`, or go on once with `--force`");
    } else if !checked.success {
        page.hint("look with `backsight unknown detect --diff`, record them with `backsight unknown handle integrate`, or go on once with `--force`");
    }
}

fn handle(args: &Handle, context: &Context) -> Result<Verdict> {
    let workspace = context.workspace()?;
    let paths = context.paths(&workspace, &args.only.paths)?.iter().map(PathText::from).collect();
    let policy = UnknownPolicy { strategy: args.strategy, force: args.force };
    let handled = workspace.perform(HandleUnknown { paths, policy })?;
    context.answer(&handled, |page| show_handled(page, &handled))?;
    Ok(Verdict::Done)
}

fn show_handled(page: &mut Page, handled: &HandleResult) {
    page.data.line(format_args!("{}: {}", page.data.bold(handled.strategy), safe(&handled.message)));
    if !handled.modified_files.is_empty() {
        page.data.line(format_args!("  {}", enumerate(&handled.modified_files)));
    }
    if let Some(Seq(number)) = handled.compensating_sequence_number {
        page.hint(format_args!("see it with `backsight show {number}`, take it back with `backsight revert {number}`"));
    }
}
