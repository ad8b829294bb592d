//! The `backsight` command: arguments in, one call to the library, the answer rendered for a person or as JSON.
//! It decides nothing about files or history; that is the library's work.

#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod arguments;
mod cli;
mod commands;
mod complete;
mod context;
mod cut_short;
mod install;
mod lane;
mod log;
mod new_file;
mod page;
mod parse;
mod paths;
mod progress;
mod render;
mod running;
mod terminal;
mod usage;
mod watch;
mod width;
mod words;

use std::ffi::OsString;
use std::process::ExitCode;

use backsight_core::Error;
use clap::error::ErrorKind;
use clap::{ArgMatches, CommandFactory, FromArgMatches};

use crate::cli::{Cli, Command};
use crate::context::Context;
use crate::page::Screen;

fn main() -> ExitCode {
    outlive_file_limits();
    let arguments: Vec<OsString> = std::env::args_os().collect();
    match understood(&arguments) {
        Ok((cli, matches)) => run(&cli, &matches),
        // Agents take a status of 2 for "this tool must not run", and wait for the end.
        Err(error) if is_hook(&arguments) => {
            commands::hook::last_words(move || {
                usage::report(error, &arguments);
            });
            ExitCode::SUCCESS
        }
        Err(error) => usage::report(error, &arguments),
    }
}

/// What was typed. The parser readies the one command that is typed and no other: readying all of them takes as long as many a
/// command does. What it then refuses, and a question for help, is put to a parser that has all of them ready, since its words
/// name them.
fn understood(arguments: &[OsString]) -> Result<(Cli, ArgMatches), clap::Error> {
    let parse = |command: clap::Command| {
        let matches = command.try_get_matches_from(arguments)?;
        Ok((Cli::from_arg_matches(&matches)?, matches))
    };
    parse(Cli::command()).or_else(|error: clap::Error| match error.kind() {
        ErrorKind::DisplayVersion => Err(error),
        _ => parse(cli::command()),
    })
}

/// A write beyond the user's limit (`ulimit -f`) is then an error like any other, not the end of the process. Programs that
/// are started from here get the signal as ever.
fn outlive_file_limits() {
    let is_told = std::sync::Arc::default();
    // Without it everything works, and a process that is ended is made up for by the next command.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, is_told);
}

/// Whether an agent's hook was meant, even though the arguments are wrong.
fn is_hook(arguments: &[OsString]) -> bool {
    usage::command_typed(arguments).is_some_and(|command| command == "hook")
}

/// Runs the command and turns its verdict, or its failure, into an exit status.
fn run(cli: &Cli, matches: &ArgMatches) -> ExitCode {
    if let Command::Hook(args) = &cli.command {
        return commands::hook::run(args, &cli.global);
    }
    let screen = Screen::new(cli.global.json, cli.global.color);
    let name = matches.subcommand_name().unwrap_or_default();
    let outcome = Context::new(&cli.global, name, screen).and_then(|context| commands::run(&cli.command, &context));
    match outcome {
        Ok(verdict) => ExitCode::from(verdict.exit_status()),
        Err(error) => fail(&screen, &error),
    }
}

fn fail(screen: &Screen, error: &Error) -> ExitCode {
    // When even the error cannot be written there is nobody left to tell; the status still says it.
    let _ = screen.refuse(error, |page| render::failure::show(page, error));
    ExitCode::from(error.code().exit_status())
}
