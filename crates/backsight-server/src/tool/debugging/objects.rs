//! What the debug lane tells as objects, for programs and for models that are shown nothing else: lists of objects with short
//! names, nothing twice, and nothing that goes without saying (a local variable, the main session, a pure capture).

use backsight::debug::capture::{Safety, Scope};
use backsight::debug::debugger::{MAIN, PointState, PointView};
use backsight::debug::render;
use backsight::debug::report::{
    DiffEntry, Folded, Series, SnapshotDiff, SnapshotEntry, SnapshotView, ViewEntry, WarningKind,
};
use backsight::debug::session::{Breakpoint, Earlier, Exception, FrameView, ThreadView, VariableView};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::told::{place, relative, short};
use crate::tool::Call;
use crate::words;

/// Characters of a snapshot's id that tell it from the others.
const SHORT_ID: usize = 13;

/// An object that leaves out what there is nothing to say about.
#[derive(Default)]
pub struct Told(Map<String, Value>);

impl Told {
    /// A fact, unless it is empty, nothing, zero or false.
    pub fn fact(mut self, name: &str, value: impl Serialize) -> Told {
        let value = json!(value);
        let is_nothing = match &value {
            Value::Null | Value::Bool(false) => true,
            Value::Number(number) => number.as_f64() == Some(0.0),
            Value::String(text) => text.is_empty(),
            Value::Array(items) => items.is_empty(),
            Value::Object(fields) => fields.is_empty(),
            Value::Bool(true) => false,
        };
        if !is_nothing {
            self.0.insert(name.to_owned(), value);
        }
        self
    }

    /// A fact that is said whatever it is.
    pub fn always(mut self, name: &str, value: impl Serialize) -> Told {
        self.0.insert(name.to_owned(), json!(value));
        self
    }

    pub fn done(self) -> Value {
        Value::Object(self.0)
    }
}

/// The session, unless it is the one that every call means.
pub fn session(name: &str) -> Option<&str> {
    Some(name).filter(|name| *name != MAIN)
}

/// A frame of a stack.
pub fn frame(call: &Call<'_>, frame: &FrameView) -> Value {
    Told::default()
        .fact("function", short(call, &frame.function))
        .fact("file", frame.file.as_deref().map(|file| short(call, relative(call, file))))
        .fact("line", frame.line)
        .fact("index", frame.index)
        .fact("source", frame.source.as_ref().map(|source| short(call, source)))
        .done()
}

/// What was raised, and what led to it.
pub fn exception(call: &Call<'_>, exception: &Exception) -> Value {
    let clipped = |text: &Option<String>| text.as_ref().map(|text| short(call, text));
    let earlier = |one: &Earlier| {
        let told = Told::default().fact("relation", one.relation).fact("type", short(call, &one.kind));
        told.fact("message", clipped(&one.message)).done()
    };
    Told::default()
        .fact("type", short(call, &exception.kind))
        .fact("message", clipped(&exception.message))
        .fact("chain", exception.chain.iter().map(earlier).collect::<Vec<Value>>())
        .fact("chain_omitted", exception.chain_omitted)
        .done()
}

/// A thread.
pub fn thread(call: &Call<'_>, thread: &ThreadView) -> Value {
    let told = Told::default().fact("id", Some(thread.id)).fact("name", short(call, &thread.name));
    told.fact("paused_here", thread.stopped_here).done()
}

/// A variable.
pub fn variable(call: &Call<'_>, variable: &VariableView) -> Value {
    let value = words::clip(&render::safe(&variable.value));
    let kind = variable.kind.as_deref().filter(|kind| !variable.value.starts_with(kind));
    let told = Told::default()
        .fact("path", short(call, &variable.path))
        .fact("type", kind.map(|kind| short(call, kind)))
        .fact("scope", variable.scope.filter(|scope| *scope != Scope::Local));
    match variable.unset {
        true => told.fact("unset", true).done(),
        // Also a text that is empty is a value.
        false => told.always("value", value).fact("expandable", variable.expandable).done(),
    }
}

/// A breakpoint.
pub fn breakpoint(call: &Call<'_>, breakpoint: &Breakpoint) -> Value {
    let request = &breakpoint.request;
    let clipped = |text: &Option<String>| text.as_ref().map(|text| short(call, text));
    let told = Told::default()
        .fact("id", &breakpoint.id)
        .fact("at", place(call, &request.at))
        .fact("condition", clipped(&request.condition))
        .fact("hit_count", clipped(&request.hit_count))
        .fact("log_message", clipped(&request.log_message))
        .fact("really_at_line", breakpoint.line)
        .fact("problem", clipped(&breakpoint.problem))
        .fact("point", breakpoint.purpose.point().map(|name| short(call, name)));
    match breakpoint.bound {
        true => told.done(),
        false => told.always("bound", false).fact("message", clipped(&breakpoint.message)).done(),
    }
}

/// A snapshot point.
pub fn point(call: &Call<'_>, point: &PointView) -> Value {
    let clipped = |text: &Option<String>| text.as_ref().map(|text| short(call, text));
    let told = Told::default()
        .fact("name", short(call, &point.name))
        .fact("at", place(call, &point.request.at))
        .fact("condition", clipped(&point.request.condition))
        .fact("captured", Some(point.captured).filter(|captured| *captured > 0))
        .fact("hits", point.hits)
        .fact("max_hits", point.max_hits)
        .fact("state", Some(point.state).filter(|state| *state != PointState::Active))
        .fact("problem", clipped(&point.problem));
    match point.bound || point.state != PointState::Active {
        true => told.done(),
        false => told.always("bound", false).fact("message", clipped(&point.message)).done(),
    }
}

/// A snapshot, as listed.
pub fn snapshot(entry: &SnapshotEntry) -> Value {
    described(entry).fact("incomplete", entry.incomplete.len()).done()
}

fn described(entry: &SnapshotEntry) -> Told {
    let several = |count: usize, usual: usize| Some(count).filter(|count| *count != usual);
    Told::default()
        .fact("id", &entry.id)
        .fact("label", &entry.label)
        .fact("timestamp", entry.timestamp)
        .always("thread_id", entry.thread_id)
        .always("frame_index", entry.frame_index)
        .fact("function", &entry.function)
        .fact("location", &entry.location)
        .always("variable_count", entry.variable_count)
        .fact("value_count", several(entry.value_count, entry.variable_count))
        .fact("frame_count", several(entry.frame_count, 1))
        .fact("depth", entry.depth)
        .fact("safety", Some(entry.safety).filter(|safety| *safety != Safety::Pure))
        .fact("series", &entry.series)
}

/// What changed between two snapshots.
pub fn diff(diff: &SnapshotDiff) -> Value {
    let summary = diff.summary;
    let counts = Told::default()
        .fact("added", summary.added)
        .fact("removed", summary.removed)
        .fact("modified", summary.modified)
        .fact("not_compared", summary.not_compared);
    let at = if diff.at_a == diff.at_b { diff.at_a.clone() } else { format!("{} -> {}", diff.at_a, diff.at_b) };
    // The places say what a warning about lines would say again.
    let warnings = diff.warnings.iter().filter(|warning| warning.kind != WarningKind::Line);
    let warnings: Vec<&str> = warnings.map(|warning| warning.message.as_str()).collect();
    let changes = |entries: &[DiffEntry]| entries.iter().map(change).collect::<Vec<Value>>();
    Told::default()
        .fact("ids", [short_id(&diff.snapshot_id_a), short_id(&diff.snapshot_id_b)])
        .fact("at", at)
        .fact("ms", diff.time_delta_ms)
        .fact("thread_mismatch", diff.thread_mismatch)
        .fact("counts", counts.always("unchanged", summary.unchanged).done())
        .fact("warnings", warnings)
        .fact("path", &diff.path)
        .fact("matched", diff.matched)
        .fact("modified", changes(&diff.modified))
        .fact("added", changes(&diff.added))
        .fact("removed", changes(&diff.removed))
        .fact("another_object", &diff.rebound)
        .fact("another_object_omitted", diff.rebound_omitted)
        .fact("not_compared", &diff.not_compared)
        .fact("not_compared_omitted", diff.not_compared_omitted)
        .fact("omitted", diff.omitted)
        .fact("folded", folded(&diff.folded))
        .done()
}

/// What a step changed: where it began and ended is told beside it.
pub fn step(step: &SnapshotDiff) -> Value {
    let mut told = diff(step);
    if let Some(fields) = told.as_object_mut() {
        fields.remove("ids");
    }
    told
}

fn change(entry: &DiffEntry) -> Value {
    let kind = Some(&entry.kind).filter(|kind| !entry.value.as_ref().is_some_and(|value| value.starts_with(*kind)));
    // By how much a number grew is seen in the two numbers.
    let note = entry.note.as_ref().filter(|note| note.parse::<f64>().is_err());
    let told = Told::default()
        .fact("path", &entry.path)
        .fact("type", kind)
        .fact("scope", scope(entry.scope, &entry.path))
        .fact("frame", &entry.frame)
        .fact("other_type", &entry.type_changed)
        .fact("note", note);
    let told = match (&entry.old_value, &entry.new_value, &entry.value) {
        // The note says how one differs from the other.
        (Some(old), Some(new), _) if old == new => told.always("value", new),
        (Some(old), Some(new), _) => {
            let (old, new) = render::both_safe(old, new);
            told.always("old", old).always("new", new)
        }
        (.., value) => told.always("value", value.as_deref().unwrap_or_default()),
    };
    told.done()
}

/// What a variable is, unless it is a local one; what is inside one is where it is.
fn scope(scope: Scope, path: &str) -> Option<Scope> {
    Some(scope).filter(|scope| *scope != Scope::Local && !path.contains(['.', '[']))
}

/// The values of a snapshot.
pub fn view(view: &SnapshotView) -> Value {
    let value = |entry: &ViewEntry| {
        let kind = Some(&entry.kind).filter(|kind| !entry.value.starts_with(*kind));
        let told = Told::default()
            .fact("path", &entry.path)
            .fact("type", kind)
            .fact("scope", scope(entry.scope, &entry.path))
            .fact("frame", &entry.frame);
        told.always("value", &entry.value).done()
    };
    let incomplete: Vec<Value> = view
        .snapshot
        .incomplete
        .iter()
        .map(|one| Told::default().fact("path", &one.path).fact("reason", &one.reason).done())
        .collect();
    described(&view.snapshot)
        .fact("incomplete", incomplete)
        .fact("path", &view.path)
        .always("values", view.values.iter().map(value).collect::<Vec<Value>>())
        .fact("omitted", view.omitted)
        .fact("folded", folded(&view.folded))
        .done()
}

/// The hits of a snapshot point: each row has its hit and its milliseconds, then the values in the order of the columns.
pub fn series(series: &Series) -> Value {
    let rows: Vec<Vec<Value>> = series
        .rows
        .iter()
        .map(|row| {
            [json!(row.hit), json!(row.after_ms)].into_iter().chain(row.cells.iter().map(|cell| json!(cell))).collect()
        })
        .collect();
    let columns: Vec<&str> = ["hit", "ms"].into_iter().chain(series.columns.iter().map(String::as_str)).collect();
    let warnings: Vec<&str> = series.warnings.iter().map(|warning| warning.message.as_str()).collect();
    Told::default()
        .fact("name", &series.name)
        .fact("hits", series.hits)
        .fact("never_changed", series.constant)
        .fact("columns", columns)
        .fact("rows", rows)
        .fact("omitted_rows", series.omitted_rows)
        .fact("omitted_columns", series.omitted_columns)
        .fact("warnings", warnings)
        .done()
}

fn folded(folded: &[Folded]) -> Vec<Value> {
    let one = |folded: &Folded| Told::default().fact("under", &folded.under).always("count", folded.count).done();
    folded.iter().map(one).collect()
}

/// As much of an id as tells it apart; a reference may be a prefix.
fn short_id(id: &str) -> String {
    id.chars().take(SHORT_ID).collect()
}
