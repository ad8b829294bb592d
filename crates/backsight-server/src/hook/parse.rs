//! Each client's payload, as its published types give it, as one [`Event`]. Pure: nothing is read but the payload.

use std::path::PathBuf;
use std::time::Duration;

use backsight::names::{LONGEST_ID, LONGEST_NAME, tame};
use backsight::report::Background;
use backsight_core::{Code, Error, Result, Timestamp};
use serde_json::Value;

use super::agent::Agent;
use super::event::{Ending, Event, Outcome, ToolCall};
use super::{commit, tools};

/// What the payload says happened. Fields that nobody documents are skipped, and events that do not concern files are
/// [`Event::Ignored`]; a payload without what its event needs is an error.
pub fn parse(agent: Agent, payload: &Value) -> Result<Event> {
    if !payload.is_object() {
        return Err(Error::new(Code::Usage, format!("the payload of {agent} is not a JSON object")));
    }
    match agent {
        Agent::ClaudeCode | Agent::Codex | Agent::Gemini => claude_shaped(agent, payload),
        Agent::Cursor => cursor(payload),
        Agent::OpenCode => opencode(payload),
    }
}

/// The payload as a client writes it.
pub fn read_payload(bytes: &[u8]) -> Result<Value> {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    serde_json::from_slice(text)
        .map_err(|error| Error::new(Code::Usage, format!("the payload is not valid JSON: {error}")))
}

/// The client's name of the event.
pub fn event_name(payload: &Value) -> Option<&str> {
    payload.get("hook_event_name")?.as_str()
}

/// Claude Code's shape, which Codex and Gemini CLI follow with names of their own.
fn claude_shaped(agent: Agent, payload: &Value) -> Result<Event> {
    let event = text(payload, "hook_event_name")?;
    let session = || text(payload, "session_id");
    let message = match agent {
        // A subagent of Codex has turns of its own; its work belongs to the message its session is at.
        Agent::Codex if payload.get("agent_id").is_some() => None,
        Agent::Codex => optional(payload, "turn_id"),
        _ => optional(payload, "prompt_id"),
    };
    let call = || -> Result<ToolCall> {
        let input = payload.get("tool_input").unwrap_or(&Value::Null);
        let tool = text(payload, "tool_name")?;
        let part = match agent {
            // Gemini CLI numbers no tool calls; it says the same input before and after.
            Agent::Gemini => {
                let print = tools::fingerprint(&tool, input);
                tame(&format!("{tool}-{print:016x}"), LONGEST_ID)
            }
            _ => text(payload, "tool_use_id")?,
        };
        Ok(tool_call(agent, session()?, message.clone(), part, tool, input, raw(payload, "cwd")))
    };
    Ok(match event.as_str() {
        // A conversation that is compacted goes on.
        "SessionStart" if payload["source"] == "compact" => Event::Ignored,
        "SessionStart" => {
            Event::SessionStart { session: session()?, goes_on: payload["source"].as_str() == Some("compact") }
        }
        "UserPromptSubmit" | "BeforeAgent" => {
            Event::Prompt { session: session()?, message, text: raw(payload, "prompt") }
        }
        "PreToolUse" | "BeforeTool" => Event::ToolBegin(call()?),
        "PermissionRequest" => {
            let input = payload.get("tool_input").unwrap_or(&Value::Null);
            let title = tools::title(&text(payload, "tool_name")?, input);
            Event::Asked { session: session()?, title: Some(title) }
        }
        "Notification" if payload["notification_type"] == "ToolPermission" => {
            let command = payload["details"].get("command").map(|_| tools::title(GEMINI_SHELL, &payload["details"]));
            Event::Asked { session: session()?, title: command }
        }
        "PostToolUse" => {
            let background = payload["tool_response"].get("backgroundTaskId").map(|_| Background::default());
            let took = milliseconds(&payload["duration_ms"]);
            Event::ToolEnd { call: call()?, ending: Ending { took, background, ..Outcome::Done.into() } }
        }
        "AfterTool" => {
            let response = &payload["tool_response"];
            let is_error = response.get("error").is_some_and(|error| !error.is_null());
            // A command that failed is no error to it: it is told in the words for the user.
            let exited =
                response["returnDisplay"].as_str().and_then(|said| said.strip_prefix("Command exited with code: "));
            let failed = is_error || exited.is_some_and(|code| code.trim() != "0");
            let outcome = if failed { Outcome::Failed } else { Outcome::Done };
            let background = response["returnDisplay"].as_str().and_then(moved_to_background);
            Event::ToolEnd { call: call()?, ending: Ending { background, ..outcome.into() } }
        }
        "PostToolUseFailure" => {
            let took = milliseconds(&payload["duration_ms"]);
            Event::ToolEnd { call: call()?, ending: Ending { took, ..Outcome::Failed.into() } }
        }
        "PermissionDenied" => Event::ToolEnd { call: call()?, ending: Outcome::Denied.into() },
        "PostToolBatch" => Event::BatchEnd { session: session()?, parts: batch(payload) },
        "Stop" | "StopFailure" | "AfterAgent" | "Interrupt" => {
            let in_background = payload["background_tasks"].as_array().is_some_and(|tasks| !tasks.is_empty());
            Event::TurnEnd { session: session()?, in_background }
        }
        "SessionEnd" => Event::SessionEnd { session: session()? },
        _ => Event::Ignored,
    })
}

/// What Gemini CLI calls its shell.
const GEMINI_SHELL: &str = "run_shell_command";

/// What Gemini CLI says of a command that goes on: `Command moved to background (PID: 8590). ...`
fn moved_to_background(said: &str) -> Option<Background> {
    let rest = said.strip_prefix("Command moved to background")?;
    let digits = rest.strip_prefix(" (PID: ").and_then(|rest| rest.split(')').next());
    Some(Background { pid: digits.and_then(|digits| digits.parse().ok()) })
}

fn milliseconds(value: &Value) -> Option<Duration> {
    value.as_f64().and_then(|milliseconds| Duration::try_from_secs_f64(milliseconds / 1000.0).ok())
}

fn batch(payload: &Value) -> Vec<String> {
    let calls = payload["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
    calls.iter().filter_map(|call| optional(call, "tool_use_id")).collect()
}

/// Cursor speaks of conversations and generations, and of roots instead of a directory.
fn cursor(payload: &Value) -> Result<Event> {
    let event = text(payload, "hook_event_name")?;
    let session = || text(payload, "conversation_id").or_else(|error| text(payload, "session_id").map_err(|_| error));
    let message = optional(payload, "generation_id");
    let took = milliseconds(&payload["duration"]);
    let call = || -> Result<ToolCall> {
        let tool = text(payload, "tool_name")?;
        // Some of its events carry the input as a text that holds JSON.
        let parsed = payload["tool_input"].as_str().and_then(|text| serde_json::from_str(text).ok());
        let input = parsed.unwrap_or_else(|| payload["tool_input"].clone());
        let root = payload["workspace_roots"].get(0).and_then(Value::as_str).map(str::to_owned);
        let directory = raw(payload, "cwd").or(root);
        let part = text(payload, "tool_use_id")?;
        Ok(tool_call(Agent::Cursor, session()?, message.clone(), part, tool, &input, directory))
    };
    Ok(match event.as_str() {
        "sessionStart" => Event::SessionStart { session: session()?, goes_on: false },
        "beforeSubmitPrompt" => Event::Prompt { session: session()?, message, text: raw(payload, "prompt") },
        "preToolUse" => Event::ToolBegin(call()?),
        "postToolUse" => Event::ToolEnd { call: call()?, ending: Ending { took, ..Outcome::Done.into() } },
        "postToolUseFailure" => {
            let is_denied = payload["failure_type"] == "permission_denied";
            let outcome = if is_denied { Outcome::Denied } else { Outcome::Failed };
            Event::ToolEnd { call: call()?, ending: Ending { took, ..outcome.into() } }
        }
        "stop" => Event::TurnEnd { session: session()?, in_background: false },
        "sessionEnd" => Event::SessionEnd { session: session()? },
        _ => Event::Ignored,
    })
}

/// What our plugin passes on: the name of opencode's hook or event, its input, and what the plugin remembers.
fn opencode(payload: &Value) -> Result<Event> {
    let event = text(payload, "hook_event_name")?;
    let input = &payload["input"];
    let message = optional(payload, "messageID");
    let call = |arguments: &Value| -> Result<ToolCall> {
        let (session, part) = (text(input, "sessionID")?, text(input, "callID")?);
        let (tool, directory) = (text(input, "tool")?, raw(payload, "directory"));
        Ok(tool_call(Agent::OpenCode, session, message.clone(), part, tool, arguments, directory))
    };
    Ok(match event.as_str() {
        "session.created" => Event::SessionStart { session: text(input, "sessionID")?, goes_on: false },
        "chat.message" => Event::Prompt { session: text(input, "sessionID")?, message, text: raw(input, "prompt") },
        "tool.execute.before" | "tool.execute.after" | "tool.execute.error" => {
            let call = call(&input["args"])?;
            let outcome = match event.as_str() {
                "tool.execute.before" => return Ok(Event::ToolBegin(call)),
                // It ended while the user was still asked.
                _ if input["waiting"] == true => Outcome::Denied,
                "tool.execute.after" if input["exit"].as_i64().is_some_and(|exit| exit != 0) => Outcome::Failed,
                "tool.execute.after" => Outcome::Done,
                _ if input["error"].as_str().is_some_and(is_refusal) => Outcome::Denied,
                _ => Outcome::Failed,
            };
            let allowed = input["allowed"].as_i64().map(Timestamp);
            Event::ToolEnd { call, ending: Ending { allowed, ..outcome.into() } }
        }
        "session.idle" | "session.error" => {
            Event::TurnEnd { session: text(input, "sessionID")?, in_background: input["running"] == true }
        }
        "session.deleted" => Event::SessionEnd { session: text(input, "sessionID")? },
        _ => Event::Ignored,
    })
}

/// What opencode says of a tool that the user or a rule of the user's refused.
fn is_refusal(error: &str) -> bool {
    error.starts_with("The user rejected permission")
        || error.starts_with("The user has specified a rule which prevents")
}

fn tool_call(
    agent: Agent,
    session: String,
    message: Option<String>,
    part: String,
    tool: String,
    input: &Value,
    directory: Option<String>,
) -> ToolCall {
    let effect = tools::effect(agent, &tool, input);
    let title = tools::title(&tool, input);
    let (is_part_made, directory) = (agent == Agent::Gemini, directory.map(PathBuf::from));
    let commits = tools::command(input).is_some_and(|command| commit::is_commit(&command));
    ToolCall { session, message, part, is_part_made, tool, effect, title, directory, commits }
}

/// An id or name the event needs. It becomes part of the history, where each has a rule; a hook never fails its agent over
/// it, so one that breaks the rule is made to follow it, always in the same way.
fn text(value: &Value, key: &str) -> Result<String> {
    optional(value, key).ok_or_else(|| Error::new(Code::Usage, format!("the payload has no `{key}`")))
}

fn optional(value: &Value, key: &str) -> Option<String> {
    let longest = if matches!(key, "tool_name" | "tool") { LONGEST_NAME } else { LONGEST_ID };
    raw(value, key).map(|text| tame(&text, longest))
}

/// A text as it is.
fn raw(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
}
