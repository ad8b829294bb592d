//! The life of one file, and who last wrote each of its lines.

mod trace;

use backsight_core::{Code, Error, NextStep, ObjectId, RelPath, Result, Seq};
use backsight_diff::split_lines;
use backsight_files::{Access, Change, Node, Tree};

use self::trace::trace;
use super::diff::{Side, content};
use super::{Opened, Workspace};
use crate::report::{Blame, BlameHunk, FileVersion, LineOrigin, Status};
use crate::timeline::{FileStep, Step, TouchedFile};

/// One version of the file with what is needed to go on to the one before it.
struct Version {
    described: FileVersion,
    /// Retention removed the row's contents.
    is_expired: bool,
    /// There is nothing before the first snapshot.
    is_baseline: bool,
    /// The rows it took back.
    targets: Vec<Seq>,
}

/// What a file was before it was moved.
struct Source {
    path: RelPath,
    content: ObjectId,
}

impl Version {
    /// An expired row of the first format says nothing about contents.
    fn is_silent(&self) -> bool {
        self.is_expired && self.described.before.is_none() && self.described.after.is_none()
    }
}

impl Workspace {
    /// Every recorded change of a file, newest first, through renames; the first is how it was when recording began.
    pub fn file_history(&self, path: &RelPath) -> Result<Vec<FileVersion>> {
        self.reading(|opened| self.file_history_in(opened, path))
    }

    fn file_history_in(&self, opened: &Opened, path: &RelPath) -> Result<Vec<FileVersion>> {
        let latest = opened.timeline.latest()?;
        let versions = match &latest {
            Some(latest) => self.versions(opened, path, latest)?,
            None => Vec::new(),
        };
        if versions.is_empty() {
            return Err(Error::new(Code::PathNotFound, format!("no snapshot ever held `{path}`"))
                .then("list the files of the latest one", NextStep::ListFiles { reference: "@".to_owned() }));
        }
        Ok(versions.into_iter().map(|version| version.described).collect())
    }

    /// Every version of a path up to a snapshot, newest first.
    fn versions(&self, opened: &Opened, path: &RelPath, newest: &Step) -> Result<Vec<Version>> {
        let (mut path, mut until) = (path.clone(), newest.snapshot.sequence_number);
        let mut versions = Vec::new();
        'names: loop {
            for FileStep { step, file } in opened.timeline.changes_of_path(&path, until)? {
                let change = FileStep { file: with_contents(opened, &step, file)?, step };
                let renamed_from = self.renamed_from(opened, &change)?;
                let seq = change.step.snapshot.sequence_number;
                let (change, others) = split_at_start(opened, change)?;
                versions.push(version(change, renamed_from.as_ref()));
                versions.extend(others.map(|others| version(others, None)));
                if let Some(from) = renamed_from {
                    (path, until) = (from.path, Seq(seq.0.saturating_sub(1)));
                    continue 'names;
                }
            }
            break;
        }
        // What the oldest change started from, or a file that never changed, was there when recording began.
        let at_first = match versions.last() {
            Some(oldest) => oldest.described.before,
            // No row up to the newest touched it, so it is what it was at first.
            None => {
                let first = opened.timeline.first_after(Seq(0))?.filter(|first| first.snapshot.expired_at.is_none());
                let tree = first.map_or(newest.tree, |first| first.tree);
                opened.files.find(&tree, None, &path)?.and_then(|node| node.blob())
            }
        };
        if let (Some(id), Some(first)) = (at_first, opened.timeline.first_after(Seq(0))?) {
            let described = describe(&first, path, Status::Added, (None, Some(id)), None, false);
            let is_expired = first.snapshot.expired_at.is_some();
            versions.push(Version { described, is_expired, is_baseline: true, targets: Vec::new() });
        }
        Ok(versions)
    }

    /// The file that the same row removed and that this one is, and what was in it.
    fn renamed_from(&self, opened: &Opened, change: &FileStep) -> Result<Option<Source>> {
        let (None, Some(_)) = (change.file.before, change.file.after) else { return Ok(None) };
        let step = &change.step;
        let changes = match (step.base, step.snapshot.expired_at) {
            (Some(base), None) => opened.files.compare(&base, &step.tree)?,
            // What retention left of a row says which contents it had, not what was in them.
            _ => opened.timeline.touched_by(step.snapshot.sequence_number)?.into_iter().map(as_change).collect(),
        };
        let renames = opened.renames(&changes, None);
        let Some(path) = renames.sources.get(&change.file.path) else { return Ok(None) };
        let source = changes.iter().find(|change| change.path == *path);
        let content = source.and_then(|source| source.before).and_then(|node| node.blob());
        Ok(content.map(|content| Source { path: path.clone(), content }))
    }

    /// Which snapshot, tool and session last wrote each line of a file: as it is in a snapshot, or on disk. What an
    /// undo, a revert or a restore brought back belongs to those who wrote it first.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let workspace = backsight::Workspace::open(directory.path())?;
    /// use backsight::report::LineOrigin;
    ///
    /// std::fs::write(directory.path().join("a.txt"), "one\n")?;
    /// workspace.track()?;
    /// std::fs::write(directory.path().join("a.txt"), "one\ntwo\n")?;
    /// workspace.track()?;
    /// let blame = workspace.blame(&"a.txt".parse()?, None)?;
    /// assert!(matches!(&blame.hunks[0].origin, LineOrigin::Baseline(_)));
    /// assert!(matches!(&blame.hunks[1].origin, LineOrigin::Recorded(by) if by.sequence_number.0 == 2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn blame(&self, path: &RelPath, reference: Option<&str>) -> Result<Blame> {
        self.reading(|opened| self.blame_in(opened, path, reference))
    }

    fn blame_in(&self, opened: &Opened, path: &RelPath, reference: Option<&str>) -> Result<Blame> {
        let side = self.side(opened, reference.unwrap_or("now"))?;
        let node = opened.files.find(side.tree(), side.capture(), path)?;
        let id = node.and_then(|node| node.blob()).ok_or_else(|| {
            Error::new(Code::PathNotFound, format!("`{path}` is not a file in {}", side.name()))
                .then("list its files", NextStep::ListFiles { reference: side.spelling().to_string() })
        })?;
        let target = content(opened, &side, path, &id)?;
        if backsight_diff::is_binary(&target) {
            return Err(Error::new(Code::Usage, format!("`{path}` is binary: it has no lines to attribute"))
                .then("see its versions", NextStep::SeeHistory { session: None, file: Some(path.to_string()) }));
        }
        let latest = opened.timeline.latest()?;
        let newest = match &side {
            Side::Stored(step) => Some(&**step),
            _ => latest.as_ref(),
        };
        let versions = newest.map(|newest| self.versions(opened, path, newest)).transpose()?.unwrap_or_default();
        let origins = trace(opened, &target, id, &versions)?;
        let sequence_number = match &side {
            Side::Stored(step) => Some(step.snapshot.sequence_number),
            _ => None,
        };
        Ok(Blame { path: path.clone(), sequence_number, hunks: hunks(&target, origins) })
    }
}

/// What others did to the path in the same row comes before what the step itself did.
fn split_at_start(opened: &Opened, change: FileStep) -> Result<(FileStep, Option<FileStep>)> {
    let FileStep { step, file } = change;
    let start = step.start.filter(|_| !file.external && step.snapshot.expired_at.is_none());
    let Some(start) = start else { return Ok((FileStep { step, file }, None)) };
    let between = opened.files.find(&start, None, &file.path)?.and_then(|node| node.blob());
    if between == file.before {
        return Ok((FileStep { step, file }, None));
    }
    let others = TouchedFile { after: between, external: true, ..file.clone() };
    let own = TouchedFile { before: between, ..file };
    Ok((FileStep { step: step.clone(), file: own }, Some(FileStep { step, file: others })))
}

/// Rows written by the first format name no contents; their trees do, as long as they are kept.
fn with_contents(opened: &Opened, step: &Step, file: TouchedFile) -> Result<TouchedFile> {
    if file.before.is_some() || file.after.is_some() || step.snapshot.expired_at.is_some() {
        return Ok(file);
    }
    let find = |tree: Option<Tree>| -> Result<Option<ObjectId>> {
        let Some(tree) = tree else { return Ok(None) };
        Ok(opened.files.find(&tree, None, &file.path)?.and_then(|node| node.blob()))
    };
    Ok(TouchedFile { before: find(step.base)?, after: find(Some(step.tree))?, ..file })
}

/// As far as a row that outlived its contents can say.
fn as_change(file: TouchedFile) -> Change {
    let node = |id: Option<ObjectId>| id.map(|id| Node::File { mode: 0o644, id, access: Access::default() });
    Change { path: file.path, before: node(file.before), after: node(file.after) }
}

fn version(change: FileStep, renamed_from: Option<&Source>) -> Version {
    let FileStep { step, file } = change;
    let (before, after) = (file.before, file.after);
    let status = match (before, after, renamed_from) {
        (_, _, Some(_)) => Status::Renamed,
        (None, Some(_), None) => Status::Added,
        (Some(_), None, None) => Status::Deleted,
        (before, after, None) if before == after => Status::ModeChanged,
        _ => Status::Modified,
    };
    let (external, is_expired) = (file.external, step.snapshot.expired_at.is_some());
    let before = before.or(renamed_from.map(|from| from.content));
    let from_path = renamed_from.map(|from| from.path.clone());
    let described = describe(&step, file.path, status, (before, after), from_path, external);
    Version { described, is_expired, is_baseline: false, targets: step.snapshot.targets }
}

fn describe(
    step: &Step,
    path: RelPath,
    status: Status,
    (before, after): (Option<ObjectId>, Option<ObjectId>),
    from_path: Option<RelPath>,
    external: bool,
) -> FileVersion {
    let snapshot = &step.snapshot;
    FileVersion {
        id: snapshot.id.clone(),
        sequence_number: snapshot.sequence_number,
        kind: snapshot.kind,
        timestamp: snapshot.timestamp,
        description: snapshot.description.clone(),
        origin: snapshot.origin.clone(),
        path,
        from_path,
        status,
        before,
        after,
        external,
    }
}

fn hunks(target: &[u8], origins: Vec<LineOrigin>) -> Vec<BlameHunk> {
    let mut hunks: Vec<BlameHunk> = Vec::new();
    for (index, (line, origin)) in split_lines(target).into_iter().zip(origins).enumerate() {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = String::from_utf8_lossy(line).into_owned();
        match hunks.last_mut().filter(|hunk| hunk.origin == origin) {
            Some(hunk) => hunk.lines.push(line),
            None => hunks.push(BlameHunk { start_line: index + 1, lines: vec![line], origin }),
        }
    }
    hunks
}
