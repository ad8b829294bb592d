//! The rows of the timeline: steps of the files lane, and events of any lane.

use std::collections::BTreeMap;

use backsight_core::{Coverage, ObjectId, RelPath, Seq, SnapshotId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::UnknownChange;

/// Which part of a workspace's state a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowLane {
    /// The files on disk.
    Files,
    /// What an app said and did.
    Browser,
    /// The variables of a paused program.
    Debug,
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $variant:ident, $name:literal, $lane:ident, holds_files: $holds:literal;)*) => {
        /// What a row of the timeline records.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Kind { $($(#[$doc])* $variant,)* }

        impl Kind {
            /// Every kind.
            pub const ALL: &'static [Kind] = &[$(Kind::$variant,)*];

            /// The name on the wire.
            pub fn as_str(self) -> &'static str { match self { $(Kind::$variant => $name,)* } }

            /// Whose state it is about.
            pub fn lane(self) -> RowLane { match self { $(Kind::$variant => RowLane::$lane,)* } }

            /// Whether such a row is a step: it has a tree of files. The others are events.
            pub fn holds_files(self) -> bool { match self { $(Kind::$variant => $holds,)* } }
        }
    };
}

// One line a kind: nothing else in the library lists the kinds of a lane.
kinds! {
    /// Someone asked to record the files as they are, or a tool call finished.
    Track, "track", Files, holds_files: true;
    /// Changes nobody who asked had made: found on disk, attributed to `external`.
    External, "external", Files, holds_files: true;
    /// Recorded by Backsight just before it changed files, so that nothing it displaced is lost.
    Safety, "safety", Files, holds_files: true;
    /// The tree was taken to an earlier state.
    Restore, "restore", Files, holds_files: true;
    /// Steps were undone, everything else kept.
    Revert, "revert", Files, holds_files: true;
    /// The newest step was taken back.
    Undo, "undo", Files, holds_files: true;
    /// The newest undo was taken back.
    Redo, "redo", Files, holds_files: true;
    /// A gapless range of snapshots was given a name.
    Milestone, "milestone", Files, holds_files: false;
    /// Continuity was reset, with a reason.
    Reset, "reset", Files, holds_files: false;
    /// The step that broke something was looked for.
    Bisect, "bisect", Files, holds_files: false;
    /// A page showed its first error.
    FirstError, "first_error", Browser, holds_files: false;
    /// A page recovered.
    Recovery, "recovery", Browser, holds_files: false;
    /// A page went elsewhere.
    Navigation, "navigation", Browser, holds_files: false;
    /// A debugger stopped.
    DebuggerStop, "debugger_stop", Debug, holds_files: false;
    /// The variables of a paused program were captured.
    Capture, "capture", Debug, holds_files: false;
    /// A debug session is over; its snapshots were cleared.
    DebugEnd, "debug_end", Debug, holds_files: false;
}

/// One row of the timeline.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
#[serde(untagged)]
pub enum Row {
    /// A step of the files lane.
    Snapshot(Box<Snapshot>),
    /// Anything else worth remembering.
    Event(Box<Event>),
}

impl Row {
    /// Its place in the timeline.
    pub fn sequence_number(&self) -> Seq {
        match self {
            Row::Snapshot(snapshot) => snapshot.sequence_number,
            Row::Event(event) => event.sequence_number,
        }
    }

    /// The step, if it is one.
    pub fn snapshot(&self) -> Option<&Snapshot> {
        match self {
            Row::Snapshot(snapshot) => Some(snapshot),
            Row::Event(_) => None,
        }
    }
}

/// A row that holds no files: a milestone, a reset, or what another lane saw.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Event {
    /// Sixteen hex digits.
    pub id: SnapshotId,
    /// Strictly increasing, never reused.
    pub sequence_number: Seq,
    /// What happened.
    pub kind: Kind,
    /// When it was recorded.
    pub timestamp: Timestamp,
    /// In words.
    pub description: String,
    /// Who asked, and on whose behalf.
    #[serde(flatten)]
    pub origin: Origin,
    /// The facts, by kind.
    pub details: serde_json::Value,
    /// The hash over this row and, through the row before it, over all before.
    pub chain_hash: String,
}

/// One recorded step of the files lane: base tree -> result tree, who, why, and its place in the timeline.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Snapshot {
    /// Sixteen hex digits.
    pub id: SnapshotId,
    /// Strictly increasing, never reused.
    pub sequence_number: Seq,
    /// What kind of step.
    pub kind: Kind,
    /// The Git tree id of the files after the step.
    pub tree: ObjectId,
    /// The Git tree id before the step; absent for the first snapshot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_tree: Option<ObjectId>,
    /// The tree just before this step's own changes, when the row also holds changes of others.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub start_tree: Option<ObjectId>,
    /// The snapshot before this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_snapshot_id: Option<SnapshotId>,
    /// When it was recorded.
    pub timestamp: Timestamp,
    /// What the caller said it is.
    pub description: String,
    /// Who asked, and on whose behalf.
    #[serde(flatten)]
    pub origin: Origin,
    /// For undo, redo, revert and restore: the snapshots acted on.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub targets: Vec<Seq>,
    /// How many paths the step itself changed.
    pub files_changed: u64,
    /// Lines the step added; absent for the first snapshot and where too much changed to count.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lines_added: Option<u64>,
    /// Lines the step removed; absent when `lines_added` is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lines_removed: Option<u64>,
    /// How long the step took: a tool call from begin to finish, anything else from being asked to being recorded.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub execution_time_ms: Option<u64>,
    /// Changes in this row that are not the step's: somebody else made them.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub unknown_changes: Vec<UnknownChange>,
    /// Others who may have written what the step calls its own: taking it back asks first.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub may_hold: Vec<MayHold>,
    /// What the capture behind it saw and did not see.
    pub coverage: Coverage,
    /// The hash over this row and, through the row before it, over all before.
    pub chain_hash: String,
    /// Kept by every retention rule.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub pinned: bool,
    /// When retention removed its contents; the row stays.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub expired_at: Option<Timestamp>,
}

/// What of a step may be another's work.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct MayHold {
    /// Whose: `the user`, a session, or a tool call.
    pub of: String,
    /// Where, the first of them.
    pub paths: Vec<RelPath>,
    /// How many more paths.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub more: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Who asked for a step.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Origin {
    /// The tool that made the change.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tool: Option<String>,
    /// The agent conversation.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub session: Option<String>,
    /// The message within the session.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub message: Option<String>,
    /// The part within the message.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub part: Option<String>,
    /// The paths the tool says it wrote; empty means "all that changed".
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub declared: Vec<RelPath>,
}

/// One snapshot with what its row says of single files; rows outlive contents, and so does this.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct SnapshotDetail {
    /// The row.
    #[serde(flatten)]
    pub snapshot: Snapshot,
    /// Paths the step itself changed; empty for the first snapshot, which has nothing before it.
    pub affected_files: Vec<RelPath>,
    /// Blob ids of those paths before the step; a path that did not exist is left out.
    pub base_file_hashes: BTreeMap<RelPath, ObjectId>,
    /// Blob ids after the step; a path that is gone is left out.
    pub result_file_hashes: BTreeMap<RelPath, ObjectId>,
}
