//! The debug lane in this process, on real debuggers: what a capture costs beside what a plain client pays that asks for
//! variables one by one, what a long list adds, a thousand automatic snapshots, and how fast and how short a diff is.

mod inspector;
mod people;
mod plain;
mod programs;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use backsight_core::Timestamp;
use backsight_debug::capture::{Capture, FrameCapture, Inside, Node, Safety, Scope, Variable};
use backsight_debug::debugger::{self, Debugger, PointRequest};
use backsight_debug::diff::{self, snapshot_diff};
use backsight_debug::render;
use backsight_debug::session::{BreakpointRequest, Control, Launch, Outcome, Session, Setup};
use backsight_debug::walk::CapturePlan;

use crate::Result;
use crate::measure::Samples;
use crate::table::{Quantity, Ratio, Row, Table};
use crate::tokens;
use programs::{LANGUAGES, Language, Program};

/// Longer than any of this takes.
const PATIENCE: Duration = Duration::from_secs(60);
/// Times for 50 locals, by depth.
const BARS: [(u32, Duration); 2] = [(0, Duration::from_millis(50)), (2, Duration::from_millis(100))];
/// What a million elements may add.
const MILLION: Duration = Duration::from_millis(20);
/// A thousand automatic snapshots.
const THOUSAND: Duration = Duration::from_secs(6);
/// What an answer may take.
const TOKENS: u64 = 1_500;

/// Everything about the debug lane; what is built and written goes into a directory of its own.
pub fn measure(folder: &Path, rounds: usize, table: &mut Table) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    diffs(rounds.max(5), table);
    for language in &LANGUAGES {
        captures(&language.program(folder)?, language, rounds.max(5), table)?;
    }
    let program = LANGUAGES[0].program(folder)?;
    thousand(&program, table)?;
    odd_frame(&program, table)?;
    people::measure(folder, rounds.max(5), table)
}

/// Fifty locals in one language, and the same with a long list.
fn captures(program: &Program, language: &Language, rounds: usize, table: &mut Table) -> Result<()> {
    let session = program.pause_at("FIFTY")?;
    let mut plain = language.plain(program)?;
    let name = language.name;
    let mut deep = Duration::ZERO;
    for (depth, bar) in BARS {
        let ours = time(rounds, || captured(&session, depth, 50))?;
        let theirs = time(rounds.min(5), || plain.look(depth))?;
        let work = format!("{name}: 50 locals, depth {depth}");
        table.push(Row::times(&work, &ours, "the bar", &Samples::new(vec![bar]), Ratio::AtMost(1.0)));
        let against = format!("{}, one by one", language.peer);
        table.push(Row::times("the same", &ours, &against, &theirs, Ratio::Multiple));
        deep = ours.median();
    }
    match session.control(Control::Continue, None, PATIENCE)? {
        Outcome::Stopped(_) => {}
        other => return Err(format!("{name}: the long list was not reached: {other:?}").into()),
    }
    let long = time(rounds, || captured(&session, 2, 51))?;
    table.push(Row {
        work: format!("{name}: what a list of 1,000,000 adds"),
        ours: Quantity::Time(long.median().saturating_sub(deep)),
        against: "the bar".to_owned(),
        theirs: Quantity::Time(MILLION),
        ratio: Ratio::AtMost(1.0),
        samples: [long.milliseconds(), vec![]],
    });
    Ok(())
}

fn captured(session: &Session, depth: u32, locals: usize) -> Result<()> {
    let capture = session.capture(CapturePlan { depth, ..CapturePlan::default() })?;
    let found = capture.frames[0].variables.iter().filter(|variable| variable.scope == Scope::Local).count();
    match found == locals {
        true => Ok(()),
        false => Err(format!("{found} locals instead of {locals}").into()),
    }
}

fn captured_at(session: &Session, depth: u32) -> Result<()> {
    Ok(session.capture(CapturePlan { depth, ..CapturePlan::default() }).map(drop)?)
}

/// The times of some work, after it was done once.
fn time(rounds: usize, mut work: impl FnMut() -> Result<()>) -> Result<Samples> {
    work()?;
    let mut times = Vec::new();
    for _ in 0..rounds {
        let start = Instant::now();
        work()?;
        times.push(start.elapsed());
    }
    Ok(Samples::new(times))
}

/// A point in a loop of Python's that comes by a thousand times.
fn thousand(program: &Program, table: &mut Table) -> Result<()> {
    let next = AtomicU64::new(1);
    let debugger = Debugger::new(debugger::Options {
        setup: setup(),
        root: program.folder.clone(),
        salt: 1,
        random: Arc::new(move || Ok(u128::from(next.fetch_add(1, Ordering::Relaxed)) << 64)),
    });
    let last = program.at("LAST")?;
    debugger.launch(None, program.launch(vec![program.at("FIFTY")?, last]), &|| false)?;
    let point = PointRequest {
        name: Some("loop".to_owned()),
        breakpoint: program.at("LOOP")?,
        max_hits: Some(1_000),
        every: None,
        plan: CapturePlan::default(),
    };
    debugger.snapshot_on(None, point)?;
    debugger.remove_breakpoint(None, "bp-1")?;
    let start = Instant::now();
    let moved = debugger.control(None, Control::Continue, None, PATIENCE, &|| false)?;
    let took = start.elapsed();
    let kept = debugger.snapshots(None)?.snapshots.len();
    if (moved.captured, kept) != (1_000, 1_000) || !matches!(moved.outcome, Outcome::Stopped(_)) {
        return Err(format!("{kept} of 1,000 snapshots: {moved:?}").into());
    }
    let (ours, bar) = (Samples::new(vec![took]), Samples::new(vec![THOUSAND]));
    let work = "debugpy: 1,000 automatic snapshots in a loop";
    table.push(Row::times(work, &ours, "the bar", &bar, Ratio::AtMost(1.0)));
    Ok(())
}

/// Values of every kind before and after they changed.
fn odd_frame(program: &Program, table: &mut Table) -> Result<()> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/backsight-debug/tests/debug/programs/table.py");
    let odd = Program { program: source.clone(), source, ..program.clone() };
    let session = odd.pause_at("FIRST")?;
    let plan = CapturePlan { depth: 2, limit: PATIENCE, ..CapturePlan::default() };
    let before = session.capture(plan.clone())?;
    session.set_breakpoint(odd.at("SECOND")?)?;
    session.control(Control::Continue, None, PATIENCE)?;
    let after = session.capture(plan)?;
    let odd = render::compact(&snapshot_diff(&before, &after, &diff::Options::default()));
    let many = render::compact(&snapshot_diff(&large(200, 250, 0), &large(200, 250, 1), &diff::Options::default()));
    let counts = tokens::count(&[&odd, &many])?;
    let work = "debugpy: the diff of an odd frame, o200k tokens";
    table.push(Row::counts(work, counts[0], "the bar", TOKENS, Ratio::AtMost(1.0)));
    let work = "the diff of 50,000 changed nodes, o200k tokens";
    table.push(Row::counts(work, counts[1], "the bar", TOKENS, Ratio::AtMost(1.0)));
    Ok(())
}

/// Diffs of captures that are there already.
fn diffs(rounds: usize, table: &mut Table) {
    let flat = (large(200, 0, 0), large(200, 0, 1));
    let deep = (large(200, 250, 0), large(200, 250, 1));
    let works = [
        ("the diff of 200 variables, all changed", &flat, Duration::from_millis(1)),
        ("the diff of 50,000 nodes, all changed", &deep, Duration::from_millis(150)),
    ];
    for (work, (old, new), bar) in works {
        let times = (0..rounds).map(|_| {
            let start = Instant::now();
            std::hint::black_box(snapshot_diff(old, new, &diff::Options::default()));
            start.elapsed()
        });
        let ours = Samples::new(times.collect());
        table.push(Row::times(work, &ours, "the bar", &Samples::new(vec![bar]), Ratio::AtMost(1.0)));
    }
}

/// A capture of so many variables with so many fields each, all of whose values depend on `version`.
fn large(variables: usize, fields: usize, version: u64) -> Capture {
    let leaf = |number: usize| Node::leaf("int", (number as u64 * 2 + version).to_string());
    let value = |number: usize| match fields {
        0 => leaf(number),
        _ => {
            let inside = (0..fields).map(|field| (format!("field_{field}"), leaf(number * fields + field))).collect();
            Node::new("Thing", "Thing", Inside::Fields(inside))
        }
    };
    let named = |number: usize| Variable::new(Scope::Local, format!("variable_{number}"), value(number));
    Capture {
        id: format!("snap-{version}"),
        label: format!("version-{version}"),
        number: version + 1,
        timestamp: Timestamp(1_800_000_000_000),
        thread_id: 1,
        stack_depth: Some(1),
        depth: 1,
        safety: Safety::Pure,
        frames: vec![FrameCapture {
            thread_id: 1,
            index: 0,
            function: "work".to_owned(),
            file: Some("work.py".to_owned()),
            line: Some(1),
            call: None,
            variables: (0..variables).map(named).collect(),
        }],
        incomplete: Vec::new(),
    }
}

fn setup() -> Setup {
    let search = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect();
    Setup::new(search, Arc::new(|| Timestamp::from_system(std::time::SystemTime::now())))
}

impl Program {
    /// The line that is marked with a word.
    fn line(&self, mark: &str) -> Result<u32> {
        let text = std::fs::read_to_string(&self.source)?;
        let found = text.lines().position(|line| line.ends_with(&format!(" {mark}")));
        Ok(found.ok_or_else(|| format!("no line is marked {mark}"))? as u32 + 1)
    }

    fn at(&self, mark: &str) -> Result<BreakpointRequest> {
        Ok(BreakpointRequest::line(&self.source, self.line(mark)?))
    }

    fn launch(&self, breakpoints: Vec<BreakpointRequest>) -> Launch {
        Launch {
            program: self.program.clone(),
            directory: self.folder.clone(),
            runtime: self.runtime.clone(),
            breakpoints,
            wait: PATIENCE,
            ..Launch::default()
        }
    }

    /// The program, paused at a line; it will also pause with the long list.
    fn pause_at(&self, mark: &str) -> Result<Session> {
        let lines = [mark, "MILLION"].iter().filter_map(|mark| self.at(mark).ok()).collect();
        match Session::launch(&setup(), self.launch(lines))? {
            (session, Outcome::Stopped(_)) => Ok(session),
            (_, other) => Err(format!("`{}` did not pause at {mark}: {other:?}", self.program.display()).into()),
        }
    }
}
