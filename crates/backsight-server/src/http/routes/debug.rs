//! A program under a debugger: started, stepped, looked at, captured and compared. What is debugged lives in this process.

use backsight::debug::request::*;
use backsight::request::ExportSnapshot;
use backsight_core::Code;
use http::Method;

use super::{PATH, WRITE};
use crate::http::endpoint::Endpoint;
use crate::http::route::{Route, routes};

/// The session: there is none, or the debuggers of the settings cannot be read.
const SESSION: &[Code] = &[Code::NoSession, Code::InvalidConfig];
/// A session begins.
const BEGINS: &[Code] = &[Code::AdapterNotFound, Code::ProgramNotFound, Code::InvalidName, Code::Conflict];
/// The debugger is asked, and may refuse or not answer.
const ADAPTER: &[Code] = &[Code::AdapterFailed, Code::DebugTimeout, Code::Cancelled];
/// The program must be paused, and stay so meanwhile.
const PAUSED: &[Code] = &[Code::NotPaused, Code::StateChanged];
/// A snapshot is named by its id or label.
const SNAPSHOT: &[Code] = &[Code::SnapshotNotFound, Code::RefAmbiguous];
/// A snapshot is kept under a label, where there is room.
const KEPT: &[Code] = &[Code::InvalidName, Code::Conflict, Code::TooLarge];
/// A source file is named.
const SOURCE: &[Code] = &[Code::PathNotFound];

routes! {
    GET "/api/debug/sessions" debugSessions: ListSessions,
        "The programs that are being debugged", [&[Code::InvalidConfig]];
    POST "/api/debug/launch" debugLaunch: LaunchProgram,
        "Start a program under its debugger and wait for its first stop", [SESSION, BEGINS, SOURCE, ADAPTER, PAUSED];
    POST "/api/debug/attach" debugAttach: AttachProgram,
        "Debug a program that runs already", [SESSION, BEGINS, SOURCE, ADAPTER, PAUSED];
    GET "/api/debug/state" debugState: ProgramState,
        "Where the program is; of a running one, after waiting for its next stop", [SESSION, ADAPTER, PAUSED];
    POST "/api/debug/control" debugControl: ControlProgram,
        "Let the program go on, or pause it, and wait for what comes of it; `still_running` is an answer",
        [SESSION, SOURCE, ADAPTER, PAUSED];
    POST "/api/debug/disconnect" debugDisconnect: EndSession,
        "Let go of the program; its snapshots are cleared", [SESSION, ADAPTER];

    GET "/api/debug/breakpoints" breakpointList: ListBreakpoints,
        "The breakpoints, and whether they are bound", [SESSION];
    POST "/api/debug/breakpoints" breakpointSet: SetBreakpoint,
        "Set a breakpoint, and say whether it is bound; one at the same place gets the new conditions",
        [SESSION, SOURCE, ADAPTER, &[Code::Conflict]];
    POST "/api/debug/breakpoints/remove" breakpointRemove: RemoveBreakpoint,
        "Remove a breakpoint; that of a snapshot point ends the point", [SESSION, ADAPTER, &[Code::RefNotFound]];

    GET "/api/debug/threads" debugThreads: ListThreads, "The program's threads", [SESSION, ADAPTER, PAUSED];
    GET "/api/debug/stack" debugStack: ReadStack,
        "The calls a thread is in, innermost first", [SESSION, ADAPTER, PAUSED];
    POST "/api/debug/variables" debugVariables: ReadVariables,
        "The variables of a frame, or what is inside one of them, page by page; nothing of the program runs",
        [SESSION, ADAPTER, PAUSED];
    POST "/api/debug/evaluate" debugEvaluate: EvaluateExpression,
        "The value of an expression; nothing of the program runs unless that is allowed", [SESSION, ADAPTER, PAUSED];
    GET "/api/debug/output" debugOutput: ReadOutput, "What the program printed", [SESSION];

    GET "/api/debug/snapshots" debugSnapshotList: ListSnapshots, "The snapshots, oldest first", [SESSION];
    POST "/api/debug/snapshots" debugSnapshotCreate: CreateSnapshot,
        "Capture the variables of the paused program under a label", [SESSION, ADAPTER, PAUSED, KEPT];
    GET "/api/debug/snapshots/{id}" debugSnapshotGet: ReadSnapshot,
        "The values of a snapshot", [SESSION, SNAPSHOT];
    POST "/api/debug/diff" debugSnapshotDiff: CompareSnapshots,
        "What changed between two snapshots", [SESSION, SNAPSHOT];
    POST "/api/debug/delete" debugSnapshotDelete: DeleteSnapshot,
        "Delete a snapshot, or all hits of a snapshot point", [SESSION, SNAPSHOT];
    POST "/api/debug/clear" debugSnapshotClear: ClearSnapshots, "Delete all snapshots", [SESSION];
    POST "/api/debug/export" debugSnapshotExport: ExportSnapshot,
        "Write a snapshot, without its secrets, into a new file of the workspace",
        [SESSION, SNAPSHOT, PATH, WRITE, &[Code::Conflict]];

    POST "/api/debug/step" debugStep: StepAndCompare,
        "Let the program go on, and say what that changed: capture, step, capture, compare",
        [SESSION, SOURCE, ADAPTER, PAUSED];
    POST "/api/debug/watch" debugWatch: RunUntilChange,
        "Let the program go on until a value changes, and name the line that changed it", [SESSION, ADAPTER, PAUSED];
    POST "/api/debug/set" debugSet: SetVariable,
        "Give a variable of the paused program another value: this changes the program", [SESSION, ADAPTER, PAUSED];
    GET "/api/debug/points" snapshotPoints: ListPoints,
        "The snapshot points, also those that are finished", [SESSION];
    POST "/api/debug/points" snapshotOn: CaptureAt,
        "From now on capture the program whenever it comes by a place, and let it go on",
        [SESSION, SOURCE, ADAPTER, &[Code::InvalidName, Code::Conflict]];
    GET "/api/debug/series/{name}" snapshotSeries: ReadSeries,
        "What a snapshot point captured, as a table: a row for each hit, a column for each value that changed",
        [SESSION, SNAPSHOT];
}
