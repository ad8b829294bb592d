//! What a restore displaced, before it is removed. A program that had a file open writes on into it after it was
//! displaced, and into ours after it was taken back: what is in neither the plan nor the store by then is stored and
//! handed to the caller, and only what is recorded goes.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::fd::{AsFd, OwnedFd};

use backsight_core::{Error, ObjectId, Result};
use rustix::fs::FileType;

use crate::apply::{Applier, Restoration};
use crate::cache::Stat;
use crate::capture::coarse_now;
use crate::compare::Change;
use crate::disk::Removal;
use crate::former::access_of;
use crate::journal::{Journal, Stage, Step};
use crate::object::ObjectKind;
use crate::objects::{Batch, STREAM_LIMIT};
use crate::observe::{Standing, open_file, stamp, standing, stat_of};
use crate::swap::{Place, displaced_name, open_stage, unfinished_name};
use crate::tree::Node;

/// Stamps say nothing of a file that was written to so recently: the clock that makes them ticks slowly, and a program that
/// maps a file moves them only when the kernel has written its pages out.
const RECENT_SECONDS: i64 = 600;
/// How often a file that is being cut short is read again before it is left where it is.
const READINGS: usize = 5;

/// What to do with the files of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clearing {
    /// They all stay.
    Look,
    /// Those go of which a snapshot holds everything.
    Remove,
    /// They all go, with what is in them then. For programs that write faster than what they wrote is recorded: if the
    /// process dies right here, what was written since the last look is lost.
    RemoveAll,
}

/// What became of one file of the stage.
enum Cleared {
    /// A snapshot holds it.
    Fine,
    /// It holds what is in no snapshot.
    Stored(Node),
    /// It can be neither stored nor removed.
    Left,
}

impl Applier<'_> {
    /// Goes through staged and displaced files. What was written to them and is in no snapshot is stored and returned, as
    /// a change of what the plan expected at the path: record it, then clear again until nothing comes.
    pub(crate) fn clear(&self, restoration: &mut Restoration, clearing: Clearing) -> Result<Vec<Change>> {
        let root = self.root.open()?;
        let failed = |error| Error::io("clean up after a restore", error);
        let batch = self.store.batch();
        let mut written = Vec::new();
        let own = open_stage(&root, &Stage::new(&restoration.journal.id, 0, None)).map_err(failed)?;
        for index in 0..restoration.journal.steps.len() {
            let step = restoration.journal.steps[index].clone();
            let beside = match step.stage.is_beside(&restoration.journal.id) {
                true => open_stage(&root, &step.stage).map_err(failed)?,
                false => None,
            };
            let Some(stage) = beside.as_ref().or(own.as_ref()) else { continue };
            self.clear_step(restoration, index, &step, stage, clearing, (&batch, &mut written))?;
        }
        batch.commit()?;
        Ok(written)
    }

    fn clear_step(
        &self,
        restoration: &mut Restoration,
        index: usize,
        step: &Step,
        stage: &OwnedFd,
        clearing: Clearing,
        (batch, written): (&Batch<'_>, &mut Vec<Change>),
    ) -> Result<()> {
        let failed = |error| Error::io("clean up after a restore", error);
        let staged = step.stage.name.clone().into_bytes();
        let mut names = vec![staged.clone(), displaced_name(step)];
        names.dedup();
        for name in names {
            let key = [&step.stage.directory[..], b"/", &name].concat();
            let known: Vec<Node> = restoration.handed_out.get(&key).into_iter().flatten().copied().collect();
            let looked = restoration.looks.get(&index).copied().filter(|_| known.is_empty());
            let subject = Subject { step, place: (stage.as_fd(), &name), known, looked };
            match self.clear_file(&subject, clearing, batch)? {
                Cleared::Fine => {}
                Cleared::Stored(node) => {
                    restoration.handed_out.entry(key).or_default().push(node);
                    let change = &step.change;
                    written.push(Change { path: change.path.clone(), before: change.before, after: Some(node) });
                }
                Cleared::Left => {
                    let path = step.change.path.clone();
                    let place = String::from_utf8_lossy(&key).into_owned();
                    if !restoration.left.iter().any(|(_, known)| *known == place) {
                        restoration.left.push((path, place));
                    }
                }
            }
        }
        if clearing == Clearing::Look {
            return Ok(());
        }
        // Ours, and half of a file perhaps.
        let unfinished = unfinished_name(step);
        match stamp(stage.as_fd(), &unfinished).map_err(failed)? {
            Some(_) => self.disk().remove_file_at(stage.as_fd(), &unfinished).map_err(failed),
            None => Ok(()),
        }
    }

    fn clear_file(&self, subject: &Subject<'_>, clearing: Clearing, batch: &Batch<'_>) -> Result<Cleared> {
        let failed = |error| Error::io(format!("look again at `{}`", subject.step.change.path), error);
        let (directory, name) = subject.place;
        for _ in 0..READINGS {
            let Some(stat) = stamp(directory, name).map_err(failed)? else { return Ok(Cleared::Fine) };
            if !subject.is_recorded(&stat, clearing).map_err(failed)? {
                return self.store_unrecorded(subject, &stat, clearing, batch);
            }
            if clearing == Clearing::Look {
                return Ok(Cleared::Fine);
            }
            match self.disk().remove_unmoved_at(directory, name, &stat_of(&stat)).map_err(failed)? {
                Removal::Gone => return Ok(Cleared::Fine),
                Removal::Moved => {}
                Removal::Late(file) => return self.store_file(&file, &stat, batch),
            }
        }
        match stamp(directory, name).map_err(failed)? {
            Some(stat) => self.store_unrecorded(subject, &stat, clearing, batch),
            None => Ok(Cleared::Fine),
        }
    }

    fn store_unrecorded(
        &self,
        subject: &Subject<'_>,
        stat: &rustix::fs::Stat,
        clearing: Clearing,
        batch: &Batch<'_>,
    ) -> Result<Cleared> {
        let failed = |error| Error::io(format!("look again at `{}`", subject.step.change.path), error);
        let (directory, name) = subject.place;
        match (FileType::from_raw_mode(stat.st_mode), clearing) {
            (FileType::RegularFile, Clearing::RemoveAll) => {
                let file = self.disk().take_file_at(directory, name).map_err(failed)?;
                self.store_file(&file, stat, batch)
            }
            (FileType::RegularFile, _) => match open_file(directory, name) {
                Ok(file) => self.store_file(&file, stat, batch),
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(Cleared::Left),
                Err(error) => Err(failed(error)),
            },
            (FileType::Symlink, _) => {
                let text = rustix::fs::readlinkat(directory, name, Vec::new()).map_err(|error| failed(error.into()))?;
                Ok(Cleared::Stored(Node::Symlink { id: batch.put(ObjectKind::Blob, text.as_bytes())? }))
            }
            _ => Ok(Cleared::Left),
        }
    }

    /// Stores what an open file holds now.
    fn store_file(&self, file: &File, stat: &rustix::fs::Stat, batch: &Batch<'_>) -> Result<Cleared> {
        let mode = (stat.st_mode & 0o7777) as u16;
        for _ in 0..READINGS {
            if let Some(id) = store_content(file, batch)? {
                let access = access_of(file, mode).map_err(|error| Error::io("read a displaced file", error))?;
                return Ok(Cleared::Stored(Node::File { mode, id, access }));
            }
        }
        Ok(Cleared::Left)
    }

    /// Removes the staged files of a restore of which no path has changed, and its journal entry. Safe to repeat.
    pub(crate) fn discard(&self, root: &OwnedFd, journal: &Journal) -> Result<()> {
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
            self.remove_stage(journal)?;
            self.journals().remove(journal)
        };
        discard().map_err(|error| Error::io("clean up after a restore", error))
    }

    /// Removes the stage's directories, as far as they are empty.
    pub(crate) fn remove_stage(&self, journal: &Journal) -> io::Result<()> {
        let stage = self.stage_of(&journal.id).map_err(io::Error::other)?;
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
        Ok(())
    }
}

/// A file of the stage and what is known of it.
struct Subject<'a> {
    step: &'a Step,
    place: Place<'a>,
    /// What was handed out and is recorded.
    known: Vec<Node>,
    /// Its stamps when it was compared with the plan.
    looked: Option<Stat>,
}

impl Subject<'_> {
    /// Whether its content is in a snapshot: what the plan expected there, what it put there, or what was handed out.
    fn is_recorded(&self, stat: &rustix::fs::Stat, clearing: Clearing) -> io::Result<bool> {
        let current = stat_of(stat);
        let is_settled = current.modified.seconds < coarse_now().seconds - RECENT_SECONDS;
        // A mere look may miss what another look finds before anything goes.
        if (is_settled || clearing == Clearing::Look) && self.looked == Some(current) {
            return Ok(true);
        }
        let found = standing(self.place.0, self.place.1, stat)?;
        let Standing::Known(node) = found else { return Ok(false) };
        let change = &self.step.change;
        Ok([change.before, change.after].into_iter().flatten().chain(self.known.iter().copied()).any(|one| one == node))
    }
}

/// Stores a file's content; nothing when it became shorter meanwhile.
fn store_content(mut file: &File, batch: &Batch<'_>) -> Result<Option<ObjectId>> {
    let failed = |error| Error::io("read a displaced file", error);
    file.rewind().map_err(failed)?;
    let size = file.metadata().map_err(failed)?.len();
    if size > STREAM_LIMIT {
        return batch.put_stream(file.take(size), size);
    }
    let mut bytes = Vec::new();
    file.take(STREAM_LIMIT).read_to_end(&mut bytes).map_err(failed)?;
    batch.put(ObjectKind::Blob, &bytes).map(Some)
}
