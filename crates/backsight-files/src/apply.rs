//! Carries out a plan so that the workspace ends up exactly before or exactly after it, whenever the process dies.
//!
//! 1. *Intent*: the plan is written to the journal.
//! 2. *Stage*: new contents are written as files of their own, in `.backsight/stage` or, across a mount point, beside
//!    their target. No path of the user's has changed yet: a crash up to here is undone by removing the stage.
//! 3. *Commit point*: the journal entry is renamed. A crash from here on is finished by doing the rest.
//! 4. *Swap*: each path is exchanged with its staged file in one step, and what was displaced is checked against what
//!    the plan expected. Anything else means that somebody edited the file just now: all is swapped back.
//! 5. The journal entry is renamed again: the files are done. The caller records the step, then `finish` removes the
//!    displaced files and the journal entry.

use std::fs;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use backsight_core::{Code, Error, RelPath, Result, SnapshotId};
use rustix::io::Errno;
use serde_json::Value;

use crate::anchored::AnchoredPath;
use crate::compare::Change;
use crate::disk::{Disk, Rename};
use crate::journal::{Journal, Journals, Phase, RestoreId, Stage, Step};
use crate::objects::ObjectStore;
use crate::observe::{Standing, observe};
use crate::scan::open_below;
use crate::seal::Seal;
use crate::tree::Node;

/// An application that is done on disk and waits for its step to be recorded.
#[must_use = "the journal entry stays until `finish` is called"]
pub struct Applied {
    journal: Journal,
    /// Paths that somebody edited between a crash and its recovery, left as they are.
    pub kept: Vec<RelPath>,
}

impl Applied {
    /// What the caller handed to `apply`.
    pub fn note(&self) -> &Value {
        &self.journal.note
    }

    /// The changes made.
    pub fn changes(&self) -> impl Iterator<Item = &Change> {
        self.journal.steps.iter().map(|step| &step.change)
    }
}

/// Where plans are applied.
pub(crate) struct Applier<'a> {
    pub(crate) root: &'a Path,
    pub(crate) journal_directory: &'a AnchoredPath,
    pub(crate) seal: &'a Seal,
    pub(crate) store: &'a ObjectStore,
    pub(crate) progress: &'a dyn Fn(u64, u64),
}

impl Applier<'_> {
    /// Applies `changes`. On error nothing has changed, or the message says what remains.
    pub(crate) fn apply(&self, id: &SnapshotId, changes: &[Change], note: Value) -> Result<Applied> {
        let root = self.open_root()?;
        let id = RestoreId::try_from(id.as_str().to_owned()).map_err(|problem| Error::new(Code::Io, problem))?;
        let steps = self.place_stages(&id, changes)?;
        let journal = Journal { id, steps, note };
        self.journals().write_intent(&journal)?;
        if let Err(error) = self.stage(&root, &journal) {
            self.discard(&root, &journal)?;
            return Err(error);
        }
        self.journals().advance(&journal, Phase::Intent, Phase::Commit)?;
        match self.swap_all(&root, &journal, Mode::Fresh) {
            Ok(_) => {
                self.journals().advance(&journal, Phase::Commit, Phase::Done)?;
                Ok(Applied { journal, kept: Vec::new() })
            }
            Err(Swap { done, error }) => self.roll_back(&root, &journal, &done, error),
        }
    }

    /// Finishes or undoes what a killed process left. Every answer still needs `finish`. An entry that cannot be read, or
    /// whose note `check` refuses, is an error before anything is touched.
    pub(crate) fn recover(&self, check: &dyn Fn(&Value) -> Result<()>) -> Result<Vec<Applied>> {
        self.journals().remove_torn()?;
        let mut finished = Vec::new();
        for (path, phase) in self.journals().entries()? {
            let root = self.open_root()?;
            let journal = self.journals().read(&path)?;
            check(&journal.note)?;
            match phase {
                Phase::Intent => {
                    self.discard(&root, &journal)?;
                    continue;
                }
                Phase::Done => {
                    finished.push(Applied { journal, kept: Vec::new() });
                    continue;
                }
                Phase::Commit => {}
            }
            let stage = self.stage_of(&journal.id)?;
            let made = self.disk().create_private_directories(&stage);
            made.map_err(|error| Error::io(format!("create `{}`", stage.display()), error))?;
            let kept = self.swap_all(&root, &journal, Mode::Recovery).map_err(|swap| {
                let remaining = journal.steps.len() - swap.done.len();
                let hint = format!("{remaining} paths of an interrupted restore are still to be put in place: solve this and run any `backsight` command again");
                Error::new(swap.error.code(), swap.error.message().to_owned()).with_hint(hint)
            })?;
            self.journals().advance(&journal, Phase::Commit, Phase::Done)?;
            finished.push(Applied { journal, kept });
        }
        Ok(finished)
    }

    /// Whether a killed process left something to recover.
    pub(crate) fn is_pending(&self) -> Result<bool> {
        Ok(!self.journals().entries()?.is_empty() || !self.journals().torn()?.is_empty())
    }

    /// Removes what was displaced, which a snapshot holds, and the journal entry.
    pub(crate) fn finish(&self, applied: &Applied) -> Result<()> {
        let root = self.open_root()?;
        self.discard(&root, &applied.journal)
    }

    fn journals(&self) -> Journals<'_> {
        Journals { directory: self.journal_directory, disk: self.disk(), seal: self.seal }
    }

    fn disk(&self) -> &Disk {
        self.store.disk()
    }

    fn open_root(&self) -> Result<OwnedFd> {
        let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::DIRECTORY | rustix::fs::OFlags::CLOEXEC;
        rustix::fs::open(self.root, flags, rustix::fs::Mode::empty())
            .map_err(|error| Error::io(format!("open the workspace `{}`", self.root.display()), error.into()))
    }

    /// Where the restore's own staged files are.
    fn stage_of(&self, id: &RestoreId) -> Result<AnchoredPath> {
        let root = AnchoredPath::open_directory(self.root)
            .map_err(|error| Error::io(format!("open the workspace `{}`", self.root.display()), error))?;
        Ok(root.join(id.stage_directory()))
    }

    /// Staged files must be on the file system of their target, or they could not be swapped in one step.
    fn place_stages(&self, id: &RestoreId, changes: &[Change]) -> Result<Vec<Step>> {
        let device = |path: &Path| fs::symlink_metadata(path).map(|metadata| metadata.dev()).ok();
        let own_device = device(self.root);
        let mut steps = Vec::with_capacity(changes.len());
        for (number, change) in changes.iter().enumerate() {
            let target = self.root.join(change.path.as_path());
            let standing = target.ancestors().skip(1).find(|directory| directory.is_dir()).unwrap_or(self.root);
            let beside = if device(standing) == own_device {
                None
            } else {
                // The directory a file system is mounted on: no plan can remove it.
                let same =
                    |directory: &&Path| directory.starts_with(self.root) && device(directory) == device(standing);
                let top = standing.ancestors().take_while(same).last().unwrap_or(standing);
                let beside = top.strip_prefix(self.root).unwrap_or(Path::new(""));
                // The root itself when a directory was exchanged just now: then nothing is mounted there.
                RelPath::new(beside.as_os_str().as_encoded_bytes()).ok()
            };
            let stage = Stage::new(id, number, beside.as_ref());
            steps.push(Step { change: change.clone(), stage });
        }
        Ok(steps)
    }

    /// Removes staged and displaced files and the journal entry. Safe to repeat.
    fn discard(&self, root: &OwnedFd, journal: &Journal) -> Result<()> {
        let discard = || -> io::Result<()> {
            for step in journal.steps.iter().filter(|step| step.stage.is_beside(&journal.id)) {
                for name in [step.stage.name.clone().into_bytes(), displaced_name(step), unfinished_name(step)] {
                    self.remove_staged(root, &step.stage, &name)?;
                }
            }
            let stage = self.stage_of(&journal.id).map_err(io::Error::other)?;
            for path in self.store.files_in(&stage).map_err(io::Error::other)? {
                self.disk().remove_file(&path)?;
            }
            for directory in [stage.clone(), stage.parent(), stage.parent().parent()] {
                match self.disk().remove_directory(&directory) {
                    Ok(()) => {}
                    // The last is also busy where a file system is mounted on our directory.
                    Err(error)
                        if matches!(
                            error.kind(),
                            io::ErrorKind::NotFound | io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::ResourceBusy
                        ) => {}
                    Err(error) => return Err(error),
                }
            }
            self.journals().remove(journal)
        };
        discard().map_err(|error| Error::io("clean up after a restore", error))
    }

    fn remove_staged(&self, root: &OwnedFd, stage: &Stage, name: &[u8]) -> io::Result<()> {
        let directory = match open_below(root, &stage.directory) {
            Ok(directory) => directory,
            // Somebody put something else where the stage was: nothing of ours is there any more.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        match self.disk().remove_file_at(directory.as_fd(), name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Writes the new content of every step that has one. A damaged object is found here, before any path changes.
    fn stage(&self, root: &OwnedFd, journal: &Journal) -> Result<()> {
        let own = self.stage_of(&journal.id)?;
        self.disk()
            .create_private_directories(&own)
            .map_err(|error| Error::io(format!("create `{}`", own.display()), error))?;
        for (done, step) in journal.steps.iter().enumerate() {
            if action_of(&step.change).needs_staging() {
                self.stage_step(root, step)?;
            }
            (self.progress)(done as u64, 2 * journal.steps.len() as u64);
        }
        self.check_writable(root, journal)
    }

    fn stage_step(&self, root: &OwnedFd, step: &Step) -> Result<()> {
        let Some(id) = step.change.after.and_then(|node| node.blob()) else { return Ok(()) };
        let content = self.store.read_blob(&id)?;
        let write = || -> io::Result<()> {
            let directory = open_below(root, &step.stage.directory)?;
            let name = step.stage.name.as_bytes();
            self.remove_staged(root, &step.stage, name)?;
            let Some(Node::File { mode, .. }) = step.change.after else {
                return self.disk().symlink_at(&content, directory.as_fd(), name);
            };
            let mut file = self.disk().create_at(directory.as_fd(), name)?;
            file.write_all(&content)?;
            if let Some(owner) = self.owner_of(&step.change.path) {
                file.set_owner(owner.0, owner.1);
            }
            file.set_mode(mode)?;
            file.sync()
        };
        write().map_err(|error| Error::io(format!("stage `{}`", step.change.path), error))
    }

    /// Whose file is replaced, when it is not ours: the new one is given back to them.
    fn owner_of(&self, path: &RelPath) -> Option<(u32, u32)> {
        let metadata = fs::symlink_metadata(self.root.join(path.as_path())).ok()?;
        let own = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        Some((metadata.uid(), metadata.gid())).filter(|owner| *owner != own)
    }

    /// Refuses early where a directory of the user's cannot be written to.
    fn check_writable(&self, root: &OwnedFd, journal: &Journal) -> Result<()> {
        let mut checked = std::collections::BTreeSet::new();
        for step in &journal.steps {
            let parent = step.change.path.parent();
            if matches!(action_of(&step.change), Action::Chmod) || !checked.insert(parent) {
                continue;
            }
            let Ok(directory) = open_below(root, parent) else { continue };
            let access = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
            if let Err(error) = rustix::fs::accessat(&directory, ".", access, rustix::fs::AtFlags::EACCESS) {
                let shown = if parent.is_empty() { ".".to_owned() } else { backsight_core::quote(parent) };
                return Err(Error::io(format!("change files in `{shown}`"), error.into()).with_hint(format!(
                    "allow it with `chmod u+w {}`",
                    backsight_core::shell_word(if parent.is_empty() { b"." } else { parent })
                )));
            }
        }
        Ok(())
    }

    fn roll_back(&self, root: &OwnedFd, journal: &Journal, done: &[usize], error: Error) -> Result<Applied> {
        for &index in done.iter().rev() {
            let step = &journal.steps[index];
            self.swap_back(root, step).map_err(|failure| {
                Error::io(format!("put `{}` back after: {error}", step.change.path), failure)
                    .with_hint("run any `backsight` command: it finishes the restore from its journal")
            })?;
        }
        // Nothing is to be done any more; without this a crash in the middle of cleaning up would look like work to finish.
        self.journals().advance(journal, Phase::Commit, Phase::Intent)?;
        self.discard(root, journal)?;
        Err(error)
    }

    /// Swaps everything into place, in an order in which every step is possible.
    fn swap_all(&self, root: &OwnedFd, journal: &Journal, mode: Mode) -> Result<Vec<RelPath>, Swap> {
        let mut done = Vec::new();
        let mut kept = Vec::new();
        let order = order_of(&journal.steps);
        let total = order.len() as u64;
        for (count, index) in order.into_iter().enumerate() {
            let step = &journal.steps[index];
            match self.swap(root, step, mode) {
                Ok(Swapped::Done) => done.push(index),
                Ok(Swapped::Already) => {}
                Ok(Swapped::Edited) if mode == Mode::Recovery => kept.push(step.change.path.clone()),
                Ok(Swapped::Edited) => {
                    let error = Error::new(
                        Code::Raced,
                        format!("`{}` changed while it was being restored; nothing was changed", step.change.path),
                    )
                    .with_hint("try again")
                    .with_details(serde_json::json!({ "path": step.change.path }));
                    return Err(Swap { done, error });
                }
                Err(error) => {
                    return Err(Swap { done, error: Error::io(format!("put `{}` in place", step.change.path), error) });
                }
            }
            (self.progress)(total + count as u64, 2 * total);
        }
        match self.settle(root, journal) {
            Ok(()) => Ok(kept),
            Err(error) => Err(Swap { done, error: Error::io("finish the restore", error) }),
        }
    }

    /// Gives directories their permissions, innermost first, and makes the renames durable.
    fn settle(&self, root: &OwnedFd, journal: &Journal) -> io::Result<()> {
        let mut parents = std::collections::BTreeSet::new();
        for step in journal.steps.iter().rev() {
            parents.insert(step.change.path.parent());
            let Some(Node::Directory { mode }) = step.change.after else { continue };
            let Ok(parent) = open_below(root, step.change.path.parent()) else { continue };
            if let Standing::Known(Node::Directory { mode: current }) =
                observe(parent.as_fd(), step.change.path.name())?
                && current != mode
            {
                self.disk().set_mode_at(parent.as_fd(), step.change.path.name(), mode)?;
            }
        }
        for parent in parents {
            if let Ok(directory) = open_below(root, parent) {
                self.disk().sync_directory_at(&directory)?;
            }
        }
        Ok(())
    }

    fn swap(&self, root: &OwnedFd, step: &Step, mode: Mode) -> io::Result<Swapped> {
        let change = &step.change;
        let parent = match open_below(root, change.path.parent()) {
            Ok(parent) => parent,
            Err(Errno::NOENT) if change.after.is_none() => return Ok(Swapped::Already),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(Swapped::Edited),
            Err(error) => return Err(error.into()),
        };
        let path = (parent.as_fd(), change.path.name());
        if mode == Mode::Recovery {
            if self.give_back(root, step, path)? {
                return Ok(Swapped::Edited);
            }
            let standing = observe(path.0, path.1)?;
            let displaced = matches!(standing, Standing::Nothing) && self.is_displaced(root, step)?;
            if is_done(&standing, change) {
                return Ok(Swapped::Already);
            }
            if !displaced && !is_undone(&standing, change) {
                return Ok(Swapped::Edited);
            }
            if displaced {
                return self.place_new(root, step, path);
            }
            self.restage_if_lost(root, step)?;
        }
        match action_of(change) {
            Action::RemoveFile => self.displace(root, step, path),
            Action::RemoveDirectory => remove_directory(self.disk(), path, change),
            Action::MakeDirectory => make_directory(self.disk(), path),
            Action::SwapDirectoryMode => Ok(Swapped::Done),
            Action::Create => self.place_new(root, step, path),
            Action::Replace => self.exchange(root, step, path),
            Action::Chmod => self.chmod(change, path),
            // A file makes way for a directory, or the other way round: both halves or none.
            Action::FileToDirectory => match self.displace(root, step, path)? {
                Swapped::Done => both(make_directory(self.disk(), path), || self.replace_displaced(root, step, path)),
                other => Ok(other),
            },
            Action::DirectoryToFile => match remove_directory(self.disk(), path, change)? {
                Swapped::Done => both(self.place_new(root, step, path), || self.remake_directory(change, path)),
                other => Ok(other),
            },
        }
    }

    fn replace_displaced(&self, root: &OwnedFd, step: &Step, path: Place<'_>) -> io::Result<()> {
        let stage = open_below(root, &step.stage.directory)?;
        self.disk().rename_at((stage.as_fd(), &displaced_name(step)), path, Rename::NoReplace)
    }

    /// Whether the process died with somebody's edit in the stage, before it could be swapped back. Then it is now.
    fn give_back(&self, root: &OwnedFd, step: &Step, path: Place<'_>) -> io::Result<bool> {
        let stage = match open_below(root, &step.stage.directory) {
            Ok(stage) => stage,
            Err(Errno::NOENT) => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        for name in [step.stage.name.clone().into_bytes(), displaced_name(step)] {
            let staged = (stage.as_fd(), name.as_slice());
            let standing = observe(staged.0, staged.1)?;
            let ours = standing.is(None)
                || standing.is(step.change.before.as_ref())
                || standing.is(step.change.after.as_ref());
            if ours {
                continue;
            }
            let how = match observe(path.0, path.1)? {
                Standing::Nothing => Rename::NoReplace,
                _ => Rename::Exchange,
            };
            self.disk().rename_at(staged, path, how)?;
            return Ok(true);
        }
        Ok(false)
    }

    /// Whether the stage holds what stood at the path before.
    fn is_displaced(&self, root: &OwnedFd, step: &Step) -> io::Result<bool> {
        let Some(before) = &step.change.before else { return Ok(false) };
        if before.is_directory() {
            return Ok(matches!(action_of(&step.change), Action::DirectoryToFile));
        }
        match open_below(root, &step.stage.directory) {
            Ok(stage) => Ok(observe(stage.as_fd(), &displaced_name(step))?.is(Some(before))),
            Err(_) => Ok(false),
        }
    }

    fn restage_if_lost(&self, root: &OwnedFd, step: &Step) -> io::Result<()> {
        if !action_of(&step.change).needs_staging() {
            return Ok(());
        }
        if let Ok(stage) = open_below(root, &step.stage.directory)
            && observe(stage.as_fd(), step.stage.name.as_bytes())?.is(step.change.after.as_ref())
        {
            return Ok(());
        }
        // Under another name until it is whole: half a file in the stage would look like somebody's edit.
        let unfinished = String::from_utf8(unfinished_name(step)).map_err(io::Error::other)?;
        let stage = Stage { name: unfinished, ..step.stage.clone() };
        self.stage_step(root, &Step { change: step.change.clone(), stage }).map_err(io::Error::other)?;
        let directory = open_below(root, &step.stage.directory)?;
        let (from, to) = (unfinished_name(step), step.stage.name.as_bytes());
        self.disk().rename_at((directory.as_fd(), &from), (directory.as_fd(), to), Rename::NoReplace)
    }

    /// Moves what stands at the path into the stage and checks that it is what the plan expected.
    fn displace(&self, root: &OwnedFd, step: &Step, path: Place<'_>) -> io::Result<Swapped> {
        let stage = open_below(root, &step.stage.directory)?;
        let name = displaced_name(step);
        let aside = (stage.as_fd(), name.as_slice());
        match self.disk().rename_at(path, aside, Rename::NoReplace) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Swapped::Edited),
            other => other?,
        }
        if observe(aside.0, aside.1)?.is(step.change.before.as_ref()) {
            return Ok(Swapped::Done);
        }
        self.disk().rename_at(aside, path, Rename::NoReplace)?;
        Ok(Swapped::Edited)
    }

    fn place_new(&self, root: &OwnedFd, step: &Step, path: Place<'_>) -> io::Result<Swapped> {
        if step.change.after.is_some_and(|node| node.is_directory()) {
            return make_directory(self.disk(), path);
        }
        if step.change.after.is_none() {
            return Ok(Swapped::Already);
        }
        let stage = open_below(root, &step.stage.directory)?;
        match self.disk().rename_at((stage.as_fd(), step.stage.name.as_bytes()), path, Rename::NoReplace) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(Swapped::Edited),
            other => other.map(|()| Swapped::Done),
        }
    }

    /// Swaps old and new in one step, so that no reader ever misses the file.
    fn exchange(&self, root: &OwnedFd, step: &Step, path: Place<'_>) -> io::Result<Swapped> {
        let stage = open_below(root, &step.stage.directory)?;
        let staged = (stage.as_fd(), step.stage.name.as_bytes());
        match self.disk().rename_at(staged, path, Rename::Exchange) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Swapped::Edited),
            // Some file systems cannot exchange: two renames then, and the journal covers the moment between.
            Err(error) if error.raw_os_error() == Some(Errno::INVAL.raw_os_error()) => {
                return match self.displace(root, step, path)? {
                    Swapped::Done => {
                        both(self.place_new(root, step, path), || self.replace_displaced(root, step, path))
                    }
                    other => Ok(other),
                };
            }
            Err(error) => return Err(error),
        }
        if observe(staged.0, staged.1)?.is(step.change.before.as_ref()) {
            return Ok(Swapped::Done);
        }
        self.disk().rename_at(staged, path, Rename::Exchange)?;
        Ok(Swapped::Edited)
    }

    fn chmod(&self, change: &Change, path: Place<'_>) -> io::Result<Swapped> {
        let (true, Some(Node::File { mode, .. })) = (observe(path.0, path.1)?.is(change.before.as_ref()), change.after)
        else {
            return Ok(Swapped::Edited);
        };
        self.disk().set_mode_at(path.0, path.1, mode)?;
        Ok(Swapped::Done)
    }

    /// The inverse of `swap`, for a step that was done. What was edited in the meantime stays.
    fn swap_back(&self, root: &OwnedFd, step: &Step) -> io::Result<()> {
        let change = &step.change;
        let parent = open_below(root, change.path.parent())?;
        let path = (parent.as_fd(), change.path.name());
        let standing = observe(path.0, path.1)?;
        let stage = open_below(root, &step.stage.directory)?;
        let staged = (stage.as_fd(), step.stage.name.as_bytes());
        let displaced = displaced_name(step);
        let aside = (stage.as_fd(), displaced.as_slice());
        match action_of(change) {
            Action::SwapDirectoryMode => self.restore_mode(change, path),
            Action::RemoveFile => leave_newer(self.disk().rename_at(aside, path, Rename::NoReplace)),
            Action::RemoveDirectory => self.remake_directory(change, path),
            Action::MakeDirectory => ignore_not_empty(self.disk().remove_directory_at(path.0, path.1)),
            _ if !is_done(&standing, change) => Ok(()),
            Action::Create => self.disk().rename_at(path, staged, Rename::NoReplace),
            Action::Replace if observe(staged.0, staged.1)?.is(change.before.as_ref()) => {
                self.disk().rename_at(staged, path, Rename::Exchange)
            }
            Action::Replace => {
                self.disk().remove_file_at(path.0, path.1)?;
                leave_newer(self.disk().rename_at(aside, path, Rename::NoReplace))
            }
            Action::Chmod => self.restore_mode(change, path),
            Action::FileToDirectory => {
                ignore_not_empty(self.disk().remove_directory_at(path.0, path.1))?;
                leave_newer(self.disk().rename_at(aside, path, Rename::NoReplace))
            }
            Action::DirectoryToFile => {
                self.disk().rename_at(path, staged, Rename::NoReplace)?;
                self.remake_directory(change, path)
            }
        }
    }

    /// Puts an emptied directory back, unless something else stands there by now.
    fn remake_directory(&self, change: &Change, path: Place<'_>) -> io::Result<()> {
        match make_directory(self.disk(), path)? {
            Swapped::Edited => Ok(()),
            Swapped::Done | Swapped::Already => self.restore_mode(change, path),
        }
    }

    fn restore_mode(&self, change: &Change, path: Place<'_>) -> io::Result<()> {
        match change.before {
            Some(Node::File { mode, .. } | Node::Directory { mode }) => self.disk().set_mode_at(path.0, path.1, mode),
            _ => Ok(()),
        }
    }
}

/// A name in an open directory.
type Place<'a> = (std::os::fd::BorrowedFd<'a>, &'a [u8]);

/// Whether the swap runs for the first time or finishes an interrupted one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Fresh,
    Recovery,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Swapped {
    Done,
    /// The path is in its new state already.
    Already,
    /// Somebody else changed the path.
    Edited,
}

/// A swap that failed, with the steps done before it.
struct Swap {
    done: Vec<usize>,
    error: Error,
}

/// What a change asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    RemoveFile,
    RemoveDirectory,
    MakeDirectory,
    SwapDirectoryMode,
    Create,
    Replace,
    Chmod,
    FileToDirectory,
    DirectoryToFile,
}

impl Action {
    fn needs_staging(self) -> bool {
        matches!(self, Action::Create | Action::Replace | Action::DirectoryToFile)
    }
}

fn action_of(change: &Change) -> Action {
    let directory = |node: Option<Node>| node.map(|node| node.is_directory());
    match (directory(change.before), directory(change.after)) {
        (None | Some(false), None) => Action::RemoveFile,
        (Some(true), None) => Action::RemoveDirectory,
        (None, Some(true)) => Action::MakeDirectory,
        (Some(true), Some(true)) => Action::SwapDirectoryMode,
        (None, Some(false)) => Action::Create,
        (Some(false), Some(true)) => Action::FileToDirectory,
        (Some(true), Some(false)) => Action::DirectoryToFile,
        (Some(false), Some(false)) => match (change.before, change.after) {
            (Some(Node::File { id: before, .. }), Some(Node::File { id: after, .. })) if before == after => {
                Action::Chmod
            }
            _ => Action::Replace,
        },
    }
}

/// First everything that goes, innermost first; then everything that comes, outermost first.
/// A path that changes between file and directory belongs where its directory side does.
fn order_of(steps: &[Step]) -> Vec<usize> {
    let goes = |step: &&Step| {
        matches!(action_of(&step.change), Action::RemoveFile | Action::RemoveDirectory | Action::DirectoryToFile)
    };
    let mut order: Vec<usize> = (0..steps.len()).rev().filter(|&index| goes(&&steps[index])).collect();
    order.extend((0..steps.len()).filter(|&index| !goes(&&steps[index])));
    order
}

fn displaced_name(step: &Step) -> Vec<u8> {
    // Exchanged files take the staged name; displaced ones need another, since both may exist for a moment.
    match action_of(&step.change) {
        Action::RemoveFile | Action::FileToDirectory => step.stage.name.clone().into_bytes(),
        _ => format!("{}-old", step.stage.name).into_bytes(),
    }
}

fn unfinished_name(step: &Step) -> Vec<u8> {
    format!("{}-new", step.stage.name).into_bytes()
}

fn is_done(standing: &Standing, change: &Change) -> bool {
    match (standing, change.after) {
        // The permissions of directories come last, in `settle`.
        (Standing::Known(Node::Directory { .. }), Some(Node::Directory { .. })) => true,
        _ => standing.is(change.after.as_ref()),
    }
}

/// A directory that was put back a moment ago may not have its permissions yet.
fn is_undone(standing: &Standing, change: &Change) -> bool {
    match (standing, change.before) {
        (Standing::Known(Node::Directory { .. }), Some(Node::Directory { .. })) => true,
        _ => standing.is(change.before.as_ref()),
    }
}

/// The second half of a step; when it fails, `undo_first` takes the first half back.
fn both(second: io::Result<Swapped>, undo_first: impl FnOnce() -> io::Result<()>) -> io::Result<Swapped> {
    match second {
        Ok(Swapped::Done | Swapped::Already) => Ok(Swapped::Done),
        other => undo_first().and(other),
    }
}

/// A directory being filled must be writable; `settle` gives it its own permissions.
fn make_directory(disk: &Disk, path: Place<'_>) -> io::Result<Swapped> {
    match disk.make_directory_at(path.0, path.1, 0o700) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => match observe(path.0, path.1)? {
            Standing::Known(Node::Directory { .. }) => Ok(Swapped::Already),
            _ => Ok(Swapped::Edited),
        },
        other => other.map(|()| Swapped::Done),
    }
}

fn remove_directory(disk: &Disk, path: Place<'_>, change: &Change) -> io::Result<Swapped> {
    match disk.remove_directory_at(path.0, path.1) {
        Ok(()) => Ok(Swapped::Done),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Ok(if change.after.is_none() { Swapped::Already } else { Swapped::Done })
        }
        // Something was put into it since the capture: that is somebody's work.
        Err(error) if matches!(error.kind(), io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::NotADirectory) => {
            Ok(Swapped::Edited)
        }
        Err(error) => Err(error),
    }
}

/// Somebody saved the path anew meanwhile: theirs stays, and what we had moved away is in the safety snapshot.
fn leave_newer(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}

fn ignore_not_empty(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if matches!(error.kind(), io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::NotFound) => Ok(()),
        other => other,
    }
}
