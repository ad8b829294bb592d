//! `backsight noise`: what is not worth telling.

use backsight::browser::event::{Category, Level};
use backsight::browser::noise::{NewRule, Statuses};
use backsight::browser::request::{AddRules, DisableRule, EnableRule, ListRules, RemoveRule};
use backsight_core::Result;
use clap::{Subcommand, ValueEnum};
use serde_json::json;

use crate::commands::Verdict;
use crate::context::Context;
use crate::lane::Lane;
use crate::render::app;

/// Say what is not worth telling
///
/// Browser extensions, hot reloads and analytics are noise already; add what else is in your app. What a rule keeps out
/// is counted, never lost. Requests that were refused (401, 403) are never noise. Rules outlive the server.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight noise add --text 'Grid: layout shifted' --level error --reason 'it settles by itself'
  backsight noise add --url '/metrics$' --method POST --status 5xx
  backsight noise disable hmr_vite
  backsight noise list")]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    List(List),
    Add(Box<Add>),
    Remove(Remove),
    Enable(Enable),
    Disable(Disable),
}

/// List the rules and how much each kept out
#[derive(clap::Args, Debug)]
struct List {}

/// Add a rule; everything it says must hold
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight noise add --text 'Grid: layout shifted' --level error --reason 'it settles by itself'
  backsight noise add --category network --url '/metrics$' --status 500-599

Patterns are regular expressions that are found anywhere in the text.")]
struct Add {
    /// What it is called; `user_1` and so on when left out
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// A pattern in the message
    #[arg(long, value_name = "PATTERN")]
    text: Option<String>,
    /// A pattern in the script's address, or the command that said it
    #[arg(long, value_name = "PATTERN")]
    source: Option<String>,
    /// A pattern in the request's, socket's or page's address
    #[arg(long, value_name = "PATTERN")]
    url: Option<String>,
    /// A console message of this level or a less serious one: debug, info, warning, error
    #[arg(long, value_name = "LEVEL", value_enum, hide_possible_values = true)]
    level: Option<Depth>,
    /// A request with this method
    #[arg(long, value_name = "METHOD")]
    method: Option<String>,
    /// A request with such a status: 404, 500-599, 5xx
    #[arg(long, value_name = "STATUS", value_parser = statuses)]
    status: Option<Statuses>,
    /// Only console, network, websocket or actions (repeatable)
    #[arg(long, value_name = "CATEGORY", value_delimiter = ',', value_parser = app::category)]
    category: Vec<Category>,
    /// The patterns are plain texts
    #[arg(long)]
    plain: bool,
    /// Capitals do not matter in the patterns
    #[arg(long)]
    ignore_case: bool,
    /// Why it is noise
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    reason: String,
}

/// A level as it is typed.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Depth {
    /// Verbose
    Debug,
    /// Information
    #[value(alias = "log")]
    Info,
    /// Warnings
    #[value(alias = "warn")]
    Warning,
    /// Errors
    Error,
}

impl Depth {
    fn level(self) -> Level {
        match self {
            Depth::Debug => Level::Debug,
            Depth::Info => Level::Info,
            Depth::Warning => Level::Warning,
            Depth::Error => Level::Error,
        }
    }
}

/// Remove a rule that was added; what it kept out is told again
#[derive(clap::Args, Debug)]
struct Remove {
    /// Its id, as `noise list` shows it
    #[arg(value_name = "ID")]
    id: String,
}

/// Switch a rule on
#[derive(clap::Args, Debug)]
struct Enable {
    /// Its id, as `noise list` shows it
    #[arg(value_name = "ID")]
    id: String,
}

/// Switch a rule off, also one that is built in
#[derive(clap::Args, Debug)]
struct Disable {
    /// Its id, as `noise list` shows it
    #[arg(value_name = "ID")]
    id: String,
}

fn statuses(text: &str) -> Result<Statuses, String> {
    serde_json::from_value(json!(text)).map_err(|error| error.to_string())
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let lane = Lane::find(context)?;
    match &args.action {
        Action::List(_) => list(context, &lane)?,
        Action::Add(args) => add(args, context, &lane)?,
        Action::Remove(args) => remove(&args.id, context, &lane)?,
        Action::Enable(args) => switch(&args.id, true, context, &lane)?,
        Action::Disable(args) => switch(&args.id, false, context, &lane)?,
    }
    Ok(Verdict::Done)
}

fn list(context: &Context, lane: &Lane) -> Result<()> {
    let list = lane.perform(ListRules {})?;
    context.answer(&list, |page| {
        app::rules(page, &list.rules);
        app::suggestions(page, &list.suggestions);
        app::warnings(page, &list.warnings);
    })
}

fn add(args: &Add, context: &Context, lane: &Lane) -> Result<()> {
    let rule = NewRule {
        id: args.id.clone(),
        categories: args.category.clone(),
        level: args.level.map(Depth::level),
        text: args.text.clone(),
        source: args.source.clone(),
        url: args.url.clone(),
        plain: args.plain,
        ignore_case: args.ignore_case,
        method: args.method.clone(),
        status: args.status,
        reason: args.reason.clone(),
    };
    let added = lane.perform(AddRules { rules: vec![json!(rule)] })?;
    context.answer(&added, |page| added.added.iter().for_each(|rule| app::rule(page, "Added", rule)))
}

fn remove(id: &str, context: &Context, lane: &Lane) -> Result<()> {
    let deleted = lane.perform(RemoveRule { id: id.to_owned() })?;
    context.answer(&deleted, |page| page.data.line(format_args!("Removed {}", deleted.deleted)))
}

fn switch(id: &str, on: bool, context: &Context, lane: &Lane) -> Result<()> {
    let (id, what) = (id.to_owned(), if on { "Switched on" } else { "Switched off" });
    let switched = if on { lane.perform(EnableRule { id })? } else { lane.perform(DisableRule { id })? };
    context.answer(&switched, |page| app::rule(page, what, &switched.rule))
}
