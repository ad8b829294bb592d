//! What was found in the contents of steps.

use backsight_core::{RelPath, Seq};
use schemars::JsonSchema;
use serde::Serialize;

use super::is_zero;

/// The lines with a text that steps added or removed.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct Searched {
    /// The newest step first.
    pub lines: Vec<SearchedLine>,
    /// Lines of the last step that were found and left out.
    #[serde(skip_serializing_if = "is_zero")]
    pub more_lines: u64,
    /// How many steps were looked into.
    pub steps: u64,
    /// Steps whose contents retention removed, so nothing is known of them.
    #[serde(skip_serializing_if = "is_zero")]
    pub expired: u64,
    /// Files of these steps that were not looked into: their bytes are no text, or they are too large.
    #[serde(skip_serializing_if = "is_zero")]
    pub files_not_read: u64,
    /// Older steps were not looked into; ask again with this as `before`. Absent when all were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Seq>,
}

/// One line.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct SearchedLine {
    /// The step.
    pub sequence_number: Seq,
    /// The file.
    pub file: RelPath,
    /// The line's number: after the step when it was added, before it when it was removed.
    pub line: u64,
    /// `+` added, `-` removed.
    pub side: char,
    /// The line; a long one is cut.
    pub text: String,
}
