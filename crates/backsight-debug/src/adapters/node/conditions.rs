//! Conditions that cannot be evaluated, of which V8 says nothing: it takes them for false. And what was thrown.

use serde_json::{Value, json};

use super::adapter::{Node, Realm};
use super::inspector::Answer;

/// How many milliseconds a condition may take when it is looked at again.
const LOOK: u64 = 500;
/// What V8 says of an expression that would change something.
const SIDE_EFFECT: &str = "Possible side-effect in debug-evaluate";

/// A condition as V8 is told it: one that throws pauses the program, instead of being false.
pub(super) fn told(condition: &str) -> String {
    match condition.trim() {
        "" => String::new(),
        // On lines of its own, so that a comment in it ends with it.
        plain => format!("(() => {{ try {{ return (\n{plain}\n); }} catch {{ return true; }} }})()"),
    }
}

impl Node {
    /// Why a condition is no expression, if it is none.
    pub(super) async fn syntax_problem(&self, condition: &str) -> Option<String> {
        if condition.trim().is_empty() {
            return None;
        }
        // A function that is made and not called.
        let params = json!({ "expression": format!("() => (\n{condition}\n)"), "silent": true,
            "throwOnSideEffect": true, "timeout": LOOK });
        let answer = self.inspector.ask("Runtime.evaluate", params).await.ok()?;
        let details = answer.get("exceptionDetails")?;
        let said = details["exception"]["description"].as_str().unwrap_or_default();
        Some(said.lines().next().unwrap_or("SyntaxError").to_owned())
    }

    /// Why the condition of a breakpoint that was hit could not be evaluated. It is looked at once more, as long as it
    /// changes nothing.
    pub(super) async fn condition_problem(&self, condition: &str, frame: &str) -> Option<String> {
        if condition.trim().is_empty() {
            return None;
        }
        let params = json!({ "callFrameId": frame, "expression": format!("(\n{condition}\n)"), "silent": true,
            "throwOnSideEffect": true, "timeout": LOOK });
        let answer = self.inspector.ask("Debugger.evaluateOnCallFrame", params).await.ok()?;
        answer.get("exceptionDetails")?;
        let said =
            answer["result"]["description"].as_str().or(answer["result"]["value"].as_str()).unwrap_or("it throws");
        let first = said.lines().next().unwrap_or_default();
        Some(first.to_owned()).filter(|first| !first.contains(SIDE_EFFECT))
    }

    /// What was thrown, and what led to it.
    pub(super) async fn raised(&self) -> Answer {
        let thrown = self.pause()?.thrown.clone();
        let realm = self.pause()?.frames.first().map_or(Realm::Main, |frame| self.realm(frame));
        self.walk(realm, json!({ "raised": true, "scopes": [] }), thrown, Vec::new()).await
    }
}

/// What was thrown, as an argument for the walker.
pub(super) fn thrown(params: &Value) -> Value {
    super::look::argument(&params["data"])
}
