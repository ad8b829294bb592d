//! The checkpoints of the app that the seed wants of every session, made by the hooks themselves: `session_start` when a session
//! begins, `pre_commit` before a commit. So the story of a session is there without a word of the agent's. They are made
//! where the app is watched, by the workspace's server; nothing that goes wrong here is the agent's concern.

use backsight::Workspace;
use backsight::browser::name;

use super::event::Event;

/// Marks the app's state for an event, if it is one that is marked, something is watched and the settings allow it.
///
/// A name belongs to the newest: with several sessions, `session_start` is the beginning of the one that began last.
pub fn mark_app(workspace: &Workspace, event: &Event) {
    let Some(name) = mark_for(event) else { return };
    let is_watched = workspace.browser_if_used().is_some_and(|browser| browser.coverage().attached);
    let is_wanted = || workspace.config_get("app_checkpoints").is_ok_and(|setting| setting.value == "true");
    if is_watched && is_wanted() {
        let _ = workspace.create_checkpoint(name, None);
    }
}

fn mark_for(event: &Event) -> Option<&'static str> {
    match event {
        Event::SessionStart { goes_on: false, .. } => Some(name::SESSION_START),
        Event::ToolBegin(call) if call.commits => Some(name::PRE_COMMIT),
        _ => None,
    }
}
