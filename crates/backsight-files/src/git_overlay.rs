//! The trees of exported commits. A commit holds what its snapshot holds; where the snapshot could not look, or does not
//! reach, it keeps what the commit before it holds. What was not seen is never proven absent, so it is never deleted.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use backsight_core::{Code, Error, ObjectId, Reason, Result, quote};

use crate::blind::Blind;
use crate::git_export::{NewCommit, snapshot_entries};
use crate::git_place::Placement;
use crate::git_repository::GitRepository;
use crate::ignore::join;
use crate::object::{ObjectKind, object_id};
use crate::objects::ObjectStore;
use crate::tree::{Contents, EMPTY_TREE, RawEntry, check_depth, encode_tree, is_safe_name, parse_tree};

const DIRECTORY: u32 = 0o40000;
/// The commit of another repository: a submodule.
const GITLINK: u32 = 0o160000;

/// Why a commit keeps what the one before it holds at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeptReason {
    /// The capture could not see it.
    NotSeen(Reason),
    /// The sparse checkout leaves it out of the work tree.
    SparseCheckout,
    /// It is a submodule, which Git keeps as a commit and Backsight as files.
    Submodule,
    /// Its name is one that no snapshot holds.
    ReservedName,
}

impl fmt::Display for KeptReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeptReason::NotSeen(reason) => reason.fmt(f),
            KeptReason::SparseCheckout => f.write_str("left out by the sparse checkout"),
            KeptReason::Submodule => f.write_str("submodule"),
            KeptReason::ReservedName => f.write_str("reserved name"),
        }
    }
}

/// Composes the trees of commits that follow each other, and collects what they are made of.
pub(crate) struct Overlay<'a> {
    store: &'a ObjectStore,
    repository: &'a GitRepository,
    place: &'a Placement,
    blind: Blind,
    coverage: Option<ObjectId>,
    /// What became of a directory, for the coverage above: most steps leave most directories alone.
    known: HashMap<Directory, Option<ObjectId>>,
    /// Trees that neither the store nor the repository need hold.
    pub(crate) made: BTreeMap<ObjectId, Vec<u8>>,
    /// Entries of snapshots that the commits hold as they are, each with one of its paths.
    pub(crate) taken: HashMap<ObjectId, Taken>,
    /// What any of the commits kept, by its path in the workspace.
    pub(crate) kept: BTreeMap<Vec<u8>, KeptReason>,
}

/// Something of a snapshot in a commit.
pub(crate) struct Taken {
    pub(crate) is_directory: bool,
    pub(crate) path: Vec<u8>,
}

/// What a commit holds at a name of which the commit before it, the snapshot or both have something.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Take,
    Keep(KeptReason),
    /// Look into the directories.
    Merge,
    Drop,
}

/// A directory that is being composed.
struct Level {
    path: Vec<u8>,
    parent: Option<ObjectId>,
    snapshot: Option<ObjectId>,
    todo: std::vec::IntoIter<Pair>,
    entries: Vec<RawEntry>,
}

/// A path, and the trees that the commit before and the snapshot have there.
type Directory = (Vec<u8>, Option<ObjectId>, Option<ObjectId>);

/// One name on both sides.
type Pair = (Option<RawEntry>, Option<RawEntry>);

impl<'a> Overlay<'a> {
    pub(crate) fn new(store: &'a ObjectStore, repository: &'a GitRepository, place: &'a Placement) -> Self {
        Overlay {
            store,
            repository,
            place,
            blind: Blind::default(),
            coverage: None,
            known: HashMap::new(),
            made: BTreeMap::new(),
            taken: HashMap::new(),
            kept: BTreeMap::new(),
        }
    }

    /// The tree of a commit that follows one with the tree `parent`.
    pub(crate) fn compose(&mut self, parent: Option<ObjectId>, commit: &NewCommit) -> Result<ObjectId> {
        if self.coverage != commit.coverage {
            self.blind = Blind::load(self.store, commit.coverage.as_ref())?;
            self.coverage = commit.coverage;
            self.known.clear();
        }
        let mut above: Vec<(Vec<u8>, Vec<RawEntry>)> = Vec::new();
        let mut at = parent;
        for name in self.place.below.split(|&byte| byte == b'/').filter(|name| !name.is_empty()) {
            let entries = at.map_or_else(|| Ok(Vec::new()), |tree| self.parent_entries(&tree))?;
            let here = entries.iter().find(|entry| entry.name == name);
            if here.is_some_and(|entry| entry.mode == GITLINK) {
                return Err(self.below_a_submodule());
            }
            at = here.filter(|entry| entry.mode == DIRECTORY).map(|entry| entry.id);
            above.push((name.to_vec(), entries));
        }
        let snapshot = (commit.tree != EMPTY_TREE).then_some(commit.tree);
        let mut composed = self.merge(at, snapshot)?;
        for (name, mut entries) in above.into_iter().rev() {
            entries.retain(|entry| entry.name != name);
            entries.extend(composed.map(|id| RawEntry { mode: DIRECTORY, name, id }));
            composed = self.make(entries, None)?;
        }
        match composed {
            Some(tree) => Ok(tree),
            None => {
                self.made.insert(EMPTY_TREE, Vec::new());
                Ok(EMPTY_TREE)
            }
        }
    }

    /// The workspace's directory: nothing when it holds nothing.
    fn merge(&mut self, parent: Option<ObjectId>, snapshot: Option<ObjectId>) -> Result<Option<ObjectId>> {
        let mut levels: Vec<Level> = Vec::new();
        let mut done = self.enter(Vec::new(), parent, snapshot, &mut levels)?;
        while let Some(level) = levels.last_mut() {
            if let Some(finished) = done.take() {
                // What was entered is the last name that was taken from the list.
                level.entries.extend(finished);
            }
            let Some((parent, snapshot)) = level.todo.next() else {
                let Some(level) = levels.pop() else { break };
                let name = level.path.rsplit(|&byte| byte == b'/').next().unwrap_or_default().to_vec();
                let tree = self.make(level.entries, Some((level.snapshot, &level.path)))?;
                self.known.insert((level.path, level.parent, level.snapshot), tree);
                if levels.is_empty() {
                    return Ok(tree);
                }
                done = Some(tree.map(|id| RawEntry { mode: DIRECTORY, name, id }));
                continue;
            };
            let name = parent.as_ref().or(snapshot.as_ref()).map(|entry| entry.name.clone()).unwrap_or_default();
            let path = join(&level.path, &name);
            match verdict(parent.as_ref(), snapshot.as_ref(), || unseen(&self.blind, self.place, &path)) {
                Verdict::Take => {
                    if let Some(entry) = snapshot {
                        take(&mut self.taken, &entry, path);
                        level.entries.push(entry);
                    }
                }
                Verdict::Keep(reason) => {
                    self.kept.insert(path, reason);
                    level.entries.extend(parent);
                }
                Verdict::Drop => {}
                Verdict::Merge => {
                    let (parent, snapshot) = (parent.map(|entry| entry.id), snapshot.map(|entry| entry.id));
                    done = self.enter(path, parent, snapshot, &mut levels)?;
                }
            }
        }
        Ok(done.flatten().map(|entry| entry.id))
    }

    /// Begins with a directory, or says at once what becomes of it: an entry, or nothing.
    fn enter(
        &mut self,
        path: Vec<u8>,
        parent: Option<ObjectId>,
        snapshot: Option<ObjectId>,
        levels: &mut Vec<Level>,
    ) -> Result<Option<Option<RawEntry>>> {
        check_depth(levels.len(), &Contents { tree: parent.or(snapshot), attributes: None })?;
        let entry = |id: ObjectId| {
            let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default().to_vec();
            RawEntry { mode: DIRECTORY, name, id }
        };
        if let Some(tree) = snapshot.filter(|tree| parent.is_none() || parent == Some(*tree)) {
            let entry = entry(tree);
            take(&mut self.taken, &entry, path.clone());
            return Ok(Some(Some(entry)));
        }
        if let Some(known) = self.known.get(&(path.clone(), parent, snapshot)) {
            return Ok(Some(known.map(entry)));
        }
        let before = parent.map_or_else(|| Ok(Vec::new()), |tree| self.parent_entries(&tree))?;
        let after = snapshot.map_or_else(|| Ok(Vec::new()), |tree| snapshot_entries(self.store, &tree, &path))?;
        let todo = pairs(before, after).into_iter();
        levels.push(Level { path, parent, snapshot, todo, entries: Vec::new() });
        Ok(None)
    }

    /// The tree of these entries. One that turns out to be the snapshot's own is in the store, and not held in memory.
    fn make(
        &mut self,
        entries: Vec<RawEntry>,
        snapshot: Option<(Option<ObjectId>, &[u8])>,
    ) -> Result<Option<ObjectId>> {
        if entries.is_empty() {
            return Ok(None);
        }
        let content = encode_tree(entries);
        let id = object_id(ObjectKind::Tree, &content)?;
        match snapshot.filter(|(tree, _)| *tree == Some(id)) {
            Some((_, path)) => {
                self.taken.entry(id).or_insert(Taken { is_directory: true, path: path.to_vec() });
            }
            None => drop(self.made.insert(id, content)),
        }
        Ok(Some(id))
    }

    /// A directory of the commit before: composed just now, of a snapshot, or of the repository.
    fn parent_entries(&self, tree: &ObjectId) -> Result<Vec<RawEntry>> {
        let content = match self.made.get(tree) {
            Some(content) => content.clone(),
            None if *tree == EMPTY_TREE => Vec::new(),
            None if self.store.contains(tree)? => self.store.read_tree(tree)?,
            None => self.repository.read_tree(tree)?,
        };
        parse_tree(&content).ok_or_else(|| self.repository.damaged(tree, "is not a tree"))
    }

    fn below_a_submodule(&self) -> Error {
        let (below, named) = (quote(&self.place.below), self.repository.named());
        Error::new(Code::GitRefused, format!("`{below}` is in a submodule of `{named}`, which holds none of its files"))
            .with_hint("name the submodule's own repository")
    }
}

fn take(taken: &mut HashMap<ObjectId, Taken>, entry: &RawEntry, path: Vec<u8>) {
    taken.entry(entry.id).or_insert(Taken { is_directory: entry.mode == DIRECTORY, path });
}

/// Why nothing is known of a path that the snapshot does not hold, if so.
fn unseen(blind: &Blind, place: &Placement, path: &[u8]) -> Option<KeptReason> {
    let sparse = || place.left_out.contains(path).then_some(KeptReason::SparseCheckout);
    blind.reason(path).map(KeptReason::NotSeen).or_else(sparse)
}

fn verdict(
    parent: Option<&RawEntry>,
    snapshot: Option<&RawEntry>,
    unseen: impl FnOnce() -> Option<KeptReason>,
) -> Verdict {
    match (parent, snapshot) {
        (None, _) => Verdict::Take,
        (Some(parent), Some(snapshot)) => match (parent.mode, snapshot.mode) {
            (DIRECTORY, DIRECTORY) => Verdict::Merge,
            (GITLINK, DIRECTORY) => Verdict::Keep(KeptReason::Submodule),
            _ => Verdict::Take,
        },
        (Some(parent), None) => match unseen() {
            _ if parent.mode == GITLINK => Verdict::Keep(KeptReason::Submodule),
            _ if !is_safe_name(&parent.name) => Verdict::Keep(KeptReason::ReservedName),
            Some(reason) => Verdict::Keep(reason),
            None if parent.mode == DIRECTORY => Verdict::Merge,
            None => Verdict::Drop,
        },
    }
}

/// Both sides by name.
fn pairs(before: Vec<RawEntry>, after: Vec<RawEntry>) -> Vec<Pair> {
    let mut pairs: BTreeMap<Vec<u8>, Pair> = BTreeMap::new();
    for entry in before {
        let name = entry.name.clone();
        pairs.entry(name).or_default().0 = Some(entry);
    }
    for entry in after {
        let name = entry.name.clone();
        pairs.entry(name).or_default().1 = Some(entry);
    }
    pairs.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(mode: u32, name: &str) -> RawEntry {
        RawEntry { mode, name: name.into(), id: EMPTY_TREE }
    }

    #[test]
    fn what_was_seen_decides_and_what_was_not_stays() {
        let of = |parent: Option<u32>, snapshot: Option<u32>, unseen: Option<KeptReason>| {
            let (parent, snapshot) = (parent.map(|mode| entry(mode, "x")), snapshot.map(|mode| entry(mode, "x")));
            verdict(parent.as_ref(), snapshot.as_ref(), || unseen)
        };
        let (file, large) = (0o100644, Some(KeptReason::NotSeen(Reason::TooLarge)));
        assert_eq!(of(None, Some(file), None), Verdict::Take);
        assert_eq!(of(Some(file), Some(file), large), Verdict::Take);
        assert_eq!(of(Some(file), None, None), Verdict::Drop);
        assert_eq!(of(Some(file), None, large), Verdict::Keep(KeptReason::NotSeen(Reason::TooLarge)));
        assert_eq!(of(Some(DIRECTORY), None, None), Verdict::Merge);
        assert_eq!(of(Some(DIRECTORY), Some(file), None), Verdict::Take);
        assert_eq!(of(Some(GITLINK), Some(DIRECTORY), None), Verdict::Keep(KeptReason::Submodule));
        assert_eq!(of(Some(GITLINK), None, None), Verdict::Keep(KeptReason::Submodule));
        assert_eq!(of(Some(GITLINK), Some(file), None), Verdict::Take);
        let own = verdict(Some(&entry(DIRECTORY, ".backsight")), None, || None);
        assert_eq!(own, Verdict::Keep(KeptReason::ReservedName));
    }
}
