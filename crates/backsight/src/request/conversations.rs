//! Sessions, which are agents' conversations, as every interface asks for them; bodies and spellings are those of seed 002.

use backsight_core::names::{self, ID};
use backsight_core::{Effect, LONGEST_DESCRIPTION, Operation, Result, Waits, describable, short_enough};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    BinaryFiles, NewSession, PathText, RevertSession, SessionDiff, SessionTrack, Sessions, UnknownPolicy, Unrevert,
};
use crate::Workspace;
use crate::operation::Perform;
use crate::plan_token::PlanToken;
use crate::report::{
    self, Conversations, OnConflict, Phase, SessionDetail, SessionReverted, SessionStarted, SessionTracked,
    SessionUnreverted,
};

/// As many sessions as a list has when the caller does not say.
const PAGE: u32 = 20;

fn check_id(what: &str, id: Option<&str>) -> Result<()> {
    id.map_or(Ok(()), |id| names::check(&format!("{what} id"), id, names::LONGEST_ID))
}

/// Start a session, with a snapshot of what is there.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct StartSession {
    /// Its id; a random one when left out.
    #[schemars(length(max = 200), regex(pattern = ID))]
    pub id: Option<String>,
    /// What a person calls it.
    pub title: Option<String>,
}

impl Operation for StartSession {
    type Answer = SessionStarted;
    const EFFECT: Effect = Effect::Records;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        check_id("session", self.id.as_deref())?;
        short_enough("title", self.title.as_deref().unwrap_or_default())
    }
}

impl Perform for StartSession {
    fn carry_out(self, workspace: &Workspace) -> Result<SessionStarted> {
        workspace.start_session(&NewSession { id: self.id, title: self.title })
    }
}

/// List the sessions, the latest first.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ListConversations {
    /// At most this many; 0 means all, 20 unless told otherwise.
    pub limit: Option<u32>,
}

impl Operation for ListConversations {
    type Answer = Conversations;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDisk;
}

impl Perform for ListConversations {
    fn carry_out(self, workspace: &Workspace) -> Result<Conversations> {
        let wanted = self.limit.unwrap_or(PAGE) as usize;
        // One more than is wanted says whether there are more.
        let limit = if wanted == 0 { 0 } else { wanted.saturating_add(1) };
        let mut sessions = workspace.sessions(&Sessions { limit })?;
        let has_more = wanted > 0 && sessions.len() > wanted;
        if has_more {
            sessions.truncate(wanted);
        }
        Ok(Conversations { sessions, has_more })
    }
}

/// Show one session: its messages and where it is reverted to.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ReadSession {
    /// Which session: its id, or at least four characters that it begins with.
    #[schemars(length(max = 200), regex(pattern = ID), example = &"s1")]
    pub id: String,
}

impl Operation for ReadSession {
    type Answer = SessionDetail;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        check_id("session", Some(&self.id))
    }
}

impl Perform for ReadSession {
    fn carry_out(self, workspace: &Workspace) -> Result<SessionDetail> {
        workspace.session(&self.id)
    }
}

/// Record what a message does, before and after it.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct TrackMessage {
    /// Which session: its id, or at least four characters that it begins with.
    #[schemars(length(max = 200), regex(pattern = ID), example = &"s1")]
    pub id: String,
    /// The message; `before` and `after` need one.
    #[serde(rename = "messageID")]
    #[schemars(length(max = 200), regex(pattern = ID), example = &"m1")]
    pub message: Option<String>,
    /// The part of the message.
    #[serde(rename = "partID")]
    #[schemars(length(max = 200), regex(pattern = ID))]
    pub part: Option<String>,
    /// Whether the message's work is about to begin, has ended, or neither is said.
    #[serde(default)]
    pub phase: Phase,
    /// The tool that makes the change.
    #[schemars(length(max = 100), regex(pattern = ID))]
    pub tool: Option<String>,
    /// What was done.
    #[serde(default)]
    #[schemars(length(max = LONGEST_DESCRIPTION))]
    pub description: String,
    /// The paths the message writes: what else changed is not its own.
    #[serde(default)]
    pub declare: Vec<PathText>,
    /// What to do about changes that are not its own.
    #[serde(flatten)]
    pub policy: UnknownPolicy,
}

impl Operation for TrackMessage {
    type Answer = SessionTracked;
    const EFFECT: Effect = Effect::Records;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        check_id("session", Some(&self.id))?;
        check_id("message", self.message.as_deref())?;
        check_id("part", self.part.as_deref())?;
        let tool = self.tool.as_deref();
        tool.map_or(Ok(()), |tool| names::check("tool name", tool, names::LONGEST_NAME))?;
        describable("description", &self.description)?;
        PathText::check_all("declare", &self.declare)
    }
}

impl Perform for TrackMessage {
    fn carry_out(self, workspace: &Workspace) -> Result<SessionTracked> {
        let TrackMessage { id: session, message, part, phase, tool, description, declare, policy } = self;
        let (declared, unknown) = (PathText::all(&declare)?, policy.unknown());
        workspace.track_session(&SessionTrack { session, message, part, phase, tool, description, declared, unknown })
    }
}

/// Show what the session itself changed and is in effect.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct CompareSession {
    /// Which session: its id, or at least four characters that it begins with.
    #[schemars(length(max = 200), regex(pattern = ID), example = &"s1")]
    pub id: String,
    /// Only this message.
    #[serde(rename = "messageID")]
    #[schemars(length(max = 200), regex(pattern = ID), example = &"m1")]
    pub message: Option<String>,
    /// Only these paths and what lies below them.
    #[serde(default)]
    pub paths: Vec<PathText>,
    /// Leave out the text of files with more bytes than this, and say so; 8 MiB unless told otherwise.
    pub max_file_bytes: Option<u64>,
    /// Lines of context around each change in the unified diff; 3 unless told otherwise.
    pub context: Option<u16>,
    /// In that, hold the contents of binary files too, so that it can be applied.
    #[serde(default)]
    pub binary: bool,
}

impl Operation for CompareSession {
    type Answer = report::SessionDiff;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        check_id("session", Some(&self.id))?;
        check_id("message", self.message.as_deref())?;
        PathText::check_all("paths", &self.paths)
    }
}

impl Perform for CompareSession {
    fn carry_out(self, workspace: &Workspace) -> Result<report::SessionDiff> {
        let usual = SessionDiff::new(self.id);
        workspace.session_diff(&SessionDiff {
            message: self.message,
            paths: PathText::all(&self.paths)?,
            max_file_bytes: self.max_file_bytes.unwrap_or(usual.max_file_bytes),
            context: self.context.map_or(usual.context, usize::from),
            binary: if self.binary { BinaryFiles::Whole } else { BinaryFiles::Named },
            ..usual
        })
    }
}

/// Take the session back to before a message, or before a part of it.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct RevertMessages {
    /// Which session: its id, or at least four characters that it begins with.
    #[schemars(length(max = 200), regex(pattern = ID), example = &"s1")]
    pub id: String,
    /// This message and everything later of the session is undone.
    #[serde(rename = "messageID")]
    #[schemars(length(max = 200), regex(pattern = ID), example = &"m1")]
    pub message: String,
    /// Only from this part of the message on.
    #[serde(rename = "partID")]
    #[schemars(length(max = 200), regex(pattern = ID))]
    pub part: Option<String>,
    /// How.
    #[serde(flatten)]
    pub terms: SessionTerms,
}

/// What both ways of a session take.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct SessionTerms {
    /// What to do where later edits overlap.
    #[serde(default)]
    pub on_conflict: OnConflict,
    /// Say what would be done and change nothing.
    #[serde(default)]
    pub dry_run: bool,
    /// Only the plan with this token, which a dry run answered with; any other is refused, with what changed since.
    pub plan: Option<PlanToken>,
}

impl Operation for RevertMessages {
    type Answer = SessionReverted;
    const EFFECT: Effect = Effect::ChangesFiles;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        check_id("session", Some(&self.id))?;
        check_id("message", Some(&self.message))?;
        check_id("part", self.part.as_deref())
    }
}

impl Perform for RevertMessages {
    fn carry_out(self, workspace: &Workspace) -> Result<SessionReverted> {
        let RevertMessages { id: session, message, part, terms: SessionTerms { on_conflict, dry_run, plan } } = self;
        let usual = RevertSession::default();
        workspace.revert_session(&RevertSession { session, message, part, on_conflict, dry_run, plan, ..usual })
    }
}

/// Take the session's reverts back.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct UnrevertMessages {
    /// Which session: its id, or at least four characters that it begins with.
    #[schemars(length(max = 200), regex(pattern = ID), example = &"s1")]
    pub id: String,
    /// How.
    #[serde(flatten)]
    pub terms: SessionTerms,
}

impl Operation for UnrevertMessages {
    type Answer = SessionUnreverted;
    const EFFECT: Effect = Effect::ChangesFiles;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        check_id("session", Some(&self.id))
    }
}

impl Perform for UnrevertMessages {
    fn carry_out(self, workspace: &Workspace) -> Result<SessionUnreverted> {
        let UnrevertMessages { id: session, terms: SessionTerms { on_conflict, dry_run, plan } } = self;
        workspace.unrevert_session(&Unrevert { session, on_conflict, dry_run, plan, ..Unrevert::default() })
    }
}
