//! Finding the step that broke something, as every interface asks for it.

use std::time::Duration;

use backsight_core::{Effect, Operation, Result, Waits, few_enough, short_enough, within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Behalf, Bisect, PathText};
use crate::Workspace;
use crate::operation::Perform;
use crate::report::Bisected;

/// The most runs at a time, and the longest a run may take.
const MOST_JOBS: u8 = 64;
const LONGEST_RUN_MS: u64 = 86_400_000;

/// Find the step since which a command fails, or a page shows an error.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct SearchSteps {
    /// A step at which it worked, as a reference; the oldest one that is kept when left out.
    pub good: Option<String>,
    /// A step at which it fails; the latest one when left out.
    pub bad: Option<String>,
    /// The program and its arguments: status 0 is good, 125 cannot be told, anything else is bad. With `page` it serves that
    /// instead, on the port that it is given as `PORT` and in place of `{port}`.
    #[serde(default)]
    #[schemars(example = failing_command())]
    pub command: Vec<String>,
    /// What tells instead of the command's status.
    #[cfg(feature = "browser")]
    #[serde(flatten)]
    pub judge: PageJudge,
    /// The directory below the root that it runs in.
    pub directory: Option<PathText>,
    /// Directories no snapshot holds that the command needs, as reflinks or hard links.
    #[serde(default)]
    pub share: Vec<PathText>,
    /// The same as copies.
    #[serde(default)]
    pub copy: Vec<PathText>,
    /// How many runs at a time; 1 when left out.
    #[schemars(range(min = 1, max = 64))]
    pub jobs: Option<u8>,
    /// A run that takes longer is bad. With `page`: how long the server may take until it listens.
    #[schemars(range(min = 1, max = 86_400_000))]
    pub timeout_ms: Option<u64>,
    /// For whom it is recorded.
    #[serde(flatten)]
    pub who: Behalf,
}

/// A page that tells instead of a command's status.
#[cfg(feature = "browser")]
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct PageJudge {
    /// The path of a page that tells instead, opened in a headless browser; without a command the files are served as they are.
    pub page: Option<String>,
    /// With `page`: the entry that makes a step bad when it shows, by its id or its symptom.
    pub absent: Option<String>,
    /// With `page`: how long it is watched at most; 5000 when left out.
    #[schemars(range(max = 60_000))]
    pub wait_ms: Option<u64>,
}

#[cfg(feature = "browser")]
impl PageJudge {
    fn bisect_page(self) -> Result<Option<super::BisectPage>> {
        use backsight_core::{Code, Error};
        let longest = backsight_browser::LONGEST_WAIT.as_millis() as u64;
        let wait =
            self.wait_ms.map(|wait| within("wait_ms", wait, 0..=longest)).transpose()?.map(Duration::from_millis);
        match (self.page, self.absent) {
            (Some(page), Some(absent)) => {
                short_enough("page", &page)?;
                short_enough("absent", &absent)?;
                Ok(Some(super::BisectPage { page, absent, wait }))
            }
            (None, None) => Ok(None),
            (Some(_), None) => {
                Err(Error::new(Code::Usage, "`page` needs `absent`: the error that must not show on it")
                    .with_hint("give the id of its entry, such as c12 or n7"))
            }
            (None, Some(_)) => Err(Error::new(Code::Usage, "`absent` needs `page`: where the error must not show")
                .with_hint("give the path that shows it, such as `/cart`")),
        }
    }
}

impl SearchSteps {
    /// In the library's words.
    pub fn bisect(self) -> Result<Bisect> {
        Ok(Bisect {
            good: self.good,
            bad: self.bad,
            command: self.command,
            #[cfg(feature = "browser")]
            page: self.judge.bisect_page()?,
            directory: self.directory.map(|path| path.inside()).transpose()?,
            share: PathText::all(&self.share)?,
            copy: PathText::all(&self.copy)?,
            jobs: self.jobs.map_or(1, usize::from),
            timeout: self.timeout_ms.map(Duration::from_millis),
            origin: self.who.origin(&[])?,
        })
    }
}

impl Operation for SearchSteps {
    type Answer = Bisected;
    const EFFECT: Effect = Effect::Runs;
    /// The command that judges a step may take as long as any program.
    const WAITS: Waits = Waits::ForDebugger;

    fn check(&self) -> Result<()> {
        short_enough("good", self.good.as_deref().unwrap_or_default())?;
        short_enough("bad", self.bad.as_deref().unwrap_or_default())?;
        few_enough("command", &self.command)?;
        PathText::check_all("share", &self.share)?;
        PathText::check_all("copy", &self.copy)?;
        within("jobs", self.jobs.unwrap_or(1), 1..=MOST_JOBS)?;
        within("timeout_ms", self.timeout_ms.unwrap_or(1), 1..=LONGEST_RUN_MS)?;
        self.who.check()?;
        self.clone().bisect().map(drop)
    }
}

impl Perform for SearchSteps {
    fn carry_out(self, workspace: &Workspace) -> Result<Bisected> {
        workspace.bisect(&self.bisect()?)
    }
}

/// Find the step since which a page shows an error, on recorded files served as they are: no command is run, and what is opened
/// is bound as an agent's request is. This is what a person may start from the dashboard.
#[cfg(feature = "browser")]
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct SearchByPage {
    /// The path of the page, opened in a headless browser.
    #[schemars(example = &"/index.html")]
    pub page: String,
    /// The entry that makes a step bad when it shows, by its id or its symptom.
    #[schemars(example = &"c1")]
    pub absent: String,
    /// A step at which it did not show, as a reference; the oldest one that is kept when left out.
    pub good: Option<String>,
    /// A step at which it shows; the latest one when left out.
    pub bad: Option<String>,
    /// For whom it is recorded.
    #[serde(flatten)]
    pub who: Behalf,
}

#[cfg(feature = "browser")]
impl SearchByPage {
    fn search(self) -> SearchSteps {
        let SearchByPage { page, absent, good, bad, who } = self;
        let judge = PageJudge { page: Some(page), absent: Some(absent), wait_ms: None };
        SearchSteps { good, bad, judge, who, ..SearchSteps::default() }
    }
}

#[cfg(feature = "browser")]
impl Operation for SearchByPage {
    type Answer = Bisected;
    const EFFECT: Effect = Effect::Runs;
    const WAITS: Waits = Waits::ForDebugger;

    fn check(&self) -> Result<()> {
        self.clone().search().check()
    }
}

#[cfg(feature = "browser")]
impl Perform for SearchByPage {
    fn carry_out(self, workspace: &Workspace) -> Result<Bisected> {
        workspace.agent_bisect(&self.search().bisect()?)
    }
}

fn failing_command() -> [&'static str; 1] {
    ["false"]
}
