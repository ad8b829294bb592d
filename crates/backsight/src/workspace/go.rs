//! Going back and forth: restore takes the tree *to* a state; revert, undo and redo take *steps* back and keep the
//! rest. All of them plan first, keep what they displace, and are steps themselves.

use std::collections::{BTreeMap, BTreeSet};

use backsight_core::{Advice, Code, Coverage, Error, NextStep, RelPath, Result, Seq};
use backsight_files::{Bounds, Capture, Change, Node, Part, Plan, StepToUndo};

use super::look::plain_change;
use super::milestone::as_wholes;
use super::track::touched;
use super::writing::Writing;
use super::{Opened, Workspace, doubt, shared, still_held};
use crate::adopt::last_adopted;
use crate::convert::{conflict, path_changes};
use crate::history::{Move, stacks};
use crate::names;
use crate::plan_token::{Agreement, PlanToken};
use crate::reference::{self, Reference};
use crate::report::{Applied, Conflict, Kept, Kind, OnConflict, Origin};
use crate::request;
use crate::settings::Progress;
use crate::timeline::{NewStep, SessionMark, Shared, Step, StepDetails};

/// How often a plan is made anew because a file was edited while it was carried out.
const ATTEMPTS: usize = 3;
/// As often a file is found to be edited before it is left alone, where the caller allows that.
const PATIENCE: usize = 2;
/// So many files are left alone before it is given up: each costs an attempt or two.
const MOST_BUSY: usize = 30;

/// How the caller wants it done.
#[derive(Clone, Copy)]
pub(super) struct Terms<'a> {
    pub(super) on_conflict: OnConflict,
    pub(super) dry_run: bool,
    /// Only this plan is carried out.
    pub(super) agreed: Option<&'a PlanToken>,
    pub(super) origin: &'a Origin,
}

impl<'a> Terms<'a> {
    pub(super) fn of(request: &'a request::Revert) -> Terms<'a> {
        Terms {
            on_conflict: request.on_conflict,
            dry_run: request.dry_run,
            agreed: request.plan.as_ref(),
            origin: &request.origin,
        }
    }
}

/// What is to be done, before it is known how.
pub(super) struct Intent<'a> {
    pub(super) kind: Kind,
    pub(super) description: String,
    pub(super) targets: Vec<Seq>,
    pub(super) leaving: Vec<Seq>,
    pub(super) terms: Terms<'a>,
    /// Paths that may be written, which a capture must look at even where rules ignore them.
    pub(super) include: BTreeSet<Vec<u8>>,
    /// Only these paths are looked at; empty means all.
    pub(super) selection: &'a [RelPath],
    /// Which lines of the targets are meant, or what instead of whole targets; empty means all of them.
    pub(super) part: String,
    /// Steps that are taken back and may hold something of others' tool calls.
    pub(super) shared: Vec<(Seq, Shared)>,
    /// Paths that may hold the work of others than the steps that are taken back, and whose.
    pub(super) doubtful: BTreeMap<RelPath, String>,
    /// What the row is to the session it acts on.
    pub(super) session: Option<SessionMark>,
}

/// One step on the way.
pub(super) enum Leg {
    /// It is taken back.
    Back(Step),
    /// It is done once more.
    Again(Step),
}

/// Steps to be taken back, and how.
pub(super) struct TakeBack<'a> {
    pub(super) kind: Kind,
    pub(super) description: String,
    /// The rows that the new one is about.
    pub(super) targets: Vec<Seq>,
    /// Steps of these that stay taken back.
    pub(super) leaving: Vec<Seq>,
    /// In this order.
    pub(super) legs: Vec<Leg>,
    pub(super) paths: &'a [RelPath],
    pub(super) only: Only,
    pub(super) terms: Terms<'a>,
    pub(super) session: Option<SessionMark>,
}

/// How much of steps is taken back; nothing said means all.
#[derive(Default)]
pub(super) struct Only {
    /// Of each step, path by path.
    pub(super) parts: BTreeMap<Seq, BTreeMap<RelPath, Part>>,
    /// The same in words.
    pub(super) words: String,
}

/// Makes the plan for the files as they are, without the paths that are left alone.
pub(super) type MakePlan<'a> = &'a dyn Fn(&Capture, &BTreeMap<RelPath, String>) -> Result<Plan>;

/// Why a path is left alone that was edited whenever it was to be put in place.
const BUSY: &str = "another program keeps writing to it";

/// Why a file is left alone that no other can take the place of: it is itself a mount point.
const MOUNTED: &str = "something is mounted there";

/// Why a file is left alone that the file system lets nobody change.
const PROTECTED: &str = "it is immutable or can only be appended to";
/// Why a path is left alone in a directory that this user cannot write to.
const UNWRITABLE: &str = "its directory cannot be written to";

/// Whether a plan is carried out or only made.
pub(super) enum Under<'w> {
    /// A dry run.
    Look(&'w Opened),
    /// With the workspace lock.
    Write(Box<Writing<'w>>),
}

impl<'w> Under<'w> {
    /// What both can read.
    pub(super) fn opened(&self) -> &'w Opened {
        match self {
            Under::Look(opened) => opened,
            Under::Write(writing) => writing.opened,
        }
    }
}

/// Looks at a plan before it is carried out.
pub(super) type Observe<'a> = &'a dyn Fn(&Capture, &Plan) -> Result<()>;

impl Workspace {
    /// Takes the whole tree to what it was in a snapshot: files made later go, after they are stored.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let workspace = backsight::Workspace::open(directory.path())?;
    /// std::fs::write(directory.path().join("a.txt"), "one\n")?;
    /// let first = workspace.track()?;
    /// std::fs::write(directory.path().join("b.txt"), "made later\n")?;
    /// workspace.restore(first.snapshot.id.as_str())?;
    /// assert!(!directory.path().join("b.txt").exists());
    /// workspace.undo(&Default::default())?;
    /// assert!(directory.path().join("b.txt").exists());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn restore(&self, reference: &str) -> Result<Applied> {
        self.restore_with(&request::Restore { reference: reference.to_owned(), ..Default::default() })
    }

    /// Takes the tree, or some paths of it, to what it was in a snapshot.
    pub fn restore_with(&self, request: &request::Restore) -> Result<Applied> {
        names::check_origin(&request.origin)?;
        let under = self.under(request.dry_run)?;
        let opened = under.opened();
        let target = self.resolve(opened, &request.reference)?;
        let seq = target.snapshot.sequence_number;
        let latest = opened.timeline.latest()?.map_or(target.tree, |latest| latest.tree);
        let intent = Intent {
            kind: Kind::Restore,
            description: describe(&format!("restore {seq}"), &request.paths),
            targets: vec![seq],
            leaving: Vec::new(),
            terms: Terms {
                on_conflict: request.on_conflict,
                dry_run: request.dry_run,
                agreed: request.plan.as_ref(),
                origin: &request.origin,
            },
            include: opened.files.paths_in(&opened.files.compare(&latest, &target.tree)?, &request.paths),
            selection: &request.paths,
            part: String::new(),
            shared: Vec::new(),
            doubtful: BTreeMap::new(),
            session: None,
        };
        self.carry_out(&under, &intent, &|now, left| {
            check_selection(opened, now, &target, &request.paths)?;
            let bounds = Bounds { selection: &request.paths, left };
            opened.files.plan_restore(now, &target.tree, target.coverage_id.as_ref(), bounds)
        })
    }

    /// Undoes steps and keeps everything else, later edits of the same files included where they do not overlap.
    pub fn revert_steps(&self, request: &request::Revert) -> Result<Applied> {
        names::check_origin(&request.origin)?;
        let under = self.under(request.dry_run)?;
        let opened = under.opened();
        if let Some((from, to)) = self.as_range(opened, &request.references)? {
            return self.revert_range(&under, from, to, request);
        }
        let (mut steps, mut stays): (Vec<Step>, Vec<Step>) = (Vec::new(), Vec::new());
        for reference in &request.references {
            let named = self.resolve_all(opened, reference)?;
            match request.with_others {
                true => steps.extend(named),
                false => {
                    let (own, of_others) = told_apart(reference, named)?;
                    steps.extend(own);
                    stays.extend(of_others);
                }
            }
        }
        let mut applied = match request.hunks.is_empty() {
            true => self.undo_steps(&under, Kind::Revert, steps, &request.paths, Terms::of(request))?,
            false => self.revert_hunks(&under, steps, request)?,
        };
        applied.warnings.extend(stays_as_it_is(stays));
        Ok(applied)
    }

    /// Takes back the newest steps that are in effect.
    pub fn undo(&self, request: &request::Undo) -> Result<Applied> {
        names::check_origin(&request.origin)?;
        let under = self.under(request.dry_run)?;
        let opened = under.opened();
        let available = stacks(&opened.timeline.outlines()?).undoable;
        check_count(available.len(), request.count, "undo")?;
        let steps = available.into_iter().take(request.count).map(|seq| step_at(opened, seq));
        self.undo_steps(&under, Kind::Undo, steps.collect::<Result<_>>()?, &[], terms_of(request))
    }

    /// Brings back the steps that were taken back last.
    pub fn redo(&self, request: &request::Undo) -> Result<Applied> {
        names::check_origin(&request.origin)?;
        let under = self.under(request.dry_run)?;
        let opened = under.opened();
        let available = stacks(&opened.timeline.outlines()?);
        check_count(available.redoable_steps(), request.count, "redo")?;
        let redo = available.redo(request.count);
        let legs = redo.moves.iter().map(|one| match one {
            Move::Back(seq) => step_at(opened, *seq).map(Leg::Back),
            Move::Again(seq) => step_at(opened, *seq).map(Leg::Again),
        });
        let numbers = redo.moves.iter().map(|(Move::Back(seq) | Move::Again(seq))| seq.to_string());
        let description = format!("redo {}", numbers.collect::<Vec<_>>().join(", "));
        let take = TakeBack {
            kind: Kind::Redo,
            description,
            targets: redo.targets,
            leaving: redo.leaving,
            legs: legs.collect::<Result<_>>()?,
            paths: &[],
            only: Only::default(),
            terms: terms_of(request),
            session: None,
        };
        self.take_back(&under, take, &|_, _| Ok(()))
    }

    fn undo_steps(
        &self,
        under: &Under<'_>,
        kind: Kind,
        steps: Vec<Step>,
        paths: &[RelPath],
        terms: Terms<'_>,
    ) -> Result<Applied> {
        let mut steps = newest_first(steps);
        // The first snapshot is what was there before: undoing it with others means undoing the others.
        if steps.len() > 1 {
            steps.retain(|step| step.base.is_some());
        }
        let targets: Vec<Seq> = steps.iter().map(|step| step.snapshot.sequence_number).collect();
        let numbers: Vec<String> = targets.iter().map(Seq::to_string).collect();
        let take = TakeBack {
            kind,
            description: describe(&format!("{} {}", kind.as_str(), numbers.join(", ")), paths),
            targets,
            leaving: Vec::new(),
            legs: steps.into_iter().map(Leg::Back).collect(),
            paths,
            only: Only::default(),
            terms,
            session: None,
        };
        self.take_back(under, take, &|_, _| Ok(()))
    }

    /// The right to write, taken before it is decided what to go back to: what is newest must still be so when it is
    /// taken back. A dry run only looks.
    pub(super) fn under(&self, dry_run: bool) -> Result<Under<'_>> {
        let opened = self.opened()?;
        if dry_run { Ok(Under::Look(opened)) } else { self.writing().map(|writing| Under::Write(Box::new(writing))) }
    }

    /// Takes steps back, or does them again, and keeps everything else.
    pub(super) fn take_back(&self, under: &Under<'_>, mut take: TakeBack<'_>, observe: Observe<'_>) -> Result<Applied> {
        let opened = under.opened();
        let mut undoable = undoable(opened, take.kind, &take.legs)?;
        for (undo, Leg::Back(step) | Leg::Again(step)) in undoable.iter_mut().zip(&take.legs) {
            undo.parts = take.only.parts.remove(&step.snapshot.sequence_number);
        }
        let mut include = BTreeSet::new();
        for step in &undoable {
            include.extend(opened.files.paths_in(&opened.files.compare(&step.before, &step.after)?, take.paths));
        }
        let intent = Intent {
            kind: take.kind,
            description: take.description,
            targets: take.targets,
            leaving: take.leaving,
            terms: take.terms,
            include,
            selection: take.paths,
            part: take.only.words,
            shared: take.legs.iter().flat_map(shared_by).collect(),
            doubtful: doubtful(opened, &take.legs)?,
            session: take.session,
        };
        let policy = match take.terms.on_conflict {
            OnConflict::Merge => backsight_files::OnConflict::Mark,
            OnConflict::Refuse | OnConflict::Skip => backsight_files::OnConflict::Leave,
        };
        self.carry_out(under, &intent, &|now, left| {
            let bounds = Bounds { selection: take.paths, left };
            let plan = opened.files.plan_revert(now, &undoable, bounds, policy)?;
            observe(now, &plan)?;
            Ok(plan)
        })
    }

    /// Plans against the disk as it is, and unless it is a dry run carries the plan out.
    pub(super) fn carry_out(&self, under: &Under<'_>, intent: &Intent<'_>, plan: MakePlan<'_>) -> Result<Applied> {
        // Whose work it is cannot be told, so the caller decides: the paths are named, and left or taken along as asked.
        let mut left = match intent.terms.on_conflict {
            OnConflict::Refuse | OnConflict::Skip => intent.doubtful.clone(),
            OnConflict::Merge => BTreeMap::new(),
        };
        let writing = match under {
            Under::Write(writing) => writing,
            Under::Look(opened) => {
                let now = self.look_at(opened, &intent.include, true)?;
                let plan = trusted(opened, intent, plan(&now, &left)?)?;
                let token = self.agree(opened, intent, &plan)?;
                refuse_conflicts(intent, &plan)?;
                opened.files.check_plan(&plan)?;
                return Ok(Applied { plan: Some(token), ..report(opened, intent, &plan, &now) });
            }
        };
        let (mut attempts, mut busy) = (0, 0);
        // What programs wrote during attempts that were given up is stored, and told with the answer.
        let mut notes: Vec<String> = Vec::new();
        let mut raced: BTreeMap<Option<RelPath>, usize> = BTreeMap::new();
        loop {
            let error = match writing.carry_out_once(intent, &|now| plan(now, &left)) {
                Err(error) if error.code() == Code::Raced => error,
                Err(error) => {
                    leave_fixed(intent, &error, &mut left).ok_or(error)?;
                    continue;
                }
                other => {
                    return other.map(|mut answer| {
                        answer.warnings.extend(notes);
                        answer
                    });
                }
            };
            notes.extend(serde_json::from_value::<Vec<String>>(error.details()["notes"].clone()).unwrap_or_default());
            let path: Option<RelPath> = serde_json::from_value(error.details()["path"].clone()).ok();
            let times = raced.entry(path.clone()).or_default();
            (attempts, *times) = (attempts + 1, *times + 1);
            // A file that is edited again and again is left alone where the caller allows it, so that the others can be
            // put in place.
            match (intent.terms.on_conflict, path) {
                (OnConflict::Refuse, _) if attempts < ATTEMPTS => {}
                (OnConflict::Refuse, _) => {
                    return Err(error.with_hint("try again").or("leave it as it is", NextStep::WithSkip));
                }
                (OnConflict::Skip | OnConflict::Merge, _) if *times < PATIENCE => {}
                (OnConflict::Skip | OnConflict::Merge, Some(path)) if busy < MOST_BUSY => {
                    busy += 1;
                    left.insert(path, BUSY.to_owned());
                }
                _ => return Err(error),
            }
        }
    }

    /// The plan's token. A plan other than the one that the caller agreed to is refused, with what changed since.
    fn agree(&self, opened: &Opened, intent: &Intent<'_>, plan: &Plan) -> Result<PlanToken> {
        let agreement = agreement(intent, plan, opened.timeline.latest_seq()?);
        if let Some(agreed) = intent.terms.agreed {
            let candidates = intent.include.iter().filter_map(|path| RelPath::new(path.as_slice()).ok()).collect();
            agreement.check(agreed, &candidates, |since| {
                let recorded = opened.timeline.outlines_after(since)?;
                Ok(recorded.into_iter().map(|outline| outline.seq).collect())
            })?;
        }
        Ok(agreement.token())
    }
}

impl Writing<'_> {
    fn carry_out_once(&self, intent: &Intent<'_>, plan: &dyn Fn(&Capture) -> Result<Plan>) -> Result<Applied> {
        let since = self.workspace.settings.now();
        let last = self.latest()?;
        let mut now = self.capture_with(last.as_ref(), &intent.include, true)?;
        let plan = trusted(self.opened, intent, plan(&now)?)?;
        self.workspace.agree(self.opened, intent, &plan)?;
        refuse_conflicts(intent, &plan)?;
        let mut answer = report(self.opened, intent, &plan, &now);
        // An undo of what is gone already still counts, or the steps before it could never be undone.
        let counts = matches!(intent.kind, Kind::Undo | Kind::Redo) || intent.session.is_some();
        if plan.changes.is_empty() && !counts {
            self.save_cache(&mut now)?;
            return Ok(answer);
        }
        self.opened.files.check_plan(&plan)?;
        answer.safety = Some(self.record_safety(&now, &intent.description)?);
        let result = self.opened.files.store_result(&now.tree, &plan)?;
        let renames = self.opened.renames(&plan.changes, Some(&now));
        let mut step = NewStep {
            tree: result,
            targets: intent.targets.clone(),
            files_changed: path_changes(&plan.changes, &renames).len() as u64,
            lines: self.opened.count_lines(&plan.changes, &renames),
            coverage: coverage_after(&now, &plan),
            files: touched(&plan.changes, false),
            details: details(intent, &plan),
            ..self.workspace.new_step(intent.kind, &now, &intent.description, intent.terms.origin)?
        };
        let note = serde_json::to_value(&step)
            .map_err(|error| Error::new(Code::Io, format!("cannot encode the step: {error}")))?;
        let progress = |done, total| self.workspace.settings.report(Progress::Applying { done, total });
        let mut restoration = self.opened.files.apply(&step.id, &plan, note, &progress)?;
        step.execution_ms = Some(self.workspace.elapsed(since));
        let (recorded, notes) = self.record_restoration(&mut restoration, &mut step)?;
        answer.snapshot = Some(recorded.snapshot);
        answer.warnings.extend(notes);
        match self.opened.files.save_cache_after(&mut now, &plan.changes, &result) {
            // All is done; the next capture reads every file again.
            Err(error) if error.code() == Code::DiskFull => answer.warnings.push(error.message().to_owned()),
            other => other?,
        }
        Ok(answer)
    }
}

/// What a plan comes to, so that it can be told from every other.
fn agreement(intent: &Intent<'_>, plan: &Plan, latest: Seq) -> Agreement {
    let mut paths: BTreeMap<RelPath, String> = BTreeMap::new();
    for Change { path, before, after } in &plan.changes {
        paths.entry(path.clone()).or_default().push_str(&format!("{before:?} {after:?}"));
    }
    for conflict in plan.conflicts.iter().chain(&plan.marked) {
        paths.entry(conflict.path.clone()).or_default().push_str(&format!("{conflict:?}"));
    }
    let Intent { kind, targets, leaving, selection, part, .. } = intent;
    Agreement { latest, intent: format!("{kind:?} {targets:?} {leaving:?} {selection:?}{part}"), paths }
}

/// The steps of a milestone or another group, and apart from them those of nobody who worked in it: what was found
/// changed outside is the user's or another program's, and stays. A single step is what it is.
fn told_apart(reference: &str, named: Vec<Step>) -> Result<(Vec<Step>, Vec<Step>)> {
    let is_group = named.len() > 1 || matches!(reference::parse(reference), Ok(Reference::Milestone(_)));
    let (of_others, own): (Vec<Step>, Vec<Step>) =
        named.into_iter().partition(|step| is_group && step.is_of_others() && step.base.is_some());
    if own.is_empty() {
        let message = format!("`{reference}` holds only what was changed outside, which a revert keeps");
        return Err(Error::new(Code::NothingToUndo, message)
            .then("take that back too", NextStep::WithOthers)
            .or_hint("name a step by its number"));
    }
    Ok((own, of_others))
}

/// What the caller is told of the steps that stay.
fn stays_as_it_is(steps: Vec<Step>) -> Option<String> {
    let numbers: Vec<String> =
        newest_first(steps).iter().rev().map(|step| step.snapshot.sequence_number.to_string()).collect();
    (!numbers.is_empty()).then(|| format!("what was changed outside meanwhile stays: {}", numbers.join(", ")))
}

/// What of others' tool calls goes when a step is taken back.
fn shared_by(leg: &Leg) -> Vec<(Seq, Shared)> {
    match leg {
        Leg::Back(step) => step.shared().iter().map(|shared| (step.snapshot.sequence_number, shared.clone())).collect(),
        Leg::Again(_) => Vec::new(),
    }
}

/// Paths of steps that are taken back which may hold the work of others, and whose: of the user, or of a tool call of
/// another session.
fn doubtful(opened: &Opened, legs: &[Leg]) -> Result<BTreeMap<RelPath, String>> {
    let mut doubtful = BTreeMap::new();
    let steps = legs.iter().filter_map(|leg| match leg {
        Leg::Back(step) => Some(step),
        Leg::Again(_) => None,
    });
    for step in steps {
        for (paths, more, why) in doubt::of(step) {
            let whole = match (more, step.before()) {
                (1.., Some(before)) => opened.files.compare(&before, &step.tree)?,
                _ => Vec::new(),
            };
            let paths = paths.iter().cloned().chain(whole.into_iter().map(|change| change.path));
            doubtful.extend(paths.map(|path| (path, why.clone())));
        }
    }
    Ok(doubtful)
}

fn terms_of(request: &request::Undo) -> Terms<'_> {
    Terms {
        on_conflict: request.on_conflict,
        dry_run: request.dry_run,
        agreed: request.plan.as_ref(),
        origin: &request.origin,
    }
}

fn step_at(opened: &Opened, seq: Seq) -> Result<Step> {
    let found = opened.timeline.by_seq(seq)?;
    found.ok_or_else(|| Error::new(Code::Damaged, format!("the row of {seq} is missing from the timeline")))
}

/// Refuses to go no step, or more steps than there are.
fn check_count(available: usize, count: usize, verb: &str) -> Result<()> {
    if count == 0 {
        return Err(Error::new(Code::Usage, format!("{verb} of 0 steps means nothing"))
            .then("say how many", NextStep::WithCount));
    }
    if available >= count {
        return Ok(());
    }
    let message = match available {
        0 => format!("there is nothing to {verb}"),
        1 => format!("there is only 1 step to {verb}, not {count}"),
        some => format!("there are only {some} steps to {verb}, not {count}"),
    };
    Err(Error::new(Code::NothingToUndo, message)
        .then("see what was done", NextStep::SeeHistory { session: None, file: None })
        .with_details(serde_json::json!({ "available": available, "asked": count })))
}

/// Whether the targets are taken back as a whole, which a restore does not do to its target.
fn details(intent: &Intent<'_>, plan: &Plan) -> Option<StepDetails> {
    // A session's revert counts as one whatever it had to skip: its row knows what it did, and is taken back as a row.
    let whole =
        intent.session.is_some() || intent.selection.is_empty() && intent.part.is_empty() && plan.conflicts.is_empty();
    let (leaving, session) = (intent.leaving.clone(), intent.session.clone());
    (intent.kind != Kind::Restore).then_some(StepDetails { whole, leaving, session, ..StepDetails::default() })
}

pub(super) fn newest_first(mut steps: Vec<Step>) -> Vec<Step> {
    steps.sort_by_key(|step| std::cmp::Reverse(step.snapshot.sequence_number));
    steps.dedup_by_key(|step| step.snapshot.sequence_number);
    steps
}

/// The capture saw everything before the plan; the plan says how many files come and go.
fn coverage_after(now: &Capture, plan: &Plan) -> Coverage {
    let is_file = |node: Option<Node>| u64::from(node.is_some_and(|node| !node.is_directory()));
    let come: u64 = plan.changes.iter().map(|change| is_file(change.after)).sum();
    let go: u64 = plan.changes.iter().map(|change| is_file(change.before)).sum();
    Coverage { files: (now.coverage.files + come).saturating_sub(go), ..now.coverage.clone() }
}

pub(super) fn describe(what: &str, paths: &[RelPath]) -> String {
    match paths {
        [] => what.to_owned(),
        [one] => format!("{what} -- {one}"),
        [first, rest @ ..] => format!("{what} -- {first} and {} more", rest.len()),
    }
}

/// A path that is in neither state is a mistake worth hearing about.
fn check_selection(opened: &Opened, now: &Capture, target: &Step, paths: &[RelPath]) -> Result<()> {
    for path in paths {
        let known = opened.files.find(&target.tree, None, path)?.is_some()
            || opened.files.find(&now.tree, Some(now), path)?.is_some();
        if !known {
            let seq = target.snapshot.sequence_number;
            return Err(Error::new(Code::PathNotFound, format!("`{path}` is neither in {seq} nor on disk"))
                .then("list its files", NextStep::ListFiles { reference: seq.0.to_string() }));
        }
    }
    Ok(())
}

/// What takes the steps back, or does them again, newest first.
fn undoable(opened: &Opened, kind: Kind, legs: &[Leg]) -> Result<Vec<StepToUndo>> {
    let back = |leg: &Leg| match leg {
        Leg::Back(step) => Some(step.clone()),
        Leg::Again(_) => None,
    };
    let steps: Option<Vec<Step>> = legs.iter().map(back).collect();
    let is_expired = |step: &Step| step.snapshot.expired_at.is_some();
    let Some(steps) = steps.filter(|steps| steps.iter().any(is_expired)) else {
        return legs.iter().map(|leg| step_to_undo(kind, leg)).collect();
    };
    let mut wholes = as_wholes(opened, &steps)?.into_iter().peekable();
    let mut undoable = Vec::new();
    let mut rest = legs;
    while let [leg @ (Leg::Back(step) | Leg::Again(step)), later @ ..] = rest {
        let seq = step.snapshot.sequence_number;
        rest = match wholes.next_if(|whole| whole.end == seq) {
            Some(whole) => {
                undoable.push(whole.undo);
                let is_before =
                    |(Leg::Back(step) | Leg::Again(step)): &Leg| step.snapshot.sequence_number < whole.start;
                let outside = later.iter().position(is_before);
                &later[outside.unwrap_or(later.len())..]
            }
            None => {
                undoable.push(step_to_undo(kind, leg)?);
                later
            }
        };
    }
    Ok(undoable)
}

fn step_to_undo(kind: Kind, leg: &Leg) -> Result<StepToUndo> {
    let (Leg::Back(step) | Leg::Again(step)) = leg;
    still_held(step)?;
    let seq = step.snapshot.sequence_number;
    let before = step.before().ok_or_else(|| {
        Error::new(Code::NothingToUndo, format!("{seq} is the first snapshot: there is nothing before it"))
            .then("go to a state", NextStep::RestoreState)
    })?;
    // A redo takes an undo back whole; what a tool declared limits only its own step.
    let is_whole = kind == Kind::Redo && matches!(leg, Leg::Back(_));
    let declared = if is_whole { Vec::new() } else { step.limit().to_vec() };
    Ok(match leg {
        Leg::Back(step) => StepToUndo {
            before,
            before_coverage: step.base_coverage_id,
            after: step.tree,
            declared,
            label: format!("before {seq}"),
            parts: None,
        },
        Leg::Again(step) => StepToUndo {
            before: step.tree,
            before_coverage: step.coverage_id,
            after: before,
            declared,
            label: format!("after {seq}"),
            parts: None,
        },
    })
}

/// Set-user-ID, set-group-ID, and writable for everybody.
const GIVES_AWAY: u16 = 0o6002;

/// A plan without permissions that only a stranger's history would give: an adopted snapshot may say what it likes about
/// contents, which are looked at, but not who may run or change them.
fn trusted(opened: &Opened, intent: &Intent<'_>, plan: Plan) -> Result<Plan> {
    let last = last_adopted(opened.store.directory())?;
    if last == Seq(0) {
        return opened.files.settle(plan);
    }
    let adopted = opened.timeline.latest_snapshot_at(last)?;
    let is_adopted = |change: &Change| {
        // The steps that came next began with what was adopted.
        let then = adopted.as_ref().map(|adopted| opened.files.find(&adopted.tree, None, &change.path));
        intent.targets.iter().any(|target| *target <= last) || !matches!(then, Some(Ok(node)) if node != change.after)
    };
    opened.files.settle(plan.withhold(GIVES_AWAY, &is_adopted))
}

fn refuse_conflicts(intent: &Intent<'_>, plan: &Plan) -> Result<()> {
    match plan.conflicts.is_empty() || intent.terms.on_conflict != OnConflict::Refuse {
        true => Ok(()),
        false if intent.kind == Kind::Restore => Err(not_covered(&plan.conflicts)),
        false => Err(conflicting(intent, &plan.conflicts)),
    }
}

/// Leaves files alone that no other can take the place of, where the caller allows it; nothing when `error` is about another
/// thing.
fn leave_fixed(intent: &Intent<'_>, error: &Error, left: &mut BTreeMap<RelPath, String>) -> Option<()> {
    let mounted = serde_json::from_value(error.details()["mounted"].clone()).map(|path| (vec![path], MOUNTED));
    let named = |name: &str, why| serde_json::from_value(error.details()[name].clone()).map(|paths| (paths, why));
    let fixed = mounted.or_else(|_| named("protected", PROTECTED)).or_else(|_| named("unwritable", UNWRITABLE));
    let (paths, why): (Vec<RelPath>, &str) = fixed.ok()?;
    let is_new = paths.iter().any(|path| !left.contains_key(path));
    (is_new && intent.terms.on_conflict != OnConflict::Refuse)
        .then(|| left.extend(paths.into_iter().map(|path| (path, why.to_owned()))))
}

/// A restore displaces only what a snapshot holds.
fn not_covered(left: &[backsight_files::Conflict]) -> Error {
    let named: Vec<String> =
        left.iter().take(5).map(|conflict| format!("`{}` ({})", conflict.path, conflict.reason)).collect();
    let more = if left.len() > 5 { format!(" and {} more", left.len() - 5) } else { String::new() };
    let details: Vec<_> =
        left.iter().map(|conflict| serde_json::json!({ "path": conflict.path, "reason": conflict.reason })).collect();
    let named = named.join(", ");
    Error::new(Code::NotCovered, format!("what is on disk at {named}{more} is in no snapshot and would be lost"))
        .then("leave these as they are", NextStep::WithSkip)
        .or_hint("move them away, or make them readable, so that they can be captured first")
        .or("allow larger files", NextStep::configure("max_file_size", "1GB"))
        .with_details(serde_json::json!({ "paths": details }))
}

fn conflicting(intent: &Intent<'_>, left: &[backsight_files::Conflict]) -> Error {
    let conflicts: Vec<Conflict> = left.iter().map(conflict).collect();
    let paths: BTreeSet<&RelPath> = conflicts.iter().map(|conflict| &conflict.path).collect();
    let (doubtful, changed): (Vec<&RelPath>, Vec<&RelPath>) =
        paths.into_iter().partition(|path| intent.doubtful.contains_key(*path));
    let changed = match changed.len() {
        0 => None,
        1 => Some("1 path was changed since in a way that conflicts".to_owned()),
        many => Some(format!("{many} paths were changed since in ways that conflict")),
    };
    let doubtful = match doubtful.len() {
        0 => None,
        1 => Some("1 path may hold another's work".to_owned()),
        many => Some(format!("{many} paths may hold another's work")),
    };
    let (skip, merge) = (NextStep::WithSkip, NextStep::WithMerge);
    let advice = match doubtful {
        None => vec![Advice::step("leave these out", skip), Advice::step("merge and mark what overlaps", merge)],
        Some(_) => vec![
            Advice::step("look at them", NextStep::ShowChanges),
            Advice::step("leave them as they are", skip),
            Advice::step("take them back, merging and marking what overlaps,", merge),
        ],
    };
    let what: Vec<String> = changed.into_iter().chain(doubtful).collect();
    Error::new(Code::Conflict, format!("{}; nothing was changed", what.join(", and ")))
        .with_advice(advice)
        .with_details(serde_json::json!({ "conflicts": conflicts }))
}

/// One sentence for all files whose group gets less than the bits in the snapshot say: there may be thousands.
fn narrowed(paths: &[RelPath]) -> Option<String> {
    let (path, more) = paths.split_first()?;
    let others = match more.len() {
        0 => String::new(),
        count => format!(" (and {count} more)"),
    };
    Some(format!(
        "`{path}`{others} gets fewer permissions than it had: whom they were for is not known, or it is others now; give \
         them with `chmod`"
    ))
}

fn report(opened: &Opened, intent: &Intent<'_>, plan: &Plan, now: &Capture) -> Applied {
    let marked: BTreeSet<&RelPath> = plan.marked.iter().map(|conflict| &conflict.path).collect();
    let (merged, rest): (Vec<&Change>, Vec<&Change>) =
        plan.changes.iter().partition(|change| plan.merged.contains(&change.path));
    let reverted: Vec<Change> = rest.into_iter().filter(|change| !marked.contains(&change.path)).cloned().collect();
    let linked = opened
        .files
        .hard_links(plan)
        .into_iter()
        .map(|path| format!("`{path}` shares its content with other names by a hard link; only this name changes"));
    let withheld = plan
        .withheld
        .iter()
        .map(|path| format!("`{path}` does not get the set-ID or world-write bits that it has in the adopted history"));
    let narrowed = narrowed(&plan.narrowed);
    let shared = intent.shared.iter().filter_map(|(seq, shared)| shared::taken_along(*seq, shared, &plan.changes));
    Applied {
        dry_run: intent.terms.dry_run,
        changed: !plan.changes.is_empty(),
        snapshot: None,
        safety: None,
        targets: intent.targets.clone(),
        reverted: path_changes(&reverted, &opened.renames(&reverted, Some(now))),
        merged: merged.into_iter().filter(|change| !marked.contains(&change.path)).map(plain_change).collect(),
        kept: plan.kept.iter().map(|(path, reason)| Kept { path: path.clone(), reason: reason.clone() }).collect(),
        skipped: plan.conflicts.iter().map(conflict).collect(),
        conflicts: plan.marked.iter().map(conflict).collect(),
        warnings: linked.chain(withheld).chain(narrowed).chain(shared).collect(),
        plan: None,
    }
}
