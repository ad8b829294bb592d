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
    /// Undos of which something is in effect.
    pub(crate) redoable: Vec<Undone>,
}

/// What is in effect of one undo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Undone {
    /// The row.
    pub(crate) undo: Seq,
    /// The steps that it took back and that nobody brought back since, in the order in which it took them.
    pub(crate) steps: Vec<Seq>,
    /// Nothing of it was brought back yet.
    pub(crate) is_whole: bool,
}

/// One move of a redo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Move {
    /// Take the row back.
    Back(Seq),
    /// Do what the row did once more.
    Again(Seq),
}

/// Which undos a redo acts on, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Redo {
    /// The undos, newest first.
    pub(crate) targets: Vec<Seq>,
    /// Steps of the last of them that stay undone.
    pub(crate) leaving: Vec<Seq>,
    /// What is done, in this order.
    pub(crate) moves: Vec<Move>,
}

impl Stacks {
    /// How many steps a redo can bring back.
    pub(crate) fn redoable_steps(&self) -> usize {
        self.redoable.iter().map(|undone| undone.steps.len()).sum()
    }

    /// Brings `count` steps back: the one that was taken back last comes first, whether it was taken back alone or with
    /// others. An undo that is brought back in one go is taken back as a row, which leads exactly to what was before it.
    pub(crate) fn redo(&self, count: usize) -> Redo {
        let mut redo = Redo::default();
        let mut missing = count;
        for Undone { undo, steps, is_whole } in &self.redoable {
            if missing == 0 {
                break;
            }
            let taken = steps.len().min(missing);
            missing -= taken;
            let (leaving, again) = steps.split_at(steps.len() - taken);
            redo.targets.push(*undo);
            redo.leaving.extend(leaving);
            match leaving.is_empty() && *is_whole {
                true => redo.moves.push(Move::Back(*undo)),
                false => redo.moves.extend(again.iter().rev().copied().map(Move::Again)),
            }
        }
        redo
    }
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
    /// Undos in effect, oldest first.
    undos: Vec<Undone>,
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
                self.undos.push(Undone { undo: outline.seq, steps: outline.targets.clone(), is_whole: true });
            }
            Kind::Redo => self.redo(outline),
            _ => {}
        }
    }

    fn redo(&mut self, outline: &Outline) {
        let mut kept = Vec::new();
        // The newest undo is taken back first, and an undo of several took the newest of them back first.
        for undone in std::mem::take(&mut self.undos).into_iter().rev() {
            if !outline.targets.contains(&undone.undo) {
                kept.push(undone);
                continue;
            }
            let (leaving, redone): (Vec<Seq>, Vec<Seq>) =
                undone.steps.into_iter().partition(|step| outline.leaving.contains(step));
            self.steps.extend(redone.into_iter().rev());
            if !leaving.is_empty() {
                kept.push(Undone { undo: undone.undo, steps: leaving, is_whole: false });
            }
        }
        kept.reverse();
        self.undos = kept;
    }

    pub(crate) fn stacks(&self) -> Stacks {
        Stacks {
            undoable: self.steps.iter().rev().copied().collect(),
            redoable: self.undos.iter().rev().cloned().collect(),
        }
    }

    /// How many steps can be undone, and redone.
    pub(crate) fn depths(&self) -> (u64, u64) {
        (self.steps.len() as u64, self.undos.iter().map(|undone| undone.steps.len() as u64).sum())
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
            leaving: Vec::new(),
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
        (numbers(stacks.undoable), numbers(stacks.redoable.iter().map(|undone| undone.undo).collect()))
    }

    /// Three steps, taken back by one undo (#5).
    fn undone_together() -> Vec<Outline> {
        let mut rows: Vec<Outline> = (1..=4).map(|seq| outline(seq, Kind::Track, &[])).collect();
        rows.push(outline(5, Kind::Undo, &[4, 3, 2]));
        rows
    }

    #[test]
    fn a_redo_brings_back_as_many_steps_as_it_is_asked_to() {
        let mut rows = undone_together();
        let all = stacks(&rows);
        assert_eq!(all.redoable_steps(), 3);
        assert_eq!(all.redo(3), Redo { targets: vec![Seq(5)], leaving: vec![], moves: vec![Move::Back(Seq(5))] });
        let one = all.redo(1);
        assert_eq!(
            one,
            Redo { targets: vec![Seq(5)], leaving: vec![Seq(4), Seq(3)], moves: vec![Move::Again(Seq(2))] }
        );
        rows.push(Outline { leaving: one.leaving, ..outline(6, Kind::Redo, &[5]) });
        let after = stacks(&rows);
        assert_eq!((after.undoable.clone(), after.redoable_steps()), (vec![Seq(2)], 2));
        assert_eq!(after.redo(2).moves, [Move::Again(Seq(3)), Move::Again(Seq(4))]);
        // An undo in between is the first to be brought back.
        rows.push(outline(7, Kind::Undo, &[2]));
        let redo = stacks(&rows).redo(2);
        assert_eq!(redo.moves, [Move::Back(Seq(7)), Move::Again(Seq(3))]);
        assert_eq!((redo.targets, redo.leaving), (vec![Seq(7), Seq(5)], vec![Seq(4)]));
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
