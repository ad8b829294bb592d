//! Room on disk: what the store takes, what is reachable, and removing the rest. The caller holds the workspace lock.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use backsight_core::{Code, Error, ObjectId, Result};

use crate::anchored::AnchoredPath;
use crate::object::ObjectKind;
use crate::objects::ObjectStore;
use crate::pack::{Pack, PackEntry};
use crate::tree::parse_tree;

/// This many packs of one size class become one pack of the next: so a lookup never has many to search, and an object
/// is copied only once per class.
const PACKS_PER_CLASS: usize = 16;

/// What a store takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Room {
    /// Bytes in packs and their indexes.
    pub pack_bytes: u64,
    /// How many packs.
    pub packs: u64,
    /// Bytes in loose objects.
    pub loose_bytes: u64,
    /// How many loose objects.
    pub loose_objects: u64,
}

/// What a collection did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Objects removed.
    pub objects_removed: u64,
    /// What could not be done and why.
    pub warnings: Vec<String>,
}

impl ObjectStore {
    /// Counts what is there.
    pub fn room(&self) -> Result<Room> {
        let mut room = Room::default();
        for path in self.files_in(&self.directory().join("objects/pack"))? {
            room.pack_bytes += path.size();
            room.packs += u64::from(path.has_extension("pack"));
        }
        for (_, path) in self.loose_objects()? {
            room.loose_bytes += path.size();
            room.loose_objects += 1;
        }
        Ok(room)
    }

    /// Every loose object and its file.
    pub(crate) fn loose_objects(&self) -> Result<Vec<(ObjectId, AnchoredPath)>> {
        let mut found = Vec::new();
        for byte in 0..=255u8 {
            let prefix = format!("{byte:02x}");
            for path in self.files_in(&self.directory().join(format!("objects/{prefix}")))? {
                let id = ObjectId::from_hex(&format!("{prefix}{}", path.file_name().to_string_lossy()));
                found.extend(id.map(|id| (id, path)));
            }
        }
        Ok(found)
    }

    /// Everything reachable from `roots`. Damage is an error: what lies behind it cannot be told from garbage.
    pub(crate) fn reachable(&self, roots: &[ObjectId]) -> Result<HashSet<ObjectId>> {
        let mut seen: HashSet<ObjectId> = HashSet::new();
        let mut pending: Vec<ObjectId> = roots.to_vec();
        while let Some(id) = pending.pop() {
            if !seen.insert(id) {
                continue;
            }
            let (kind, content) = self.read(&id)?;
            if kind != ObjectKind::Tree {
                continue;
            }
            let entries =
                parse_tree(&content).ok_or_else(|| Error::new(Code::Damaged, format!("object {id} is not a tree")))?;
            for entry in entries {
                match entry.mode {
                    0o40000 => pending.push(entry.id),
                    // Blobs need not be read to know that they are reachable.
                    _ => drop(seen.insert(entry.id)),
                }
            }
        }
        Ok(seen)
    }

    /// How many bytes each object takes in the store, its copies added up.
    pub fn stored_sizes(&self) -> Result<HashMap<ObjectId, u64>> {
        let mut sizes: HashMap<ObjectId, u64> = HashMap::new();
        for (id, path) in self.loose_objects()? {
            *sizes.entry(id).or_default() += path.size();
        }
        for pack in self.packs(true)?.iter() {
            for (id, size) in pack.sizes() {
                *sizes.entry(id).or_default() += size;
            }
        }
        Ok(sizes)
    }

    /// How many objects, and how many bytes of them, a sweep would remove.
    pub fn garbage(&self, roots: &[ObjectId], sizes: &HashMap<ObjectId, u64>) -> Result<(u64, u64)> {
        let live = self.reachable(roots)?;
        let dead = sizes.iter().filter(|(id, _)| !live.contains(id)).map(|(_, bytes)| *bytes);
        Ok(dead.fold((0, 0), |(objects, bytes), size| (objects + 1, bytes + size)))
    }

    /// How many bytes everything reachable from `roots` takes.
    pub fn bytes_of(&self, roots: &[ObjectId], sizes: &HashMap<ObjectId, u64>) -> Result<u64> {
        Ok(self.reachable(roots)?.iter().map(|id| sizes.get(id).copied().unwrap_or_default()).sum())
    }

    /// Removes every object that `roots` do not reach, pack by pack, so that it never needs room for more than one.
    pub fn sweep(&self, roots: &[ObjectId]) -> Result<Swept> {
        self.clean_temporaries()?;
        let live = self.reachable(roots)?;
        let mut swept = Swept::default();
        self.sweep_loose(&live, &mut swept)?;
        let mut kept = HashSet::new();
        for index in self.index_paths()? {
            match Pack::open(&index) {
                Ok(Ok(pack)) => self.sweep_pack(&pack, &index, &live, &mut kept, &mut swept)?,
                Ok(Err(problem)) => self.sweep_unindexed(&index, &problem, &live, &mut swept)?,
                Err(error) => return Err(self.failed("read", error)),
            }
        }
        self.packs(true)?;
        Ok(swept)
    }

    fn sweep_loose(&self, live: &HashSet<ObjectId>, swept: &mut Swept) -> Result<()> {
        for (_, path) in self.loose_objects()?.iter().filter(|(id, _)| !live.contains(id)) {
            self.remove(path)?;
            swept.objects_removed += 1;
        }
        Ok(())
    }

    /// Joins packs of one size class when they have become many.
    pub fn maintain(&self) -> Result<()> {
        let packs = self.packs(false)?;
        let mut classes: BTreeMap<u32, Vec<&Pack>> = BTreeMap::new();
        for pack in packs.iter() {
            classes.entry(size_class(pack.size())).or_default().push(pack);
        }
        match classes.into_values().find(|class| class.len() >= PACKS_PER_CLASS) {
            Some(class) => self.join_packs(&class),
            None => Ok(()),
        }
    }

    fn join_packs(&self, packs: &[&Pack]) -> Result<()> {
        let mut writer = self.new_pack()?;
        let mut joined = Vec::new();
        for pack in packs {
            let Some(entries) = pack.entries() else { continue };
            for entry in &entries {
                writer.append(entry).map_err(|error| self.failed("write to", error))?;
            }
            joined.push(*pack);
        }
        self.finish_pack(Some(writer))?;
        for pack in joined {
            // The index goes first: without it nobody looks for objects in the pack.
            self.remove(&pack.path.with_extension("idx"))?;
            self.remove(&pack.path)?;
        }
        self.packs(true).map(drop)
    }

    /// Writes the readable ones of `ids` into a new pack and says which they are.
    fn write_pack(&self, ids: &[ObjectId]) -> Result<HashSet<ObjectId>> {
        let mut writer = self.new_pack()?;
        let mut packed = HashSet::new();
        for id in ids {
            match self.read(id) {
                Ok((kind, content)) => writer
                    .append(&PackEntry::new(*id, kind, &content))
                    .map_err(|error| self.failed("write to", error))?,
                // A damaged object stays where it is: `verify` names it, a later capture may mend it.
                Err(error) if error.code() == Code::Damaged => continue,
                Err(error) => return Err(error),
            }
            packed.insert(*id);
        }
        self.finish_pack(Some(writer))?;
        Ok(packed)
    }

    /// Rewrites a pack without what is dead, or already `kept` in a pack that stays.
    fn sweep_pack(
        &self,
        pack: &Pack,
        index: &AnchoredPath,
        live: &HashSet<ObjectId>,
        kept: &mut HashSet<ObjectId>,
        swept: &mut Swept,
    ) -> Result<()> {
        let wanted: Vec<ObjectId> = pack.ids().filter(|id| live.contains(id) && !kept.contains(id)).collect();
        if wanted.len() == pack.len() && pack.check_file().is_ok() {
            kept.extend(wanted);
            return Ok(());
        }
        if !wanted.is_empty() {
            let free = free_bytes(&self.directory().path());
            let sizes = pack.sizes().into_iter().filter(|(id, _)| live.contains(id) && !kept.contains(id));
            let needed: u64 = sizes.map(|(_, size)| size).sum();
            if free < needed {
                let why = format!("it needs {needed} bytes and {free} are free");
                swept.warnings.push(format!("`{}` was not rewritten: {why}", index.display()));
                return Ok(());
            }
            let packed = self.write_pack(&wanted)?;
            if wanted.iter().any(|id| !packed.contains(id)) {
                swept.warnings.push(format!("`{}` holds damaged objects and was left alone", index.display()));
                return Ok(());
            }
            kept.extend(packed);
        }
        swept.objects_removed += pack.ids().filter(|id| !live.contains(id)).count() as u64;
        // The index goes first: without it nobody looks for objects in the pack.
        self.remove(index)?;
        self.remove(&pack.path)
    }

    /// A pack nobody can look into is removed only when everything wanted is whole elsewhere.
    fn sweep_unindexed(
        &self,
        index: &AnchoredPath,
        problem: &str,
        live: &HashSet<ObjectId>,
        swept: &mut Swept,
    ) -> Result<()> {
        if live.iter().any(|id| self.read(id).is_err()) {
            swept.warnings.push(format!("`{}` was left alone: {problem}", index.display()));
            return Ok(());
        }
        self.remove(index)?;
        match self.remove(&index.with_extension("pack")) {
            Err(_) if !index.with_extension("pack").exists() => Ok(()),
            other => other,
        }
    }

    fn remove(&self, path: &AnchoredPath) -> Result<()> {
        self.disk().remove_file(path).map_err(|error| Error::io(format!("remove `{}`", path.display()), error))
    }
}

/// Sixteen-fold steps from 64 kB up.
fn size_class(bytes: u64) -> u32 {
    (bytes >> 16).checked_ilog2().map_or(0, |bits| bits / 4 + 1)
}

/// Free space on the device of `path`; none when it cannot be asked.
pub fn free_bytes(path: &Path) -> u64 {
    rustix::fs::statvfs(path).map_or(0, |space| space.f_bavail.saturating_mul(space.f_frsize))
}
