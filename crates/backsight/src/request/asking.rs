//! What changed in all lanes, as every interface asks for it.

use backsight_browser::Ask;
use backsight_browser::request::AppQuestion;
use backsight_core::{Effect, Operation, Result, Waits, countable};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::operation::Perform;
use crate::report::AllChanges;
use crate::{Topic, Workspace};

/// Ask what changed since a checkpoint, or since this client last asked, in all lanes, and because of what.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ReadChanges {
    /// Since when, and how.
    #[serde(flatten)]
    pub question: AppQuestion,
    /// Which lanes and categories; all when left out.
    #[serde(default)]
    pub include: Vec<Topic>,
}

impl ReadChanges {
    /// As the app's lane takes it; which of its categories are meant is among the topics.
    pub fn ask(&self) -> Ask {
        self.question.ask(Vec::new())
    }
}

impl Operation for ReadChanges {
    type Answer = AllChanges;
    const EFFECT: Effect = Effect::ReadsOn;
    const WAITS: Waits = Waits::ForBrowser;

    fn check(&self) -> Result<()> {
        countable("include", self.include.len())?;
        self.question.check()
    }
}

impl Perform for ReadChanges {
    fn carry_out(self, workspace: &Workspace) -> Result<AllChanges> {
        workspace.changes(self.question.client(), &self.include, &self.ask())
    }
}
