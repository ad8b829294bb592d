//! Requests of a real Chromium that go wrong in ways that look well: each has to be told, and once.

use std::sync::Arc;
use std::time::Duration;

use backsight_browser::cdp::{Attach, Place};
use backsight_browser::report::{Changes, FailureEntry, NetworkChanges, Severity};
use backsight_browser::{Ask, Browser as Lane, Limits, Options};
use serde_json::json;

use crate::driver::{Browser, Driver, wait_for};
use crate::recorder::clock;
use crate::site::{Answer, Site};

/// Longer than any test waits.
const NEVER: Duration = Duration::from_secs(600);

/// A worker that waits for answers no longer than it wants to.
const WORKER: &str =
    "const request = new XMLHttpRequest(); request.open('GET', '/worker-xhr'); request.timeout = 300; request.send();
    fetch('/worker-signal', { signal: AbortSignal.timeout(300) }).catch(() => 0);";

fn site() -> Site {
    let script = "const quiet = (address, options) => fetch(address, options).then(() => 0, () => 0);";
    let never = || Answer::new(200, "text/plain", "late").after(NEVER);
    let broken = "<!doctype html><title>Error</title><pre>TypeError: no cart<br>at routes.js:12</pre>";
    let complaint = r#"{"data":null,"errors":[{"message":"Not authorised"}]}"#;
    Site::serve(&[
        ("/", Answer::page(script).with("Content-Security-Policy", "connect-src 'self'")),
        ("/unread", Answer::new(500, "text/plain", "the database is down").with("Cache-Control", "no-store")),
        ("/page", Answer::new(500, "text/html", broken)),
        ("/logo.png", Answer::html("not a picture")),
        ("/graphql", Answer::new(200, "application/json", complaint)),
        ("/xhr", never()),
        ("/signal", never()),
        ("/given-up", never()),
        ("/hangs", never()),
        ("/silent", never()),
        ("/worker-xhr", never()),
        ("/worker-signal", never()),
        ("/worker.js", Answer::script(WORKER)),
        ("/events", Answer::new(200, "text/event-stream", "data: hello\n\n")),
        ("/style.css", Answer::new(404, "text/html", "no").with("X-Content-Type-Options", "nosniff")),
    ])
}

fn lane(port: u16) -> Arc<Lane> {
    let lane = Arc::new(Lane::new(Options { clock: clock(), salt: 7, limits: Limits::default() }));
    lane.attach(Attach::new(Place::Port(port), clock())).unwrap();
    wait_for("the page", || lane.watching().filter(|watching| watching.pages.len() == 1));
    lane
}

fn since_start(lane: &Lane) -> Changes {
    let ask = Ask { checkpoint: Some("start".to_owned()), peek: true, ..Ask::default() };
    lane.changes("agent", &ask, &|| false).unwrap()
}

fn ended<'a>(list: &'a [FailureEntry], path: &str) -> Option<&'a FailureEntry> {
    list.iter().find(|entry| entry.path.ends_with(path))
}

/// Asks until the network is as expected.
fn until(lane: &Lane, what: &str, is_so: impl Fn(&NetworkChanges) -> bool) -> Changes {
    wait_for(what, || Some(since_start(lane)).filter(|changes| changes.network.as_ref().is_some_and(&is_so)))
}

fn refused_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn open(browser: &Browser, url: &str) -> (Driver, String) {
    let mut driver = browser.driver();
    let target = driver.open(url);
    let session = driver.attach(&target);
    // The empty page of a new tab is complete at once.
    let state = "location.protocol === 'about:' ? 'blank' : document.readyState";
    wait_for("the document", || (driver.evaluate(&session, state) == "complete").then_some(()));
    (driver, session)
}

#[test]
fn what_goes_wrong_in_silence_is_told() {
    let site = site();
    let browser = Browser::start();
    let (mut driver, session) = open(&browser, &site.url("/"));
    let lane = lane(browser.port);
    // Only then are the page's own functions watched.
    driver.call(Some(&session), "Page.reload", json!({}));
    until(&lane, "the reload", |network| network.total_new > 0);
    wait_for("the script", || (driver.evaluate(&session, "typeof quiet") == "function").then_some(()));
    let script = format!(
        "quiet('/unread'); quiet('/page'); quiet('/hangs'); quiet('{elsewhere}');
        quiet('/graphql', {{ method: 'POST', body: JSON.stringify({{ operationName: 'Cart', query: 'query Cart {{ a }}' }}) }})
        quiet('/signal', {{ signal: AbortSignal.timeout(300) }});
        const over = new AbortController(); quiet('/given-up', {{ signal: over.signal }}); setTimeout(() => over.abort(), 300);
        const request = new XMLHttpRequest(); request.open('GET', '/xhr'); request.timeout = 300; request.send();
        document.body.append(Object.assign(new Image(), {{ src: '/logo.png' }}));
        document.body.append(Object.assign(document.createElement('iframe'), {{ src: 'http://127.0.0.1:{}/frame' }}));
        void 0",
        refused_port(),
        elsewhere = site.elsewhere("/blocked"),
    );
    driver.evaluate(&session, &script);
    let changes = until(&lane, "all of it", |network| {
        let failed = |path: &&str| ended(&network.failures, path).is_some();
        ["/unread", "/page", "/blocked", "/graphql#Cart", "/signal", "/xhr", "/frame"].iter().all(failed)
            && !network.mistyped.is_empty()
            && network.pending.iter().any(|entry| entry.path.ends_with("/hangs"))
    });
    let network = changes.network.unwrap();
    let detail = |path: &str| ended(&network.failures, path).unwrap().detail.clone();
    assert_eq!(detail("/unread"), "the database is down");
    assert_eq!(detail("/page"), "TypeError: no cart at routes.js:12");
    assert_eq!(detail("/blocked"), "blocked by the content security policy: connect-src 'self'");
    assert_eq!(detail("/graphql#Cart"), "GraphQL: Not authorised");
    assert_eq!(detail("/xhr"), "timed out after 300 ms");
    assert!(detail("/signal").starts_with("timed out"), "{}", detail("/signal"));
    assert_eq!(detail("/frame"), "net::ERR_CONNECTION_REFUSED");
    assert!(ended(&network.mistyped, "/logo.png").is_some(), "{:?}", network.mistyped);
    assert!(ended(&network.failures, "/given-up").is_none(), "giving up is no failure");
    assert_eq!(network.failures.iter().find(|failure| failure.count != 1), None, "each is told once");
    assert!(network.pending.iter().all(|entry| entry.age_ms >= 3_000), "{:?}", network.pending);
    assert_eq!(changes.console.unwrap().errors, [], "the failures say it all");
}

#[test]
fn streams_and_withheld_answers_are_told() {
    let site = site();
    let browser = Browser::start();
    let (mut driver, session) = open(&browser, &site.url("/"));
    let lane = lane(browser.port);
    let style = "Object.assign(document.createElement('link'), { rel: 'stylesheet', href: '/style.css' })";
    let image = format!("Object.assign(new Image(), {{ src: '{}' }})", site.elsewhere("/gone.png"));
    let script = format!(
        "new EventSource('/silent'); new EventSource('/events'); document.head.append({style}); document.body.append({image});"
    );
    driver.evaluate(&session, &script);
    let changes = until(&lane, "all of it", |network| {
        let failed = |path: &&str| ended(&network.failures, path).is_some();
        ["/style.css", "/gone.png"].iter().all(failed)
            && network.pending.iter().any(|entry| entry.path.ends_with("/silent"))
    });
    let network = changes.network.unwrap();
    for path in ["/style.css", "/gone.png"] {
        let failure = ended(&network.failures, path).unwrap();
        assert_eq!((failure.status, failure.count), (404, 1), "{path}");
    }
    assert_eq!(changes.console.unwrap().errors, [], "the failures say it all");
    let streams = changes.websocket.unwrap();
    let lost = &streams.disconnections[0];
    assert!(lost.url.ends_with("/events") && lost.close_reason.contains("ended the event stream"), "{lost:?}");
    assert!(streams.total_new >= 3, "open, a message, ended: {}", streams.total_new);
}

#[test]
fn time_limits_of_workers_are_told() {
    let site = site();
    let browser = Browser::start();
    let (mut driver, session) = open(&browser, &site.url("/"));
    let lane = lane(browser.port);
    driver.evaluate(&session, "new Worker('/worker.js'); 1");
    let failed =
        |network: &NetworkChanges, path: &str| ended(&network.failures, path).map(|entry| entry.detail.clone());
    let changes = until(&lane, "both limits", |network| {
        failed(network, "/worker-xhr").is_some() && failed(network, "/worker-signal").is_some()
    });
    let network = changes.network.unwrap();
    assert_eq!(failed(&network, "/worker-xhr").as_deref(), Some("timed out after 300 ms"));
    assert!(failed(&network, "/worker-signal").unwrap().starts_with("timed out"));
}

#[test]
fn requests_of_before_the_attach_that_the_page_did_not_keep_are_a_gap() {
    let site = Site::serve(&[("/", Answer::page("")), ("/a", Answer::new(200, "text/plain", "a"))]);
    let browser = Browser::start();
    let (mut driver, session) = open(&browser, &site.url("/"));
    let script = "window.count = 0; (async () => {
        while (count < 330) count += await fetch('/a?' + count).then((a) => a.text()).then(() => 1, () => 0);
    })(); 1";
    driver.evaluate(&session, script);
    wait_for("the requests", || (driver.evaluate(&session, "count === 330") == true).then_some(()));
    let lane = lane(browser.port);
    let changes = wait_for("the gap", || {
        let is_cut = |changes: &Changes| changes.gap.iter().any(|gap| gap.reason.contains("of which a page keeps 250"));
        Some(since_start(&lane)).filter(is_cut)
    });
    assert_eq!(changes.severity, Severity::Unknown, "{}", changes.summary);
    let told = changes.network.unwrap().total_new;
    assert!((200..=251).contains(&told), "what it kept is told: the page and up to 250 more, not {told}");
}

#[test]
fn a_page_that_cannot_be_loaded_is_an_error_also_for_one_who_comes_later() {
    let site = site();
    let browser = Browser::start();
    let (mut driver, session) = open(&browser, &site.url("/"));
    let first = lane(browser.port);
    let url = format!("http://127.0.0.1:{}/gone", refused_port());
    driver.call(Some(&session), "Page.navigate", json!({ "url": url }));
    let is_told = |network: &NetworkChanges| {
        ended(&network.failures, "/gone").is_some_and(|failure| failure.detail == "net::ERR_CONNECTION_REFUSED")
    };
    let changes = until(&first, "the failure", is_told);
    assert_eq!(changes.severity, Severity::Error);
    wait_for("the error page", || (driver.evaluate(&session, "location.protocol") == "chrome-error:").then_some(()));
    assert!(is_told(&since_start(&first).network.unwrap()), "the browser's own page does not make it well");
    let second = lane(browser.port);
    until(&second, "the same", |network| ended(&network.failures, "/gone").is_some());
}
