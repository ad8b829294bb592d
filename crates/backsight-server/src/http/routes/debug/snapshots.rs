//! Snapshots of a paused program: taken by hand, by a step or by themselves, and compared.

use std::path::PathBuf;

use backsight::Workspace;
use backsight::debug::debugger::{
    Cleared, Deleted, PointList, PointRequest, PointView, SnapshotCreated, SnapshotList, StepDiff,
};
use backsight::debug::report::{Series, SnapshotDiff, SnapshotView};
use backsight::debug::session::BreakpointRequest;
use backsight::debug::walk::CapturePlan;
use backsight::report::Exported;
use backsight_core::{Code, Result};
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::{Nothing, PATH, PathText, WRITE};
use super::ask::{About, Action, Extent, FramesInput, Part, Threads, place, reach, usage, wait};
use super::{ADAPTER, KEPT, PAUSED, SESSION, SNAPSHOT, SOURCE};
use crate::http::operation::Operation;

/// How deep a step looks when nobody says.
const STEP_DEPTH: u32 = 2;

pub fn operations() -> Vec<Operation> {
    let mut operations = vec![
        Operation::get("/api/debug/snapshots", "debugSnapshotList", "The snapshots, oldest first", list)
            .fails(&[SESSION]),
        Operation::post(
            "/api/debug/snapshots",
            "debugSnapshotCreate",
            "Capture the variables of the paused program under a label",
            create,
        )
        .fails(&[SESSION, ADAPTER, PAUSED, KEPT]),
        Operation::get("/api/debug/snapshots/{id}", "debugSnapshotGet", "The values of a snapshot", read)
            .fails(&[SESSION, SNAPSHOT]),
        Operation::post("/api/debug/diff", "debugSnapshotDiff", "What changed between two snapshots", compare)
            .fails(&[SESSION, SNAPSHOT]),
        Operation::post(
            "/api/debug/delete",
            "debugSnapshotDelete",
            "Delete a snapshot, or all hits of a snapshot point",
            delete,
        )
        .fails(&[SESSION, SNAPSHOT]),
        Operation::post("/api/debug/clear", "debugSnapshotClear", "Delete all snapshots", clear).fails(&[SESSION]),
        Operation::post(
            "/api/debug/export",
            "debugSnapshotExport",
            "Write a snapshot, without its secrets, into a new file of the workspace",
            export,
        )
        .fails(&[SESSION, SNAPSHOT, PATH, WRITE, &[Code::Conflict]]),
    ];
    operations.extend(by_themselves());
    operations
}

fn by_themselves() -> Vec<Operation> {
    vec![
        Operation::post(
            "/api/debug/step",
            "debugStep",
            "Let the program go on, and say what that changed: capture, step, capture, compare",
            step,
        )
        .fails(&[SESSION, SOURCE, ADAPTER, PAUSED]),
        Operation::get(
            "/api/debug/points",
            "snapshotPoints",
            "The snapshot points, also those that are finished",
            points,
        )
        .fails(&[SESSION]),
        Operation::post(
            "/api/debug/points",
            "snapshotOn",
            "From now on capture the program whenever it comes by a place, and let it go on",
            snapshot_on,
        )
        .fails(&[SESSION, SOURCE, ADAPTER, &[Code::InvalidName, Code::Conflict]]),
        Operation::get(
            "/api/debug/series/{name}",
            "snapshotSeries",
            "What a snapshot point captured, as a table: a row for each hit, a column for each value that changed",
            series,
        )
        .fails(&[SESSION, SNAPSHOT]),
    ]
}

fn list(workspace: &Workspace, input: About<Nothing>) -> Result<SnapshotList> {
    workspace.debugger()?.snapshots(input.session())
}

#[derive(Deserialize, JsonSchema)]
struct CreateInput {
    /// What it is called; `snapshot-1` and so on when left out.
    label: Option<String>,
    /// The thread; the one that paused the program when left out.
    thread: Option<i64>,
    /// The first frame, 0 is the innermost.
    #[serde(default)]
    frame: u32,
    /// How many frames from there outwards: `top` (one), `all` or a number; one when left out.
    frames: Option<FramesInput>,
    /// Which threads: `stopped` (that one) or `all`.
    #[serde(default)]
    threads: Threads,
    #[serde(flatten)]
    extent: Extent,
}

fn create(workspace: &Workspace, input: About<CreateInput>) -> Result<SnapshotCreated> {
    let (session, input) = input.parts();
    let CreateInput { label, thread, frame, frames, threads, extent } = input;
    let plan = reach(CapturePlan { thread, frame, ..extent.plan(0)? }, frames, threads)?;
    workspace.debugger()?.create_snapshot(session.as_deref(), label.as_deref(), plan)
}

#[derive(Deserialize, JsonSchema)]
struct ReadInput {
    /// Its id or label.
    id: String,
    #[serde(flatten)]
    part: Part,
}

fn read(workspace: &Workspace, input: About<ReadInput>) -> Result<SnapshotView> {
    let (session, input) = input.parts();
    workspace.debugger()?.read_snapshot(session.as_deref(), &input.id, &input.part.options()?)
}

#[derive(Deserialize, JsonSchema)]
struct CompareInput {
    /// The snapshot to compare from, by id or label.
    from: String,
    /// The snapshot to compare to, by id or label.
    to: String,
    #[serde(flatten)]
    part: Part,
}

fn compare(workspace: &Workspace, input: About<CompareInput>) -> Result<SnapshotDiff> {
    let (session, input) = input.parts();
    let CompareInput { from, to, part } = input;
    workspace.debugger()?.diff_snapshots(session.as_deref(), &from, &to, &part.options()?)
}

#[derive(Deserialize, JsonSchema)]
struct DeleteInput {
    /// The snapshot's id or label, or the name of a snapshot point.
    id: String,
}

fn delete(workspace: &Workspace, input: About<DeleteInput>) -> Result<Deleted> {
    workspace.debugger()?.delete_snapshot(input.session(), &input.ask.id)
}

fn clear(workspace: &Workspace, input: About<Nothing>) -> Result<Cleared> {
    workspace.debugger()?.clear_snapshots(input.session())
}

#[derive(Deserialize, JsonSchema)]
struct ExportInput {
    /// The snapshot's id or label.
    id: String,
    /// A file of the workspace that does not exist yet.
    file: PathText,
}

fn export(workspace: &Workspace, input: About<ExportInput>) -> Result<Exported> {
    workspace.export_snapshot(input.session(), &input.ask.id, &input.ask.file.inside()?)
}

#[derive(Deserialize, JsonSchema)]
struct StepInput {
    /// What the program shall do; one line, over what it calls, when left out.
    action: Option<Action>,
    /// Where `run_to` goes: a source file, relative to the workspace.
    file: Option<PathBuf>,
    /// The line of that file, from 1.
    #[schemars(range(min = 1))]
    line: Option<u32>,
    /// The thread to step; the one that paused the program when left out.
    thread: Option<i64>,
    /// How long to wait for the next stop; 10000 when left out.
    #[schemars(range(max = 60_000))]
    wait_ms: Option<u64>,
    #[serde(flatten)]
    extent: Extent,
    #[serde(flatten)]
    part: Part,
}

fn step(workspace: &Workspace, input: About<StepInput>) -> Result<StepDiff> {
    let (session, input) = input.parts();
    let StepInput { action, file, line, thread, wait_ms, extent, part } = input;
    let action = action.unwrap_or(Action::StepOver);
    if action == Action::Pause {
        return Err(usage("a program that is paused cannot be paused to see what that changes"));
    }
    let control = action.control(file, line)?;
    let plan = CapturePlan { thread, ..extent.plan(STEP_DEPTH)? };
    workspace.step_and_diff(session.as_deref(), control, plan, wait(wait_ms)?, &part.options()?)
}

fn points(workspace: &Workspace, input: About<Nothing>) -> Result<PointList> {
    workspace.debugger()?.snapshot_points(input.session())
}

#[derive(Deserialize, JsonSchema)]
struct PointInput {
    /// A source file, relative to the workspace; with `line`.
    file: Option<PathBuf>,
    /// The line of the file, from 1.
    #[schemars(range(min = 1))]
    line: Option<u32>,
    /// The beginning of this function, instead of a line.
    function: Option<String>,
    /// An exception, instead of a line: `all`, `uncaught`, or a name the debugger has for some of them.
    exception: Option<String>,
    /// Only when this is true, in the program's language.
    condition: Option<String>,
    /// What the series is called; made of the place when left out.
    name: Option<String>,
    /// Finish after so many snapshots; 100 when left out.
    #[schemars(range(min = 1, max = 10_000))]
    max_hits: Option<u64>,
    /// Capture only every so many hits.
    #[schemars(range(min = 1))]
    every: Option<u64>,
    #[serde(flatten)]
    extent: Extent,
}

fn snapshot_on(workspace: &Workspace, input: About<PointInput>) -> Result<PointView> {
    let (session, input) = input.parts();
    let PointInput { file, line, function, exception, condition, name, max_hits, every, extent } = input;
    let at = place(file, line, function, exception)?;
    let breakpoint = BreakpointRequest { condition, ..BreakpointRequest::new(at) };
    let request = PointRequest { name, breakpoint, max_hits, every, plan: extent.plan(0)? };
    workspace.debugger()?.snapshot_on(session.as_deref(), request)
}

#[derive(Deserialize, JsonSchema)]
struct SeriesInput {
    /// The series' name.
    name: String,
    #[serde(flatten)]
    part: Part,
}

fn series(workspace: &Workspace, input: About<SeriesInput>) -> Result<Series> {
    let (session, input) = input.parts();
    workspace.debugger()?.series(session.as_deref(), &input.name, &input.part.options()?)
}
