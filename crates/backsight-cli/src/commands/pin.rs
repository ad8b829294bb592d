//! `backsight pin REF`: keeps a snapshot through every retention rule.

use backsight::request::PinStep;
use backsight_core::Result;

use crate::arguments::references;
use crate::commands::Verdict;
use crate::context::Context;
use crate::render::snapshot;

/// Keep a snapshot through every retention rule
#[derive(clap::Args, Debug)]
#[command(after_long_help = references!())]
pub struct Args {
    /// Which snapshot
    #[arg(value_name = "REF")]
    reference: String,
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let pinned = context.workspace()?.perform(PinStep { reference: args.reference.clone() })?;
    context.answer(&pinned, |page| {
        let name = snapshot::name(&page.data, &pinned);
        page.data.line(format_args!("Pinned {name} {}", snapshot::title(&pinned)));
    })?;
    Ok(Verdict::Done)
}
