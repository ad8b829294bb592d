//! What adapters say, read leniently: every field that can be missing may be missing, what is unknown is ignored, and one
//! entry that cannot be read does not take its neighbours with it.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// What an adapter can do; anything it does not mention it cannot.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Capabilities {
    pub supports_configuration_done_request: bool,
    pub supports_function_breakpoints: bool,
    pub supports_conditional_breakpoints: bool,
    pub supports_hit_conditional_breakpoints: bool,
    pub supports_log_points: bool,
    pub supports_terminate_request: bool,
    pub support_terminate_debuggee: bool,
    pub supports_exception_info_request: bool,
    pub supports_delayed_stack_trace_loading: bool,
    pub supports_data_breakpoints: bool,
    pub supports_set_expression: bool,
    pub supports_set_variable: bool,
    pub exception_breakpoint_filters: Vec<ExceptionFilter>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ExceptionFilter {
    pub filter: String,
    pub label: String,
}

/// A stop.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct StoppedBody {
    pub reason: String,
    pub description: Option<String>,
    pub text: Option<String>,
    pub thread_id: Option<i64>,
    pub all_threads_stopped: Option<bool>,
    pub preserve_focus_hint: Option<bool>,
    pub hit_breakpoint_ids: Vec<i64>,
    /// Of our own adapter: a condition that could not be evaluated.
    pub problem: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ContinuedBody {
    pub thread_id: Option<i64>,
    pub all_threads_continued: Option<bool>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct OutputBody {
    pub category: Option<String>,
    pub output: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Breakpoint {
    pub id: Option<i64>,
    pub verified: bool,
    pub message: Option<String>,
    pub line: Option<u32>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Thread {
    pub id: i64,
    pub name: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct StackFrame {
    pub id: i64,
    pub name: String,
    pub source: Option<Source>,
    pub line: u32,
    pub column: u32,
    pub presentation_hint: Option<String>,
    pub instruction_pointer_reference: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Source {
    pub name: Option<String>,
    pub path: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Scope {
    pub name: String,
    pub presentation_hint: Option<String>,
    pub variables_reference: i64,
    pub named_variables: Option<u64>,
    pub expensive: bool,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Variable {
    pub name: String,
    pub value: String,
    #[serde(rename = "type")]
    pub kind: Option<String>,
    pub evaluate_name: Option<String>,
    pub variables_reference: i64,
    pub named_variables: Option<u64>,
    pub indexed_variables: Option<u64>,
    pub memory_reference: Option<String>,
    pub presentation_hint: Option<VariableHint>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct VariableHint {
    pub kind: Option<String>,
    pub lazy: bool,
    pub attributes: Vec<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Evaluated {
    pub result: String,
    #[serde(rename = "type")]
    pub kind: Option<String>,
    pub variables_reference: i64,
    pub named_variables: Option<u64>,
    pub indexed_variables: Option<u64>,
    pub memory_reference: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ExceptionInfo {
    pub exception_id: String,
    pub description: Option<String>,
}

/// Reads a body; what cannot be read is as if nothing had been said.
pub(crate) fn read<T: DeserializeOwned + Default>(body: Value) -> T {
    serde_json::from_value(body).unwrap_or_default()
}

/// Reads a body as everything that a body may be.
pub(crate) fn read_any(body: &Value) {
    let body = || body.clone();
    let _ = (read::<Capabilities>(body()), read::<StoppedBody>(body()), read::<ContinuedBody>(body()));
    let _ = (read::<OutputBody>(body()), read::<Evaluated>(body()), read::<ExceptionInfo>(body()));
    let _ = (list::<Thread>(body(), "threads"), list::<StackFrame>(body(), "stackFrames"));
    let _ = (list::<Scope>(body(), "scopes"), list::<Variable>(body(), "variables"));
    failure(None, &body());
}

/// The entries of a list in a body, and how many of them could not be read.
pub(crate) fn list<T: DeserializeOwned>(mut body: Value, name: &str) -> (Vec<T>, usize) {
    let Some(Value::Array(entries)) = body.get_mut(name).map(Value::take) else { return (Vec::new(), 0) };
    let all = entries.len();
    let read: Vec<T> = entries.into_iter().filter_map(|entry| serde_json::from_value(entry).ok()).collect();
    let unread = all - read.len();
    (read, unread)
}

/// What an adapter says about why it refused: the filled-in text it means for people, else the short word.
pub(crate) fn failure(message: Option<&str>, body: &Value) -> String {
    let error = &body["error"];
    let format = error["format"].as_str().filter(|format| !format.trim().is_empty());
    let told = format.map(|format| filled(format, &error["variables"]));
    let told = told.or_else(|| message.filter(|message| !message.trim().is_empty()).map(str::to_owned));
    let text = told.unwrap_or_else(|| "it gave no reason".to_owned());
    text.trim().chars().take(2000).collect()
}

fn filled(format: &str, variables: &Value) -> String {
    let mut text = format.to_owned();
    for (name, value) in variables.as_object().into_iter().flatten() {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        text = text.replace(&format!("{{{name}}}"), &value);
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn one_unreadable_entry_leaves_the_others() {
        let body = json!({ "variables": [{ "name": "a", "value": "1", "variablesReference": 0 }, 7, { "name": 3 }] });
        let (variables, unread) = list::<Variable>(body, "variables");
        assert_eq!((variables.len(), unread), (1, 2));
        assert_eq!(variables[0].name, "a");
    }

    #[test]
    fn a_missing_or_odd_body_is_an_empty_one() {
        for body in [Value::Null, json!({}), json!([]), json!("x"), json!({ "reason": 5 })] {
            assert_eq!(read::<StoppedBody>(body.clone()).reason, "", "{body}");
            assert_eq!(list::<Thread>(body, "threads").0.len(), 0);
        }
    }

    #[test]
    fn the_text_for_people_is_preferred_and_filled_in() {
        let body =
            json!({ "error": { "format": "no {what} at {where}", "variables": { "what": "file", "where": 7 } } });
        assert_eq!(failure(Some("notFound"), &body), "no file at 7");
        assert_eq!(failure(Some("notStopped"), &Value::Null), "notStopped");
        assert_eq!(failure(Some(" "), &json!({ "error": { "format": "" } })), "it gave no reason");
    }
}
