//! What a session itself changed, whoever else wrote in between.
//!
//! For each path, *before* is what stood there before the session's first change of it that is in effect. *After* is
//! that with the session's changes applied one after the other: where nobody else wrote in between, exactly what the
//! session left there; where somebody did, elsewhere in the file, the session's lines without theirs (a three-way merge
//! of each change). Where the two overlap they cannot be told apart: then *after* is what the session left there, and
//! the path is in `mixed`.

use std::collections::{BTreeMap, BTreeSet};

use backsight_core::{ObjectId, RelPath, Result};
use backsight_diff::{Labels, Merge};
use backsight_files::{Change, Node, ObjectKind, object_id};

use super::missing;
use crate::report::SessionDiff;
use crate::request;
use crate::workspace::diff::{Contents, file_diffs};
use crate::workspace::{Opened, Workspace, still_held};

impl Workspace {
    /// What a session, or one message of it, changed and what is in effect of it: others' changes are not in it, also
    /// where they were made in the same files.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let root = directory.path();
    /// # let workspace = backsight::Workspace::open(root)?;
    /// use backsight::request::{SessionDiff, SessionTrack};
    ///
    /// workspace.start_session(&backsight::request::NewSession { id: Some("s1".to_owned()), title: None })?;
    /// std::fs::write(root.join("a.txt"), "by the agent\n")?;
    /// workspace.track_session(&SessionTrack { session: "s1".to_owned(), ..Default::default() })?;
    /// std::fs::write(root.join("notes.txt"), "by hand\n")?;
    /// workspace.track()?;
    /// let diff = workspace.session_diff(&SessionDiff::new("s1"))?;
    /// assert_eq!((diff.diffs.len(), diff.diffs[0].after.as_str()), (1, "by the agent\n"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn session_diff(&self, request: &request::SessionDiff) -> Result<SessionDiff> {
        let (opened, story) = self.find_session(&request.session)?;
        let message = request.message.as_deref().map(|typed| story.message_id(typed)).transpose()?;
        let request = &request::SessionDiff { session: story.id.clone(), message, ..request.clone() };
        if let Some(message) = request.message.as_deref() {
            story.session.place(message, None).map_err(|what| missing(&story, message, None, what))?;
        }
        let mut composed = Composed { opened, files: BTreeMap::new(), blobs: BTreeMap::new() };
        for row in story.session.contributing() {
            let of_message = request.message.is_none() || row.message == request.message;
            let Some(step) = story.step(row.seq).filter(|_| of_message) else { continue };
            still_held(step)?;
            let Some(before) = step.before() else { continue };
            let is_within = |path: &RelPath, places: &[RelPath]| {
                places.is_empty() || places.iter().any(|place| path.is_within(place))
            };
            let mut changes = opened.files.compare(&before, &step.tree)?;
            changes.retain(|change| is_within(&change.path, step.limit()) && is_within(&change.path, &request.paths));
            changes.into_iter().try_for_each(|change| composed.add(change))?;
        }
        composed.finish(request)
    }
}

/// Changes put one after the other.
struct Composed<'a> {
    opened: &'a Opened,
    files: BTreeMap<RelPath, File>,
    /// Contents that no snapshot holds.
    blobs: BTreeMap<ObjectId, Vec<u8>>,
}

struct File {
    before: Option<Node>,
    after: Option<Node>,
    is_mixed: bool,
}

impl Composed<'_> {
    fn add(&mut self, change: Change) -> Result<()> {
        let Change { path, before, after } = change;
        let Some(known) = self.files.get(&path) else {
            self.files.insert(path, File { before, after, is_mixed: false });
            return Ok(());
        };
        let (first, ours, mut is_mixed) = (known.before, known.after, known.is_mixed);
        let after = if ours == before {
            after
        } else {
            match self.without_others(ours, before, after)? {
                Some(node) => Some(node),
                None => {
                    // A file the session made twice is its own, whoever removed it in between.
                    is_mixed |= !(first.is_none() && before.is_none());
                    after
                }
            }
        };
        self.files.insert(path, File { before: first, after, is_mixed });
        Ok(())
    }

    /// The change `before` -> `after` made to `ours` instead; nothing where it cannot be told from others' changes.
    fn without_others(
        &mut self,
        ours: Option<Node>,
        before: Option<Node>,
        after: Option<Node>,
    ) -> Result<Option<Node>> {
        let (
            Some(Node::File { mode: ours_mode, id: ours, access }),
            Some(Node::File { mode: before_mode, id: before, .. }),
            Some(Node::File { mode: after_mode, id: after, .. }),
        ) = (ours, before, after)
        else {
            return Ok(None);
        };
        let mode = if after_mode == before_mode { ours_mode } else { after_mode };
        let labels = Labels { ours: "the session", theirs: "its step" };
        let merged = backsight_diff::merge(&self.read(&before)?, &self.read(&ours)?, &self.read(&after)?, &labels);
        let Merge::Clean(bytes) = merged else { return Ok(None) };
        let id = object_id(ObjectKind::Blob, &bytes)?;
        self.blobs.insert(id, bytes);
        Ok(Some(Node::File { mode, id, access }))
    }

    fn read(&self, id: &ObjectId) -> Result<Vec<u8>> {
        match self.blobs.get(id) {
            Some(bytes) => Ok(bytes.clone()),
            None => self.opened.files.objects().read_blob(id),
        }
    }

    fn finish(self, request: &request::SessionDiff) -> Result<SessionDiff> {
        let changed = |(path, file): (&RelPath, &File)| {
            (file.before != file.after).then(|| Change { path: path.clone(), before: file.before, after: file.after })
        };
        let mut changes: Vec<Change> = self.files.iter().filter_map(changed).collect();
        // A directory stands right before what is in it.
        changes.sort_by_cached_key(|change| -> Vec<u8> {
            change.path.as_bytes().iter().map(|byte| if *byte == b'/' { 0 } else { *byte }).collect()
        });
        let read = |_: &RelPath, id: &ObjectId| self.read(id);
        let bounds = request::Diff {
            max_file_bytes: request.max_file_bytes,
            context: request.context,
            binary: request.binary,
            ..request::Diff::new("", None)
        };
        let contents = Contents { before: &read, after: &read };
        let renames = contents.renames(&changes);
        let diffs = file_diffs(&changes, &renames, &contents, &bounds)?;
        let named: BTreeSet<&RelPath> = diffs.iter().map(|diff| &diff.file).collect();
        let is_mixed = |(path, file): &(&RelPath, &File)| file.is_mixed && named.contains(path);
        Ok(SessionDiff {
            session: request.session.clone(),
            message: request.message.clone(),
            additions: diffs.iter().map(|diff| diff.additions).sum(),
            deletions: diffs.iter().map(|diff| diff.deletions).sum(),
            uncompared_renames: renames.uncompared,
            mixed: self.files.iter().filter(is_mixed).map(|(path, _)| path.clone()).collect(),
            diffs,
        })
    }
}
