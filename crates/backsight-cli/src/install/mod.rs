//! Writing Backsight into a client's configuration. A client's file says which files are concerned and what belongs
//! into them; `edit` turns an existing text into the new one, or back; only `write` touches the disk.

mod claude_code;
mod codex;
mod cursor;
mod edit;
mod gemini;
mod jsonc;
mod kept;
mod node;
mod opencode;
#[cfg(test)]
mod pages;
#[cfg(test)]
mod plugin;
#[cfg(test)]
mod there_and_back;
mod toml;
mod trust;
mod vscode;
mod write;
mod zed;

use std::path::{Path, PathBuf};

use backsight_core::{Code, Error, Result, bounded};
use backsight_server::hook::Agent;
use backsight_server::reading_tools;
use clap::ValueEnum;

use crate::words::safe;

pub use edit::{Edit, Piece, Presence};
pub use kept::Shelf;
pub use trust::Trust;
pub use write::{FilePlan, Memory, plan, tidy_up, write};

/// How long a client waits for a hook, in seconds. A hook answers within five; the rest is for a machine under load.
const HOOK_SECONDS: u64 = 30;

/// Larger settings are none.
const LARGEST_SETTINGS: u64 = 16 << 20;

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
    /// Whether the client need not ask its user before tools that only read.
    pub reading_is_allowed: bool,
}

/// A file of the client and what belongs into it.
#[derive(Clone, Debug)]
pub struct FileEdit {
    /// The file.
    pub path: PathBuf,
    /// What belongs into it.
    pub edit: Edit,
    /// All that may be ours in it, whichever way it was installed.
    pub all: Edit,
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
        let everything = Wish { hooks: true, reading_is_allowed: true, ..wish.clone() };
        let all = self.edits(&everything, places)?;
        let whole = |path: &PathBuf| all.iter().find(|(other, _)| other == path).map(|(_, edit)| edit.clone());
        let wanted = self.edits(wish, places)?.into_iter();
        Ok(wanted.filter_map(|(path, edit)| Some(FileEdit { all: whole(&path)?, path, edit })).collect())
    }

    fn edits(self, wish: &Wish, places: &Places) -> Result<Vec<(PathBuf, Edit)>> {
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

    /// What the user does next: above all, what the client wants to be told before it uses any of it.
    pub fn next_steps(self, wish: &Wish) -> Vec<&'static str> {
        let mut steps = match (self, wish.scope) {
            (Client::ClaudeCode, Scope::Project) => vec![
                "start `claude` in this project and say yes to what it asks: to trust the folder, and to use the server",
                "until then it leaves both out; `/mcp` and `/hooks` show them",
            ],
            (Client::ClaudeCode, Scope::User) => vec!["start `claude` anew; `/mcp` and `/hooks` show both"],
            (Client::Codex, scope) => codex::next_steps(scope, wish.hooks),
            (Client::Gemini, _) => vec![
                "start `gemini` and trust the folder when it asks: in an untrusted one it loads neither server nor hooks, and \
                 does not say so",
                "where it cannot ask (`gemini -p`), set GEMINI_CLI_TRUST_WORKSPACE=true",
            ],
            (Client::Cursor, _) => vec!["restart Cursor, and switch the server on in Settings > MCP if it is off"],
            (Client::Vscode, _) => {
                vec!["run `MCP: List Servers` in the command palette, start `backsight`, and trust it when asked"]
            }
            (Client::Opencode, _) => vec![
                "start `opencode` anew; it asks nothing",
                "without a network it starts a minute later: it waits for npm before it loads any plugin",
            ],
            (Client::Zed, _) => vec!["open the agent panel's settings; Zed starts the server by itself"],
        };
        if wish.hooks && self.agent().is_some() {
            steps.push("give it a task, then ask `backsight doctor` whether it was heard");
        }
        steps
    }

    /// Why tools that only read are not allowed here when that was asked for.
    pub fn why_not_allowed(self) -> Option<&'static str> {
        match self {
            Client::ClaudeCode | Client::Codex => None,
            Client::Gemini => {
                Some("Gemini CLI can only trust all tools of a server at once: choose \"always allow\" when it asks")
            }
            Client::Cursor => Some("Cursor keeps that in its own settings: choose \"always allow\" when it asks"),
            Client::Zed => Some("Zed keeps that in its own settings: choose \"always allow\" when it asks"),
            Client::Vscode => Some("VS Code does not ask before tools that say they only read"),
            Client::Opencode => {
                Some("opencode does not ask before the tools of a server unless its `permission` says so")
            }
        }
    }

    /// What of ours is in the client's files of a scope; files that cannot be read hold nothing.
    pub fn presence(self, scope: Scope, places: &Places) -> Presence {
        let wish = Wish { scope, program: "backsight".to_owned(), hooks: true, reading_is_allowed: true };
        let found = self.files(&wish, places).unwrap_or_default().into_iter().filter_map(|file| {
            let text = bounded::read(&file.path, LARGEST_SETTINGS).ok()?;
            Some(file.all.presence(&String::from_utf8(text).ok()?))
        });
        found.fold(Presence::default(), |all, one| Presence {
            server: all.server || one.server,
            hooks: all.hooks || one.hooks,
        })
    }

    /// The agent whose hooks are heard, where the client has any.
    pub fn agent(self) -> Option<Agent> {
        match self {
            Client::ClaudeCode => Some(Agent::ClaudeCode),
            Client::Cursor => Some(Agent::Cursor),
            Client::Codex => Some(Agent::Codex),
            Client::Gemini => Some(Agent::Gemini),
            Client::Opencode => Some(Agent::OpenCode),
            Client::Vscode | Client::Zed => None,
        }
    }
}

impl Places {
    /// Those of this process.
    pub fn new(project: PathBuf) -> Places {
        let variable = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        Places { project, home: variable("HOME"), variable }
    }

    /// A path as a person writes it: from the project, or from the home directory.
    pub fn short(&self, path: &Path) -> String {
        let below_home = || Some(Path::new("~").join(path.strip_prefix(self.home.as_ref()?).ok()?));
        let inside = path.strip_prefix(&self.project).ok().map(Path::to_path_buf);
        safe(&inside.or_else(below_home).unwrap_or_else(|| path.to_path_buf()).display().to_string())
    }

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
    /// The tools that are called without asking.
    fn allowed_tools(&self) -> impl Iterator<Item = &'static str> + use<> {
        let tools = if self.reading_is_allowed { reading_tools() } else { Vec::new() };
        tools.into_iter()
    }

    /// What a shell runs for an agent's hook.
    fn hook_command(&self, agent: &str) -> String {
        format!("{} hook {agent}", backsight_core::shell_word(self.program.as_bytes()))
    }
}
