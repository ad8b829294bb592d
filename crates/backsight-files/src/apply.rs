//! Carries out a plan so that the workspace ends up exactly before or exactly after it, whenever the process dies, and
//! nothing that another program writes meanwhile is lost.
//!
//! 1. *Intent*: the plan is written to the journal, and room is kept for the row.
//! 2. *Stage* (`stage.rs`): new contents are written as files of their own, in `.backsight/stage` or, across a mount
//!    point, beside their target. No path of the user's has changed yet: a crash up to here is undone by removing the
//!    stage.
//! 3. *Commit point*: the journal entry is renamed. A crash from here on is finished by doing the rest.
//! 4. *Swap* (`swap.rs`): each path is exchanged with its staged file in one step, and what was displaced is checked
//!    against what the plan expected. Anything else means that another program edited the file just now: the journal
//!    entry is renamed again, to say that the way is back, and all is swapped back.
//! 5. The files are done, and so says the journal. The caller records the step. What was displaced is looked at again
//!    (`displaced.rs`): a program that still had it open may have written to it. That is stored, and the caller records
//!    it too; then the file is removed. `close` removes the journal entry.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use backsight_core::{Code, Error, NextStep, RelPath, Result, SnapshotId};
use serde_json::Value;

use crate::anchored::AnchoredPath;
use crate::cache::Stat;
use crate::compare::Change;
use crate::disk::Disk;
use crate::journal::{Journal, Journals, Phase, RestoreId, Step};
use crate::objects::ObjectStore;
use crate::observe::{Standing, observe};
use crate::platform::Mount;
use crate::root::Root;
use crate::scan::open_below;
use crate::seal::Seal;
use crate::swap::{Mode, Swapped, is_being_filled, order_of};
use crate::tree::Node;

/// A restore whose paths all stand where they shall, forward or back. What it displaced may still be written to: `clear`
/// it, record the step, then `close` it.
#[must_use = "the journal entry stays until `close` is called"]
pub struct Restoration {
    pub(crate) journal: Journal,
    /// Why everything was put back; nothing when everything is in its new place.
    pub given_up: Option<Error>,
    /// Paths that another program saved meanwhile, left as they are.
    pub kept: Vec<RelPath>,
    /// What a replaced file had and the new one could not be given, in words.
    pub unkept: Vec<String>,
    /// What can be neither stored nor put back, such as a directory that took a file's place for a moment: where it is.
    pub left: Vec<(RelPath, String)>,
    /// The stamps with which displaced files were compared with the plan, by step.
    pub(crate) looks: BTreeMap<usize, Stat>,
    /// What `clear` has stored and handed out, by place.
    pub(crate) handed_out: BTreeMap<Vec<u8>, Vec<Node>>,
}

impl Restoration {
    fn new(journal: Journal) -> Self {
        Restoration {
            journal,
            given_up: None,
            kept: Vec::new(),
            unkept: Vec::new(),
            left: Vec::new(),
            looks: BTreeMap::new(),
            handed_out: BTreeMap::new(),
        }
    }

    /// What the caller handed to `apply`.
    pub fn note(&self) -> &Value {
        &self.journal.note
    }
}

/// Where plans are applied.
pub(crate) struct Applier<'a> {
    pub(crate) root: &'a Root,
    pub(crate) journal_directory: &'a AnchoredPath,
    pub(crate) seal: &'a Seal,
    pub(crate) store: &'a ObjectStore,
    pub(crate) progress: &'a dyn Fn(u64, u64),
}

impl Applier<'_> {
    /// Applies `changes`, keeping `room` bytes for what the caller writes afterwards. On error nothing has changed, or the
    /// message says what remains.
    pub(crate) fn apply(&self, id: &SnapshotId, changes: &[Change], note: Value, room: u64) -> Result<Restoration> {
        let root = self.root.open()?;
        let id = RestoreId::try_from(id.as_str().to_owned()).map_err(|problem| Error::new(Code::Io, problem))?;
        let steps = self.place_stages(&id, changes);
        let mut journal = Journal { id, steps, note };
        self.journals().write_intent(&journal)?;
        let staged = self.stage(&root, &mut journal, room).and_then(|unkept| {
            self.journals().advance(&journal, Phase::Intent, Phase::Commit)?;
            Ok(unkept)
        });
        let unkept = match staged {
            Ok(unkept) => unkept,
            Err(error) => return Err(self.withdraw_intent(&root, &journal, error)),
        };
        let mut restoration = Restoration { unkept, ..Restoration::new(journal) };
        let swapped = self
            .swap_all(&root, &mut restoration, Mode::Fresh)
            .and_then(|()| self.journals().advance(&restoration.journal, Phase::Commit, Phase::Done));
        match swapped {
            Ok(()) => Ok(restoration),
            Err(error) => self.roll_back(&root, restoration, error),
        }
    }

    /// Forgets a restore of which no path has changed, because of `error`.
    fn withdraw_intent(&self, root: &OwnedFd, journal: &Journal, error: Error) -> Error {
        // The entry may say already that the way is forward.
        if let Err(failure) = self.journals().turn(journal, Phase::Intent) {
            return Error::new(failure.code(), format!("{} after: {error}", failure.message()))
                .with_hint("solve this; whatever opens the workspace next finishes the restore from its journal");
        }
        // What cannot be removed now is removed by the next command, for the entry says that all of it is ours.
        drop(self.discard(root, journal));
        error
    }

    /// Finishes or undoes what a killed process left. Every answer still needs `clear` and `close`. An entry that cannot be
    /// read, or whose note `check` refuses, is an error before anything is touched.
    pub(crate) fn recover(&self, check: &dyn Fn(&Value) -> Result<()>) -> Result<Vec<Restoration>> {
        self.journals().remove_torn()?;
        let mut finished = Vec::new();
        for (path, phase) in self.journals().entries()? {
            let root = self.root.open()?;
            let journal = self.journals().read(&path)?;
            check(&journal.note)?;
            self.check_mounted(&journal)?;
            let mut restoration = Restoration::new(journal);
            match phase {
                Phase::Intent => {
                    self.discard(&root, &restoration.journal)?;
                    continue;
                }
                Phase::Done => {}
                Phase::Commit => self.recover_forward(&root, &mut restoration)?,
                Phase::Back => {
                    self.put_back(&root, &restoration.journal).map_err(|error| {
                        error.with_hint("solve this; whatever opens the workspace next puts the rest back")
                    })?;
                    restoration.given_up = Some(Error::new(Code::Raced, "an interrupted restore was taken back"));
                }
            }
            finished.push(restoration);
        }
        Ok(finished)
    }

    /// Refuses to go on where a file system that staged files are on is not mounted any more: its files would be taken for
    /// removed, and what is staged there would stay. One whose directory is gone too is gone for good.
    fn check_mounted(&self, journal: &Journal) -> Result<()> {
        let own = Mount::of(self.root.path());
        for step in journal.steps.iter().filter(|step| step.stage.is_beside(&journal.id)) {
            let place = self.root.path().join(OsStr::from_bytes(&step.stage.directory));
            if place.is_dir() && Mount::of(&place) == own {
                let shown = backsight_core::quote(&step.stage.directory);
                let message = format!("`{shown}` is not mounted, and an interrupted restore has files there");
                let hint = "mount it again, and whatever opens the workspace next finishes the restore; where it is gone for \
                            good, remove its empty directory";
                return Err(Error::new(Code::Io, message).with_hint(hint));
            }
        }
        Ok(())
    }

    fn recover_forward(&self, root: &OwnedFd, restoration: &mut Restoration) -> Result<()> {
        let stage = self.stage_of(&restoration.journal.id)?;
        let made = self.disk().create_private_directories(&stage);
        made.map_err(|error| Error::io(format!("create `{}`", stage.display()), error))?;
        self.swap_all(root, restoration, Mode::Recovery).map_err(|error| {
            let hint =
                "an interrupted restore is not wholly in place yet: solve this; whatever opens the workspace next goes on with it";
            Error::new(error.code(), error.message().to_owned()).with_hint(hint)
        })?;
        self.journals().advance(&restoration.journal, Phase::Commit, Phase::Done)
    }

    /// Whether a killed process left something to recover.
    pub(crate) fn is_pending(&self) -> Result<bool> {
        Ok(!self.journals().entries()?.is_empty() || !self.journals().torn()?.is_empty())
    }

    /// The notes of restores that are not closed yet; those that cannot be read are left out.
    pub(crate) fn pending_notes(&self) -> Result<Vec<Value>> {
        let entries = self.journals().entries()?;
        Ok(entries.into_iter().filter_map(|(path, _)| Some(self.journals().read(&path).ok()?.note)).collect())
    }

    pub(crate) fn release_room(&self, restoration: &Restoration) -> Result<()> {
        let released = self.journals().release(&restoration.journal);
        released.map_err(|error| Error::io("record the step", error))
    }

    /// Forgets a restore whose displaced files are cleared and whose step is recorded.
    pub(crate) fn close(&self, restoration: &Restoration) -> Result<()> {
        let journal = &restoration.journal;
        // Without its stage an entry that says back could not be told from one of which nothing is back yet.
        if self.journals().is_at(journal, Phase::Back) {
            self.journals().turn(journal, Phase::Intent)?;
        }
        let closed = self.remove_stage(journal).and_then(|()| self.journals().remove(journal));
        closed.map_err(|error| Error::io("clean up after a restore", error))
    }

    pub(crate) fn journals(&self) -> Journals<'_> {
        Journals { directory: self.journal_directory, disk: self.disk(), seal: self.seal }
    }

    pub(crate) fn disk(&self) -> &Disk {
        self.store.disk()
    }

    /// Puts everything back. From here on a crash is finished backward too.
    fn roll_back(&self, root: &OwnedFd, mut restoration: Restoration, error: Error) -> Result<Restoration> {
        let turned = self.journals().turn(&restoration.journal, Phase::Back);
        self.put_back(root, &restoration.journal).map_err(|failure| {
            let rest = match &turned {
                Ok(()) => "puts the rest back",
                Err(_) => "finishes the restore from its journal",
            };
            Error::new(failure.code(), format!("{} after: {error}", failure.message()))
                .with_hint(format!("solve this; whatever opens the workspace next {rest}"))
        })?;
        // All is back. Without this a crash in the middle of clearing up would look like work to finish.
        turned.or_else(|_| self.journals().turn(&restoration.journal, Phase::Back))?;
        restoration.given_up = Some(error);
        restoration.looks.clear();
        restoration.unkept.clear();
        Ok(restoration)
    }

    /// Swaps every path back that was swapped, in the opposite order, and makes that durable. One that cannot be put back
    /// keeps no other from it.
    fn put_back(&self, root: &OwnedFd, journal: &Journal) -> Result<()> {
        let is_lost = !self.stage_of(&journal.id)?.is_directory();
        let mut failed = None;
        for index in order_of(&journal.steps).into_iter().rev() {
            let step = &journal.steps[index];
            if let Err(error) = self.swap_back(root, step, is_lost) {
                failed.get_or_insert(Error::io(format!("put `{}` back", step.change.path), error));
            }
        }
        match failed {
            Some(error) => Err(error),
            None => self.sync_parents(root, journal).map_err(|error| Error::io("put files back", error)),
        }
    }

    /// Swaps everything into place, in an order in which every step is possible.
    fn swap_all(&self, root: &OwnedFd, restoration: &mut Restoration, mode: Mode) -> Result<()> {
        let Restoration { journal, kept, looks, unkept, .. } = restoration;
        let order = order_of(&journal.steps);
        let total = order.len() as u64;
        for (count, index) in order.into_iter().enumerate() {
            let step = &journal.steps[index];
            let swapped = self.swap(root, step, mode);
            match swapped.map_err(|error| not_placed(&step.change.path, error))? {
                Swapped::Done(looked) => looks.extend(looked.map(|stat| (index, stat))),
                Swapped::Already => {}
                Swapped::Edited if mode == Mode::Recovery => kept.push(step.change.path.clone()),
                Swapped::Edited => {
                    let message =
                        format!("`{}` changed while it was being restored; nothing was changed", step.change.path);
                    let details = serde_json::json!({ "path": step.change.path });
                    return Err(Error::new(Code::Raced, message).with_hint("try again").with_details(details));
                }
            }
            (self.progress)(total + count as u64, 2 * total);
        }
        let lost = self.settle(root, journal).map_err(|error| Error::io("finish the restore", error))?;
        unkept.extend(lost);
        Ok(())
    }

    /// Gives directories their permissions, innermost first, and makes the renames durable. Answers with what could not be
    /// given.
    fn settle(&self, root: &OwnedFd, journal: &Journal) -> io::Result<Vec<String>> {
        let mut unkept = Vec::new();
        for Step { change, .. } in journal.steps.iter().rev() {
            let Some(Node::Directory { mode, access }) = change.after else { continue };
            let Ok(parent) = open_below(root, change.path.parent()) else { continue };
            let path = (parent.as_fd(), change.path.name());
            let standing = observe(path.0, path.1)?;
            let is_new = !change.before.is_some_and(|node| node.is_directory());
            if is_new && is_being_filled(&standing) {
                let lost = self.give_directory(path, mode, access)?;
                unkept.extend(lost.into_iter().map(|what| format!("`{}` could not keep {what}", change.path)));
            } else if matches!(standing, Standing::Known(Node::Directory { mode: current, .. }) if current != mode) {
                self.disk().set_mode_at(path.0, path.1, mode)?;
            }
        }
        self.sync_parents(root, journal)?;
        Ok(unkept)
    }

    fn sync_parents(&self, root: &OwnedFd, journal: &Journal) -> io::Result<()> {
        let parents: BTreeSet<&[u8]> = journal.steps.iter().map(|step| step.change.path.parent()).collect();
        for parent in parents {
            if let Ok(directory) = open_below(root, parent) {
                self.disk().sync_directory_at(&directory)?;
            }
        }
        Ok(())
    }
}

fn not_placed(path: &RelPath, error: io::Error) -> Error {
    let is_mount = matches!(error.kind(), io::ErrorKind::ResourceBusy | io::ErrorKind::CrossesDevices);
    let problem = Error::io(format!("put `{path}` in place"), error);
    match is_mount {
        true => problem
            .then("something is mounted there: leave it as it is", NextStep::WithSkip)
            .or_hint("unmount it first")
            .with_details(serde_json::json!({ "mounted": path })),
        false => problem,
    }
}
