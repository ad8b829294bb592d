//! The object store: a bare Git repository that any Git can read and only this file writes.
//!
//! An object may be held more than once (loose and packed); a read tries every copy until one hashes to its id, so a
//! damaged copy never hides a good one. Content that a capture has in hand is stored again when the copy here is bad.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use backsight_core::{Code, Error, ObjectId, Result};
use flate2::read::ZlibDecoder;

use crate::disk::Disk;
use crate::object::{self, IdHasher, ObjectKind};
use crate::pack::{Pack, PackEntry, PackWriter};

/// A pack is closed and the next one begun at this size, so that rewriting one never needs much room.
const PACK_LIMIT: u64 = 64 << 20;
/// Up to this many new objects are written loose: cheap to make, and no pack per small edit.
const LOOSE_LIMIT: usize = 64;
/// Larger files are streamed to disk instead of being held in memory.
pub(crate) const STREAM_LIMIT: u64 = 16 << 20;

/// The objects of one workspace.
pub struct ObjectStore {
    directory: PathBuf,
    temporary: PathBuf,
    disk: Disk,
    packs: RwLock<Option<Arc<Vec<Pack>>>>,
    unique: AtomicU64,
}

impl ObjectStore {
    /// Opens the store in `directory` (the bare repository), making what is missing.
    /// `temporary` is a directory on the same file system for files being written.
    pub fn open(directory: &Path, temporary: &Path, disk: Disk) -> Result<Self> {
        let store = ObjectStore {
            directory: directory.to_owned(),
            temporary: temporary.to_owned(),
            disk,
            packs: RwLock::new(None),
            unique: AtomicU64::new(0),
        };
        if !directory.join("HEAD").is_file() {
            store.create().map_err(|error| Error::io(format!("create the store in `{}`", directory.display()), error))?;
        }
        Ok(store)
    }

    fn create(&self) -> io::Result<()> {
        for part in ["objects/pack", "objects/info", "refs/backsight", "info"] {
            self.disk.create_private_directories(&self.directory.join(part))?;
        }
        self.disk.create_private_directories(&self.temporary)?;
        let config = b"[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n[gc]\n\tauto = 0\n";
        self.disk.replace(&self.directory.join("config"), config, crate::disk::Durability::Synced)?;
        self.disk.replace(&self.directory.join("info/exclude"), b".backsight/\n", crate::disk::Durability::Synced)?;
        // HEAD comes last: its presence says that the rest is there.
        self.disk.replace(&self.directory.join("HEAD"), b"ref: refs/heads/none\n", crate::disk::Durability::Synced)
    }

    pub(crate) fn disk(&self) -> &Disk {
        &self.disk
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Removes what a killed process left half written. The caller holds the workspace lock.
    pub fn clean_temporaries(&self) -> Result<()> {
        let entries = match fs::read_dir(&self.temporary) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            other => other.map_err(|error| self.failed("read", error))?,
        };
        for entry in entries {
            let path = entry.map_err(|error| self.failed("read", error))?.path();
            self.disk.remove_file(&path).map_err(|error| self.failed("clean", error))?;
        }
        Ok(())
    }

    pub(crate) fn failed(&self, doing: &str, error: io::Error) -> Error {
        Error::io(format!("{doing} the store in `{}`", self.directory.display()), error)
    }

    /// A name in the temporary directory that nobody else uses.
    pub(crate) fn temporary_path(&self) -> PathBuf {
        let number = self.unique.fetch_add(1, Ordering::Relaxed);
        self.temporary.join(format!("{}-{number}", std::process::id()))
    }

    pub(crate) fn loose_path(&self, id: &ObjectId) -> PathBuf {
        let hex = id.to_string();
        self.directory.join("objects").join(&hex[..2]).join(&hex[2..])
    }

    /// The packs, listed once; `refresh` lists them again.
    pub(crate) fn packs(&self, refresh: bool) -> Result<Arc<Vec<Pack>>> {
        if !refresh && let Some(packs) = &*self.packs.read().unwrap_or_else(PoisonError::into_inner) {
            return Ok(packs.clone());
        }
        let packs = Arc::new(self.list_packs()?);
        *self.packs.write().unwrap_or_else(PoisonError::into_inner) = Some(packs.clone());
        Ok(packs)
    }

    fn list_packs(&self) -> Result<Vec<Pack>> {
        let mut packs = Vec::new();
        for index in self.index_paths()? {
            match Pack::open(&index) {
                Ok(Ok(pack)) => packs.push(pack),
                // A pack whose index is damaged holds nothing we can find: `verify` reports it by name.
                Ok(Err(_)) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(self.failed("read", error)),
            }
        }
        Ok(packs)
    }

    pub(crate) fn index_paths(&self) -> Result<Vec<PathBuf>> {
        let entries = fs::read_dir(self.directory.join("objects/pack")).map_err(|error| self.failed("read", error))?;
        let mut paths = Vec::new();
        for entry in entries {
            let path = entry.map_err(|error| self.failed("read", error))?.path();
            if path.extension().is_some_and(|extension| extension == "idx") {
                paths.push(path);
            }
        }
        paths.sort();
        Ok(paths)
    }

    /// The object's kind and content, checked against its id.
    pub fn read(&self, id: &ObjectId) -> Result<(ObjectKind, Vec<u8>)> {
        let mut damage = None;
        for refresh in [false, true] {
            match self.read_any_copy(id, refresh, &mut damage)? {
                Some(found) => return Ok(found),
                // Another process may have packed it meanwhile.
                None => continue,
            }
        }
        Err(damage.unwrap_or_else(|| missing(id)))
    }

    fn read_any_copy(&self, id: &ObjectId, refresh: bool, damage: &mut Option<Error>) -> Result<Option<(ObjectKind, Vec<u8>)>> {
        match self.read_loose(id)? {
            Some(Ok(found)) => return Ok(Some(found)),
            Some(Err(problem)) => *damage = Some(damaged(id, &problem)),
            None => {}
        }
        for pack in self.packs(refresh)?.iter() {
            match pack.read(id).map(|read| read.and_then(|object| checked(id, object.kind, object.content))) {
                Some(Ok(found)) => return Ok(Some(found)),
                Some(Err(problem)) => *damage = Some(damaged(id, &problem)),
                None => {}
            }
        }
        Ok(None)
    }

    /// The loose copy, if there is one: whole, or what is wrong with it.
    pub(crate) fn read_loose(&self, id: &ObjectId) -> Result<Option<Result<(ObjectKind, Vec<u8>), String>>> {
        match File::open(self.loose_path(id)) {
            Ok(file) => Ok(Some(parse_loose(file).and_then(|(kind, content)| checked(id, kind, content)))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io(format!("read object {id}"), error)),
        }
    }

    /// The content of a blob.
    pub fn read_blob(&self, id: &ObjectId) -> Result<Vec<u8>> {
        match self.read(id)? {
            (ObjectKind::Blob, content) => Ok(content),
            (kind, _) => Err(damaged(id, &format!("is a {} where a blob was expected", kind.as_str()))),
        }
    }

    /// The content of a tree.
    pub(crate) fn read_tree(&self, id: &ObjectId) -> Result<Vec<u8>> {
        match self.read(id)? {
            (ObjectKind::Tree, content) => Ok(content),
            (kind, _) => Err(damaged(id, &format!("is a {} where a tree was expected", kind.as_str()))),
        }
    }

    /// Whether a copy exists, whole or not.
    pub(crate) fn contains(&self, id: &ObjectId) -> Result<bool> {
        if self.loose_path(id).is_file() {
            return Ok(true);
        }
        Ok(self.packs(false)?.iter().any(|pack| pack.contains(id)))
    }

    /// Starts writing about `expected` objects.
    pub(crate) fn batch(&self, expected: usize) -> Batch<'_> {
        let shape = if expected > LOOSE_LIMIT { Shape::Packed(None) } else { Shape::Loose(BTreeMap::new()) };
        Batch { store: self, shape: Mutex::new(shape), written: Mutex::new(HashSet::new()) }
    }

    /// A number that changes when anything but this process's knowledge adds or removes objects: the stat cache is
    /// only trusted while it holds, so that deleted objects are stored again instead of believed.
    pub(crate) fn fingerprint(&self) -> Result<u64> {
        use std::os::unix::fs::MetadataExt;
        let mut hasher = crc32fast::Hasher::new();
        let mut count = 0u64;
        let mut names: Vec<PathBuf> = Vec::new();
        for directory in [self.directory.join("objects"), self.directory.join("objects/pack")] {
            let entries = fs::read_dir(&directory).map_err(|error| self.failed("read", error))?;
            for entry in entries {
                names.push(entry.map_err(|error| self.failed("read", error))?.path());
            }
        }
        names.sort();
        for path in names {
            let metadata = fs::symlink_metadata(&path).map_err(|error| self.failed("read", error))?;
            hasher.update(path.as_os_str().as_encoded_bytes());
            hasher.update(&metadata.mtime().to_le_bytes());
            hasher.update(&metadata.mtime_nsec().to_le_bytes());
            hasher.update(&metadata.size().to_le_bytes());
            count += 1;
        }
        Ok((count << 32) | u64::from(hasher.finalize()))
    }
}

pub(crate) fn missing(id: &ObjectId) -> Error {
    Error::new(Code::Damaged, format!("object {id} is missing from the store"))
        .with_hint("see what is affected with `backsight verify`")
}

pub(crate) fn damaged(id: &ObjectId, problem: &str) -> Error {
    Error::new(Code::Damaged, format!("object {id} {problem}"))
        .with_hint("see what is affected with `backsight verify`")
}

fn checked(id: &ObjectId, kind: ObjectKind, content: Vec<u8>) -> Result<(ObjectKind, Vec<u8>), String> {
    match object::object_id(kind, &content) {
        Ok(actual) if actual == *id => Ok((kind, content)),
        Ok(actual) => Err(format!("is damaged: its content hashes to {actual}")),
        Err(error) => Err(error.message().to_owned()),
    }
}

fn parse_loose(file: File) -> Result<(ObjectKind, Vec<u8>), String> {
    let mut decoder = ZlibDecoder::new(io::BufReader::new(file));
    let mut content = Vec::new();
    decoder.read_to_end(&mut content).map_err(|error| format!("cannot be inflated: {error}"))?;
    let end = content.iter().take(32).position(|&byte| byte == 0).ok_or("has no header")?;
    let mut parts = content[..end].split(|&byte| byte == b' ');
    let kind = parts.next().and_then(ObjectKind::from_name).ok_or("has an unknown kind")?;
    let size = parts.next().and_then(|text| std::str::from_utf8(text).ok()?.parse::<usize>().ok());
    content.drain(..=end);
    match size {
        Some(size) if size == content.len() => Ok((kind, content)),
        _ => Err(format!("holds {} bytes where its header says otherwise", content.len())),
    }
}

/// Objects on their way into the store. Nothing is promised until `commit` returns.
pub(crate) struct Batch<'a> {
    store: &'a ObjectStore,
    shape: Mutex<Shape>,
    written: Mutex<HashSet<ObjectId>>,
}

enum Shape {
    /// Temporary files by the id they will be renamed to.
    Loose(BTreeMap<ObjectId, PathBuf>),
    /// The pack being filled, once there is something to put in it.
    Packed(Option<PackWriter>),
}

impl Batch<'_> {
    /// Stores an object unless a whole copy is there already. May be called from several threads.
    pub(crate) fn put(&self, kind: ObjectKind, content: &[u8]) -> Result<ObjectId> {
        let id = object::object_id(kind, content)?;
        if self.is_stored(&id)? {
            return Ok(id);
        }
        let entry = match &*self.lock() {
            Shape::Packed(_) => None,
            Shape::Loose(_) => Some(()),
        };
        match entry {
            None => self.put_packed(PackEntry::new(id, kind, content)),
            Some(()) => self.put_loose(id, object::deflate(&[&object::header(kind, content.len() as u64), content])),
        }?;
        Ok(id)
    }

    /// Whether this batch or the store holds a good copy. The store's copy is read, not assumed: whoever has the
    /// content in hand is the one who can repair it.
    fn is_stored(&self, id: &ObjectId) -> Result<bool> {
        if !self.written.lock().unwrap_or_else(PoisonError::into_inner).insert(*id) {
            return Ok(true);
        }
        if !self.store.contains(id)? {
            return Ok(false);
        }
        match self.store.read(id) {
            Ok(_) => Ok(true),
            Err(error) if error.code() == Code::Damaged => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn put_packed(&self, entry: PackEntry) -> Result<()> {
        let store = self.store;
        let mut shape = self.lock();
        let Shape::Packed(current) = &mut *shape else { return Ok(()) };
        let writer = match current {
            Some(writer) => writer,
            None => {
                let directory = store.directory.join("objects/pack");
                let created = PackWriter::create(&store.disk, &directory, store.temporary_path());
                current.insert(created.map_err(|error| store.failed("write to", error))?)
            }
        };
        writer.append(&entry).map_err(|error| store.failed("write to", error))?;
        if writer.size() >= PACK_LIMIT {
            let full = current.take();
            drop(shape);
            finish_pack(store, full)?;
        }
        Ok(())
    }

    fn put_loose(&self, id: ObjectId, bytes: Vec<u8>) -> Result<()> {
        let path = self.store.temporary_path();
        let write = || -> io::Result<()> {
            let mut file = self.store.disk.create(&path)?;
            file.write_all(&bytes)?;
            file.sync()
        };
        write().map_err(|error| self.store.failed("write to", error))?;
        self.add_loose(id, path);
        Ok(())
    }

    fn add_loose(&self, id: ObjectId, path: PathBuf) {
        match &mut *self.lock() {
            Shape::Loose(files) => drop(files.insert(id, path)),
            // A large file in a packed batch: it is complete, so it can be moved to its place at once.
            Shape::Packed(_) => {}
        }
    }

    /// Stores a large file without holding it in memory. `size` is what its header will say; reading another number
    /// of bytes is reported as `None`: the file is changing.
    pub(crate) fn put_stream(&self, mut input: impl Read, size: u64) -> Result<Option<ObjectId>> {
        let store = self.store;
        let path = store.temporary_path();
        let mut hasher = IdHasher::new(ObjectKind::Blob, size);
        let file = store.disk.create(&path).map_err(|error| store.failed("write to", error))?;
        let mut encoder = object::encoder(io::BufWriter::with_capacity(1 << 18, file));
        let stored = |error| store.failed("write to", error);
        encoder.write_all(&object::header(ObjectKind::Blob, size)).map_err(stored)?;
        let mut buffer = vec![0; 1 << 18];
        let mut total = 0u64;
        loop {
            let count = match input.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    drop(encoder);
                    store.disk.remove_file(&path).map_err(stored)?;
                    return Err(Error::io("read a large file", error));
                }
            };
            total += count as u64;
            hasher.update(&buffer[..count]);
            encoder.write_all(&buffer[..count]).map_err(stored)?;
        }
        let file = encoder.finish().and_then(|buffered| buffered.into_inner().map_err(|error| error.into_error()));
        let file = file.map_err(stored)?;
        let id = hasher.finish()?;
        if total != size || self.is_stored(&id)? {
            drop(file);
            store.disk.remove_file(&path).map_err(stored)?;
            return Ok((total == size).then_some(id));
        }
        file.sync().map_err(stored)?;
        publish_loose(store, &id, &path)?;
        Ok(Some(id))
    }

    /// Makes everything durable and visible. After an error the store holds at most harmless extra objects.
    pub(crate) fn commit(self) -> Result<()> {
        match self.shape.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Shape::Packed(writer) => finish_pack(self.store, writer),
            Shape::Loose(files) => files.iter().try_for_each(|(id, path)| publish_loose(self.store, id, path)),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Shape> {
        self.shape.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn finish_pack(store: &ObjectStore, writer: Option<PackWriter>) -> Result<()> {
    if let Some(writer) = writer {
        writer.finish(&store.disk).map_err(|error| store.failed("write to", error))?;
        store.packs(true)?;
    }
    Ok(())
}

pub(crate) fn publish_loose(store: &ObjectStore, id: &ObjectId, temporary: &Path) -> Result<()> {
    let path = store.loose_path(id);
    let publish = || -> io::Result<()> {
        let directory = path.parent().unwrap_or(&path);
        store.disk.create_private_directories(directory)?;
        store.disk.rename(temporary, &path)?;
        store.disk.sync_directory(directory)
    };
    publish().map_err(|error| store.failed("write to", error))
}
