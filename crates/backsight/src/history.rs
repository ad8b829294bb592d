//! Pure decisions over the timeline: which step an undo takes back, which contents retention removes.

use std::time::Duration;

use backsight_core::{Seq, Timestamp};

use crate::report::Kind;
use crate::timeline::Outline;

/// What undo and redo can act on, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stacks {
    /// Steps that are in effect and have something before them.
    pub(crate) undoable: Vec<Seq>,
    /// Undos that are in effect.
    pub(crate) redoable: Vec<Seq>,
}

/// Replays the timeline, oldest first. A step that is brought back counts as newest again.
pub(crate) fn stacks(outlines: &[Outline]) -> Stacks {
    let mut replay = Replay::default();
    outlines.iter().for_each(|outline| replay.push(outline));
    replay.stacks()
}

/// The timeline as far as it was replayed; rows never change, so whoever keeps it needs only the newer ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Replay {
    /// Undos in effect, with what they took back.
    undos: Vec<(Seq, Vec<Seq>)>,
    steps: Vec<Seq>,
    /// Every snapshot.
    snapshots: Vec<Seq>,
}

impl Replay {
    pub(crate) fn push(&mut self, outline: &Outline) {
        self.snapshots.push(outline.seq);
        match outline.kind {
            Kind::Track | Kind::Restore | Kind::Revert if outline.has_base => self.steps.push(outline.seq),
            Kind::Undo => {
                self.steps.retain(|seq| !outline.targets.contains(seq));
                self.undos.push((outline.seq, outline.targets.clone()));
            }
            Kind::Redo => {
                let (redone, rest) =
                    std::mem::take(&mut self.undos).into_iter().partition(|(seq, _)| outline.targets.contains(seq));
                let redone: Vec<(Seq, Vec<Seq>)> = redone;
                // The newest undo is taken back first, and an undo of several took the newest of them back first.
                self.steps.extend(redone.iter().rev().flat_map(|(_, targets)| targets.iter().rev()));
                self.undos = rest;
            }
            _ => {}
        }
    }

    pub(crate) fn stacks(&self) -> Stacks {
        Stacks {
            undoable: self.steps.iter().rev().copied().collect(),
            redoable: self.undos.iter().rev().map(|(seq, _)| *seq).collect(),
        }
    }

    /// How many steps can be undone, and redone.
    pub(crate) fn depths(&self) -> (u64, u64) {
        (self.steps.len() as u64, self.undos.len() as u64)
    }

    /// The newest snapshot that was replayed.
    pub(crate) fn newest(&self) -> Seq {
        self.snapshots.last().copied().unwrap_or(Seq(0))
    }

    pub(crate) fn count(&self) -> u64 {
        self.snapshots.len() as u64
    }

    /// How many snapshots come after `seq`.
    pub(crate) fn count_after(&self, seq: Seq) -> u64 {
        (self.snapshots.len() - self.snapshots.partition_point(|known| *known <= seq)) as u64
    }
}

/// Limits on what is kept; zero means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) keep_days: u64,
    pub(crate) keep_count: u64,
}

/// Steps whose contents age and number allow to remove. The latest and the pinned ones are never among them.
pub(crate) fn outlived(outlines: &[Outline], limits: Limits, now: Timestamp) -> Vec<Seq> {
    let oldest_kept = now.before(Duration::from_secs(limits.keep_days.saturating_mul(86_400)));
    let mut outlived = Vec::new();
    for (age, outline) in outlines.iter().rev().filter(|outline| !outline.expired).enumerate() {
        let too_old = limits.keep_days > 0 && outline.timestamp < oldest_kept;
        let too_many = limits.keep_count > 0 && age as u64 >= limits.keep_count;
        if age > 0 && !outline.pinned && (too_old || too_many) {
            outlived.push(outline.seq);
        }
    }
    outlived
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline(seq: u64, kind: Kind, targets: &[u64]) -> Outline {
        Outline {
            seq: Seq(seq),
            kind,
            targets: targets.iter().copied().map(Seq).collect(),
            whole: true,
            has_base: seq > 1,
            timestamp: Timestamp(seq as i64 * 86_400_000),
            pinned: false,
            expired: false,
        }
    }

    fn stacks_of(rows: &[(Kind, &[u64])]) -> (Vec<u64>, Vec<u64>) {
        let outlines: Vec<_> =
            rows.iter().zip(1..).map(|((kind, targets), seq)| outline(seq, *kind, targets)).collect();
        let stacks = stacks(&outlines);
        let numbers = |seqs: Vec<Seq>| seqs.into_iter().map(|seq| seq.0).collect();
        (numbers(stacks.undoable), numbers(stacks.redoable))
    }

    #[test]
    fn undo_walks_back_and_redo_walks_forward() {
        use Kind::{Redo, Track, Undo};
        assert_eq!(stacks_of(&[(Track, &[]), (Track, &[]), (Track, &[])]), (vec![3, 2], vec![]));
        assert_eq!(stacks_of(&[(Track, &[]), (Track, &[]), (Track, &[]), (Undo, &[3])]), (vec![2], vec![4]));
        assert_eq!(stacks_of(&[(Track, &[]), (Track, &[]), (Undo, &[2]), (Redo, &[3])]), (vec![2], vec![]));
        let many: &[(Kind, &[u64])] =
            &[(Track, &[]), (Track, &[]), (Track, &[]), (Undo, &[3]), (Undo, &[2]), (Redo, &[5])];
        assert_eq!(stacks_of(many), (vec![2], vec![4]));
        let between: &[(Kind, &[u64])] = &[(Track, &[]), (Track, &[]), (Undo, &[2]), (Track, &[]), (Redo, &[3])];
        assert_eq!(stacks_of(between), (vec![2, 4], vec![]));
        let several: &[(Kind, &[u64])] = &[(Track, &[]), (Track, &[]), (Track, &[]), (Undo, &[3, 2]), (Redo, &[4])];
        assert_eq!(stacks_of(several), (vec![3, 2], vec![]));
    }

    #[test]
    fn the_first_snapshot_and_safety_rows_are_no_steps() {
        assert_eq!(stacks_of(&[(Kind::Track, &[]), (Kind::Safety, &[])]), (vec![], vec![]));
    }

    #[test]
    fn the_latest_and_the_pinned_outlive_every_limit() {
        let mut outlines: Vec<_> = (1..=5).map(|seq| outline(seq, Kind::Track, &[])).collect();
        outlines[1].pinned = true;
        let now = Timestamp(100 * 86_400_000);
        let seqs = |limits| outlived(&outlines, limits, now).into_iter().map(|seq| seq.0).collect::<Vec<_>>();
        assert_eq!(seqs(Limits { keep_days: 1, keep_count: 0 }), [4, 3, 1]);
        assert_eq!(seqs(Limits { keep_days: 0, keep_count: 2 }), [3, 1]);
        assert_eq!(seqs(Limits::default()), [0u64; 0]);
    }
}
