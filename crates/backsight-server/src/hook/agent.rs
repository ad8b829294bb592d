//! The agents whose hooks we understand.

use std::fmt;
use std::str::FromStr;

use backsight_core::{Code, Error, Result, quote};
use serde_json::Value;

/// An agent with hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Agent {
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// Cursor.
    Cursor,
    /// opencode, through the plugin that `backsight install opencode` writes.
    OpenCode,
}

impl Agent {
    /// Every agent, in the order of the help.
    pub const ALL: &'static [Agent] = &[Agent::ClaudeCode, Agent::Codex, Agent::Gemini, Agent::Cursor, Agent::OpenCode];

    /// The name on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Agent::ClaudeCode => "claude-code",
            Agent::Codex => "codex",
            Agent::Gemini => "gemini",
            Agent::Cursor => "cursor",
            Agent::OpenCode => "opencode",
        }
    }

    /// The agent that an MCP client of this name belongs to: `claude-code`, `codex-mcp-client`, `gemini-cli-mcp-client`.
    pub fn of_client(name: &str) -> Option<Agent> {
        let name = name.to_ascii_lowercase().replace(' ', "-");
        Agent::ALL.iter().copied().find(|agent| name.starts_with(agent.as_str()))
    }

    /// Who speaks: Codex runs the hooks of Claude Code's plugins as they are, and is known by its turns.
    pub fn speaking(self, payload: &Value) -> Agent {
        let is_codex = payload.get("turn_id").is_some() && payload.get("prompt_id").is_none();
        if self == Agent::ClaudeCode && is_codex { Agent::Codex } else { self }
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Agent {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Agent::ALL.iter().copied().find(|agent| agent.as_str() == text).ok_or_else(|| {
            let names: Vec<&str> = Agent::ALL.iter().map(|agent| agent.as_str()).collect();
            Error::new(Code::Usage, format!("no agent `{}` is known", quote(text.as_bytes())))
                .with_hint(format!("one of {}", names.join(", ")))
        })
    }
}
