//! Taking back a part: chosen hunks or lines of steps, and what differs between two states. The same three-way merge as
//! for whole steps; only what was before is another text.

use std::collections::{BTreeMap, BTreeSet};

use backsight_core::{Code, Error, NextStep, ObjectId, RelPath, Result, Seq};
use backsight_diff::BinaryFiles;
use backsight_files::{Bounds, Capture, Change, OnConflict as Policy, Part, StepToUndo, Unseen};

use super::diff::{Contents, file_diffs};
use super::go::{Intent, Leg, Only, TakeBack, Terms, Under, newest_first};
use super::{Opened, Workspace, still_held};
use crate::hunks::{HunkChoice, chosen};
use crate::reference::{self, Reference};
use crate::report::{Applied, FileDiff, Kind, OnConflict};
use crate::request;
use crate::timeline::Step;

/// Where a range ends.
pub(super) enum End {
    At(Box<Step>),
    /// The files on disk.
    Now,
}

impl Workspace {
    /// Takes back chosen hunks of steps, which are looked for in all of them.
    pub(super) fn revert_hunks(
        &self,
        under: &Under<'_>,
        steps: Vec<Step>,
        request: &request::Revert,
    ) -> Result<Applied> {
        let opened = under.opened();
        let mut found = vec![0; request.hunks.len()];
        let mut parts = BTreeMap::new();
        let mut legs = Vec::new();
        for step in newest_first(steps) {
            still_held(&step)?;
            let id = step.snapshot.id.as_str();
            let diff = self.step_diff_in(opened, id, false, &request.paths, BinaryFiles::Named)?;
            let taken = chosen(&request.hunks, &diff.diffs, &mut found)?;
            if !taken.is_empty() {
                parts.insert(step.snapshot.sequence_number, taken);
                legs.push(Leg::Back(step));
            }
        }
        let names = request.references.join(", ");
        check_found(&request.hunks, &found, &names, request.references.first().map_or("@", String::as_str))?;
        let targets: Vec<Seq> = legs.iter().map(|(Leg::Back(step) | Leg::Again(step))| seq_of(step)).collect();
        let paths = paths_of(parts.values());
        let numbers: Vec<String> = targets.iter().map(Seq::to_string).collect();
        let take = TakeBack {
            kind: Kind::Revert,
            description: describe(&format!("revert {}", numbers.join(", ")), &request.hunks, &paths),
            targets,
            leaving: Vec::new(),
            legs,
            paths: &paths,
            only: Only { parts, words: spelled(&request.hunks) },
            terms: Terms::of(request),
            session: None,
        };
        self.take_back(under, take, &|_, _| Ok(()))
    }

    /// `A..B` as two states. A milestone that is called so is a milestone.
    pub(super) fn as_range(&self, opened: &Opened, references: &[String]) -> Result<Option<(Step, End)>> {
        let [text] = references else { return Ok(None) };
        let named = ["session:", "message:", "part:", "milestone:"].iter().any(|start| text.starts_with(start));
        let Some((from, to)) = text.split_once("..").filter(|(from, to)| !named && !from.is_empty() && !to.is_empty())
        else {
            return Ok(None);
        };
        if matches!(reference::parse(text), Ok(Reference::Milestone(_))) && self.resolve_all(opened, text).is_ok() {
            return Ok(None);
        }
        let end = match reference::parse(to)? {
            Reference::Now => End::Now,
            _ => End::At(Box::new(self.resolve(opened, to)?)),
        };
        Ok(Some((self.resolve(opened, from)?, end)))
    }

    /// Takes back what differs between two states, or chosen hunks of it, by any writer.
    pub(super) fn revert_range(
        &self,
        under: &Under<'_>,
        from: Step,
        to: End,
        request: &request::Revert,
    ) -> Result<Applied> {
        let opened = under.opened();
        let latest = opened.timeline.latest()?.map_or(from.tree, |latest| latest.tree);
        let (last, after, name) = match &to {
            End::At(step) => (seq_of(step), step.tree, seq_of(step).to_string()),
            End::Now => (Seq(i64::MAX as u64), latest, "now".to_owned()),
        };
        let between = opened.timeline.between(Seq(seq_of(&from).0 + 1), last)?;
        let changed = opened.files.compare(&from.tree, &after)?;
        let words = format!(" {}..{name}{}", seq_of(&from), spelled(&request.hunks));
        let description = match request.hunks.as_slice() {
            [] => super::go::describe(&format!("revert{words}"), &request.paths),
            hunks => describe(&format!("revert {}..{name}", seq_of(&from)), hunks, &[]),
        };
        let intent = Intent {
            kind: Kind::Revert,
            description,
            targets: between.iter().rev().filter(|step| step.base.is_some()).map(seq_of).collect(),
            leaving: Vec::new(),
            terms: Terms::of(request),
            include: opened.files.paths_in(&changed, &request.paths),
            selection: &request.paths,
            part: words,
            shared: Vec::new(),
            doubtful: BTreeMap::new(),
            session: None,
        };
        let policy = match request.on_conflict {
            OnConflict::Merge => Policy::Mark,
            OnConflict::Refuse | OnConflict::Skip => Policy::Leave,
        };
        self.carry_out(under, &intent, &|now, left| {
            let range = Range { opened, from: &from, to: &to, now };
            let undo = StepToUndo {
                before: from.tree,
                before_coverage: from.coverage_id,
                after: range.after(),
                declared: Vec::new(),
                label: format!("before {}", seq_of(&from)),
                parts: Some(range.parts(request)?),
            };
            opened.files.plan_revert(now, &[undo], Bounds { selection: &request.paths, left }, policy)
        })
    }
}

/// Two states, the second as it is now.
struct Range<'a> {
    opened: &'a Opened,
    from: &'a Step,
    to: &'a End,
    now: &'a Capture,
}

impl Range<'_> {
    fn after(&self) -> backsight_files::Tree {
        match self.to {
            End::At(step) => step.tree,
            End::Now => self.now.tree,
        }
    }

    /// What differs and both sides could see.
    fn changes(&self) -> Result<Vec<Change>> {
        let (files, from) = (&self.opened.files, self.from);
        let (changes, unseen) = match self.to {
            End::At(step) => (files.compare(&from.tree, &step.tree)?, Unseen::Stored(step.coverage_id.as_ref())),
            End::Now => (files.compare_with_now(&from.tree, self.now)?, Unseen::Now(self.now)),
        };
        Ok(files.split_unseen(changes, from.coverage_id.as_ref(), &unseen)?.0)
    }

    fn parts(&self, request: &request::Revert) -> Result<BTreeMap<RelPath, Part>> {
        let changes = self.changes()?;
        if request.hunks.is_empty() {
            return Ok(changes.into_iter().map(|change| (change.path, Part::Whole)).collect());
        }
        let mut found = vec![0; request.hunks.len()];
        let parts = chosen(&request.hunks, &self.diffs(&changes)?, &mut found)?;
        let range = request.references.first().map_or("", String::as_str);
        check_found(&request.hunks, &found, range, range)?;
        Ok(parts)
    }

    fn diffs(&self, changes: &[Change]) -> Result<Vec<FileDiff>> {
        let objects = self.opened.files.objects();
        let after = |path: &RelPath, id: &ObjectId| match self.to {
            End::At(_) => objects.read_blob(id),
            End::Now => self.opened.files.content_now(self.now, path, id),
        };
        let contents = Contents { before: &|_, id| objects.read_blob(id), after: &after };
        let now = matches!(self.to, End::Now).then_some(self.now);
        let renames = self.opened.renames(changes, now);
        file_diffs(changes, &renames, &contents, &request::Diff::new("", None))
    }
}

fn seq_of(step: &Step) -> Seq {
    step.snapshot.sequence_number
}

fn paths_of<'a>(parts: impl Iterator<Item = &'a BTreeMap<RelPath, Part>>) -> Vec<RelPath> {
    let paths: BTreeSet<&RelPath> = parts.flat_map(BTreeMap::keys).collect();
    paths.into_iter().cloned().collect()
}

/// The choices as one text.
fn spelled(hunks: &[HunkChoice]) -> String {
    hunks.iter().map(|choice| format!(" {choice}")).collect()
}

/// `revert #12: 2 hunks of src/a.rs`.
fn describe(what: &str, hunks: &[HunkChoice], paths: &[RelPath]) -> String {
    let ids: BTreeSet<_> = hunks.iter().map(|choice| choice.id).collect();
    let is_partial = hunks.iter().any(|choice| !choice.lines.is_empty());
    let count = match (ids.len(), is_partial) {
        (1, false) => "1 hunk".to_owned(),
        (many, false) => format!("{many} hunks"),
        (1, true) => "lines of 1 hunk".to_owned(),
        (many, true) => format!("lines of {many} hunks"),
    };
    match paths {
        [] => format!("{what}: {count}"),
        [one] => format!("{what}: {count} of {one}"),
        [first, rest @ ..] => format!("{what}: {count} of {first} and {} more", rest.len()),
    }
}

/// Every choice must be met exactly once: nothing else than what was seen is taken back.
fn check_found(hunks: &[HunkChoice], found: &[usize], names: &str, reference: &str) -> Result<()> {
    let wrong = hunks.iter().zip(found).find(|(_, times)| **times != 1);
    let Some((choice, times)) = wrong else { return Ok(()) };
    let refused = match times {
        0 => {
            let message = format!("no hunk of {names} is {}; nothing was changed", choice.id);
            let list = NextStep::ListHunks { reference: Some(reference.to_owned()) };
            Error::new(Code::RefNotFound, message).then("list them", list)
        }
        many => {
            let message = format!("{many} hunks of {names} are {}; nothing was changed", choice.id);
            Error::new(Code::RefAmbiguous, message).with_hint("name the one step that is meant, or a path")
        }
    };
    Err(refused.with_details(serde_json::json!({ "hunk": choice.id })))
}
