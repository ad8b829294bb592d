//! What agents' hooks say, from the processes the agents start for each.

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use backsight::CallSettings;
use backsight_core::{Result, Timestamp};
use serde::Deserialize;

use super::{Shared, failure};
use crate::hook::{self, Agent};

pub(super) fn router() -> Router<Shared> {
    Router::new().route("/api/hooks/{agent}", post(heard))
}

/// What a hook says beside the client's payload.
#[derive(Deserialize)]
struct Heard {
    /// When it was called, in milliseconds since 1970; absent means now.
    heard: Option<i64>,
}

async fn heard(
    State(shared): State<Shared>,
    Path(agent): Path<String>,
    Query(at): Query<Heard>,
    body: Bytes,
) -> Response {
    match understand(&agent, &body) {
        Err(error) => failure(&error),
        Ok((agent, payload)) => {
            let event = hook::parse(agent, &payload).ok();
            if let Some(event) = &event {
                shared.door.heard(agent, event);
            }
            let said = shared.door.local_writing(hook::LONGEST_WAIT, move |workspace| {
                // The agent waits: better a step that is not recorded than an agent that stands still.
                let quick = CallSettings { wait: Some(hook::LONGEST_WAIT), ..CallSettings::default() };
                let heard = at.heard.map_or_else(|| workspace.now(), Timestamp);
                let workspace = workspace.for_call(quick);
                let reply = hook::run(&workspace, agent, &payload, heard);
                event.iter().for_each(|event| hook::mark_app(&workspace, event));
                let line = event.as_ref().and_then(|event| hook::news(&workspace, event));
                let comments = event.as_ref().map(|event| hook::comments(&workspace, agent, &payload, event));
                Ok(reply.telling(agent, &payload, line).asking(&payload, &comments.unwrap_or_default()))
            });
            said.await.map_or_else(|error| failure(&error), |reply| axum::Json(reply).into_response())
        }
    }
}

fn understand(agent: &str, body: &[u8]) -> Result<(Agent, serde_json::Value)> {
    Ok((agent.parse()?, hook::read_payload(body)?))
}
