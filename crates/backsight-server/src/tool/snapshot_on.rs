//! Places at which the program is captured and goes on.

use backsight::debug::debugger::{PointState, PointView};
use backsight::debug::request::{CaptureAt, ListPoints};
use backsight_core::{Operation, Result};
use serde_json::json;

use super::debugging::{objects, place, request, short, with_session};
use super::{Asking, Call, Group, Shown, cursor};
use crate::reply::{Draft, Next};
use crate::words;

pub struct SnapshotOn;

impl Asking for SnapshotOn {
    const NAME: &'static str = "snapshot_on";
    const TITLE: &'static str = "Tracepoint";
    const DESCRIPTION: &'static str = "Trace, log, watch variables: take a snapshot each time the program hits a \
        line, as in a loop, and go on; without a place, list these.";
    const GROUP: Group = Group::Debug;
    const PAGES: bool = true;
    const SHOWN: &'static [Shown] = &[
        Shown::new("file"),
        Shown::new("line"),
        Shown::new("function"),
        Shown::new("exception"),
        Shown::new("condition"),
        Shown::new("name"),
        Shown::new("max_hits").saying("default 100"),
        Shown::new("every"),
        Shown::new("depth"),
        Shown::new("watch"),
    ];
    const OUTPUT: &'static [(&'static str, &'static str)] = &[
        ("name", "string"),
        ("at", "string"),
        ("breakpoint", "string"),
        ("bound", "boolean"),
        ("max_hits", "integer"),
        ("points", "array"),
    ];
    type Request = CaptureAt;

    /// Without a place it lists those that are set.
    fn check(request: &CaptureAt) -> Result<()> {
        if request.at.is_nowhere() { Ok(()) } else { request.check() }
    }

    fn run(call: &Call<'_>, request: CaptureAt) -> Result<Draft> {
        let session = request.session.clone();
        match request.at.is_nowhere() {
            true => list(call, session, cursor(call.cursor)?),
            false => Ok(set(call, session.as_deref(), &call.workspace.perform(request)?)),
        }
    }
}

fn set(call: &Call<'_>, session: Option<&str>, point: &PointView) -> Draft {
    let draft = Draft::new(format!("snapshots {}", line(call, point)))
        .brief("snapshots")
        .fact("at", place(call, &point.request.at))
        .fact("name", short(call, &point.name))
        .maybe("breakpoint", point.breakpoint.clone())
        .fact("bound", point.bound)
        .fact("max_hits", point.max_hits);
    match point.bound {
        true => draft.more("snapshot_series", with_session(json!({ "name": point.name }), session)),
        false => draft.more("breakpoint_list", with_session(json!({}), session)),
    }
}

fn list(call: &Call<'_>, session: Option<String>, start: usize) -> Result<Draft> {
    let points = call.workspace.perform(ListPoints { session: session.clone() })?.points;
    let lines = points.iter().map(|point| line(call, point)).collect();
    let told = points.iter().map(|point| objects::point(call, point)).collect();
    let more = Next::new(SnapshotOn::NAME, with_session(json!({}), session.as_deref()));
    let draft = Draft::new(words::count(points.len(), "snapshot point"));
    Ok(draft.list_from("points", lines, start, more).told_as(told))
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
