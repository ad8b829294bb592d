//! What the library is asked. Every field has a default that does the ordinary thing.

use backsight_core::{RelPath, Timestamp};

use crate::report::{Kind, OnConflict, Origin};

/// A request to record the files as they are.
#[derive(Clone, Debug, Default)]
pub struct Track {
    /// What it is.
    pub description: String,
    /// Who asks.
    pub origin: Origin,
    /// Keep it through every retention rule.
    pub pinned: bool,
}

/// A request to take the tree to an earlier state.
#[derive(Clone, Debug, Default)]
pub struct Restore {
    /// Which snapshot.
    pub reference: String,
    /// Only these paths and what lies below them; empty means all.
    pub paths: Vec<RelPath>,
    /// Only plan.
    pub dry_run: bool,
    /// Who asks.
    pub origin: Origin,
}

/// A request to undo steps and keep everything else.
#[derive(Clone, Debug, Default)]
pub struct Revert {
    /// Which steps.
    pub references: Vec<String>,
    /// Only these paths and what lies below them; empty means all.
    pub paths: Vec<RelPath>,
    /// What to do about overlaps.
    pub on_conflict: OnConflict,
    /// Only plan.
    pub dry_run: bool,
    /// Who asks.
    pub origin: Origin,
}

/// A request to take back the newest steps, or the newest undos.
#[derive(Clone, Debug)]
pub struct Undo {
    /// How many.
    pub count: usize,
    /// What to do about overlaps.
    pub on_conflict: OnConflict,
    /// Only plan.
    pub dry_run: bool,
    /// Who asks.
    pub origin: Origin,
}

impl Default for Undo {
    fn default() -> Self {
        Undo { count: 1, on_conflict: OnConflict::Refuse, dry_run: false, origin: Origin::default() }
    }
}

/// Which part of the timeline to list.
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// Only this session.
    pub session: Option<String>,
    /// Only this tool.
    pub tool: Option<String>,
    /// Only this kind of step.
    pub kind: Option<Kind>,
    /// Only steps that changed this path or something below it.
    pub file: Option<RelPath>,
    /// Only at or after.
    pub since: Option<Timestamp>,
    /// Only at or before.
    pub until: Option<Timestamp>,
    /// At most this many; 0 means all.
    pub limit: usize,
    /// Where the last page ended.
    pub cursor: Option<String>,
}

/// What to compare and how much to show.
#[derive(Clone, Debug)]
pub struct Diff {
    /// The first tree.
    pub from: String,
    /// The second tree; absent means the disk.
    pub to: Option<String>,
    /// Only these paths and what lies below them; empty means all.
    pub paths: Vec<RelPath>,
    /// Files with more bytes than this on either side are counted but their text is left out, and say so.
    pub max_file_bytes: u64,
    /// Lines of context in the unified diff.
    pub context: usize,
}

impl Diff {
    /// Compares `from` with `to`, or with the disk, with the ordinary bounds.
    pub fn new(from: impl Into<String>, to: Option<String>) -> Self {
        Diff { from: from.into(), to, paths: Vec::new(), max_file_bytes: 8 << 20, context: 3 }
    }
}

/// What retention may remove.
#[derive(Clone, Debug, Default)]
pub struct Collect {
    /// Remove contents of snapshots older than this; overrides the setting.
    pub keep_days: Option<u64>,
    /// Keep the contents of at most this many snapshots, the newest; overrides the setting.
    pub keep_count: Option<u64>,
    /// Remove oldest contents until the store is at most this large; overrides the setting.
    pub disk_budget: Option<u64>,
    /// Only plan.
    pub dry_run: bool,
}

/// How to set a workspace up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Init {
    /// Where the store lives.
    pub store: StorePlace,
    /// Track the directory even though it is a home directory or the root of the file system.
    pub any_root: bool,
}

/// Where the store lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StorePlace {
    /// In `.backsight/store` inside the workspace.
    #[default]
    Workspace,
    /// In the user's state directory, outside the tree.
    User,
}
