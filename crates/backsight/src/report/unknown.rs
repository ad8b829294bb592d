//! Changes nobody recorded: what they are, what is done about them, and the tool calls that keep one's own writes apart.

use std::fmt;
use std::str::FromStr;

use backsight_core::{Coverage, ObjectId, RelPath, Seq, SnapshotId, Timestamp, Uncovered};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Origin;

/// How a file differs from what was last known of it (seed 003).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeType {
    /// Other bytes, another kind or other permissions.
    Modified,
    /// It was not there.
    Created,
    /// It is gone.
    Deleted,
}

/// One file that differs from what was last known of it (seed 003).
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct UnknownChange {
    /// Where.
    pub file_path: RelPath,
    /// How.
    pub change_type: ChangeType,
    /// The blob last known; absent for what was created, and for directories.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub expected_hash: Option<ObjectId>,
    /// The blob found; absent for what was deleted, and for directories.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub actual_hash: Option<ObjectId>,
    /// The unified diff, when it was asked for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub diff: Option<String>,
}

/// The answer to `detect_unknown_modifications` (seed 003). There is none when the files could not be looked at.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct UnknownChangeResult {
    /// Whether there are any.
    pub has_unknown_changes: bool,
    /// Each of them.
    pub unknown_changes: Vec<UnknownChange>,
    /// Their paths.
    pub affected_files: Vec<RelPath>,
    /// All their diffs in one text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generated_diff: Option<String>,
    /// The snapshot they were compared with; absent when nothing is recorded yet, so nothing can be unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compared_with: Option<Seq>,
    /// Changed paths left out because `exclude_from_checking` says so.
    pub excluded: u64,
    /// Changed paths that a tool call may have written that began and has not finished: pending, not unknown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pending: Vec<RelPath>,
    /// Paths one side could not see, so nothing is claimed about them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<Uncovered>,
    /// What the look saw.
    pub coverage: Coverage,
}

/// What others changed since somebody last looked.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Others {
    /// The newest row that was considered.
    pub sequence_number: Seq,
    /// Paths that steps of others changed.
    pub recorded: Vec<RelPath>,
    /// Changes on disk that nobody recorded.
    pub on_disk: Vec<UnknownChange>,
    /// What the look at the disk saw.
    pub coverage: Coverage,
}

/// What is done about unknown changes (seed 003).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// Refuse, name the files, change nothing.
    Strict,
    /// Go on, and list them in the reply and in the row.
    #[default]
    Warn,
    /// Record them first, as a snapshot by `external`, then go on.
    AutoIntegrate,
}

impl Strategy {
    /// Every strategy.
    pub const ALL: [Strategy; 3] = [Strategy::Strict, Strategy::Warn, Strategy::AutoIntegrate];

    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Strategy::Strict => "strict",
            Strategy::Warn => "warn",
            Strategy::AutoIntegrate => "auto-integrate",
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Strategy {
    type Err = String;

    /// Reads both of seed 003's spellings: `strict | warn | auto-integrate` and `reject | warn | integrate`.
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "strict" | "reject" => Ok(Strategy::Strict),
            "warn" => Ok(Strategy::Warn),
            "auto-integrate" | "integrate" => Ok(Strategy::AutoIntegrate),
            _ => Err("it is strict, warn or auto-integrate (or reject, warn, integrate)".to_owned()),
        }
    }
}

/// The answer to `handle_unknown_changes` (seed 003).
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct HandleResult {
    /// Whether what follows may go on.
    pub success: bool,
    /// What was done.
    pub strategy: Strategy,
    /// In words.
    pub message: String,
    /// The snapshot by `external` that now holds the changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compensating_snapshot_id: Option<SnapshotId>,
    /// The same by number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compensating_sequence_number: Option<Seq>,
    /// The files concerned.
    pub modified_files: Vec<RelPath>,
}

/// The answer to `validate_file_state_before_snapshot` (seed 003).
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct ValidationResult {
    /// Whether a snapshot may be taken.
    pub success: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The strategy in force.
    pub strategy: Strategy,
    /// What was found.
    pub unknown_changes: Vec<UnknownChange>,
    /// Changed paths that an open tool call may have written: nobody can say whether they are unknown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pending: Vec<RelPath>,
    /// Paths that could not be looked at, so nothing is claimed about them; the strict strategy refuses because of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<Uncovered>,
    /// What is worth knowing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// What was done about it, when that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handled: Option<HandleResult>,
}

/// Seed 003's options.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct SnapshotConfig {
    /// Whether unknown changes are looked for at all.
    pub enable_unknown_change_detection: bool,
    /// What is done about them.
    pub unknown_change_strategy: Strategy,
    /// Whether file checkpoints other than the latest are kept.
    pub keep_all_checkpoints: bool,
    /// How many days a file checkpoint is kept.
    pub max_checkpoint_age: u64,
    /// Patterns in .gitignore syntax of paths that are never unknown.
    pub exclude_from_checking: Vec<String>,
}

/// A tool call that began and has not finished.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Call {
    /// Pass it to `finish`.
    pub id: SnapshotId,
    /// When it began.
    pub since: Timestamp,
    /// The latest snapshot then.
    pub based_on: Seq,
    /// Who began it, and what it will write if it said so.
    #[serde(flatten)]
    pub origin: Origin,
    /// What it does, and what is known of when it runs.
    #[serde(flatten)]
    pub run: Run,
}

/// What is known of a tool's run beside who began it.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Run {
    /// What the tool does, in words: `Bash: npm test`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub title: Option<String>,
    /// When the user was asked whether it may run. What was written since may be the user's.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub asked: Option<Timestamp>,
    /// Its command goes on by itself. What was written since may be the command's or the user's.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub background: Option<Background>,
}

/// A command that goes on after its tool has answered.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Background {
    /// Its process, where the client says which.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pid: Option<u32>,
}

/// The answer to `begin`.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Begun {
    /// The call; `id` is what `finish` wants.
    #[serde(flatten)]
    pub call: Call,
    /// What had changed before the call began and so is not its own.
    pub unknown_changes: Vec<UnknownChange>,
    /// The snapshot by `external` that was recorded to hold them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub integrated: Option<Seq>,
    /// Other calls that have not finished.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub open_calls: Vec<Call>,
    /// What is worth knowing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}
