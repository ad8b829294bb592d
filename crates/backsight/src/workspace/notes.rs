//! What the live lanes saw, written into the timeline.

use std::sync::{Mutex, PoisonError};

#[cfg(feature = "browser")]
use backsight_browser::NotableKind as Seen;
use backsight_core::{Notable, Result, Seq};
#[cfg(feature = "debug")]
use backsight_debug::debugger::NotableKind as Debugged;

use super::Workspace;
use crate::report::{Kind, Origin};
use crate::timeline::NewEvent;

/// Taken from the lanes and not yet in the timeline.
pub(super) type Waiting = Mutex<Vec<Notable<Kind>>>;

impl Workspace {
    /// Records in the timeline what was notable in the live lanes since the last time; how many rows that made. What
    /// cannot be recorded just now is recorded the next time.
    pub fn note_lanes(&self) -> Result<usize> {
        let mut waiting = self.shared.notes.lock().unwrap_or_else(PoisonError::into_inner);
        // While some wait for a timeline that could not be written to, the lanes keep and count the others.
        if waiting.is_empty() {
            *waiting = self.take_notables();
        }
        if waiting.is_empty() {
            return Ok(0);
        }
        let events = waiting.iter().map(|notable| self.event_of(notable)).collect::<Result<Vec<NewEvent>>>()?;
        let writing = self.writing()?;
        let opened = writing.opened;
        let used = opened.files.latest_named()?.unwrap_or(Seq(0));
        opened.timeline.append_events(&events, used)?;
        waiting.clear();
        Ok(events.len())
    }

    fn take_notables(&self) -> Vec<Notable<Kind>> {
        let mut all: Vec<Notable<Kind>> = Vec::new();
        #[cfg(feature = "browser")]
        if let Some(lane) = self.browser_if_used() {
            all.extend(lane.take_notables().into_iter().map(|notable| with_kind(notable, of_app)));
        }
        #[cfg(feature = "debug")]
        if let Some(lane) = self.debugger_if_used() {
            all.extend(lane.take_notables().into_iter().map(|notable| with_kind(notable, of_program)));
        }
        all.sort_by_key(|notable| notable.time);
        all
    }

    fn event_of(&self, notable: &Notable<Kind>) -> Result<NewEvent> {
        let mut details = notable.details.clone();
        if let Some(details) = details.as_object_mut() {
            details.insert("time".to_owned(), serde_json::json!(notable.time));
        }
        Ok(NewEvent {
            id: self.new_id()?,
            kind: notable.kind,
            timestamp: self.settings.now(),
            description: notable.description.clone(),
            origin: Origin::default(),
            details,
        })
    }
}

#[cfg(feature = "debug")]
fn with_kind<Own>(notable: Notable<Own>, kind: impl Fn(Own) -> Kind) -> Notable<Kind> {
    let Notable { kind: own, time, description, details } = notable;
    Notable { kind: kind(own), time, description, details }
}

#[cfg(feature = "browser")]
fn of_app(kind: Seen) -> Kind {
    match kind {
        Seen::FirstError => Kind::FirstError,
        Seen::Recovery => Kind::Recovery,
        Seen::Navigation => Kind::Navigation,
    }
}

#[cfg(feature = "debug")]
fn of_program(kind: Debugged) -> Kind {
    match kind {
        Debugged::Stop => Kind::DebuggerStop,
        Debugged::Capture => Kind::Capture,
        Debugged::End => Kind::DebugEnd,
    }
}
