//! `backsight health`: whether the app is well, in one word with reasons.

use backsight::browser;
use backsight::browser::request::ReadAppHealth;
use backsight_core::Result;

use crate::commands::{Verdict, changes};
use crate::context::Context;
use crate::lane::Lane;
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
    let health = lane.perform(ReadAppHealth { client: Some("cli".to_owned()), checkpoint: args.since.clone() })?;
    context.answer(&health, |page| {
        app::health(page, &health);
        app::advise(page, health.coverage.attached, lane.is_served());
    })?;
    Ok(Verdict::no_if(args.exit_code && health.verdict != browser::Verdict::Healthy))
}
