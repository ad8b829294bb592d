//! Going back: restore, revert, undo, redo. Each carries out what it plans unless only the plan is asked for.

use backsight::request::{RedoSteps, RestoreFiles, RevertSteps, UndoSteps};
use backsight_core::Code;
use http::Method;

use super::{LOOK, PATH, REFERENCE, WRITE};
use crate::http::endpoint::Endpoint;
use crate::http::route::{Route, routes};

/// How what changes files can fail.
const GOING: &[Code] = &[Code::Conflict, Code::NotCovered, Code::StateMismatch];
/// The same where nothing is merged.
const EXACT: &[Code] = &[Code::PathNotFound, Code::NotCovered, Code::StateMismatch];
const EMPTY: &[Code] = &[Code::NothingToUndo, Code::RefExpired];

routes! {
    POST "/api/restore" restore: RestoreFiles,
        "Take the files to an earlier state", [REFERENCE, EXACT, PATH, LOOK, WRITE];
    POST "/api/revert" revert: RevertSteps,
        "Undo steps and keep everything else", [REFERENCE, GOING, PATH, LOOK, WRITE];
    POST "/api/undo" undo: UndoSteps, "Take the newest steps back", [EMPTY, GOING, LOOK, WRITE];
    POST "/api/redo" redo: RedoSteps, "Bring back the steps that were undone last", [EMPTY, GOING, LOOK, WRITE];
}
