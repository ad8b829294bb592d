//! Captures the paused program.

use backsight::debug::capture::Safety;
use backsight::debug::walk::CapturePlan;
use backsight_core::Result;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::debugging::{entry, frames, number, short};
use super::{Call, Definition, Effect, Group, one_or_many};
use crate::debug_limits;
use crate::reply::Draft;
use crate::words;

#[derive(Clone, Copy, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Threads {
    #[default]
    Stopped,
    All,
}

pub struct SnapshotCreate;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    #[schemars(skip)]
    session: Option<String>,
    label: Option<String>,
    thread: Option<i64>,
    #[serde(default, deserialize_with = "number")]
    frame: Option<u32>,
    #[serde(default, deserialize_with = "number")]
    depth: Option<u32>,
    /// top, all or a number
    #[schemars(with = "Option<String>")]
    frames: Option<Value>,
    #[serde(default)]
    threads: Threads,
    #[serde(default, deserialize_with = "one_or_many")]
    watch: Vec<String>,
    /// default pure
    #[serde(default)]
    safety: Safety,
}

impl Definition for SnapshotCreate {
    const NAME: &'static str = "snapshot_create";
    const TITLE: &'static str = "Capture variables";
    const DESCRIPTION: &'static str =
        "Capture a snapshot of the variables, the local state, of the paused program, to compare later.";
    const EFFECT: Effect = Effect::Runs;
    const GROUP: Group = Group::Debug;
    const SHOWS_BUDGET: bool = false;
    const OUTPUT: &'static [(&'static str, &'static str)] =
        &[("snapshot", "object"), ("redacted", "integer"), ("warnings", "array"), ("incomplete", "array")];
    type Arguments = Arguments;

    fn run(call: &Call<'_>, arguments: Arguments) -> Result<Draft> {
        let plan = CapturePlan {
            thread: arguments.thread,
            frame: arguments.frame.unwrap_or(0),
            frames: frames(arguments.frames)?,
            all_threads: arguments.threads == Threads::All,
            depth: debug_limits::depth(arguments.depth, 0)?,
            watches: arguments.watch,
            safety: arguments.safety,
            ..CapturePlan::default()
        };
        let debugger = call.workspace.debugger()?;
        let created = debugger.create_snapshot(arguments.session.as_deref(), arguments.label.as_deref(), plan)?;
        let mut snapshot = entry(call, created.snapshot);
        let incomplete = std::mem::take(&mut snapshot.incomplete);
        let incomplete =
            incomplete.iter().map(|one| format!("{} {}", short(call, &one.path), short(call, &one.reason)));
        let incomplete: Vec<String> = incomplete.map(|line| line.trim_start().to_owned()).collect();
        let place = snapshot.location.as_ref().map(|location| format!(" at {location}")).unwrap_or_default();
        let variables = words::count(snapshot.variable_count, "variable");
        let summary = format!("{} of {}{place}: {variables}, {}", snapshot.label, snapshot.function, snapshot.id);
        let mut draft = Draft::new(summary)
            .fact("snapshot", json!(snapshot))
            .maybe("redacted", (created.redacted > 0).then_some(created.redacted));
        for (name, lines) in [("warnings", created.warnings), ("incomplete", incomplete)] {
            if !lines.is_empty() {
                draft = draft.list(name, lines, None);
            }
        }
        Ok(draft)
    }
}
