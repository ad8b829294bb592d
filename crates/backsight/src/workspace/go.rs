//! Going back and forth: restore takes the tree *to* a state; revert, undo and redo take *steps* back and keep the
//! rest. All of them plan first, keep what they displace, and are steps themselves.

use std::collections::BTreeSet;

use backsight_core::{Code, Coverage, Error, RelPath, Result, Seq};
use backsight_files::{Capture, Change, Node, Plan, StepToUndo, WorkspaceLock};
use sha2::{Digest, Sha256};

use super::look::plain_change;
use super::milestone::as_wholes;
use super::track::touched;
use super::{Opened, Workspace, still_held};
use crate::convert::{conflict, path_changes};
use crate::history::stacks;
use crate::names;
use crate::report::{Applied, Conflict, Kept, Kind, OnConflict, Origin};
use crate::request;
use crate::settings::Progress;
use crate::timeline::{NewStep, SessionMark, Step, StepDetails};

/// How often a plan is made anew because somebody edited a file while it was carried out.
const ATTEMPTS: usize = 3;

/// What is to be done, before it is known how.
struct Intent<'a> {
    kind: Kind,
    description: String,
    targets: Vec<Seq>,
    origin: &'a Origin,
    dry_run: bool,
    on_conflict: OnConflict,
    /// Paths that may be written, which a capture must look at even where rules ignore them.
    include: BTreeSet<Vec<u8>>,
    /// Only some paths are looked at.
    is_partial: bool,
    /// What the row is to the session it acts on.
    session: Option<SessionMark>,
}

/// Steps to be taken back, and how.
pub(super) struct TakeBack<'a> {
    pub(super) kind: Kind,
    pub(super) description: String,
    pub(super) steps: Vec<Step>,
    pub(super) paths: &'a [RelPath],
    pub(super) on_conflict: OnConflict,
    pub(super) dry_run: bool,
    pub(super) origin: &'a Origin,
    pub(super) session: Option<SessionMark>,
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

    /// Seed 002's `revert`: puts `files` back to what they were in a snapshot. To undo a *step*, see `revert_steps`.
    pub fn revert(&self, hash: &str, files: &[RelPath]) -> Result<Applied> {
        if files.is_empty() {
            return Err(Error::new(Code::Usage, "no files to revert were named")
                .with_hint("use `restore` to take back everything"));
        }
        self.restore_with(&request::Restore { reference: hash.to_owned(), paths: files.to_vec(), ..Default::default() })
    }

    /// Takes the tree, or some paths of it, to what it was in a snapshot.
    pub fn restore_with(&self, request: &request::Restore) -> Result<Applied> {
        names::check_origin(&request.origin)?;
        let opened = self.opened()?;
        let _lock = self.lock_to_go(request.dry_run)?;
        let target = self.resolve(opened, &request.reference)?;
        let seq = target.snapshot.sequence_number;
        let latest = opened.timeline.latest()?.map_or(target.tree, |latest| latest.tree);
        let intent = Intent {
            kind: Kind::Restore,
            description: describe(&format!("restore {seq}"), &request.paths),
            targets: vec![seq],
            origin: &request.origin,
            dry_run: request.dry_run,
            on_conflict: OnConflict::Refuse,
            include: opened.files.paths_in(&opened.files.compare(&latest, &target.tree)?, &request.paths),
            is_partial: !request.paths.is_empty(),
            session: None,
        };
        self.carry_out(opened, &intent, &|now| {
            check_selection(opened, now, &target, &request.paths)?;
            opened.files.plan_restore(now, &target.tree, target.coverage_id.as_ref(), &request.paths)
        })
    }

    /// Undoes steps and keeps everything else, later edits of the same files included where they do not overlap.
    pub fn revert_steps(&self, request: &request::Revert) -> Result<Applied> {
        names::check_origin(&request.origin)?;
        let opened = self.opened()?;
        let _lock = self.lock_to_go(request.dry_run)?;
        let mut steps: Vec<Step> = Vec::new();
        for reference in &request.references {
            steps.extend(self.resolve_all(opened, reference)?);
        }
        self.undo_steps(
            opened,
            Kind::Revert,
            "revert",
            steps,
            &request.paths,
            &request::Undo {
                count: 0,
                on_conflict: request.on_conflict,
                dry_run: request.dry_run,
                origin: request.origin.clone(),
            },
        )
    }

    /// Takes back the newest steps that are in effect.
    pub fn undo(&self, request: &request::Undo) -> Result<Applied> {
        names::check_origin(&request.origin)?;
        let opened = self.opened()?;
        let _lock = self.lock_to_go(request.dry_run)?;
        let available = stacks(&opened.timeline.outlines()?).undoable;
        let steps = self.newest(opened, available, request.count, "step", "undo")?;
        self.undo_steps(opened, Kind::Undo, "undo", steps, &[], request)
    }

    /// Takes back the newest undos.
    pub fn redo(&self, request: &request::Undo) -> Result<Applied> {
        names::check_origin(&request.origin)?;
        let opened = self.opened()?;
        let _lock = self.lock_to_go(request.dry_run)?;
        let available = stacks(&opened.timeline.outlines()?).redoable;
        let steps = self.newest(opened, available, request.count, "undo", "redo")?;
        self.undo_steps(opened, Kind::Redo, "redo", steps, &[], request)
    }

    fn newest(&self, opened: &Opened, available: Vec<Seq>, count: usize, what: &str, verb: &str) -> Result<Vec<Step>> {
        if count == 0 {
            return Err(Error::new(Code::Usage, format!("{verb} of 0 steps means nothing"))
                .with_hint(format!("say how many: `backsight {verb} 1`")));
        }
        if available.len() < count {
            let message = match available.len() {
                0 => format!("there is nothing to {verb}"),
                some => format!(
                    "there {} only {some} {what}{} to take back, not {count}",
                    if some == 1 { "is" } else { "are" },
                    if some == 1 { "" } else { "s" }
                ),
            };
            return Err(Error::new(Code::NothingToUndo, message)
                .with_hint("see what was done with `backsight log`")
                .with_details(serde_json::json!({ "available": available.len(), "asked": count })));
        }
        let steps = available.into_iter().take(count).map(|seq| opened.timeline.by_seq(seq));
        Ok(steps.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
    }

    fn undo_steps(
        &self,
        opened: &Opened,
        kind: Kind,
        what: &str,
        steps: Vec<Step>,
        paths: &[RelPath],
        request: &request::Undo,
    ) -> Result<Applied> {
        let mut steps = newest_first(steps);
        // The first snapshot is what was there before: undoing it with others means undoing the others.
        if steps.len() > 1 {
            steps.retain(|step| step.base.is_some());
        }
        let numbers: Vec<String> = steps.iter().map(|step| step.snapshot.sequence_number.to_string()).collect();
        let take = TakeBack {
            kind,
            description: describe(&format!("{what} {}", numbers.join(", ")), paths),
            steps,
            paths,
            on_conflict: request.on_conflict,
            dry_run: request.dry_run,
            origin: &request.origin,
            session: None,
        };
        self.take_back(opened, take, &|_, _| Ok(()))
    }

    /// The workspace lock, taken before it is decided what to go back to: what is newest must still be so when it is
    /// taken back. A dry run needs none.
    fn lock_to_go(&self, dry_run: bool) -> Result<Option<WorkspaceLock>> {
        if dry_run { Ok(None) } else { self.writing().map(|(_, lock)| Some(lock)) }
    }

    /// Takes steps back, newest first, and keeps everything else. The caller holds the workspace lock.
    pub(super) fn take_back(&self, opened: &Opened, take: TakeBack<'_>, observe: Observe<'_>) -> Result<Applied> {
        let undoable = undoable(opened, take.kind, &take.steps)?;
        let mut include = BTreeSet::new();
        for step in &undoable {
            include.extend(opened.files.paths_in(&opened.files.compare(&step.before, &step.after)?, take.paths));
        }
        let intent = Intent {
            kind: take.kind,
            description: take.description,
            targets: take.steps.iter().map(|step| step.snapshot.sequence_number).collect(),
            origin: take.origin,
            dry_run: take.dry_run,
            on_conflict: take.on_conflict,
            include,
            is_partial: !take.paths.is_empty(),
            session: take.session,
        };
        let policy = match take.on_conflict {
            OnConflict::Merge => backsight_files::OnConflict::Mark,
            OnConflict::Refuse | OnConflict::Skip => backsight_files::OnConflict::Leave,
        };
        self.carry_out(opened, &intent, &|now| {
            let plan = opened.files.plan_revert(now, &undoable, take.paths, policy)?;
            observe(now, &plan)?;
            Ok(plan)
        })
    }

    /// Plans against the disk as it is, and unless it is a dry run carries the plan out, which needs the workspace lock.
    fn carry_out(
        &self,
        opened: &Opened,
        intent: &Intent<'_>,
        plan: &dyn Fn(&Capture) -> Result<Plan>,
    ) -> Result<Applied> {
        if intent.dry_run {
            let now = self.look_at(opened, &intent.include, true)?;
            let plan = plan(&now)?;
            refuse_conflicts(intent, &plan)?;
            opened.files.check_plan(&plan)?;
            return Ok(report(opened, intent, &plan, &now));
        }
        let mut attempt = 1;
        loop {
            match self.carry_out_once(opened, intent, plan) {
                Err(error) if error.code() == Code::Raced && attempt < ATTEMPTS => attempt += 1,
                other => return other,
            }
        }
    }

    fn carry_out_once(
        &self,
        opened: &Opened,
        intent: &Intent<'_>,
        plan: &dyn Fn(&Capture) -> Result<Plan>,
    ) -> Result<Applied> {
        let since = self.settings.now();
        let last = opened.timeline.latest()?;
        let mut now = self.capture_with(opened, last.as_ref(), &intent.include, true)?;
        let plan = plan(&now)?;
        refuse_conflicts(intent, &plan)?;
        let mut answer = report(opened, intent, &plan, &now);
        // An undo of what is gone already still counts, or the steps before it could never be undone.
        let counts = matches!(intent.kind, Kind::Undo | Kind::Redo) || intent.session.is_some();
        if plan.changes.is_empty() && !counts {
            self.save_cache(opened, &mut now)?;
            return Ok(answer);
        }
        opened.files.check_plan(&plan)?;
        answer.safety = Some(self.record_safety(opened, &now, &intent.description)?);
        let result = opened.files.store_result(&now.tree, &plan)?;
        let renames = opened.renames(&plan.changes, Some(&now));
        let mut step = NewStep {
            tree: result,
            targets: intent.targets.clone(),
            files_changed: path_changes(&plan.changes, &renames).len() as u64,
            lines: opened.count_lines(&plan.changes, &renames),
            coverage: coverage_after(&now, &plan),
            files: touched(&plan.changes, false),
            details: details(intent, &plan),
            ..self.new_step(intent.kind, &now, &intent.description, intent.origin)?
        };
        let note = serde_json::to_value(&step)
            .map_err(|error| Error::new(Code::Io, format!("cannot encode the step: {error}")))?;
        let progress = |done, total| self.settings.report(Progress::Applying { done, total });
        let applied = opened.files.apply(&step.id, &plan, note, &progress)?;
        step.execution_ms = Some(self.elapsed(since));
        let (recorded, warnings) = self.append(opened, &step, None)?;
        opened.files.finish(&applied)?;
        opened.files.save_cache_after(&mut now, &plan.changes, &result)?;
        answer.snapshot = Some(recorded.snapshot);
        answer.warnings.extend(warnings);
        Ok(answer)
    }
}

/// Whether the targets are taken back as a whole, which a restore does not do to its target.
fn details(intent: &Intent<'_>, plan: &Plan) -> Option<StepDetails> {
    // A session's revert counts as one whatever it had to skip: its row knows what it did, and is taken back as a row.
    let whole = intent.session.is_some() || !intent.is_partial && plan.conflicts.is_empty();
    (intent.kind != Kind::Restore).then(|| StepDetails { whole, session: intent.session.clone() })
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

fn describe(what: &str, paths: &[RelPath]) -> String {
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
                .with_hint(format!("list the files of the snapshot with `backsight ls {}`", seq.0)));
        }
    }
    Ok(())
}

/// What takes the steps back, newest first.
fn undoable(opened: &Opened, kind: Kind, steps: &[Step]) -> Result<Vec<StepToUndo>> {
    if steps.iter().all(|step| step.snapshot.expired_at.is_none()) {
        return steps.iter().map(|step| step_to_undo(kind, step)).collect();
    }
    let mut wholes = as_wholes(opened, steps)?.into_iter().peekable();
    let mut undoable = Vec::new();
    let mut rest = steps;
    while let [step, later @ ..] = rest {
        let seq = step.snapshot.sequence_number;
        rest = match wholes.next_if(|whole| whole.end == seq) {
            Some(whole) => {
                undoable.push(whole.undo);
                let outside = later.iter().position(|step| step.snapshot.sequence_number < whole.start);
                &later[outside.unwrap_or(later.len())..]
            }
            None => {
                undoable.push(step_to_undo(kind, step)?);
                later
            }
        };
    }
    Ok(undoable)
}

fn step_to_undo(kind: Kind, step: &Step) -> Result<StepToUndo> {
    still_held(step)?;
    let seq = step.snapshot.sequence_number;
    let before = step.before().ok_or_else(|| {
        Error::new(Code::NothingToUndo, format!("{seq} is the first snapshot: there is nothing before it"))
            .with_hint("go to a state with `backsight restore REF`")
    })?;
    // An undo or redo takes a step back whole; what a tool declared limits only its own step.
    let declared = if kind == Kind::Redo { Vec::new() } else { step.limit().to_vec() };
    Ok(StepToUndo {
        before,
        before_coverage: step.base_coverage_id,
        after: step.tree,
        declared,
        label: format!("before {seq}"),
    })
}

fn refuse_conflicts(intent: &Intent<'_>, plan: &Plan) -> Result<()> {
    if plan.conflicts.is_empty() || intent.on_conflict != OnConflict::Refuse {
        return Ok(());
    }
    let conflicts: Vec<Conflict> = plan.conflicts.iter().map(conflict).collect();
    let paths: BTreeSet<&RelPath> = conflicts.iter().map(|conflict| &conflict.path).collect();
    let what = match paths.len() {
        1 => "1 path was changed since in a way that conflicts".to_owned(),
        many => format!("{many} paths were changed since in ways that conflict"),
    };
    Err(Error::new(Code::Conflict, format!("{what}; nothing was changed"))
        .with_hint(
            "leave these out with `--on-conflict skip`, or merge and mark what overlaps with `--on-conflict merge`",
        )
        .with_details(serde_json::json!({ "conflicts": conflicts })))
}

fn report(opened: &Opened, intent: &Intent<'_>, plan: &Plan, now: &Capture) -> Applied {
    let marked: BTreeSet<&RelPath> = plan.marked.iter().map(|conflict| &conflict.path).collect();
    let (merged, rest): (Vec<&Change>, Vec<&Change>) =
        plan.changes.iter().partition(|change| plan.merged.contains(&change.path));
    let reverted: Vec<Change> = rest.into_iter().filter(|change| !marked.contains(&change.path)).cloned().collect();
    let linked = opened.files.hard_links(plan);
    Applied {
        dry_run: intent.dry_run,
        changed: !plan.changes.is_empty(),
        snapshot: None,
        safety: None,
        targets: intent.targets.clone(),
        reverted: path_changes(&reverted, &opened.renames(&reverted, Some(now))),
        merged: merged.into_iter().filter(|change| !marked.contains(&change.path)).map(plain_change).collect(),
        kept: plan.kept.iter().map(|(path, reason)| Kept { path: path.clone(), reason: reason.clone() }).collect(),
        skipped: plan.conflicts.iter().map(conflict).collect(),
        conflicts: plan.marked.iter().map(conflict).collect(),
        warnings: linked
            .iter()
            .map(|path| format!("`{path}` shares its content with other names by a hard link; only this name changes"))
            .collect(),
        fingerprint: fingerprint(intent, plan),
    }
}

/// Only ever compared with one that the same program made a moment ago, so how it is written may change.
fn fingerprint(intent: &Intent<'_>, plan: &Plan) -> String {
    let Plan { changes, conflicts, marked, .. } = plan;
    let written = format!("{:?} {changes:?} {conflicts:?} {marked:?}", intent.targets);
    Sha256::digest(written).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
