//! `backsight comment`: what people say about lines, for the agent that works on them.

use backsight::Workspace;
use backsight::report::Comment;
use backsight::request::{AnswerComment, CommentOnLine, ListComments, PathText, Person, ResolveComment};
use backsight_core::{Code, Error, Result};
use clap::Subcommand;

use crate::commands::Verdict;
use crate::commands::open::person;
use crate::context::Context;
use crate::words::{age, safe};

/// Comment on lines, and answer comments
///
/// A comment reaches the agent with its next prompt or tool, where its hooks are installed, with file, line and code. It is over
/// when it is resolved or its line has changed.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight comment add src/cart.js:16 'round to cents, please'
  backsight comment list
  backsight comment answer 0f3c... 'done in the next step'")]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Add(Add),
    List(List),
    Answer(Answer),
    Resolve(Resolve),
}

/// Comment on a line
#[derive(clap::Args, Debug)]
struct Add {
    /// Which line: FILE:LINE
    #[arg(value_name = "FILE:LINE")]
    place: String,
    /// What you say
    #[arg(value_name = "TEXT")]
    text: String,
    /// Only for the agent of this session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Who comments; you, unless told otherwise
    #[arg(long = "as", value_name = "NAME")]
    person: Option<String>,
}

/// List the comments that are open, oldest first
#[derive(clap::Args, Debug)]
struct List {
    /// Those that are over too
    #[arg(long)]
    all: bool,
}

/// Answer a comment
#[derive(clap::Args, Debug)]
struct Answer {
    /// Which comment
    #[arg(value_name = "ID")]
    id: String,
    /// What you say
    #[arg(value_name = "TEXT")]
    text: String,
    /// Who answers; you, unless told otherwise
    #[arg(long = "as", value_name = "NAME")]
    person: Option<String>,
}

/// Say that a comment is done with
#[derive(clap::Args, Debug)]
struct Resolve {
    /// Which comment
    #[arg(value_name = "ID")]
    id: String,
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let workspace = context.workspace()?;
    let variable = |name: &str| std::env::var(name).ok();
    match &args.action {
        Action::Add(add) => {
            let (file, line) = place(context, &workspace, &add.place)?;
            let (text, session) = (add.text.clone(), add.session.clone());
            let (person, file) = (named(add.person.as_deref(), variable)?, PathText::from(&file));
            one(context, &workspace.perform(CommentOnLine { person, file, line, text, session })?)?;
        }
        Action::Answer(answer) => {
            let person = named(answer.person.as_deref(), variable)?;
            let (id, text) = (answer.id.clone(), answer.text.clone());
            one(context, &workspace.perform(AnswerComment { person, id, text })?)?;
        }
        Action::Resolve(resolve) => {
            one(context, &workspace.perform(ResolveComment { id: resolve.id.clone() })?)?;
        }
        Action::List(list) => {
            let listed = workspace.perform(ListComments { only_open: !list.all })?;
            context.answer(&listed, |page| {
                if listed.comments.is_empty() {
                    page.note("no comment is open");
                }
                for comment in &listed.comments {
                    lines(context, comment).into_iter().for_each(|line| page.data.line(line));
                }
            })?;
        }
    }
    Ok(Verdict::Done)
}

fn place(context: &Context, workspace: &Workspace, typed: &str) -> Result<(backsight_core::RelPath, u32)> {
    let split = typed.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?)));
    let Some((file, line)) = split else {
        let typed = backsight_core::quote(typed.as_bytes());
        return Err(Error::new(Code::Usage, format!("`{typed}` names no line"))
            .with_hint("write FILE:LINE, such as `src/cart.js:16`"));
    };
    Ok((context.path(workspace, file.as_ref())?, line))
}

fn named(given: Option<&str>, variable: impl Fn(&str) -> Option<String>) -> Result<Person> {
    Ok(Person { person: Some(person(given, variable)?) })
}

fn one(context: &Context, comment: &Comment) -> Result<()> {
    context.answer(comment, |page| lines(context, comment).into_iter().for_each(|line| page.data.line(line)))
}

/// A comment as a person reads it.
fn lines(context: &Context, comment: &Comment) -> Vec<String> {
    let Comment { id, person, file, line, code, text, .. } = comment;
    let state = match (&comment.resolved, comment.outdated, &comment.told) {
        (Some(_), ..) => "resolved".to_owned(),
        (_, true, _) => "the line has changed".to_owned(),
        (.., Some(told)) => format!("told to {}", told.session),
        _ => "waits for the agent".to_owned(),
    };
    let state = match comment.unchecked {
        true => format!("{state}, the file is too large or cannot be read to see whether the line has changed"),
        false => state,
    };
    let head = format!("{id} {file}:{line} {}, {}, {}", safe(person), age(comment.at, context.now), safe(&state));
    let answers = comment.answers.iter().map(|answer| format!("  {}: {}", safe(&answer.by), safe(&answer.text)));
    [head, format!("  | {}", safe(code)), format!("  {}", safe(text))].into_iter().chain(answers).collect()
}
