//! `backsight completions SHELL`: a script that lets the shell complete commands and flags.

use backsight_core::Result;
use clap::CommandFactory;
use clap_complete::Shell;
use serde_json::json;

use crate::cli::Cli;
use crate::commands::Verdict;
use crate::context::Context;

/// Print a completion script for a shell
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight completions bash > ~/.local/share/bash-completion/completions/backsight
  backsight completions fish > ~/.config/fish/completions/backsight.fish")]
pub struct Args {
    /// Which shell
    shell: Shell,
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "backsight", &mut script);
    let report = json!({ "shell": args.shell.to_string(), "script": String::from_utf8_lossy(&script) });
    context.answer(&report, |page| page.data.raw(&script))?;
    Ok(Verdict::Done)
}
