//! What can be typed: the global flags and one variant a command. Each command's own arguments live in its file.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

use crate::commands::{
    abandon, agent_help, baseline, begin, bisect, blame, browser, call, cat, changes, checkpoint, comment, completions,
    config, continuity, debug, demo, diff, doctor, export, finish, gc, health, hook, import, init, install, known, log,
    ls, man, mcp, milestone, noise, open, patch, pin, redo, report, restore, revert, run, serve, session, show, status,
    track, undo, unknown, unpin, usage, verify, watch,
};

/// What changed since I last looked, and take me back.
///
/// Backsight records the files of a workspace step by step, so that an agent or a person can see what changed and
/// go back, without losing anyone's work and without touching Git. It also watches the app: what its pages and processes
/// said since one last looked; and it debugs programs: what their variables hold, and what changed between two pauses.
#[derive(Debug, Parser)]
#[command(name = "backsight", version, arg_required_else_help = true, subcommand_required = true)]
#[command(after_help = AFTER_HELP)]
pub struct Cli {
    /// Flags every command takes.
    #[command(flatten)]
    pub global: Global,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

const AFTER_HELP: &str = "\
Examples:
  backsight track -m \"before the refactoring\"   record the files as they are
  backsight status                              what changed since
  backsight diff                                the same as a unified diff
  backsight undo                                take the newest step back
  backsight run npm run dev                     hear what the dev server says
  backsight changes                             what went wrong in the app since you last asked
  backsight debug launch shop.py --break total  pause a program and look at it

Exit status: 0 done, 1 the answer is no, 2 usage, 3 refused (conflict), 4 not found, 5 damaged store, 6 I/O, 7 busy.";

/// The commands by what they are for, as the help lists them.
pub const GROUPS: &[(&str, &[&str])] = &[
    ("Record", &["init", "status", "track", "begin", "finish", "abandon", "call"]),
    ("Look", &["open", "watch", "log", "show", "ls", "cat", "diff", "patch", "blame", "bisect", "report", "comment"]),
    ("Go back", &["undo", "redo", "revert", "restore"]),
    ("Sessions and milestones", &["session", "milestone", "unknown", "continuity", "known"]),
    ("The app", &["run", "changes", "health", "checkpoint", "baseline", "noise", "browser"]),
    ("Programs", &["debug"]),
    ("The store", &["usage", "gc", "pin", "unpin", "verify", "doctor", "config", "export", "import"]),
    ("Agents", &["install", "mcp", "serve", "hook", "agent-help"]),
    ("More", &["demo", "completions", "man", "help"]),
];

/// What can be typed, complete with what the parser adds.
pub fn whole() -> clap::Command {
    let mut command = Cli::command();
    command.build();
    command
}

/// What can be typed, with the commands in groups in the help.
pub fn command() -> clap::Command {
    let mut command = whole();
    let commands = groups(&command);
    let usage = command.render_usage().to_string();
    // Hidden, so that the one long list does not stand below the groups.
    command
        .mut_subcommands(|below| below.hide(true))
        .override_usage(usage.trim_start_matches("Usage: ").to_owned())
        .help_template(format!(
            "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{commands}{{all-args}}{{after-help}}"
        ))
}

/// Every group with a line for each of its commands, ready for a template.
fn groups(command: &clap::Command) -> String {
    let styles = command.get_styles();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let width = GROUPS.iter().flat_map(|(_, names)| *names).map(|name| name.len()).max().unwrap_or(0);
    let line = |name: &&str| {
        let about = command.find_subcommand(name).and_then(|found| found.get_about()).map(ToString::to_string);
        format!("  {literal}{name:<width$}{literal:#}  {}\n", about.unwrap_or_default().replace('{', "{{"))
    };
    let group = |(title, names): &(&str, &[&str])| {
        format!("{header}{title}:{header:#}\n{}\n", names.iter().map(line).collect::<String>())
    };
    GROUPS.iter().map(group).collect()
}

/// Flags every command takes.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// Print exactly one JSON object on stdout
    #[arg(long, global = true)]
    pub json: bool,
    /// Show ids in full instead of their first characters
    #[arg(long, global = true)]
    pub verbose: bool,
    /// Work in the workspace of DIR instead of the current directory
    #[arg(short = 'C', long = "directory", value_name = "DIR", global = true)]
    pub directory: Option<PathBuf>,
    /// Wait at most this long for another process that holds the workspace
    ///
    /// [default: 60]
    // No default for the parser: `changes` has a `--wait` of its own, which nobody must have given by default.
    #[arg(long, value_name = "SECONDS", global = true)]
    pub wait: Option<u64>,
    /// When to use colour: auto, always or never; NO_COLOR and CLICOLOR_FORCE count too
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Color::Auto, global = true)]
    #[arg(hide_possible_values = true)]
    pub color: Color,
}

impl Global {
    /// How long to wait for another process that holds the workspace.
    pub fn patience(&self) -> Duration {
        Duration::from_secs(self.wait.unwrap_or(60))
    }
}

/// When to use colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal
    Auto,
    /// Also into files and pipes
    Always,
    /// Not at all
    Never,
}

/// The commands, in the order of the help text.
#[derive(Debug, Subcommand)]
pub enum Command {
    Init(init::Args),
    Status(status::Args),
    Track(track::Args),
    Begin(begin::Args),
    Finish(finish::Args),
    Abandon(abandon::Args),
    Call(call::Args),
    Log(log::Args),
    Show(show::Args),
    Ls(ls::Args),
    Cat(cat::Args),
    Patch(patch::Args),
    Diff(diff::Args),
    Blame(blame::Args),
    Bisect(bisect::Args),
    Revert(revert::Args),
    Restore(restore::Args),
    Undo(undo::Args),
    Redo(redo::Args),
    Session(session::Args),
    Milestone(milestone::Args),
    Unknown(unknown::Args),
    Continuity(continuity::Args),
    Known(known::Args),
    Changes(changes::Args),
    Health(health::Args),
    Checkpoint(checkpoint::Args),
    Baseline(baseline::Args),
    Noise(noise::Args),
    Browser(browser::Args),
    Debug(debug::Args),
    Run(run::Args),
    Pin(pin::Args),
    Unpin(unpin::Args),
    Usage(usage::Args),
    Gc(gc::Args),
    Verify(verify::Args),
    Export(export::Args),
    Import(import::Args),
    Doctor(doctor::Args),
    Config(config::Args),
    Install(install::Args),
    Hook(hook::Args),
    Open(open::Args),
    Watch(watch::Args),
    Report(report::Args),
    Comment(comment::Args),
    Serve(serve::Args),
    Mcp(mcp::Args),
    AgentHelp(agent_help::Args),
    Completions(completions::Args),
    Man(man::Args),
    Demo(demo::Args),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definitions_hold_together() {
        Cli::command().debug_assert();
        command().debug_assert();
    }

    #[test]
    fn every_command_is_in_one_group() {
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let whole = command();
        let mut known: Vec<&str> = whole.get_subcommands().map(clap::Command::get_name).collect();
        grouped.sort_unstable();
        known.sort_unstable();
        assert_eq!(grouped, known);
    }

    #[test]
    fn every_command_and_flag_says_what_it_does() {
        fn check(command: &clap::Command, path: &str) {
            for below in command.get_subcommands() {
                let name = format!("{path} {}", below.get_name());
                assert!(below.get_about().is_some(), "{name}");
                for argument in below.get_arguments() {
                    assert!(argument.get_help().is_some(), "{name} {}", argument.get_id());
                }
                check(below, &name);
            }
        }
        check(&whole(), "backsight");
    }
}
