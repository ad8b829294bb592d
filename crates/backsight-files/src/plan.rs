//! Decides what a restore or a revert would change, as a value. Nothing here writes: a dry run is this plan, printed.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use backsight_core::{ObjectId, Reason, RelPath, Result, quote};
use backsight_diff::{Labels, Merge};

use crate::access::{Access, settled};
use crate::blind::Blind;
use crate::capture::Capture;
use crate::compare::{Change, compare};
use crate::ignore::join;
use crate::object::{ObjectKind, object_id};
use crate::tree::{Node, Source, Tree};

/// What will happen to the files on disk, and what will not and why.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Every path that changes: `before` is what the disk holds now, `after` what it will hold. Parents first.
    pub changes: Vec<Change>,
    /// Of these, the ones where later edits were kept by merging.
    pub merged: BTreeSet<RelPath>,
    /// Of these, the ones that get conflict markers.
    pub marked: Vec<Conflict>,
    /// Paths left as they are although the target differs, and why.
    pub kept: Vec<(RelPath, String)>,
    /// Paths that are left wholly as they are: what is to be undone there overlaps later edits, what stands there is in
    /// no snapshot, or another program keeps writing to it. The caller goes on without them, or refuses.
    pub conflicts: Vec<Conflict>,
    /// Paths that get fewer permissions than the target has, see `withhold`.
    pub withheld: Vec<RelPath>,
    /// Paths whose group gets less than the bits in the target say: whom those were for is not known, or others now.
    pub narrowed: Vec<RelPath>,
    /// Contents that are in no snapshot yet: results of merges.
    pub(crate) blobs: BTreeMap<ObjectId, Vec<u8>>,
}

impl Plan {
    /// What a merge came to, which no snapshot holds yet.
    pub fn merged_content(&self, id: &ObjectId) -> Option<&[u8]> {
        self.blobs.get(id).map(Vec::as_slice)
    }

    /// Takes permission bits out of what paths would get that do not have them now, and believes nothing of what is said
    /// about whom the others are for, in changes that a stranger thought of.
    pub fn withhold(mut self, bits: u16, is_strange: &dyn Fn(&Change) -> bool) -> Plan {
        for change in self.changes.iter_mut().filter(|change| is_strange(change)) {
            if let Some(Node::File { access, .. } | Node::Directory { access, .. }) = &mut change.after {
                *access = Access::default();
            }
            let held = match change.before {
                Some(Node::File { mode, .. } | Node::Directory { mode, .. }) => mode,
                _ => 0,
            };
            if let Some(Node::File { mode, .. } | Node::Directory { mode, .. }) = &mut change.after
                && *mode & bits & !held != 0
            {
                *mode &= !(bits & !held);
                self.withheld.push(change.path.clone());
            }
        }
        self.changes.retain(|change| change.before != change.after);
        self
    }

    /// Gives no path more than it had in the target or has now, see `access.rs`.
    pub(crate) fn settle(mut self) -> Plan {
        for change in &mut self.changes {
            let Some(after) = change.after else { continue };
            let settled = settled(change.before, after);
            if settled != after {
                self.narrowed.push(change.path.clone());
            }
            change.after = Some(settled);
        }
        self.changes.retain(|change| change.before != change.after);
        self.narrowed.sort();
        self.narrowed.dedup();
        self
    }
}

/// A path that cannot be taken back without losing something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// Where.
    pub path: RelPath,
    /// What happened to it since the step.
    pub reason: String,
    /// What the step left there.
    pub step: Option<Node>,
    /// What is there now.
    pub current: Option<Node>,
    /// What the revert wants there.
    pub wanted: Option<Node>,
}

/// What to do about conflicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnConflict {
    /// Leave them in `Plan::conflicts`; the caller refuses or goes on without them.
    Leave,
    /// Write texts with conflict markers where both sides are text.
    Mark,
}

/// What a plan may touch.
#[derive(Clone, Copy)]
pub struct Bounds<'a> {
    /// Only these paths and what lies below them; empty means all.
    pub selection: &'a [RelPath],
    /// Left as they are, and why.
    pub left: &'a BTreeMap<RelPath, String>,
}

/// One step to be undone.
pub struct StepToUndo {
    /// The files before it.
    pub before: Tree,
    /// What the capture behind `before` did not see.
    pub before_coverage: Option<ObjectId>,
    /// The files after it.
    pub after: Tree,
    /// Only these paths belong to the step; empty means all it changed.
    pub declared: Vec<RelPath>,
    /// What to call the earlier state in conflict markers.
    pub label: String,
    /// Only these paths, and of each only so much; nothing means all.
    pub parts: Option<BTreeMap<RelPath, Part>>,
}

/// How much of what a step did to a path is undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// All of it, permissions included.
    Whole,
    /// Some lines: what the step left there, with these undone.
    Text(Vec<u8>),
}

/// Whether `path` is selected: an empty selection means everything.
pub(crate) fn is_selected(path: &RelPath, selection: &[RelPath]) -> bool {
    selection.is_empty() || selection.iter().any(|selected| path.is_within(selected))
}

/// Takes the selected paths to what they are in `target`.
pub(crate) fn plan_restore(
    source: &Source<'_>,
    now: &Capture,
    target: &Tree,
    unseen: &Blind,
    bounds: Bounds<'_>,
) -> Result<Plan> {
    let all = compare(source, &now.tree, target)?;
    let mut plan = Plan::default();
    let mut standing: BTreeSet<Vec<u8>> = BTreeSet::new();
    let needed = needed_parents(&all, bounds.selection);
    let in_the_way = in_the_way(&all, bounds.selection);
    // Children before parents, so that a directory is known to stay when something in it stays.
    for change in all.iter().rev() {
        if !is_selected(&change.path, bounds.selection) && !is_needed_parent(change, &needed) {
            note_standing(change, &mut standing);
            continue;
        }
        let left_alone = bounds.left.get(&change.path).cloned().map(Obstacle::Leave);
        let blocked = || blocked(change, &in_the_way);
        match left_alone.or_else(blocked).or_else(|| obstacle(change, now, unseen, &standing)) {
            None => plan.changes.push(change.clone()),
            Some(Obstacle::Keep(reason)) => {
                note_standing(change, &mut standing);
                plan.kept.push((change.path.clone(), reason));
            }
            Some(Obstacle::Leave(reason)) => {
                note_standing(change, &mut standing);
                plan.conflicts.push(left(change, reason));
            }
        }
    }
    plan.leave_below_conflicts();
    plan.changes.reverse();
    plan.kept.sort();
    Ok(plan)
}

/// A change that a restore does not make.
fn left(change: &Change, reason: String) -> Conflict {
    Conflict { path: change.path.clone(), reason, step: None, current: change.before, wanted: change.after }
}

impl Plan {
    /// What is left as it is, is left with everything in it: half of a directory is neither of two states.
    fn leave_below_conflicts(&mut self) {
        let tops: BTreeSet<Vec<u8>> = self.conflicts.iter().map(|conflict| conflict.path.as_bytes().to_vec()).collect();
        for change in std::mem::take(&mut self.changes) {
            let top = change.path.ancestors().find(|above| tops.contains(*above));
            match top {
                Some(top) => self.conflicts.push(left(&change, format!("`{}` stays as it is", quote(top)))),
                None => self.changes.push(change),
            }
        }
        self.conflicts.sort_by(|a, b| a.path.cmp(&b.path));
    }
}

/// Every directory above something selected that comes to be.
fn needed_parents<'a>(all: &'a [Change], selection: &[RelPath]) -> HashSet<&'a [u8]> {
    let comes = |change: &&Change| change.after.is_some() && is_selected(&change.path, selection);
    let chosen = all.iter().filter(|_| !selection.is_empty()).filter(comes);
    chosen.flat_map(|change| change.path.ancestors()).collect()
}

/// A directory above something selected that has to be made first.
fn is_needed_parent(change: &Change, needed: &HashSet<&[u8]>) -> bool {
    let makes_directory = change.before.is_none() && change.after.is_some_and(|node| node.is_directory());
    makes_directory && needed.contains(change.path.as_bytes())
}

/// What stands where a directory has to be and is not selected, so that it stays.
fn in_the_way<'a>(all: &'a [Change], selection: &[RelPath]) -> BTreeMap<&'a [u8], Node> {
    let stays = |change: &&Change| {
        change.after.is_some_and(|node| node.is_directory()) && !is_selected(&change.path, selection)
    };
    let standing = |change: &'a Change| change.before.map(|node| (change.path.as_bytes(), node));
    all.iter().filter(stays).filter_map(standing).filter(|(_, node)| !node.is_directory()).collect()
}

/// Why nothing can be put below a path.
fn blocked(change: &Change, in_the_way: &BTreeMap<&[u8], Node>) -> Option<Obstacle> {
    change.after?;
    let found = change.path.ancestors().find_map(|above| Some((above, in_the_way.get(above)?)));
    found.map(|(above, node)| Obstacle::Leave(no_directory(&quote(above), *node)))
}

/// Why there is no directory at a path.
fn no_directory(path: &dyn std::fmt::Display, node: Node) -> String {
    let kind = if matches!(node, Node::Symlink { .. }) { "a symlink" } else { "a file" };
    format!("`{path}` is {kind} now")
}

fn note_standing(change: &Change, standing: &mut BTreeSet<Vec<u8>>) {
    if change.before.is_some() {
        standing.extend(change.path.ancestors().map(<[u8]>::to_vec));
    }
}

enum Obstacle {
    /// It must not go, and nothing is lost by that.
    Keep(String),
    /// What the target has there cannot be put there without losing what no snapshot holds.
    Leave(String),
}

/// Why a path cannot become what the target has there.
fn obstacle(change: &Change, now: &Capture, unseen: &Blind, standing: &BTreeSet<Vec<u8>>) -> Option<Obstacle> {
    let path = change.path.as_bytes();
    let was_directory = change.before.is_some_and(|node| node.is_directory());
    let occupied = was_directory && (standing.contains(path) || now.blind.touches(path));
    match change.after {
        None => {
            if let Some(reason) = unseen.reason(path) {
                return Some(Obstacle::Keep(format!("not known to be absent then: {reason}")));
            }
            occupied.then(|| Obstacle::Keep("holds files that stay".to_owned()))
        }
        Some(after) if occupied && !after.is_directory() => {
            Some(Obstacle::Leave("is a directory with files in it that no snapshot holds".to_owned()))
        }
        Some(_) if change.before.is_some() => None,
        // The capture looked for every path of the target, ignored or not: what an ignore rule still hides exactly there
        // can only be a directory. Anything else that it did not see may be there.
        Some(after) => match now.blind.reason(path) {
            Some(Reason::Ignored) if now.blind.stands_at(path) && !after.is_directory() => {
                Some(Obstacle::Leave("is an ignored directory".to_owned()))
            }
            Some(Reason::Ignored) | None => None,
            Some(reason) => Some(Obstacle::Leave(reason.to_string())),
        },
    }
}

/// Undoes `steps`, newest first, and keeps everything else.
pub(crate) fn plan_revert(
    source: &Source<'_>,
    now: &Capture,
    steps: &[StepToUndo],
    bounds: Bounds<'_>,
    on_conflict: OnConflict,
) -> Result<Plan> {
    let mut revert = Revert {
        source,
        now,
        on_conflict,
        left_alone: bounds.left,
        current: BTreeMap::new(),
        left: BTreeSet::new(),
        plan: Plan::default(),
    };
    for step in steps {
        let unseen = Blind::load(source.store, step.before_coverage.as_ref())?;
        for change in compare(source, &step.before, &step.after)?.iter().rev() {
            let is_meant = is_selected(&change.path, bounds.selection) && is_selected(&change.path, &step.declared);
            let part = match &step.parts {
                None => Some(&Part::Whole),
                Some(parts) => parts.get(&change.path),
            };
            match part.filter(|_| is_meant) {
                None => {}
                Some(Part::Whole) => revert.undo(change, &unseen, &step.label)?,
                Some(Part::Text(text)) => revert.undo_lines(change, text, &unseen, &step.label)?,
            }
        }
    }
    revert.finish()
}

struct Revert<'a> {
    source: &'a Source<'a>,
    now: &'a Capture,
    on_conflict: OnConflict,
    left_alone: &'a BTreeMap<RelPath, String>,
    /// What each touched path will be.
    current: BTreeMap<RelPath, Option<Node>>,
    /// Paths that one of the steps cannot be undone at: all the steps leave them alone.
    left: BTreeSet<RelPath>,
    plan: Plan,
}

/// What undoing one change comes to.
enum Verdict {
    Becomes(Option<Node>),
    Merges(Node, Vec<u8>),
    Marks(Node, Vec<u8>, String),
    Stays(String),
    Conflicts(String),
}

impl Revert<'_> {
    fn undo(&mut self, change: &Change, unseen: &Blind, label: &str) -> Result<()> {
        let path = &change.path;
        if self.left.contains(path) {
            return Ok(());
        }
        let current = self.stands(path)?;
        let verdict = self.decide(change, current, unseen, label)?;
        let conflict = |reason: String| Conflict {
            path: path.clone(),
            reason,
            step: change.after,
            current,
            wanted: change.before,
        };
        match verdict {
            Verdict::Becomes(node) => drop(self.current.insert(path.clone(), node)),
            Verdict::Merges(node, bytes) => {
                self.plan.blobs.extend(node.blob().map(|id| (id, bytes)));
                self.plan.merged.insert(path.clone());
                self.current.insert(path.clone(), Some(node));
            }
            Verdict::Marks(node, bytes, reason) => {
                self.plan.blobs.extend(node.blob().map(|id| (id, bytes)));
                self.plan.marked.push(conflict(reason));
                self.current.insert(path.clone(), Some(node));
            }
            Verdict::Stays(reason) => self.plan.kept.push((path.clone(), reason)),
            Verdict::Conflicts(reason) => {
                self.plan.conflicts.push(conflict(reason));
                self.leave(path.clone());
            }
        }
        Ok(())
    }

    /// Undoes some lines of a change: what was before it is taken to be what it left, with these lines as they were.
    fn undo_lines(&mut self, change: &Change, text: &[u8], unseen: &Blind, label: &str) -> Result<()> {
        let Change { path, before, after } = change;
        let is_file = |node: &Option<Node>| matches!(node, None | Some(Node::File { .. }));
        let (true, true, Some(Node::File { mode, access, .. })) = (is_file(before), is_file(after), after.or(*before))
        else {
            self.plan.conflicts.push(left(change, "only regular files are taken back line by line".to_owned()));
            self.leave(path.clone());
            return Ok(());
        };
        let id = object_id(ObjectKind::Blob, text)?;
        self.plan.blobs.insert(id, text.to_vec());
        let before = Some(Node::File { mode, id, access });
        self.undo(&Change { before, ..change.clone() }, unseen, label)
    }

    /// Takes back what newer steps were to do at a path that an older one cannot be undone at: half of what several
    /// steps did together is a state that never was.
    fn leave(&mut self, path: RelPath) {
        self.current.remove(&path);
        self.plan.marked.retain(|marked| marked.path != path);
        self.left.insert(path);
    }

    /// What stands at a path once everything decided so far is done.
    fn stands(&self, path: &RelPath) -> Result<Option<Node>> {
        match self.current.get(path) {
            Some(current) => Ok(*current),
            None => Ok(self.source.find(&self.now.tree, path)?.map(|entry| entry.node)),
        }
    }

    fn decide(&self, change: &Change, current: Option<Node>, unseen: &Blind, label: &str) -> Result<Verdict> {
        let path = change.path.as_bytes();
        if current == change.before {
            return Ok(Verdict::Stays("already as it was before the step".to_owned()));
        }
        if let Some(reason) = self.left_alone.get(&change.path) {
            return Ok(Verdict::Conflicts(reason.clone()));
        }
        if change.before.is_none()
            && let Some(reason) = unseen.reason(path)
        {
            return Ok(Verdict::Stays(format!("not known to be absent before the step: {reason}")));
        }
        if current.is_none()
            && let Some(reason) = self.now.blind.reason(path).filter(|reason| *reason != Reason::Ignored)
        {
            return Ok(Verdict::Conflicts(format!("cannot be captured now: {reason}")));
        }
        let wants_file = change.before.is_some_and(|node| !node.is_directory());
        if current.is_none() && wants_file && self.now.blind.stands_at(path) {
            return Ok(Verdict::Conflicts("an ignored directory stands in its place".to_owned()));
        }
        if current == change.after {
            return Ok(self.undo_exactly(change));
        }
        match (change.before, change.after, current) {
            // Directories are only permissions here; whoever changed them last wins.
            (Some(Node::Directory { .. }), _, Some(Node::Directory { .. })) => {
                Ok(Verdict::Stays("its permissions were changed since".to_owned()))
            }
            (None, Some(Node::Directory { .. }), _) => Ok(Verdict::Stays("was changed since".to_owned())),
            (Some(before @ Node::File { .. }), Some(after @ Node::File { .. }), Some(current @ Node::File { .. })) => {
                self.merge(&change.path, before, after, current, label)
            }
            (None, Some(_), Some(_)) => {
                Ok(Verdict::Conflicts("the step created it and it was edited since".to_owned()))
            }
            (Some(_), None, Some(_)) => {
                Ok(Verdict::Conflicts("the step deleted it and it was created again since".to_owned()))
            }
            (_, Some(_), None) => Ok(Verdict::Conflicts("it was deleted since".to_owned())),
            _ => Ok(Verdict::Conflicts("it became something else since".to_owned())),
        }
    }

    /// The path is just as the step left it, so it can go back, unless it is a directory that others now use.
    fn undo_exactly(&self, change: &Change) -> Verdict {
        let leaves_directory = change.after.is_some_and(|node| node.is_directory())
            && !change.before.is_some_and(|node| node.is_directory());
        if !leaves_directory {
            return Verdict::Becomes(change.before);
        }
        match (self.is_emptied(&change.path), change.before) {
            (Ok(true), before) => Verdict::Becomes(before),
            (_, None) => Verdict::Stays("holds files that stay".to_owned()),
            (_, Some(_)) => Verdict::Conflicts("a directory with other files stands in its place".to_owned()),
        }
    }

    /// Whether everything in the directory goes. Children are undone before their parents, so they are decided.
    fn is_emptied(&self, directory: &RelPath) -> Result<bool> {
        if self.now.blind.touches(directory.as_bytes()) {
            return Ok(false);
        }
        let Some(entry) = self.source.find(&self.now.tree, directory)? else { return Ok(true) };
        for child in self.source.entries(&entry.contents)? {
            let path = RelPath::new(join(directory.as_bytes(), &child.name))?;
            if self.current.get(&path) != Some(&None) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Base: what the step left. Ours: what is there now. Theirs: what was there before the step.
    fn merge(&self, path: &RelPath, before: Node, after: Node, current: Node, label: &str) -> Result<Verdict> {
        let (
            Node::File { mode: before_mode, id: before_id, access: before_access },
            Node::File { mode: after_mode, id: after_id, .. },
        ) = (before, after)
        else {
            return Ok(Verdict::Conflicts("it became something else since".to_owned()));
        };
        let Node::File { mode: current_mode, id: current_id, access: current_access } = current else {
            return Ok(Verdict::Conflicts("it became something else since".to_owned()));
        };
        let is_kept = current_mode != after_mode;
        let (mode, access) = if is_kept { (current_mode, current_access) } else { (before_mode, before_access) };
        if current_id == after_id {
            return Ok(Verdict::Becomes(Some(Node::File { mode, id: before_id, access })));
        }
        if before_id == after_id || current_id == before_id {
            return Ok(Verdict::Becomes(Some(Node::File { mode, id: current_id, access })));
        }
        let (base, ours, theirs) =
            (self.content(path, &after_id)?, self.content(path, &current_id)?, self.content(path, &before_id)?);
        let file =
            |bytes: &[u8]| -> Result<Node> { Ok(Node::File { mode, id: object_id(ObjectKind::Blob, bytes)?, access }) };
        Ok(match backsight_diff::merge(&base, &ours, &theirs, &Labels { ours: "now", theirs: label }) {
            Merge::Clean(bytes) => Verdict::Merges(file(&bytes)?, bytes),
            Merge::Conflict { text, conflicts } if self.on_conflict == OnConflict::Mark => {
                let reason =
                    format!("{conflicts} overlapping edit{} marked in the file", if conflicts == 1 { "" } else { "s" });
                Verdict::Marks(file(&text)?, text, reason)
            }
            Merge::Conflict { conflicts, .. } => Verdict::Conflicts(format!(
                "{conflicts} later edit{} overlap{} the step",
                if conflicts == 1 { "" } else { "s" },
                if conflicts == 1 { "s" } else { "" }
            )),
            Merge::Binary => Verdict::Conflicts("it is binary and was changed since".to_owned()),
        })
    }

    fn content(&self, path: &RelPath, id: &ObjectId) -> Result<Vec<u8>> {
        match self.plan.blobs.get(id) {
            Some(bytes) => Ok(bytes.clone()),
            None => self.source.content(path, id),
        }
    }

    fn finish(mut self) -> Result<Plan> {
        self.keep_above_left()?;
        self.add_missing_parents()?;
        for (path, after) in std::mem::take(&mut self.current) {
            let before = self.source.find(&self.now.tree, &path)?.map(|entry| entry.node);
            if before != after {
                self.plan.changes.push(Change { path, before, after });
            }
        }
        let changed: BTreeSet<&RelPath> = self.plan.changes.iter().map(|change| &change.path).collect();
        self.plan.kept.retain(|(path, _)| !changed.contains(path));
        self.plan.kept.sort();
        self.plan.kept.dedup();
        self.plan.merged.retain(|path| changed.contains(path));
        let needed: HashSet<ObjectId> =
            self.plan.changes.iter().filter_map(|change| change.after.and_then(|node| node.blob())).collect();
        self.plan.blobs.retain(|id, _| needed.contains(id));
        self.plan.conflicts.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(self.plan)
    }

    /// A directory above something that is left as it is stays too, though a newer step was to take it away.
    fn keep_above_left(&mut self) -> Result<()> {
        let standing = self.left.iter().filter(|path| matches!(self.source.find(&self.now.tree, path), Ok(Some(_))));
        let above: BTreeSet<&[u8]> = standing.flat_map(|path| path.ancestors()).collect();
        for parent in above.into_iter().map(RelPath::new).collect::<Result<Vec<_>>>()? {
            if self.current.get(&parent).is_some_and(|node| !node.is_some_and(|node| node.is_directory())) {
                self.current.remove(&parent);
                self.plan.kept.push((parent, "holds files that stay".to_owned()));
            }
        }
        Ok(())
    }

    /// A file that comes back needs the directories above it, which someone may have removed since.
    fn add_missing_parents(&mut self) -> Result<()> {
        let returning: Vec<RelPath> =
            self.current.iter().filter(|(_, node)| node.is_some()).map(|(path, _)| path.clone()).collect();
        for path in returning {
            for parent in path.ancestors() {
                let parent = RelPath::new(parent)?;
                match self.stands(&parent)? {
                    Some(Node::Directory { .. }) => break,
                    None => drop(
                        self.current.insert(parent, Some(Node::Directory { mode: 0o755, access: Access::default() })),
                    ),
                    Some(node) => {
                        self.current.remove(&path);
                        let reason = no_directory(&parent, node);
                        self.plan.conflicts.push(Conflict {
                            path: path.clone(),
                            reason,
                            step: None,
                            current: None,
                            wanted: None,
                        });
                        break;
                    }
                }
            }
        }
        Ok(())
    }
}
