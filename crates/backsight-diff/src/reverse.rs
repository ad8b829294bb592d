//! Turns a diff around, so that applying it undoes what the diff did.

use std::fmt;
use std::mem::swap;

use crate::patch::{FilePatch, Hunk, Line, LineKind, PatchKind};

/// Which files an operation is about. A pattern is a path, and stands for everything below it too.
#[derive(Debug, Clone, Copy, Default)]
pub struct PathFilter<'a> {
    /// Take only these; all when empty.
    pub include: &'a [&'a [u8]],
    /// Leave these out, even when included.
    pub exclude: &'a [&'a [u8]],
}

impl PathFilter<'_> {
    /// Whether the patch is selected, by its old or its new path.
    #[must_use]
    pub fn selects(&self, patch: &FilePatch) -> bool {
        let named = |patterns: &[&[u8]]| {
            let paths = [&patch.old_path, &patch.new_path];
            paths.into_iter().flatten().any(|path| patterns.iter().any(|pattern| is_within(path, pattern)))
        };
        (self.include.is_empty() || named(self.include)) && !named(self.exclude)
    }
}

fn is_within(path: &[u8], pattern: &[u8]) -> bool {
    let pattern = pattern.strip_suffix(b"/").unwrap_or(pattern);
    path.strip_prefix(pattern).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

/// Why a diff cannot be turned around.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReverseError {
    /// Undoing a copy deletes a file, and a copy does not say all that is in it.
    Copy {
        /// The file the copy made.
        path: Vec<u8>,
    },
}

impl fmt::Display for ReverseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ReverseError::Copy { path } = self;
        let path = String::from_utf8_lossy(path);
        write!(f, "the copy `{path}` cannot be reversed, since the diff does not hold its content")
    }
}

impl std::error::Error for ReverseError {}

/// The selected patches, each undoing what it did; their order stays.
///
/// A copy among the selected files is an error, not a patch that would fail later: see [`ReverseError::Copy`].
pub fn reverse_diff(patches: &[FilePatch], filter: &PathFilter) -> Result<Vec<FilePatch>, ReverseError> {
    patches.iter().filter(|patch| filter.selects(patch)).map(reverse_patch).collect()
}

fn reverse_patch(patch: &FilePatch) -> Result<FilePatch, ReverseError> {
    let mut patch = patch.clone();
    patch.kind = match patch.kind {
        PatchKind::Added => PatchKind::Deleted,
        PatchKind::Deleted => PatchKind::Added,
        PatchKind::Copied => return Err(ReverseError::Copy { path: patch.new_path.unwrap_or_default() }),
        same @ (PatchKind::Modified | PatchKind::Renamed | PatchKind::ModeOnly) => same,
    };
    swap(&mut patch.old_path, &mut patch.new_path);
    swap(&mut patch.old_mode, &mut patch.new_mode);
    swap(&mut patch.old_id, &mut patch.new_id);
    patch.hunks.iter_mut().for_each(reverse_hunk);
    Ok(patch)
}

fn reverse_hunk(hunk: &mut Hunk) {
    swap(&mut hunk.old_start, &mut hunk.new_start);
    swap(&mut hunk.old_len, &mut hunk.new_len);
    for line in &mut hunk.lines {
        line.kind = match line.kind {
            LineKind::Context => LineKind::Context,
            LineKind::Removed => LineKind::Added,
            LineKind::Added => LineKind::Removed,
        };
    }
    removals_first(&mut hunk.lines);
}

/// Within each run of changed lines, puts what goes before what comes: the order every diff is written in.
pub(crate) fn removals_first(lines: &mut [Line]) {
    for run in lines.split_mut(|line| line.kind == LineKind::Context) {
        run.sort_by_key(|line| line.kind == LineKind::Added);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{parse_multi_file_diff, write_patches};

    fn reversed(diff: &str, filter: &PathFilter) -> String {
        let patches = parse_multi_file_diff(diff.as_bytes()).unwrap();
        String::from_utf8(write_patches(&reverse_diff(&patches, filter).unwrap())).unwrap()
    }

    #[test]
    fn both_sides_change_places() {
        let forward = "diff --git a/lib/b/x b/lib/b/y\nold mode 100644\nnew mode 100755\nrename from lib/b/x\n\
                       rename to lib/b/y\nindex 1..2\n--- a/lib/b/x\n+++ b/lib/b/y\n\
                       @@ -1,2 +1,3 @@ f\n a\n--- a/x\n+++ b/x\n+c\n\\ No newline at end of file\n";
        let back = "diff --git a/lib/b/y b/lib/b/x\nold mode 100755\nnew mode 100644\nrename from lib/b/y\n\
                    rename to lib/b/x\nindex 2..1\n--- a/lib/b/y\n+++ b/lib/b/x\n\
                    @@ -1,3 +1,2 @@ f\n a\n-++ b/x\n-c\n\\ No newline at end of file\n+-- a/x\n";
        assert_eq!(reversed(forward, &PathFilter::default()), back);
        assert_eq!(reversed(back, &PathFilter::default()), forward);
    }

    #[test]
    fn creation_and_deletion_change_places() {
        let added = "diff --git a/x b/x\nnew file mode 100755\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n";
        let deleted = "diff --git a/x b/x\ndeleted file mode 100755\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n";
        assert_eq!(reversed(added, &PathFilter::default()), deleted);
        assert_eq!(reversed(deleted, &PathFilter::default()), added);
    }

    #[test]
    fn only_selected_files_are_reversed() {
        let mode = |path: &str| format!("diff --git a/{path} b/{path}\nold mode 100644\nnew mode 100755\n");
        let all = ["src/a", "src/b", "srcs", "z"].map(mode).concat();
        let count = |include: &[&[u8]], exclude: &[&[u8]]| {
            reversed(&all, &PathFilter { include, exclude }).matches("diff --git").count()
        };
        assert_eq!(count(&[], &[]), 4);
        assert_eq!(count(&[b"src"], &[]), 2);
        assert_eq!(count(&[b"src/"], &[b"src/a"]), 1);
        assert_eq!(count(&[], &[b"z"]), 3);
    }

    #[test]
    fn a_copy_is_refused_unless_left_out() {
        let diff = b"diff --git a/x b/y\nsimilarity index 100%\ncopy from x\ncopy to y\n";
        let patches = parse_multi_file_diff(diff).unwrap();
        assert_eq!(reverse_diff(&patches, &PathFilter::default()), Err(ReverseError::Copy { path: b"y".to_vec() }));
        assert_eq!(reverse_diff(&patches, &PathFilter { exclude: &[b"y"], ..PathFilter::default() }), Ok(Vec::new()));
    }
}
