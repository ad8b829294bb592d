//! What two patches of one file do together, line by line.
//!
//! Each patch is laid out as a walk over the file: lines it shows, and stretches it says nothing about. The two
//! walks meet in the file between them, which is the new side of the first and the old side of the second. Going
//! along it in step tells for every line whether it survives from the old file to the newest one.

use std::collections::VecDeque;

use crate::changes::{Purpose, changes};
use crate::patch::{FilePatch, Hunk, Line, LineKind, PatchKind};
use crate::reverse::removals_first;

/// Unchanged lines shown around changes, where that many are known.
const CONTEXT: usize = 3;

#[derive(Debug)]
pub(super) enum LineError {
    Mismatch { line: usize, first: Vec<u8>, second: Vec<u8> },
    PastEnd { line: usize },
    Overlap,
}

/// The hunks of the joined patch.
pub(super) fn compose_lines(first: &FilePatch, second: &FilePatch) -> Result<Vec<Hunk>, LineError> {
    let first = Walk::of(first, first.hunks.last().and_then(|hunk| hunk.new_lines().last()))?;
    let second = Walk::of(second, second.hunks.last().and_then(|hunk| hunk.old_lines().last()))?;
    let mut hunks = Vec::new();
    let (mut old_at, mut new_at) = (0, 0);
    let mut passage = Vec::new();
    for step in join(first, second)? {
        match step {
            Step::Line(line) => passage.push(line),
            Step::Unknown(count) => {
                cut_hunks(std::mem::take(&mut passage), &mut old_at, &mut new_at, &mut hunks);
                old_at += count;
                new_at += count;
            }
        }
    }
    cut_hunks(passage, &mut old_at, &mut new_at, &mut hunks);
    Ok(hunks)
}

/// A piece of a walk.
enum Step {
    /// A line the patch shows.
    Line(Line),
    /// That many unchanged lines the patch does not show; never zero.
    Unknown(usize),
}

/// A patch as a walk over its file.
struct Walk {
    steps: VecDeque<Step>,
    /// Whether the file ends with the last step. Otherwise unknown lines may follow.
    ends: bool,
}

impl Walk {
    /// `last` is the last line shown of the file between the patches: without newline, nothing can follow it.
    fn of(patch: &FilePatch, last: Option<&Line>) -> Result<Walk, LineError> {
        let mut steps = VecDeque::new();
        let mut at = 0;
        for hunk in &patch.hunks {
            match hunk.old_begin().checked_sub(at).ok_or(LineError::Overlap)? {
                0 => {}
                unknown => steps.push_back(Step::Unknown(unknown)),
            }
            steps.extend(hunk.lines.iter().cloned().map(Step::Line));
            at = hunk.old_begin().saturating_add(hunk.old_lines().count());
        }
        // A patch that makes or deletes a file shows all of it.
        let whole = matches!(patch.kind, PatchKind::Added | PatchKind::Deleted);
        Ok(Walk { steps, ends: whole || last.is_some_and(|last| last.no_newline) })
    }

    /// Takes the next line if it is of this kind.
    fn take(&mut self, kind: LineKind) -> Option<Line> {
        match self.steps.front() {
            Some(Step::Line(line)) if line.kind == kind => match self.steps.pop_front() {
                Some(Step::Line(line)) => Some(line),
                _ => None,
            },
            _ => None,
        }
    }

    /// How many unknown lines are next: none when a known line or the end is.
    fn unknown(&self) -> usize {
        match self.steps.front() {
            Some(Step::Unknown(count)) => *count,
            Some(Step::Line(_)) => 0,
            None if self.ends => 0,
            None => usize::MAX,
        }
    }

    /// Moves over `count` unknown lines, which [`unknown`](Self::unknown) has shown to be there.
    fn skip(&mut self, count: usize) {
        if let Some(Step::Unknown(left)) = self.steps.front_mut() {
            *left = left.saturating_sub(count);
            if *left == 0 {
                self.steps.pop_front();
            }
        }
    }

    fn take_any(&mut self) -> Option<Line> {
        match self.steps.pop_front() {
            Some(Step::Line(line)) => Some(line),
            _ => None,
        }
    }
}

/// Both walks in step: what stands here goes from the oldest to the newest file.
fn join(mut first: Walk, mut second: Walk) -> Result<Vec<Step>, LineError> {
    let mut steps = Vec::new();
    // Lines of the file between the two patches that have been passed.
    let mut at = 0usize;
    loop {
        // These two are not in the file between, so they take no step along it.
        if let Some(line) = first.take(LineKind::Removed).or_else(|| second.take(LineKind::Added)) {
            steps.push(Step::Line(line));
            continue;
        }
        if first.steps.is_empty() && second.steps.is_empty() {
            return Ok(steps);
        }
        let passed = match (first.unknown(), second.unknown()) {
            (0, 0) => {
                let (left, right) = (first.take_any(), second.take_any());
                let (Some(left), Some(right)) = (left, right) else { return Err(LineError::PastEnd { line: at + 1 }) };
                steps.extend(both_know(at + 1, left, right)?.map(Step::Line));
                1
            }
            (unknown, 0) => {
                let line = second.take_any().ok_or(LineError::PastEnd { line: at + 1 })?;
                first.skip(unknown.min(1));
                steps.push(Step::Line(line));
                1
            }
            (0, unknown) => {
                let line = first.take_any().ok_or(LineError::PastEnd { line: at + 1 })?;
                second.skip(unknown.min(1));
                steps.push(Step::Line(line));
                1
            }
            (left, right) => {
                let count = left.min(right);
                first.skip(count);
                second.skip(count);
                steps.push(Step::Unknown(count));
                count
            }
        };
        at = at.saturating_add(passed);
    }
}

/// A line of the file between that both patches show. Added by one and removed by the other, it never was.
fn both_know(at: usize, first: Line, second: Line) -> Result<Option<Line>, LineError> {
    if first.bytes != second.bytes || first.no_newline != second.no_newline {
        let (first, second) = (first.as_in_file(), second.as_in_file());
        return Err(LineError::Mismatch { line: at, first, second });
    }
    Ok(match (first.kind, second.kind) {
        (LineKind::Context, _) => Some(second),
        (_, LineKind::Context) => Some(first),
        _ => None,
    })
}

/// Cuts a passage of known lines into hunks with at most [`CONTEXT`] unchanged lines around changes.
fn cut_hunks(passage: Vec<Line>, old_at: &mut usize, new_at: &mut usize, hunks: &mut Vec<Hunk>) {
    let lines = without_detours(passage);
    let changed: Vec<usize> = (0..lines.len()).filter(|&index| lines[index].kind != LineKind::Context).collect();
    let mut done = 0;
    for group in changed.chunk_by(|left, right| right - left <= 2 * CONTEXT + 1) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let start = first.saturating_sub(CONTEXT);
        let end = (last + 1 + CONTEXT).min(lines.len());
        advance(&lines[done..start], old_at, new_at);
        hunks.push(hunk_at(*old_at, *new_at, lines[start..end].to_vec()));
        advance(&lines[start..end], old_at, new_at);
        done = end;
    }
    advance(&lines[done..], old_at, new_at);
}

fn advance(lines: &[Line], old_at: &mut usize, new_at: &mut usize) {
    *old_at += lines.iter().filter(|line| line.kind != LineKind::Added).count();
    *new_at += lines.iter().filter(|line| line.kind != LineKind::Removed).count();
}

fn hunk_at(old_at: usize, new_at: usize, lines: Vec<Line>) -> Hunk {
    let mut hunk = Hunk { old_start: old_at, old_len: 0, new_start: new_at, new_len: 0, section: Vec::new(), lines };
    hunk.old_len = hunk.old_lines().count();
    hunk.new_len = hunk.new_lines().count();
    hunk.old_start += usize::from(hunk.old_len > 0);
    hunk.new_start += usize::from(hunk.new_len > 0);
    hunk
}

/// A line removed by one patch and put back by the other is unchanged: compares what goes with what comes in each
/// run of changes, and keeps what is the same.
fn without_detours(mut lines: Vec<Line>) -> Vec<Line> {
    removals_first(&mut lines);
    let mut result = Vec::with_capacity(lines.len());
    for run in lines.chunk_by(|left, right| (left.kind == LineKind::Context) == (right.kind == LineKind::Context)) {
        let (removed, added) = run.split_at(run.iter().take_while(|line| line.kind == LineKind::Removed).count());
        match removed.is_empty() || added.is_empty() {
            true => result.extend_from_slice(run),
            false => extend_with_difference(&mut result, removed, added),
        }
    }
    result
}

fn extend_with_difference(result: &mut Vec<Line>, removed: &[Line], added: &[Line]) {
    let text = |lines: &[Line]| lines.iter().map(Line::as_in_file).collect::<Vec<_>>();
    let (old, new) = (text(removed), text(added));
    let old: Vec<&[u8]> = old.iter().map(Vec::as_slice).collect();
    let new: Vec<&[u8]> = new.iter().map(Vec::as_slice).collect();
    let context = |line: &Line| Line { kind: LineKind::Context, ..line.clone() };
    let mut at = 0;
    for change in changes(&old, &new, Purpose::Show) {
        result.extend(removed[at..change.before.start].iter().map(context));
        result.extend_from_slice(&removed[change.before.clone()]);
        result.extend_from_slice(&added[change.after.clone()]);
        at = change.before.end;
    }
    result.extend(removed[at..].iter().map(context));
}
