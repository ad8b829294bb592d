//! Comments of people on lines, for the agent that works on them.

use backsight::request::{AnswerComment, CommentOnLine, ListComments, ResolveComment};
use backsight_core::Code;
use http::Method;

use super::{LOOK, PATH, WRITE};
use crate::http::endpoint::Endpoint;
use crate::http::route::{Route, routes};

/// There is no such comment.
const UNKNOWN: &[Code] = &[Code::RefNotFound];
/// There is no such line to comment on.
const NO_LINE: &[Code] = &[Code::PathNotFound, Code::InvalidRange];

routes! {
    GET "/api/comments" comments: ListComments, "The comments on lines, oldest first", [LOOK];
    POST "/api/comments" comment: CommentOnLine,
        "Comment on a line; the agent is told with its next hook", [PATH, NO_LINE, LOOK, WRITE];
    POST "/api/comments/answer" commentAnswer: AnswerComment, "Answer a comment", [UNKNOWN, LOOK, WRITE];
    POST "/api/comments/resolve" commentResolve: ResolveComment,
        "Say that a comment is done with", [UNKNOWN, LOOK, WRITE];
}
