//! What the live lanes hold, wherever their server is: only the server's process hears of it, so a process that joined it
//! has to ask.

use backsight::browser::Ask;
use backsight::browser::report::{Changes, CheckpointEntry};
use backsight::debug::report::{Series, SnapshotDiff};
use backsight_core::{Code, Error, Result};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use crate::door::{Door, Threads};

/// How long a page about a program may be.
const PAGE_TOKENS: usize = 20_000;
/// Who asks for resources; its place is never moved.
const READER: &str = "resources";

impl Door {
    /// What happened since a checkpoint, for somebody who only looks.
    pub async fn app_changes(&self, checkpoint: String) -> Result<Changes> {
        match self.elsewhere() {
            Some(server) => {
                let body = json!({ "client": READER, "checkpoint": checkpoint, "peek": true });
                understood(server.post("/api/browser/changes", &body).await?)
            }
            None => {
                let ask = Ask { checkpoint: Some(checkpoint), peek: true, ..Ask::default() };
                self.local_waiting(Threads::Browser, move |workspace| workspace.browser_changes(READER, &ask)).await
            }
        }
    }

    /// The named checkpoints.
    pub async fn checkpoints(&self) -> Result<Vec<CheckpointEntry>> {
        match self.elsewhere() {
            Some(server) => {
                let mut answer: Value = understood(server.get("/api/browser/checkpoints").await?)?;
                understood(answer["checkpoints"].take())
            }
            None => Ok(self.local_waiting(Threads::Browser, |workspace| workspace.checkpoints()).await?.checkpoints),
        }
    }

    /// What changed between two snapshots of the program that is being debugged.
    pub async fn debug_diff(&self, first: &str, second: &str) -> Result<SnapshotDiff> {
        let ids = [("snapshot_id_1", json!(first)), ("snapshot_id_2", json!(second))];
        self.debugged("snapshot_diff", "diff", ids).await
    }

    /// The hits of a snapshot point.
    pub async fn debug_series(&self, name: &str) -> Result<Series> {
        self.debugged("snapshot_series", "series", [("name", json!(name))]).await
    }

    /// What a debug tool answers, as an object.
    async fn debugged<T: DeserializeOwned, const N: usize>(
        &self,
        tool: &str,
        name: &str,
        arguments: [(&str, Value); N],
    ) -> Result<T> {
        let mut arguments: Map<String, Value> =
            arguments.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        arguments.insert("max_tokens".to_owned(), json!(PAGE_TOKENS));
        let (says, _) = mpsc::channel(1);
        let mut reply = self.call(tool, arguments, Some(READER.to_owned()), says).await;
        if reply.is_error {
            return understood(reply.structured);
        }
        understood(reply.structured[name].take())
    }
}

/// What another process answered, or why it did not.
fn understood<T: DeserializeOwned>(answer: Value) -> Result<T> {
    let error = &answer["error"];
    if let Some(code) = error["code"].as_str() {
        let code = Code::ALL.iter().copied().find(|known| known.as_str() == code).unwrap_or(Code::Io);
        let failure = Error::new(code, error["message"].as_str().unwrap_or_default());
        return Err(match error["hint"].as_str() {
            Some(hint) => failure.with_hint(hint),
            None => failure,
        });
    }
    serde_json::from_value(answer).map_err(|error| {
        Error::new(Code::ServerUnreachable, format!("the server answers otherwise than expected: {error}"))
    })
}
