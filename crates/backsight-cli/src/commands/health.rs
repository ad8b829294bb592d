//! `backsight health`: whether the app is well, in one word with reasons.

use backsight::browser::{self, Health};
use backsight_core::Result;

use crate::commands::{Verdict, changes};
use crate::context::Context;
use crate::lane::{Lane, Request, encode};
use crate::render::app;

/// Say whether the app is well, with reasons
///
/// healthy, degraded, broken, or unknown when not everything was watched. It is read off the same facts as `changes`, and
/// moves nobody's place. It says nothing about Backsight itself; `doctor` does.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight health                        since session_start, or since the beginning
  backsight health --since pre_commit --exit-code && git push")]
pub struct Args {
    /// A checkpoint, a time, `start` or `load`; since `session_start` when there is such a checkpoint
    #[arg(long, value_name = "SINCE", value_parser = changes::since)]
    since: Option<String>,
    /// Exit 1 unless it is healthy
    #[arg(long)]
    exit_code: bool,
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let lane = Lane::find(context)?;
    let since = args.since.as_ref().map_or_else(String::new, |since| format!("&checkpoint={}", encode(since)));
    let request = Request::Get(format!("/api/browser/health?client=cli{since}"));
    let health: Health = lane.ask(request, |workspace| workspace.browser_health("cli", args.since.as_deref()))?;
    context.answer(&health, |page| {
        app::health(page, &health);
        app::advise(page, health.coverage.attached, lane.is_served());
    })?;
    Ok(Verdict::no_if(args.exit_code && health.verdict != browser::Verdict::Healthy))
}
