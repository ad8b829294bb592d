//! Stages the new contents of a restore: where each file is kept until its turn, and how it is written.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use backsight_core::{Error, NextStep, RelPath, Result};

use crate::anchored::AnchoredPath;
use crate::apply::Applier;
use crate::compare::Change;
use crate::former::Former;
use crate::journal::{Journal, Phase, RestoreId, Stage, Step};
use crate::observe::stamp;
use crate::platform::{Mount, is_protected};
use crate::scan::open_below;
use crate::swap::{Action, action_of, open_stage};
use crate::tree::Node;

/// What was staged for a step, where it is not what the step asked for.
#[derive(Default)]
pub(crate) struct Staged {
    /// Fewer permissions, since more would go to others than before.
    narrowed: Option<u16>,
    /// What the replaced file has and the new one could not be given.
    unkept: Vec<String>,
}

impl Applier<'_> {
    /// Staged files must be on the mount of their target, or they could not be swapped in one step. Two mounts of one
    /// device are as far apart as two devices.
    pub(crate) fn place_stages(&self, id: &RestoreId, changes: &[Change]) -> Vec<Step> {
        let root = self.root.path();
        let own = Mount::of(root);
        let place = |(number, change): (usize, &Change)| {
            let target = root.join(change.path.as_path());
            let standing = target.ancestors().skip(1).find(|directory| directory.is_dir()).unwrap_or(root);
            let mount = Mount::of(standing);
            let beside = if mount == own {
                None
            } else {
                // The directory a file system is mounted on: no plan can remove it.
                let same = |directory: &&Path| directory.starts_with(root) && Mount::of(directory) == mount;
                let top = standing.ancestors().take_while(same).last().unwrap_or(standing);
                let beside = top.strip_prefix(root).unwrap_or(Path::new(""));
                // The root itself when a directory was exchanged just now: then nothing is mounted there.
                RelPath::new(beside.as_os_str().as_encoded_bytes()).ok()
            };
            Step { change: change.clone(), stage: Stage::new(id, number, beside.as_ref()) }
        };
        changes.iter().enumerate().map(place).collect()
    }

    /// Where the restore's own staged files are.
    pub(crate) fn stage_of(&self, id: &RestoreId) -> Result<AnchoredPath> {
        Ok(self.root.anchored()?.join(id.stage_directory()))
    }

    /// Makes the restore's own directory anew.
    pub(crate) fn make_stage(&self, stage: &Stage) -> io::Result<()> {
        let below = std::str::from_utf8(&stage.directory).map_err(io::Error::other)?;
        self.disk().create_private_directories(&self.root.anchored().map_err(io::Error::other)?.join(below))
    }

    /// Writes the new content of every step that has one, and keeps `room` bytes. A damaged object is found here, before
    /// any path changes. Answers with what cannot be kept of the files that are replaced.
    pub(crate) fn stage(&self, root: &OwnedFd, journal: &mut Journal, room: u64) -> Result<Vec<String>> {
        check_writable(root, journal)?;
        check_protected(root, journal)?;
        let own = self.stage_of(&journal.id)?;
        self.disk()
            .create_private_directories(&own)
            .map_err(|error| Error::io(format!("create `{}`", own.display()), error))?;
        let total = 2 * journal.steps.len() as u64;
        let (mut unkept, mut is_narrowed) = (Vec::new(), false);
        for (done, step) in journal.steps.iter_mut().enumerate() {
            if action_of(&step.change).needs_staging() {
                let staged = self.stage_step(root, step)?;
                unkept.extend(staged.unkept);
                if let (Some(narrowed), Some(Node::File { mode, .. })) = (staged.narrowed, &mut step.change.after) {
                    *mode = narrowed;
                    is_narrowed = true;
                }
            }
            (self.progress)(done as u64, total);
        }
        if is_narrowed {
            self.journals().write_intent(journal)?;
        }
        self.journals().reserve(journal, room + 2 * self.journals().size(journal, Phase::Intent))?;
        Ok(unkept)
    }

    pub(crate) fn stage_step(&self, root: &OwnedFd, step: &Step) -> Result<Staged> {
        let Some(id) = step.change.after.and_then(|node| node.blob()) else { return Ok(Staged::default()) };
        let content = self.store.read_blob(&id)?;
        let write = || -> io::Result<Staged> {
            let directory = open_below(root, &step.stage.directory)?;
            let name = step.stage.name.as_bytes();
            self.remove_staged(root, &step.stage, name)?;
            let Some(Node::File { mode, access, .. }) = step.change.after else {
                self.disk().symlink_at(&content, directory.as_fd(), name)?;
                return Ok(Staged::default());
            };
            let mut file = self.disk().create_at(directory.as_fd(), name)?;
            file.write_all(&content)?;
            let given = Former::at(root, &step.change.path, access)?.give_to(&file, mode)?;
            file.set_mode(given.mode)?;
            file.sync()?;
            let path = &step.change.path;
            Ok(Staged {
                narrowed: (given.mode != mode).then_some(given.mode),
                unkept: given.unkept.into_iter().map(|what| format!("`{path}` could not keep {what}")).collect(),
            })
        };
        write().map_err(|error| Error::io(format!("stage `{}`", step.change.path), error))
    }

    pub(crate) fn remove_staged(&self, root: &OwnedFd, stage: &Stage, name: &[u8]) -> io::Result<()> {
        let Some(directory) = open_stage(root, stage)? else { return Ok(()) };
        match self.disk().remove_file_at(directory.as_fd(), name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            // A file system that is mounted read-only says so before it looks.
            Err(error) if error.kind() == io::ErrorKind::ReadOnlyFilesystem => {
                stamp(directory.as_fd(), name)?.map_or(Ok(()), |_| Err(error))
            }
            other => other,
        }
    }
}

/// Refuses early where a directory of the user's cannot be written to. All paths in such directories are in the details, so
/// that a caller who leaves them asks once.
fn check_writable(root: &OwnedFd, journal: &Journal) -> Result<()> {
    let mut directories: BTreeMap<&[u8], Option<rustix::io::Errno>> = BTreeMap::new();
    let (mut unwritable, mut first) = (Vec::new(), None);
    for Step { change, .. } in &journal.steps {
        if matches!(action_of(change), Action::Chmod) {
            continue;
        }
        let parent = change.path.parent();
        if let Some(error) = *directories.entry(parent).or_insert_with(|| refusal(root, parent)) {
            unwritable.push(change.path.clone());
            first.get_or_insert((parent, error));
        }
    }
    let Some((parent, error)) = first else { return Ok(()) };
    let shown = if parent.is_empty() { ".".to_owned() } else { backsight_core::quote(parent) };
    let allow = match error {
        rustix::io::Errno::ROFS => "mount it so that it can be written to".to_owned(),
        _ if !is_own(root, parent) => "let its owner allow it".to_owned(),
        _ => {
            let word = backsight_core::shell_word(if parent.is_empty() { b"." } else { parent });
            format!("allow it with `chmod u+w {word}`")
        }
    };
    Err(Error::io(format!("change files in `{shown}`"), error.into())
        .then("leave what is there as it is", NextStep::WithSkip)
        .or_hint(allow)
        .with_details(serde_json::json!({ "unwritable": unwritable })))
}

/// Why names in a directory cannot be made or removed.
fn refusal(root: &OwnedFd, parent: &[u8]) -> Option<rustix::io::Errno> {
    let directory = open_below(root, parent).ok()?;
    let access = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
    let error = rustix::fs::accessat(&directory, ".", access, rustix::fs::AtFlags::EACCESS).err()?;
    // What not even its owner is allowed is named with the files.
    (!is_protected(directory.as_fd(), b".")).then_some(error)
}

fn is_own(root: &OwnedFd, parent: &[u8]) -> bool {
    let owner = open_below(root, parent).and_then(rustix::fs::fstat).map(|found| found.st_uid);
    owner.is_ok_and(|owner| owner == rustix::process::geteuid().as_raw())
}

/// Refuses what the file system lets nobody change: files that are immutable or can only be appended to, and what is in
/// such directories. All of them are in the details, so that a caller who leaves them asks once.
fn check_protected(root: &OwnedFd, journal: &Journal) -> Result<()> {
    let mut directories: BTreeMap<&[u8], bool> = BTreeMap::new();
    let mut protected = Vec::new();
    for Step { change, .. } in &journal.steps {
        let Ok(parent) = open_below(root, change.path.parent()) else { continue };
        let is_inside = *directories.entry(change.path.parent()).or_insert_with(|| is_protected(parent.as_fd(), b"."));
        if is_inside || (change.before.is_some() && is_protected(parent.as_fd(), change.path.name())) {
            protected.push(change.path.clone());
        }
    }
    let Some((path, more)) = protected.split_first() else { return Ok(()) };
    let others = if more.is_empty() { String::new() } else { format!(" (and {} more)", more.len()) };
    let refused = Error::io(format!("change `{path}`{others}"), rustix::io::Errno::PERM.into());
    Err(refused
        .then("it or its directory is protected from changes: leave it as it is", NextStep::WithSkip)
        .or_hint(format!("allow them with `chattr -i -a -- {}`", backsight_core::shell_word(path.as_bytes())))
        .with_details(serde_json::json!({ "protected": protected })))
}
