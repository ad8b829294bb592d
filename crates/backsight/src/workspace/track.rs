//! Recording the files as they are: what the caller did is the step, what others did is told apart.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use backsight_core::{Code, Error, RelPath, Result, Seq, SnapshotId, Timestamp, Uncovered};
use backsight_files::{Capture, Change, Node, Patterns, Subjects, Tree, Unseen};

use super::writing::Writing;
use super::{Opened, Workspace, doubt, shared};
use crate::convert::{is_implied, path_changes, uncompared};
use crate::names;
use crate::place;
use crate::report::{Background, Kind, Origin, PathChange, Tracked, UnknownChange};
use crate::request;
use crate::timeline::{Beside, Doubt, Keep, NewCheckpoint, NewStep, OpenCall, Shared, Step, StepDetails, TouchedFile};
use crate::unknown::{
    Claim, Decision, Since, blind, decide, is_within_any, left, mismatch, own, reversed, shared_directories, unknown,
};

/// The tool that changes nobody claimed are attributed to.
pub(super) const EXTERNAL: &str = "external";

/// What is to be recorded, and on whose behalf.
pub(super) struct Recording<'a> {
    pub(super) description: &'a str,
    pub(super) origin: &'a Origin,
    pub(super) unknown: request::Unknown,
    pub(super) pinned: bool,
    /// The tool call that ends with it.
    pub(super) call: Option<&'a OpenCall>,
    /// When the tool ran, where that is not all the time since its call began.
    pub(super) ran: Option<request::Ran>,
    /// The call stays open for what its command does from here on.
    pub(super) goes_on: Option<&'a Background>,
    /// When it was asked for, or the call began.
    pub(super) since: Timestamp,
}

impl Recording<'_> {
    /// What the step is said to be: the caller's words or, where a session says nothing, which files it changed.
    fn text(&self, changes: &[PathChange]) -> String {
        if !self.description.trim().is_empty() || self.origin.session.is_none() {
            return self.description.to_owned();
        }
        match &self.origin.tool {
            Some(tool) => format!("{tool}: {}", named(changes)),
            None => format!("changed {}", named(changes)),
        }
    }
}

/// `src/a.rs`, `3 files`
fn named(changes: &[PathChange]) -> String {
    match changes {
        [one] => one.path.to_string(),
        many => format!("{} files", many.len()),
    }
}

/// A capture, told apart.
struct Apart {
    /// What is recorded: everything, or what is left when others' changes are left to them.
    tree: Tree,
    /// The same without the caller's own changes.
    start: Tree,
    /// `start` -> `tree`.
    own: Vec<Change>,
    /// What others did since the latest snapshot.
    foreign: Vec<Change>,
    /// The latest snapshot with what others did.
    others: Tree,
    /// Paths that open calls of others have declared.
    theirs: Vec<RelPath>,
    /// `tree` -> what the capture saw.
    left: Vec<Change>,
    unseen: Vec<Uncovered>,
    warnings: Vec<String>,
    /// Tool calls of others that may have written what is the caller's own by this.
    shared: Vec<Shared>,
    /// What of the caller's own may be the user's.
    doubt: Option<Doubt>,
}

impl Workspace {
    /// Records the files as they are; when nothing differs from the latest snapshot, that one is the answer.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let workspace = backsight::Workspace::open(directory.path())?;
    /// std::fs::write(directory.path().join("a.txt"), "one\n")?;
    /// let first = workspace.track()?;
    /// assert!(first.created && first.snapshot.coverage.complete);
    /// let again = workspace.track()?;
    /// assert!(!again.created);
    /// assert_eq!(again.snapshot.id, first.snapshot.id);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn track(&self) -> Result<Tracked> {
        self.track_with(&request::Track::default())
    }

    /// Records the files with who, why and on whose behalf. Changes outside a declared write set are not the step's:
    /// the strategy says what becomes of them.
    pub fn track_with(&self, request: &request::Track) -> Result<Tracked> {
        names::check_origin(&request.origin)?;
        let since = self.settings.now();
        let writing = self.writing()?;
        let origin = Origin { declared: self.through_links(&request.origin.declared), ..request.origin.clone() };
        writing.record(&Recording {
            description: &request.description,
            origin: &origin,
            unknown: request.unknown,
            pinned: request.pinned,
            call: None,
            ran: None,
            goes_on: None,
            since,
        })
    }

    /// Splits what differs from the latest snapshot into the caller's own changes and everybody else's.
    fn tell_apart(&self, opened: &Opened, last: &Step, capture: &Capture, recording: &Recording<'_>) -> Result<Apart> {
        let everything = |own: Vec<Change>, unseen, warnings| Apart {
            tree: capture.tree,
            start: last.tree,
            own,
            foreign: Vec::new(),
            others: last.tree,
            theirs: Vec::new(),
            left: Vec::new(),
            unseen,
            warnings,
            shared: Vec::new(),
            doubt: None,
        };
        if last.tree == capture.tree && recording.call.is_none_or(|call| call.start == capture.tree) {
            return Ok(everything(Vec::new(), Vec::new(), Vec::new()));
        }
        let (changes, unseen) = match self.differing(opened, last, capture) {
            Ok(differing) => differing,
            // A damaged snapshot before this one must not keep the present from being recorded.
            Err(error) if error.code() == Code::Damaged => {
                let warning = format!("what changed since the latest snapshot is not known: {error}");
                return Ok(everything(Vec::new(), Vec::new(), vec![warning]));
            }
            Err(error) => return Err(error),
        };
        // Whom files are for may differ alone: that is recorded with their next change.
        if changes.is_empty() && unseen.is_empty() && recording.call.is_none() {
            return Ok(Apart { tree: last.tree, ..everything(changes, unseen, Vec::new()) });
        }
        let since = recording.call.map(|call| since(opened, call, capture)).transpose()?;
        let in_passing = match recording.call {
            Some(call) => opened.timeline.touched_in_passing(call.call.based_on)?,
            None => BTreeSet::new(),
        };
        let others = other_calls(opened, recording.call)?;
        let theirs: Vec<RelPath> = others.iter().flat_map(|other| other.call.origin.declared.clone()).collect();
        let declared = &recording.origin.declared;
        let written = match (&since, &recording.ran) {
            (Some(since), Some(ran)) => doubt::written(&self.root, &since.changes, ran),
            _ => doubt::Written::default(),
        };
        let own = own(&changes, &Claim { declared, theirs: &theirs, since, outside: Some(&written.outside) });
        let doubt = written.doubt(&own);
        let is_whole = own.len() == changes.len() && own.iter().zip(&changes).all(|(own, change)| own == change);
        // What could not be seen differs between the trees and is nobody's doing.
        if is_whole && unseen.is_empty() {
            let shared = shared::with_calls(&others, &recording.origin.declared, &own);
            let warnings = shared::warnings(&shared, &recording.origin.declared);
            return Ok(Apart { shared, doubt, ..everything(own, unseen, warnings) });
        }
        // What may be another call's is left to it, except by a plain `track`, which records whatever there is.
        let leaves = !others.is_empty() && (recording.call.is_some() || !declared.is_empty());
        let tree = match leaves {
            true => self.without_theirs(opened, capture, &changes, &own, &others)?,
            false => capture.tree,
        };
        let start = without(opened, &tree, &changes, &own)?;
        let own_paths: BTreeSet<&RelPath> = own.iter().map(|change| &change.path).collect();
        let mut foreign = opened.files.compare(&last.tree, &start)?;
        // What the caller itself wrote and a safety snapshot or a plain `track` recorded in passing is nobody else's.
        foreign.retain(|change| !(own_paths.contains(&change.path) && in_passing.contains(&change.path)));
        let not_seen: BTreeSet<&RelPath> = unseen.iter().map(|unseen| &unseen.path).collect();
        foreign.retain(|change| !not_seen.contains(&change.path));
        let others_tree = opened.files.edit(&last.tree, &foreign)?;
        let shared = shared::with_calls(&others, &recording.origin.declared, &own);
        Ok(Apart {
            own: opened.files.compare(&start, &tree)?,
            foreign,
            others: others_tree,
            theirs,
            left: opened.files.compare(&tree, &capture.tree)?,
            warnings: shared::warnings(&shared, &recording.origin.declared),
            shared,
            doubt,
            tree,
            start,
            unseen,
        })
    }

    /// What the capture saw without what open tool calls of others may have done.
    pub(super) fn without_theirs(
        &self,
        opened: &Opened,
        capture: &Capture,
        changes: &[Change],
        own: &[Change],
        calls: &[OpenCall],
    ) -> Result<Tree> {
        let theirs = self.pending(opened, capture, calls)?;
        without(opened, &capture.tree, changes, &left(changes, own, &theirs))
    }

    /// What differs on disk from the latest snapshot, as far as both could see.
    pub(super) fn differing(
        &self,
        opened: &Opened,
        last: &Step,
        capture: &Capture,
    ) -> Result<(Vec<Change>, Vec<Uncovered>)> {
        let changes = opened.files.compare(&last.tree, &capture.tree)?;
        opened.files.split_unseen(changes, last.coverage_id.as_ref(), &Unseen::Now(capture))
    }

    /// A step with the capture's files and nothing said about changes.
    pub(super) fn new_step(
        &self,
        kind: Kind,
        capture: &Capture,
        description: &str,
        origin: &Origin,
    ) -> Result<NewStep> {
        Ok(NewStep {
            id: self.new_id()?,
            kind,
            tree: capture.tree,
            coverage_id: capture.coverage_id,
            start: None,
            timestamp: self.settings.now(),
            description: description.to_owned(),
            origin: origin.clone(),
            targets: Vec::new(),
            files_changed: 0,
            lines: None,
            execution_ms: None,
            coverage: capture.coverage.clone(),
            files: Vec::new(),
            unknown: Vec::new(),
            pinned: false,
            details: None,
        })
    }

    pub(super) fn elapsed(&self, since: Timestamp) -> u64 {
        self.settings.now().0.saturating_sub(since.0).max(0) as u64
    }
}

impl Writing<'_> {
    /// Captures the files and appends what is needed for the latest snapshot to be them. Needs the workspace lock.
    pub(super) fn record(&self, recording: &Recording<'_>) -> Result<Tracked> {
        let last = self.latest()?;
        let include = recording.origin.declared.iter().map(|path| path.as_bytes().to_vec()).collect();
        // A watcher hears nothing of a write through shared memory or through another name of a file. A call that says what
        // it writes is looked up there; what any other call did is walked for.
        let thorough = recording.call.is_some() && recording.origin.declared.is_empty();
        let mut capture = self.capture_with(last.as_ref(), &include, thorough)?;
        let mut tracked = match last {
            None => self.record_first(&capture, recording)?,
            Some(last) => {
                let apart = self.workspace.tell_apart(self.opened, &last, &capture, recording)?;
                self.record_apart(last, &capture, apart, recording)?
            }
        };
        if tracked.created {
            tracked.warnings.extend(self.workspace.closing(self.opened, &tracked.snapshot)?);
        }
        if let Some(call) = recording.call {
            tracked.warnings.extend(shared::recorded_by_others(self.opened, call)?);
            if let Some(background) = recording.goes_on {
                self.go_on(call, background, &tracked.snapshot, &capture)?;
            }
        }
        let is_own = tracked.created && tracked.snapshot.origin.message == recording.origin.message;
        if !is_own && recording.call.is_none() && recording.origin.message.is_some() {
            // A message that changed nothing is one of its session's messages all the same.
            self.opened.timeline.note_unchanged(recording.origin, self.workspace.settings.now())?;
        }
        if tracked.created
            && let Err(error) = self.opened.files.objects().maintain()
        {
            tracked.warnings.push(format!("small packs were not joined: {error}"));
        }
        self.save_cache(&mut capture)?;
        Ok(tracked)
    }

    /// Keeps what a capture learned, whether it was recorded as a whole, in part or not at all.
    pub(super) fn save_cache(&self, capture: &mut Capture) -> Result<()> {
        let Some(latest) = self.latest()? else { return Ok(()) };
        if latest.tree == capture.tree {
            return self.opened.files.save_cache(capture);
        }
        let away = self.opened.files.compare(&capture.tree, &latest.tree)?;
        // The trees of the capture are in no row, so no cache may rest on them.
        if away.is_empty() {
            return Ok(());
        }
        self.opened.files.save_cache_after(capture, &away, &latest.tree)
    }

    pub(super) fn record_first(&self, capture: &Capture, recording: &Recording<'_>) -> Result<Tracked> {
        let step = NewStep {
            files_changed: capture.coverage.files,
            execution_ms: Some(self.workspace.elapsed(recording.since)),
            pinned: recording.pinned,
            ..self.workspace.new_step(Kind::Track, capture, recording.description, recording.origin)?
        };
        let (step, warnings) = self.append(&step, recording.call.map(|call| &call.call.id))?;
        Ok(Tracked { warnings, ..answer(true, step, Vec::new()) })
    }

    fn record_apart(&self, last: Step, capture: &Capture, apart: Apart, recording: &Recording<'_>) -> Result<Tracked> {
        let call = recording.call.map(|call| &call.call.id);
        let config = &self.config()?.snapshots;
        let found = if config.enable_unknown_change_detection {
            let mut found = unknown(&apart.foreign, &Patterns::new(&config.exclude_from_checking)).0;
            found.retain(|change| !is_within_any(&change.file_path, &apart.theirs));
            found
        } else {
            Vec::new()
        };
        let strategy = recording.unknown.strategy.unwrap_or(config.unknown_change_strategy);
        let decision = (!found.is_empty()).then(|| decide(strategy, recording.unknown.force));
        if decision == Some(Decision::Refuse) {
            return Err(mismatch(&found, "recording the step"));
        }
        let is_claimed = call.is_some() || !recording.origin.declared.is_empty();
        let refuses = decide(strategy, recording.unknown.force) == Decision::Refuse;
        if is_claimed && refuses && config.enable_unknown_change_detection && !apart.unseen.is_empty() {
            return Err(blind(&apart.unseen, "the step"));
        }
        let left: Vec<RelPath> = touched(&apart.left, false).into_iter().map(|file| file.path).collect();
        let tracked = if apart.tree == last.tree && apart.own.is_empty() {
            self.unchanged(last, capture, recording)?
        } else if apart.own.is_empty() && !apart.foreign.is_empty() {
            // Nothing of it is the caller's, so no step of the caller's is recorded.
            let (step, warnings) = self.record_external(capture, apart.tree, &apart.foreign, recording.pinned, call)?;
            Tracked { warnings, ..answer(true, step, Vec::new()) }
        } else {
            self.record_own(capture, &apart, &found, decision, recording)?
        };
        if !tracked.created
            && let Some(call) = call
        {
            self.opened.timeline.finish_call(call, self.workspace.settings.now())?;
        }
        let warnings = apart.warnings.into_iter().chain(tracked.warnings).collect();
        Ok(Tracked { unseen: apart.unseen, unknown_changes: found, left_to_open_calls: left, warnings, ..tracked })
    }

    fn unchanged(&self, last: Step, capture: &Capture, recording: &Recording<'_>) -> Result<Tracked> {
        let mut tracked = answer(false, last, Vec::new());
        tracked.snapshot.coverage = capture.coverage.clone();
        if recording.pinned && !tracked.snapshot.pinned {
            self.opened.timeline.set_pinned(tracked.snapshot.sequence_number, true)?;
            self.forget_latest();
            tracked.snapshot.pinned = true;
        }
        Ok(tracked)
    }

    fn record_own(
        &self,
        capture: &Capture,
        apart: &Apart,
        found: &[UnknownChange],
        decision: Option<Decision>,
        recording: &Recording<'_>,
    ) -> Result<Tracked> {
        let integrated = match decision {
            Some(Decision::Integrate) => {
                let (step, _) = self.record_external(capture, apart.others, &apart.foreign, false, None)?;
                Some(step.snapshot.sequence_number)
            }
            _ => None,
        };
        let base = if integrated.is_some() { Some(apart.others) } else { self.latest()?.map(|last| last.tree) };
        let is_shared = integrated.is_none() && !apart.foreign.is_empty();
        let renames = self.opened.renames(&apart.own, None);
        let described = path_changes(&apart.own, &renames);
        let mut files = touched(&apart.own, false);
        if is_shared {
            add_foreign(&mut files, &apart.foreign);
        }
        let step = NewStep {
            tree: apart.tree,
            start: Some(apart.start).filter(|start| Some(*start) != base),
            files_changed: described.len() as u64,
            lines: self.opened.count_lines(&apart.own, &renames),
            execution_ms: Some(self.workspace.elapsed(recording.since)),
            files,
            unknown: if is_shared { found.to_vec() } else { Vec::new() },
            details: details(recording.call, apart),
            pinned: recording.pinned,
            ..self.workspace.new_step(Kind::Track, capture, &recording.text(&described), recording.origin)?
        };
        let (step, mut warnings) = self.append(&step, recording.call.map(|call| &call.call.id))?;
        warnings.extend(uncompared(&renames));
        Ok(Tracked { integrated, warnings, ..answer(true, step, described) })
    }

    pub(super) fn capture(&self, last: Option<&Step>, include: &BTreeSet<Vec<u8>>) -> Result<Capture> {
        self.capture_with(last, include, false)
    }

    /// The same; `thorough` walks everything even while a watcher runs, for those who are about to change files.
    pub(super) fn capture_with(
        &self,
        last: Option<&Step>,
        include: &BTreeSet<Vec<u8>>,
        thorough: bool,
    ) -> Result<Capture> {
        let config = self.config()?;
        if !config.any_root {
            place::check_root(&self.workspace.root, &self.workspace.settings)?;
        }
        let (options, last) = (self.workspace.scan_options(config), last.map(Step::as_last));
        let subjects = Subjects { options: &options, last: last.as_ref(), include, thorough };
        self.workspace.with_caller(|caller| self.opened.files.capture(&subjects, caller))
    }

    /// Appends a row, its file checkpoint and its name, and closes the call it finishes. The warnings are about what
    /// could not be written beside it.
    pub(super) fn append(&self, step: &NewStep, call: Option<&SnapshotId>) -> Result<(Step, Vec<String>)> {
        let used = self.opened.files.latest_named()?.unwrap_or(Seq(0));
        let checkpoint = self.checkpoint_of(None, 0)?;
        let beside = Beside { finished_call: call, checkpoint: Some(&checkpoint) };
        let rows = self.opened.timeline.latest_seq()?;
        let appended = self.opened.timeline.append(step, used, &beside)?;
        let step = appended.step;
        self.appended(&step);
        self.opened.files.write_reference(step.snapshot.sequence_number, &step.tree, step.coverage_id.as_ref())?;
        let warning = |error: Error| format!("the file checkpoint was not written: {error}");
        Ok((step, missing(rows, used).into_iter().chain(appended.warning.map(warning)).collect()))
    }

    pub(super) fn checkpoint_of(&self, paths: Option<Vec<RelPath>>, creation_ms: u64) -> Result<NewCheckpoint> {
        let (config, now) = (&self.config()?.snapshots, self.workspace.settings.now());
        let age = Duration::from_secs(config.max_checkpoint_age.saturating_mul(86_400));
        let oldest = if config.max_checkpoint_age == 0 { Timestamp(i64::MIN) } else { now.before(age) };
        let keep = Keep { all: config.keep_all_checkpoints, oldest };
        Ok(NewCheckpoint { id: self.workspace.new_id()?, timestamp: now, paths, creation_ms, keep })
    }

    /// Records changes that nobody claimed: the compensating snapshot.
    pub(super) fn record_external(
        &self,
        capture: &Capture,
        tree: Tree,
        changes: &[Change],
        pinned: bool,
        call: Option<&SnapshotId>,
    ) -> Result<(Step, Vec<String>)> {
        let renames = self.opened.renames(changes, None);
        let described = path_changes(changes, &renames);
        let names = named(&described);
        let origin = Origin { tool: Some(EXTERNAL.to_owned()), ..Origin::default() };
        let step = NewStep {
            tree,
            files_changed: described.len() as u64,
            lines: self.opened.count_lines(changes, &renames),
            files: touched(changes, true),
            pinned,
            ..self.workspace.new_step(Kind::External, capture, &format!("changed outside: {names}"), &origin)?
        };
        self.append(&step, call)
    }

    /// Records what is on disk just before it is changed, unless the latest snapshot holds it already.
    pub(super) fn record_safety(&self, capture: &Capture, before: &str) -> Result<Seq> {
        let last = match self.latest()? {
            Some(last) if last.tree == capture.tree => return Ok(last.snapshot.sequence_number),
            last => last,
        };
        let changes = match last.map(|last| self.workspace.differing(self.opened, &last, capture)) {
            Some(Ok((changes, _))) => changes,
            Some(Err(error)) if error.code() != Code::Damaged => return Err(error),
            _ => Vec::new(),
        };
        // Nobody told us who made these changes; it was not whoever wants to go back.
        let origin = Origin { tool: Some(EXTERNAL.to_owned()), ..Origin::default() };
        let renames = self.opened.renames(&changes, None);
        let step = NewStep {
            files_changed: path_changes(&changes, &renames).len() as u64,
            lines: self.opened.count_lines(&changes, &renames),
            files: touched(&changes, true),
            ..self.workspace.new_step(Kind::Safety, capture, &format!("before {before}"), &origin)?
        };
        Ok(self.append(&step, None)?.0.snapshot.sequence_number)
    }
}

/// What the step keeps of those who may have written what it calls its own. A plain `track` belongs to no call: what it
/// records of one is still that one's.
fn details(call: Option<&OpenCall>, apart: &Apart) -> Option<StepDetails> {
    let (shared, doubt) = (apart.shared.clone(), apart.doubt.clone());
    let is_certain = shared.is_empty() && doubt.is_none();
    (call.is_some() && !is_certain).then(|| StepDetails { shared, doubt, ..StepDetails::default() })
}

fn answer(created: bool, step: Step, changes: Vec<crate::report::PathChange>) -> Tracked {
    Tracked {
        created,
        snapshot: step.snapshot,
        changes,
        unseen: Vec::new(),
        unknown_changes: Vec::new(),
        integrated: None,
        left_to_open_calls: Vec::new(),
        warnings: Vec::new(),
    }
}

/// A tree with some of the changes that led to it taken back; directories that others' changes removed come back where
/// they are needed, as they were.
fn without(opened: &Opened, tree: &Tree, changes: &[Change], taken_back: &[Change]) -> Result<Tree> {
    if taken_back.is_empty() {
        return Ok(*tree);
    }
    let mut back = shared_directories(changes, taken_back);
    back.retain(|change| change.after.is_none());
    back.extend_from_slice(taken_back);
    opened.files.edit(tree, &reversed(&back))
}

/// What happened since a call began.
pub(super) fn since(opened: &Opened, call: &OpenCall, capture: &Capture) -> Result<Since> {
    let changes = opened.files.compare(&call.start, &capture.tree)?;
    let (changes, _) = opened.files.split_unseen(changes, call.coverage_id.as_ref(), &Unseen::Now(capture))?;
    Ok(Since { changes, recorded: opened.timeline.touched_since(call.call.based_on)? })
}

pub(super) fn other_calls(opened: &Opened, call: Option<&OpenCall>) -> Result<Vec<OpenCall>> {
    let mut calls = opened.timeline.open_calls()?;
    calls.retain(|other| call.is_none_or(|call| call.call.id != other.call.id));
    Ok(calls)
}

/// The paths of changes, directories only where nothing else speaks for them.
pub(super) fn touched(changes: &[Change], external: bool) -> Vec<TouchedFile> {
    let blob = |node: Option<Node>| node.and_then(|node| node.blob());
    let spoken_for = |index: usize, change: &Change| is_implied(change, changes.get(index + 1));
    changes
        .iter()
        .enumerate()
        .filter(|(index, change)| !spoken_for(*index, change))
        .map(|(_, change)| TouchedFile {
            path: change.path.clone(),
            before: blob(change.before),
            after: blob(change.after),
            external,
        })
        .collect()
}

/// Adds others' changes to a step's own. A path that both changed is the step's, from what stood there at first.
fn add_foreign(files: &mut Vec<TouchedFile>, foreign: &[Change]) {
    let mut others: BTreeMap<RelPath, TouchedFile> =
        touched(foreign, true).into_iter().map(|file| (file.path.clone(), file)).collect();
    for file in files.iter_mut() {
        if let Some(other) = others.remove(&file.path) {
            file.before = other.before;
        }
    }
    files.extend(others.into_values());
}

/// Snapshots are named after their rows are written, so names beyond the rows are of rows that were lost: with a part of the
/// write-ahead log, or with a file that was put back from a backup.
fn missing(rows: Seq, named: Seq) -> Option<String> {
    let from = Seq(rows.0 + 1);
    (named > rows).then(|| {
        format!("the rows from {from} to {named} are gone from the timeline; verify the store to see what remains")
    })
}
