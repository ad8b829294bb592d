//! From a walk to a tree: reads and hashes what the stat cache cannot vouch for, builds the trees, and either stores
//! everything or, for a mere look, keeps the new trees in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use backsight_core::{Code, Coverage, Error, NextStep, ObjectId, Reason, RelPath, Result, Uncovered};
use rayon::prelude::*;
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::access::Access;
use crate::anchored::AnchoredPath;
use crate::blind::Blind;
use crate::cache::{
    Cache, CacheChanges, CachedDirectory, FileTime, FreshCache, Record, RecordKind, RootIdentity, Stat, Subject,
};
use crate::former::access_of;
use crate::holders::{Asked, complete};
use crate::ignore::join;
use crate::memory::{Base, Memory, Observed, Plan, Start};
use crate::object::{ObjectKind, object_id};
use crate::objects::{ObjectStore, STREAM_LIMIT};
use crate::observe::stat_of;
use crate::pages::PagesBefore;
use crate::part::{Notes, Part, Standing};
use crate::root::Root;
use crate::scan::{Found, Listing, Scan, ScanOptions, ScanRequest, Visited, Walked, cancelled, open_below, scan};
use crate::sink::Sink;
use crate::threads::start_threads;
use crate::tree::{Contents, Entry, Node, Source, Tree, encode_directory};

/// How often a file that changes under our eyes is read before it is reported as raced.
const ATTEMPTS: usize = 3;
/// How many files of ignore rules that were not read are named; the rest is counted.
const MAX_UNREAD_RULES: usize = 20;
/// How many files that are too large are described.
const MAX_DESCRIBED: usize = 100;

/// The workspace as it is now.
#[derive(Clone, Debug)]
pub struct Capture {
    /// Its files.
    pub tree: Tree,
    /// What was seen and what was not.
    pub coverage: Coverage,
    /// The stored list of what was not seen; absent when everything was.
    pub coverage_id: Option<ObjectId>,
    pub(crate) blind: Arc<Blind>,
    /// What the stat cache should become; none when it holds already.
    pub(crate) fresh_cache: Option<(FreshCache, RootIdentity)>,
    /// Trees that exist only in memory; empty after a real capture.
    pub(crate) memory: Arc<BTreeMap<ObjectId, Vec<u8>>>,
    /// When it began, in what the watcher announced.
    pub(crate) start: Start,
    /// Directories with files that could not be read: they are looked at again.
    pub(crate) troubled: Arc<BTreeSet<Vec<u8>>>,
}

/// The latest snapshot, as far as a capture needs to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Last {
    /// Its files: these paths stay covered.
    pub tree: Tree,
    /// Its stored list of what was not seen.
    pub coverage_id: Option<ObjectId>,
}

/// What long work reports while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaptureProgress {
    /// Directories are being walked; files seen so far.
    Scanning {
        /// Files seen.
        files: u64,
    },
    /// Contents are being read.
    Reading {
        /// Files read.
        files_done: u64,
        /// Files to read.
        files_total: u64,
        /// Bytes read.
        bytes_done: u64,
        /// Bytes to read.
        bytes_total: u64,
    },
}

/// Whoever waits for a capture.
#[derive(Clone, Copy)]
pub struct Caller<'a> {
    /// Told how far it is.
    pub progress: &'a (dyn Fn(CaptureProgress) + Sync),
    /// Asked now and then whether the answer is still wanted.
    pub cancelled: &'a (dyn Fn() -> bool + Sync),
}

impl Caller<'_> {
    /// An error once the answer is not wanted any more.
    pub fn check(&self) -> Result<()> {
        if (self.cancelled)() { Err(cancelled()) } else { Ok(()) }
    }
}

/// What a capture starts from.
pub(crate) struct Request<'a> {
    pub(crate) root: &'a Root,
    pub(crate) store: &'a ObjectStore,
    pub(crate) cache_file: &'a AnchoredPath,
    pub(crate) options: &'a ScanOptions,
    pub(crate) last: Option<&'a Last>,
    /// Paths to cover even where rules ignore them.
    pub(crate) include: &'a BTreeSet<Vec<u8>>,
    pub(crate) caller: Caller<'a>,
    /// Walk everything, whatever is known.
    pub(crate) thorough: bool,
    pub(crate) memory: &'a Memory,
    /// The clock that stamps files, with its own granularity.
    pub(crate) clock: fn() -> FileTime,
}

/// Whether a capture may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Everything is stored. The caller holds the workspace lock.
    Record,
    /// Nothing is written anywhere.
    Look,
}

pub(crate) fn capture(request: &Request<'_>, purpose: Purpose) -> Result<Capture> {
    start_threads()?;
    let store = match purpose {
        Purpose::Record => request.store.fingerprint()?,
        Purpose::Look => request.store.glimpse()?,
    };
    let root = request.root.in_place()?;
    let start = match request.memory.plan(request, purpose, root, store) {
        Plan::Known(capture) => return Ok(*capture),
        Plan::All(start) => start,
        Plan::Part(known, start) => {
            let (base, part) = *known;
            let ground = Ground { root, store, start, cache: base.cache.clone(), part: Some((&base, &part)) };
            match walk(request, &ground)? {
                Walked::Done(scan) => match capture_from(request, purpose, &ground, scan)? {
                    Some(captured) => return Ok(captured),
                    None => request.memory.plan_all("there may be more files than the settings allow"),
                },
                Walked::Doubtful(why) => request.memory.plan_all(why),
            }
        }
    };
    let cache = usable_cache(request, root, store)?;
    let ground = Ground { root, store, start, cache, part: None };
    let Walked::Done(scan) = request.memory.walk_all(|| walk(request, &ground))? else {
        return Err(Error::new(Code::Raced, "the workspace could not be walked").with_hint("ask again"));
    };
    let captured = capture_from(request, purpose, &ground, scan)?;
    captured.ok_or_else(|| Error::new(Code::Raced, "the workspace could not be walked").with_hint("ask again"))
}

/// What a walk rests on.
struct Ground<'a> {
    root: RootIdentity,
    store: u64,
    start: Start,
    cache: Arc<Cache>,
    /// Nothing means that everything is walked.
    part: Option<(&'a Base, &'a Part)>,
}

fn walk(request: &Request<'_>, ground: &Ground<'_>) -> Result<Walked> {
    scan(&ScanRequest {
        root: request.root,
        options: request.options,
        cache: &ground.cache,
        include: request.include,
        progress: &|files| (request.caller.progress)(CaptureProgress::Scanning { files }),
        cancelled: request.caller.cancelled,
        watcher: request.memory.watcher(),
        part: ground.part.map(|(_, part)| part),
    })
}

/// Reads what has to be read and builds the trees. Nothing when the part that was walked cannot answer.
fn capture_from(request: &Request<'_>, purpose: Purpose, ground: &Ground<'_>, scan: Scan) -> Result<Option<Capture>> {
    let cache = &ground.cache;
    let mut work = Work::new(request, cache, scan, purpose)?;
    work.read_files()?;
    let children = children_of(&work.scan);
    let contents = work.build_trees(&children)?;
    let tree = contents.first().copied().flatten().unwrap_or_default().into_tree();
    let gone = gone(cache, &work.scan, &contents, &children);
    let files = work.files(ground, &gone);
    if files > request.options.max_files && ground.part.is_some() {
        return Ok(None);
    }
    let notes = work.notes(ground);
    let coverage_id = work.store_coverage(&notes)?;
    let is_plain = request.memory.observe(
        request,
        &Observed {
            cache,
            scan: &work.scan,
            part: ground.part.map(|(_, part)| part),
            start: ground.start,
            troubled: &work.troubled,
            root: ground.root,
        },
    );
    request.caller.check()?;
    let coverage = coverage_of(request, &notes, files, work.unread_rules(ground));
    let memory = Arc::new(work.sink.finish()?);
    let blind = Arc::new(Blind::new(&notes.ignored, &notes.uncovered, &notes.reserved));
    let changes = cache_changes(cache, &work.scan, &contents, &children, &gone);
    let troubled = Arc::new(std::mem::take(&mut work.troubled));
    drop(work);
    let is_stale =
        || Ok(cache.subject() != Some(Subject { root: ground.root, store: request.store.fingerprint()?, tree }));
    let is_wanted = purpose == Purpose::Record && (!changes.is_empty() || is_stale()?);
    let fresh_cache = is_wanted.then_some((FreshCache { cache: cache.clone(), changes }, ground.root));
    let start = ground.start;
    let captured = Capture { tree, coverage, coverage_id, blind, fresh_cache, memory, start, troubled };
    if purpose == Purpose::Look && is_plain && request.include.is_empty() {
        let subject = request.last.map(|last| Subject { root: ground.root, store: ground.store, tree: last.tree });
        request.memory.keep_look(start, subject, &captured);
    }
    Ok(Some(captured))
}

/// The cache if it speaks of this root, this store and the latest snapshot; else one made from the snapshot alone.
fn usable_cache(request: &Request<'_>, root: RootIdentity, store: u64) -> Result<Arc<Cache>> {
    let Some(last) = request.last else { return Ok(Arc::default()) };
    let subject = Subject { root, store, tree: last.tree };
    if let Some(cache) = request.memory.cache_about(|known| *known == subject) {
        return Ok(cache);
    }
    let cache = Cache::load(request.cache_file);
    if cache.subject() == Some(subject) {
        return Ok(Arc::new(cache));
    }
    match Cache::from_tree(&Source::new(request.store), &last.tree) {
        Ok(cache) => Ok(Arc::new(cache)),
        // The snapshot before this one is damaged. That must not stop the present from being recorded: what is on disk
        // is read in full; only "captured before, ignored now" cannot be known.
        Err(error) if matches!(error.code(), Code::Damaged | Code::TooLarge) => Ok(Arc::default()),
        Err(error) => Err(error),
    }
}

/// Directories that the cache has and the walk did not find any more; each stands for what was below it.
fn gone(cache: &Cache, scan: &Scan, contents: &[Option<Contents>], children: &[Vec<usize>]) -> Vec<Vec<u8>> {
    let mut gone = Vec::new();
    for (index, visited) in scan.directories.iter().enumerate().filter(|(_, visited)| visited.looked) {
        let Some(known) = visited.cached.and_then(|position| cache.at(position)) else { continue };
        if contents[index].is_none() {
            gone.push(visited.path.clone());
            continue;
        }
        if let Listing::Fresh(_) = visited.listing {
            let stands: BTreeSet<&[u8]> =
                children[index].iter().map(|&child| scan.directories[child].name.as_slice()).collect();
            let directories = known.records().filter(|record| record.kind == RecordKind::Directory);
            let missing = directories.filter(|record| !stands.contains(record.name));
            gone.extend(missing.map(|record| join(&visited.path, record.name)));
        }
    }
    gone
}

/// What the walk knows better than the cache.
fn cache_changes(
    cache: &Cache,
    scan: &Scan,
    contents: &[Option<Contents>],
    children: &[Vec<usize>],
    gone: &[Vec<u8>],
) -> CacheChanges {
    let mut changes = CacheChanges::default();
    for top in gone {
        cache.within(top).for_each(|known| changes.remove(known.path()));
    }
    for (index, visited) in scan.directories.iter().enumerate() {
        if contents[index].is_none() {
            continue;
        }
        let known = visited.cached.and_then(|position| cache.at(position));
        match (&visited.listing, known) {
            (Listing::Cached, Some(known)) if known.contents() == contents[index] => {}
            (Listing::Cached, Some(known)) => changes.set(&visited.path, contents[index], known.records()),
            (Listing::Fresh(found), _) => {
                let files = found.iter().filter_map(|found| Some((found.order, record_of(found)?)));
                let mut records: Vec<(u32, Record<'_>)> = files.collect();
                for &child in children[index].iter().filter(|&&child| contents[child].is_some()) {
                    let visited = &scan.directories[child];
                    let (kind, id) = (RecordKind::Directory, crate::tree::EMPTY_TREE);
                    let record = Record {
                        name: &visited.name,
                        kind,
                        mode: visited.mode,
                        trusted: false,
                        stat: Stat::default(),
                        id,
                    };
                    records.push((visited.order, record));
                }
                records.sort_unstable_by_key(|(order, _)| *order);
                changes.set(&visited.path, contents[index], records.into_iter().map(|(_, record)| record));
            }
            _ => {}
        }
    }
    changes
}

fn record_of(found: &Found) -> Option<Record<'_>> {
    let Found { kind, mode, trusted, stat, .. } = *found;
    Some(Record { name: &found.name, kind, mode, trusted, stat, id: found.id? })
}

fn children_of(scan: &Scan) -> Vec<Vec<usize>> {
    let mut children = vec![Vec::new(); scan.directories.len()];
    for (index, visited) in scan.directories.iter().enumerate().skip(1) {
        children[visited.parent].push(index);
    }
    children
}

struct Work<'a> {
    request: &'a Request<'a>,
    cache: &'a Cache,
    scan: Scan,
    sink: Sink<'a>,
    files_total: u64,
    bytes_total: u64,
    /// What could not be read after all.
    unread: Vec<Uncovered>,
    /// Directories with such files, or with files that were gone.
    troubled: BTreeSet<Vec<u8>>,
}

/// What became of a file that had to be read.
enum Outcome {
    Content { id: ObjectId, found: Found },
    Gone,
    Blind(Reason),
}

impl<'a> Work<'a> {
    fn new(request: &'a Request<'a>, cache: &'a Cache, scan: Scan, purpose: Purpose) -> Result<Self> {
        let unread = scan.directories.iter().flat_map(unread_of);
        let (files_total, bytes_total) =
            unread.fold((0, 0), |(files, bytes), found| (files + 1, bytes + found.stat.size));
        let limit = request.options.max_new_bytes;
        if bytes_total > limit {
            return Err(Error::new(
                Code::TooLarge,
                format!("{bytes_total} bytes would have to be stored, more than the {limit} allowed"),
            )
            .then("ignore what need not be kept", NextStep::configure("exclude", "[\"data/\"]"))
            .or("allow more", NextStep::configure("max_new_bytes", bytes_total * 2))
            .with_details(serde_json::json!({ "bytes": bytes_total, "max_new_bytes": limit, "files": files_total })));
        }
        let sink = match purpose {
            Purpose::Record => Sink::Store(request.store.batch()),
            Purpose::Look => Sink::Memory(Mutex::default()),
        };
        let (unread, troubled) = (Vec::new(), BTreeSet::new());
        Ok(Work { request, cache, scan, sink, files_total, bytes_total, unread, troubled })
    }

    /// Reads every file the cache cannot vouch for, in parallel, directory by directory.
    fn read_files(&mut self) -> Result<()> {
        let mut directories = std::mem::take(&mut self.scan.directories);
        let (files_done, bytes_done) = (AtomicU64::new(0), AtomicU64::new(0));
        let this = &*self;
        let read = |visited: &mut Visited| {
            let Listing::Fresh(found) = &mut visited.listing else { return Ok(Default::default()) };
            let (uncovered, dropped) = this.read_directory(&visited.path, found, &files_done, &bytes_done)?;
            Ok((uncovered, (dropped > 0).then(|| visited.path.clone())))
        };
        let unread = |visited: &Visited| unread_of(visited).next().is_some();
        // Waking other threads takes longer than reading a few files.
        let reports: Vec<(Vec<Uncovered>, Option<Vec<u8>>)> = if self.files_total <= 4 {
            directories.iter_mut().filter(|visited| unread(visited)).map(read).collect::<Result<_>>()?
        } else {
            directories.par_iter_mut().filter(|visited| unread(visited)).map(read).collect::<Result<_>>()?
        };
        self.scan.directories = directories;
        for (uncovered, troubled) in reports {
            self.unread.extend(uncovered);
            self.troubled.extend(troubled);
        }
        // What is covered in an ignored directory follows from what was captured before: when that changes, whoever
        // holds the directory is asked again.
        let is_changed = |visited: &&Visited| visited.is_ignored && !matches!(visited.listing, Listing::Cached);
        let changed = self.scan.directories.iter().filter(is_changed);
        self.troubled.extend(changed.map(|visited| self.scan.directories[visited.parent].path.clone()));
        Ok(())
    }

    fn read_directory(
        &self,
        path: &[u8],
        entries: &mut Vec<Found>,
        files_done: &AtomicU64,
        bytes_done: &AtomicU64,
    ) -> Result<(Vec<Uncovered>, u64)> {
        let directory = match open_below(&self.scan.root, path) {
            Ok(directory) => directory,
            Err(_) => {
                let lost = std::mem::take(entries);
                return Ok((
                    lost.iter().map(|found| blind(path, &found.name, Reason::Raced)).collect(),
                    lost.len() as u64,
                ));
            }
        };
        let read = |found: &Found| {
            if found.id.is_some() {
                return Ok(None);
            }
            self.request.caller.check()?;
            let outcome = self.read_entry(&directory, found)?;
            let files = files_done.fetch_add(1, Ordering::Relaxed) + 1;
            let bytes = bytes_done.fetch_add(found.stat.size, Ordering::Relaxed) + found.stat.size;
            if files.is_multiple_of(256) {
                self.report(files, bytes);
            }
            Ok(Some(outcome))
        };
        let outcomes: Vec<Option<Outcome>> = if self.files_total <= 4 {
            entries.iter().map(read).collect::<Result<_>>()?
        } else {
            entries.par_iter().with_min_len(8).map(read).collect::<Result<_>>()?
        };
        let before = entries.len();
        let (mut uncovered, mut outcomes) = (Vec::new(), outcomes.into_iter());
        entries.retain_mut(|entry| match outcomes.next().flatten() {
            None => true,
            Some(Outcome::Content { id, found }) => {
                *entry = Found { id: Some(id), ..found };
                true
            }
            Some(Outcome::Gone) => false,
            Some(Outcome::Blind(reason)) => {
                uncovered.push(blind(path, &entry.name, reason));
                false
            }
        });
        Ok((uncovered, (before - entries.len()) as u64))
    }

    fn report(&self, files_done: u64, bytes_done: u64) {
        let (files_total, bytes_total) = (self.files_total, self.bytes_total);
        (self.request.caller.progress)(CaptureProgress::Reading { files_done, files_total, bytes_done, bytes_total });
    }

    /// Reads until what was read is what the file was before and after, or gives up and says so.
    fn read_entry(&self, directory: &OwnedFd, found: &Found) -> Result<Outcome> {
        for _ in 0..ATTEMPTS {
            let attempt = match found.kind {
                RecordKind::Symlink => self.read_symlink(directory, found)?,
                _ => self.read_file(directory, found)?,
            };
            if let Some(outcome) = attempt {
                return Ok(outcome);
            }
        }
        Ok(Outcome::Blind(Reason::Raced))
    }

    fn read_symlink(&self, directory: &OwnedFd, found: &Found) -> Result<Option<Outcome>> {
        let looked_at = (self.request.clock)();
        let text = match rustix::fs::readlinkat(directory, found.name.as_slice(), Vec::new()) {
            Ok(text) => text,
            Err(Errno::NOENT) => return Ok(Some(Outcome::Gone)),
            Err(Errno::INVAL) => return Ok(Some(Outcome::Blind(Reason::Raced))),
            Err(_) => return Ok(Some(Outcome::Blind(Reason::Unreadable))),
        };
        let id = self.sink.put_content(text.as_bytes())?;
        let found = Found { trusted: found.stat.is_settled(looked_at), ..found.clone() };
        Ok(Some(Outcome::Content { id, found }))
    }

    /// Nothing when the file changed while it was read.
    fn read_file(&self, directory: &OwnedFd, found: &Found) -> Result<Option<Outcome>> {
        // Not blocking, in case a FIFO took the file's place since the walk.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match rustix::fs::openat(directory, found.name.as_slice(), flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => return Ok(Some(Outcome::Gone)),
            Err(Errno::LOOP) => return Ok(Some(Outcome::Blind(Reason::Raced))),
            Err(_) => return Ok(Some(Outcome::Blind(Reason::Unreadable))),
        };
        let unreadable = || Ok(Some(Outcome::Blind(Reason::Unreadable)));
        let Ok(opened) = rustix::fs::fstat(file.as_fd()) else { return unreadable() };
        if FileType::from_raw_mode(opened.st_mode) != FileType::RegularFile {
            return Ok(Some(Outcome::Blind(Reason::Raced)));
        }
        let looked_at = (self.request.clock)();
        let Ok(before) = rustix::fs::fstat(file.as_fd()) else { return unreadable() };
        let stat = stat_of(&before);
        if stat.size > self.request.options.max_file_size {
            return Ok(Some(Outcome::Blind(Reason::TooLarge)));
        }
        let pages = PagesBefore::of(&file);
        let id = match self.read_content(&file, stat.size) {
            Ok(id) => id,
            Err(ReadError::Input) => return Ok(Some(Outcome::Blind(Reason::Unreadable))),
            Err(ReadError::Store(error)) => return Err(error),
        };
        let Ok(after) = rustix::fs::fstat(file.as_fd()) else { return Ok(None) };
        let Some(id) = id.filter(|_| stat_of(&after) == stat) else { return Ok(None) };
        let mode = (before.st_mode & 0o7777) as u16;
        let Ok(access) = access_of(&file, mode) else { return unreadable() };
        let trusted = stat.is_settled(looked_at) && pages.shows_writes(&file, &stat, looked_at);
        let found = Found { mode, stat, trusted, access: Some(access), ..found.clone() };
        Ok(Some(Outcome::Content { id, found }))
    }

    /// Nothing when the file does not hold exactly `size` bytes.
    fn read_content(&self, file: &File, size: u64) -> Result<Option<ObjectId>, ReadError> {
        if size > STREAM_LIMIT {
            let input = Interruptible { input: file.take(size + 1), caller: &self.request.caller };
            let stored = self.sink.put_stream(input, size);
            self.request.caller.check().map_err(ReadError::Store)?;
            return stored.map_err(ReadError::Store);
        }
        let mut bytes = Vec::with_capacity(size as usize + 1);
        file.take(size + 1).read_to_end(&mut bytes).map_err(|_| ReadError::Input)?;
        if bytes.len() as u64 != size {
            return Ok(None);
        }
        self.sink.put_content(&bytes).map(Some).map_err(ReadError::Store)
    }

    /// The contents of every directory, deepest first; directories of one depth in parallel.
    fn build_trees(&self, children: &[Vec<usize>]) -> Result<Vec<Option<Contents>>> {
        let directories = &self.scan.directories;
        let mut contents: Vec<Option<Contents>> = vec![None; directories.len()];
        for level in by_depth(&self.scan).into_iter().rev() {
            let build = |index: usize| Ok((index, self.build_tree(index, &children[index], &contents)?));
            let built: Vec<(usize, Option<Contents>)> = match level.len() {
                ..16 => level.into_iter().map(build).collect::<Result<_>>()?,
                _ => level.into_par_iter().with_min_len(16).map(build).collect::<Result<_>>()?,
            };
            built.into_iter().for_each(|(index, built)| contents[index] = built);
        }
        if contents.first().copied().flatten().is_none_or(|root| root.tree.is_none()) {
            self.sink.put(ObjectKind::Tree, b"")?;
        }
        Ok(contents)
    }

    fn build_tree(&self, index: usize, children: &[usize], contents: &[Option<Contents>]) -> Result<Option<Contents>> {
        let visited = &self.scan.directories[index];
        let cached = self.cached(index);
        let mut entries: Vec<Asked> = match &visited.listing {
            Listing::Nothing => return Ok(None),
            Listing::Fresh(found) => found
                .iter()
                .filter_map(|found| Some(file_entry((&found.name, found.kind, found.mode), found.id?, found.access)))
                .collect(),
            Listing::Cached => {
                let same = |&child: &usize| {
                    let before = self.cached(child).and_then(|known| known.contents());
                    before.is_some() && before == contents[child]
                };
                if let Some(known) = cached.and_then(|known| known.contents()).filter(|_| children.iter().all(same)) {
                    return Ok(Some(known));
                }
                let records = cached
                    .iter()
                    .flat_map(|known| known.records())
                    .filter(|record| record.kind != RecordKind::Directory);
                records.map(|record| file_entry((record.name, record.kind, record.mode), record.id, None)).collect()
            }
        };
        for &child in children {
            let Some(inner) = contents[child] else { continue };
            let visited = &self.scan.directories[child];
            let node = Node::Directory { mode: visited.mode, access: Access::default() };
            entries.push((Entry { name: visited.name.clone(), node, contents: inner }, false));
        }
        let before = cached.and_then(|known| known.contents());
        complete(&mut entries, &Source::new(self.request.store), before, (&self.scan.root, &visited.path));
        let mut entries: Vec<Entry> = entries.into_iter().map(|(entry, _)| entry).collect();
        entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        encode_directory(&entries, &mut |kind, bytes| self.sink.put(kind, bytes)).map(Some)
    }

    fn cached(&self, index: usize) -> Option<CachedDirectory<'a>> {
        self.scan.directories[index].cached.and_then(|position| self.cache.at(position))
    }

    /// Stores the list of what was not seen.
    fn store_coverage(&self, notes: &Notes) -> Result<Option<ObjectId>> {
        let Some(bytes) = Blind::new(&notes.ignored, &notes.uncovered, &[]).encode() else { return Ok(None) };
        let known = self.request.last.and_then(|last| last.coverage_id);
        if known == Some(object_id(ObjectKind::Blob, &bytes)?) {
            return Ok(known);
        }
        self.sink.put(ObjectKind::Blob, &bytes).map(Some)
    }

    /// How many files the capture holds, those included that were not looked at.
    fn files(&self, ground: &Ground<'_>, gone: &[Vec<u8>]) -> u64 {
        let mut files = ground.part.map_or(0, |(base, _)| base.files);
        for (index, visited) in self.scan.directories.iter().enumerate() {
            match (&visited.listing, ground.part) {
                (Listing::Fresh(found), None) => files += found.len() as u64,
                (Listing::Fresh(found), Some(_)) => {
                    let known = self.cached(index).map_or(0, |known| known.files());
                    files = (files + found.len() as u64).saturating_sub(known);
                }
                (Listing::Cached, None) => files += visited.files,
                _ => {}
            }
        }
        let gone = || gone.iter().flat_map(|top| self.cache.within(top));
        if ground.part.is_some() { files.saturating_sub(gone().map(|known| known.files()).sum()) } else { files }
    }

    /// What was not captured, that included which was not looked at this time.
    fn notes(&self, ground: &Ground<'_>) -> Notes {
        let mut notes = Notes { uncovered: self.unread.clone(), ..Notes::default() };
        for visited in &self.scan.directories {
            notes.extend(visited.notes.clone());
        }
        let Some((base, _)) = ground.part.filter(|(base, _)| !base.notes.is_empty()) else { return notes };
        let standing = Standing::after(&self.scan);
        let stands = base.notes.iter().filter(|(path, _)| !standing.was_looked_at(path) && standing.holds(path));
        stands.for_each(|(_, kept)| notes.extend(kept.clone()));
        notes
    }

    /// Files of ignore rules that were not read, those included that were not looked at this time.
    fn unread_rules(&self, ground: &Ground<'_>) -> Vec<String> {
        let mut unread = self.scan.rules.unread();
        let entered = self.scan.directories.iter().filter_map(|visited| visited.entered.as_ref());
        unread.extend(entered.flat_map(|entered| entered.rules.unread()));
        if let Some((base, _)) = ground.part {
            let kept = base.entered.iter().map(|(path, entered)| (path, entered.rules.unread()));
            let kept: Vec<_> = kept.filter(|(_, unread)| !unread.is_empty()).collect();
            let standing = (!kept.is_empty()).then(|| Standing::after(&self.scan));
            let stands = |path: &[u8]| standing.as_ref().is_some_and(|standing| standing.holds(path));
            unread.extend(kept.into_iter().filter(|(path, _)| stands(path)).flat_map(|(_, unread)| unread));
        }
        unread.sort();
        unread.dedup();
        let more = unread.len().saturating_sub(MAX_UNREAD_RULES);
        unread.truncate(MAX_UNREAD_RULES);
        unread.extend((more > 0).then(|| format!("and {more} more")));
        unread
    }
}

fn coverage_of(request: &Request<'_>, notes: &Notes, files: u64, unread_rules: Vec<String>) -> Coverage {
    let mut uncovered = notes.uncovered.clone();
    uncovered.sort();
    let large = uncovered.iter_mut().filter(|uncovered| uncovered.reason == Reason::TooLarge);
    large.take(MAX_DESCRIBED).for_each(|uncovered| describe_large(request, uncovered));
    Coverage { complete: uncovered.is_empty(), files, ignored: notes.ignored.len() as u64, uncovered, unread_rules }
}

/// How large a file that is too large is, and whether it was not before.
fn describe_large(request: &Request<'_>, uncovered: &mut Uncovered) {
    let found = std::fs::symlink_metadata(request.root.path().join(uncovered.path.as_path()));
    uncovered.size = found.ok().map(|found| found.len());
    let source = Source::new(request.store);
    // A snapshot that cannot be read says nothing, and is no reason not to capture.
    let known = request.last.and_then(|last| source.find(&last.tree, &uncovered.path).ok().flatten());
    uncovered.was_captured = known.is_some();
}

/// A large file that is not read to its end when nobody waits for it any more.
struct Interruptible<'a, R> {
    input: R,
    caller: &'a Caller<'a>,
}

impl<R: Read> Read for Interruptible<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.caller.check().map_err(std::io::Error::other)?;
        self.input.read(buffer)
    }
}

enum ReadError {
    Input,
    Store(Error),
}

fn unread_of(visited: &Visited) -> impl Iterator<Item = &Found> {
    let found: &[Found] = match &visited.listing {
        Listing::Fresh(found) => found,
        _ => &[],
    };
    found.iter().filter(|found| found.id.is_none())
}

fn by_depth(scan: &Scan) -> Vec<Vec<usize>> {
    let mut depths = vec![0usize; scan.directories.len()];
    let mut levels: Vec<Vec<usize>> = Vec::new();
    for (index, visited) in scan.directories.iter().enumerate() {
        let depth = if index == 0 { 0 } else { depths[visited.parent] + 1 };
        depths[index] = depth;
        if levels.len() <= depth {
            levels.resize_with(depth + 1, Vec::new);
        }
        levels[depth].push(index);
    }
    levels
}

fn file_entry((name, kind, mode): (&[u8], RecordKind, u16), id: ObjectId, access: Option<Access>) -> Asked {
    let file = || Node::File { mode, id, access: access.unwrap_or_default() };
    let node = if kind == RecordKind::Symlink { Node::Symlink { id } } else { file() };
    (Entry { name: name.to_vec(), node, contents: Contents::default() }, access.is_some())
}

fn blind(directory: &[u8], name: &[u8], reason: Reason) -> Uncovered {
    let path =
        RelPath::new(join(directory, name)).expect("the walk yields only names without `/`, `.`, `..` or `.git`");
    Uncovered::new(path, reason)
}

/// The clock that stamps files.
pub(crate) fn coarse_now() -> FileTime {
    let (seconds, nanoseconds) = crate::platform::stamping_clock();
    FileTime { seconds, nanoseconds: nanoseconds as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Disk;

    /// Captures a file and a symlink with a clock of the test's, and says whether the cache would vouch for them.
    fn vouched_for(clock: fn() -> FileTime) -> Vec<bool> {
        let directory = tempfile::tempdir().unwrap();
        let (root, store) = (directory.path().join("root"), directory.path().join("store"));
        std::fs::create_dir(&root).unwrap();
        let mut file = std::fs::File::create_new(root.join("file")).unwrap();
        std::io::Write::write_all(&mut file, b"x").unwrap();
        // One with dirty pages is not vouched for: `unseen_writes` of the workspace's tests.
        file.sync_all().unwrap();
        std::os::unix::fs::symlink("x", root.join("symlink")).unwrap();
        std::fs::create_dir(&store).unwrap();
        let store = AnchoredPath::open_directory(&store).unwrap();
        let objects = ObjectStore::open(&store, Disk::new()).unwrap();
        let cache_file = store.join("stat");
        let (options, include) = (ScanOptions::default(), BTreeSet::new());
        let request = Request {
            root: &Root::at(&root).unwrap(),
            store: &objects,
            cache_file: &cache_file,
            options: &options,
            last: None,
            include: &include,
            caller: Caller { progress: &|_| {}, cancelled: &|| false },
            thorough: false,
            memory: &Memory::default(),
            clock,
        };
        let captured = capture(&request, Purpose::Record).unwrap();
        let (fresh, root) = captured.fresh_cache.unwrap();
        let subject = Subject { root, store: objects.fingerprint().unwrap(), tree: captured.tree };
        fresh.write(&cache_file, &Disk::new(), &subject).unwrap();
        let cache = Cache::load(&cache_file);
        cache.directory(b"").unwrap().records().map(|record| record.trusted).collect()
    }

    #[test]
    fn a_file_read_in_the_tick_of_its_last_change_is_read_again_next_time() {
        assert_eq!(vouched_for(|| FileTime { seconds: 0, nanoseconds: 0 }), [false, false]);
    }

    #[test]
    fn a_file_that_changed_before_is_vouched_for() {
        assert_eq!(vouched_for(|| FileTime { seconds: i64::MAX, nanoseconds: 0 }), [true, true]);
    }
}
