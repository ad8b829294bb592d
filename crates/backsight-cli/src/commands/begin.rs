//! `backsight begin`: what changes from here on is a tool call's own, until `finish`.

use backsight::report::Begun;
use backsight::request::BeginCall;
use backsight_core::Result;

use crate::arguments::{UnknownChanges, Who};
use crate::commands::Verdict;
use crate::context::Context;
use crate::page::Page;
use crate::render::{calls, changes};
use crate::words::{count_of, safe};

/// Begin a tool call: what it writes becomes its step
///
/// Prints the call's id, and nothing else, on stdout; give it to `finish` when the tool is done, or to `abandon`. What
/// differs from the latest snapshot now was not done by the tool: the strategy says what becomes of it. `call` does
/// all of this around one command.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  id=$(backsight begin --tool edit --session s1)
  ... the tool writes files ...
  backsight finish \"$id\" -m \"rename the parser\"")]
pub struct Args {
    #[command(flatten)]
    who: Who,
    #[command(flatten)]
    unknown: UnknownChanges,
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let workspace = context.workspace()?;
    let declare = args.who.declare(context, &workspace)?;
    let begun = workspace.perform(BeginCall { who: args.who.behalf(), declare, policy: args.unknown.policy() })?;
    let readable = context.readable(&workspace, &begun)?;
    context.answer(&begun, |page| {
        page.data.line(&begun.call.id);
        talk(page, &readable, context);
        let id = &begun.call.id;
        page.hint(format_args!("when the tool is done: `backsight finish {id} -m \"what it did\"`"));
    })?;
    Ok(Verdict::Done)
}

/// What was there before the call, and who else is at work.
pub fn talk(page: &mut Page, begun: &Begun, context: &Context) {
    let unknown = &begun.unknown_changes;
    if !unknown.is_empty() {
        let paths = count_of(unknown, "path");
        let (were, them) = if unknown.len() == 1 { ("was", "it is") } else { ("were", "they are") };
        match begun.integrated {
            Some(first) => page.note(format_args!(
                "{paths} {were} changed by somebody else before the call, and recorded first as {first} by external:"
            )),
            None => page.warning(format_args!(
                "{paths} {were} changed by somebody else before the call, so {them} not the call's:"
            )),
        }
        changes::list_unknown(&mut page.talk, unknown);
    }
    if !begun.open_calls.is_empty() {
        let are = if begun.open_calls.len() == 1 { "is" } else { "are" };
        page.note(format_args!("{} {are} open:", count_of(&begun.open_calls, "other tool call")));
        calls::list(&mut page.talk, &begun.open_calls, context.now);
    }
    for warning in &begun.warnings {
        page.warning(safe(warning));
    }
}
