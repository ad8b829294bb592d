//! `backsight call -- COMMAND`: one command as one tool call. Begins, runs it, finishes, and passes its status on.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};

use backsight::Workspace;
use backsight::report::{Begun, Tracked};
use backsight::request::{BeginCall, FinishCall};
use backsight_core::{Code, Error, Result, shell_word};
use serde::Serialize;

use crate::arguments::{UnknownChanges, Who};
use crate::commands::{Verdict, begin};
use crate::context::Context;
use crate::render::tracked;
use crate::words::safe;

/// Run a command as a tool call: what it writes becomes its step
///
/// The same as `begin`, the command, `finish`. The command has stdin, stdout and stderr to itself; Backsight speaks
/// on stderr only, and ends with the command's status (128 and the signal's number when a signal ended it). A command
/// that fails is recorded too: what it wrote is there. With --json the command's stdout goes to stderr.
///
/// When Backsight itself is killed meanwhile, the call stays open, and `status` says how to finish it.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight call -- cargo fmt
  backsight call --tool sed --session s1 -m \"new name\" -- sed -i s/old/new/ src/a.rs")]
pub struct Args {
    /// What this step is; the command itself when left out
    #[arg(short = 'm', long = "description", value_name = "TEXT")]
    description: Option<String>,
    #[command(flatten)]
    who: Who,
    #[command(flatten)]
    unknown: UnknownChanges,
    /// Keep this snapshot through every retention rule
    #[arg(long)]
    pin: bool,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// The whole call.
#[derive(Serialize)]
struct Called {
    command: Vec<String>,
    exit_status: u8,
    begun: Begun,
    finished: Tracked,
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let workspace = context.workspace()?;
    let declare = args.who.declare(context, &workspace)?;
    let begun = workspace.perform(BeginCall { who: args.who.behalf(), declare, policy: args.unknown.policy() })?;
    // What is not recorded by itself is told when the call finishes; once is enough.
    let readable = context.readable(&workspace, &begun)?;
    let told = Begun { unknown_changes: Vec::new(), ..readable.clone() };
    aside(context, |page| begin::talk(page, if begun.integrated.is_some() { &readable } else { &told }, context))?;
    let ended = execute(args, context, &workspace, &begun)?;
    let call = begun.call.id.to_string();
    let request = FinishCall {
        call: call.clone(),
        description: args.description.clone().unwrap_or_else(|| command_line(&args.command)),
        declare: Vec::new(),
        policy: args.unknown.policy(),
        pin: args.pin,
    };
    let finished = workspace.perform(request).map_err(|error| still_open(error, &call, ended))?;
    aside(context, |page| {
        // Nobody who ran a command that changes nothing wonders about its description.
        tracked::show(page, &finished, "", context.now);
        if ended > 0 {
            page.note(format_args!("the command ended with status {ended}"));
        }
    })?;
    if context.screen.is_json() {
        let command = args.command.iter().map(|word| safe(&word.to_string_lossy())).collect();
        context.answer(&Called { command, exit_status: ended, begun, finished }, |_| {})?;
    }
    Ok(Verdict::Ended(ended))
}

/// Runs the command where the caller is. One that cannot be started leaves no call behind.
fn execute(args: &Args, context: &Context, workspace: &Workspace, begun: &Begun) -> Result<u8> {
    let [program, arguments @ ..] = args.command.as_slice() else {
        return Err(Error::new(Code::Usage, "no command was given"));
    };
    let mut command = Command::new(program);
    command.args(arguments).current_dir(context.start());
    if context.screen.is_json() {
        command.stdout(Stdio::from(std::io::stderr()));
    }
    match command.status() {
        Ok(status) => Ok(status_of(status)),
        Err(error) => {
            workspace.abandon(begun.call.id.as_str())?;
            Err(Error::io(format!("run `{}`", backsight_core::quote(program.as_bytes())), error))
        }
    }
}

/// As a shell counts.
fn status_of(status: ExitStatus) -> u8 {
    let number = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    u8::try_from(number).unwrap_or(u8::MAX)
}

fn still_open(error: Error, call: &str, ended: u8) -> Error {
    let message = format!("{}; the command ran (status {ended}), and its call {call} is still open", error.message());
    let hint = format!("look with `backsight status`, then record it with `backsight finish {call} --force`");
    Error::new(error.code(), message).with_hint(hint).with_details(error.details().clone())
}

fn aside(context: &Context, human: impl FnOnce(&mut crate::page::Page)) -> Result<()> {
    if context.screen.is_json() { Ok(()) } else { context.screen.print_aside(human) }
}

/// As a person would type it.
fn command_line(words: &[OsString]) -> String {
    let typed: Vec<String> = words.iter().map(|word| shell_word(word.as_bytes())).collect();
    typed.join(" ")
}
