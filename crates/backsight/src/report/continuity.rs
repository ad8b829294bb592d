//! Whether the timeline and the disk are what they should be, and file checkpoints.

use std::collections::BTreeMap;

use backsight_core::{Code, ObjectId, RelPath, Seq, SnapshotId, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Call, Event, Milestone, Snapshot, Strategy, UnknownChangeResult};

/// Where the timeline stands (seed 004's `getCurrentState`). Nothing on disk is looked at.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct CurrentState {
    /// The latest row's number; 0 before the first.
    pub sequence_number: Seq,
    /// The latest snapshot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<Snapshot>,
    /// The hash over every row. Whoever notes it can later prove that nothing before was altered.
    pub chain_head: String,
    /// How many rows there are.
    pub rows: u64,
    /// How many of them are snapshots.
    pub snapshots: u64,
    /// The newest milestone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub milestone: Option<Milestone>,
    /// The snapshot with which the next milestone starts; absent when none is left for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_milestone_start: Option<Seq>,
    /// Tool calls that began and have not finished.
    pub open_calls: Vec<Call>,
    /// What is done about unknown changes.
    pub strategy: Strategy,
}

/// One place where the timeline is not whole.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct ChainProblem {
    /// Which kind of discontinuity.
    pub code: Code,
    /// The row it was noticed at.
    pub sequence_number: Seq,
    /// In words.
    pub message: String,
    /// What should be there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// What is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actual: Option<String>,
    /// The reset that took note of it; it then no longer counts as a problem.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acknowledged_by: Option<Seq>,
}

/// The answer to `validate_workspace_sync` (seed 004).
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct SyncReport {
    /// Whether the disk equals the latest snapshot and the timeline is whole.
    pub in_sync: bool,
    /// How many rows were checked, which is all of them.
    pub rows_checked: u64,
    /// The hash over every row.
    pub chain_head: String,
    /// Where the timeline is not whole.
    pub problems: Vec<ChainProblem>,
    /// Where the disk differs from the latest snapshot.
    #[serde(flatten)]
    pub unknown: UnknownChangeResult,
}

/// The answer to `reset_state_continuity` (seed 004).
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Reset {
    /// The row that records it, with its reason.
    #[serde(flatten)]
    pub event: Event,
    /// The snapshot by `external` that was recorded first, when the disk differed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub integrated: Option<Seq>,
    /// The problems it took note of.
    pub acknowledged: Vec<ChainProblem>,
    /// Tool calls that were given up.
    pub closed_calls: Vec<Call>,
}

/// A file checkpoint without the contents: which files of which snapshot.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Checkpoint {
    /// Its id.
    pub id: SnapshotId,
    /// When it was made.
    pub timestamp: Timestamp,
    /// The snapshot that holds the contents.
    pub snapshot_id: SnapshotId,
    /// The same by number.
    pub sequence_number: Seq,
    /// Its paths; absent means what the snapshot changed, and every file for the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paths: Option<Vec<RelPath>>,
}

/// A file checkpoint (seed 003's `CheckpointData`): contents come from the store, there is no second copy.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct CheckpointData {
    /// Its id.
    pub id: SnapshotId,
    /// When it was made.
    pub timestamp: Timestamp,
    /// The snapshot that holds the contents.
    pub snapshot_id: SnapshotId,
    /// Contents that are UTF-8 text, by path.
    pub files: BTreeMap<RelPath, String>,
    /// Blob ids of the others, by path.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub binary_files: BTreeMap<RelPath, ObjectId>,
    /// Sums.
    pub metadata: CheckpointMetadata,
}

/// Sums over a file checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct CheckpointMetadata {
    /// How many files.
    pub total_files: u64,
    /// Their bytes.
    pub total_size_bytes: u64,
    /// How long making it took.
    pub creation_time_ms: u64,
}
