//! Reading: what is recorded, what is on disk, and what differs. Nothing here writes.

use std::collections::{BTreeMap, BTreeSet};

use backsight_core::{Code, Error, NextStep, ObjectId, RelPath, Result};
use backsight_files::{Capture, Change, Subjects, Unseen};

use super::diff::content;
use super::{Opened, Workspace};
use crate::config::Config;
use crate::convert::{attributes, path_changes, status};
use crate::report::{
    FileEntry, Kind, LogPage, PathChange, Snapshot, SnapshotDetail, Status, Strategy, WorkspaceStatus,
};
use crate::request;
use crate::timeline::{Cursor, OriginColumn, Step, TouchedFile};

/// Characters of a text that is looked for in the timeline; SQLite takes no long ones.
const LONGEST_TEXT: usize = 1_000;

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
            uncompared_renames: 0,
            unseen: Vec::new(),
            coverage,
            undoable: 0,
            redoable: 0,
            open_calls: Vec::new(),
            pending: Vec::new(),
            unknown: Vec::new(),
            snapshots_since_milestone: 0,
            strategy: Strategy::default(),
            milestone: None,
        };
        if self.store_path()?.is_none() {
            return Ok(nothing);
        }
        let opened = self.opened()?;
        let glance = opened.glance()?;
        let Some(last) = glance.latest.clone() else { return Ok(nothing) };
        let config = self.config()?;
        let now = self.look_since(opened, &config, Some(&last), &BTreeSet::new(), false)?;
        let detected = self.sort_out(opened, &last, &now, &[], &config.snapshots)?;
        let (changes, unseen) = match now.tree == last.tree {
            true => Default::default(),
            false => {
                let changes = opened.files.compare_with_now(&last.tree, &now)?;
                opened.files.split_unseen(changes, last.coverage_id.as_ref(), &Unseen::Now(&now))?
            }
        };
        let renames = opened.renames(&changes, Some(&now));
        Ok(WorkspaceStatus {
            snapshots: glance.snapshots,
            clean: changes.is_empty() && unseen.is_empty(),
            changes: path_changes(&changes, &renames),
            uncompared_renames: renames.uncompared,
            unseen,
            coverage: now.coverage,
            undoable: glance.undoable,
            redoable: glance.redoable,
            open_calls: glance.open_calls.clone(),
            pending: detected.pending_paths(),
            unknown: detected.unknown.into_iter().map(|change| change.file_path).collect(),
            strategy: config.snapshots.unknown_change_strategy,
            snapshots_since_milestone: glance.snapshots_since_milestone,
            milestone: glance.milestone.clone(),
            latest: Some(last.snapshot),
            ..nothing
        })
    }

    pub(super) fn look(&self, opened: &Opened) -> Result<Capture> {
        self.look_at(opened, &BTreeSet::new(), false)
    }

    pub(super) fn look_at(&self, opened: &Opened, include: &BTreeSet<Vec<u8>>, thorough: bool) -> Result<Capture> {
        // Not from a glance: that reads every row, and a damaged one must not keep anybody from looking at the disk.
        let last = opened.timeline.latest()?;
        self.look_since(opened, &self.config()?, last.as_ref(), include, thorough)
    }

    fn look_since(
        &self,
        opened: &Opened,
        config: &Config,
        last: Option<&Step>,
        include: &BTreeSet<Vec<u8>>,
        thorough: bool,
    ) -> Result<Capture> {
        let options = self.scan_options(config);
        let last = last.map(Step::as_last);
        let subjects = Subjects { options: &options, last: last.as_ref(), include, thorough };
        self.with_caller(|caller| opened.files.look(&subjects, caller))
    }

    /// One page of the timeline: rows of every kind that meet all conditions. A cursor stays valid whatever is recorded
    /// meanwhile.
    pub fn log(&self, request: &request::Log) -> Result<LogPage> {
        let length = request.text.as_ref().map_or(0, |text| text.chars().count());
        if length > LONGEST_TEXT {
            let message = format!("a text to look for has at most {LONGEST_TEXT} characters, and this one {length}");
            return Err(Error::new(Code::Usage, message));
        }
        if self.store_path()?.is_none() {
            return Ok(LogPage { rows: Vec::new(), next_cursor: None });
        }
        let opened = self.opened()?;
        let session = match &request.session {
            Some(typed) => self.meant(opened, OriginColumn::Session, typed)?.or_else(|| request.session.clone()),
            None => None,
        };
        let request = &request::Log { session, ..request.clone() };
        let cursor = request.cursor.as_deref().map(|text| Cursor::parse(text, request.order)).transpose()?;
        let holds = |step: &Step| match (&request.file, step.snapshot.expired_at) {
            (Some(file), None) => Ok(opened.files.find(&step.tree, None, file)?.is_some()),
            _ => Ok(true),
        };
        let mut rows: Vec<_> =
            opened.timeline.page(request, cursor, &holds)?.into_iter().map(|found| found.into_row()).collect();
        let more = request.limit > 0 && rows.len() > request.limit;
        if more {
            rows.truncate(request.limit);
        }
        let end = rows.last().filter(|_| more).map(|row| row.sequence_number());
        let next_cursor = end.map(|seq| Cursor { order: request.order, seq }.to_string());
        Ok(LogPage { rows, next_cursor })
    }

    /// One snapshot's row; rows outlive their contents.
    pub fn show(&self, reference: &str) -> Result<Snapshot> {
        Ok(self.resolve_row(self.opened()?, reference)?.snapshot)
    }

    /// One snapshot's row with what it says of single files.
    pub fn show_detail(&self, reference: &str) -> Result<SnapshotDetail> {
        self.reading(|opened| {
            let step = self.resolve_row(opened, reference)?;
            let mut files = opened.timeline.touched_by(step.snapshot.sequence_number)?;
            files.retain(|file| !file.external || matches!(step.snapshot.kind, Kind::External | Kind::Safety));
            if let Some(start) = step.start.filter(|_| step.snapshot.expired_at.is_none()) {
                for file in &mut files {
                    file.before = opened.files.find(&start, None, &file.path)?.and_then(|node| node.blob());
                }
            }
            let snapshot = step.snapshot;
            let hashes = |id: fn(&TouchedFile) -> Option<ObjectId>| -> BTreeMap<RelPath, ObjectId> {
                files.iter().filter_map(|file| Some((file.path.clone(), id(file)?))).collect()
            };
            Ok(SnapshotDetail {
                base_file_hashes: hashes(|file| file.before),
                result_file_hashes: hashes(|file| file.after),
                affected_files: files.into_iter().map(|file| file.path).collect(),
                snapshot,
            })
        })
    }

    /// The content of a blob, such as one side of a conflict.
    pub fn get_blob(&self, id: &ObjectId) -> Result<Vec<u8>> {
        let objects = self.opened()?.files.objects();
        // Another process may have stored it since.
        objects.refresh()?;
        if !objects.contains(id)? {
            return Err(Error::new(Code::PathNotFound, format!("no blob `{id}` is stored here"))
                .then("find the id of a content", NextStep::ListFiles { reference: "@".to_owned() })
                .or_hint("take it from the conflicts of a refused revert"));
        }
        objects.read_blob(id)
    }

    /// What a snapshot changed, compared with what was there before its own changes. The first changed everything in it.
    pub fn changes_of(&self, reference: &str) -> Result<Vec<PathChange>> {
        self.reading(|opened| {
            let step = self.resolve(opened, reference)?;
            match step.before() {
                Some(before) => {
                    let changes = opened.files.compare(&before, &step.tree)?;
                    let after = Unseen::Stored(step.coverage_id.as_ref());
                    let (changes, _) = opened.files.split_unseen(changes, step.base_coverage_id.as_ref(), &after)?;
                    Ok(path_changes(&changes, &opened.renames(&changes, None)))
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
        })
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
        self.reading(|opened| {
            let side = self.side(opened, reference)?;
            let listed = opened.files.list(side.tree(), side.capture())?;
            Ok(listed
                .into_iter()
                .map(|(path, node)| FileEntry { path, attributes: attributes(&node), blob: node.blob() })
                .collect())
        })
    }

    /// The bytes of a file, or the text of a symlink, in a snapshot.
    pub fn get_file_at(&self, reference: &str, path: &RelPath) -> Result<Vec<u8>> {
        self.reading(|opened| {
            let side = self.side(opened, reference)?;
            let node = opened.files.find(side.tree(), side.capture(), path)?.ok_or_else(|| {
                Error::new(Code::PathNotFound, format!("`{path}` is not in {}", side.name()))
                    .then("list its files", NextStep::ListFiles { reference: side.spelling().to_string() })
            })?;
            let id = node.blob().ok_or_else(|| {
                Error::new(Code::PathNotFound, format!("`{path}` is a directory in {}", side.name()))
                    .then("list its files", NextStep::ListFiles { reference: side.spelling().to_string() })
            })?;
            content(opened, &side, path, &id)
        })
    }

    /// Whether a path exists in a snapshot.
    pub fn file_exists_at(&self, reference: &str, path: &RelPath) -> Result<bool> {
        self.reading(|opened| {
            let side = self.side(opened, reference)?;
            Ok(opened.files.find(side.tree(), side.capture(), path)?.is_some())
        })
    }
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
