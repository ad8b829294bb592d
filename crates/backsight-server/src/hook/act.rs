//! What is recorded for an event. The ids the agent gives make every event safe to hear twice: a call that is open is
//! not begun again, one that is closed is not finished again.
//!
//! A call whose end is never told was interrupted: what it wrote is its own, unless the user was asked whether it may run
//! and may have refused. Then, and while a command goes on in the background, what changed may be the user's as well, and
//! the step says so.

use std::path::PathBuf;
use std::time::Duration;

use backsight::Workspace;
use backsight::report::{Background, Call, Origin, Strategy};
use backsight::request::{Begin, Finish, Ran, Track, Unknown};
use backsight_core::{Code, Error, RelPath, Result, Timestamp};
use serde_json::Value;

use super::agent::Agent;
use super::event::{Effect, Ending, Event, Outcome, ToolCall};
use super::parse::parse;
use super::reply::Reply;
use super::{asking, heard, place, transcript, turns};

/// No tool runs this long: a call that is older belongs to an agent that died.
const LONGEST_CALL: Duration = Duration::from_secs(6 * 60 * 60);

/// How long after a tool's end its hook may be heard. What was written by so much before the tool seems to have begun was
/// written before it ran.
const LATEST: Duration = Duration::from_secs(1);
/// How long that takes at most when nothing holds it up. No user saves a file and answers a dialog in less.
const LATE: Duration = Duration::from_millis(300);
/// The same for an answer that the agent tells us of when it is given.
const LATEST_ANSWER: Duration = Duration::from_millis(500);
const LATE_ANSWER: Duration = Duration::from_millis(50);

/// Records what a hook's payload asks for, heard at a moment, and says what to answer. It never fails: what goes wrong is
/// in the reply.
pub fn run(workspace: &Workspace, agent: Agent, payload: &Value, heard: Timestamp) -> Reply {
    let agent = agent.speaking(payload);
    let event = match parse(agent, payload) {
        Ok(event) => event,
        Err(error) => return Reply::failed(agent, &error),
    };
    let transcript = payload.get("transcript_path").and_then(Value::as_str).filter(|_| agent == Agent::ClaudeCode);
    let transcript = transcript.map(PathBuf::from);
    let when = When { heard, transcript, tells_interrupts: matches!(agent, Agent::Gemini | Agent::OpenCode) };
    let outcome = act(workspace, agent, &event, &when);
    // Afterwards, since the first event makes the store.
    heard::note(workspace, agent);
    match outcome {
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

/// What is known beside the event.
struct When {
    /// When the hook was called.
    heard: Timestamp,
    /// What the agent writes down of the conversation.
    transcript: Option<PathBuf>,
    /// The agent tells the end of a tool that is interrupted: one that the user was asked about and that has none was
    /// refused.
    tells_interrupts: bool,
}

/// Does what the event asks for; the answer is what the user should hear.
fn act(workspace: &Workspace, agent: Agent, event: &Event, when: &When) -> Result<Vec<String>> {
    match event {
        Event::SessionStart { session, .. } => {
            let said = close_stale(workspace, session, when)?;
            let more = record_before(workspace)?;
            workspace.note_conversation(session, agent.as_str(), None)?;
            Ok([said, more].concat())
        }
        Event::Prompt { session, message, text } => {
            let said = close_stale(workspace, session, when)?;
            let more = record_before(workspace)?;
            workspace.note_conversation(session, agent.as_str(), text.as_deref())?;
            turns::advance(workspace, session, message.as_deref());
            if let (Some(message), Some(text)) = (turns::current(workspace, session), text) {
                workspace.note_prompt(session, &message, text)?;
            }
            Ok([said, more].concat())
        }
        Event::ToolBegin(call) => begin(workspace, call),
        Event::Asked { session, title } => asked(workspace, session, title.as_deref()),
        Event::ToolEnd { call, ending } => end(workspace, call, ending, when.heard),
        Event::BatchEnd { session, parts } => {
            let is_left = |call: &Call| {
                call.run.background.is_none() && call.origin.part.as_ref().is_some_and(|part| parts.contains(part))
            };
            abandon(workspace, &open_calls(workspace, session, is_left)?)
        }
        Event::TurnEnd { in_background: true, .. } | Event::Ignored => Ok(Vec::new()),
        Event::TurnEnd { session, in_background: false } => close_all(workspace, session, Over::Turn, when),
        Event::SessionEnd { session } => close_all(workspace, session, Over::Session, when),
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
    if let Effect::Ours(ours) = &call.effect {
        asking::note(workspace, call, ours);
    }
    let Some(declared) = declared(workspace, call) else { return Ok(Vec::new()) };
    if !open_calls(workspace, &call.session, |open| is_use(open, call))?.is_empty() {
        return Ok(Vec::new());
    }
    let origin = Origin { part: Some(part_of(workspace, call)), ..origin(workspace, call, declared) };
    let title = Some(description(call, &origin.declared, Outcome::Done));
    let begin = |unknown| workspace.begin(&Begin { origin: origin.clone(), unknown, title: title.clone() });
    let (_, mut said) = going_on(begin)?;
    said.extend(not_declared(call));
    Ok(said)
}

/// Takes note that the user is asked about a call that is open. An agent that does not say which one means any.
fn asked(workspace: &Workspace, session: &str, title: Option<&str>) -> Result<Vec<String>> {
    let is_waiting = |call: &Call| call.origin.part.is_some() && call.run.background.is_none();
    let waiting = open_calls(workspace, session, |call| is_waiting(call) && call.run.asked.is_none())?;
    let is_meant = |call: &&Call| call.run.title.as_deref().is_some_and(|known| Some(known) == title);
    let meant: Vec<&Call> = match waiting.iter().find(is_meant) {
        Some(call) => vec![call],
        None => waiting.iter().collect(),
    };
    for call in meant {
        already_closed(workspace.asked(call.id.as_str()))?;
    }
    Ok(Vec::new())
}

fn end(workspace: &Workspace, call: &ToolCall, ending: &Ending, heard: Timestamp) -> Result<Vec<String>> {
    if let Effect::Ours(_) = &call.effect {
        asking::forget(workspace, call);
    }
    let Some(declared) = declared(workspace, call) else { return Ok(Vec::new()) };
    let open = open_calls(workspace, &call.session, |open| is_use(open, call))?;
    if ending.outcome == Outcome::Denied {
        return abandon(workspace, &open);
    }
    let description = description(call, &declared, ending.outcome);
    let Some((first, again)) = open.split_first() else {
        return end_without_begin(workspace, call, declared, description);
    };
    let end =
        Finish { description, ran: ran(first, ending, heard), goes_on: ending.background.clone(), ..Finish::default() };
    let said = finish(workspace, first, &end)?;
    // Two hooks that were asked at the same moment both began it.
    let more = abandon(workspace, again)?;
    Ok([said, more].concat())
}

/// When a tool ran that did not run all the time since it was announced: the user was asked first.
fn ran(call: &Call, ending: &Ending, heard: Timestamp) -> Option<Ran> {
    if let Some(allowed) = ending.allowed {
        return Some(Ran {
            from: allowed.before(LATEST_ANSWER),
            surely: Some(allowed.before(LATE_ANSWER)),
            until: None,
        });
    }
    let began = heard.before(ending.took?);
    let has_waited = began.before(LATEST) > call.since;
    let ran = Ran { from: began.before(LATEST), surely: Some(began.before(LATE)), until: None };
    (call.run.asked.is_some() || has_waited).then_some(ran)
}

/// The begin was not heard, or this end is heard twice. What a tool said it writes can still be told apart; of a tool
/// that says nothing nobody knows what it did, and what changed stays for the next look to find.
fn end_without_begin(
    workspace: &Workspace,
    call: &ToolCall,
    declared: Vec<RelPath>,
    description: String,
) -> Result<Vec<String>> {
    let is_recorded = workspace.has_part(&call.part)?;
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
        Effect::Nothing | Effect::Ours(_) => None,
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
    open.run.background.is_none()
        && rest.is_some_and(|rest| rest.is_empty() || call.is_part_made && rest.starts_with(AGAIN))
}

/// What stands between an id that was made and the number of the use.
const AGAIN: char = '.';

/// The id of a use that begins: the agent's, or where one had to be made, the first that no step has yet.
fn part_of(workspace: &Workspace, call: &ToolCall) -> String {
    let is_free = |part: &String| !call.is_part_made || workspace.has_part(part).is_ok_and(|is_there| !is_there);
    let numbered = (2..).map(|number: u32| format!("{}{AGAIN}{number}", call.part));
    std::iter::once(call.part.clone()).chain(numbered).find(is_free).unwrap_or_else(|| call.part.clone())
}

/// What is over when calls are closed whose end was not told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Over {
    /// Nothing is said of what goes on in the background.
    Nothing,
    /// The turn, and what it had in the background.
    Turn,
    /// The conversation.
    Session,
}

/// Closes a conversation's calls, the oldest first, so that none keeps changes pending for ever.
fn close_all(workspace: &Workspace, session: &str, over: Over, when: &When) -> Result<Vec<String>> {
    // Calls that people and programs began by hand have no part: they are theirs to finish.
    let calls = open_calls(workspace, session, |call| call.origin.part.is_some())?;
    let is_refused = |call: &Call| call.run.asked.is_some() && call.run.background.is_none();
    let (refused, interrupted): (Vec<Call>, Vec<Call>) =
        calls.into_iter().partition(|call| when.tells_interrupts && is_refused(call));
    abandon(workspace, &refused)?;
    let closed = interrupted.iter().map(|call| finish(workspace, call, &unended(call, over, when)));
    Ok(closed.collect::<Result<Vec<_>>>()?.concat())
}

/// The same before something new begins, and with it what agents that died have left.
fn close_stale(workspace: &Workspace, session: &str, when: &When) -> Result<Vec<String>> {
    let mut said = close_all(workspace, session, Over::Nothing, when)?;
    let oldest = workspace.now().before(LONGEST_CALL);
    let mut dead = workspace.open_calls()?;
    dead.retain(|call| {
        call.origin.part.is_some() && call.since < oldest && call.origin.session.as_deref() != Some(session)
    });
    for call in dead {
        said.extend(finish(workspace, &call, &unended(&call, Over::Session, when))?);
    }
    Ok(said)
}

/// How a call is finished whose end was not told.
fn unended(call: &Call, over: Over, when: &When) -> Finish {
    let what = call.run.title.as_deref().or(call.origin.tool.as_deref()).unwrap_or("tool");
    let how = match (&call.run.background, call.run.asked) {
        (Some(_), _) => "in the background",
        (None, Some(_)) => "interrupted or refused",
        (None, None) => "interrupted",
    };
    let goes_on = call.run.background.clone().filter(|background| still_runs(background, over));
    let ran = if call.run.background.is_none() { ran_until(call, over, when) } else { None };
    Finish { description: format!("{what} ({how})"), goes_on, ran, ..Finish::default() }
}

/// When a tool ran whose end was not told. The end of its turn is told when it comes; else time has passed since, in which
/// the user may have worked, and only what the agent wrote down tells how much.
fn ran_until(call: &Call, over: Over, when: &When) -> Option<Ran> {
    if over == Over::Turn {
        return None;
    }
    let ended = call.origin.part.as_deref().and_then(|part| transcript::ended(when.transcript.as_deref(), part));
    let from = call.run.asked.unwrap_or(call.since);
    let surely = ended.and(call.run.asked.is_none().then_some(from));
    Some(Ran { from, surely, until: ended.map(|ended| ended.after(LATE)) })
}

/// Whether a command may still run. An agent that says which process it is need not be believed about the rest.
fn still_runs(background: &Background, over: Over) -> bool {
    match (over, background.pid) {
        (Over::Session, _) => false,
        (_, Some(pid)) => std::path::Path::new(&format!("/proc/{pid}")).exists(),
        (over, None) => over == Over::Nothing,
    }
}

/// Gives calls up that were refused.
fn abandon(workspace: &Workspace, calls: &[Call]) -> Result<Vec<String>> {
    for call in calls {
        already_closed(workspace.abandon(call.id.as_str()))?;
    }
    Ok(Vec::new())
}

fn finish(workspace: &Workspace, call: &Call, end: &Finish) -> Result<Vec<String>> {
    let request = |unknown| Finish { call: call.id.to_string(), unknown, ..end.clone() };
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
