//! What people say about lines, and the agent's answers: for clients whose hooks hand their model nothing, and for every one
//! that wants to answer without a shell.

use backsight::report::Comment;
use backsight::request::{AnswerComment, ListComments, Person};
use backsight_core::Result;
use serde_json::{Map, Value, json};

use super::{Call, Choosing, Group, Needs, Shown, ToolChoice, cursor, usage};
use crate::reply::{Draft, Next};
use crate::words;

pub struct ReviewComments;

impl Choosing for ReviewComments {
    const NAME: &'static str = "review_comments";
    const TITLE: &'static str = "Read and answer review comments";
    const DESCRIPTION: &'static str = "Read what people commented on lines of your work, with file, line and code, and answer \
        it: the person sees your answer below the comment. A comment is over when its line has changed.";
    const GROUP: Group = Group::Files;
    const NEEDS: Needs = Needs::Comment;
    const SHOWS_BUDGET: bool = true;
    const PAGES: bool = true;
    const WORD: &'static str = "";
    const OWN: &'static [(&'static str, &'static str)] = &[("all", "boolean")];
    const SHOWN: &'static [Shown] = &[
        Shown::new("id").named("answer").saying("the id of a comment to answer, with `text`"),
        Shown::new("text"),
        Shown::new("all").saying("also those that are over"),
        Shown::new("cursor"),
    ];
    const OUTPUT: &'static [(&'static str, &'static str)] = &[("comments", "array")];

    fn choices() -> Vec<ToolChoice> {
        vec![
            ToolChoice::of("list", list),
            ToolChoice::of("answer", |call, answer: AnswerComment| {
                let person = Person { person: Some(call.client.to_owned()) };
                let comment = call.workspace.perform(AnswerComment { person, ..answer })?;
                Ok(Draft::new(format!("answered {}", place(&comment))))
            }),
        ]
    }

    fn meant(arguments: &mut Map<String, Value>) -> Result<Option<&'static str>> {
        let all = arguments.shift_remove("all").is_some_and(|all| all == true);
        match (arguments.contains_key("answer"), arguments.contains_key("text")) {
            (true, true) => Ok(Some("answer")),
            (false, false) => {
                arguments.insert("only_open".to_owned(), json!(!all));
                Ok(None)
            }
            _ => Err(usage("`answer` and `text` go together".to_owned())),
        }
    }
}

/// The comments, oldest first; those that waited for this conversation count as told.
fn list(call: &Call<'_>, request: ListComments) -> Result<Draft> {
    let session = call.asker.session.as_deref().unwrap_or(call.client);
    // Told ten at a time; all of them are in this answer.
    loop {
        let told: Vec<String> = call.workspace.comments_for(session)?.into_iter().map(|comment| comment.id).collect();
        if told.is_empty() {
            break;
        }
        call.workspace.comments_told(&told)?;
    }
    let again = Next::new(ReviewComments::NAME, json!({ "all": !request.only_open }));
    let comments = call.workspace.perform(request)?.comments;
    let lines: Vec<String> = comments.iter().map(|comment| line(comment, call)).collect();
    let summary = match lines.len() {
        0 => "no comment is open".to_owned(),
        open => format!("{}; answer with answer: ID, text", words::count(open, "comment")),
    };
    Ok(Draft::new(summary).list_from("comments", lines, cursor(call.cursor)?, again))
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
