//! What questions to the debug lane are answered with, beside what sessions and snapshots themselves tell.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::report::{SnapshotDiff, SnapshotEntry};
use crate::session::{Breakpoint, BreakpointRequest, Executed, FrameView, Outcome, ThreadView, VariableView};
use crate::testing::TestView;

/// Something for the timeline.
pub type Notable = backsight_core::Notable<NotableKind>;

/// What can be notable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotableKind {
    /// The program paused.
    Stop,
    /// It was captured.
    Capture,
    /// A session is over, and its snapshots are cleared.
    End,
}

/// A session.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct SessionView {
    /// Its name.
    pub session: String,
    /// The debugger.
    pub adapter: String,
    /// What is debugged.
    pub program: String,
    /// Whether it was there before.
    pub attached: bool,
    /// The process that was started: the program itself or its debugger.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<i32>,
    /// Where the program is.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// How many breakpoints there are. `breakpoints` are those the program is paused at.
    pub breakpoint_count: usize,
    /// At how many of them the program will pause.
    pub bound_count: usize,
    /// How many snapshots there are.
    pub snapshots: usize,
    /// How many were cleared when the session ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cleared_snapshots: Option<usize>,
    /// The number the next piece of output will have.
    pub output_next: u64,
    /// What the debugger said that could not be understood: messages, then bytes that were no messages.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub misread: (u64, u64),
    /// What was executed for it.
    #[serde(flatten)]
    pub executed: Executed,
}

/// All sessions.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct SessionList {
    /// The oldest first.
    pub sessions: Vec<SessionView>,
}

/// What came of letting a program go on.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Moved {
    /// Which session.
    pub session: String,
    /// Where the program is.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// The test that it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<TestView>,
    /// Where a test fails, the variables of the frame that is told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<VariableView>,
    /// The end of what it printed meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub printed: Option<String>,
    /// How many bytes it printed before that.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub printed_before: u64,
    /// How many snapshots its snapshot points took meanwhile.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub captured: u64,
    /// Breakpoints at which it will not pause, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unbound: Vec<Breakpoint>,
    /// What was executed: in the answer to the beginning of a session, and only where something was started.
    #[serde(flatten)]
    pub executed: Executed,
}

/// A session that was ended.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Disconnected {
    /// Its name.
    pub session: String,
    /// Whether the program was ended too.
    pub ended_program: bool,
    /// How many snapshots were cleared.
    pub cleared_snapshots: usize,
}

/// The breakpoints of a session.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct BreakpointList {
    /// In the order in which they were set.
    pub breakpoints: Vec<Breakpoint>,
}

/// The threads of a program.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct ThreadList {
    /// As the debugger orders them.
    pub threads: Vec<ThreadView>,
}

/// A snapshot that was taken.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct SnapshotCreated {
    /// It.
    pub snapshot: SnapshotEntry,
    /// How many of its values hold a secret that was replaced.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub redacted: u64,
    /// What to know about it, such as that there are many by now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// The snapshots of a session.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct SnapshotList {
    /// Which session.
    pub session: String,
    /// Oldest first.
    pub snapshots: Vec<SnapshotEntry>,
    /// About how many bytes they take.
    pub bytes: usize,
    /// What to know, such as that there are many by now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// Snapshots that are gone.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Deleted {
    /// Their ids.
    pub deleted: Vec<String>,
}

/// All snapshots are gone.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Cleared {
    /// How many there were.
    pub cleared: usize,
}

/// A place at which the program is captured and goes on.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct PointView {
    /// Its name, which is the series' name.
    pub name: String,
    /// Where, and under which condition.
    #[serde(flatten)]
    pub request: BreakpointRequest,
    /// The breakpoint that makes it; it is gone when this is finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub breakpoint: Option<String>,
    /// Whether the program will come by there.
    pub bound: bool,
    /// What the debugger says about it, above all why it is not bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// How often the program came by.
    pub hits: u64,
    /// How many snapshots were taken.
    pub captured: u64,
    /// It is finished after so many.
    pub max_hits: u64,
    /// What became of it.
    pub state: PointState,
    /// Why the last capture failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl PointView {
    pub(super) fn new(name: String, request: BreakpointRequest, max_hits: u64) -> Self {
        PointView {
            name,
            request,
            breakpoint: None,
            bound: false,
            message: None,
            hits: 0,
            captured: 0,
            max_hits,
            state: PointState::Active,
            problem: None,
        }
    }

    pub(super) fn set(&mut self, breakpoint: Breakpoint) {
        (self.bound, self.message) = (breakpoint.bound, breakpoint.message);
        // It may have all it was to take before it was known to be set.
        self.breakpoint = Some(breakpoint.id).filter(|_| self.state != PointState::Finished);
    }
}

/// What became of a snapshot point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PointState {
    /// It waits for the program.
    Active,
    /// It has all it was to take, or was removed.
    Finished,
    /// A capture failed: the program was left paused there.
    Failed,
}

/// The snapshot points of a session.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct PointList {
    /// In the order in which they were set.
    pub points: Vec<PointView>,
}

/// What a step changed.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct StepDiff {
    /// Where the program is now.
    #[serde(flatten)]
    pub moved: Moved,
    /// What changed; nothing when the program did not pause again, or elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<SnapshotDiff>,
    /// Why there is none although the program paused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What became of a value that was watched while the program went on.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct UntilChange {
    /// Where the program is now.
    #[serde(flatten)]
    pub moved: Moved,
    /// What was watched.
    pub expression: String,
    /// Whether it changed.
    pub changed: bool,
    /// What ended the watch.
    pub until: Until,
    /// The value before.
    pub before: String,
    /// The value now, when it changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// The line that changed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed_by: Option<FrameView>,
    /// The frame in which the value is read now, where its call is still there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_frame: Option<u32>,
    /// How it was watched.
    pub watched_by: WatchedBy,
    /// How many steps were made, or how often it was written to.
    pub steps: u64,
    /// So many other threads ran while it changed: one of them may have done it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub other_threads: u64,
    /// Parts of the value that cannot be compared: a change there is not seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_compared: Vec<String>,
    /// What changed in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<SnapshotDiff>,
}

/// What ended the watch of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Until {
    /// It changed.
    Changed,
    /// The call in which it is read has returned or waits, or its variable is not there any more.
    OutOfScope,
    /// Something else paused the program, such as a breakpoint.
    PausedElsewhere,
    /// As many steps were made as were allowed.
    StepLimit,
    /// The time was up: the program was paused wherever it was.
    TimeLimit,
    /// The program ended, or could not be paused.
    NotPaused,
}

/// How a value was watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WatchedBy {
    /// The debugger stopped at every write to its memory.
    DataBreakpoint,
    /// The program was stepped, line by line, and looked at after each.
    Stepping,
}

/// A variable that was given another value.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct VariableSet {
    /// Changes whenever the program moves.
    pub epoch: u64,
    /// What was set.
    pub path: String,
    /// Its value before, where that can be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Its value now, read again.
    pub after: String,
    /// Its type now.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn is_nothing(misread: &(u64, u64)) -> bool {
    *misread == (0, 0)
}
