//! Linux's own calls.

use std::ffi::CStr;
use std::fs::File;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, RawDir, StatxAttributes, StatxFlags};
use rustix::io::Errno;

use super::CachedPages;

/// File systems whose changes all go through this kernel, by the number `statfs` gives them. On others (NFS, FUSE, 9P,
/// SMB) another machine may write without a word to this one.
const LOCAL: [u64; 15] = [
    0xef53,      // ext2, ext3, ext4
    0x5846_5342, // xfs
    0x9123_683e, // btrfs
    0x0102_1994, // tmpfs
    0x8584_58f6, // ramfs
    0x794c_7630, // overlayfs
    0x2fc1_2fc1, // zfs
    0xf2f5_2010, // f2fs
    0xca45_1a4e, // bcachefs
    0x3153_464a, // jfs
    0x5265_4973, // reiserfs
    0x3434,      // nilfs
    0x4d44,      // vfat
    0x2011_bab0, // exfat
    0x7366_746e, // ntfs3
];

/// Whether an open directory is on a file system of this machine alone.
pub(crate) fn is_local(directory: BorrowedFd<'_>) -> Result<bool, Errno> {
    Ok(LOCAL.contains(&(rustix::fs::fstatfs(directory)?.f_type as u64 & 0xffff_ffff)))
}

/// Gives every name in a directory to `each`, in the order of the system, until that is false: without allocating, since a
/// capture lists every directory. Answers whether it came to the end.
pub(crate) fn list(directory: impl AsFd, mut each: impl FnMut(&CStr, FileType) -> bool) -> Result<bool, Errno> {
    let mut buffer = [MaybeUninit::<u8>::uninit(); 32 << 10];
    let mut entries = RawDir::new(directory, &mut buffer);
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let name = entry.file_name();
        if !matches!(name.to_bytes(), b"." | b"..") && !each(name, entry.file_type()) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether a name in a directory is immutable or can only be appended to.
pub(crate) fn is_protected(directory: BorrowedFd<'_>, name: &[u8]) -> bool {
    let found = rustix::fs::statx(directory, name, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::TYPE);
    let protects = StatxAttributes::IMMUTABLE | StatxAttributes::APPEND;
    found.is_ok_and(|found| found.stx_attributes.intersects(protects))
}

/// What tells the mount of a path from others: the device, and the mount's number where the kernel says it (since 5.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mount(u32, u32, Option<u64>);

impl Mount {
    pub(crate) fn of(path: &Path) -> Option<Mount> {
        let wanted = StatxFlags::MNT_ID;
        let found = rustix::fs::statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, wanted).ok()?;
        let is_told = StatxFlags::from_bits_retain(found.stx_mask).contains(wanted);
        Some(Mount(found.stx_dev_major, found.stx_dev_minor, is_told.then_some(found.stx_mnt_id)))
    }
}

/// The clock that stamps files, in seconds and nanoseconds.
pub(crate) fn stamping_clock() -> (i64, i64) {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::RealtimeCoarse);
    (now.tv_sec, now.tv_nsec)
}

/// The number of the call, the same on every architecture that Rust knows; Linux has it since 6.5.
const CACHESTAT: libc::c_long = 451;

/// How much of a file is in memory. Nothing where the kernel is older, or does not tell this user.
#[allow(unsafe_code, reason = "no crate that is here offers this call without it")]
pub(crate) fn pages_of(file: &File) -> Option<CachedPages> {
    // From the first byte to the end.
    let range = [0u64; 2];
    // In memory, dirty, being written, and two numbers on what was evicted.
    let mut found = [0u64; 5];
    // SAFETY: the descriptor is open as long as `file` is borrowed; the kernel reads the two words of `range` and writes the
    // five of `found`, which both live until the call returns.
    let failed = unsafe { libc::syscall(CACHESTAT, file.as_raw_fd(), range.as_ptr(), found.as_mut_ptr(), 0u32) };
    (failed == 0).then_some(CachedPages { cached: found[0], dirty: found[1] })
}

/// Swaps two names in one step; `EINVAL` where the file system cannot.
pub(crate) fn exchange(from: (BorrowedFd<'_>, &[u8]), to: (BorrowedFd<'_>, &[u8])) -> Result<(), Errno> {
    rustix::fs::renameat_with(from.0, from.1, to.0, to.1, rustix::fs::RenameFlags::EXCHANGE)
}

/// The names of the extended attributes of a name in a directory, without opening it or following it. Nothing when they
/// cannot be told.
pub(crate) fn attributes_of(directory: BorrowedFd<'_>, name: &[u8]) -> Option<Vec<u8>> {
    let path = [format!("/proc/self/fd/{}/", directory.as_raw_fd()).as_bytes(), name].concat();
    let mut buffer = [0; 256];
    match rustix::fs::llistxattr(path, &mut buffer[..]) {
        Ok(length) => Some(buffer[..length].to_vec()),
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => Some(Vec::new()),
        Err(_) => None,
    }
}

/// A file without a name.
pub(crate) fn nameless_file() -> Result<File, Errno> {
    rustix::fs::memfd_create("backsight", rustix::fs::MemfdFlags::CLOEXEC).map(File::from)
}
