//! Joins two diffs into the one that does what both do in turn, without seeing the files.
//!
//! This level pairs patches by path; `compose::lines` works out what a pair does to the lines.

mod lines;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::header::HeaderStyle;
use crate::patch::{FilePatch, PatchKind};
use crate::text::describe_line;
use lines::{LineError, compose_lines};

/// Why two diffs cannot be joined. `path` is always the path between the two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ComposeError {
    /// The second diff expects a line that is not what the first one leaves.
    Mismatch {
        /// The file.
        path: Vec<u8>,
        /// Line of the file between the two diffs, from one.
        line: usize,
        /// The line after the first diff.
        first: Vec<u8>,
        /// The line the second diff expects.
        second: Vec<u8>,
    },
    /// One diff knows lines where the other knows the file has ended.
    PastEnd {
        /// The file.
        path: Vec<u8>,
        /// Line of the file between the two diffs, from one.
        line: usize,
    },
    /// The hunks of a patch overlap.
    Overlap {
        /// The file.
        path: Vec<u8>,
    },
    /// The second diff is about a file that the first deletes or moves away.
    FileMissing {
        /// The file.
        path: Vec<u8>,
    },
    /// The second diff makes a file that is already there after the first.
    FileExists {
        /// The file.
        path: Vec<u8>,
    },
    /// One of the diffs changes a file twice.
    Duplicate {
        /// The file.
        path: Vec<u8>,
    },
    /// The second diff copies a file back to where the first moved it from, which one diff cannot say.
    CopyOntoSource {
        /// The file.
        path: Vec<u8>,
    },
}

impl fmt::Display for ComposeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use ComposeError as E;
        let path = match self {
            E::Mismatch { path, .. } | E::PastEnd { path, .. } | E::Overlap { path } | E::FileMissing { path } => path,
            E::FileExists { path } | E::Duplicate { path } | E::CopyOntoSource { path } => path,
        };
        let path = String::from_utf8_lossy(path);
        match self {
            E::Mismatch { line, first, second, .. } => {
                let (first, second) = (describe_line(Some(first)), describe_line(Some(second)));
                write!(f, "`{path}` line {line} is {first} after the first diff, but the second expects {second}")
            }
            E::PastEnd { line, .. } => write!(f, "`{path}` ends before line {line} for one diff but not the other"),
            E::Overlap { .. } => write!(f, "hunks of `{path}` overlap"),
            E::FileMissing { .. } => write!(f, "`{path}` does not exist after the first diff"),
            E::FileExists { .. } => write!(f, "`{path}` already exists after the first diff"),
            E::Duplicate { .. } => write!(f, "`{path}` is changed twice by one diff"),
            E::CopyOntoSource { .. } => write!(f, "`{path}` is moved away and copied back"),
        }
    }
}

impl std::error::Error for ComposeError {}

/// The diff that does what `first` and then `second` does.
///
/// Only what the hunks show is known of the files. Where both show a line they must agree on it; that is all the
/// checking possible without the files, so a result for diffs of unrelated files may simply not apply.
/// Changes that cancel out disappear. If either diff of a file is binary, so is the result.
pub fn compose(first: &[FilePatch], second: &[FilePatch]) -> Result<Vec<FilePatch>, ComposeError> {
    let middle = Middle::after(first)?;
    let vacated = vacated(second);
    // What becomes of each patch of the first diff, and what the second adds to them.
    let mut kept: Vec<Option<FilePatch>> = first.iter().cloned().map(Some).collect();
    let mut used = vec![false; first.len()];
    let mut extra = Vec::new();
    for patch in second {
        if let Some(target) = target(patch).filter(|target| source(patch) != Some(*target))
            && middle.made.contains_key(target)
            && !vacated.contains(target)
        {
            return Err(ComposeError::FileExists { path: target.to_vec() });
        }
        match middle.predecessor(first, patch)? {
            None => extra.push(patch.clone()),
            Some(index) if patch.kind == PatchKind::Copied => extra.extend(pair(&first[index], patch)?),
            Some(index) if used[index] => return Err(ComposeError::Duplicate { path: path_of(patch) }),
            Some(index) => {
                used[index] = true;
                kept[index] = pair(&first[index], patch)?;
            }
        }
    }
    Ok(kept.into_iter().flatten().chain(extra).collect())
}

/// The path a patch reads. A plain diff may name a file differently on its two sides (`x.orig`); the new one counts.
fn source(patch: &FilePatch) -> Option<&[u8]> {
    match patch.kind {
        PatchKind::Added => None,
        PatchKind::Modified | PatchKind::ModeOnly => patch.new_path.as_deref(),
        PatchKind::Deleted | PatchKind::Renamed | PatchKind::Copied => patch.old_path.as_deref(),
    }
}

/// The path a patch writes.
fn target(patch: &FilePatch) -> Option<&[u8]> {
    patch.new_path.as_deref().filter(|_| patch.kind != PatchKind::Deleted)
}

fn path_of(patch: &FilePatch) -> Vec<u8> {
    source(patch).or(target(patch)).unwrap_or_default().to_vec()
}

/// Paths a diff leaves free for something else.
fn vacated(patches: &[FilePatch]) -> BTreeSet<&[u8]> {
    let leaving = |patch: &&FilePatch| matches!(patch.kind, PatchKind::Deleted | PatchKind::Renamed);
    patches.iter().filter(leaving).filter_map(source).collect()
}

/// What is known of the files between the two diffs.
struct Middle<'a> {
    /// Paths the first diff wrote, with the index of the patch.
    made: BTreeMap<&'a [u8], usize>,
    /// Paths it deleted, with the index of the patch.
    deleted: BTreeMap<&'a [u8], usize>,
    /// Paths it deleted or moved away.
    gone: BTreeSet<&'a [u8]>,
}

impl<'a> Middle<'a> {
    fn after(first: &'a [FilePatch]) -> Result<Self, ComposeError> {
        let mut middle = Middle { made: BTreeMap::new(), deleted: BTreeMap::new(), gone: vacated(first) };
        for (index, patch) in first.iter().enumerate() {
            if let Some(target) = target(patch)
                && middle.made.insert(target, index).is_some()
            {
                return Err(ComposeError::Duplicate { path: target.to_vec() });
            }
            if patch.kind == PatchKind::Deleted {
                middle.deleted.extend(source(patch).map(|path| (path, index)));
            }
        }
        Ok(middle)
    }

    /// The patch of the first diff that `patch` continues, if there is one.
    fn predecessor(&self, first: &[FilePatch], patch: &FilePatch) -> Result<Option<usize>, ComposeError> {
        match source(patch) {
            Some(path) => match self.made.get(path) {
                Some(&index) => Ok(Some(index)),
                None if self.gone.contains(path) => Err(ComposeError::FileMissing { path: path.to_vec() }),
                None => Ok(None),
            },
            // Deleted and made again is a change of content, unless the new file is of another type.
            None => {
                let deleted = target(patch).filter(|path| !self.made.contains_key(path));
                let index = deleted.and_then(|path| self.deleted.get(path)).copied();
                Ok(index.filter(|&index| same_type(first[index].old_mode, patch.new_mode)))
            }
        }
    }
}

fn same_type(old: Option<u32>, new: Option<u32>) -> bool {
    match (old, new) {
        (Some(old), Some(new)) => old & 0o170000 == new & 0o170000,
        _ => true,
    }
}

/// Joins two patches of one file; `None` when nothing is left to do.
fn pair(first: &FilePatch, second: &FilePatch) -> Result<Option<FilePatch>, ComposeError> {
    let (Some(old), Some(new)) = (source(first), target(second)) else {
        // A file made and deleted again, or at least one end is missing and needs no kind of its own.
        return match (source(first), target(second)) {
            (None, None) => Ok(None),
            (None, _) => joined(first, second, PatchKind::Added).map(Some),
            _ => joined(first, second, PatchKind::Deleted).map(Some),
        };
    };
    if first.kind == PatchKind::Copied || second.kind == PatchKind::Copied {
        return match old == new {
            true => Err(ComposeError::CopyOntoSource { path: new.to_vec() }),
            false => joined(first, second, PatchKind::Copied).map(Some),
        };
    }
    if old != new {
        return joined(first, second, PatchKind::Renamed).map(Some);
    }
    let mut patch = joined(first, second, PatchKind::Modified)?;
    if !patch.hunks.is_empty() || patch.binary {
        return Ok(Some(patch));
    }
    patch.kind = PatchKind::ModeOnly;
    Ok(Some(patch).filter(|patch| patch.old_mode != patch.new_mode))
}

fn joined(first: &FilePatch, second: &FilePatch, kind: PatchKind) -> Result<FilePatch, ComposeError> {
    let binary = first.binary || second.binary;
    let hunks = match binary {
        true => Vec::new(),
        false => compose_lines(first, second).map_err(|error| at_path(error, path_of(second)))?,
    };
    let (has_old, has_new) = (kind != PatchKind::Added, kind != PatchKind::Deleted);
    // A patch that does not mention the mode does not change it, so the other patch knows it too.
    let old_mode = first.old_mode.or(second.old_mode).filter(|_| has_old);
    let new_mode = second.new_mode.or(first.new_mode).filter(|_| has_new);
    let (old_id, new_id) = ids(first, second).unzip();
    let moved = matches!(kind, PatchKind::Renamed | PatchKind::Copied);
    let unchanged = moved && hunks.is_empty() && !binary;
    // Only git's header can speak of a file without showing lines of it.
    let plain = [first, second].iter().all(|patch| patch.style == HeaderStyle::Plain) && !hunks.is_empty();
    Ok(FilePatch {
        old_path: source(first).map(<[u8]>::to_vec),
        new_path: target(second).map(<[u8]>::to_vec),
        old_mode,
        new_mode,
        old_id,
        new_id,
        kind,
        similarity: unchanged.then_some(100),
        binary,
        style: if plain { HeaderStyle::Plain } else { HeaderStyle::Git },
        hunks,
    })
}

/// Object ids of both ends, when both are known. A patch that keeps the content keeps the id.
fn ids(first: &FilePatch, second: &FilePatch) -> Option<(Vec<u8>, Vec<u8>)> {
    let keeps = |patch: &FilePatch| patch.hunks.is_empty() && !patch.binary;
    let old = first.old_id.clone().or_else(|| second.old_id.clone().filter(|_| keeps(first)))?;
    let new = second.new_id.clone().or_else(|| first.new_id.clone().filter(|_| keeps(second)))?;
    Some((old, new))
}

fn at_path(error: LineError, path: Vec<u8>) -> ComposeError {
    match error {
        LineError::Mismatch { line, first, second } => ComposeError::Mismatch { path, line, first, second },
        LineError::PastEnd { line } => ComposeError::PastEnd { path, line },
        LineError::Overlap => ComposeError::Overlap { path },
    }
}

#[cfg(test)]
mod tests;
