//! Snapshots that are taken by themselves.

use backsight_core::{Effect, Operation, Result, Waits, short_enough, within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::limits::{self, usage};
use super::{AnswerPart, Asked, BreakpointSpec, CaptureExtent};
use crate::debugger::{Debugger, PointList, PointRequest, PointView};
use crate::report::Series;

/// From now on capture the program whenever it comes by a place, and let it go on.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct CaptureAt {
    /// Which program, by the name of its session; the only one, or `main`, when left out.
    pub session: Option<String>,
    /// Where and when.
    #[serde(flatten)]
    pub at: BreakpointSpec,
    /// What the series is called; made of the place when left out.
    pub name: Option<String>,
    /// Finish after so many snapshots; 100 when left out.
    #[schemars(range(min = 1, max = limits::MOST_HITS))]
    pub max_hits: Option<u64>,
    /// Capture only every so many hits.
    #[schemars(range(min = 1))]
    pub every: Option<u64>,
    /// How much is captured.
    #[serde(flatten)]
    pub extent: CaptureExtent,
}

impl Operation for CaptureAt {
    type Answer = PointView;
    const EFFECT: Effect = Effect::Runs;
    const WAITS: Waits = Waits::ForDebugger;

    fn check(&self) -> Result<()> {
        self.at.request()?;
        if self.at.log_message.is_some() {
            return Err(usage("a snapshot point has no log message: what it captured is in its series"));
        }
        within("max_hits", self.max_hits.unwrap_or(1), 1..=limits::MOST_HITS)?;
        within("every", self.every.unwrap_or(1), 1..=u64::MAX)?;
        short_enough("name", self.name.as_deref().unwrap_or_default())?;
        self.extent.check()
    }
}

impl Asked for CaptureAt {
    fn ask(self, debugger: &Debugger, _: &dyn Fn() -> bool) -> Result<PointView> {
        let CaptureAt { session, at, name, max_hits, every, extent } = self;
        let request = PointRequest { name, breakpoint: at.request()?, max_hits, every, plan: extent.plan(0) };
        debugger.snapshot_on(session.as_deref(), request)
    }
}

/// List the snapshot points, also those that are finished.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ListPoints {
    /// Which program, by the name of its session; the only one, or `main`, when left out.
    pub session: Option<String>,
}

impl Operation for ListPoints {
    type Answer = PointList;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDebugger;
}

impl Asked for ListPoints {
    fn ask(self, debugger: &Debugger, _: &dyn Fn() -> bool) -> Result<PointList> {
        debugger.snapshot_points(self.session.as_deref())
    }
}

/// Read what a snapshot point captured, as a table: a row for each hit, a column for each value that changed.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ReadSeries {
    /// Which program, by the name of its session; the only one, or `main`, when left out.
    pub session: Option<String>,
    /// The series' name.
    pub name: String,
    /// Which of it.
    #[serde(flatten)]
    pub part: AnswerPart,
}

impl Operation for ReadSeries {
    type Answer = Series;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDebugger;

    fn check(&self) -> Result<()> {
        short_enough("name", &self.name)?;
        self.part.check()
    }
}

impl Asked for ReadSeries {
    fn ask(self, debugger: &Debugger, _: &dyn Fn() -> bool) -> Result<Series> {
        debugger.series(self.session.as_deref(), &self.name, &self.part.options())
    }
}
