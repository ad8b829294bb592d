//! Stops that are looked at before anybody hears of them. A visitor decides at each one whether it is everybody's, or whether
//! the program is captured and goes on by itself; as long as it decides, the program runs for everybody else.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use backsight_core::{Code, Result};
use serde_json::Value;

use super::control::StopReport;
use super::engine::{Engine, PATIENCE, Paused, lock};
use super::handshake::set_exceptions;
use super::state::{Change, State, Stop};
use crate::capture::Capture;
use crate::dap::types;
use crate::walk::{self, CapturePlan};

/// Decides what becomes of a stop.
pub trait Visitor: Send + Sync {
    /// What to do at a stop.
    fn arrive(&self, stop: &StopReport) -> Visit;

    /// Takes what was captured at it, or why nothing was.
    fn captured(&self, stop: &StopReport, capture: Result<Capture>) -> Onward;
}

/// The program comes to its first line, where exceptions begin to matter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entering {
    /// Whether somebody wants it to pause there.
    pub stays: bool,
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
        self.see_stops_first();
    }

    /// From now on stops are looked at before anybody hears of them.
    pub(crate) fn see_stops_first(&self) {
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
            match self.call_at_all(&paused).await {
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

    /// Whether the program shall go on from a stop of one or several threads.
    async fn call_at_all(&self, paused: &Paused) -> Result<bool> {
        let mut goes_on = self.call_at(paused).await?;
        if let (true, Some(words)) = (goes_on, &self.adapter.quirks.running_words) {
            self.find_others(paused, words).await?;
        }
        while goes_on && let Some(stop) = self.also_stopped(paused) {
            let also = Paused { epoch: paused.epoch, stop };
            goes_on = self.call_at(&also).await?;
            if !goes_on {
                self.still(paused)?;
                // This is the one that everybody shall see.
                self.change(Change::Stopped { stop: also.stop, aside: false });
                return Ok(false);
            }
        }
        self.still(paused)?;
        Ok(goes_on)
    }

    /// Finds the threads that hit the same breakpoint at the same time, of which the debugger says nothing: it would run
    /// them past it.
    async fn find_others(&self, paused: &Paused, words: &str) -> Result<()> {
        let Some(thread) = paused.stop.thread_id else { return Ok(()) };
        let at = self.instruction(paused, thread).await?;
        let told = self.ask("threads", Value::Null, PATIENCE).await?;
        let (threads, _) = types::list::<types::Thread>(told, "threads");
        for other in threads.into_iter().filter(|other| other.id != thread && other.name.contains(words)) {
            if at.is_some() && self.instruction(paused, other.id).await? == at {
                lock(&self.also_stopped).push(Stop { thread_id: Some(other.id), ..paused.stop.clone() });
            }
        }
        Ok(())
    }

    /// Where exactly a thread is.
    async fn instruction(&self, paused: &Paused, thread: i64) -> Result<Option<String>> {
        let frames = self.stack(paused, thread, 1).await?;
        Ok(frames.first().and_then(|frame| frame.instruction_pointer_reference.clone()))
    }

    /// What happened at a stop in a thread that was not looked at yet.
    fn also_stopped(&self, paused: &Paused) -> Option<Stop> {
        let mut also = lock(&self.also_stopped);
        also.retain(|stop| stop.thread_id != paused.stop.thread_id);
        (!also.is_empty()).then(|| also.remove(0))
    }

    /// Whether the program shall go on.
    async fn call_at(&self, paused: &Paused) -> Result<bool> {
        let report = self.report(paused).await?;
        let entered = lock(&self.entering).take();
        if let Some(Entering { stays }) = entered {
            set_exceptions(self).await?;
            if report.stop.reason == "entry" {
                return Ok(!stays);
            }
        }
        // Whoever asked for a condition is told that it means nothing.
        if report.stop.problem.is_some() {
            return Ok(false);
        }
        if self.breakpoints().passes(&report.breakpoints) {
            return Ok(true);
        }
        let Some(visitor) = lock(&self.visitor).clone() else { return Ok(false) };
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
                match self.remove_breakpoint(&id).await {
                    // Somebody else was faster.
                    Err(error) if error.code() != Code::RefNotFound => Err(error),
                    _ => Ok(true),
                }
            }
        }
    }
}
