//! Recording, as every interface asks for it: snapshots, and tool calls that begin and finish.

use backsight_core::{Effect, LONGEST_DESCRIPTION, Operation, Result, Waits, describable, short_enough};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Begin, Behalf, Finish, PathText, Track, Unknown};
use crate::Workspace;
use crate::operation::Perform;
use crate::report::{Begun, Call, OpenCalls, Strategy, Tracked};

/// What to do about changes that are not the caller's.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct UnknownPolicy {
    /// What to do about changes that are not the step's own, instead of the setting.
    pub strategy: Option<Strategy>,
    /// Go on whatever the strategy: what is not the step's own is listed.
    #[serde(default)]
    pub force: bool,
}

impl UnknownPolicy {
    /// In the library's words.
    pub fn unknown(&self) -> Unknown {
        Unknown { strategy: self.strategy, force: self.force }
    }
}

impl From<Unknown> for UnknownPolicy {
    fn from(Unknown { strategy, force }: Unknown) -> Self {
        UnknownPolicy { strategy, force }
    }
}

/// Record the files as they are.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct TrackFiles {
    /// What this step is.
    #[serde(default)]
    #[schemars(length(max = LONGEST_DESCRIPTION))]
    pub description: String,
    /// For whom it is recorded.
    #[serde(flatten)]
    pub who: Behalf,
    /// The paths the tool wrote: what else changed is not its own, and a revert leaves that alone.
    #[serde(default)]
    pub declare: Vec<PathText>,
    /// What to do about changes that are not the step's own.
    #[serde(flatten)]
    pub policy: UnknownPolicy,
    /// Keep this snapshot through every retention rule.
    #[serde(default)]
    pub pin: bool,
}

impl Operation for TrackFiles {
    type Answer = Tracked;
    const EFFECT: Effect = Effect::RecordsOnce;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        describable("description", &self.description)?;
        PathText::check_all("declare", &self.declare)?;
        self.who.check()
    }
}

impl Perform for TrackFiles {
    fn carry_out(self, workspace: &Workspace) -> Result<Tracked> {
        let TrackFiles { description, who, declare, policy, pin } = self;
        let origin = who.origin(&declare)?;
        workspace.track_with(&Track { description, origin, unknown: policy.unknown(), pinned: pin })
    }
}

/// Begin a tool call: what it writes becomes its step.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct BeginCall {
    /// For whom it is recorded.
    #[serde(flatten)]
    pub who: Behalf,
    /// The paths the tool will write, if it knows.
    #[serde(default)]
    pub declare: Vec<PathText>,
    /// What to do about changes that are there already.
    #[serde(flatten)]
    pub policy: UnknownPolicy,
}

impl Operation for BeginCall {
    type Answer = Begun;
    const EFFECT: Effect = Effect::Records;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        PathText::check_all("declare", &self.declare)?;
        self.who.check()
    }
}

impl Perform for BeginCall {
    fn carry_out(self, workspace: &Workspace) -> Result<Begun> {
        let BeginCall { who, declare, policy } = self;
        let origin = who.origin(&declare)?;
        workspace.begin(&Begin { origin, unknown: policy.unknown(), title: None })
    }
}

/// Finish a tool call: record what it wrote as its step.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct FinishCall {
    /// The id that `begin` gave.
    pub call: String,
    /// What the call did.
    #[serde(default)]
    #[schemars(length(max = LONGEST_DESCRIPTION))]
    pub description: String,
    /// The paths the call wrote, instead of what it declared when it began.
    #[serde(default)]
    pub declare: Vec<PathText>,
    /// What to do about changes that are not its own.
    #[serde(flatten)]
    pub policy: UnknownPolicy,
    /// Keep this snapshot through every retention rule.
    #[serde(default)]
    pub pin: bool,
}

impl Operation for FinishCall {
    type Answer = Tracked;
    const EFFECT: Effect = Effect::Records;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        short_enough("call", &self.call)?;
        describable("description", &self.description)?;
        PathText::check_all("declare", &self.declare)
    }
}

impl Perform for FinishCall {
    fn carry_out(self, workspace: &Workspace) -> Result<Tracked> {
        let FinishCall { call, description, declare, policy, pin } = self;
        let declared = PathText::all(&declare)?;
        let unknown = policy.unknown();
        workspace.finish(&Finish { call, description, declared, unknown, pinned: pin, ..Finish::default() })
    }
}

/// Give a tool call up: record nothing.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct AbandonCall {
    /// The id that `begin` gave.
    pub call: String,
}

impl Operation for AbandonCall {
    type Answer = Call;
    const EFFECT: Effect = Effect::Records;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        short_enough("call", &self.call)
    }
}

impl Perform for AbandonCall {
    fn carry_out(self, workspace: &Workspace) -> Result<Call> {
        workspace.abandon(&self.call)
    }
}

/// List the tool calls that began and have not finished.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ListOpenCalls {}

impl Operation for ListOpenCalls {
    type Answer = OpenCalls;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDisk;
}

impl Perform for ListOpenCalls {
    fn carry_out(self, workspace: &Workspace) -> Result<OpenCalls> {
        Ok(OpenCalls { open_calls: workspace.open_calls()? })
    }
}
