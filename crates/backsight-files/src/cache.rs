//! The stat cache: what each captured path looked like when it was last read, so that an unchanged tree reads no file.
//!
//! It is a file with every directory and a small one beside it with those that changed since; both are replaced whole,
//! guarded by a checksum and deletable at any time. An entry is trusted only when the file's last change is older than
//! the moment it was read (the racy-timestamp rule); the others are read again.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use backsight_core::{ObjectId, Result};

use crate::anchored::AnchoredPath;
use crate::compare::Change;
use crate::disk::{Disk, Durability};
use crate::ignore::join;
use crate::observe::stat_of;
use crate::tree::{Contents, Entry, Node, Size, Source, Tree, check_depth};

const MAGIC: &[u8; 8] = b"BSCACHE3";
/// How often the small file is read before it is taken for damaged.
const READS: usize = 5;
/// A larger file is no cache of ours: it would be of tens of millions of files.
const MAX_SIZE: u64 = 4 << 30;
/// Stands for "this directory is gone" in the small file.
const GONE: u32 = u32::MAX;
/// Kind, mode and name length, then for files and symlinks id and stat.
const RECORD_HEAD: usize = 5;
const RECORD_STAT: usize = 20 + 8 + 12 + 12 + 8;

/// In nanoseconds.
const SECOND: u32 = 1_000_000_000;

/// A point in time as the file system keeps it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FileTime {
    pub(crate) seconds: i64,
    pub(crate) nanoseconds: u32,
}

/// What decides whether a file must be read again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stat {
    pub(crate) size: u64,
    pub(crate) modified: FileTime,
    pub(crate) changed: FileTime,
    pub(crate) inode: u64,
}

impl Stat {
    /// Whether a later write is bound to change this stat: the last change lies before the clock tick in which the
    /// file was looked at. Whole seconds in both times suggest a file system that keeps no finer ones, and whole
    /// hundredths one that keeps those (exFAT).
    pub(crate) fn is_settled(&self, looked_at: FileTime) -> bool {
        let are_whole = |unit: u32| [self.modified, self.changed].iter().all(|time| time.nanoseconds % unit == 0);
        if are_whole(SECOND) {
            self.changed.seconds + 2 < looked_at.seconds
        } else if are_whole(SECOND / 100) {
            self.changed.seconds + 1 < looked_at.seconds
        } else {
            self.changed < looked_at
        }
    }
}

/// What a record is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordKind {
    File,
    Symlink,
    Directory,
}

/// One name in a cached directory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) kind: RecordKind,
    pub(crate) mode: u16,
    /// Whether an equal stat proves equal content.
    pub(crate) trusted: bool,
    pub(crate) stat: Stat,
    pub(crate) id: ObjectId,
}

/// Device and inode of the workspace's root.
pub(crate) type RootIdentity = (u64, u64);

/// What tells a file from the one that replaces it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileIdentity {
    inode: u64,
    size: u64,
    changed: FileTime,
}

impl FileIdentity {
    /// Nothing when there is no such file.
    pub(crate) fn of(file: &AnchoredPath) -> Option<FileIdentity> {
        Some(FileIdentity::from(&file.stat().ok()?))
    }

    /// The same for a file of the user's, whose links are followed.
    pub(crate) fn of_user_file(file: &Path) -> Option<FileIdentity> {
        Some(FileIdentity::from(&rustix::fs::stat(file).ok()?))
    }

    /// Whether it last changed well before `now`, so that another change cannot carry the same time.
    pub(crate) fn is_older_than(&self, now: FileTime) -> bool {
        Stat { modified: self.changed, changed: self.changed, ..Stat::default() }.is_settled(now)
    }
}

impl From<&rustix::fs::Stat> for FileIdentity {
    fn from(stat: &rustix::fs::Stat) -> FileIdentity {
        let Stat { inode, size, changed, .. } = stat_of(stat);
        FileIdentity { inode, size, changed }
    }
}

/// What the cache is about: it speaks for nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Subject {
    pub(crate) root: RootIdentity,
    /// `ObjectStore::fingerprint`.
    pub(crate) store: u64,
    /// The tree it describes.
    pub(crate) tree: Tree,
}

/// A loaded cache.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    /// The bytes of the large file and of the small one. The large one is shared with the caches that come after this.
    parts: [Arc<Vec<u8>>; 2],
    /// Sorted by path; of a directory in both files the small one's.
    directories: Vec<Place>,
    subject: Option<Subject>,
    /// The large file on disk that is as it is here, so that a small one can build on it.
    on_disk: Option<FileIdentity>,
}

const LARGE: usize = 0;
const SMALL: usize = 1;

/// Where a directory is in the bytes of its part.
#[derive(Clone, Copy, Debug)]
struct Place {
    part: usize,
    start: usize,
    path: (usize, usize),
    contents: Option<Contents>,
    count: u32,
    body: (usize, usize),
}

/// A directory in the cache.
#[derive(Clone, Copy)]
pub(crate) struct CachedDirectory<'a> {
    cache: &'a Cache,
    place: Place,
}

impl Cache {
    /// The cache in `file`, or an empty one when it is missing, damaged or of another version.
    pub(crate) fn load(file: &AnchoredPath) -> Cache {
        let identity = FileIdentity::of(file);
        let Some(mut cache) = file.read(MAX_SIZE).ok().and_then(Cache::parse) else { return Cache::default() };
        cache.on_disk = identity;
        // Another process may be writing it just now.
        for _ in 0..READS {
            let Ok(small) = small_file(file).read(MAX_SIZE) else { break };
            if cache.overlay(small) {
                break;
            }
        }
        cache
    }

    pub(crate) fn parse(bytes: Vec<u8>) -> Option<Cache> {
        let (_, subject, directories) = parse_part(&bytes, LARGE)?;
        let parts = [Arc::new(bytes), Arc::default()];
        Some(Cache { subject: Some(subject), directories, parts, on_disk: None })
    }

    /// Puts the small file's directories in place of the large one's, if it builds on it. False when it is not whole.
    fn overlay(&mut self, small: Vec<u8>) -> bool {
        let Some((base, subject, mut changed)) = parse_part(&small, SMALL) else { return false };
        if base != checksum_of(&self.parts[LARGE]) {
            return true;
        }
        // What the small file before this one said is said again by this one, or does not hold any more.
        let mut large = std::mem::take(&mut self.directories);
        large.retain(|place| place.part == LARGE);
        self.parts[SMALL] = Arc::new(small);
        self.subject = Some(subject);
        changed.sort_by(|a, b| path_in(&self.parts, a).cmp(path_in(&self.parts, b)));
        let mut merged = Vec::with_capacity(large.len() + changed.len());
        let mut rest = large.as_slice();
        for place in changed {
            let path = path_in(&self.parts, &place);
            let (before, from) = rest.split_at(rest.partition_point(|other| path_in(&self.parts, other) < path));
            merged.extend_from_slice(before);
            let is_replaced = from.first().is_some_and(|other| path_in(&self.parts, other) == path);
            rest = &from[usize::from(is_replaced)..];
            merged.extend((place.count != GONE).then_some(place));
        }
        merged.extend_from_slice(rest);
        self.directories = merged;
        true
    }

    /// The cache that `small` makes of this one: the small file that was just written.
    fn overlaid(&self, small: Vec<u8>) -> Cache {
        let (parts, directories) = (self.parts.clone(), self.directories.clone());
        let mut cache = Cache { parts, directories, subject: None, on_disk: self.on_disk };
        cache.overlay(small);
        cache
    }

    pub(crate) fn subject(&self) -> Option<Subject> {
        self.subject
    }

    /// What is known of `tree` without ever having looked at the disk: every file will be read.
    pub(crate) fn from_tree(source: &Source<'_>, tree: &Tree) -> Result<Cache> {
        let mut changes = CacheChanges::default();
        let mut size = Size::of(source.store);
        let mut pending = vec![(Vec::new(), tree.contents(), 0)];
        while let Some((path, contents, depth)) = pending.pop() {
            check_depth(depth, &contents)?;
            let entries = source.entries(&contents)?;
            size.add(entries.len())?;
            changes.set(&path, None, entries.iter().map(untrusted));
            for entry in entries.into_iter().filter(|entry| entry.node.is_directory()) {
                pending.push((join(&path, &entry.name), entry.contents, depth + 1));
            }
        }
        let subject = Subject { root: (0, 0), store: 0, tree: *tree };
        let directories: Vec<&[u8]> = changes.directories.values().flatten().map(Vec::as_slice).collect();
        Ok(Cache::parse(encode(0, &subject, &directories)).unwrap_or_default())
    }

    pub(crate) fn directory(&self, path: &[u8]) -> Option<CachedDirectory<'_>> {
        self.at(self.position(path)?)
    }

    /// Where a directory is, for `at`.
    pub(crate) fn position(&self, path: &[u8]) -> Option<usize> {
        self.directories.binary_search_by(|place| self.path_of(place).cmp(path)).ok()
    }

    pub(crate) fn at(&self, position: usize) -> Option<CachedDirectory<'_>> {
        self.directories.get(position).map(|place| CachedDirectory { cache: self, place: *place })
    }

    /// The paths of all directories, in the order of their positions.
    #[cfg(test)]
    pub(crate) fn paths(&self) -> impl Iterator<Item = &[u8]> {
        self.directories.iter().map(|place| self.path_of(place))
    }

    /// Paths of the files and symlinks known below `directory`.
    pub(crate) fn files_below(&self, directory: &[u8]) -> Vec<Vec<u8>> {
        let mut files = Vec::new();
        for found in self.within(directory) {
            let names = found.records().filter(|record| record.kind != RecordKind::Directory);
            files.extend(names.map(|record| join(found.path(), record.name)));
        }
        files
    }

    /// A directory and every one below it, as far as they are known.
    pub(crate) fn within(&self, directory: &[u8]) -> impl Iterator<Item = CachedDirectory<'_>> {
        let prefix = [directory, b"/"].concat();
        let start = self.directories.partition_point(|place| self.path_of(place) < prefix.as_slice());
        let below = self.directories[start..].iter().take_while(move |place| self.path_of(place).starts_with(&prefix));
        self.directory(directory).into_iter().chain(below.map(|place| CachedDirectory { cache: self, place: *place }))
    }

    /// How many files and symlinks it knows.
    pub(crate) fn files(&self) -> u64 {
        (0..self.directories.len()).filter_map(|position| self.at(position)).map(|found| found.files()).sum()
    }

    fn path_of(&self, place: &Place) -> &[u8] {
        path_in(&self.parts, place)
    }

    /// A directory as it is encoded.
    fn bytes_of(&self, place: &Place) -> &[u8] {
        self.parts[place.part].get(place.start..place.body.1).unwrap_or_default()
    }
}

fn path_in<'p>(parts: &'p [Arc<Vec<u8>>; 2], place: &Place) -> &'p [u8] {
    parts[place.part].get(place.path.0..place.path.1).unwrap_or_default()
}

fn small_file(file: &AnchoredPath) -> AnchoredPath {
    file.with_extension("changed")
}

/// Written over in place: renaming over a file makes some file systems begin to write it out at once, which takes longer
/// than everything else about a small change. Whoever reads half of it sees that by the checksum.
fn write_small(file: &AnchoredPath, bytes: &[u8], disk: &Disk) -> io::Result<()> {
    if !file.exists() {
        return disk.replace(file, bytes, Durability::Cache);
    }
    disk.amend(file, |opened| {
        opened.write_all(bytes)?;
        opened.set_len(bytes.len() as u64)
    })
}

fn checksum_of(bytes: &[u8]) -> u32 {
    bytes.last_chunk().map_or(0, |checksum| u32::from_le_bytes(*checksum))
}

fn parse_part(bytes: &[u8], part: usize) -> Option<(u32, Subject, Vec<Place>)> {
    let body = bytes.get(..bytes.len().checked_sub(4)?)?;
    if crc32fast::hash(body) != checksum_of(bytes) {
        return None;
    }
    let mut reader = Reader { bytes: body, at: 0 };
    if reader.take(8)? != MAGIC {
        return None;
    }
    let base = reader.u32()?;
    let root = (reader.u64()?, reader.u64()?);
    let store = reader.u64()?;
    let tree = reader.contents()?.into_tree();
    let count = reader.u32()? as usize;
    let mut directories = Vec::with_capacity(count.min(body.len() / 16));
    for _ in 0..count {
        directories.push(reader.place(part)?);
    }
    Some((base, Subject { root, store, tree }, directories))
}

/// A whole part: `base` is the checksum of the part it builds on, or zero.
fn encode(base: u32, subject: &Subject, directories: &[&[u8]]) -> Vec<u8> {
    let total: usize = directories.iter().map(|bytes| bytes.len()).sum();
    let mut bytes = Vec::with_capacity(total + 128);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&base.to_le_bytes());
    bytes.extend_from_slice(&subject.root.0.to_le_bytes());
    bytes.extend_from_slice(&subject.root.1.to_le_bytes());
    bytes.extend_from_slice(&subject.store.to_le_bytes());
    push_contents(&mut bytes, &subject.tree.contents());
    bytes.extend_from_slice(&(directories.len() as u32).to_le_bytes());
    directories.iter().for_each(|directory| bytes.extend_from_slice(directory));
    bytes.extend_from_slice(&crc32fast::hash(&bytes).to_le_bytes());
    bytes
}

fn untrusted(entry: &Entry) -> Record<'_> {
    record_without_stat(&entry.name, &entry.node)
}

/// A record that vouches for nothing: the file will be read.
fn record_without_stat<'n>(name: &'n [u8], node: &Node) -> Record<'n> {
    let (kind, mode, id) = match *node {
        Node::File { mode, id, .. } => (RecordKind::File, mode, id),
        Node::Symlink { id } => (RecordKind::Symlink, 0o777, id),
        Node::Directory { mode, .. } => (RecordKind::Directory, mode, crate::tree::EMPTY_TREE),
    };
    Record { name, kind, mode, trusted: false, stat: Stat::default(), id }
}

impl<'a> CachedDirectory<'a> {
    /// The objects of the directory when it was captured, when they are known.
    pub(crate) fn contents(&self) -> Option<Contents> {
        self.place.contents
    }

    pub(crate) fn len(&self) -> usize {
        self.place.count as usize
    }

    pub(crate) fn path(&self) -> &'a [u8] {
        self.cache.path_of(&self.place)
    }

    /// How many files and symlinks it holds itself.
    pub(crate) fn files(&self) -> u64 {
        self.records().filter(|record| record.kind != RecordKind::Directory).count() as u64
    }

    /// Whether an equal listing would prove that nothing changed: every file is vouched for and its trees are known.
    pub(crate) fn is_settled(&self) -> bool {
        self.contents().is_some() && self.records().all(|record| record.trusted || record.kind == RecordKind::Directory)
    }

    /// Its names, sorted.
    pub(crate) fn records(&self) -> impl Iterator<Item = Record<'a>> + use<'a> {
        let (start, end) = self.place.body;
        let bytes = self.cache.parts[self.place.part].get(start..end).unwrap_or_default();
        let mut reader = Reader { bytes, at: 0 };
        std::iter::from_fn(move || reader.record())
    }
}

/// Directories that differ from a cache, by path: encoded, or gone.
#[derive(Clone, Debug, Default)]
pub(crate) struct CacheChanges {
    directories: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
}

impl CacheChanges {
    pub(crate) fn is_empty(&self) -> bool {
        self.directories.is_empty()
    }

    pub(crate) fn set<'r>(
        &mut self,
        path: &[u8],
        contents: Option<Contents>,
        records: impl Iterator<Item = Record<'r>>,
    ) {
        let mut body = Vec::new();
        let mut count = 0u32;
        for record in records {
            push_record(&mut body, &record);
            count += 1;
        }
        self.directories.insert(path.to_vec(), Some(encode_directory(path, contents, count, &body)));
    }

    pub(crate) fn remove(&mut self, path: &[u8]) {
        self.directories.insert(path.to_vec(), None);
    }

    /// The directories that are not as the cache has them.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &[u8]> {
        self.directories.keys().map(Vec::as_slice)
    }
}

fn encode_directory(path: &[u8], contents: Option<Contents>, count: u32, body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(body.len() + path.len() + 64);
    bytes.extend_from_slice(&(path.len() as u32).to_le_bytes());
    bytes.extend_from_slice(path);
    bytes.push(u8::from(contents.is_some()));
    push_contents(&mut bytes, &contents.unwrap_or_default());
    bytes.extend_from_slice(&count.to_le_bytes());
    bytes.extend_from_slice(&(body.len() as u32).to_le_bytes());
    bytes.extend_from_slice(body);
    bytes
}

/// A cache and what has to change in it, waiting to be written.
#[derive(Clone, Debug, Default)]
pub(crate) struct FreshCache {
    pub(crate) cache: Arc<Cache>,
    pub(crate) changes: CacheChanges,
}

impl FreshCache {
    /// Writes what changed: beside the large file while that is little, else the large file anew. Returns the cache that
    /// the next process would load.
    pub(crate) fn write(&self, file: &AnchoredPath, disk: &Disk, subject: &Subject) -> io::Result<Cache> {
        let cache = &*self.cache;
        let is_kept = |place: &&Place| !self.changes.directories.contains_key(cache.path_of(place));
        let small = || cache.directories.iter().filter(|place| place.part == SMALL).filter(is_kept);
        let changed = small().count() + self.changes.directories.len();
        // Another process may have replaced the large file since.
        let is_on_disk = cache.on_disk.is_some() && cache.on_disk == FileIdentity::of(file);
        if is_on_disk && changed * 32 <= cache.directories.len() + 256 {
            let gone: Vec<Vec<u8>> = self.gone().map(|path| encode_directory(path, None, GONE, &[])).collect();
            let set = self.changes.directories.values().flatten().map(Vec::as_slice);
            let directories: Vec<&[u8]> =
                small().map(|place| cache.bytes_of(place)).chain(set).chain(gone.iter().map(Vec::as_slice)).collect();
            let bytes = encode(checksum_of(&cache.parts[LARGE]), subject, &directories);
            write_small(&small_file(file), &bytes, disk)?;
            return Ok(cache.overlaid(bytes));
        }
        let kept = cache.directories.iter().filter(is_kept).map(|place| (cache.path_of(place), cache.bytes_of(place)));
        let set =
            self.changes.directories.iter().filter_map(|(path, bytes)| Some((path.as_slice(), bytes.as_deref()?)));
        let mut directories: Vec<(&[u8], &[u8])> = kept.chain(set).collect();
        directories.sort_unstable_by_key(|(path, _)| *path);
        let directories: Vec<&[u8]> = directories.into_iter().map(|(_, bytes)| bytes).collect();
        let bytes = encode(0, subject, &directories);
        disk.replace(file, &bytes, Durability::Cache)?;
        let mut fresh = Cache::parse(bytes).unwrap_or_default();
        fresh.on_disk = FileIdentity::of(file);
        Ok(fresh)
    }

    /// Directories of the large file that are no more: named by a change, or left out of the small file before.
    fn gone(&self) -> impl Iterator<Item = &[u8]> {
        let before = parse_part(&self.cache.parts[SMALL], SMALL).map(|(_, _, places)| places).unwrap_or_default();
        let before = before.into_iter().filter(|place| place.count == GONE).map(|place| self.cache.path_of(&place));
        let now = self.changes.directories.iter().filter(|(_, bytes)| bytes.is_none()).map(|(path, _)| path.as_slice());
        let is_back = |path: &&[u8]| self.changes.directories.get(*path).is_some_and(Option::is_some);
        let mut gone: Vec<&[u8]> = before.filter(|path| !is_back(path)).chain(now).collect();
        gone.sort_unstable();
        gone.dedup();
        gone.into_iter()
    }

    /// Notes what a plan did: the files it changed will be read again, and the trees above them built again.
    pub(crate) fn apply(&mut self, changes: &[Change]) {
        let mut edits: BTreeMap<&[u8], BTreeMap<&[u8], Option<Node>>> = BTreeMap::new();
        let mut gone: Vec<&[u8]> = Vec::new();
        for change in changes {
            edits.entry(change.path.parent()).or_default().insert(change.path.name(), change.after);
            for ancestor in change.path.ancestors().chain([&b""[..]]) {
                edits.entry(ancestor).or_default();
            }
            let was = change.before.is_some_and(|node| node.is_directory());
            match (was, change.after.is_some_and(|node| node.is_directory())) {
                (true, false) => gone.push(change.path.as_bytes()),
                (_, true) => drop(edits.entry(change.path.as_bytes()).or_default()),
                _ => {}
            }
        }
        for (path, edit) in edits {
            let encoded = self.changes.directories.get(path).cloned().flatten();
            let encoded =
                encoded.or_else(|| self.cache.directory(path).map(|found| self.cache.bytes_of(&found.place).to_vec()));
            let encoded = encoded.unwrap_or_default();
            let place = Reader { bytes: &encoded, at: 0 }.place(LARGE);
            let body = place.and_then(|place| encoded.get(place.body.0..place.body.1)).unwrap_or_default();
            let mut reader = Reader { bytes: body, at: 0 };
            let known = std::iter::from_fn(|| reader.record());
            let kept = known.filter(|record| !edit.contains_key(record.name));
            let new = edit.iter().filter_map(|(name, node)| node.map(|node| record_without_stat(name, &node)));
            self.changes.set(path, None, kept.chain(new));
        }
        gone.into_iter().for_each(|path| self.changes.remove(path));
    }
}

fn push_contents(bytes: &mut Vec<u8>, contents: &Contents) {
    for id in [contents.tree, contents.attributes] {
        bytes.push(u8::from(id.is_some()));
        bytes.extend_from_slice(id.as_ref().map_or(&[0; 20], |id| id.as_bytes()));
    }
}

fn push_record(bytes: &mut Vec<u8>, record: &Record<'_>) {
    let kind = match record.kind {
        RecordKind::File => 0,
        RecordKind::Symlink => 1,
        RecordKind::Directory => 2,
    };
    bytes.push(kind | (u8::from(record.trusted) << 4));
    bytes.extend_from_slice(&record.mode.to_le_bytes());
    bytes.extend_from_slice(&(record.name.len() as u16).to_le_bytes());
    if record.kind != RecordKind::Directory {
        bytes.extend_from_slice(record.id.as_bytes());
        bytes.extend_from_slice(&record.stat.size.to_le_bytes());
        for time in [record.stat.modified, record.stat.changed] {
            bytes.extend_from_slice(&time.seconds.to_le_bytes());
            bytes.extend_from_slice(&time.nanoseconds.to_le_bytes());
        }
        bytes.extend_from_slice(&record.stat.inode.to_le_bytes());
    }
    bytes.extend_from_slice(record.name);
}

/// Reads the layout above; the end of the bytes is an answer, not a panic.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let slice = self.bytes.get(self.at..self.at.checked_add(count)?)?;
        self.at += count;
        Some(slice)
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    fn time(&mut self) -> Option<FileTime> {
        Some(FileTime { seconds: self.u64()? as i64, nanoseconds: self.u32()? })
    }

    fn contents(&mut self) -> Option<Contents> {
        let mut id = || {
            let present = self.take(1)?[0] == 1;
            Some(ObjectId::from_slice(self.take(20)?).filter(|_| present))
        };
        Some(Contents { tree: id()?, attributes: id()? })
    }

    fn place(&mut self, part: usize) -> Option<Place> {
        let start = self.at;
        let length = self.u32()? as usize;
        let path = (self.at, self.at + length);
        self.take(length)?;
        let known = self.take(1)?[0] == 1;
        let contents = Some(self.contents()?).filter(|_| known);
        let count = self.u32()?;
        let length = self.u32()? as usize;
        let body = (self.at, self.at + length);
        self.take(length)?;
        Some(Place { part, start, path, contents, count, body })
    }

    fn record(&mut self) -> Option<Record<'a>> {
        let head = self.take(RECORD_HEAD)?;
        let kind = match head[0] & 3 {
            0 => RecordKind::File,
            1 => RecordKind::Symlink,
            _ => RecordKind::Directory,
        };
        let mode = u16::from_le_bytes([head[1], head[2]]);
        let name_length = usize::from(u16::from_le_bytes([head[3], head[4]]));
        let (mut stat, mut id) = (Stat::default(), crate::tree::EMPTY_TREE);
        if kind != RecordKind::Directory {
            let mut fixed = Reader { bytes: self.take(RECORD_STAT)?, at: 0 };
            id = ObjectId::from_slice(fixed.take(20)?)?;
            let (size, modified, changed) = (fixed.u64()?, fixed.time()?, fixed.time()?);
            stat = Stat { size, modified, changed, inode: fixed.u64()? };
        }
        Some(Record { name: self.take(name_length)?, kind, mode, trusted: head[0] & 16 != 0, stat, id })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(seconds: i64, nanoseconds: u32) -> FileTime {
        FileTime { seconds, nanoseconds }
    }

    #[test]
    fn a_file_changed_in_the_tick_it_was_read_is_not_trusted() {
        let stat = Stat { changed: time(10, 500), modified: time(10, 500), ..Stat::default() };
        assert!(stat.is_settled(time(10, 501)));
        assert!(!stat.is_settled(time(10, 500)));
        assert!(!stat.is_settled(time(10, 499)));
    }

    #[test]
    fn whole_seconds_need_two_seconds_of_distance() {
        let stat = Stat { changed: time(10, 0), modified: time(10, 0), ..Stat::default() };
        assert!(!stat.is_settled(time(12, 999)));
        assert!(stat.is_settled(time(13, 0)));
    }

    #[test]
    fn whole_hundredths_need_a_second_of_distance() {
        let stat = Stat { changed: time(10, 250_000_000), modified: time(9, 10_000_000), ..Stat::default() };
        assert!(!stat.is_settled(time(10, 259_000_000)));
        assert!(stat.is_settled(time(12, 0)));
        let finer = Stat { modified: time(9, 10_000_001), ..stat };
        assert!(finer.is_settled(time(10, 259_000_000)));
    }

    fn file(name: &[u8]) -> Record<'_> {
        let stat = Stat { size: 3, inode: 9, ..Stat::default() };
        Record { name, kind: RecordKind::File, mode: 0o644, trusted: true, stat, id: crate::tree::EMPTY_TREE }
    }

    fn described(cache: &Cache) -> String {
        let directory = |at| format!("{:?}\n", cache.at(at).unwrap().records().collect::<Vec<_>>());
        let all = cache.paths().enumerate().map(|(at, path)| format!("{path:?} {}", directory(at)));
        all.chain([format!("{:?}", cache.subject())]).collect()
    }

    #[test]
    fn small_changes_are_written_beside_the_large_file_and_read_over_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = AnchoredPath::open_directory(directory.path()).unwrap().join("stat");
        let tree = Tree { id: crate::tree::EMPTY_TREE, attributes: None };
        let subject = Subject { root: (1, 2), store: 3, tree };
        let mut fresh = FreshCache::default();
        for name in [&b""[..], b"a", b"b", b"c"] {
            fresh.changes.set(name, None, std::iter::once(file(b"old")));
        }
        fresh.write(&path, &Disk::new(), &subject).unwrap();
        let large = path.read(MAX_SIZE).unwrap();
        let rounds: [&dyn Fn(&mut CacheChanges); 3] = [
            &|changes| changes.set(b"b", None, std::iter::once(file(b"new"))),
            &|changes| changes.remove(b"a"),
            &|changes| changes.set(b"d", None, std::iter::empty()),
        ];
        for change in rounds {
            let mut fresh = FreshCache { cache: Arc::new(Cache::load(&path)), changes: CacheChanges::default() };
            change(&mut fresh.changes);
            let written = fresh.write(&path, &Disk::new(), &subject).unwrap();
            let (written, loaded) = (described(&written), described(&Cache::load(&path)));
            assert_eq!(written, loaded, "what is kept in memory is what the next process reads");
        }
        assert_eq!(path.read(MAX_SIZE).unwrap(), large);
        let cache = Cache::load(&path);
        assert_eq!(cache.paths().collect::<Vec<_>>(), [&b""[..], b"b", b"c", b"d"]);
        assert_eq!(cache.directory(b"b").unwrap().records().next().unwrap().name, b"new");
        // A small file that builds on another large one says nothing.
        let mut other = FreshCache::default();
        other.changes.set(b"", None, std::iter::empty());
        other.write(&path, &Disk::new(), &subject).unwrap();
        assert_eq!(Cache::load(&path).paths().collect::<Vec<_>>(), [b""]);
    }

    #[test]
    fn a_damaged_cache_is_no_cache() {
        let mut changes = CacheChanges::default();
        changes.set(b"", None, std::iter::once(file(b"a")));
        let tree = Tree { id: crate::tree::EMPTY_TREE, attributes: None };
        let directories: Vec<&[u8]> = changes.directories.values().flatten().map(Vec::as_slice).collect();
        let bytes = encode(0, &Subject { root: (1, 2), store: 3, tree }, &directories);
        let cache = Cache::parse(bytes.clone()).unwrap();
        let found = cache.directory(b"").unwrap().records().next().unwrap();
        assert_eq!((found.name, found.stat.size, found.trusted), (&b"a"[..], 3, true));
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert!(Cache::parse(damaged).is_none(), "byte {at}");
            assert!(Cache::parse(bytes[..at].to_vec()).is_none(), "cut at {at}");
        }
    }
}
