//! Judges the files of a step by a page: they are served, the page is opened in a headless browser of its own, and the step is
//! bad when the error shows. What could not be wholly watched is not judged.

use std::sync::Arc;
use std::time::{Duration, Instant};

use backsight_browser::cdp::{Launch, Place};
use backsight_browser::entry::LogAsk;
use backsight_browser::event::Category;
use backsight_browser::report::{Changes, Severity};
use backsight_browser::symptom::Symptom;
use backsight_browser::{Ask, Browser, LONGEST_WAIT, Wait};
use backsight_core::{Code, Error, NextStep, Result, quote};

use super::command::{Ran, Run};
use super::serve::{self, Served, Serving};
use crate::bisect::Verdict;
use crate::request::BisectPage;
use crate::workspace::Workspace;

/// How long a page is watched at most when nobody says, and how long nothing must happen for it to be over.
const WATCHED: Duration = Duration::from_secs(5);
const QUIET: Duration = Duration::from_millis(500);
/// How much longer requests that are under way are waited for, and how often it is looked whether they are.
const GRACE: Duration = Duration::from_secs(1);
const GLANCE: Duration = Duration::from_millis(50);
/// Pages of this machine need no proxy, and nothing of the user's runs in them.
const ARGUMENTS: [&str; 2] = ["--disable-extensions", "--no-proxy-server"];
/// By whom questions are asked.
const CLIENT: &str = "bisect";

/// A page and the error that must be absent from it.
pub(super) struct PageCheck {
    /// From the path on: `/cart?id=3`.
    target: String,
    symptom: Symptom,
    watched: Duration,
}

/// A browser for one page; it ends with this.
struct OwnBrowser(Arc<Browser>);

impl Drop for OwnBrowser {
    fn drop(&mut self) {
        self.0.detach();
    }
}

impl PageCheck {
    /// Understands what is asked for.
    pub(super) fn of(workspace: &Workspace, page: &BisectPage) -> Result<PageCheck> {
        let watched = page.wait.unwrap_or(WATCHED);
        if watched > LONGEST_WAIT {
            let most = LONGEST_WAIT.as_secs();
            return Err(Error::new(Code::Usage, format!("a page is watched for at most {most} s")));
        }
        Ok(PageCheck { target: target(&page.page)?, symptom: symptom(workspace, &page.absent)?, watched })
    }

    /// Has the files of a step served by a command, or as they are when there is none, and judges them.
    pub(super) fn carry_out(&self, workspace: &Workspace, run: Run<'_>) -> Result<Ran> {
        let cancelled = run.cancelled;
        let served = match run.command.is_empty() {
            true => serve::files(run.directory)?,
            false => match serve::command(run)? {
                Serving::Yes(served) => served,
                Serving::No(because, output) => return Ok(Ran { verdict: Verdict::Skip, because, output }),
            },
        };
        self.judge(workspace, served, cancelled)
    }

    fn judge(&self, workspace: &Workspace, served: Served, cancelled: &dyn Fn() -> bool) -> Result<Ran> {
        let browser = OwnBrowser(workspace.own_browser()?);
        let url = format!("{}{}", served.origin, self.target);
        let opened = browser.0.navigate(&url);
        let seen = self.watch(&browser.0, cancelled)?;
        let shown = browser.0.symptom_shown(&self.symptom);
        let unjudged = match opened {
            Err(error) => Some(error.message().to_owned()),
            Ok(_) => failed_document(&browser.0, &url)?.or_else(|| unwatched(&seen)),
        };
        drop(browser);
        let output = served.output();
        Ok(match (shown, unjudged) {
            (Some(said), _) => {
                let output = if output.is_empty() { format!("{said}\n") } else { format!("{output}\n{said}\n") };
                Ran { verdict: Verdict::Bad, because: "the error is there".to_owned(), output }
            }
            (None, Some(because)) => Ran { verdict: Verdict::Skip, because, output },
            (None, None) => Ran { verdict: Verdict::Good, because: "the error is absent".to_owned(), output },
        })
    }

    /// Watches until the error shows, or until the page has done what it does; other errors do not end it. What was seen from
    /// the beginning on.
    fn watch(&self, browser: &Browser, cancelled: &dyn Fn() -> bool) -> Result<Changes> {
        let deadline = Instant::now() + self.watched;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let wait = Wait { most: left.max(GLANCE), quiet: QUIET };
            let seen = browser.changes(CLIENT, &Ask { wait: Some(wait), ..Ask::default() }, cancelled)?;
            // Another error ended the wait, and the page may have more to say.
            let goes_on = seen.severity == Severity::Error && Instant::now() < deadline;
            // A page that asks again and again has moments in which nothing is under way.
            let is_busy = seen.in_flight > 0 && Instant::now() < deadline + GRACE;
            if !(goes_on || is_busy) || browser.symptom_shown(&self.symptom).is_some() {
                let whole = Ask { checkpoint: Some("start".to_owned()), ..Ask::default() };
                let whole = browser.changes(CLIENT, &whole, cancelled)?;
                return Ok(Changes { in_flight: seen.in_flight, ..whole });
            }
        }
    }
}

impl Workspace {
    /// A browser of its own without windows, whose pages are watched by a lane of its own.
    fn own_browser(&self) -> Result<Arc<Browser>> {
        let browser = self.new_browser()?;
        let launch = Launch {
            program: None,
            search: self.search_path(),
            profile: None,
            headless: true,
            url: None,
            arguments: ARGUMENTS.map(str::to_owned).to_vec(),
        };
        browser.attach(self.attach_to(Place::Launch(launch)))?;
        Ok(browser)
    }
}

/// Why the page itself could not be shown, if it could not.
fn failed_document(browser: &Browser, url: &str) -> Result<Option<String>> {
    let ask = LogAsk { category: Some(Category::Network), status: Some("failed".to_owned()), ..LogAsk::default() };
    let rows = browser.log(CLIENT, &ask)?.rows;
    let is_it = |text: &str| text.split_whitespace().next().is_some_and(|address| address == url);
    let failed = rows.into_iter().find(|row| is_it(&row.text));
    Ok(failed.map(|row| format!("the page cannot be loaded: {}", row.what)))
}

/// What keeps an answer without the error from being one that it is absent.
fn unwatched(seen: &Changes) -> Option<String> {
    if let Some(gap) = seen.gap.first() {
        return Some(format!("the page was not wholly watched: {}", gap.reason));
    }
    if !seen.coverage.attached {
        return Some("the browser is gone".to_owned());
    }
    let requests = |count: u64| if count == 1 { "1 request is".to_owned() } else { format!("{count} requests are") };
    let under_way = (seen.in_flight > 0).then(|| format!("{} still under way", requests(seen.in_flight)));
    under_way.or_else(|| (seen.held > 0).then(|| "some messages are not told yet".to_owned()))
}

/// The path and query of what was given: a path, or an address as a browser shows it.
fn target(page: &str) -> Result<String> {
    let path = match page.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("/", |at| &rest[at..]),
        None => page,
    };
    let path = path.split('#').next().unwrap_or_default();
    if path.contains(|letter: char| letter.is_whitespace() || letter.is_control()) {
        let message = format!("`{}` is no path of a page", quote(page.as_bytes()));
        return Err(Error::new(Code::Usage, message).with_hint("give the path that is opened, such as `/cart?id=3`"));
    }
    Ok(format!("/{}", path.trim_start_matches('/')))
}

/// By what the error is known: an entry of what happened in the app, or the symptom that an entry has.
fn symptom(workspace: &Workspace, absent: &str) -> Result<Symptom> {
    if absent.contains(':') {
        return absent.parse();
    }
    let Some(browser) = workspace.browser_if_used() else {
        let message = format!("`{}` is an entry of a server's, and none runs here", quote(absent.as_bytes()));
        return Err(Error::new(Code::RefNotFound, message).then("give its symptom: see it", NextStep::ShowEntry));
    };
    browser.entry(absent)?.shown_again().cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_a_path_or_an_address() {
        for (given, expected) in [
            ("/cart?id=3#top", "/cart?id=3"),
            ("cart.html", "/cart.html"),
            ("http://localhost:5173/cart", "/cart"),
            ("http://localhost:5173", "/"),
            ("", "/"),
        ] {
            assert_eq!(target(given).unwrap(), expected, "{given}");
        }
        assert!(target("/a b").is_err());
    }
}
