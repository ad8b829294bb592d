//! The locked door. A web page the user happens to visit can make their browser send requests here; none of them must
//! get through. So every route checks, before anything else: the host is one of ours (a name that an attacker's DNS
//! points at us is not), the origin is ours or absent, the token is right, the body is small and arrives soon.
//!
//! There is one slot in the door: the user's own pages may report what happens in them, from whatever origin, with a key
//! that opens nothing else. They can put something in and learn nothing.
//!
//! And there is a window: the dashboard's pages and scripts, which say nothing of the workspace and are the same for
//! everybody, are shown without the token. What they ask for needs the cookie and the key of `viewers`.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use backsight::browser::PageKey;
use backsight_core::{Code, Error, Result};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use http_body_util::BodyExt;
use subtle::ConstantTimeEq;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::failure;
use super::viewers::{self, Viewers};
use super::wrong_tokens::{RemoteAddress, WrongTokens};
use crate::connections::Place;

/// How much and how long a request may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a body.
    pub body: usize,
    /// How long a body may take to arrive.
    pub arrival: Duration,
    /// Bytes of all bodies of those with the token that are held at once.
    pub owners: usize,
    /// Bytes of all bodies of pages, beside those: no page takes anything from somebody with the token.
    pub pages: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { body: 4 << 20, arrival: Duration::from_secs(10), owners: 128 << 20, pages: 16 << 20 }
    }
}

/// Who is let in.
#[derive(Debug)]
pub struct Guard {
    token: String,
    /// Lets pages report; none when no page may.
    key: Option<PageKey>,
    /// Lets browsers look at the dashboard; none when there is no dashboard.
    viewers: Option<Arc<Viewers>>,
    /// `host:port` as a client that means us writes it.
    authorities: Vec<String>,
    limits: Limits,
    wrong: WrongTokens,
    /// How many bytes of bodies may still be held.
    owners: Arc<Semaphore>,
    pages: Arc<Semaphore>,
}

impl Guard {
    /// Lets in who has the token and means one of the `authorities`.
    pub fn new(token: String, authorities: Vec<String>, limits: Limits) -> Self {
        let authorities = authorities.into_iter().map(|name| name.to_ascii_lowercase()).collect();
        let room = |bytes: usize| Arc::new(Semaphore::new(bytes.min(Semaphore::MAX_PERMITS)));
        let (owners, pages) = (room(limits.owners), room(limits.pages));
        Guard { token, key: None, viewers: None, authorities, limits, wrong: WrongTokens::default(), owners, pages }
    }

    /// The same, with a slot through which pages that have the key may report.
    pub fn with_key(self, key: PageKey) -> Self {
        Guard { key: Some(key), ..self }
    }

    /// The same, with a dashboard for browsers that come with a code.
    pub fn with_viewers(self, viewers: Arc<Viewers>) -> Self {
        Guard { viewers: Some(viewers), ..self }
    }

    /// Who looks at the dashboard.
    pub fn viewers(&self) -> Option<Arc<Viewers>> {
        self.viewers.clone()
    }

    /// How much and how long a request may be.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Who asks, as far as that matters here; else why they are not let in.
    fn check_head(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<Visitor> {
        let authority = uri.authority().map(|authority| authority.as_str());
        let host = self.one(headers, header::HOST)?.or(authority);
        if !host.is_some_and(|host| self.is_ours(host)) {
            let host = backsight_core::quote(host.unwrap_or("none").as_bytes());
            return Err(Error::new(
                Code::Forbidden,
                format!("the request is for host `{host}`, which is not this server"),
            )
            .with_hint(format!("use http://{}", self.authorities.first().map_or("127.0.0.1", String::as_str))));
        }
        if self.is_for_pages(method, uri) {
            return Ok(Visitor::Page);
        }
        let origin = self.one(headers, header::ORIGIN)?;
        let is_ours = |origin: &str| origin.strip_prefix("http://").is_some_and(|rest| self.is_ours(rest));
        let fetched_from = self.one(headers, HeaderName::from_static("sec-fetch-site"))?;
        let is_elsewhere =
            matches!(fetched_from, Some("cross-site" | "same-site")) && !is_led_here(method, uri, headers);
        if origin.is_some_and(|origin| !is_ours(origin)) || is_elsewhere {
            return Err(Error::new(Code::Forbidden, "the request comes from a web page of another origin"));
        }
        if self.is_authorized(headers) {
            return Ok(Visitor::Owner);
        }
        if let Some(viewers) = &self.viewers {
            let has_no_token = !headers.contains_key(header::AUTHORIZATION);
            if has_no_token && *method == Method::GET && is_window(uri.path()) {
                return Ok(Visitor::Passer);
            }
            if has_no_token && viewers.check(method, uri.path(), headers)? {
                return Ok(Visitor::Viewer);
            }
        }
        Err(Error::new(Code::Unauthorized, "the request does not carry this server's token")
            .with_hint("send `Authorization: Bearer TOKEN`; `backsight serve --show` prints it"))
    }

    /// The same, and those who try tokens are slowed down.
    async fn admit(&self, head: &Parts) -> Result<Visitor> {
        let from = head.extensions.get::<RemoteAddress>().map(|remote| remote.0);
        let tries = head.headers.contains_key(header::AUTHORIZATION);
        if tries && from.is_some_and(|from| !self.wrong.may_try(from)) {
            let message = "too many wrong tokens come from this address, so none is looked at for a moment";
            return Err(Error::new(Code::Unauthorized, message).with_hint("wait a second and send the right one"));
        }
        let admitted = self.check_head(&head.method, &head.uri, &head.headers);
        let is_dashboard = matches!(admitted, Ok(Visitor::Viewer | Visitor::Passer));
        if is_dashboard && from.is_some_and(|from| !from.to_canonical().is_loopback()) {
            return Err(Error::new(Code::Forbidden, "the dashboard is for browsers on this machine")
                .with_hint("from another one use a tunnel: `ssh -L PORT:127.0.0.1:PORT HOST`"));
        }
        if let (Ok(Visitor::Owner | Visitor::Viewer), Some(place)) = (&admitted, head.extensions.get::<Arc<Place>>()) {
            place.is_known();
        }
        if let (Err(error), Some(from)) = (&admitted, from)
            && tries
            && error.code() == Code::Unauthorized
        {
            self.wrong.slow_down(from).await;
        }
        admitted
    }

    /// Whether it is what a page with the key may ask: to report, or for the script that does.
    fn is_for_pages(&self, method: &Method, uri: &Uri) -> bool {
        let path = uri.path();
        let reports = *method == Method::POST && (path == "/ingest" || path.starts_with("/ingest/"));
        let is_script = *method == Method::GET && path == super::snippet::PATH;
        let given = uri.query().and_then(|query| query.split('&').find_map(|pair| pair.strip_prefix("key=")));
        let is_right =
            |key: &PageKey| given.is_some_and(|given| key.matches(|key| bool::from(given.as_bytes().ct_eq(key))));
        (reports || is_script) && self.key.as_ref().is_some_and(is_right)
    }

    /// A header that may be there once and must be text.
    fn one<'h>(&self, headers: &'h HeaderMap, name: HeaderName) -> Result<Option<&'h str>> {
        let mut values = headers.get_all(&name).iter();
        let wrong = || Error::new(Code::Forbidden, format!("the header `{name}` is there twice or is not text"));
        match (values.next(), values.next()) {
            (None, _) => Ok(None),
            (Some(value), None) => value.to_str().map(Some).map_err(|_| wrong()),
            _ => Err(wrong()),
        }
    }

    fn is_ours(&self, authority: &str) -> bool {
        self.authorities.contains(&authority.to_ascii_lowercase())
    }

    fn is_authorized(&self, headers: &HeaderMap) -> bool {
        let given = headers.get(header::AUTHORIZATION).and_then(|value| value.as_bytes().split_at_checked(7));
        given.is_some_and(|(scheme, token)| {
            scheme.eq_ignore_ascii_case(b"bearer ") && bool::from(token.ct_eq(self.token.as_bytes()))
        })
    }

    /// All of a body, and the room it takes until it is dropped.
    async fn read(&self, body: Body, visitor: Visitor) -> Result<Held> {
        let arrival = self.limits.arrival;
        tokio::time::timeout(arrival, self.collect(body, visitor)).await.unwrap_or_else(|_| {
            let message = format!("the request did not arrive within {} s", arrival.as_secs());
            Err(Error::new(Code::RequestTimeout, message))
        })
    }

    async fn collect(&self, mut body: Body, visitor: Visitor) -> Result<Held> {
        let limit = self.limits.body;
        let room = match visitor {
            Visitor::Owner | Visitor::Viewer => &self.owners,
            Visitor::Passer | Visitor::Page => &self.pages,
        };
        let mut bytes = Vec::new();
        let mut taken: Option<OwnedSemaphorePermit> = None;
        while let Some(frame) = body.frame().await {
            let frame =
                frame.map_err(|error| Error::new(Code::Usage, format!("the request ended too early: {error}")))?;
            let Ok(data) = frame.into_data() else { continue };
            if bytes.len() + data.len() > limit {
                return Err(Error::new(Code::BodyTooLarge, format!("the request is larger than {limit} bytes")));
            }
            // Room is taken before anything is kept, and nobody waits for it with a part of a body in hand.
            let count = u32::try_from(data.len()).unwrap_or(u32::MAX);
            let more = Arc::clone(room).try_acquire_many_owned(count).map_err(|_| {
                Error::new(Code::Busy, "the server holds as many requests as it has memory for")
                    .with_hint("send it again in a second")
            })?;
            match &mut taken {
                Some(taken) => taken.merge(more),
                None => taken = Some(more),
            }
            bytes.extend_from_slice(&data);
        }
        Ok(Held { bytes: Bytes::from(bytes), _room: taken })
    }
}

/// A body, and the room it takes.
struct Held {
    bytes: Bytes,
    _room: Option<OwnedSemaphorePermit>,
}

/// Who was let in. Handlers find it among the request's extensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visitor {
    /// Somebody with the token.
    Owner,
    /// One of our pages, in a browser that came with a code.
    Viewer,
    /// Somebody who sees what is the same for everybody.
    Passer,
    /// A page with the key.
    Page,
}

/// Whether an address shows nothing of the workspace: where a code is handed in, the dashboard's pages and their parts.
fn is_window(path: &str) -> bool {
    path == viewers::PATH || super::dashboard::is_page(path) || path.starts_with(super::dashboard::ASSETS)
}

/// Lets a request in, or says why not.
pub async fn check(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let (mut head, body) = request.into_parts();
    let admitted = guard.admit(&head).await;
    let is_page = matches!(admitted, Ok(Visitor::Page));
    let mut response = match admitted {
        Err(error) => failure(&error),
        Ok(visitor) => {
            head.extensions.insert(visitor);
            match guard.read(body, visitor).await {
                // The room is given back when the request is answered.
                Ok(held) => next.run(Request::from_parts(head, Body::from(held.bytes.clone()))).await,
                Err(error) => failure(&error),
            }
        }
    };
    // A client that was refused should not go on sending what it was refused for.
    if response.status() == StatusCode::SERVICE_UNAVAILABLE {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    if matches!(response.status().as_u16(), 401 | 403 | 408 | 413 | 503) {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    let headers = response.headers_mut();
    let set = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    for (name, value) in set {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    if is_page {
        // Any origin may read the answer, which says nothing but how much was taken; cookies there are none.
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        headers.insert("cross-origin-resource-policy", HeaderValue::from_static("cross-origin"));
    }
    response
}

/// Whether a browser was led to a one-time address: from the page on disk that `backsight open` writes, which is of no origin.
/// The code in the address says who may come, not the page that leads to it.
fn is_led_here(method: &Method, uri: &Uri, headers: &HeaderMap) -> bool {
    let says = |name: &str, value: &str| headers.get(name).is_some_and(|found| found.as_bytes() == value.as_bytes());
    let is_opened = says("sec-fetch-mode", "navigate") && says("sec-fetch-dest", "document");
    *method == Method::GET && uri.path() == viewers::PATH && is_opened
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(pairs: &[(&'static str, &'static str)]) -> Result<(), Code> {
        visit(Method::GET, "/api/status", pairs).map(drop)
    }

    fn visit(method: Method, target: &str, pairs: &[(&'static str, &'static str)]) -> Result<Visitor, Code> {
        let authorities = ["127.0.0.1:80", "localhost:80", "[::1]:80"].map(str::to_owned).to_vec();
        let guard =
            Guard::new("secret".to_owned(), authorities, Limits::default()).with_key(PageKey::new("k".to_owned()));
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, HeaderValue::from_static(value));
        }
        let uri = target.parse().unwrap();
        guard.check_head(&method, &uri, &headers).map_err(|error| error.code())
    }

    #[test]
    fn the_key_lets_a_page_of_any_origin_report_and_nothing_else() {
        let page = [("host", "localhost:80"), ("origin", "http://localhost:3000"), ("sec-fetch-site", "same-site")];
        for (method, target) in [
            (Method::POST, "/ingest?key=k"),
            (Method::POST, "/ingest/console?a=b&key=k"),
            (Method::GET, "/backsight.js?key=k"),
        ] {
            assert_eq!(visit(method, target, &page), Ok(Visitor::Page), "{target}");
        }
        for (method, target) in [
            (Method::POST, "/ingest"),
            (Method::POST, "/ingest?key="),
            (Method::POST, "/ingest?key=kk"),
            (Method::POST, "/ingest?key=secret"),
            (Method::POST, "/ingestion?key=k"),
            (Method::GET, "/ingest?key=k"),
            (Method::OPTIONS, "/ingest?key=k"),
            (Method::POST, "/backsight.js?key=k"),
            (Method::GET, "/api/status?key=k"),
            (Method::POST, "/api/browser/changes?key=k"),
        ] {
            assert_eq!(visit(method, target, &page), Err(Code::Forbidden), "{target}");
        }
        let rebound = [("host", "evil.example:80")];
        assert_eq!(visit(Method::POST, "/ingest?key=k", &rebound), Err(Code::Forbidden));
        assert_eq!(visit(Method::GET, "/api/status?key=k", &page[..1]), Err(Code::Unauthorized));
    }

    #[test]
    fn who_means_us_and_has_the_token_is_let_in() {
        let token = ("authorization", "Bearer secret");
        for host in ["127.0.0.1:80", "localhost:80", "LOCALHOST:80", "[::1]:80"] {
            assert_eq!(outcome(&[("host", host), token]), Ok(()), "{host}");
        }
        assert_eq!(outcome(&[("host", "localhost:80"), ("origin", "http://localhost:80"), token]), Ok(()));
        assert_eq!(outcome(&[("host", "localhost:80"), ("authorization", "bearer secret")]), Ok(()));
    }

    #[test]
    fn other_hosts_origins_and_tokens_are_not() {
        let (host, token) = (("host", "localhost:80"), ("authorization", "Bearer secret"));
        for other in ["evil.example:80", "localhost", "localhost:81", "127.0.0.1.evil.example:80", "localhost:80@evil"]
        {
            assert_eq!(outcome(&[("host", other), token]), Err(Code::Forbidden), "{other}");
        }
        for origin in ["http://evil.example", "null", "https://localhost:80", "http://localhost:81", "file://"] {
            assert_eq!(outcome(&[host, token, ("origin", origin)]), Err(Code::Forbidden), "{origin}");
        }
        assert_eq!(outcome(&[token]), Err(Code::Forbidden));
        assert_eq!(outcome(&[host, host, token]), Err(Code::Forbidden));
        assert_eq!(outcome(&[host, token, ("sec-fetch-site", "cross-site")]), Err(Code::Forbidden));
        for wrong in ["Bearer secre", "Bearer secrets", "Bearer ", "secret", "Basic secret", "Bearer  secret"] {
            assert_eq!(outcome(&[host, ("authorization", wrong)]), Err(Code::Unauthorized), "{wrong}");
        }
        assert_eq!(outcome(&[host]), Err(Code::Unauthorized));
    }
}
