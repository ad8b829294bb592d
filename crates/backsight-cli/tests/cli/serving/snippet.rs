//! The script for pages, in a real Chromium that nobody attaches to: the page includes it and does what pages do, and the
//! server tells what happened.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::server::Server;
use super::site::Site;
use crate::fixture::Fixture;

/// A Chromium without windows that shows one page until the test ends.
struct Browser {
    child: Child,
    profile: tempfile::TempDir,
}

fn chromium() -> PathBuf {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let search = std::env::var_os("PATH").unwrap_or_default();
    let mut candidates = std::env::split_paths(&search).flat_map(|folder| names.map(|name| folder.join(name)));
    candidates
        .find(|program| program.exists())
        .expect("there is no Chromium: sudo apt-get install --no-install-recommends chromium")
}

impl Browser {
    fn open(url: &str) -> Browser {
        let profile = tempfile::tempdir().unwrap();
        let mut command = Command::new(chromium());
        command.args([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
        ]);
        // Nobody attaches: the port is only what keeps a headless browser from ending once the page is loaded.
        command.arg("--remote-debugging-port=0").arg(format!("--user-data-dir={}", profile.path().display())).arg(url);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        Browser { child, profile }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Asks until the page said it was done, at most half a minute.
fn until_done(server: &Server) -> Value {
    let start = Instant::now();
    loop {
        let ask = json!({ "client": "me", "checkpoint": "start", "wait_ms": 2000, "quiet_ms": 1000 });
        let changes = server.post("/api/browser/changes", &ask).ok();
        let warnings = changes["console"]["warnings"].as_array().cloned().unwrap_or_default();
        if warnings.iter().any(|warning| warning["message"] == "the page is done") {
            return changes;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "the page was not heard: {changes}");
    }
}

const PAGE: &str = r##"<!doctype html><title>A page</title>
<script src="{{script}}"></script><script src="{{script}}"></script>
<button id="save">Save</button><input id="name" type="text"><input id="secret" type="password">
<script>
const sleep = (time) => new Promise((done) => setTimeout(done, time));
const settled = (promise) => promise.catch(() => {});
(async () => {
  for (let round = 0; round < 3; round += 1) console.error("cannot load user", { id: 4000 + round });
  console.assert(1 > 2, "numbers are odd");
  console.log("%s is fine", "this");
  await settled(fetch("/api/ok"));
  const answer = await fetch("/api/broken");
  if ((await answer.json()).error !== "the database is gone") console.error("the answer was eaten");
  await settled(fetch("http://127.0.0.1:1/refused"));
  const aborted = new AbortController();
  const abandoned = settled(fetch("/api/abandoned", { signal: aborted.signal }));
  aborted.abort();
  await abandoned;
  await new Promise((done) => {
    const request = new XMLHttpRequest();
    request.open("POST", "/api/missing");
    request.onloadend = done;
    request.send("{}");
  });
  await new Promise((done) => {
    const image = new Image();
    image.onerror = done;
    image.src = "/gone.png";
  });
  await new Promise((done) => {
    const socket = new WebSocket("ws://" + location.host + "/live");
    socket.onclose = done;
  });
  if (!(new WebSocket("ws://" + location.host + "/live") instanceof WebSocket)) console.error("not a WebSocket");
  document.querySelector("#save").click();
  for (const [field, text] of [["#name", "Ada Lovelace"], ["#secret", "hunter2hunter2"]]) {
    document.querySelector(field).value = text;
    document.querySelector(field).dispatchEvent(new Event("input", { bubbles: true }));
  }
  history.pushState({}, "", "/next");
  setTimeout(() => { null.property; }, 0);
  Promise.reject(new RangeError("out of reach"));
  await sleep(700);
  console.warn("the page is done");
})();
</script>"##;

#[test]
fn a_page_with_the_script_tells_what_happens_in_it() {
    let fixture = Fixture::new();
    let server = Server::start(&fixture);
    let script = format!("http://{}/backsight.js?key={}", server.authority, server.ingest_key);
    let site = Site::start(PAGE.replace("{{script}}", &script));
    let _browser = Browser::open(&format!("{}/", site.origin));
    let changes = until_done(&server);
    let shown = serde_json::to_string_pretty(&changes).unwrap();

    assert_eq!(changes["coverage"]["watching"], json!([format!("page {}", site.origin)]), "{shown}");
    let errors: Vec<(&str, u64)> = changes["console"]["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| (error["message"].as_str().unwrap(), error["count"].as_u64().unwrap()))
        .collect();
    let has = |text: &str, count: u64| errors.iter().any(|(said, times)| said.contains(text) && *times == count);
    assert!(has("cannot load user {id: 4002}", 3), "the latest of them: {shown}");
    assert!(has("Assertion failed: numbers are odd", 1), "{shown}");
    assert!(has("RangeError: out of reach", 1), "{shown}");
    assert!(has("TypeError: Cannot read properties of null (reading 'property')", 1), "{shown}");
    assert!(!shown.contains("eaten") && !shown.contains("not a WebSocket"), "the page is as it would be: {shown}");
    let source = &changes["console"]["errors"][0]["source"];
    assert!(source.as_str().unwrap().contains(":") && !source.to_string().contains("backsight.js"), "{shown}");

    let failures: Vec<String> = changes["network"]["failures"]
        .as_array()
        .unwrap()
        .iter()
        .map(|failure| {
            format!(
                "{} {} {}",
                failure["method"].as_str().unwrap(),
                failure["path"].as_str().unwrap(),
                failure["status"]
            )
        })
        .collect();
    for expected in ["GET /api/broken 500", "POST /api/missing 404", "GET /gone.png 404"] {
        assert!(failures.contains(&expected.to_owned()), "{expected}: {shown}");
    }
    assert!(failures.iter().any(|failure| failure.contains("/refused") && failure.ends_with(" 0")), "{shown}");
    assert!(!failures.iter().any(|failure| failure.contains("abandoned") || failure.contains("/api/ok")), "{shown}");
    assert!(shown.contains("the database is gone") && !shown.contains("/ingest"), "{shown}");
    assert!(changes["websocket"]["total_new"].as_u64().unwrap() >= 2, "{shown}");

    let actions = changes["actions"]["actions"].to_string();
    assert!(
        actions.contains("#save") && actions.contains("12 characters") && actions.contains("14 characters, password"),
        "{shown}"
    );
    assert!(actions.contains("/next") && actions.contains("navigate"), "{shown}");
    assert!(!shown.contains("Ada") && !shown.contains("hunter2"), "what is typed stays in the page: {shown}");
}

#[test]
fn what_a_page_could_not_send_waits_for_the_server() {
    let fixture = Fixture::new();
    let server = Server::start(&fixture);
    let script = format!("http://{}/backsight.js?key={}", server.authority, server.ingest_key);
    let port: u16 = server.authority.rsplit(':').next().unwrap().parse().unwrap();
    let page = "<script src=\"{{script}}\"></script><script>console.error('before'); \
        const loop = () => { console.error('still here'); setTimeout(loop, 200); }; loop();</script>";
    let site = Site::start(page.replace("{{script}}", &script));
    let _browser = Browser::open(&format!("{}/", site.origin));
    let start = Instant::now();
    let heard = |server: &Server| {
        let changes = server.post("/api/browser/changes", &json!({ "client": "me", "checkpoint": "start" })).ok();
        changes["console"]["errors"].as_array().is_some_and(|errors| !errors.is_empty())
    };
    while !heard(&server) {
        assert!(start.elapsed() < Duration::from_secs(60), "the page was not heard");
        std::thread::yield_now();
    }
    server.end();
    let server = Server::start_at(&fixture, port);
    while !heard(&server) {
        assert!(start.elapsed() < Duration::from_secs(120), "the page was not heard again");
        std::thread::yield_now();
    }
}

/// A page with the script that says and asks for something once.
const ONCE: &str = "<!doctype html><link rel=icon href=data:,><script src=\"{{script}}\"></script>\n\
    <script>console.error('it is said once'); fetch('/api/broken');</script>";

/// Asks until it is so, at most half a minute; the window is always the whole time.
#[track_caller]
fn until(server: &Server, is_so: impl Fn(&Value) -> bool) -> Value {
    let start = Instant::now();
    loop {
        let ask = json!({ "client": "me", "checkpoint": "start", "wait_ms": 1000, "quiet_ms": 200 });
        let changes = server.post("/api/browser/changes", &ask).ok();
        if is_so(&changes) {
            return changes;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "it never came to that: {changes}");
    }
}

#[track_caller]
fn happened_once(changes: &Value) {
    let shown = serde_json::to_string_pretty(changes).unwrap();
    let errors = changes["console"]["errors"].as_array().unwrap();
    assert_eq!(
        (errors.len(), &errors[0]["message"], &errors[0]["count"]),
        (1, &json!("it is said once"), &json!(1)),
        "{shown}"
    );
    assert!(!errors[0]["source"].to_string().contains("backsight.js"), "the page said it, not the script: {shown}");
    let failures = changes["network"]["failures"].as_array().unwrap();
    assert_eq!(
        (failures.len(), &failures[0]["path"], &failures[0]["count"]),
        (1, &json!("/api/broken"), &json!(1)),
        "{shown}"
    );
    assert!(!shown.contains("/ingest"), "what the script asks for is no business of the app: {shown}");
}

#[test]
fn a_page_with_the_script_in_a_browser_that_is_watched_is_told_once() {
    let fixture = Fixture::new();
    let server = Server::start(&fixture);
    let script = format!("http://{}/backsight.js?key={}", server.authority, server.ingest_key);
    let site = Site::start(ONCE.replace("{{script}}", &script));
    let open = format!("{}/", site.origin);
    let launch = json!({ "launch": true, "headless": true, "program": chromium(), "open": open });
    server.post("/api/browser/attach", &launch).ok();
    let both = |changes: &Value| {
        let failed = changes["network"]["failures"].is_array();
        failed && changes["console"]["errors"].is_array() && changes["coverage"]["seen_twice"].as_u64() >= Some(3)
    };
    let changes = until(&server, both);
    happened_once(&changes);
    let watching = changes["coverage"]["watching"].as_array().unwrap();
    assert_eq!(watching.len(), 1, "the browser: {changes}");
    server.post("/api/browser/detach", &json!({})).ok();
}

#[test]
fn what_a_page_told_by_itself_is_not_told_again_by_a_browser_that_is_attached_later() {
    let fixture = Fixture::new();
    let server = Server::start(&fixture);
    let script = format!("http://{}/backsight.js?key={}", server.authority, server.ingest_key);
    let site = Site::start(ONCE.replace("{{script}}", &script));
    let browser = Browser::open(&format!("{}/", site.origin));
    let told = |changes: &Value| changes["network"]["failures"].is_array() && changes["console"]["errors"].is_array();
    happened_once(&until(&server, told));
    server.post("/api/browser/attach", &json!({ "profile": browser.profile.path() })).ok();
    let again = |changes: &Value| changes["coverage"]["seen_twice"].as_u64() >= Some(2);
    happened_once(&until(&server, again));
}
