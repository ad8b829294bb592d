//! Comments of people on lines, for the agent that works on them, as every interface asks for them.

use backsight_core::names::{self, ID};
use backsight_core::{Code, Effect, Error, Operation, Result, Waits, quote, short_enough, within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{NewComment, PathText};
use crate::Workspace;
use crate::operation::Perform;
use crate::report::{Comment, Comments};

/// Who looks when the caller does not say.
const ANYBODY: &str = "me";

/// Who looks, or says something.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct Person {
    /// Who looks; `me` when left out.
    #[schemars(length(max = 100), regex(pattern = ID))]
    pub person: Option<String>,
}

impl Person {
    /// A name that can be one.
    pub fn name(&self) -> Result<String> {
        let name = self.person.as_deref().unwrap_or(ANYBODY);
        if names::is_name(name) {
            return Ok(name.to_owned());
        }
        let name = quote(name.as_bytes());
        Err(Error::new(Code::Usage, format!("`{name}` cannot name a person"))
            .with_hint("use a short name such as `ada`"))
    }
}

/// List the comments on lines, oldest first.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ListComments {
    /// Without those that are over: resolved, or on a line that has changed.
    #[serde(default)]
    pub only_open: bool,
}

impl Operation for ListComments {
    type Answer = Comments;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDisk;
}

impl Perform for ListComments {
    fn carry_out(self, workspace: &Workspace) -> Result<Comments> {
        let mut comments = workspace.comments()?;
        comments.retain(|comment| !self.only_open || !comment.is_over());
        Ok(Comments { comments })
    }
}

/// Comment on a line; the agent is told with its next hook.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct CommentOnLine {
    /// Who says it.
    #[serde(flatten)]
    pub person: Person,
    /// On which file.
    pub file: PathText,
    /// On which line as the file is on disk.
    #[schemars(range(min = 1))]
    pub line: u32,
    /// What you say.
    #[schemars(length(min = 1, max = 4000), regex(pattern = r"\S"))]
    pub text: String,
    /// The session it is for; the agent that asks next when left out.
    #[schemars(length(max = 200), regex(pattern = ID))]
    pub session: Option<String>,
}

impl Operation for CommentOnLine {
    type Answer = Comment;
    const EFFECT: Effect = Effect::Records;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        self.person.name()?;
        self.file.inside()?;
        within("line", self.line, 1..=u32::MAX)?;
        short_enough("text", &self.text)
    }
}

impl Perform for CommentOnLine {
    fn carry_out(self, workspace: &Workspace) -> Result<Comment> {
        let CommentOnLine { person, file, line, text, session } = self;
        let (person, file) = (person.name()?, file.inside()?);
        workspace.comment(&NewComment { person, file, line: line.into(), text, session })
    }
}

/// Answer a comment.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct AnswerComment {
    /// Who says it.
    #[serde(flatten)]
    pub person: Person,
    /// Which comment.
    pub id: String,
    /// What you say.
    #[schemars(length(min = 1, max = 4000), regex(pattern = r"\S"))]
    pub text: String,
}

impl Operation for AnswerComment {
    type Answer = Comment;
    const EFFECT: Effect = Effect::Records;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        self.person.name()?;
        short_enough("id", &self.id)?;
        short_enough("text", &self.text)
    }
}

impl Perform for AnswerComment {
    fn carry_out(self, workspace: &Workspace) -> Result<Comment> {
        workspace.answer_comment(&self.id, &self.person.name()?, &self.text)
    }
}

/// Say that a comment is done with.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ResolveComment {
    /// Which comment.
    pub id: String,
}

impl Operation for ResolveComment {
    type Answer = Comment;
    const EFFECT: Effect = Effect::Records;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        short_enough("id", &self.id)
    }
}

impl Perform for ResolveComment {
    fn carry_out(self, workspace: &Workspace) -> Result<Comment> {
        workspace.resolve_comment(&self.id)
    }
}
