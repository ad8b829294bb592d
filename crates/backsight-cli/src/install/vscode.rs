//! VS Code: servers in `.vscode/mcp.json`, or in the user's profile. It calls them `servers`.

use std::path::PathBuf;

use backsight_core::Result;

use super::node::Node;
use super::{Edit, Piece, Places, Scope, Wish};

/// The files.
pub fn files(wish: &Wish, places: &Places) -> Result<Vec<(PathBuf, Edit)>> {
    let members = [
        ("type", Node::from("stdio")),
        ("command", Node::from(wish.program.as_str())),
        ("args", Node::texts(&["mcp"])),
    ];
    let server = Piece::Entry { path: vec!["servers", "backsight"], value: Node::object(members) };
    let path = match wish.scope {
        Scope::Project => places.project.join(".vscode/mcp.json"),
        Scope::User if cfg!(target_os = "macos") => {
            places.home()?.join("Library/Application Support/Code/User/mcp.json")
        }
        Scope::User => places.config_home()?.join("Code/User/mcp.json"),
    };
    Ok(vec![(path, Edit::Json(vec![server]))])
}
