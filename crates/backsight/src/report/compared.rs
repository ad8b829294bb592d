//! What differs, as one text or as counts, and the contents of files.

use backsight_core::{ObjectId, RelPath, Uncovered};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};

use super::{Diff, FileDiff, Hunks, PathChange, SnapshotDetail, Status};

/// The differences, and on request as one text.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct ComparedStates {
    /// The differences.
    #[serde(flatten)]
    pub diff: Diff,
    /// The unified diff; bytes that are not UTF-8 are replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unified: Option<String>,
}

impl Diff {
    /// All of it as one text; bytes that are not UTF-8 are replaced.
    pub fn unified(&self) -> String {
        let bytes: Vec<u8> = self.diffs.iter().flat_map(|file| file.unified.iter().copied()).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The same with the ids of its hunks.
    pub fn unified_with_hunks(&self) -> String {
        let bytes: Vec<u8> = self.diffs.iter().flat_map(FileDiff::unified_with_hunks).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// How many lines differ.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct LineCounts {
    /// The first tree.
    pub from: ObjectId,
    /// The second tree; absent when it is the disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<ObjectId>,
    /// One entry a path.
    pub diffs: Vec<FileLineCounts>,
    /// Sum over all files.
    pub additions: u64,
    /// Sum over all files.
    pub deletions: u64,
    /// Paths one side could not see, so nothing is claimed about them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<Uncovered>,
}

impl LineCounts {
    /// Those of a diff.
    pub fn of(diff: &Diff) -> LineCounts {
        LineCounts {
            from: diff.from,
            to: diff.to,
            diffs: diff.diffs.iter().map(FileLineCounts::of).collect(),
            additions: diff.additions,
            deletions: diff.deletions,
            unseen: diff.unseen.clone(),
        }
    }
}

/// How many lines of one file differ.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct FileLineCounts {
    /// The path (the new one, for renames).
    pub file: RelPath,
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
    /// Why the lines were not compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<String>,
}

impl FileLineCounts {
    /// Those of a file.
    pub fn of(file: &FileDiff) -> FileLineCounts {
        let FileDiff { file, additions, deletions, status, from_file, binary, cut, .. } = file.clone();
        FileLineCounts { file, additions, deletions, status, from_file, binary, cut }
    }
}

/// One snapshot and what it changed.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct ShownStep {
    /// The row.
    #[serde(flatten)]
    pub detail: SnapshotDetail,
    /// What the step changed; absent when retention removed the contents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<Vec<PathChange>>,
    /// What the step did, as a unified diff.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "as_text")]
    #[schemars(with = "Option<String>")]
    pub diff: Option<Diff>,
    /// What takes it back, as a unified diff.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "as_text")]
    #[schemars(with = "Option<String>")]
    pub reverse_diff: Option<Diff>,
    /// What the step did, as hunks with their ids.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hunks: Option<Hunks>,
}

fn as_text<S: Serializer>(diff: &Option<Diff>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&diff.as_ref().map(Diff::unified).unwrap_or_default())
}

/// A file of a snapshot.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct FileContent {
    /// Where.
    pub path: RelPath,
    /// What it holds.
    #[serde(flatten)]
    pub content: ContentBytes,
}

/// A content.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct BlobContent {
    /// Its id.
    pub blob: ObjectId,
    /// What it holds.
    #[serde(flatten)]
    pub content: ContentBytes,
}

/// Bytes, in JSON as a text or in base64.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentBytes(pub Vec<u8>);

impl From<Vec<u8>> for ContentBytes {
    fn from(bytes: Vec<u8>) -> Self {
        ContentBytes(bytes)
    }
}

/// How bytes are written in JSON.
#[derive(JsonSchema, Serialize)]
enum ContentEncoding {
    /// As it is.
    #[serde(rename = "utf-8")]
    Utf8,
    /// RFC 4648 with padding, because it is not UTF-8.
    #[serde(rename = "base64")]
    Base64,
}

/// Bytes in JSON.
#[derive(JsonSchema, Serialize)]
struct WrittenContent<'a> {
    /// How many bytes it has.
    size: usize,
    /// How `content` is written.
    encoding: ContentEncoding,
    /// The bytes.
    content: std::borrow::Cow<'a, str>,
}

impl Serialize for ContentBytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (encoding, content) = match str::from_utf8(&self.0) {
            Ok(text) => (ContentEncoding::Utf8, text.into()),
            Err(_) => (ContentEncoding::Base64, backsight_core::base64(&self.0).into()),
        };
        WrittenContent { size: self.0.len(), encoding, content }.serialize(serializer)
    }
}

impl JsonSchema for ContentBytes {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Content".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        WrittenContent::json_schema(generator)
    }
}
