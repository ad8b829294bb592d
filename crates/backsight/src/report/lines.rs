//! The history of one file, and who last wrote each of its lines.

use backsight_core::{ObjectId, RelPath, Seq, SnapshotId, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Kind, Origin, Status};

/// One step in the life of a file.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct FileVersion {
    /// The snapshot.
    pub id: SnapshotId,
    /// Its number.
    pub sequence_number: Seq,
    /// What kind of step.
    pub kind: Kind,
    /// When.
    pub timestamp: Timestamp,
    /// What the caller said.
    pub description: String,
    /// Who asked.
    #[serde(flatten)]
    pub origin: Origin,
    /// The file's name then.
    pub path: RelPath,
    /// Its name before, when the step renamed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_path: Option<RelPath>,
    /// How it changed.
    pub status: Status,
    /// The blob before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<ObjectId>,
    /// The blob after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<ObjectId>,
    /// The row holds this change, but it is not the step's: somebody else made it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub external: bool,
}

/// Who last wrote each line of a file.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Blame {
    /// The file.
    pub path: RelPath,
    /// The snapshot whose lines these are; absent when it is the disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequence_number: Option<Seq>,
    /// Runs of lines of one origin, in order.
    pub hunks: Vec<BlameHunk>,
}

impl Blame {
    /// How many lines there are.
    pub fn line_count(&self) -> usize {
        self.hunks.iter().map(|hunk| hunk.lines.len()).sum()
    }

    /// Keeps only the lines from `start` to `end`, counted from 1, both ends in it.
    pub fn keep_lines(&mut self, start: usize, end: usize) {
        for hunk in &mut self.hunks {
            let skipped = start.saturating_sub(hunk.start_line).min(hunk.lines.len());
            hunk.lines.drain(..skipped);
            hunk.start_line += skipped;
            hunk.lines.truncate(end.saturating_add(1).saturating_sub(hunk.start_line));
        }
        self.hunks.retain(|hunk| !hunk.lines.is_empty());
    }
}

/// A run of lines of one origin.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct BlameHunk {
    /// Counted from 1.
    pub start_line: usize,
    /// The lines, without their ends; bytes that are not UTF-8 are replaced.
    pub lines: Vec<String>,
    /// Who wrote them.
    #[serde(flatten)]
    pub origin: LineOrigin,
}

/// Where a line comes from.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum LineOrigin {
    /// A step wrote it.
    Recorded(Box<FileVersion>),
    /// Somebody else wrote it, and this row found it.
    External(Box<FileVersion>),
    /// It was there at the first snapshot.
    Baseline(Box<FileVersion>),
    /// No row says who wrote it: it is not recorded, or it changed while the file could not be seen.
    Unrecorded,
    /// It is older than the oldest version whose content is still kept.
    Expired(Box<FileVersion>),
}
