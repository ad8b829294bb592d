//! `backsight bisect -- COMMAND`, or with `--page`: which step broke it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use backsight::CallSettings;
use backsight::browser::request::ReadEntry;
use backsight::report::{BisectRun, Bisected, FoundStep, Verdict as Judged};
use backsight::request::{Behalf, PageJudge, PathText, SearchSteps};
use backsight_core::{Code, Error, RelPath, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::arguments::examples_then_references;
use crate::commands::Verdict;
use crate::context::Context;
use crate::lane::Lane;
use crate::page::{GREEN, Page, RED, YELLOW};
use crate::paths;
use crate::render::{snapshot, unified};
use crate::words::{count, enumerate, safe};

/// Find the step that broke something, by a command that fails or a page that shows an error since then
///
/// The command runs on the files of recorded steps, in a copy outside the workspace, about log2(steps) times. Status 0 is
/// good, 125 means that this step cannot be judged, anything else is bad; so is a run that takes longer than --timeout. Both
/// ends are checked first. What no snapshot holds and the command needs, such as node_modules, is shared with --share.
/// BACKSIGHT_STEP is the number of the step.
///
/// With --page the files are served instead, by the command, which is told the port by PORT and in place of {port}, or as they
/// are when there is none. The page is opened in a headless browser of its own; a step is bad when the error of --absent
/// shows, and left out when the page cannot be loaded or not be watched to its end.
#[derive(clap::Args, Debug)]
#[command(after_long_help = examples_then_references!("\
Examples:
  backsight bisect -- cargo test price
  backsight bisect --good 12 --share node_modules -- npm test
  backsight bisect --good @~40 --jobs 2 --timeout 60 -- ./check.sh
  backsight bisect --page /cart.html --absent c12
  backsight bisect --page /cart --absent n7 --share node_modules -- npx vite --port {port}"))]
pub struct Args {
    /// A step at which it worked; the oldest one when left out
    #[arg(long, value_name = "REF")]
    good: Option<String>,
    /// A step at which it fails; the latest one when left out
    #[arg(long, value_name = "REF")]
    bad: Option<String>,
    /// A directory no snapshot holds that the command needs: reflinks, else hard links; may be given several times
    #[arg(long, value_name = "DIR")]
    share: Vec<std::ffi::OsString>,
    /// The same as a copy, for what the command writes to in place
    #[arg(long, value_name = "DIR")]
    copy: Vec<std::ffi::OsString>,
    /// How many runs at a time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=64))]
    jobs: u8,
    /// A run that takes longer than this is bad; with --page, how long the server may take until it listens
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: Option<u64>,
    /// Judge by this page: its path, or its address, of which the path counts
    #[arg(long, value_name = "PATH", requires = "absent")]
    page: Option<String>,
    /// With --page: the error that makes a step bad, by the id of its entry (c12, n7) or by its symptom
    #[arg(long, value_name = "ENTRY", requires = "page")]
    absent: Option<String>,
    /// With --page: how long the page is watched at most; 5 when left out
    #[arg(long = "wait", id = "wait", value_name = "SECONDS", requires = "page")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=60))]
    wait: Option<u64>,
    /// The command and its arguments
    #[arg(last = true, required_unless_present = "page", value_name = "COMMAND")]
    command: Vec<String>,
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let workspace = context.workspace()?;
    let root = workspace.root().to_owned();
    let inside = |typed: &std::ffi::OsString| -> Result<RelPath> {
        paths::inside(&root, context.start(), typed)?
            .ok_or_else(|| Error::new(Code::Usage, "the workspace itself is not shared: its steps hold it"))
    };
    let inside_all = |typed: &[std::ffi::OsString]| -> Result<Vec<PathText>> {
        typed.iter().map(|typed| Ok(PathText::from(&inside(typed)?))).collect()
    };
    let request = SearchSteps {
        good: args.good.clone(),
        bad: args.bad.clone(),
        command: args.command.clone(),
        judge: page(args, context)?,
        directory: paths::inside(&root, context.start(), ".".as_ref())?.as_ref().map(PathText::from),
        share: inside_all(&args.share)?,
        copy: inside_all(&args.copy)?,
        jobs: Some(args.jobs),
        timeout_ms: args.timeout.map(|seconds| seconds.saturating_mul(1000)),
        who: Behalf::default(),
    };
    let handle = workspace.for_call(CallSettings { cancelled: Some(interrupted()?), ..CallSettings::default() });
    let answer = handle.perform(request)?;
    let readable = context.readable(&workspace, &answer)?;
    context.answer(&answer, |page| show(page, &readable, context))?;
    Ok(Verdict::no_if(answer.found.is_none()))
}

/// The page that tells. Entries live in the server, so it is asked by what the error is known.
fn page(args: &Args, context: &Context) -> Result<PageJudge> {
    let (Some(page), Some(absent)) = (&args.page, &args.absent) else { return Ok(PageJudge::default()) };
    let absent = match absent.contains(':') {
        true => absent.clone(),
        false => {
            let lane = Lane::find(context)?;
            let entry = lane.server("an entry")?.perform(&ReadEntry { id: absent.clone() })?;
            entry.shown_again()?.to_string()
        }
    };
    let wait_ms = args.wait.map(|seconds| seconds.saturating_mul(1000));
    Ok(PageJudge { page: Some(page.clone()), absent: Some(absent), wait_ms })
}

/// Whether the user wants it to end: the command is in a group of its own, so that what it started goes too.
fn interrupted() -> Result<Arc<dyn Fn() -> bool + Send + Sync>> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, flag.clone()).map_err(|error| Error::io("catch signals", error))?;
    }
    Ok(Arc::new(move || flag.load(Ordering::SeqCst)))
}

fn show(page: &mut Page, answer: &Bisected, context: &Context) {
    for run in &answer.runs {
        run_line(page, run);
    }
    page.data.line("");
    let summary = safe(&answer.summary);
    let summary = page.data.bold(summary);
    page.data.line(summary);
    match &answer.found {
        Some(found) => step(page, found, answer, context),
        None => page.data.line(format_args!("It is one of {}", enumerate(&answer.among))),
    }
    if answer.left_out > 0 {
        let steps = count(answer.left_out, "step");
        page.warning(format_args!("{steps} in between left out: retention removed their contents"));
    }
    if !answer.shared_changed.is_empty() {
        let files = enumerate(&answer.shared_changed);
        page.warning(format_args!("the command wrote to shared files of the workspace: {files}; use --copy for them"));
    }
}

fn run_line(page: &mut Page, run: &BisectRun) {
    let (colour, verdict) = match run.verdict {
        Judged::Good => (GREEN, "good"),
        Judged::Bad => (RED, "bad "),
        Judged::Skip => (YELLOW, "skip"),
    };
    let verdict = page.data.paint(colour, verdict);
    let time = page.data.dim(format_args!("{} ms, files {} ms", run.ms, run.files_ms));
    let step = run.step.to_string();
    page.data.line(format_args!("{step:>6} {verdict} {:<12} {time}", safe(&run.because)));
}

fn step(page: &mut Page, found: &FoundStep, answer: &Bisected, context: &Context) {
    page.data.line("");
    snapshot::card(&mut page.data, &found.snapshot, context.now);
    if let Some(title) = &found.title {
        let label = page.data.dim(format_args!("{:<9}", "prompt"));
        page.data.line(format_args!("{label} {}", safe(title)));
    }
    if !answer.output.trim().is_empty() {
        page.data.line("");
        let last: Vec<&str> = answer.output.lines().rev().take(10).collect();
        for line in last.iter().rev() {
            let line = page.data.dim(format_args!("  | {}", safe(line)));
            page.data.line(line);
        }
    }
    page.data.line("");
    unified::show(&mut page.data, found.patch.as_bytes());
    if found.patch_cut > 0 {
        page.warning(format_args!("{} of the diff are not shown", count(found.patch_cut, "byte")));
    }
    page.hint(format_args!("take it back with `backsight revert {}`", found.snapshot.sequence_number.0));
}
