//! The parallel walk: what is in the workspace now, and which of it must be read because the stat cache cannot vouch
//! for it. It opens directories only, never follows a symlink, and reports whatever it could not look at.

use std::collections::BTreeSet;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use backsight_core::{Code, Error, ObjectId, Reason, RelPath, Result, Uncovered};
use rayon::Scope;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir};
use rustix::io::Errno;

use crate::cache::{Cache, CachedDirectory, FileTime, Record, RecordKind, Stat};
use crate::ignore::{Holds, Rules, Surroundings, join};

/// The directory Backsight keeps for itself; never captured, at any depth.
pub const OWN_DIRECTORY: &str = ".backsight";

/// What a walk covers.
#[derive(Clone, Debug)]
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
    pub(crate) files: u64,
    /// Paths an ignore rule hides; a directory stands for what is below it.
    pub(crate) ignored: Vec<Vec<u8>>,
    pub(crate) uncovered: Vec<Uncovered>,
    /// What is Git's or Backsight's own, below the root.
    pub(crate) reserved: Vec<Vec<u8>>,
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
    /// Its place in the directory's own order, in which the cache keeps names: an unchanged directory then reads
    /// exactly like its record.
    pub(crate) order: u32,
}

/// Walks `root`. `cache` says what was captured last: such paths stay covered whatever the ignore rules say now.
/// `include` names paths to look at even where rules ignore them.
pub(crate) fn scan(
    root: &Path,
    options: &ScanOptions,
    cache: &Cache,
    include: &BTreeSet<Vec<u8>>,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Scan> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let descriptor = rustix::fs::open(root, flags, Mode::empty())
        .map_err(|error| Error::io(format!("open the workspace `{}`", root.display()), error.into()))?;
    let walk = Walk {
        root,
        options,
        cache,
        include,
        progress,
        next: AtomicU32::new(1),
        files: AtomicU64::new(0),
        stop: AtomicBool::new(false),
        output: Mutex::new(Output::default()),
    };
    let rules = Rules::at_root(root, &options.surroundings, &options.exclude);
    let top = Arc::new(rustix::io::dup(&descriptor).map_err(|error| Error::io("walk the workspace", error.into()))?);
    let task = Task {
        index: 0,
        parent: 0,
        name: Vec::new(),
        path: Vec::new(),
        mode: 0o755,
        cached: cache.position(b""),
        order: 0,
        rules,
        wanted: None,
    };
    rayon::scope(|scope| walk.visit(scope, Opened::Already(top), task));
    let output = walk.output.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(error) = output.error {
        return Err(error);
    }
    let mut directories = output.directories;
    directories.sort_unstable_by_key(|(index, _)| *index);
    Ok(Scan {
        root: descriptor,
        directories: directories.into_iter().map(|(_, visited)| visited).collect(),
        files: walk.files.load(Ordering::Relaxed),
        ignored: output.ignored,
        uncovered: output.uncovered,
        reserved: output.reserved,
    })
}

struct Walk<'a> {
    root: &'a Path,
    options: &'a ScanOptions,
    cache: &'a Cache,
    include: &'a BTreeSet<Vec<u8>>,
    progress: &'a (dyn Fn(u64) + Sync),
    next: AtomicU32,
    files: AtomicU64,
    stop: AtomicBool,
    output: Mutex<Output>,
}

#[derive(Default)]
struct Output {
    directories: Vec<(u32, Visited)>,
    ignored: Vec<Vec<u8>>,
    uncovered: Vec<Uncovered>,
    reserved: Vec<Vec<u8>>,
    error: Option<Error>,
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
}

/// How to get at the directory of a task.
enum Opened {
    Already(Arc<OwnedFd>),
    Inside(Arc<OwnedFd>),
}

/// The names of a directory, sorted, with what the directory itself says about each. One buffer holds them all: most
/// directories are as the cache says, and then no name is ever copied.
#[derive(Default)]
struct Names {
    bytes: Vec<u8>,
    list: Vec<(Span, FileType)>,
}

/// Where a name is in its buffer, and which it was in the directory's own order.
#[derive(Clone, Copy)]
struct Span {
    start: u32,
    length: u16,
    order: u32,
}

impl Names {
    fn push(&mut self, name: &[u8], kind: FileType) {
        let span = Span { start: self.bytes.len() as u32, length: name.len() as u16, order: self.list.len() as u32 };
        self.bytes.extend_from_slice(name);
        self.list.push((span, kind));
    }

    fn get(&self, span: Span) -> &[u8] {
        let start = span.start as usize;
        &self.bytes[start..start + usize::from(span.length)]
    }

    fn sort(&mut self) {
        let mut list = std::mem::take(&mut self.list);
        list.sort_unstable_by(|a, b| self.get(a.0).cmp(self.get(b.0)));
        self.list = list;
    }

    fn has(&self, name: &[u8]) -> bool {
        self.list.binary_search_by(|(span, _)| self.get(*span).cmp(name)).is_ok()
    }
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
    ignored: Vec<Vec<u8>>,
    uncovered: Vec<Uncovered>,
    reserved: Vec<Vec<u8>>,
    children: Vec<Task>,
    /// How many names match the cache, subdirectories included.
    vouched: usize,
    entries: usize,
    files: u64,
}

impl<'a> Walk<'a> {
    fn visit<'s>(&'s self, scope: &Scope<'s>, opened: Opened, mut task: Task) {
        if self.stop.load(Ordering::Relaxed) {
            return;
        }
        let descriptor = match opened {
            Opened::Already(descriptor) => descriptor,
            Opened::Inside(parent) => match open_directory(&parent, &task.name) {
                Ok(descriptor) => Arc::new(descriptor),
                Err(error) => return self.publish_nothing(task, error),
            },
        };
        if let Some(known) = self.visit_known(&descriptor, &mut task) {
            return self.conclude(scope, &descriptor, task, &Names::default(), known);
        }
        let names = match self.names(&descriptor, &task) {
            Ok(names) => names,
            Err(error) => return self.publish_nothing(task, error),
        };
        let holds = Holds { gitignore: names.has(b".gitignore"), git: names.has(b".git") };
        if holds.any() && task.wanted.is_none() {
            task.rules = task.rules.enter(&task.path, &self.absolute(&task.path), holds);
        }
        let mut yielded = Yield::default();
        self.match_names(&descriptor, &task, &names, &mut yielded);
        yielded.files = yielded.seen.len() as u64;
        self.conclude(scope, &descriptor, task, &names, yielded);
    }

    /// Counts, sends the subdirectories on their way, and publishes what the directory yielded.
    fn conclude<'s>(
        &'s self,
        scope: &Scope<'s>,
        descriptor: &Arc<OwnedFd>,
        task: Task,
        names: &Names,
        mut yielded: Yield,
    ) {
        let total = self.files.fetch_add(yielded.files, Ordering::Relaxed) + yielded.files;
        if total > self.options.max_files {
            return self.refuse(total);
        }
        if (total - yielded.files) / 4096 != total / 4096 {
            (self.progress)(total);
        }
        for child in std::mem::take(&mut yielded.children) {
            let parent = descriptor.clone();
            scope.spawn(move |scope| self.visit(scope, Opened::Inside(parent), child));
        }
        self.publish(task, names, yielded);
    }

    /// The quick way for a directory that is exactly as the cache has it, name by name in its own order: no name is
    /// copied, sorted or asked about. At the first difference it gives up and the thorough way begins again.
    fn visit_known(&self, descriptor: &OwnedFd, task: &mut Task) -> Option<Yield> {
        let cached = task.cached.and_then(|position| self.cache.at(position)).filter(|_| task.wanted.is_none())?;
        let mut yielded = Yield::default();
        let mut directories: Vec<(Record<'_>, u32)> = Vec::new();
        let mut holds = Holds::default();
        let mut records = cached.records();
        let mut buffer = [MaybeUninit::<u8>::uninit(); 32 << 10];
        let mut entries = RawDir::new(descriptor, &mut buffer);
        while let Some(entry) = entries.next() {
            let entry = entry.ok()?;
            let name = entry.file_name();
            match name.to_bytes() {
                b"." | b".." => continue,
                b".git" => {
                    holds.git = true;
                    reserve(b".git", &task.path, &mut yielded);
                }
                own if own == OWN_DIRECTORY.as_bytes() => reserve(own, &task.path, &mut yielded),
                bytes => {
                    let record = records.next().filter(|record| record.name == bytes)?;
                    holds.gitignore |= bytes == b".gitignore";
                    let stat = rustix::fs::statat(descriptor, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
                    if !is_as_recorded(&record, &stat, self.options.max_file_size) {
                        return None;
                    }
                    match record.kind {
                        RecordKind::Directory => directories.push((record, yielded.entries as u32)),
                        _ => yielded.files += 1,
                    }
                    yielded.entries += 1;
                }
            }
        }
        yielded.vouched = yielded.entries;
        if yielded.entries != cached.len() {
            return None;
        }
        if holds.any() {
            task.rules = task.rules.enter(&task.path, &self.absolute(&task.path), holds);
        }
        for (record, order) in directories {
            let path = join(&task.path, record.name);
            if task.rules.is_ignored(&path, true) {
                return None;
            }
            yielded.children.push(self.child(task, record.name, path, record.mode, order, None));
        }
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
            cached: self.cache.position(&path),
            path,
            mode,
            order,
            rules: task.rules.clone(),
            wanted,
        }
    }

    fn absolute(&self, path: &[u8]) -> PathBuf {
        use std::os::unix::ffi::OsStrExt;
        self.root.join(std::ffi::OsStr::from_bytes(path))
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
        let mut buffer = [MaybeUninit::<u8>::uninit(); 32 << 10];
        let mut entries = RawDir::new(descriptor, &mut buffer);
        while let Some(entry) = entries.next() {
            let entry = entry?;
            let bytes = entry.file_name().to_bytes();
            if bytes != b"." && bytes != b".." {
                names.push(bytes, entry.file_type());
            }
        }
        names.sort();
        Ok(names)
    }

    fn match_names(&self, descriptor: &OwnedFd, task: &Task, names: &Names, yielded: &mut Yield) {
        let cached = task.cached.and_then(|position| self.cache.at(position));
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
            return yielded.ignored.push(path());
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
                if asks && !is_file && self.is_hidden_file(task, &path()) {
                    return yielded.ignored.push(path());
                }
                if kind == FileType::RegularFile && stat.st_size as u64 > self.options.max_file_size {
                    return report(yielded, path(), Reason::TooLarge);
                }
                let kind = if kind == FileType::Symlink { RecordKind::Symlink } else { RecordKind::File };
                match_file(&named, kind, mode, stat_of(&stat), yielded);
            }
            _ => report(yielded, path(), Reason::Special),
        }
    }

    fn is_hidden_file(&self, task: &Task, path: &[u8]) -> bool {
        task.rules.is_ignored(path, false) && !self.include.contains(path) && !task.rules.is_tracked(path)
    }

    fn match_directory(&self, task: &Task, named: &Named<'_>, mode: u16, yielded: &mut Yield) {
        let path = join(&task.path, named.name);
        let mut wanted = task.wanted.clone();
        if wanted.is_none() && task.rules.is_ignored(&path, true) {
            yielded.ignored.push(path.clone());
            let files = self.wanted_below(task, &path);
            if files.is_empty() {
                return;
            }
            wanted = Some(Arc::new(files));
        }
        let same = named.known.is_some_and(|record| record.kind == RecordKind::Directory && record.mode == mode);
        yielded.entries += 1;
        yielded.vouched += usize::from(same);
        yielded.children.push(self.child(task, named.name, path, mode, named.span.order, wanted));
    }

    /// Files inside an ignored directory that are covered all the same: captured before, tracked by Git, or asked for.
    fn wanted_below(&self, task: &Task, directory: &[u8]) -> Vec<Vec<u8>> {
        let mut files = self.cache.files_below(directory);
        files.extend(task.rules.tracked_below(directory));
        let prefix = [directory, b"/"].concat();
        files.extend(self.include.range(prefix.clone()..).take_while(|path| path.starts_with(&prefix)).cloned());
        files.sort_unstable();
        files.dedup();
        files
    }

    fn publish(&self, task: Task, names: &Names, yielded: Yield) {
        let cached = task.cached.and_then(|position| self.cache.at(position)).map(|directory| directory.len());
        let unchanged = cached == Some(yielded.entries) && yielded.vouched == yielded.entries;
        let found = |seen: Seen| {
            let Seen { name, kind, mode, stat, id } = seen;
            Found { name: names.get(name).to_vec(), kind, mode, stat, id, trusted: id.is_some(), order: name.order }
        };
        let listing =
            if unchanged { Listing::Cached } else { Listing::Fresh(yielded.seen.into_iter().map(found).collect()) };
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        output.ignored.extend(yielded.ignored);
        output.uncovered.extend(yielded.uncovered);
        output.reserved.extend(yielded.reserved);
        output.directories.push((task.index, visited(task, listing)));
    }

    fn publish_nothing(&self, task: Task, error: Errno) {
        let reason = match error {
            Errno::NOENT => None,
            // It became a file or a symlink between the listing and now.
            Errno::NOTDIR | Errno::LOOP => Some(Reason::Raced),
            _ => Some(Reason::Unreadable),
        };
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        match (reason, RelPath::new(task.path.as_slice())) {
            (Some(reason), Ok(path)) => output.uncovered.push(Uncovered { path, reason }),
            (Some(_), Err(_)) => output.error = Some(Error::io("read the workspace's directory", error.into())),
            (None, _) => {}
        }
        output.directories.push((task.index, visited(task, Listing::Nothing)));
    }

    fn refuse(&self, files: u64) {
        self.stop.store(true, Ordering::Relaxed);
        let limit = self.options.max_files;
        let error = Error::new(Code::TooLarge, format!("the workspace holds more than {limit} files that are not ignored"))
            .with_hint(format!(
                "ignore what need not be kept with `backsight config set exclude '[\"data/\"]'`, or allow more with `backsight config set max_files {}`",
                (limit * 2).max(files)
            ))
            .with_details(serde_json::json!({ "max_files": limit }));
        self.output.lock().unwrap_or_else(PoisonError::into_inner).error.get_or_insert(error);
    }
}

fn visited(task: Task, listing: Listing) -> Visited {
    Visited {
        path: task.path,
        name: task.name,
        mode: task.mode,
        parent: task.parent as usize,
        cached: task.cached,
        order: task.order,
        listing,
    }
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

/// Skips what is Git's or ours; other spellings of `.git` are reported, since some systems take them for it.
fn is_own_or_git(name: &[u8], directory: &[u8], yielded: &mut Yield) -> bool {
    if name == OWN_DIRECTORY.as_bytes() || name == b".git" {
        reserve(name, directory, yielded);
        return true;
    }
    let alias = name.eq_ignore_ascii_case(b".git");
    if alias {
        report(yielded, join(directory, name), Reason::GitAlias);
    }
    alias
}

/// Notes what occupies a directory without being anybody's business. The root is never removed, so there it is no news.
fn reserve(name: &[u8], directory: &[u8], yielded: &mut Yield) {
    if !directory.is_empty() {
        yielded.reserved.push(join(directory, name));
    }
}

fn report(yielded: &mut Yield, path: Vec<u8>, reason: Reason) {
    if let Ok(path) = RelPath::new(path) {
        yielded.uncovered.push(Uncovered { path, reason });
    }
}

/// The next parts of `wanted` paths below `directory`, sorted, as if a listing had named them.
fn names_towards<'w>(wanted: &'w [Vec<u8>], directory: &[u8]) -> Vec<&'w [u8]> {
    let skip = if directory.is_empty() { 0 } else { directory.len() + 1 };
    let prefix = [directory, b"/"].concat();
    let below = wanted.iter().filter(|path| directory.is_empty() || path.starts_with(&prefix));
    let mut names: Vec<&[u8]> = below.filter_map(|path| path[skip..].split(|&byte| byte == b'/').next()).collect();
    names.sort_unstable();
    names.dedup();
    names
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

#[expect(clippy::unnecessary_cast, reason = "the widths of these fields differ between platforms")]
pub(crate) fn stat_of(stat: &rustix::fs::Stat) -> Stat {
    Stat {
        size: stat.st_size as u64,
        modified: FileTime { seconds: stat.st_mtime as i64, nanoseconds: stat.st_mtime_nsec as u32 },
        changed: FileTime { seconds: stat.st_ctime as i64, nanoseconds: stat.st_ctime_nsec as u32 },
        inode: stat.st_ino as u64,
    }
}
