//! Zed: servers in `settings.json`, as `context_servers`.

use std::path::PathBuf;

use backsight_core::Result;

use super::node::Node;
use super::{Edit, Piece, Places, Scope, Wish};

/// The files.
pub fn files(wish: &Wish, places: &Places) -> Result<Vec<(PathBuf, Edit)>> {
    let members = [("command", Node::from(wish.program.as_str())), ("args", Node::texts(&["mcp"]))];
    let server = Piece::Entry { path: vec!["context_servers", "backsight"], value: Node::object(members) };
    let path = match wish.scope {
        Scope::Project => places.project.join(".zed/settings.json"),
        // Also on macOS.
        Scope::User => places.config_home()?.join("zed/settings.json"),
    };
    Ok(vec![(path, Edit::Json(vec![server]))])
}
