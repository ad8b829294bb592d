//! Programs of others judge the document and the server behind it.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::server::Server;
use crate::fixture::Fixture;

/// A program that `tests/tools/install` puts into the target directory.
fn tool(path: &str) -> Command {
    let target = Path::new(env!("CARGO_BIN_EXE_backsight")).parent().unwrap().parent().unwrap();
    let program = target.join("tools").join(path);
    assert!(program.exists(), "`{path}` is missing: install it with `make tools` (or `tests/tools/install`)");
    Command::new(program)
}

fn settings() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/tools/schemathesis.toml")
}

#[track_caller]
fn passes(mut command: Command) {
    let output = command.output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&said));
}

#[test]
fn the_document_is_valid_to_openapi_spec_validator() {
    let fixture = Fixture::new();
    let server = Server::start(&fixture);
    let file = fixture.base().join("openapi.json");
    std::fs::write(&file, server.get("/openapi.json").body).unwrap();
    let mut command = tool("venv/bin/openapi-spec-validator");
    command.arg(file);
    passes(command);
}

/// A workspace in which the document's examples mean something.
fn with_examples() -> Fixture {
    let fixture = Fixture::in_memory();
    fixture.git("init -q -b main");
    fixture.write("src/main.rs", "fn main() {}\n");
    fixture.write("b.txt", "b\n");
    fixture.done("track -m start");
    fixture.write("src/main.rs", "fn main() {\n}\n");
    fixture.done("track -m edit --session s1 --message m1");
    fixture.done("milestone create 'Login works'");
    fixture.write("b.txt", "b\nb\n");
    fixture.done("track -m more");
    fixture.write("b.txt", "not recorded\n");
    fixture
}

#[test]
fn the_server_does_what_the_document_says_to_schemathesis() {
    let fixture = with_examples();
    let server = Server::start(&fixture);
    let mut command = tool("venv/bin/schemathesis");
    command.arg("--config-file").arg(settings());
    command.args(["run", &format!("http://{}/openapi.json", server.authority)]);
    command.args(["--header", &format!("Authorization: Bearer {}", server.token)]);
    // Every check is on unless the settings say otherwise; to name them here would overrule the settings.
    command.args(["--mode", "all", "--max-examples", "8", "--generation-deterministic"]);
    command.args(["--request-timeout", "20", "--continue-on-failure", "--no-color"]);
    // It writes beside where it runs, and reads settings from there.
    command.current_dir(fixture.base()).env("HOME", fixture.home());
    passes(command);
    fixture.verify();
}
