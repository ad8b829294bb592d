//! What people who look keep, and the timeline in short for long lists.

use backsight_core::{ObjectId, Seq, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Kind, Row};

/// Up to where a person has looked.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Seen {
    /// Up to this row.
    pub sequence_number: Seq,
    /// When they said so.
    pub at: Timestamp,
}

/// The contents a person has read.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Viewed {
    /// By their ids, the one marked last at the end.
    pub blobs: Vec<ObjectId>,
}

/// A page of the timeline in short.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct RowPage {
    /// In the order asked for; newest first unless told otherwise.
    pub rows: Vec<RowLine>,
    /// Pass as `cursor` for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A row in short.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct RowLine {
    /// Its place in the timeline.
    pub sequence_number: Seq,
    /// What it records.
    pub kind: Kind,
    /// When it was recorded.
    pub timestamp: Timestamp,
    /// In words.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The tool that made the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The agent conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The message within the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// How many paths a step changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files_changed: Option<u64>,
    /// Lines it added.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines_added: Option<u64>,
    /// Lines it removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines_removed: Option<u64>,
    /// The steps it acted on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<Seq>,
    /// Changes in it that are not the step's.
    #[serde(skip_serializing_if = "super::is_zero")]
    pub unknown_changes: u64,
    /// Whether its contents were removed by retention.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub expired: bool,
    /// Whether it is the first snapshot, which has nothing before it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub first: bool,
}

impl From<Row> for RowLine {
    fn from(row: Row) -> RowLine {
        match row {
            Row::Snapshot(step) => RowLine {
                sequence_number: step.sequence_number,
                kind: step.kind,
                timestamp: step.timestamp,
                description: step.description,
                tool: step.origin.tool,
                session: step.origin.session,
                message: step.origin.message,
                files_changed: Some(step.files_changed),
                lines_added: step.lines_added,
                lines_removed: step.lines_removed,
                targets: step.targets,
                unknown_changes: step.unknown_changes.len() as u64,
                expired: step.expired_at.is_some(),
                first: step.base_tree.is_none(),
            },
            Row::Event(event) => RowLine {
                sequence_number: event.sequence_number,
                kind: event.kind,
                timestamp: event.timestamp,
                description: event.description,
                tool: event.origin.tool,
                session: event.origin.session,
                message: event.origin.message,
                files_changed: None,
                lines_added: None,
                lines_removed: None,
                targets: Vec::new(),
                unknown_changes: 0,
                expired: false,
                first: false,
            },
        }
    }
}
