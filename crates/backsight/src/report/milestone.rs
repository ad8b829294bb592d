//! Milestones: gapless ranges of snapshots with a name.

use backsight_core::{ObjectId, RelPath, Seq, SnapshotId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Snapshot;

/// A gapless range of snapshots (seed 004).
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Milestone {
    /// Sixteen hex digits.
    pub id: SnapshotId,
    /// The milestone's own row.
    #[serde(default)]
    pub sequence_number: Seq,
    /// When it was made.
    pub timestamp: Timestamp,
    /// Its name; a reference may use it.
    pub title: String,
    /// What it is about.
    pub description: String,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// Its first snapshot.
    pub start_sequence_number: Seq,
    /// Its last snapshot.
    pub end_sequence_number: Seq,
    /// The milestone before it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub previous_milestone_id: Option<SnapshotId>,
    /// What it amounts to.
    pub summary: MilestoneSummary,
}

/// What a milestone amounts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct MilestoneSummary {
    /// Snapshots in it.
    pub total_operations: u64,
    /// Paths that any of them changed.
    pub affected_files: u64,
    /// Lines its combined diff adds, or the sum over its snapshots when the contents of its ends are gone; absent where
    /// too much changed to count.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lines_added: Option<u64>,
    /// Lines its combined diff removes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lines_removed: Option<u64>,
}

/// A milestone with what is in it.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct MilestoneDetail {
    /// The milestone.
    #[serde(flatten)]
    pub milestone: Milestone,
    /// Its snapshots, oldest first (seed 004's list).
    pub snapshot_ids: Vec<SnapshotId>,
    /// The same as rows.
    #[serde(skip)]
    pub snapshots: Vec<Snapshot>,
    /// Paths that any of them changed.
    pub affected_files: Vec<RelPath>,
    /// One diff over the whole range; absent unless asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub combined_diff: Option<String>,
}

/// The answer to `export_git`.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct ExportedGit {
    /// True when nothing was written because the caller only asked.
    pub dry_run: bool,
    /// The repository.
    pub repository: String,
    /// The branch that was made.
    pub branch: String,
    /// Its newest commit.
    pub tip: ObjectId,
    /// The commit it continues; absent when its first commit has no parent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub onto: Option<ObjectId>,
    /// Every commit, oldest first, one a snapshot or one for all. The state before the range comes first where the
    /// repository does not hold it; the workspace's first snapshot is such a state.
    pub commits: Vec<ObjectId>,
    /// The snapshots exported.
    pub snapshots: Vec<Seq>,
    /// Objects the repository did not have.
    pub objects_written: u64,
    /// The directory of the repository that the files are in: where the workspace lies; empty for its root.
    pub below: String,
    /// Paths that a snapshot could not see, or that only a filter could convert, so that the commits keep what the repository
    /// holds there.
    pub kept_total: u64,
    /// The first of them.
    pub kept: Vec<KeptPath>,
    /// Where the repository really is, when that is outside the directory that was named: a linked work tree's or a
    /// submodule's is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written_to: Option<String>,
}

/// A path that exported commits keep as the commit before them has it: a new file that is named here is in none of them.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct KeptPath {
    /// Where, in the workspace. A directory stands for everything below it.
    pub path: String,
    /// Why the snapshots do not speak about it, or what converts it that Backsight does not run.
    pub reason: String,
}
