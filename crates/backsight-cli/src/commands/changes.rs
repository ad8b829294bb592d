//! `backsight changes`: what happened in the app since the last look.

use backsight::Topic;
use backsight::browser::Filter;
use backsight::browser::report::Severity;
use backsight::browser::request::{AppQuestion, LONGEST_WAIT_MS};
use backsight::report::AllChanges;
use backsight::request::ReadChanges;
use backsight_core::{Code, Error, Result};
use clap::ValueEnum;

use crate::commands::Verdict;
use crate::context::Context;
use crate::lane::Lane;
use crate::parse;
use crate::render::app;

/// How long nothing must happen, when nobody says.
const QUIET: u64 = 500;

/// Show what happened in the app since the last look
///
/// Errors, failed requests, disconnections: console, network, WebSockets and user actions of the pages that are watched
/// (`backsight browser`), and what processes say (`backsight run`). Each client has its own place: what was told is not
/// told again. A named checkpoint, a time, `start`, `load` and `last` can be asked about as often as one likes. "clean"
/// is only said of times that were watched.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight changes                         since you last asked
  backsight changes --since session_start   since a checkpoint
  backsight changes --since 10min --severity errors-only
  backsight changes --wait 10 --exit-code   after a change: wait for its effect, then exit 1 if anything is wrong
  backsight changes --follow                as it happens, until Ctrl-C")]
pub struct Args {
    /// A checkpoint, a time (10min, 2026-08-01 14:00), `start`, `load` (of the page) or `last` (what was told last)
    #[arg(long, value_name = "SINCE", value_parser = since)]
    since: Option<String>,
    /// Only these: console, network, websocket, actions, files, debug
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_parser = app::topic)]
    include: Vec<Topic>,
    /// What to leave out: all (nothing), warnings (what is no warning or error), errors-only
    #[arg(long, value_name = "WHICH", value_enum, default_value_t = Which::All, hide_possible_values = true)]
    severity: Which,
    /// Leave the client's place where it is
    #[arg(long)]
    peek: bool,
    /// Wait so long at most: until the first error, or until something happened and it is quiet
    // Checked here too, in the words of this interface: the request counts in milliseconds.
    #[arg(long = "wait", id = "wait", value_name = "SECONDS")]
    #[arg(value_parser = clap::value_parser!(u64).range(..=LONGEST_WAIT_MS / 1000))]
    wait: Option<u64>,
    /// How long nothing must happen for it to be quiet, with --wait
    #[arg(long, value_name = "MS", default_value_t = QUIET, value_parser = clap::value_parser!(u64).range(..=LONGEST_WAIT_MS))]
    quiet: u64,
    /// Exit 1 unless all that was asked for is clean
    #[arg(long)]
    exit_code: bool,
    /// Whose place it is
    #[arg(long, value_name = "NAME", default_value = "cli")]
    client: String,
    /// Go on and show each change as it comes
    #[arg(long, conflicts_with_all = ["since", "peek", "exit_code", "wait"])]
    follow: bool,
}

/// What to leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Which {
    /// Nothing
    All,
    /// What is no warning and no error
    Warnings,
    /// What is no error
    #[value(alias = "errors_only", alias = "errors")]
    ErrorsOnly,
}

impl Which {
    fn filter(self) -> Filter {
        match self {
            Which::All => Filter::All,
            Which::Warnings => Filter::Warnings,
            Which::ErrorsOnly => Filter::ErrorsOnly,
        }
    }

    /// Whether an answer of this severity is "no" to who asked "is it clean?".
    fn is_no(self, severity: Severity) -> bool {
        match severity {
            Severity::Clean => false,
            Severity::Warning => self != Which::ErrorsOnly,
            Severity::Error | Severity::Unknown => true,
        }
    }
}

/// A checkpoint as it is typed; names begin with a letter, so what begins with a digit is a time.
pub fn since(text: &str) -> Result<String, String> {
    match text.starts_with(|first: char| first.is_ascii_digit()) {
        true => parse::time_now(text).map(|time| time.to_string()),
        false => Ok(text.to_owned()),
    }
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let lane = Lane::find(context)?;
    if args.follow {
        return follow(args, context, &lane);
    }
    let changes = ask(args, &lane, args.wait)?;
    context.answer(&changes, |page| {
        app::changes(page, &changes);
        app::advise(page, changes.app.coverage.attached, lane.is_served());
    })?;
    Ok(Verdict::no_if(args.exit_code && args.severity.is_no(changes.app.severity)))
}

/// Shows what comes, until somebody ends it.
fn follow(args: &Args, context: &Context, lane: &Lane) -> Result<Verdict> {
    lane.server("following what happens")?;
    if context.screen.is_json() {
        return Err(Error::new(Code::Usage, "`--follow` goes on for ever, and `--json` prints one object")
            .with_hint("ask again and again with `backsight changes --json --wait 60`"));
    }
    loop {
        let changes = ask(args, lane, Some(60))?;
        if has_news(&changes) {
            context.screen.print(|page| {
                app::changes(page, &changes);
                page.data.line("");
            })?;
        }
    }
}

fn has_news(changes: &AllChanges) -> bool {
    let app = &changes.app;
    let (console, network) = (app.console.as_ref(), app.network.as_ref());
    let (websocket, actions) = (app.websocket.as_ref(), app.actions.as_ref());
    matches!(app.severity, Severity::Error | Severity::Warning)
        || changes.files.is_some()
        || changes.debug.is_some()
        || console.is_some_and(|console| !console.errors.is_empty() || !console.warnings.is_empty())
        || network.is_some_and(|network| !network.recovered.is_empty() || !network.new_endpoints.is_empty())
        || websocket.is_some_and(|websocket| !websocket.connections.is_empty())
        || actions.is_some_and(|actions| !actions.actions.is_empty())
}

fn ask(args: &Args, lane: &Lane, wait: Option<u64>) -> Result<AllChanges> {
    let mut question = AppQuestion {
        client: Some(args.client.clone()),
        checkpoint: args.since.clone(),
        severity: args.severity.filter(),
        peek: args.peek,
        wait_ms: wait.map(|seconds| seconds.saturating_mul(1000)),
        quiet_ms: Some(args.quiet),
        max_tokens: None,
    };
    question.check()?;
    // Without a server nothing can happen, so there is nothing to wait for.
    question.wait_ms = question.wait_ms.filter(|_| lane.is_served());
    lane.perform(ReadChanges { question, include: args.include.clone() })
}
