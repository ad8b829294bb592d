//! What was recorded, as every interface asks for it.

use backsight_core::{Effect, Operation, Result, Seq, Timestamp, Waits, short_enough, within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Commits, LONGEST_SEARCH, Log, Order, PathText, Search};
use crate::Workspace;
use crate::operation::Perform;
use crate::report::{self, Kind, LogPage, RowLine, RowPage, Searched};

/// As many rows as a page has unless the caller says how many.
const PAGE: u32 = 50;
/// The same of rows in short, and the most of them.
const SHORT_PAGE: u32 = 500;
const LARGEST_SHORT_PAGE: u32 = 5_000;
/// The same of commits.
const COMMITS: u16 = 500;
const MOST_COMMITS: u16 = 5_000;

/// What was recorded, page by page.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ReadLog {
    /// Which rows.
    #[serde(flatten)]
    pub filters: LogFilters,
    /// At most this many; 0 means all, 50 unless told otherwise.
    pub limit: Option<u32>,
}

/// The same with rows in short, for long lists.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ReadTimeline {
    /// Which rows.
    #[serde(flatten)]
    pub filters: LogFilters,
    /// At most this many; 500 unless told otherwise.
    #[schemars(range(min = 1, max = 5000))]
    pub limit: Option<u32>,
}

/// Which rows.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct LogFilters {
    /// Only rows of this session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Only rows of this tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Only this kind of row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// Only steps that changed this path or something below it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<PathText>,
    /// Only at or after this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// Only at or before this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// Only rows whose description, tool or session holds this text, in letters of any case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The oldest row first.
    #[serde(default)]
    pub oldest_first: bool,
    /// The `next_cursor` of the page before, which must have been asked for in the same order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^(before|after)-[0-9]{1,18}$"))]
    pub cursor: Option<String>,
}

impl LogFilters {
    fn check(&self) -> Result<()> {
        let texts = [("session", &self.session), ("tool", &self.tool), ("text", &self.text), ("cursor", &self.cursor)];
        texts.iter().try_for_each(|(name, text)| short_enough(name, text.as_deref().unwrap_or_default()))?;
        self.file.as_ref().map_or(Ok(()), |file| file.inside().map(drop))
    }

    /// Which end comes first.
    pub fn order(&self) -> Order {
        if self.oldest_first { Order::OldestFirst } else { Order::NewestFirst }
    }

    /// In the library's words.
    fn log(self, limit: u32) -> Result<Log> {
        let order = self.order();
        let LogFilters { session, tool, kind, file, since, until, text, cursor, .. } = self;
        let file = file.map(|file| file.inside()).transpose()?;
        Ok(Log { session, tool, kind, file, since, until, text, order, limit: limit as usize, cursor })
    }
}

impl Operation for ReadLog {
    type Answer = LogPage;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        self.filters.check()
    }
}

impl Perform for ReadLog {
    fn carry_out(self, workspace: &Workspace) -> Result<LogPage> {
        workspace.log(&self.filters.log(self.limit.unwrap_or(PAGE))?)
    }
}

impl Operation for ReadTimeline {
    type Answer = RowPage;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        within("limit", self.limit.unwrap_or(SHORT_PAGE), 1..=LARGEST_SHORT_PAGE)?;
        self.filters.check()
    }
}

impl Perform for ReadTimeline {
    fn carry_out(self, workspace: &Workspace) -> Result<RowPage> {
        let page = workspace.log(&self.filters.log(self.limit.unwrap_or(SHORT_PAGE))?)?;
        Ok(RowPage { rows: page.rows.into_iter().map(RowLine::from).collect(), next_cursor: page.next_cursor })
    }
}

/// Find lines with a text that steps added or removed, newest step first.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct SearchLines {
    /// What a line must hold, in letters of any case.
    #[schemars(length(max = LONGEST_SEARCH), regex(pattern = r"\S"), example = &"total")]
    pub text: String,
    /// Only steps before this one: the `next` of the answer before.
    pub before: Option<u64>,
}

impl Operation for SearchLines {
    type Answer = Searched;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        short_enough("text", &self.text)
    }
}

impl Perform for SearchLines {
    fn carry_out(self, workspace: &Workspace) -> Result<Searched> {
        workspace.search(&Search { text: self.text, before: self.before.map(Seq) })
    }
}

/// List the commits of the user's Git, read as they are.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ListCommits {
    /// Only at or after this time.
    pub since: Option<Timestamp>,
    /// Only at or before this time.
    pub until: Option<Timestamp>,
    /// At most this many; 500 unless told otherwise.
    #[schemars(range(min = 1, max = MOST_COMMITS))]
    pub limit: Option<u16>,
}

impl Operation for ListCommits {
    type Answer = report::Commits;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        within("limit", self.limit.unwrap_or(COMMITS), 1..=MOST_COMMITS).map(drop)
    }
}

impl Perform for ListCommits {
    fn carry_out(self, workspace: &Workspace) -> Result<report::Commits> {
        let ListCommits { since, until, limit } = self;
        workspace.commits(&Commits { since, until, limit: limit.unwrap_or(COMMITS).into() })
    }
}
