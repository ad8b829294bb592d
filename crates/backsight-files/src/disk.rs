//! The few operations by which Backsight changes the disk, each a place where a test can stop the process.
//!
//! A stopped `Disk` fails this and every later operation, as a killed process would do nothing more; the write it
//! stops in leaves half of its bytes behind. A watched `Disk` asks before every operation, so that a test can let other
//! programs write there, or let one operation fail. Nothing outside this file writes, renames or removes anything.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, FallocateFlags, Mode, OFlags, RenameFlags, XattrFlags};
use rustix::io::Errno;

use crate::anchored::AnchoredPath;
use crate::cache::Stat;
use crate::observe::{open_file, stat_of};
use crate::platform;

/// Access to the disk for writing.
#[derive(Clone, Debug, Default)]
pub struct Disk {
    budget: Option<Arc<AtomicU64>>,
    watch: Option<Arc<Onlooker>>,
}

/// Is asked before every operation.
struct Onlooker {
    operations: AtomicU64,
    before: Box<dyn Fn(u64) -> io::Result<()> + Send + Sync>,
}

impl fmt::Debug for Onlooker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Onlooker").field("operations", &self.operations).finish_non_exhaustive()
    }
}

impl Disk {
    /// The disk as it is.
    pub fn new() -> Self {
        Disk::default()
    }

    /// A disk on which the process dies after `operations` operations.
    pub fn stopping_after(operations: u64) -> Self {
        Disk { budget: Some(Arc::new(AtomicU64::new(operations))), watch: None }
    }

    /// The same disk, which asks `before` ahead of every operation, with its number. An error is the operation's end.
    pub fn watched(self, before: impl Fn(u64) -> io::Result<()> + Send + Sync + 'static) -> Self {
        let watch = Onlooker { operations: AtomicU64::new(0), before: Box::new(before) };
        Disk { watch: Some(Arc::new(watch)), ..self }
    }

    /// How many operations are left before the stop; none when it never stops.
    pub fn remaining(&self) -> Option<u64> {
        self.budget.as_ref().map(|budget| budget.load(Ordering::SeqCst))
    }

    fn step(&self) -> io::Result<()> {
        if let Some(watch) = &self.watch {
            (watch.before)(watch.operations.fetch_add(1, Ordering::SeqCst))?;
        }
        let Some(budget) = &self.budget else { return Ok(()) };
        let spent = budget.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        spent.map(drop).map_err(|_| io::Error::other("stopped by the test"))
    }

    /// Creates `path`, which must not exist.
    pub(crate) fn create(&self, path: &AnchoredPath) -> io::Result<DiskFile> {
        self.step()?;
        Ok(DiskFile { file: path.create()?, disk: self.clone() })
    }

    /// Creates `name` in an open directory; it must not exist.
    pub(crate) fn create_at(&self, directory: BorrowedFd<'_>, name: &[u8]) -> io::Result<DiskFile> {
        self.step()?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(directory, name, flags, Mode::from_raw_mode(0o600))?;
        Ok(DiskFile { file: File::from(file), disk: self.clone() })
    }

    /// Changes an existing file in place.
    pub(crate) fn amend<T>(
        &self,
        path: &AnchoredPath,
        change: impl FnOnce(&mut File) -> io::Result<T>,
    ) -> io::Result<T> {
        self.step()?;
        change(&mut path.open_to_change()?)
    }

    /// Writes a whole file that readers see either as it was or as it becomes.
    pub(crate) fn replace(&self, path: &AnchoredPath, bytes: &[u8], durability: Durability) -> io::Result<()> {
        let temporary = path.with_extension("tmp");
        if temporary.exists() {
            self.remove_file(&temporary)?;
        }
        let mut file = self.create(&temporary)?;
        file.write_all(bytes)?;
        if durability == Durability::Synced {
            file.sync()?;
        }
        self.rename(&temporary, path)?;
        match durability {
            Durability::Synced => self.sync_directory(&path.parent()),
            Durability::Cache => Ok(()),
        }
    }

    pub(crate) fn rename(&self, from: &AnchoredPath, to: &AnchoredPath) -> io::Result<()> {
        self.step()?;
        from.rename(to)
    }

    pub(crate) fn remove_file(&self, path: &AnchoredPath) -> io::Result<()> {
        self.step()?;
        Ok(rustix::fs::unlinkat(path.parent_directory()?, path.file_name(), AtFlags::empty())?)
    }

    /// Makes `path` and what is missing above it, for the owner alone.
    pub(crate) fn create_private_directories(&self, path: &AnchoredPath) -> io::Result<()> {
        if path.is_directory() {
            return Ok(());
        }
        self.step()?;
        path.make_directories()
    }

    pub(crate) fn remove_directory(&self, path: &AnchoredPath) -> io::Result<()> {
        self.step()?;
        Ok(rustix::fs::unlinkat(path.parent_directory()?, path.file_name(), AtFlags::REMOVEDIR)?)
    }

    pub(crate) fn sync_directory(&self, path: &AnchoredPath) -> io::Result<()> {
        self.step()?;
        Ok(rustix::fs::fsync(path.directory()?)?)
    }

    pub(crate) fn sync_directory_at(&self, directory: &OwnedFd) -> io::Result<()> {
        self.step()?;
        Ok(rustix::fs::fsync(directory)?)
    }

    pub(crate) fn make_directory_at(&self, directory: BorrowedFd<'_>, name: &[u8], mode: u16) -> io::Result<()> {
        self.step()?;
        rustix::fs::mkdirat(directory, name, Mode::from_raw_mode(0o700))?;
        self.set_mode_at(directory, name, mode)
    }

    pub(crate) fn remove_directory_at(&self, directory: BorrowedFd<'_>, name: &[u8]) -> io::Result<()> {
        self.step()?;
        Ok(rustix::fs::unlinkat(directory, name, AtFlags::REMOVEDIR)?)
    }

    pub(crate) fn remove_file_at(&self, directory: BorrowedFd<'_>, name: &[u8]) -> io::Result<()> {
        self.step()?;
        Ok(rustix::fs::unlinkat(directory, name, AtFlags::empty())?)
    }

    /// Removes a file that still is as it was looked at. What a program that has it open wrote since is not lost: the
    /// file is left alone, or handed out open if it was written to in the very moment it went.
    pub(crate) fn remove_unmoved_at(
        &self,
        directory: BorrowedFd<'_>,
        name: &[u8],
        looked: &Stat,
    ) -> io::Result<Removal> {
        self.step()?;
        let file = match open_file(directory, name) {
            Ok(file) => file,
            // A symlink, which no program can write to.
            Err(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => {
                rustix::fs::unlinkat(directory, name, AtFlags::empty())?;
                return Ok(Removal::Gone);
            }
            Err(error) => return Err(error),
        };
        if stat_of(&rustix::fs::fstat(&file)?) != *looked {
            return Ok(Removal::Moved);
        }
        rustix::fs::unlinkat(directory, name, AtFlags::empty())?;
        let left = stat_of(&rustix::fs::fstat(&file)?);
        // Losing its name changed the third stamp.
        Ok(match (left.size, left.modified) == (looked.size, looked.modified) {
            true => Removal::Gone,
            false => Removal::Late(file),
        })
    }

    /// Removes a file whatever is written to it, and hands it out: what it holds now is all there will be.
    pub(crate) fn take_file_at(&self, directory: BorrowedFd<'_>, name: &[u8]) -> io::Result<File> {
        self.step()?;
        let file = open_file(directory, name)?;
        rustix::fs::unlinkat(directory, name, AtFlags::empty())?;
        Ok(file)
    }

    /// Makes a file that holds nothing and takes `bytes` of room.
    pub(crate) fn reserve(&self, path: &AnchoredPath, bytes: u64) -> io::Result<()> {
        let mut file = self.create(path)?;
        match rustix::fs::fallocate(&file.file, FallocateFlags::empty(), 0, bytes) {
            // Some file systems cannot: then it is written.
            Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => {
                file.write_all(&vec![0xa5; usize::try_from(bytes).map_err(io::Error::other)?])
            }
            other => Ok(other?),
        }
    }

    pub(crate) fn symlink_at(&self, target: &[u8], directory: BorrowedFd<'_>, name: &[u8]) -> io::Result<()> {
        self.step()?;
        Ok(rustix::fs::symlinkat(target, directory, name)?)
    }

    /// Sets the permission bits of something that is known not to be a symlink.
    pub(crate) fn set_mode_at(&self, directory: BorrowedFd<'_>, name: &[u8], mode: u16) -> io::Result<()> {
        self.step()?;
        Ok(rustix::fs::chmodat(directory, name, Mode::from_raw_mode(mode.into()), AtFlags::empty())?)
    }

    /// Opens a directory that was made here, to give it what belongs to it.
    pub(crate) fn open_directory_at(&self, directory: BorrowedFd<'_>, name: &[u8]) -> io::Result<DiskFile> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(directory, name, flags, Mode::empty())?;
        Ok(DiskFile { file: File::from(opened), disk: self.clone() })
    }

    /// Renames without replacing anything, or swaps two names in one step.
    pub(crate) fn rename_at(
        &self,
        from: (BorrowedFd<'_>, &[u8]),
        to: (BorrowedFd<'_>, &[u8]),
        how: Rename,
    ) -> io::Result<()> {
        self.step()?;
        match how {
            Rename::NoReplace => rustix::fs::renameat_with(from.0, from.1, to.0, to.1, RenameFlags::NOREPLACE)?,
            Rename::Exchange => platform::exchange(from, to)?,
        }
        Ok(())
    }
}

/// What a rename does about its destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rename {
    /// It must not exist.
    NoReplace,
    /// It must exist, and the two change places.
    Exchange,
}

/// What became of a file that was to go.
pub(crate) enum Removal {
    /// It went as it was looked at.
    Gone,
    /// It is another than the one looked at, and still there.
    Moved,
    /// It went, and was written to just before that.
    Late(File),
}

/// Whether a write must survive a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durability {
    /// Yes.
    Synced,
    /// No: the file can be made again.
    Cache,
}

/// A new file being written.
#[derive(Debug)]
pub(crate) struct DiskFile {
    file: File,
    disk: Disk,
}

impl DiskFile {
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.disk.step()?;
        self.file.sync_data()
    }

    pub(crate) fn set_mode(&self, mode: u16) -> io::Result<()> {
        self.disk.step()?;
        self.file.set_permissions(fs::Permissions::from_mode(mode.into()))
    }

    /// Gives the file another owner and group, or one of them.
    pub(crate) fn set_owner(&self, uid: Option<u32>, gid: Option<u32>) -> io::Result<()> {
        self.disk.step()?;
        let (uid, gid) = (uid.map(rustix::fs::Uid::from_raw), gid.map(rustix::fs::Gid::from_raw));
        Ok(rustix::fs::fchown(self.file.as_fd(), uid, gid)?)
    }

    /// Sets an extended attribute, or removes it.
    pub(crate) fn set_attribute(&self, name: &[u8], value: Option<&[u8]>) -> io::Result<()> {
        self.disk.step()?;
        match value {
            Some(value) => Ok(rustix::fs::fsetxattr(&self.file, name, value, XattrFlags::empty())?),
            None => Ok(rustix::fs::fremovexattr(&self.file, name)?),
        }
    }

    /// The file, to look at.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }
}

impl Write for DiskFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Err(stopped) = self.disk.step() {
            self.file.write_all(&bytes[..bytes.len() / 2])?;
            return Err(stopped);
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
