//! Which frames of two captures are the same call, and what to warn of when they are not. Calls are told by their function and
//! their distance from the outermost frame: a call that is still running stands where it stood.

use std::collections::{BTreeMap, HashSet};

use super::align::{self, Step};
use crate::capture::{Capture, FrameCapture};
use crate::hash;
use crate::report::{Warning, WarningKind};

/// A call, before and after; one is missing when the call began or ended in between.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call<'a> {
    pub(super) old: Option<&'a FrameCapture>,
    pub(super) new: Option<&'a FrameCapture>,
}

/// What frames two captures share.
#[derive(Debug, Default)]
pub(super) struct Calls<'a> {
    /// Innermost first, those of the asked thread before others.
    pub(super) calls: Vec<Call<'a>>,
    /// Frames that only one capture holds, though both programs had them.
    uncaptured: usize,
    /// Threads that only one capture holds.
    threads: usize,
}

/// Pairs the frames of two captures.
pub(super) fn pair<'a>(old: &'a Capture, new: &'a Capture) -> Calls<'a> {
    let mut calls = Calls::default();
    let own = |capture: &'a Capture| -> Vec<&'a FrameCapture> { of_thread(capture, asked_thread(capture)) };
    let depths = old.stack_depth.zip(new.stack_depth);
    calls.thread(&own(old), &own(new), depths, true);
    let others = |capture: &'a Capture| -> HashSet<i64> {
        capture.frames.iter().map(|frame| frame.thread_id).filter(|id| *id != asked_thread(capture)).collect()
    };
    let (olds, news) = (others(old), others(new));
    let mut both: Vec<i64> = olds.intersection(&news).copied().collect();
    both.sort_unstable();
    for id in both {
        calls.thread(&of_thread(old, id), &of_thread(new, id), None, false);
    }
    calls.threads = olds.symmetric_difference(&news).count();
    calls
}

/// The thread of the first frame, which is the one that was asked for.
fn asked_thread(capture: &Capture) -> i64 {
    capture.frames.first().map_or(capture.thread_id, |frame| frame.thread_id)
}

fn of_thread(capture: &Capture, id: i64) -> Vec<&FrameCapture> {
    capture.frames.iter().filter(|frame| frame.thread_id == id).collect()
}

impl<'a> Calls<'a> {
    /// Pairs the frames of one thread, which come innermost first.
    fn thread(&mut self, old: &[&'a FrameCapture], new: &[&'a FrameCapture], depths: Option<(u32, u32)>, asked: bool) {
        let start = (self.calls.len(), self.uncaptured);
        match depths {
            Some(depths) => self.by_level(old, new, depths),
            None => self.by_function(old, new),
        }
        let shared = self.calls[start.0..].iter().any(|call| call.old.is_some() && call.new.is_some());
        // Without any common call the frames that were asked for are compared, whatever they are.
        if asked && !shared {
            self.calls.truncate(start.0);
            self.calls.push(Call { old: old.first().copied(), new: new.first().copied() });
            self.uncaptured = start.1 + old.len().saturating_sub(1) + new.len().saturating_sub(1);
        }
    }

    /// With known distances from the outermost frame.
    fn by_level(&mut self, old: &[&'a FrameCapture], new: &[&'a FrameCapture], depths: (u32, u32)) {
        let mut levels: BTreeMap<i64, Call<'a>> = BTreeMap::new();
        let level = |depth: u32, frame: &FrameCapture| i64::from(depth) - 1 - i64::from(frame.index);
        for frame in old {
            levels.entry(level(depths.0, frame)).or_insert(Call { old: None, new: None }).old = Some(frame);
        }
        for frame in new {
            levels.entry(level(depths.1, frame)).or_insert(Call { old: None, new: None }).new = Some(frame);
        }
        // What a different function called is a different call.
        let mut parted = false;
        let mut calls = Vec::new();
        for (level, call) in levels {
            match (call.old, call.new) {
                (Some(before), Some(after)) => {
                    parted |= before.function != after.function;
                    if parted {
                        calls.push(Call { old: None, new: Some(after) });
                        calls.push(Call { old: Some(before), new: None });
                    } else {
                        calls.push(call);
                    }
                }
                (Some(_), None) if parted || level >= i64::from(depths.1) => calls.push(call),
                (None, Some(_)) if parted || level >= i64::from(depths.0) => calls.push(call),
                _ => self.uncaptured += 1,
            }
        }
        self.calls.extend(calls.into_iter().rev());
    }

    /// With nothing but the functions, from the outermost frame.
    fn by_function(&mut self, old: &[&'a FrameCapture], new: &[&'a FrameCapture]) {
        let hashes = |frames: &[&FrameCapture]| -> Vec<u64> {
            frames.iter().rev().map(|frame| hash::bytes(frame.function.as_bytes())).collect()
        };
        let outermost = |frames: &[&'a FrameCapture], index: usize| frames[frames.len() - 1 - index];
        let mut calls = Vec::new();
        let mut shared = false;
        for step in align::align(&hashes(old), &hashes(new), |_, _| 0) {
            let (before, after) = match step {
                Step::Both(before, after) => (Some(outermost(old, before)), Some(outermost(new, after))),
                Step::Old(before) => (Some(outermost(old, before)), None),
                Step::New(after) => (None, Some(outermost(new, after))),
            };
            match (before, after) {
                (Some(old), Some(new)) if old.function == new.function => {
                    shared = true;
                    calls.push(Call { old: Some(old), new: Some(new) });
                }
                // Further out than anything common is what the other capture did not reach.
                _ if !shared => self.uncaptured += usize::from(before.is_some()) + usize::from(after.is_some()),
                _ => {
                    calls.extend(after.map(|new| Call { old: None, new: Some(new) }));
                    calls.extend(before.map(|old| Call { old: Some(old), new: None }));
                }
            }
        }
        self.calls.extend(calls.into_iter().rev());
    }
}

/// What makes the comparison of two captures less than it seems.
pub(super) fn warnings(old: &Capture, new: &Capture, calls: &Calls<'_>) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut warn = |kind: WarningKind, message: String| warnings.push(Warning { kind, message });
    if old.thread_id != new.thread_id {
        warn(WarningKind::Thread, format!("thread {} compared with thread {}", old.thread_id, new.thread_id));
    }
    if let (Some(before), Some(after)) = (old.frames.first(), new.frames.first()) {
        let level =
            |capture: &Capture, frame: &FrameCapture| Some(i64::from(capture.stack_depth?) - i64::from(frame.index));
        if before.function != after.function {
            warn(WarningKind::Function, format!("`{}` compared with `{}`", before.function, after.function));
        } else if let (Some(first), Some(second)) = (level(old, before), level(new, after))
            && first != second
        {
            let (count, direction) = ((second - first).abs(), if second > first { "deeper" } else { "further out" });
            let function = &after.function;
            warn(WarningKind::Recursion, format!("`{function}` compared with a call of it {count} {direction}"));
        } else if before.call.is_some() && after.call.is_some() && before.call != after.call {
            let function = &after.function;
            warn(
                WarningKind::Call,
                format!("`{function}` compared with another call of it: other variables, same names"),
            );
        } else if before.line != after.line {
            let line = |frame: &FrameCapture| frame.line.map_or("?".to_owned(), |line| line.to_string());
            warn(WarningKind::Line, format!("line {} -> {}", line(before), line(after)));
        }
    }
    if old.depth != new.depth {
        let message =
            format!("depth {} compared with depth {}: compared where both were looked into", old.depth, new.depth);
        warn(WarningKind::Depth, message);
    }
    if old.safety != new.safety {
        let message = "captured with different safety: values may be written differently".to_owned();
        warn(WarningKind::Safety, message);
    }
    if calls.uncaptured > 0 || calls.threads > 0 {
        let threads = if calls.threads > 0 { format!(" and {} threads", calls.threads) } else { String::new() };
        let message = format!("{} frames{threads} are in one snapshot only and not compared", calls.uncaptured);
        warn(WarningKind::Frames, message);
    }
    for (which, capture) in [("first", old), ("second", new)] {
        warnings.extend(incomplete(which, capture));
    }
    warnings
}

/// What a capture did not see; the first few places by name, all of them by number.
fn incomplete(which: &str, capture: &Capture) -> Option<Warning> {
    const NAMED: usize = 2;
    let (first, rest) = (&capture.incomplete.iter().take(NAMED), capture.incomplete.len().saturating_sub(NAMED));
    let name = |path: &str| if path.is_empty() { String::new() } else { format!("`{path}` ") };
    let places: Vec<String> = first.clone().map(|place| format!("{}{}", name(&place.path), place.reason)).collect();
    if places.is_empty() {
        return None;
    }
    let rest = if rest > 0 { format!(", and {rest} more") } else { String::new() };
    let message = format!("the {which} snapshot is incomplete: {}{rest}", places.join(", "));
    Some(Warning { kind: WarningKind::Incomplete, message })
}
