//! Codex: servers in `config.toml`, hooks in the `hooks.json` beside it, which may hold nothing but hooks.

use std::path::PathBuf;

use backsight_core::Result;

use super::edit::Groups;
use super::node::Node;
use super::toml::Server;
use super::{Edit, HOOK_SECONDS, Piece, Places, Scope, Wish};

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
pub fn files(wish: &Wish, places: &Places) -> Result<Vec<(PathBuf, Edit)>> {
    let directory = match wish.scope {
        Scope::User => home(places)?,
        Scope::Project => places.project.join(".codex"),
    };
    let server = Server { program: wish.program.clone(), approved: wish.allowed_tools().collect() };
    let mut files = vec![(directory.join("config.toml"), Edit::Toml(server))];
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
        files.push((directory.join("hooks.json"), edit));
    }
    Ok(files)
}

/// Where Codex keeps what is the user's.
pub fn home(places: &Places) -> Result<PathBuf> {
    (places.variable)("CODEX_HOME").map_or_else(|| Ok(places.home()?.join(".codex")), Ok)
}

/// How long a hook may take. At its end Codex waits for three seconds and warns of more at every start.
pub fn seconds(event: &str) -> u64 {
    if matches!(event, "SessionEnd" | "Interrupt") { 3 } else { HOOK_SECONDS }
}

/// What the user does next.
pub fn next_steps(scope: Scope, hooks: bool) -> Vec<&'static str> {
    let mut steps = vec![match scope {
        Scope::Project => {
            "start `codex` in this project and trust the project when it asks: it reads `.codex/` only then"
        }
        Scope::User => "start `codex` anew",
    }];
    if hooks {
        steps.push("answer its \"Hooks need review\" with \"Trust all\"");
        steps.push("do so before `codex exec`, which asks nothing and skips hooks that are not trusted in silence");
    }
    steps
}
