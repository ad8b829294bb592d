//! The window into the server: a line a request, and nothing of what was asked or answered.

use serde_json::json;

use crate::agents::client::{Agent, Era};
use crate::fixture::Fixture;
use crate::serving::server::Server;

/// What must never be in a log.
const SECRET: &str = "hunter2-is-the-password";

fn agent(fixture: &Fixture, log: &str) -> Agent {
    let mut command = fixture.command("mcp --tools all");
    command.env("BACKSIGHT_LOG", log);
    let mut agent = Agent::spawn(command, "tester", Era::Handshake("2025-06-18"));
    agent.open();
    agent
}

#[test]
fn every_request_is_a_line_without_what_it_was_about() {
    let fixture = Fixture::new();
    fixture.write("a.txt", SECRET);
    let log = fixture.base().join("server.log");
    // The agent takes every line of stdout for a message of the protocol.
    let mut agent = agent(&fixture, log.to_str().unwrap());
    agent.ok("files_track", json!({ "description": SECRET }));
    agent.ok("files_read", json!({ "path": "a.txt" }));
    agent.fails("files_read", json!({ "path": SECRET }), "PATH_NOT_FOUND");
    agent.fails("evaluate", json!({ "expression": SECRET }), "NO_SESSION");
    let text = std::fs::read_to_string(&log).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4, "{text}");
    for (line, (operation, outcome)) in lines.iter().zip([
        ("files_track", "ok"),
        ("files_read", "ok"),
        ("files_read", "PATH_NOT_FOUND"),
        ("evaluate", "NO_SESSION"),
    ]) {
        let expected = format!(" request interface=tool operation={operation} client=tester outcome={outcome} ms=");
        assert!(line.contains(&expected), "{line}");
    }
    assert!(!text.contains("hunter2") && !text.contains("a.txt"), "{text}");
}

#[test]
fn http_requests_are_lines_too_and_doctor_says_where() {
    let fixture = Fixture::new();
    fixture.done("init");
    let none = fixture.json("doctor").0.to_string();
    assert!(none.contains("no server runs, and none would write one"), "{none}");
    let log = fixture.base().join("server.log");
    let server = Server::start_with(&fixture, &format!("--log {}", log.display()));
    server.get("/api/status").ok();
    server.get("/api/log?limit=nonsense").fails(400, "USAGE");
    server.get(&format!("/api/show?ref={SECRET}")).fails(404, "REF_NOT_FOUND");
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(text.contains("interface=http operation=status client=- outcome=ok ms="), "{text}");
    assert!(text.contains("operation=log client=- outcome=USAGE"), "{text}");
    assert!(text.contains("outcome=REF_NOT_FOUND") && !text.contains("hunter2"), "{text}");
    let said = fixture.json("doctor").0.to_string();
    assert!(said.contains(&format!("the server writes it to `{}`", log.display())), "{said}");
}

#[test]
fn a_log_on_stderr_leaves_stdout_to_the_protocol() {
    let fixture = Fixture::new();
    let mut agent = agent(&fixture, "stderr");
    assert!(agent.ok("workspace_status", json!({}))["summary"].is_string());
}

#[test]
fn a_log_that_cannot_be_written_is_refused_at_the_start() {
    let fixture = Fixture::new();
    let (answer, status) = fixture.json("serve --log /nonexistent/x/y.log");
    assert_eq!((answer["error"]["code"].as_str(), status), (Some("IO"), 6), "{answer}");
}
