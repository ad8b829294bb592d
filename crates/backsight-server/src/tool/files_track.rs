//! Records the files as they are, or brackets a tool call so that its changes are told from others'.

use backsight::report::Tracked;
use backsight::request::{Begin, Finish, Track, Unknown};
use backsight_core::{Code, Error, Result};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{Call, Definition, Effect, Who, one_or_many, paths};
use crate::reply::{Draft, Next};
use crate::words;

pub struct FilesTrack;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// what was done, for the record
    #[serde(default)]
    description: String,
    /// begin: before you change files; finish: after, with `call`; record: now (default)
    #[serde(default)]
    phase: Phase,
    /// the call id that begin gave
    call: Option<String>,
    /// paths you write; other changes are then not yours
    #[serde(default, deserialize_with = "one_or_many")]
    declare: Vec<String>,
    #[schemars(skip)]
    tool: Option<String>,
    session: Option<String>,
    #[schemars(skip)]
    message: Option<String>,
    #[schemars(skip)]
    part: Option<String>,
    /// what to do about changes that are not yours; default: the workspace's setting
    unknown: Option<Policy>,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Phase {
    #[default]
    Record,
    Begin,
    Finish,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Policy {
    Strict,
    Warn,
    AutoIntegrate,
    Force,
}

impl Policy {
    fn unknown(policy: Option<Policy>) -> Unknown {
        use backsight::report::Strategy;
        let strategy = |strategy| Unknown { strategy: Some(strategy), force: false };
        match policy {
            None => Unknown::default(),
            Some(Policy::Strict) => strategy(Strategy::Strict),
            Some(Policy::Warn) => strategy(Strategy::Warn),
            Some(Policy::AutoIntegrate) => strategy(Strategy::AutoIntegrate),
            Some(Policy::Force) => Unknown { strategy: None, force: true },
        }
    }
}

impl Definition for FilesTrack {
    const NAME: &'static str = "files_track";
    const TITLE: &'static str = "Record a snapshot of the files";
    const DESCRIPTION: &'static str = "Save, back up the current state of the workspace's files as a snapshot, a \
        restore point. Nothing changed: the same snapshot, created false. To keep your changes apart from others', \
        call with phase begin before editing and phase finish after.";
    const EFFECT: Effect = Effect::RecordsOnce;
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
    type Arguments = Arguments;

    fn run(call: &Call<'_>, arguments: Arguments) -> Result<Draft> {
        let unknown = Policy::unknown(arguments.unknown);
        let Arguments { description, tool, session, message, part, declare, .. } = arguments;
        match (arguments.phase, arguments.call) {
            (Phase::Begin, None) => {
                let origin = call.origin(Who { tool, session, message, part, declare })?;
                begin(call, &Begin { origin, unknown, ..Begin::default() })
            }
            (Phase::Record, None) => {
                let origin = call.origin(Who { tool, session, message, part, declare })?;
                tracked(call.workspace.track_with(&Track { description, origin, unknown, ..Track::default() })?)
            }
            (Phase::Finish | Phase::Record, Some(id)) => {
                let declared = paths(&declare)?;
                tracked(call.workspace.finish(&Finish {
                    call: id,
                    description,
                    declared,
                    unknown,
                    ..Finish::default()
                })?)
            }
            (Phase::Finish, None) => Err(Error::new(Code::Usage, "`call` is missing: which call is finished?")
                .with_hint("pass the id that phase begin gave; workspace_status lists open calls")
                .with_next("workspace_status", json!({}))),
            (Phase::Begin, Some(_)) => Err(Error::new(Code::Usage, "`call` belongs to phase finish")),
        }
    }
}

fn begin(call: &Call<'_>, request: &Begin) -> Result<Draft> {
    let begun = call.workspace.begin(request)?;
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
