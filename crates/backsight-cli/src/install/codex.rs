//! Codex: servers in `config.toml`, hooks in the `hooks.json` beside it, which may hold nothing but hooks.

use backsight_core::Result;

use super::edit::Groups;
use super::node::Node;
use super::{Edit, FileEdit, HOOK_SECONDS, Piece, Places, Scope, Wish};

const EVENTS: [(&str, Groups); 8] = [
    ("SessionStart", Groups::Plain),
    ("UserPromptSubmit", Groups::Plain),
    ("PreToolUse", Groups::WithMatcher),
    ("PermissionRequest", Groups::WithMatcher),
    ("PostToolUse", Groups::WithMatcher),
    ("Stop", Groups::Plain),
    ("Interrupt", Groups::Plain),
    ("SessionEnd", Groups::Plain),
];

/// The files.
pub fn files(wish: &Wish, places: &Places) -> Result<Vec<FileEdit>> {
    let directory = match (wish.scope, (places.variable)("CODEX_HOME")) {
        (Scope::User, Some(directory)) => directory,
        (scope, _) => places.of(scope, ".codex")?,
    };
    let program = wish.program.clone();
    let mut files = vec![FileEdit { path: directory.join("config.toml"), edit: Edit::Toml { program } }];
    if wish.hooks {
        let handler = |event: &str| {
            Node::object([
                ("type", Node::from("command")),
                ("command", Node::Text(wish.hook_command("codex"))),
                ("timeout", Node::Number(seconds(event))),
            ])
        };
        let hook =
            |(event, groups): &(&'static str, Groups)| Piece::Hook { event, handler: handler(event), groups: *groups };
        let edit = Edit::Json(EVENTS.iter().map(hook).collect());
        files.push(FileEdit { path: directory.join("hooks.json"), edit });
    }
    Ok(files)
}

/// How long a hook may take. At its end Codex waits for three seconds and warns of more at every start.
pub fn seconds(event: &str) -> u64 {
    if matches!(event, "SessionEnd" | "Interrupt") { 3 } else { HOOK_SECONDS }
}
