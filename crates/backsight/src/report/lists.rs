//! Answers that are no more than what they list, with what is said about the whole.

use backsight_core::SnapshotId;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Call, Check, Checkpoint, Comment, ConfigEntry, FileEntry, FileVersion, Milestone, Session};

/// Tool calls at work.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct OpenCalls {
    /// Each of them.
    pub open_calls: Vec<Call>,
}

/// The files of a snapshot.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct FileList {
    /// Sorted by path.
    pub files: Vec<FileEntry>,
}

/// The life of one file.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct FileLife {
    /// Newest first.
    pub versions: Vec<FileVersion>,
}

/// The milestones.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Milestones {
    /// Newest first.
    pub milestones: Vec<Milestone>,
}

/// The sessions.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Conversations {
    /// The latest first.
    pub sessions: Vec<Session>,
    /// Whether there are more than were asked for.
    pub has_more: bool,
}

/// The notes of known files.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct KnownNotes {
    /// Newest first.
    pub checkpoints: Vec<Checkpoint>,
}

/// A note of known files that was made.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct KnownNoted {
    /// Its id.
    pub id: SnapshotId,
    /// The note; null when another one has taken its place meanwhile.
    pub checkpoint: Option<Checkpoint>,
}

/// What became of the notes of known files.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct KnownCleaned {
    /// How many were removed.
    pub removed: u64,
    /// How many are left.
    pub left: usize,
}

/// The comments.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Comments {
    /// Oldest first.
    pub comments: Vec<Comment>,
}

/// The settings.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct SettingList {
    /// Each of them.
    pub settings: Vec<ConfigEntry>,
}

/// A workspace that is set up.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct SetUp {
    /// Whether the store was made by this request.
    pub created: bool,
    /// The workspace directory.
    pub root: String,
    /// Where the store is.
    pub store: String,
}

/// How everything stands.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Diagnosis {
    /// Whether no check found a problem.
    pub healthy: bool,
    /// Each of them.
    pub checks: Vec<Check>,
}
