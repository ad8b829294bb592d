//! Comments of people on lines, for the agent that works on them.

use backsight_core::{RelPath, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A comment on a line.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Comment {
    /// To answer or resolve it with.
    pub id: String,
    /// Who wrote it.
    pub person: String,
    /// On which file.
    pub file: RelPath,
    /// On which line, from 1.
    pub line: u64,
    /// The line as it was then.
    pub code: String,
    /// What they say.
    pub text: String,
    /// When.
    pub at: Timestamp,
    /// The session it is for; whichever agent asks next when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// To which session it was told, with an answer to its hook; absent while it waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<CommentTold>,
    /// What was answered, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<CommentAnswer>,
    /// When somebody said that it is done with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved: Option<Timestamp>,
    /// Whether the file does not hold the line any more: what it was about has changed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub outdated: bool,
}

/// To whom a comment was told.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct CommentTold {
    /// The session.
    pub session: String,
    /// When.
    pub at: Timestamp,
}

/// An answer to a comment.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct CommentAnswer {
    /// Who answers: an agent's name, a person's.
    pub by: String,
    /// What.
    pub text: String,
    /// When.
    pub at: Timestamp,
}

impl Comment {
    /// Whether there is nothing left to do about it.
    pub fn is_over(&self) -> bool {
        self.resolved.is_some() || self.outdated
    }

    /// In words for an agent: where, the code, what is wanted, and how to answer.
    pub fn for_agent(&self) -> String {
        let Comment { id, person, file, line, code, text, .. } = self;
        format!("{person} on {file}:{line} `{}`: {text} (answer: backsight comment answer {id} \"...\")", code.trim())
    }
}
