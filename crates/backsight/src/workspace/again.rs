//! Watching a browser again that an earlier server of this workspace watched. A server ends with the agent that started it,
//! while the browser and the other agents stay; what was watched is therefore kept under the store's seal, and whoever takes
//! the seat next watches it again: the very same browser, and only if a process of this user listens there.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use backsight_browser::cdp::{Attach, Place, Watching};
use backsight_core::{Error, Result};
use serde::{Deserialize, Serialize};

use super::agents::own_user_only;
use super::{Opened, Workspace};
use crate::timeline::{Item, KeptKind};

/// What attachments are sealed for, and the name of the one there is.
const PURPOSE: &str = "browser";
/// How long a browser that is there may take until it answers.
const PATIENCE: Duration = Duration::from_secs(3);
/// How long a question waits for the attaching, which ends before that.
const LONGEST: Duration = Duration::from_secs(5);

/// A browser that is watched, as it is kept.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
struct Attachment {
    /// `ws://127.0.0.1:PORT/devtools/browser/ID`: no two browsers have the same.
    address: String,
    origins: Vec<String>,
    all_pages: bool,
}

/// Whether a browser is about to be watched again; questions wait for that.
#[derive(Default)]
pub(super) struct Expected {
    is_pending: Mutex<bool>,
    settled: Condvar,
}

impl Expected {
    fn set(&self, is_pending: bool) {
        *self.is_pending.lock().unwrap_or_else(PoisonError::into_inner) = is_pending;
        self.settled.notify_all();
    }

    /// Waits until it is known whether the browser is watched again.
    pub(super) fn wait(&self) {
        let pending = self.is_pending.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.settled.wait_timeout_while(pending, LONGEST, |is_pending| *is_pending));
    }
}

impl Workspace {
    /// Looks whether an earlier server watched a browser. If one did, questions about the app wait for
    /// [`Workspace::attach_browser_again`], which must follow.
    pub fn expect_browser(&self) -> Result<bool> {
        let is_kept = self.attachment()?.is_some();
        self.shared.browser.expected.set(is_kept);
        Ok(is_kept)
    }

    /// Watches the browser again that an earlier server watched; whether it does. Every answer about this time says so, and
    /// also when the browser is gone.
    pub fn attach_browser_again(&self) -> Result<bool> {
        let attached = self.attach_kept();
        self.shared.browser.expected.set(false);
        attached
    }

    fn attach_kept(&self) -> Result<bool> {
        let Some(Attachment { address, origins, all_pages }) = self.attachment()? else { return Ok(false) };
        let browser = self.browser()?;
        if browser.watching().is_some() {
            return Ok(false);
        }
        let (place, admission) = (Place::Known(address), own_user_only());
        let attach = Attach { origins, all_pages, admission, timeout: PATIENCE, ..self.attach_to(place) };
        let attached = browser.attach(attach);
        browser.lost(what_became(&attached));
        if attached.is_err() {
            self.forget_attachment()?;
        }
        Ok(attached.is_ok())
    }

    /// Keeps what is watched now for whoever is the server next. A browser that was launched here ends with this process.
    pub(super) fn keep_attachment(
        &self,
        watching: Option<&Watching>,
        origins: &[String],
        all_pages: bool,
    ) -> Result<()> {
        let Some(watching) = watching.filter(|watching| !watching.launched) else { return self.forget_attachment() };
        let Some((opened, store)) = self.own_opened()? else { return Ok(()) };
        let attachment = Attachment { address: watching.address.clone(), origins: origins.to_vec(), all_pages };
        let text = serde_json::to_vec(&attachment).unwrap_or_default();
        let body = String::from_utf8_lossy(&store.seal().close(PURPOSE, &text)).into_owned();
        let item = Item { name: PURPOSE.to_owned(), body };
        opened.timeline.keep(KeptKind::Attachment, self.settings.now(), &[item], &[])
    }

    /// No browser is to be watched again.
    pub(super) fn forget_attachment(&self) -> Result<()> {
        match self.own_opened()? {
            Some((opened, _)) => opened.timeline.keep(KeptKind::Attachment, self.settings.now(), &[], &[PURPOSE]),
            None => Ok(()),
        }
    }

    /// The browser that is kept; none when this user's processes did not seal it for this store.
    fn attachment(&self) -> Result<Option<Attachment>> {
        let Some((opened, store)) = self.own_opened()? else { return Ok(None) };
        let kept = opened.timeline.kept_as(KeptKind::Attachment, PURPOSE)?;
        let read = |text: String| serde_json::from_slice(store.seal().open(PURPOSE, text.as_bytes())?).ok();
        Ok(kept.and_then(read))
    }

    /// The store, if there is one that can be written to.
    fn own_opened(&self) -> Result<Option<(&Opened, crate::OwnStore)>> {
        match self.store()?.filter(|store| !store.is_read_only()) {
            Some(store) => Ok(Some((self.opened()?, store))),
            None => Ok(None),
        }
    }
}

/// What answers say of the time between two servers.
fn what_became(attached: &std::result::Result<Watching, Error>) -> String {
    match attached {
        Ok(_) => {
            "another server watched the browser before, this one watches it again; what happened in between is known \
                  only as far as the pages tell afterwards"
                .to_owned()
        }
        Err(error) => format!("the browser that another server watched is not watched any more: {}", error.message()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;
    use crate::request::Init;

    fn watching(address: &str) -> Watching {
        Watching { browser: "Chrome".to_owned(), address: address.to_owned(), ..Watching::default() }
    }

    fn workspace(directory: &tempfile::TempDir) -> Workspace {
        let settings = Settings { state_home: Some(directory.path().join("state")), ..Settings::from_environment() };
        let root = directory.path().join("workspace");
        std::fs::create_dir_all(&root).unwrap();
        let workspace = Workspace::open_with(root, settings).unwrap();
        workspace.init(&Init::default()).unwrap();
        workspace
    }

    #[test]
    fn what_is_watched_is_kept_until_it_is_let_go() {
        let directory = tempfile::tempdir().unwrap();
        let address = "ws://127.0.0.1:1/devtools/browser/x";
        let origins = ["http://localhost:3000".to_owned()];
        workspace(&directory).keep_attachment(Some(&watching(address)), &origins, true).unwrap();
        let later = workspace(&directory);
        assert!(later.expect_browser().unwrap());
        let kept = Attachment { address: address.to_owned(), origins: origins.to_vec(), all_pages: true };
        assert_eq!(later.attachment().unwrap(), Some(kept));
        later.detach_browser().unwrap();
        assert_eq!(workspace(&directory).attachment().unwrap(), None);
        let launched = Watching { launched: true, ..watching(address) };
        later.keep_attachment(Some(&launched), &[], false).unwrap();
        assert!(!later.expect_browser().unwrap(), "it ends with the process that launched it");
    }

    #[test]
    fn an_address_that_was_not_sealed_here_is_not_believed() {
        let directory = tempfile::tempdir().unwrap();
        let ours = workspace(&directory);
        ours.keep_attachment(Some(&watching("ws://127.0.0.1:1/devtools/browser/x")), &[], false).unwrap();
        let (opened, _) = ours.own_opened().unwrap().unwrap();
        let sealed = opened.timeline.kept_as(KeptKind::Attachment, PURPOSE).unwrap().unwrap();
        let (_, plain) = sealed.split_once('\n').unwrap();
        for forged in [sealed.replace("browser/x", "browser/y"), plain.to_owned(), String::new()] {
            let item = Item { name: PURPOSE.to_owned(), body: forged.clone() };
            opened.timeline.keep(KeptKind::Attachment, ours.settings.now(), &[item], &[]).unwrap();
            assert_eq!(ours.attachment().unwrap(), None, "{forged}");
        }
    }

    /// Only root can be somebody else.
    #[test]
    fn a_listener_of_another_user_hears_nothing() {
        use std::io::BufRead;
        let script = "import os,socket\nos.setuid(65534)\ns=socket.socket()\ns.bind(('127.0.0.1',0))\ns.listen()\n\
            print(s.getsockname()[1],flush=True)\nc=s.accept()[0]\nprint('heard',len(c.recv(99)),flush=True)\n";
        let mut python = std::process::Command::new("python3");
        let python =
            python.args(["-c", script]).stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::null());
        let mut other = python.spawn().unwrap();
        let mut lines = std::io::BufReader::new(other.stdout.take().unwrap()).lines();
        let Some(port) = lines.next().and_then(|line| line.ok()?.parse::<u16>().ok()) else {
            other.wait().unwrap();
            return;
        };
        let directory = tempfile::tempdir().unwrap();
        let later = workspace(&directory);
        let address = format!("ws://127.0.0.1:{port}/devtools/browser/x");
        later.keep_attachment(Some(&watching(&address)), &[], false).unwrap();
        assert!(!later.attach_browser_again().unwrap());
        assert_eq!(lines.next().unwrap().unwrap(), "heard 0");
        other.wait().unwrap();
    }

    #[test]
    fn a_browser_that_is_gone_is_said_to_be_and_is_tried_once() {
        let directory = tempfile::tempdir().unwrap();
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let address = format!("ws://127.0.0.1:{port}/devtools/browser/x");
        let later = workspace(&directory);
        later.keep_attachment(Some(&watching(&address)), &[], false).unwrap();
        assert!(later.expect_browser().unwrap());
        assert!(!later.attach_browser_again().unwrap());
        let changes = later.browser_changes("me", &backsight_browser::Ask::default()).unwrap();
        let reasons: Vec<&str> = changes.gap.iter().map(|gap| gap.reason.as_str()).collect();
        assert!(reasons.iter().any(|reason| reason.contains("is not watched any more")), "{reasons:?}");
        assert_eq!(later.attachment().unwrap(), None);
    }
}
