//! What changed a value, and a value that is set.

use backsight::debug::request::{RunUntilChange, SetVariable, limits};
use backsight_core::Result;

use super::snapshots::Part;
use super::{Desk, Patience};
use crate::commands::Verdict;
use crate::render::debug::{self, watching};

/// Let the program go on until a value changes, and show the line that changed it
///
/// A number of a native program is watched in its memory; everything else is stepped, through the project's own code, and
/// looked at after each step. It ends earlier at breakpoints (not at the one it stands at), when the value's function
/// returns, and at its limits.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight debug watch order.total
  backsight debug watch 'order.items[3].price' --max-steps 20000 --timeout 60")]
pub struct Watch {
    /// An expression that only reads, or a path as answers write it
    #[arg(value_name = "EXPRESSION", allow_hyphen_values = true)]
    expression: String,
    /// The frame it is read in, 0 is the innermost
    #[arg(long, value_name = "N", default_value_t = 0)]
    frame: u32,
    /// The thread, instead of the one that paused the program
    #[arg(long, value_name = "ID", allow_negative_numbers = true)]
    thread: Option<i64>,
    /// How many steps at most, instead of 1000
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(limits::MOST_STEPS)))]
    max_steps: Option<u32>,
    #[command(flatten)]
    part: Part,
    #[command(flatten)]
    patience: Patience,
}

impl Watch {
    pub fn run(&self, desk: &Desk<'_>) -> Result<Verdict> {
        let found = desk.perform(&RunUntilChange {
            session: desk.session(),
            expression: self.expression.clone(),
            thread: self.thread,
            frame: self.frame,
            max_steps: self.max_steps,
            wait_ms: self.patience.timeout,
            part: self.part.wanted(),
        })?;
        desk.context.answer(&found, |page| {
            watching::found(page, &found, desk.context.start());
            debug::moved(page, &found.moved, desk.context.start());
            if let Some(diff) = &found.diff {
                page.data.line("");
                debug::snapshots::diff(page, diff);
            }
            debug::advise(page, &found.moved.outcome, |rest| desk.command(rest));
        })?;
        Ok(Verdict::Done)
    }
}

/// Give a variable of the paused program another value
///
/// This changes the running program, and the value is an expression that runs in it.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight debug set order.total 0
  backsight debug set name '\"Ada\"'")]
pub struct Set {
    /// The variable, field or element, as the program's language writes it
    #[arg(value_name = "PATH", allow_hyphen_values = true)]
    path: String,
    /// Its new value, an expression: texts need their quotes
    #[arg(value_name = "VALUE", allow_hyphen_values = true)]
    value: String,
    /// The frame, 0 is the innermost
    #[arg(long, value_name = "N", default_value_t = 0)]
    frame: u32,
    /// The thread, instead of the one that paused the program
    #[arg(long, value_name = "ID", allow_negative_numbers = true)]
    thread: Option<i64>,
}

impl Set {
    pub fn run(&self, desk: &Desk<'_>) -> Result<Verdict> {
        let set = desk.perform(&SetVariable {
            session: desk.session(),
            path: self.path.clone(),
            value: self.value.clone(),
            thread: self.thread,
            frame: self.frame,
        })?;
        desk.context.answer(&set, |page| watching::set(page, &set))?;
        Ok(Verdict::Done)
    }
}
