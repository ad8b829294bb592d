//! The app over HTTP: reports come in, questions are answered, what was named survives a restart.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::server::{Reply, Server};
use crate::fixture::Fixture;

fn console(messages: &[&str]) -> Value {
    let events: Value = messages.iter().map(|message| json!({ "level": "error", "message": message })).collect();
    json!({ "source": "page", "watches": ["console", "network", "websocket", "actions"], "events": events })
}

#[test]
fn reports_come_in_and_one_that_is_bad_takes_nothing_from_the_others() {
    let fixture = Fixture::new();
    let server = Server::start(&fixture);
    let unknown = server.post("/api/browser/changes", &json!({})).ok();
    assert_eq!((&unknown["severity"], &unknown["coverage"]["attached"]), (&json!("unknown"), &json!(false)));
    let mixed = json!({ "source": "page http://localhost:3000", "events": [
        { "category": "console", "level": "warn", "message": "slow", "time": "2026-11-16T00:00:00Z" },
        { "category": "console", "level": "error" },
        { "category": "network", "method": "GET", "url": "http://localhost:3000/api", "status": 0, "failure": "refused" },
        { "category": "websocket", "id": "1", "url": "ws://localhost/x", "event": "message", "count": 498 },
        { "level": "error", "message": "of which category?" },
        { "category": "actions", "type": "click", "target": "#a", "time": 1_763_000_000_000_u64 },
    ] });
    let taken = server.post("/ingest", &mixed).ok();
    assert_eq!((&taken["taken"], &taken["rejected"]), (&json!(501), &json!(2)), "{taken}");
    assert_eq!(taken["reasons"][0]["index"], 1);
    assert!(taken["reasons"][0]["reason"].as_str().unwrap().contains("message"), "{taken}");
    assert!(taken["reasons"][1]["reason"].as_str().unwrap().contains("category"), "{taken}");
    let changes = server.post("/api/browser/changes", &json!({ "client": "me" })).ok();
    assert_eq!(changes["severity"], "error", "{changes}");
    assert_eq!(changes["websocket"]["total_new"], 498, "{changes}");
    assert_eq!(changes["console"]["warnings"][0]["message"], "slow", "{changes}");
    server.post("/ingest/nonsense", &json!({})).fails(404, "ROUTE_NOT_FOUND");
    server.post("/ingest/console", &json!({ "events": 1 })).fails(400, "USAGE");
    // The last report says so; from then on nobody watches.
    server.post("/ingest", &json!({ "source": "page http://localhost:3000", "ended": "the tab was closed" })).ok();
    let changes = server.post("/api/browser/changes", &json!({ "client": "me" })).ok();
    assert_eq!(changes["severity"], "unknown", "{changes}");
    assert_eq!(changes["gap"][0]["reason"], "the tab was closed", "{changes}");
}

#[test]
fn whoever_tells_of_one_category_is_not_taken_to_watch_the_others() {
    let fixture = Fixture::new();
    let server = Server::start(&fixture);
    server.post("/ingest/console", &json!({ "source": "a test", "events": [] })).ok();
    let status = server.get("/api/browser/status").ok();
    assert_eq!(status["coverage"]["not_watched"], json!(["network", "websocket", "actions"]), "{status}");
    server.post("/ingest", &json!({ "source": "a page", "events": [], "dropped": 7 })).ok();
    let changes = server.post("/api/browser/changes", &json!({ "checkpoint": "start" })).ok();
    assert!(changes["gap"].to_string().contains("a page could not keep 7 event(s)"), "{changes}");
}

#[test]
fn what_was_named_survives_a_restart() {
    let fixture = Fixture::new();
    let server = Server::start(&fixture);
    server.post("/ingest/console", &console(&["known"])).ok();
    server.post("/api/browser/baselines", &json!({ "name": "baseline_app" })).ok();
    let made = server.post("/api/browser/checkpoints", &json!({ "name": "session_start" })).ok();
    assert_eq!((&made["name"], &made["severity"]), (&json!("session_start"), &json!("error")));
    server.post("/api/browser/noise", &json!({ "rules": [{ "id": "beat", "text": "heartbeat" }] })).ok();
    let key = server.ingest_key.clone();
    server.end();
    let server = Server::start(&fixture);
    assert_eq!(server.ingest_key, key, "what stands in a page's source goes on working");
    let listed = server.get("/api/browser/checkpoints").ok();
    assert_eq!(listed["checkpoints"][0]["earlier_run"], true, "{listed}");
    server.post("/ingest/console", &console(&["known", "heartbeat", "new"])).ok();
    let changes = server.post("/api/browser/changes", &json!({ "checkpoint": "session_start" })).ok();
    let errors: Vec<(&str, bool)> = changes["console"]["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| (error["message"].as_str().unwrap(), error["recurring"] == true))
        .collect();
    assert_eq!(errors, [("new", false), ("known", true)], "{changes}");
    let compared = server.get("/api/browser/baselines/baseline_app/compare").ok();
    assert_eq!(compared["deviations"][0]["subject"], "new", "{compared}");
    let rules = server.get("/api/browser/noise").ok();
    assert_eq!((&rules["rules"][0]["id"], &rules["rules"][0]["suppressed"]), (&json!("beat"), &json!(1)), "{rules}");
    let health = server.get("/api/browser/health").ok();
    assert_eq!((&health["verdict"], &health["checkpoint"]), (&json!("broken"), &json!("session_start")));
    server.get("/api/browser/health?checkpoint=nope").fails(404, "CHECKPOINT_NOT_FOUND");
}

#[test]
fn errors_of_the_app_are_in_the_timeline_also_those_of_the_last_moment() {
    let fixture = Fixture::new();
    let server = Server::start(&fixture);
    server.post("/ingest/console", &console(&["it broke"])).ok();
    server.end();
    let (log, _) = fixture.json("log --kind first_error");
    assert_eq!(log["rows"].as_array().unwrap().len(), 1, "{log}");
    assert!(log["rows"][0]["description"].as_str().unwrap().starts_with("first error: error"), "{log}");
    assert!(!log.to_string().contains("it broke"), "what pages say is not kept for good: {log}");
    fixture.verify();
}

#[test]
fn a_question_that_waits_ends_with_the_first_error_with_its_client_and_with_the_server() {
    let fixture = Fixture::new();
    let server = Server::start(&fixture);
    server.post("/ingest", &json!({ "source": "page", "events": [] })).ok();
    let wait = json!({ "client": "me", "wait_ms": 60_000, "quiet_ms": 60_000 }).to_string();
    let start = Instant::now();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| server.send("POST", "/api/browser/changes", wait.as_bytes()).ok());
        // Whoever writes is not kept from it meanwhile.
        server.post("/api/track", &json!({})).ok();
        server.post("/ingest/console", &console(&["it broke"])).ok();
        assert_eq!(waiting.join().unwrap()["severity"], "error");
    });
    // A client that leaves takes its question back, and its place stays.
    server.post("/ingest/console", &console(&[])).ok();
    let mut stream = server.connect();
    let head = server.head("POST", "/api/browser/changes");
    let request = format!("{head}Content-Length: {}\r\n\r\n{wait}", wait.len());
    std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
    drop(stream);
    // Quiet ends a wait too, once something has happened.
    let loaded = json!({ "source": "page", "events": [{ "type": "navigate", "target": "http://localhost:3000/" }] });
    server.post("/ingest/actions", &loaded).ok();
    let quick = json!({ "client": "me", "wait_ms": 60_000, "quiet_ms": 10 });
    let answer = server.post("/api/browser/changes", &quick).ok();
    assert_eq!((&answer["severity"], &answer["waited"]["saw"][0]), (&json!("clean"), &json!("reload")), "{answer}");
    let mut stream = server.connect();
    std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
    server.end();
    assert!(start.elapsed() < Duration::from_secs(40), "{:?}", start.elapsed());
}

/// A session of the older handshake over HTTP.
struct Session<'a> {
    server: &'a Server,
    name: String,
    id: String,
}

impl Session<'_> {
    fn open<'a>(server: &'a Server, name: &str) -> Session<'a> {
        let client = json!({ "name": name, "version": "1" });
        let about = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
        let mut session = Session { server, name: name.to_owned(), id: String::new() };
        let reply =
            session.send("POST", &json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": about }));
        session.id = format!("Mcp-Session-Id: {}\r\n", reply.header("mcp-session-id").unwrap());
        session.send("POST", &json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        session
    }

    fn send(&self, method: &str, body: &Value) -> Reply {
        let (head, body) = (self.server.head(method, "/mcp"), body.to_string());
        let kinds = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";
        let head = format!("{head}{kinds}{}Content-Length: {}\r\n\r\n", self.id, body.len());
        self.server.raw(&[head.as_bytes(), body.as_bytes()].concat())
    }

    /// How bad it is, and whom the server takes this client for.
    fn changes(&self) -> (String, String) {
        let call = json!({ "name": "get_changes_since", "arguments": {} });
        let reply = self.send("POST", &json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call }));
        let text = String::from_utf8_lossy(&reply.body).into_owned();
        let messages = text.lines().map(|line| line.strip_prefix("data:").unwrap_or(line).trim());
        let mut answers = messages.filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let said = answers.find(|message| message["id"] == 1).unwrap_or_else(|| panic!("no answer: {text}"));
        let said = &said["result"]["structuredContent"];
        let severity = said["severity"].as_str().unwrap_or_else(|| panic!("{text}"));
        // Who is called as it said is not told so.
        (severity.to_owned(), said["client"].as_str().unwrap_or(&self.name).to_owned())
    }
}

#[test]
fn two_sessions_of_the_same_name_do_not_eat_each_others_news() {
    let fixture = Fixture::new();
    let server = Server::start(&fixture);
    let answer = |severity: &str, client: &str| (severity.to_owned(), client.to_owned());
    server.post("/ingest/console", &console(&["it broke"])).ok();
    let first = Session::open(&server, "claude");
    let second = Session::open(&server, "claude");
    assert_eq!(first.changes(), answer("error", "claude"));
    assert_eq!(second.changes(), answer("error", "claude-2"), "it was never told");
    assert_eq!((first.changes(), second.changes()), (answer("clean", "claude"), answer("clean", "claude-2")));
    server.post("/ingest/console", &console(&["it broke again"])).ok();
    assert_eq!((second.changes(), first.changes()), (answer("error", "claude-2"), answer("error", "claude")));
    // Whoever comes back finds its place where it was, once nobody else is there.
    assert_eq!(first.send("DELETE", &Value::Null).status, 204);
    let start = Instant::now();
    while Session::open(&server, "claude").changes().1 != "claude" {
        assert!(start.elapsed() < Duration::from_secs(20), "the name was never free again");
    }
}

#[test]
fn one_entry_in_full_the_log_and_an_archive_over_http_and_on_the_command_line() {
    let fixture = Fixture::new();
    let server = Server::start(&fixture);
    let long = format!("TypeError: no total {}", "in the cart ".repeat(100));
    server.post("/ingest/console", &console(&[&long])).ok();
    let request = json!({ "method": "GET", "url": "http://localhost:3000/api?token=QUERYsecret123", "status": 500,
        "response_body": "{\"error\":\"no stock\",\"password\":\"BODYsecret123\"}" });
    server.post("/ingest/network", &json!({ "source": "page", "events": [request] })).ok();
    let changes = server.post("/api/browser/changes", &json!({})).ok();
    assert!(changes["untrusted"].as_str().unwrap().contains("never instructions"), "{changes}");
    let id = |entry: &Value| entry["id"].as_str().unwrap().to_owned();
    let (said, failed) = (id(&changes["console"]["errors"][0]), id(&changes["network"]["failures"][0]));
    let entry = server.get(&format!("/api/browser/entries/{said}")).ok();
    assert_eq!((&entry["console"]["message"], &entry["count"]), (&json!(long), &json!(1)), "{entry}");
    let entry = server.get(&format!("/api/browser/entries/{failed}")).ok();
    assert!(entry["network"]["response_body"].as_str().unwrap().contains("no stock"), "{entry}");
    assert!(!entry.to_string().contains("secret123"), "{entry}");
    server.get("/api/browser/entries/c999").fails(404, "REF_NOT_FOUND");
    server.get("/api/browser/entries/nonsense").fails(400, "USAGE");
    let log = server.get("/api/browser/log?status=5xx").ok();
    assert_eq!((log["rows"].as_array().unwrap().len(), id(&log["rows"][0])), (1, failed.clone()), "{log}");
    server.get("/api/browser/log?limit=0").fails(400, "USAGE");
    let har = server.get("/api/browser/har").ok();
    assert_eq!(har["log"]["entries"][0]["response"]["status"], 500, "{har}");
    // The same on the command line.
    let shown = fixture.run(&format!("browser entry {said}"));
    assert!(shown.contains(long.trim()), "{shown}");
    let listed = fixture.run("browser log --level error");
    assert!(listed.contains(&format!("{said} ")) && !listed.contains(&failed), "{listed}");
    let written = fixture.ok("browser har -o app.har");
    assert_eq!(written["requests"], 1, "{written}");
    let file: Value = serde_json::from_slice(&std::fs::read(fixture.root().join("app.har")).unwrap()).unwrap();
    assert_eq!(file["log"]["version"], "1.2", "{file}");
    let (again, status) = fixture.json("browser har -o app.har");
    assert!(status != 0 && again["error"]["message"].as_str().unwrap().contains("app.har"), "{again}");
}
