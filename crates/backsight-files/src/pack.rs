//! Git packs: written whole by a capture of many objects, read object by object.
//!
//! Reading trusts nothing: every offset and length is checked, and whoever asked for an object hashes what comes back.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Read as _, Write};
use std::os::unix::fs::{FileExt, MetadataExt};

use backsight_core::ObjectId;

use crate::anchored::AnchoredPath;
use crate::cache::FileIdentity;
use crate::disk::{Disk, DiskFile};
use crate::object::{self, Flaw, ObjectKind};

const PACK_HEADER: u64 = 12;
const IDX_HEADER: usize = 8 + 1024;
/// A pack from this size on is looked at before it is read.
const LARGE: u64 = 64 << 20;

/// Longest chain of deltas followed; Git itself never makes longer ones than 4095.
const MAX_DELTA_DEPTH: usize = 4096;
/// The largest object that is rebuilt from a delta: Git makes none of files over half of that.
const MAX_DELTA_RESULT: u64 = 1 << 30;
/// How many bytes all deltas of one chain may make.
const MAX_DELTA_WORK: u64 = 16 << 30;
/// The largest index that is read: some twenty million objects.
pub(crate) const MAX_INDEX: u64 = 512 << 20;

/// One pack and its index, opened for reading.
#[derive(Debug)]
pub(crate) struct Pack {
    /// The `.pack` file.
    pub(crate) path: AnchoredPath,
    index: Index,
    data: File,
    size: u64,
    /// The pack and its index as they were when they were opened.
    identities: [Option<FileIdentity>; 2],
}

/// What a pack holds at one offset.
pub(crate) struct PackObject {
    pub(crate) kind: ObjectKind,
    pub(crate) content: Vec<u8>,
}

impl Pack {
    /// Opens a pack by the path of its `.idx`.
    pub(crate) fn open(index_path: &AnchoredPath) -> io::Result<Result<Pack, String>> {
        let path = index_path.with_extension("pack");
        let identities = [FileIdentity::of(&path), FileIdentity::of(index_path)];
        let data = path.open()?;
        let size = data.metadata()?.len();
        let index = index_path.open()?;
        let stored = index.metadata()?.len();
        Ok(match read_index(index, stored)? {
            Ok(bytes) => Index::parse(bytes).map(|index| Pack { path, index, data, size, identities }),
            Err(problem) => Err(problem),
        })
    }

    /// A pack that lies nowhere.
    pub(crate) fn of(path: AnchoredPath, data: File, size: u64, index: Index) -> Pack {
        Pack { path, index, data, size, identities: [None; 2] }
    }

    /// Whether opening it again would give the same.
    pub(crate) fn is_current(&self) -> bool {
        self.identities == [FileIdentity::of(&self.path), FileIdentity::of(&self.path.with_extension("idx"))]
            && self.identities.iter().all(Option::is_some)
    }

    pub(crate) fn len(&self) -> usize {
        self.index.count
    }

    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// Whether the file as a whole is what was written: its trailing checksum says.
    pub(crate) fn check_file(&self) -> Result<(), String> {
        // No pack has holes: one that takes little room and claims terabytes would be read for hours.
        let taken = self.data.metadata().map_err(|error| error.to_string())?.blocks().saturating_mul(512);
        if self.size > LARGE && self.size / 8 > taken {
            return Err(format!("claims {} bytes and takes the room of {taken}", self.size));
        }
        let mut file = FileAt { file: &self.data, offset: 0 };
        let mut rest = self.size.checked_sub(20).ok_or("is cut short")?;
        let (mut hasher, mut buffer) = (sha1dc::Hasher::new(), vec![0; 1 << 18]);
        while rest > 0 {
            let want = rest.min(buffer.len() as u64) as usize;
            let count = io::Read::read(&mut file, &mut buffer[..want]).map_err(|error| error.to_string())?;
            if count == 0 {
                return Err("is cut short".to_owned());
            }
            hasher.update(&buffer[..count]);
            rest -= count as u64;
        }
        let mut trailer = [0; 20];
        self.data.read_exact_at(&mut trailer, self.size - 20).map_err(|error| error.to_string())?;
        match hasher.finalize() {
            Ok(digest) if digest.to_bytes() == trailer => Ok(()),
            _ => Err("does not match its own checksum".to_owned()),
        }
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = ObjectId> {
        (0..self.index.count).map(|position| self.index.id(position))
    }

    /// Every entry as it is stored, checked against the index, for copying into another pack. None when the pack is
    /// damaged or holds deltas, which another Git may have made and which cannot be moved one by one.
    pub(crate) fn entries(&self) -> Option<Vec<PackEntry>> {
        let end = self.size.checked_sub(20)?;
        let positions = (0..self.index.count).map(|position| Some((self.index.offset(position).ok()?, position)));
        let mut offsets: Vec<(u64, usize)> = positions.collect::<Option<_>>()?;
        offsets.sort_unstable();
        let ends: Vec<u64> = offsets.iter().skip(1).map(|(offset, _)| *offset).chain([end]).collect();
        let mut entries = Vec::with_capacity(offsets.len());
        for ((start, position), end) in offsets.into_iter().zip(ends) {
            if end > self.size {
                return None;
            }
            let mut bytes = vec![0; usize::try_from(end.checked_sub(start)?).ok()?];
            self.data.read_exact_at(&mut bytes, start).ok()?;
            let plain = bytes.first().is_some_and(|byte| (1..=4).contains(&((byte >> 4) & 7)));
            if !plain || crc32fast::hash(&bytes) != self.index.checksum(position) {
                return None;
            }
            entries.push(PackEntry { id: self.index.id(position), bytes });
        }
        Some(entries)
    }

    /// How many bytes each entry takes: up to where the next one begins. Damaged offsets count as nothing.
    pub(crate) fn sizes(&self) -> Vec<(ObjectId, u64)> {
        let end = self.size.saturating_sub(20);
        let offsets =
            (0..self.index.count).map(|position| (self.index.offset(position).unwrap_or(end), self.index.id(position)));
        let mut offsets: Vec<(u64, ObjectId)> = offsets.collect();
        offsets.sort_unstable();
        let ends: Vec<u64> = offsets.iter().skip(1).map(|(offset, _)| *offset).chain([end]).collect();
        // An index record takes 28 bytes.
        offsets.into_iter().zip(ends).map(|((start, id), end)| (id, end.saturating_sub(start) + 28)).collect()
    }

    pub(crate) fn contains(&self, id: &ObjectId) -> bool {
        self.index.find(id).is_some()
    }

    pub(crate) fn read(&self, id: &ObjectId) -> Option<Result<PackObject, Flaw>> {
        self.read_within(id, u64::MAX)
    }

    /// The same, of at most `limit` bytes: what is larger is not inflated.
    pub(crate) fn read_within(&self, id: &ObjectId, limit: u64) -> Option<Result<PackObject, Flaw>> {
        let position = self.index.find(id)?;
        Some(self.index.offset(position).map_err(Flaw::from).and_then(|offset| self.read_at(offset, limit)))
    }

    /// Whether the object here hashes to its id.
    pub(crate) fn check(&self, id: &ObjectId) -> Result<(), Flaw> {
        let object = self.read(id).unwrap_or_else(|| Err("is not where its index says".into()))?;
        match object::object_id(object.kind, &object.content) {
            Ok(actual) if actual == *id => Ok(()),
            Ok(actual) => Err(format!("is damaged: its content hashes to {actual}").into()),
            Err(error) => Err(error.message().into()),
        }
    }

    fn read_at(&self, mut offset: u64, limit: u64) -> Result<PackObject, Flaw> {
        // Where each delta of the chain is and how large, the outermost first.
        let mut deltas = Vec::new();
        let (kind, mut content) = loop {
            let entry = self.entry_header(offset)?;
            object::check_limit(entry.size, limit)?;
            let (base, delta) = match entry.code {
                1..=4 => break self.plain_entry(&entry)?,
                6 => self.delta_base_by_offset(offset, entry.end)?,
                7 => self.delta_base_by_id(entry.end)?,
                other => return Err(format!("unknown entry type {other}").into()),
            };
            if deltas.len() == MAX_DELTA_DEPTH {
                return Err("chain of deltas has no end".into());
            }
            deltas.push((delta, entry.size));
            offset = base;
        };
        let mut work = 0;
        for (at, size) in deltas.into_iter().rev() {
            if size > MAX_DELTA_RESULT {
                return Err(format!("is made by a delta of {size} bytes").into());
            }
            self.check_stored(ObjectKind::Blob, at, size)?;
            let delta = self.inflate_at(&[], at, size)?;
            object::check_limit(delta_result_size(&delta)?, limit)?;
            content = apply_delta(&content, &delta)?;
            work += content.len() as u64;
            if work > MAX_DELTA_WORK {
                return Err(format!("takes a chain of deltas that make more than {MAX_DELTA_WORK} bytes").into());
            }
        }
        Ok(PackObject { kind, content })
    }

    fn plain_entry(&self, entry: &EntryHeader) -> Result<(ObjectKind, Vec<u8>), Flaw> {
        let kind = match entry.code {
            1 => ObjectKind::Commit,
            2 => ObjectKind::Tree,
            3 => ObjectKind::Blob,
            _ => ObjectKind::Tag,
        };
        self.check_stored(kind, entry.end, entry.size)?;
        Ok((kind, self.inflate_at(&entry.begun, entry.end, entry.size)?))
    }

    /// Whether the rest of the pack can hold so much.
    fn check_stored(&self, kind: ObjectKind, at: u64, size: u64) -> Result<(), Flaw> {
        Ok(object::check_size(kind, size, self.size.saturating_sub(at))?)
    }

    fn entry_header(&self, offset: u64) -> Result<EntryHeader, Flaw> {
        if offset >= self.size {
            return Err("entry lies past the end of the pack".into());
        }
        let bytes = self.bytes_at(offset)?;
        let first = *bytes.first().ok_or("entry lies past the end of the pack")?;
        let (mut size, mut shift, mut used, mut byte) = (u64::from(first & 15), 4, 1, first);
        while byte & 0x80 != 0 {
            byte = *bytes.get(used).ok_or("entry header is cut short")?;
            size |= u64::from(byte & 0x7f).checked_shl(shift).ok_or("entry size is too large")?;
            shift += 7;
            used += 1;
        }
        Ok(EntryHeader { code: (first >> 4) & 7, size, end: offset + used as u64, begun: bytes[used..].to_vec() })
    }

    fn delta_base_by_offset(&self, offset: u64, at: u64) -> Result<(u64, u64), Flaw> {
        let bytes = self.bytes_at(at)?;
        let mut used = 0;
        let mut distance: u64 = 0;
        loop {
            let byte = *bytes.get(used).ok_or("delta header is cut short")?;
            distance = distance.checked_mul(128).ok_or("delta distance is too large")? | u64::from(byte & 0x7f);
            used += 1;
            if byte & 0x80 == 0 {
                break;
            }
            distance = distance.checked_add(1).ok_or("delta distance is too large")?;
        }
        let base = offset.checked_sub(distance).filter(|_| distance > 0).ok_or("delta base lies outside the pack")?;
        Ok((base, at + used as u64))
    }

    fn delta_base_by_id(&self, at: u64) -> Result<(u64, u64), Flaw> {
        let bytes = self.bytes_at(at)?;
        let id = bytes.get(..20).and_then(ObjectId::from_slice).ok_or("delta header is cut short")?;
        let position = self.index.find(&id).ok_or_else(|| format!("delta base {id} is not in the pack"))?;
        Ok((self.index.offset(position)?, at + 20))
    }

    /// Up to 2 kB at `offset`: enough for any entry header, and for the whole of most entries.
    fn bytes_at(&self, offset: u64) -> Result<Vec<u8>, Flaw> {
        let mut bytes = vec![0; 2048];
        let mut used = 0;
        while used < bytes.len() {
            match self.data.read_at(&mut bytes[used..], offset + used as u64) {
                Ok(0) => break,
                Ok(count) => used += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Flaw::Trouble(error)),
            }
        }
        bytes.truncate(used);
        Ok(bytes)
    }

    /// Inflates what lies at `offset`, of which `begun` was read already.
    fn inflate_at(&self, begun: &[u8], offset: u64, size: u64) -> Result<Vec<u8>, Flaw> {
        let rest = FileAt { file: &self.data, offset: offset + begun.len() as u64 };
        object::inflate(io::Read::chain(begun, io::BufReader::new(rest)), size)
    }
}

struct EntryHeader {
    code: u8,
    size: u64,
    /// Where the content begins.
    end: u64,
    /// The first bytes of the content.
    begun: Vec<u8>,
}

struct FileAt<'a> {
    file: &'a File,
    offset: u64,
}

impl io::Read for FileAt<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(buffer, self.offset)?;
        self.offset += count as u64;
        Ok(count)
    }
}

/// How many bytes a delta says that it makes.
fn delta_result_size(delta: &[u8]) -> Result<u64, String> {
    let mut rest = delta;
    delta_size(&mut rest)?;
    delta_size(&mut rest)
}

/// Rebuilds an object from its base and a Git delta.
pub(crate) fn apply_delta(base: &[u8], delta: &[u8]) -> Result<Vec<u8>, String> {
    let mut rest = delta;
    let base_size = delta_size(&mut rest)?;
    let size = delta_size(&mut rest)?;
    if base_size != base.len() as u64 {
        return Err("delta belongs to another base".to_owned());
    }
    if size > MAX_DELTA_RESULT {
        return Err(format!("delta makes {size} bytes, where {MAX_DELTA_RESULT} are the most"));
    }
    let mut content = Vec::with_capacity(size.min(1 << 24) as usize);
    while let Some(op) = take(&mut rest) {
        // A few bytes of a delta can copy millions.
        if content.len() as u64 > size {
            return Err(format!("delta makes more than the {size} bytes it says"));
        }
        if op & 0x80 == 0 {
            let count = usize::from(op);
            let literal = rest.get(..count).filter(|_| count > 0).ok_or("delta is cut short")?;
            content.extend_from_slice(literal);
            rest = &rest[count..];
            continue;
        }
        let (mut offset, mut count) = (0usize, 0usize);
        for bit in 0..4 {
            if op & (1 << bit) != 0 {
                offset |= usize::from(take(&mut rest).ok_or("delta is cut short")?) << (8 * bit);
            }
        }
        for bit in 0..3 {
            if op & (0x10 << bit) != 0 {
                count |= usize::from(take(&mut rest).ok_or("delta is cut short")?) << (8 * bit);
            }
        }
        let count = if count == 0 { 0x10000 } else { count };
        let copied = base.get(offset..offset.saturating_add(count)).ok_or("delta copies past its base")?;
        content.extend_from_slice(copied);
    }
    if content.len() as u64 != size {
        return Err(format!("delta makes {} bytes where it says {size}", content.len()));
    }
    Ok(content)
}

fn take(rest: &mut &[u8]) -> Option<u8> {
    let (&first, tail) = rest.split_first()?;
    *rest = tail;
    Some(first)
}

fn delta_size(rest: &mut &[u8]) -> Result<u64, String> {
    let (mut size, mut shift) = (0u64, 0);
    loop {
        let byte = take(rest).ok_or("delta is cut short")?;
        size |= u64::from(byte & 0x7f).checked_shl(shift).ok_or("delta size is too large")?;
        shift += 7;
        if byte & 0x80 == 0 {
            return Ok(size);
        }
    }
}

/// The bytes of a pack index, if there are as many as its head calls for.
fn read_index(mut input: impl io::Read, stored: u64) -> io::Result<Result<Vec<u8>, String>> {
    let mut bytes = Vec::new();
    (&mut input).take(IDX_HEADER as u64).read_to_end(&mut bytes)?;
    let count = bytes.get(IDX_HEADER - 4..).and_then(|word| word.try_into().ok()).map_or(0, u32::from_be_bytes);
    let most = IDX_HEADER as u64 + u64::from(count) * 36 + 40;
    if stored > most || stored > MAX_INDEX {
        return Ok(Err(format!("index is {stored} bytes, where {} would be the most", most.min(MAX_INDEX))));
    }
    input.take(stored).read_to_end(&mut bytes)?;
    Ok(Ok(bytes))
}

/// A version 2 pack index, held as its bytes.
#[derive(Debug)]
pub(crate) struct Index {
    bytes: Vec<u8>,
    count: usize,
}

impl Index {
    pub(crate) fn parse(bytes: Vec<u8>) -> Result<Index, String> {
        if bytes.len() < IDX_HEADER + 40 || bytes[..8] != *b"\xfftOc\0\0\0\x02" {
            return Err("index is not a version 2 pack index".to_owned());
        }
        let index = Index { count: 0, bytes };
        let count = index.fanout(255);
        let small = IDX_HEADER + count * 28 + 40;
        let large_bytes = index.bytes.len().checked_sub(small);
        let sorted = (1..256).all(|byte| index.fanout(byte - 1) <= index.fanout(byte));
        match large_bytes {
            Some(large) if large % 8 == 0 && sorted => Ok(Index { count, ..index }),
            _ => Err(format!("index is {} bytes, which cannot hold {count} objects", index.bytes.len())),
        }
    }

    fn word(&self, at: usize) -> u32 {
        let bytes = self.bytes.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(u32::MAX, u32::from_be_bytes)
    }

    fn fanout(&self, first_byte: usize) -> usize {
        self.word(8 + first_byte * 4) as usize
    }

    fn id(&self, position: usize) -> ObjectId {
        let at = IDX_HEADER + position * 20;
        let bytes = self.bytes.get(at..at + 20).and_then(ObjectId::from_slice);
        bytes.unwrap_or(ObjectId::from_bytes([0; 20]))
    }

    fn find(&self, id: &ObjectId) -> Option<usize> {
        let first = usize::from(id.as_bytes()[0]);
        let (mut low, mut high) = (if first == 0 { 0 } else { self.fanout(first - 1) }, self.fanout(first));
        while low < high {
            let middle = low + (high - low) / 2;
            match self.id(middle).cmp(id) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Some(middle),
            }
        }
        None
    }

    fn checksum(&self, position: usize) -> u32 {
        self.word(IDX_HEADER + self.count * 20 + position * 4)
    }

    fn offset(&self, position: usize) -> Result<u64, String> {
        let offsets = IDX_HEADER + self.count * 24;
        let word = self.word(offsets + position * 4);
        if word & 0x8000_0000 == 0 {
            return Ok(u64::from(word));
        }
        let at = offsets + self.count * 4 + (word & 0x7fff_ffff) as usize * 8;
        let bytes = self.bytes.get(at..at + 8).filter(|_| at + 8 + 40 <= self.bytes.len());
        let bytes = bytes.and_then(|bytes| bytes.try_into().ok()).ok_or("index points past its own end")?;
        Ok(u64::from_be_bytes(bytes))
    }
}

/// A pack entry ready to be appended: compressed off the writer's lock.
pub(crate) struct PackEntry {
    pub(crate) id: ObjectId,
    bytes: Vec<u8>,
}

impl PackEntry {
    pub(crate) fn new(id: ObjectId, kind: ObjectKind, content: &[u8]) -> Self {
        let mut bytes = Vec::with_capacity(content.len() / 2 + 32);
        bytes.extend_from_slice(&entry_start(kind, content.len() as u64));
        let mut encoder = object::encoder(bytes);
        // Writing into memory cannot fail.
        let _ = encoder.write_all(content);
        PackEntry { id, bytes: encoder.finish().unwrap_or_default() }
    }
}

/// What precedes the compressed content of a pack entry: its kind and size.
pub(crate) fn entry_start(kind: ObjectKind, mut size: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut byte = (kind.pack_code() << 4) | (size & 15) as u8;
    size >>= 4;
    while size > 0 {
        bytes.push(byte | 0x80);
        byte = (size & 0x7f) as u8;
        size >>= 7;
    }
    bytes.push(byte);
    bytes
}

/// A pack being written to a temporary file.
pub(crate) struct PackWriter {
    directory: AnchoredPath,
    temporary: AnchoredPath,
    pub(crate) output: BufWriter<DiskFile>,
    pub(crate) offset: u64,
    pub(crate) entries: BTreeMap<ObjectId, (u32, u64)>,
}

impl PackWriter {
    /// Starts a pack that will end up in `directory`, in the file `temporary`, which must not exist.
    pub(crate) fn create(disk: &Disk, directory: &AnchoredPath, temporary: AnchoredPath) -> io::Result<Self> {
        let mut output = BufWriter::with_capacity(1 << 18, disk.create(&temporary)?);
        // The object count comes last and is patched in by `finish`.
        output.write_all(b"PACK\0\0\0\x02\0\0\0\0")?;
        let (directory, entries) = (directory.clone(), BTreeMap::new());
        Ok(PackWriter { directory, temporary, output, offset: PACK_HEADER, entries })
    }

    pub(crate) fn append(&mut self, entry: &PackEntry) -> io::Result<()> {
        if self.entries.contains_key(&entry.id) {
            return Ok(());
        }
        self.output.write_all(&entry.bytes)?;
        self.entries.insert(entry.id, (crc32fast::hash(&entry.bytes), self.offset));
        self.offset += entry.bytes.len() as u64;
        Ok(())
    }

    pub(crate) fn size(&self) -> u64 {
        self.offset
    }

    /// Completes the pack and its index and makes both visible, index last.
    pub(crate) fn finish(mut self, disk: &Disk) -> io::Result<()> {
        self.output.flush()?;
        drop(self.output);
        if self.entries.is_empty() {
            return disk.remove_file(&self.temporary);
        }
        let count = self.entries.len() as u32;
        let trailer = disk.amend(&self.temporary, |file| seal_pack(file, count))?;
        let name = pack_name()?;
        let (pack, index) =
            (self.directory.join(format!("pack-{name}.pack")), self.directory.join(format!("pack-{name}.idx")));
        disk.rename(&self.temporary, &pack)?;
        let temporary_index = self.temporary.with_extension("idx_tmp");
        let mut file = disk.create(&temporary_index)?;
        file.write_all(&index_bytes(&self.entries, &trailer))?;
        file.sync()?;
        disk.rename(&temporary_index, &index)?;
        disk.sync_directory(&self.directory)
    }
}

/// Writes the object count and the trailing checksum, and makes the file durable.
pub(crate) fn seal_pack(file: &mut File, count: u32) -> io::Result<[u8; 20]> {
    use std::io::{Seek, SeekFrom};
    file.write_all_at(&count.to_be_bytes(), 8)?;
    let mut hasher = sha1dc::Hasher::new();
    let mut buffer = vec![0; 1 << 18];
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        hasher.update(&buffer[..read]);
    }
    let digest = hasher.finalize().map_err(|_| io::Error::other("pack checksum collides"))?.to_bytes();
    file.seek(SeekFrom::End(0))?;
    file.write_all(&digest)?;
    file.sync_all()?;
    Ok(digest)
}

/// A name no other pack has or had. Git names packs by their content; ours may hold the same objects as one that is
/// about to be removed, and must not be removed with it.
#[expect(clippy::disallowed_methods, reason = "this crate has no settings; the name says nothing about the contents")]
pub(crate) fn pack_name() -> io::Result<String> {
    let mut random = [0; 20];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    Ok(ObjectId::from_bytes(random).to_string())
}

pub(crate) fn index_bytes(entries: &BTreeMap<ObjectId, (u32, u64)>, trailer: &[u8; 20]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(IDX_HEADER + entries.len() * 28 + 40);
    bytes.extend_from_slice(b"\xfftOc\0\0\0\x02");
    let mut counts = [0u32; 256];
    entries.keys().for_each(|id| counts[usize::from(id.as_bytes()[0])] += 1);
    let mut total = 0u32;
    for count in counts {
        total += count;
        bytes.extend_from_slice(&total.to_be_bytes());
    }
    entries.keys().for_each(|id| bytes.extend_from_slice(id.as_bytes()));
    entries.values().for_each(|(crc, _)| bytes.extend_from_slice(&crc.to_be_bytes()));
    let mut large = Vec::new();
    for (_, offset) in entries.values() {
        let word = match u32::try_from(*offset) {
            Ok(small) if small < 0x8000_0000 => small,
            _ => {
                large.push(*offset);
                0x8000_0000 | (large.len() as u32 - 1)
            }
        };
        bytes.extend_from_slice(&word.to_be_bytes());
    }
    large.iter().for_each(|offset| bytes.extend_from_slice(&offset.to_be_bytes()));
    bytes.extend_from_slice(trailer);
    let checksum = sha1dc::digest(&bytes).map(|digest| digest.to_bytes()).unwrap_or_default();
    bytes.extend_from_slice(&checksum);
    bytes
}
