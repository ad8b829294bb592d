//! Finds out which pages stand still: what holds a page also holds everything it would say, so silence means nothing.

use std::sync::mpsc::SyncSender;

use serde_json::json;

use super::{Answered, Epoch};
use crate::cdp::connection::Refused;
use crate::cdp::watch::LIVENESS;

/// Something that every page can do at once and that changes nothing. A page that a debugger holds still answers, but does
/// not come to what it promised; and what a page replaces of its own functions is not used.
const ALIVE: &str = "(async () => 1)()";

impl Epoch<'_> {
    /// Asks every page that has no better excuse whether it is alive.
    pub(super) fn check(&mut self, to: SyncSender<()>) {
        let params = json!({ "expression": ALIVE, "awaitPromise": true, "returnByValue": true, "silent": true });
        let ask = |session: String| {
            let answer = self.connection.send(Some(&session), "Runtime.evaluate", &params, LIVENESS);
            (session, answer)
        };
        let asked: Vec<_> = self.targets.page_sessions().into_iter().map(ask).collect();
        self.questions.spawn(async move {
            let mut silent = Vec::new();
            for (session, answer) in asked {
                // One that refuses has answered: it went elsewhere, or is gone.
                if matches!(answer.await, Err(Refused::TimedOut)) {
                    silent.push(session);
                }
            }
            Answered::Checked { silent, to }
        });
    }

    pub(super) fn is_checked(&mut self, silent: &[String], to: SyncSender<()>) {
        silent.iter().for_each(|session| self.stands_still(session));
        self.checked.push(to);
    }
}
