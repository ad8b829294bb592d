//! Begins to watch a browser, or stops.

use backsight::browser::request::{AttachBrowser, DetachBrowser};
use backsight::report::BrowserStatus;

use super::browser_status::{WATCHED, watched};
use super::{Call, Choosing, Group, Needs, Shown, ToolChoice};
use crate::reply::Draft;
use crate::words;

pub struct BrowserAttach;

impl Choosing for BrowserAttach {
    const NAME: &'static str = "browser_attach";
    const TITLE: &'static str = "Open or attach a browser";
    const DESCRIPTION: &'static str = "Connect to a running Chrome or Chromium browser (found by itself when you name \
        none) to watch its pages, or launch one.";
    const GROUP: Group = Group::Browser;
    const NEEDS: Needs = Needs::Nothing;
    const SHOWN: &'static [Shown] = &[
        Shown::new("url").saying("of its debugging port"),
        Shown::new("port"),
        Shown::new("profile").saying("directory"),
        Shown::new("launch").saying("start a new one"),
        Shown::new("headless"),
        Shown::new("open").saying("page for a new one"),
        Shown::new("origins").saying("default: pages of this machine"),
        Shown::new("all_pages"),
    ];
    const OUTPUT: &'static [(&'static str, &'static str)] = WATCHED;

    fn choices() -> Vec<ToolChoice> {
        vec![
            ToolChoice::of("attach", |call, attach: AttachBrowser| {
                Ok(started(call, &call.workspace.agent_attach_browser(&attach)?))
            }),
            ToolChoice::of("detach", |call, detach: DetachBrowser| Ok(started(call, &call.workspace.perform(detach)?))),
        ]
    }
}

/// Who watches now, with the command line of a browser that was started here.
fn started(call: &Call<'_>, status: &BrowserStatus) -> Draft {
    let command = status.browser.as_ref().map(|browser| browser.command.as_slice()).unwrap_or_default();
    let draft = watched(status);
    match words::executed(&[command], None, &[], call.max_tokens) {
        lines if lines.is_empty() => draft,
        lines => draft.pinned("command", lines),
    }
}
