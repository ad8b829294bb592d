//! `backsight open`: the server that it starts when none runs, and the one that is there.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::Value;

use crate::fixture::Fixture;
use crate::serving::server::Server;

/// The part of an address behind the server's own.
fn target(url: &Value) -> String {
    let url = url.as_str().unwrap();
    let rest = url.strip_prefix("http://").unwrap();
    rest[rest.find('/').unwrap()..].to_owned()
}

/// What a browser without a token gets.
fn visit(server: &Server, target: &str) -> u16 {
    let head = format!("GET {target} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", server.authority);
    server.raw(head.as_bytes()).status
}

#[test]
fn a_server_is_started_where_none_runs_and_ends_in_order() {
    let fixture = Fixture::with_history();
    let mut child = fixture.command("--json open --print --as ada").stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let said: Value = serde_json::from_str(&line).unwrap();
    assert_eq!((&said["running"], &said["person"]), (&Value::Bool(true), &Value::from("ada")));
    assert!(!line.contains(fixture.ok("serve --show")["token"].as_str().unwrap()), "no address holds the token");
    let server = Server::known(&fixture.ok("serve --show"));
    assert_eq!(said["pid"], child.id());
    assert_eq!((visit(&server, &target(&said["url"])), visit(&server, &target(&said["url"]))), (200, 401));
    // Another one is for the same server, and works as well.
    let again = fixture.ok("open --print");
    assert_eq!((&again["pid"], visit(&server, &target(&again["url"]))), (&said["pid"], 200));
    let status = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(status.success() && child.wait().unwrap().success());
    assert_eq!(fixture.json("open --no-start").1, 1);
}

#[test]
fn a_person_needs_a_name() {
    let (value, status) = Fixture::new().json("open --no-start --as ''");
    assert_eq!((value["error"]["code"].as_str(), status), (Some("USAGE"), 2));
}
