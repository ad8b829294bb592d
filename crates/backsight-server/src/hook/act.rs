//! What is recorded for an event. The ids the agent gives make every event safe to hear twice: a call that is open is
//! not begun again, one that is closed is not finished again.

use std::path::PathBuf;
use std::time::Duration;

use backsight::Workspace;
use backsight::report::{Call, Origin, Strategy};
use backsight::request::{Begin, Finish, Track, Unknown};
use backsight_core::{Code, Error, RelPath, Result};
use serde_json::Value;

use super::agent::{Agent, Unended};
use super::event::{Effect, Event, Outcome, ToolCall};
use super::parse::parse;
use super::reply::Reply;
use super::{heard, place, turns};

/// No tool runs this long: a call that is older belongs to an agent that died.
const LONGEST_CALL: Duration = Duration::from_secs(6 * 60 * 60);

/// Records what a hook's payload asks for, and says what to answer. It never fails: what goes wrong is in the reply.
pub fn run(workspace: &Workspace, agent: Agent, payload: &Value) -> Reply {
    let agent = agent.speaking(payload);
    let event = match parse(agent, payload) {
        Ok(event) => event,
        Err(error) => return Reply::failed(agent, &error),
    };
    let acted = act(workspace, agent, &event);
    if matches!((&acted, &event), (Ok(_), Event::ToolBegin(_) | Event::ToolEnd { .. })) {
        heard::note(workspace, agent);
    }
    match acted {
        Ok(said) => Reply::new(agent, said),
        // A directory that is not tracked is not tracked at every tool; saying it once a prompt is enough.
        Err(error) if is_about_the_place(&error) && !starts_something(&event) => Reply::failed_again(&error),
        Err(error) => Reply::failed(agent, &error),
    }
}

fn is_about_the_place(error: &Error) -> bool {
    matches!(error.code(), Code::WorkspaceRefused | Code::StoreNotOurs | Code::TooLarge)
}

fn starts_something(event: &Event) -> bool {
    matches!(event, Event::SessionStart { .. } | Event::Prompt { .. })
}

/// Does what the event asks for; the answer is what the user should hear.
fn act(workspace: &Workspace, agent: Agent, event: &Event) -> Result<Vec<String>> {
    match event {
        Event::SessionStart { session } => {
            let said = close_stale(workspace, agent, session)?;
            Ok([said, record_before(workspace)?].concat())
        }
        Event::Prompt { session, message } => {
            let said = close_stale(workspace, agent, session)?;
            let more = record_before(workspace)?;
            if message.is_none() {
                turns::advance(workspace, session);
            }
            Ok([said, more].concat())
        }
        Event::ToolBegin(call) => begin(workspace, call),
        Event::ToolEnd { call, outcome } => end(workspace, call, *outcome),
        Event::BatchEnd { session, parts } => {
            let is_left = |call: &Call| call.origin.part.as_ref().is_some_and(|part| parts.contains(part));
            close(workspace, Unended::Abandon, &open_calls(workspace, session, is_left)?)
        }
        Event::TurnEnd { in_background: true, .. } | Event::Ignored => Ok(Vec::new()),
        Event::TurnEnd { session, in_background: false } | Event::SessionEnd { session } => {
            close_all(workspace, agent, session)
        }
    }
}

/// Records what is there before the agent does anything: nobody's changes become a step by `external`, so that they
/// are never the agent's. With `strict` they stay unrecorded until somebody decides.
fn record_before(workspace: &Workspace) -> Result<Vec<String>> {
    if is_new(workspace)? {
        let origin = Origin { tool: Some("external".to_owned()), ..Origin::default() };
        let first = Track { description: "before the agent's first step".to_owned(), origin, ..Track::default() };
        workspace.track_with(&first)?;
        return Ok(Vec::new());
    }
    let is_strict = workspace.get_config()?.unknown_change_strategy == Strategy::Strict;
    let strategy = if is_strict { Strategy::Strict } else { Strategy::AutoIntegrate };
    match workspace.handle_unknown_changes(&[], &Unknown { strategy: Some(strategy), force: false }) {
        Ok(_) => Ok(Vec::new()),
        Err(error) if error.code() == Code::StateMismatch => Ok(vec![refusal(&error)]),
        Err(error) => Err(error),
    }
}

fn is_new(workspace: &Workspace) -> Result<bool> {
    if workspace.store_path()?.is_none() {
        return Ok(true);
    }
    match workspace.show("@") {
        Ok(_) => Ok(false),
        Err(error) if error.code() == Code::RefNotFound => Ok(true),
        Err(error) => Err(error),
    }
}

fn begin(workspace: &Workspace, call: &ToolCall) -> Result<Vec<String>> {
    let Some(declared) = declared(workspace, call) else { return Ok(Vec::new()) };
    if !open_calls(workspace, &call.session, |open| is_use(open, call))?.is_empty() {
        return Ok(Vec::new());
    }
    let origin = Origin { part: Some(part_of(workspace, call)), ..origin(workspace, call, declared) };
    let (_, mut said) = going_on(|unknown| workspace.begin(&Begin { origin: origin.clone(), unknown }))?;
    said.extend(not_declared(call));
    Ok(said)
}

fn end(workspace: &Workspace, call: &ToolCall, outcome: Outcome) -> Result<Vec<String>> {
    let Some(declared) = declared(workspace, call) else { return Ok(Vec::new()) };
    let open = open_calls(workspace, &call.session, |open| is_use(open, call))?;
    if outcome == Outcome::Denied {
        return close(workspace, Unended::Abandon, &open);
    }
    let description = description(call, &declared, outcome);
    let Some((first, again)) = open.split_first() else {
        return end_without_begin(workspace, call, declared, description);
    };
    let said = finish(workspace, first, description)?;
    // Two hooks that were asked at the same moment both began it.
    let more = close(workspace, Unended::Abandon, again)?;
    Ok([said, more].concat())
}

/// The begin was not heard, or this end is heard twice. What a tool said it writes can still be told apart; of a tool
/// that says nothing nobody knows what it did, and what changed stays for the next look to find.
fn end_without_begin(
    workspace: &Workspace,
    call: &ToolCall,
    declared: Vec<RelPath>,
    description: String,
) -> Result<Vec<String>> {
    let is_recorded = workspace.show(&format!("part:{}", call.part)).is_ok();
    if declared.is_empty() || is_recorded {
        return Ok(Vec::new());
    }
    let origin = origin(workspace, call, declared);
    let track = |unknown| {
        let (description, origin) = (description.clone(), origin.clone());
        workspace.track_with(&Track { description, origin, unknown, pinned: false })
    };
    Ok(going_on(track)?.1)
}

/// The paths a tool says it writes, none when it may write anything; nothing when it can change no file here.
fn declared(workspace: &Workspace, call: &ToolCall) -> Option<Vec<RelPath>> {
    match &call.effect {
        Effect::Nothing => None,
        Effect::Anything => Some(Vec::new()),
        Effect::Writes(paths) if is_too_many(paths) => Some(Vec::new()),
        Effect::Writes(paths) => {
            let inside = place::inside(workspace.root(), call.directory.as_deref(), paths);
            (!inside.is_empty()).then_some(inside)
        }
    }
}

/// Whether so many paths are declared that remembering them would cost every later hook more than looking at everything.
fn is_too_many(paths: &[PathBuf]) -> bool {
    const MOST: usize = 1000;
    const BYTES: usize = 64 << 10;
    paths.len() > MOST || paths.iter().map(|path| path.as_os_str().len()).sum::<usize>() > BYTES
}

/// What is said of a tool whose paths are too many.
fn not_declared(call: &ToolCall) -> Option<String> {
    match &call.effect {
        Effect::Writes(paths) if is_too_many(paths) => Some(format!(
            "{} names {} paths, too many to remember: whatever changes while it runs is taken for its work",
            call.tool,
            paths.len()
        )),
        _ => None,
    }
}

/// `Bash: npm test`, `Edit: src/a.rs`, `apply_patch: 3 files`.
fn description(call: &ToolCall, declared: &[RelPath], outcome: Outcome) -> String {
    let what = match declared {
        [] => match &call.effect {
            Effect::Writes(paths) => format!("{}: {} files", call.tool, paths.len()),
            _ => call.title.clone(),
        },
        [one] => format!("{}: {one}", call.tool),
        many => format!("{}: {} files", call.tool, many.len()),
    };
    if outcome == Outcome::Failed { format!("{what} (failed)") } else { what }
}

fn origin(workspace: &Workspace, call: &ToolCall, declared: Vec<RelPath>) -> Origin {
    Origin {
        tool: Some(call.tool.clone()),
        session: Some(call.session.clone()),
        message: call.message.clone().or_else(|| turns::current(workspace, &call.session)),
        part: Some(call.part.clone()),
        declared,
    }
}

fn open_calls(workspace: &Workspace, session: &str, is_meant: impl Fn(&Call) -> bool) -> Result<Vec<Call>> {
    let mut calls = workspace.open_calls()?;
    calls.retain(|call| call.origin.session.as_deref() == Some(session) && is_meant(call));
    Ok(calls)
}

fn is_use(open: &Call, call: &ToolCall) -> bool {
    let rest = open.origin.part.as_deref().and_then(|part| part.strip_prefix(call.part.as_str()));
    rest.is_some_and(|rest| rest.is_empty() || call.is_part_made && rest.starts_with(AGAIN))
}

/// What stands between an id that was made and the number of the use.
const AGAIN: char = '.';

/// The id of a use that begins: the agent's, or where one had to be made, the first that no step has yet.
fn part_of(workspace: &Workspace, call: &ToolCall) -> String {
    let is_free = |part: &String| !call.is_part_made || workspace.show(&format!("part:{part}")).is_err();
    let numbered = (2..).map(|number: u32| format!("{}{AGAIN}{number}", call.part));
    std::iter::once(call.part.clone()).chain(numbered).find(is_free).unwrap_or_else(|| call.part.clone())
}

fn close_all(workspace: &Workspace, agent: Agent, session: &str) -> Result<Vec<String>> {
    // Calls that people and programs began by hand have no part: they are theirs to finish.
    close(workspace, agent.unended(), &open_calls(workspace, session, |call| call.origin.part.is_some())?)
}

/// The same before something new begins, and with it what agents that died have left.
fn close_stale(workspace: &Workspace, agent: Agent, session: &str) -> Result<Vec<String>> {
    let said = close_all(workspace, agent, session)?;
    let oldest = workspace.now().before(LONGEST_CALL);
    let mut dead = workspace.open_calls()?;
    dead.retain(|call| call.origin.part.is_some() && call.since < oldest);
    Ok([said, close(workspace, Unended::Abandon, &dead)?].concat())
}

/// Closes calls whose end never came, the oldest first, so that none keeps changes pending for ever.
fn close(workspace: &Workspace, unended: Unended, calls: &[Call]) -> Result<Vec<String>> {
    let mut said = Vec::new();
    for call in calls {
        match unended {
            Unended::Abandon => {
                already_closed(workspace.abandon(call.id.as_str()).map(drop))?;
            }
            Unended::Finish => {
                let tool = call.origin.tool.as_deref().unwrap_or("tool");
                said.extend(finish(workspace, call, format!("{tool} (its end was not reported)"))?);
            }
        }
    }
    Ok(said)
}

fn finish(workspace: &Workspace, call: &Call, description: String) -> Result<Vec<String>> {
    let request =
        |unknown| Finish { call: call.id.to_string(), description: description.clone(), unknown, ..Finish::default() };
    let outcome = going_on(|unknown| workspace.finish(&request(unknown)));
    Ok(already_closed(outcome)?.map(|(_, said)| said).unwrap_or_default())
}

/// Another hook was faster; that is as good.
fn already_closed<T>(outcome: Result<T>) -> Result<Option<T>> {
    match outcome {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.code() == Code::CallNotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Does something as the settings say; where `strict` refuses, does it all the same and says so. An agent that went
/// on unrecorded could not be undone, which is worse than what the refusal is there to prevent.
fn going_on<T>(action: impl Fn(Unknown) -> Result<T>) -> Result<(T, Vec<String>)> {
    match action(Unknown::default()) {
        Ok(value) => Ok((value, Vec::new())),
        Err(error) if error.code() == Code::StateMismatch => {
            let value = action(Unknown { strategy: None, force: true })?;
            Ok((value, vec![refusal(&error)]))
        }
        Err(error) => Err(error),
    }
}

/// What `strict` found, without what a refusal would say was done about it.
fn refusal(error: &Error) -> String {
    const NAMED: usize = 5;
    let changes = error.details()["unknown_changes"].as_array().map(Vec::as_slice).unwrap_or_default();
    if changes.is_empty() {
        return error.message().to_owned();
    }
    let mut names: Vec<&str> = changes.iter().take(NAMED).filter_map(|change| change["file_path"].as_str()).collect();
    let more = format!("and {} more", changes.len().saturating_sub(NAMED));
    if changes.len() > NAMED {
        names.push(&more);
    }
    let files = if changes.len() == 1 { "1 file was" } else { &format!("{} files were", changes.len()) };
    let names = names.join(", ");
    format!("{files} changed outside, which the strategy `strict` asks you to look at (`backsight status`): {names}")
}
