//! Gemini CLI: servers and hooks in one `settings.json`. It counts timeouts in milliseconds.

use std::path::PathBuf;

use backsight_core::Result;

use super::edit::Groups;
use super::node::Node;
use super::{Edit, HOOK_SECONDS, Piece, Places, Wish};

const EVENTS: [(&str, Groups); 7] = [
    ("SessionStart", Groups::Plain),
    ("BeforeAgent", Groups::Plain),
    ("BeforeTool", Groups::WithMatcher),
    ("Notification", Groups::Plain),
    ("AfterTool", Groups::WithMatcher),
    ("AfterAgent", Groups::Plain),
    ("SessionEnd", Groups::Plain),
];

/// The files.
pub fn files(wish: &Wish, places: &Places) -> Result<Vec<(PathBuf, Edit)>> {
    let members = [("command", Node::from(wish.program.as_str())), ("args", Node::texts(&["mcp"]))];
    let mut pieces = vec![Piece::Entry { path: vec!["mcpServers", "backsight"], value: Node::object(members) }];
    if wish.hooks {
        let handler = Node::object([
            ("name", Node::from("backsight")),
            ("type", Node::from("command")),
            ("command", Node::Text(wish.hook_command("gemini"))),
            ("timeout", Node::Number(HOOK_SECONDS * 1000)),
        ]);
        let hook =
            |(event, groups): &(&'static str, Groups)| Piece::Hook { event, handler: handler.clone(), groups: *groups };
        pieces.extend(EVENTS.iter().map(hook));
    }
    Ok(vec![(places.of(wish.scope, ".gemini/settings.json")?, Edit::Json(pieces))])
}
