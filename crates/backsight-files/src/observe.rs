//! Looks at single paths of the workspace, through no symlink: what stands there, byte for byte.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use backsight_core::{Code, Error, ObjectId, RelPath, Result};
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::access::Access;
use crate::cache::{FileTime, Stat};
use crate::object::{IdHasher, ObjectKind, object_id};
use crate::objects::STREAM_LIMIT;
use crate::scan::open_below;
use crate::tree::Node;

/// What stands at a name. Devices, sockets and FIFOs are `Other`.
pub(crate) enum Standing {
    Nothing,
    Known(Node),
    Other,
}

impl Standing {
    pub(crate) fn is(&self, expected: Option<&Node>) -> bool {
        match (self, expected) {
            (Standing::Nothing, None) => true,
            (Standing::Known(node), Some(expected)) => node == expected,
            _ => false,
        }
    }
}

/// Looks at `name` in an open directory; files are read and hashed.
pub(crate) fn observe(directory: BorrowedFd<'_>, name: &[u8]) -> io::Result<Standing> {
    Ok(match stamp(directory, name)? {
        Some(stat) => standing(directory, name, &stat)?,
        None => Standing::Nothing,
    })
}

/// The stamps of what stands at `name`, if anything does.
pub(crate) fn stamp(directory: BorrowedFd<'_>, name: &[u8]) -> io::Result<Option<rustix::fs::Stat>> {
    match rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(stat)),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// What stands at `name`, which had these stamps.
pub(crate) fn standing(directory: BorrowedFd<'_>, name: &[u8], stat: &rustix::fs::Stat) -> io::Result<Standing> {
    let mode = (stat.st_mode & 0o7777) as u16;
    let node = match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => Node::Directory { mode, access: Access::default() },
        FileType::RegularFile => match open_file(directory, name) {
            Ok(file) => Node::File { mode, id: hash_file(file)?, access: Access::default() },
            // What cannot be read is none of the contents we know.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(Standing::Other),
            Err(error) => return Err(error),
        },
        FileType::Symlink => {
            let text = rustix::fs::readlinkat(directory, name, Vec::new())?;
            let id = object_id(ObjectKind::Blob, text.as_bytes()).map_err(io::Error::other)?;
            Node::Symlink { id }
        }
        _ => return Ok(Standing::Other),
    };
    Ok(Standing::Known(node))
}

pub(crate) fn open_file(directory: BorrowedFd<'_>, name: &[u8]) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::openat(directory, name, flags, Mode::empty())?))
}

fn hash_file(file: File) -> io::Result<ObjectId> {
    let size = file.metadata()?.len();
    let mut hasher = IdHasher::new(ObjectKind::Blob, size);
    let mut buffer = vec![0; (size.min(1 << 18) as usize).max(1)];
    // Not for ever where another process keeps appending: what is larger by then is another content anyway.
    let mut file = file.take(size.saturating_add(1));
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            return hasher.finish().map_err(io::Error::other);
        }
        hasher.update(&buffer[..count]);
    }
}

/// Reads a file or symlink that must still have the content it was seen with.
pub(crate) fn read_exactly(root: &OwnedFd, path: &RelPath, id: &ObjectId) -> Result<Vec<u8>> {
    let read = || -> io::Result<Vec<u8>> {
        let directory = open_below(root, path.parent())?;
        if let Ok(text) = rustix::fs::readlinkat(&directory, path.name(), Vec::new()) {
            return Ok(text.into_bytes());
        }
        let file = open_file(directory.as_fd(), path.name())?;
        let size = file.metadata()?.len();
        // A file that took its place may be larger than memory: that it is another one is seen without holding it.
        if size > STREAM_LIMIT && hash_file(file.try_clone()?)? != *id {
            return Ok(Vec::new());
        }
        let (mut file, mut bytes) = (file, Vec::new());
        file.rewind()?;
        file.take(size).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let raced = || {
        Error::new(Code::Raced, format!("`{path}` changed while it was being compared"))
            .with_hint("ask again")
            .with_details(serde_json::json!({ "path": path }))
    };
    match read() {
        Ok(bytes) if object_id(ObjectKind::Blob, &bytes)? == *id => Ok(bytes),
        Ok(_) => Err(raced()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(raced()),
        Err(error) => Err(Error::io(format!("read `{path}`"), error)),
    }
}

/// What of a file's state decides whether it must be read again.
#[expect(clippy::unnecessary_cast, reason = "the widths of these fields differ between platforms")]
pub(crate) fn stat_of(stat: &rustix::fs::Stat) -> Stat {
    Stat {
        size: stat.st_size as u64,
        modified: FileTime { seconds: stat.st_mtime as i64, nanoseconds: stat.st_mtime_nsec as u32 },
        changed: FileTime { seconds: stat.st_ctime as i64, nanoseconds: stat.st_ctime_nsec as u32 },
        inode: stat.st_ino as u64,
    }
}
