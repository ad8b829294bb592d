//! Differences as a page shows them: passages of lines with the words that changed and the parts of the language marked, so that
//! whoever draws them has nothing left to work out.

use backsight_core::{ObjectId, RelPath, Uncovered};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Status, is_zero};
use crate::hunks::HunkId;

/// All hunks of all files of a step, a range or a session.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct Hunks {
    /// One entry a path.
    pub files: Vec<FileHunks>,
    /// Sum over all files.
    pub additions: u64,
    /// Sum over all files.
    pub deletions: u64,
    /// Files in which lines of others could not be told from the session's: their hunks hold both.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mixed: Vec<RelPath>,
    /// Paths one side could not see, so nothing is claimed about them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<Uncovered>,
    /// Lines that were left out because there are too many; their files say how many of them are theirs.
    #[serde(skip_serializing_if = "is_zero")]
    pub lines_left_out: u64,
}

/// The hunks of one file.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct FileHunks {
    /// The path (the new one, for renames).
    pub file: RelPath,
    /// Where it was, for renames.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_file: Option<RelPath>,
    /// How it differs.
    pub status: Status,
    /// Lines added; 0 for binary files.
    pub additions: u64,
    /// Lines removed; 0 for binary files.
    pub deletions: u64,
    /// Either side holds bytes that are not UTF-8 text.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub binary: bool,
    /// Why the lines were not compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<String>,
    /// The id of the text before; absent when there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before_blob: Option<ObjectId>,
    /// The id of the text after; absent when there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_blob: Option<ObjectId>,
    /// How many lines the text after has.
    #[serde(skip_serializing_if = "is_zero")]
    pub after_lines: u64,
    /// What it is written in, by its name; absent when that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<&'static str>,
    /// The changed passages, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hunks: Vec<HunkLines>,
    /// Lines that were left out because there are too many.
    #[serde(skip_serializing_if = "is_zero")]
    pub lines_left_out: u64,
}

/// One passage of changes with its surroundings.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct HunkLines {
    /// The number of its first line before, from one.
    pub old_start: u64,
    /// The number of its first line after, from one.
    pub new_start: u64,
    /// What it is in: a function, a heading.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub section: String,
    /// The lines.
    pub lines: Vec<HunkLine>,
    /// What can be taken back by itself: the runs of changed lines in it, each with its name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hunks: Vec<HunkPlace>,
}

/// One run of changed lines within a passage.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct HunkPlace {
    /// Names it wherever the same step or range is meant, however many lines around it are shown.
    pub id: HunkId,
    /// Its first line among those of the passage, from zero.
    pub at: usize,
    /// How many lines: those that went, then those that came.
    pub lines: usize,
}

/// One line. Places are counted in UTF-16 units, as browsers count them.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct HunkLine {
    /// ` ` on both sides, `-` only before, `+` only after.
    pub side: char,
    /// The text without its end; a long one is cut.
    pub text: String,
    /// Parts of the language, three numbers each: where, how long, what (1 comment, 2 text, 3 number, 4 keyword, 5 type,
    /// 6 function, 7 name of a field).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<u32>,
    /// What changed within the line, two numbers each: where, how long.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<u32>,
    /// Characters that were cut off.
    #[serde(skip_serializing_if = "is_zero")]
    pub cut: u64,
    /// Whether it ends its file without a line feed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub no_newline: bool,
}
