//! Records the files as they are, or brackets a tool call so that its changes are told from others'.

use backsight::report::Tracked;
use backsight::request::{BeginCall, Behalf, FinishCall, PathText, TrackFiles};
use backsight_core::{Code, Error, Result};
use serde_json::{Map, Value, json};

use super::{Call, Choosing, Group, Shown, ToolChoice};
use crate::reply::{Draft, Next};
use crate::words;

pub struct FilesTrack;

impl Choosing for FilesTrack {
    const NAME: &'static str = "files_track";
    const TITLE: &'static str = "Record a snapshot of the files";
    const DESCRIPTION: &'static str = "Save, back up the current state of the workspace's files as a snapshot, a \
        restore point. Nothing changed: the same snapshot, created false. To keep your changes apart from others', \
        call with phase begin before editing and phase finish after.";
    const GROUP: Group = Group::Files;
    const SHOWS_BUDGET: bool = true;
    const WORD: &'static str = "phase";
    const SHOWN: &'static [Shown] = &[
        Shown::new("description").saying("what was done, for the record"),
        Shown::new("phase").saying("begin: before you change files; finish: after, with `call`; record: now (default)"),
        Shown::new("call").saying("the call id that begin gave"),
        Shown::new("declare").saying("paths you write; other changes are then not yours").text(),
        Shown::new("session").text(),
        Shown::new("strategy")
            .named("unknown")
            .saying("what to do about changes that are not yours; default: the workspace's setting")
            .one_of(&["strict", "warn", "auto-integrate", "force"]),
    ];
    const OUTPUT: &'static [(&'static str, &'static str)] = &[
        ("created", "boolean"),
        ("snapshot", "string"),
        ("call", "string"),
        ("complete", "boolean"),
        ("integrated", "string"),
        ("changes", "array"),
        ("unknown", "array"),
        ("left_to_open_calls", "array"),
        ("unseen", "array"),
        ("warnings", "array"),
    ];

    fn choices() -> Vec<ToolChoice> {
        vec![
            ToolChoice::of("record", |call, mut track: TrackFiles| {
                track.who = by_hand(call, track.who);
                track.declare = PathText::without_root(track.declare);
                tracked(call.workspace.perform(track)?)
            }),
            ToolChoice::of("begin", |call, mut begins: BeginCall| {
                begins.who = by_hand(call, begins.who);
                begins.declare = PathText::without_root(begins.declare);
                begin(call, begins)
            }),
            ToolChoice::of("finish", |call, mut finish: FinishCall| {
                finish.declare = PathText::without_root(finish.declare);
                tracked(call.workspace.perform(finish)?)
            }),
        ]
    }

    fn meant(arguments: &mut Map<String, Value>) -> Result<Option<&'static str>> {
        if arguments.get("unknown").is_some_and(|word| word == "force") {
            arguments.shift_remove("unknown");
            arguments.insert("force".to_owned(), json!(true));
        }
        let phase = arguments.get("phase").and_then(Value::as_str);
        match (phase, arguments.contains_key("call")) {
            (Some("begin"), true) => Err(Error::new(Code::Usage, "`call` belongs to phase finish")),
            (Some("finish"), false) => Err(Error::new(Code::Usage, "`call` is missing: which call is finished?")
                .with_hint("pass the id that phase begin gave; workspace_status lists open calls")
                .with_next("workspace_status", json!({}))),
            (None | Some("record"), true) => {
                arguments.shift_remove("phase");
                Ok(Some("finish"))
            }
            _ => Ok(None),
        }
    }
}

/// For whom: with the part of the conversation it would end with the turn, and what an agent begins by hand it ends by hand.
fn by_hand(call: &Call<'_>, said: Behalf) -> Behalf {
    let part = said.part.clone();
    Behalf { part, ..call.on_behalf(said) }
}

fn begin(call: &Call<'_>, request: BeginCall) -> Result<Draft> {
    let begun = call.workspace.perform(request)?;
    let found: Vec<String> = begun.unknown_changes.iter().map(words::unknown).collect();
    let before = match found.len() {
        0 => String::new(),
        count => format!("; {} changed before it and not by you", words::count(count, "path")),
    };
    let draft = Draft::new(format!("call {} began at {}{before}", begun.call.id, begun.call.based_on))
        .fact("call", begun.call.id.as_str())
        .maybe("integrated", begun.integrated.map(|seq| seq.to_string()));
    Ok(lists(draft, vec![("unknown", found), ("warnings", begun.warnings)]))
}

fn tracked(tracked: Tracked) -> Result<Draft> {
    let Tracked { created, snapshot, changes, unseen, unknown_changes, integrated, left_to_open_calls, mut warnings } =
        tracked;
    warnings.extend(snapshot.coverage.unread_rules.iter().cloned());
    let seq = snapshot.sequence_number;
    let changes: Vec<String> = changes.iter().map(words::change).collect();
    let uncovered: Vec<String> = snapshot.coverage.uncovered.iter().chain(&unseen).map(words::unseen).collect();
    let complete = snapshot.coverage.complete && unseen.is_empty();
    let blind = if complete { String::new() } else { format!("; {} not seen", words::count(uncovered.len(), "path")) };
    let summary = match created {
        true if snapshot.base_tree.is_none() => {
            let files = words::count(snapshot.files_changed as usize, "file");
            format!("{seq} recorded, the first snapshot: {files}{blind}")
        }
        true => format!("{seq} recorded: {} changed{blind}", words::count(snapshot.files_changed as usize, "file")),
        false => format!("nothing changed since {seq}{blind}"),
    };
    let more = |base: backsight::ObjectId| {
        Next::new("files_changes", json!({ "from": words::short_id(&base), "to": seq.to_string() }))
    };
    let draft = Draft::new(summary)
        .fact("created", created)
        .fact("snapshot", seq.to_string())
        .maybe("complete", (!complete).then_some(false))
        .maybe("integrated", integrated.map(|seq| seq.to_string()))
        .list("changes", changes, snapshot.base_tree.map(more));
    let unknown = unknown_changes.iter().map(words::unknown).collect();
    let left = left_to_open_calls.iter().map(ToString::to_string).collect();
    Ok(lists(
        draft,
        vec![("unknown", unknown), ("left_to_open_calls", left), ("unseen", uncovered), ("warnings", warnings)],
    ))
}

/// Adds the lists that hold something.
pub(super) fn lists(draft: Draft, lists: Vec<(&'static str, Vec<String>)>) -> Draft {
    lists
        .into_iter()
        .filter(|(_, items)| !items.is_empty())
        .fold(draft, |draft, (name, items)| draft.list(name, items, None))
}
