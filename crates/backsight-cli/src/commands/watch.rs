//! `backsight watch`: the workspace on a whole screen, live.

use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use backsight::browser::Health;
use backsight::browser::request::ReadAppHealth;
use backsight::report::{Call, LogPage, Session, WorkspaceStatus};
use backsight::request::{Log, Sessions};
use backsight_core::{Code, Error, Result, quote};
use serde::Serialize;

use crate::commands::{Verdict, open};
use crate::context::Context;
use crate::lane::Lane;
use crate::watch::{self, Look, Subject};

/// Watch the workspace on a whole screen, live
///
/// The timeline, the differences of the chosen step, the app's health, and who works on what. Undo and revert show what they
/// would do and ask first. It works without a server; with one it also knows the app. `?` lists the keys. With --json it
/// prints once what it would begin with.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight watch
  backsight watch --json        once, as one object")]
pub struct Args {
    /// Who looks: each person has a place of their own in the timeline; you, unless told otherwise
    #[arg(long = "as", value_name = "NAME")]
    person: Option<String>,
}

/// What is shown first, as one object.
#[derive(Serialize)]
struct Watched {
    #[serde(flatten)]
    page: LogPage,
    status: WorkspaceStatus,
    sessions: Vec<Session>,
    open_calls: Vec<Call>,
    /// Whether a server runs; without one nobody watches the app.
    served: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    health: Option<Health>,
}

/// Rows in the object.
const ROWS: usize = 50;

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let person = open::person(args.person.as_deref(), |name| std::env::var(name).ok())?;
    if context.screen.is_json() {
        context.answer(&once(context)?, |_| {})?;
        return Ok(Verdict::Done);
    }
    if !context.screen.is_terminal() {
        return Err(Error::new(Code::Usage, "`watch` draws on a terminal, and stdout is none")
            .with_hint("ask once with `backsight watch --json`, or list what was recorded with `backsight log`"));
    }
    let mut settings = context.settings();
    // Nothing else may write on the screen.
    settings.progress = Arc::new(|_| ());
    let root = context.root();
    let shown = quote(root.as_os_str().as_bytes());
    let look = Look { alphabet: context.alphabet, is_coloured: context.screen.is_coloured() };
    Ok(match watch::run(Subject { root, settings, person }, look, shown)? {
        0 => Verdict::Done,
        status => Verdict::Ended(status),
    })
}

fn once(context: &Context) -> Result<Watched> {
    let workspace = context.workspace()?;
    let lane = Lane::find(context)?;
    let sessions = match workspace.store_path()? {
        Some(_) => workspace.sessions(&Sessions { limit: ROWS })?,
        None => Vec::new(),
    };
    let health = match &lane {
        Lane::Server(server) => {
            Some(server.perform(&ReadAppHealth { client: Some("watch".to_owned()), checkpoint: None })?)
        }
        Lane::Store(_) => None,
    };
    Ok(Watched {
        page: workspace.log(&Log { limit: ROWS, ..Log::default() })?,
        status: workspace.status()?,
        sessions,
        open_calls: workspace.open_calls()?,
        served: lane.is_served(),
        health,
    })
}
