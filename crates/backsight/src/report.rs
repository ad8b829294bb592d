//! What the library answers. These values are the wire format of the CLI's `--json`, of MCP and of HTTP:
//! plain data, snake_case, no behaviour beyond what reading them needs.

mod bisect;
#[cfg(feature = "browser")]
mod changes;
mod comment;
mod commit;
mod compared;
mod continuity;
mod debug;
mod hunks;
mod ids;
mod lines;
mod lists;
mod milestone;
mod reader;
mod row;
mod search;
mod session;
mod unknown;
mod watch;

use backsight_core::{Advice, Coverage, ObjectId, RelPath, Seq, Timestamp, Voice, sentence};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[cfg(feature = "browser")]
pub use backsight_browser::answer::{
    BaselineList, BrowserStatus, CheckpointList, CheckpointMade, Deleted, PageKeyRenewed, RuleEntry, RuleList,
    RuleSwitched, RulesAdded,
};
pub use bisect::{BisectRun, Bisected, FoundStep};
#[cfg(feature = "browser")]
pub use changes::{
    AllChanges, Because, Certainty, DebugChanges, Evidence, EvidenceKind, FilesChanges, ProgramEvent, StepEntry,
};
pub use comment::{Comment, CommentAnswer, CommentTold};
pub use commit::{Commit, Commits};
pub use compared::{BlobContent, ComparedStates, ContentBytes, FileContent, FileLineCounts, LineCounts, ShownStep};
pub use continuity::{ChainProblem, Checkpoint, CheckpointData, CheckpointMetadata, CurrentState, Reset, SyncReport};
pub use debug::Exported;
pub use hunks::{FileHunks, HunkLine, HunkLines, HunkPlace, Hunks};
pub use ids::HasIds;
pub use lines::{Blame, BlameHunk, FileVersion, LineOrigin};
pub use lists::{
    Comments, Conversations, Diagnosis, FileLife, FileList, KnownCleaned, KnownNoted, KnownNotes, Milestones,
    OpenCalls, SetUp, SettingList,
};
pub use milestone::{ExportedGit, KeptPath, Milestone, MilestoneDetail, MilestoneSummary};
pub use reader::{RowLine, RowPage, Seen, Viewed};
pub use row::{Event, Kind, MayHold, Origin, Row, RowLane, Snapshot, SnapshotDetail};
pub use search::{Searched, SearchedLine};
pub use session::{
    Conversation, NoUnrevert, Phase, RevertInfo, Session, SessionDetail, SessionDiff, SessionMessage, SessionPart,
    SessionReverted, SessionStarted, SessionStep, SessionTracked, SessionUnreverted, WayBack,
};
pub use unknown::{
    Background, Begun, Call, ChangeType, HandleResult, Others, Run, SnapshotConfig, Strategy, UnknownChange,
    UnknownChangeResult, ValidationResult,
};
pub use watch::{Watch, WatchMood};

pub use crate::bisect::Verdict;
use crate::plan_token::PlanToken;

/// The answer to `track`.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Tracked {
    /// False when nothing differs from the latest snapshot, which is then the one returned.
    pub created: bool,
    /// The snapshot that describes the files now.
    #[serde(flatten)]
    pub snapshot: Snapshot,
    /// What differs from the snapshot before; empty when nothing was created, and for the first snapshot, which has
    /// none before it (`files_changed` then counts all its files).
    pub changes: Vec<PathChange>,
    /// Paths that one of the two could not see, so nothing is claimed about them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<backsight_core::Uncovered>,
    /// Changes that are not this step's: they were there before the tool call began, or were not declared.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown_changes: Vec<UnknownChange>,
    /// The snapshot by `external` that was recorded first, to hold the unknown changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub integrated: Option<Seq>,
    /// Changed paths that were not recorded, because another tool call that has not finished may have written them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_to_open_calls: Vec<RelPath>,
    /// Things that went less than perfectly without making the snapshot wrong.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// How a path differs between two trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Only in the second tree.
    Added,
    /// Other bytes.
    Modified,
    /// Only in the first tree.
    Deleted,
    /// The same bytes under another name, and no other candidate for either end.
    Renamed,
    /// The same bytes, other permission bits.
    ModeChanged,
    /// A file became a symlink, a directory a file, and so on.
    TypeChanged,
}

/// What a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    /// A regular file.
    File,
    /// A symbolic link.
    Symlink,
    /// A directory; listed only when it is empty or its permissions matter.
    Directory,
}

/// One path that differs.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct PathChange {
    /// Where it is now (or was, when deleted).
    pub path: RelPath,
    /// How it differs.
    pub status: Status,
    /// Where it was, for renames.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_path: Option<RelPath>,
    /// Octal permission bits and kind before, such as `file 0644`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Attributes>,
    /// The same after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Attributes>,
}

/// Kind and permission bits of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Attributes {
    /// What it is.
    pub kind: FileKind,
    /// All twelve permission bits, as four octal digits on the wire.
    #[serde(serialize_with = "octal")]
    #[schemars(with = "String")]
    pub mode: u16,
}

fn octal<S: serde::Serializer>(mode: &u16, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{mode:04o}"))
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The answer to `patch`: which paths differ.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Patch {
    /// The first tree.
    pub from: ObjectId,
    /// The second tree; absent when it is the disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<ObjectId>,
    /// The paths, sorted (seed 002's list).
    pub files: Vec<RelPath>,
    /// The same with how each differs.
    pub changes: Vec<PathChange>,
    /// Paths one side could not see, so nothing is claimed about them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<backsight_core::Uncovered>,
    /// Added files that were not compared with deleted ones, being too many or too large: one that was moved and edited is
    /// a deletion and an addition here.
    #[serde(skip_serializing_if = "is_zero")]
    pub uncompared_renames: u64,
}

/// Seed 002's `FileDiff`, and what a reader needs beside it.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct FileDiff {
    /// The path (the new one, for renames).
    pub file: RelPath,
    /// The text before; empty when absent, binary or cut.
    pub before: String,
    /// The text after; empty when absent, binary or cut.
    pub after: String,
    /// Lines added; 0 for binary files.
    pub additions: u64,
    /// Lines removed; 0 for binary files.
    pub deletions: u64,
    /// How it differs.
    pub status: Status,
    /// Where it was, for renames.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_file: Option<RelPath>,
    /// Either side holds bytes that are not UTF-8 text.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub binary: bool,
    /// `before` and `after` are left out because the file is larger than the bound; counts stay exact when given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<String>,
    /// The unified diff in Git's format.
    #[serde(skip)]
    pub unified: Vec<u8>,
}

/// The answer to `diff`.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Diff {
    /// The first tree.
    pub from: ObjectId,
    /// The second tree; absent when it is the disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<ObjectId>,
    /// One entry a path.
    pub diffs: Vec<FileDiff>,
    /// Sum over all files.
    pub additions: u64,
    /// Sum over all files.
    pub deletions: u64,
    /// Paths one side could not see, so nothing is claimed about them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<backsight_core::Uncovered>,
    /// Added files that were not compared with deleted ones, being too many or too large: one that was moved and edited is
    /// a deletion and an addition here.
    #[serde(skip_serializing_if = "is_zero")]
    pub uncompared_renames: u64,
}

/// The answer to `status`.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct WorkspaceStatus {
    /// The workspace directory.
    pub root: String,
    /// The latest snapshot; absent before the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latest: Option<Snapshot>,
    /// How many snapshots the timeline holds.
    pub snapshots: u64,
    /// Whether the disk equals the latest snapshot.
    pub clean: bool,
    /// What differs on disk from the latest snapshot.
    pub changes: Vec<PathChange>,
    /// Added files that were not compared with deleted ones, being too many or too large: one that was moved and edited is
    /// a deletion and an addition here.
    #[serde(skip_serializing_if = "is_zero")]
    pub uncompared_renames: u64,
    /// Paths one side could not see.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<backsight_core::Uncovered>,
    /// What the scan saw.
    pub coverage: Coverage,
    /// How many steps `undo` can take back now.
    pub undoable: u64,
    /// How many steps `redo` can bring back now.
    pub redoable: u64,
    /// Tool calls that began and have not finished.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub open_calls: Vec<Call>,
    /// Of the changes, those that an open tool call may have written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pending: Vec<RelPath>,
    /// Of the changes, those that nobody can have made who told us. What is in neither list is left out by
    /// `exclude_from_checking`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<RelPath>,
    /// What is done about unknown changes.
    pub strategy: Strategy,
    /// The newest milestone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub milestone: Option<Milestone>,
    /// Snapshots that no milestone holds yet.
    pub snapshots_since_milestone: u64,
}

/// One page of the timeline.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct LogPage {
    /// In the order asked for; newest first unless told otherwise.
    pub rows: Vec<Row>,
    /// Pass as `cursor` for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

impl LogPage {
    /// The rows that are steps.
    pub fn snapshots(&self) -> impl DoubleEndedIterator<Item = &Snapshot> {
        self.rows.iter().filter_map(Row::snapshot)
    }
}

/// One file of a snapshot.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct FileEntry {
    /// Where.
    pub path: RelPath,
    /// What and with which permissions.
    #[serde(flatten)]
    pub attributes: Attributes,
    /// The Git blob id; absent for directories.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blob: Option<ObjectId>,
}

/// What to do about a path that cannot be taken back without losing something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnConflict {
    /// Change nothing and name every conflict.
    #[default]
    Refuse,
    /// Leave the conflicting files wholly as they are, do the rest.
    Skip,
    /// Merge what can be merged; write conflict markers around what cannot.
    Merge,
}

/// One path of a plan that cannot be carried out cleanly.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Conflict {
    /// Where.
    pub path: RelPath,
    /// In words: what the step did and what happened since.
    pub reason: String,
    /// The content the step left behind, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<ObjectId>,
    /// The content on disk now, if any; stored, so it can be read back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current: Option<ObjectId>,
    /// The content the revert wants back, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wanted: Option<ObjectId>,
}

/// The answer to `restore`, `revert`, `undo` and `redo`: the plan, and whether it was carried out.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Applied {
    /// True when this is only the plan.
    pub dry_run: bool,
    /// False when there was nothing to do.
    pub changed: bool,
    /// The step recorded for it; absent for a dry run or when nothing changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<Snapshot>,
    /// The snapshot that holds what was displaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub safety: Option<Seq>,
    /// The snapshots gone to or undone.
    pub targets: Vec<Seq>,
    /// Paths put back to their earlier state, with how they change on disk.
    pub reverted: Vec<PathChange>,
    /// Paths where later edits were kept by merging.
    pub merged: Vec<PathChange>,
    /// Paths already in the wanted state, or that must be left alone, and why.
    pub kept: Vec<Kept>,
    /// Conflicting paths left wholly as they are.
    pub skipped: Vec<Conflict>,
    /// Conflicting paths written with conflict markers.
    pub conflicts: Vec<Conflict>,
    /// Things worth knowing, such as broken hard links.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Only of a dry run: stands for exactly this plan on exactly these contents. Handed back, it lets no other plan be
    /// carried out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanToken>,
}

/// A path that a plan leaves alone.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Kept {
    /// Where.
    pub path: RelPath,
    /// Why.
    pub reason: String,
}

/// The answer to `usage`.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Usage {
    /// Where the store is.
    pub store: String,
    /// Bytes on disk, everything included.
    pub total_bytes: u64,
    /// Of these, packed objects.
    pub pack_bytes: u64,
    /// How many packs.
    pub packs: u64,
    /// Of these, loose objects.
    pub loose_bytes: u64,
    /// How many loose objects.
    pub loose_objects: u64,
    /// Of these, the timeline.
    pub timeline_bytes: u64,
    /// Of these, the stat cache.
    pub cache_bytes: u64,
    /// Snapshots whose contents are kept.
    pub snapshots: u64,
    /// Snapshots whose contents were removed.
    pub expired: u64,
    /// The configured budget, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk_budget: Option<u64>,
    /// Free space on the device.
    pub free_bytes: u64,
    /// What it was from time to time, oldest first: as a server and `gc` took note of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<RoomThen>,
}

/// How much room a store took at a time.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct RoomThen {
    /// When.
    pub timestamp: Timestamp,
    /// Bytes on disk, everything included.
    pub total_bytes: u64,
    /// Snapshots whose contents were kept.
    pub snapshots: u64,
}

/// The answer to `gc`.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Collected {
    /// True when nothing was removed because the caller only asked.
    pub dry_run: bool,
    /// Snapshots whose contents were removed now.
    pub expired: Vec<Seq>,
    /// Objects removed; in a dry run, that would be.
    pub objects_removed: u64,
    /// Bytes on disk before.
    pub bytes_before: u64,
    /// Bytes on disk after; in a dry run, an estimate.
    pub bytes_after: u64,
    /// What could not be done and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// One thing `verify` found.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Damage {
    /// What is damaged or missing: an object id, a row, a file of the store.
    pub what: String,
    /// How.
    pub problem: String,
    /// The snapshots that cannot be fully restored because of it.
    pub snapshots: Vec<Seq>,
    /// Up to ten of the paths affected.
    pub paths: Vec<RelPath>,
}

/// The answer to `verify`.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Verified {
    /// Whether everything was read and found whole.
    pub clean: bool,
    /// Objects read and hashed.
    pub objects: u64,
    /// Rows of the timeline whose hashes were checked.
    pub rows: u64,
    /// The hash over every row. Whoever notes it can later prove that nothing before was altered.
    pub chain_head: String,
    /// Snapshots whose every object was found.
    pub snapshots: u64,
    /// Everything wrong.
    pub damage: Vec<Damage>,
    /// Damage that harms nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// One line of `doctor`.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Check {
    /// What was checked.
    pub name: String,
    /// How it stands.
    pub state: CheckState,
    /// What was found.
    pub message: String,
    /// What to do about it, in the words of the interface that answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The same as values.
    #[serde(skip)]
    pub advice: Vec<Advice>,
}

impl Check {
    /// The same with its advice in the words of an interface.
    pub fn said(self, voice: &impl Voice) -> Check {
        let hint = self.hint.or_else(|| sentence(&self.advice, voice));
        Check { hint, ..self }
    }
}

/// How a check of `doctor` stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    /// As it should be.
    Ok,
    /// Not there, and needed only for what the message says.
    Absent,
    /// Works, could be better.
    Warning,
    /// Does not work.
    Problem,
}

/// The answer to `init --adopt`.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Adopted {
    /// Where the store is.
    pub store: String,
    /// Rows taken over.
    pub rows: u64,
    /// Files with objects taken over.
    pub object_files: u64,
    /// Their bytes.
    pub object_bytes: u64,
    /// Where the old store is now: with its settings, journal, keys and whatever else was not taken over.
    pub set_aside: String,
    /// True when that is where it was: it is the history of another directory, which may only have been moved.
    pub is_left_in_place: bool,
}

/// The answer to `export`.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct ExportedStore {
    /// The file.
    pub file: String,
    /// Its size.
    pub bytes: u64,
    /// The digest it ends with.
    pub sha256: String,
    /// Rows in it.
    pub rows: u64,
    /// Files with objects in it.
    pub object_files: u64,
}

/// The answer to `import`.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct ImportedStore {
    /// Where the store is.
    pub store: String,
    /// Rows taken over.
    pub rows: u64,
    /// Files with objects taken over.
    pub object_files: u64,
    /// Their bytes.
    pub object_bytes: u64,
}

/// One setting.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct ConfigEntry {
    /// Its name.
    pub key: String,
    /// Its value now, as text that `config set` accepts.
    pub value: String,
    /// Its value when nobody set it.
    pub default: String,
    /// What it does.
    pub help: String,
}
