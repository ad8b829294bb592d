//! Who speaks: the sessions of a connection, their targets, and the page each belongs to.

use std::collections::HashMap;

use backsight_core::Timestamp;

use super::wire::address;

/// What a session is attached to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// The browser's id of it; a page's is also the id of its main frame.
    pub id: String,
    /// `page`, `iframe`, `worker`, `shared_worker` or `service_worker`.
    pub kind: String,
    /// Its address, possibly empty while it starts.
    pub url: String,
}

/// A session.
#[derive(Debug)]
pub struct Session {
    /// What it is attached to.
    pub target: Target,
    /// Since when; what happened earlier was told afterwards.
    pub since: Timestamp,
    /// The session that brought it, such as the page of a worker.
    pub parent: Option<String>,
    /// The address of its document now.
    pub address: String,
    /// Our isolated world in the main frame's document.
    pub world: Option<i64>,
}

/// The sessions.
#[derive(Debug, Default)]
pub struct Sessions {
    open: HashMap<String, Session>,
    /// A parent may be told before or after the session itself.
    parents: HashMap<String, String>,
}

impl Sessions {
    /// A session begins.
    pub fn attached(&mut self, session: &str, target: Target, now: Timestamp) {
        let parent = self.parents.remove(session);
        let address = address(&target.url);
        let target = Target { url: address.clone(), ..target };
        self.open.insert(session.to_owned(), Session { target, since: now, parent, address, world: None });
    }

    /// A session ends.
    pub fn detached(&mut self, session: &str) -> Option<Session> {
        self.parents.remove(session);
        self.open.remove(session)
    }

    /// The browser says that `child` was brought by `parent`.
    pub fn belongs(&mut self, child: &str, parent: &str) {
        if parent.is_empty() || parent == child {
            return;
        }
        match self.open.get_mut(child) {
            Some(session) => session.parent = Some(parent.to_owned()),
            // Not every announced session is attached to; what is only announced must not pile up.
            None if self.parents.len() < 1_000 => drop(self.parents.insert(child.to_owned(), parent.to_owned())),
            None => {}
        }
    }

    /// A target's address is known only after it was attached to. Pages tell theirs themselves.
    pub fn renamed(&mut self, target: &str, url: &str) {
        let unnamed = |session: &&mut Session| session.target.id == target && session.address.is_empty();
        if let Some(session) = self.open.values_mut().find(unnamed) {
            session.address = address(url);
        }
    }

    /// One of them.
    pub fn get(&self, session: &str) -> Option<&Session> {
        self.open.get(session)
    }

    /// One of them.
    pub fn get_mut(&mut self, session: &str) -> Option<&mut Session> {
        self.open.get_mut(session)
    }

    /// The address of the page a session belongs to: its own, or that of the page which brought it.
    pub fn page(&self, session: &str) -> Option<String> {
        let mut current = self.open.get(session)?;
        // Frames within frames are not endless, and a loop of parents must not be either.
        for _ in 0..16 {
            match current.parent.as_ref().and_then(|parent| self.open.get(parent)) {
                Some(parent) => current = parent,
                None => break,
            }
        }
        Some(current.address.clone()).filter(|address| !address.is_empty())
    }

    /// Whether something that happened at `time` is older than the session.
    pub fn is_earlier(&self, session: &str, time: Timestamp) -> bool {
        self.open.get(session).is_some_and(|session| time < session.since)
    }

    /// Whether a target with this id is attached.
    pub fn has_target(&self, id: &str) -> bool {
        self.open.values().any(|session| session.target.id == id)
    }

    /// The id of a session's target.
    pub fn target_id(&self, session: &str) -> &str {
        self.open.get(session).map(|session| session.target.id.as_str()).unwrap_or_default()
    }

    /// Whether a session is that of a worker of any kind.
    pub fn is_worker(&self, session: &str) -> bool {
        self.open.get(session).is_some_and(|session| session.target.kind.ends_with("worker"))
    }

    /// Whether code at this address, which is not the session's own, can be of a worker that the session started.
    pub fn has_child(&self, session: &str, url: &str) -> bool {
        let is_own = self.open.get(session).is_some_and(|own| own.target.url == url);
        !is_own && self.open.values().any(|other| other.parent.as_deref() == Some(session))
    }

    /// Whether a session is a service worker's.
    pub fn is_service_worker(&self, session: &str) -> bool {
        self.open.get(session).is_some_and(|session| session.target.kind == "service_worker")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(id: &str, kind: &str, url: &str) -> Target {
        Target { id: id.into(), kind: kind.into(), url: url.into() }
    }

    #[test]
    fn what_a_page_brought_belongs_to_the_page_whichever_is_told_first() {
        let mut sessions = Sessions::default();
        sessions.belongs("W", "F");
        sessions.attached("P", target("p", "page", "http://a/"), Timestamp(1));
        sessions.attached("F", target("f", "iframe", "http://b/"), Timestamp(1));
        sessions.attached("W", target("w", "worker", "http://b/w.js"), Timestamp(1));
        assert_eq!(sessions.page("W").as_deref(), Some("http://b/"));
        sessions.belongs("F", "P");
        assert_eq!(sessions.page("W").as_deref(), Some("http://a/"));
        sessions.detached("P");
        assert_eq!(sessions.page("W").as_deref(), Some("http://b/"));
    }

    #[test]
    fn parents_in_a_circle_do_not_hang() {
        let mut sessions = Sessions::default();
        sessions.attached("A", target("a", "page", "http://a/"), Timestamp(1));
        sessions.attached("B", target("b", "page", "http://b/"), Timestamp(1));
        sessions.belongs("A", "B");
        sessions.belongs("B", "A");
        assert!(sessions.page("A").is_some());
    }
}
