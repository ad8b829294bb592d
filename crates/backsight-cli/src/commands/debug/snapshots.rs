//! `backsight debug snapshot`, `diff`, `try` and the others about what the program held when.

use std::ffi::OsString;

use backsight::debug::request::{
    AnswerPart, CaptureExtent, ClearSnapshots, CompareSnapshots, ControlAction, CreateSnapshot, DeleteSnapshot,
    FrameCount, ListSnapshots, ReadSnapshot, StepAndCompare, WhichThreads, limits,
};
use backsight::debug::walk::Frames;
use backsight::request::{ExportSnapshot, PathText};
use backsight_core::Result;
use clap::ValueEnum;

use super::looking::Allowed;
use super::place::{self, Place};
use super::{Desk, Patience};
use crate::commands::Verdict;
use crate::render::debug;
use crate::render::debug::snapshots as render;

/// How much is captured.
#[derive(clap::Args, Debug)]
pub struct Extent {
    /// How deep values are expanded: 0 is the variables themselves
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=i64::from(limits::DEEPEST)))]
    depth: Option<u32>,
    /// An expression to evaluate too (repeatable)
    #[arg(long = "watch", value_name = "EXPRESSION", allow_hyphen_values = true)]
    watches: Vec<String>,
    /// What may run to show a value: pure (nothing of the program), adapter (what the debugger runs), full (getters too)
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = Allowed::Pure, hide_possible_values = true)]
    safety: Allowed,
}

impl Extent {
    /// As the lane takes it.
    pub fn wanted(&self) -> CaptureExtent {
        CaptureExtent { depth: self.depth, watch: self.watches.clone(), safety: self.safety.safety() }
    }
}

/// Which part of a long answer.
#[derive(clap::Args, Debug)]
pub struct Part {
    /// Only what is at or under this path
    #[arg(long, value_name = "PATH")]
    path: Option<String>,
    /// Skip so many, in the order of their importance
    #[arg(long, value_name = "N")]
    offset: Option<u32>,
    /// Say no more than so many tokens, and count the rest
    #[arg(long, value_name = "N", value_parser = super::tokens)]
    max_tokens: Option<usize>,
}

impl Part {
    /// As the lane takes it.
    pub fn wanted(&self) -> AnswerPart {
        AnswerPart { path: self.path.clone(), offset: self.offset.unwrap_or(0), max_tokens: self.max_tokens }
    }
}

/// Capture the variables of the paused program
///
/// Nothing of the program runs for that. Snapshots live as long as the session; `export` keeps one.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight debug snapshot before
  backsight debug snapshot --depth 2 --watch 'order.total'
  backsight debug snapshot deadlock --frames all --threads all")]
pub struct Snapshot {
    /// What it is called, instead of snapshot-1 and so on
    #[arg(value_name = "LABEL")]
    label: Option<String>,
    /// How many frames: top (one), all or a number
    #[arg(long, value_name = "HOW MANY", value_parser = frames)]
    frames: Option<FrameCount>,
    /// Which threads: stopped (the one that paused the program) or all
    #[arg(long, value_name = "WHICH", value_enum, default_value_t = Threads::Stopped, hide_possible_values = true)]
    threads: Threads,
    /// The first frame, 0 is the innermost
    #[arg(long, value_name = "N", default_value_t = 0)]
    frame: u32,
    /// The thread, instead of the one that paused the program
    #[arg(long, value_name = "ID", allow_negative_numbers = true)]
    thread: Option<i64>,
    #[command(flatten)]
    extent: Extent,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Threads {
    Stopped,
    All,
}

fn frames(text: &str) -> Result<FrameCount, String> {
    match (text, text.parse::<u32>()) {
        ("top", _) => Ok(FrameCount(Frames::Top)),
        ("all", _) => Ok(FrameCount(Frames::All)),
        (_, Ok(count)) if (1..=limits::MOST_CAPTURED_FRAMES).contains(&count) => Ok(FrameCount(Frames::Count(count))),
        _ => Err(format!("it is `top`, `all` or a number from 1 to {}", limits::MOST_CAPTURED_FRAMES)),
    }
}

impl Snapshot {
    pub fn run(&self, desk: &Desk<'_>) -> Result<Verdict> {
        let made = desk.perform(&CreateSnapshot {
            session: desk.session(),
            label: self.label.clone(),
            thread: self.thread,
            frame: self.frame,
            frames: self.frames,
            threads: match self.threads {
                Threads::Stopped => WhichThreads::Stopped,
                Threads::All => WhichThreads::All,
            },
            extent: self.extent.wanted(),
        })?;
        desk.context.answer(&made, |page| render::created(page, &made, desk.context.start()))?;
        Ok(Verdict::Done)
    }
}

/// List the snapshots, oldest first
#[derive(clap::Args, Debug)]
pub struct Snapshots {}

impl Snapshots {
    pub fn run(&self, desk: &Desk<'_>) -> Result<Verdict> {
        let list = desk.perform(&ListSnapshots { session: desk.session() })?;
        desk.context.answer(&list, |page| {
            render::list(page, &list.snapshots, desk.context.now, desk.context.start());
            if let Some(warning) = &list.warning {
                page.warning(backsight::debug::render::safe(warning));
            }
            if list.snapshots.is_empty() {
                page.note("there are no snapshots");
                page.hint(format_args!("while the program is paused: {}", desk.command("snapshot LABEL")));
            }
        })?;
        Ok(Verdict::Done)
    }
}

/// Show the values of a snapshot
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight debug show before
  backsight debug show before --path order.items")]
pub struct Show {
    /// Its id or label
    #[arg(value_name = "ID")]
    id: String,
    #[command(flatten)]
    part: Part,
}

impl Show {
    pub fn run(&self, desk: &Desk<'_>) -> Result<Verdict> {
        let (session, id, part) = (desk.session(), self.id.clone(), self.part.wanted());
        let view = desk.perform(&ReadSnapshot { session, id, part })?;
        desk.context.answer(&view, |page| render::values(page, &view, desk.context.start()))?;
        Ok(Verdict::Done)
    }
}

/// Show what changed between two snapshots
///
/// Only what changed itself is told, not everything it is part of; maps and sets are compared by key, and one insertion
/// into a list is one insertion.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight debug diff before after
  backsight debug diff before after --path order.items
  backsight debug diff before after --exit-code     exit 1 when something changed")]
pub struct Diff {
    /// The snapshot to compare from, by id or label
    #[arg(value_name = "FROM")]
    from: String,
    /// The snapshot to compare to, by id or label
    #[arg(value_name = "TO")]
    to: String,
    /// Exit 1 when something changed
    #[arg(long)]
    exit_code: bool,
    #[command(flatten)]
    part: Part,
}

impl Diff {
    pub fn run(&self, desk: &Desk<'_>) -> Result<Verdict> {
        let (from, to, part) = (self.from.clone(), self.to.clone(), self.part.wanted());
        let diff = desk.perform(&CompareSnapshots { session: desk.session(), from, to, part })?;
        desk.context.answer(&diff, |page| render::diff(page, &diff))?;
        Ok(Verdict::no_if(self.exit_code && diff.summary.changes() > 0))
    }
}

/// Delete a snapshot, or all hits of a snapshot point
#[derive(clap::Args, Debug)]
pub struct Delete {
    /// The snapshot's id or label, or the name of a snapshot point
    #[arg(value_name = "ID")]
    id: String,
}

impl Delete {
    pub fn run(&self, desk: &Desk<'_>) -> Result<Verdict> {
        let deleted = desk.perform(&DeleteSnapshot { session: desk.session(), id: self.id.clone() })?;
        desk.context.answer(&deleted, |page| render::deleted(page, &deleted))?;
        Ok(Verdict::Done)
    }
}

/// Delete all snapshots
#[derive(clap::Args, Debug)]
pub struct Clear {}

impl Clear {
    pub fn run(&self, desk: &Desk<'_>) -> Result<Verdict> {
        let cleared = desk.perform(&ClearSnapshots { session: desk.session() })?;
        desk.context.answer(&cleared, |page| render::cleared(page, &cleared))?;
        Ok(Verdict::Done)
    }
}

/// Write a snapshot, without its secrets, into a new file of the workspace
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight debug export before before.json")]
pub struct Export {
    /// The snapshot's id or label
    #[arg(value_name = "ID")]
    id: String,
    /// A file that does not exist yet
    #[arg(value_name = "FILE")]
    file: OsString,
}

impl Export {
    pub fn run(&self, desk: &Desk<'_>) -> Result<Verdict> {
        let file = desk.context.path(&desk.context.workspace()?, &self.file)?;
        let (session, id, file) = (desk.session(), self.id.clone(), PathText::from(&file));
        let exported = desk.perform(&ExportSnapshot { session, id, file })?;
        desk.context.answer(&exported, |page| render::exported(page, &exported))?;
        Ok(Verdict::Done)
    }
}

/// Let the program go on, and show what that changed
///
/// It is captured, goes on, is captured where it pauses again, and both are compared. They stay as `step-before` and
/// `step-after` until the next time.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight debug try                    one line
  backsight debug try finish             until the function returns
  backsight debug try until shop.py:20 --depth 4")]
pub struct Try {
    /// How: step (into calls), next (over calls), finish, continue or until
    #[arg(value_name = "HOW", value_enum, default_value_t = How::Next, hide_possible_values = true)]
    how: How,
    /// Where `until` goes: FILE:LINE
    #[arg(value_name = "FILE:LINE", value_parser = place::line, required_if_eq("how", "until"))]
    place: Option<Place>,
    /// The thread to step, instead of the one that paused the program
    #[arg(long, value_name = "ID", allow_negative_numbers = true)]
    thread: Option<i64>,
    #[command(flatten)]
    extent: Extent,
    #[command(flatten)]
    part: Part,
    #[command(flatten)]
    patience: Patience,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum How {
    Step,
    Next,
    Finish,
    Continue,
    Until,
}

impl How {
    fn action(self) -> ControlAction {
        match self {
            How::Step => ControlAction::StepIn,
            How::Next => ControlAction::StepOver,
            How::Finish => ControlAction::StepOut,
            How::Continue => ControlAction::Continue,
            How::Until => ControlAction::RunTo,
        }
    }
}

impl Try {
    pub fn run(&self, desk: &Desk<'_>) -> Result<Verdict> {
        let at = self.place.as_ref().map(|place| place.spec(desk)).transpose()?.unwrap_or_default();
        let step = desk.perform(&StepAndCompare {
            session: desk.session(),
            action: Some(self.how.action()),
            file: at.file,
            line: at.line,
            thread: self.thread,
            wait_ms: self.patience.timeout,
            extent: self.extent.wanted(),
            part: self.part.wanted(),
        })?;
        desk.context.answer(&step, |page| {
            debug::moved(page, &step.moved, desk.context.start());
            if let Some(diff) = &step.diff {
                page.data.line("");
                render::diff(page, diff);
            }
            debug::advise(page, &step.moved.outcome, |rest| desk.command(rest));
        })?;
        Ok(Verdict::Done)
    }
}
