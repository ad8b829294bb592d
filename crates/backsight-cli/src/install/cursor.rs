//! Cursor: servers in `.cursor/mcp.json`, hooks in `.cursor/hooks.json`.

use std::path::PathBuf;

use backsight_core::Result;

use super::edit::Groups;
use super::node::Node;
use super::{Edit, HOOK_SECONDS, Piece, Places, Wish};

const EVENTS: [&str; 7] =
    ["sessionStart", "beforeSubmitPrompt", "preToolUse", "postToolUse", "postToolUseFailure", "stop", "sessionEnd"];

/// The files.
pub fn files(wish: &Wish, places: &Places) -> Result<Vec<(PathBuf, Edit)>> {
    let directory = places.of(wish.scope, ".cursor")?;
    let members = [("command", Node::from(wish.program.as_str())), ("args", Node::texts(&["mcp"]))];
    let server = Piece::Entry { path: vec!["mcpServers", "backsight"], value: Node::object(members) };
    let mut files = vec![(directory.join("mcp.json"), Edit::Json(vec![server]))];
    if wish.hooks {
        let command = Node::Text(wish.hook_command("cursor"));
        let handler = Node::object([("command", command), ("timeout", Node::Number(HOOK_SECONDS))]);
        let version = Piece::Needed { name: "version", value: Node::Number(1) };
        let hook = |event: &&'static str| Piece::Hook { event, handler: handler.clone(), groups: Groups::None };
        let pieces = std::iter::once(version).chain(EVENTS.iter().map(hook)).collect();
        files.push((directory.join("hooks.json"), Edit::Json(pieces)));
    }
    Ok(files)
}
