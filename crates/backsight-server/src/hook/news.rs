//! What an agent is told with its hook's answer: one line about what is new for its session, or nothing.

use backsight::Workspace;

use super::event::Event;

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
    workspace.news(session, session).ok().flatten()
}
