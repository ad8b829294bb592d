//! Takes back a session that is being opened: a debugger may take long to answer, or never do so.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use backsight_core::{Code, Error, NextStep};
use tokio::sync::oneshot;

/// The way to take back a session that is being opened. Clones are the same way.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recall(Arc<Mutex<Beginning>>);

/// How far a session is.
#[derive(Debug, Default)]
enum Beginning {
    /// Nothing was started for it yet.
    #[default]
    Before,
    /// It is being opened; what is dropped here ends its thread, and with it whatever was started.
    Opening(oneshot::Sender<()>),
    /// It is open, or could not be opened.
    Settled,
    TakenBack,
}

impl Recall {
    /// Takes the session back; false if it is too late for that.
    pub(crate) fn take_back(&self) -> bool {
        let mut beginning = self.lock();
        match &*beginning {
            Beginning::Settled => false,
            Beginning::Before | Beginning::Opening(_) | Beginning::TakenBack => {
                *beginning = Beginning::TakenBack;
                true
            }
        }
    }

    /// The session is being opened on a thread that ends with `stop`: at once, if it was taken back.
    pub(super) fn begin(&self, stop: oneshot::Sender<()>) {
        let mut beginning = self.lock();
        if let Beginning::Before = *beginning {
            *beginning = Beginning::Opening(stop);
        }
    }

    /// The session was opened, or was not: what ends its thread, unless it was taken back.
    pub(super) fn settle(&self) -> Option<oneshot::Sender<()>> {
        let mut beginning = self.lock();
        match std::mem::replace(&mut *beginning, Beginning::Settled) {
            Beginning::Opening(stop) => Some(stop),
            Beginning::Before | Beginning::Settled => None,
            Beginning::TakenBack => {
                *beginning = Beginning::TakenBack;
                None
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Beginning> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the caller who opened it is told.
pub(super) fn taken_back() -> Error {
    Error::new(Code::NoSession, "the session was disconnected before its debugger was ready")
        .then("start it again", NextStep::LaunchProgram)
}
