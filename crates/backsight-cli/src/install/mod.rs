//! Writing Backsight into a client's configuration. A client's file says which files are concerned and what belongs
//! into them; `edit` turns an existing text into the new one, or back; only `write` touches the disk.

mod claude_code;
mod codex;
mod cursor;
mod edit;
mod gemini;
mod jsonc;
mod node;
mod opencode;
#[cfg(test)]
mod plugin;
mod toml;
mod vscode;
mod write;
mod zed;

use std::path::PathBuf;

use backsight_core::{Code, Error, Result};
use clap::ValueEnum;

pub use edit::{Edit, Piece};
pub use write::{FilePlan, plan, write};

/// How long a client waits for a hook, in seconds. A hook answers within five; the rest is for a machine under load.
const HOOK_SECONDS: u64 = 30;

/// A client that `install` knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Client {
    /// Claude Code: MCP server and hooks
    ClaudeCode,
    /// Cursor: MCP server and hooks
    Cursor,
    /// VS Code: MCP server
    Vscode,
    /// Codex: MCP server and hooks
    Codex,
    /// Gemini CLI: MCP server and hooks
    Gemini,
    /// opencode: MCP server and a plugin for its hooks
    Opencode,
    /// Zed: MCP server
    Zed,
}

/// Whose configuration is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Scope {
    /// That of this project, which is often shared with others
    Project,
    /// That of the user, for every project
    User,
}

/// Where configurations live.
#[derive(Clone, Debug)]
pub struct Places {
    /// The project.
    pub project: PathBuf,
    /// `$HOME`.
    pub home: Option<PathBuf>,
    /// A variable of the environment, when it names a directory.
    pub variable: fn(&str) -> Option<PathBuf>,
}

/// What is to be written.
#[derive(Clone, Debug)]
pub struct Wish {
    /// Whose configuration.
    pub scope: Scope,
    /// The program the client starts.
    pub program: String,
    /// Whether the hooks are written too.
    pub hooks: bool,
}

/// A file of the client and what belongs into it.
#[derive(Clone, Debug)]
pub struct FileEdit {
    /// The file.
    pub path: PathBuf,
    /// What belongs into it.
    pub edit: Edit,
}

impl Client {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Client::ClaudeCode => "claude-code",
            Client::Cursor => "cursor",
            Client::Vscode => "vscode",
            Client::Codex => "codex",
            Client::Gemini => "gemini",
            Client::Opencode => "opencode",
            Client::Zed => "zed",
        }
    }

    /// The client's files and what belongs into each.
    pub fn files(self, wish: &Wish, places: &Places) -> Result<Vec<FileEdit>> {
        match self {
            Client::ClaudeCode => claude_code::files(wish, places),
            Client::Cursor => cursor::files(wish, places),
            Client::Vscode => vscode::files(wish, places),
            Client::Codex => codex::files(wish, places),
            Client::Gemini => gemini::files(wish, places),
            Client::Opencode => opencode::files(wish, places),
            Client::Zed => zed::files(wish, places),
        }
    }

    /// What the user does next.
    pub fn next_steps(self, wish: &Wish) -> Vec<String> {
        let step = |text: &str| text.to_owned();
        match (self, wish.scope) {
            (Client::ClaudeCode, Scope::Project) => {
                vec![step("start `claude` anew in this project and approve the server and the hooks: `/mcp`, `/hooks`")]
            }
            (Client::ClaudeCode, Scope::User) => vec![step("start `claude` anew; `/mcp` and `/hooks` show both")],
            (Client::Codex, scope) => {
                let trust = "trust the hooks: Codex skips them until you reviewed them with `/hooks`";
                let project = "trust this project in Codex: it reads `.codex/` of trusted projects only";
                let mut steps = vec![step("start `codex` anew")];
                steps.extend((scope == Scope::Project).then(|| step(project)));
                steps.extend(wish.hooks.then(|| step(trust)));
                steps
            }
            (Client::Cursor, _) => vec![step("restart Cursor; Settings > MCP and Settings > Hooks show both")],
            (Client::Vscode, _) => vec![step("run `MCP: List Servers` in the command palette and start `backsight`")],
            (Client::Gemini, _) => vec![step("start `gemini` anew; `/mcp` and `/hooks` show both")],
            (Client::Opencode, _) => vec![step("start `opencode` anew")],
            (Client::Zed, _) => vec![step("the agent panel's settings show the server; Zed starts it by itself")],
        }
    }
}

impl Places {
    fn home(&self) -> Result<PathBuf> {
        self.home.clone().ok_or_else(|| {
            Error::new(Code::Usage, "no home directory is known, so the user's configuration cannot be found")
                .with_hint("set HOME, or write into the project with `--scope project`")
        })
    }

    fn config_home(&self) -> Result<PathBuf> {
        (self.variable)("XDG_CONFIG_HOME").map_or_else(|| Ok(self.home()?.join(".config")), Ok)
    }

    /// `name` in the project or in the home directory.
    fn of(&self, scope: Scope, name: &str) -> Result<PathBuf> {
        match scope {
            Scope::Project => Ok(self.project.join(name)),
            Scope::User => Ok(self.home()?.join(name)),
        }
    }
}

impl Wish {
    /// What a shell runs for an agent's hook.
    fn hook_command(&self, agent: &str) -> String {
        format!("{} hook {agent}", backsight_core::shell_word(self.program.as_bytes()))
    }
}
