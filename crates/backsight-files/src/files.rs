//! The files lane of one workspace: capture, compare, plan, apply. It knows trees and paths, not history.

use std::collections::BTreeSet;
use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;

use backsight_core::{Error, ObjectId, RelPath, Result, Seq, SnapshotId, Uncovered};
use rayon::prelude::*;
use serde_json::Value;

use crate::access::needs_holder;
use crate::anchored::AnchoredPath;
use crate::apply::{Applier, Restoration};
use crate::blind::Blind;
use crate::cache::{Cache, FreshCache, RootIdentity, Subject};
use crate::capture::{Caller, Capture, Last, Purpose, Request, capture, coarse_now};
use crate::compare::{Change, compare, edit_tree};
use crate::disk::Disk;
use crate::displaced::Clearing;
use crate::former::access_at;
use crate::large_blob::LargeBlob;
use crate::memory::{Memory, Start, WatchState};
use crate::object::ObjectKind;
use crate::objects::ObjectStore;
use crate::plan::{Bounds, OnConflict, Plan, StepToUndo, is_selected, plan_restore, plan_revert};
use crate::root::Root;
use crate::scan::{ScanOptions, open_below};
use crate::seal::Seal;
use crate::shelter::sheltered;
use crate::threads::start_threads;
use crate::tree::{Node, Source, Tree};

/// So much room is kept for the row of a restore, beside what grows with its paths and with the history.
const ROW_ROOM: u64 = 128 << 10;

/// So much is kept for saying which contents go: some thousand numbers take a dozen pages of the timeline's log.
const RESERVE: u64 = 64 << 10;

/// One workspace's files and the store that holds their snapshots.
pub struct Files {
    root: Root,
    journal: AnchoredPath,
    seal: Seal,
    cache_file: AnchoredPath,
    reserve_file: AnchoredPath,
    objects: ObjectStore,
    memory: Memory,
}

/// What a capture has to look at.
#[derive(Clone, Copy)]
pub struct Subjects<'a> {
    /// What it covers.
    pub options: &'a ScanOptions,
    /// The latest snapshot.
    pub last: Option<&'a Last>,
    /// Covered whatever rules say.
    pub include: &'a BTreeSet<Vec<u8>>,
    /// Walk everything, whatever a watcher says.
    pub thorough: bool,
}

impl Files {
    /// Opens the store in `store` for the workspace at `root`, making what is missing. `seal` is under what its journal
    /// is believed.
    pub fn open(root: &Path, store: &AnchoredPath, seal: Seal, disk: Disk) -> Result<Self> {
        let cache = store.join("cache");
        disk.create_private_directories(&cache)
            .map_err(|error| Error::io(format!("create `{}`", cache.display()), error))?;
        let files = Files::over(Root::of(root, store)?, store, seal, ObjectStore::open(store, disk)?);
        files.keep_reserve();
        Ok(files)
    }

    /// The same for a store that nothing can be written to: nothing is made.
    pub fn open_to_look(root: &Path, store: &AnchoredPath, seal: Seal, disk: Disk) -> Result<Self> {
        Ok(Files::over(Root::of(root, store)?, store, seal, ObjectStore::open_to_look(store, disk)))
    }

    fn over(root: Root, store: &AnchoredPath, seal: Seal, objects: ObjectStore) -> Self {
        Files {
            root,
            journal: store.join("journal"),
            seal,
            cache_file: store.join("cache/stat"),
            reserve_file: store.join("cache/reserve"),
            objects,
            memory: Memory::default(),
        }
    }

    /// Whether `store` is complete. One that is not must be opened under the workspace lock.
    pub fn is_made(store: &AnchoredPath) -> bool {
        ObjectStore::is_complete(&store.join("snapshots"), &store.join("tmp")) && store.join("cache").is_directory()
    }

    /// The objects.
    pub fn objects(&self) -> &ObjectStore {
        &self.objects
    }

    /// Records the workspace as it is. The caller holds the workspace lock.
    pub fn capture(&self, subjects: &Subjects<'_>, caller: Caller<'_>) -> Result<Capture> {
        self.objects.clean_temporaries()?;
        self.objects.expect_files(subjects.options.max_files);
        capture(&self.request(subjects, caller), Purpose::Record)
    }

    /// Looks at the workspace without writing anything.
    pub fn look(&self, subjects: &Subjects<'_>, caller: Caller<'_>) -> Result<Capture> {
        self.objects.expect_files(subjects.options.max_files);
        capture(&self.request(subjects, caller), Purpose::Look)
    }

    fn request<'a>(&'a self, subjects: &Subjects<'a>, caller: Caller<'a>) -> Request<'a> {
        Request {
            root: &self.root,
            store: &self.objects,
            cache_file: &self.cache_file,
            options: subjects.options,
            last: subjects.last,
            include: subjects.include,
            caller,
            thorough: subjects.thorough,
            memory: &self.memory,
            clock: coarse_now,
        }
    }

    /// Lets the kernel announce changes from now on, so that a capture costs what changed. Where it cannot, captures walk
    /// as before.
    pub fn watch(&self) {
        self.memory.watch();
    }

    /// How the watcher is doing.
    pub fn watch_state(&self) -> WatchState {
        self.memory.report()
    }

    /// Looks at everything and compares it with what the watcher would have said: how many paths it missed. They are
    /// known from now on.
    pub fn verify_watch(&self, subjects: &Subjects<'_>, caller: Caller<'_>) -> Result<u64> {
        let partial = self.look(&Subjects { thorough: false, ..*subjects }, caller)?;
        let whole = self.look(&Subjects { thorough: true, ..*subjects }, caller)?;
        let both = partial.memory.iter().chain(whole.memory.iter());
        let memory = both.map(|(id, bytes)| (*id, bytes.clone())).collect();
        let root = self.root.open()?;
        let changes = compare(&Source::with_look(&self.objects, &memory, &root), &partial.tree, &whole.tree)?;
        Ok(self.memory.count_missed(partial.start, changes.iter().map(|change| change.path.as_bytes())))
    }

    /// What differs between two stored trees.
    pub fn compare(&self, before: &Tree, after: &Tree) -> Result<Vec<Change>> {
        compare(&Source::new(&self.objects), before, after)
    }

    /// What differs between a stored tree and the workspace as `now` saw it.
    pub fn compare_with_now(&self, before: &Tree, now: &Capture) -> Result<Vec<Change>> {
        let root = self.root.open()?;
        compare(&Source::with_look(&self.objects, &now.memory, &root), before, &now.tree)
    }

    /// Splits changes into those both captures can vouch for and those one of them could not see.
    pub fn split_unseen(
        &self,
        changes: Vec<Change>,
        before: Option<&ObjectId>,
        after: &Unseen<'_>,
    ) -> Result<(Vec<Change>, Vec<Uncovered>)> {
        let before = Blind::load(&self.objects, before)?;
        let loaded;
        let after = match after {
            Unseen::Stored(id) => {
                loaded = Blind::load(&self.objects, *id)?;
                &loaded
            }
            Unseen::Now(capture) => &capture.blind,
        };
        let mut unseen = BTreeSet::new();
        let known = changes.into_iter().filter(|change| {
            let path = change.path.as_bytes();
            let missing = match (change.before, change.after) {
                (Some(_), None) => after.reason(path),
                // A file that was ignored and is not any more is news; one that could not be read is not.
                (None, Some(_)) => before.reason(path).filter(|reason| reason.is_notable()),
                _ => None,
            };
            unseen.extend(missing.map(|reason| Uncovered::new(change.path.clone(), reason)));
            missing.is_none()
        });
        let known: Vec<Change> = known.collect();
        Ok((known, unseen.into_iter().collect()))
    }

    /// The content of a file or symlink that `now` saw at `path`, stored or still on disk.
    pub fn content_now(&self, now: &Capture, path: &RelPath, id: &ObjectId) -> Result<Vec<u8>> {
        let root = self.root.open()?;
        Source::with_look(&self.objects, &now.memory, &root).content(path, id)
    }

    /// The content of a file of at most `most` bytes, stored or, if `now` saw it, still on disk.
    pub fn content_up_to(&self, most: u64, now: Option<&Capture>, path: &RelPath, id: &ObjectId) -> Option<Vec<u8>> {
        if self.objects.contains(id).ok()? {
            let is_larger = LargeBlob::open(&self.objects, id).ok()?.is_some_and(|blob| blob.size > most);
            return if is_larger { None } else { self.objects.read_blob(id).ok() };
        }
        let is_larger = |found: fs::Metadata| found.len() > most;
        match fs::symlink_metadata(self.root.path().join(path.as_path())).map(is_larger) {
            Ok(false) => self.content_now(now?, path, id).ok(),
            _ => None,
        }
    }

    /// What stands at `path` in a stored tree, or in the workspace as `now` saw it.
    pub fn find(&self, tree: &Tree, now: Option<&Capture>, path: &RelPath) -> Result<Option<Node>> {
        let root = self.root.open()?;
        Ok(self.source(now, &root).find(tree, path)?.map(|entry| entry.node))
    }

    /// Everything in a stored tree, or in the workspace as `now` saw it, parents first; directories only if empty.
    pub fn list(&self, tree: &Tree, now: Option<&Capture>) -> Result<Vec<(RelPath, Node)>> {
        let root = self.root.open()?;
        let mut found = Vec::new();
        self.source(now, &root).walk(&tree.contents(), &mut |path, entry| {
            if !entry.node.is_directory() || entry.contents == Default::default() {
                found.push((RelPath::new(path)?, entry.node));
            }
            Ok(())
        })?;
        Ok(found)
    }

    fn source<'a>(&'a self, now: Option<&'a Capture>, root: &'a OwnedFd) -> Source<'a> {
        match now {
            Some(now) => Source::with_look(&self.objects, &now.memory, root),
            None => Source::new(&self.objects),
        }
    }

    /// Plans to take the selected paths to what they are in `target`.
    pub fn plan_restore(
        &self,
        now: &Capture,
        target: &Tree,
        target_coverage: Option<&ObjectId>,
        bounds: Bounds<'_>,
    ) -> Result<Plan> {
        let root = self.root.open()?;
        let unseen = Blind::load(&self.objects, target_coverage)?;
        let source = Source::with_look(&self.objects, &now.memory, &root);
        let plan = plan_restore(&source, now, target, &unseen, bounds)?;
        sheltered(plan, &source, &now.tree, &[target])
    }

    /// Takes from a plan what would give anybody more than the files allowed then or allow now. Everything that is
    /// carried out goes through this.
    pub fn settle(&self, mut plan: Plan) -> Result<Plan> {
        let root = self.root.open()?;
        for change in &mut plan.changes {
            let Some(Node::File { mode: wanted, .. } | Node::Directory { mode: wanted, .. }) = change.after else {
                continue;
            };
            let (Some(Node::File { access, .. } | Node::Directory { access, .. }), true) =
                (&mut change.before, needs_holder(wanted))
            else {
                continue;
            };
            // A file whose own bits say all needs no group in a snapshot, but the bits that it gets may.
            if access.is_unknown()
                && let Ok(parent) = open_below(&root, change.path.parent())
            {
                *access = access_at(parent.as_fd(), change.path.name(), wanted);
            }
        }
        Ok(plan.settle())
    }

    /// Plans to undo `steps`, newest first, keeping everything else.
    pub fn plan_revert(
        &self,
        now: &Capture,
        steps: &[StepToUndo],
        bounds: Bounds<'_>,
        on_conflict: OnConflict,
    ) -> Result<Plan> {
        let root = self.root.open()?;
        let source = Source::with_look(&self.objects, &now.memory, &root);
        let plan = plan_revert(&source, now, steps, bounds, on_conflict)?;
        let then: Vec<&Tree> = steps.iter().map(|step| &step.before).collect();
        sheltered(plan, &source, &now.tree, &then)
    }

    /// Paths that a plan may write to: a capture before it must look at them even where rules ignore them.
    pub fn paths_in(&self, changes: &[Change], selection: &[RelPath]) -> BTreeSet<Vec<u8>> {
        let selected = changes.iter().filter(|change| is_selected(&change.path, selection));
        selected.map(|change| change.path.as_bytes().to_vec()).collect()
    }

    /// Reads every object the plan needs, so that a dry run finds what a real run would.
    pub fn check_plan(&self, plan: &Plan) -> Result<()> {
        start_threads()?;
        plan.changes.par_iter().try_for_each(|change| match change.after.and_then(|node| node.blob()) {
            Some(id) if !plan.blobs.contains_key(&id) => self.objects.read_blob(&id).map(drop),
            _ => Ok(()),
        })
    }

    /// Stores the plan's merges and the tree the workspace will be after it.
    pub fn store_result(&self, now: &Tree, plan: &Plan) -> Result<Tree> {
        self.store_edit(now, &plan.changes, plan.blobs.values())
    }

    /// Stores the tree that `changes` make of a stored tree; contents they name are stored already.
    pub fn edit(&self, tree: &Tree, changes: &[Change]) -> Result<Tree> {
        self.store_edit(tree, changes, std::iter::empty())
    }

    fn store_edit<'a>(
        &self,
        tree: &Tree,
        changes: &[Change],
        blobs: impl Iterator<Item = &'a Vec<u8>>,
    ) -> Result<Tree> {
        let batch = self.objects.batch();
        for bytes in blobs {
            batch.put(ObjectKind::Blob, bytes)?;
        }
        let edited = edit_tree(&Source::new(&self.objects), tree, changes, &mut |kind, bytes| batch.put(kind, bytes))?;
        batch.commit()?;
        Ok(edited)
    }

    /// Applies a plan whose result is stored. On error nothing has changed, or the message says what remains. The answer
    /// may be that it was given up and all is back.
    pub fn apply(&self, id: &SnapshotId, plan: &Plan, note: Value, progress: &dyn Fn(u64, u64)) -> Result<Restoration> {
        self.applier(progress).apply(id, &plan.changes, note, ROW_ROOM)
    }

    /// Whether a killed process left a restore to be finished or undone.
    pub fn needs_recovery(&self) -> Result<bool> {
        self.applier(&|_, _| {}).is_pending()
    }

    /// What the callers of restores that are not closed yet handed to `apply`, as far as it can be read.
    pub fn pending_notes(&self) -> Result<Vec<Value>> {
        self.applier(&|_, _| {}).pending_notes()
    }

    /// Finishes or undoes what a killed process left; go on with each answer as after `apply`. Needs the workspace lock.
    /// `check` sees each note before anything is touched.
    pub fn recover(&self, check: &dyn Fn(&Value) -> Result<()>) -> Result<Vec<Restoration>> {
        let found = self.applier(&|_, _| {}).recover(check)?;
        if !found.is_empty() {
            // What the killed process was writing to the store would be in the way of what is stored now.
            self.objects.clean_temporaries()?;
        }
        Ok(found)
    }

    /// Gives back the room that was kept for recording a restore.
    pub fn release_room(&self, restoration: &Restoration) -> Result<()> {
        self.applier(&|_, _| {}).release_room(restoration)
    }

    /// Goes through what a restore displaced. What programs wrote to it meanwhile is stored and returned, as changes of
    /// what the plan expected: record them, then clear again until nothing comes.
    pub fn clear(&self, restoration: &mut Restoration, clearing: Clearing) -> Result<Vec<Change>> {
        self.applier(&|_, _| {}).clear(restoration, clearing)
    }

    /// Removes the journal entry, once everything is cleared and the step is recorded.
    pub fn close(&self, restoration: &Restoration) -> Result<()> {
        self.applier(&|_, _| {}).close(restoration)
    }

    fn applier<'a>(&'a self, progress: &'a dyn Fn(u64, u64)) -> Applier<'a> {
        let Files { root, journal, seal, objects, .. } = self;
        Applier { root, journal_directory: journal, seal, store: objects, progress }
    }

    /// Paths of the plan that share their file with other names: replacing one leaves the others as they were.
    pub fn hard_links(&self, plan: &Plan) -> Vec<RelPath> {
        use std::os::unix::fs::MetadataExt;
        let replaced = plan.changes.iter().filter(|change| matches!(change.before, Some(Node::File { .. })));
        let linked = replaced.filter(|change| {
            fs::symlink_metadata(self.root.path().join(change.path.as_path()))
                .is_ok_and(|metadata| metadata.nlink() > 1)
        });
        linked.map(|change| change.path.clone()).collect()
    }

    /// Keeps what a capture learned for the next one. Last of all: nothing waits for it and it can be lost.
    pub fn save_cache(&self, capture: &mut Capture) -> Result<()> {
        match capture.fresh_cache.take() {
            Some((fresh, root)) => self.write_cache(&fresh, root, &capture.tree, capture),
            None => Ok(()),
        }
    }

    /// The same when the latest snapshot is not what the capture saw but `changes` away from it, whether they were
    /// carried out on disk or only in the record: the next capture reads those files and no others.
    pub fn save_cache_after(&self, capture: &mut Capture, changes: &[Change], result: &Tree) -> Result<()> {
        let Some((mut fresh, root)) = capture.fresh_cache.take().or_else(|| self.load_cache(&capture.tree)) else {
            return Ok(());
        };
        fresh.apply(changes);
        self.write_cache(&fresh, root, result, capture)
    }

    /// Tells the stat cache that objects moved within the store while every one it needs was kept.
    pub fn refresh_cache(&self, latest: &Tree) -> Result<()> {
        let Some((fresh, root)) = self.load_cache(latest) else { return Ok(()) };
        let subject = Subject { root, store: self.objects.fingerprint()?, tree: *latest };
        let written = fresh.write(&self.cache_file, self.objects.disk(), &subject);
        let written = written.map_err(|error| Error::io("write the stat cache", error))?;
        self.memory.saved(&fresh.cache, &fresh.changes, written, Start::default(), &BTreeSet::new());
        Ok(())
    }

    fn load_cache(&self, tree: &Tree) -> Option<(FreshCache, RootIdentity)> {
        let cache = self.memory.cache_about(|subject| subject.tree == *tree);
        let cache = cache.unwrap_or_else(|| Arc::new(Cache::load(&self.cache_file)));
        let subject = cache.subject().filter(|subject| subject.tree == *tree)?;
        Some((FreshCache { cache, ..FreshCache::default() }, subject.root))
    }

    fn write_cache(&self, fresh: &FreshCache, root: RootIdentity, tree: &Tree, capture: &Capture) -> Result<()> {
        let subject = Subject { root, store: self.objects.fingerprint()?, tree: *tree };
        let written = fresh.write(&self.cache_file, self.objects.disk(), &subject);
        let written = written.map_err(|error| Error::io("write the stat cache", error))?;
        self.memory.saved(&fresh.cache, &fresh.changes, written, capture.start, &capture.troubled);
        Ok(())
    }

    /// Keeps the room with which a full disk is emptied: saying which contents go takes some itself. Without it everything
    /// else works.
    pub fn keep_reserve(&self) {
        if self.reserve_file.size() < RESERVE {
            let _ = self.objects.disk().remove_file(&self.reserve_file);
            let _ = self.objects.disk().reserve(&self.reserve_file, RESERVE);
        }
    }

    /// Gives that room back, and that of the stat cache.
    pub fn release_reserve(&self) -> Result<()> {
        self.forget_cache()?;
        match self.objects.disk().remove_file(&self.reserve_file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io("make room", error)),
            _ => Ok(()),
        }
    }

    /// Drops the stat cache: the next capture reads every file, and stores again what the store lost.
    pub fn forget_cache(&self) -> Result<()> {
        self.memory.forget("what was known was given up");
        match self.objects.disk().remove_file(&self.cache_file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::io("remove the stat cache", error))
            }
            _ => Ok(()),
        }
    }

    /// Names a snapshot's objects in the store, so that any Git sees them as wanted.
    pub fn write_reference(&self, seq: Seq, tree: &Tree, coverage: Option<&ObjectId>) -> Result<()> {
        let beside = [("tree", Some(tree.id)), ("attributes", tree.attributes), ("coverage", coverage.copied())];
        let names = beside.into_iter().filter_map(|(name, id)| Some((format!("{}/{name}", seq.0), id?)));
        self.objects.add_references(&names.collect::<Vec<_>>())
    }

    /// The snapshots that have names here, in the order they were given.
    pub fn named_snapshots(&self) -> Result<Vec<Seq>> {
        let mut named: Vec<Seq> = self.objects.reference_names()?.iter().filter_map(|name| seq_of(name)).collect();
        named.dedup();
        Ok(named)
    }

    /// The newest snapshot that has a name here, without reading about the others.
    pub fn latest_named(&self) -> Result<Option<Seq>> {
        Ok(self.objects.last_reference_name()?.and_then(|name| seq_of(&name)))
    }

    /// Whether any snapshot was ever named here.
    pub fn has_references(&self) -> bool {
        self.objects.has_references()
    }

    /// Forgets the names of snapshots whose contents go.
    pub fn remove_references(&self, gone: &BTreeSet<Seq>) -> Result<()> {
        self.objects.retain_references(&|name| seq_of(name).is_none_or(|seq| !gone.contains(&seq)))
    }
}

/// The snapshot in a name such as `12/tree`.
fn seq_of(name: &str) -> Option<Seq> {
    name.split_once('/').and_then(|(seq, _)| seq.parse().ok()).map(Seq)
}

/// Where to find what the later of two captures did not see.
pub enum Unseen<'a> {
    /// In a stored snapshot.
    Stored(Option<&'a ObjectId>),
    /// In a capture of this moment.
    Now(&'a Capture),
}
