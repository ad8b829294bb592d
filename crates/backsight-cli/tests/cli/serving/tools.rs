//! The tools over plain HTTP, the ping, and the document itself.

use serde_json::{Value, json};

use super::server::Server;
use crate::fixture::Fixture;

#[test]
fn a_tool_answers_with_lines_of_json() {
    let fixture = Fixture::with_history();
    let server = Server::start(&fixture);
    let reply = server.post("/api/tools/workspace_status", &json!({ "arguments": {}, "client": "test" }));
    assert_eq!((reply.status, reply.header("content-type")), (200, Some("application/x-ndjson")));
    let text = String::from_utf8(reply.body).unwrap();
    let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(last["reply"]["structured"]["clean"], true, "{text}");
    assert_eq!(last["reply"]["is_error"], false, "{text}");

    server.post("/api/tools/nonsense", &json!({ "arguments": {} })).fails(404, "ROUTE_NOT_FOUND");
    server.post("/api/tools/workspace_status", &json!({})).fails(400, "USAGE");
    server.post("/api/tools/%ff", &json!({ "arguments": {} })).fails(400, "USAGE");
}

#[test]
fn a_tool_that_fails_says_so_in_its_reply() {
    let fixture = Fixture::with_history();
    let server = Server::start(&fixture);
    let reply = server.post("/api/tools/files_restore", &json!({ "arguments": { "ref": "99" } }));
    let text = String::from_utf8(reply.body).unwrap();
    let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(last["reply"]["is_error"], true, "{text}");
    assert_eq!(last["reply"]["structured"]["error"]["code"], "REF_NOT_FOUND", "{text}");
}

#[test]
fn the_ping_says_whose_server_it_is() {
    let fixture = Fixture::new();
    let server = Server::start(&fixture);
    let version = server.get("/api/version").ok();
    assert_eq!(version["name"], "backsight");
    assert_eq!(version["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(version["root"], fixture.root().to_str().unwrap());
    assert_eq!(version["pid"], server.pid());
}
