//! `backsight open`: the server that it starts when none runs, and the one that is there.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

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

/// A program that notes how it was called, and which page that names leads where.
const OPENER: &str = "#!/bin/sh\nprintf '%s\\n' \"$@\" >OUT.new\ncat \"$1\" >>OUT.new 2>/dev/null\nmv OUT.new OUT\n";

#[test]
fn what_opens_addresses_is_no_program_of_the_workspace_and_no_code_is_in_its_arguments() {
    let fixture = Fixture::with_history();
    let server = Server::start(&fixture);
    let (inside, outside) = (fixture.root().join("node_modules/.bin"), fixture.base().join("bin"));
    let out = |name: &str| fixture.base().join(name);
    for (directory, name) in [(&inside, "inside"), (&outside, "outside")] {
        std::fs::create_dir_all(directory).unwrap();
        let program = directory.join("xdg-open");
        std::fs::write(&program, OPENER.replace("OUT", out(name).to_str().unwrap())).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = fixture.command("open");
    let search = [inside.as_os_str(), outside.as_os_str(), "/usr/bin".as_ref(), "/bin".as_ref()];
    command.env("PATH", std::env::join_paths(search).unwrap()).env("DISPLAY", ":9").env("WAYLAND_DISPLAY", "w");
    let printed = String::from_utf8(command.output().unwrap().stdout).unwrap();
    let until = Instant::now() + Duration::from_secs(20);
    while !out("outside").exists() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    let heard = std::fs::read_to_string(out("outside")).unwrap();
    let (argument, page) = heard.split_once('\n').unwrap();
    assert!(argument.ends_with(".html") && !argument.contains("code="), "{argument}");
    let url = printed.trim();
    assert!(page.contains(&format!("url={}", url.replace('&', "&amp;"))), "{page}");
    assert!(!out("inside").exists(), "a program of the workspace ran");
    // A browser comes from a page that is of no origin; once it did, the page is gone.
    let led = "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document";
    let come = |target: &str| {
        let head = format!("GET {target} HTTP/1.1\r\nHost: {}\r\n{led}\r\nConnection: close\r\n\r\n", server.authority);
        server.raw(head.as_bytes()).status
    };
    assert!(Path::new(argument).exists());
    assert_eq!(come("/api/log"), 403);
    let target = target(&Value::from(url));
    assert_eq!((come(&target), come(&target)), (200, 401));
    assert!(!Path::new(argument).exists(), "the page with the code stays");
}

#[test]
fn a_used_address_is_none_after_a_restart_with_the_same_token() {
    let fixture = Fixture::with_history();
    let serve = || {
        let mut command = fixture.command("--json serve --port 0");
        command.env("BACKSIGHT_TOKEN", "0123456789abcdef0123456789abcdef");
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        (child, Server::known(&serde_json::from_str(&line).unwrap()))
    };
    let end = |mut child: Child| {
        let status = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(status.success() && child.wait().unwrap().success());
    };
    let (child, first) = serve();
    let url = target(&fixture.ok("open --print")["url"]);
    assert_eq!(visit(&first, &url), 200);
    end(child);
    let (child, second) = serve();
    let again = [url, target(&fixture.ok("open --print")["url"])].map(|target| visit(&second, &target));
    end(child);
    assert_eq!(again, [401, 200]);
}
