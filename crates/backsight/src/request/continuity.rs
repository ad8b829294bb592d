//! Where the timeline stands, whether it and the disk are whole, and starting over with a reason, as every interface asks for it.

use backsight_core::{Effect, Operation, Result, Waits, short_enough};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Behalf;
use crate::Workspace;
use crate::operation::Perform;
use crate::report::{CurrentState, Reset, SyncReport};

/// Ask where the timeline stands, without looking at the files.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ReadContinuity {}

impl Operation for ReadContinuity {
    type Answer = CurrentState;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDisk;
}

impl Perform for ReadContinuity {
    fn carry_out(self, workspace: &Workspace) -> Result<CurrentState> {
        workspace.get_current_state()
    }
}

/// Ask whether every row is whole and the files are those of the latest snapshot.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ValidateContinuity {}

impl Operation for ValidateContinuity {
    type Answer = SyncReport;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDisk;
}

impl Perform for ValidateContinuity {
    fn carry_out(self, workspace: &Workspace) -> Result<SyncReport> {
        workspace.validate_workspace_sync()
    }
}

/// Take the files and the timeline as they are and go on from there.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ResetContinuity {
    /// Why; it is kept in the timeline.
    #[schemars(regex(pattern = r"\S"))]
    pub reason: String,
    /// For whom it is recorded.
    #[serde(flatten)]
    pub who: Behalf,
}

impl Operation for ResetContinuity {
    type Answer = Reset;
    const EFFECT: Effect = Effect::Records;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        short_enough("reason", &self.reason)?;
        self.who.check()
    }
}

impl Perform for ResetContinuity {
    fn carry_out(self, workspace: &Workspace) -> Result<Reset> {
        workspace.reset_state_continuity(&self.reason, &self.who.origin(&[])?)
    }
}
