//! Begins to watch a browser, or stops.

use backsight::request::AttachBrowser;
use backsight_core::Result;
use schemars::JsonSchema;
use serde::Deserialize;

use super::browser_status::{WATCHED, watched};
use super::{Call, Definition, Effect, Group, Needs, one_or_many};
use crate::reply::Draft;
use crate::words;

pub struct BrowserAttach;

#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    #[default]
    Attach,
    Detach,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    #[serde(default)]
    action: Action,
    /// of its debugging port
    url: Option<String>,
    port: Option<u16>,
    /// directory
    profile: Option<String>,
    /// start a new one
    #[serde(default)]
    launch: bool,
    #[serde(default)]
    headless: bool,
    /// page for a new one
    open: Option<String>,
    /// default: pages of this machine
    #[serde(default, deserialize_with = "one_or_many")]
    origins: Vec<String>,
    #[serde(default)]
    all_pages: bool,
}

impl Definition for BrowserAttach {
    const NAME: &'static str = "browser_attach";
    const TITLE: &'static str = "Open or attach a browser";
    const DESCRIPTION: &'static str = "Connect to a running Chrome or Chromium browser (found by itself when you name \
        none) to watch its pages, or launch one.";
    const EFFECT: Effect = Effect::Runs;
    const GROUP: Group = Group::Browser;
    const NEEDS: Needs = Needs::Nothing;
    const SHOWS_BUDGET: bool = false;
    const OUTPUT: &'static [(&'static str, &'static str)] = WATCHED;
    type Arguments = Arguments;

    fn run(call: &Call<'_>, arguments: Arguments) -> Result<Draft> {
        let Arguments { action, url, port, profile, launch, headless, open, origins, all_pages } = arguments;
        let status = match action {
            Action::Detach => call.workspace.detach_browser()?,
            Action::Attach => call.workspace.agent_attach_browser(&AttachBrowser {
                url,
                port,
                profile: profile.map(Into::into),
                launch,
                headless,
                open,
                origins,
                all_pages,
                ..AttachBrowser::default()
            })?,
        };
        let command = status.browser.as_ref().map(|browser| browser.command.as_slice()).unwrap_or_default();
        let draft = watched(&status);
        Ok(match words::executed(&[command], None, &[], call.max_tokens) {
            lines if lines.is_empty() => draft,
            lines => draft.pinned("command", lines),
        })
    }
}
