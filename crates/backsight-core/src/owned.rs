//! Directories that belong to a living process. The owner holds a lock in its directory, which the kernel lets go when the
//! process ends, however it ends: so the next process can tell what was left behind.

use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Makes a directory this process's, by a lock with this name in it, for as long as the file is kept.
pub fn own(directory: &Path, lock: &str) -> io::Result<File> {
    // Until it is locked it has no lock, and a directory without one is not known to be left behind.
    let unnamed = directory.join(format!("{lock}.new"));
    let file = File::create_new(&unnamed)?;
    file.lock()?;
    std::fs::rename(&unnamed, directory.join(lock))?;
    Ok(file)
}

/// Whether a process of this user left it behind: a directory that no other user can look into, whose lock is there and free.
pub fn is_left_behind(directory: &Path, lock: &str) -> bool {
    let user = rustix::process::geteuid().as_raw();
    let found = std::fs::symlink_metadata(directory);
    let is_private = found.is_ok_and(|found| found.is_dir() && found.uid() == user && found.mode() & 0o077 == 0);
    let path = directory.join(lock);
    if !is_private || !std::fs::symlink_metadata(&path).is_ok_and(|found| found.is_file()) {
        return false;
    }
    match File::open(path).map(|lock| lock.try_lock()) {
        Ok(Ok(())) => true,
        Ok(Err(TryLockError::WouldBlock | TryLockError::Error(_))) | Err(_) => false,
    }
}
