//! opencode: servers in `opencode.json` or `opencode.jsonc`. It has no hooks that run commands, so a small plugin
//! passes its events on.

use std::path::{Path, PathBuf};

use backsight_core::{Result, bounded};
use serde_json::Value;

use super::jsonc::{Document, Step};
use super::node::Node;
use super::{Edit, LARGEST_SETTINGS, Piece, Places, Scope, Wish};

const PLUGIN: &str = include_str!("opencode_plugin.js");

/// The files.
pub fn files(wish: &Wish, places: &Places) -> Result<Vec<(PathBuf, Edit)>> {
    let (directory, plugins) = match wish.scope {
        Scope::Project => (places.project.clone(), places.project.join(".opencode/plugins")),
        Scope::User => {
            let directory = places.config_home()?.join("opencode");
            (directory.clone(), directory.join("plugins"))
        }
    };
    let (plain, with_comments) = (directory.join("opencode.json"), directory.join("opencode.jsonc"));
    let path = if with_comments.exists() && !names_us(&plain) { with_comments } else { plain };
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
    // opencode would add it by itself, and the file would stay behind.
    let schema = Piece::Needed { name: "$schema", value: Node::from("https://opencode.ai/config.json") };
    let mut files = vec![(path, Edit::Json(vec![schema, server]))];
    if wish.hooks {
        let program = format!("PROGRAM = {}", Value::from(wish.program.as_str()));
        let text = PLUGIN.replacen("PROGRAM = \"backsight\"", &program, 1);
        files.push((plugins.join("backsight.js"), Edit::Whole(text)));
    }
    Ok(files)
}

/// Version 2 of the file lists its servers one level deeper.
fn lists_servers(path: &Path) -> bool {
    let servers = [Step::Key("mcp"), Step::Key("servers")];
    document(path).is_some_and(|document| document.get(&servers).is_some_and(Value::is_object))
}

/// Whether our server is in the file: then that is the file, whichever came later.
fn names_us(path: &Path) -> bool {
    document(path).is_some_and(|document| document.get(&[Step::Key("mcp"), Step::Key("backsight")]).is_some())
}

fn document(path: &Path) -> Option<Document> {
    let text = bounded::read(path, LARGEST_SETTINGS).ok().and_then(|text| String::from_utf8(text).ok())?;
    Document::parse(&text).ok()
}
