//! The names that the documents behind Backsight gave its operations, for programs that were written against them. Nothing
//! else in the library uses them: `revert` of seed 002 *restores* files, and everywhere else a revert undoes steps.
//!
//! Bring the trait into scope to use the names of seed 002:
//!
//! ```
//! # let directory = tempfile::tempdir()?;
//! # let workspace = backsight::Workspace::open(directory.path())?;
//! use backsight::seeds::Seed002;
//!
//! workspace.init_snapshot("s1")?;
//! let before = workspace.track_snapshot("s1")?;
//! std::fs::write(directory.path().join("a.txt"), "one\n")?;
//! let after = workspace.track_snapshot("s1")?;
//! let diffs = workspace.compute_diff("s1", &before.to_string(), &after.to_string())?;
//! assert_eq!((diffs[0].file.to_string(), diffs[0].after.as_str()), ("a.txt".to_owned(), "one\n"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Where a seed's name says what it does, the library has it itself:
//!
//! | seed | its name | here |
//! |---|---|---|
//! | 002 | `track`, `patch`, `restore`, `diff`, `diff_full` | [`Workspace`] |
//! | 003 | `create_file_checkpoint`, `list_file_checkpoints`, `load_file_checkpoint`, `cleanup_old_checkpoints` | [`Workspace`] |
//! | 003 | `detect_unknown_modifications`, `handle_unknown_changes`, `validate_file_state_before_snapshot` | [`Workspace`] |
//! | 003 | `get_config`, `update_config` | [`Workspace`] |
//! | 004 | `create_milestone`, `create_milestone_by_range` | [`Workspace`] |
//! | 004 | `get_current_state`, `validate_workspace_sync`, `reset_state_continuity` | [`Workspace`] |
//! | 004 | `reverse` of steps | [`Workspace::revert_steps`] |

use backsight_core::{Code, Error, ObjectId, RelPath, Result};

use crate::Workspace;
use crate::report::{Applied, FileDiff};
use crate::request::{NewSession, Restore, SessionTrack};

/// Seed 002: snapshots of an agent's session.
pub trait Seed002 {
    /// Starts the session, if it is not.
    fn init_snapshot(&self, session_id: &str) -> Result<()>;

    /// Records the files as they are and answers with their tree. What nobody recorded yet counts as the session's;
    /// [`Workspace::track_session`] with its phases keeps others' changes apart.
    fn track_snapshot(&self, session_id: &str) -> Result<ObjectId>;

    /// What differs between two trees.
    fn compute_diff(&self, session_id: &str, from: &str, to: &str) -> Result<Vec<FileDiff>>;

    /// Puts `files` back to what they were in a snapshot: a restore of some paths. To undo a *step*, see
    /// [`Workspace::revert_steps`].
    fn revert(&self, hash: &str, files: &[RelPath]) -> Result<Applied>;
}

impl Seed002 for Workspace {
    fn init_snapshot(&self, session_id: &str) -> Result<()> {
        self.start_session(&NewSession { id: Some(session_id.to_owned()), title: None }).map(drop)
    }

    fn track_snapshot(&self, session_id: &str) -> Result<ObjectId> {
        let request = SessionTrack { session: session_id.to_owned(), ..Default::default() };
        let tracked = self.track_session(&request)?;
        tracked.after_hash.ok_or_else(|| Error::new(Code::Damaged, "the snapshot just recorded is gone"))
    }

    fn compute_diff(&self, session_id: &str, from: &str, to: &str) -> Result<Vec<FileDiff>> {
        self.session(session_id)?;
        self.diff_full(from, Some(to))
    }

    fn revert(&self, hash: &str, files: &[RelPath]) -> Result<Applied> {
        if files.is_empty() {
            return Err(Error::new(Code::Usage, "no files to revert were named")
                .with_hint("use `restore` to take back everything"));
        }
        self.restore_with(&Restore { reference: hash.to_owned(), paths: files.to_vec(), ..Default::default() })
    }
}
