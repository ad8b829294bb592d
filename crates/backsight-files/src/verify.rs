//! Reads every object of the store and says exactly what is damaged and which snapshots that affects.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use backsight_core::{ObjectId, RelPath, Result};

use crate::ignore::join;
use crate::object::{ObjectKind, object_id};
use crate::objects::ObjectStore;
use crate::pack::Pack;
use crate::tree::{Contents, Source, Tree, parse_tree};

/// What a check of the objects found.
#[derive(Clone, Debug, Default)]
pub struct ObjectReport {
    /// Copies read and found whole.
    pub objects: u64,
    /// Objects of which no copy is whole, and what is wrong.
    pub damaged: BTreeMap<ObjectId, String>,
    /// Files of the store that are damaged as files, and what is wrong.
    pub files: BTreeMap<String, String>,
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
        let mut whole: HashSet<ObjectId> = HashSet::new();
        let loose = self.loose_objects()?;
        let packs = self.open_every_pack(&mut report)?;
        let total = loose.len() as u64 + packs.iter().map(|pack| pack.len() as u64).sum::<u64>();
        let mut note = |id: ObjectId, outcome: Result<(), String>| {
            report.objects += 1;
            match outcome {
                Ok(()) => drop(whole.insert(id)),
                Err(problem) => drop(report.damaged.insert(id, problem)),
            }
            if report.objects.is_multiple_of(512) {
                progress(report.objects, total);
            }
        };
        for (id, _) in loose {
            if let Some(read) = self.read_loose(&id)? {
                note(id, read.map(drop));
            }
        }
        for pack in &packs {
            for id in pack.ids() {
                let read = pack.read(&id).unwrap_or_else(|| Err("is not where its index says".to_owned()));
                note(id, read.and_then(|object| is_named(&id, object.kind, &object.content)));
            }
        }
        // A damaged copy beside a whole one harms nobody; gc removes it.
        report.damaged.retain(|id, _| !whole.contains(id));
        Ok(report)
    }

    fn open_every_pack(&self, report: &mut ObjectReport) -> Result<Vec<Pack>> {
        let mut packs = Vec::new();
        for index in self.index_paths()? {
            match Pack::open(&index) {
                Ok(Ok(pack)) => {
                    if let Err(problem) = pack.check_file() {
                        report.files.insert(pack.path.display().to_string(), problem);
                    }
                    packs.push(pack);
                }
                Ok(Err(problem)) => drop(report.files.insert(index.display().to_string(), problem)),
                Err(error) => drop(report.files.insert(index.display().to_string(), error.to_string())),
            }
        }
        Ok(packs)
    }

    /// Walks a snapshot and reports every object that cannot be read. `report` saves reading what was checked.
    pub fn check_tree(&self, tree: &Tree, report: &ObjectReport) -> Result<TreeReport> {
        let mut check =
            TreeCheck { source: Source::new(self), report, found: TreeReport::default(), visited: HashSet::new() };
        check.directory(&tree.contents(), b"")?;
        Ok(check.found)
    }
}

struct TreeCheck<'a> {
    source: Source<'a>,
    report: &'a ObjectReport,
    found: TreeReport,
    visited: HashSet<Contents>,
}

impl TreeCheck<'_> {
    fn directory(&mut self, contents: &Contents, at: &[u8]) -> Result<()> {
        if !self.visited.insert(*contents) {
            return Ok(());
        }
        let mut whole = true;
        for id in [contents.tree, contents.attributes].into_iter().flatten() {
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
                None => self.directory(&entry.contents, &path)?,
            }
        }
        Ok(())
    }

    fn object(&mut self, id: &ObjectId, at: &[u8]) -> Result<bool> {
        if !self.report.damaged.contains_key(id) && self.source.store.contains(id)? {
            return Ok(true);
        }
        let paths = self.found.unreadable.entry(*id).or_default();
        if paths.len() < 10 {
            paths.extend(RelPath::new(at).ok());
        }
        Ok(false)
    }
}

fn is_named(id: &ObjectId, kind: ObjectKind, content: &[u8]) -> Result<(), String> {
    match object_id(kind, content) {
        Ok(actual) if actual == *id => Ok(()),
        Ok(actual) => Err(format!("is damaged: its content hashes to {actual}")),
        Err(error) => Err(error.message().to_owned()),
    }
}
