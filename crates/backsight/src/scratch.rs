//! Directories for work that is not done in the workspace. Each is this user's alone and goes with its owner; what a killed
//! process left is removed by the next one that makes any. As long as its owner lives, the owner holds a lock in it.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use backsight_core::{Error, Result, owned};

/// The lock, beside what the owner keeps there.
const LOCK: &str = "lock";
/// So many directories are looked at for what was left behind.
const MOST_LOOKED_AT: usize = 1000;

/// A directory that is removed with this value.
pub(crate) struct Scratch {
    directory: PathBuf,
    _lock: File,
}

impl Scratch {
    /// Makes one with the name `name` in `place`, which is made if need be, and removes what was left behind there.
    pub(crate) fn new(place: &Path, name: &str) -> Result<Scratch> {
        let failed = |error| Error::io(format!("make a directory in `{}`", place.display()), error);
        DirBuilder::new().recursive(true).mode(0o700).create(place).map_err(failed)?;
        sweep(place);
        let directory = place.join(name);
        let make = || -> io::Result<File> {
            DirBuilder::new().mode(0o700).create(&directory)?;
            owned::own(&directory, LOCK)
        };
        let lock = make().map_err(failed)?;
        Ok(Scratch { directory, _lock: lock })
    }

    /// Makes a directory in it.
    pub(crate) fn directory(&self, name: &str) -> Result<PathBuf> {
        let directory = self.directory.join(name);
        let made = DirBuilder::new().mode(0o700).create(&directory);
        made.map_err(|error| Error::io(format!("make `{}`", directory.display()), error))?;
        Ok(directory)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What a program left that cannot be removed is tried again by the next sweep.
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

fn sweep(place: &Path) {
    let found = std::fs::read_dir(place).into_iter().flatten().flatten();
    for directory in found.take(MOST_LOOKED_AT).map(|entry| entry.path()) {
        if owned::is_left_behind(&directory, LOCK) {
            let _ = std::fs::remove_dir_all(&directory);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_dead_owner_left_goes_and_what_a_living_one_uses_stays() {
        let place = tempfile::tempdir().unwrap();
        let left = Scratch::new(place.path(), "left").unwrap();
        left.directory("files").unwrap();
        let path = left.directory.clone();
        // As a killed process leaves it: the lock is free and nothing was removed.
        let Scratch { _lock, .. } = &left;
        _lock.unlock().unwrap();
        std::mem::forget(left);
        let living = Scratch::new(place.path(), "living").unwrap();
        assert!(!path.exists());
        let next = Scratch::new(place.path(), "next").unwrap();
        assert!(living.directory.exists() && next.directory.exists());
        drop(living);
        assert!(!place.path().join("living").exists());
    }

    #[test]
    fn what_is_not_ours_stays() {
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir(place.path().join("theirs")).unwrap();
        std::os::unix::fs::symlink("/", place.path().join("link")).unwrap();
        Scratch::new(place.path(), "own").unwrap();
        assert!(place.path().join("theirs").exists() && place.path().join("link").symlink_metadata().is_ok());
    }
}
