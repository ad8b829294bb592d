//! Seed 004's continuity: where the timeline stands, whether it and the disk are whole, and starting over with a reason.

use std::collections::BTreeSet;

use backsight_core::{Code, Error, NextStep, Result, Seq};

use super::call::open_calls_in;
use super::milestone::{milestone_of, milestones_in, place};
use super::writing::Writing;
use super::{Opened, Workspace};
use crate::names;
use crate::report::{ChainProblem, CurrentState, Event, Kind, Milestone, Origin, Reset, RowLane, SyncReport};
use crate::request;
use crate::timeline::NewEvent;

impl Workspace {
    /// Seed 004's `getCurrentState`: where the timeline stands. Nothing on disk is looked at.
    pub fn get_current_state(&self) -> Result<CurrentState> {
        let mut state = CurrentState {
            sequence_number: Seq(0),
            snapshot: None,
            chain_head: String::new(),
            rows: 0,
            snapshots: 0,
            milestone: None,
            next_milestone_start: None,
            open_calls: Vec::new(),
            strategy: self.strategy()?,
        };
        if self.store_path()?.is_none() {
            return Ok(state);
        }
        let opened = self.opened()?;
        state.sequence_number = opened.timeline.latest_seq()?;
        state.snapshot = opened.timeline.latest()?.map(|step| step.snapshot);
        state.chain_head = opened.timeline.chain_head()?;
        state.rows = opened.timeline.count_all()?;
        state.snapshots = opened.timeline.count()?;
        state.milestone = milestones_in(opened)?.into_iter().next();
        state.next_milestone_start = place(opened, state.milestone.as_ref())?.start;
        state.open_calls = open_calls_in(opened)?;
        Ok(state)
    }

    /// Seed 004's `validateWorkspaceSync`: checks every row of the timeline and every milestone, and compares the disk
    /// with the latest snapshot.
    pub fn validate_workspace_sync(&self) -> Result<SyncReport> {
        let unknown = self.detect(&[], false)?;
        let (mut problems, mut rows_checked, mut chain_head) = (Vec::new(), 0, String::new());
        if self.store_path()?.is_some() {
            let opened = self.opened()?;
            (problems, rows_checked) = self.check_timeline(opened)?;
            chain_head = opened.timeline.chain_head()?;
        }
        let is_whole = problems.iter().all(|problem| problem.acknowledged_by.is_some());
        let is_disk_known = !unknown.has_unknown_changes && unknown.unseen.is_empty() && unknown.pending.is_empty();
        let in_sync = is_whole && is_disk_known;
        Ok(SyncReport { in_sync, rows_checked, chain_head, problems, unknown })
    }

    /// Everything that is wrong with the timeline, and how many rows were looked at.
    pub(super) fn check_timeline(&self, opened: &Opened) -> Result<(Vec<ChainProblem>, u64)> {
        let (mut problems, checked) = opened.timeline.check_chain()?;
        problems.extend(lost_rows(opened)?);
        let milestones = opened.timeline.readable_events(Kind::Milestone)?;
        let milestones: Vec<Milestone> = milestones.iter().filter_map(|event| milestone_of(event).ok()).collect();
        problems.extend(milestone_problems(opened, &milestones)?);
        let resets = opened.timeline.readable_events(Kind::Reset)?;
        for problem in &mut problems {
            problem.acknowledged_by =
                resets.iter().find(|reset| takes_note(reset, problem)).map(|reset| reset.sequence_number);
        }
        Ok((problems, checked))
    }

    /// Seed 004's `resetStateContinuity`, the last resort: takes the disk and the timeline as they are and goes on from
    /// there. What differs on disk is recorded, open tool calls are given up, problems of the timeline are taken note
    /// of, and all of it is a row with the reason. Nothing is removed.
    pub fn reset_state_continuity(&self, reason: &str, origin: &Origin) -> Result<Reset> {
        if reason.trim().is_empty() {
            return Err(Error::new(Code::Usage, "a reset of continuity needs a reason: it is kept in the timeline")
                .then("say why, such as \"restored from a backup\",", NextStep::AcceptState));
        }
        names::check_origin(origin)?;
        let writing = self.writing()?;
        let opened = writing.opened;
        let calls = open_calls_in(opened)?;
        let before = writing.latest()?;
        let mut now = writing.capture_with(before.as_ref(), &BTreeSet::new(), true)?;
        let changes = match &before {
            Some(last) if last.tree != now.tree => opened.files.compare(&last.tree, &now.tree).unwrap_or_default(),
            _ => Vec::new(),
        };
        let differs = before.as_ref().is_none_or(|last| last.tree != now.tree);
        let integrated = if differs {
            let (step, _) = writing.record_external(&now, now.tree, &changes, false, None)?;
            Some(step.snapshot.sequence_number)
        } else {
            None
        };
        let (problems, _) = self.check_timeline(opened)?;
        let acknowledged: Vec<ChainProblem> =
            problems.into_iter().filter(|problem| problem.acknowledged_by.is_none()).collect();
        let event = NewEvent {
            id: self.new_id()?,
            kind: Kind::Reset,
            timestamp: self.settings.now(),
            description: reason.trim().to_owned(),
            origin: Origin { declared: Vec::new(), ..origin.clone() },
            details: serde_json::json!({
                "reason": reason.trim(),
                "integrated": integrated,
                "acknowledged": acknowledged,
                "closed_calls": calls,
            }),
        };
        let event = writing.append_event(&event)?;
        for call in &calls {
            opened.timeline.close_call(&call.id)?;
        }
        writing.save_cache(&mut now)?;
        Ok(Reset { event, integrated, acknowledged, closed_calls: calls })
    }

    /// Remembers an event of another lane in the timeline.
    pub fn note(&self, note: &request::Note) -> Result<Event> {
        if note.kind.lane() == RowLane::Files {
            return Err(Error::new(Code::Usage, format!("a row of kind `{}` cannot be noted", note.kind.as_str()))
                .with_hint("it is recorded by the operation of that name"));
        }
        names::check_origin(&note.origin)?;
        let writing = self.writing()?;
        let event = NewEvent {
            id: self.new_id()?,
            kind: note.kind,
            timestamp: self.settings.now(),
            description: note.description.clone(),
            origin: Origin { declared: Vec::new(), ..note.origin.clone() },
            details: note.details.clone(),
        };
        writing.append_event(&event)
    }
}

impl Writing<'_> {
    pub(super) fn append_event(&self, event: &NewEvent) -> Result<Event> {
        let used = self.opened.files.latest_named()?.unwrap_or(Seq(0));
        self.opened.timeline.append_event(event, used)
    }
}

/// Whether a reset names this very problem. Anything that happened to the same row later is a new one.
fn takes_note(reset: &Event, problem: &ChainProblem) -> bool {
    let known = reset.details["acknowledged"].as_array();
    known.into_iter().flatten().any(|known| {
        known["code"] == problem.code.as_str()
            && known["sequence_number"] == problem.sequence_number.0
            && known["expected"].as_str() == problem.expected.as_deref()
            && known["actual"].as_str() == problem.actual.as_deref()
    })
}

/// Snapshots that the store names and the timeline does not know.
fn lost_rows(opened: &Opened) -> Result<Vec<ChainProblem>> {
    let (known, _) = opened.timeline.snapshot_numbers()?;
    let named: BTreeSet<Seq> = opened.files.named_snapshots()?.into_iter().collect();
    let lost = named.difference(&known).map(|seq| ChainProblem {
        code: Code::SequenceDiscontinuity,
        sequence_number: *seq,
        message: format!("{seq} is missing: the store still names this snapshot"),
        expected: Some(seq.to_string()),
        actual: None,
        acknowledged_by: None,
    });
    Ok(lost.collect())
}

/// Milestones must follow each other without gap or overlap.
fn milestone_problems(opened: &Opened, newest_first: &[Milestone]) -> Result<Vec<ChainProblem>> {
    let mut problems = Vec::new();
    let mut last_end = Seq(0);
    let mut previous = None;
    for milestone in newest_first.iter().rev() {
        let expected = opened.timeline.number_after(last_end)?;
        let start = milestone.start_sequence_number;
        let code = match expected {
            Some(expected) if start < expected => Some(Code::MilestoneOverlap),
            Some(expected) if start > expected => Some(Code::MilestoneGap),
            _ if milestone.end_sequence_number < start => Some(Code::InvalidRange),
            _ if milestone.previous_milestone_id != previous => Some(Code::BrokenParent),
            _ => None,
        };
        problems.extend(code.map(|code| ChainProblem {
            code,
            sequence_number: milestone.sequence_number,
            message: format!(
                "milestone `{}` ({start} to {}) does not continue the one before it",
                milestone.title, milestone.end_sequence_number
            ),
            expected: expected.map(|expected| expected.to_string()),
            actual: Some(start.to_string()),
            acknowledged_by: None,
        }));
        last_end = milestone.end_sequence_number;
        previous = Some(milestone.id.clone());
    }
    Ok(problems)
}
