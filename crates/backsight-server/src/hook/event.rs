//! What a hook says, whichever agent said it.

use std::path::PathBuf;
use std::time::Duration;

use backsight::report::Background;
use backsight_core::Timestamp;

/// What happened in the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A conversation begins or is taken up again.
    SessionStart {
        /// Which.
        session: String,
        /// Whether it only goes on, with a shorter memory.
        goes_on: bool,
    },
    /// The user says something.
    Prompt {
        /// The conversation.
        session: String,
        /// The message, when the agent numbers them.
        message: Option<String>,
        /// What the user said.
        text: Option<String>,
    },
    /// A tool is about to run.
    ToolBegin(ToolCall),
    /// The user is asked whether a tool may run.
    Asked {
        /// The conversation.
        session: String,
        /// The tool, as its calls are titled; any when the agent does not say.
        title: Option<String>,
    },
    /// A tool has run, or was kept from it.
    ToolEnd {
        /// Which.
        call: ToolCall,
        /// How it went.
        ending: Ending,
    },
    /// Every tool of a batch has ended; those without an end were refused.
    BatchEnd {
        /// The conversation.
        session: String,
        /// The tools of the batch.
        parts: Vec<String>,
    },
    /// The agent has answered.
    TurnEnd {
        /// The conversation.
        session: String,
        /// Whether something goes on in the background: then an open call may still end.
        in_background: bool,
    },
    /// The conversation is over.
    SessionEnd {
        /// Which.
        session: String,
    },
    /// Nothing that concerns files.
    Ignored,
}

impl Event {
    /// The conversation it is about.
    pub fn session(&self) -> Option<&str> {
        match self {
            Event::SessionStart { session, .. }
            | Event::Prompt { session, .. }
            | Event::Asked { session, .. }
            | Event::BatchEnd { session, .. }
            | Event::TurnEnd { session, .. }
            | Event::SessionEnd { session } => Some(session),
            Event::ToolBegin(call) | Event::ToolEnd { call, .. } => Some(&call.session),
            Event::Ignored => None,
        }
    }
}

/// One use of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    /// The conversation.
    pub session: String,
    /// The message it belongs to, when the agent says so.
    pub message: Option<String>,
    /// The agent's id of this use, or one made of what it does.
    pub part: String,
    /// Whether the id is made: then every use that does the same has the same.
    pub is_part_made: bool,
    /// The tool, as the agent calls it.
    pub tool: String,
    /// What it can do to files.
    pub effect: Effect,
    /// What a person reads in the history when no paths are known: `Bash: npm test`.
    pub title: String,
    /// Where relative paths start.
    pub directory: Option<PathBuf>,
    /// Whether it is a command that commits to Git.
    pub commits: bool,
}

/// What a tool can do to files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It writes none, or tools of its own report what it does.
    Nothing,
    /// It writes these.
    Writes(Vec<PathBuf>),
    /// It may write anything.
    Anything,
    /// It is one of ours, which records by itself.
    Ours(Ours),
}

/// A use of one of our own tools, by which the call that reaches our server is known again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ours {
    /// The tool, as we call it.
    pub name: String,
    /// What tells its input from others.
    pub print: u64,
}

/// How a tool's use ended, and what the agent says of when it ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// How it went.
    pub outcome: Outcome,
    /// How long it ran, without the time in which the user was asked.
    pub took: Option<Duration>,
    /// When the user allowed it.
    pub allowed: Option<Timestamp>,
    /// Its command goes on by itself.
    pub background: Option<Background>,
}

impl From<Outcome> for Ending {
    fn from(outcome: Outcome) -> Self {
        Ending { outcome, took: None, allowed: None, background: None }
    }
}

/// How a tool's use ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It ran.
    Done,
    /// It ran and failed; what it wrote before is its own.
    Failed,
    /// It did not run.
    Denied,
}
