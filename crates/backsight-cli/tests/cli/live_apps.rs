//! Real apps with real bugs: each is planted, seen, mended and seen to be clean over MCP, as an agent works. The apps, the
//! bugs and the program that plays them are in `tests/apps`; what does not hold and why is in its `known.txt`.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::agents::{finish, installed, source};

/// Plays all bugs of an app; the table is left in the target directory.
fn play(app: &str) {
    let tools = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("tools");
    let table = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("apps-{app}.md"));
    installed("apps/node_modules");
    let mut command = Command::new(installed("node_modules/.bin/node"));
    command.arg(source("tests/apps/drive/main.mjs")).args(["--only", app]);
    command.arg("--program").arg(env!("CARGO_BIN_EXE_backsight")).arg("--tools").arg(tools).arg("--out").arg(table);
    let output = finish(command, Duration::from_secs(600));
    print!("{}", String::from_utf8_lossy(&output.stdout));
    assert!(output.status.success(), "{app}:\n{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn bugs_in_a_react_app_are_told_and_their_end_too() {
    play("react");
}

#[test]
fn bugs_in_a_vue_app_are_told_and_their_end_too() {
    play("vue");
}

#[test]
fn bugs_in_a_bundled_app_are_told_and_their_end_too() {
    play("webpack");
}

#[test]
fn bugs_in_a_flask_app_are_told_and_their_end_too() {
    play("flask");
}
