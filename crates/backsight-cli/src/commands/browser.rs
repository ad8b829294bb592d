//! `backsight browser`: which browser is watched.

use std::path::PathBuf;

use backsight::browser::event::{Category, Level};
use backsight::browser::render;
use backsight::browser::request::{
    AttachBrowser, DetachBrowser, ReadAppLog, ReadArchive, ReadBrowserStatus, ReadEntry, RenewPageKey,
};
use backsight::report::BrowserStatus;
use backsight_core::{Code, Error, Result};
use clap::Subcommand;
use serde_json::json;

use crate::commands::Verdict;
use crate::commands::changes::since;
use crate::context::Context;
use crate::lane::Lane;
use crate::new_file;
use crate::render::app;
use crate::words::count;

/// Watch the app in a browser
///
/// A Chromium or Chrome that runs, or a new one. Only pages of this machine are watched unless you say otherwise; pages
/// are never closed, paused or changed. Firefox, Safari and webviews report by themselves with the line that `browser
/// snippet` prints. The workspace's server does the watching, so it must run: `backsight serve`.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight browser launch http://localhost:5173
  backsight browser attach --port 9222      a browser started with --remote-debugging-port=9222
  backsight browser status
  backsight browser entry c12               one entry of `backsight changes` in full
  backsight browser snippet                 for every other browser")]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Attach(Attach),
    Launch(Launch),
    Status(Status),
    Detach(Detach),
    Snippet(Snippet),
    Log(Log),
    Entry(Entry),
    Har(Archive),
}

/// Watch a browser that runs with remote debugging
///
/// Without an address, a browser that says in its profile where it listens is looked for.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight browser attach
  backsight browser attach --port 9222
  backsight browser attach --port 9222 --origin https://staging.example.test")]
struct Attach {
    /// Where it listens: http://127.0.0.1:9222 or ws://...
    #[arg(long, value_name = "URL", conflicts_with_all = ["port", "profile"])]
    url: Option<String>,
    /// Its debugging port
    #[arg(long, value_name = "N", conflicts_with = "profile")]
    port: Option<u16>,
    /// Its profile directory
    #[arg(long, value_name = "DIR")]
    profile: Option<PathBuf>,
    #[command(flatten)]
    pages: Pages,
}

/// Start a browser of our own and watch it; it ends with `detach` or the server
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight browser launch http://localhost:5173
  backsight browser launch http://localhost:5173 --headed")]
struct Launch {
    /// The page to open
    #[arg(value_name = "URL")]
    url: Option<String>,
    /// With a window
    #[arg(long)]
    headed: bool,
    /// The program to start, instead of one of the usual names
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// The profile directory to use and keep, instead of an empty one
    #[arg(long, value_name = "DIR")]
    profile: Option<PathBuf>,
    #[command(flatten)]
    pages: Pages,
}

/// Which pages are watched.
#[derive(clap::Args, Debug)]
struct Pages {
    /// Watch pages of this origin, instead of those of this machine (repeatable)
    #[arg(long = "origin", value_name = "ORIGIN")]
    origins: Vec<String>,
    /// Watch every page, whatever its address
    #[arg(long, conflicts_with = "origins")]
    all_pages: bool,
}

impl Pages {
    fn request(&self) -> AttachBrowser {
        AttachBrowser { origins: self.origins.clone(), all_pages: self.all_pages, ..AttachBrowser::default() }
    }
}

/// Show who watches the app
#[derive(clap::Args, Debug)]
struct Status {}

/// Stop watching the browser; pages stay open, and a browser of our own ends
#[derive(clap::Args, Debug)]
struct Detach {}

/// Print the line that lets a page in any browser report by itself
///
/// Put it first into the page's head while you develop. It reports to this workspace's server only. The key in it stays
/// the same; if it got where it should not be, into a public repository say, make a new one with `--renew`.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight browser snippet
  backsight browser snippet --renew         pages with the old line are not heard any more")]
struct Snippet {
    /// Make a new key first; the old one opens nothing any more
    #[arg(long)]
    renew: bool,
}

/// Show what happened, one by one, newest first
///
/// The raw log behind `backsight changes`: console, network, WebSockets and user actions, each with the id that
/// `backsight browser entry` takes. Frames of WebSockets are counted and not listed.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight browser log
  backsight browser log --level error --text checkout
  backsight browser log --status failed --since session_start")]
struct Log {
    /// Only of this: console, network, websocket, actions
    #[arg(long, value_name = "CATEGORY", value_parser = app::category)]
    category: Option<Category>,
    /// Only console messages at least as serious: debug, info, warning, error
    #[arg(long, value_name = "LEVEL", value_parser = app::level)]
    level: Option<Level>,
    /// Only with this text, in any case
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
    /// Only requests with this status: 404, 5xx or failed
    #[arg(long, value_name = "STATUS")]
    status: Option<String>,
    /// A checkpoint, a time (10min, 2026-08-01 14:00), `start` or `load` (of the page)
    #[arg(long, value_name = "SINCE", value_parser = since)]
    since: Option<String>,
    /// How many
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Where the last page ended
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
}

/// Show one entry in full, by its id in `backsight changes` or `backsight browser log`
///
/// The whole message with its stack, or a request with heads, bodies and timing; secrets are taken out.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight browser entry c12
  backsight browser entry n7 --json")]
struct Entry {
    /// Its id: c12, n7, w3, a5
    #[arg(value_name = "ID")]
    id: String,
}

/// Write the requests that are kept as an HTTP Archive (HAR 1.2)
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight browser har -o app.har
  backsight browser har | jq '.log.entries | length'")]
struct Archive {
    /// The file to write, which must not exist; stdout when left out
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let lane = Lane::find(context)?;
    match &args.action {
        Action::Attach(args) => attach(args, context, &lane)?,
        Action::Launch(args) => launch(args, context, &lane)?,
        Action::Status(_) => status(context, &lane)?,
        Action::Detach(_) => {
            let status = lane.server("detaching a browser")?.perform(&DetachBrowser {})?;
            context.answer(&status, |page| app::status(page, &status))?;
        }
        Action::Snippet(args) => snippet(args, context, &lane)?,
        Action::Log(args) => log(args, context, &lane)?,
        Action::Entry(args) => entry(args, context, &lane)?,
        Action::Har(args) => archive(args, context, &lane)?,
    }
    Ok(Verdict::Done)
}

fn attach(args: &Attach, context: &Context, lane: &Lane) -> Result<()> {
    let request = AttachBrowser {
        url: args.url.clone(),
        port: args.port,
        profile: args.profile.as_ref().map(|profile| context.start().join(profile)),
        ..args.pages.request()
    };
    watch(context, lane, "watching a browser", &request)
}

fn launch(args: &Launch, context: &Context, lane: &Lane) -> Result<()> {
    let file = |path: &Option<PathBuf>| path.as_ref().map(|path| context.start().join(path));
    let request = AttachBrowser {
        launch: true,
        headless: !args.headed,
        open: args.url.clone(),
        program: file(&args.program),
        profile: file(&args.profile),
        ..args.pages.request()
    };
    watch(context, lane, "starting a browser", &request)
}

fn watch(context: &Context, lane: &Lane, what: &str, request: &AttachBrowser) -> Result<()> {
    let status = lane.server(what)?.perform(request)?;
    context.answer(&status, |page| app::status(page, &status))
}

fn status(context: &Context, lane: &Lane) -> Result<()> {
    let status: BrowserStatus = lane.perform(ReadBrowserStatus {})?;
    context.answer(&status, |page| {
        app::status(page, &status);
        app::advise(page, status.coverage.attached, lane.is_served());
    })
}

fn snippet(args: &Snippet, context: &Context, lane: &Lane) -> Result<()> {
    let server = lane.server("a page that reports")?;
    let mut address = server.address().clone();
    if args.renew {
        address.ingest_key = server.perform(&RenewPageKey {})?.ingest_key;
    }
    let tag = address.script_tag();
    context.answer(&json!({ "snippet": tag, "renewed": args.renew }), |page| {
        page.data.line(&tag);
        if args.renew {
            page.hint("pages with the old line are not heard any more: replace it");
        }
        page.hint("put it first into the page's <head>, and only while you develop");
    })
}

fn log(args: &Log, context: &Context, lane: &Lane) -> Result<()> {
    let request = ReadAppLog {
        client: None,
        category: args.category,
        level: args.level,
        text: args.text.clone(),
        status: args.status.clone(),
        since: args.since.clone(),
        limit: Some(args.limit),
        cursor: args.cursor.clone(),
    };
    let found = lane.server("a log")?.perform(&request)?;
    context.answer(&found, |page| app::log(page, &found))
}

fn entry(args: &Entry, context: &Context, lane: &Lane) -> Result<()> {
    let entry = lane.server("an entry")?.perform(&ReadEntry { id: args.id.clone() })?;
    context.answer(&entry, |page| page.data.line(render::entry(&entry).trim_end()))
}

fn archive(args: &Archive, context: &Context, lane: &Lane) -> Result<()> {
    let har = lane.server("an archive")?.perform(&ReadArchive {})?;
    let requests = har.log.entries.len();
    let Some(file) = args.output.as_ref().map(|file| context.start().join(file)) else {
        let text = serde_json::to_string_pretty(&har)
            .map_err(|error| Error::new(Code::Io, format!("the archive cannot be written: {error}")))?;
        return context.answer(&har, |page| page.data.line(text));
    };
    new_file::write(&file, |file| serde_json::to_writer(file, &har).map_err(Into::into))?;
    let (answer, gone) = (json!({ "file": file, "requests": requests }), har.log.comment);
    context.answer(&answer, |page| {
        page.data.line(format_args!("{} in {}", count(requests as u64, "request"), file.display()));
        if !gone.is_empty() {
            page.note(&gone);
        }
    })
}
