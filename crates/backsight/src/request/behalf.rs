//! On whose behalf a step is recorded, as callers say it.

use backsight_core::Result;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::PathText;
use crate::names;
use crate::report::Origin;

/// On whose behalf a step is recorded. An empty name names no one.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Behalf {
    /// The tool that makes the change.
    #[schemars(length(max = 100), regex(pattern = names::ID_OR_NONE))]
    pub tool: Option<String>,
    /// The agent conversation.
    #[schemars(length(max = 200), regex(pattern = names::ID_OR_NONE))]
    pub session: Option<String>,
    /// The message within the session.
    #[schemars(length(max = 200), regex(pattern = names::ID_OR_NONE))]
    pub message: Option<String>,
    /// The part within the message.
    #[schemars(length(max = 200), regex(pattern = names::ID_OR_NONE))]
    pub part: Option<String>,
}

impl Behalf {
    /// Refuses names that cannot be one.
    pub fn check(&self) -> Result<()> {
        names::check_origin(&self.clone().origin(&[])?)
    }

    /// The same with the paths that the tool writes.
    pub fn origin(self, declared: &[PathText]) -> Result<Origin> {
        let named = |name: Option<String>| name.filter(|name| !name.is_empty());
        Ok(Origin {
            tool: named(self.tool),
            session: named(self.session),
            message: named(self.message),
            part: named(self.part),
            declared: PathText::all(declared)?,
        })
    }
}

impl From<Origin> for Behalf {
    fn from(origin: Origin) -> Self {
        let Origin { tool, session, message, part, .. } = origin;
        Behalf { tool, session, message, part }
    }
}
