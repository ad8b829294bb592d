//! Taking leave of sessions and of the browser, so that nothing that waited for us stands still afterwards.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::{Answered, BATCH, End, Epoch, PATIENCE, RUN, belongings};
use crate::cdp::connection::Incoming;

/// How long taking leave of a browser may take altogether.
const FAREWELL: Duration = Duration::from_secs(2);
/// A worker that has begun to start says so within this time.
const QUIET: Duration = Duration::from_millis(150);

impl Epoch<'_> {
    /// Takes leave so that nothing stands still: a worker that is about to start when we go would wait for us for ever, and
    /// the permission to run is lost if we go before it has arrived. So first nothing new has to wait, and then those that
    /// already do are let run, until no more of them come and all have said that they run.
    pub(super) async fn let_go(&mut self, incoming: &mut Incoming) {
        let over = Instant::now() + FAREWELL;
        for session in self.targets.sessions() {
            self.release(&session);
        }
        let mut quiet = Instant::now() + QUIET;
        let mut batch = Vec::new();
        while Instant::now() < over && (self.beginnings > 0 || Instant::now() < quiet) {
            let until = if self.beginnings > 0 { over } else { quiet.min(over) };
            tokio::select! {
                open = incoming.take(&mut batch, BATCH) => {
                    if !open {
                        return;
                    }
                }
                Some(answered) = self.questions.join_next() => {
                    self.take_answer(answered.ok());
                    quiet = Instant::now() + QUIET;
                }
                () = tokio::time::sleep_until(until) => {}
            }
            batch.drain(..).for_each(|heard| self.hear(heard));
        }
    }

    /// What belongs to this session starts without waiting for us from now on.
    pub(super) fn release(&mut self, session: &str) {
        let session = session.to_owned();
        let answer = self.connection.send(Some(&session), "Target.setAutoAttach", &belongings(false), PATIENCE);
        self.beginnings += 1;
        self.questions.spawn(async move {
            let _ = answer.await;
            Answered::Runs
        });
    }

    /// Everything is over: what was still open is told, and the browser is left alone.
    pub(crate) async fn finish(mut self, end: &End) {
        for session in self.targets.sessions() {
            let told = self.translator.detached(&session, self.now());
            self.carry_out(told);
        }
        self.losses.unclaimed += self.early_count as u64;
        self.tell();
        self.questions.abort_all();
        if matches!(end, End::Stopped) {
            self.connection.close().await;
        }
    }

    pub(super) fn resume(&mut self, session: &str) {
        let answer = self.connection.send(Some(session), RUN, &json!({}), PATIENCE);
        self.beginnings += 1;
        self.questions.spawn(async move {
            let _ = answer.await;
            Answered::Runs
        });
    }

    /// Ends a session, not before what is starting through it had the time to be let run.
    pub(super) fn leave(&mut self, session: String) {
        self.release(&session);
        self.questions.spawn(async move {
            tokio::time::sleep(QUIET).await;
            Answered::Left { session }
        });
    }
}
