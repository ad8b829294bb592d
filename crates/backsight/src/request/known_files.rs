//! File checkpoints, which note what was last believed of each file, as every interface asks for them. Contents stay in the
//! snapshots.

use backsight_core::{Code, Effect, Error, NextStep, Operation, Result, Timestamp, Waits, quote, short_enough};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::PathText;
use crate::Workspace;
use crate::operation::Perform;
use crate::report::{CheckpointData, KnownCleaned, KnownNoted, KnownNotes};

/// List the notes of known files, newest first.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ListKnown {}

impl Operation for ListKnown {
    type Answer = KnownNotes;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDisk;
}

impl Perform for ListKnown {
    fn carry_out(self, workspace: &Workspace) -> Result<KnownNotes> {
        Ok(KnownNotes { checkpoints: workspace.list_file_checkpoints()? })
    }
}

/// Note files as they are in a snapshot.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct NoteKnown {
    /// Which snapshot, as a reference; the latest when left out.
    #[serde(rename = "ref")]
    #[schemars(example = &"@")]
    pub reference: Option<String>,
    /// Which paths; those that the snapshot changed when left out, and all for the first one.
    #[serde(default)]
    pub paths: Vec<PathText>,
}

impl Operation for NoteKnown {
    type Answer = KnownNoted;
    const EFFECT: Effect = Effect::Records;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        short_enough("ref", self.reference.as_deref().unwrap_or_default())?;
        PathText::check_all("paths", &self.paths)
    }
}

impl Perform for NoteKnown {
    fn carry_out(self, workspace: &Workspace) -> Result<KnownNoted> {
        let reference = self.reference.as_deref().unwrap_or("@");
        let paths = PathText::all(&self.paths)?;
        let id = workspace.create_file_checkpoint(reference, &paths)?;
        let checkpoint = workspace.list_file_checkpoints()?.into_iter().find(|checkpoint| checkpoint.id == id);
        Ok(KnownNoted { id, checkpoint })
    }
}

/// Show the files of one note with their contents.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ReadKnown {
    /// Its id or the first digits of it; the latest when left out.
    pub id: Option<String>,
}

impl Operation for ReadKnown {
    type Answer = CheckpointData;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        short_enough("id", self.id.as_deref().unwrap_or_default())
    }
}

impl Perform for ReadKnown {
    fn carry_out(self, workspace: &Workspace) -> Result<CheckpointData> {
        let found = workspace.load_file_checkpoint(self.id.as_deref())?;
        found.ok_or_else(|| match &self.id {
            Some(id) => {
                let id = quote(id.as_bytes());
                Error::new(Code::RefNotFound, format!("no note of known files answers to `{id}`"))
                    .then("list them", NextStep::ListKnown)
            }
            None => Error::new(Code::RefNotFound, "nothing is noted yet")
                .then("every snapshot makes a note: record one", NextStep::RecordFiles),
        })
    }
}

/// Remove old notes; the latest and every snapshot stay.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct CleanKnown {
    /// Those made before this time, instead of the setting.
    pub older_than: Option<Timestamp>,
}

impl Operation for CleanKnown {
    type Answer = KnownCleaned;
    const EFFECT: Effect = Effect::Removes;
    const WAITS: Waits = Waits::ForDisk;
}

impl Perform for CleanKnown {
    fn carry_out(self, workspace: &Workspace) -> Result<KnownCleaned> {
        let removed = workspace.cleanup_old_checkpoints(self.older_than)?;
        Ok(KnownCleaned { removed, left: workspace.list_file_checkpoints()?.len() })
    }
}
