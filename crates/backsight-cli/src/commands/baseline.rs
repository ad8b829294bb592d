//! `backsight baseline`: how the app behaves when it is well.

use backsight::browser::baseline::{BaselineEntry, Comparison};
use backsight::browser::report::Severity;
use backsight::report::{BaselineList, Deleted};
use backsight_core::Result;
use clap::Subcommand;
use serde_json::json;

use crate::commands::Verdict;
use crate::context::Context;
use crate::lane::{Lane, Request, encode};
use crate::render::app;

/// Save how the app behaves, and compare with that later
///
/// A baseline knows each endpoint's status, speed and the shape of its answers, the errors that are known, and which
/// sockets should be open. Baselines outlive the server.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight baseline save login_works
  backsight baseline compare login_works --exit-code
  backsight checkpoint create after_release --baseline login_works")]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Save(Save),
    Compare(Compare),
    List(List),
    Delete(Delete),
}

/// Save how the app behaves now; a baseline of the same name is replaced
#[derive(clap::Args, Debug)]
struct Save {
    /// Its name: lowercase letters, digits and underscores
    #[arg(value_name = "NAME")]
    name: String,
}

/// Show how the app differs from a baseline
#[derive(clap::Args, Debug)]
struct Compare {
    /// Its name
    #[arg(value_name = "NAME")]
    name: String,
    /// Exit 1 unless it is clean
    #[arg(long)]
    exit_code: bool,
}

/// List the baselines
#[derive(clap::Args, Debug)]
struct List {}

/// Forget a baseline
#[derive(clap::Args, Debug)]
struct Delete {
    /// Its name
    #[arg(value_name = "NAME")]
    name: String,
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let lane = Lane::find(context)?;
    match &args.action {
        Action::Save(args) => save(args, context, &lane)?,
        Action::Compare(args) => return compare(args, context, &lane),
        Action::List(_) => list(context, &lane)?,
        Action::Delete(args) => delete(args, context, &lane)?,
    }
    Ok(Verdict::Done)
}

fn save(args: &Save, context: &Context, lane: &Lane) -> Result<()> {
    let request = Request::Post("/api/browser/baselines", json!({ "name": args.name }));
    let saved: BaselineEntry = lane.ask(request, |workspace| workspace.save_baseline(&args.name))?;
    context.answer(&saved, |page| {
        app::baseline(page, "Saved", &saved, context.now);
        if let Some(wrong) = &saved.accepts {
            page.warning(format_args!("the app is not well: {wrong} from now on count as expected"));
            page.hint(format_args!("mend it and save again, or `backsight baseline delete {}`", saved.name));
        }
    })
}

fn compare(args: &Compare, context: &Context, lane: &Lane) -> Result<Verdict> {
    let request = Request::Get(format!("/api/browser/baselines/{}/compare", encode(&args.name)));
    let compared: Comparison = lane.ask(request, |workspace| workspace.compare_baseline(&args.name))?;
    context.answer(&compared, |page| {
        app::comparison(page, &compared, context.now);
        if let Some(wrong) = &compared.accepts {
            page.warning(format_args!("the baseline was saved with {wrong}, which count as expected"));
        }
        app::advise(page, compared.coverage.attached, lane.is_served());
    })?;
    Ok(Verdict::no_if(args.exit_code && compared.severity != Severity::Clean))
}

fn list(context: &Context, lane: &Lane) -> Result<()> {
    let request = Request::Get("/api/browser/baselines".to_owned());
    let list: BaselineList = lane.ask(request, |workspace| workspace.baselines())?;
    context.answer(&list, |page| {
        app::baselines(page, &list.baselines, context.now);
        if list.baselines.is_empty() {
            page.note("no baseline is saved yet");
            page.hint("while the app is well: `backsight baseline save NAME`");
        }
        app::warnings(page, &list.warnings);
    })
}

fn delete(args: &Delete, context: &Context, lane: &Lane) -> Result<()> {
    let request = Request::Post("/api/browser/baselines/delete", json!({ "name": args.name }));
    let deleted: Deleted = lane.ask(request, |workspace| workspace.delete_baseline(&args.name))?;
    context.answer(&deleted, |page| page.data.line(format_args!("Forgot baseline {}", deleted.deleted)))
}
