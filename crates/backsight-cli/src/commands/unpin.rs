//! `backsight unpin REF`: gives a snapshot back to the retention rules.

use backsight::request::UnpinStep;
use backsight_core::Result;

use crate::arguments::references;
use crate::commands::Verdict;
use crate::context::Context;
use crate::render::snapshot;

/// Let the retention rules remove a pinned snapshot again
#[derive(clap::Args, Debug)]
#[command(after_long_help = references!())]
pub struct Args {
    /// Which snapshot
    #[arg(value_name = "REF")]
    reference: String,
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let unpinned = context.workspace()?.perform(UnpinStep { reference: args.reference.clone() })?;
    context.answer(&unpinned, |page| {
        let name = snapshot::name(&page.data, &unpinned);
        page.data.line(format_args!("Unpinned {name} {}", snapshot::title(&unpinned)));
    })?;
    Ok(Verdict::Done)
}
