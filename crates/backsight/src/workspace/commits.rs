//! The commits of the user's Git, for those who read the timeline. Nothing of them is kept.

use backsight_core::{Result, Timestamp};
use backsight_files::{GitCommit, git_commits};

use super::Workspace;
use crate::report::{Commit, Commits};
use crate::request;

impl Workspace {
    /// The commits of the repository that the workspace is in; empty outside of one. Reads the repository without running
    /// `git` and without writing anything.
    pub fn commits(&self, request: &request::Commits) -> Result<Commits> {
        let since = request.since.unwrap_or(Timestamp(0));
        let until = request.until.unwrap_or(Timestamp(i64::MAX));
        let limit = if request.limit == 0 { usize::MAX } else { request.limit };
        let found = git_commits(self.root(), since, until, limit)?;
        let told = |commit: GitCommit| Commit {
            id: commit.id,
            timestamp: commit.at,
            author: commit.author,
            subject: commit.subject,
            parents: commit.parents.len(),
        };
        Ok(Commits {
            repository: found.is_there,
            commits: found.commits.into_iter().map(told).collect(),
            more: found.is_cut,
        })
    }
}
