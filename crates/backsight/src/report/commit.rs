//! Commits of the user's Git beside the timeline.

use backsight_core::{ObjectId, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

/// The commits of the repository that the workspace is in, as they are in it now. They are no rows: what the user's Git holds
/// can be amended and rebased, and the timeline only grows.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct Commits {
    /// Whether the workspace is in a repository.
    pub repository: bool,
    /// What `HEAD` reaches, the newest first.
    pub commits: Vec<Commit>,
    /// Whether older ones were left out.
    pub more: bool,
}

/// One commit.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Commit {
    /// Its id.
    pub id: ObjectId,
    /// When it was committed.
    pub timestamp: Timestamp,
    /// Who wrote it.
    pub author: String,
    /// The first line of its message.
    pub subject: String,
    /// How many commits it follows: none for the first, several for a merge.
    pub parents: usize,
}
