//! `backsight session`: agent conversations: started, tracked around their messages, compared, taken back and forth.

use std::ffi::OsString;

use backsight::report::{FileLineCounts, Phase};
use backsight::request::{
    BinaryFiles, CompareSession, ListConversations, PathText, ReadSession, RevertMessages, StartSession, TrackMessage,
    UnrevertMessages,
};
use backsight_core::Result;
use clap::Subcommand;
use serde_json::json;

use crate::arguments::{Going, Paths, UnknownChanges};
use crate::commands::Verdict;
use crate::commands::diff;
use crate::context::Context;
use crate::render::{applied, session as view};

/// Follow agent conversations, and take one back to before a message
///
/// A session has messages, a message may have parts. What a message changed is told from what the user and other
/// sessions changed, so taking it back leaves theirs alone.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight session start s1 --title \"Fix the parser\"
  backsight session track s1 --message m1 --before
  ... the agent writes files ...
  backsight session track s1 --message m1 --after
  backsight session revert s1 --message m1 --dry-run
  backsight session unrevert s1

An ID is a whole id or, from four characters on, the beginning of one.")]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Start(Start),
    List(List),
    Show(Show),
    Track(Track),
    Diff(Diff),
    Revert(Revert),
    Unrevert(Forth),
}

/// Start a session, with a snapshot of what is there
///
/// Prints the session's id, and nothing else, on stdout. A session that exists stays as it is; a new title is taken.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight session start s1 --title \"Fix the parser\"
  id=$(backsight session start)")]
struct Start {
    /// Its id; a random one when left out
    #[arg(value_name = "ID")]
    id: Option<String>,
    /// What to call it
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
}

/// List the sessions, the latest first
///
/// In columns: id, when it last did something, client, what it did, and the first words of its first prompt. Sessions
/// that nobody started and that only `--session` of `track`, `begin` or `call` names are among them.
#[derive(clap::Args, Debug)]
struct List {
    /// At most this many; 0 means all
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    limit: u32,
}

/// Show one session: its messages, their steps, and where it is reverted to
#[derive(clap::Args, Debug)]
struct Show {
    /// Which session
    #[arg(value_name = "ID")]
    id: String,
}

/// Record what a message does: --before it begins, and --after it ended
///
/// What changed until --before is not the message's, what changed since is. Without either, everything that nobody
/// recorded yet is the message's. Saying the same twice changes nothing.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight session track s1 --message m1 --before
  backsight session track s1 --message m1 --after -m \"rename the parser\"
  backsight session track s1 --message m1 --part p2 --tool edit --declare src/a.rs")]
struct Track {
    /// Which session
    #[arg(value_name = "ID")]
    id: String,
    /// The message
    #[arg(long, value_name = "ID")]
    message: Option<String>,
    /// The part of the message
    #[arg(long, value_name = "ID", requires = "message")]
    part: Option<String>,
    /// The message's work begins now
    #[arg(long, requires = "message", conflicts_with = "after")]
    before: bool,
    /// The message's work has ended
    #[arg(long, requires = "message")]
    after: bool,
    /// The tool that makes the change
    #[arg(long)]
    tool: Option<String>,
    /// What was done
    #[arg(short = 'm', long = "description", value_name = "TEXT", default_value = "", hide_default_value = true)]
    description: String,
    /// A path the message writes (repeatable): what else changed is not its own
    #[arg(long, value_name = "PATH")]
    declare: Vec<OsString>,
    #[command(flatten)]
    unknown: UnknownChanges,
}

/// Show what a session itself changed, and what is in effect of it
///
/// Others' changes are not in it, also where they were made in the same files. Where both wrote the same lines they
/// cannot be told apart, and the file is named.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight session diff s1 --stat
  backsight session diff s1 --message m2 -- src")]
struct Diff {
    /// Which session
    #[arg(value_name = "ID")]
    id: String,
    /// Only this message
    #[arg(long, value_name = "ID")]
    message: Option<String>,
    #[command(flatten)]
    only: Paths,
    /// Count added and removed lines instead of showing them
    #[arg(long)]
    stat: bool,
    /// Exit with status 1 when there is any change
    #[arg(long)]
    exit_code: bool,
    /// Lines of context around each change
    #[arg(short = 'U', long = "unified", value_name = "N", default_value_t = 3)]
    context: u16,
    /// Leave out the text of files larger than this, and say so
    #[arg(long, value_name = "SIZE", default_value = "8MB", value_parser = backsight::parse_size)]
    max_file_bytes: u64,
}

/// Take a session back to before a message, or before a part of it
///
/// That message and everything later of the session is undone; what the user and other sessions wrote stays. A second
/// revert counts from the state before the first. `unrevert` takes all of it back, until the session makes a new step.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight session revert s1 --message m2 --dry-run
  backsight session revert s1 --message m2 --part p1")]
struct Revert {
    /// Which session
    #[arg(value_name = "ID")]
    id: String,
    /// The first message to undo
    #[arg(long, value_name = "ID")]
    message: String,
    /// The first part of it to undo
    #[arg(long, value_name = "ID")]
    part: Option<String>,
    #[command(flatten)]
    going: Going,
}

/// Take a session's reverts back: the files are as before the first of them
///
/// What others wrote since stays. A new step of the session after the revert closes the way back.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight session unrevert s1 --dry-run
  backsight session unrevert s1")]
struct Forth {
    /// Which session
    #[arg(value_name = "ID")]
    id: String,
    #[command(flatten)]
    going: Going,
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    match &args.action {
        Action::Start(args) => start(args, context)?,
        Action::List(args) => list(args, context)?,
        Action::Show(args) => show(args, context)?,
        Action::Track(args) => track(args, context)?,
        Action::Diff(args) => return changes(args, context),
        Action::Revert(args) => return revert(args, context),
        Action::Unrevert(args) => return unrevert(args, context),
    }
    Ok(Verdict::Done)
}

fn start(args: &Start, context: &Context) -> Result<()> {
    let new = StartSession { id: args.id.clone(), title: args.title.clone() };
    let started = context.workspace()?.perform(new)?;
    // Its id goes to stdout as it is: a script keeps it.
    context.answer(&started, |page| view::started(page, &started))
}

fn list(args: &List, context: &Context) -> Result<()> {
    let workspace = context.workspace()?;
    let listed = workspace.perform(ListConversations { limit: Some(args.limit) })?;
    let readable = context.readable(&workspace, &listed.sessions)?;
    context.answer(&listed, |page| view::list(page, &readable, listed.has_more, context.now))
}

fn show(args: &Show, context: &Context) -> Result<()> {
    let workspace = context.workspace()?;
    let detail = workspace.perform(ReadSession { id: args.id.clone() })?;
    let readable = context.readable(&workspace, &detail)?;
    context.answer(&detail, |page| view::show(page, &readable, context.now))
}

fn track(args: &Track, context: &Context) -> Result<()> {
    let workspace = context.workspace()?;
    let request = TrackMessage {
        id: args.id.clone(),
        message: args.message.clone(),
        part: args.part.clone(),
        phase: match (args.before, args.after) {
            (true, _) => Phase::Before,
            (_, true) => Phase::After,
            _ => Phase::None,
        },
        tool: args.tool.clone(),
        description: args.description.clone(),
        declare: context.paths_from_here(&workspace, &args.declare)?.iter().map(PathText::from).collect(),
        policy: args.unknown.policy(),
    };
    let tracked = workspace.perform(request)?;
    let readable = context.readable(&workspace, &tracked)?;
    context.answer(&tracked, |page| view::tracked(page, &readable))
}

fn changes(args: &Diff, context: &Context) -> Result<Verdict> {
    let workspace = context.workspace()?;
    let request = CompareSession {
        id: args.id.clone(),
        message: args.message.clone(),
        paths: context.paths(&workspace, &args.only.paths)?.iter().map(PathText::from).collect(),
        max_file_bytes: Some(args.max_file_bytes),
        context: Some(args.context),
        binary: context.screen.binary_files() == BinaryFiles::Whole,
    };
    let report = workspace.perform(request)?;
    let total = (report.additions, report.deletions);
    if args.stat {
        let files: Vec<FileLineCounts> = report.diffs.iter().map(FileLineCounts::of).collect();
        let counts = json!({
            "session": report.session, "message": report.message, "diffs": files,
            "additions": report.additions, "deletions": report.deletions, "mixed": report.mixed,
        });
        context.answer(&counts, |page| {
            diff::stat(page, &report.diffs, total);
            view::after_diff(page, &report);
        })?;
    } else {
        context.answer(&report, |page| {
            diff::show(page, &report.diffs);
            view::after_diff(page, &report);
        })?;
    }
    Ok(Verdict::no_if(args.exit_code && !report.diffs.is_empty()))
}

fn revert(args: &Revert, context: &Context) -> Result<Verdict> {
    let request = RevertMessages {
        id: args.id.clone(),
        message: args.message.clone(),
        part: args.part.clone(),
        terms: args.going.session_terms(),
    };
    let workspace = context.workspace()?;
    let reverted = workspace.perform(request)?;
    let readable = context.readable(&workspace, &reverted)?;
    context.answer(&reverted, |page| view::reverted(page, &readable))?;
    Ok(applied::verdict(&reverted.applied))
}

fn unrevert(args: &Forth, context: &Context) -> Result<Verdict> {
    let workspace = context.workspace()?;
    let request = UnrevertMessages { id: args.id.clone(), terms: args.going.session_terms() };
    let unreverted = workspace.perform(request)?;
    let readable = context.readable(&workspace, &unreverted)?;
    context.answer(&unreverted, |page| view::unreverted(page, &readable))?;
    Ok(applied::verdict(&unreverted.applied))
}
