//! Reading: what is recorded, what is on disk, and what differs. Nothing here writes.

use std::collections::{BTreeMap, BTreeSet};

use backsight_core::{Code, Error, ObjectId, RelPath, Result, Seq, Uncovered};
use backsight_diff::{FileChange, FileSide, Options, generate_unified_diff, is_binary};
use backsight_files::{Capture, Change, Node, Tree, Unseen};

use super::{Opened, Workspace};
use crate::convert::{attributes, path_changes, status};
use crate::history::stacks;
use crate::reference::{self, Reference};
use crate::report::{Diff, FileDiff, FileEntry, LogPage, Patch, PathChange, Snapshot, Status, WorkspaceStatus};
use crate::request;
use crate::timeline::Step;

/// One side of a comparison.
enum Side {
    Stored(Box<Step>),
    Now(Box<Capture>),
}

impl Side {
    fn tree(&self) -> &Tree {
        match self {
            Side::Stored(step) => &step.tree,
            Side::Now(capture) => &capture.tree,
        }
    }

    /// For a sentence: `#3`, or the files on disk.
    fn name(&self) -> String {
        match self {
            Side::Stored(step) => step.snapshot.sequence_number.to_string(),
            Side::Now(_) => "the files on disk".to_owned(),
        }
    }

    /// For a command line, where a bare `#3` would be a comment.
    fn spelling(&self) -> String {
        match self {
            Side::Stored(step) => step.snapshot.sequence_number.0.to_string(),
            Side::Now(_) => "now".to_owned(),
        }
    }

    fn capture(&self) -> Option<&Capture> {
        match self {
            Side::Stored(_) => None,
            Side::Now(capture) => Some(capture),
        }
    }

    fn recorded_tree(&self) -> Option<ObjectId> {
        match self {
            Side::Stored(step) => Some(step.tree.id),
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
    /// How the files on disk differ from the latest snapshot.
    pub fn status(&self) -> Result<WorkspaceStatus> {
        let root = self.root.display().to_string();
        let coverage = Default::default();
        let nothing = WorkspaceStatus {
            root,
            latest: None,
            snapshots: 0,
            clean: false,
            changes: Vec::new(),
            unseen: Vec::new(),
            coverage,
            undoable: 0,
            redoable: 0,
        };
        if self.store_path()?.is_none() {
            return Ok(nothing);
        }
        let opened = self.opened()?;
        let Some(last) = opened.timeline.latest()? else { return Ok(nothing) };
        let now = self.look(opened)?;
        let stacks = stacks(&opened.timeline.outlines()?);
        let changes = opened.files.compare_with_now(&last.tree, &now)?;
        let (changes, unseen) = opened.files.split_unseen(changes, last.coverage_id.as_ref(), &Unseen::Now(&now))?;
        Ok(WorkspaceStatus {
            snapshots: opened.timeline.count()?,
            clean: changes.is_empty() && unseen.is_empty(),
            changes: path_changes(&changes),
            unseen,
            coverage: now.coverage,
            undoable: stacks.undoable.len() as u64,
            redoable: stacks.redoable.len() as u64,
            latest: Some(last.snapshot),
            ..nothing
        })
    }

    pub(super) fn look(&self, opened: &Opened) -> Result<Capture> {
        self.look_at(opened, &BTreeSet::new())
    }

    pub(super) fn look_at(&self, opened: &Opened, include: &BTreeSet<Vec<u8>>) -> Result<Capture> {
        let last = opened.timeline.latest()?;
        let options = self.scan_options(&self.config()?);
        opened.files.look(&options, last.as_ref().map(Step::as_last).as_ref(), include, &|progress| {
            self.report_capture(progress)
        })
    }

    /// One page of the timeline, newest first.
    pub fn log(&self, request: &request::Log) -> Result<LogPage> {
        if self.store_path()?.is_none() {
            return Ok(LogPage { snapshots: Vec::new(), next_cursor: None });
        }
        let opened = self.opened()?;
        let before = request.cursor.as_deref().map(parse_cursor).transpose()?;
        let holds = |step: &Step| match (&request.file, step.snapshot.expired_at) {
            (Some(file), None) => Ok(opened.files.find(&step.tree, None, file)?.is_some()),
            _ => Ok(true),
        };
        let mut steps = opened.timeline.page(request, before, &holds)?;
        let more = request.limit > 0 && steps.len() > request.limit;
        if more {
            steps.truncate(request.limit);
        }
        let next_cursor = steps.last().filter(|_| more).map(|step| step.snapshot.sequence_number.0.to_string());
        Ok(LogPage { snapshots: steps.into_iter().map(|step| step.snapshot).collect(), next_cursor })
    }

    /// One snapshot's row; rows outlive their contents.
    pub fn show(&self, reference: &str) -> Result<Snapshot> {
        Ok(self.resolve_row(self.opened()?, reference)?.snapshot)
    }

    /// What a snapshot changed, compared with its base. The first changed everything in it.
    pub fn changes_of(&self, reference: &str) -> Result<Vec<PathChange>> {
        let opened = self.opened()?;
        let step = self.resolve(opened, reference)?;
        match &step.base {
            Some(base) => {
                let changes = opened.files.compare(base, &step.tree)?;
                let after = Unseen::Stored(step.coverage_id.as_ref());
                let (changes, _) = opened.files.split_unseen(changes, step.base_coverage_id.as_ref(), &after)?;
                Ok(path_changes(&changes))
            }
            None => Ok(opened
                .files
                .list(&step.tree, None)?
                .into_iter()
                .map(|(path, node)| PathChange {
                    path,
                    status: Status::Added,
                    from_path: None,
                    before: None,
                    after: Some(attributes(&node)),
                })
                .collect()),
        }
    }

    /// Every file of a snapshot; empty directories too.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let workspace = backsight::Workspace::open(directory.path())?;
    /// std::fs::write(directory.path().join("a.txt"), "one\n")?;
    /// workspace.track()?;
    /// let files = workspace.list_files("@")?;
    /// assert_eq!(files[0].path.to_string(), "a.txt");
    /// assert!(workspace.file_exists_at("@", &"a.txt".parse()?)?);
    /// assert_eq!(workspace.get_file_at("@", &"a.txt".parse()?)?, b"one\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn list_files(&self, reference: &str) -> Result<Vec<FileEntry>> {
        let opened = self.opened()?;
        let side = self.side(opened, reference)?;
        let listed = opened.files.list(side.tree(), side.capture())?;
        Ok(listed
            .into_iter()
            .map(|(path, node)| FileEntry { path, attributes: attributes(&node), blob: node.blob() })
            .collect())
    }

    /// The bytes of a file, or the text of a symlink, in a snapshot.
    pub fn get_file_at(&self, reference: &str, path: &RelPath) -> Result<Vec<u8>> {
        let opened = self.opened()?;
        let side = self.side(opened, reference)?;
        let node = opened.files.find(side.tree(), side.capture(), path)?.ok_or_else(|| {
            Error::new(Code::PathNotFound, format!("`{path}` is not in {}", side.name()))
                .with_hint(format!("list its files with `backsight ls {}`", side.spelling()))
        })?;
        let id = node.blob().ok_or_else(|| {
            Error::new(Code::PathNotFound, format!("`{path}` is a directory in {}", side.name()))
                .with_hint(format!("list its files with `backsight ls {}`", side.spelling()))
        })?;
        content(opened, &side, path, &id)
    }

    /// Whether a path exists in a snapshot.
    pub fn file_exists_at(&self, reference: &str, path: &RelPath) -> Result<bool> {
        let opened = self.opened()?;
        let side = self.side(opened, reference)?;
        Ok(opened.files.find(side.tree(), side.capture(), path)?.is_some())
    }

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
        let opened = self.opened()?;
        let Comparison { from, to, changes, unseen } = self.compare_sides(opened, from, to, paths)?;
        let changes = path_changes(&changes);
        let files: BTreeSet<RelPath> =
            changes.iter().flat_map(|change| change.from_path.iter().chain([&change.path])).cloned().collect();
        let from = from.tree().id;
        Ok(Patch { from, to: to.recorded_tree(), files: files.into_iter().collect(), changes, unseen })
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
        let opened = self.opened()?;
        let compared = self.compare_sides(opened, &request.from, request.to.as_deref(), &request.paths)?;
        let nodes: BTreeMap<&RelPath, &Change> = compared.changes.iter().map(|change| (&change.path, change)).collect();
        let mut diffs = Vec::new();
        for change in path_changes(&compared.changes) {
            let before = change.from_path.as_ref().unwrap_or(&change.path);
            let old = nodes.get(before).and_then(|found| found.before).map(|node| (before, node));
            let new = nodes.get(&change.path).and_then(|found| found.after).map(|node| (&change.path, node));
            diffs.push(file_diff(opened, &compared, &change, old, new, request)?);
        }
        Ok(Diff {
            from: compared.from.tree().id,
            to: compared.to.recorded_tree(),
            additions: diffs.iter().map(|diff| diff.additions).sum(),
            deletions: diffs.iter().map(|diff| diff.deletions).sum(),
            diffs,
            unseen: compared.unseen,
        })
    }

    fn side(&self, opened: &Opened, reference: &str) -> Result<Side> {
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
            (Side::Now(_), Side::Now(_)) => (Vec::new(), Vec::new()),
        };
        let selected = |path: &RelPath| paths.is_empty() || paths.iter().any(|selected| path.is_within(selected));
        Ok(Comparison {
            changes: changes.into_iter().filter(|change| selected(&change.path)).collect(),
            unseen: unseen.into_iter().filter(|unseen| selected(&unseen.path)).collect(),
            from,
            to,
        })
    }
}

fn parse_cursor(text: &str) -> Result<Seq> {
    text.parse().map(Seq).map_err(|_| {
        Error::new(Code::Usage, format!("`{}` is not a cursor", backsight_core::quote(text.as_bytes())))
            .with_hint("pass the `next_cursor` of the page before, unchanged")
    })
}

fn content(opened: &Opened, side: &Side, path: &RelPath, id: &ObjectId) -> Result<Vec<u8>> {
    match side {
        Side::Stored(_) => opened.files.objects().read_blob(id),
        Side::Now(capture) => opened.files.content_now(capture, path, id),
    }
}

type At<'a> = Option<(&'a RelPath, Node)>;

fn file_diff(
    opened: &Opened,
    compared: &Comparison,
    change: &PathChange,
    old: At<'_>,
    new: At<'_>,
    request: &request::Diff,
) -> Result<FileDiff> {
    let read = |side: &Side, at: At<'_>| -> Result<Vec<u8>> {
        match at.and_then(|(path, node)| Some((path, node.blob()?))) {
            Some((path, id)) => content(opened, side, path, &id),
            None => Ok(Vec::new()),
        }
    };
    let (before, after) = (read(&compared.from, old)?, read(&compared.to, new)?);
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
        diff.unified = format!("# {}: {}\n", change.path, diff.cut.as_deref().unwrap_or_default()).into_bytes();
        return Ok(diff);
    }
    let ids = [old, new].map(|at| at.and_then(|(_, node)| node.blob()).map(|id| id.short()));
    let unified = generate_unified_diff(
        &FileChange { old: file_side(old, &before, &ids[0]), new: file_side(new, &after, &ids[1]) },
        &Options { context: request.context, ..Options::default() },
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

/// Used where a plain status of one change is wanted.
pub(super) fn plain_change(change: &Change) -> PathChange {
    PathChange {
        path: change.path.clone(),
        status: status(change),
        from_path: None,
        before: change.before.as_ref().map(attributes),
        after: change.after.as_ref().map(attributes),
    }
}
