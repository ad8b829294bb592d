//! Stops that are looked at before anybody hears of them. A visitor decides at each one whether it is everybody's, or whether
//! the program is captured and goes on by itself; as long as it decides, the program runs for everybody else.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use backsight_core::{Code, Result};

use super::control::StopReport;
use super::engine::{Engine, Paused, lock};
use super::state::{Change, State};
use crate::capture::Capture;
use crate::walk::{self, CapturePlan};

/// Decides what becomes of a stop.
pub trait Visitor: Send + Sync {
    /// What to do at a stop.
    fn arrive(&self, stop: &StopReport) -> Visit;

    /// Takes what was captured at it, or why nothing was.
    fn captured(&self, stop: &StopReport, capture: Result<Capture>) -> Onward;
}

/// What to do at a stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Visit {
    /// It is everybody's.
    Show,
    /// Go on, there is nothing to see.
    Pass,
    /// Capture this.
    Capture(CapturePlan),
}

/// What to do after a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Onward {
    /// Go on.
    Continue,
    /// Go on without this breakpoint.
    Without(String),
    /// Stay, and tell everybody.
    Show,
}

impl Engine {
    /// From now on a visitor sees every stop first.
    pub(crate) fn visit_stops(&self, visitor: Arc<dyn Visitor>) {
        *lock(&self.visitor) = Some(visitor);
        self.change_moment(|moment| {
            moment.visit_stops();
            false
        });
    }

    /// Looks at the present stop.
    pub(crate) async fn visit(self: Arc<Self>) {
        // Another thread may report its stop meanwhile: then what was seen is of another epoch.
        for _ in 0..10 {
            let Some(paused) = self.visited() else { return };
            match self.call_at(&paused).await {
                Ok(true) if self.goes_on() && self.resume_from(&paused, "continue", None).await.is_ok() => return,
                Err(error) if error.code() == Code::StateChanged => {}
                _ => break,
            }
        }
        self.change(Change::Shown);
    }

    /// The stop that is being looked at.
    fn visited(&self) -> Option<Paused> {
        let moment = self.moment();
        match moment.state.clone() {
            State::Stopped(stop) if moment.is_visiting() => Some(Paused { epoch: moment.epoch, stop }),
            _ => None,
        }
    }

    /// Whether nobody wants it to stay: a step that ends here is somebody's, and so is a pause.
    fn goes_on(&self) -> bool {
        !self.stepping.load(Ordering::SeqCst) && !self.pausing.load(Ordering::SeqCst)
    }

    /// Whether the program shall go on.
    async fn call_at(&self, paused: &Paused) -> Result<bool> {
        let Some(visitor) = lock(&self.visitor).clone() else { return Ok(false) };
        let report = self.report(paused).await?;
        let plan = match visitor.arrive(&report) {
            Visit::Show => return Ok(false),
            Visit::Pass => return Ok(true),
            Visit::Capture(plan) => plan,
        };
        let capture = walk::capture(self, paused, &plan).await;
        if let Err(error) = &capture
            && error.code() == Code::StateChanged
        {
            return Err(backsight_core::Error::new(Code::StateChanged, error.message()));
        }
        match visitor.captured(&report, capture) {
            Onward::Continue => Ok(true),
            Onward::Show => Ok(false),
            Onward::Without(id) => {
                self.remove_breakpoint(&id).await?;
                Ok(true)
            }
        }
    }
}
