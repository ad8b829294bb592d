//! Which browser is watched, and the key of pages that report by themselves.

use std::path::{Path, PathBuf};

use backsight_core::{Code, Effect, Error, Operation, Result, Waits, few_enough, short_enough, within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::{BrowserStatus, PageKeyRenewed};

/// Watch a browser: the one that is named, one that can be found, or a new one.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct AttachBrowser {
    /// Where it listens, on this machine: `http://127.0.0.1:9222` or `ws://...`.
    pub url: Option<String>,
    /// Its debugging port.
    #[schemars(range(min = 1))]
    pub port: Option<u16>,
    /// Its profile directory, in which it says where it listens; for a new one, the profile to use and keep.
    pub profile: Option<PathBuf>,
    /// Start a new one.
    #[serde(default)]
    pub launch: bool,
    /// The program to start, instead of one of the usual names.
    pub program: Option<PathBuf>,
    /// Start it without windows.
    #[serde(default)]
    pub headless: bool,
    /// The page a new one opens.
    pub open: Option<String>,
    /// Which pages to watch: `http://localhost:3000`, `*.example.test`; all of this machine when left out.
    #[serde(default)]
    pub origins: Vec<String>,
    /// Watch every page, whatever its address.
    #[serde(default)]
    pub all_pages: bool,
}

impl AttachBrowser {
    fn check_one_way(&self) -> Result<()> {
        let named = [self.url.is_some(), self.port.is_some(), self.profile.is_some() && !self.launch, self.launch];
        if named.into_iter().filter(|named| *named).count() > 1 {
            return Err(Error::new(Code::Usage, "a browser is named in several ways at once")
                .with_hint("give one of `url`, `port` and `profile`, or launch one"));
        }
        let only_new =
            [("open", self.open.is_some()), ("headless", self.headless), ("program", self.program.is_some())];
        match only_new.into_iter().find(|(_, given)| *given && !self.launch) {
            None => Ok(()),
            Some((name, _)) => Err(Error::new(Code::Usage, format!("`{name}` is for a browser that is launched"))
                .with_hint("launch one, or leave it out")),
        }
    }
}

impl Operation for AttachBrowser {
    type Answer = BrowserStatus;
    const EFFECT: Effect = Effect::Runs;
    const WAITS: Waits = Waits::ForBrowser;

    fn check(&self) -> Result<()> {
        within("port", self.port.unwrap_or(1), 1..=u16::MAX)?;
        let path = |path: &Option<PathBuf>| path.as_deref().map(Path::to_string_lossy).unwrap_or_default().into_owned();
        short_enough("url", self.url.as_deref().unwrap_or_default())?;
        short_enough("open", self.open.as_deref().unwrap_or_default())?;
        short_enough("profile", &path(&self.profile))?;
        short_enough("program", &path(&self.program))?;
        few_enough("origins", &self.origins)?;
        self.check_one_way()
    }
}

/// Stop watching the browser; one that was started here ends.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct DetachBrowser {}

impl Operation for DetachBrowser {
    type Answer = BrowserStatus;
    const EFFECT: Effect = Effect::Stops;
    const WAITS: Waits = Waits::ForBrowser;
}

/// Ask who watches the app.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ReadBrowserStatus {}

impl Operation for ReadBrowserStatus {
    type Answer = BrowserStatus;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForBrowser;
}

/// Make a new key for pages that report by themselves; the old one opens nothing any more.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct RenewPageKey {}

impl Operation for RenewPageKey {
    type Answer = PageKeyRenewed;
    const EFFECT: Effect = Effect::Removes;
    const WAITS: Waits = Waits::ForBrowser;
}
