//! What a search for the step that broke something is answered with.

use backsight_core::{RelPath, Seq};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Snapshot;
use crate::bisect::Verdict;

/// The answer to `bisect`.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Bisected {
    /// In one line.
    pub summary: String,
    /// The first bad step; absent when steps that had to be skipped hide it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<Box<FoundStep>>,
    /// When it is hidden: the steps of which one is the first bad one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub among: Vec<Seq>,
    /// The newest step that is good.
    pub good: Seq,
    /// The oldest step known to be bad.
    pub bad: Seq,
    /// How many steps were in question: those after the good end, up to the bad one.
    pub steps: u64,
    /// Steps in between that were left out: retention removed their contents.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out: u64,
    /// Every run, in order.
    pub runs: Vec<BisectRun>,
    /// What the run at the first bad step said last.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub output: String,
    /// Shared files of the workspace that a run wrote to: they were hard links.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shared_changed: Vec<RelPath>,
    /// The row that records the result.
    pub sequence_number: Seq,
}

/// The step that broke it.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct FoundStep {
    /// Its row.
    #[serde(flatten)]
    pub snapshot: Snapshot,
    /// The first words of the prompt it was made for, else what its session is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Paths it changed.
    pub files: Vec<RelPath>,
    /// What it changed, as a unified diff; cut when it is long.
    pub patch: String,
    /// Bytes that were cut off the diff.
    #[serde(skip_serializing_if = "is_zero")]
    pub patch_cut: u64,
}

/// One run of the check.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct BisectRun {
    /// On which step's files.
    pub step: Seq,
    /// What it says of them.
    pub verdict: Verdict,
    /// Why: `exit 1`, `timed out after 30 s`, `the error is there`.
    pub because: String,
    /// How long the check took.
    pub ms: u64,
    /// How long it took to put the files there.
    pub files_ms: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}
