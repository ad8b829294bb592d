//! Places at which the program is captured and goes on.

use backsight::debug::debugger::{PointRequest, PointState, PointView};
use backsight::debug::session::BreakpointRequest;
use backsight::debug::walk::CapturePlan;
use backsight_core::Result;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::debugging::{number, place, request, short, text, with_session};
use super::{Call, Definition, Effect, Group, cursor, one_or_many};
use crate::debug_limits;
use crate::reply::{Draft, Next};
use crate::words;

pub struct SnapshotOn;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    #[schemars(skip)]
    session: Option<String>,
    file: Option<String>,
    line: Option<u32>,
    function: Option<String>,
    exception: Option<String>,
    condition: Option<String>,
    #[serde(default, deserialize_with = "text")]
    #[schemars(skip)]
    hit_count: Option<String>,
    name: Option<String>,
    /// default 100
    #[serde(default, deserialize_with = "number")]
    max_hits: Option<u64>,
    #[serde(default, deserialize_with = "number")]
    every: Option<u64>,
    #[serde(default, deserialize_with = "number")]
    depth: Option<u32>,
    #[serde(default, deserialize_with = "one_or_many")]
    watch: Vec<String>,
    #[schemars(skip)]
    cursor: Option<String>,
}

impl Definition for SnapshotOn {
    const NAME: &'static str = "snapshot_on";
    const TITLE: &'static str = "Tracepoint";
    const DESCRIPTION: &'static str = "Trace, log, watch variables: take a snapshot each time the program hits a \
        line, as in a loop, and go on; without a place, list these.";
    const EFFECT: Effect = Effect::Runs;
    const GROUP: Group = Group::Debug;
    const SHOWS_BUDGET: bool = false;
    const OUTPUT: &'static [(&'static str, &'static str)] = &[
        ("name", "string"),
        ("breakpoint", "string"),
        ("bound", "boolean"),
        ("max_hits", "integer"),
        ("points", "array"),
    ];
    type Arguments = Arguments;

    fn run(call: &Call<'_>, arguments: Arguments) -> Result<Draft> {
        let session = arguments.session.as_deref();
        let Arguments { file, line, function, exception, .. } = &arguments;
        match place(file.clone(), *line, function.clone(), exception.clone())? {
            None => list(call, session, cursor(arguments.cursor.as_deref())?),
            Some(at) => {
                let Arguments { condition, hit_count, name, max_hits, every, depth, watch, .. } = arguments;
                let breakpoint = BreakpointRequest { condition, hit_count, ..BreakpointRequest::new(at) };
                let depth = debug_limits::depth(depth, 0)?;
                let plan = CapturePlan { depth, watches: watch, ..CapturePlan::default() };
                let request = PointRequest { name, breakpoint, max_hits, every, plan };
                let session = arguments.session.as_deref();
                Ok(set(call, session, &call.workspace.debugger()?.snapshot_on(session, request)?))
            }
        }
    }
}

fn set(call: &Call<'_>, session: Option<&str>, point: &PointView) -> Draft {
    let draft = Draft::new(format!("snapshots {}", line(call, point)))
        .fact("name", short(call, &point.name))
        .maybe("breakpoint", point.breakpoint.clone())
        .fact("bound", point.bound)
        .fact("max_hits", point.max_hits);
    match point.bound {
        true => draft.more("snapshot_series", with_session(json!({ "name": point.name }), session)),
        false => draft.more("breakpoint_list", with_session(json!({}), session)),
    }
}

fn list(call: &Call<'_>, session: Option<&str>, start: usize) -> Result<Draft> {
    let points = call.workspace.debugger()?.snapshot_points(session)?.points;
    let lines = points.iter().map(|point| line(call, point)).collect();
    let more = Next::new(SnapshotOn::NAME, with_session(json!({}), session));
    Ok(Draft::new(words::count(points.len(), "snapshot point")).list_from("points", lines, start, more))
}

/// `loop at shop.py:12 if x > 3: 7 of at most 100 taken, 14 hits`
fn line(call: &Call<'_>, point: &PointView) -> String {
    let PointView { name, hits, captured, max_hits, .. } = point;
    let said = |text: &Option<String>| text.as_ref().map(|text| format!(": {}", short(call, text))).unwrap_or_default();
    let state = match (point.state, point.bound) {
        (PointState::Failed, _) => format!(", failed{}, the program was left paused", said(&point.problem)),
        (PointState::Finished, _) => ", finished".to_owned(),
        (PointState::Active, false) => format!(", did not bind{}", said(&point.message)),
        (PointState::Active, true) => String::new(),
    };
    let at = request(call, &point.request);
    format!("{} at {at}: {captured} of at most {max_hits} taken, {hits} hits{state}", short(call, name))
}
