//! `backsight man [COMMAND]`: the manual page of the program, or of one of its commands, from the same definitions as the
//! help.

use backsight_core::{Code, Error, Result, quote};
use clap::Command;
use serde_json::json;

use crate::cli;
use crate::commands::Verdict;
use crate::context::Context;

/// Print a manual page
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight man | man -l -
  backsight man session revert > ~/.local/share/man/man1/backsight-session-revert.1")]
pub struct Args {
    /// Of this command; of the program when left out
    #[arg(value_name = "COMMAND")]
    words: Vec<String>,
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let whole = cli::whole();
    let (name, command) = find(&whole, &args.words)?;
    let mut page = Vec::new();
    clap_mangen::Man::new(command)
        .title(&name)
        .source(concat!("backsight ", env!("CARGO_PKG_VERSION")))
        .render(&mut page)
        .map_err(|error| Error::io("write the manual page", error))?;
    let report = json!({ "name": name, "page": String::from_utf8_lossy(&page) });
    context.answer(&report, |sheet| sheet.data.raw(&page))?;
    Ok(Verdict::Done)
}

/// `backsight-session-revert`, and the command.
fn find(whole: &Command, words: &[String]) -> Result<(String, Command)> {
    let mut found = whole;
    for word in words {
        found = found.find_subcommand(word).ok_or_else(|| {
            Error::new(Code::Usage, format!("there is no command `{}`", quote(words.join(" ").as_bytes())))
                .with_hint("`backsight --help` lists the commands")
        })?;
    }
    let name = std::iter::once("backsight").chain(words.iter().map(String::as_str)).collect::<Vec<_>>().join("-");
    Ok((name, found.clone()))
}
