//! Going back: restore, revert, undo, redo. Each carries out what it plans unless only the plan is asked for.

use backsight::report::{Applied, OnConflict};
use backsight::request::{Restore, Revert, Undo};
use backsight::{HunkChoice, PlanToken, Workspace};
use backsight_core::{Code, Result};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{LOOK, PATH, PathText, REFERENCE, WRITE, Who};
use crate::http::endpoint::Endpoint;

/// How what changes files can fail.
const GOING: &[Code] = &[Code::Conflict, Code::NotCovered, Code::StateMismatch];
const EMPTY: &[Code] = &[Code::NothingToUndo];

pub fn operations() -> Vec<Endpoint> {
    vec![
        Endpoint::post("/api/restore", "restore", "Take the files to an earlier state", restore).fails(&[
            REFERENCE,
            &[Code::PathNotFound, Code::NotCovered, Code::StateMismatch],
            PATH,
            LOOK,
            WRITE,
        ]),
        Endpoint::post("/api/revert", "revert", "Undo steps and keep everything else", revert)
            .fails(&[REFERENCE, GOING, PATH, LOOK, WRITE]),
        Endpoint::post("/api/undo", "undo", "Take the newest steps back", undo).fails(&[
            EMPTY,
            GOING,
            &[Code::RefExpired],
            LOOK,
            WRITE,
        ]),
        Endpoint::post("/api/redo", "redo", "Bring back the steps that were undone last", redo).fails(&[
            EMPTY,
            GOING,
            &[Code::RefExpired],
            LOOK,
            WRITE,
        ]),
    ]
}

#[derive(Deserialize, JsonSchema)]
struct RestoreInput {
    /// Which snapshot, as a reference.
    #[serde(rename = "ref")]
    #[schemars(example = &"@")]
    reference: String,
    /// Only these paths and what lies below them.
    #[serde(default)]
    paths: Vec<PathText>,
    /// What to do about paths that cannot be stored first, or that are written all the time.
    #[serde(default)]
    on_conflict: OnConflict,
    /// Say what would be done and change nothing.
    #[serde(default)]
    dry_run: bool,
    /// Only the plan with this token, which a dry run answered with; any other is refused, with what changed since.
    plan: Option<PlanToken>,
    #[serde(flatten)]
    who: Who,
}

fn restore(workspace: &Workspace, input: RestoreInput) -> Result<Applied> {
    let RestoreInput { reference, paths, on_conflict, dry_run, plan, who } = input;
    let (paths, origin) = (PathText::all(&paths)?, who.origin(&[])?);
    workspace.restore_with(&Restore { reference, paths, on_conflict, dry_run, plan, origin })
}

#[derive(Deserialize, JsonSchema)]
struct RevertInput {
    /// Which steps, as references; `session:ID` and `message:ID` name all their steps. Or one range, `3..7`, `@..now`: what
    /// differs between two states, by any writer.
    #[schemars(length(min = 1), example = ["@"])]
    refs: Vec<String>,
    /// Only these paths and what lies below them.
    #[serde(default)]
    paths: Vec<PathText>,
    /// Only these hunks, by the ids that `/api/hunks` answers with, or lines of them, `ID:2-3,7`: counted from one, those that
    /// went, then those that came.
    #[serde(default)]
    #[schemars(length(max = 10_000))]
    hunks: Vec<HunkChoice>,
    /// What to do where later edits overlap.
    #[serde(default)]
    on_conflict: OnConflict,
    /// Say what would be done and change nothing.
    #[serde(default)]
    dry_run: bool,
    /// Only the plan with this token, which a dry run answered with; any other is refused, with what changed since.
    plan: Option<PlanToken>,
    #[serde(flatten)]
    who: Who,
}

fn revert(workspace: &Workspace, input: RevertInput) -> Result<Applied> {
    let RevertInput { refs, paths, hunks, on_conflict, dry_run, plan, who } = input;
    if refs.is_empty() {
        return Err(backsight_core::Error::new(Code::Usage, "no step was named: `refs` is empty"));
    }
    let (paths, origin) = (PathText::all(&paths)?, who.origin(&[])?);
    let (references, with_others) = (refs, false);
    workspace.revert_steps(&Revert { references, with_others, paths, hunks, on_conflict, dry_run, plan, origin })
}

#[derive(Deserialize, JsonSchema)]
struct UndoInput {
    /// How many steps; 1 unless told otherwise.
    #[schemars(range(min = 1))]
    count: Option<u16>,
    /// What to do where later edits overlap.
    #[serde(default)]
    on_conflict: OnConflict,
    /// Say what would be done and change nothing.
    #[serde(default)]
    dry_run: bool,
    /// Only the plan with this token, which a dry run answered with; any other is refused, with what changed since.
    plan: Option<PlanToken>,
    #[serde(flatten)]
    who: Who,
}

impl UndoInput {
    fn request(self) -> Result<Undo> {
        let UndoInput { count, on_conflict, dry_run, plan, who } = self;
        Ok(Undo { count: count.map_or(1, usize::from), on_conflict, dry_run, plan, origin: who.origin(&[])? })
    }
}

fn undo(workspace: &Workspace, input: UndoInput) -> Result<Applied> {
    workspace.undo(&input.request()?)
}

fn redo(workspace: &Workspace, input: UndoInput) -> Result<Applied> {
    workspace.redo(&input.request()?)
}
