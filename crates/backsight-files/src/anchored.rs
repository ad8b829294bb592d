//! A place below a directory that is held open. Every part of the way is opened by descriptor and through no symlink, so
//! that neither a link that came with a clone nor a directory that is exchanged meanwhile can lead anywhere else.

use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Access, AtFlags, Dir, FileType, Mode, OFlags, RenameFlags, Stat, StatVfsMountFlags};
use rustix::io::Errno;

/// A path below an open directory.
#[derive(Clone)]
pub struct AnchoredPath {
    anchor: Arc<Anchor>,
    /// Below the anchor; empty for the anchor itself.
    relative: PathBuf,
}

struct Anchor {
    directory: OwnedFd,
    path: PathBuf,
}

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC).union(OFlags::NONBLOCK);

impl AnchoredPath {
    /// Opens the directory `path`, which is the caller's word for it: links above its last part are followed.
    pub fn open_directory(path: &Path) -> io::Result<AnchoredPath> {
        let directory = rustix::fs::open(path, DIRECTORY, Mode::empty())?;
        Ok(AnchoredPath { anchor: Arc::new(Anchor { directory, path: path.to_owned() }), relative: PathBuf::new() })
    }

    /// `path`, with its parent directory as the caller's word for it.
    pub(crate) fn beside(path: &Path) -> io::Result<AnchoredPath> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        };
        let flags = DIRECTORY.difference(OFlags::NOFOLLOW);
        let directory = rustix::fs::open(parent, flags, Mode::empty())?;
        let anchor = Anchor { directory, path: parent.to_owned() };
        Ok(AnchoredPath { anchor: Arc::new(anchor), relative: PathBuf::from(name) })
    }

    /// This directory, opened and held in turn.
    pub fn anchored(&self) -> io::Result<AnchoredPath> {
        let directory = self.directory()?.into_owned()?;
        Ok(AnchoredPath { anchor: Arc::new(Anchor { directory, path: self.path() }), relative: PathBuf::new() })
    }

    /// A place below this one.
    pub fn join(&self, below: impl AsRef<Path>) -> AnchoredPath {
        AnchoredPath { anchor: self.anchor.clone(), relative: self.relative.join(below) }
    }

    /// The same place with another extension.
    pub(crate) fn with_extension(&self, extension: impl AsRef<OsStr>) -> AnchoredPath {
        AnchoredPath { anchor: self.anchor.clone(), relative: self.relative.with_extension(extension) }
    }

    /// The directory it lies in; the anchor lies in itself.
    pub(crate) fn parent(&self) -> AnchoredPath {
        let relative = self.relative.parent().unwrap_or(Path::new("")).to_owned();
        AnchoredPath { anchor: self.anchor.clone(), relative }
    }

    /// Its place below the anchor.
    pub(crate) fn relative(&self) -> &Path {
        &self.relative
    }

    /// Its last part; empty for the anchor.
    pub fn file_name(&self) -> &OsStr {
        self.relative.file_name().unwrap_or_default()
    }

    pub(crate) fn has_extension(&self, extension: &str) -> bool {
        self.relative.extension().is_some_and(|found| found == extension)
    }

    /// As a path for people and for those who can only be given one.
    pub fn path(&self) -> PathBuf {
        match self.relative.as_os_str().is_empty() {
            true => self.anchor.path.clone(),
            false => self.anchor.path.join(&self.relative),
        }
    }

    /// As a text for people.
    pub fn display(&self) -> String {
        self.path().display().to_string()
    }

    /// What stands here, itself and not what a link points to.
    pub fn stat(&self) -> io::Result<Stat> {
        if self.relative.as_os_str().is_empty() {
            return Ok(rustix::fs::fstat(&self.anchor.directory)?);
        }
        let parent = self.parent_directory()?;
        Ok(rustix::fs::statat(parent.as_fd(), self.file_name(), AtFlags::SYMLINK_NOFOLLOW)?)
    }

    /// The same; nothing when nothing stands here.
    pub fn look(&self) -> io::Result<Option<Stat>> {
        match self.stat() {
            Ok(stat) => Ok(Some(stat)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn exists(&self) -> bool {
        self.stat().is_ok()
    }

    pub(crate) fn is_file(&self) -> bool {
        self.stat().is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile)
    }

    pub(crate) fn is_directory(&self) -> bool {
        self.stat().is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory)
    }

    /// Whether nothing can be made in this directory: it is on a read-only file system, or its permissions say so.
    pub fn is_read_only(&self) -> io::Result<bool> {
        let access = Access::WRITE_OK | Access::EXEC_OK;
        match rustix::fs::accessat(self.directory()?, ".", access, AtFlags::EACCESS) {
            Ok(()) => Ok(false),
            Err(Errno::ROFS | Errno::ACCESS | Errno::PERM) => Ok(true),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether the file system it is on is mounted read-only, which whoever made the directory cannot arrange.
    pub fn is_on_read_only_mount(&self) -> io::Result<bool> {
        let mount = rustix::fs::fstatvfs(self.directory()?)?;
        Ok(mount.f_flag.contains(StatVfsMountFlags::RDONLY))
    }

    /// How many bytes it has; none when it is not there.
    pub(crate) fn size(&self) -> u64 {
        self.stat().map_or(0, |stat| u64::try_from(stat.st_size).unwrap_or(0))
    }

    /// Opens it for reading. Only a regular file is opened: a FIFO would be waited for, a device never ends.
    pub fn open(&self) -> io::Result<File> {
        Ok(self.open_with(OFlags::RDONLY, Mode::empty())?.0)
    }

    /// Opens it for reading and writing.
    pub(crate) fn open_to_change(&self) -> io::Result<File> {
        Ok(self.open_with(OFlags::RDWR, Mode::empty())?.0)
    }

    /// Opens it for reading and writing, making it for the owner alone if it is missing. It keeps its content.
    pub fn open_or_create(&self) -> io::Result<File> {
        Ok(self.open_with(OFlags::RDWR | OFlags::CREATE, Mode::from_raw_mode(0o600))?.0)
    }

    /// Makes it, for the owner alone; it must not exist.
    pub fn create(&self) -> io::Result<File> {
        Ok(self.open_with(OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL, Mode::from_raw_mode(0o600))?.0)
    }

    /// The file, opened, and its length.
    fn open_with(&self, how: OFlags, mode: Mode) -> io::Result<(File, u64)> {
        let parent = self.parent_directory()?;
        let flags = how | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::openat(parent.as_fd(), self.file_name(), flags, mode)?);
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
        }
        Ok((file, metadata.len()))
    }

    /// The whole content, if it has at most `limit` bytes.
    pub fn read(&self, limit: u64) -> io::Result<Vec<u8>> {
        let (file, length) = self.open_with(OFlags::RDONLY, Mode::empty())?;
        let mut bytes = Vec::with_capacity(usize::try_from(length.min(limit)).unwrap_or(0));
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > limit {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {limit} bytes")));
        }
        Ok(bytes)
    }

    /// Makes this directory and what is missing above it, for the owner alone.
    pub fn make_directories(&self) -> io::Result<()> {
        let mut current = Handle::Anchor(self.anchor.directory.as_fd());
        for part in self.relative.components() {
            let name = plain(part)?;
            match rustix::fs::mkdirat(current.as_fd(), name, Mode::RWXU) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            current = Handle::Own(rustix::fs::openat(current.as_fd(), name, DIRECTORY, Mode::empty())?);
        }
        Ok(())
    }

    /// Exchanges it with what stands at `other`, in one step.
    pub fn exchange(&self, other: &AnchoredPath) -> io::Result<()> {
        self.rename_with(other, RenameFlags::EXCHANGE)
    }

    /// Gives it another name; what had it is replaced.
    pub fn rename(&self, to: &AnchoredPath) -> io::Result<()> {
        self.rename_with(to, RenameFlags::empty())
    }

    fn rename_with(&self, to: &AnchoredPath, how: RenameFlags) -> io::Result<()> {
        let (old, new) = (self.parent_directory()?, to.parent_directory()?);
        Ok(rustix::fs::renameat_with(old.as_fd(), self.file_name(), new.as_fd(), to.file_name(), how)?)
    }

    /// Sets the permission bits of the directory that is held open.
    pub fn set_mode(&self, mode: u16) -> io::Result<()> {
        Ok(rustix::fs::fchmod(self.directory()?, Mode::from_raw_mode(mode.into()))?)
    }

    /// Removes the file; that it is not there is no error.
    pub fn remove(&self) -> io::Result<()> {
        match rustix::fs::unlinkat(self.parent_directory()?, self.file_name(), AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// What lies in this directory, in the order of names; nothing when there is no such directory.
    pub fn list(&self) -> io::Result<Vec<(AnchoredPath, FileType)>> {
        let directory = match self.directory() {
            Ok(directory) => directory,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut found = Vec::new();
        for entry in Dir::read_from(directory.as_fd())? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                let place = self.join(OsStr::from_bytes(name));
                let kind = match entry.file_type() {
                    // Some file systems do not say.
                    FileType::Unknown => match place.look()? {
                        Some(stat) => FileType::from_raw_mode(stat.st_mode),
                        // Another process removed it since.
                        None => continue,
                    },
                    kind => kind,
                };
                found.push((place, kind));
            }
        }
        found.sort_unstable_by(|(a, _), (b, _)| a.relative.as_os_str().cmp(b.relative.as_os_str()));
        Ok(found)
    }

    /// This directory, opened.
    pub(crate) fn directory(&self) -> io::Result<Handle<'_>> {
        self.open_part(&self.relative)
    }

    /// The directory it lies in, opened.
    pub(crate) fn parent_directory(&self) -> io::Result<Handle<'_>> {
        match self.relative.parent() {
            Some(parent) => self.open_part(parent),
            None => Err(io::Error::from(io::ErrorKind::InvalidInput)),
        }
    }

    fn open_part(&self, relative: &Path) -> io::Result<Handle<'_>> {
        let mut current = Handle::Anchor(self.anchor.directory.as_fd());
        for part in relative.components() {
            current = Handle::Own(rustix::fs::openat(current.as_fd(), plain(part)?, DIRECTORY, Mode::empty())?);
        }
        Ok(current)
    }

    /// Whether a file error means that a link or something else that does not belong there is in the way.
    pub fn is_in_the_way(error: &io::Error) -> bool {
        matches!(
            error.raw_os_error().map(Errno::from_raw_os_error),
            Some(Errno::LOOP | Errno::NOTDIR | Errno::NXIO | Errno::MLINK)
        )
    }
}

/// A name such as `..` would leave the anchor.
fn plain(part: std::path::Component<'_>) -> io::Result<&OsStr> {
    match part {
        std::path::Component::Normal(name) => Ok(name),
        _ => Err(io::Error::from(io::ErrorKind::InvalidInput)),
    }
}

impl fmt::Debug for AnchoredPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.path(), f)
    }
}

/// An open directory: the anchor, or one below it.
pub(crate) enum Handle<'a> {
    Anchor(BorrowedFd<'a>),
    Own(OwnedFd),
}

impl AsFd for Handle<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Handle::Anchor(directory) => directory.as_fd(),
            Handle::Own(directory) => directory.as_fd(),
        }
    }
}

impl Handle<'_> {
    fn into_owned(self) -> io::Result<OwnedFd> {
        match self {
            Handle::Anchor(directory) => directory.try_clone_to_owned(),
            Handle::Own(directory) => Ok(directory),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn no_link_is_followed_and_only_regular_files_are_opened() {
        let directory = tempfile::tempdir().unwrap();
        let (store, outside) = (directory.path().join("store"), directory.path().join("outside"));
        std::fs::create_dir_all(store.join("sub")).unwrap();
        std::fs::create_dir(&outside).unwrap();
        std::fs::write(outside.join("file"), "theirs").unwrap();
        symlink(&outside, store.join("link")).unwrap();
        symlink(outside.join("file"), store.join("file")).unwrap();
        symlink("/dev/zero", store.join("zero")).unwrap();
        std::fs::write(store.join("sub/own"), "ours").unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, store.join("fifo"), FileType::Fifo, Mode::RWXU, 0).unwrap();
        let store = AnchoredPath::open_directory(&store).unwrap();
        assert_eq!(store.join("sub/own").read(4).unwrap(), b"ours");
        assert_eq!(store.join("sub/own").read(3).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        for hostile in ["link/file", "file", "zero", "fifo", "sub", "../outside/file", "/etc/passwd"] {
            assert!(store.join(hostile).open().is_err(), "{hostile}");
            assert!(store.join(hostile).open_or_create().is_err(), "{hostile}");
        }
        assert!(store.join("link").list().is_err());
        assert!(AnchoredPath::open_directory(&store.path().join("link")).is_err());
        assert_eq!(std::fs::read_to_string(outside.join("file")).unwrap(), "theirs");
    }
}
