//! Real programs under their debuggers, asked over MCP what an agent asks. The programs are in `tests/apps/debugged`, the
//! questions and the words of right answers in `tests/apps/drive/questions.mjs`; the table of each run is left in the target
//! directory: program, question, answer, right, tokens, time.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::agents::{finish, installed, source};

fn ask(name: &str, programs: &str) {
    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
    installed("runners/venv");
    let mut command = Command::new(installed("node_modules/.bin/node"));
    command.arg(source("tests/apps/drive/debugged.mjs")).args(["--only", programs]);
    command.arg("--program").arg(env!("CARGO_BIN_EXE_backsight")).arg("--tools").arg(temporary.with_file_name("tools"));
    command.arg("--out").arg(temporary.join(format!("debugged-{name}.md")));
    let output = finish(command, Duration::from_secs(300));
    print!("{}", String::from_utf8_lossy(&output.stdout));
    assert!(output.status.success(), "{name}:\n{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn questions_about_programs_in_python_are_answered() {
    ask("python", "flask,pandas,pytest");
}

#[test]
fn questions_about_programs_in_javascript_are_answered() {
    ask("javascript", "express,typescript,vitest,jest");
}

#[test]
fn questions_about_compiled_programs_are_answered() {
    ask("native", "go,tokio,containers");
}
