//! The MCP Inspector's command line with `--strict`, which lints what a server says of itself and fails on findings.

use std::process::Output;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Server, finish, node};
use crate::fixture::Fixture;

const LIMIT: Duration = Duration::from_secs(60);

/// How the inspector reaches us.
enum Way<'a> {
    Stdio,
    Http(&'a Server),
    /// The stateless revision, which only a configuration file can ask for.
    Modern,
}

fn inspect(fixture: &Fixture, way: &Way<'_>, arguments: &[&str]) -> Output {
    let mut command = node("node_modules/.bin/mcp-inspector");
    command.arg("--cli").current_dir(fixture.root()).env_clear().env("HOME", fixture.home());
    // It would keep secrets in the desktop's key ring.
    command.env("MCP_INSPECTOR_SECRET_STORE", "memory").env("PATH", std::env::var_os("PATH").unwrap_or_default());
    match way {
        Way::Modern => {
            let server =
                json!({ "command": env!("CARGO_BIN_EXE_backsight"), "args": ["mcp"], "protocolEra": "modern" });
            let file = fixture.base().join("inspector.json");
            std::fs::write(&file, json!({ "mcpServers": { "backsight": server } }).to_string()).unwrap();
            command.arg("--config").arg(file).args(["--server", "backsight"])
        }
        Way::Stdio => command.args([env!("CARGO_BIN_EXE_backsight"), "mcp"]),
        Way::Http(server) => {
            let token = format!("Authorization: Bearer {}", server.token);
            command.args([&server.mcp(), "--transport", "http", "--header", &token])
        }
    };
    command.args(["--format", "json"]).args(arguments);
    finish(command, LIMIT)
}

/// What it printed; it must be content.
#[track_caller]
fn content(output: &Output) -> Value {
    let (said, complained) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{:?}\n{said}\n{complained}", output.status);
    let lower = complained.to_lowercase();
    assert!(!lower.contains("warn") && !lower.contains("error"), "{complained}");
    serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}\n{complained}"))
}

fn everything_is_in_order(fixture: &Fixture, way: &Way<'_>) {
    let ask = |arguments: &[&str]| content(&inspect(fixture, way, arguments));
    let tools = ask(&["--method", "tools/list", "--strict"]);
    assert!(tools.to_string().contains("files_revert"), "{tools}");
    let arguments = json!({ "description": "from the inspector" }).to_string();
    let called = ask(&["--method", "tools/call", "--tool-name", "files_track", "--tool-args-json", &arguments]);
    assert!(called.to_string().contains("recorded, the first snapshot"), "{called}");
    let resources = ask(&["--method", "resources/list"]);
    assert!(resources.to_string().contains("backsight://snapshot/1"), "{resources}");
    let prompts = ask(&["--method", "prompts/list"]);
    assert!(prompts.to_string().contains("review_my_changes"), "{prompts}");
    let wrong = ["--method", "tools/call", "--tool-name", "files_read", "--tool-args-json", "{\"path\":\"nope\"}"];
    assert_eq!(inspect(fixture, way, &wrong).status.code(), Some(5), "a tool's error is one");
}

#[test]
fn the_inspector_finds_nothing_over_stdio() {
    let fixture = Fixture::new();
    fixture.write("a.txt", "a\n");
    everything_is_in_order(&fixture, &Way::Stdio);
}

#[test]
fn the_inspector_finds_nothing_in_the_stateless_revision() {
    let fixture = Fixture::new();
    fixture.write("a.txt", "a\n");
    everything_is_in_order(&fixture, &Way::Modern);
}

#[test]
fn the_inspector_finds_nothing_over_http() {
    let fixture = Fixture::new();
    fixture.write("a.txt", "a\n");
    let server = Server::start(&fixture);
    everything_is_in_order(&fixture, &Way::Http(&server));
    let stranger = Server { child: noop(), url: server.url.clone(), token: "wrong".to_owned() };
    let refused = inspect(&fixture, &Way::Http(&stranger), &["--method", "tools/list"]);
    assert!(!refused.status.success());
}

/// A process that has ended, for a server that is not ours to end.
fn noop() -> std::process::Child {
    std::process::Command::new("true").spawn().unwrap()
}
