//! The protocol itself, where clients get it wrong: broken lines, unknown methods, huge requests, the wrong order.

use serde_json::json;

use super::client::{Agent, Era};
use crate::fixture::Fixture;

#[test]
fn broken_lines_are_answered_or_ignored_and_never_the_end() {
    let fixture = Fixture::with_history();
    for era in [Era::Modern, Era::Handshake("2025-06-18")] {
        let mut agent = Agent::named(&fixture, "tester", era);
        let lines: [&[u8]; 12] = [
            b"junk",
            b"",
            b"   ",
            b"{",
            b"{}",
            b"[]",
            b"null",
            b"\"text\"",
            b"{\"jsonrpc\":\"2.0\",\"id\":901}",
            b"{\"jsonrpc\":\"1.0\",\"id\":902,\"method\":\"tools/list\"}",
            b"{\"jsonrpc\":\"2.0\",\"id\":903,\"result\":{}}",
            b"\xff\xfe\x00",
        ];
        for line in lines {
            agent.send_line(line);
            assert_eq!(agent.ok("workspace_status", json!({}))["clean"], true, "{era:?} after {line:?}");
        }
    }
}

#[test]
fn unknown_methods_and_missing_parameters_are_errors() {
    let fixture = Fixture::new();
    for era in Era::ALL {
        let mut agent = Agent::named(&fixture, "tester", era);
        assert_eq!(agent.request("no/such/method", json!({})).unwrap_err()["code"], -32601);
        let error = agent.request("no\u{1b}[2J\nsuch\u{202e}method", json!({})).unwrap_err();
        let message = error["message"].as_str().unwrap();
        assert!(error["code"] == -32601 && !message.contains(['\u{1b}', '\n', '\u{202e}']), "{error}");
        for (method, params) in [
            ("tools/call", json!({})),
            ("tools/call", json!({ "name": 5 })),
            ("tools/call", json!({ "name": "files_track", "arguments": [] })),
            ("resources/read", json!({})),
            ("prompts/get", json!({ "name": null })),
        ] {
            let error = agent.request(method, params.clone()).unwrap_err();
            assert!(error["code"] == -32602 || error["code"] == -32601, "{era:?} {method} {params}: {error}");
        }
        agent.ok("workspace_status", json!({}));
    }
}

#[test]
fn a_huge_line_is_refused_and_the_next_one_answered() {
    let fixture = Fixture::new();
    let mut agent = Agent::new(&fixture);
    let huge = json!({ "jsonrpc": "2.0", "id": 900, "method": "x".repeat(20 << 20) });
    agent.send_line(huge.to_string().as_bytes());
    agent.ok("workspace_status", json!({}));
    // What fits is read, and the tool says what it thinks of it.
    let long = "x".repeat(1 << 20);
    agent.ok("files_track", json!({ "description": long }));
    let error = agent.fails("files_read", json!({ "path": long }), "PATH_NOT_FOUND");
    assert!(error.to_string().len() < 2000, "what is too long to repeat is not repeated");
    let plan = agent.call("files_read", json!({ "path": "a", "ref": long }));
    assert!(plan.is_error && plan.text.len() < 2000);
}

#[test]
fn a_request_before_the_handshake_is_refused_and_the_handshake_still_works() {
    let fixture = Fixture::new();
    let mut agent = Agent::silent(&fixture, "tester", Era::Handshake("2025-11-25"));
    let error = agent.request("tools/list", json!({})).unwrap_err();
    assert_eq!(error["code"], -32602);
    agent.open();
    assert_eq!(agent.tools().len(), 49);
}

#[test]
fn a_revision_nobody_knows_is_answered_with_one_we_speak() {
    let fixture = Fixture::new();
    let mut agent = Agent::silent(&fixture, "tester", Era::Handshake("1999-01-01"));
    let client = json!({ "name": "tester", "version": "1" });
    let params = json!({ "protocolVersion": "1999-01-01", "capabilities": {}, "clientInfo": client });
    let answer = agent.request("initialize", params).unwrap();
    assert!(answer["protocolVersion"].as_str().unwrap().starts_with("202"), "{answer}");
}

#[test]
fn the_stateless_revision_is_offered_to_who_asks() {
    let fixture = Fixture::new();
    let mut agent = Agent::named(&fixture, "tester", Era::Modern);
    let found = agent.request("server/discover", json!({})).unwrap();
    let versions = found["supportedVersions"].as_array().unwrap();
    for version in ["2026-07-28", "2025-11-25", "2025-06-18"] {
        assert!(versions.contains(&json!(version)), "{version}");
    }
    assert_eq!(found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "backsight");
    let tools = agent.request("tools/list", json!({})).unwrap();
    assert!(tools["ttlMs"].as_u64().unwrap() > 0 && tools["cacheScope"].is_string(), "{tools}");
}

#[test]
fn many_requests_at_once_are_all_answered() {
    let fixture = Fixture::with_history();
    let mut agent = Agent::new(&fixture);
    let calls: Vec<u64> = (0..40)
        .map(|index| {
            fixture.write("a.txt", &index.to_string());
            let tool = if index % 4 == 0 { "files_track" } else { "workspace_status" };
            agent.send("tools/call", json!({ "name": tool, "arguments": {} }))
        })
        .collect();
    for id in calls.into_iter().rev() {
        assert_eq!(agent.answer(id).unwrap()["isError"], false);
    }
    fixture.verify();
}
