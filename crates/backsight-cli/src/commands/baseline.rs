//! `backsight baseline`: how the app behaves when it is well.

use backsight::browser::report::Severity;
use backsight::browser::request::{CompareBaseline, DeleteBaseline, ListBaselines, SaveBaseline};
use backsight_core::Result;
use clap::Subcommand;

use crate::commands::Verdict;
use crate::context::Context;
use crate::lane::Lane;
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
    let saved = lane.perform(SaveBaseline { name: args.name.clone() })?;
    context.answer(&saved, |page| {
        app::baseline(page, "Saved", &saved, context.now);
        if let Some(wrong) = &saved.accepts {
            page.warning(format_args!("the app is not well: {wrong} from now on count as expected"));
            page.hint(format_args!("mend it and save again, or `backsight baseline delete {}`", saved.name));
        }
    })
}

fn compare(args: &Compare, context: &Context, lane: &Lane) -> Result<Verdict> {
    let compared = lane.perform(CompareBaseline { name: args.name.clone() })?;
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
    let list = lane.perform(ListBaselines {})?;
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
    let deleted = lane.perform(DeleteBaseline { name: args.name.clone() })?;
    context.answer(&deleted, |page| page.data.line(format_args!("Forgot baseline {}", deleted.deleted)))
}
