//! opencode: servers in `opencode.json` or `opencode.jsonc`. It has no hooks that run commands, so a small plugin
//! passes its events on.

use std::path::Path;

use backsight_core::{Result, bounded};
use serde_json::Value;

use super::jsonc::{Document, Step};
use super::node::Node;
use super::{Edit, FileEdit, Piece, Places, Scope, Wish};

const PLUGIN: &str = include_str!("opencode_plugin.js");

/// The files.
pub fn files(wish: &Wish, places: &Places) -> Result<Vec<FileEdit>> {
    let (directory, plugins) = match wish.scope {
        Scope::Project => (places.project.clone(), places.project.join(".opencode/plugins")),
        Scope::User => {
            let directory = places.config_home()?.join("opencode");
            (directory.clone(), directory.join("plugins"))
        }
    };
    let with_comments = directory.join("opencode.jsonc");
    let path = if with_comments.exists() { with_comments } else { directory.join("opencode.json") };
    let command = Node::texts(&[&wish.program, "mcp"]);
    let server = match lists_servers(&path) {
        true => {
            let value = Node::object([("type", Node::from("local")), ("command", command)]);
            Piece::Entry { path: vec!["mcp", "servers", "backsight"], value }
        }
        false => {
            let value =
                Node::object([("type", Node::from("local")), ("command", command), ("enabled", Node::Flag(true))]);
            Piece::Entry { path: vec!["mcp", "backsight"], value }
        }
    };
    let mut files = vec![FileEdit { path, edit: Edit::Json(vec![server]) }];
    if wish.hooks {
        let program = format!("PROGRAM = {}", Value::from(wish.program.as_str()));
        let text = PLUGIN.replacen("PROGRAM = \"backsight\"", &program, 1);
        files.push(FileEdit { path: plugins.join("backsight.js"), edit: Edit::Whole(text) });
    }
    Ok(files)
}

/// Larger settings are none.
const LARGEST_SETTINGS: u64 = 16 << 20;

/// Version 2 of the file lists its servers one level deeper.
fn lists_servers(path: &Path) -> bool {
    let text =
        bounded::read(path, LARGEST_SETTINGS).ok().and_then(|text| String::from_utf8(text).ok()).unwrap_or_default();
    let document = Document::parse(&text);
    document.is_ok_and(|document| document.get(&[Step::Key("mcp"), Step::Key("servers")]).is_some_and(Value::is_object))
}
