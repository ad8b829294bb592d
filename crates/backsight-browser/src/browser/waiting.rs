//! How a question waits: until what was done has taken effect and its consequences are in, and not in the silence before.

use std::sync::{MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use backsight_core::Timestamp;

use super::{Browser, LONGEST_WAIT, Resolved, State};
use crate::doubles;
use crate::report::Waited;
use crate::signs::Sign;
use crate::telemetry::Mark;
use crate::under_way::UnderWay;
use crate::window::Start;

/// An error seldom comes alone: how long a question that waited for one waits for what belongs to it.
const SETTLE: Duration = Duration::from_millis(250);
/// How long a question waits for messages that are held back: rejections for 250 ms, others for a source map.
const HELD: Duration = Duration::from_millis(400);
/// How often a waiting question looks whether it was taken back.
const GLANCE: Duration = Duration::from_millis(100);

/// How to wait: until the first error, or until something happened, nothing happened for a while after it, and neither a
/// request of the window nor a build is under way, or until it takes too long. The silence before anything happens is no
/// end: an edit has not taken effect yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// At most.
    pub most: Duration,
    /// Without any event.
    pub quiet: Duration,
}

impl Browser {
    /// Waits for messages that are held back for a moment; what still is afterwards is counted in the answer.
    pub(super) fn wait_for_held(&self) {
        let deadline = Instant::now() + HELD;
        let mut state = self.lock();
        while state.held > 0 {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            state = self.heard.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// The requests that are under way, all of them, whenever that changes.
    pub fn requests_under_way(&self, requests: &[UnderWay]) {
        let of_app = requests.iter().filter(|request| !doubles::is_scripts(&request.asked.url));
        self.lock().under_way = of_app.cloned().collect();
        self.heard.notify_all();
    }

    /// Takes note of what hot reload shows in the pages that are watched.
    pub(crate) fn shown(&self, sign: Sign) {
        let mut state = self.lock();
        let place = state.telemetry.step();
        state.signs.sign(sign, "", place, Instant::now());
        // What it leads to comes after it.
        state.heard_at = Instant::now();
        drop(state);
        self.heard.notify_all();
    }

    /// Waits; what was seen meanwhile, and in the window before.
    pub(super) fn wait(
        &self,
        mut state: MutexGuard<'_, State>,
        resolved: &Resolved,
        wait: Wait,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Waited {
        let began = Instant::now();
        // Who has never asked wants to know what there is.
        let call = if resolved.never_asked { Mark::START } else { state.telemetry.now() };
        let window = match resolved.start {
            Start::Mark(mark) => mark,
            Start::Time(_) => call,
        };
        let mut most = wait.most.min(LONGEST_WAIT);
        let mut is_settling = false;
        loop {
            if !is_settling && state.telemetry.has_error_since(window) {
                is_settling = true;
                most = most.min(began.elapsed() + SETTLE);
            }
            let left = most.saturating_sub(began.elapsed());
            let quiet = wait.quiet.saturating_sub(state.heard_at.max(began).elapsed());
            let saw = state.signs.seen(window.sequence, call.sequence);
            let is_busy = state.held > 0 || state.awaited(resolved.requests_from, (self.clock)()).next().is_some();
            let is_over = !saw.is_empty() && quiet.is_zero() && !is_busy && !state.signs.is_building(Instant::now());
            if left.is_zero() || is_over || is_cancelled() {
                return Waited { ms: began.elapsed().as_millis() as u64, saw };
            }
            let glance = if quiet.is_zero() { GLANCE } else { quiet.min(GLANCE) };
            let heard = self.heard.wait_timeout(state, left.min(glance));
            state = heard.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl State {
    /// The requests without which a window is not over.
    pub(super) fn awaited(&self, from: Timestamp, now: Timestamp) -> impl Iterator<Item = &UnderWay> {
        self.under_way.iter().filter(move |request| request.is_awaited(from, now))
    }
}
