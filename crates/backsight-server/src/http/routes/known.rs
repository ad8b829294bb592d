//! File checkpoints: what was last believed of each file. Contents stay in the snapshots.

use backsight::Workspace;
use backsight::report::{Checkpoint, CheckpointData};
use backsight_core::{Code, Error, NextStep, Result, SnapshotId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Nothing, PATH, PathText, REFERENCE, WRITE};
use crate::http::endpoint::Endpoint;

pub fn operations() -> Vec<Endpoint> {
    vec![
        Endpoint::get("/api/known", "knownList", "The notes of known files, newest first", list),
        Endpoint::post("/api/known", "knownCreate", "Note files as they are in a snapshot", create).fails(&[
            REFERENCE,
            PATH,
            &[Code::PathNotFound, Code::InvalidConfig],
            WRITE,
        ]),
        Endpoint::get("/api/known/show", "knownShow", "The files of one note with their contents", show)
            .fails(&[&[Code::RefNotFound, Code::RefExpired]]),
        Endpoint::post("/api/known/clean", "knownClean", "Remove old notes; the latest and every snapshot stay", clean)
            .fails(&[&[Code::InvalidConfig], WRITE]),
    ]
}

/// The notes of known files.
#[derive(JsonSchema, Serialize)]
struct Checkpoints {
    /// Newest first.
    checkpoints: Vec<Checkpoint>,
}

fn list(workspace: &Workspace, _: Nothing) -> Result<Checkpoints> {
    Ok(Checkpoints { checkpoints: workspace.list_file_checkpoints()? })
}

#[derive(Deserialize, JsonSchema)]
struct CreateInput {
    /// Which snapshot, as a reference; the latest when left out.
    #[serde(rename = "ref")]
    #[schemars(example = &"@")]
    reference: Option<String>,
    /// Which paths; those that the snapshot changed when left out, and all for the first one.
    #[serde(default)]
    paths: Vec<PathText>,
}

/// A note that was made.
#[derive(JsonSchema, Serialize)]
struct Noted {
    /// Its id.
    id: SnapshotId,
    /// The note; null when another one has taken its place meanwhile.
    checkpoint: Option<Checkpoint>,
}

fn create(workspace: &Workspace, input: CreateInput) -> Result<Noted> {
    let reference = input.reference.as_deref().unwrap_or("@");
    let id = workspace.create_file_checkpoint(reference, &PathText::all(&input.paths)?)?;
    let checkpoint = workspace.list_file_checkpoints()?.into_iter().find(|checkpoint| checkpoint.id == id);
    Ok(Noted { id, checkpoint })
}

#[derive(Deserialize, JsonSchema)]
struct ShowInput {
    /// Its id or the first digits of it; the latest when left out.
    id: Option<String>,
}

fn show(workspace: &Workspace, input: ShowInput) -> Result<CheckpointData> {
    let found = workspace.load_file_checkpoint(input.id.as_deref())?;
    found.ok_or_else(|| match &input.id {
        Some(id) => {
            let id = backsight_core::quote(id.as_bytes());
            Error::new(Code::RefNotFound, format!("no note of known files answers to `{id}`"))
                .then("list them", NextStep::ListKnown)
        }
        None => Error::new(Code::RefNotFound, "nothing is noted yet")
            .then("every snapshot makes a note: record one", NextStep::RecordFiles),
    })
}

#[derive(Deserialize, JsonSchema)]
struct CleanInput {
    /// Those made before this time, instead of the setting.
    older_than: Option<Timestamp>,
}

/// What became of the notes.
#[derive(JsonSchema, Serialize)]
struct Cleaned {
    /// How many were removed.
    removed: u64,
    /// How many are left.
    left: usize,
}

fn clean(workspace: &Workspace, input: CleanInput) -> Result<Cleaned> {
    let removed = workspace.cleanup_old_checkpoints(input.older_than)?;
    Ok(Cleaned { removed, left: workspace.list_file_checkpoints()?.len() })
}
