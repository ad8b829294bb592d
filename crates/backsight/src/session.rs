//! Pure decisions about one session: the order of its messages, which of its steps are in effect, what a revert to a
//! message takes back, and whether the way back from it is open.
//!
//! A step counts as undone when a later row that is itself in effect took it back as a whole. A session's own reverts
//! form a chain: one revert, perhaps a second one further back or less far, until the session makes a new step (which
//! closes the way back) or somebody takes them back.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use backsight_core::{Result, Seq};

use crate::report::Kind;
use crate::timeline::{Outline, SessionMark, Step};

/// The first time a message, or a part of one, was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Appearance {
    pub(crate) message: String,
    pub(crate) part: Option<String>,
    /// The latest row at that time.
    pub(crate) seen: Seq,
}

/// A row of the session.
#[derive(Clone, Debug)]
pub(crate) struct SessionRow {
    pub(crate) seq: Seq,
    pub(crate) kind: Kind,
    pub(crate) message: Option<String>,
    pub(crate) part: Option<String>,
    pub(crate) targets: Vec<Seq>,
    pub(crate) has_base: bool,
    pub(crate) mark: Option<SessionMark>,
}

impl SessionRow {
    pub(crate) fn of(step: &Step) -> Self {
        let origin = &step.snapshot.origin;
        SessionRow {
            seq: step.snapshot.sequence_number,
            kind: step.snapshot.kind,
            message: origin.message.clone(),
            part: origin.part.clone(),
            targets: step.snapshot.targets.clone(),
            has_base: step.base.is_some(),
            mark: step.mark().cloned(),
        }
    }

    /// Whether the session did something with it, other than being taken back or forth. The first snapshot is what was
    /// there before anybody.
    pub(crate) fn is_work(&self) -> bool {
        self.mark.is_none() && self.has_base
    }

    fn is_revert(&self) -> bool {
        matches!(self.mark, Some(SessionMark::Revert { .. }))
    }

    /// Whether it closes the way back from reverts before it. Taking one of these back by hand does not.
    fn closes(&self, reverts: &BTreeSet<Seq>) -> bool {
        let takes_back_reverts = !self.targets.is_empty() && self.targets.iter().all(|target| reverts.contains(target));
        let is_new = match self.kind {
            Kind::Track | Kind::Restore => true,
            Kind::Revert => !takes_back_reverts,
            _ => false,
        };
        self.is_work() && is_new
    }
}

/// A session as its rows tell it.
#[derive(Debug)]
pub(crate) struct Session {
    /// In the order of the conversation.
    appearances: Vec<Appearance>,
    /// Where each message, and each part, first stands among them.
    order: BTreeMap<(String, Option<String>), usize>,
    /// Oldest first.
    rows: Vec<SessionRow>,
    /// For each row that is not in effect, the rows in effect that took it back.
    takers: BTreeMap<Seq, Vec<Seq>>,
}

/// What a revert of the session takes back, newest first; nothing when the session is there already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ToRevert {
    pub(crate) targets: Vec<Seq>,
    /// The session is reverted to exactly this place already.
    pub(crate) is_there: bool,
}

/// What the session does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    Message,
    Part,
}

/// Why there is nothing to unrevert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoWayBack {
    NeverReverted,
    /// The revert was taken back by this row.
    TakenBack {
        revert: Seq,
        by: Seq,
    },
    /// A new step of the session followed the revert.
    Closed {
        revert: Seq,
        by: Seq,
    },
}

impl Session {
    /// `noted` are the messages somebody told us of; those that only steps name are added.
    pub(crate) fn new(noted: Vec<Appearance>, rows: Vec<SessionRow>, outlines: &[Outline]) -> Self {
        let mut all: Vec<(Seq, bool, usize, Appearance)> = noted
            .into_iter()
            .enumerate()
            .map(|(index, appearance)| (appearance.seen, false, index, appearance))
            .collect();
        for (index, row) in rows.iter().enumerate() {
            let Some(message) = &row.message else { continue };
            // A message that was noted when row 7 was the latest was there before row 8.
            let seen = Seq(row.seq.0.saturating_sub(1));
            let appearance = Appearance { message: message.clone(), part: row.part.clone(), seen };
            all.push((seen, true, index, appearance));
        }
        all.sort_by_key(|(seen, is_row, index, _)| (*seen, *is_row, *index));
        let mut order = BTreeMap::new();
        let mut appearances: Vec<Appearance> = Vec::new();
        for (_, _, _, appearance) in all {
            let Appearance { message, part, seen } = appearance;
            // A part that comes before its message brings it along.
            for part in [None].into_iter().chain(part.map(Some)) {
                if let Entry::Vacant(vacant) = order.entry((message.clone(), part.clone())) {
                    vacant.insert(appearances.len());
                    appearances.push(Appearance { message: message.clone(), part, seen });
                }
            }
        }
        Session { appearances, order, rows, takers: takers(outlines) }
    }

    pub(crate) fn rows(&self) -> &[SessionRow] {
        &self.rows
    }

    /// The messages in the order of the conversation.
    pub(crate) fn messages(&self) -> Vec<&str> {
        let own = self.appearances.iter().filter(|appearance| appearance.part.is_none());
        own.map(|appearance| appearance.message.as_str()).collect()
    }

    /// The parts of a message in their order.
    pub(crate) fn parts<'a>(&'a self, message: &str) -> Vec<&'a str> {
        let of_message = self.appearances.iter().filter(|appearance| appearance.message == message);
        of_message.filter_map(|appearance| appearance.part.as_deref()).collect()
    }

    pub(crate) fn is_in_effect(&self, seq: Seq) -> bool {
        !self.takers.contains_key(&seq)
    }

    /// The session's own steps that nobody else took back and no revert of it, oldest first. A step that the session
    /// itself undid is among them, and so is its undo.
    pub(crate) fn contributing(&self) -> impl Iterator<Item = &SessionRow> {
        let work: BTreeSet<Seq> = self.rows.iter().filter(|row| row.is_work()).map(|row| row.seq).collect();
        let stays = move |row: &&SessionRow| self.takers_of(row.seq).iter().all(|taker| work.contains(taker));
        self.rows.iter().filter(|row| row.is_work()).filter(stays)
    }

    /// The reverts that an unrevert takes back, oldest first.
    pub(crate) fn chain(&self) -> Vec<&SessionRow> {
        let reverts = self.reverts();
        let closed = self.rows.iter().filter(|row| row.closes(&reverts)).map(|row| row.seq).max();
        let is_open = |row: &&SessionRow| closed.is_none_or(|closed| row.seq > closed);
        let is_ours = |row: &&SessionRow| self.takers_of(row.seq).iter().all(|taker| reverts.contains(taker));
        self.rows.iter().filter(|row| row.is_revert()).filter(is_open).filter(is_ours).collect()
    }

    fn reverts(&self) -> BTreeSet<Seq> {
        self.rows.iter().filter(|row| row.is_revert()).map(|row| row.seq).collect()
    }

    fn takers_of(&self, seq: Seq) -> &[Seq] {
        self.takers.get(&seq).map_or(&[], Vec::as_slice)
    }

    /// Whether something of the session lies at or after a place in its conversation. Messages and parts are compared
    /// by when they were first seen; what names none, by when it happened.
    pub(crate) fn is_from(&self, place: &Place<'_>, message: Option<&str>, part: Option<&str>, seq: Seq) -> bool {
        let order = |message: &str, part: Option<&str>| self.order.get(&(message.to_owned(), part.map(str::to_owned)));
        let happened_after = seq > place.seen;
        let Some(message) = message else { return happened_after };
        match order(message, None).cmp(&order(place.message, None)) {
            std::cmp::Ordering::Less => false,
            std::cmp::Ordering::Greater => true,
            std::cmp::Ordering::Equal => match (place.part, part) {
                (None, _) => true,
                (Some(_), None) => happened_after,
                (Some(wanted), Some(part)) => order(message, Some(part)) >= order(message, Some(wanted)),
            },
        }
    }

    /// Where a message, or a part of it, stands.
    pub(crate) fn place<'a>(&self, message: &'a str, part: Option<&'a str>) -> Result<Place<'a>, Missing> {
        let find = |part: Option<&str>| {
            let index = self.order.get(&(message.to_owned(), part.map(str::to_owned)))?;
            Some(self.appearances.get(*index)?.seen)
        };
        let first = find(None).ok_or(Missing::Message)?;
        let seen = if part.is_some() { find(part).ok_or(Missing::Part)? } else { first };
        Ok(Place { message, part, seen })
    }

    /// What has to be taken back for the session to be as before a place. It counts from the state before any revert
    /// that is still open.
    pub(crate) fn revert_to(&self, place: &Place<'_>) -> ToRevert {
        let chain = self.chain();
        if chain.last().is_some_and(|last| place.seen >= last.seq) {
            // A message that came after the revert and changed nothing, or the way back were closed: the session is
            // before it as it is.
            return ToRevert { targets: Vec::new(), is_there: true };
        }
        let in_chain: BTreeSet<Seq> = chain.iter().map(|row| row.seq).collect();
        let is_here = |row: &&SessionRow| self.is_from(place, row.message.as_deref(), row.part.as_deref(), row.seq);
        let candidates: BTreeSet<Seq> =
            self.rows.iter().filter(|row| row.is_work()).filter(is_here).map(|row| row.seq).collect();
        // What somebody else took back already is not touched again: what stands there now is not the session's.
        let is_gone = |seq: &Seq| {
            self.takers_of(*seq).iter().any(|taker| !in_chain.contains(taker) && !candidates.contains(taker))
        };
        let wanted: BTreeSet<Seq> = candidates.iter().copied().filter(|seq| !is_gone(seq)).collect();
        let hidden: BTreeSet<Seq> = chain
            .iter()
            .filter(|row| self.is_in_effect(row.seq))
            .flat_map(|row| row.targets.iter().copied())
            .filter(|seq| !in_chain.contains(seq))
            .collect();
        let mut targets: Vec<Seq> = if hidden.is_subset(&wanted) {
            wanted.difference(&hidden).copied().collect()
        } else {
            // A revert in the chain may itself have taken earlier ones back; taking back all of them in turn leads to
            // the state before the first.
            in_chain.union(&wanted).copied().collect()
        };
        targets.sort_unstable_by(|a, b| b.cmp(a));
        let is_there = chain.last().is_some_and(|last| {
            let mark = SessionMark::Revert { message: place.message.to_owned(), part: place.part.map(str::to_owned) };
            last.mark.as_ref() == Some(&mark)
        });
        ToRevert { is_there: is_there && targets.is_empty(), targets }
    }

    /// The reverts to take back, newest first.
    pub(crate) fn unrevert(&self) -> Result<Vec<Seq>, NoWayBack> {
        let chain: Vec<Seq> = self.chain().iter().rev().map(|row| row.seq).collect();
        if !chain.is_empty() {
            return Ok(chain);
        }
        let Some(last) = self.rows.iter().rev().find(|row| row.is_revert()) else {
            return Err(NoWayBack::NeverReverted);
        };
        let reverts = self.reverts();
        let revert = last.seq;
        if let Some(by) = self.takers_of(revert).iter().find(|taker| !reverts.contains(taker)) {
            return Err(NoWayBack::TakenBack { revert, by: *by });
        }
        let closing = self.rows.iter().find(|row| row.seq > revert && row.closes(&reverts));
        Err(closing.map_or(NoWayBack::NeverReverted, |row| NoWayBack::Closed { revert, by: row.seq }))
    }
}

/// A place in a session's conversation: just before a message, or before a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place<'a> {
    pub(crate) message: &'a str,
    pub(crate) part: Option<&'a str>,
    /// The latest row when it was first seen.
    pub(crate) seen: Seq,
}

/// For each row that was taken back, the rows in effect that did it.
fn takers(outlines: &[Outline]) -> BTreeMap<Seq, Vec<Seq>> {
    let mut takers: BTreeMap<Seq, Vec<Seq>> = BTreeMap::new();
    // A row can only be taken back by later ones, so from the newest on it is known which are in effect.
    for outline in outlines.iter().rev() {
        let takes_back = matches!(outline.kind, Kind::Undo | Kind::Redo | Kind::Revert) && outline.whole;
        if takes_back && !takers.contains_key(&outline.seq) {
            // A redo of some of several steps leaves the others taken back, until a later one brings more of them back.
            let is_newest = outline.targets.iter().all(|target| !takers.contains_key(target));
            for target in outline.targets.iter().chain(outline.leaving.iter().filter(|_| is_newest)) {
                takers.entry(*target).or_default().push(outline.seq);
            }
        }
    }
    takers
}

#[cfg(test)]
mod tests;
