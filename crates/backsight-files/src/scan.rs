//! The parallel walk: what is in the workspace now, and which of it must be read because the stat cache cannot vouch
//! for it. It opens directories only, never follows a symlink, and reports whatever it could not look at.
//!
//! A walk may be told which part of the tree to look at (`Part`): the rest is then taken from the cache, unless the walk
//! meets anything that the part does not account for, and says so.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ffi::CStr;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use backsight_core::{Code, Error, NextStep, ObjectId, Reason, RelPath, Result, Uncovered};
use rayon::Scope;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::cache::{Cache, CachedDirectory, Record, RecordKind, Stat};
use crate::ignore::{Effort, Holds, Rules, Surroundings, join, path_of};
use crate::linked::inode_with_names;
use crate::names::{Names, Span, alias_reason, names_towards};
use crate::observe::stat_of;
use crate::part::{Entered, Notes, Part};
use crate::platform;
use crate::root::Root;
use crate::tree::MAX_DEPTH;
use crate::watch::Watcher;

/// The directory Backsight keeps for itself; never captured, at any depth.
pub const OWN_DIRECTORY: &str = ".backsight";

/// So many directories are walked whatever `max_files` says.
const FEW_DIRECTORIES: u64 = 10_000;

/// What a walk covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanOptions {
    /// Patterns in `.gitignore` syntax that go before all others.
    pub exclude: Vec<String>,
    /// Files with more bytes are reported, not captured.
    pub max_file_size: u64,
    /// More files than this and the walk is refused.
    pub max_files: u64,
    /// More bytes than this to be read and stored and the capture is refused.
    pub max_new_bytes: u64,
    /// Where ignore rules outside the workspace are found.
    pub surroundings: Surroundings,
}

impl Default for ScanOptions {
    fn default() -> Self {
        ScanOptions {
            exclude: Vec::new(),
            max_file_size: 100 << 20,
            max_files: 1_000_000,
            max_new_bytes: 20 << 30,
            surroundings: Surroundings::default(),
        }
    }
}

/// Everything a walk found.
pub(crate) struct Scan {
    pub(crate) root: OwnedFd,
    /// Parents before children; the first is the workspace's root.
    pub(crate) directories: Vec<Visited>,
    /// The rules in force at the root.
    pub(crate) rules: Arc<Rules>,
}

/// How a walk ended.
pub(crate) enum Walked {
    Done(Scan),
    /// The part to look at does not account for what was found: all of it must be walked.
    Doubtful(&'static str),
}

/// One directory of the walk.
pub(crate) struct Visited {
    pub(crate) path: Vec<u8>,
    pub(crate) name: Vec<u8>,
    pub(crate) mode: u16,
    pub(crate) parent: usize,
    /// Where the cache has it.
    pub(crate) cached: Option<usize>,
    /// Its place in its parent's own order.
    pub(crate) order: u32,
    pub(crate) listing: Listing,
    /// How many files the walk counted in it.
    pub(crate) files: u64,
    /// Whether it was looked at, or is taken from the cache.
    pub(crate) looked: bool,
    /// Whether it is ignored but for some files.
    pub(crate) is_ignored: bool,
    pub(crate) notes: Notes,
    /// Inodes of its files that have other names too.
    pub(crate) linked: Vec<u64>,
    /// Rules that begin in it.
    pub(crate) entered: Option<Entered>,
}

/// What a directory holds.
pub(crate) enum Listing {
    /// Exactly what the cache says, all of it vouched for.
    Cached,
    /// At least one name is new, gone, or not vouched for.
    Fresh(Vec<Found>),
    /// It went away, or could not be read (then it is in `uncovered`).
    Nothing,
}

/// A file or symlink of the walk.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) name: Vec<u8>,
    pub(crate) kind: RecordKind,
    pub(crate) mode: u16,
    pub(crate) stat: Stat,
    /// Known without reading.
    pub(crate) id: Option<ObjectId>,
    pub(crate) trusted: bool,
    /// Whom it is for, once it was read.
    pub(crate) access: Option<crate::Access>,
    /// Its place in the directory's own order, which is the cache's: an unchanged directory reads like its record.
    pub(crate) order: u32,
}

/// What a walk starts from.
#[derive(Clone, Copy)]
pub(crate) struct ScanRequest<'a> {
    pub(crate) root: &'a Root,
    pub(crate) options: &'a ScanOptions,
    /// What was captured last: such paths stay covered whatever the ignore rules say now.
    pub(crate) cache: &'a Cache,
    /// Paths to look at even where rules ignore them.
    pub(crate) include: &'a BTreeSet<Vec<u8>>,
    pub(crate) progress: &'a (dyn Fn(u64) + Sync),
    pub(crate) cancelled: &'a (dyn Fn() -> bool + Sync),
    /// Watches every directory from before it is listed.
    pub(crate) watcher: Option<&'a Watcher>,
    /// Nothing means everything.
    pub(crate) part: Option<&'a Part>,
}

/// Walks the workspace, or the part of it that is asked for.
pub(crate) fn scan(request: &ScanRequest<'_>) -> Result<Walked> {
    let descriptor = request.root.open()?;
    let walk = Walk {
        request: *request,
        next: AtomicU32::new(1),
        files: AtomicU64::new(0),
        stop: AtomicBool::new(false),
        effort: Effort::default(),
        output: Mutex::new(Output::default()),
    };
    let options = request.options;
    let rules = match request.part {
        Some(part) => part.rules.clone(),
        None => Rules::at_root(request.root.path(), &options.surroundings, &options.exclude),
    };
    let top = Arc::new(rustix::io::dup(&descriptor).map_err(|error| Error::io("walk the workspace", error.into()))?);
    let task = Task {
        index: 0,
        parent: 0,
        name: Vec::new(),
        path: Vec::new(),
        mode: 0o755,
        cached: request.cache.position(b""),
        order: 0,
        rules: rules.clone(),
        wanted: None,
        deep: request.part.is_none_or(|part| part.is_deep(b"")),
        depth: 0,
        entered: None,
    };
    match request.part {
        // Little to do: waking other threads for it would take longer.
        Some(part) if part.dirty.len() <= 4 => {
            let queue = RefCell::new(vec![(Opened::Already(top), task)]);
            let next = || queue.borrow_mut().pop();
            while let Some((opened, task)) = next() {
                walk.visit(&Later::Queue(&queue), opened, task);
            }
        }
        _ => rayon::scope(|scope| walk.visit(&Later::Pool(scope), Opened::Already(top), task)),
    }
    let output = walk.output.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(error) = output.error {
        return Err(error);
    }
    if let Some(doubt) = output.doubt {
        return Ok(Walked::Doubtful(doubt));
    }
    let mut directories = output.directories;
    directories.sort_unstable_by_key(|(index, _)| *index);
    let directories = directories.into_iter().map(|(_, visited)| visited).collect();
    Ok(Walked::Done(Scan { root: descriptor, directories, rules }))
}

struct Walk<'a> {
    request: ScanRequest<'a>,
    next: AtomicU32,
    files: AtomicU64,
    stop: AtomicBool,
    effort: Effort,
    output: Mutex<Output>,
}

#[derive(Default)]
struct Output {
    directories: Vec<(u32, Visited)>,
    error: Option<Error>,
    doubt: Option<&'static str>,
}

/// Where a directory's subdirectories wait for their visit.
enum Later<'l, 's> {
    Pool(&'l Scope<'s>),
    Queue(&'l RefCell<Vec<(Opened, Task)>>),
}

/// A directory to be visited.
struct Task {
    index: u32,
    parent: u32,
    name: Vec<u8>,
    path: Vec<u8>,
    mode: u16,
    /// Where the cache has it.
    cached: Option<usize>,
    order: u32,
    rules: Arc<Rules>,
    /// Inside an ignored directory: the only files to look at, sorted.
    wanted: Option<Arc<Vec<Vec<u8>>>>,
    /// Whether everything below is to be looked at.
    deep: bool,
    /// How many directories are above it.
    depth: usize,
    /// Rules that begin in it, once they are known.
    entered: Option<Entered>,
}

/// How to get at the directory of a task.
enum Opened {
    Already(Arc<OwnedFd>),
    Inside(Arc<OwnedFd>),
}

/// A file or symlink whose name is still in its directory's buffer.
struct Seen {
    name: Span,
    kind: RecordKind,
    mode: u16,
    stat: Stat,
    id: Option<ObjectId>,
}

/// What one directory yields, collected before it is published under the lock.
#[derive(Default)]
struct Yield {
    seen: Vec<Seen>,
    notes: Notes,
    children: Vec<Task>,
    linked: Vec<u64>,
    /// How many names match the cache, subdirectories included.
    vouched: usize,
    entries: usize,
    files: u64,
}

impl<'a> Walk<'a> {
    fn visit<'s>(&'s self, later: &Later<'_, 's>, opened: Opened, mut task: Task) {
        if self.stop.load(Ordering::Relaxed) {
            return;
        }
        if (self.request.cancelled)() {
            return self.fail(cancelled());
        }
        let descriptor = match opened {
            Opened::Already(descriptor) => descriptor,
            Opened::Inside(parent) => match open_directory(&parent, &task.name) {
                Ok(descriptor) => Arc::new(descriptor),
                Err(error) => return self.publish_nothing(task, error),
            },
        };
        if let Some(part) = self.request.part
            && !task.deep
            && !part.is_dirty(&task.path)
        {
            return self.pass_through(later, &descriptor, task, part);
        }
        // Before the names are read: whatever changes from here on is announced.
        if let Some(watcher) = self.request.watcher {
            watcher.add(descriptor.as_fd(), &task.path);
        }
        if let Some(known) = self.visit_known(&descriptor, &mut task) {
            return self.conclude(later, &descriptor, task, &Names::default(), known);
        }
        let names = match self.names(&descriptor, &task) {
            Ok(names) => names,
            Err(error) => return self.publish_nothing(task, error),
        };
        let holds = Holds { gitignore: names.has(b".gitignore"), git: names.has(b".git") };
        if task.wanted.is_none() {
            self.enter(&descriptor, &mut task, holds);
        }
        let mut yielded = Yield::default();
        self.match_names(&descriptor, &task, &names, &mut yielded);
        yielded.files = yielded.seen.len() as u64;
        self.conclude(later, &descriptor, task, &names, yielded);
    }

    /// Goes on to the directories that are to be looked at, through one that is as the cache has it.
    fn pass_through<'s>(&'s self, later: &Later<'_, 's>, descriptor: &Arc<OwnedFd>, mut task: Task, part: &Part) {
        let Some(cached) = self.cached(&task).filter(|cached| cached.contents().is_some()) else {
            return self.doubt("a directory changed that nothing is known about");
        };
        if task.depth >= MAX_DEPTH {
            return self.doubt("a directory changed that is too deep");
        }
        if let Some(entered) = part.entered.get(&task.path).filter(|_| task.wanted.is_none()) {
            task.rules = entered.rules.clone();
        }
        let dirty: Vec<Vec<u8>> = part.below(&task.path).cloned().collect();
        let mut towards = names_towards(&dirty, &task.path);
        let mut yielded = Yield { entries: cached.len(), vouched: cached.len(), ..Yield::default() };
        for (order, record) in cached.records().enumerate().filter(|(_, record)| record.kind == RecordKind::Directory) {
            let path = join(&task.path, record.name);
            towards.retain(|name| *name != record.name);
            let wanted = match part.concerns(&path) {
                true => self.wanted(&task, &path),
                false => Wanted::Everything,
            };
            // An ignored directory is in the cache only for files that are covered all the same.
            let wanted = match wanted {
                Wanted::Everything => None,
                Wanted::Only(files) => Some(files),
                Wanted::Nothing => return self.doubt("an ignored directory changed"),
            };
            yielded.children.push(self.child(&task, record.name, path, record.mode, order as u32, wanted));
        }
        if !towards.is_empty() {
            return self.doubt("a directory changed that nothing is known about");
        }
        self.send(later, descriptor, &task, std::mem::take(&mut yielded.children));
        self.push(assumed(task));
    }

    /// The rules inside a directory. Where nothing is said to have changed they are the ones of the walk before.
    fn enter(&self, descriptor: &OwnedFd, task: &mut Task, holds: Holds) {
        let before = self.request.part.filter(|_| !task.deep).map(|part| part.entered.get(&task.path));
        let entered = match before {
            Some(Some(entered)) if entered.holds == holds => entered.clone(),
            Some(None) if !holds.any() => return,
            Some(_) => return self.doubt("a directory's ignore rules changed"),
            None if !holds.any() => return,
            None => {
                let absolute = self.absolute(&task.path);
                let directory = (absolute.as_path(), descriptor.as_fd());
                Entered { rules: task.rules.enter(&task.path, directory, holds, &self.effort), holds }
            }
        };
        task.rules = entered.rules.clone();
        task.entered = Some(entered);
    }

    fn cached(&self, task: &Task) -> Option<CachedDirectory<'a>> {
        task.cached.and_then(|position| self.request.cache.at(position))
    }

    /// Counts, sends the subdirectories on their way, and publishes what the directory yielded.
    fn conclude<'s>(
        &'s self,
        later: &Later<'_, 's>,
        descriptor: &Arc<OwnedFd>,
        task: Task,
        names: &Names,
        mut yielded: Yield,
    ) {
        let total = self.files.fetch_add(yielded.files, Ordering::Relaxed) + yielded.files;
        if total > self.request.options.max_files {
            return self.refuse(total, "files");
        }
        // Directories take as much room as files.
        let directories = u64::from(self.next.load(Ordering::Relaxed));
        if directories > self.request.options.max_files.max(FEW_DIRECTORIES) {
            return self.refuse(directories, "directories");
        }
        if (total - yielded.files) / 4096 != total / 4096 {
            (self.request.progress)(total);
        }
        if let Err(error) = self.effort.check() {
            return self.fail(error);
        }
        let is_new_name = |inode: &u64| self.request.part.is_some_and(|part| !part.linked.knows(*inode));
        if yielded.linked.iter().any(is_new_name) {
            return self.doubt("a file got another name by a hard link");
        }
        self.send(later, descriptor, &task, std::mem::take(&mut yielded.children));
        self.publish(task, names, yielded);
    }

    /// Lets subdirectories be visited, or takes them from the cache.
    fn send<'s>(&'s self, later: &Later<'_, 's>, descriptor: &Arc<OwnedFd>, task: &Task, children: Vec<Task>) {
        for mut child in children {
            if let Some(part) = self.request.part {
                let known = self.cached(&child).and_then(|known| known.contents());
                child.deep = task.deep || known.is_none() || part.is_deep(&child.path);
                if !child.deep && !part.concerns(&child.path) {
                    self.push(assumed(child));
                    continue;
                }
            }
            let parent = Opened::Inside(descriptor.clone());
            match later {
                Later::Pool(scope) => {
                    scope.spawn(move |scope| self.visit(&Later::Pool(scope), parent, child));
                }
                Later::Queue(queue) => queue.borrow_mut().push((parent, child)),
            }
        }
    }

    fn doubt(&self, why: &'static str) {
        self.stop.store(true, Ordering::Relaxed);
        self.output.lock().unwrap_or_else(PoisonError::into_inner).doubt.get_or_insert(why);
    }

    fn fail(&self, error: Error) {
        self.stop.store(true, Ordering::Relaxed);
        self.output.lock().unwrap_or_else(PoisonError::into_inner).error.get_or_insert(error);
    }

    fn push(&self, visited: (u32, Visited)) {
        self.output.lock().unwrap_or_else(PoisonError::into_inner).directories.push(visited);
    }

    /// The quick way for a directory that is exactly as the cache has it, name by name in its own order: no name is
    /// copied, sorted or asked about. At the first difference it gives up and the thorough way begins again.
    fn visit_known(&self, descriptor: &OwnedFd, task: &mut Task) -> Option<Yield> {
        let cached = self.cached(task).filter(|_| task.wanted.is_none())?;
        let mut yielded = Yield::default();
        let mut directories: Vec<(Record<'_>, u32)> = Vec::new();
        let mut holds = Holds::default();
        let mut records = cached.records();
        let mut look = |name: &CStr| -> Option<()> {
            match name.to_bytes() {
                b".git" => {
                    holds.git = true;
                    reserve(b".git", &task.path, &mut yielded);
                }
                own if own == OWN_DIRECTORY.as_bytes() => reserve(own, &task.path, &mut yielded),
                bytes => {
                    let record = records.next().filter(|record| record.name == bytes)?;
                    holds.gitignore |= bytes == b".gitignore";
                    let stat = rustix::fs::statat(descriptor, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
                    if !is_as_recorded(&record, &stat, self.request.options.max_file_size) {
                        return None;
                    }
                    match record.kind {
                        RecordKind::Directory => directories.push((record, yielded.entries as u32)),
                        _ => yielded.files += 1,
                    }
                    yielded.linked.extend(inode_with_names(&stat));
                    yielded.entries += 1;
                }
            }
            Some(())
        };
        if !platform::list(descriptor, |name, _| look(name).is_some()).ok()? {
            return None;
        }
        yielded.vouched = yielded.entries;
        if yielded.entries != cached.len() {
            return None;
        }
        if !directories.is_empty() && task.depth >= MAX_DEPTH {
            return None;
        }
        self.enter(descriptor, task, holds);
        let mut children = Vec::with_capacity(directories.len());
        for (record, order) in directories {
            let path = join(&task.path, record.name);
            if task.rules.is_ignored(&path, true, &self.effort) {
                return None;
            }
            children.push((record, path, order));
        }
        // Only now that nothing sends us the thorough way: every child that is made must be published.
        let child =
            |(record, path, order): (Record<'_>, _, _)| self.child(task, record.name, path, record.mode, order, None);
        yielded.children = children.into_iter().map(child).collect();
        Some(yielded)
    }

    fn child(
        &self,
        task: &Task,
        name: &[u8],
        path: Vec<u8>,
        mode: u16,
        order: u32,
        wanted: Option<Arc<Vec<Vec<u8>>>>,
    ) -> Task {
        Task {
            index: self.next.fetch_add(1, Ordering::Relaxed),
            parent: task.index,
            name: name.to_vec(),
            cached: self.request.cache.position(&path),
            path,
            mode,
            order,
            rules: task.rules.clone(),
            wanted,
            deep: true,
            depth: task.depth + 1,
            entered: None,
        }
    }

    fn absolute(&self, path: &[u8]) -> PathBuf {
        self.request.root.path().join(path_of(path))
    }

    /// The names to look at, sorted.
    fn names(&self, descriptor: &OwnedFd, task: &Task) -> Result<Names, Errno> {
        let mut names = Names::default();
        // The quick way may have read some of it already.
        rustix::fs::seek(descriptor, rustix::fs::SeekFrom::Start(0))?;
        if let Some(wanted) = &task.wanted {
            names_towards(wanted, &task.path).into_iter().for_each(|name| names.push(name, FileType::Unknown));
            return Ok(names);
        }
        let is_whole = platform::list(descriptor, |name, kind| {
            let has_room = !names.is_full();
            if has_room {
                names.push(name.to_bytes(), kind);
            }
            has_room
        })?;
        if !is_whole {
            return Err(Errno::OVERFLOW);
        }
        names.sort();
        Ok(names)
    }

    fn match_names(&self, descriptor: &OwnedFd, task: &Task, names: &Names, yielded: &mut Yield) {
        let cached = self.cached(task);
        let mut records: Vec<Record<'_>> = cached.iter().flat_map(CachedDirectory::records).collect();
        records.sort_unstable_by_key(|record| record.name);
        let mut records = records.into_iter().peekable();
        for &(span, kind) in &names.list {
            let name = names.get(span);
            if is_own_or_git(name, &task.path, yielded) {
                continue;
            }
            while records.next_if(|record| record.name < name).is_some() {}
            let known = records.next_if(|record| record.name == name);
            self.match_name(descriptor, task, Named { name, span, kind, known }, yielded);
        }
    }

    fn match_name(&self, descriptor: &OwnedFd, task: &Task, named: Named<'_>, yielded: &mut Yield) {
        let path = || join(&task.path, named.name);
        // What was captured before stays covered, so only new files are asked about; directories are, further down.
        let asks = named.known.is_none() && task.wanted.is_none();
        let is_file = !matches!(named.kind, FileType::Directory | FileType::Unknown);
        if asks && is_file && self.is_hidden_file(task, &path()) {
            // What is written to it is announced in this directory alone, also when it has another name that is not ignored.
            let look = || rustix::fs::statat(descriptor, named.name, AtFlags::SYMLINK_NOFOLLOW).ok();
            let stat = self.request.watcher.and_then(|_| look());
            yielded.linked.extend(stat.as_ref().and_then(inode_with_names));
            return yielded.notes.ignored.push(path());
        }
        let stat = match rustix::fs::statat(descriptor, named.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => return,
            Err(_) => return report(yielded, path(), Reason::Unreadable),
        };
        let mode = (stat.st_mode & 0o7777) as u16;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => self.match_directory(task, &named, mode, yielded),
            kind @ (FileType::RegularFile | FileType::Symlink) => {
                yielded.linked.extend(inode_with_names(&stat));
                if asks && !is_file && self.is_hidden_file(task, &path()) {
                    return yielded.notes.ignored.push(path());
                }
                if kind == FileType::RegularFile && stat.st_size as u64 > self.request.options.max_file_size {
                    return report(yielded, path(), Reason::TooLarge);
                }
                let kind = if kind == FileType::Symlink { RecordKind::Symlink } else { RecordKind::File };
                match_file(&named, kind, mode, stat_of(&stat), yielded);
            }
            _ => report(yielded, path(), Reason::Special),
        }
    }

    fn is_hidden_file(&self, task: &Task, path: &[u8]) -> bool {
        task.rules.is_ignored(path, false, &self.effort)
            && !self.request.include.contains(path)
            && !task.rules.is_tracked(path)
    }

    fn match_directory(&self, task: &Task, named: &Named<'_>, mode: u16, yielded: &mut Yield) {
        let path = join(&task.path, named.name);
        let wanted = self.wanted(task, &path);
        if task.wanted.is_none() && !matches!(wanted, Wanted::Everything) {
            yielded.notes.ignored.push(path.clone());
        }
        let wanted = match wanted {
            Wanted::Everything => None,
            Wanted::Only(files) => Some(files),
            Wanted::Nothing => return,
        };
        if task.depth >= MAX_DEPTH {
            return report(yielded, path, Reason::TooDeep);
        }
        let same = named.known.is_some_and(|record| record.kind == RecordKind::Directory && record.mode == mode);
        yielded.entries += 1;
        yielded.vouched += usize::from(same);
        yielded.children.push(self.child(task, named.name, path, mode, named.span.order, wanted));
    }

    /// What of a subdirectory is to be looked at.
    fn wanted(&self, task: &Task, path: &[u8]) -> Wanted {
        if let Some(files) = &task.wanted {
            return Wanted::Only(files.clone());
        }
        if !task.rules.is_ignored(path, true, &self.effort) {
            return Wanted::Everything;
        }
        let files = self.wanted_below(task, path);
        if files.is_empty() { Wanted::Nothing } else { Wanted::Only(Arc::new(files)) }
    }

    /// Files inside an ignored directory that are covered all the same: captured before, tracked by Git, or asked for.
    fn wanted_below(&self, task: &Task, directory: &[u8]) -> Vec<Vec<u8>> {
        let mut files = self.request.cache.files_below(directory);
        files.extend(task.rules.tracked_below(directory));
        let prefix = [directory, b"/"].concat();
        files
            .extend(self.request.include.range(prefix.clone()..).take_while(|path| path.starts_with(&prefix)).cloned());
        files.sort_unstable();
        files.dedup();
        files
    }

    fn publish(&self, task: Task, names: &Names, mut yielded: Yield) {
        let cached = self.cached(&task).map(|directory| directory.len());
        let unchanged = cached == Some(yielded.entries) && yielded.vouched == yielded.entries;
        let found = |seen: Seen| {
            let Seen { name, kind, mode, stat, id } = seen;
            let (trusted, order) = (id.is_some(), name.order);
            Found { name: names.get(name).to_vec(), kind, mode, stat, id, trusted, access: None, order }
        };
        let seen = std::mem::take(&mut yielded.seen);
        let listing = if unchanged { Listing::Cached } else { Listing::Fresh(seen.into_iter().map(found).collect()) };
        self.push(visited(task, listing, yielded));
    }

    fn publish_nothing(&self, task: Task, error: Errno) {
        let reason = match error {
            Errno::NOENT => None,
            // It became a file or a symlink between the listing and now.
            Errno::NOTDIR | Errno::LOOP => Some(Reason::Raced),
            _ => Some(Reason::Unreadable),
        };
        let mut yielded = Yield::default();
        match (reason, RelPath::new(task.path.as_slice())) {
            (Some(reason), Ok(path)) => yielded.notes.uncovered.push(Uncovered::new(path, reason)),
            (Some(_), Err(_)) => self.fail(Error::io("read the workspace's directory", error.into())),
            (None, _) => {}
        }
        self.push(visited(task, Listing::Nothing, yielded));
    }

    fn refuse(&self, files: u64, what: &str) {
        let limit = self.request.options.max_files;
        let error =
            Error::new(Code::TooLarge, format!("the workspace holds more than {limit} {what} that are not ignored"))
                .then("ignore what need not be kept", NextStep::configure("exclude", "[\"data/\"]"))
                .or("allow more", NextStep::configure("max_files", limit.saturating_mul(2).max(files)))
                .with_details(serde_json::json!({ "max_files": limit }));
        self.fail(error);
    }
}

/// What of a directory is to be looked at.
enum Wanted {
    Everything,
    /// It is ignored but for these files, sorted.
    Only(Arc<Vec<Vec<u8>>>),
    Nothing,
}

/// What whoever took a request back is told.
pub(crate) fn cancelled() -> Error {
    Error::new(Code::Cancelled, "the request was taken back; nothing was recorded and no file changed")
}

fn visited(task: Task, listing: Listing, yielded: Yield) -> (u32, Visited) {
    let visited = Visited {
        path: task.path,
        name: task.name,
        mode: task.mode,
        parent: task.parent as usize,
        cached: task.cached,
        order: task.order,
        listing,
        files: yielded.files,
        looked: true,
        is_ignored: task.wanted.is_some(),
        notes: yielded.notes,
        linked: yielded.linked,
        entered: task.entered,
    };
    (task.index, visited)
}

/// A directory that is as the cache has it, since nothing says otherwise.
fn assumed(task: Task) -> (u32, Visited) {
    let (index, visited) = visited(task, Listing::Cached, Yield::default());
    (index, Visited { looked: false, ..visited })
}

/// A name with everything known about it before it is looked at.
struct Named<'a> {
    name: &'a [u8],
    span: Span,
    kind: FileType,
    known: Option<Record<'a>>,
}

/// Whether a path is what the cache says, and the cache can vouch for its content.
fn is_as_recorded(record: &Record<'_>, stat: &rustix::fs::Stat, max_file_size: u64) -> bool {
    let mode = (stat.st_mode & 0o7777) as u16;
    match (FileType::from_raw_mode(stat.st_mode), record.kind) {
        (FileType::Directory, RecordKind::Directory) => mode == record.mode,
        (FileType::RegularFile, RecordKind::File) => {
            record.trusted && mode == record.mode && stat_of(stat) == record.stat && record.stat.size <= max_file_size
        }
        (FileType::Symlink, RecordKind::Symlink) => record.trusted && stat_of(stat) == record.stat,
        _ => false,
    }
}

fn match_file(named: &Named<'_>, kind: RecordKind, mode: u16, stat: Stat, yielded: &mut Yield) {
    let same = named.known.filter(|record| record.trusted && record.kind == kind && record.stat == stat);
    yielded.entries += 1;
    yielded.vouched += usize::from(same.is_some_and(|record| record.mode == mode || kind == RecordKind::Symlink));
    yielded.seen.push(Seen { name: named.span, kind, mode, stat, id: same.map(|record| record.id) });
}

/// Skips what is Git's or ours; other spellings of the two are reported, since some systems take them for it.
fn is_own_or_git(name: &[u8], directory: &[u8], yielded: &mut Yield) -> bool {
    if name == OWN_DIRECTORY.as_bytes() || name == b".git" {
        reserve(name, directory, yielded);
        return true;
    }
    let Some(reason) = alias_reason(name) else { return false };
    report(yielded, join(directory, name), reason);
    true
}

/// Notes what occupies a directory without being anybody's business. The root is never removed, so there it is no news.
fn reserve(name: &[u8], directory: &[u8], yielded: &mut Yield) {
    if !directory.is_empty() {
        yielded.notes.reserved.push(join(directory, name));
    }
}

fn report(yielded: &mut Yield, path: Vec<u8>, reason: Reason) {
    if let Ok(path) = RelPath::new(path) {
        yielded.notes.uncovered.push(Uncovered::new(path, reason));
    }
}

pub(crate) fn open_directory(parent: impl AsFd, name: &[u8]) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(parent, name, flags, Mode::empty())
}

/// Opens a directory below `root`, part by part, through no symlink.
pub(crate) fn open_below(root: &OwnedFd, path: &[u8]) -> Result<OwnedFd, Errno> {
    let mut current = rustix::io::dup(root)?;
    for part in path.split(|&byte| byte == b'/').filter(|part| !part.is_empty()) {
        current = open_directory(&current, part)?;
    }
    Ok(current)
}
