//! One path of a restore: how it gets into its new state, and back. Every way is by renames, looks at what came out of
//! it, and can be taken from whatever a killed process left.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;

use crate::access::Access;
use crate::apply::Applier;
use crate::cache::Stat;
use crate::compare::Change;
use crate::disk::{Disk, Rename};
use crate::former::Former;
use crate::journal::{Stage, Step};
use crate::observe::{Standing, observe, stamp, standing, stat_of};
use crate::scan::open_below;
use crate::tree::Node;

/// A name in an open directory.
pub(crate) type Place<'a> = (BorrowedFd<'a>, &'a [u8]);

/// The permissions of a directory while it is being filled.
const FILLING: u16 = 0o700;

/// Whether the swap runs for the first time or finishes an interrupted one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Fresh,
    Recovery,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Swapped {
    /// With the stamps of what was displaced, from before it was compared with the plan.
    Done(Option<Stat>),
    /// The path is in its new state already.
    Already,
    /// Another program changed the path.
    Edited,
}

impl Applier<'_> {
    pub(crate) fn swap(&self, root: &OwnedFd, step: &Step, mode: Mode) -> io::Result<Swapped> {
        let change = &step.change;
        let parent = match open_below(root, change.path.parent()) {
            Ok(parent) => parent,
            Err(Errno::NOENT) if change.after.is_none() => return Ok(Swapped::Already),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(Swapped::Edited),
            Err(error) => return Err(error.into()),
        };
        let path = (parent.as_fd(), change.path.name());
        let action = action_of(change);
        if mode == Mode::Recovery && action != Action::SwapDirectoryMode {
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
        match action {
            Action::RemoveFile => self.displace(root, step, path),
            Action::RemoveDirectory => remove_directory(self.disk(), path, change),
            Action::MakeDirectory => make_directory(self.disk(), path),
            Action::SwapDirectoryMode => self.close_directory(change, path),
            Action::Create => self.place_new(root, step, path),
            Action::Replace => self.exchange(root, step, path),
            Action::Chmod => self.chmod(change, path),
            // A file makes way for a directory, or the other way round: both halves or none.
            Action::FileToDirectory => match self.displace(root, step, path)? {
                Swapped::Done(_) => {
                    both(make_directory(self.disk(), path), || self.replace_displaced(root, step, path))
                }
                other => Ok(other),
            },
            Action::DirectoryToFile => match remove_directory(self.disk(), path, change)? {
                Swapped::Done(_) => both(self.place_new(root, step, path), || self.remake_directory(change, path)),
                other => Ok(other),
            },
        }
    }

    fn replace_displaced(&self, root: &OwnedFd, step: &Step, path: Place<'_>) -> io::Result<()> {
        let stage = open_below(root, &step.stage.directory)?;
        self.disk().rename_at((stage.as_fd(), &displaced_name(step)), path, Rename::NoReplace)
    }

    /// Whether the process died with another program's edit in the stage, before it could be swapped back. Then it is now,
    /// unless a newer one stands at the path: that stays, and the one in the stage is stored when the stage is cleared.
    fn give_back(&self, root: &OwnedFd, step: &Step, path: Place<'_>) -> io::Result<bool> {
        let Some(stage) = open_stage(root, &step.stage)? else { return Ok(false) };
        for name in [step.stage.name.clone().into_bytes(), displaced_name(step)] {
            let staged = (stage.as_fd(), name.as_slice());
            let found = observe(staged.0, staged.1)?;
            if found.is(None) || found.is(step.change.before.as_ref()) || found.is(step.change.after.as_ref()) {
                continue;
            }
            return match observe(path.0, path.1)? {
                Standing::Nothing => leave_newer(self.disk().rename_at(staged, path, Rename::NoReplace)).map(|()| true),
                // A directory that other paths of the restore are in by now.
                Standing::Known(Node::Directory { .. }) => Ok(false),
                standing if is_done(&standing, &step.change) => self.exchange_checked(step, staged, path),
                _ => Ok(true),
            };
        }
        Ok(false)
    }

    /// Swaps our own file at the path with what is in the stage. False where the file system cannot exchange: then it
    /// stays there. What was saved at the path in that moment is put back.
    fn exchange_checked(&self, step: &Step, staged: Place<'_>, path: Place<'_>) -> io::Result<bool> {
        match self.disk().rename_at(staged, path, Rename::Exchange) {
            Err(error) if error.raw_os_error() == Some(Errno::INVAL.raw_os_error()) => return Ok(false),
            other => other?,
        }
        if !is_done(&observe(staged.0, staged.1)?, &step.change) {
            self.disk().rename_at(staged, path, Rename::Exchange)?;
        }
        Ok(true)
    }

    /// Whether the stage holds what stood at the path before.
    fn is_displaced(&self, root: &OwnedFd, step: &Step) -> io::Result<bool> {
        let Some(before) = &step.change.before else { return Ok(false) };
        if before.is_directory() {
            return Ok(matches!(action_of(&step.change), Action::DirectoryToFile));
        }
        match open_stage(root, &step.stage)? {
            Some(stage) => Ok(observe(stage.as_fd(), &displaced_name(step))?.is(Some(before))),
            None => Ok(false),
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
        self.restage(root, step)?;
        let directory = open_below(root, &step.stage.directory)?;
        let (from, to) = (unfinished_name(step), step.stage.name.as_bytes());
        self.disk().rename_at((directory.as_fd(), &from), (directory.as_fd(), to), Rename::NoReplace)
    }

    /// Stages the step's new content under its unfinished name: half a file under the other would look like an edit.
    fn restage(&self, root: &OwnedFd, step: &Step) -> io::Result<()> {
        let unfinished = String::from_utf8(unfinished_name(step)).map_err(io::Error::other)?;
        let stage = Stage { name: unfinished, ..step.stage.clone() };
        self.stage_step(root, &Step { change: step.change.clone(), stage }).map(drop).map_err(io::Error::other)
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
        match compared(aside, step.change.before.as_ref())? {
            Some(looked) => Ok(Swapped::Done(looked)),
            None => self.disk().rename_at(aside, path, Rename::NoReplace).map(|()| Swapped::Edited),
        }
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
            other => other.map(|()| Swapped::Done(None)),
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
                    Swapped::Done(_) => {
                        both(self.place_new(root, step, path), || self.replace_displaced(root, step, path))
                    }
                    other => Ok(other),
                };
            }
            Err(error) => return Err(error),
        }
        match compared(staged, step.change.before.as_ref())? {
            Some(looked) => Ok(Swapped::Done(looked)),
            None => self.disk().rename_at(staged, path, Rename::Exchange).map(|()| Swapped::Edited),
        }
    }

    fn chmod(&self, change: &Change, path: Place<'_>) -> io::Result<Swapped> {
        let (true, Some(Node::File { mode, .. })) = (observe(path.0, path.1)?.is(change.before.as_ref()), change.after)
        else {
            return Ok(Swapped::Edited);
        };
        self.disk().set_mode_at(path.0, path.1, mode)?;
        Ok(Swapped::Done(None))
    }

    /// Takes from a directory what others than its owner shall not have any more, before anything is put into it. What else
    /// changes of its permissions comes last, in `settle`.
    fn close_directory(&self, change: &Change, path: Place<'_>) -> io::Result<Swapped> {
        let Standing::Known(Node::Directory { mode, .. }) = observe(path.0, path.1)? else {
            return Ok(Swapped::Edited);
        };
        match (change.before.and_then(mode_of), closed_mode(change)) {
            (Some(before), Some(closed)) if mode == before && mode != closed => {
                self.disk().set_mode_at(path.0, path.1, closed)?;
                Ok(Swapped::Done(None))
            }
            _ => Ok(Swapped::Already),
        }
    }

    /// The inverse of `swap`, for a step that was done, wholly or by half; one that was not stays as it is. So does what
    /// another program saved at the path in the meantime. The displaced file goes back whatever was written to it: it is
    /// the user's own.
    /// With its stage `is_lost` the file comes from the store.
    pub(crate) fn swap_back(&self, root: &OwnedFd, step: &Step, is_lost: bool) -> io::Result<()> {
        let change = &step.change;
        let parent = match open_below(root, change.path.parent()) {
            Ok(parent) => parent,
            // Another program took the directory away; what was displaced is stored when the stage is cleared.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let path = (parent.as_fd(), change.path.name());
        let action = action_of(change);
        match action {
            Action::SwapDirectoryMode | Action::Chmod => return self.take_mode_back(change, path),
            Action::MakeDirectory => return ignore_in_use(self.disk().remove_directory_at(path.0, path.1)),
            Action::RemoveDirectory => return self.remake_directory(change, path),
            _ => {}
        }
        if is_lost && step.stage.is_own() {
            self.remake_stage(root, step)?;
        }
        let Some(stage) = open_stage(root, &step.stage)? else { return Ok(()) };
        match action {
            Action::Create => self.withdraw(step, &stage, path),
            Action::DirectoryToFile => {
                self.withdraw(step, &stage, path)?;
                self.remake_directory(change, path)
            }
            Action::FileToDirectory => {
                ignore_in_use(self.disk().remove_directory_at(path.0, path.1))?;
                self.return_displaced(step, &stage, path)
            }
            Action::Replace => self.exchange_back(step, &stage, path),
            _ => self.return_displaced(step, &stage, path),
        }
    }

    fn exchange_back(&self, step: &Step, stage: &OwnedFd, path: Place<'_>) -> io::Result<()> {
        if stamp(stage.as_fd(), &displaced_name(step))?.is_some() {
            return self.rename_back(step, stage, path);
        }
        let staged = (stage.as_fd(), step.stage.name.as_bytes());
        let displaced = observe(staged.0, staged.1)?;
        if displaced.is(None) || displaced.is(step.change.after.as_ref()) {
            return Ok(());
        }
        match observe(path.0, path.1)? {
            Standing::Nothing => leave_newer(self.disk().rename_at(staged, path, Rename::NoReplace)),
            standing if is_done(&standing, &step.change) => {
                if self.exchange_checked(step, staged, path)? {
                    return Ok(());
                }
                // From here on it is a file that was displaced by a rename, also for a process that goes on after this one.
                self.disk().rename_at(staged, (stage.as_fd(), &displaced_name(step)), Rename::NoReplace)?;
                self.rename_back(step, stage, path)
            }
            _ => Ok(()),
        }
    }

    /// The way back where the file system cannot exchange.
    fn rename_back(&self, step: &Step, stage: &OwnedFd, path: Place<'_>) -> io::Result<()> {
        self.withdraw(step, stage, path)?;
        self.return_displaced(step, stage, path)
    }

    /// Takes our new file away from the path again, if it was put there and is as we made it.
    fn withdraw(&self, step: &Step, stage: &OwnedFd, path: Place<'_>) -> io::Result<()> {
        let staged = (stage.as_fd(), step.stage.name.as_bytes());
        if stamp(staged.0, staged.1)?.is_some() || !is_done(&observe(path.0, path.1)?, &step.change) {
            return Ok(());
        }
        self.disk().rename_at(path, staged, Rename::NoReplace)?;
        if is_done(&observe(staged.0, staged.1)?, &step.change) {
            return Ok(());
        }
        // Saved in this very moment.
        leave_newer(self.disk().rename_at(staged, path, Rename::NoReplace))
    }

    fn return_displaced(&self, step: &Step, stage: &OwnedFd, path: Place<'_>) -> io::Result<()> {
        match leave_newer(self.disk().rename_at((stage.as_fd(), &displaced_name(step)), path, Rename::NoReplace)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }

    /// Makes the stage of a step anew, with what stood at the path before.
    fn remake_stage(&self, root: &OwnedFd, step: &Step) -> io::Result<()> {
        self.make_stage(&step.stage)?;
        match step.change.before.filter(|node| !node.is_directory()) {
            Some(before) => {
                let change = Change { path: step.change.path.clone(), before: None, after: Some(before) };
                self.restage_if_lost(root, &Step { change, stage: step.stage.clone() })
            }
            None => Ok(()),
        }
    }

    /// Puts an emptied directory back, unless something else stands there by now.
    fn remake_directory(&self, change: &Change, path: Place<'_>) -> io::Result<()> {
        let Some(Node::Directory { mode, access }) = change.before else { return Ok(()) };
        let is_ours = match make_directory(self.disk(), path)? {
            Swapped::Edited => false,
            Swapped::Done(_) => true,
            // Perhaps by a process that died before it gave it its permissions.
            Swapped::Already => is_being_filled(&observe(path.0, path.1)?),
        };
        if is_ours { self.give_directory(path, mode, access).map(drop) } else { Ok(()) }
    }

    /// Gives a directory that was made here its permissions and whom they are for. Answers with what it could not get.
    pub(crate) fn give_directory(&self, path: Place<'_>, mode: u16, access: Access) -> io::Result<Vec<String>> {
        let directory = self.disk().open_directory_at(path.0, path.1)?;
        let given = Former::gone(access).give_to(&directory, mode)?;
        directory.set_mode(given.mode)?;
        Ok(given.unkept)
    }

    /// Gives something its earlier permissions, if it still has those that we gave it.
    fn take_mode_back(&self, change: &Change, path: Place<'_>) -> io::Result<()> {
        let (Some(before), Some(after)) = (change.before.and_then(mode_of), change.after.and_then(mode_of)) else {
            return Ok(());
        };
        let Some(found) = stamp(path.0, path.1)? else { return Ok(()) };
        let is_link = rustix::fs::FileType::from_raw_mode(found.st_mode) == rustix::fs::FileType::Symlink;
        let mode = (found.st_mode & 0o7777) as u16;
        let is_ours = mode == after || Some(mode) == closed_mode(change);
        if is_link || !is_ours {
            return Ok(());
        }
        self.disk().set_mode_at(path.0, path.1, before)
    }
}

/// What a change asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
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
    pub(crate) fn needs_staging(self) -> bool {
        matches!(self, Action::Create | Action::Replace | Action::DirectoryToFile)
    }
}

pub(crate) fn action_of(change: &Change) -> Action {
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
pub(crate) fn order_of(steps: &[Step]) -> Vec<usize> {
    let goes = |step: &&Step| {
        matches!(action_of(&step.change), Action::RemoveFile | Action::RemoveDirectory | Action::DirectoryToFile)
    };
    let mut order: Vec<usize> = (0..steps.len()).rev().filter(|&index| goes(&&steps[index])).collect();
    order.extend((0..steps.len()).filter(|&index| !goes(&&steps[index])));
    order
}

pub(crate) fn displaced_name(step: &Step) -> Vec<u8> {
    // Exchanged files take the staged name; displaced ones need another, since both may exist for a moment.
    match action_of(&step.change) {
        Action::RemoveFile | Action::FileToDirectory => step.stage.name.clone().into_bytes(),
        _ => format!("{}-old", step.stage.name).into_bytes(),
    }
}

pub(crate) fn unfinished_name(step: &Step) -> Vec<u8> {
    format!("{}-new", step.stage.name).into_bytes()
}

/// The directory of a staged file, unless it is gone.
pub(crate) fn open_stage(root: &OwnedFd, stage: &Stage) -> io::Result<Option<OwnedFd>> {
    match open_below(root, &stage.directory) {
        Ok(directory) => Ok(Some(directory)),
        // Something else is where the stage was: nothing of ours is there any more.
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn mode_of(node: Node) -> Option<u16> {
    match node {
        Node::File { mode, .. } | Node::Directory { mode, .. } => Some(mode),
        Node::Symlink { .. } => None,
    }
}

/// The permissions of a directory that stays one, while things are put into it: of others it lets none in that are kept out
/// afterwards.
fn closed_mode(change: &Change) -> Option<u16> {
    let (Some(Node::Directory { mode: before, .. }), Some(Node::Directory { mode: after, .. })) =
        (change.before, change.after)
    else {
        return None;
    };
    Some(before & (after | FILLING))
}

/// Compares what was displaced with the plan: the stamps it had before that, or nothing when it is something else.
fn compared(aside: Place<'_>, expected: Option<&Node>) -> io::Result<Option<Option<Stat>>> {
    let Some(stat) = stamp(aside.0, aside.1)? else { return Ok(expected.is_none().then_some(None)) };
    Ok(standing(aside.0, aside.1, &stat)?.is(expected).then(|| Some(stat_of(&stat))))
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

/// Whether it is a directory of ours that has not got its permissions yet.
pub(crate) fn is_being_filled(standing: &Standing) -> bool {
    matches!(standing, Standing::Known(Node::Directory { mode: FILLING, .. }))
}

/// The second half of a step; when it fails, `undo_first` takes the first half back.
fn both(second: io::Result<Swapped>, undo_first: impl FnOnce() -> io::Result<()>) -> io::Result<Swapped> {
    match second {
        Ok(Swapped::Done(_) | Swapped::Already) => Ok(Swapped::Done(None)),
        other => undo_first().and(other),
    }
}

/// A directory being filled must be writable; `settle` gives it its own permissions.
fn make_directory(disk: &Disk, path: Place<'_>) -> io::Result<Swapped> {
    match disk.make_directory_at(path.0, path.1, FILLING) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => match observe(path.0, path.1)? {
            Standing::Known(Node::Directory { .. }) => Ok(Swapped::Already),
            _ => Ok(Swapped::Edited),
        },
        other => other.map(|()| Swapped::Done(None)),
    }
}

fn remove_directory(disk: &Disk, path: Place<'_>, change: &Change) -> io::Result<Swapped> {
    match disk.remove_directory_at(path.0, path.1) {
        Ok(()) => Ok(Swapped::Done(None)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Ok(if change.after.is_none() { Swapped::Already } else { Swapped::Done(None) })
        }
        // Something was put into it since the capture: that is another's work.
        Err(error) if matches!(error.kind(), io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::NotADirectory) => {
            Ok(Swapped::Edited)
        }
        Err(error) => Err(error),
    }
}

/// Another program saved the path anew meanwhile: that stays.
fn leave_newer(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}

/// A directory of ours that another program uses by now, or that is none any more, stays.
fn ignore_in_use(result: io::Result<()>) -> io::Result<()> {
    let in_use = |kind| {
        matches!(kind, io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
    };
    match result {
        Err(error) if in_use(error.kind()) => Ok(()),
        other => other,
    }
}
