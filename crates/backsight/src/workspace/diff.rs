//! What differs between two states, with contents: snapshots, the disk, and single steps both ways.

use std::collections::{BTreeMap, BTreeSet};

use backsight_core::{Code, Error, NextStep, ObjectId, RelPath, Result, Uncovered};
use backsight_diff::{BinaryFiles, FileChange, FileSide, Options, generate_unified_diff, is_binary};
use backsight_files::{Capture, Change, Node, Renames, Texts, Tree, Unseen, renames};

use super::look::plain_change;
use super::{Opened, Workspace, still_held};
use crate::convert::path_changes;
use crate::reference::{self, Reference};
use crate::report::{Diff, FileDiff, Patch, PathChange};
use crate::request;
use crate::timeline::Step;

/// One side of a comparison.
pub(super) enum Side {
    Stored(Box<Step>),
    /// Files that no row has as its result.
    Tree(Tree),
    Now(Box<Capture>),
}

impl Side {
    pub(super) fn tree(&self) -> &Tree {
        match self {
            Side::Stored(step) => &step.tree,
            Side::Tree(tree) => tree,
            Side::Now(capture) => &capture.tree,
        }
    }

    /// For a sentence: `#3`, or the files on disk.
    pub(super) fn name(&self) -> String {
        match self {
            Side::Stored(step) => step.snapshot.sequence_number.to_string(),
            Side::Tree(tree) => tree.id.short(),
            Side::Now(_) => "the files on disk".to_owned(),
        }
    }

    /// For a command line, where a bare `#3` would be a comment.
    pub(super) fn spelling(&self) -> String {
        match self {
            Side::Stored(step) => step.snapshot.sequence_number.0.to_string(),
            Side::Tree(tree) => tree.id.to_string(),
            Side::Now(_) => "now".to_owned(),
        }
    }

    pub(super) fn capture(&self) -> Option<&Capture> {
        match self {
            Side::Stored(_) | Side::Tree(_) => None,
            Side::Now(capture) => Some(capture),
        }
    }

    pub(super) fn recorded_tree(&self) -> Option<ObjectId> {
        match self {
            Side::Stored(step) => Some(step.tree.id),
            Side::Tree(tree) => Some(tree.id),
            Side::Now(_) => None,
        }
    }
}

/// Two sides, what differs, and what one of them could not see.
struct Comparison {
    from: Side,
    to: Side,
    changes: Vec<Change>,
    unseen: Vec<Uncovered>,
}

impl Workspace {
    /// Which paths differ between a snapshot and another, or the disk.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let workspace = backsight::Workspace::open(directory.path())?;
    /// std::fs::write(directory.path().join("a.txt"), "one\n")?;
    /// let first = workspace.track()?.snapshot.tree.to_string();
    /// std::fs::write(directory.path().join("b.txt"), "two\n")?;
    /// let patch = workspace.patch(&first, None)?;
    /// assert_eq!(patch.files[0].to_string(), "b.txt");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn patch(&self, from: &str, to: Option<&str>) -> Result<Patch> {
        self.patch_paths(from, to, &[])
    }

    /// The same, only for some paths and what lies below them.
    pub fn patch_paths(&self, from: &str, to: Option<&str>, paths: &[RelPath]) -> Result<Patch> {
        self.reading(|opened| self.patch_in(opened, from, to, paths))
    }

    fn patch_in(&self, opened: &Opened, from: &str, to: Option<&str>, paths: &[RelPath]) -> Result<Patch> {
        let Comparison { from, to, changes, unseen } = self.compare_sides(opened, from, to, paths)?;
        let renames = opened.renames(&changes, from.capture().or(to.capture()));
        let changes = path_changes(&changes, &renames);
        let files: BTreeSet<RelPath> =
            changes.iter().flat_map(|change| change.from_path.iter().chain([&change.path])).cloned().collect();
        let from = from.tree().id;
        let (files, uncompared_renames) = (files.into_iter().collect(), renames.uncompared);
        Ok(Patch { from, to: to.recorded_tree(), files, changes, unseen, uncompared_renames })
    }

    /// What differs, with contents: seed 002's list.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let workspace = backsight::Workspace::open(directory.path())?;
    /// std::fs::write(directory.path().join("a.txt"), "one\n")?;
    /// workspace.track()?;
    /// std::fs::write(directory.path().join("a.txt"), "one\ntwo\n")?;
    /// let diffs = workspace.diff_full("@", None)?;
    /// assert_eq!((diffs[0].additions, diffs[0].after.as_str()), (1, "one\ntwo\n"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn diff_full(&self, from: &str, to: Option<&str>) -> Result<Vec<FileDiff>> {
        Ok(self.diff_with(&request::Diff::new(from, to.map(str::to_owned)))?.diffs)
    }

    /// What differs, with contents, unified diffs and bounds of the caller's.
    pub fn diff_with(&self, request: &request::Diff) -> Result<Diff> {
        self.reading(|opened| self.diff_in(opened, request))
    }

    fn diff_in(&self, opened: &Opened, request: &request::Diff) -> Result<Diff> {
        let compared = self.compare_sides(opened, &request.from, request.to.as_deref(), &request.paths)?;
        diff_of(opened, compared, request)
    }

    /// What a step itself did, as a diff; with `reversed`, what takes it back. Changes of others in the same row are
    /// not in it. The first snapshot has nothing before it, so its diff is empty.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let workspace = backsight::Workspace::open(directory.path())?;
    /// std::fs::write(directory.path().join("a.txt"), "one\n")?;
    /// workspace.track()?;
    /// std::fs::write(directory.path().join("a.txt"), "two\n")?;
    /// workspace.track()?;
    /// let back = workspace.step_diff("@", true, &[])?;
    /// assert!(String::from_utf8_lossy(&back.diffs[0].unified).ends_with("-two\n+one\n"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn step_diff(&self, reference: &str, reversed: bool, paths: &[RelPath]) -> Result<Diff> {
        self.reading(|opened| self.step_diff_in(opened, reference, reversed, paths, BinaryFiles::Named))
    }

    /// The same as a patch that `git apply` takes: the contents of binary files are in it.
    pub fn step_patch(&self, reference: &str, reversed: bool, paths: &[RelPath]) -> Result<Diff> {
        self.reading(|opened| self.step_diff_in(opened, reference, reversed, paths, BinaryFiles::Whole))
    }

    pub(super) fn step_diff_in(
        &self,
        opened: &Opened,
        reference: &str,
        reversed: bool,
        paths: &[RelPath],
        binary: BinaryFiles,
    ) -> Result<Diff> {
        let step = self.resolve_row(opened, reference)?;
        still_held(&step)?;
        let before = step.before().unwrap_or(step.tree);
        let limit = step.limit();
        let is_own = |path: &RelPath| {
            let is_within = limit.is_empty() || limit.iter().any(|known| path.is_within(known));
            is_within && (paths.is_empty() || paths.iter().any(|selected| path.is_within(selected)))
        };
        let (from, to) = if reversed { (step.tree, before) } else { (before, step.tree) };
        let mut changes = opened.files.compare(&from, &to)?;
        changes.retain(|change| is_own(&change.path));
        let compared = Comparison { from: Side::Tree(from), to: Side::Tree(to), changes, unseen: Vec::new() };
        diff_of(opened, compared, &request::Diff { binary, ..request::Diff::new("", None) })
    }

    /// What differs between two stored trees.
    pub(super) fn tree_diff(
        &self,
        opened: &Opened,
        from: Tree,
        to: Tree,
        binary: BinaryFiles,
    ) -> Result<Vec<FileDiff>> {
        let changes = opened.files.compare(&from, &to)?;
        let compared = Comparison { from: Side::Tree(from), to: Side::Tree(to), changes, unseen: Vec::new() };
        let request = request::Diff { binary, ..request::Diff::new("", None) };
        Ok(diff_of(opened, compared, &request)?.diffs)
    }

    /// The unified diff of each path that differs between a snapshot and the disk.
    pub(super) fn diff_texts(
        &self,
        opened: &Opened,
        from: Step,
        to: Capture,
        changes: &[Change],
    ) -> Result<Vec<(RelPath, Vec<u8>)>> {
        let (from, to) = (Side::Stored(Box::new(from)), Side::Now(Box::new(to)));
        let contents = Contents {
            before: &|path, id| content(opened, &from, path, id),
            after: &|path, id| content(opened, &to, path, id),
        };
        let request = request::Diff::new("", None);
        let text = |change: &Change| {
            let [old, new] = [change.before, change.after].map(|node| node.map(|node| (&change.path, node)));
            let diff = file_diff(&contents, &plain_change(change), old, new, &request)?;
            Ok((change.path.clone(), diff.unified))
        };
        changes.iter().map(text).collect()
    }

    pub(super) fn side(&self, opened: &Opened, reference: &str) -> Result<Side> {
        match reference::parse(reference)? {
            Reference::Now => Ok(Side::Now(Box::new(self.look(opened)?))),
            _ => Ok(Side::Stored(Box::new(self.resolve(opened, reference)?))),
        }
    }

    fn compare_sides(&self, opened: &Opened, from: &str, to: Option<&str>, paths: &[RelPath]) -> Result<Comparison> {
        let (from, to) = (self.side(opened, from)?, self.side(opened, to.unwrap_or("now"))?);
        let files = &opened.files;
        let (changes, unseen) = match (&from, &to) {
            (Side::Stored(before), Side::Stored(after)) => files.split_unseen(
                files.compare(&before.tree, &after.tree)?,
                before.coverage_id.as_ref(),
                &Unseen::Stored(after.coverage_id.as_ref()),
            )?,
            (Side::Stored(before), Side::Now(now)) => files.split_unseen(
                files.compare_with_now(&before.tree, now)?,
                before.coverage_id.as_ref(),
                &Unseen::Now(now),
            )?,
            (Side::Now(now), Side::Stored(after)) => {
                let (changes, unseen) = files.split_unseen(
                    files.compare_with_now(&after.tree, now)?,
                    after.coverage_id.as_ref(),
                    &Unseen::Now(now),
                )?;
                let inverse =
                    changes.into_iter().map(|change| Change { before: change.after, after: change.before, ..change });
                (inverse.collect(), unseen)
            }
            // `side` makes no other kind of two.
            _ => (Vec::new(), Vec::new()),
        };
        for path in paths {
            let is_in = |side: &Side| files.find(side.tree(), side.capture(), path).map(|found| found.is_some());
            let is_unseen = || unseen.iter().any(|unseen| unseen.path.is_within(path) || path.is_within(&unseen.path));
            // A mistake must not read as "no differences".
            if !is_in(&from)? && !is_in(&to)? && !is_unseen() {
                let message = format!("`{path}` is neither in {} nor in {}", from.name(), to.name());
                return Err(Error::new(Code::PathNotFound, message)
                    .then("list the files", NextStep::ListFiles { reference: from.spelling() }));
            }
        }
        let selected = |path: &RelPath| paths.is_empty() || paths.iter().any(|selected| path.is_within(selected));
        Ok(Comparison {
            changes: changes.into_iter().filter(|change| selected(&change.path)).collect(),
            unseen: unseen.into_iter().filter(|unseen| selected(&unseen.path)).collect(),
            from,
            to,
        })
    }
}

fn diff_of(opened: &Opened, compared: Comparison, request: &request::Diff) -> Result<Diff> {
    let contents = Contents {
        before: &|path, id| content(opened, &compared.from, path, id),
        after: &|path, id| content(opened, &compared.to, path, id),
    };
    let now = compared.from.capture().or(compared.to.capture());
    let renames = opened.renames(&compared.changes, now);
    let diffs = file_diffs(&compared.changes, &renames, &contents, request)?;
    Ok(Diff {
        from: compared.from.tree().id,
        to: compared.to.recorded_tree(),
        additions: diffs.iter().map(|diff| diff.additions).sum(),
        deletions: diffs.iter().map(|diff| diff.deletions).sum(),
        diffs,
        unseen: compared.unseen,
        uncompared_renames: renames.uncompared,
    })
}

/// How the bytes of each side are read.
pub(super) struct Contents<'a> {
    pub(super) before: &'a dyn Fn(&RelPath, &ObjectId) -> Result<Vec<u8>>,
    pub(super) after: &'a dyn Fn(&RelPath, &ObjectId) -> Result<Vec<u8>>,
}

impl Contents<'_> {
    /// The moves among changes whose contents these are.
    pub(super) fn renames(&self, changes: &[Change]) -> Renames {
        let texts =
            Texts { before: &|path, id| (self.before)(path, id).ok(), after: &|path, id| (self.after)(path, id).ok() };
        renames(changes, &texts)
    }
}

/// Each change with its contents.
pub(super) fn file_diffs(
    changes: &[Change],
    renames: &Renames,
    contents: &Contents<'_>,
    request: &request::Diff,
) -> Result<Vec<FileDiff>> {
    let nodes: BTreeMap<&RelPath, &Change> = changes.iter().map(|change| (&change.path, change)).collect();
    let one = |change: PathChange| {
        let before = change.from_path.as_ref().unwrap_or(&change.path);
        let old = nodes.get(before).and_then(|found| found.before).map(|node| (before, node));
        let new = nodes.get(&change.path).and_then(|found| found.after).map(|node| (&change.path, node));
        file_diff(contents, &change, old, new, request)
    };
    path_changes(changes, renames).into_iter().map(one).collect()
}

/// The unified diffs of files as one text.
pub(super) fn joined(diffs: Vec<FileDiff>) -> String {
    let texts: Vec<u8> = diffs.into_iter().flat_map(|diff| diff.unified).collect();
    String::from_utf8_lossy(&texts).into_owned()
}

pub(super) fn content(opened: &Opened, side: &Side, path: &RelPath, id: &ObjectId) -> Result<Vec<u8>> {
    match side {
        Side::Stored(_) | Side::Tree(_) => opened.files.objects().read_blob(id),
        Side::Now(capture) => opened.files.content_now(capture, path, id),
    }
}

type At<'a> = Option<(&'a RelPath, Node)>;

fn file_diff(
    contents: &Contents<'_>,
    change: &PathChange,
    old: At<'_>,
    new: At<'_>,
    request: &request::Diff,
) -> Result<FileDiff> {
    let read = |side: &dyn Fn(&RelPath, &ObjectId) -> Result<Vec<u8>>, at: At<'_>| -> Result<Vec<u8>> {
        match at.and_then(|(path, node)| Some((path, node.blob()?))) {
            Some((path, id)) => side(path, &id),
            None => Ok(Vec::new()),
        }
    };
    let (before, after) = (read(contents.before, old)?, read(contents.after, new)?);
    let mut diff = FileDiff {
        file: change.path.clone(),
        before: String::new(),
        after: String::new(),
        additions: 0,
        deletions: 0,
        status: change.status,
        from_file: change.from_path.clone(),
        binary: is_binary(&before)
            || is_binary(&after)
            || std::str::from_utf8(&before).is_err()
            || std::str::from_utf8(&after).is_err(),
        cut: None,
        unified: Vec::new(),
    };
    let largest = before.len().max(after.len()) as u64;
    if largest > request.max_file_bytes {
        diff.cut = Some(format!("{largest} bytes, more than the {} compared line by line", request.max_file_bytes));
        // As of a binary file: whoever applies the rest must not believe that this was applied too.
        let ids = [old, new].map(|at| at.and_then(|(_, node)| node.blob()).map(|id| id.short()));
        let sides = FileChange { old: file_side(old, b"\0", &ids[0]), new: file_side(new, b"\0\0", &ids[1]) };
        diff.unified = format!("# {}: {}\n", change.path, diff.cut.as_deref().unwrap_or_default()).into_bytes();
        diff.unified.extend(generate_unified_diff(&sides, &Options::default()).text);
        return Ok(diff);
    }
    // Git applies contents only between files whose whole ids it is told.
    let is_whole = request.binary == BinaryFiles::Whole && (is_binary(&before) || is_binary(&after));
    let written = |id: ObjectId| if is_whole { id.to_string() } else { id.short() };
    let ids = [old, new].map(|at| at.and_then(|(_, node)| node.blob()).map(written));
    let unified = generate_unified_diff(
        &FileChange { old: file_side(old, &before, &ids[0]), new: file_side(new, &after, &ids[1]) },
        &Options { context: request.context, binary: request.binary, ..Options::default() },
    );
    (diff.additions, diff.deletions, diff.unified) = (unified.additions as u64, unified.deletions as u64, unified.text);
    if !diff.binary {
        diff.before = String::from_utf8(before).unwrap_or_default();
        diff.after = String::from_utf8(after).unwrap_or_default();
    }
    Ok(diff)
}

fn file_side<'a>(at: At<'a>, content: &'a [u8], id: &'a Option<String>) -> Option<FileSide<'a>> {
    let (path, node) = at?;
    let mode = match node {
        Node::File { mode, .. } if mode & 0o100 != 0 => 0o100755,
        Node::File { .. } => 0o100644,
        Node::Symlink { .. } => 0o120000,
        // Git has no words for a directory.
        Node::Directory { .. } => return None,
    };
    Some(FileSide { path: path.as_bytes(), mode: Some(mode), id: id.as_deref(), content })
}
