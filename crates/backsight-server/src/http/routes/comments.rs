//! Comments of people on lines, for the agent that works on them.

use backsight::Workspace;
use backsight::report::Comment;
use backsight::request::NewComment;
use backsight_core::{Code, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::views::Person;
use super::{ID, LOOK, Nothing, PATH, PathText, WRITE};
use crate::http::endpoint::Endpoint;

/// There is no such comment.
const UNKNOWN: &[Code] = &[Code::RefNotFound];
/// There is no such line to comment on.
const NO_LINE: &[Code] = &[Code::PathNotFound, Code::InvalidRange];

pub fn operations() -> Vec<Endpoint> {
    vec![
        Endpoint::get("/api/comments", "comments", "The comments on lines, oldest first", comments).fails(&[LOOK]),
        Endpoint::post("/api/comments", "comment", "Comment on a line; the agent is told with its next hook", comment)
            .fails(&[PATH, NO_LINE, LOOK, WRITE]),
        Endpoint::post("/api/comments/answer", "commentAnswer", "Answer a comment", answer)
            .fails(&[UNKNOWN, LOOK, WRITE]),
        Endpoint::post("/api/comments/resolve", "commentResolve", "Say that a comment is done with", resolve)
            .fails(&[UNKNOWN, LOOK, WRITE]),
    ]
}

/// The comments.
#[derive(JsonSchema, Serialize)]
struct Comments {
    /// Oldest first.
    comments: Vec<Comment>,
}

fn comments(workspace: &Workspace, _: Nothing) -> Result<Comments> {
    Ok(Comments { comments: workspace.comments()? })
}

#[derive(Deserialize, JsonSchema)]
struct CommentInput {
    #[serde(flatten)]
    person: Person,
    /// On which file.
    file: PathText,
    /// On which line as the file is on disk.
    #[schemars(range(min = 1))]
    line: u32,
    /// What you say.
    #[schemars(length(min = 1, max = 4000), regex(pattern = r"\S"))]
    text: String,
    /// The session it is for; whichever agent asks next when left out.
    #[schemars(length(max = 200), regex(pattern = ID))]
    session: Option<String>,
}

fn comment(workspace: &Workspace, input: CommentInput) -> Result<Comment> {
    let CommentInput { person, file, line, text, session } = input;
    let (person, file) = (person.name()?, file.inside()?);
    workspace.comment(&NewComment { person, file, line: line.into(), text, session })
}

#[derive(Deserialize, JsonSchema)]
struct AnswerInput {
    #[serde(flatten)]
    person: Person,
    /// Which comment.
    id: String,
    /// What you say.
    #[schemars(length(min = 1, max = 4000), regex(pattern = r"\S"))]
    text: String,
}

fn answer(workspace: &Workspace, input: AnswerInput) -> Result<Comment> {
    workspace.answer_comment(&input.id, &input.person.name()?, &input.text)
}

#[derive(Deserialize, JsonSchema)]
struct ResolveInput {
    /// Which comment.
    id: String,
}

fn resolve(workspace: &Workspace, input: ResolveInput) -> Result<Comment> {
    workspace.resolve_comment(&input.id)
}
