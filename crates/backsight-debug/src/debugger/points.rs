//! Snapshot points: places at which the program is captured and goes on by itself.

use std::path::Path;
use std::sync::Arc;

use backsight_core::{Code, Error, NextStep, Result};

use super::answer::{PointList, PointState, PointView};
use super::shelf::Shelf;
use super::{Debugger, held, usage};
use crate::capture::Capture;
use crate::session::{BreakpointRequest, Onward, Place, StopReport, Visit, Visitor};
use crate::store::Naming;
use crate::walk::CapturePlan;

/// How many hits are captured when nobody says.
const USUAL_HITS: u64 = 100;
/// More hits are refused: the snapshots would not fit.
const MOST_HITS: u64 = 10_000;

/// Where and what to capture.
#[derive(Clone, Debug)]
pub struct PointRequest {
    /// The series' name; without one it is made of the place.
    pub name: Option<String>,
    /// Where, and under which condition.
    pub breakpoint: BreakpointRequest,
    /// Finish after so many snapshots.
    pub max_hits: Option<u64>,
    /// Capture only every so many hits.
    pub every: Option<u64>,
    /// What to capture.
    pub plan: CapturePlan,
}

/// A snapshot point.
pub(super) struct Point {
    pub view: PointView,
    every: u64,
    plan: CapturePlan,
    /// The last snapshot, for the timeline.
    last: Option<Arc<Capture>>,
    /// The line it is really at, when that is another one.
    line: Option<u32>,
    /// It was just removed, when the program may have been on its way to it: the threads that came late.
    late: Option<Vec<Option<i64>>>,
}

/// Decides about stops for the points of a session.
struct Points(Arc<Shelf>);

impl Debugger {
    /// From now on the program is captured whenever it comes by a place, and goes on.
    pub fn snapshot_on(&self, name: Option<&str>, request: PointRequest) -> Result<PointView> {
        let PointRequest { name: series, breakpoint: mut at, max_hits, every, plan } = request;
        held::check(&mut at, &self.options.root)?;
        if at.log_message.is_some() {
            return Err(usage("a snapshot point has no log message: what it captured is in its series"));
        }
        let max_hits = max_hits.unwrap_or(USUAL_HITS);
        let every = every.unwrap_or(1);
        if !(1..=MOST_HITS).contains(&max_hits) || every == 0 {
            return Err(usage(format!("`max_hits` is a number from 1 to {MOST_HITS}, `every` one from 1")));
        }
        let held = self.session(name)?;
        let series = series.unwrap_or_else(|| series_name(&at.at));
        crate::store::check_label(&series)?;
        let taken = held.shelf.with_point(&series, |point| point.view.state != PointState::Finished);
        if taken == Some(true) {
            return Err(Error::new(Code::Conflict, format!("a snapshot point `{series}` is set already"))
                .then("remove its breakpoint first", NextStep::ListBreakpoints)
                .or_hint("choose another name"));
        }
        // All is ready before the breakpoint is set, since the program may come by at once.
        let view = PointView::new(series.clone(), at.clone(), max_hits);
        held.shelf.add_point(Point { view, every, plan, last: None, line: None, late: None });
        held.session.visit_stops(Arc::new(Points(Arc::clone(&held.shelf))));
        match held.session.set_point(at, series.clone()) {
            Ok(breakpoint) => {
                let set = held.shelf.with_point(&series, |point| {
                    point.line = breakpoint.line;
                    point.view.set(breakpoint);
                    point.view.clone()
                });
                set.ok_or_else(|| Error::new(Code::NoSession, "the session ended meanwhile"))
            }
            Err(error) => {
                held.shelf.drop_point(&series);
                Err(error)
            }
        }
    }

    /// The snapshot points, also those that are finished.
    pub fn snapshot_points(&self, name: Option<&str>) -> Result<PointList> {
        let held = self.session(name)?;
        let mut points = held.shelf.points();
        let breakpoints = held.session.status().breakpoints;
        for point in &mut points {
            // A debugger that loads code later binds later.
            let there = breakpoints.iter().find(|there| Some(&there.id) == point.breakpoint.as_ref());
            if let Some(there) = there {
                point.set(there.clone());
            }
        }
        Ok(PointList { points })
    }
}

impl Visitor for Points {
    fn arrive(&self, stop: &StopReport) -> Visit {
        match (stop.breakpoints.as_slice(), &stop.point) {
            ([_], Some(name)) => self.0.with_point(name, Point::arrive).unwrap_or(Visit::Show),
            ([], None) if self.0.is_late(stop) => Visit::Pass,
            // At a breakpoint of somebody else, or at several, the program pauses for everybody.
            _ => {
                self.0.nobody_is_late();
                Visit::Show
            }
        }
    }

    fn captured(&self, stop: &StopReport, capture: Result<Capture>) -> Onward {
        let (Some(id), Some(name)) = (stop.breakpoints.first(), &stop.point) else { return Onward::Show };
        let kept = capture.and_then(|capture| self.0.keep(capture, Naming::Hit(name.clone())));
        let take = |point: &mut Point| match kept {
            Ok(created) => point.take(created.capture, id),
            // The program ended under it, which is told otherwise.
            Err(error) if error.code() == Code::NoSession => Onward::Show,
            Err(error) => {
                point.view.hits += 1;
                (point.view.state, point.view.problem) = (PointState::Failed, Some(error.message().to_owned()));
                Onward::Show
            }
        };
        let onward = self.0.with_point(name, take).unwrap_or(Onward::Show);
        if onward != Onward::Continue {
            self.0.note_series(name);
        }
        onward
    }
}

impl Point {
    /// What to do at a hit. It counts once it is passed or captured: until then it may be looked at again.
    fn arrive(&mut self) -> Visit {
        if (self.view.hits + 1).is_multiple_of(self.every) {
            return Visit::Capture(self.plan.clone());
        }
        self.view.hits += 1;
        Visit::Pass
    }

    fn take(&mut self, capture: Arc<Capture>, breakpoint: &str) -> Onward {
        self.view.hits += 1;
        self.view.captured += 1;
        self.last = Some(capture);
        if self.view.state == PointState::Failed {
            self.view.state = PointState::Active;
        }
        if self.view.captured < self.view.max_hits {
            return Onward::Continue;
        }
        self.finish();
        Onward::Without(breakpoint.to_owned())
    }

    /// No more hits are wanted.
    pub(super) fn finish(&mut self) {
        (self.view.state, self.view.breakpoint, self.late) = (PointState::Finished, None, Some(Vec::new()));
    }

    /// Why its last capture failed, unless one has succeeded since.
    pub(super) fn problem(&self) -> Option<String> {
        self.view.problem.clone().filter(|_| self.view.state == PointState::Failed)
    }

    /// From now on nobody can be on the way to it.
    pub(super) fn nobody_is_late(&mut self) {
        self.late = None;
    }

    /// Whether a stop at no known breakpoint is its last hit. Each thread has one.
    pub(super) fn is_late(&mut self, stop: &StopReport) -> bool {
        let (Some(frame), Some(late)) = (&stop.frame, &mut self.late) else { return false };
        if late.contains(&stop.stop.thread_id) {
            return false;
        }
        let is_here = match &self.view.request.at {
            Place::Line { file, line } => {
                let at_line = frame.line == self.line.or(Some(*line));
                at_line && frame.file.as_deref().is_some_and(|there| Path::new(there) == file)
            }
            Place::Function(name) => frame.function.ends_with(name.as_str()),
            Place::Exception(_) => stop.stop.reason == "exception",
        };
        let is_hit = stop.stop.reason.contains("breakpoint") || stop.stop.reason == "exception";
        if is_here && is_hit {
            late.push(stop.stop.thread_id);
        }
        is_here && is_hit
    }

    /// What it took, once, for the timeline.
    pub(super) fn taken(&mut self) -> Option<(Arc<Capture>, u64)> {
        self.last.take().map(|last| (last, self.view.captured))
    }
}

/// `shop.py-12`, `total`, `exception-all`.
fn series_name(place: &Place) -> String {
    match place {
        Place::Line { file, line } => {
            let name = file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
            format!("{name}-{line}")
        }
        Place::Function(name) => name.clone(),
        Place::Exception(name) => format!("exception-{name}"),
    }
}
