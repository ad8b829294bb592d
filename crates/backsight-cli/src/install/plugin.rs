//! The files in which others find us, written from the same pieces as `install`, so that both say the same: the plugin
//! that Claude Code and Codex read, the MCPB bundle's manifest, the registry's entry. The test fails when one is not
//! what it should be; `make docs` writes them again.

use std::path::Path;

use super::node::{Layout, Node};
use super::{Edit, Scope, Wish, claude_code};

const VERSION: &str = env!("CARGO_PKG_VERSION");
const NAME: &str = "backsight";
const SUMMARY: &str = "What changed since I last looked, and take me back: file snapshots and undo for agents";
const LICENSE: &str = "MIT OR Apache-2.0";
const HOME: &str = "https://github.com/backsight/backsight";

#[test]
fn the_files_others_read_are_written_from_what_install_writes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (path, text) in files() {
        let file = root.join(path);
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, &text).unwrap();
        }
        let written = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(written == text, "{path} is not what it should be; write it again with `make docs`");
    }
}

fn files() -> Vec<(&'static str, String)> {
    let wish = Wish { scope: Scope::Project, program: NAME.to_owned(), hooks: true, reading_is_allowed: false };
    let installed = |edit: Edit| edit.install("").unwrap();
    let hooks = Edit::Json(claude_code::hooks(&wish));
    let described = format!("{{\n  \"description\": \"{}\"\n}}\n", "Record every tool call and prompt as a step");
    vec![
        ("plugin/.claude-plugin/plugin.json", text(&plugin())),
        ("plugin/.claude-plugin/marketplace.json", text(&marketplace())),
        ("plugin/.mcp.json", installed(Edit::Json(vec![claude_code::server(NAME)]))),
        ("plugin/hooks/hooks.json", hooks.install(&described).unwrap()),
        ("packaging/mcpb/manifest.json", text(&bundle())),
        ("packaging/server.json", text(&registry())),
    ]
}

fn text(node: &Node) -> String {
    node.write("", &Layout::default()) + "\n"
}

fn author() -> Node {
    Node::object([("name", Node::from("The Backsight contributors"))])
}

fn keywords() -> Node {
    Node::texts(&["snapshots", "undo", "history", "mcp"])
}

fn plugin() -> Node {
    Node::object([
        ("name", Node::from(NAME)),
        ("version", Node::from(VERSION)),
        ("description", Node::from(SUMMARY)),
        ("author", author()),
        ("license", Node::from(LICENSE)),
        ("keywords", keywords()),
    ])
}

fn marketplace() -> Node {
    let entry = Node::object([
        ("name", Node::from(NAME)),
        ("source", Node::from("./")),
        ("description", Node::from(SUMMARY)),
        ("version", Node::from(VERSION)),
    ]);
    Node::object([
        ("name", Node::from(NAME)),
        ("description", Node::from(SUMMARY)),
        ("owner", author()),
        ("plugins", Node::List(vec![entry])),
    ])
}

/// MCPB 0.3. The bundle holds one binary and so one platform; whoever packs it narrows `platforms`.
fn bundle() -> Node {
    let configuration = Node::object([
        ("command", Node::from("${__dirname}/server/backsight")),
        ("args", Node::texts(&["-C", "${user_config.root}", "mcp"])),
    ]);
    let root = Node::object([
        ("type", Node::from("directory")),
        ("title", Node::from("Project")),
        ("description", Node::from("The directory whose files are recorded")),
        ("required", Node::Flag(true)),
    ]);
    Node::object([
        ("manifest_version", Node::from("0.3")),
        ("name", Node::from(NAME)),
        ("display_name", Node::from("Backsight")),
        ("version", Node::from(VERSION)),
        ("description", Node::from(SUMMARY)),
        ("author", author()),
        ("license", Node::from(LICENSE)),
        ("keywords", keywords()),
        (
            "server",
            Node::object([
                ("type", Node::from("binary")),
                ("entry_point", Node::from("server/backsight")),
                ("mcp_config", configuration),
            ]),
        ),
        ("tools_generated", Node::Flag(true)),
        ("user_config", Node::object([("root", root)])),
        ("compatibility", Node::object([("platforms", Node::texts(&["darwin", "linux"]))])),
    ])
}

/// The registry's entry. The checksum is that of a released bundle; until there is one it is all zeros, and the
/// release writes it.
fn registry() -> Node {
    let schema = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";
    let package = Node::object([
        ("registryType", Node::from("mcpb")),
        ("identifier", Node::Text(format!("{HOME}/releases/download/v{VERSION}/backsight-{VERSION}.mcpb"))),
        ("fileSha256", Node::Text("0".repeat(64))),
        ("transport", Node::object([("type", Node::from("stdio"))])),
    ]);
    Node::object([
        ("$schema", Node::from(schema)),
        ("name", Node::from("io.github.backsight/backsight")),
        ("title", Node::from("Backsight")),
        ("description", Node::from(SUMMARY)),
        ("repository", Node::object([("url", Node::from(HOME)), ("source", Node::from("github"))])),
        ("version", Node::from(VERSION)),
        ("packages", Node::List(vec![package])),
    ])
}
