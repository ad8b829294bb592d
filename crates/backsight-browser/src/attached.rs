//! Carries what a capture hears into the lane, and what it sees of pages into the coverage. While no page is watched
//! nobody watches, whatever is connected.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use backsight_core::{Code, Error, NextStep, Result, Timestamp};

use crate::amend::Amendment;
use crate::browser::Browser;
use crate::cdp::{Attach, Capture, Listener, Page, PageState, Watching};
use crate::event::{Category, Event};
use crate::signs::Sign;
use crate::sources::{Source, SourceId, SourceKind};
use crate::under_way::UnderWay;

/// The lane's ear at a browser.
struct Ear {
    browser: Weak<Browser>,
    source: Mutex<Option<SourceId>>,
    /// What is left in the pages that are watched.
    mark: String,
}

impl Browser {
    /// Watches a browser from now on. There is one at a time; one that is gone makes room.
    pub fn attach(self: &Arc<Self>, attach: Attach) -> Result<Watching> {
        // Starting takes long, and whoever asks what is watched meanwhile is not to wait for it.
        let _attaching = self.attaching.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(watching) = self.watching().filter(|watching| !watching.browser.is_empty()) {
            let message = format!("{} at {} is attached already", watching.browser, watching.address);
            return Err(Error::new(Code::Conflict, message).then("detach it first", NextStep::DetachBrowser));
        }
        self.detach();
        let mark = self.new_mark();
        let ear = Arc::new(Ear { browser: Arc::downgrade(self), source: Mutex::new(None), mark: mark.clone() });
        let started = Capture::start(Attach { memory: self.memory.clone(), mark: Some(mark), ..attach }, ear)?;
        let watching = self.without_secrets(started.watching());
        *self.capture.lock().unwrap_or_else(PoisonError::into_inner) = Some(started);
        Ok(watching)
    }

    /// Watches no browser any more; what was watched. Pages stay as they are, and a browser that was launched here ends.
    pub fn detach(&self) -> Option<Watching> {
        let capture = self.capture.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        let watching = self.without_secrets(capture.watching());
        capture.stop();
        self.give_up_browsers();
        Some(watching)
    }

    /// The browser that is watched.
    pub fn watching(&self) -> Option<Watching> {
        let watching = self.capture.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(Capture::watching);
        watching.map(|watching| self.without_secrets(watching))
    }

    /// Addresses and titles as they may be told.
    fn without_secrets(&self, mut watching: Watching) -> Watching {
        let pages = watching
            .pages
            .iter_mut()
            .flat_map(|page| [&mut page.url, &mut page.title].into_iter().chain(&mut page.dialog));
        for text in pages.chain(&mut watching.notes) {
            *text = self.redactor.text(text).into_owned();
        }
        watching
    }

    /// Finds out whether pages stand still that are watched; whether that is known.
    pub(crate) fn check_pages(&self, patience: Duration) -> bool {
        let capture = self.capture.lock().unwrap_or_else(PoisonError::into_inner);
        let check = capture.as_ref().map(|capture| capture.check(patience));
        drop(capture);
        check.is_none_or(|check| check())
    }

    /// Takes a page of a browser that was launched here to an address; where it arrived.
    pub fn navigate(&self, url: &str) -> Result<String> {
        let navigation = match &*self.capture.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(capture) => capture.navigation(None, url),
            None => return Err(Error::new(Code::BrowserUnreachable, "no browser is attached")),
        };
        let told = |text: &str| self.redactor.text(text).into_owned();
        let told_of = |error: Error| match told(error.message()) {
            same if same == error.message() => error,
            told => Error::new(error.code(), told),
        };
        navigation().map(|url| told(&url)).map_err(told_of)
    }
}

/// Why nothing is heard of a page, although it is watched.
fn held(page: &Page) -> Option<String> {
    match (page.state, &page.dialog) {
        (PageState::Watching | PageState::Crashed, _) => None,
        (PageState::Dialog, Some(dialog)) => {
            Some(format!("a page stands still until somebody answers its dialog: {dialog}"))
        }
        (PageState::Dialog, None) => Some("a page stands still until somebody answers its dialog".to_owned()),
        (PageState::Unresponsive, _) => {
            Some("a page does not answer: a script runs on and on, or a debugger holds it".to_owned())
        }
    }
}

impl Ear {
    fn end(&self, lost: bool, reason: &str) {
        let source = self.source.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let (Some(browser), Some(source)) = (self.browser.upgrade(), source) {
            // Nobody hears any more how they end.
            browser.requests_under_way(&[]);
            browser.messages_held(0);
            browser.hold(Vec::new());
            browser.watched_by(None);
            browser.end_source(source, lost, reason);
        }
    }
}

impl Listener for Ear {
    fn heard(&self, events: Vec<Event>) {
        if let Some(browser) = self.browser.upgrade() {
            browser.record_watched(events);
        }
    }

    fn amended(&self, amendment: Amendment) {
        if let Some(browser) = self.browser.upgrade() {
            browser.amend(amendment);
        }
    }

    fn held(&self, messages: usize) {
        if let Some(browser) = self.browser.upgrade() {
            browser.messages_held(messages);
        }
    }

    fn shown(&self, sign: Sign) {
        if let Some(browser) = self.browser.upgrade() {
            browser.shown(sign);
        }
    }

    fn under_way(&self, requests: &[UnderWay]) {
        if let Some(browser) = self.browser.upgrade() {
            browser.requests_under_way(requests);
        }
    }

    fn watching(&self, state: &Watching) {
        let Some(browser) = self.browser.upgrade() else { return };
        let pages = state.pages.iter().filter(|page| page.state != PageState::Crashed).count();
        if pages == 0 {
            return self.end(true, "no page was open that is watched");
        }
        let held = state.pages.iter().filter_map(held).map(|reason| browser.redactor.text(&reason).into_owned());
        browser.hold(held.collect());
        browser.watched_by(Some(self.mark.clone()));
        let label = format!("{}: {pages} page{}", state.browser, if pages == 1 { "" } else { "s" });
        let mut source = self.source.lock().unwrap_or_else(PoisonError::into_inner);
        match *source {
            Some(id) => browser.update_source(id, Some(label)),
            None => {
                let watches = Category::ALL.to_vec();
                *source = Some(browser.begin_source(Source { label, watches, kind: SourceKind::Browser }));
            }
        }
    }

    fn interrupted(&self, reason: &str, _now: Timestamp) {
        self.end(true, reason);
    }

    fn lost(&self, what: &str, count: u64) {
        if let Some(browser) = self.browser.upgrade() {
            browser.lost(format!("{count} {what} lost"));
        }
    }
}

impl Drop for Ear {
    fn drop(&mut self) {
        self.end(false, "the browser was detached");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limits, Options};

    fn page(url: &str, title: &str, dialog: Option<&str>) -> Page {
        let (url, title, dialog) = (url.to_owned(), title.to_owned(), dialog.map(str::to_owned));
        let state = if dialog.is_some() { PageState::Dialog } else { PageState::Watching };
        Page { id: "1".to_owned(), url, title, since: Timestamp(0), state, dialog }
    }

    #[test]
    fn pages_are_told_without_their_secrets() {
        let browser = Browser::new(Options { clock: Arc::new(|| Timestamp(0)), salt: 1, limits: Limits::default() });
        let url = "http://localhost/cb?access_token=URLsecret12345&code=CODEsecret12345#id_token=HASHsecret12345";
        let watching = Watching {
            browser: "Chromium".to_owned(),
            address: String::new(),
            pages: vec![page(url, "Welcome token=TITLEsecret12345", Some("alert \"password: DIALOGsecret12345\""))],
            workers: 0,
            not_watched: 0,
            launched: false,
            command: Vec::new(),
            notes: vec![format!("`{url}` cannot be watched")],
        };
        let told = format!("{:?}", browser.without_secrets(watching));
        assert!(!told.contains("secret12345") && told.contains("http://localhost/cb?"), "{told}");
    }

    #[test]
    fn what_an_open_dialog_says_is_the_reason_for_the_silence() {
        let reason = held(&page("http://localhost/", "", Some("confirm \"Delete it?\""))).unwrap();
        assert!(reason.ends_with("its dialog: confirm \"Delete it?\""), "{reason}");
        assert_eq!(held(&page("http://localhost/", "", None)), None);
    }
}
