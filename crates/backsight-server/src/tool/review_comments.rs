//! What people say about lines, and the agent's answers: for clients whose hooks hand their model nothing, and for every one
//! that wants to answer without a shell.

use backsight::report::Comment;
use backsight_core::Result;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{Call, Definition, Effect, Needs, cursor, usage};
use crate::reply::{Draft, Next};
use crate::words;

pub struct ReviewComments;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// the id of a comment to answer, with `text`
    answer: Option<String>,
    text: Option<String>,
    /// also those that are over
    #[serde(default)]
    all: bool,
    cursor: Option<String>,
}

impl Definition for ReviewComments {
    const NAME: &'static str = "review_comments";
    const TITLE: &'static str = "Read and answer review comments";
    const DESCRIPTION: &'static str = "Read what people commented on lines of your work, with file, line and code, and answer \
        it: the person sees your answer below the comment. A comment is over when its line has changed.";
    const EFFECT: Effect = Effect::Records;
    const NEEDS: Needs = Needs::Comment;
    const OUTPUT: &'static [(&'static str, &'static str)] = &[("comments", "array")];
    type Arguments = Arguments;

    fn run(call: &Call<'_>, arguments: Arguments) -> Result<Draft> {
        match (arguments.answer, arguments.text) {
            (Some(id), Some(text)) => {
                let comment = call.workspace.answer_comment(&id, call.client, &text)?;
                Ok(Draft::new(format!("answered {}", place(&comment))))
            }
            (None, None) => list(call, arguments.all, cursor(arguments.cursor.as_deref())?),
            _ => Err(usage("`answer` and `text` go together".to_owned())),
        }
    }
}

/// The comments, oldest first; those that waited for this conversation count as told.
fn list(call: &Call<'_>, all: bool, start: usize) -> Result<Draft> {
    let session = call.asker.session.as_deref().unwrap_or(call.client);
    // Told ten at a time; all of them are in this answer.
    loop {
        let told: Vec<String> = call.workspace.comments_for(session)?.into_iter().map(|comment| comment.id).collect();
        if told.is_empty() {
            break;
        }
        call.workspace.comments_told(&told)?;
    }
    let mut comments = call.workspace.comments()?;
    comments.retain(|comment| all || !comment.is_over());
    let lines: Vec<String> = comments.iter().map(|comment| line(comment, call)).collect();
    let summary = match lines.len() {
        0 => "no comment is open".to_owned(),
        open => format!("{}; answer with answer: ID, text", words::count(open, "comment")),
    };
    Ok(Draft::new(summary).list_from("comments", lines, start, Next::new(ReviewComments::NAME, json!({ "all": all }))))
}

fn place(comment: &Comment) -> String {
    let place = backsight_core::shell_word(format!("{}:{}", comment.file, comment.line).as_bytes());
    format!("{} on {place}", comment.person)
}

/// `0f3c ada on src/cart.js:16, 3 min ago: round to cents; claude answered: done; line: "return a + b"`. The line is what a file
/// says, not the person: it stands last, as a text that nothing in it can end.
fn line(comment: &Comment, call: &Call<'_>) -> String {
    let Comment { id, code, text, at, .. } = comment;
    let state = match (comment.resolved.is_some(), comment.outdated) {
        (true, _) => " (resolved)",
        (_, true) => " (its line has changed)",
        _ => "",
    };
    let answers: String =
        comment.answers.iter().map(|answer| format!("; {} answered: {}", answer.by, answer.text)).collect();
    let code = serde_json::Value::from(code.trim());
    format!("{id} {}, {}{state}: {text}{answers}; line: {code}", place(comment), words::age(*at, call.now))
}
