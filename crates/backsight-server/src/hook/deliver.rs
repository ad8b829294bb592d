//! The quickest way from a hook to the workspace: through its server when one runs, for that one watches the files and
//! need not walk them; else directly.

use std::time::Duration;

use backsight::Workspace;
use backsight_core::{Code, Error, Result, Timestamp};
use serde_json::Value;

use super::{Agent, Reply, comments, parse, run};
use crate::client::{Client, Patience};
use crate::place;

/// An agent waits: a server that is silent is soon asked whether it lives, so that there is time left to work without it.
const PATIENCE: Patience = Patience { glance: Duration::from_millis(700), alive: Duration::from_millis(800) };

/// Takes a payload that was heard at a moment to the workspace. A server that goes away meanwhile is no loss: what it did not finish is done again.
/// `at` hears who is at work.
pub fn deliver(workspace: &Workspace, agent: Agent, payload: &Value, heard: Timestamp, at: impl Fn(Way)) -> Reply {
    let store = workspace.store().ok().flatten();
    let server = store.and_then(|store| place::find_ready(&store)).as_ref().and_then(Client::new);
    let server = server.filter(|server| !server.is_stopped()).map(|server| server.with_patience(PATIENCE));
    if let Some(server) = server {
        at(Way::Server);
        if let Ok(reply) = ask(&server, agent, payload, heard) {
            return reply;
        }
    }
    at(Way::Store);
    let reply = run(workspace, agent, payload, heard);
    let comments = parse(agent, payload).map(|event| comments(workspace, agent, payload, &event));
    reply.asking(payload, &comments.unwrap_or_default())
}

/// Who records what a hook said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The workspace's server, which goes on when nobody waits for it any more.
    Server,
    /// This process.
    Store,
}

fn ask(server: &Client, agent: Agent, payload: &Value, heard: Timestamp) -> Result<Reply> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Error::io("start", error))?;
    let answer = runtime.block_on(server.post(&format!("/api/hooks/{agent}?heard={}", heard.0), payload))?;
    serde_json::from_value(answer).map_err(|error| Error::new(Code::Io, format!("the server's answer: {error}")))
}
