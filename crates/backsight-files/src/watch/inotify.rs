//! What the kernel says changed, directory by directory: inotify, read at the start of a capture.
//!
//! An event is in the queue before the system call that caused it returns, so reading the queue tells of every write
//! that ended before. Nothing runs meanwhile: there is no thread and no delay. What the kernel cannot promise becomes a
//! doubt, and a doubt means that everything is walked.

use std::collections::HashMap;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

use super::News;
use crate::ignore::join;
use crate::platform;
use crate::scan::OWN_DIRECTORY;

impl News {
    fn doubt(&mut self, why: &str) {
        self.doubt.get_or_insert_with(|| why.to_owned());
    }

    /// A directory went. The kernel may say so long after its parent's event, when the last process left it.
    fn gone(&mut self, path: Vec<u8>) {
        let parent = path.iter().rposition(|&byte| byte == b'/').map_or(&b""[..], |at| &path[..at]).to_vec();
        self.dirty.extend([(parent, false), (path, true)]);
    }
}

/// Watches directories of one workspace.
#[derive(Debug)]
pub(crate) struct Watcher {
    queue: OwnedFd,
    watches: Mutex<Watches>,
}

#[derive(Debug, Default)]
struct Watches {
    /// The directory of each watch and the walk that last saw it there.
    paths: HashMap<i32, (Vec<u8>, u64)>,
    /// Whether changes on a device can be relied on to be announced.
    devices: HashMap<u64, bool>,
    walk: u64,
    /// What went wrong since the queue was last read.
    trouble: Option<String>,
}

impl Watcher {
    pub(crate) fn new() -> Result<Watcher, Errno> {
        let queue = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        Ok(Watcher { queue, watches: Mutex::default() })
    }

    fn lock(&self) -> MutexGuard<'_, Watches> {
        self.watches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many directories are watched.
    pub(crate) fn directories(&self) -> u64 {
        self.lock().paths.len() as u64
    }

    /// Begins a walk over everything.
    pub(crate) fn begin_walk(&self) {
        let mut watches = self.lock();
        watches.walk += 1;
        watches.trouble = None;
    }

    /// Ends it: directories it did not come by are not part of the workspace any more.
    pub(crate) fn end_walk(&self) {
        let mut watches = self.lock();
        let walk = watches.walk;
        let stale: Vec<i32> =
            watches.paths.iter().filter(|(_, (_, seen))| *seen < walk).map(|(watch, _)| *watch).collect();
        for watch in stale {
            watches.paths.remove(&watch);
            // It may be gone already; then there is nothing to remove.
            let _ = inotify::remove_watch(&self.queue, watch);
        }
    }

    /// Watches an open directory, which is at `path`. If that cannot be done it will be in the news.
    pub(crate) fn add(&self, directory: BorrowedFd<'_>, path: &[u8]) {
        // The lock is held from before the kernel knows the watch until we know its path: a capture that reads an event of it
        // meanwhile waits here.
        let mut watches = self.lock();
        if watches.trouble.is_some() {
            return;
        }
        if let Err(trouble) = watches.add(&self.queue, directory, path) {
            watches.trouble = Some(trouble);
        }
    }

    /// Everything announced since the last call.
    pub(crate) fn news(&self) -> News {
        let mut buffer = [MaybeUninit::<u8>::uninit(); 64 << 10];
        let mut reader = Reader::new(&self.queue, &mut buffer);
        let mut news = News::default();
        loop {
            match reader.next() {
                Ok(event) => {
                    let name = event.file_name().map(|name| name.to_bytes());
                    self.lock().note(event.wd(), event.events(), name, &mut news);
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Err(error) => {
                    news.doubt = Some(format!("the kernel's events cannot be read: {error}"));
                    break;
                }
            }
        }
        if let Some(trouble) = &self.lock().trouble {
            news.doubt.get_or_insert_with(|| trouble.clone());
        }
        news
    }
}

impl Watches {
    fn add(&mut self, queue: &OwnedFd, directory: BorrowedFd<'_>, path: &[u8]) -> Result<(), String> {
        let failed = |error: Errno| match error {
            Errno::NOSPC => "the system allows no more watches (fs.inotify.max_user_watches)".to_owned(),
            error => format!("`{}` cannot be watched: {error}", backsight_core::quote(path)),
        };
        let device = platform::device_of(&rustix::fs::fstat(directory).map_err(failed)?);
        let is_local = match self.devices.get(&device) {
            Some(known) => *known,
            None => {
                let is_local = platform::is_local(directory).map_err(failed)?;
                self.devices.insert(device, is_local);
                is_local
            }
        };
        if !is_local {
            return Err(format!("`{}` is on a file system that others may change", backsight_core::quote(path)));
        }
        // Through the descriptor, so that what is watched is what will be listed, whatever its path leads to by now.
        let link = format!("/proc/self/fd/{}", directory.as_raw_fd());
        let events = WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MODIFY
            | WatchFlags::ATTRIB
            | WatchFlags::CLOSE_WRITE
            | WatchFlags::MOVE
            | WatchFlags::DELETE_SELF
            | WatchFlags::MOVE_SELF;
        let flags = events | WatchFlags::ONLYDIR | WatchFlags::EXCL_UNLINK;
        let watch = inotify::add_watch(queue, link.as_str(), flags).map_err(failed)?;
        let before = self.paths.insert(watch, (path.to_vec(), self.walk));
        match before {
            // The kernel knows directories, not paths: of one that is at two places it would name either.
            Some((other, walk)) if other != path && walk == self.walk => Err(format!(
                "`{}` is the same directory as `{}`",
                backsight_core::quote(path),
                backsight_core::quote(&other)
            )),
            _ => Ok(()),
        }
    }

    fn note(&mut self, watch: i32, events: ReadFlags, name: Option<&[u8]>, news: &mut News) {
        if events.contains(ReadFlags::QUEUE_OVERFLOW) {
            return news.doubt("more happened than the kernel's queue of events holds");
        }
        if events.contains(ReadFlags::UNMOUNT) {
            return news.doubt("a file system was unmounted");
        }
        let Some((path, _)) = self.paths.get(&watch) else { return };
        let path = path.clone();
        if events.contains(ReadFlags::IGNORED) {
            self.paths.remove(&watch);
            return news.gone(path);
        }
        let is_directory = events.contains(ReadFlags::ISDIR);
        match name {
            None if events.contains(ReadFlags::MOVE_SELF) => news.doubt("a directory was moved"),
            None if events.contains(ReadFlags::DELETE_SELF) => news.gone(path),
            None => news.dirty.push((path, false)),
            // Ours, at any depth; it is never captured.
            Some(name) if name == OWN_DIRECTORY.as_bytes() => {}
            Some(b".gitignore") => news.doubt("ignore rules changed"),
            Some(b".git") => news.doubt("a Git repository came or went"),
            // Its watches, and those below it, speak of where it was.
            Some(_) if is_directory && events.contains(ReadFlags::MOVED_FROM) => news.doubt("a directory was moved"),
            Some(name) if is_directory => {
                let child = join(&path, name);
                news.dirty.extend([(path, false), (child, true)]);
            }
            Some(_) => news.dirty.push((path, false)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::os::fd::AsFd;

    use super::*;

    fn watch(watcher: &Watcher, at: &std::path::Path, path: &[u8]) {
        watcher.add(File::open(at).unwrap().as_fd(), path);
    }

    #[test]
    fn a_write_is_announced_when_it_has_returned() {
        let directory = tempfile::tempdir().unwrap();
        let watcher = Watcher::new().unwrap();
        watcher.begin_walk();
        watch(&watcher, directory.path(), b"");
        for round in 0..100 {
            fs::write(directory.path().join("file"), round.to_string()).unwrap();
            let news = watcher.news();
            assert!(news.doubt.is_none() && news.dirty.contains(&(Vec::new(), false)), "{news:?}");
        }
        assert!(watcher.news().dirty.is_empty());
    }

    #[test]
    fn what_cannot_be_watched_is_doubted_until_a_walk_succeeds() {
        let directory = tempfile::tempdir().unwrap();
        let watcher = Watcher::new().unwrap();
        watcher.begin_walk();
        watch(&watcher, std::path::Path::new("/proc"), b"proc");
        assert!(watcher.news().doubt.is_some_and(|doubt| doubt.contains("file system")));
        assert!(watcher.news().doubt.is_some(), "asking does not settle it");
        watcher.begin_walk();
        watch(&watcher, directory.path(), b"");
        watcher.end_walk();
        assert!(watcher.news().doubt.is_none());
        assert_eq!(watcher.directories(), 1);
    }

    #[test]
    fn one_directory_at_two_places_is_doubted() {
        let directory = tempfile::tempdir().unwrap();
        let watcher = Watcher::new().unwrap();
        watcher.begin_walk();
        watch(&watcher, directory.path(), b"a");
        watch(&watcher, directory.path(), b"b");
        assert!(watcher.news().doubt.is_some_and(|doubt| doubt.contains("same directory")));
        // By the next walk it was moved.
        watcher.begin_walk();
        watch(&watcher, directory.path(), b"b");
        watcher.end_walk();
        fs::write(directory.path().join("file"), "x").unwrap();
        let news = watcher.news();
        assert_eq!((news.doubt, news.dirty.first()), (None, Some(&(b"b".to_vec(), false))));
    }

    #[test]
    fn a_directory_that_a_walk_did_not_meet_is_not_watched_any_more() {
        let directory = tempfile::tempdir().unwrap();
        let watcher = Watcher::new().unwrap();
        watcher.begin_walk();
        watch(&watcher, directory.path(), b"gone");
        watcher.begin_walk();
        watcher.end_walk();
        fs::write(directory.path().join("file"), "x").unwrap();
        assert!(watcher.news().dirty.is_empty());
        assert_eq!(watcher.directories(), 0);
    }
}
