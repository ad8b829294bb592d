//! How a question waits: until what was done has taken effect and its consequences are in, and not in the silence before.

use std::sync::{MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use backsight_core::Timestamp;

use super::{Browser, LONGEST_WAIT, Resolved, State, Wait};
use crate::report::Waited;
use crate::telemetry::Mark;
use crate::under_way::UnderWay;
use crate::window::Start;

/// An error seldom comes alone: how long a question that waited for one waits for what belongs to it.
const SETTLE: Duration = Duration::from_millis(250);
/// How often a waiting question looks whether it was taken back.
const GLANCE: Duration = Duration::from_millis(100);

impl Browser {
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
