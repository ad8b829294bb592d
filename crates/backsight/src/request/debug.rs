//! What of the debug lane touches the workspace's files.

use backsight_core::{Effect, Operation, Result, Waits, short_enough};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::PathText;
use crate::report::Exported;

/// Write a snapshot of a program's variables, without its secrets, into a new file of the workspace.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ExportSnapshot {
    /// Which program, by the name of its session; the only one, or `main`, when left out.
    pub session: Option<String>,
    /// The snapshot's id or label.
    pub id: String,
    /// A file of the workspace that does not exist yet.
    pub file: PathText,
}

impl Operation for ExportSnapshot {
    type Answer = Exported;
    const EFFECT: Effect = Effect::AddsFile;
    const WAITS: Waits = Waits::ForDebugger;

    fn check(&self) -> Result<()> {
        short_enough("id", &self.id)?;
        self.file.inside().map(drop)
    }
}
