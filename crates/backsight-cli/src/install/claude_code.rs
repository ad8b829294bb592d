//! Claude Code: servers in `.mcp.json` (or the user's `.claude.json`), hooks in `settings.json`.

use std::path::PathBuf;

use backsight_core::Result;

use super::edit::Groups;
use super::node::Node;
use super::{Edit, Piece, Places, Scope, Wish, codex};

/// The events that bracket tools and prompts. Those that only newer versions know say that the user is asked, and how a
/// tool ended that did not succeed; older versions skip them, and the end of the turn closes what stayed open.
const EVENTS: [(&str, Groups); 11] = [
    ("SessionStart", Groups::Plain),
    ("UserPromptSubmit", Groups::Plain),
    ("PreToolUse", Groups::WithMatcher),
    ("PermissionRequest", Groups::WithMatcher),
    ("PostToolUse", Groups::WithMatcher),
    ("PostToolUseFailure", Groups::WithMatcher),
    ("PermissionDenied", Groups::WithMatcher),
    ("PostToolBatch", Groups::Plain),
    ("Stop", Groups::Plain),
    ("StopFailure", Groups::Plain),
    ("SessionEnd", Groups::Plain),
];

/// The files.
pub fn files(wish: &Wish, places: &Places) -> Result<Vec<(PathBuf, Edit)>> {
    let user = || (places.variable)("CLAUDE_CONFIG_DIR");
    let (servers, settings) = match (wish.scope, user()) {
        (Scope::Project, _) => (places.project.join(".mcp.json"), places.project.join(".claude/settings.json")),
        (Scope::User, Some(directory)) => (directory.join(".claude.json"), directory.join("settings.json")),
        (Scope::User, None) => (places.home()?.join(".claude.json"), places.home()?.join(".claude/settings.json")),
    };
    let mut files = vec![(servers, Edit::Json(vec![server(&wish.program)]))];
    let mut pieces = if wish.hooks { hooks(wish) } else { Vec::new() };
    pieces.extend(wish.allowed_tools().map(allowed));
    if !pieces.is_empty() {
        files.push((settings, Edit::Json(pieces)));
    }
    Ok(files)
}

/// A tool that is called without asking.
fn allowed(tool: &'static str) -> Piece {
    Piece::Listed { path: vec!["permissions", "allow"], text: format!("mcp__backsight__{tool}") }
}

/// The entry of the server.
pub fn server(program: &str) -> Piece {
    let members = [("type", Node::from("stdio")), ("command", Node::from(program)), ("args", Node::texts(&["mcp"]))];
    Piece::Entry { path: vec!["mcpServers", "backsight"], value: Node::object(members) }
}

/// The hooks, in the form Codex reads too.
pub fn hooks(wish: &Wish) -> Vec<Piece> {
    let handler = |event: &str| {
        Node::object([
            ("type", Node::from("command")),
            ("command", Node::Text(wish.hook_command("claude-code"))),
            ("timeout", Node::Number(codex::seconds(event))),
        ])
    };
    EVENTS.iter().map(|(event, groups)| Piece::Hook { event, handler: handler(event), groups: *groups }).collect()
}
