//! Snapshots of a paused program: taken by hand or by a step, and compared.

use std::path::PathBuf;

use backsight_core::{Effect, Operation, Result, Waits, short_enough};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::limits::{self, usage};
use super::{AnswerPart, Asked, CaptureExtent, ControlAction, FrameCount, WhichThreads};
use crate::debugger::{Cleared, Debugger, Deleted, SnapshotCreated, SnapshotList, StepDiff, USUAL_WAIT};
use crate::report::{SnapshotDiff, SnapshotView};
use crate::session::Control;
use crate::walk::CapturePlan;

/// Capture the variables of the paused program under a label.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct CreateSnapshot {
    /// Which program, by the name of its session; the only one, or `main`, when left out.
    pub session: Option<String>,
    /// What it is called; `snapshot-1` and so on when left out.
    pub label: Option<String>,
    /// The thread; the one that paused the program when left out.
    pub thread: Option<i64>,
    /// The first frame, 0 is the innermost.
    #[serde(default)]
    pub frame: u32,
    /// How many frames from there outwards: `top` (one), `all` or a number; one when left out.
    pub frames: Option<FrameCount>,
    /// Which threads: `stopped` (that one) or `all`.
    #[serde(default)]
    pub threads: WhichThreads,
    /// How much of them.
    #[serde(flatten)]
    pub extent: CaptureExtent,
}

impl Operation for CreateSnapshot {
    type Answer = SnapshotCreated;
    const EFFECT: Effect = Effect::Runs;
    const WAITS: Waits = Waits::ForDebugger;

    fn check(&self) -> Result<()> {
        short_enough("label", self.label.as_deref().unwrap_or_default())?;
        self.frames.unwrap_or_default().check()?;
        self.extent.check()
    }
}

impl Asked for CreateSnapshot {
    fn ask(self, debugger: &Debugger, _: &dyn Fn() -> bool) -> Result<SnapshotCreated> {
        let CreateSnapshot { session, label, thread, frame, frames, threads, extent } = self;
        let (frames, all_threads) = (frames.unwrap_or_default().0, threads == WhichThreads::All);
        let plan = CapturePlan { thread, frame, frames, all_threads, ..extent.plan(0) };
        debugger.create_snapshot(session.as_deref(), label.as_deref(), plan)
    }
}

/// List the snapshots, oldest first.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ListSnapshots {
    /// Which program, by the name of its session; the only one, or `main`, when left out.
    pub session: Option<String>,
}

impl Operation for ListSnapshots {
    type Answer = SnapshotList;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDebugger;
}

impl Asked for ListSnapshots {
    fn ask(self, debugger: &Debugger, _: &dyn Fn() -> bool) -> Result<SnapshotList> {
        debugger.snapshots(self.session.as_deref())
    }
}

/// Read the values of a snapshot.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ReadSnapshot {
    /// Which program, by the name of its session; the only one, or `main`, when left out.
    pub session: Option<String>,
    /// Its id or label.
    pub id: String,
    /// Which of them.
    #[serde(flatten)]
    pub part: AnswerPart,
}

impl Operation for ReadSnapshot {
    type Answer = SnapshotView;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDebugger;

    fn check(&self) -> Result<()> {
        short_enough("id", &self.id)?;
        self.part.check()
    }
}

impl Asked for ReadSnapshot {
    fn ask(self, debugger: &Debugger, _: &dyn Fn() -> bool) -> Result<SnapshotView> {
        debugger.read_snapshot(self.session.as_deref(), &self.id, &self.part.options())
    }
}

/// Compare two snapshots.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct CompareSnapshots {
    /// Which program, by the name of its session; the only one, or `main`, when left out.
    pub session: Option<String>,
    /// The snapshot to compare from, by id or label.
    pub from: String,
    /// The snapshot to compare to, by id or label.
    pub to: String,
    /// Which of the changes.
    #[serde(flatten)]
    pub part: AnswerPart,
}

impl Operation for CompareSnapshots {
    type Answer = SnapshotDiff;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDebugger;

    fn check(&self) -> Result<()> {
        short_enough("from", &self.from)?;
        short_enough("to", &self.to)?;
        self.part.check()
    }
}

impl Asked for CompareSnapshots {
    fn ask(self, debugger: &Debugger, _: &dyn Fn() -> bool) -> Result<SnapshotDiff> {
        debugger.diff_snapshots(self.session.as_deref(), &self.from, &self.to, &self.part.options())
    }
}

/// Delete a snapshot, or all hits of a snapshot point.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct DeleteSnapshot {
    /// Which program, by the name of its session; the only one, or `main`, when left out.
    pub session: Option<String>,
    /// The snapshot's id or label, or the name of a snapshot point.
    pub id: String,
}

impl Operation for DeleteSnapshot {
    type Answer = Deleted;
    const EFFECT: Effect = Effect::Removes;
    const WAITS: Waits = Waits::ForDebugger;

    fn check(&self) -> Result<()> {
        short_enough("id", &self.id)
    }
}

impl Asked for DeleteSnapshot {
    fn ask(self, debugger: &Debugger, _: &dyn Fn() -> bool) -> Result<Deleted> {
        debugger.delete_snapshot(self.session.as_deref(), &self.id)
    }
}

/// Delete all snapshots.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ClearSnapshots {
    /// Which program, by the name of its session; the only one, or `main`, when left out.
    pub session: Option<String>,
}

impl Operation for ClearSnapshots {
    type Answer = Cleared;
    const EFFECT: Effect = Effect::Removes;
    const WAITS: Waits = Waits::ForDebugger;
}

impl Asked for ClearSnapshots {
    fn ask(self, debugger: &Debugger, _: &dyn Fn() -> bool) -> Result<Cleared> {
        debugger.clear_snapshots(self.session.as_deref())
    }
}

/// Let the program go on, and say what that changed: capture, step, capture, compare.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct StepAndCompare {
    /// Which program, by the name of its session; the only one, or `main`, when left out.
    pub session: Option<String>,
    /// What the program shall do; one line, over what it calls, when left out.
    pub action: Option<ControlAction>,
    /// Where `run_to` goes: a source file, relative to the workspace.
    pub file: Option<PathBuf>,
    /// The line of that file, from 1.
    #[schemars(range(min = 1))]
    pub line: Option<u32>,
    /// The thread to step; the one that paused the program when left out.
    pub thread: Option<i64>,
    /// How long to wait for the next stop; 10000 when left out.
    #[schemars(range(max = limits::LONGEST_WAIT_MS))]
    pub wait_ms: Option<u64>,
    /// How much is captured; two levels deep when that is left out.
    #[serde(flatten)]
    pub extent: CaptureExtent,
    /// Which of the changes.
    #[serde(flatten)]
    pub part: AnswerPart,
}

impl StepAndCompare {
    fn control(&self) -> Result<Control> {
        match self.action.unwrap_or(ControlAction::StepOver) {
            ControlAction::Pause => Err(usage("a program that is paused cannot be paused to see what that changes")),
            action => action.control(self.file.clone(), self.line),
        }
    }
}

impl Operation for StepAndCompare {
    type Answer = StepDiff;
    const EFFECT: Effect = Effect::Runs;
    const WAITS: Waits = Waits::ForDebugger;

    fn check(&self) -> Result<()> {
        self.control()?;
        limits::wait(self.wait_ms, USUAL_WAIT)?;
        self.extent.check()?;
        self.part.check()
    }
}

impl Asked for StepAndCompare {
    fn ask(self, debugger: &Debugger, cancelled: &dyn Fn() -> bool) -> Result<StepDiff> {
        let (control, limit) = (self.control()?, limits::wait(self.wait_ms, USUAL_WAIT)?);
        let plan = CapturePlan { thread: self.thread, ..self.extent.plan(limits::USUAL_STEP_DEPTH) };
        debugger.step_and_diff(self.session.as_deref(), control, plan, limit, &self.part.options(), cancelled)
    }
}
