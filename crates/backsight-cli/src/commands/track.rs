//! `backsight track`: records the files as they are.

use std::ffi::OsString;

use backsight::report::{Origin, Tracked};
use backsight::request::Track;
use backsight_core::Result;

use crate::commands::Verdict;
use crate::context::Context;
use crate::page::Page;
use crate::render::{changes, coverage, snapshot};
use crate::words::{age, count, join, safe};

/// Record the files as they are
///
/// When nothing changed since the latest snapshot, that one is the answer and nothing is written.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight track -m \"before the refactoring\"
  backsight track --tool edit --session s1 --message m7 --declare src/a.rs")]
pub struct Args {
    /// What this step is
    #[arg(short = 'm', long = "description", value_name = "TEXT", default_value = "", hide_default_value = true)]
    description: String,
    /// The tool that made the change
    #[arg(long)]
    tool: Option<String>,
    /// The agent conversation
    #[arg(long)]
    session: Option<String>,
    /// The message within the session
    #[arg(long)]
    message: Option<String>,
    /// The part within the message
    #[arg(long)]
    part: Option<String>,
    /// A path the tool wrote (repeatable); a revert of this step undoes only these
    #[arg(long, value_name = "PATH")]
    declare: Vec<OsString>,
    /// Keep this snapshot through every retention rule
    #[arg(long)]
    pin: bool,
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let workspace = context.workspace()?;
    let origin = Origin {
        tool: args.tool.clone(),
        session: args.session.clone(),
        message: args.message.clone(),
        part: args.part.clone(),
        declared: context.paths(&workspace, &args.declare)?,
    };
    let request =
        Track { description: args.description.clone(), origin, unknown: Default::default(), pinned: args.pin };
    let tracked = workspace.track_with(&request)?;
    context.answer(&tracked, |page| show(page, &tracked, &request, context))?;
    Ok(Verdict::Done)
}

fn show(page: &mut Page, tracked: &Tracked, request: &Track, context: &Context) {
    let name = snapshot::name(&page.data, &tracked.snapshot);
    if tracked.created {
        let extent = match tracked.snapshot.base_tree {
            Some(_) => format!("({} changed)", count(tracked.snapshot.files_changed, "path")),
            None => format!("(first snapshot, {})", count(tracked.snapshot.files_changed, "file")),
        };
        let title = snapshot::title(&tracked.snapshot);
        page.data.line(join(&[&name, &title, &page.data.dim(extent)]));
        changes::list_some(&mut page.data, &tracked.changes, "`backsight show @`");
    } else {
        let age = age(tracked.snapshot.timestamp, context.now);
        page.data.line(format_args!("{name} nothing changed since this snapshot, recorded {age}"));
        if !request.description.is_empty() {
            page.note("no new snapshot was made, so the description was not recorded");
        }
    }
    coverage::warn(page, &tracked.snapshot.coverage.uncovered);
    for warning in &tracked.warnings {
        page.warning(safe(warning));
    }
}
