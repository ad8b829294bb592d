//! Decides what to watch: pages whose address matches, and everything that belongs to them. Pure: messages about targets go
//! in, steps come out. A page nobody wants costs one entry in a table and no message, however many of them are open.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use backsight_core::Timestamp;
use serde::Deserialize;

use super::capture::{Page, PageState};
use super::origins::{Origins, is_browsers_own};
use super::translate::{WORKLET, wire};

/// What the browser says of a target.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Info {
    /// The browser's id for it.
    #[serde(rename = "targetId")]
    pub id: String,
    /// `page`, `iframe`, `worker`, ...
    #[serde(rename = "type", default)]
    pub kind: String,
    /// Its address.
    #[serde(default)]
    pub url: String,
    /// Its title.
    #[serde(default)]
    pub title: String,
    /// Of pages: `prerender` for one that is not shown yet.
    #[serde(default)]
    pub subtype: Option<String>,
}

/// Bytes of a page's title.
const MAX_TITLE: usize = 200;

impl Info {
    /// Pages choose their titles and addresses, which go with everything that is said of them.
    fn bounded(self) -> Info {
        Info { url: wire::address(&self.url), title: wire::shortened(&self.title, MAX_TITLE), ..self }
    }
}

/// What is to be done about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Ask for a session with this target.
    Attach { target: String },
    /// A session to listen to: switch on what is needed, then let it run.
    Greet { session: String, target: String, kind: String, url: String },
    /// A session nobody listens to: let it run.
    Resume { session: String },
    /// End this session.
    Detach { session: String },
    /// This session, to which somebody listened, is over.
    Over { session: String },
}

/// All targets of one connection.
#[derive(Debug)]
pub(crate) struct Targets {
    origins: Origins,
    known: HashMap<String, Known>,
    /// Sessions that are listened to or are kept in reserve.
    sessions: HashMap<String, Session>,
    /// Sessions that have ended or are being ended; what they still say is nobody's business.
    past: Past,
    /// What the list of watched things depends on has changed.
    changed: bool,
    unheard: u64,
}

#[derive(Debug)]
struct Session {
    target: String,
    /// The session through which it came: it ends with that one, and nobody says so.
    parent: Option<String>,
}

/// The last sessions that ended.
#[derive(Debug, Default)]
struct Past {
    members: HashSet<String>,
    order: VecDeque<String>,
}

#[derive(Debug, Default)]
struct Known {
    info: Info,
    /// A session with it was asked for.
    asked: bool,
    /// It is still empty and about to be sent somewhere.
    expected: bool,
    /// The session that is listened to.
    session: Option<String>,
    /// Further sessions with the same target, such as a service worker's of a second page.
    reserve: Vec<String>,
    since: Option<Timestamp>,
    state: PageState,
    /// What its open dialog says.
    dialog: Option<String>,
    /// Everything it says is heard.
    heard: bool,
}

impl Targets {
    pub(crate) fn new(origins: Origins) -> Self {
        Targets {
            origins,
            known: HashMap::new(),
            sessions: HashMap::new(),
            past: Past::default(),
            changed: true,
            unheard: 0,
        }
    }

    /// A target came into being or changed its address or title.
    pub(crate) fn told(&mut self, info: Info) -> Vec<Step> {
        let info = info.bounded();
        let wanted = self.wants(&info);
        let arrived = !is_browsers_own(&info.url);
        let known = self.known.entry(info.id.clone()).or_default();
        self.changed |= known.session.is_some() && (known.info.url != info.url || known.info.title != info.title);
        self.changed |= is_countable(&known.info) != is_countable(&info);
        known.expected &= !arrived;
        known.info = info;
        match (wanted, known.session.clone()) {
            (true, None) if !known.asked => {
                known.asked = true;
                vec![Step::Attach { target: known.info.id.clone() }]
            }
            // Only pages leave by their address: what belongs to a page leaves with it.
            (false, Some(session)) if known.info.kind == "page" => {
                let sessions = std::mem::take(&mut known.reserve).into_iter().chain([session]).collect();
                self.leave(sessions)
            }
            _ => Vec::new(),
        }
    }

    /// A session begins, because it was asked for or because it belongs to a page that is watched.
    pub(crate) fn attached(&mut self, session: &str, parent: Option<&str>, info: Info, now: Timestamp) -> Vec<Step> {
        let info = info.bounded();
        if self.sessions.contains_key(session) || self.past.members.contains(session) {
            return Vec::new();
        }
        let resume = Step::Resume { session: session.to_owned() };
        // Whatever starts through a session that is being ended has nobody else to let it run.
        if parent.is_some_and(|parent| self.past.members.contains(parent)) {
            self.past.insert(session);
            return vec![resume];
        }
        let foreign =
            !matches!(info.kind.as_str(), "page" | "iframe" | "worker" | "shared_worker" | "service_worker" | WORKLET);
        // It may have gone elsewhere between the asking and the answer.
        if foreign || (info.kind == "page" && !self.wants(&info)) {
            self.past.insert(session);
            self.refused(&info.id);
            return vec![resume, Step::Detach { session: session.to_owned() }];
        }
        let entry = Session { target: info.id.clone(), parent: parent.map(str::to_owned) };
        self.sessions.insert(session.to_owned(), entry);
        let known = self.known.entry(info.id.clone()).or_default();
        known.info = info;
        known.asked = true;
        self.changed = true;
        if known.session.is_some() {
            known.reserve.push(session.to_owned());
            return vec![resume];
        }
        vec![known.listen(session, now)]
    }

    /// A session is over, and with it those that came through it.
    pub(crate) fn detached(&mut self, session: &str, now: Timestamp) -> Vec<Step> {
        let children = self.sessions.iter().filter(|(_, entry)| entry.parent.as_deref() == Some(session));
        let children: Vec<String> = children.map(|(child, _)| child.clone()).collect();
        let mut steps: Vec<Step> = children.iter().flat_map(|child| self.detached(child, now)).collect();
        self.past.insert(session);
        let Some(Session { target, .. }) = self.sessions.remove(session) else { return steps };
        self.changed = true;
        let Some(known) = self.known.get_mut(&target) else { return steps };
        if known.session.as_deref() != Some(session) {
            known.reserve.retain(|reserve| reserve != session);
            return steps;
        }
        steps.push(Step::Over { session: session.to_owned() });
        known.session = None;
        known.asked = false;
        known.since = None;
        known.state = PageState::Watching;
        steps.extend(known.reserve.pop().map(|reserve| known.listen(&reserve, now)));
        steps
    }

    /// A target is no more.
    pub(crate) fn destroyed(&mut self, target: &str, now: Timestamp) -> Vec<Step> {
        let wanted = self.known.get(target).is_some_and(|known| known.info.kind == "page" && self.wants(&known.info));
        let Some(known) = self.known.get_mut(target) else { return Vec::new() };
        self.unheard += u64::from(wanted && !known.heard);
        self.changed |= is_countable(&known.info);
        let reserve = std::mem::take(&mut known.reserve);
        let sessions: Vec<String> = reserve.into_iter().chain(known.session.clone()).collect();
        let steps = sessions.iter().flat_map(|session| self.detached(session, now)).collect();
        self.known.remove(target);
        steps
    }

    /// From now on everything is heard that the target of a session says.
    pub(crate) fn now_heard(&mut self, session: &str) {
        let known = self.sessions.get(session).and_then(|session| self.known.get_mut(&session.target));
        known.into_iter().for_each(|known| known.heard = true);
    }

    /// How many pages came and went before they were heard.
    pub(crate) fn unheard(&self) -> u64 {
        self.unheard
    }

    /// Asking for a session failed; the next change of the target asks again.
    pub(crate) fn refused(&mut self, target: &str) {
        if let Some(known) = self.known.get_mut(target) {
            known.asked = known.session.is_some();
        }
    }

    /// Another state of the page that this session watches.
    pub(crate) fn becomes(&mut self, session: &str, state: PageState) {
        if let Some(target) = self.sessions.get(session).map(|entry| entry.target.clone()) {
            self.target_becomes(&target, state);
        }
    }

    /// Another state of a target.
    pub(crate) fn target_becomes(&mut self, target: &str, state: PageState) {
        if let Some(known) = self.known.get_mut(target)
            && known.session.is_some()
            && known.state != state
        {
            known.state = state;
            known.dialog = None;
            self.changed = true;
        }
    }

    /// The page that this session watches opened a dialog, which says this.
    pub(crate) fn asks(&mut self, session: &str, says: String) {
        self.becomes(session, PageState::Dialog);
        let target = self.sessions.get(session).map(|entry| entry.target.clone()).unwrap_or_default();
        if let Some(known) = self.known.get_mut(&target).filter(|known| known.state == PageState::Dialog) {
            known.dialog = Some(says);
            self.changed = true;
        }
    }

    /// The session said something: whoever speaks is not unresponsive.
    pub(crate) fn speaks(&mut self, session: &str) {
        if self.state(session) == Some(PageState::Unresponsive) {
            self.becomes(session, PageState::Watching);
        }
    }

    /// How the page is that this session watches.
    pub(crate) fn state(&self, session: &str) -> Option<PageState> {
        let entry = self.sessions.get(session)?;
        self.known.get(&entry.target).map(|known| known.state)
    }

    /// Whether what this session says is to be heard.
    pub(crate) fn hears(&self, session: &str) -> Hears {
        match self.sessions.get(session).and_then(|entry| self.known.get(&entry.target)) {
            Some(known) if known.session.as_deref() == Some(session) => Hears::Yes,
            None if !self.past.members.contains(session) => Hears::NotYet,
            _ => Hears::No,
        }
    }

    /// Every session that is listened to.
    pub(crate) fn sessions(&self) -> Vec<String> {
        self.known.values().filter_map(|known| known.session.clone()).collect()
    }

    /// The sessions of pages that should be able to answer: neither crashed nor held by a dialog.
    pub(crate) fn page_sessions(&self) -> Vec<String> {
        let able = |state| matches!(state, PageState::Watching | PageState::Unresponsive);
        let pages = self.known.values().filter(|known| known.info.kind == "page" && able(known.state));
        pages.filter_map(|known| known.session.clone()).collect()
    }

    /// Whether the list of watched things changed since this was asked last.
    pub(crate) fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    /// The pages that are watched, in the order in which that began.
    pub(crate) fn pages(&self) -> Vec<Page> {
        let mut pages = BTreeMap::new();
        for known in self.known.values().filter(|known| known.info.kind == "page" && known.session.is_some()) {
            let since = known.since.unwrap_or(Timestamp(0));
            let Info { id, url, title, .. } = known.info.clone();
            pages.insert(
                (since, id.clone()),
                Page { id, url, title, since, state: known.state, dialog: known.dialog.clone() },
            );
        }
        pages.into_values().collect()
    }

    /// How many workers are watched.
    pub(crate) fn workers(&self) -> usize {
        self.known.values().filter(|known| known.session.is_some() && known.info.kind.ends_with("worker")).count()
    }

    /// How many pages are open that are not the browser's own and match no origin.
    pub(crate) fn not_watched(&self) -> usize {
        self.known.values().filter(|known| known.session.is_none() && is_countable(&known.info)).count()
    }

    /// A page to be watched wherever it is, since it is about to be sent somewhere.
    pub(crate) fn expect(&mut self, target: &str, url: &str) -> Vec<Step> {
        self.origins.also(url);
        let known = self.known.entry(target.to_owned()).or_default();
        known.expected = true;
        match known.session.is_some() || std::mem::replace(&mut known.asked, true) {
            true => Vec::new(),
            false => vec![Step::Attach { target: target.to_owned() }],
        }
    }

    /// A page that can be sent somewhere: one that is watched, or else an empty one. With its session if there is one.
    pub(crate) fn page_at_hand(&self, asked: Option<&str>) -> Option<(String, Option<String>)> {
        let pages = || self.known.values().filter(|known| known.info.kind == "page");
        let found = match asked {
            Some(asked) => pages().find(|known| known.info.id == asked),
            None => pages()
                .filter(|known| known.session.is_some())
                .min_by_key(|known| known.since)
                .or_else(|| pages().find(|known| known.info.url == "about:blank")),
        };
        found.map(|known| (known.info.id.clone(), known.session.clone()))
    }

    /// What was last said of a target.
    pub(crate) fn info(&self, target: &str) -> Option<Info> {
        self.known.get(target).map(|known| known.info.clone())
    }

    /// The picture is to be told again.
    pub(crate) fn touch(&mut self) {
        self.changed = true;
    }

    /// The target a session belongs to.
    pub(crate) fn target_of(&self, session: &str) -> Option<&str> {
        self.sessions.get(session).map(|entry| entry.target.as_str())
    }

    fn wants(&self, info: &Info) -> bool {
        let asked_for = matches!(info.kind.as_str(), "page" | "shared_worker");
        let expected = || is_browsers_own(&info.url) && self.known.get(&info.id).is_some_and(|known| known.expected);
        let shown = info.subtype.as_deref().unwrap_or_default().is_empty();
        asked_for && shown && (self.origins.matches(&info.url) || expected())
    }

    fn leave(&mut self, sessions: Vec<String>) -> Vec<Step> {
        let mut steps = Vec::new();
        for session in sessions {
            steps.extend(self.detached(&session, Timestamp(0)));
            steps.push(Step::Detach { session });
        }
        steps
    }
}

impl Past {
    /// Sessions say little after their end and say it soon.
    const KEPT: usize = 1000;

    fn insert(&mut self, session: &str) {
        if self.members.insert(session.to_owned()) {
            self.order.push_back(session.to_owned());
        }
        if self.order.len() > Past::KEPT
            && let Some(oldest) = self.order.pop_front()
        {
            self.members.remove(&oldest);
        }
    }
}

/// What to do with what a session says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hears {
    /// It is listened to.
    Yes,
    /// Somebody else says the same, or it is on its way out.
    No,
    /// Nothing is known of such a session.
    NotYet,
}

impl Known {
    fn listen(&mut self, session: &str, now: Timestamp) -> Step {
        self.session = Some(session.to_owned());
        self.since = Some(now);
        self.state = PageState::Watching;
        let Info { id, kind, url, .. } = self.info.clone();
        Step::Greet { session: session.to_owned(), target: id, kind, url }
    }
}

fn is_countable(info: &Info) -> bool {
    info.kind == "page" && !is_browsers_own(&info.url)
}

#[cfg(test)]
mod tests;
