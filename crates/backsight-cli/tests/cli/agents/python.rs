//! The official Python SDK as a client: both transports, both eras. What it does is in `tests/tools/sdk_client.py`; the
//! SDK itself validates structured content against the schemas we declare.

use std::process::{Command, Stdio};
use std::time::Duration;

use super::{Server, finish, installed, source};
use crate::fixture::Fixture;

const LIMIT: Duration = Duration::from_secs(90);

fn drive(fixture: &Fixture, mode: &str, server: Option<&Server>) {
    let mut command = Command::new(installed("venv/bin/python"));
    command.arg("-B").arg(source("tests/tools/sdk_client.py")).arg(mode).arg(fixture.root());
    command.stdin(Stdio::null()).env("BACKSIGHT", env!("CARGO_BIN_EXE_backsight")).env("HOME", fixture.home());
    if let Some(server) = server {
        command.env("BACKSIGHT_URL", server.mcp()).env("BACKSIGHT_TOKEN", &server.token);
    }
    let output = finish(command, LIMIT);
    let (said, complained) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{mode}\n{said}\n{complained}");
    assert!(said.trim_end().ends_with("all is well"), "{said}\n{complained}");
    fixture.verify();
}

#[test]
fn over_stdio_in_the_stateless_revision() {
    drive(&Fixture::new(), "auto", None);
}

#[test]
fn over_stdio_with_the_older_handshake() {
    drive(&Fixture::new(), "legacy", None);
}

#[test]
fn over_http_in_the_stateless_revision() {
    let fixture = Fixture::new();
    let server = Server::start(&fixture);
    drive(&fixture, "auto", Some(&server));
}

#[test]
fn over_http_with_the_older_handshake() {
    let fixture = Fixture::new();
    let server = Server::start(&fixture);
    drive(&fixture, "legacy", Some(&server));
}
