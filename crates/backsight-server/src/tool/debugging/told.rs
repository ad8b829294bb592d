//! Where a program is and what its breakpoints are, in words.

use std::path::Path;

use backsight::debug::capture::Scope;
use backsight::debug::debugger::Moved;
use backsight::debug::render::{self, safe};
use backsight::debug::report::SnapshotEntry;
use backsight::debug::request::AnswerPart;
use backsight::debug::session::{
    Breakpoint, BreakpointRequest, Executed, FrameView, Outcome, Place, Purpose, Relation, StopReport, VariableView,
};
use backsight::debug::testing::TestResult;
use serde_json::{Value, json};

use super::objects;
use crate::reply::{Draft, Next};
use crate::tool::Call;
use crate::words;

/// The facts of an answer about where a program is.
pub const MOVED: &[(&str, &str)] = &[
    ("session", "string"),
    ("outcome", "string"),
    ("reason", "string"),
    ("description", "string"),
    ("thread_id", "integer"),
    ("frame", "object"),
    ("test", "object"),
    ("variables", "array"),
    ("breakpoints", "array"),
    ("exception", "object"),
    ("problem", "string"),
    ("also", "array"),
    ("point", "string"),
    ("waited_ms", "integer"),
    ("exit_code", "integer"),
    ("cleared_snapshots", "integer"),
    ("captured", "integer"),
    ("unbound", "array"),
    ("printed", "array"),
    ("printed_before", "integer"),
    ("command", "array"),
];

/// How long to wait on for a program that still runs.
const WAIT_ON_MS: u64 = 10_000;

/// What came of letting the program go on.
pub fn moved(call: &Call<'_>, session: Option<&str>, moved: &Moved) -> Draft {
    let said = outcome(call, moved);
    let mut draft = Draft::new(said.sentence).brief(said.brief);
    for (name, value) in said.facts {
        draft = draft.fact(name, value);
    }
    let executed = executed(call, &moved.executed);
    if !executed.is_empty() {
        draft = draft.pinned("command", executed);
    }
    if !moved.unbound.is_empty() {
        let lines = moved.unbound.iter().map(|one| breakpoint(call, one)).collect();
        let told = moved.unbound.iter().map(|one| objects::breakpoint(call, one)).collect();
        let more = Next::new("breakpoint_list", with_session(json!({}), session));
        draft = draft.list("unbound", lines, Some(more)).told_as(told);
    }
    if !moved.variables.is_empty() {
        let lines = moved.variables.iter().map(|one| variable(call, one)).collect();
        let told = moved.variables.iter().map(|one| objects::variable(call, one)).collect();
        let frame = stopped_frame(moved).filter(|frame| *frame > 0);
        let more = Next::new("variables_get", with_session(json!({ "frame": frame }), session));
        draft = draft.list("variables", lines, Some(more)).told_as(told);
    }
    if let Some(text) = &moved.printed {
        let more = Next::new("debug_output", with_session(json!({}), session));
        draft = draft.list_after("printed", printed(text), Vec::new(), more);
    }
    match moved.outcome {
        Outcome::StillRunning { .. } => {
            draft.more("debug_state", with_session(json!({ "wait_ms": WAIT_ON_MS }), session))
        }
        _ => draft,
    }
}

/// What was executed, in lines; where, unless that is the workspace itself.
pub fn executed(call: &Call<'_>, executed: &Executed) -> Vec<String> {
    let Executed { build, command, debuggee, directory, environment } = executed;
    let root = call.workspace.root().to_str();
    let directory = directory.as_deref().map(|directory| directory.trim_end_matches('/'));
    let directory = directory.filter(|directory| Some(*directory) != root).map(|directory| relative(call, directory));
    words::executed(&[build, command, debuggee], directory, environment, call.max_tokens)
}

/// Where the program is.
pub struct Said {
    /// All of it, for the text.
    pub sentence: String,
    /// What the facts do not say, for the object.
    pub brief: &'static str,
    /// The same as facts.
    pub facts: Vec<(&'static str, Value)>,
}

/// Where the program is: a sentence, and the same as facts.
pub fn outcome(call: &Call<'_>, moved: &Moved) -> Said {
    let mut facts: Vec<(&str, Value)> =
        objects::session(&moved.session).map(|name| ("session", json!(name))).into_iter().collect();
    let (mut said, brief) = match &moved.outcome {
        Outcome::Stopped(stop) => (stopped(call, stop, &mut facts), "paused"),
        Outcome::StillRunning { waited_ms } => {
            facts.extend([("outcome", json!("still_running")), ("waited_ms", json!(waited_ms))]);
            (format!("still running after {waited_ms} ms"), "still running")
        }
        Outcome::Exited { code } => {
            facts.push(("outcome", json!("exited")));
            facts.extend(code.map(|code| ("exit_code", json!(code))));
            let ended = "the program ended";
            (code.map_or(ended.to_owned(), |code| format!("{ended} with exit code {code}")), ended)
        }
        Outcome::Disconnected { reason } => {
            let reason = short(call, reason);
            facts.extend([("outcome", json!("disconnected")), ("reason", json!(reason))]);
            (format!("the debugger is gone: {reason}"), "the debugger is gone")
        }
    };
    if let Some(test) = &moved.test {
        let mut about = json!({ "framework": test.framework, "result": test.result });
        let why = test.message.as_deref().filter(|_| test.result == TestResult::Failed).map(|why| short(call, why));
        let note = test.note.as_deref().map(|note| short(call, note));
        let kept = [("message", &why), ("note", &note)];
        kept.into_iter().filter(|(_, text)| text.is_some()).for_each(|(name, text)| about[name] = json!(text));
        facts.push(("test", about));
        let why = why.map(|why| format!("{why}; ")).unwrap_or_default();
        let note = note.map(|note| format!("; {note}")).unwrap_or_default();
        said = format!("{}{why}{said}{}{note}", tested(test.result), in_frame(moved));
    }
    if let Some(cleared) = cleared(call, moved) {
        facts.push(("cleared_snapshots", json!(cleared)));
        said.push_str(&format!("; {} cleared", words::count(cleared, "snapshot")));
    }
    if moved.captured > 0 {
        facts.push(("captured", json!(moved.captured)));
        said.push_str(&format!("; {} taken by snapshot points", words::count(moved.captured as usize, "snapshot")));
    }
    if moved.printed_before > 0 {
        facts.push(("printed_before", json!(moved.printed_before)));
        said.push_str(&format!(
            "; {} bytes of output come before the end shown: see debug_output",
            moved.printed_before
        ));
    }
    Said { sentence: said, brief, facts }
}

/// What came of a test, before where its program is.
fn tested(result: TestResult) -> &'static str {
    match result {
        TestResult::Running => "",
        TestResult::FailsHere => "the test fails here: ",
        TestResult::Passed => "the test passed and did not stop: ",
        TestResult::Failed => "the test failed: ",
        TestResult::NothingRan => "no test ran, there is none of that name or it is skipped: ",
    }
}

/// Which frame the program is told by, where that is not the innermost.
fn in_frame(moved: &Moved) -> String {
    let frame = stopped_frame(moved).filter(|frame| *frame > 0);
    frame.map(|frame| format!(", which is frame {frame}")).unwrap_or_default()
}

fn stopped_frame(moved: &Moved) -> Option<u32> {
    let Outcome::Stopped(stop) = &moved.outcome else { return None };
    stop.frame.as_ref().map(|frame| frame.index)
}

/// ``paused (breakpoint bp-1) in total at shop.py:12: `x = x + 1` ``
fn stopped(call: &Call<'_>, stop: &StopReport, facts: &mut Vec<(&'static str, Value)>) -> String {
    let reason = short(call, &stop.stop.reason);
    let description = stop.stop.description.as_deref().map(|text| short(call, text)).filter(|text| !text.is_empty());
    facts.extend([("outcome", json!("stopped")), ("reason", json!(reason))]);
    facts.extend(description.as_ref().map(|text| ("description", json!(text))));
    facts.extend(stop.stop.thread_id.map(|thread| ("thread_id", json!(thread))));
    if !stop.breakpoints.is_empty() {
        facts.push(("breakpoints", json!(stop.breakpoints)));
    }
    facts.extend(stop.point.as_ref().map(|point| ("point", json!(short(call, point)))));
    let more = more_about(call, stop, facts);
    let why = match (stop.breakpoints.as_slice(), description) {
        (ids, Some(text))
            if matches!(&*reason, "exception" | "failure")
                || ids.is_empty() && text.to_lowercase() != reason.to_lowercase() =>
        {
            format!("{reason}: {text}")
        }
        ([], _) => reason,
        (ids, _) => format!("breakpoint {}", ids.join(", ")),
    };
    match &stop.frame {
        None => format!("paused ({why}), in code the debugger does not know{more}"),
        Some(top) => {
            facts.push(("frame", objects::frame(call, top)));
            format!("paused ({why}) in {}{more}", frame(call, top))
        }
    }
}

/// What led to an exception, a condition that could not be evaluated, and who else is there.
fn more_about(call: &Call<'_>, stop: &StopReport, facts: &mut Vec<(&'static str, Value)>) -> String {
    let mut more = String::new();
    if let Some(exception) = stop.stop.exception.as_deref() {
        facts.push(("exception", objects::exception(call, exception)));
        for earlier in &exception.chain {
            let relation = match earlier.relation {
                Relation::Cause => "caused by",
                Relation::Context => "while handling",
                Relation::Inner => "with",
            };
            let message = earlier.message.as_deref().map(|text| format!(": {}", short(call, text)));
            let kind = short(call, &earlier.kind);
            more.push_str(&format!("; {relation} {kind}{}", message.unwrap_or_default()));
        }
        if exception.chain_omitted > 0 {
            more.push_str(&format!("; {} more", exception.chain_omitted));
        }
    }
    if let Some(problem) = &stop.stop.problem {
        let problem = short(call, problem);
        more.push_str(&format!("; its condition could not be evaluated: {problem}"));
        facts.push(("problem", json!(problem)));
    }
    if !stop.also.is_empty() {
        let there: Vec<String> = stop
            .also
            .iter()
            .map(|also| format!("thread {} at {}", also.thread_id, also.breakpoints.join(", ")))
            .collect();
        more.push_str(&format!("; also there: {}", there.join("; ")));
        facts.push(("also", json!(stop.also)));
    }
    more
}

/// ``total at shop.py:12: `x = x + 1` ``
pub fn frame(call: &Call<'_>, frame: &FrameView) -> String {
    let place = match (&frame.file, frame.line) {
        (Some(file), Some(line)) => format!(" at {}:{line}", short(call, relative(call, file))),
        (Some(file), None) => format!(" in {}", short(call, relative(call, file))),
        (None, _) => String::new(),
    };
    let source = frame.source.as_ref().filter(|source| !source.is_empty());
    let source = source.map(|source| format!(": `{}`", short(call, source))).unwrap_or_default();
    format!("{}{place}{source}", short(call, &frame.function))
}

/// How many snapshots went with a session that is over.
fn cleared(call: &Call<'_>, moved: &Moved) -> Option<usize> {
    if !matches!(moved.outcome, Outcome::Exited { .. } | Outcome::Disconnected { .. }) {
        return None;
    }
    let sessions = call.workspace.debugger_if_used()?.list().sessions;
    let view = sessions.into_iter().find(|view| view.session == moved.session)?;
    view.cleared_snapshots.filter(|cleared| *cleared > 0)
}

/// `order.items: list = 3 elements (expandable)`
pub fn variable(call: &Call<'_>, variable: &VariableView) -> String {
    let path = short(call, &variable.path);
    if variable.unset {
        return format!("{path}: no value yet");
    }
    let value = words::clip(&safe(&variable.value));
    let kind = variable.kind.as_deref().filter(|kind| !kind.is_empty() && !variable.value.starts_with(kind));
    let kind = kind.map(|kind| format!("{} = ", short(call, kind))).unwrap_or_default();
    let argument = if variable.scope == Some(Scope::Argument) { " (argument)" } else { "" };
    let inside = if variable.expandable { " (expandable)" } else { "" };
    format!("{path}: {kind}{value}{argument}{inside}")
}

/// `bp-1 shop.py:12 if x > 3`, and whether it is bound.
pub fn breakpoint(call: &Call<'_>, breakpoint: &Breakpoint) -> String {
    let mut said = format!("{} {}", breakpoint.id, request(call, &breakpoint.request));
    if let Some(line) = breakpoint.line {
        said.push_str(&format!(", really at line {line}"));
    }
    match &breakpoint.purpose {
        Purpose::Pause => {}
        Purpose::RunTo => said.push_str(", until the next stop"),
        Purpose::Snapshots(name) => said.push_str(&format!(", takes snapshots {}", short(call, name))),
    }
    let message = breakpoint.message.as_deref().map(|message| format!(": {}", short(call, message)));
    let problem = breakpoint.problem.as_deref().map(|problem| short(call, problem));
    match breakpoint.bound {
        true => said + &problem.map(|why| format!(", its condition could not be evaluated: {why}")).unwrap_or_default(),
        false => said + " did not bind" + &message.unwrap_or_default(),
    }
}

/// `shop.py:12 if x > 3`
pub fn request(call: &Call<'_>, request: &BreakpointRequest) -> String {
    let mut said = place(call, &request.at);
    let parts = [("if", &request.condition), ("hits", &request.hit_count), ("logs", &request.log_message)];
    for (word, text) in parts {
        said.push_str(&text.as_ref().map(|text| format!(" {word} {}", short(call, text))).unwrap_or_default());
    }
    said
}

/// `shop.py:12`, `total`, `exception all`
pub fn place(call: &Call<'_>, place: &Place) -> String {
    match place {
        Place::Line { file, line } => format!("{}:{line}", short(call, relative(call, &file.to_string_lossy()))),
        Place::Function(name) => short(call, name),
        Place::Exception(name) => format!("exception {}", short(call, name)),
    }
}

/// Output as lines that can only be read.
pub fn printed(text: &str) -> Vec<String> {
    text.lines().map(safe).collect()
}

/// A snapshot with its place as people write it.
pub fn entry(call: &Call<'_>, mut entry: SnapshotEntry) -> SnapshotEntry {
    entry.location = entry.location.map(|location| short(call, relative(call, &location)));
    entry.function = short(call, &entry.function);
    entry
}

/// A snapshot on a line.
pub fn listed(entry: &SnapshotEntry) -> String {
    let page = render::compact_list(std::slice::from_ref(entry));
    page.lines().nth(1).unwrap_or_default().trim_start().to_owned()
}

/// A path without the workspace's own.
pub fn relative<'a>(call: &Call<'_>, path: &'a str) -> &'a str {
    let inside = Path::new(path).strip_prefix(call.workspace.root()).ok().and_then(Path::to_str);
    inside.filter(|inside| !inside.is_empty()).unwrap_or(path)
}

/// A text of the program as part of a line, and not all of a long one.
pub fn short(call: &Call<'_>, text: &str) -> String {
    let most = if call.max_tokens < 400 { 40 } else { 120 };
    let text = safe(text.trim());
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Where a part of an answer begins, unless that is its beginning.
pub fn offset_of(part: &AnswerPart) -> Option<usize> {
    (part.offset > 0).then_some(part.offset as usize)
}

/// Arguments for the same session.
pub fn with_session(mut arguments: Value, session: Option<&str>) -> Value {
    if let Some(session) = session {
        arguments["session"] = json!(session);
    }
    arguments
}
