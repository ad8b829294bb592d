//! `backsight milestone`: gapless ranges of snapshots with a name, and their way into a Git repository.

use std::ffi::OsString;

use backsight::report::MilestoneDetail;
use backsight::request::{Behalf, BinaryFiles, CreateMilestone, ExportTerms, ListMilestones, ReadMilestone};
use backsight_core::Result;
use clap::Subcommand;
use serde_json::json;

use crate::arguments::examples_then_references;
use crate::commands::Verdict;
use crate::context::Context;
use crate::render::milestone as view;

/// Give a range of steps a name, look at it as one, hand it to Git
///
/// Milestones follow each other without gap or overlap. A milestone's name is a REF: `restore NAME` goes to its end,
/// `revert NAME` undoes all of it.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight milestone create \"Login works\" --tag feature
  backsight milestone show \"Login works\" --diff
  backsight milestone export-git \"Login works\" --repo . --branch agent/login
  backsight revert \"Login works\" --dry-run")]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Create(Create),
    List(List),
    Show(Show),
    ExportGit(Export),
}

/// Make a milestone of everything since the last one, or of the snapshots named
#[derive(clap::Args, Debug)]
#[command(after_long_help = examples_then_references!("\
Examples:
  backsight milestone create \"Phase 1\"                     all since the last milestone
  backsight milestone create \"Phase 1\" --end 12 -m \"as planned\"
  backsight milestone create \"Phase 1\" --snapshots 1 2 3"))]
struct Create {
    /// Its name
    #[arg(value_name = "TITLE")]
    title: String,
    /// What it is about
    #[arg(short = 'm', long = "description", value_name = "TEXT", default_value = "", hide_default_value = true)]
    description: String,
    /// A word to find it by (repeatable)
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Exactly these snapshots, which must follow each other and the last milestone
    #[arg(long, value_name = "REF", num_args = 1.., conflicts_with = "end")]
    snapshots: Vec<String>,
    /// Up to this snapshot instead of the latest
    #[arg(long, value_name = "REF")]
    end: Option<String>,
}

/// List the milestones, newest first
#[derive(clap::Args, Debug)]
struct List {}

/// Show one milestone: its steps, its files and, on demand, one diff over all of it
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight milestone show \"Login works\"
  backsight milestone show \"Login works\" --diff | git apply --stat")]
struct Show {
    /// Its name, its id or the number of its row
    #[arg(value_name = "REF")]
    reference: String,
    /// Show one unified diff over the whole range instead
    #[arg(long)]
    diff: bool,
}

/// Write a milestone or a range as commits on a new branch of a Git repository
///
/// The repository gains the commits and the branch. HEAD, the index, the work tree and every other branch stay as they
/// are, and no hook runs. Where the workspace lies in the repository, its files lie in the commits, and the branch
/// continues HEAD; elsewhere it starts with the files before the range. What a snapshot could not see (ignored, too large,
/// unreadable, a submodule, left out by a sparse checkout) stays as the commit before has it, and is counted. The commits hold
/// what `git add` would have stored: line endings and `$Id$` are converted as attributes and configuration say. No filter is
/// run: what Git LFS, git-crypt or an encoding would convert stays as the commit before has it, and is named.
#[derive(clap::Args, Debug)]
#[command(after_long_help = examples_then_references!("\
Examples:
  backsight milestone export-git \"Login works\" --repo . --branch agent/login
  backsight milestone export-git 3..7 --repo ../review --branch steps --dry-run
  backsight milestone export-git \"Login works\" --repo . --branch login --squash"))]
struct Export {
    /// A milestone, a snapshot, or a range of snapshots such as 3..7
    #[arg(value_name = "REF")]
    range: String,
    /// The repository: a work tree, its `.git`, or a bare one
    #[arg(long, value_name = "DIR")]
    repo: OsString,
    /// The branch to make; it must not exist
    #[arg(long, value_name = "NAME")]
    branch: String,
    /// The branch, tag or commit to continue
    #[arg(long, value_name = "REV")]
    onto: Option<String>,
    /// One commit for all of it
    #[arg(long)]
    squash: bool,
    /// Say what would be written and write nothing
    #[arg(long)]
    dry_run: bool,
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    match &args.action {
        Action::Create(args) => create(args, context)?,
        Action::List(_) => list(context)?,
        Action::Show(args) => show(args, context)?,
        Action::ExportGit(args) => export(args, context)?,
    }
    Ok(Verdict::Done)
}

fn create(args: &Create, context: &Context) -> Result<()> {
    let milestone = context.workspace()?.perform(CreateMilestone {
        title: args.title.clone(),
        description: args.description.clone(),
        tags: args.tags.clone(),
        snapshots: args.snapshots.clone(),
        end: args.end.clone(),
        who: Behalf::default(),
    })?;
    context.answer(&milestone, |page| view::created(page, &milestone))
}

fn list(context: &Context) -> Result<()> {
    let listed = context.workspace()?.perform(ListMilestones {})?;
    context.answer(&listed, |page| view::list(page, &listed.milestones, context.now))
}

fn show(args: &Show, context: &Context) -> Result<()> {
    let workspace = context.workspace()?;
    // Into a pipe goes what `git apply` reads.
    if args.diff && !context.screen.is_json() && context.screen.binary_files() == BinaryFiles::Whole {
        let patch = workspace.milestone_patch(&args.reference)?;
        return context.answer(&json!({}), |page| view::patch(page, &patch));
    }
    let detail = workspace.perform(ReadMilestone { reference: args.reference.clone(), diff: args.diff })?;
    let all = workspace.milestones()?;
    let readable = MilestoneDetail { snapshots: context.readable(&workspace, &detail.snapshots)?, ..detail.clone() };
    context.answer(&detail, |page| view::show(page, &readable, &all, context.now))
}

fn export(args: &Export, context: &Context) -> Result<()> {
    let terms = ExportTerms {
        range: args.range.clone(),
        branch: args.branch.clone(),
        onto: args.onto.clone(),
        squash: args.squash,
        dry_run: args.dry_run,
    };
    terms.check()?;
    // A person may name any repository of theirs.
    let repository = context.start().join(&args.repo);
    let exported = context.workspace()?.export_git(&terms.export(repository, false))?;
    context.answer(&exported, |page| view::exported(page, &exported, args.squash))
}
