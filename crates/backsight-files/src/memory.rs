//! What a long-lived process knows between captures, so that a capture costs what changed and not what there is.
//!
//! It rests on one walk over everything (`Base`) and on what the watcher announced since (`dirty`). Directories are dirty
//! in relation to the stat cache, which speaks of the latest snapshot: looking at one does not make it clean, only
//! recording it or finding it to be as the cache says. Every doubt throws the base away, and the next capture walks.

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rustix::fs::{Mode, OFlags};

use crate::cache::{Cache, CacheChanges, RootIdentity, Subject};
use crate::capture::{Capture, Purpose, Request};
use crate::ignore::{Effort, Rules, path_of};
use crate::linked::Linked;
use crate::part::{Entered, Notes, Part, Standing};
use crate::scan::{Listing, Scan, ScanOptions};
use crate::watch::Watcher;

/// How the watcher is doing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WatchState {
    /// Whether somebody asked for it.
    pub is_on: bool,
    /// Whether the next capture can rely on it.
    pub is_reliable: bool,
    /// How many directories are watched.
    pub directories: u64,
    /// Why everything was walked the last time.
    pub doubt: Option<String>,
    /// Captures that walked everything.
    pub full_walks: u64,
    /// Captures that looked only where something was announced.
    pub partial_walks: u64,
    /// Paths that changed without having been announced, as far as checks found any.
    pub missed: u64,
}

/// What is kept between the captures of one process.
#[derive(Default)]
pub(crate) struct Memory {
    watcher: OnceLock<Watcher>,
    state: Mutex<State>,
    /// Held while everything is walked: two such walks would take each other's watches for stale.
    walking: Mutex<()>,
}

#[derive(Default)]
struct State {
    is_wanted: bool,
    /// Counts the times something was announced.
    serial: u64,
    /// What is not as the cache says, or may not be.
    dirty: BTreeMap<Vec<u8>, Mark>,
    base: Option<Base>,
    /// When the walk began that was taken in last.
    observed: u64,
    /// Why nothing can be relied on, and since when.
    doubt: Option<(String, u64)>,
    /// What the last look saw, and what it saw it of.
    look: Option<(u64, Subject, Capture)>,
    last_doubt: Option<String>,
    full_walks: u64,
    partial_walks: u64,
    missed: u64,
}

/// Why a directory has to be looked at.
#[derive(Clone, Copy)]
struct Mark {
    serial: u64,
    /// Everything below it too.
    deep: bool,
}

/// What a walk over everything found, kept up to date by the partial ones.
#[derive(Clone)]
pub(crate) struct Base {
    pub(crate) cache: Arc<Cache>,
    root: RootIdentity,
    options: ScanOptions,
    rules: Arc<Rules>,
    pub(crate) entered: Arc<BTreeMap<Vec<u8>, Entered>>,
    /// Of directories that have any.
    pub(crate) notes: Arc<BTreeMap<Vec<u8>, Notes>>,
    /// Files with several names: writes through another name are not announced in the directory of one.
    linked: Arc<Linked>,
    /// Files in the cache.
    pub(crate) files: u64,
    /// When its cache was saved, if it was since the walk.
    saved: Option<Start>,
}

/// How a capture may go about it.
pub(crate) enum Plan {
    /// Nothing was announced since somebody looked.
    Known(Box<Capture>),
    Part(Box<(Base, Part)>, Start),
    All(Start),
}

/// When a capture began, in what was announced; the default is before there was a watcher.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Start(u64);

/// A walk's findings on their way into the memory.
pub(crate) struct Observed<'a> {
    pub(crate) cache: &'a Arc<Cache>,
    pub(crate) scan: &'a Scan,
    /// The part that was walked; nothing means everything.
    pub(crate) part: Option<&'a Part>,
    pub(crate) start: Start,
    /// Directories with files that could not be read.
    pub(crate) troubled: &'a BTreeSet<Vec<u8>>,
    pub(crate) root: RootIdentity,
}

impl Memory {
    /// Starts watching, if it can be done. What is needed for it is set up by the next capture.
    pub(crate) fn watch(&self) {
        let mut state = self.lock();
        state.is_wanted = true;
        if self.watcher.get().is_some() {
            return;
        }
        match Watcher::new() {
            Ok(watcher) => {
                drop(self.watcher.set(watcher));
                state.serial += 1;
            }
            Err(error) => state.last_doubt = Some(format!("the kernel refuses to announce changes: {error}")),
        }
    }

    pub(crate) fn watcher(&self) -> Option<&Watcher> {
        self.watcher.get()
    }

    pub(crate) fn report(&self) -> WatchState {
        let mut state = self.lock();
        if let Some(watcher) = self.watcher.get() {
            state.absorb(watcher);
        }
        WatchState {
            is_on: state.is_wanted,
            is_reliable: self.watcher.get().is_some() && state.base.is_some() && state.doubt.is_none(),
            directories: self.watcher.get().map_or(0, Watcher::directories),
            doubt: state.doubt.as_ref().map(|(why, _)| why.clone()).or_else(|| state.last_doubt.clone()),
            full_walks: state.full_walks,
            partial_walks: state.partial_walks,
            missed: state.missed,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Decides what has to be walked.
    pub(crate) fn plan(&self, request: &Request<'_>, purpose: Purpose, root: RootIdentity, store: u64) -> Plan {
        let Some(watcher) = self.watcher.get() else { return Plan::All(Start::default()) };
        let mut state = self.lock();
        state.absorb(watcher);
        let start = Start(state.serial);
        let subject = request.last.map(|last| Subject { root, store, tree: last.tree });
        if request.thorough {
            return Plan::All(start);
        }
        if let Some(doubt) = state.doubt_about(request, root, subject) {
            state.last_doubt = Some(doubt);
            return Plan::All(start);
        }
        let Some(base) = state.base.clone() else { return Plan::All(start) };
        if purpose == Purpose::Look
            && base.linked.is_empty()
            && let Some((serial, of, capture)) = &state.look
            && (*serial, Some(*of)) == (state.serial, subject)
        {
            return Plan::Known(Box::new(capture.clone()));
        }
        let mut dirty: BTreeMap<Vec<u8>, bool> =
            state.dirty.iter().map(|(path, mark)| (path.clone(), mark.deep)).collect();
        for path in base.linked.paths() {
            dirty.entry(path.clone()).or_default();
        }
        let (rules, entered, linked) = (base.rules.clone(), base.entered.clone(), base.linked.clone());
        let part = Part { dirty, rules, entered, linked };
        Plan::Part(Box::new((base, part)), start)
    }

    /// Decides to walk everything after all.
    pub(crate) fn plan_all(&self, why: &str) -> Start {
        let mut state = self.lock();
        if let Some(watcher) = self.watcher.get() {
            state.absorb(watcher);
        }
        state.last_doubt = Some(why.to_owned());
        Start(state.serial)
    }

    /// Runs a walk over everything so that its watches are known to be the ones that count.
    pub(crate) fn walk_all<T>(&self, walk: impl FnOnce() -> T) -> T {
        let Some(watcher) = self.watcher.get() else { return walk() };
        let _walking = self.walking.lock().unwrap_or_else(PoisonError::into_inner);
        watcher.begin_walk();
        let walked = walk();
        watcher.end_walk();
        walked
    }

    /// The cache in memory, if it is about this.
    pub(crate) fn cache_about(&self, is_wanted: impl Fn(&Subject) -> bool) -> Option<Arc<Cache>> {
        let state = self.lock();
        let cache = &state.base.as_ref()?.cache;
        cache.subject().filter(|subject| is_wanted(subject)).map(|_| cache.clone())
    }

    /// Takes in what a walk found, before anything is recorded. Says whether it can stand for what others would find.
    pub(crate) fn observe(&self, request: &Request<'_>, observed: &Observed<'_>) -> bool {
        // A walk that began before there was a watcher has watched nothing, even if there is one by now.
        if observed.start == Start::default() {
            return false;
        }
        let mut state = self.lock();
        match observed.part {
            Some(_) => state.partial_walks += 1,
            None => state.full_walks += 1,
        }
        // Somebody who began later was faster and saw more: what this one saw may be older than what is known by now.
        if observed.start.0 < state.observed {
            return false;
        }
        state.observed = observed.start.0;
        match observed.part {
            Some(part) => state.observe_part(observed, part),
            None => state.observe_all(request, observed),
        }
        state.base.as_ref().is_some_and(|base| Arc::ptr_eq(&base.cache, observed.cache))
    }

    /// Keeps what a look saw for those who ask next.
    pub(crate) fn keep_look(&self, start: Start, subject: Option<Subject>, capture: &Capture) {
        let Some(subject) = subject.filter(|_| self.watcher.get().is_some()) else { return };
        let mut state = self.lock();
        if state.look.as_ref().is_none_or(|(serial, ..)| *serial <= start.0) {
            state.look = Some((start.0, subject, capture.clone()));
        }
    }

    /// Takes over a cache that was saved: `changes` away from `before`, with which a capture began at `start`.
    pub(crate) fn saved(
        &self,
        before: &Arc<Cache>,
        changes: &CacheChanges,
        after: Cache,
        start: Start,
        troubled: &BTreeSet<Vec<u8>>,
    ) {
        let mut state = self.lock();
        state.look = None;
        let Some(mut base) = state.base.take().filter(|base| Arc::ptr_eq(&base.cache, before)) else { return };
        for path in changes.paths() {
            let known = after.directory(path);
            base.files += known.map_or(0, |known| known.files());
            base.files = base.files.saturating_sub(before.directory(path).map_or(0, |known| known.files()));
            match known {
                Some(known) if known.is_settled() && !troubled.contains(path) => state.clean(path, start),
                Some(_) => state.mark(path, start),
                None => {
                    state.clean(path, start);
                    Arc::make_mut(&mut base.notes).remove(path);
                    Arc::make_mut(&mut base.entered).remove(path);
                    Arc::make_mut(&mut base.linked).remove(path);
                }
            }
        }
        base.cache = Arc::new(after);
        base.saved = Some(start);
        state.base = Some(base);
    }

    /// Forgets everything: the next capture walks.
    pub(crate) fn forget(&self, why: &str) {
        let mut state = self.lock();
        state.serial += 1;
        state.base = None;
        state.doubt = Some((why.to_owned(), state.serial));
    }

    /// How many of these paths changed without an announcement since `start`.
    pub(crate) fn count_missed<'p>(&self, start: Start, paths: impl Iterator<Item = &'p [u8]>) -> u64 {
        let mut state = self.lock();
        if let Some(watcher) = self.watcher.get() {
            state.absorb(watcher);
        }
        if state.doubt.is_some() {
            return 0;
        }
        let is_announced = |path: &[u8]| {
            let marked = |end: usize| state.dirty.get(&path[..end]).is_some_and(|mark| mark.serial > start.0);
            let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
            marked(0) && !path.contains(&b'/') || slashes.chain([path.len()]).any(marked)
        };
        let missed = paths.filter(|path| !is_announced(path)).count() as u64;
        state.missed += missed;
        missed
    }
}

impl State {
    /// Reads what was announced.
    fn absorb(&mut self, watcher: &Watcher) {
        let news = watcher.news();
        if news.dirty.is_empty() && news.doubt.is_none() {
            return;
        }
        self.serial += 1;
        let serial = self.serial;
        for (path, deep) in news.dirty {
            let mark = self.dirty.entry(path).or_insert(Mark { serial, deep });
            *mark = Mark { serial, deep: mark.deep || deep };
        }
        if let Some(why) = news.doubt {
            self.doubt = Some((why, serial));
        }
    }

    /// Why what is known does not do for this request.
    fn doubt_about(&self, request: &Request<'_>, root: RootIdentity, subject: Option<Subject>) -> Option<String> {
        if let Some((why, _)) = &self.doubt {
            return Some(why.clone());
        }
        let Some(base) = &self.base else { return Some("nothing was walked yet".to_owned()) };
        let doubt = if base.root != root {
            "the workspace's directory was replaced"
        } else if subject.is_none() || base.cache.subject() != subject {
            "another process recorded something, or the store changed"
        } else if base.options != *request.options {
            "settings changed"
        } else if base.rules_changed(request.root.path()) {
            "ignore rules changed"
        } else if request.include.iter().any(|path| base.hides(path)) {
            "an ignored path was asked for"
        } else {
            return None;
        };
        Some(doubt.to_owned())
    }

    fn clean(&mut self, path: &[u8], start: Start) {
        if self.dirty.get(path).is_some_and(|mark| mark.serial <= start.0) {
            self.dirty.remove(path);
        }
    }

    /// Notes that a directory is not as the cache says. It was looked at, so nothing is said about those below it.
    fn mark(&mut self, path: &[u8], start: Start) {
        let mark = self.dirty.entry(path.to_vec()).or_insert(Mark { serial: start.0, deep: false });
        if mark.serial <= start.0 {
            *mark = Mark { serial: start.0, deep: false };
        }
    }

    fn observe_part(&mut self, observed: &Observed<'_>, part: &Part) {
        let Some(mut base) = self.base.take() else { return };
        if Arc::ptr_eq(&base.cache, observed.cache) {
            // Those that were not come by are gone: whoever holds them was looked at.
            part.dirty.keys().for_each(|path| self.clean(path, observed.start));
            self.take_in(&mut base, observed);
        }
        self.base = Some(base);
    }

    fn observe_all(&mut self, request: &Request<'_>, observed: &Observed<'_>) {
        let is_overtaken = |base: &Base| !Arc::ptr_eq(&base.cache, observed.cache) && base.is_newer_than(observed);
        if self.doubt.is_none() && self.base.as_ref().is_some_and(is_overtaken) {
            return;
        }
        let mut base = Base {
            cache: observed.cache.clone(),
            root: observed.root,
            options: request.options.clone(),
            rules: observed.scan.rules.clone(),
            entered: Arc::default(),
            notes: Arc::default(),
            linked: Arc::default(),
            files: observed.cache.files(),
            saved: None,
        };
        self.dirty.retain(|_, mark| mark.serial > observed.start.0);
        self.take_in(&mut base, observed);
        // What was looked at only because somebody asked for it would be missing from the list of what is ignored.
        if request.include.iter().any(|path| base.hides(path)) {
            self.base = None;
            return;
        }
        self.base = Some(base);
        if self.doubt.as_ref().is_some_and(|(_, serial)| *serial <= observed.start.0) {
            self.doubt = None;
        }
    }

    fn take_in(&mut self, base: &mut Base, observed: &Observed<'_>) {
        base.forget_gone(&Standing::after(observed.scan));
        for visited in observed.scan.directories.iter().filter(|visited| visited.looked) {
            let path = visited.path.as_slice();
            let known = visited.cached.and_then(|position| observed.cache.at(position));
            let is_as_cached = matches!(visited.listing, Listing::Cached)
                && known.is_some_and(|known| known.contents().is_some())
                && !observed.troubled.contains(path);
            match is_as_cached {
                true => self.clean(path, observed.start),
                false => self.mark(path, observed.start),
            }
            if matches!(visited.listing, Listing::Nothing) {
                self.mark(&observed.scan.directories[visited.parent].path, observed.start);
            }
            match visited.notes.is_empty() {
                false => drop(Arc::make_mut(&mut base.notes).insert(path.to_vec(), visited.notes.clone())),
                true if base.notes.contains_key(path) => drop(Arc::make_mut(&mut base.notes).remove(path)),
                true => {}
            }
            match &visited.entered {
                Some(entered) => drop(Arc::make_mut(&mut base.entered).insert(path.to_vec(), entered.clone())),
                None if base.entered.contains_key(path) => drop(Arc::make_mut(&mut base.entered).remove(path)),
                None => {}
            }
            if !visited.linked.is_empty() || base.linked.has(path) {
                Arc::make_mut(&mut base.linked).set(path, &visited.linked);
            }
        }
    }
}

impl Base {
    /// Whether something was recorded while a walk was under way that began before.
    fn is_newer_than(&self, observed: &Observed<'_>) -> bool {
        self.root == observed.root && self.saved.is_some_and(|saved| saved.0 >= observed.start.0)
    }

    /// Whether any rule from outside the watched directories is another one now.
    fn rules_changed(&self, root: &Path) -> bool {
        let now = Rules::at_root(root, &self.options.surroundings, &self.options.exclude);
        if !self.rules.says_the_same(&now) || self.rules.has_new_index() {
            return true;
        }
        let nested = self.entered.iter().filter(|(_, entered)| entered.holds.git);
        nested.into_iter().any(|(path, entered)| {
            let Some(outer) = entered.rules.outer() else { return true };
            let absolute = root.join(path_of(path));
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let Ok(directory) = rustix::fs::open(&absolute, flags, Mode::empty()) else { return true };
            let now = outer.enter(path, (&absolute, directory.as_fd()), entered.holds, &Effort::default());
            !entered.rules.says_the_same(&now) || entered.rules.has_new_index()
        })
    }

    /// Forgets directories that are no more, also those that came and went between two snapshots.
    fn forget_gone(&mut self, standing: &Standing<'_>) {
        if self.notes.keys().any(|path| !standing.holds(path)) {
            Arc::make_mut(&mut self.notes).retain(|path, _| standing.holds(path));
        }
        if self.entered.keys().any(|path| !standing.holds(path)) {
            Arc::make_mut(&mut self.entered).retain(|path, _| standing.holds(path));
        }
        if self.linked.paths().any(|path| !standing.holds(path)) {
            Arc::make_mut(&mut self.linked).retain(|path| standing.holds(path));
        }
    }

    /// Whether a rule hides a path that was not captured before.
    fn hides(&self, path: &[u8]) -> bool {
        let slash = path.iter().rposition(|&byte| byte == b'/');
        let (parent, name) = slash.map_or((&b""[..], path), |at| (&path[..at], &path[at + 1..]));
        let known = self.cache.directory(parent);
        if known.is_some_and(|known| known.records().any(|record| record.name == name)) {
            return false;
        }
        let effort = Effort::default();
        let mut rules = &self.rules;
        if let Some(entered) = self.entered.get(&b""[..]) {
            rules = &entered.rules;
        }
        for at in (0..path.len()).filter(|&at| path[at] == b'/') {
            if rules.is_ignored(&path[..at], true, &effort) {
                return true;
            }
            if let Some(entered) = self.entered.get(&path[..at]) {
                rules = &entered.rules;
            }
        }
        rules.is_ignored(path, false, &effort)
    }
}
