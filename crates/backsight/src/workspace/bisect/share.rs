//! Puts a directory that no snapshot holds beside the files of a step: by reflinks where the file system has them, else by
//! hard links, or as copies. What stands behind a hard link is the workspace's own file, so it is looked at afterwards.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

use backsight_core::{Code, Error, RelPath, Result};

use crate::request::Bisect;

/// A directory to put beside the files.
#[derive(Clone)]
pub(super) struct Share {
    path: RelPath,
    by: By,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Link,
    Copy,
}

/// The workspace's files that have a hard link outside, each as it was when it was linked.
#[derive(Default)]
pub(super) struct Linked(BTreeMap<PathBuf, AsLinked>);

/// What shows that a file was written to, or its permissions changed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct AsLinked {
    /// When anything of it changed last, which no program can set.
    changed: (i64, i64),
    links: u64,
    written: (i64, i64),
    size: u64,
    mode: u32,
}

impl AsLinked {
    fn of(found: &fs::Metadata) -> AsLinked {
        AsLinked {
            changed: (found.ctime(), found.ctime_nsec()),
            links: found.nlink(),
            written: (found.mtime(), found.mtime_nsec()),
            size: found.len(),
            mode: found.mode(),
        }
    }

    /// A link that was removed changes the file's own time too; then the rest decides.
    fn is_changed(&self, now: &AsLinked) -> bool {
        let is_same = (self.written, self.size, self.mode) == (now.written, now.size, now.mode);
        !is_same || (self.changed != now.changed && self.links == now.links)
    }
}

impl Linked {
    fn add(&mut self, path: PathBuf, now: AsLinked) {
        // Every link changes the file's own time: the last one counts.
        let known = self.0.entry(path).or_insert(now);
        *known = now.max(*known);
    }

    /// All of both.
    pub(super) fn with(mut self, other: Linked) -> Linked {
        other.0.into_iter().for_each(|(path, now)| self.add(path, now));
        self
    }
}

/// What a request asks to be put beside the files; each must be a directory of the workspace.
pub(super) fn of(request: &Bisect, root: &Path) -> Result<Vec<Share>> {
    let shared = request.share.iter().map(|path| (path, By::Link));
    let all = shared.chain(request.copy.iter().map(|path| (path, By::Copy)));
    let check = |(path, by): (&RelPath, By)| match fs::symlink_metadata(root.join(path.as_path())) {
        Ok(found) if found.is_dir() => Ok(Share { path: path.clone(), by }),
        Ok(_) => Err(Error::new(Code::PathNotFound, format!("`{path}` is not a directory, so it cannot be shared"))),
        Err(_) => Err(Error::new(Code::PathNotFound, format!("there is no directory `{path}` to share"))),
    };
    all.map(check).collect()
}

impl Share {
    /// The directory, from the root.
    pub(super) fn path(&self) -> &RelPath {
        &self.path
    }

    /// Puts it into `into`, if it is not there yet and the directory it lies in is.
    pub(super) fn put(&self, root: &Path, into: &Path, linked: &mut Linked) -> Result<()> {
        let (from, to) = (root.join(self.path.as_path()), into.join(self.path.as_path()));
        let lies_in = to.parent().is_some_and(|parent| fs::symlink_metadata(parent).is_ok_and(|found| found.is_dir()));
        if !lies_in || fs::symlink_metadata(&to).is_ok() {
            return Ok(());
        }
        put_directory(&from, &to, self.by, linked).map_err(|error| Error::io(format!("share `{}`", self.path), error))
    }
}

/// The files that were written to since they were linked, or whose permissions changed.
pub(super) fn changed(linked: &Linked, root: &Path) -> Vec<RelPath> {
    let is_changed = |(path, before): &(&PathBuf, &AsLinked)| {
        fs::symlink_metadata(path).is_ok_and(|found| before.is_changed(&AsLinked::of(&found)))
    };
    let below = |(path, _): (&PathBuf, _)| RelPath::new(path.strip_prefix(root).ok()?.as_os_str().as_bytes()).ok();
    linked.0.iter().filter(is_changed).filter_map(below).collect()
}

/// Directories by a loop: those of a package manager are deep.
fn put_directory(from: &Path, to: &Path, by: By, linked: &mut Linked) -> io::Result<()> {
    let mut open = vec![(from.to_owned(), to.to_owned())];
    while let Some((from, to)) = open.pop() {
        fs::create_dir(&to)?;
        for entry in fs::read_dir(&from)? {
            let entry = entry?;
            let (source, target, kind) = (entry.path(), to.join(entry.file_name()), entry.file_type()?);
            if kind.is_dir() {
                open.push((source, target));
            } else if kind.is_symlink() {
                symlink(fs::read_link(&source)?, &target)?;
            } else if kind.is_file() {
                put_file(&source, &target, by, linked)?;
            }
        }
        fs::set_permissions(&to, fs::symlink_metadata(&from)?.permissions())?;
    }
    Ok(())
}

fn put_file(source: &Path, target: &Path, by: By, linked: &mut Linked) -> io::Result<()> {
    if reflink(source, target)? {
        return Ok(());
    }
    if by == By::Link && fs::hard_link(source, target).is_ok() {
        let found = fs::symlink_metadata(source)?;
        linked.add(source.to_owned(), AsLinked::of(&found));
        return Ok(());
    }
    fs::copy(source, target)?;
    keep_times(source, target)
}

#[cfg(target_os = "linux")]
fn share_blocks(to: &File, from: &File) -> bool {
    rustix::fs::ioctl_ficlone(to, from).is_ok()
}

/// Elsewhere a file is linked or copied.
#[cfg(not(target_os = "linux"))]
fn share_blocks(_: &File, _: &File) -> bool {
    false
}

/// A copy that shares its blocks until one of the two is written to; false where the file system has no such thing.
fn reflink(source: &Path, target: &Path) -> io::Result<bool> {
    let (from, to) = (File::open(source)?, File::create_new(target)?);
    if !share_blocks(&to, &from) {
        drop(to);
        fs::remove_file(target)?;
        return Ok(false);
    }
    fs::set_permissions(target, from.metadata()?.permissions())?;
    keep_times(source, target)?;
    Ok(true)
}

/// Build tools take a copy with a new time for a change.
fn keep_times(source: &Path, target: &Path) -> io::Result<()> {
    let times = fs::FileTimes::new().set_modified(fs::symlink_metadata(source)?.modified()?);
    File::options().read(true).open(target)?.set_times(times)
}
