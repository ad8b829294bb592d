//! What the live lanes hold, wherever their server is: only the server's process hears of it, so a process that joined it
//! has to ask.

use backsight::browser::report::{Changes, CheckpointEntry};
use backsight::browser::request::{AppQuestion, ListCheckpoints, ReadAppChanges};
use backsight::debug::report::{Series, SnapshotDiff};
use backsight::debug::request::{AnswerPart, CompareSnapshots, ReadSeries};
use backsight::operation::Perform;
use backsight_core::{Code, Error, Result};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::door::Door;
use crate::http::{Route, Target};

/// How long a page about a program may be.
const PAGE_TOKENS: usize = 20_000;
/// Who asks for resources; its place is never moved.
const READER: &str = "resources";

impl Door {
    /// Carries out an operation of a live lane where the lane lives.
    async fn perform<R: Route<Answer: Send + DeserializeOwned> + Perform + Send + 'static>(
        &self,
        request: R,
    ) -> Result<R::Answer> {
        let Some(server) = self.elsewhere() else {
            return self.local_waiting(R::WAITS, move |workspace| workspace.perform(request)).await;
        };
        understood(match Target::of(&request)? {
            Target::Get(target) => server.get(&target).await?,
            Target::Post(path, body) => server.post(&path, &body).await?,
        })
    }

    /// What happened since a checkpoint, for a client that only looks.
    pub async fn app_changes(&self, checkpoint: String) -> Result<Changes> {
        let question = AppQuestion {
            client: Some(READER.to_owned()),
            checkpoint: Some(checkpoint),
            peek: true,
            ..AppQuestion::default()
        };
        self.perform(ReadAppChanges { question, include: Vec::new() }).await
    }

    /// The named checkpoints.
    pub async fn checkpoints(&self) -> Result<Vec<CheckpointEntry>> {
        Ok(self.perform(ListCheckpoints {}).await?.checkpoints)
    }

    /// What changed between two snapshots of the program that is being debugged.
    pub async fn debug_diff(&self, first: &str, second: &str) -> Result<SnapshotDiff> {
        let part = AnswerPart { max_tokens: Some(PAGE_TOKENS), ..AnswerPart::default() };
        self.perform(CompareSnapshots { session: None, from: first.to_owned(), to: second.to_owned(), part }).await
    }

    /// The hits of a snapshot point.
    pub async fn debug_series(&self, name: &str) -> Result<Series> {
        let part = AnswerPart { max_tokens: Some(PAGE_TOKENS), ..AnswerPart::default() };
        self.perform(ReadSeries { session: None, name: name.to_owned(), part }).await
    }
}

/// What another process answered, or why it did not.
fn understood<T: DeserializeOwned>(answer: Value) -> Result<T> {
    if let Some(failure) = Error::from_json(&answer) {
        return Err(failure);
    }
    serde_json::from_value(answer).map_err(|error| {
        Error::new(Code::ServerUnreachable, format!("the server answers otherwise than expected: {error}"))
    })
}
