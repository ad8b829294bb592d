//! Seed 004's milestones: gapless ranges of snapshots with a name. Making one adds a row and rewrites none.

use backsight_core::{Code, Error, NextStep, ObjectId, Result, Seq};
use backsight_files::{StepToUndo, Tree};

use super::diff::joined;
use super::writing::Writing;
use super::{Opened, Workspace};
use crate::milestone::{Place, range_of, range_to, title};
use crate::names;
use crate::reference;
use crate::report::{Event, Kind, Milestone, MilestoneDetail, MilestoneSummary};
use crate::request::{BinaryFiles, NewMilestone};
use crate::timeline::{Lines, NewEvent, Step};

impl Workspace {
    /// Makes a milestone of snapshots named one by one. They must follow each other without a gap and begin where the
    /// last milestone ended.
    pub fn create_milestone(&self, new: &NewMilestone, snapshots: &[String]) -> Result<Milestone> {
        let title = title(&new.title)?;
        names::check_origin(&new.origin)?;
        let writing = self.writing()?;
        let opened = writing.opened;
        let mut named = Vec::with_capacity(snapshots.len());
        for reference in snapshots {
            named.extend(self.resolve_all(opened, reference)?.iter().map(|step| step.snapshot.sequence_number));
        }
        let present = match (named.iter().min(), named.iter().max()) {
            (Some(start), Some(end)) => opened.timeline.between(*start, *end)?,
            _ => Vec::new(),
        };
        let present: Vec<Seq> = present.iter().map(|step| step.snapshot.sequence_number).collect();
        let last = milestones_in(opened)?.into_iter().next();
        let range = range_of(&named, &present, &place(opened, last.as_ref())?)?;
        writing.add_milestone(title, new, range, last)
    }

    /// Makes a milestone of everything from where the last one ended (or the beginning) to `end`, or to the latest
    /// snapshot.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let workspace = backsight::Workspace::open(directory.path())?;
    /// use backsight::request::NewMilestone;
    ///
    /// std::fs::write(directory.path().join("a.txt"), "one\n")?;
    /// workspace.track()?;
    /// std::fs::write(directory.path().join("a.txt"), "two\n")?;
    /// workspace.track()?;
    /// let milestone = workspace.create_milestone_by_range(
    ///     &NewMilestone { title: "Two".to_owned(), ..NewMilestone::default() },
    ///     None,
    /// )?;
    /// assert_eq!(milestone.summary.total_operations, 2);
    /// workspace.restore("Two")?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn create_milestone_by_range(&self, new: &NewMilestone, end: Option<&str>) -> Result<Milestone> {
        let title = title(&new.title)?;
        names::check_origin(&new.origin)?;
        let writing = self.writing()?;
        let opened = writing.opened;
        let end = end.map(|end| self.resolve_row(opened, end)).transpose()?;
        let last = milestones_in(opened)?.into_iter().next();
        let end = end.map(|end| end.snapshot.sequence_number);
        let range = range_to(end, &place(opened, last.as_ref())?)?;
        writing.add_milestone(title, new, range, last)
    }

    fn summary(&self, opened: &Opened, steps: &[Step]) -> Result<MilestoneSummary> {
        let (from, to) = ends(steps)?;
        let lines = match opened.files.compare(&from, &to).map_err(|error| expired_or(error, steps)) {
            Ok(changes) => opened.count_lines(&changes, &opened.renames(&changes, None)),
            Err(error) if error.code() == Code::RefExpired => sum_of_lines(steps),
            Err(error) => return Err(error),
        };
        let touched = opened.timeline.touched_between(seq_of(steps.first()), seq_of(steps.last()))?;
        Ok(MilestoneSummary {
            total_operations: steps.len() as u64,
            affected_files: touched.len() as u64,
            lines_added: lines.map(|lines| lines.added),
            lines_removed: lines.map(|lines| lines.removed),
        })
    }

    /// Every milestone, newest first.
    pub fn milestones(&self) -> Result<Vec<Milestone>> {
        if self.store_path()?.is_none() {
            return Ok(Vec::new());
        }
        milestones_in(self.opened()?)
    }

    /// One milestone, by name, id or number, with its snapshots and, if asked for, its combined diff.
    pub fn milestone(&self, reference: &str, with_diff: bool) -> Result<MilestoneDetail> {
        let opened = self.opened()?;
        let milestone = self.find_milestone(opened, reference, reference)?;
        let steps = opened.timeline.between(milestone.start_sequence_number, milestone.end_sequence_number)?;
        let combined_diff = if with_diff {
            let (from, to) = ends(&steps)?;
            let diffs = self.tree_diff(opened, from, to, BinaryFiles::Named);
            Some(joined(diffs.map_err(|error| expired_or(error, &steps))?))
        } else {
            None
        };
        Ok(MilestoneDetail {
            affected_files: opened
                .timeline
                .touched_between(milestone.start_sequence_number, milestone.end_sequence_number)?,
            snapshot_ids: steps.iter().map(|step| step.snapshot.id.clone()).collect(),
            snapshots: steps.into_iter().map(|step| step.snapshot).collect(),
            combined_diff,
            milestone,
        })
    }

    /// The combined diff of a milestone as a patch that `git apply` takes: in bytes, with the contents of binary files.
    pub fn milestone_patch(&self, reference: &str) -> Result<Vec<u8>> {
        let opened = self.opened()?;
        let milestone = self.find_milestone(opened, reference, reference)?;
        let steps = opened.timeline.between(milestone.start_sequence_number, milestone.end_sequence_number)?;
        let (from, to) = ends(&steps)?;
        let diffs = self.tree_diff(opened, from, to, BinaryFiles::Whole);
        let diffs = diffs.map_err(|error| expired_or(error, &steps))?;
        Ok(diffs.into_iter().flat_map(|diff| diff.unified).collect())
    }

    /// The milestone that answers to `name`: a title, an id or its first digits, or the number of its row.
    pub(super) fn find_milestone(&self, opened: &Opened, text: &str, name: &str) -> Result<Milestone> {
        let name = name.strip_prefix("milestone:").unwrap_or(name);
        let number = name.strip_prefix('#').unwrap_or(name).parse().ok().map(Seq);
        let all = milestones_in(opened)?;
        let by_title: Vec<&Milestone> = all.iter().filter(|milestone| milestone.title == name).collect();
        let by_id = || -> Vec<&Milestone> {
            let is_it = |milestone: &&Milestone| {
                Some(milestone.sequence_number) == number
                    || name.len() >= 4 && milestone.id.as_str().starts_with(&name.to_ascii_lowercase())
            };
            all.iter().filter(is_it).collect()
        };
        let found = if by_title.is_empty() { by_id() } else { by_title };
        match found.as_slice() {
            [one] => Ok((*one).clone()),
            [] => {
                let names: Vec<&str> = all.iter().take(5).map(|milestone| milestone.title.as_str()).collect();
                let known = match names.len() {
                    0 => "there is no milestone yet".to_owned(),
                    _ => format!("the milestones are {}", names.join(", ")),
                };
                let is_short = name.len() < 4 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
                let spelling = if is_short {
                    "an id or tree needs at least 4 digits"
                } else {
                    "it is none of the known spellings"
                };
                Err(reference::unknown(text, &format!("{spelling}, and {known}")))
            }
            several => {
                let ids: Vec<String> = several
                    .iter()
                    .map(|milestone| format!("{} ({})", milestone.sequence_number, milestone.id))
                    .collect();
                Err(Error::new(
                    Code::RefAmbiguous,
                    format!("several milestones answer to `{name}`: {}", ids.join(", ")),
                )
                .with_hint("name it by its id")
                .with_details(serde_json::json!({ "reference": text, "candidates": ids })))
            }
        }
    }

    /// The snapshots of the milestone that a number or the beginning of an id turns out to name; none when none does.
    pub(super) fn steps_by_title(&self, opened: &Opened, text: &str) -> Result<Vec<Step>> {
        match self.steps_of_milestone(opened, text, text) {
            Err(error) if error.code() == Code::RefNotFound => Ok(Vec::new()),
            other => other,
        }
    }

    /// The snapshots of a milestone, newest first.
    pub(super) fn steps_of_milestone(&self, opened: &Opened, text: &str, name: &str) -> Result<Vec<Step>> {
        let milestone = self.find_milestone(opened, text, name)?;
        let mut steps = opened.timeline.between(milestone.start_sequence_number, milestone.end_sequence_number)?;
        steps.reverse();
        Ok(steps)
    }
}

impl Writing<'_> {
    fn add_milestone(
        &self,
        title: String,
        new: &NewMilestone,
        (start, end): (Seq, Seq),
        previous: Option<Milestone>,
    ) -> Result<Milestone> {
        let steps = self.opened.timeline.between(start, end)?;
        check_parents(&steps)?;
        let mut tags: Vec<String> = new.tags.iter().map(|tag| tag.trim().to_owned()).collect();
        tags.retain(|tag| !tag.is_empty());
        tags.dedup();
        let id = self.workspace.new_id()?;
        let timestamp = self.workspace.settings.now();
        let milestone = Milestone {
            id: id.clone(),
            sequence_number: Seq(0),
            timestamp,
            title: title.clone(),
            description: new.description.clone(),
            tags,
            start_sequence_number: start,
            end_sequence_number: end,
            previous_milestone_id: previous.map(|previous| previous.id),
            summary: self.workspace.summary(self.opened, &steps)?,
        };
        let mut details = serde_json::to_value(&milestone)
            .map_err(|error| Error::new(Code::Io, format!("cannot encode the milestone: {error}")))?;
        // Its number is the row's, which is not known before it is written.
        details.as_object_mut().map(|details| details.remove("sequence_number"));
        let event =
            NewEvent { id, kind: Kind::Milestone, timestamp, description: title, origin: new.origin.clone(), details };
        milestone_of(&self.append_event(&event)?)
    }
}

/// Every milestone, newest first.
pub(super) fn milestones_in(opened: &Opened) -> Result<Vec<Milestone>> {
    opened.timeline.events(Kind::Milestone)?.iter().map(milestone_of).collect()
}

/// What the next milestone has to continue.
pub(super) fn place<'a>(opened: &Opened, last: Option<&'a Milestone>) -> Result<Place<'a>> {
    let after = last.map_or(Seq(0), |last| last.end_sequence_number);
    let latest = opened.timeline.latest()?;
    Ok(Place {
        last,
        start: opened.timeline.number_after(after)?,
        latest: latest.map(|step| step.snapshot.sequence_number),
    })
}

pub(super) fn milestone_of(event: &Event) -> Result<Milestone> {
    let milestone: Milestone = serde_json::from_value(event.details.clone()).map_err(|error| {
        Error::new(Code::Damaged, format!("the milestone {} cannot be read: {error}", event.sequence_number))
            .then("check the store", NextStep::VerifyStore)
    })?;
    Ok(Milestone { sequence_number: event.sequence_number, ..milestone })
}

/// The files before and after a range. Before the very first snapshot there is nothing to compare with, so a range
/// that begins there is measured from that snapshot on.
pub(super) fn ends(steps: &[Step]) -> Result<(Tree, Tree)> {
    match (steps.first(), steps.last()) {
        (Some(first), Some(last)) => Ok((beginning(first).0, last.tree)),
        _ => Err(Error::new(Code::InvalidRange, "the range holds no snapshot")
            .then("see what there is", NextStep::SeeHistory { session: None, file: None })),
    }
}

/// The files that a range which starts with this snapshot is compared with, and what could not be seen of them.
pub(super) fn beginning(first: &Step) -> (Tree, Option<ObjectId>) {
    match first.base {
        Some(base) => (base, first.base_coverage_id),
        None => (first.tree, first.coverage_id),
    }
}

/// A milestone that is taken back as one.
pub(super) struct Whole {
    pub(super) start: Seq,
    pub(super) end: Seq,
    pub(super) undo: StepToUndo,
}

/// What takes back the `steps` of whole milestones, newest first, when retention removed what is between their ends:
/// each milestone as one. What a row holds of others is left alone, as far as no step wrote to the same paths.
pub(super) fn as_wholes(opened: &Opened, steps: &[Step]) -> Result<Vec<Whole>> {
    let mut wholes = Vec::new();
    for milestone in milestones_in(opened)? {
        let (start, end) = (milestone.start_sequence_number, milestone.end_sequence_number);
        let is_inside = |step: &&Step| (start..=end).contains(&step.snapshot.sequence_number);
        let inside: Vec<&Step> = steps.iter().filter(is_inside).collect();
        let all = opened.timeline.between(start, end)?;
        let undoable = all.iter().filter(|step| step.base.is_some()).count();
        let own = all.iter().filter(|step| step.base.is_some() && !step.is_of_others()).count();
        let with_others = inside.len() == undoable;
        let is_expired = inside.iter().any(|step| step.snapshot.expired_at.is_some());
        let (Some(first), Some(last)) = (all.first(), all.last()) else { continue };
        if !is_expired || ![undoable, own].contains(&inside.len()) || last.snapshot.expired_at.is_some() {
            continue;
        }
        let (before, before_coverage) = beginning(first);
        let (own, others) = opened.timeline.own_between(start, end, with_others)?;
        if own.is_empty() || !opened.files.objects().contains(&before.id)? {
            continue;
        }
        let declared = if others.is_empty() { Vec::new() } else { own };
        let label = format!("before `{}`", milestone.title);
        let undo = StepToUndo { before, before_coverage, after: last.tree, declared, label, parts: None };
        wholes.push(Whole { start, end, undo });
    }
    Ok(wholes)
}

fn seq_of(step: Option<&Step>) -> Seq {
    step.map_or(Seq(0), |step| step.snapshot.sequence_number)
}

/// What is missing from a range is damage, unless retention removed the contents of one of its ends.
fn expired_or(error: Error, steps: &[Step]) -> Error {
    let ends = [steps.first(), steps.last()].into_iter().flatten();
    let expired = ends.filter(|_| error.code() == Code::Damaged).find_map(|step| super::still_held(step).err());
    expired.unwrap_or(error)
}

/// What the rows themselves say, when the contents of the ends are gone.
fn sum_of_lines(steps: &[Step]) -> Option<Lines> {
    steps.iter().filter(|step| step.base.is_some()).try_fold(Lines { added: 0, removed: 0 }, |sum, step| {
        let (added, removed) = (step.snapshot.lines_added?, step.snapshot.lines_removed?);
        Some(Lines { added: sum.added + added, removed: sum.removed + removed })
    })
}

/// Each snapshot must continue the one before it.
pub(super) fn check_parents(steps: &[Step]) -> Result<()> {
    for pair in steps.windows(2) {
        let [before, after] = pair else { continue };
        let (expected, actual) = (&before.snapshot.id, &after.snapshot.previous_snapshot_id);
        if actual.as_ref() != Some(expected) || after.base.map(|base| base.id) != Some(before.tree.id) {
            let (before, after) = (before.snapshot.sequence_number, after.snapshot.sequence_number);
            return Err(Error::new(
                Code::BrokenParent,
                format!("{after} does not continue {before}: the timeline was altered between them"),
            )
            .then("see everything that is wrong", NextStep::ValidateTimeline)
            .with_details(serde_json::json!({ "at": after, "expected": expected, "actual": actual })));
        }
    }
    Ok(())
}
