//! What is kept of one session: its snapshots and its snapshot points. It outlives the session by what it has to say about
//! its end.

use std::sync::{Arc, Mutex};

use backsight_core::{Code, Error, NextStep, Notables, Result};
use backsight_redact::Redactor;
use serde_json::{Value, json};

use super::answer::{NotableKind, PointView};
use super::points::Point;
use super::{Random, facts, lock, note};
use crate::capture::Capture;
use crate::session::{Clock, StopReport};
use crate::store::{Created, Naming, Store};

/// What is kept of a session.
pub(super) struct Shelf {
    pub session: String,
    redactor: Redactor,
    snapshots: Mutex<Snapshots>,
    points: Mutex<Vec<Point>>,
    pub random: Random,
    clock: Clock,
    notables: Arc<Mutex<Notables<NotableKind>>>,
    /// The epoch of the last stop that was noted.
    noted: Mutex<u64>,
}

/// The snapshots of a session, as long as it lives.
enum Snapshots {
    Open(Store),
    /// The program has ended: only the hits of snapshot points are left, until the session is disconnected.
    Series {
        store: Store,
        count: usize,
    },
    Cleared {
        count: usize,
        reason: String,
    },
}

impl Shelf {
    pub(super) fn new(
        session: String,
        salt: u64,
        random: Random,
        clock: Clock,
        notables: Arc<Mutex<Notables<NotableKind>>>,
    ) -> Arc<Self> {
        let store = Store::new(salt);
        Arc::new(Shelf {
            session,
            redactor: store.redactor().clone(),
            snapshots: Mutex::new(Snapshots::Open(store)),
            points: Mutex::default(),
            random,
            clock,
            notables,
            noted: Mutex::default(),
        })
    }

    pub(super) fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// Does something with the snapshots, unless they are gone.
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut Store) -> Result<T>) -> Result<T> {
        match &mut *lock(&self.snapshots) {
            Snapshots::Open(store) | Snapshots::Series { store, .. } => work(store),
            Snapshots::Cleared { count, reason } => {
                let message =
                    format!("session `{}` is over ({reason}); its {count} snapshots were cleared", self.session);
                Err(Error::new(Code::NoSession, message).then("start the program again", NextStep::LaunchProgram))
            }
        }
    }

    /// Keeps a capture.
    pub(super) fn keep(&self, capture: Capture, naming: Naming) -> Result<Created> {
        let random = (self.random)()?;
        self.with(|store| store.create(capture, naming, random))
    }

    /// How many snapshots there are.
    pub(super) fn count(&self) -> usize {
        match &*lock(&self.snapshots) {
            Snapshots::Open(store) | Snapshots::Series { store, .. } => store.len(),
            Snapshots::Cleared { .. } => 0,
        }
    }

    /// How many were cleared; none as long as the session lives.
    pub(super) fn cleared_at_end(&self) -> Option<usize> {
        match &*lock(&self.snapshots) {
            Snapshots::Open(_) => None,
            Snapshots::Series { count, .. } | Snapshots::Cleared { count, .. } => Some(*count),
        }
    }

    /// How many were cleared.
    pub(super) fn cleared(&self) -> usize {
        self.cleared_at_end().unwrap_or(0)
    }

    /// The session is over: what was kept is cleared, and the timeline is told how much. Once. Of a program that ended by
    /// itself the hits of snapshot points stay: that is how such a run ends.
    pub(super) fn end(&self, reason: &str, by_itself: bool) {
        let reason = &*self.redactor.spoken(reason);
        // Held until all is told: whoever finds them cleared finds the reason in the timeline.
        let mut snapshots = lock(&self.snapshots);
        let Snapshots::Open(store) = &mut *snapshots else { return };
        let (count, kept) = if by_itself { store.clear_but_series() } else { (store.clear(), 0) };
        *snapshots = match kept {
            0 => Snapshots::Cleared { count, reason: reason.to_owned() },
            _ => Snapshots::Series { store: std::mem::replace(store, Store::new(0)), count },
        };
        let names: Vec<String> = self.points().into_iter().map(|point| point.name).collect();
        names.iter().for_each(|name| self.note_series(name));
        let mut details = facts(&self.session);
        details["reason"] = json!(reason);
        details["cleared_snapshots"] = json!(count);
        let what = if count == 1 { "1 snapshot was".to_owned() } else { format!("{count} snapshots were") };
        let stay =
            if kept > 0 { format!(", {kept} of snapshot points stay until it is disconnected") } else { String::new() };
        let description = format!("debug session `{}` is over: {reason}; {what} cleared{stay}", self.session);
        self.note(NotableKind::End, description, details);
    }

    /// Nothing is kept any more.
    pub(super) fn close(&self) {
        let mut snapshots = lock(&self.snapshots);
        if let Snapshots::Series { store, count } = &mut *snapshots {
            let count = *count + store.clear();
            *snapshots = Snapshots::Cleared { count, reason: "it was disconnected".to_owned() };
        }
    }

    /// Notes something for the timeline, where it stays: so no secret goes there, whatever the text is made of.
    fn note(&self, kind: NotableKind, description: String, mut details: Value) {
        for detail in details.as_object_mut().into_iter().flat_map(|details| details.values_mut()) {
            if let Value::String(text) = detail {
                *text = self.redactor.spoken(text);
            }
        }
        note(&self.notables, kind, (self.clock)(), self.redactor.spoken(&description), details);
    }

    /// Notes a stop for the timeline, once. Steps are too many to be told.
    pub(super) fn note_stop(&self, stop: &StopReport) {
        let is_new = std::mem::replace(&mut *lock(&self.noted), stop.epoch) != stop.epoch;
        if !is_new || stop.stop.reason == "step" {
            return;
        }
        let frame = stop.frame.as_ref();
        let function = frame.map_or("", |frame| frame.function.as_str());
        let place = frame.and_then(|frame| Some(format!(" ({}:{})", frame.file.as_deref()?, frame.line?)));
        let about = stop.stop.description.as_deref().filter(|about| !about.is_empty());
        let about = about.map(|about| format!(": {about}")).unwrap_or_default();
        let place = place.unwrap_or_default();
        let description = format!("{} in {function}{place}{about}", stop.stop.reason);
        let mut details = facts(&self.session);
        details["reason"] = json!(stop.stop.reason);
        details["function"] = json!(function);
        details["file"] = json!(frame.and_then(|frame| frame.file.as_ref()));
        details["line"] = json!(frame.and_then(|frame| frame.line));
        self.note(NotableKind::Stop, description, details);
    }

    /// Notes a snapshot, or the last one of a series, for the timeline.
    pub(super) fn note_capture(&self, capture: &Capture, series: Option<(&str, u64)>) {
        let place = crate::store::place(capture);
        let mut details = facts(&self.session);
        details["snapshot_id"] = json!(capture.id);
        details["label"] = json!(capture.label);
        details["variables"] = json!(capture.variable_count());
        details["file"] = json!(capture.frames.first().and_then(|frame| frame.file.as_ref()));
        details["line"] = json!(capture.frames.first().and_then(|frame| frame.line));
        let description = match series {
            None => format!("captured `{}` in {place}", capture.label),
            Some((name, count)) => {
                details["series"] = json!(name);
                details["captured"] = json!(count);
                format!("captured `{name}` {count} times in {place}")
            }
        };
        self.note(NotableKind::Capture, description, details);
    }

    /// Notes what a point took, for the timeline: once for all its hits.
    pub(super) fn note_series(&self, name: &str) {
        if let Some((last, count)) = self.with_point(name, Point::taken).flatten() {
            self.note_capture(&last, Some((name, count)));
        }
    }

    pub(super) fn drop_point(&self, name: &str) {
        lock(&self.points).retain(|point| point.view.name != name);
    }

    pub(super) fn add_point(&self, point: Point) {
        let mut points = lock(&self.points);
        points.retain(|other| other.view.name != point.view.name);
        points.push(point);
    }

    /// Does something with the point of a name.
    pub(super) fn with_point<T>(&self, name: &str, work: impl FnOnce(&mut Point) -> T) -> Option<T> {
        lock(&self.points).iter_mut().find(|point| point.view.name == name).map(work)
    }

    /// The point was removed.
    pub(super) fn finish_point(&self, name: &str) {
        self.with_point(name, Point::finish);
        self.note_series(name);
    }

    /// The program is paused for everybody.
    pub(super) fn nobody_is_late(&self) {
        lock(&self.points).iter_mut().for_each(Point::nobody_is_late);
    }

    /// Whether a stop is a last hit of a point that was removed while the program was on its way there.
    pub(super) fn is_late(&self, stop: &StopReport) -> bool {
        lock(&self.points).iter_mut().any(|point| point.is_late(stop))
    }

    pub(super) fn points(&self) -> Vec<PointView> {
        let mut points: Vec<PointView> = lock(&self.points).iter().map(|point| point.view.clone()).collect();
        for point in &mut points {
            point.problem = point.problem.as_deref().map(|problem| self.redactor.spoken(problem));
        }
        points
    }

    /// How many snapshots the points took in all.
    pub(super) fn captured(&self) -> u64 {
        lock(&self.points).iter().map(|point| point.view.captured).sum()
    }
}
