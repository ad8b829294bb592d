//! What an agent is told with its hook's answer: one line about what is new for its session, or nothing.

use backsight::Workspace;
use backsight::report::Comment;

use serde_json::Value;

use super::agent::Agent;
use super::event::Event;
use super::reply::takes_context;
use crate::advice::Tools;

/// The line for a session at an event that its model hears about. What cannot be found out is not said: a hook never fails
/// for it, and the agent's next question tells.
pub fn news(workspace: &Workspace, event: &Event) -> Option<String> {
    let session = match event {
        Event::SessionStart { session, .. } | Event::Prompt { session, .. } => session,
        Event::ToolEnd { call, .. } => &call.session,
        _ => return None,
    };
    let is_wanted = workspace.config_get("tell_agents").is_ok_and(|setting| setting.value == "true");
    if !is_wanted {
        return None;
    }
    workspace.news(session, session, &Tools).ok().flatten()
}

/// The comments of people on lines that a session's model is told now, each once. Where the client hands its model nothing they
/// wait for one that does.
pub fn comments(workspace: &Workspace, agent: Agent, payload: &Value, event: &Event) -> Vec<Comment> {
    let session = match event {
        Event::SessionStart { session, .. } | Event::Prompt { session, .. } => session,
        Event::ToolEnd { call, .. } => &call.session,
        _ => return Vec::new(),
    };
    let name = payload.get("hook_event_name").and_then(Value::as_str).unwrap_or_default();
    if !takes_context(agent, name) {
        return Vec::new();
    }
    workspace.comments_for(session).unwrap_or_default()
}
