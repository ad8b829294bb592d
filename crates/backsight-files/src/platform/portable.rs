//! The ways that any Unix has. Where the system cannot tell, the answer is the careful one.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType};
use rustix::io::Errno;

use super::CachedPages;

/// The longest step between two stamps that a system's clock of files is taken to have.
const STEP: i64 = 20_000_000;
const SECOND: i64 = 1_000_000_000;

/// Whether an open directory is on a file system of this machine alone.
#[cfg(target_os = "macos")]
pub(crate) fn is_local(directory: BorrowedFd<'_>) -> Result<bool, Errno> {
    Ok(rustix::fs::fstatfs(directory)?.f_flags & libc::MNT_LOCAL as u32 != 0)
}

/// Whether an open directory is on a file system of this machine alone, which is not known here.
#[cfg(not(target_os = "macos"))]
pub(crate) fn is_local(_: BorrowedFd<'_>) -> Result<bool, Errno> {
    Ok(false)
}

/// Gives every name in a directory to `each`, in the order of the system, until that is false. Answers whether it came to the
/// end.
pub(crate) fn list(directory: impl AsFd, mut each: impl FnMut(&CStr, FileType) -> bool) -> Result<bool, Errno> {
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        if !matches!(name.to_bytes(), b"." | b"..") && !each(name, entry.file_type()) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether a name in a directory is immutable or can only be appended to.
#[cfg(target_os = "macos")]
pub(crate) fn is_protected(directory: BorrowedFd<'_>, name: &[u8]) -> bool {
    let protects = libc::UF_IMMUTABLE | libc::UF_APPEND | libc::SF_IMMUTABLE | libc::SF_APPEND;
    let found = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW);
    found.is_ok_and(|found| found.st_flags & protects != 0)
}

/// Whether a name in a directory is immutable, which is not known here: the restore is refused when it tries.
#[cfg(not(target_os = "macos"))]
pub(crate) fn is_protected(_: BorrowedFd<'_>, _: &[u8]) -> bool {
    false
}

/// What tells the mount of a path from others: its device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mount(u64);

impl Mount {
    pub(crate) fn of(path: &Path) -> Option<Mount> {
        rustix::fs::statat(rustix::fs::CWD, path, AtFlags::SYMLINK_NOFOLLOW)
            .ok()
            .map(|stat| Mount(super::device_of(&stat)))
    }
}

/// A moment that no file can be stamped before from now on, in seconds and nanoseconds.
pub(crate) fn stamping_clock() -> (i64, i64) {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
    let earlier = now.tv_nsec - STEP;
    if earlier < 0 { (now.tv_sec - 1, earlier + SECOND) } else { (now.tv_sec, earlier) }
}

/// No system but Linux tells.
pub(crate) fn pages_of(_: &File) -> Option<CachedPages> {
    None
}

/// Swaps two names in one step; `EINVAL` where the file system cannot.
#[cfg(target_os = "macos")]
pub(crate) fn exchange(from: (BorrowedFd<'_>, &[u8]), to: (BorrowedFd<'_>, &[u8])) -> Result<(), Errno> {
    let swapped = rustix::fs::renameat_with(from.0, from.1, to.0, to.1, rustix::fs::RenameFlags::EXCHANGE);
    swapped.map_err(|error| if error == Errno::OPNOTSUPP || error == Errno::NOTSUP { Errno::INVAL } else { error })
}

/// Two names cannot be swapped in one step here: the caller renames twice.
#[cfg(not(target_os = "macos"))]
pub(crate) fn exchange(_: (BorrowedFd<'_>, &[u8]), _: (BorrowedFd<'_>, &[u8])) -> Result<(), Errno> {
    Err(Errno::INVAL)
}

/// The names of the extended attributes of a name in a directory cannot be told without opening it.
pub(crate) fn attributes_of(_: BorrowedFd<'_>, _: &[u8]) -> Option<Vec<u8>> {
    None
}

/// A file without a name.
#[expect(clippy::disallowed_methods, reason = "a file of the system's temporary directory, which holds nothing yet")]
pub(crate) fn nameless_file() -> Result<File, Errno> {
    let failed = |error: io::Error| Errno::from_io_error(&error).unwrap_or(Errno::IO);
    let path = std::env::temp_dir().join(format!("backsight-nameless-{}", std::process::id()));
    let file = File::options().read(true).write(true).create_new(true).open(&path).map_err(failed)?;
    std::fs::remove_file(path).map_err(failed)?;
    Ok(file)
}
