//! What is answered about what the lane keeps, and about who watches. What happened in the app is in [`crate::report`].

use backsight_core::Seq;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::baseline::BaselineEntry;
use crate::cdp::Watching;
use crate::noise::{Rule, Suggestion};
use crate::report::{CheckpointEntry, Coverage, is_zero};

/// A named checkpoint that was made.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct CheckpointMade {
    /// It.
    #[serde(flatten)]
    pub checkpoint: CheckpointEntry,
    /// The step that holds the files of this moment; absent when none is recorded or they could not be recorded now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<Seq>,
    /// The oldest one, if it had to make room.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evicted: Option<String>,
    /// What could be better about the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

/// The named checkpoints.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct CheckpointList {
    /// Oldest first.
    pub checkpoints: Vec<CheckpointEntry>,
    /// What is kept and cannot be used any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Something with a name that is no longer kept.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Deleted {
    /// Its name.
    pub deleted: String,
}

/// A noise rule, as listed.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct RuleEntry {
    /// It.
    #[serde(flatten)]
    pub rule: Rule,
    /// How many events it kept out since the server started.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub suppressed: u64,
}

/// The noise rules.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct RuleList {
    /// The user's first.
    pub rules: Vec<RuleEntry>,
    /// Rules that could be added, for warnings that are said again and again; nothing is hidden by them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<Suggestion>,
    /// What is kept and cannot be used any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Noise rules that were added.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct RulesAdded {
    /// They, with the ids they got.
    pub added: Vec<Rule>,
}

/// The baselines.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct BaselineList {
    /// By name.
    pub baselines: Vec<BaselineEntry>,
    /// What is kept and cannot be used any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A noise rule that was switched on or off.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct RuleSwitched {
    /// As it is now.
    pub rule: Rule,
}

/// The key for pages that report by themselves.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct PageKeyRenewed {
    /// To stand in the address of the script: `/backsight.js?key=...`.
    pub ingest_key: String,
}

/// Who watches the app.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct BrowserStatus {
    /// The browser that is watched, or that is waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub browser: Option<Watching>,
    /// Everybody who watches now: a browser, pages that report by themselves, processes.
    pub coverage: Coverage,
    /// How many named checkpoints there are.
    pub checkpoints: usize,
    /// How many baselines there are.
    pub baselines: usize,
}
