//! What happened in the app, wherever its server is: only the server's process hears of it, so a process that joined it
//! has to ask.

use backsight::browser::Ask;
use backsight::browser::report::{Changes, CheckpointEntry};
use backsight_core::{Code, Error, Result};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::door::Door;

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
                self.local(move |workspace| workspace.browser_changes(READER, &ask)).await
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
            None => Ok(self.local(|workspace| workspace.checkpoints()).await?.checkpoints),
        }
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
