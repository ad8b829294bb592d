//! The quickest way from a hook to the workspace: through its server when one runs, for that one watches the files and
//! need not walk them; else directly.

use backsight::Workspace;
use backsight_core::{Code, Error, Result};
use serde_json::Value;

use super::{Agent, Reply, run};
use crate::client::Client;
use crate::place;

/// Takes a payload to the workspace. A server that goes away meanwhile is no loss: what it did not finish is done again.
pub fn deliver(workspace: &Workspace, agent: Agent, payload: &Value) -> Reply {
    let store = workspace.store().ok().flatten();
    let server = store.and_then(|store| place::find_ready(&store)).as_ref().and_then(Client::new);
    match server.map(|server| ask(&server, agent, payload)) {
        Some(Ok(reply)) => reply,
        _ => run(workspace, agent, payload),
    }
}

fn ask(server: &Client, agent: Agent, payload: &Value) -> Result<Reply> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Error::io("start", error))?;
    let answer = runtime.block_on(server.post(&format!("/api/hooks/{agent}"), payload))?;
    serde_json::from_value(answer).map_err(|error| Error::new(Code::Io, format!("the server's answer: {error}")))
}
