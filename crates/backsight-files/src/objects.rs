//! The object store: a bare Git repository that any Git can read and only this file writes.
//!
//! An object may be held more than once (loose and packed); a read tries every copy until one hashes to its id, so a
//! damaged copy never hides a good one. Content that a capture has in hand is stored again when the copy here is bad.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use backsight_core::{Code, Error, NextStep, ObjectId, Result};
use flate2::read::ZlibDecoder;
use rustix::fs::FileType;

use crate::anchored::AnchoredPath;
use crate::cache::FileIdentity;
use crate::capture::coarse_now;
use crate::disk::Disk;
use crate::object::{self, Flaw, IdHasher, ObjectKind};
use crate::observe::stat_of;
use crate::pack::{Pack, PackEntry, PackWriter};
use crate::scan::ScanOptions;

/// A pack is closed and the next one begun at this size, so that rewriting one never needs much room.
const PACK_LIMIT: u64 = 64 << 20;
/// Larger files are streamed into an object file of their own instead of being held in memory.
pub(crate) const STREAM_LIMIT: u64 = 16 << 20;
/// So often packs are listed while another process rewrites them: each time it has to be faster than one listing.
const LISTINGS: usize = 20;
/// No list of names is longer: millions of snapshots.
const MAX_REFERENCES: u64 = 1 << 30;

/// So many files and directories a snapshot may hold whatever the settings say.
const FEW_ENTRIES: u64 = 200_000;

/// No branch: every snapshot has a name of its own.
const HEAD: &[u8] = b"ref: refs/heads/none\n";

/// What other Gits should know about the store. Anybody may have files whose names or contents mean something to Git on
/// some system; here they are only bytes, so `git fsck` is told not to mind.
const CONFIG: &str = "[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = true
[gc]
\tauto = 0
[fsck]
\thasDotgit = ignore
\tgitmodulesBlob = ignore
\tgitmodulesLarge = ignore
\tgitmodulesName = ignore
\tgitmodulesParse = ignore
\tgitmodulesPath = ignore
\tgitmodulesSymlink = ignore
\tgitmodulesUpdate = ignore
\tgitmodulesUrl = ignore
\tgitattributesBlob = ignore
\tgitattributesLarge = ignore
\tgitattributesLineLength = ignore
\tgitattributesSymlink = ignore
\tgitignoreSymlink = ignore
\tmailmapSymlink = ignore
";

/// One copy of an object: whole, or what is wrong with it.
pub(crate) type Copy = Result<(ObjectKind, Vec<u8>), Flaw>;

/// The packs of a store, opened.
type Packs = Arc<Vec<Arc<Pack>>>;

/// The objects of one workspace.
pub struct ObjectStore {
    directory: AnchoredPath,
    temporary: AnchoredPath,
    /// Files beside the repository that a killed process may have left half written: the stat cache's.
    beside: AnchoredPath,
    disk: Disk,
    packs: RwLock<Option<Packs>>,
    unique: AtomicU64,
    /// How many files and directories a snapshot may hold.
    most_entries: AtomicU64,
    /// The last fingerprint, and the directories it was made of.
    glimpse: Mutex<Option<([Option<FileIdentity>; 2], u64)>>,
}

impl ObjectStore {
    /// Opens the objects of the store in `store`, making what is missing: a bare repository, and beside it a directory
    /// for files being written.
    pub fn open(store: &AnchoredPath, disk: Disk) -> Result<Self> {
        let mut store = ObjectStore::open_to_look(store, disk);
        if !store.is_made() || !store.is_known_to_git() {
            store
                .create()
                .map_err(|error| Error::io(format!("create the store in `{}`", store.directory.display()), error))?;
        }
        // Held open, so that the way to it is not gone again for each look.
        store.directory = store.directory.anchored().map_err(|error| store.failed("open", error))?;
        Ok(store)
    }

    /// The same for a store that nothing can be written to.
    pub(crate) fn open_to_look(store: &AnchoredPath, disk: Disk) -> Self {
        ObjectStore {
            directory: store.join("snapshots"),
            temporary: store.join("tmp"),
            beside: store.join("cache"),
            disk,
            packs: RwLock::new(None),
            unique: AtomicU64::new(0),
            most_entries: AtomicU64::new(2 * ScanOptions::default().max_files),
            glimpse: Mutex::default(),
        }
    }

    fn is_made(&self) -> bool {
        ObjectStore::is_complete(&self.directory, &self.temporary)
    }

    pub(crate) fn is_complete(directory: &AnchoredPath, temporary: &AnchoredPath) -> bool {
        directory.join("HEAD").is_file() && directory.join("objects/pack").is_directory() && temporary.is_directory()
    }

    /// Whether HEAD and config are as they were made. With another HEAD Git takes the store for plain files of the user's
    /// and publishes it; another config can name programs to a Git that reads the store.
    fn is_known_to_git(&self) -> bool {
        let is = |name: &str, text: &[u8]| {
            self.directory.join(name).read(text.len() as u64).is_ok_and(|found| found == text)
        };
        is("HEAD", HEAD) && is("config", CONFIG.as_bytes())
    }

    fn create(&self) -> io::Result<()> {
        for part in ["objects/pack", "objects/info", "refs/backsight", "info"] {
            self.disk.create_private_directories(&self.directory.join(part))?;
        }
        self.disk.create_private_directories(&self.temporary)?;
        self.disk.replace(&self.directory.join("config"), CONFIG.as_bytes(), crate::disk::Durability::Synced)?;
        self.disk.replace(&self.directory.join("info/exclude"), b".backsight/\n", crate::disk::Durability::Synced)?;
        // HEAD comes last: its presence says that the rest is there.
        self.disk.replace(&self.directory.join("HEAD"), HEAD, crate::disk::Durability::Synced)
    }

    /// Lets snapshots hold as many files, and as many directories, as a capture may.
    pub fn expect_files(&self, max_files: u64) {
        // What is stored may have been captured when more was allowed, and so many do no harm.
        let most = max_files.saturating_mul(2).max(FEW_ENTRIES);
        self.most_entries.store(most, Ordering::Relaxed);
    }

    pub(crate) fn most_entries(&self) -> u64 {
        self.most_entries.load(Ordering::Relaxed)
    }

    pub(crate) fn disk(&self) -> &Disk {
        &self.disk
    }

    pub(crate) fn directory(&self) -> &AnchoredPath {
        &self.directory
    }

    /// Removes what a killed process left half written. The caller holds the workspace lock.
    pub fn clean_temporaries(&self) -> Result<()> {
        let mut leftovers = self.files_in(&self.temporary)?;
        for directory in [&self.directory, &self.directory.join("info"), &self.beside] {
            let torn = self.files_in(directory)?.into_iter();
            leftovers.extend(torn.filter(|path| path.has_extension("tmp")));
        }
        for path in leftovers {
            self.disk.remove_file(&path).map_err(|error| self.failed("clean", error))?;
        }
        // A pack without an index: the process died between the two, and nobody can look into it.
        let packs = self.files_in(&self.directory.join("objects/pack"))?;
        let names: HashSet<&Path> = packs.iter().map(AnchoredPath::relative).collect();
        let orphan =
            |path: &&AnchoredPath| path.has_extension("pack") && !names.contains(path.with_extension("idx").relative());
        for path in packs.iter().filter(orphan) {
            self.disk.remove_file(path).map_err(|error| self.failed("clean", error))?;
        }
        Ok(())
    }

    /// The files in a directory of the store; none when there is no such directory.
    pub(crate) fn files_in(&self, directory: &AnchoredPath) -> Result<Vec<AnchoredPath>> {
        let listed = directory.list().map_err(|error| Error::io(format!("read `{}`", directory.display()), error))?;
        Ok(listed.into_iter().filter(|(_, kind)| *kind != FileType::Directory).map(|(path, _)| path).collect())
    }

    pub(crate) fn failed(&self, doing: &str, error: io::Error) -> Error {
        Error::io(format!("{doing} the store in `{}`", self.directory.display()), error)
    }

    /// A name in the temporary directory that nobody else uses.
    pub(crate) fn temporary_path(&self) -> AnchoredPath {
        let number = self.unique.fetch_add(1, Ordering::Relaxed);
        self.temporary.join(format!("{}-{number}", std::process::id()))
    }

    pub(crate) fn loose_path(&self, id: &ObjectId) -> AnchoredPath {
        let hex = id.to_string();
        self.directory.join(format!("objects/{}/{}", &hex[..2], &hex[2..]))
    }

    /// The packs, listed once; `refresh` lists them again.
    pub(crate) fn packs(&self, refresh: bool) -> Result<Packs> {
        let known = self.packs.read().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(packs) = known.as_ref().filter(|_| !refresh) {
            return Ok(packs.clone());
        }
        let packs = Arc::new(self.list_packs(&known.unwrap_or_default())?);
        *self.packs.write().unwrap_or_else(PoisonError::into_inner) = Some(packs.clone());
        Ok(packs)
    }

    /// Forgets packs that another process removed and learns of those it wrote. Whoever stores something must begin with
    /// this: an object in a pack that is gone is not stored.
    pub fn refresh(&self) -> Result<()> {
        let known = self.packs.read().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(known) = known else { return Ok(()) };
        let there: HashSet<PathBuf> =
            self.index_paths()?.iter().map(|index| index.relative().with_extension("pack")).collect();
        let same = known.len() == there.len() && known.iter().all(|pack| there.contains(pack.path.relative()));
        if same { Ok(()) } else { self.packs(true).map(drop) }
    }

    /// Opens the packs that are not open already: the index of a large one takes longer to read than a small step.
    fn list_packs(&self, known: &[Arc<Pack>]) -> Result<Vec<Arc<Pack>>> {
        let known: HashMap<PathBuf, &Arc<Pack>> =
            known.iter().map(|pack| (pack.path.relative().with_extension("idx"), pack)).collect();
        settled(|| {
            let (mut packs, mut went) = (Vec::new(), false);
            for index in self.index_paths()? {
                if let Some(open) = known.get(index.relative()).filter(|pack| pack.is_current()) {
                    packs.push((*open).clone());
                    continue;
                }
                match Pack::open(&index) {
                    Ok(Ok(pack)) => packs.push(Arc::new(pack)),
                    // A pack whose index is damaged holds nothing we can find: `verify` reports it by name.
                    Ok(Err(_)) => {}
                    // What was in it is in another pack by now, which may not have been there when these were listed.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => went |= !index.exists(),
                    Err(error) => return Err(self.failed("read", error)),
                }
            }
            Ok((packs, went))
        })
    }

    pub(crate) fn index_paths(&self) -> Result<Vec<AnchoredPath>> {
        let mut paths = self.files_in(&self.directory.join("objects/pack"))?;
        paths.retain(|path| path.has_extension("idx"));
        Ok(paths)
    }

    /// The object's kind and content, checked against its id.
    pub fn read(&self, id: &ObjectId) -> Result<(ObjectKind, Vec<u8>)> {
        let mut damage = None;
        let mut packs = self.packs(false)?;
        for _ in 0..LISTINGS {
            if let Some(found) = self.read_any_copy(id, &packs, &mut damage)? {
                return Ok(found);
            }
            // Another process may have packed it meanwhile, into a pack that a third one rewrites just now.
            let listed = self.packs(true)?;
            let is_same = listed.len() == packs.len() && listed.iter().zip(&*packs).all(|(a, b)| Arc::ptr_eq(a, b));
            if is_same {
                break;
            }
            packs = listed;
        }
        Err(damage.unwrap_or_else(|| missing(id)))
    }

    fn read_any_copy(
        &self,
        id: &ObjectId,
        packs: &Packs,
        damage: &mut Option<Error>,
    ) -> Result<Option<(ObjectKind, Vec<u8>)>> {
        for pack in packs.iter() {
            match pack.read(id).map(|read| read.and_then(|object| checked(id, object.kind, object.content))) {
                Some(Ok(found)) => return Ok(Some(found)),
                Some(Err(flaw)) => *damage = Some(flaw.into_error(id)),
                None => {}
            }
        }
        match self.read_loose(id)? {
            Some(Ok(found)) => return Ok(Some(found)),
            Some(Err(flaw)) => *damage = Some(flaw.into_error(id)),
            None => {}
        }
        Ok(None)
    }

    /// The loose copy, if there is one: whole, or what is wrong with it.
    pub(crate) fn read_loose(&self, id: &ObjectId) -> Result<Option<Copy>> {
        match self.loose_path(id).open() {
            Ok(file) => {
                let stored = file.metadata().map_err(|error| Error::io(format!("read object {id}"), error))?.len();
                Ok(Some(parse_loose(file, stored).and_then(|(kind, content)| checked(id, kind, content))))
            }
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
    pub fn contains(&self, id: &ObjectId) -> Result<bool> {
        if self.loose_path(id).is_file() {
            return Ok(true);
        }
        Ok(self.packs(false)?.iter().any(|pack| pack.contains(id)))
    }

    /// Starts writing objects.
    pub(crate) fn batch(&self) -> Batch<'_> {
        Batch { store: self, pack: Mutex::new(None), written: Mutex::new(HashSet::new()) }
    }

    /// Adds names for objects, so that any Git sees them as wanted. Names are a courtesy, not the truth: they are not
    /// synced, and a line cut short by a crash is cut off by the next one.
    pub(crate) fn add_references(&self, names: &[(String, ObjectId)]) -> Result<()> {
        let file = self.directory.join("packed-refs");
        let text: String = names.iter().map(|(name, id)| format!("{id} refs/backsight/{name}\n")).collect();
        let append = |file: &mut File| -> io::Result<()> {
            let whole = whole_lines(file)?;
            file.set_len(whole)?;
            file.seek(io::SeekFrom::End(0))?;
            file.write_all(text.as_bytes())
        };
        let appended = if file.exists() {
            self.disk.amend(&file, append)
        } else {
            self.disk.replace(&file, text.as_bytes(), crate::disk::Durability::Cache)
        };
        appended.map_err(|error| self.failed("write the references of", error))
    }

    pub(crate) fn has_references(&self) -> bool {
        self.directory.join("packed-refs").size() > 0
    }

    /// The names given so far, without `refs/backsight/`.
    pub(crate) fn reference_names(&self) -> Result<Vec<String>> {
        Ok(self.references()?.lines().filter_map(name_of).map(str::to_owned).collect())
    }

    /// The name given last. Names are appended, so it is in the last complete line.
    pub(crate) fn last_reference_name(&self) -> Result<Option<String>> {
        let read =
            || -> io::Result<Vec<u8>> { tail(&mut self.directory.join("packed-refs").open()?).map(|(bytes, _)| bytes) };
        match read() {
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let whole = text.rfind('\n').map_or("", |end| &text[..end]);
                Ok(whole.lines().rev().find_map(name_of).map(str::to_owned))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.failed("read the references of", error)),
        }
    }

    fn references(&self) -> Result<String> {
        match self.directory.join("packed-refs").read(MAX_REFERENCES) {
            Ok(text) => Ok(String::from_utf8_lossy(&text).into_owned()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
            Err(error) => Err(self.failed("read the references of", error)),
        }
    }

    /// Removes the names that `is_kept` refuses.
    pub(crate) fn retain_references(&self, is_kept: &dyn Fn(&str) -> bool) -> Result<()> {
        let file = self.directory.join("packed-refs");
        let text = self.references()?;
        let kept: String =
            text.lines().filter(|line| name_of(line).is_none_or(is_kept)).map(|line| format!("{line}\n")).collect();
        let replaced = self.disk.replace(&file, kept.as_bytes(), crate::disk::Durability::Cache);
        replaced.map_err(|error| self.failed("write the references of", error))
    }

    /// The same for those who store nothing: not made anew while no object file came or went.
    pub(crate) fn glimpse(&self) -> Result<u64> {
        let directories = [self.directory.join("objects"), self.directory.join("objects/pack")];
        let identities = directories.map(|directory| FileIdentity::of(&directory));
        let mut glimpse = self.glimpse.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, fingerprint)) = &*glimpse
            && *of == identities
        {
            return Ok(*fingerprint);
        }
        let now = coarse_now();
        let fingerprint = self.fingerprint()?;
        // Only of directories whose next change is bound to show.
        let is_settled = |identity: &Option<FileIdentity>| identity.is_some_and(|found| found.is_older_than(now));
        *glimpse = identities.iter().all(is_settled).then_some((identities, fingerprint));
        Ok(fingerprint)
    }

    /// A number that changes when anything but this process's knowledge adds or removes objects: the stat cache is
    /// only trusted while it holds, so that deleted objects are stored again instead of believed.
    pub(crate) fn fingerprint(&self) -> Result<u64> {
        let mut hasher = crc32fast::Hasher::new();
        let mut count = 0u64;
        for directory in [self.directory.join("objects"), self.directory.join("objects/pack")] {
            for (path, _) in directory.list().map_err(|error| self.failed("read", error))? {
                // What another process removed since it was listed is not there any more.
                let Some(stat) = path.look().map_err(|error| self.failed("read", error))? else { continue };
                let stat = stat_of(&stat);
                hasher.update(path.relative().as_os_str().as_encoded_bytes());
                hasher.update(&stat.modified.seconds.to_le_bytes());
                hasher.update(&stat.modified.nanoseconds.to_le_bytes());
                hasher.update(&stat.size.to_le_bytes());
                count += 1;
            }
        }
        Ok((count << 32) | u64::from(hasher.finalize()))
    }
}

/// Lists until nothing of what was listed went on the way, which is what the second part of an answer says.
fn settled<T>(mut list: impl FnMut() -> Result<(T, bool)>) -> Result<T> {
    for _ in 1..LISTINGS {
        if let (listed, false) = list()? {
            return Ok(listed);
        }
    }
    list().map(|(listed, _)| listed)
}

/// The name in a line of `packed-refs`, if it is one of ours.
fn name_of(line: &str) -> Option<&str> {
    line.split_once(" refs/backsight/").map(|(_, name)| name)
}

/// The last bytes of a file, many lines' worth, and its size.
fn tail(file: &mut File) -> io::Result<(Vec<u8>, u64)> {
    let size = file.metadata()?.len();
    file.seek(io::SeekFrom::Start(size - size.min(4096)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok((bytes, size))
}

/// Where the last complete line ends.
fn whole_lines(file: &mut File) -> io::Result<u64> {
    let (bytes, size) = tail(file)?;
    Ok(size - bytes.iter().rev().take_while(|&&byte| byte != b'\n').count() as u64)
}

pub(crate) fn missing(id: &ObjectId) -> Error {
    Error::new(Code::Damaged, format!("object {id} is missing from the store"))
        .then("see what is affected", NextStep::VerifyStore)
}

pub(crate) fn damaged(id: &ObjectId, problem: &str) -> Error {
    Flaw::from(problem).into_error(id)
}

pub(crate) fn checked(id: &ObjectId, kind: ObjectKind, content: Vec<u8>) -> Copy {
    match object::object_id(kind, &content) {
        Ok(actual) if actual == *id => Ok((kind, content)),
        Ok(actual) => Err(format!("is damaged: its content hashes to {actual}").into()),
        Err(error) => Err(error.message().into()),
    }
}

/// A loose object from its `stored` bytes. No more is inflated than its header says.
pub(crate) fn parse_loose(input: impl Read, stored: u64) -> Copy {
    parse_loose_within(input, stored, u64::MAX)
}

/// The same, of at most `limit` bytes: what is larger is not inflated.
pub(crate) fn parse_loose_within(input: impl Read, stored: u64, limit: u64) -> Copy {
    let mut decoder = ZlibDecoder::new(io::BufReader::new(input));
    let (kind, size) = loose_header(&mut decoder)?;
    object::check_size(kind, size, stored)?;
    object::check_limit(size, limit)?;
    object::read_exactly(decoder, size).map(|content| (kind, content))
}

/// The kind and size at the start of a loose object.
fn loose_header(input: &mut impl Read) -> Result<(ObjectKind, u64), Flaw> {
    let mut header = Vec::new();
    let mut byte = [0];
    loop {
        input.read_exact(&mut byte).map_err(Flaw::inflating)?;
        match byte {
            [0] => break,
            _ if header.len() == 32 => return Err("has no header".into()),
            [other] => header.push(other),
        }
    }
    let mut parts = header.splitn(2, |&byte| byte == b' ');
    let kind = parts.next().and_then(ObjectKind::from_name).ok_or("has an unknown kind")?;
    let size = parts.next().and_then(|text| std::str::from_utf8(text).ok()?.parse().ok());
    size.map(|size| (kind, size)).ok_or_else(|| "has no size in its header".into())
}

/// Objects on their way into the store, as one pack. Nothing is promised until `commit` returns.
pub(crate) struct Batch<'a> {
    store: &'a ObjectStore,
    pack: Mutex<Option<PackWriter>>,
    written: Mutex<HashSet<ObjectId>>,
}

impl Batch<'_> {
    /// Stores an object unless a whole copy is there already. May be called from several threads.
    pub(crate) fn put(&self, kind: ObjectKind, content: &[u8]) -> Result<ObjectId> {
        let id = object::object_id(kind, content)?;
        if !self.is_stored(&id)? {
            self.append(PackEntry::new(id, kind, content))?;
        }
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

    fn append(&self, entry: PackEntry) -> Result<()> {
        let store = self.store;
        let mut pack = self.pack.lock().unwrap_or_else(PoisonError::into_inner);
        let writer = match &mut *pack {
            Some(writer) => writer,
            none => none.insert(store.new_pack()?),
        };
        writer.append(&entry).map_err(|error| store.failed("write to", error))?;
        let full = if writer.size() >= PACK_LIMIT { pack.take() } else { None };
        drop(pack);
        store.finish_pack(full)
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
        store.publish_loose(&id, &path)?;
        Ok(Some(id))
    }

    /// Makes everything durable and visible. After an error the store holds at most harmless extra objects.
    pub(crate) fn commit(self) -> Result<()> {
        self.store.finish_pack(self.pack.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

impl ObjectStore {
    pub(crate) fn new_pack(&self) -> Result<PackWriter> {
        let directory = self.directory.join("objects/pack");
        PackWriter::create(&self.disk, &directory, self.temporary_path())
            .map_err(|error| self.failed("write to", error))
    }

    pub(crate) fn finish_pack(&self, writer: Option<PackWriter>) -> Result<()> {
        if let Some(writer) = writer {
            writer.finish(&self.disk).map_err(|error| self.failed("write to", error))?;
            self.packs(true)?;
        }
        Ok(())
    }

    fn publish_loose(&self, id: &ObjectId, temporary: &AnchoredPath) -> Result<()> {
        let path = self.loose_path(id);
        let publish = || -> io::Result<()> {
            let directory = path.parent();
            self.disk.create_private_directories(&directory)?;
            self.disk.rename(temporary, &path)?;
            self.disk.sync_directory(&directory)
        };
        publish().map_err(|error| self.failed("write to", error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_while_it_is_listed_is_listed_again() {
        let mut listings = 0;
        let third = settled(|| {
            listings += 1;
            Ok((listings, listings < 3))
        });
        assert_eq!(third.unwrap(), 3);
        let mut listings = 0;
        let restless = settled(|| {
            listings += 1;
            Ok((listings, true))
        });
        assert_eq!(restless.unwrap(), LISTINGS);
    }
}
