//! Where in a repository a workspace's files belong, and which of them its Git leaves out of the work tree.

use std::path::{Path, PathBuf};

use backsight_core::{Code, Error, ObjectId, Result};

use crate::git_index::LeftOut;
use crate::git_repository::GitRepository;
use crate::ignore::{common_dir, git_dir_of, id_length, relative_bytes};

/// The workspace as a repository has it.
#[derive(Debug)]
pub(crate) struct Placement {
    /// The workspace's directory in the repository; empty for its root.
    pub(crate) below: Vec<u8>,
    /// What a sparse checkout leaves out, by its path in the workspace.
    pub(crate) left_out: LeftOut,
    /// Whose attributes and configuration say how the files are converted: the repository in whose work tree they are, else
    /// the one that is written to.
    pub(crate) converting: Converting,
}

/// A repository that says how files are converted.
#[derive(Debug)]
pub(crate) struct Converting {
    pub(crate) git_dir: PathBuf,
    /// The workspace's directory in its work tree; empty when it is the top.
    pub(crate) below: Vec<u8>,
    /// The directories of the work tree above the workspace, the top first.
    pub(crate) above: Vec<PathBuf>,
}

impl Placement {
    /// A workspace inside a work tree of the repository is at its own place. So it is in another repository, such as a
    /// clone, when the commit that is continued has a directory there. Otherwise it is at the root.
    pub(crate) fn of(workspace: &Path, repository: &GitRepository, onto: Option<&ObjectId>) -> Result<Self> {
        let around: Vec<(Vec<u8>, PathBuf)> = workspace
            .ancestors()
            .filter_map(|top| Some((relative_bytes(top, workspace), git_dir_of(top, &mut Vec::new())?)))
            .collect();
        let real = |path: &Path| path.canonicalize().ok();
        let is_named = |git_dir: &Path| real(&common_dir(git_dir)) == real(repository.common_dir());
        let below = match (around.iter().find(|(_, git_dir)| is_named(git_dir)), around.first(), onto) {
            (Some((below, _)), _, _) => below.clone(),
            (None, Some((below, _)), Some(onto)) if repository.has_directory(onto, below)? => below.clone(),
            _ => Vec::new(),
        };
        let mut left_out = LeftOut::default();
        // The one whose work tree it is, and the one that is written to, if the workspace lies in both.
        let is_asked = |(index, (_, git_dir)): &(usize, &(Vec<u8>, PathBuf))| *index == 0 || is_named(git_dir);
        for (_, (prefix, git_dir)) in around.iter().enumerate().filter(is_asked) {
            left_out.add(git_dir, id_length(git_dir), prefix).map_err(|problem| {
                Error::new(Code::GitRefused, format!("what the sparse checkout leaves out is not known: {problem}"))
                    .with_hint("see what is wrong with it: `git status`")
            })?;
        }
        let own = around.iter().find(|(_, git_dir)| is_named(git_dir)).or(around.first());
        let converting = match own {
            None => Converting { git_dir: repository.git_dir().to_owned(), below: Vec::new(), above: Vec::new() },
            Some((below, git_dir)) => {
                let depth = below.split(|&byte| byte == b'/').filter(|name| !name.is_empty()).count();
                let mut above: Vec<PathBuf> = workspace.ancestors().skip(1).take(depth).map(Path::to_owned).collect();
                above.reverse();
                Converting { git_dir: git_dir.clone(), below: below.clone(), above }
            }
        };
        Ok(Placement { below, left_out, converting })
    }
}
