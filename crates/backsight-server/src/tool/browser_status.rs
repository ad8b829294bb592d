//! Who watches the app.

use backsight::browser::render;
use backsight::browser::request::ReadBrowserStatus;
use backsight_core::Result;

use super::{Asking, Call, Group, Shown};
use crate::reply::Draft;

pub struct BrowserStatus;

impl Asking for BrowserStatus {
    const NAME: &'static str = "browser_status";
    const TITLE: &'static str = "Browser status";
    const DESCRIPTION: &'static str = "Whether a browser, pages or processes are watched, and which.";
    const GROUP: Group = Group::Browser;
    const SHOWN: &'static [Shown] = &[];
    const OUTPUT: &'static [(&'static str, &'static str)] = WATCHED;
    type Request = ReadBrowserStatus;

    fn run(call: &Call<'_>, request: ReadBrowserStatus) -> Result<Draft> {
        Ok(watched(&call.workspace.perform(request)?))
    }
}

/// The facts of an answer about who watches.
pub const WATCHED: &[(&str, &str)] = &[
    ("attached", "boolean"),
    ("browser", "string"),
    ("watching", "array"),
    ("pages", "array"),
    ("not_watched", "array"),
    ("notes", "array"),
    ("command", "array"),
];

/// An answer about who watches.
pub fn watched(status: &backsight::report::BrowserStatus) -> Draft {
    let coverage = &status.coverage;
    let summary = match (&status.browser, coverage.attached) {
        (_, true) => format!("watching {}", render::safe(&coverage.watching.join(", "))),
        (Some(browser), false) if !browser.browser.is_empty() => {
            "the browser is attached, and no page in it is watched: open one of this machine".to_owned()
        }
        (Some(_), false) => "the browser is gone; it is watched again when it is back".to_owned(),
        (None, false) => "nothing is attached: attach a browser with browser_attach".to_owned(),
    };
    let browser = status.browser.as_ref();
    let pages = browser.into_iter().flat_map(|browser| &browser.pages).map(|page| {
        let state = serde_json::to_value(page.state).ok().and_then(|state| state.as_str().map(str::to_owned));
        render::safe(&format!("{} {} ({})", page.url, page.title, state.unwrap_or_default()))
    });
    let others = browser.map_or(0, |browser| browser.not_watched);
    let mut notes: Vec<String> =
        browser.into_iter().flat_map(|browser| &browser.notes).map(|note| render::safe(note)).collect();
    notes
        .extend((others > 0).then(|| format!("{others} other pages are open and not watched: see origins, all_pages")));
    let missing = coverage.not_watched.iter().map(|category| category.as_str().to_owned());
    let mut draft = Draft::new(summary)
        .untrusted()
        .fact("attached", coverage.attached)
        .maybe("browser", browser.map(|browser| render::safe(&browser.browser)).filter(|name| !name.is_empty()));
    let lists: [(&'static str, Vec<String>); 4] = [
        ("watching", coverage.watching.iter().map(|label| render::safe(label)).collect()),
        ("pages", pages.collect()),
        ("not_watched", missing.collect()),
        ("notes", notes),
    ];
    for (name, items) in lists.into_iter().filter(|(_, items)| !items.is_empty()) {
        draft = draft.list(name, items, None);
    }
    draft
}
