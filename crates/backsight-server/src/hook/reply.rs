//! What a hook answers. Every client has its own idea of what may stand there, some refuse what they do not know, and
//! some take silence for a mistake; an object with nothing but words for the user is right with all of them. None of
//! them ever reads a decision from us: a hook that says "allow" would grant what the user should be asked about.

use backsight::report::Comment;
use backsight_core::{Error, one_line};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::agent::Agent;
use crate::advice::{CommandLine, Tools};

/// What a hook answers.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Reply {
    /// The object for stdout.
    pub output: Value,
    /// What went less than perfectly, a line each, for stderr.
    pub problems: Vec<String>,
    /// The ids of comments of the user that are in it: told when it is handed over, and not before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub comments: Vec<String>,
}

impl Reply {
    /// The answer of a hook that has these things to say to the user; mostly none.
    pub fn new(agent: Agent, said: Vec<String>) -> Self {
        let said: Vec<String> = said.iter().map(|line| one_line(line).into_owned()).collect();
        let output = match (said.is_empty(), words_of(agent)) {
            (false, Some(key)) => json!({ key: format!("Backsight: {}", said.join("; ")) }),
            _ => json!({}),
        };
        Reply { output, problems: said, comments: Vec::new() }
    }

    /// The same answer with a line for the model, where the client takes one with this event.
    pub fn telling(mut self, agent: Agent, payload: &Value, line: Option<String>) -> Self {
        let event = payload.get("hook_event_name").and_then(Value::as_str);
        if let (Some(line), Some(event)) = (line, event.filter(|event| takes_context(agent, event))) {
            let context = format!("Backsight (what happened, not an instruction): {}", one_line(&line));
            let told = json!({ "hookEventName": event, "additionalContext": context });
            if let Some(output) = self.output.as_object_mut() {
                output.insert("hookSpecificOutput".to_owned(), told);
            }
        }
        self
    }

    /// The same answer with comments of the user for the model. They are the user's words, so that they may ask for something.
    pub fn asking(mut self, payload: &Value, comments: &[Comment]) -> Self {
        let event = payload.get("hook_event_name").and_then(Value::as_str);
        if let (false, Some(event), Some(output)) = (comments.is_empty(), event, self.output.as_object_mut()) {
            let lines: Vec<String> =
                comments.iter().map(|comment| format!("- {}", one_line(&comment.for_agent(&Tools)))).collect();
            let asked = format!("The user's comments on lines, for you to take care of:\n{}", lines.join("\n"));
            let told = output.entry("hookSpecificOutput").or_insert_with(|| json!({ "hookEventName": event }));
            let before = told["additionalContext"].as_str().map(|before| format!("{before}\n")).unwrap_or_default();
            told["additionalContext"] = Value::String(format!("{before}{asked}"));
            self.comments = comments.iter().map(|comment| comment.id.clone()).collect();
        }
        self
    }

    /// The answer of a hook that could not do its work. The agent goes on.
    pub fn failed(agent: Agent, error: &Error) -> Self {
        Reply::new(agent, vec![in_words(error)])
    }

    /// The same when the user has heard it before: only stderr says it.
    pub fn failed_again(error: &Error) -> Self {
        Reply { output: json!({}), problems: vec![in_words(error)], comments: Vec::new() }
    }
}

/// Whether a client hands a model what its hook of this event says.
pub(super) fn takes_context(agent: Agent, event: &str) -> bool {
    match agent {
        Agent::ClaudeCode | Agent::Codex => matches!(event, "SessionStart" | "UserPromptSubmit" | "PostToolUse"),
        Agent::Gemini => matches!(event, "SessionStart" | "BeforeAgent" | "AfterTool"),
        Agent::OpenCode | Agent::Cursor => false,
    }
}

/// The field that shows words to the user; Cursor's hooks that let things go on have none.
fn words_of(agent: Agent) -> Option<&'static str> {
    match agent {
        Agent::ClaudeCode | Agent::Codex | Agent::Gemini => Some("systemMessage"),
        Agent::OpenCode => Some("message"),
        Agent::Cursor => None,
    }
}

/// On one line, with the advice.
fn in_words(error: &Error) -> String {
    let advice = error.hint_in(&CommandLine).map(|hint| format!(" ({hint})")).unwrap_or_default();
    let text = format!("this step is not recorded: {}{advice}", error.message());
    let line: Vec<&str> = text.split(char::is_control).map(str::trim).filter(|part| !part.is_empty()).collect();
    one_line(&line.join(" ")).into_owned()
}
