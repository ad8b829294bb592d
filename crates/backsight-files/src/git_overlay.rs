//! The trees of exported commits. A commit holds what its snapshot holds, as `git add` would have stored it; where the
//! snapshot could not look or does not reach, and where only a program could convert a file, it keeps what the commit before
//! it holds. What was not seen is never proven absent, so it is never deleted.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use backsight_core::{Code, Error, ObjectId, Reason, Result, quote};

use crate::blind::Blind;
use crate::git_attributes::{AttributeFile, AttributeRules, Macros};
use crate::git_checkin::{ATTRIBUTES, CheckIn, MAX_ATTRIBUTES, Treatment, parse, read_attributes_in, too_large};
use crate::git_converted::Converted;
use crate::git_export::{NewCommit, snapshot_entries};
use crate::git_place::Placement;
use crate::git_repository::GitRepository;
use crate::ignore::{join, path_of};
use crate::object::{ObjectKind, object_id};
use crate::objects::ObjectStore;
use crate::tree::{Contents, EMPTY_TREE, RawEntry, check_depth, encode_tree, is_safe_name, parse_tree};

const DIRECTORY: u32 = 0o40000;
const SYMLINK: u32 = 0o120000;
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
    /// Git keeps the file converted, and Backsight does not know what into.
    Converted(ConvertedBy),
    /// The same of a new file: no commit holds it.
    LeftOut(ConvertedBy),
}

/// What converts a file that Backsight does not convert.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConvertedBy {
    /// A program (`filter=...`), as of Git LFS or git-crypt. Backsight runs no program of a repository.
    Filter,
    /// `working-tree-encoding`.
    Encoding,
}

impl fmt::Display for KeptReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeptReason::NotSeen(reason) => reason.fmt(f),
            KeptReason::SparseCheckout => f.write_str("left out by the sparse checkout"),
            KeptReason::Submodule => f.write_str("submodule"),
            KeptReason::ReservedName => f.write_str("reserved name"),
            KeptReason::Converted(converter) => converter.fmt(f),
            KeptReason::LeftOut(converter) => write!(f, "new and left out: {converter}"),
        }
    }
}

impl fmt::Display for ConvertedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ConvertedBy::Filter => "converted by a filter that Backsight does not run",
            ConvertedBy::Encoding => "converted from an encoding that Backsight does not know",
        })
    }
}

/// Composes the trees of commits that follow each other, and collects what they are made of.
pub(crate) struct Overlay<'a> {
    store: &'a ObjectStore,
    repository: &'a GitRepository,
    place: &'a Placement,
    /// The workspace's directory.
    root: &'a Path,
    check_in: CheckIn,
    seen: SnapshotSeen,
    /// Of the snapshot that the commit before was composed of, if it is one of ours.
    before: Option<SnapshotSeen>,
    /// Files that only a program could convert and that the commit before does not hold.
    left_out: BTreeSet<Vec<u8>>,
    /// Files of attributes that were read.
    files: HashMap<(ObjectId, bool), Arc<AttributeFile>>,
    /// Trees that neither the store nor the repository need hold.
    pub(crate) made: BTreeMap<ObjectId, Vec<u8>>,
    /// Files that are held in another form than the store's.
    pub(crate) converted: Converted<'a>,
    /// Entries of snapshots that the commits hold as they are.
    pub(crate) taken: HashMap<ObjectId, TakenObject>,
    /// What any of the commits kept, by its path in the workspace.
    pub(crate) kept: BTreeMap<Vec<u8>, KeptReason>,
}

/// A snapshot and what it does not speak about.
#[derive(Default)]
struct SnapshotSeen {
    tree: Option<ObjectId>,
    coverage: Option<ObjectId>,
    blind: Blind,
}

/// Something of a snapshot in a commit.
pub(crate) enum TakenObject {
    /// Nothing else comes with it.
    Alone,
    /// A directory at this path with everything in it.
    Whole(Vec<u8>),
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
    snapshot: Option<ObjectId>,
    rules: Arc<AttributeRules>,
    todo: std::vec::IntoIter<NameSides>,
    entries: Vec<RawEntry>,
}

/// One name in the commit before, in the snapshot that one was composed of, and in the snapshot of this one.
#[derive(Default)]
struct NameSides {
    parent: Option<RawEntry>,
    previous: Option<RawEntry>,
    snapshot: Option<RawEntry>,
}

/// The same of a directory.
#[derive(Clone, Copy)]
struct Trees {
    parent: Option<ObjectId>,
    previous: Option<ObjectId>,
    snapshot: Option<ObjectId>,
}

impl NameSides {
    fn trees(&self) -> Trees {
        let tree =
            |entry: &Option<RawEntry>| entry.as_ref().filter(|entry| entry.mode == DIRECTORY).map(|entry| entry.id);
        Trees { parent: tree(&self.parent), previous: tree(&self.previous), snapshot: tree(&self.snapshot) }
    }
}

impl<'a> Overlay<'a> {
    pub(crate) fn new(
        store: &'a ObjectStore,
        repository: &'a GitRepository,
        place: &'a Placement,
        root: &'a Path,
        check_in: CheckIn,
    ) -> Self {
        Overlay {
            store,
            repository,
            place,
            root,
            check_in,
            seen: SnapshotSeen::default(),
            before: None,
            left_out: BTreeSet::new(),
            files: HashMap::new(),
            made: BTreeMap::new(),
            converted: Converted::new(store, repository),
            taken: HashMap::new(),
            kept: BTreeMap::new(),
        }
    }

    /// The tree of a commit that follows one with the tree `parent`: the repository's, or the one composed last.
    pub(crate) fn compose(&mut self, parent: Option<ObjectId>, commit: &NewCommit) -> Result<ObjectId> {
        let blind = match commit.coverage == self.seen.coverage {
            true => self.seen.blind.clone(),
            false => Blind::load(self.store, commit.coverage.as_ref())?,
        };
        let tree = (commit.tree != EMPTY_TREE).then_some(commit.tree);
        self.seen = SnapshotSeen { tree, coverage: commit.coverage, blind };
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
        let rules = self.rules_above(&above)?;
        let previous = self.before.as_ref().and_then(|before| before.tree);
        let mut composed = self.merge(Trees { parent: at, previous, snapshot: tree }, rules)?;
        for (name, mut entries) in above.into_iter().rev() {
            entries.retain(|entry| entry.name != name);
            entries.extend(composed.map(|id| RawEntry { mode: DIRECTORY, name, id }));
            composed = self.make(entries, None)?;
        }
        self.before = Some(std::mem::take(&mut self.seen));
        match composed {
            Some(tree) => Ok(tree),
            None => {
                self.made.insert(EMPTY_TREE, Vec::new());
                Ok(EMPTY_TREE)
            }
        }
    }

    /// The workspace's directory: nothing when it holds nothing.
    fn merge(&mut self, trees: Trees, rules: Arc<AttributeRules>) -> Result<Option<ObjectId>> {
        let mut levels: Vec<Level> = Vec::new();
        let mut done = self.enter(Vec::new(), trees, rules, &mut levels)?;
        while let Some(level) = levels.last_mut() {
            if let Some(finished) = done.take() {
                // What was entered is the last name that was taken from the list.
                level.entries.extend(finished);
            }
            let Some(sides) = level.todo.next() else {
                let Some(level) = levels.pop() else { break };
                let name = level.path.rsplit(|&byte| byte == b'/').next().unwrap_or_default().to_vec();
                let tree = self.make(level.entries, level.snapshot)?;
                if levels.is_empty() {
                    return Ok(tree);
                }
                done = Some(tree.map(|id| RawEntry { mode: DIRECTORY, name, id }));
                continue;
            };
            let Some(entry) = sides.parent.as_ref().or(sides.snapshot.as_ref()) else { continue };
            let (path, rules) = (join(&level.path, &entry.name), level.rules.clone());
            let unseen = || unseen(&self.seen.blind, self.place, &path);
            match verdict(sides.parent.as_ref(), sides.snapshot.as_ref(), unseen) {
                Verdict::Take => {
                    let entry = self.check_in(path, sides, &rules)?;
                    if let Some(level) = levels.last_mut() {
                        level.entries.extend(entry);
                    }
                }
                Verdict::Keep(reason) => {
                    self.kept.insert(path, reason);
                    level.entries.extend(sides.parent);
                }
                Verdict::Drop => {}
                Verdict::Merge => done = self.enter(path, sides.trees(), rules, &mut levels)?,
            }
        }
        Ok(done.flatten().map(|entry| entry.id))
    }

    /// Begins with a directory, or says at once what becomes of it: an entry, or nothing.
    fn enter(
        &mut self,
        path: Vec<u8>,
        trees: Trees,
        rules: Arc<AttributeRules>,
        levels: &mut Vec<Level>,
    ) -> Result<Option<Option<RawEntry>>> {
        let Trees { parent, previous, snapshot } = trees;
        check_depth(levels.len(), &Contents { tree: parent.or(snapshot), attributes: None })?;
        let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default().to_vec();
        let entry = |id: ObjectId| RawEntry { mode: DIRECTORY, name, id };
        if let Some(tree) = snapshot.filter(|tree| parent == Some(*tree)) {
            self.taken.entry(tree).or_insert(TakenObject::Whole(path));
            return Ok(Some(Some(entry(tree))));
        }
        if let Some(parent) = parent.filter(|_| snapshot.is_some() && snapshot == previous && self.is_settled(&path)) {
            return Ok(Some(Some(entry(parent))));
        }
        let before = parent.map_or_else(|| Ok(Vec::new()), |tree| self.parent_entries(&tree))?;
        let of_snapshot = |tree: Option<ObjectId>| {
            tree.map_or_else(|| Ok(Vec::new()), |tree| snapshot_entries(self.store, &tree, &path))
        };
        let sides = sides(before, of_snapshot(previous)?, of_snapshot(snapshot)?);
        let rules = match sides.get(ATTRIBUTES) {
            Some(sides) => self.rules_in(&path, sides, rules)?,
            None => self.rules_unseen(&path, rules)?,
        };
        let todo = sides.into_values().collect::<Vec<_>>().into_iter();
        levels.push(Level { path, snapshot, rules, todo, entries: Vec::new() });
        Ok(None)
    }

    /// Whether everything in a directory of which both snapshots hold the same is in the commit before as it will be in
    /// this one.
    fn is_settled(&self, path: &[u8]) -> bool {
        let Some(before) = &self.before else { return false };
        let touches = |blind: &Blind| path.is_empty() || blind.touches(path);
        let is_seen_alike =
            before.coverage == self.seen.coverage || !(touches(&before.blind) || touches(&self.seen.blind));
        let prefix = if path.is_empty() { Vec::new() } else { [path, b"/"].concat() };
        let first = self.left_out.range(prefix.clone()..).next();
        is_seen_alike && !first.is_some_and(|left_out| left_out.starts_with(&prefix))
    }

    /// What the commit holds for a file of the snapshot; nothing when a new one cannot be converted.
    fn check_in(&mut self, path: Vec<u8>, sides: NameSides, rules: &AttributeRules) -> Result<Option<RawEntry>> {
        let NameSides { parent, previous, snapshot: Some(mut entry) } = sides else { return Ok(sides.parent) };
        if entry.mode == SYMLINK {
            self.taken.entry(entry.id).or_insert(TakenObject::Alone);
            return Ok(Some(entry));
        }
        let unchanged = previous.as_ref().filter(|previous| is_regular(previous) && previous.id == entry.id);
        let mode = |mode: u32| self.check_in.mode(parent.as_ref(), mode);
        let is_unchanged = unchanged.is_some_and(|previous| mode(previous.mode) == mode(entry.mode));
        let has_same_content = unchanged.is_some();
        entry.mode = mode(entry.mode);
        let kept = |parent: RawEntry| match is_regular(&parent) {
            true => RawEntry { mode: entry.mode, ..parent },
            false => parent,
        };
        let parent = match parent {
            // Whatever the attributes say now: `git add` does not look into a file that did not change.
            Some(parent) if is_unchanged => return Ok(Some(kept(parent))),
            Some(parent) if parent.id == entry.id && previous.is_none() => {
                self.taken.entry(entry.id).or_insert(TakenObject::Alone);
                return Ok(Some(entry));
            }
            parent => parent,
        };
        let inside = join(&self.place.converting.below, &path);
        let (converter, name) = match self.check_in.treatment(&inside, rules)? {
            Treatment::Convert { line_endings, ident } => {
                let before = parent.as_ref().filter(|parent| parent.mode != DIRECTORY && parent.mode != GITLINK);
                let id = self.converted.blob(&entry.id, before.map(|parent| &parent.id), line_endings, ident)?;
                if id == entry.id {
                    self.taken.entry(id).or_insert(TakenObject::Alone);
                }
                self.left_out.remove(&path);
                return Ok(Some(RawEntry { id, ..entry }));
            }
            Treatment::Filter { name } => (ConvertedBy::Filter, name),
            Treatment::Encoding => (ConvertedBy::Encoding, Vec::new()),
        };
        let Some(parent) = parent else {
            self.left_out.insert(path.clone());
            self.kept.insert(path, KeptReason::LeftOut(converter));
            return Ok(None);
        };
        let file = self.root.join(path_of(&path));
        let is_untouched = is_regular(&parent)
            && (has_same_content
                || parent.id == entry.id
                || self.check_in.vouches(&inside, &file, &parent.id, &entry.id)
                || (name == b"lfs" && self.converted.is_pointed_to(&entry.id, &parent.id)?));
        if !is_untouched {
            self.kept.insert(path, KeptReason::Converted(converter));
        }
        Ok(Some(kept(parent)))
    }

    /// The attributes in force in the workspace's directory, but for its own: those of the directories above it.
    fn rules_above(&mut self, above: &[(Vec<u8>, Vec<RawEntry>)]) -> Result<Arc<AttributeRules>> {
        let mut rules = self.check_in.outermost();
        let place = self.place;
        let (mut base, mut names) = (Vec::new(), place.converting.below.split(|&byte| byte == b'/'));
        for (at, directory) in place.converting.above.iter().enumerate() {
            let macros = if at == 0 { Macros::Allowed } else { Macros::PassedOver };
            let file = match read_attributes_in(directory)? {
                Some(text) => Some(Arc::new(parse(&text, macros))),
                // Left out of the work tree, it still counts.
                None if place.below == place.converting.below => {
                    let entry = above.get(at).and_then(|(_, entries)| entries.iter().find(|it| it.name == ATTRIBUTES));
                    entry.filter(|entry| is_regular(entry)).map(|entry| self.file(entry, &base, macros)).transpose()?
                }
                None => None,
            };
            if let Some(file) = file {
                rules = AttributeRules::over(Some(rules), &base, file);
            }
            base = join(&base, names.next().unwrap_or_default());
        }
        Ok(rules)
    }

    /// The attributes in force in a directory that holds a file of them, in the snapshot or in the commit before. As for
    /// `git add`, one that was just deleted still counts: a secret is not written plainly because a line went with it.
    fn rules_in(&mut self, path: &[u8], sides: &NameSides, rules: Arc<AttributeRules>) -> Result<Arc<AttributeRules>> {
        let Some(entry) = [&sides.snapshot, &sides.parent].into_iter().flatten().find(|entry| is_regular(entry)) else {
            return Ok(rules);
        };
        let base = join(&self.place.converting.below, path);
        let macros = if base.is_empty() { Macros::Allowed } else { Macros::PassedOver };
        let file = self.file(entry, path, macros)?;
        Ok(if file.len() == 0 { rules } else { AttributeRules::over(Some(rules), &base, file) })
    }

    /// The same where no tree holds one. Git reads it in the work tree also where it is ignored; then it is in no snapshot.
    fn rules_unseen(&mut self, path: &[u8], rules: Arc<AttributeRules>) -> Result<Arc<AttributeRules>> {
        if self.seen.blind.reason(&join(path, ATTRIBUTES)).is_none() {
            return Ok(rules);
        }
        let Some(text) = read_attributes_in(&self.root.join(path_of(path)))? else { return Ok(rules) };
        let base = join(&self.place.converting.below, path);
        let macros = if base.is_empty() { Macros::Allowed } else { Macros::PassedOver };
        Ok(AttributeRules::over(Some(rules), &base, Arc::new(parse(&text, macros))))
    }

    /// A file of attributes in the directory `path`, of a snapshot or of the repository.
    fn file(&mut self, entry: &RawEntry, path: &[u8], macros: Macros) -> Result<Arc<AttributeFile>> {
        let key = (entry.id, macros == Macros::Allowed);
        if let Some(known) = self.files.get(&key) {
            return Ok(known.clone());
        }
        let content = match self.store.contains(&entry.id)? {
            true => self.store.read_blob(&entry.id)?,
            false => match self.converted.content(&entry.id)? {
                Some(content) => content,
                None => self.repository.read(&entry.id, MAX_ATTRIBUTES)?.1,
            },
        };
        if content.len() as u64 > MAX_ATTRIBUTES {
            return Err(too_large(&join(path, ATTRIBUTES)));
        }
        let file = Arc::new(parse(&content, macros));
        self.files.insert(key, file.clone());
        Ok(file)
    }

    /// The tree of these entries. One that turns out to be the snapshot's own is in the store, and not held in memory.
    fn make(&mut self, entries: Vec<RawEntry>, snapshot: Option<ObjectId>) -> Result<Option<ObjectId>> {
        if entries.is_empty() {
            return Ok(None);
        }
        let content = encode_tree(entries);
        let id = object_id(ObjectKind::Tree, &content)?;
        match snapshot == Some(id) {
            true => drop(self.taken.entry(id).or_insert(TakenObject::Alone)),
            false => drop(self.made.insert(id, content)),
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

fn is_regular(entry: &RawEntry) -> bool {
    entry.mode & 0o170000 == 0o100000
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
        (Some(parent), Some(snapshot)) if snapshot.mode == DIRECTORY && parent.mode == GITLINK => {
            Verdict::Keep(KeptReason::Submodule)
        }
        (_, Some(snapshot)) if snapshot.mode == DIRECTORY => Verdict::Merge,
        (_, Some(_)) => Verdict::Take,
        (None, None) => Verdict::Drop,
        (Some(parent), None) => match unseen() {
            _ if parent.mode == GITLINK => Verdict::Keep(KeptReason::Submodule),
            _ if !is_safe_name(&parent.name) => Verdict::Keep(KeptReason::ReservedName),
            Some(reason) => Verdict::Keep(reason),
            None if parent.mode == DIRECTORY => Verdict::Merge,
            None => Verdict::Drop,
        },
    }
}

/// All sides by name.
fn sides(parent: Vec<RawEntry>, previous: Vec<RawEntry>, snapshot: Vec<RawEntry>) -> BTreeMap<Vec<u8>, NameSides> {
    let mut sides: BTreeMap<Vec<u8>, NameSides> = BTreeMap::new();
    let mut add = |entries: Vec<RawEntry>, side: fn(&mut NameSides) -> &mut Option<RawEntry>| {
        for entry in entries {
            let name = entry.name.clone();
            *side(sides.entry(name).or_default()) = Some(entry);
        }
    };
    add(parent, |sides| &mut sides.parent);
    add(previous, |sides| &mut sides.previous);
    add(snapshot, |sides| &mut sides.snapshot);
    sides
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
        // A new directory may hold files that are converted.
        assert_eq!(of(None, Some(DIRECTORY), None), Verdict::Merge);
        assert_eq!(of(Some(file), Some(DIRECTORY), None), Verdict::Merge);
        assert_eq!(of(Some(DIRECTORY), Some(file), None), Verdict::Take);
        assert_eq!(of(Some(GITLINK), Some(DIRECTORY), None), Verdict::Keep(KeptReason::Submodule));
        assert_eq!(of(Some(GITLINK), None, None), Verdict::Keep(KeptReason::Submodule));
        assert_eq!(of(Some(GITLINK), Some(file), None), Verdict::Take);
        let own = verdict(Some(&entry(DIRECTORY, ".backsight")), None, || None);
        assert_eq!(own, Verdict::Keep(KeptReason::ReservedName));
    }
}
