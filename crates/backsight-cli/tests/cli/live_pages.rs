//! The pages of tools' answers in a real browser, played by `tests/dashboard/pages.mjs`.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::agents::{finish, installed, source};

#[test]
fn an_answer_is_shown_as_a_page_and_strangers_words_stay_words() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"));
    installed("dashboard/node_modules");
    let mut command = Command::new(installed("node_modules/.bin/node"));
    command.arg(source("tests/dashboard/pages.mjs")).arg("--program").arg(env!("CARGO_BIN_EXE_backsight"));
    command.arg("--tools").arg(directory.with_file_name("tools")).arg("--out").arg(directory.join("pages"));
    let output = finish(command, Duration::from_secs(120));
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{told}\n{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(told.lines().filter(|line| line.starts_with("holds")).count(), 5, "{told}");
}
