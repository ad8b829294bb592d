//! A directory for what a debugger builds. It goes with its session; one that was left behind by a process that was killed is
//! removed by the next session: as long as its owner lives, the owner holds a lock on it.

use std::fs::{File, TryLockError};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use backsight_core::{Error, Result};

const PREFIX: &str = "backsight-debug-";
const LOCK: &str = ".lock";
/// So many directories are looked at for what was left behind.
const MOST_LOOKED_AT: usize = 1000;

/// A directory that only this user can look into.
#[derive(Debug)]
pub(crate) struct Scratch {
    directory: tempfile::TempDir,
    /// Held as long as the directory is used.
    _lock: File,
}

impl Scratch {
    pub(crate) fn new() -> Result<Scratch> {
        let place = std::env::temp_dir();
        sweep(&place);
        create(&place).map_err(|error| Error::io("create a directory for the debugger", error))
    }

    /// A file in it.
    pub(crate) fn file(&self, name: &str, text: &str) -> Result<PathBuf> {
        let file = self.path().join(name);
        std::fs::write(&file, text).map_err(|error| Error::io("write a file for the program", error))?;
        Ok(file)
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }
}

fn create(place: &Path) -> std::io::Result<Scratch> {
    let private = std::fs::Permissions::from_mode(0o700);
    let directory = tempfile::Builder::new().prefix(PREFIX).permissions(private).tempdir_in(place)?;
    let lock = File::create_new(directory.path().join(LOCK))?;
    lock.lock()?;
    Ok(Scratch { directory, _lock: lock })
}

/// Removes what this user's dead processes left behind. What cannot be looked at or removed is left to the next one.
fn sweep(place: &Path) {
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
    let ours = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX));
    for directory in ours.take(MOST_LOOKED_AT).map(|entry| entry.path()).filter(|path| is_private(path.as_path())) {
        if is_left(&directory) {
            let _ = std::fs::remove_dir_all(&directory);
        }
    }
}

fn is_private(directory: &Path) -> bool {
    let user = rustix::process::geteuid().as_raw();
    std::fs::symlink_metadata(directory)
        .is_ok_and(|found| found.is_dir() && found.uid() == user && found.mode() & 0o077 == 0)
}

/// Whether nobody holds its lock. One without a lock is being made at this moment, or is of an older version.
fn is_left(directory: &Path) -> bool {
    let lock = directory.join(LOCK);
    let is_file = std::fs::symlink_metadata(&lock).is_ok_and(|found| found.is_file());
    let Some(lock) = is_file.then(|| File::open(lock).ok()).flatten() else { return false };
    !matches!(lock.try_lock(), Err(TryLockError::WouldBlock | TryLockError::Error(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_swept_and_what_is_used_is_not() {
        let place = tempfile::tempdir().unwrap();
        let used = create(place.path()).unwrap();
        assert_eq!(std::fs::metadata(used.path()).unwrap().mode() & 0o777, 0o700);
        let left = place.path().join("backsight-debug-left");
        for directory in [&left, &place.path().join("backsight-other"), &place.path().join("backsight-debug-open")] {
            std::fs::create_dir(directory).unwrap();
            std::fs::set_permissions(directory, std::fs::Permissions::from_mode(0o700)).unwrap();
            std::fs::write(directory.join(LOCK), "").unwrap();
            std::fs::write(directory.join("program"), "x").unwrap();
        }
        let open = place.path().join("backsight-debug-open");
        std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::os::unix::fs::symlink(&open, place.path().join("backsight-debug-link")).unwrap();
        sweep(place.path());
        assert!(!left.exists());
        assert!(used.path().exists() && open.join("program").exists() && place.path().join("backsight-other").exists());
        let path = used.path().to_owned();
        drop(used);
        assert!(!path.exists());
    }
}
