//! A program under a debugger: started, stepped, looked at, captured and compared. What is debugged lives in this process.

mod ask;
mod breakpoints;
mod looking;
mod moving;
mod snapshots;

use backsight_core::Code;

use crate::http::operation::Operation;

/// The session: there is none, or the debuggers of the settings cannot be read.
const SESSION: &[Code] = &[Code::NoSession, Code::InvalidConfig];
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

pub fn operations() -> Vec<Operation> {
    [moving::operations(), breakpoints::operations(), looking::operations(), snapshots::operations()]
        .into_iter()
        .flatten()
        .collect()
}
