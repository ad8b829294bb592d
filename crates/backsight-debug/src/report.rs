//! What questions about snapshots are answered with. Lists that are absent are empty; whatever was cut or could not be
//! compared is counted in the same answer.

use backsight_core::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::capture::{Incomplete, Safety, Scope};

/// A snapshot, as listed.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct SnapshotEntry {
    /// `snap-` and a UUID.
    pub id: String,
    /// What the caller called it, or `snapshot-4`.
    pub label: String,
    /// When it was taken.
    pub timestamp: Timestamp,
    /// The thread.
    pub thread_id: i64,
    /// Which frame of it: 0 is the innermost.
    pub frame_index: u32,
    /// The frame's function.
    pub function: String,
    /// Where it stood: `shop.py:12`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// How many frames it holds.
    pub frame_count: usize,
    /// How many variables, over all frames.
    pub variable_count: usize,
    /// How many values: the variables and everything inside them.
    pub value_count: usize,
    /// How deep values were expanded.
    pub depth: u32,
    /// What was allowed to run.
    pub safety: Safety,
    /// Whose hit it is, when it was taken by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<String>,
    /// What was not seen, and why; empty means complete.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub incomplete: Vec<Incomplete>,
}

/// What changed between two snapshots.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct SnapshotDiff {
    /// The snapshot compared from.
    pub snapshot_id_a: String,
    /// The snapshot compared to.
    pub snapshot_id_b: String,
    /// Its label.
    pub label_a: String,
    /// Its label.
    pub label_b: String,
    /// Where the program stood: `total (shop.py:12)`.
    pub at_a: String,
    /// Where the program stood then.
    pub at_b: String,
    /// Whether they are of different threads.
    pub thread_mismatch: bool,
    /// From the first to the second; negative when they were asked for in the other order.
    pub time_delta_ms: i64,
    /// Of everything, whatever of it is shown below.
    pub summary: Summary,
    /// What makes the comparison less than it seems.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// What is new.
    pub added: Vec<DiffEntry>,
    /// What is gone.
    pub removed: Vec<DiffEntry>,
    /// What has another value.
    pub modified: Vec<DiffEntry>,
    /// Paths at which another object stands now; whether its content differs is in the lists above.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rebound: Vec<String>,
    /// How many more of those there are.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rebound_omitted: u64,
    /// Paths of values that look the same and of which something was not looked at: they may have changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_compared: Vec<String>,
    /// How many more of those there are.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub not_compared_omitted: u64,
    /// The path asked for, when not everything was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// How many changes there are at or under that path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matched: Option<u64>,
    /// How many of the changes asked for come after the ones shown.
    pub omitted: u64,
    /// Where those are; the counts add up to `omitted`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folded: Vec<Folded>,
    /// The offset that goes on after the ones shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<usize>,
}

/// How much changed, in values that have nothing inside or were not looked into.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Summary {
    /// New.
    pub added: u64,
    /// Gone.
    pub removed: u64,
    /// With another value.
    pub modified: u64,
    /// The same.
    pub unchanged: u64,
    /// Looking the same, of which something was not looked at; `not_compared` of the answer names them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub not_compared: u64,
}

impl Summary {
    /// How many changes that is.
    pub fn changes(&self) -> u64 {
        self.added + self.removed + self.modified
    }
}

/// One change.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct DiffEntry {
    /// The variable's, field's or element's own name.
    pub name: String,
    /// Where it is: `order.items[3].price`.
    pub path: String,
    /// As the language writes it.
    #[serde(rename = "type")]
    pub kind: String,
    /// What the variable is.
    pub scope: Scope,
    /// The function it is in, when several frames are compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<String>,
    /// Of what is new or gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Of what has another value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_value: Option<String>,
    /// Of what has another value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_value: Option<String>,
    /// Of a value that is both gone and new because its type changed: the other type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub type_changed: Option<String>,
    /// How it differs: `+1`, `differs from character 812`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What makes a comparison less than it seems.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Warning {
    /// What about.
    pub kind: WarningKind,
    /// In words.
    pub message: String,
}

/// What a warning is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WarningKind {
    /// Two threads.
    Thread,
    /// Two functions.
    Function,
    /// One function at two depths of recursion.
    Recursion,
    /// Two calls of one function, whose variables are not the same.
    Call,
    /// Two lines of one function: as ordinary as a step.
    Line,
    /// Two depths of looking inside.
    Depth,
    /// Two levels of what may run.
    Safety,
    /// Something was not seen.
    Incomplete,
    /// Values look the same, and something of them was not looked at.
    NotCompared,
    /// Frames that only one of them holds.
    Frames,
}

/// Changes that are not shown.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Folded {
    /// Under which path; empty for everywhere else.
    pub under: String,
    /// How many.
    pub count: u64,
}

/// The values of a snapshot.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct SnapshotView {
    /// Which one.
    pub snapshot: SnapshotEntry,
    /// What is in it, outermost values first.
    pub values: Vec<ViewEntry>,
    /// The path asked for, when not everything was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// How many of the values asked for come after the ones shown.
    pub omitted: u64,
    /// Where those are; the counts add up to `omitted`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folded: Vec<Folded>,
    /// The offset that goes on after the ones shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<usize>,
}

/// A value of a snapshot.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct ViewEntry {
    /// Where it is.
    pub path: String,
    /// As the language writes it.
    #[serde(rename = "type")]
    pub kind: String,
    /// What the variable is.
    pub scope: Scope,
    /// The function it is in, when there are several frames.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<String>,
    /// Its value; of a container its type and length.
    pub value: String,
}

/// The hits of one automatic snapshot point as a table.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Series {
    /// Whose hits.
    pub name: String,
    /// How many there are.
    pub hits: u64,
    /// The paths that changed from one hit to another; these are the columns.
    pub columns: Vec<String>,
    /// One row for each hit, in order.
    pub rows: Vec<SeriesRow>,
    /// How many values never changed.
    pub constant: u64,
    /// How many hits are left out between the rows.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub omitted_rows: u64,
    /// How many paths changed and have no column.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub omitted_columns: u64,
    /// What makes the table less than it seems.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

/// One hit.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct SeriesRow {
    /// From 1, in the order of the series.
    pub hit: u64,
    /// The snapshot's label, for a closer look.
    pub label: String,
    /// After the first hit.
    pub after_ms: i64,
    /// The values in the order of the columns; nothing where there was none.
    pub cells: Vec<Option<String>>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}
