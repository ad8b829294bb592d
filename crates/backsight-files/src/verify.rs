//! Reads every object of the store and says exactly what is damaged and which snapshots that affects.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use backsight_core::{ObjectId, RelPath, Result};

use crate::ignore::join;
use crate::object::Flaw;
use crate::objects::ObjectStore;
use crate::pack::Pack;
use crate::tree::{Contents, MAX_DEPTH, Source, Tree, parse_tree};

/// What a check of the objects found.
#[derive(Clone, Debug, Default)]
pub struct ObjectReport {
    /// Copies read and found whole.
    pub objects: u64,
    /// Objects of which no copy is whole, and what is wrong.
    pub damaged: BTreeMap<ObjectId, String>,
    /// Packs that are damaged as files, and what is wrong.
    pub files: BTreeMap<String, String>,
    /// The same for packs that nobody needs: every object in them has a whole copy elsewhere. `sweep` removes them.
    pub spare_files: BTreeMap<String, String>,
    /// Packs whose index cannot be read, so that nobody knows what is in them.
    pub unindexed: BTreeMap<String, String>,
}

/// What is wrong with one snapshot: the objects and the paths they stand for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeReport {
    /// Each missing or damaged object and up to ten paths that need it.
    pub unreadable: BTreeMap<ObjectId, BTreeSet<RelPath>>,
}

impl ObjectStore {
    /// Reads every copy of every object. `progress` is told how many are done, and of how many.
    pub fn check_objects(&self, progress: &dyn Fn(u64, u64)) -> Result<ObjectReport> {
        let mut report = ObjectReport::default();
        let loose = self.loose_objects()?;
        let packs = self.open_every_pack(&mut report)?;
        let total = loose.len() as u64 + packs.iter().map(|pack| pack.len() as u64).sum::<u64>();
        // In how many files each object is whole.
        let mut whole: HashMap<ObjectId, u32> = HashMap::new();
        let mut note = |id: ObjectId, outcome: Result<(), Flaw>| -> Result<()> {
            report.objects += 1;
            match outcome {
                Ok(()) => *whole.entry(id).or_default() += 1,
                Err(Flaw::Damage(problem)) => drop(report.damaged.insert(id, problem)),
                Err(trouble) => return Err(trouble.into_error(&id)),
            }
            if report.objects.is_multiple_of(512) {
                progress(report.objects, total);
            }
            Ok(())
        };
        for (id, _) in loose {
            if let Some(read) = self.read_loose(&id)? {
                note(id, read.map(drop))?;
            }
        }
        for pack in &packs {
            pack.ids().try_for_each(|id| note(id, pack.check(&id)))?;
        }
        report.damaged.retain(|id, _| !whole.contains_key(id));
        for pack in &packs {
            let Err(problem) = pack.check_file() else { continue };
            let elsewhere =
                |id: &ObjectId| whole.get(id).copied().unwrap_or_default() > u32::from(pack.check(id).is_ok());
            let files = if pack.ids().all(|id| elsewhere(&id)) { &mut report.spare_files } else { &mut report.files };
            files.insert(pack.path.display().to_string(), problem);
        }
        Ok(report)
    }

    fn open_every_pack(&self, report: &mut ObjectReport) -> Result<Vec<Pack>> {
        let mut packs = Vec::new();
        for index in self.index_paths()? {
            match Pack::open(&index) {
                Ok(Ok(pack)) => packs.push(pack),
                Ok(Err(problem)) => drop(report.unindexed.insert(index.display().to_string(), problem)),
                Err(error) => drop(report.unindexed.insert(index.display().to_string(), error.to_string())),
            }
        }
        Ok(packs)
    }

    /// Walks a snapshot and reports every object that cannot be read. `report` saves reading what was checked.
    pub fn check_tree(&self, tree: &Tree, report: &ObjectReport) -> Result<TreeReport> {
        let mut check = TreeCheck {
            source: Source::new(self),
            report,
            found: TreeReport::default(),
            visited: HashSet::new(),
            pending: Vec::new(),
        };
        check.pending.push((tree.contents(), Vec::new(), 0));
        while let Some((contents, at, depth)) = check.pending.pop() {
            check.directory(&contents, &at, depth)?;
        }
        Ok(check.found)
    }
}

struct TreeCheck<'a> {
    source: Source<'a>,
    report: &'a ObjectReport,
    found: TreeReport,
    visited: HashSet<Contents>,
    /// Directories to be checked, where they are and how many are above them.
    pending: Vec<(Contents, Vec<u8>, usize)>,
}

impl TreeCheck<'_> {
    fn directory(&mut self, contents: &Contents, at: &[u8], depth: usize) -> Result<()> {
        if !self.visited.insert(*contents) {
            return Ok(());
        }
        let ids = [contents.tree, contents.attributes];
        if depth > MAX_DEPTH {
            ids.iter().flatten().for_each(|id| self.unreadable(id, at));
            return Ok(());
        }
        let mut whole = true;
        for id in ids.into_iter().flatten() {
            whole &= self.object(&id, at)?;
        }
        if let Some(attributes) = contents.attributes.filter(|_| whole) {
            for entry in parse_tree(&self.source.store.read(&attributes)?.1).unwrap_or_default() {
                whole &= self.object(&entry.id, at)?;
            }
        }
        if !whole {
            return Ok(());
        }
        for entry in self.source.entries(contents)? {
            let path = join(at, &entry.name);
            match entry.node.blob() {
                Some(id) => drop(self.object(&id, &path)?),
                None => self.pending.push((entry.contents, path, depth + 1)),
            }
        }
        Ok(())
    }

    fn object(&mut self, id: &ObjectId, at: &[u8]) -> Result<bool> {
        if !self.report.damaged.contains_key(id) && self.source.store.contains(id)? {
            return Ok(true);
        }
        self.unreadable(id, at);
        Ok(false)
    }

    fn unreadable(&mut self, id: &ObjectId, at: &[u8]) {
        let paths = self.found.unreadable.entry(*id).or_default();
        if paths.len() < 10 {
            paths.extend(RelPath::new(at).ok());
        }
    }
}
