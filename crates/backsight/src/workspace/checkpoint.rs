//! Seed 003's file checkpoints: which files of which snapshot, and their contents from the store. Nothing is copied.

use std::collections::BTreeMap;

use backsight_core::{Code, Error, NextStep, RelPath, Result, SnapshotId, Timestamp};
use backsight_files::Node;

use super::{Opened, Workspace, still_held};
use crate::report::{Checkpoint, CheckpointData, CheckpointMetadata};
use crate::timeline::Step;

impl Workspace {
    /// Remembers `files` as they are in a snapshot; none named means those the snapshot changed, and all of them for
    /// the first one. Every snapshot makes one by itself; only the latest is kept unless the settings say otherwise.
    pub fn create_file_checkpoint(&self, reference: &str, files: &[RelPath]) -> Result<SnapshotId> {
        let since = self.settings.now();
        let writing = self.writing()?;
        let opened = writing.opened;
        let step = self.resolve(opened, reference)?;
        for path in files {
            if opened.files.find(&step.tree, None, path)?.is_none() {
                let seq = step.snapshot.sequence_number;
                return Err(Error::new(Code::PathNotFound, format!("`{path}` is not in {seq}"))
                    .then("list its files", NextStep::ListFiles { reference: seq.0.to_string() }));
            }
        }
        let paths = (!files.is_empty()).then(|| files.to_vec());
        let checkpoint = writing.checkpoint_of(paths, self.elapsed(since))?;
        opened.timeline.add_checkpoint(step.snapshot.sequence_number, &checkpoint)?;
        Ok(checkpoint.id)
    }

    /// File checkpoints, newest first.
    pub fn list_file_checkpoints(&self) -> Result<Vec<Checkpoint>> {
        if self.store_path()?.is_none() {
            return Ok(Vec::new());
        }
        let found = self.opened()?.timeline.checkpoints()?;
        Ok(found.into_iter().map(|(checkpoint, _)| checkpoint).collect())
    }

    /// A file checkpoint with its contents: the one named, or the latest; nothing when there is none.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let workspace = backsight::Workspace::open(directory.path())?;
    /// std::fs::write(directory.path().join("a.txt"), "one\n")?;
    /// workspace.track()?;
    /// std::fs::write(directory.path().join("a.txt"), "two\n")?;
    /// let known = workspace.load_file_checkpoint(None)?.unwrap();
    /// assert_eq!(known.files[&"a.txt".parse()?], "one\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn load_file_checkpoint(&self, id: Option<&str>) -> Result<Option<CheckpointData>> {
        if self.store_path()?.is_none() {
            return Ok(None);
        }
        let opened = self.opened()?;
        let mut found = opened.timeline.checkpoints()?.into_iter();
        let found = found.find(|(checkpoint, _)| id.is_none_or(|id| checkpoint.id.as_str().starts_with(id)));
        found.map(|(checkpoint, creation_time_ms)| load(opened, checkpoint, creation_time_ms)).transpose()
    }

    /// Removes file checkpoints made before `older_than`, or older than the setting says. The latest one stays, and so
    /// do the snapshots. Says how many were removed.
    pub fn cleanup_old_checkpoints(&self, older_than: Option<Timestamp>) -> Result<u64> {
        let writing = self.writing()?;
        let opened = writing.opened;
        let oldest = match older_than {
            Some(oldest) => oldest,
            None => writing.checkpoint_of(None, 0)?.keep.oldest,
        };
        opened.timeline.remove_checkpoints(oldest)
    }
}

fn load(opened: &Opened, checkpoint: Checkpoint, creation_time_ms: u64) -> Result<CheckpointData> {
    let step = opened.timeline.by_seq(checkpoint.sequence_number)?.ok_or_else(|| {
        Error::new(Code::Damaged, format!("{}, which a file checkpoint names, is missing", checkpoint.sequence_number))
            .then("check the store", NextStep::VerifyStore)
    })?;
    still_held(&step)?;
    let mut data = CheckpointData {
        id: checkpoint.id,
        timestamp: checkpoint.timestamp,
        snapshot_id: checkpoint.snapshot_id,
        files: BTreeMap::new(),
        binary_files: BTreeMap::new(),
        metadata: CheckpointMetadata { total_files: 0, total_size_bytes: 0, creation_time_ms },
    };
    for (path, node) in nodes(opened, &step, checkpoint.paths)? {
        let Some(id) = node.blob() else { continue };
        let content = opened.files.objects().read_blob(&id)?;
        data.metadata.total_files += 1;
        data.metadata.total_size_bytes += content.len() as u64;
        match String::from_utf8(content) {
            Ok(text) => drop(data.files.insert(path, text)),
            Err(_) => drop(data.binary_files.insert(path, id)),
        }
    }
    Ok(data)
}

/// The files of a checkpoint that exist in its snapshot; a named directory stands for what is in it.
fn nodes(opened: &Opened, step: &Step, paths: Option<Vec<RelPath>>) -> Result<Vec<(RelPath, Node)>> {
    let all = || opened.files.list(&step.tree, None);
    let Some(paths) = paths else {
        if step.base.is_none() {
            return all();
        }
        let mut found = Vec::new();
        for file in opened.timeline.touched_by(step.snapshot.sequence_number)? {
            found.extend(opened.files.find(&step.tree, None, &file.path)?.map(|node| (file.path, node)));
        }
        return Ok(found);
    };
    let mut found = all()?;
    found.retain(|(path, _)| paths.iter().any(|named| path.is_within(named)));
    Ok(found)
}
