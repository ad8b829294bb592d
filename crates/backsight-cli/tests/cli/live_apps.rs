//! Real apps with real bugs: each is planted, seen, mended and seen to be clean over MCP, as an agent works. The apps, the
//! bugs and the program that plays them are in `tests/apps`; what does not hold and why is in its `known.txt`.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::agents::{eventually, finish, installed, source};

/// The program that plays these bugs.
fn driver(only: &str) -> Command {
    let tools = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("tools");
    installed("apps/node_modules");
    let mut command = Command::new(installed("node_modules/.bin/node"));
    command.arg(source("tests/apps/drive/main.mjs")).args(["--only", only]);
    command.arg("--program").arg(env!("CARGO_BIN_EXE_backsight")).arg("--tools").arg(tools);
    command
}

/// Plays all bugs of an app; the table is left in the target directory.
fn play(app: &str) {
    let table = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("apps-{app}.md"));
    let mut command = driver(app);
    command.arg("--out").arg(table);
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

#[test]
fn bugs_beside_the_page_of_a_svelte_app_are_told_and_their_end_too() {
    play("svelte");
}

/// Processes that run in a directory or were started with one below it.
fn at_home_in(directory: &Path) -> Vec<String> {
    let is_there = |process: &Path| {
        let command = std::fs::read(process.join("cmdline")).unwrap_or_default();
        let command = String::from_utf8_lossy(&command).replace('\0', " ");
        let runs_there = std::fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd.starts_with(directory));
        (runs_there || command.contains(&directory.display().to_string())).then_some(command)
    };
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes.filter_map(|entry| is_there(&entry.path())).filter(|command| !command.is_empty()).collect()
}

#[test]
fn a_driver_that_is_killed_leaves_nothing_behind() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path().canonicalize().unwrap();
    let mut command = driver("flask:none");
    command.env("TMPDIR", &directory).stdout(Stdio::null()).stderr(Stdio::null());
    let mut driver = command.spawn().unwrap();
    eventually("the browser and the server run", || {
        let running = at_home_in(&directory);
        let has = |word: &str| running.iter().any(|command| command.contains(word));
        (has("--user-data-dir") && has("flask")).then_some(())
    });
    driver.kill().unwrap();
    driver.wait().unwrap();
    eventually("all of it ends", || at_home_in(&directory).is_empty().then_some(()));
    eventually("the files go", || {
        // Browsers that are killed leave files of their own.
        let is_ours = |name: &std::ffi::OsString| name.to_string_lossy().starts_with("backsight-app-");
        let names: Vec<_> = std::fs::read_dir(&directory).unwrap().flatten().map(|entry| entry.file_name()).collect();
        (!names.iter().any(is_ours)).then_some(())
    });
}
