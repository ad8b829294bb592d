//! The sessions that are being opened. A debugger may take long to answer, or never do so: meanwhile other sessions begin
//! and are asked, and this one can be taken back.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use backsight_core::{Code, Error, NextStep, Result};

use super::lock;
use crate::session::Recall;

/// What was started for a session takes this long to be gone at most, unless the machine is stuck.
const DEATH: Duration = Duration::from_secs(5);

/// The sessions that are being opened.
#[derive(Default)]
pub(super) struct Beginnings {
    opening: Mutex<Opening>,
    /// Told whenever one is not being opened any more.
    settled: Condvar,
}

#[derive(Default)]
struct Opening {
    sessions: Vec<(String, Origin, Recall)>,
    /// Nothing begins any more.
    closed: bool,
}

/// Where a session's program comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// It is started for the session.
    Launched,
    /// It was there before.
    Attached,
}

/// A session that is being opened, as long as this is there.
pub(super) struct Beginning<'a> {
    beginnings: &'a Beginnings,
    name: String,
    recall: Recall,
}

impl Beginnings {
    /// A session begins, if the check that is given the names of those that are being opened lets it.
    pub(super) fn enter(
        &self,
        name: &str,
        origin: Origin,
        check: impl FnOnce(&[&str]) -> Result<()>,
    ) -> Result<Beginning<'_>> {
        let mut opening = lock(&self.opening);
        if opening.closed {
            return Err(Error::new(Code::NoSession, "no session begins any more: the server ends"));
        }
        check(&opening.names())?;
        let recall = Recall::default();
        opening.sessions.push((name.to_owned(), origin, recall.clone()));
        Ok(Beginning { beginnings: self, name: name.to_owned(), recall })
    }

    /// Says that a session is still being opened, if it is the one that is asked for.
    pub(super) fn refuse(&self, name: Option<&str>, others_live: bool) -> Result<()> {
        let opening = lock(&self.opening);
        match opening.wanted(name, others_live) {
            Some((session, ..)) => {
                Err(Error::new(Code::Busy, format!("session `{session}` waits for its debugger to be ready"))
                    .with_hint("ask again")
                    .or("end it", NextStep::EndProgram))
            }
            None => Ok(()),
        }
    }

    /// Takes a session back that is being opened; it is gone afterwards. Nothing if there is none, or if it was just opened.
    pub(super) fn take_back(&self, name: Option<&str>, others_live: bool) -> Option<(String, Origin)> {
        let opening = lock(&self.opening);
        let (session, origin, recall) = opening.wanted(name, others_live)?.clone();
        let taken = recall.take_back();
        let is_there = |opening: &mut Opening| opening.sessions.iter().any(|(other, ..)| *other == session);
        let waited = self.settled.wait_timeout_while(opening, DEATH, is_there);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
        taken.then_some((session, origin))
    }

    /// Takes all of them back; from now on nothing begins.
    pub(super) fn close(&self) {
        let mut opening = lock(&self.opening);
        opening.closed = true;
        for (.., recall) in &opening.sessions {
            recall.take_back();
        }
        let waited = self.settled.wait_timeout_while(opening, DEATH, |opening| !opening.sessions.is_empty());
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }
}

impl Opening {
    fn names(&self) -> Vec<&str> {
        self.sessions.iter().map(|(name, ..)| name.as_str()).collect()
    }

    /// The one of a name; without a name the only one, unless another session can be meant.
    fn wanted(&self, name: Option<&str>, others_live: bool) -> Option<&(String, Origin, Recall)> {
        match (name, self.sessions.as_slice()) {
            (Some(name), sessions) => sessions.iter().find(|(session, ..)| session == name),
            (None, [only]) if !others_live => Some(only),
            (None, sessions) if !others_live => sessions.iter().find(|(session, ..)| session == super::MAIN),
            (None, _) => None,
        }
    }
}

impl Beginning<'_> {
    /// The way to take it back.
    pub(super) fn recall(&self) -> &Recall {
        &self.recall
    }
}

impl Drop for Beginning<'_> {
    fn drop(&mut self) {
        lock(&self.beginnings.opening).sessions.retain(|(name, ..)| *name != self.name);
        self.beginnings.settled.notify_all();
    }
}
