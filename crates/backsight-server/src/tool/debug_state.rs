//! Where the program is, and which programs are being debugged.

use backsight::debug::debugger::{Moved, SessionView};
use backsight::debug::request::{ListBreakpoints, ListSessions, ProgramState};
use backsight::debug::session::Executed;
use backsight_core::Result;
use serde_json::{Value, json};

use super::debugging::{executed, moved, outcome, relative, short};
use super::{Asking, Call, Group, Shown};
use crate::reply::{Draft, Next};
use crate::words;

pub struct DebugState;

impl Asking for DebugState {
    const NAME: &'static str = "debug_state";
    const TITLE: &'static str = "Where the program is";
    const DESCRIPTION: &'static str =
        "Where the debugged program stopped or paused, or whether it runs; lists the sessions when there are several.";
    const GROUP: Group = Group::Debug;
    const SHOWN: &'static [Shown] = &[Shown::new("wait_ms").saying("for the next stop")];
    const OUTPUT: &'static [(&'static str, &'static str)] = &[
        ("sessions", "array"),
        ("session", "string"),
        ("program", "string"),
        ("adapter", "string"),
        ("process", "integer"),
        ("outcome", "string"),
        ("reason", "string"),
        ("description", "string"),
        ("thread_id", "integer"),
        ("frame", "object"),
        ("test", "object"),
        ("variables", "array"),
        ("breakpoints", "array"),
        ("point", "string"),
        ("waited_ms", "integer"),
        ("exit_code", "integer"),
        ("cleared_snapshots", "integer"),
        ("snapshots", "integer"),
        ("output_next", "integer"),
        ("unbound", "array"),
        ("misread", "array"),
        ("command", "array"),
    ];
    type Request = ProgramState;

    fn run(call: &Call<'_>, request: ProgramState) -> Result<Draft> {
        let sessions = call.workspace.perform(ListSessions {})?.sessions;
        match (&request.session, sessions.as_slice()) {
            (None, []) => {
                let summary = "no program is being debugged: start one with debug_launch";
                Ok(Draft::new(summary))
            }
            (None, [_, _, ..]) if request.wait_ms.unwrap_or(0) == 0 => Ok(all(call, &sessions)),
            _ => one(call, request),
        }
    }
}

fn one(call: &Call<'_>, request: ProgramState) -> Result<Draft> {
    let session = request.session.clone();
    let view = call.workspace.perform(request)?;
    let unbound = match call.workspace.perform(ListBreakpoints { session: Some(view.session.clone()) }) {
        Ok(list) => list.breakpoints.into_iter().filter(|breakpoint| !breakpoint.bound).collect(),
        // It ended meanwhile, and so did its breakpoints.
        Err(_) => Vec::new(),
    };
    let state = Moved { unbound, ..state_of(&view) };
    let draft = moved(call, session.as_deref(), &state)
        .fact("program", short(call, relative(call, &view.program)))
        .fact("adapter", short(call, &view.adapter))
        .maybe("process", view.process)
        .maybe("snapshots", Some(view.snapshots).filter(|count| *count > 0))
        .maybe("output_next", Some(view.output_next).filter(|next| *next > 0));
    // It was told when the session began; whoever needs the room now has it.
    let draft = match executed(call, &view.executed) {
        lines if lines.is_empty() => draft,
        lines => draft.list("command", lines, None),
    };
    Ok(match view.misread {
        (0, 0) => draft,
        (messages, bytes) => draft.fact("misread", json!([messages, bytes])),
    })
}

fn all(call: &Call<'_>, sessions: &[SessionView]) -> Draft {
    let line = |view: &SessionView| {
        let said = outcome(call, &state_of(view)).sentence;
        format!("{} {} ({}): {said}", view.session, short(call, &view.program), short(call, &view.adapter))
    };
    let told = |view: &SessionView| {
        let facts = [("session", json!(view.session)), ("program", json!(short(call, relative(call, &view.program))))];
        let facts = facts.into_iter().chain([("adapter", json!(short(call, &view.adapter)))]);
        let state = outcome(call, &state_of(view)).facts;
        facts.chain(state).map(|(name, fact)| (name.to_owned(), fact)).collect::<Value>()
    };
    let summary = format!("{} are being debugged; name one with `session`", words::count(sessions.len(), "program"));
    let more = Next::new("debug_state", json!({ "max_tokens": 2000 }));
    let draft = Draft::new(summary).list_after("sessions", sessions.iter().map(line).collect(), Vec::new(), more);
    draft.told_as(sessions.iter().map(told).collect())
}

fn state_of(view: &SessionView) -> Moved {
    let (session, outcome) = (view.session.clone(), view.outcome.clone());
    let (unbound, executed) = (Vec::new(), Executed::default());
    let (test, variables) = (None, Vec::new());
    Moved { session, outcome, test, variables, printed: None, printed_before: 0, captured: 0, unbound, executed }
}
