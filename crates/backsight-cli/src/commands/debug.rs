//! `backsight debug`: a program under a debugger, through the workspace's server, where it lives.

mod breakpoints;
mod looking;
mod moving;
mod place;
mod points;
mod snapshots;
mod watching;

use std::path::{Path, PathBuf};

use backsight::debug::request::limits::LONGEST_WAIT_MS;
use backsight_core::{Code, Error, FEWEST_TOKENS, Result, quote};
use backsight_server::Route;
use clap::Subcommand;
use serde::de::DeserializeOwned;

use crate::commands::Verdict;
use crate::context::Context;
use crate::lane::Lane;

/// Debug a program: pause it, look at it, and see what changed between two looks
///
/// The program runs under its own debugger (debugpy, Delve, LLDB, Node's inspector; `backsight doctor` says which are
/// here). Snapshots hold its variables without running any of its code, and a diff of two says what changed. The
/// workspace's server does the debugging, so it must run: `backsight serve`.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight debug launch shop.py --break shop.py:12
  backsight debug snapshot before
  backsight debug next
  backsight debug snapshot after
  backsight debug diff before after
  backsight debug try                       the same in one: step, and show what that changed
  backsight debug watch order.total         go on until it changes, and show the line that did it
  backsight debug on shop.py:12 --name loop && backsight debug continue && backsight debug series loop
  backsight debug end")]
pub struct Args {
    /// Which program, when several are debugged: the name of its session
    #[arg(long, value_name = "NAME", global = true)]
    session: Option<String>,
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Launch(moving::Launch),
    Attach(moving::Attach),
    Sessions(moving::Sessions),
    Status(moving::Status),
    Continue(moving::Continue),
    Pause(moving::Pause),
    Step(moving::Step),
    Next(moving::Next),
    Finish(moving::Finish),
    Until(moving::Until),
    End(moving::End),
    Break(breakpoints::Break),
    Breaks(breakpoints::Breaks),
    Unbreak(breakpoints::Unbreak),
    Stack(looking::Stack),
    Threads(looking::Threads),
    Vars(looking::Vars),
    Eval(looking::Eval),
    Output(looking::Output),
    Snapshot(snapshots::Snapshot),
    Snapshots(snapshots::Snapshots),
    Show(snapshots::Show),
    Diff(snapshots::Diff),
    Delete(snapshots::Delete),
    Clear(snapshots::Clear),
    Export(snapshots::Export),
    Try(snapshots::Try),
    Watch(watching::Watch),
    Set(watching::Set),
    On(points::On),
    Points(points::Points),
    Series(points::Series),
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let desk = Desk { context, lane: Lane::find(context)?, session: args.session.as_deref() };
    perform(&args.action, &desk)
}

fn perform(action: &Action, desk: &Desk<'_>) -> Result<Verdict> {
    match action {
        Action::Launch(args) => args.run(desk),
        Action::Attach(args) => args.run(desk),
        Action::Sessions(args) => args.run(desk),
        Action::Status(args) => args.run(desk),
        Action::Continue(args) => args.run(desk),
        Action::Pause(args) => args.run(desk),
        Action::Step(args) => args.run(desk),
        Action::Next(args) => args.run(desk),
        Action::Finish(args) => args.run(desk),
        Action::Until(args) => args.run(desk),
        Action::End(args) => args.run(desk),
        Action::Break(args) => args.run(desk),
        Action::Breaks(args) => args.run(desk),
        Action::Unbreak(args) => args.run(desk),
        Action::Stack(args) => args.run(desk),
        Action::Threads(args) => args.run(desk),
        Action::Vars(args) => args.run(desk),
        Action::Eval(args) => args.run(desk),
        Action::Output(args) => args.run(desk),
        Action::Snapshot(args) => args.run(desk),
        Action::Snapshots(args) => args.run(desk),
        Action::Show(args) => args.run(desk),
        Action::Diff(args) => args.run(desk),
        Action::Delete(args) => args.run(desk),
        Action::Clear(args) => args.run(desk),
        Action::Export(args) => args.run(desk),
        Action::Try(args) => args.run(desk),
        Action::Watch(args) => args.run(desk),
        Action::Set(args) => args.run(desk),
        Action::On(args) => args.run(desk),
        Action::Points(args) => args.run(desk),
        Action::Series(args) => args.run(desk),
    }
}

/// What every one of these commands stands on.
struct Desk<'a> {
    context: &'a Context,
    lane: Lane,
    session: Option<&'a str>,
}

impl Desk<'_> {
    /// Has the server carry out an operation; what is outside its limits is refused before one is looked for.
    fn perform<R: Route<Answer: DeserializeOwned>>(&self, request: &R) -> Result<R::Answer> {
        request.check()?;
        self.lane.server("debugging")?.perform(request)
    }

    /// Which program, when one was named.
    fn session(&self) -> Option<String> {
        self.session.map(str::to_owned)
    }

    /// A path as typed, from where the person stands.
    fn path(&self, typed: &Path) -> Result<PathBuf> {
        sendable(self.context.start().join(typed))
    }

    /// What to type for another command about the same program.
    fn command(&self, rest: &str) -> String {
        match self.session {
            Some(session) => {
                format!("`backsight debug {rest} --session {}`", backsight_core::shell_word(session.as_bytes()))
            }
            None => format!("`backsight debug {rest}`"),
        }
    }
}

/// A path that can be sent.
fn sendable(path: PathBuf) -> Result<PathBuf> {
    match path.to_str() {
        Some(_) => Ok(path),
        None => {
            let name = quote(std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str()));
            Err(Error::new(Code::InvalidPath, format!("debuggers cannot be given `{name}`: its name is not UTF-8")))
        }
    }
}

/// How long to wait for the program.
#[derive(clap::Args, Debug)]
struct Patience {
    /// How long to wait for the program to pause, up to 60; then it goes on by itself [default: 10]
    #[arg(long, value_name = "SECONDS", value_parser = milliseconds)]
    timeout: Option<u64>,
}

/// Seconds, with a fraction where one likes, as milliseconds.
fn milliseconds(text: &str) -> Result<u64, String> {
    let most = LONGEST_WAIT_MS / 1000;
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..=most as f64).contains(&seconds) => Ok((seconds * 1000.0).round() as u64),
        _ => Err(format!("it is a number of seconds from 0 to {most}")),
    }
}

/// How many tokens an answer may have.
fn tokens(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(tokens) if tokens >= FEWEST_TOKENS => Ok(tokens),
        _ => Err(format!("it is a number from {FEWEST_TOKENS}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_have_fractions_and_an_end() {
        assert_eq!([milliseconds("0"), milliseconds("0.25"), milliseconds("60")], [Ok(0), Ok(250), Ok(60_000)]);
        for wrong in ["", "-1", "61", "NaN", "inf", "1s"] {
            assert!(milliseconds(wrong).is_err(), "{wrong}");
        }
    }
}
