//! What was executed for a session. Whoever allowed it is told, also when it came to nothing: a program of the workspace may
//! have taken the place of the one that was meant.

use backsight_core::Error;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What was executed when a session began; nothing where a debugger waited for us.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Executed {
    /// The command line that built the program before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub build: Vec<String>,
    /// The command line that was executed when the session began, the program that was found first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// What that debugger starts in turn: the program and its arguments, where `command` does not hold them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub debuggee: Vec<String>,
    /// The directory in which it was executed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// The names of the variables that were set for it beside those of the server.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<String>,
}

impl Executed {
    /// A failure with what was executed before it.
    pub(crate) fn told_with(&self, error: Error) -> Error {
        if self.command.is_empty() {
            return error;
        }
        let mut details = error.details().as_object().cloned().unwrap_or_else(Map::new);
        if let Ok(Value::Object(own)) = serde_json::to_value(self) {
            details.extend(own);
        }
        error.with_details(Value::Object(details))
    }
}
