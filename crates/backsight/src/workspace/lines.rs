//! The life of one file, and who last wrote each of its lines.

use backsight_core::{Code, Error, ObjectId, RelPath, Result, Seq};
use backsight_diff::{line_origins, split_lines};
use backsight_files::Tree;

use super::diff::{Side, content};
use super::{Opened, Workspace};
use crate::report::{Blame, BlameHunk, FileVersion, Kind, LineOrigin, Status};
use crate::timeline::{FileStep, Step, TouchedFile};

/// One version of the file with what is needed to go on to the one before it.
struct Version {
    described: FileVersion,
    /// Retention removed the row's contents.
    is_expired: bool,
    /// There is nothing before the first snapshot.
    is_baseline: bool,
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
                .with_hint("list the files of the latest one with `backsight ls @`"));
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
                versions.push(version(change, renamed_from.clone()));
                versions.extend(others.map(|others| version(others, None)));
                if let Some(from) = renamed_from {
                    (path, until) = (from, Seq(seq.0.saturating_sub(1)));
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
            versions.push(Version { described, is_expired: first.snapshot.expired_at.is_some(), is_baseline: true });
        }
        Ok(versions)
    }

    /// The path the same row removed whose content this one has, if there is no other candidate.
    fn renamed_from(&self, opened: &Opened, change: &FileStep) -> Result<Option<RelPath>> {
        let (None, Some(content)) = (change.file.before, change.file.after) else { return Ok(None) };
        let beside = opened.timeline.touched_by(change.step.snapshot.sequence_number)?;
        let beside: Vec<TouchedFile> =
            beside.into_iter().map(|file| with_contents(opened, &change.step, file)).collect::<Result<_>>()?;
        let mut gone = beside.iter().filter(|file| file.after.is_none() && file.before == Some(content));
        let new = beside.iter().filter(|file| file.before.is_none() && file.after == Some(content)).count();
        Ok(match (gone.next(), gone.next(), new) {
            (Some(one), None, 1) => Some(one.path.clone()),
            _ => None,
        })
    }

    /// Which snapshot, tool and session last wrote each line of a file: as it is in a snapshot, or on disk. A file that
    /// an undo or restore brought back whole belongs to those who wrote it first.
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
                .with_hint(format!("list its files with `backsight ls {}`", side.spelling()))
        })?;
        let target = content(opened, &side, path, &id)?;
        if backsight_diff::is_binary(&target) {
            return Err(Error::new(Code::Usage, format!("`{path}` is binary: it has no lines to attribute"))
                .with_hint(format!("see its versions with `backsight log --file {path}`")));
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

fn version(change: FileStep, renamed_from: Option<RelPath>) -> Version {
    let FileStep { step, file } = change;
    let (before, after) = (file.before, file.after);
    let status = match (before, after, &renamed_from) {
        (_, _, Some(_)) => Status::Renamed,
        (None, Some(_), None) => Status::Added,
        (Some(_), None, None) => Status::Deleted,
        (before, after, None) if before == after => Status::ModeChanged,
        _ => Status::Modified,
    };
    let (external, is_expired) = (file.external, step.snapshot.expired_at.is_some());
    let described = describe(
        &step,
        file.path,
        status,
        (before.or(after.filter(|_| renamed_from.is_some())), after),
        renamed_from,
        external,
    );
    Version { described, is_expired, is_baseline: false }
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

/// The origin of every line of `target`, by walking from version to version and following the lines that stay.
fn trace(opened: &Opened, target: &[u8], id: ObjectId, versions: &[Version]) -> Result<Vec<LineOrigin>> {
    let count = split_lines(target).len();
    let mut origins: Vec<Option<LineOrigin>> = vec![None; count];
    // Lines not yet attributed: where they are in the text at hand, and in the target.
    let mut open: Vec<(usize, usize)> = (0..count).map(|line| (line, line)).collect();
    let mut text = target.to_vec();
    let mut index = 0;
    // Not recorded yet, or changed while it could not be seen.
    if versions.first().and_then(|version| version.described.after) != Some(id) {
        let recorded = match versions.first().and_then(|version| version.described.after) {
            Some(id) => opened.files.objects().read_blob(&id)?,
            None => Vec::new(),
        };
        open = follow(&recorded, &text, open, &mut origins, &LineOrigin::Unrecorded);
        text = recorded;
    }
    while let Some(version) = versions.get(index).filter(|_| !open.is_empty()) {
        let by = Box::new(version.described.clone());
        if version.is_baseline {
            settle(open, &mut origins, &LineOrigin::Baseline(by));
            open = Vec::new();
            break;
        }
        if let Some(older) = brought_back(versions, index) {
            index = older;
            continue;
        }
        let goes_back = is_going_back(version.described.kind);
        let writer = if goes_back && versions[index..].iter().any(Version::is_silent) {
            LineOrigin::Expired(by.clone())
        } else if version.described.external || version.described.kind == Kind::External {
            LineOrigin::External(by.clone())
        } else {
            LineOrigin::Recorded(by.clone())
        };
        if version.is_silent() {
            settle(open, &mut origins, &LineOrigin::Expired(by));
            open = Vec::new();
            break;
        }
        let before = match version.described.before {
            None => Vec::new(),
            Some(id) => match opened.files.objects().read_blob(&id) {
                Ok(before) => before,
                // Retention removed what was before: older lines cannot be followed any further.
                Err(error) if error.code() == Code::Damaged && version.is_expired => {
                    settle(open, &mut origins, &LineOrigin::Expired(by));
                    open = Vec::new();
                    break;
                }
                Err(error) => return Err(error),
            },
        };
        open = follow(&before, &text, open, &mut origins, &writer);
        text = before;
        index += 1;
    }
    let oldest = versions.last().map(|version| LineOrigin::Expired(Box::new(version.described.clone())));
    settle(open, &mut origins, &oldest.unwrap_or(LineOrigin::Unrecorded));
    Ok(origins.into_iter().map(|origin| origin.unwrap_or(LineOrigin::Unrecorded)).collect())
}

fn is_going_back(kind: Kind) -> bool {
    matches!(kind, Kind::Restore | Kind::Revert | Kind::Undo | Kind::Redo)
}

/// For a version that only brought back an older one: where that is.
fn brought_back(versions: &[Version], index: usize) -> Option<usize> {
    let version = &versions[index].described;
    let content = version.after.filter(|_| is_going_back(version.kind))?;
    let older = versions.iter().enumerate().skip(index + 1);
    older.filter(|(_, older)| older.described.after == Some(content)).map(|(at, _)| at).next()
}

/// Attributes the lines that are new in `after`, and says where the others are in `before`.
fn follow(
    before: &[u8],
    after: &[u8],
    open: Vec<(usize, usize)>,
    origins: &mut [Option<LineOrigin>],
    writer: &LineOrigin,
) -> Vec<(usize, usize)> {
    let from = line_origins(before, after);
    let mut still_open = Vec::with_capacity(open.len());
    for (line, target) in open {
        match from.get(line).copied().flatten() {
            Some(older) => still_open.push((older, target)),
            None => origins[target] = Some(writer.clone()),
        }
    }
    still_open
}

fn settle(open: Vec<(usize, usize)>, origins: &mut [Option<LineOrigin>], origin: &LineOrigin) {
    for (_, target) in open {
        origins[target] = Some(origin.clone());
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
