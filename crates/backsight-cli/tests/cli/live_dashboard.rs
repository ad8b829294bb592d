//! The dashboard in a real browser, played by `tests/dashboard`; screenshots are left in the target directory.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::agents::{finish, installed, source};

#[test]
fn a_person_sees_what_happened_and_takes_it_back() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"));
    installed("dashboard/node_modules");
    let mut command = Command::new(installed("node_modules/.bin/node"));
    command.arg(source("tests/dashboard/main.mjs")).arg("--program").arg(env!("CARGO_BIN_EXE_backsight"));
    command.arg("--tools").arg(directory.with_file_name("tools")).arg("--out").arg(directory.join("dashboard"));
    let output = finish(command, Duration::from_secs(420));
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{told}\n{}", String::from_utf8_lossy(&output.stderr));
    // Nothing was left out.
    assert_eq!(told.lines().filter(|line| line.starts_with("holds")).count(), 25, "{told}");
}
