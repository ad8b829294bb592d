//! Questions about the app: what happened in it, one by one or as a difference, and whether it is well.

use std::time::Duration;

use backsight_core::names::ID;
use backsight_core::{Effect, FEWEST_TOKENS, Operation, Result, Waits, countable, short_enough, within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{USUAL_CLIENT, check_client};
use crate::browser::{Ask, LONGEST_WAIT, Wait};
use crate::changes::Filter;
use crate::entry::{Entry, LogAsk, LogPage, MOST_ROWS};
use crate::event::{Category, Level};
use crate::har::Har;
use crate::health::Health;
use crate::report::Changes;

/// The longest a question waits, in milliseconds.
pub const LONGEST_WAIT_MS: u64 = LONGEST_WAIT.as_millis() as u64;
/// How long nothing must happen for it to be quiet, when the caller does not say.
const USUAL_QUIET: Duration = Duration::from_millis(500);

/// Ask what happened in the app since a checkpoint; without one, since this client last asked.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ReadAppChanges {
    /// Since when, and how.
    #[serde(flatten)]
    pub question: AppQuestion,
    /// Which categories; all when left out.
    #[serde(default)]
    pub include: Vec<Category>,
}

/// Since when something is asked about, and how: the same for the app alone and for all lanes.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct AppQuestion {
    /// Who asks; each client has a place of its own. `default` when left out.
    #[schemars(length(max = 100), regex(pattern = ID))]
    pub client: Option<String>,
    /// Since when: a checkpoint's name, a time, `start`, `load` or `last`; since the client's last question when left out.
    #[schemars(example = &"session_start")]
    pub checkpoint: Option<String>,
    /// What to leave out by how bad it is.
    #[serde(default)]
    pub severity: Filter,
    /// Leave the client's place where it is.
    #[serde(default)]
    pub peek: bool,
    /// Wait so long at most: until the first error, or until something happened (a hot update, a load, a build, anything
    /// the app does not do all the time) and it is quiet. `waited` in the answer says which of them was seen.
    #[schemars(range(max = LONGEST_WAIT_MS))]
    pub wait_ms: Option<u64>,
    /// How long nothing must happen for it to be quiet; 500 when left out.
    #[schemars(range(max = LONGEST_WAIT_MS))]
    pub quiet_ms: Option<u64>,
    /// How large the answer may be; as large as it is when left out.
    #[schemars(range(min = FEWEST_TOKENS))]
    pub max_tokens: Option<usize>,
}

impl AppQuestion {
    /// Refuses values that cannot be meant.
    pub fn check(&self) -> Result<()> {
        check_client(self.client.as_deref())?;
        short_enough("checkpoint", self.checkpoint.as_deref().unwrap_or_default())?;
        for (name, given) in [("wait_ms", self.wait_ms), ("quiet_ms", self.quiet_ms)] {
            within(name, given.unwrap_or_default(), 0..=LONGEST_WAIT_MS)
                .map_err(|error| error.with_hint("ask again when the answer has come"))?;
        }
        within("max_tokens", self.max_tokens.unwrap_or(FEWEST_TOKENS), FEWEST_TOKENS..=usize::MAX).map(drop)
    }

    /// Who asks.
    pub fn client(&self) -> &str {
        self.client.as_deref().unwrap_or(USUAL_CLIENT)
    }

    /// As the lane takes it, about these categories.
    pub fn ask(&self, include: Vec<Category>) -> Ask {
        let most = self.wait_ms.filter(|most| *most > 0).map(Duration::from_millis);
        let quiet = self.quiet_ms.map_or(USUAL_QUIET, Duration::from_millis);
        Ask {
            checkpoint: self.checkpoint.clone(),
            include,
            severity: self.severity,
            peek: self.peek,
            wait: most.map(|most| Wait { most, quiet }),
            max_tokens: self.max_tokens,
        }
    }
}

impl Operation for ReadAppChanges {
    type Answer = Changes;
    const EFFECT: Effect = Effect::ReadsOn;
    const WAITS: Waits = Waits::ForBrowser;

    fn check(&self) -> Result<()> {
        countable("include", self.include.len())?;
        self.question.check()
    }
}

/// Ask what happened in the app, one by one, newest first.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ReadAppLog {
    /// Who asks, when `since` is `last`.
    #[schemars(length(max = 100), regex(pattern = ID))]
    pub client: Option<String>,
    /// Only of this category.
    pub category: Option<Category>,
    /// Only console messages at least as serious.
    pub level: Option<Level>,
    /// Only with this text in a message, address, reason or target, in any case.
    pub text: Option<String>,
    /// Only requests with this status: `404`, `5xx` or `failed`.
    #[schemars(example = &"failed", regex(pattern = r"^([1-5][0-9][0-9]|[1-5]xx|failed)$"))]
    pub status: Option<String>,
    /// Since when: a checkpoint's name, a time, `start`, `load` or `last`.
    pub since: Option<String>,
    /// How many; 20 when left out.
    #[schemars(range(min = 1, max = MOST_ROWS))]
    pub limit: Option<usize>,
    /// Where the last page ended.
    #[schemars(regex(pattern = r"^[0-9]{1,18}$"))]
    pub cursor: Option<String>,
}

impl ReadAppLog {
    /// Who asks.
    pub fn client(&self) -> &str {
        self.client.as_deref().unwrap_or(USUAL_CLIENT)
    }

    /// As the lane takes it.
    pub fn ask(self) -> LogAsk {
        let ReadAppLog { client: _, category, level, text, status, since, limit, cursor } = self;
        LogAsk { category, level, text, status, since, limit, cursor }
    }
}

impl Operation for ReadAppLog {
    type Answer = LogPage;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForBrowser;

    fn check(&self) -> Result<()> {
        check_client(self.client.as_deref())?;
        let texts = [("text", &self.text), ("status", &self.status), ("since", &self.since), ("cursor", &self.cursor)];
        texts.iter().try_for_each(|(name, text)| short_enough(name, text.as_deref().unwrap_or_default()))?;
        within("limit", self.limit.unwrap_or(1), 1..=MOST_ROWS).map(drop)
    }
}

/// Read one thing that happened in the app, in full.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ReadEntry {
    /// Its id in an answer or in the log.
    #[schemars(example = &"c1", regex(pattern = r"^[acnw][1-9][0-9]{0,14}$"))]
    pub id: String,
}

impl Operation for ReadEntry {
    type Answer = Entry;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForBrowser;

    fn check(&self) -> Result<()> {
        short_enough("id", &self.id)
    }
}

/// Read the requests that are kept, as an HTTP Archive (HAR 1.2).
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ReadArchive {}

impl Operation for ReadArchive {
    type Answer = Har;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForBrowser;
}

/// Ask whether the app is well, with reasons.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ReadAppHealth {
    /// Who asks, when the checkpoint is `last`.
    #[schemars(length(max = 100), regex(pattern = ID))]
    pub client: Option<String>,
    /// Since when; since `session_start` when there is such a checkpoint, else since the start, when left out.
    #[schemars(example = &"session_start")]
    pub checkpoint: Option<String>,
}

impl ReadAppHealth {
    /// Who asks.
    pub fn client(&self) -> &str {
        self.client.as_deref().unwrap_or(USUAL_CLIENT)
    }
}

impl Operation for ReadAppHealth {
    type Answer = Health;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForBrowser;

    fn check(&self) -> Result<()> {
        check_client(self.client.as_deref())?;
        short_enough("checkpoint", self.checkpoint.as_deref().unwrap_or_default())
    }
}
