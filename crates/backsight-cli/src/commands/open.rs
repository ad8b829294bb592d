//! `backsight open`: the dashboard in a browser.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use backsight::{Workspace, names};
use backsight_core::{Code, Error, Result};
use backsight_server::{Address, Options, Served, leading};
use serde::Serialize;

use crate::commands::Verdict;
use crate::context::Context;

/// Open the dashboard in a browser
///
/// Prints an address that works once, for ten minutes, and opens it where there is a desktop. When no server runs in the
/// workspace this one serves until Ctrl-C. The dashboard shows what happened since you last looked, the timeline, every
/// step, checkpoint and error, and takes steps back.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight open
  backsight open --print            only the address, for a browser of your choice
  backsight open --as ada           with a place in the timeline of her own")]
pub struct Args {
    /// Print the address and open no browser
    #[arg(long)]
    print: bool,
    /// Who looks: each person has a place of their own in the timeline; you, unless told otherwise
    #[arg(long = "as", value_name = "NAME")]
    person: Option<String>,
    /// Start no server when none runs, and say so
    #[arg(long)]
    no_start: bool,
    /// The port of a server that is started; 0 takes any free one
    #[arg(long, default_value_t = 0)]
    port: u16,
}

/// Where the dashboard is.
#[derive(Serialize)]
struct Opened<'a> {
    running: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    person: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let person = person(args.person.as_deref(), |name| std::env::var(name).ok())?;
    if let Some(address) = backsight_server::find(&context.root(), context.settings())? {
        open(args, context, &person, &address)?;
        return Ok(Verdict::Done);
    }
    if args.no_start {
        let none = Opened { running: false, url: None, person: None, pid: None };
        context.answer(&none, |page| {
            page.data.line("no server runs in this workspace");
            page.data.line("start one with `backsight open`");
        })?;
        return Ok(Verdict::No);
    }
    let token = std::env::var("BACKSIGHT_TOKEN").ok().filter(|token| !token.is_empty());
    let options = Options { port: args.port, token, ..Options::default() };
    let mut shown = Ok(());
    let ready = |address: &Address| shown = open(args, context, &person, address);
    let served = backsight_server::serve(context.workspace()?, &options, ready)?;
    shown?;
    if let Served::Elsewhere(address) = served {
        open(args, context, &person, &address)?;
    }
    Ok(Verdict::Done)
}

/// Who looks: as told, else as the system calls the user.
pub fn person(told: Option<&str>, variable: impl Fn(&str) -> Option<String>) -> Result<String> {
    match told {
        Some(told) if names::is_name(told) => Ok(told.to_owned()),
        Some(told) => {
            let told = backsight_core::quote(told.as_bytes());
            Err(Error::new(Code::Usage, format!("`{told}` cannot name a person"))
                .with_hint("use a short name, such as `ada`"))
        }
        None => {
            let known = ["USER", "LOGNAME"].into_iter().filter_map(variable).find(|name| names::is_name(name));
            Ok(known.unwrap_or_else(|| "me".to_owned()))
        }
    }
}

fn open(args: &Args, context: &Context, person: &str, address: &Address) -> Result<()> {
    let workspace = context.workspace()?;
    let store = workspace.store()?;
    let store = store.ok_or_else(|| Error::new(Code::WorkspaceNotFound, "the workspace has no store"))?;
    let nonce = backsight_server::random_token()?;
    let url = address.invite(store.seal(), person, context.now, nonce.clone());
    let is_ours = address.pid == std::process::id();
    let opener = (!args.print && !context.screen.is_json()).then(|| opener(|name| std::env::var_os(name).is_some()));
    let program = opener.flatten().and_then(|name| found(name, &workspace.search_path()));
    let is_opened = program.is_some_and(|program| start(&program, &workspace, &nonce, &url));
    let opened = Opened { running: true, url: Some(&url), person: Some(person), pid: Some(address.pid) };
    context.answer(&opened, |page| {
        page.data.line(&url);
        let what = if is_opened { "opened in your browser" } else { "open it in a browser on this machine" };
        page.note(format_args!("{what}; the address works once, for ten minutes"));
        if is_ours {
            page.note("this process serves the workspace; Ctrl-C ends it");
        }
    })
}

/// The program that opens addresses, where there is a desktop.
fn opener(is_set: impl Fn(&str) -> bool) -> Option<&'static str> {
    if cfg!(target_os = "macos") {
        return Some("open");
    }
    ["DISPLAY", "WAYLAND_DISPLAY"].into_iter().any(is_set).then_some("xdg-open")
}

/// The program with this name outside the workspace: a user who has `node_modules/.bin` on the search path did not choose one there.
fn found(name: &str, search: &[PathBuf]) -> Option<PathBuf> {
    let is_program = |path: &PathBuf| path.metadata().is_ok_and(|found| found.is_file() && found.mode() & 0o111 != 0);
    search.iter().map(|directory| directory.join(name)).find(is_program)
}

/// Starts it and does not wait for it. It is told of a page that leads to the address: every user of the machine can read what
/// a program is started with.
fn start(program: &Path, workspace: &Workspace, nonce: &str, url: &str) -> bool {
    let Some(place) = leading::place(workspace.state_directory().as_deref()) else { return false };
    let Ok(page) = leading::write(&place, nonce, url) else { return false };
    let quiet = || Stdio::null();
    // `xdg-open` is a script, and what it looks for is on the search path too.
    let search = std::env::join_paths(workspace.search_path()).unwrap_or_default();
    let mut command = Command::new(program);
    command.arg(&page).env("PATH", search).stdin(quiet()).stdout(quiet()).stderr(quiet());
    let is_started = command.spawn().is_ok();
    if !is_started {
        let _ = std::fs::remove_file(page);
    }
    is_started
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_is_called_as_told_or_as_the_system_says() {
        let user = |name: &str| (name == "LOGNAME").then(|| "grace".to_owned());
        assert_eq!(person(Some("ada"), user).unwrap(), "ada");
        assert_eq!(person(None, user).unwrap(), "grace");
        assert_eq!(person(None, |_| Some(String::new())).unwrap(), "me");
        assert_eq!(person(Some("a\nb"), user).unwrap_err().code(), Code::Usage);
    }

    #[test]
    fn a_browser_is_opened_only_where_there_is_a_desktop() {
        if cfg!(target_os = "linux") {
            assert_eq!(opener(|_| false), None);
            assert_eq!(opener(|name| name == "WAYLAND_DISPLAY"), Some("xdg-open"));
        }
    }
}
