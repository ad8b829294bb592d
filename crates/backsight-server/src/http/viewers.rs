//! Who looks at the dashboard in a browser. `backsight open` prints an address with a code that works once and not for long;
//! the browser that comes with it gets a cookie that no script can read and a key that no other origin can read. Both are
//! needed for every question: browsers send cookies of one host to all its ports, and what is stored by a page belongs to
//! its own port alone. The server's token is never in an address.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use backsight::Seal;
use backsight_core::{Code, Error, Result, Timestamp};
use http::{HeaderMap, Method, header};
use subtle::ConstantTimeEq;

use crate::{leading, percent};

/// Where a code is handed in.
pub const PATH: &str = "/open";
/// The header with the key.
pub const KEY: &str = "x-backsight-key";
/// How long a code can be handed in.
const LIFE: Duration = Duration::from_secs(600);
/// Browsers that are known at once; the one that came first is forgotten first.
const VIEWERS: usize = 64;
/// What codes are sealed for.
const PURPOSE: &str = "dashboard";
/// What a viewer may do beside looking. Nothing here runs a program of the workspace or changes a setting; a bisect by a page
/// opens recorded files in a headless browser.
const MAY_DO: &[&str] = &[
    "/api/revert",
    "/api/restore",
    "/api/undo",
    "/api/redo",
    "/api/seen",
    "/api/viewed",
    "/api/comments",
    "/api/comments/answer",
    "/api/comments/resolve",
    "/api/gc",
    "/api/bisect/page",
    "/api/debug/diff",
    "/api/debug/variables",
];

/// A code with its end, as an address carries it: who may look until when. Whoever can read the server's token can make one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invitation {
    /// Whose place in the timeline is meant.
    pub person: String,
    until: Timestamp,
    nonce: String,
}

impl Invitation {
    /// An invitation from now on.
    pub fn new(person: &str, now: Timestamp, nonce: String) -> Invitation {
        let life = i64::try_from(LIFE.as_millis()).unwrap_or(i64::MAX);
        Invitation { person: person.to_owned(), until: Timestamp(now.0.saturating_add(life)), nonce }
    }

    /// The address below the server's own. `server` is the start of a server that it is for.
    pub fn target(&self, seal: &Seal, server: &str) -> String {
        let code = seal.code(PURPOSE, &self.sealed(server));
        let person = percent::encoded(&self.person);
        format!("{PATH}?until={}&nonce={}&person={person}&code={code}", self.until.0, self.nonce)
    }

    /// What a query says, and its code.
    fn parse(query: &str) -> Option<(Invitation, &str)> {
        let field = |name: &str| {
            query.split('&').filter_map(|pair| pair.split_once('=')).find(|(key, _)| *key == name).map(|(_, text)| text)
        };
        let until = Timestamp(field("until")?.parse().ok()?);
        let (person, nonce) = (percent::decoded(field("person")?)?, field("nonce")?.to_owned());
        Some((Invitation { person, until, nonce }, field("code")?))
    }

    fn sealed(&self, server: &str) -> Vec<u8> {
        [server, &self.until.0.to_string(), &self.nonce, &self.person].join("\n").into_bytes()
    }
}

/// The browsers that came with a code.
pub struct Viewers {
    seal: Seal,
    /// The start of the server: a token may be the same after the next, and the codes that were used are known until the end.
    server: String,
    /// Cookies are not kept apart by port, so each server has a name of its own for them.
    cookie: String,
    /// Where the pages lie that lead here.
    pages: Option<PathBuf>,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// Codes that were used, until when they would work.
    used: HashMap<String, Timestamp>,
    /// Oldest first.
    viewers: Vec<Viewer>,
}

/// A browser that may look.
#[derive(Clone)]
pub struct Viewer {
    secret: String,
    /// What its pages send with every question.
    pub key: String,
    /// Whose place in the timeline is meant.
    pub person: String,
}

impl std::fmt::Debug for Viewers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Viewers").finish_non_exhaustive()
    }
}

impl Viewers {
    /// Nobody yet, of this start of the server on `port`.
    pub fn new(seal: Seal, server: String, port: u16) -> Viewers {
        Viewers { seal, server, cookie: format!("backsight-{port}"), pages: None, known: Mutex::default() }
    }

    /// The same, which removes a page that leads here once it did.
    pub fn with_pages(self, pages: Option<PathBuf>) -> Viewers {
        Viewers { pages, ..self }
    }

    /// Lets a browser in that has a code, once. `random` draws texts that cannot be guessed.
    pub fn admit(&self, query: &str, now: Timestamp, random: impl Fn() -> Result<String>) -> Result<Viewer> {
        let hint = "run `backsight open` again";
        let refused = |why: &str| Error::new(Code::Unauthorized, format!("the address {why}")).with_hint(hint);
        let (invitation, code) = Invitation::parse(query).ok_or_else(|| refused("has no code"))?;
        if !self.seal.is_code(PURPOSE, &invitation.sealed(&self.server), code) {
            return Err(refused("has a code that this server did not give out"));
        }
        if invitation.until < now {
            return Err(refused("was good for ten minutes, which are over"));
        }
        let viewer = Viewer { secret: random()?, key: random()?, person: invitation.person };
        let mut known = self.lock();
        known.used.retain(|_, until| *until >= now);
        let page = self.pages.as_ref().map(|pages| leading::page(pages, &invitation.nonce));
        if known.used.insert(invitation.nonce, invitation.until).is_some() {
            return Err(refused("was used already; it works once"));
        }
        page.map(std::fs::remove_file);
        if known.viewers.len() >= VIEWERS {
            known.viewers.remove(0);
        }
        known.viewers.push(viewer.clone());
        Ok(viewer)
    }

    /// The cookie of a viewer, as a server sets it.
    pub fn set_cookie(&self, viewer: &Viewer) -> String {
        format!("{}={}; Path=/; HttpOnly; SameSite=Strict", self.cookie, viewer.secret)
    }

    /// Whether a request comes from a browser that was let in, and from one of our own pages in it. What it may ask for is
    /// decided here too.
    pub fn check(&self, method: &Method, path: &str, headers: &HeaderMap) -> Result<bool> {
        let Some(secret) = self.cookie_in(headers) else { return Ok(false) };
        let key = headers.get(KEY).map(|key| key.as_bytes()).unwrap_or_default();
        let same = |one: &str, other: &[u8]| bool::from(one.as_bytes().ct_eq(other));
        let is_known = self.lock().viewers.iter().any(|viewer| same(&viewer.secret, secret) & same(&viewer.key, key));
        if !is_known || *method == Method::GET {
            return Ok(is_known);
        }
        // The guard has seen that an origin, if there is one, is ours.
        if !headers.contains_key(header::ORIGIN) {
            return Err(Error::new(Code::Forbidden, "the request does something and does not say from which origin"));
        }
        if !MAY_DO.contains(&path) {
            return Err(Error::new(Code::Forbidden, "the dashboard may not ask for this")
                .with_hint("use the command line, or the server's token"));
        }
        Ok(true)
    }

    fn cookie_in<'h>(&self, headers: &'h HeaderMap) -> Option<&'h [u8]> {
        let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
        let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.find(|(name, _)| *name == self.cookie).map(|(_, value)| value.as_bytes())
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;
    use crate::place::Address;

    const NOW: Timestamp = Timestamp(1_000_000);

    fn viewers() -> Viewers {
        Viewers::new(Seal::new([7; 64]), "token".to_owned(), 80)
    }

    fn query(person: &str, nonce: &str) -> String {
        let target = Invitation::new(person, NOW, nonce.to_owned()).target(&Seal::new([7; 64]), "token");
        target.split_once('?').unwrap().1.to_owned()
    }

    fn admit(viewers: &Viewers, query: &str, now: Timestamp) -> Result<Viewer, Code> {
        let count = std::cell::Cell::new(0);
        let random = || {
            count.set(count.get() + 1);
            Ok(format!("{query}-{}", count.get()).replace([';', '='], "."))
        };
        viewers.admit(query, now, random).map_err(|error| error.code())
    }

    fn asks(viewers: &Viewers, method: Method, path: &str, pairs: &[(&'static str, &str)]) -> Result<bool, Code> {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, HeaderValue::from_str(value).unwrap());
        }
        viewers.check(&method, path, &headers).map_err(|error| error.code())
    }

    #[test]
    fn a_code_works_once_and_not_for_long() {
        let viewers = viewers();
        let first = query("Ada Löw", "a");
        assert_eq!(admit(&viewers, &first, NOW).unwrap().person, "Ada Löw");
        assert_eq!(admit(&viewers, &first, NOW).err(), Some(Code::Unauthorized));
        let late = Timestamp(NOW.0 + 600_001);
        assert_eq!(admit(&viewers, &query("ada", "b"), late).err(), Some(Code::Unauthorized));
        assert!(admit(&viewers, &query("ada", "b"), Timestamp(late.0 - 1)).is_ok());
    }

    #[test]
    fn a_code_that_was_used_is_none_after_a_restart_with_the_same_token() {
        let address = |started: i64| Address {
            pid: 1,
            url: "http://127.0.0.1:80".to_owned(),
            token: "token".to_owned(),
            version: String::new(),
            started: Timestamp(started),
            ingest_key: String::new(),
            log: None,
        };
        let viewers = |started: i64| Viewers::new(Seal::new([7; 64]), address(started).start(), 80);
        let url = address(1).invite(&Seal::new([7; 64]), "ada", NOW, "a".to_owned());
        let query = url.split_once('?').unwrap().1;
        assert!(admit(&viewers(1), query, NOW).is_ok());
        assert_eq!(admit(&viewers(2), query, NOW).err(), Some(Code::Unauthorized));
    }

    #[test]
    fn a_page_that_leads_here_is_gone_when_it_did() {
        let directory = tempfile::tempdir().unwrap();
        let viewers = viewers().with_pages(Some(directory.path().to_owned()));
        let page = |nonce: &str| leading::page(directory.path(), nonce);
        ["a", "b"].iter().for_each(|nonce| std::fs::write(page(nonce), "").unwrap());
        assert!(admit(&viewers, &query("ada", "a"), NOW).is_ok());
        assert!(!page("a").exists() && page("b").exists());
    }

    #[test]
    fn a_code_that_was_changed_or_is_for_another_server_is_none() {
        let viewers = viewers();
        let good = query("ada", "a");
        let longer = good.replace(&format!("until={}", NOW.0 + 600_000), "until=9000000000000");
        let other = Invitation::new("ada", NOW, "c".to_owned()).target(&Seal::new([7; 64]), "other token");
        let other = other.split_once('?').unwrap().1.to_owned();
        for wrong in [good.replace("ada", "eve"), good.replace("nonce=a", "nonce=b"), longer, other, String::new()] {
            assert_eq!(admit(&viewers, &wrong, NOW).err(), Some(Code::Unauthorized), "{wrong}");
        }
        assert!(admit(&viewers, &good, NOW).is_ok());
    }

    #[test]
    fn a_question_needs_the_cookie_and_the_key_of_one_browser() {
        let viewers = viewers();
        let [ada, eve] = ["ada", "eve"].map(|person| admit(&viewers, &query(person, person), NOW).unwrap());
        let cookie = |viewer: &Viewer| format!("other=1; backsight-80={}", viewer.secret);
        let (ours, theirs) = (cookie(&ada), cookie(&eve));
        let get = |pairs: &[(&'static str, &str)]| asks(&viewers, Method::GET, "/api/log", pairs);
        assert_eq!(get(&[("cookie", &ours), (KEY, &ada.key)]), Ok(true));
        assert_eq!(get(&[("cookie", &ours)]), Ok(false));
        assert_eq!(get(&[(KEY, &ada.key)]), Ok(false));
        assert_eq!(get(&[("cookie", &theirs), (KEY, &ada.key)]), Ok(false));
        assert_eq!(get(&[("cookie", "backsight-80="), (KEY, "")]), Ok(false));
    }

    #[test]
    fn doing_needs_an_origin_and_is_bounded() {
        let viewers = viewers();
        let ada = admit(&viewers, &query("ada", "a"), NOW).unwrap();
        let cookie = format!("backsight-80={}", ada.secret);
        let known = [("cookie", cookie.as_str()), (KEY, ada.key.as_str())];
        let with_origin = [&known[..], &[("origin", "http://localhost:80")]].concat();
        assert_eq!(asks(&viewers, Method::POST, "/api/revert", &with_origin), Ok(true));
        assert_eq!(asks(&viewers, Method::POST, "/api/revert", &known), Err(Code::Forbidden));
        for path in ["/api/bisect", "/api/debug/launch", "/api/config/strategy", "/mcp", "/api/tools/files_revert"] {
            assert_eq!(asks(&viewers, Method::POST, path, &with_origin), Err(Code::Forbidden), "{path}");
        }
    }
}
