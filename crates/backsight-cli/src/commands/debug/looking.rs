//! `backsight debug stack`, `vars`, `eval` and the others that look at the program.

use backsight::debug::capture::Safety;
use backsight::debug::request::{EvaluateExpression, ListThreads, ReadOutput, ReadStack, ReadVariables, limits};
use backsight_core::{Result, shell_word};
use clap::ValueEnum;

use super::Desk;
use crate::commands::Verdict;
use crate::render::debug;
use crate::render::debug::looking;

/// What may run to show a value.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Allowed {
    /// Nothing of the program
    Pure,
    /// Whatever the debugger runs to show a value
    Adapter,
    /// Also getters and properties
    Full,
}

impl Allowed {
    /// In the library's words.
    pub fn safety(self) -> Safety {
        match self {
            Allowed::Pure => Safety::Pure,
            Allowed::Adapter => Safety::Adapter,
            Allowed::Full => Safety::Full,
        }
    }
}

/// Show the calls a thread is in, innermost first
#[derive(clap::Args, Debug)]
pub struct Stack {
    /// The thread, instead of the one that paused the program
    #[arg(long, value_name = "ID", allow_negative_numbers = true)]
    thread: Option<i64>,
    /// From this frame on, 0 is the innermost
    #[arg(long, value_name = "N", default_value_t = 0)]
    from: u32,
    /// How many frames at most
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=i64::from(limits::MOST_FRAMES)))]
    limit: u32,
}

impl Stack {
    pub fn run(&self, desk: &Desk<'_>) -> Result<Verdict> {
        let (thread, start, count) = (self.thread, self.from, Some(self.limit));
        let stack = desk.perform(&ReadStack { session: desk.session(), thread, start, count })?;
        desk.context.answer(&stack, |page| {
            looking::stack(page, &stack, desk.context.start());
            if stack.more {
                let next = self.from.saturating_add(self.limit);
                page.note(format_args!("there are more: {}", desk.command(&format!("stack --from {next}"))));
            }
        })?;
        Ok(Verdict::Done)
    }
}

/// List the program's threads
#[derive(clap::Args, Debug)]
pub struct Threads {}

impl Threads {
    pub fn run(&self, desk: &Desk<'_>) -> Result<Verdict> {
        let list = desk.perform(&ListThreads { session: desk.session() })?;
        desk.context.answer(&list, |page| looking::threads(page, &list.threads))?;
        Ok(Verdict::Done)
    }
}

/// Show the variables of a frame, or what is inside one of them
///
/// Nothing of the program runs for that; what has to run something is for `eval`. What has something inside is marked with
/// a plus: name it to look into it.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight debug vars
  backsight debug vars order.items
  backsight debug vars numbers --from 500000
  backsight debug vars --frame 1                the caller's")]
pub struct Vars {
    /// What to look into: a path such as order.items, or an expression
    #[arg(value_name = "EXPRESSION")]
    expression: Option<String>,
    /// The frame, 0 is the innermost
    #[arg(long, value_name = "N", default_value_t = 0)]
    frame: u32,
    /// The thread, instead of the one that paused the program
    #[arg(long, value_name = "ID", allow_negative_numbers = true)]
    thread: Option<i64>,
    /// The scope by its name, instead of the local ones
    #[arg(long, value_name = "NAME")]
    scope: Option<String>,
    /// From this one on
    #[arg(long, value_name = "N", default_value_t = 0)]
    from: u64,
    /// How many at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=limits::MOST_VARIABLES))]
    limit: Option<u64>,
}

impl Vars {
    pub fn run(&self, desk: &Desk<'_>) -> Result<Verdict> {
        let found = desk.perform(&ReadVariables {
            session: desk.session(),
            thread: self.thread,
            frame: self.frame,
            scope: self.scope.clone(),
            expand: self.expression.clone(),
            start: self.from,
            count: self.limit,
        })?;
        desk.context.answer(&found, |page| {
            looking::variables(page, &found);
            if let Some(next) = found.next_start {
                let what = self.expression.as_ref().map(|what| format!(" {}", shell_word(what.as_bytes())));
                let again = desk.command(&format!("vars{} --from {next}", what.unwrap_or_default()));
                page.note(format_args!("there are more: {again}"));
            }
        })?;
        Ok(Verdict::Done)
    }
}

/// Show the value of an expression
///
/// Only what reads is evaluated: what would run code of the program is refused unless --unsafe allows it.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight debug eval 'order.total'
  backsight debug eval 'len(order.items)' --unsafe")]
pub struct Eval {
    /// In the program's language
    #[arg(value_name = "EXPRESSION", allow_hyphen_values = true)]
    expression: String,
    /// Let it run the program's code
    #[arg(long = "unsafe")]
    runs_code: bool,
    /// The frame, 0 is the innermost
    #[arg(long, value_name = "N", default_value_t = 0)]
    frame: u32,
    /// The thread, instead of the one that paused the program
    #[arg(long, value_name = "ID", allow_negative_numbers = true)]
    thread: Option<i64>,
    /// How long it may take
    #[arg(long, value_name = "SECONDS", value_parser = super::milliseconds)]
    timeout: Option<u64>,
}

impl Eval {
    pub fn run(&self, desk: &Desk<'_>) -> Result<Verdict> {
        let value = desk.perform(&EvaluateExpression {
            session: desk.session(),
            expression: self.expression.clone(),
            thread: self.thread,
            frame: self.frame,
            safe: Some(!self.runs_code),
            timeout_ms: self.timeout,
        })?;
        desk.context.answer(&value, |page| looking::value(page, &value))?;
        Ok(Verdict::Done)
    }
}

/// Print what the program printed
#[derive(clap::Args, Debug)]
pub struct Output {
    /// From this piece on: the number an earlier answer ended with
    #[arg(long, value_name = "N", default_value_t = 0)]
    from: u64,
    /// About how many bytes at most
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(1..=limits::MOST_OUTPUT))]
    limit: Option<u64>,
}

impl Output {
    pub fn run(&self, desk: &Desk<'_>) -> Result<Verdict> {
        let (since, max_bytes) = (self.from, self.limit);
        let printed = desk.perform(&ReadOutput { session: desk.session(), since, max_bytes })?;
        desk.context.answer(&printed, |page| {
            debug::looking::output(page, &printed);
            if printed.remaining > 0 {
                let next = desk.command(&format!("output --from {}", printed.next));
                page.note(format_args!("there is more: {next}"));
            }
        })?;
        Ok(Verdict::Done)
    }
}
