//! Cursor: servers in `.cursor/mcp.json`, hooks in `.cursor/hooks.json`.

use backsight_core::Result;

use super::edit::Groups;
use super::node::Node;
use super::{Edit, FileEdit, HOOK_SECONDS, Piece, Places, Wish};

const EVENTS: [&str; 7] =
    ["sessionStart", "beforeSubmitPrompt", "preToolUse", "postToolUse", "postToolUseFailure", "stop", "sessionEnd"];

/// The files.
pub fn files(wish: &Wish, places: &Places) -> Result<Vec<FileEdit>> {
    let directory = places.of(wish.scope, ".cursor")?;
    let members = [("command", Node::from(wish.program.as_str())), ("args", Node::texts(&["mcp"]))];
    let server = Piece::Entry { path: vec!["mcpServers", "backsight"], value: Node::object(members) };
    let mut files = vec![FileEdit { path: directory.join("mcp.json"), edit: Edit::Json(vec![server]) }];
    if wish.hooks {
        let command = Node::Text(wish.hook_command("cursor"));
        let handler = Node::object([("command", command), ("timeout", Node::Number(HOOK_SECONDS))]);
        let version = Piece::Needed { name: "version", value: Node::Number(1) };
        let hook = |event: &&'static str| Piece::Hook { event, handler: handler.clone(), groups: Groups::None };
        let pieces = std::iter::once(version).chain(EVENTS.iter().map(hook)).collect();
        files.push(FileEdit { path: directory.join("hooks.json"), edit: Edit::Json(pieces) });
    }
    Ok(files)
}
