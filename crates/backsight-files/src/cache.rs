//! The stat cache: what each captured path looked like when it was last read, so that an unchanged tree reads no file.
//!
//! It is one file, replaced whole, guarded by a checksum and deletable at any time. An entry is trusted only when the
//! file's last change is older than the moment it was read (the racy-timestamp rule); the others are read again.

use std::fs;
use std::path::Path;

use backsight_core::{ObjectId, Result};

use crate::tree::{Contents, Entry, Node, Source, Tree};

const MAGIC: &[u8; 8] = b"BSCACHE2";
/// Kind, mode and name length, then for files and symlinks id and stat.
const RECORD_HEAD: usize = 5;
const RECORD_STAT: usize = 20 + 8 + 12 + 12 + 8;

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
    /// file was looked at. Whole seconds in both times suggest a file system that keeps no finer ones.
    pub(crate) fn is_settled(&self, looked_at: FileTime) -> bool {
        let coarse = self.modified.nanoseconds == 0 && self.changed.nanoseconds == 0;
        if coarse { self.changed.seconds + 2 < looked_at.seconds } else { self.changed < looked_at }
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

/// What the cache is about: it speaks for nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Subject {
    /// Device and inode of the workspace's root.
    pub(crate) root: (u64, u64),
    /// `ObjectStore::fingerprint`.
    pub(crate) store: u64,
    /// The tree it describes.
    pub(crate) tree: Tree,
}

/// A loaded cache.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    bytes: Vec<u8>,
    directories: Vec<Place>,
    subject: Option<Subject>,
}

/// Where a directory is in the bytes.
#[derive(Clone, Copy, Debug)]
struct Place {
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
    pub(crate) fn load(file: &Path) -> Cache {
        fs::read(file).ok().and_then(Cache::parse).unwrap_or_default()
    }

    pub(crate) fn parse(bytes: Vec<u8>) -> Option<Cache> {
        let (body, checksum) = bytes.split_at(bytes.len().checked_sub(4)?);
        if crc32fast::hash(body).to_le_bytes() != checksum {
            return None;
        }
        let mut reader = Reader { bytes: body, at: 0 };
        if reader.take(8)? != MAGIC {
            return None;
        }
        let root = (reader.u64()?, reader.u64()?);
        let store = reader.u64()?;
        let tree = reader.contents()?.into_tree();
        let count = reader.u32()? as usize;
        let mut directories = Vec::with_capacity(count.min(body.len() / 16));
        for _ in 0..count {
            directories.push(reader.place()?);
        }
        Some(Cache { subject: Some(Subject { root, store, tree }), directories, bytes })
    }

    pub(crate) fn subject(&self) -> Option<Subject> {
        self.subject
    }

    /// What is known of `tree` without ever having looked at the disk: every file will be read.
    pub(crate) fn from_tree(source: &Source<'_>, tree: &Tree) -> Result<Cache> {
        let mut writer = CacheWriter::default();
        let mut pending = vec![(Vec::new(), tree.contents())];
        while let Some((path, contents)) = pending.pop() {
            let entries = source.entries(&contents)?;
            writer.directory(&path, None, entries.iter().map(untrusted));
            for entry in entries.into_iter().filter(|entry| entry.node.is_directory()) {
                pending.push((crate::ignore::join(&path, &entry.name), entry.contents));
            }
        }
        let subject = Subject { root: (0, 0), store: 0, tree: *tree };
        Ok(Cache::parse(writer.finish(&subject)).unwrap_or_default())
    }

    pub(crate) fn directory(&self, path: &[u8]) -> Option<CachedDirectory<'_>> {
        self.at(self.position(path)?)
    }

    /// Where a directory is, for `at`.
    pub(crate) fn position(&self, path: &[u8]) -> Option<usize> {
        self.directories.binary_search_by(|place| self.slice(place.path).cmp(path)).ok()
    }

    pub(crate) fn at(&self, position: usize) -> Option<CachedDirectory<'_>> {
        self.directories.get(position).map(|place| CachedDirectory { cache: self, place: *place })
    }

    pub(crate) fn directories(&self) -> impl Iterator<Item = (&[u8], CachedDirectory<'_>)> {
        self.directories.iter().map(|place| (self.slice(place.path), CachedDirectory { cache: self, place: *place }))
    }

    /// Paths of the files and symlinks known below `directory`.
    pub(crate) fn files_below(&self, directory: &[u8]) -> Vec<Vec<u8>> {
        let mut files = Vec::new();
        let prefix = [directory, b"/"].concat();
        let start = self.directories.partition_point(|place| self.slice(place.path) < prefix.as_slice());
        let below = self.directories[start..].iter().take_while(|place| self.slice(place.path).starts_with(&prefix));
        let itself = self.directory(directory).map(|found| found.place);
        for place in itself.iter().chain(below) {
            let records = CachedDirectory { cache: self, place: *place }.records();
            let names = records.filter(|record| record.kind != RecordKind::Directory).map(|record| record.name);
            files.extend(names.map(|name| crate::ignore::join(self.slice(place.path), name)));
        }
        files
    }

    fn slice(&self, range: (usize, usize)) -> &[u8] {
        self.bytes.get(range.0..range.1).unwrap_or_default()
    }
}

fn untrusted(entry: &Entry) -> Record<'_> {
    let (kind, mode, id) = match entry.node {
        Node::File { mode, id } => (RecordKind::File, mode, id),
        Node::Symlink { id } => (RecordKind::Symlink, 0o777, id),
        Node::Directory { mode } => (RecordKind::Directory, mode, crate::tree::EMPTY_TREE),
    };
    Record { name: &entry.name, kind, mode, trusted: false, stat: Stat::default(), id }
}

impl<'a> CachedDirectory<'a> {
    /// The objects of the directory when it was captured, when they are known.
    pub(crate) fn contents(&self) -> Option<Contents> {
        self.place.contents
    }

    pub(crate) fn len(&self) -> usize {
        self.place.count as usize
    }

    /// Its names, sorted.
    pub(crate) fn records(&self) -> impl Iterator<Item = Record<'a>> + use<'a> {
        let bytes = self.cache.slice(self.place.body);
        let mut reader = Reader { bytes, at: 0 };
        std::iter::from_fn(move || reader.record())
    }
}

/// Builds the bytes of a cache. Directories may come in any order.
#[derive(Clone, Default)]
pub(crate) struct CacheWriter {
    directories: Vec<(Vec<u8>, Vec<u8>)>,
}

impl CacheWriter {
    /// Adds a directory that has not changed, without decoding it.
    pub(crate) fn unchanged(&mut self, path: &[u8], directory: &CachedDirectory<'_>, contents: Option<Contents>) {
        if directory.place.contents == contents {
            let bytes = directory.cache.slice((directory.place.start, directory.place.body.1));
            self.directories.push((path.to_vec(), bytes.to_vec()));
            return;
        }
        self.directory(path, contents, directory.records());
    }

    pub(crate) fn directory<'r>(
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
        let mut bytes = Vec::with_capacity(body.len() + path.len() + 64);
        bytes.extend_from_slice(&(path.len() as u32).to_le_bytes());
        bytes.extend_from_slice(path);
        bytes.push(u8::from(contents.is_some()));
        push_contents(&mut bytes, &contents.unwrap_or_default());
        bytes.extend_from_slice(&count.to_le_bytes());
        bytes.extend_from_slice(&(body.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&body);
        self.directories.push((path.to_vec(), bytes));
    }

    pub(crate) fn finish(mut self, subject: &Subject) -> Vec<u8> {
        self.directories.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        let total: usize = self.directories.iter().map(|(_, bytes)| bytes.len()).sum();
        let mut bytes = Vec::with_capacity(total + 128);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&subject.root.0.to_le_bytes());
        bytes.extend_from_slice(&subject.root.1.to_le_bytes());
        bytes.extend_from_slice(&subject.store.to_le_bytes());
        push_contents(&mut bytes, &subject.tree.contents());
        bytes.extend_from_slice(&(self.directories.len() as u32).to_le_bytes());
        self.directories.iter().for_each(|(_, directory)| bytes.extend_from_slice(directory));
        bytes.extend_from_slice(&crc32fast::hash(&bytes).to_le_bytes());
        bytes
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

    fn place(&mut self) -> Option<Place> {
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
        Some(Place { start, path, contents, count, body })
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
    fn a_damaged_cache_is_no_cache() {
        let mut writer = CacheWriter::default();
        let record = Record {
            name: b"a",
            kind: RecordKind::File,
            mode: 0o644,
            trusted: true,
            stat: Stat { size: 3, inode: 9, ..Stat::default() },
            id: crate::tree::EMPTY_TREE,
        };
        writer.directory(b"", None, std::iter::once(record));
        let tree = Tree { id: crate::tree::EMPTY_TREE, attributes: None };
        let bytes = writer.finish(&Subject { root: (1, 2), store: 3, tree });
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
