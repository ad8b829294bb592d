//! Changes that no step recorded, as every interface asks about them: find them, ask whether to go on, do something about them.

use backsight_core::{Effect, Operation, Result, Waits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{PathText, UnknownPolicy, Validation};
use crate::Workspace;
use crate::operation::Perform;
use crate::report::{HandleResult, UnknownChangeResult, ValidationResult};

/// Find what differs from the latest snapshot and was recorded by no step.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct DetectUnknown {
    /// Only these paths and what lies below them.
    #[serde(default)]
    pub paths: Vec<PathText>,
}

impl Operation for DetectUnknown {
    type Answer = UnknownChangeResult;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        PathText::check_all("paths", &self.paths)
    }
}

impl Perform for DetectUnknown {
    fn carry_out(self, workspace: &Workspace) -> Result<UnknownChangeResult> {
        workspace.detect_unknown_modifications(&PathText::all(&self.paths)?)
    }
}

/// Ask whether a tool may write these files now.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct CheckUnknown {
    /// Only these paths and what lies below them.
    #[serde(default)]
    pub paths: Vec<PathText>,
    /// What to do about them.
    #[serde(flatten)]
    pub policy: UnknownPolicy,
    /// Do what the strategy says right away.
    #[serde(default)]
    pub handle: bool,
}

impl Operation for CheckUnknown {
    type Answer = ValidationResult;
    const EFFECT: Effect = Effect::Records;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        PathText::check_all("paths", &self.paths)
    }
}

impl Perform for CheckUnknown {
    fn carry_out(self, workspace: &Workspace) -> Result<ValidationResult> {
        let options = Validation { unknown: self.policy.unknown(), auto_handle: self.handle };
        let paths = PathText::all(&self.paths)?;
        workspace.validate_file_state_before_snapshot(&paths, &options)
    }
}

/// Refuse, list or record what is unknown.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct HandleUnknown {
    /// Only these paths and what lies below them.
    #[serde(default)]
    pub paths: Vec<PathText>,
    /// What to do about them.
    #[serde(flatten)]
    pub policy: UnknownPolicy,
}

impl Operation for HandleUnknown {
    type Answer = HandleResult;
    const EFFECT: Effect = Effect::Records;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        PathText::check_all("paths", &self.paths)
    }
}

impl Perform for HandleUnknown {
    fn carry_out(self, workspace: &Workspace) -> Result<HandleResult> {
        let paths = PathText::all(&self.paths)?;
        workspace.handle_unknown_changes(&paths, &self.policy.unknown())
    }
}
