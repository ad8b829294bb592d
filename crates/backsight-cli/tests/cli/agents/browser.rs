//! The app in the browser as agents see it: what happened since each of them looked, under names that survive a restart.
//! What happens is reported over HTTP, as a page does it.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::{Agent, Era};
use super::size::tokens;
use super::{installed, source};
use crate::fixture::Fixture;
use crate::serving::server::Server;
use crate::serving::site::Site;

/// What a page reports to the server of the workspace.
pub fn report(fixture: &Fixture, category: &str, events: Value) {
    let file = fixture.root().join(".backsight/store/server.json");
    let start = Instant::now();
    // Whoever has just become the server needs a moment to say where it is.
    let text = loop {
        match std::fs::read(&file) {
            Ok(text) => break text,
            Err(error) => assert!(start.elapsed() < Duration::from_secs(20), "{error}"),
        }
        std::thread::yield_now();
    };
    let server = Server::known(&serde_json::from_slice(&text).unwrap());
    let body = json!({ "source": "page", "watches": WATCHES, "events": events });
    let reply = server.post(&format!("/ingest/{category}"), &body).ok();
    assert_eq!(reply["rejected"], 0, "{reply}");
}

const WATCHES: [&str; 4] = ["console", "network", "websocket", "actions"];

fn errors(messages: &[&str]) -> Value {
    messages.iter().map(|message| json!({ "level": "error", "message": message })).collect()
}

#[test]
fn an_agent_edits_waits_and_sees_what_broke() {
    let fixture = Fixture::new();
    let mut agent = Agent::new(&fixture);
    let changes = agent.ok("get_changes_since", json!({}));
    assert_eq!((&changes["severity"], &changes["client"]), (&json!("unknown"), &Value::Null), "nobody watches");
    let status = agent.ok("browser_status", json!({}));
    assert_eq!(status["attached"], false);

    report(
        &fixture,
        "network",
        json!([{ "method": "GET", "url": "http://localhost:3000/api/users?page=1", "status": 200 }]),
    );
    let changes = agent.ok("get_changes_since", json!({}));
    assert_eq!(changes["severity"], "unknown", "before that nobody watched: {changes}");
    assert_eq!(changes["network"]["new_endpoints"].as_array().unwrap().len(), 1, "{changes}");
    let made = agent.ok("checkpoint_create", json!({ "name": "session_start" }));
    assert_eq!((&made["name"], &made["severity"]), (&json!("session_start"), &json!("clean")), "{made}");
    assert_eq!(agent.ok("get_changes_since", json!({}))["severity"], "clean");

    report(&fixture, "console", errors(&["TypeError: x is undefined", "TypeError: x is undefined"]));
    report(
        &fixture,
        "network",
        json!([{ "method": "GET", "url": "http://localhost:3000/api/users?page=2", "status": 500 }]),
    );
    report(
        &fixture,
        "websocket",
        json!([
            { "id": "1", "url": "ws://localhost:3000/live", "event": "open" },
            { "id": "1", "url": "ws://localhost:3000/live", "event": "close", "code": 1006 },
        ]),
    );
    report(&fixture, "actions", json!([{ "type": "click", "target": "#save" }]));
    let said = agent.call("get_changes_since", json!({ "wait_ms": 5000 }));
    let changes = &said.structured;
    assert_eq!(changes["severity"], "error");
    assert_eq!(changes["console"]["errors"][0]["count"], 2, "{changes}");
    let failure = &changes["network"]["failures"][0];
    assert_eq!((&failure["status"], &failure["previous_status"]), (&json!(500), &json!(200)), "{changes}");
    assert_eq!(changes["websocket"]["disconnections"][0]["close_code"], 1006, "{changes}");
    assert_eq!(changes["actions"]["actions"][0]["target"], "#save", "{changes}");
    assert!(changes["from"].is_string() && changes["to"].is_string() && changes["duration_ms"].is_i64(), "{changes}");
    assert!(changes["token_count"].is_u64() && changes["summary"].is_string(), "{changes}");
    for word in ["TypeError: x is undefined", "/api/users", "1006", "#save"] {
        assert!(said.text.contains(word), "{word}: {}", said.text);
    }
    assert_eq!(agent.ok("get_changes_since", json!({}))["severity"], "clean", "it was told");
    let again = agent.ok("get_changes_since", json!({ "checkpoint": "session_start", "severity": "errors_only" }));
    assert_eq!(again["severity"], "error", "a name does not move on");
    let some = agent.ok("get_changes_since", json!({ "checkpoint": "session_start", "include": "network" }));
    assert!(some.get("console").is_none() && some["network"].is_object(), "{some}");
    let health = agent.ok("get_session_health", json!({}));
    assert_eq!((&health["verdict"], &health["checkpoint"]), (&json!("broken"), &json!("session_start")), "{health}");
    assert!(health["reasons"][0].as_str().unwrap().contains("TypeError"), "{health}");
}

#[test]
fn what_goes_wrong_says_what_to_do() {
    let fixture = Fixture::new();
    let mut agent = Agent::new(&fixture);
    agent.ok("checkpoint_create", json!({ "name": "before_refactor" }));
    let error = agent.fails("get_changes_since", json!({ "checkpoint": "before_refctor" }), "CHECKPOINT_NOT_FOUND");
    assert!(error["hint"].as_str().unwrap().contains("before_refactor"), "{error}");
    agent.fails("checkpoint_create", json!({ "name": "Before Refactor!" }), "INVALID_NAME");
    agent.fails("checkpoint_delete", json!({ "name": "nope" }), "CHECKPOINT_NOT_FOUND");
    agent.fails("baseline", json!({ "action": "compare", "name": "nope" }), "BASELINE_NOT_FOUND");
    agent.fails("baseline", json!({ "action": "save" }), "USAGE");
    agent.fails("noise_rules", json!({ "action": "add", "rules": [{}] }), "INVALID_RULE");
    agent.fails("noise_rules", json!({ "action": "add", "rules": [{ "text": "(" }] }), "INVALID_RULE");
    agent.fails("noise_rules", json!({ "action": "remove", "id": "nope" }), "RULE_NOT_FOUND");
    agent.fails("get_changes_since", json!({ "wait_ms": 60_001 }), "USAGE");
    agent.fails("get_changes_since", json!({ "include": ["nope"] }), "USAGE");
    agent.fails("get_changes_since", json!({ "severity": "some" }), "USAGE");
}

#[test]
fn two_agents_do_not_eat_each_others_news() {
    let fixture = Fixture::new();
    let mut first = Agent::named(&fixture, "first", Era::Modern);
    let mut second = Agent::named(&fixture, "second", Era::Modern);
    for agent in [&mut first, &mut second] {
        agent.ok("get_changes_since", json!({}));
    }
    report(&fixture, "console", errors(&["it broke"]));
    assert_eq!(first.ok("get_changes_since", json!({ "peek": true }))["severity"], "error");
    for agent in [&mut first, &mut second] {
        assert_eq!(agent.ok("get_changes_since", json!({}))["severity"], "error");
        assert_eq!(agent.ok("get_changes_since", json!({}))["severity"], "clean");
        assert_eq!(agent.ok("get_changes_since", json!({ "checkpoint": "last" }))["severity"], "clean");
    }
    // Two of the same name are two clients too.
    let mut twin = Agent::named(&fixture, "first", Era::Modern);
    assert_eq!(twin.ok("get_changes_since", json!({}))["severity"], "error");
}

#[test]
fn errors_in_the_app_are_news_once_until_the_agent_looks() {
    let fixture = Fixture::new();
    fixture.write("a.txt", "a\n");
    let mut agent = Agent::new(&fixture);
    let mut only_files = Agent::spawn(fixture.command("mcp --tools files"), "other", Era::Handshake("2025-06-18"));
    only_files.open();
    agent.ok("files_track", json!({}));
    agent.ok("get_changes_since", json!({}));
    only_files.ok("workspace_status", json!({}));
    report(&fixture, "console", json!([{ "level": "info", "message": "fine" }]));
    let news = |answer: Value| answer["news"].as_str().unwrap_or_default().to_owned();
    assert_eq!(news(agent.ok("workspace_status", json!({}))), "");
    report(&fixture, "console", errors(&["it broke"]));
    assert_eq!(news(agent.ok("workspace_status", json!({}))), "new error in the app: it broke; see get_changes_since");
    report(&fixture, "console", errors(&["it broke again"]));
    assert_eq!(news(agent.ok("workspace_status", json!({}))), "", "it was told and has not looked");
    assert_eq!(news(agent.ok("get_changes_since", json!({}))), "");
    assert_eq!(news(agent.ok("workspace_status", json!({}))), "");
    report(&fixture, "console", errors(&["and again"]));
    assert!(news(agent.ok("files_track", json!({}))).contains("new error"));
    assert_eq!(news(only_files.ok("workspace_status", json!({}))), "", "it has no tool to look with");
    // What is recorded about the app is nobody's news about files.
    let rows = agent.ok("history_query", json!({ "kind": "first_error" }));
    assert!(!rows["rows"].as_array().unwrap().is_empty() || rows["summary"].is_string());
    assert_eq!(agent.ok("workspace_status", json!({})).get("external_changes"), None);
}

#[test]
fn names_rules_and_baselines_survive_a_restart_of_the_server() {
    let fixture = Fixture::new();
    let mut agent = Agent::new(&fixture);
    report(&fixture, "network", json!([{ "method": "GET", "url": "http://localhost:3000/api", "status": 200 }]));
    agent.ok("baseline", json!({ "action": "save", "name": "baseline_app" }));
    agent.ok("checkpoint_create", json!({ "name": "session_start", "baseline": "baseline_app" }));
    let added = agent.ok("noise_rules", json!({ "action": "add", "rules": [{ "text": "heartbeat" }] }));
    assert!(added["added"][0].as_str().unwrap().starts_with("user_1 on: text /heartbeat/"), "{added}");
    assert!(agent.leave().success());

    let mut agent = Agent::new(&fixture);
    let listed = agent.ok("checkpoint_list", json!({}));
    assert!(
        listed["checkpoints"][0].as_str().unwrap().starts_with("session_start (baseline baseline_app) -> "),
        "{listed}"
    );
    report(&fixture, "console", errors(&["heartbeat missed"]));
    report(&fixture, "network", json!([{ "method": "GET", "url": "http://localhost:3000/api", "status": 500 }]));
    let changes = agent.ok("get_changes_since", json!({ "checkpoint": "session_start" }));
    assert_eq!(changes["network"]["failures"][0]["previous_status"], 200, "{changes}");
    assert_eq!(changes["suppressed"]["console"], 1, "{changes}");
    let compared = agent.ok("baseline", json!({ "action": "compare", "name": "baseline_app" }));
    assert_eq!(compared["severity"], "error");
    assert!(compared["deviations"][0].as_str().unwrap().starts_with("failing GET "), "{compared}");
    agent.ok("noise_rules", json!({ "action": "disable", "id": "user_1" }));
    assert_eq!(agent.ok("noise_rules", json!({ "action": "remove", "id": "user_1" }))["deleted"], "user_1");
    agent.ok("checkpoint_delete", json!({ "name": "session_start" }));
    agent.ok("baseline", json!({ "action": "delete", "name": "baseline_app" }));
    assert_eq!(agent.ok("baseline", json!({})), json!({ "summary": "0 baselines" }));
}

#[test]
fn whoever_waits_for_the_app_keeps_nobody_from_working() {
    let fixture = Fixture::new();
    fixture.write("a.txt", "a\n");
    let mut agents: Vec<Agent> = (0..8).map(|_| Agent::new(&fixture)).collect();
    agents[0].ok("files_track", json!({}));
    let wait = json!({ "name": "get_changes_since", "arguments": { "wait_ms": 60_000, "quiet_ms": 60_000 } });
    let waiting: Vec<u64> = agents.iter_mut().map(|agent| agent.send("tools/call", wait.clone())).collect();
    let start = Instant::now();
    let mut worker = Agent::new(&fixture);
    for number in 0..5 {
        fixture.write("a.txt", &number.to_string());
        assert_eq!(worker.ok("files_track", json!({}))["created"], true);
    }
    // One takes its question back; the others hear of the first error at once.
    agents[0].notify("notifications/cancelled", json!({ "requestId": waiting[0] }));
    agents[0].ok("workspace_status", json!({}));
    report(&fixture, "console", errors(&["it broke"]));
    for (agent, id) in agents.iter_mut().zip(waiting).skip(1) {
        assert_eq!(agent.said("get_changes_since", id).structured["severity"], "error");
    }
    assert_eq!(agents[0].ok("get_changes_since", json!({}))["severity"], "error", "its place was not moved");
    assert!(start.elapsed() < Duration::from_secs(50), "{:?}", start.elapsed());
}

#[test]
fn what_does_not_fit_is_counted_and_fetched_with_the_next_call() {
    let fixture = Fixture::in_memory();
    let mut agent = Agent::new(&fixture);
    agent.ok("get_changes_since", json!({}));
    let words = ["alpha", "beta", "gamma", "delta", "omega", "sigma", "theta", "kappa"];
    let messages: Vec<String> = (0..64)
        .map(|number| {
            format!(
                "Error in {} of {}: cannot read the {}",
                words[number % 8],
                words[number / 8],
                words[number * 5 % 8]
            )
        })
        .collect();
    let messages: Vec<&str> = messages.iter().map(String::as_str).collect();
    report(&fixture, "console", errors(&messages));
    for budget in [200, 400, 700, 1500] {
        let said = agent.call("get_changes_since", json!({ "checkpoint": "start", "max_tokens": budget }));
        let forms = [said.structured.to_string(), said.text.clone()];
        for (form, count) in forms.iter().zip(tokens(&forms)) {
            assert!(count <= budget, "{count} > {budget}: {form}");
        }
    }
    // Whoever does not say how long it may be reads 500 at most, and still of more than one error.
    let said = agent.call("get_changes_since", json!({ "checkpoint": "start" }));
    let read = tokens(std::slice::from_ref(&said.text))[0];
    assert!(read <= 500, "{read}: {}", said.text);
    assert!(said.structured["console"]["errors"].as_array().unwrap().len() > 5, "{}", said.text);
    let said = agent.call("get_changes_since", json!({ "max_tokens": 300 }));
    let shown = said.structured["console"]["errors"].as_array().unwrap().len();
    assert!(said.structured["omitted"]["console.errors"].as_u64().unwrap() > 0, "{}", said.text);
    let next = &said.structured["next"];
    assert_eq!((&next["tool"], &next["arguments"]["checkpoint"]), (&json!("get_changes_since"), &json!("last")));
    assert!(said.text.contains("more: get_changes_since"), "{}", said.text);
    let more = agent.ok("get_changes_since", next["arguments"].clone());
    assert!(more["console"]["errors"].as_array().unwrap().len() > shown, "{more}");
}

#[test]
fn what_happened_can_be_read_as_a_resource_from_every_process() {
    let fixture = Fixture::new();
    let mut server = Agent::new(&fixture);
    let mut joined = Agent::named(&fixture, "joined", Era::Modern);
    server.ok("checkpoint_create", json!({ "name": "session_start" }));
    report(&fixture, "console", errors(&["it **broke** <b>here</b>"]));
    for agent in [&mut server, &mut joined] {
        let listed = agent.request("resources/list", json!({})).unwrap();
        let uris: Vec<&str> =
            listed["resources"].as_array().unwrap().iter().map(|resource| resource["uri"].as_str().unwrap()).collect();
        assert!(
            uris.contains(&"backsight://changes") && uris.contains(&"backsight://checkpoint/session_start"),
            "{uris:?}"
        );
        for uri in ["backsight://changes", "backsight://checkpoint/session_start"] {
            let read = agent.request("resources/read", json!({ "uri": uri })).unwrap();
            let text = read["contents"][0]["text"].as_str().unwrap();
            assert!(text.contains("`it **broke** <b>here</b>`"), "what a page says is no markup: {uri}: {text}");
        }
        assert!(agent.request("resources/read", json!({ "uri": "backsight://checkpoint/nope" })).is_err());
    }
    assert_eq!(server.ok("get_changes_since", json!({}))["severity"], "error", "reading a resource moves nobody");
}

#[test]
fn groups_pick_the_tools_that_are_offered() {
    let fixture = Fixture::new();
    let mut agent = Agent::spawn(fixture.command("mcp --tools browser"), "tester", Era::Handshake("2025-06-18"));
    agent.open();
    let names: Vec<Value> = agent.tools().iter().map(|tool| tool["name"].clone()).collect();
    assert!(names.contains(&json!("get_changes_since")) && !names.contains(&json!("files_track")), "{names:?}");
    assert!(agent.request("tools/call", json!({ "name": "files_track", "arguments": {} })).is_err());
    let output = fixture.command("mcp --tools nonsense").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("files, browser"));
}

#[test]
fn a_browser_is_launched_and_watched_and_ends_with_the_watching() {
    let page = "<title>A page</title><script>console.error('it broke'); fetch('/api/broken');</script>";
    let site = Site::start(page.to_owned());
    let fixture = Fixture::new();
    let mut command = fixture.command("mcp");
    command.env("PATH", std::env::var_os("PATH").unwrap());
    let mut agent = Agent::spawn(command, "tester", Era::Handshake("2025-06-18"));
    agent.open();
    let launch = json!({ "launch": true, "headless": true, "open": format!("{}/", site.origin) });
    let status = agent.ok("browser_attach", launch);
    assert_eq!(status["attached"], true, "{status}");
    let start = Instant::now();
    loop {
        let changes = agent.ok("get_changes_since", json!({ "checkpoint": "start", "wait_ms": 5000 }));
        let (console, network) = (changes["console"].to_string(), changes["network"].to_string());
        if console.contains("it broke") && network.contains("/api/broken") {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "{changes}");
    }
    let status = agent.ok("browser_status", json!({}));
    assert!(status["pages"][0].as_str().unwrap().starts_with(&site.origin), "{status}");
    let status = agent.ok("browser_attach", json!({ "action": "detach" }));
    assert_eq!(status["attached"], false, "{status}");
    let health = agent.ok("get_session_health", json!({ "checkpoint": "start" }));
    assert_eq!(health["verdict"], "broken", "{health}");
    // Without a page there is nothing to watch yet, and the browser is there.
    let told = agent.call("browser_attach", json!({ "launch": true, "headless": true }));
    assert!(told.text.starts_with("the browser is attached, and no page in it is watched"), "{}", told.text);
}

#[test]
fn a_browser_that_cannot_be_watched_is_an_answer_with_a_next_step() {
    let fixture = Fixture::new();
    let mut agent = Agent::new(&fixture);
    for (arguments, code) in [
        (json!({ "port": 1 }), "BROWSER_UNREACHABLE"),
        (json!({ "launch": true }), "PROGRAM_NOT_FOUND"),
        (json!({ "launch": true, "port": 9222 }), "USAGE"),
        (json!({ "headless": true }), "USAGE"),
        (json!({ "url": "http://127.0.0.1:1", "profile": "p" }), "USAGE"),
    ] {
        let error = agent.fails("browser_attach", arguments.clone(), code);
        assert!(error["hint"].is_string(), "{arguments}: {error}");
    }
    assert_eq!(agent.ok("browser_attach", json!({ "action": "detach" }))["attached"], false);
}

/// Whether a referee takes a text for an HTTP Archive, or why not.
fn judged(archive: &str) -> Result<(), String> {
    let mut command = Command::new(installed("node_modules/.bin/node"));
    command.arg(source("tests/tools/har.cjs")).env("NODE_PATH", installed("node_modules"));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(archive.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    match output.status.success() && output.stdout == b"valid" {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

#[test]
fn a_cut_message_leads_to_all_of_it_and_the_archive_is_one() {
    let fixture = Fixture::new();
    let mut agent = Agent::new(&fixture);
    let long = format!("TypeError: no total {}end", "in the cart ".repeat(60));
    report(&fixture, "console", errors(&[&long]));
    let changes = agent.ok("get_changes_since", json!({}));
    assert!(changes["untrusted"].is_string(), "{changes}");
    let next = changes["next"].clone();
    assert_eq!(next["tool"], "browser_log", "{changes}");
    let entry = agent.ok("browser_log", next["arguments"].clone());
    assert!(entry["entry"].as_str().unwrap().contains(&long) && entry["untrusted"].is_string(), "{entry}");
    assert_eq!((&entry["id"], &entry["count"]), (&changes["console"]["errors"][0]["id"], &json!(1)), "{entry}");
    let address = "http://localhost:3000/api/pay?token=QUERYsecret123&who=me";
    report(
        &fixture,
        "network",
        json!([
            { "method": "POST", "url": address, "status": 500, "duration_ms": 12.5, "request_body": "{}", "response_body": "{\"e\":1}" },
            { "method": "GET", "url": "http://localhost:3000/down", "status": 0, "failure": "net::ERR_CONNECTION_REFUSED" },
        ]),
    );
    let rows = agent.ok("browser_log", json!({ "status": "failed" }));
    assert_eq!(rows["rows"].as_array().unwrap().len(), 2, "{rows}");
    let archive = fixture.ok("browser har").to_string();
    judged(&archive).unwrap_or_else(|why| panic!("{why}: {archive}"));
    assert!(judged(&archive.replace("\"startedDateTime\"", "\"began\"")).is_err(), "the referee judges");
    assert!(!archive.contains("QUERYsecret123"), "{archive}");
}
