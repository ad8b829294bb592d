//! How the watcher is doing.

use backsight_core::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

/// Whether captures can rely on the watcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WatchMood {
    /// Nobody asked for it: every capture walks.
    Off,
    /// The next capture looks only where something happened.
    Watching,
    /// The next capture walks everything, and is watched again from there if that can be done.
    Doubtful,
}

/// How the watcher is doing.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Watch {
    /// Whether the next capture can rely on it.
    pub state: WatchMood,
    /// How many directories are watched.
    pub directories: u64,
    /// Why everything was walked the last time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
    /// Captures that walked everything.
    pub full_walks: u64,
    /// Captures that looked only where something happened.
    pub partial_walks: u64,
    /// When a walk over everything was last compared with what the watcher said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified_at: Option<Timestamp>,
    /// Paths that such walks found changed without an announcement.
    pub missed: u64,
}
