//! What the server refuses, each with its status, in the envelope of every interface, and as the document says.

use std::io::Write;

use serde_json::{Value, json};

use super::schema;
use super::server::{Reply, Server};
use crate::fixture::{Fixture, numbered};

/// A server over three steps, with the file of the second changed since.
fn refusing() -> (Fixture, Server, Value) {
    let fixture = Fixture::with_history();
    fixture.write("a.txt", &numbered(&[(2, "somebody else")]));
    fixture.done("config set unknown_change_strategy strict");
    let server = Server::start(&fixture);
    let document = server.document();
    (fixture, server, document)
}

#[track_caller]
fn check(document: &Value, reply: &Reply, method: &str, path: &str, status: u16, code: &str) {
    reply.fails(status, code);
    let responses = &document["paths"][path][method.to_ascii_lowercase()]["responses"];
    let schema = &responses[status.to_string()]["content"]["application/json"]["schema"];
    assert!(
        schema.to_string().contains(&format!("\"{code}\"")),
        "{method} {path} does not say {status} {code}: {schema}"
    );
    schema::assert_describes(document, schema, &reply.json(), path);
}

#[test]
fn what_is_refused_says_so_with_its_status() {
    let (_fixture, server, document) = refusing();
    let get = [
        ("/api/show", "?ref=99", 404, "REF_NOT_FOUND"),
        ("/api/cat", "?ref=@&path=nowhere.txt", 404, "PATH_NOT_FOUND"),
        ("/api/cat", "?ref=@", 400, "USAGE"),
        ("/api/cat", "?ref=@&ref=1&path=a.txt", 400, "USAGE"),
        ("/api/show", "?ref=now", 400, "USAGE"),
        ("/api/log", "?limit=many", 400, "USAGE"),
        ("/api/log", "?limit=%2B1", 400, "USAGE"),
        ("/api/log", "?oldest_first=1", 400, "USAGE"),
        ("/api/log", "?kind=nonsense", 400, "USAGE"),
        ("/api/log", "?since=yesterday", 400, "USAGE"),
        ("/api/log", "?cursor=x", 400, "USAGE"),
        ("/api/log", "?nonsense=1", 400, "USAGE"),
        ("/api/log", "?text=%ff", 400, "USAGE"),
        ("/api/blame", "?path=a.txt&start_line=99", 422, "INVALID_RANGE"),
        ("/api/verify", "?head=abc", 400, "USAGE"),
        ("/api/known/show", "?id=ffff", 404, "REF_NOT_FOUND"),
        ("/api/milestones/show", "?ref=none", 404, "REF_NOT_FOUND"),
    ];
    for (path, query, status, code) in get {
        check(&document, &server.get(&format!("{path}{query}")), "GET", path, status, code);
    }
    let post = [
        ("/api/track", json!({ "declare": ["b.txt"] }), 409, "STATE_MISMATCH"),
        ("/api/finish", json!({ "call": "0123456789abcdef" }), 404, "CALL_NOT_FOUND"),
        ("/api/revert", json!({ "refs": ["2"] }), 409, "CONFLICT"),
        ("/api/revert", json!({ "refs": [] }), 400, "USAGE"),
        ("/api/undo", json!({ "count": 0 }), 400, "USAGE"),
        ("/api/redo", json!({}), 404, "NOTHING_TO_UNDO"),
        ("/api/restore", json!({ "ref": "99" }), 404, "REF_NOT_FOUND"),
        ("/api/continuity/reset", json!({ "reason": " " }), 400, "USAGE"),
        ("/api/milestones", json!({ "title": "@" }), 400, "USAGE"),
        ("/api/milestones", json!({ "title": "T", "snapshots": ["2", "3"] }), 409, "MILESTONE_GAP"),
        ("/api/milestones", json!({ "title": "T", "snapshots": ["1"], "end": "3" }), 400, "USAGE"),
        ("/api/milestones/export-git", json!({ "range": "1", "branch": "b" }), 404, "REPOSITORY_NOT_FOUND"),
        ("/api/gc", json!({ "keep_days": -1 }), 400, "USAGE"),
        ("/api/gc", json!({ "keep_days": 1.5 }), 400, "USAGE"),
    ];
    for (path, body, status, code) in post {
        check(&document, &server.post(path, &body), "POST", path, status, code);
    }
    let addressed = [
        ("GET", "/api/config/{key}", "/api/config/nonsense", Value::Null, 422, "INVALID_CONFIG"),
        ("GET", "/api/config/{key}", "/api/config/%ff", Value::Null, 400, "USAGE"),
        ("POST", "/api/config/{key}", "/api/config/keep_days", json!({ "value": "soon" }), 422, "INVALID_CONFIG"),
        ("POST", "/api/config/{key}", "/api/config/keep_days", json!({ "value": "1", "key": "x" }), 400, "USAGE"),
        ("GET", "/api/blob/{id}", "/api/blob/xyz", Value::Null, 400, "USAGE"),
        ("GET", "/session/{id}", "/session/none", Value::Null, 404, "SESSION_NOT_FOUND"),
        ("GET", "/session/{id}/diff", "/session/s1/diff?messageID=none", Value::Null, 404, "MESSAGE_NOT_FOUND"),
        ("POST", "/session/{id}/revert", "/session/s1/revert", json!({}), 400, "USAGE"),
        ("POST", "/session/{id}/revert", "/session/s1/revert", json!({ "messageID": "m1" }), 409, "CONFLICT"),
        ("POST", "/session/{id}/unrevert", "/session/s1/unrevert", json!({}), 409, "NOTHING_TO_UNREVERT"),
        ("POST", "/session/{id}/track", "/session/s1/track", json!({ "phase": "after" }), 400, "USAGE"),
    ];
    for (method, path, target, body, status, code) in addressed {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        check(&document, &server.send(method, target, body.as_bytes()), method, path, status, code);
    }
}

#[test]
fn bodies_that_are_none_are_refused() {
    let (_fixture, server, document) = refusing();
    for body in ["[]", "1", "nonsense", "{\"description\": 1}", "{\"nonsense\": 1}", "{\"description\": null}", "{} {}"]
    {
        check(&document, &server.send("POST", "/api/track", body.as_bytes()), "POST", "/api/track", 400, "USAGE");
    }
    check(&document, &server.post("/api/track?pin=true", &json!({})), "POST", "/api/track", 400, "USAGE");
    let large = vec![b' '; (4 << 20) + 1];
    check(&document, &server.send("POST", "/api/track", &large), "POST", "/api/track", 413, "BODY_TOO_LARGE");
}

#[test]
fn other_addresses_methods_and_callers_get_the_same_envelope() {
    let (_fixture, server, _) = refusing();
    for target in ["/nonsense", "/api", "/api/", "/api/nonsense", "/session/s1/nonsense", "/API/status", "/api//status"]
    {
        server.get(target).fails(404, "ROUTE_NOT_FOUND");
    }
    for (method, target, allowed) in
        [("DELETE", "/api/log", "GET,HEAD"), ("GET", "/api/track", "POST"), ("PUT", "/events", "GET,HEAD")]
    {
        let reply = server.send(method, target, b"");
        reply.fails(405, "METHOD_NOT_ALLOWED");
        assert_eq!(reply.header("allow"), Some(allowed), "{method} {target}");
    }
    let head = server.head("GET", "/api/status");
    server.raw(format!("{}\r\n", head.replace(&server.token, "wrong")).as_bytes()).fails(401, "UNAUTHORIZED");
    server.raw(format!("{head}Origin: http://evil.example\r\n\r\n").as_bytes()).fails(403, "FORBIDDEN");
    server.raw(format!("{}\r\n", head.replace(&server.authority, "evil.example")).as_bytes()).fails(403, "FORBIDDEN");
}

#[test]
fn a_body_that_does_not_arrive_is_not_waited_for() {
    let (_fixture, server, _) = refusing();
    let mut stream = server.connect();
    write!(stream, "{}Content-Length: 10\r\n\r\n{{", server.head("POST", "/api/track")).unwrap();
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut stream, &mut bytes).unwrap();
    assert!(bytes.starts_with(b"HTTP/1.1 408 "), "{}", String::from_utf8_lossy(&bytes));
    assert!(String::from_utf8_lossy(&bytes).contains("REQUEST_TIMEOUT"));
}

#[test]
fn a_head_the_timeline_does_not_hold_is_an_answer_of_verify() {
    let fixture = Fixture::with_history();
    let server = Server::start(&fixture);
    let head = "0".repeat(64);
    let verified = server.get(&format!("/api/verify?head={head}")).ok();
    assert_eq!(verified["clean"], false);
    assert_eq!(verified["damage"].as_array().unwrap().len(), 1, "{verified}");
}
