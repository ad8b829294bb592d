//! `backsight abandon ID`: gives a tool call up.

use backsight::request::AbandonCall;
use backsight_core::Result;

use crate::commands::Verdict;
use crate::context::Context;
use crate::render::calls;
use crate::words::age;

/// Give a tool call up: record nothing
///
/// The files stay as they are; what the call wrote counts as anybody's changes from here on.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight status                        lists the calls that are open
  backsight abandon 0123456789abcdef")]
pub struct Args {
    /// The id that `begin` printed
    #[arg(value_name = "ID")]
    id: String,
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let workspace = context.workspace()?;
    let call = workspace.perform(AbandonCall { call: args.id.clone() })?;
    let readable = context.readable(&workspace, &call)?;
    context.answer(&call, |page| {
        let began = page.data.dim(format_args!("(began {})", age(call.since, context.now)));
        page.data.line(format_args!("Abandoned {} {} {began}", call.id, calls::who(&readable)));
        page.hint("what it wrote is still on disk: see it with `backsight diff @`, drop it with `backsight restore @`");
    })?;
    Ok(Verdict::Done)
}
