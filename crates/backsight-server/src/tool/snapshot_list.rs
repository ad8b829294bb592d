//! The snapshots of a session.

use backsight::debug::render;
use backsight_core::Result;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::debugging::{entry, with_session};
use super::{Call, Definition, Effect, Group, cursor};
use crate::reply::{Draft, Next};
use crate::words;

pub struct SnapshotList;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    #[schemars(skip)]
    session: Option<String>,
    #[schemars(skip)]
    cursor: Option<String>,
}

impl Definition for SnapshotList {
    const NAME: &'static str = "snapshot_list";
    const TITLE: &'static str = "List snapshots";
    const DESCRIPTION: &'static str = "List the snapshots of variables, oldest first.";
    const EFFECT: Effect = Effect::Reads;
    const GROUP: Group = Group::Debug;
    const DEFAULT_TOKENS: usize = 1000;
    const SHOWS_BUDGET: bool = false;
    const OUTPUT: &'static [(&'static str, &'static str)] =
        &[("snapshots", "array"), ("session", "string"), ("bytes", "integer"), ("warnings", "array")];
    type Arguments = Arguments;

    fn run(call: &Call<'_>, arguments: Arguments) -> Result<Draft> {
        let session = arguments.session.as_deref();
        let list = call.workspace.debugger()?.snapshots(session)?;
        let line = |snapshot| {
            let listed = render::compact_list(&[entry(call, snapshot)]);
            listed.lines().nth(1).unwrap_or_default().trim_start().to_owned()
        };
        let count = list.snapshots.len();
        let lines: Vec<String> = list.snapshots.into_iter().map(line).collect();
        let more = Next::new(Self::NAME, with_session(json!({}), session));
        let draft = Draft::new(words::count(count, "snapshot")).fact("session", list.session).fact("bytes", list.bytes);
        let draft = match lines.is_empty() {
            // Seed 000 wants the empty list itself.
            true => draft.fact("snapshots", json!([])),
            false => draft.list_from("snapshots", lines, cursor(arguments.cursor.as_deref())?, more),
        };
        Ok(match list.warning {
            Some(warning) => draft.list("warnings", vec![warning], None),
            None => draft,
        })
    }
}
