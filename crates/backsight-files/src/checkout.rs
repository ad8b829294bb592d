//! A directory outside the workspace that holds the files of one tree after another, for programs that are run on them.
//! Only what differs is written, so that build caches beside it stay warm. What a program changed of the files is put back
//! before the next tree is taken; what it made beside them stays.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::Path;

use backsight_core::{Error, ObjectId, RelPath, Result};
use rayon::prelude::*;
use rustix::fs::{AtFlags, FileType, Mode, Stat, Timespec, Timestamps, UTIME_OMIT};

use crate::anchored::AnchoredPath;
use crate::compare::Change;
use crate::disk::Disk;
use crate::files::Files;
use crate::platform::mode_of;
use crate::threads::start_threads;
use crate::tree::{EMPTY_TREE, MAX_DEPTH, Node, Tree};

/// The directory and what it holds of the store.
pub struct Checkout {
    root: AnchoredPath,
    disk: Disk,
    at: Tree,
    /// Every path of the tree, as it was written.
    written: BTreeMap<RelPath, Written>,
}

/// One path as it was written.
#[derive(Clone, Copy)]
struct Written {
    node: Node,
    /// None for directories, whose stamps move with what is made in them.
    stamp: Option<Stamp>,
}

/// What shows that a program touched a file.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    size: i64,
    mode: u32,
    modified: (i64, u32),
    changed: (i64, u32),
}

impl Checkout {
    /// An empty checkout in the directory `root`, which must be the caller's alone.
    pub fn new(root: &Path) -> Result<Checkout> {
        let root = AnchoredPath::open_directory(root)
            .map_err(|error| Error::io(format!("open `{}`", root.display()), error))?;
        let at = Tree { id: EMPTY_TREE, attributes: None };
        Ok(Checkout { root, disk: Disk::new(), at, written: BTreeMap::new() })
    }

    /// Takes the files of `tree`; how many paths were written or removed.
    pub fn take(&mut self, files: &Files, tree: &Tree) -> Result<usize> {
        start_threads()?;
        let mut wanted: BTreeMap<RelPath, Option<Node>> =
            self.moved().into_iter().map(|path| (path.clone(), self.written.get(&path).map(|it| it.node))).collect();
        for Change { path, after, .. } in files.compare(&self.at, tree)? {
            wanted.insert(path, after);
        }
        let count = wanted.len();
        self.remove(wanted.iter().filter(|(_, node)| node.is_none()).map(|(path, _)| path))?;
        for (path, node) in &wanted {
            if let Some(node @ Node::Directory { mode, .. }) = node {
                self.make_directory(path, *node, *mode)?;
            }
        }
        let with_blob = |(path, node): (&'_ RelPath, &Option<Node>)| Some((path.clone(), (*node)?, (*node)?.blob()?));
        let blobs: Vec<(RelPath, Node, ObjectId)> = wanted.iter().filter_map(with_blob).collect();
        let made = blobs.into_par_iter().map(|(path, node, id)| {
            let content = files.objects().read_blob(&id)?;
            let written = self.write(&path, node, &content)?;
            Ok((path, written))
        });
        let made: Vec<(RelPath, Written)> = made.collect::<Result<_>>()?;
        self.written.extend(made);
        self.at = *tree;
        Ok(count)
    }

    /// The paths that are not as they were written.
    fn moved(&self) -> Vec<RelPath> {
        let root = self.root.path();
        let all: Vec<(&RelPath, &Written)> = self.written.iter().collect();
        let is_moved = |(path, written): &&(&RelPath, &Written)| {
            let found = rustix::fs::lstat(root.join(path.as_path()));
            match (written.stamp, found) {
                (Some(stamp), Ok(found)) => stamp != Stamp::of(&found),
                (None, Ok(found)) => FileType::from_raw_mode(found.st_mode) != FileType::Directory,
                (_, Err(_)) => true,
            }
        };
        all.par_iter().filter(is_moved).map(|(path, _)| (*path).clone()).collect()
    }

    fn remove<'a>(&mut self, gone: impl DoubleEndedIterator<Item = &'a RelPath>) -> Result<()> {
        for path in gone.rev() {
            self.written.remove(path);
            self.clear(path)?;
        }
        Ok(())
    }

    /// Removes whatever stands at a path.
    fn clear(&self, path: &RelPath) -> Result<()> {
        let place = self.root.join(path.as_path());
        remove_all(&self.disk, &place, 0).map_err(|error| Error::io(format!("remove `{}`", place.display()), error))
    }

    /// Directories can be written to by this user whatever their mode says: the next tree has to be put into them.
    fn make_directory(&mut self, path: &RelPath, node: Node, mode: u16) -> Result<()> {
        let place = self.root.join(path.as_path());
        let mode = (mode | 0o700) & 0o777;
        let make = || -> io::Result<()> {
            if !place.is_directory() {
                remove_all(&self.disk, &place, 0)?;
                let parent = place.parent_directory()?;
                let name = place.file_name().as_encoded_bytes();
                return self.disk.make_directory_at(parent.as_fd(), name, mode);
            }
            place.set_mode(mode)
        };
        make().map_err(|error| Error::io(format!("make `{}`", place.display()), error))?;
        self.written.insert(path.clone(), Written { node, stamp: None });
        Ok(())
    }

    /// Writes a file or a link anew: what was there may be linked with something outside.
    fn write(&self, path: &RelPath, node: Node, content: &[u8]) -> Result<Written> {
        self.clear(path)?;
        let place = self.root.join(path.as_path());
        let write = || -> io::Result<Stat> {
            let parent = place.parent_directory()?;
            let name = place.file_name().as_encoded_bytes();
            let Node::File { mode, .. } = node else {
                self.disk.symlink_at(content, parent.as_fd(), name)?;
                return place.stat();
            };
            let mut file = self.disk.create_at(parent.as_fd(), name)?;
            file.write_all(content)?;
            file.set_mode(mode & 0o777)?;
            let before = self.written.get(path).and_then(|written| written.stamp);
            if let Some(times) = before.and_then(|before| later(before, file.file())) {
                rustix::fs::futimens(file.file(), &times)?;
            }
            Ok(rustix::fs::fstat(file.file())?)
        };
        let found = write().map_err(|error| Error::io(format!("write `{}`", place.display()), error))?;
        Ok(Written { node, stamp: Some(Stamp::of(&found)) })
    }
}

/// The times of a file that replaces another of the same second: the next one. Caches such as Python's know a source by its
/// size and the second of its last change, and would take the old one for the new one.
fn later(before: Stamp, file: &File) -> Option<Timestamps> {
    let written = rustix::fs::fstat(file).ok()?.st_mtime;
    let next = before.modified.0.checked_add(1).filter(|next| written < *next)?;
    let omit = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
    Some(Timestamps { last_access: omit, last_modification: Timespec { tv_sec: next, tv_nsec: 0 } })
}

impl Stamp {
    fn of(stat: &Stat) -> Stamp {
        Stamp {
            inode: stat.st_ino,
            size: stat.st_size,
            mode: mode_of(stat),
            modified: (stat.st_mtime, stat.st_mtime_nsec as u32),
            changed: (stat.st_ctime, stat.st_ctime_nsec as u32),
        }
    }
}

/// Removes a file, a link or a whole directory, through no link; that nothing is there is no error.
fn remove_all(disk: &Disk, place: &AnchoredPath, depth: usize) -> io::Result<()> {
    let found = match place.look() {
        // A directory on the way is gone, or no directory any more.
        Err(error) if AnchoredPath::is_in_the_way(&error) => None,
        other => other?,
    };
    let Some(found) = found else { return Ok(()) };
    if FileType::from_raw_mode(found.st_mode) != FileType::Directory {
        return disk.remove_file(place);
    }
    if depth > MAX_DEPTH {
        return Err(io::Error::other("it is too deep"));
    }
    if found.st_mode & 0o700 != 0o700 {
        let parent = place.parent_directory()?;
        rustix::fs::chmodat(parent.as_fd(), place.file_name(), Mode::RWXU, AtFlags::empty())?;
    }
    for (below, _) in place.list()? {
        remove_all(disk, &below, depth + 1)?;
    }
    disk.remove_directory(place)
}
