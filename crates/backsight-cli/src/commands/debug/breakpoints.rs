//! `backsight debug break`, `breaks` and `unbreak`: where the program pauses.

use backsight::debug::request::{BreakpointSpec, ListBreakpoints, RemoveBreakpoint, SetBreakpoint};
use backsight_core::Result;

use super::Desk;
use super::place::{self, Place};
use crate::commands::Verdict;
use crate::render::debug;

/// Pause the program at a line, a function or an exception
///
/// A breakpoint that cannot be bound is set all the same, and the answer says why it would not be hit. One at the same
/// place gets the new conditions.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight debug break shop.py:12
  backsight debug break shop.py:12 --condition 'total > 100'
  backsight debug break total --hits 5
  backsight debug break shop.py:12 --log 'total is {total}'     print instead of pausing
  backsight debug break exception:uncaught")]
pub struct Break {
    /// Where: FILE:LINE, a function, `exception` (all of them) or `exception:uncaught`
    #[arg(value_name = "PLACE", value_parser = place::parse)]
    place: Place,
    /// Only when this is true, in the program's language
    #[arg(long, value_name = "EXPRESSION")]
    condition: Option<String>,
    /// Only from this hit on: 5, or as the debugger understands it
    #[arg(long, value_name = "N")]
    hits: Option<String>,
    /// Print this instead of pausing; {x} is the value of x
    #[arg(long, value_name = "TEXT")]
    log: Option<String>,
}

impl Break {
    pub fn run(&self, desk: &Desk<'_>) -> Result<Verdict> {
        let (condition, hit_count, log_message) = (self.condition.clone(), self.hits.clone(), self.log.clone());
        let at = BreakpointSpec { condition, hit_count, log_message, ..self.place.spec(desk)? };
        let set = desk.perform(&SetBreakpoint { session: desk.session(), at })?;
        desk.context.answer(&set, |page| debug::breakpoint_set(page, &set, desk.context.start()))?;
        Ok(Verdict::Done)
    }
}

/// List the breakpoints, and whether they are bound
#[derive(clap::Args, Debug)]
pub struct Breaks {}

impl Breaks {
    pub fn run(&self, desk: &Desk<'_>) -> Result<Verdict> {
        let list = desk.perform(&ListBreakpoints { session: desk.session() })?;
        desk.context.answer(&list, |page| {
            debug::breakpoints(page, &list.breakpoints, desk.context.start());
            if list.breakpoints.is_empty() {
                page.note("there are no breakpoints");
                page.hint(format_args!("set one with {}", desk.command("break FILE:LINE")));
            }
        })?;
        Ok(Verdict::Done)
    }
}

/// Remove a breakpoint; that of a snapshot point ends the point
#[derive(clap::Args, Debug)]
pub struct Unbreak {
    /// Its id, as `breaks` lists it: bp-1
    #[arg(value_name = "ID")]
    id: String,
}

impl Unbreak {
    pub fn run(&self, desk: &Desk<'_>) -> Result<Verdict> {
        let removed = desk.perform(&RemoveBreakpoint { session: desk.session(), id: self.id.clone() })?;
        desk.context.answer(&removed, |page| debug::breakpoint_removed(page, &removed, desk.context.start()))?;
        Ok(Verdict::Done)
    }
}
