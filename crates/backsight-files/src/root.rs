//! The directory of a workspace. A process may live long, and directories are moved and exchanged: whoever looks at files or
//! changes them opens the directory by its path, which must still lead to the one that the store was opened for. Without
//! that, the history of one project would be carried out on the files of another.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use backsight_core::{Code, Error, Result};
use rustix::fs::{AtFlags, Mode, OFlags, Stat};

use crate::anchored::AnchoredPath;
use crate::cache::RootIdentity;
use crate::platform::device_of;

/// A workspace's directory, held open: its inode means no other as long as this exists.
#[derive(Clone)]
pub(crate) struct Root {
    path: PathBuf,
    held: Arc<OwnedFd>,
    /// The store, where it lies in the workspace: a directory that it was moved into is its workspace too.
    store: Option<AnchoredPath>,
}

impl Root {
    /// The directory at `path`, whose store is `store`. A store that lies in the workspace must lie in this very directory.
    pub(crate) fn of(path: &Path, store: &AnchoredPath) -> Result<Root> {
        let is_inside = store.path().starts_with(path);
        let root = Root { store: is_inside.then(|| store.clone()), ..Root::at(path)? };
        match is_inside && !root.holds_store(&root.held) {
            true => Err(root.exchanged()),
            false => Ok(root),
        }
    }

    /// The directory at `path`.
    pub(crate) fn at(path: &Path) -> Result<Root> {
        Ok(Root { path: path.to_owned(), held: Arc::new(open(path)?), store: None })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens it, if its path still leads to it.
    pub(crate) fn open(&self) -> Result<OwnedFd> {
        let opened = open(&self.path)?;
        self.check(&opened).map(|_| opened)
    }

    /// The same, to name places below it.
    pub(crate) fn anchored(&self) -> Result<AnchoredPath> {
        let opened = AnchoredPath::open_directory(&self.path).map_err(|error| cannot_open(&self.path, error))?;
        self.check(&opened.directory().map_err(|error| cannot_open(&self.path, error))?).map(|_| opened)
    }

    /// What tells it from other directories, if its path still leads to it.
    pub(crate) fn in_place(&self) -> Result<RootIdentity> {
        self.check(&open(&self.path)?)
    }

    fn check(&self, opened: &impl AsFd) -> Result<RootIdentity> {
        let looked = rustix::fs::fstat(opened).and_then(|found| Ok((found, rustix::fs::fstat(&*self.held)?)));
        let (found, held) = looked.map_err(|error| cannot_open(&self.path, error.into()))?;
        match identity_of(&found) == identity_of(&held) || self.holds_store(opened) {
            true => Ok(identity_of(&found)),
            false => Err(self.exchanged()),
        }
    }

    /// Whether the workspace's store lies in the directory.
    fn holds_store(&self, opened: &impl AsFd) -> bool {
        let Some(store) = &self.store else { return false };
        let looked = || -> io::Result<bool> {
            let path = store.path();
            let below = path.strip_prefix(&self.path).map_err(io::Error::other)?;
            let found = rustix::fs::statat(opened, below, AtFlags::SYMLINK_NOFOLLOW)?;
            Ok(identity_of(&found) == identity_of(&store.stat()?))
        };
        looked().unwrap_or(false)
    }

    fn exchanged(&self) -> Error {
        let message = format!("`{}` was moved or exchanged for another directory meanwhile", self.path.display());
        Error::new(Code::WorkspaceNotFound, message)
            .with_hint("nothing of the other directory was changed: run the command again where the workspace is now")
    }
}

fn open(path: &Path) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty()).map_err(|error| cannot_open(path, error.into()))
}

fn cannot_open(path: &Path, error: io::Error) -> Error {
    Error::io(format!("open the workspace `{}`", path.display()), error)
}

fn identity_of(stat: &Stat) -> RootIdentity {
    (device_of(stat), stat.st_ino)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_directory_at_the_same_path_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let (path, aside) = (place.path().join("w"), place.path().join("aside"));
        std::fs::create_dir(&path).unwrap();
        let root = Root::at(&path).unwrap();
        assert!(root.open().is_ok() && root.anchored().is_ok());
        std::fs::rename(&path, &aside).unwrap();
        assert_eq!(root.open().unwrap_err().code(), Code::Io);
        std::fs::create_dir(&path).unwrap();
        assert_eq!(root.open().unwrap_err().code(), Code::WorkspaceNotFound);
        assert_eq!(root.anchored().unwrap_err().code(), Code::WorkspaceNotFound);
        std::fs::remove_dir(&path).unwrap();
        std::fs::rename(&aside, &path).unwrap();
        assert!(root.open().is_ok() && root.anchored().is_ok());
    }

    #[test]
    fn a_store_below_another_directory_is_not_this_ones() {
        let place = tempfile::tempdir().unwrap();
        let (path, aside) = (place.path().join("w"), place.path().join("aside"));
        let store = path.join(".backsight/store");
        std::fs::create_dir_all(&store).unwrap();
        let held = AnchoredPath::open_directory(&store).unwrap();
        assert!(Root::of(&path, &held).is_ok());
        std::fs::rename(&path, &aside).unwrap();
        std::fs::create_dir_all(&store).unwrap();
        assert_eq!(Root::of(&path, &held).err().unwrap().code(), Code::WorkspaceNotFound);
        // A directory that the store is moved into is its workspace.
        let root = Root::of(&aside, &AnchoredPath::open_directory(&aside.join(".backsight/store")).unwrap()).unwrap();
        std::fs::rename(&aside, place.path().join("older")).unwrap();
        std::fs::create_dir(&aside).unwrap();
        assert_eq!(root.in_place().unwrap_err().code(), Code::WorkspaceNotFound);
        std::fs::rename(place.path().join("older/.backsight"), aside.join(".backsight")).unwrap();
        assert!(root.in_place().is_ok());
        // One that the user keeps elsewhere lies in no workspace.
        assert!(Root::of(&path, &AnchoredPath::open_directory(&aside).unwrap()).is_ok());
    }
}
