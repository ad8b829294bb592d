//! Sessions: one agent conversation each, with messages, their parts, what they changed, and the way back (seed 002).

use backsight_core::{ObjectId, RelPath, Seq, SnapshotId, Timestamp, Uncovered};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Applied, Call, FileDiff, PathChange, Snapshot, UnknownChange, is_zero};

/// Where in a message's work a snapshot is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// The work is about to begin: what changed until now is not the message's.
    Before,
    /// The work has ended: what changed since `before` is the message's.
    After,
    /// Neither is said: everything that nobody recorded yet is the message's.
    #[default]
    None,
}

/// Seed 002's `RevertInfo`, spelled as the seed spells it.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct RevertInfo {
    /// The session is as it was before this message.
    #[serde(rename = "messageID")]
    pub message_id: String,
    /// The session is as it was before this part of the message.
    #[serde(rename = "partID", skip_serializing_if = "Option::is_none")]
    pub part_id: Option<String>,
    /// The Git tree id of the files before the revert, or before the first of several: what an unrevert goes back to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<ObjectId>,
    /// What the call changed on disk, as a unified diff; absent where only the state is told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

/// Whose session it is, and what about.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Conversation {
    /// The client it belongs to, when its hooks were heard: `claude-code`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub client: Option<String>,
    /// What a person calls it, or the first words of its first prompt without secrets.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub title: Option<String>,
}

/// A session in brief.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Session {
    /// Its id.
    pub id: String,
    /// What a person calls it, or the first words of its first prompt without secrets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The client it belongs to, when its hooks were heard: `claude-code`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// When it was started, or first seen.
    pub started_at: Timestamp,
    /// When it last did something.
    pub last_at: Timestamp,
    /// The row that holds the files it began with; absent when its first step is the first snapshot of all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Seq>,
    /// The Git tree id of these files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline_tree: Option<ObjectId>,
    /// How many messages it has, those that changed nothing included.
    pub message_count: u64,
    /// How many steps it made, those taken back included.
    pub step_count: u64,
    /// Its tool calls that began and have not finished.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub open_calls: Vec<Call>,
    /// Where it is reverted to; absent when it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revert: Option<RevertInfo>,
}

/// The answer to `start_session`.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct SessionStarted {
    /// False when the session was there already.
    pub created: bool,
    /// The session.
    #[serde(flatten)]
    pub session: Session,
    /// Changes that nobody had recorded; they are in the baseline and not the session's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown_changes: Vec<UnknownChange>,
    /// Things that went less than perfectly.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// The answer to `track_session`.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct SessionTracked {
    /// Which session.
    pub session: String,
    /// Which message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Which part of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// What was asked for.
    pub phase: Phase,
    /// The same was asked before; this is the answer of then, and nothing was recorded now.
    pub repeated: bool,
    /// The Git tree id of the files before the message's work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before_hash: Option<ObjectId>,
    /// The Git tree id of the files after it; absent while it goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_hash: Option<ObjectId>,
    /// The tool call that is open from `before` to `after`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<Call>,
    /// Whether the message itself changed anything; false while it goes on.
    pub changed: bool,
    /// The step that holds what it changed; absent when it changed nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<Snapshot>,
    /// What it changed.
    pub changes: Vec<PathChange>,
    /// Changes that are not the message's: they were there before, or were not declared.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown_changes: Vec<UnknownChange>,
    /// The snapshot by `external` that was recorded first, to hold the unknown changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub integrated: Option<Seq>,
    /// Changed paths that were not recorded, because another open tool call may have written them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_to_open_calls: Vec<RelPath>,
    /// Paths that could not be looked at, so nothing is claimed about them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<Uncovered>,
    /// The revert of this session that can no longer be taken back, because this step followed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closed_revert: Option<Seq>,
    /// Things worth knowing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A session with everything it did.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct SessionDetail {
    /// The session in brief.
    #[serde(flatten)]
    pub session: Session,
    /// Its messages in the order of the conversation.
    pub messages: Vec<SessionMessage>,
    /// Steps that name no message.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_steps: Vec<SessionStep>,
    /// Paths that its steps in effect changed.
    pub files: Vec<RelPath>,
    /// Lines its steps in effect added, summed; absent where a step was too large to count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines_added: Option<u64>,
    /// Lines its steps in effect removed, summed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines_removed: Option<u64>,
    /// Its reverts that are in effect and can be taken back, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reverted_by: Vec<Seq>,
    /// Whether a revert can be taken back.
    pub unrevert: WayBack,
}

/// Whether `unrevert` has something to do.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct WayBack {
    /// It has.
    pub possible: bool,
    /// Why it has not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<NoUnrevert>,
    /// The same in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Why `unrevert` has nothing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NoUnrevert {
    /// The session was never reverted.
    NeverReverted,
    /// Its revert was taken back.
    TakenBack,
    /// A new step of the session followed the revert.
    Closed,
}

/// One message of a session.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct SessionMessage {
    /// Its id.
    pub id: String,
    /// Its parts in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<SessionPart>,
    /// Its steps, oldest first, those of its parts included.
    pub steps: Vec<SessionStep>,
    /// Paths that its steps in effect changed.
    pub files: Vec<RelPath>,
    /// It began and has not finished.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub open: bool,
    /// It lies at or after the place the session is reverted to.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub reverted: bool,
}

/// One part of a message.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct SessionPart {
    /// Its id.
    pub id: String,
    /// Its steps.
    pub steps: Vec<Seq>,
    /// It lies at or after the place the session is reverted to.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub reverted: bool,
}

/// One step of a session.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct SessionStep {
    /// Its place in the timeline.
    pub sequence_number: Seq,
    /// Its id.
    pub id: SnapshotId,
    /// The files after it.
    pub tree: ObjectId,
    /// The part it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// When it was recorded.
    pub timestamp: Timestamp,
    /// What the caller said it is.
    pub description: String,
    /// The tool that made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Paths it changed.
    pub files: Vec<RelPath>,
    /// Lines it added; absent where too much changed to count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines_added: Option<u64>,
    /// Lines it removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines_removed: Option<u64>,
    /// False when it was taken back: by a revert of the session, or by anybody's undo or revert.
    pub in_effect: bool,
}

/// The answer to `session_diff`: what the session itself changed.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct SessionDiff {
    /// Which session.
    pub session: String,
    /// Only this message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// One entry a path (seed 002's list).
    pub diffs: Vec<FileDiff>,
    /// Sum over all files.
    pub additions: u64,
    /// Sum over all files.
    pub deletions: u64,
    /// Files in which lines of others could not be told from the session's: their diff holds both.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mixed: Vec<RelPath>,
    /// Added files that were not compared with deleted ones, being too many or too large: one that was moved and edited is
    /// a deletion and an addition here.
    #[serde(skip_serializing_if = "is_zero")]
    pub uncompared_renames: u64,
}

/// The answer to `revert_session`.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct SessionReverted {
    /// Which session.
    pub session: String,
    /// Where it is now, and what that changed.
    pub revert: RevertInfo,
    /// Unfinished work of the session that was recorded first, so that it could be taken back.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub finished_calls: Vec<Call>,
    /// The plan, and whether it was carried out.
    pub applied: Applied,
}

/// The answer to `unrevert_session`.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct SessionUnreverted {
    /// Which session.
    pub session: String,
    /// Where it had been reverted to; `diff` is what taking it back changed.
    pub revert: RevertInfo,
    /// The plan, and whether it was carried out.
    pub applied: Applied,
}
