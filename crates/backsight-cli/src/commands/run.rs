//! `backsight run -- COMMAND`: a dev server or a test runner whose output is heard, while its user notices nothing.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use backsight_core::{Result, quote, shell_word};
use serde::Serialize;

use crate::commands::Verdict;
use crate::context::Context;
use crate::page::Page;
use crate::running::{self, Ended, Ending, How, Job, Recorded, Recorder, Server};
use crate::words::{count, safe};

/// Run a dev server or a test runner, and hear what it says
///
/// Errors and warnings on its stdout and stderr are part of what `backsight changes` tells, next to those of the browser;
/// an error with its stack trace is one. The command has the terminal as if it were alone: colours, input, Ctrl-C, the
/// size of the window; into pipes and files stdout and stderr go byte for byte. The exit status is the command's (128 and
/// the signal's number when a signal ended it).
///
/// How it ends is told too: a failure as an error, a server that is gone as a warning. A server that is gone is missed,
/// and answers are not "clean", until the same command (or one of the same --name) runs again. A build or a test is over
/// when it ends.
///
/// The command runs in the current directory; `-C DIR` says in which workspace it is recorded.
///
/// The workspace's server records it, also one that starts later. Without one the command runs all the same. With --json
/// the command's stdout goes to stderr.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight run npm run dev
  backsight run --name api -- python manage.py runserver
  backsight run cargo test && backsight changes")]
pub struct Args {
    /// How it is called in what `changes` tells; the command itself when left out
    #[arg(long, value_name = "LABEL")]
    name: Option<String>,
    /// Become the command, and end it when this process ends
    #[arg(long, value_name = "PID", hide = true)]
    leash: Option<u32>,
    /// The command and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// What was run and heard.
#[derive(Serialize)]
struct Ran {
    command: Vec<String>,
    exit_status: u8,
    recorded: Recorded,
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    if let Some(parent) = args.leash {
        return Ok(cannot_start(&args.command, &running::exec(parent, &args.command), context));
    }
    let typed = command_line(&args.command);
    let purpose = running::purpose(&typed);
    let label = safe(&shortened(args.name.clone().unwrap_or_else(|| typed.clone())));
    let workspace = context.workspace()?;
    let refused = workspace.store().err();
    let mut server = Server::of(workspace)?;
    if !server.find() {
        let _ = context.screen.print_aside(|page| match &refused {
            Some(error) => page.note(format_args!("nothing is recorded: {}", error.message())),
            None => page
                .note("no server runs in this workspace, so nothing is recorded yet; start one with `backsight serve`"),
        });
    }
    let recorder = Recorder::start(server, format!("terminal: {label}"), label.clone());
    let job = Job { command: &args.command, aside: context.screen.is_json() };
    let ended = match running::run(&job, recorder.tap()) {
        Ok(ended) => ended,
        Err(error) => {
            let message = problem(&args.command, &error);
            recorder.finish(Ending {
                how: How::Failed,
                purpose,
                reason: "it could not be started".to_owned(),
                message,
            })?;
            return Ok(cannot_start(&args.command, &error, context));
        }
    };
    let status = status_of(ended.status);
    let words = in_words(ended.status);
    let message = match &args.name {
        Some(_) => format!("`{label}` ({}) {words}", safe(&shortened(typed))),
        None => format!("`{label}` {words}"),
    };
    let ending = Ending { how: how(&ended), purpose, reason: format!("the command {words}"), message };
    let recorded = recorder.finish(ending)?;
    // A terminal that is gone takes nothing from the command's status, here and above.
    let _ = context.screen.print_aside(|page| tell(page, &ended, &recorded));
    if context.screen.is_json() {
        let command = args.command.iter().map(|word| safe(&word.to_string_lossy())).collect();
        context.answer(&Ran { command, exit_status: status, recorded }, |_| {})?;
    }
    Ok(Verdict::Ended(status))
}

/// As shells do it: 127 for a command that is not there, 126 for one that cannot be run.
fn cannot_start(command: &[OsString], error: &io::Error, context: &Context) -> Verdict {
    // When not even this can be said, the status still says it.
    let _ = context.screen.print_aside(|page| page.error(problem(command, error)));
    Verdict::Ended(if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 })
}

fn problem(command: &[OsString], error: &io::Error) -> String {
    let program = command.first().map_or_else(String::new, |word| quote(word.as_bytes()));
    format!("cannot run `{program}`: {error}")
}

/// A command that failed by itself is an error of the app; one that its user ended is not.
fn how(ended: &Ended) -> How {
    let by_request =
        ended.forwarded.is_some_and(is_request) || ended.status.signal() == Some(2) || ended.status.code() == Some(130);
    match (ended.status.success(), by_request) {
        (_, true) => How::Stopped,
        (true, false) => How::Succeeded,
        (false, false) => How::Failed,
    }
}

/// Other signals that are passed on ask for something else.
fn is_request(signal: i32) -> bool {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    [SIGHUP, SIGINT, SIGQUIT, SIGTERM].contains(&signal)
}

fn in_words(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with status {code}"),
        (None, Some(signal)) => match signal_hook::low_level::signal_name(signal) {
            Some(name) => format!("was ended by signal {signal} ({name})"),
            None => format!("was ended by signal {signal}"),
        },
        (None, None) => "ended".to_owned(),
    }
}

fn tell(page: &mut Page, ended: &Ended, recorded: &Recorded) {
    if ended.left_behind {
        page.warning("the command left something behind that still holds its output; what that says is not seen");
    }
    if recorded.lost_lines == 0 {
        return;
    }
    let lines = count(recorded.lost_lines, "line");
    if recorded.reached {
        page.warning(format_args!("not recorded: {lines} of the output; the server was away or too slow"));
    } else {
        page.warning(format_args!("not recorded: {lines} of the output; no server ran"));
        page.hint("start one with `backsight serve`");
    }
}

/// As a shell counts.
fn status_of(status: ExitStatus) -> u8 {
    let number = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    u8::try_from(number).unwrap_or(u8::MAX)
}

/// The beginning of a long command says which one it is.
fn shortened(text: String) -> String {
    const LONGEST: usize = 60;
    if text.chars().count() <= LONGEST {
        return text;
    }
    text.chars().take(LONGEST - 1).chain(['…']).collect()
}

/// As a person would type it.
fn command_line(words: &[OsString]) -> String {
    let typed: Vec<String> = words.iter().map(|word| shell_word(word.as_bytes())).collect();
    typed.join(" ")
}
