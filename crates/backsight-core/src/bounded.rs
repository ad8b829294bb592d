//! Reads files that others wrote: the user's Git, a stranger's repository, a program that names its sources. Only regular files, only up to a size, and
//! without ever waiting: a FIFO, a device or a sparse file of terabytes in their place is an error like any other.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};

/// The bytes of the file at `path`, or what a symlink there leads to.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    contents(open_at(CWD, path, OFlags::empty())?, limit)
}

/// The bytes of the file `name` in an open directory. A symlink is not followed.
pub fn read_in(directory: BorrowedFd<'_>, name: &[u8], limit: u64) -> io::Result<Vec<u8>> {
    contents(open_at(directory, Path::new(OsStr::from_bytes(name)), OFlags::NOFOLLOW)?, limit)
}

/// The last bytes of the file at `path`, at most `limit`, or what a symlink there leads to.
pub fn read_end(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let (mut file, length) = open_at(CWD, path, OFlags::empty())?;
    file.seek(SeekFrom::Start(length.saturating_sub(limit)))?;
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens a regular file.
pub fn open(path: &Path) -> io::Result<File> {
    Ok(open_at(CWD, path, OFlags::empty())?.0)
}

/// The file, opened, and its length.
fn open_at(directory: impl AsFd, path: &Path, flags: OFlags) -> io::Result<(File, u64)> {
    // Before it is opened, since to open a device may already set something off; and after, in case it was replaced.
    let look = if flags.contains(OFlags::NOFOLLOW) { AtFlags::SYMLINK_NOFOLLOW } else { AtFlags::empty() };
    check(&rustix::fs::statat(&directory, path, look)?)?;
    let flags = flags | OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(&directory, path, flags, Mode::empty())?;
    let length = check(&rustix::fs::fstat(&opened)?)?;
    Ok((File::from(opened), length))
}

/// The length of a regular file; anything else is refused.
fn check(stat: &rustix::fs::Stat) -> io::Result<u64> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(u64::try_from(stat.st_size).unwrap_or(0)),
        FileType::Directory => Err(io::ErrorKind::IsADirectory.into()),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")),
    }
}

fn contents((file, size): (File, u64), limit: u64) -> io::Result<Vec<u8>> {
    let too_large = || io::Error::new(io::ErrorKind::FileTooLarge, format!("larger than {limit} bytes"));
    if size > limit {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(size as usize);
    // It may grow while it is read.
    file.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(too_large()) } else { Ok(bytes) }
}

/// Whether there is simply no file: nothing at all, or something else in its way.
pub fn is_absence(error: &io::Error) -> bool {
    use io::ErrorKind::{IsADirectory, NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory | IsADirectory)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn only_regular_files_of_a_bounded_size_are_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        fs::write(path("file"), "text").unwrap();
        fs::create_dir(path("directory")).unwrap();
        rustix::fs::mknodat(CWD, path("fifo"), FileType::Fifo, Mode::RWXU, 0).unwrap();
        std::os::unix::fs::symlink("file", path("link")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", path("zero")).unwrap();
        File::create(path("sparse")).unwrap().set_len(1 << 42).unwrap();
        assert_eq!(read(&path("file"), 4).unwrap(), b"text");
        assert_eq!(read(&path("link"), 4).unwrap(), b"text");
        for (name, limit) in [("file", 3), ("fifo", 9), ("zero", 9), ("directory", 9), ("sparse", 9), ("none", 9)] {
            assert!(read(&path(name), limit).is_err(), "{name}");
        }
        let opened = File::open(directory.path()).unwrap();
        assert_eq!(read_in(opened.as_fd(), b"file", 4).unwrap(), b"text");
        assert!(read_in(opened.as_fd(), b"link", 4).is_err());
    }
}
