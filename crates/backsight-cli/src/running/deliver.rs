//! The way of what a command said to the workspace's server. The server may start late, go away and come back: it is
//! looked for again whenever it is not there.

use std::time::Duration;

use backsight::Workspace;
use backsight::browser::event::Console;
use backsight_core::{Code, Error, Result};
use backsight_server::{Client, Patience, find_ready};
use serde::Serialize;
use serde_json::Value;
use tokio::runtime::Runtime;

/// How long the server may take for one report.
const LONGEST: Duration = Duration::from_secs(5);
/// The command's user waits at its end: a server that is silent is soon asked whether it lives.
const PATIENCE: Patience = Patience { glance: Duration::from_millis(300), alive: Duration::from_millis(500) };

/// A report to the server.
#[derive(Serialize)]
pub struct Report<'a> {
    /// Who.
    pub source: &'a str,
    /// What a process can be heard saying.
    pub watches: [&'static str; 1],
    /// What it said; nothing is a sign of life.
    pub events: &'a [Console],
    /// Messages that are lost.
    pub dropped: u64,
    /// Why it is the last report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<&'a str>,
    /// Whether it should go on, so that it is missed from now on.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub missed: bool,
}

/// What became of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It arrived.
    Arrived,
    /// The server never had it: it can be sent again.
    Unheard,
    /// It was sent and perhaps not taken: sent again it might count twice.
    Unsure,
}

/// The workspace's server, wherever it is at the moment.
pub struct Server {
    workspace: Workspace,
    runtime: Runtime,
    client: Option<Client>,
}

impl Server {
    /// The server of a workspace.
    pub fn of(workspace: Workspace) -> Result<Server> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Error::io("start the sender", error))?;
        Ok(Server { workspace, runtime, client: None })
    }

    /// Looks for it; whether it is there.
    pub fn find(&mut self) -> bool {
        let store = self.workspace.store().ok().flatten();
        let found = store.and_then(|store| find_ready(&store)).as_ref().and_then(Client::new);
        self.client = found.map(|client| client.with_patience(PATIENCE));
        self.client.is_some()
    }

    /// Sends a report, if there is a server.
    pub fn tell(&mut self, report: &Report<'_>) -> Outcome {
        let Ok(body) = serde_json::to_value(report) else { return Outcome::Unsure };
        if self.client.is_none() && !self.find() {
            return Outcome::Unheard;
        }
        let outcome = self.post(&body);
        if outcome != Outcome::Arrived {
            self.client = None;
        }
        outcome
    }

    fn post(&self, body: &Value) -> Outcome {
        let Some(client) = &self.client else { return Outcome::Unheard };
        let sending = async { tokio::time::timeout(LONGEST, client.post("/ingest/console", body)).await };
        match self.runtime.block_on(sending) {
            Ok(Ok(answer)) if answer["ok"] == true => Outcome::Arrived,
            // Whatever it does not like about the report, it will not like better the next time.
            Ok(Ok(_)) => Outcome::Unsure,
            Ok(Err(error)) if error.code() == Code::ServerUnreachable && error.details()["heard"] == false => {
                Outcome::Unheard
            }
            Ok(Err(_)) | Err(_) => Outcome::Unsure,
        }
    }
}
