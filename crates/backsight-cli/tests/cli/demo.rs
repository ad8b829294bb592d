//! `backsight demo` does what it promises and leaves nothing behind.

use crate::fixture::Fixture;

/// What the demo prints, with tokens for what differs from run to run.
fn story(fixture: &Fixture) -> String {
    let temp = fixture.root().join("tmp");
    std::fs::create_dir(&temp).unwrap();
    let mut command = fixture.command("demo");
    command.env("TMPDIR", &temp).env("LC_ALL", "C.UTF-8");
    fixture.transcript(command).replace(env!("CARGO_BIN_EXE_backsight"), "target/quick/backsight")
}

#[test]
fn the_picture_in_the_readme_is_what_the_demo_shows() {
    let fixture = Fixture::new();
    let story = story(&fixture);
    let shown = story.split("\n---- ").next().unwrap();
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md")).unwrap();
    let picture = readme.split("```console\n").nth(1).unwrap().split("\n```").next().unwrap();
    assert_eq!(fixture.normalise(picture), shown, "paste what `backsight demo` shows into README.md");
}

#[test]
fn the_demo_fits_two_screens() {
    let fixture = Fixture::new();
    let story = story(&fixture);
    let shown: Vec<&str> = story.split("\n---- ").next().unwrap().lines().collect();
    assert!(shown.len() <= 48, "{} lines", shown.len());
    for line in shown {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

/// What `make run` says at once, without building anything.
#[test]
fn make_run_says_what_it_is_and_that_it_builds() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let bin = tempfile::tempdir().unwrap();
    // A cargo that builds nothing, and a program that was built.
    let script = |path: &std::path::Path, text: &str| {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    };
    script(&bin.path().join("cargo"), "echo \"cargo $*\"");
    script(&bin.path().join("target/quick/backsight"), "echo \"backsight $*\"");
    let path = format!("{}:{}", bin.path().display(), std::env::var("PATH").unwrap());
    let mut make = std::process::Command::new("make");
    make.args(["-s", "-C", root, "run"]).env("PATH", path).env("CARGO_TARGET_DIR", bin.path().join("target"));
    for name in ["MAKEFLAGS", "MAKELEVEL", "MFLAGS"] {
        make.env_remove(name);
    }
    let output = make.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let about = Fixture::new().run("--help").lines().next().unwrap().to_owned();
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[0], format!("Backsight: {about}"), "{said}");
    assert!(lines[1].starts_with("Building it first: ") && lines[1].contains("minutes"), "{said}");
    assert_eq!(lines[2..], ["cargo build --profile quick -p backsight-cli", "backsight demo --serve"], "{said}");
}

#[test]
fn the_demo_leaves_nothing_behind() {
    let fixture = Fixture::new();
    assert!(story(&fixture).ends_with("---- exit 0"));
    assert_eq!(std::fs::read_dir(fixture.root().join("tmp")).unwrap().count(), 0);
}

#[test]
fn the_demo_as_json_is_one_object() {
    let (json, status) = Fixture::new().json("demo");
    assert_eq!(status, 0);
    let commands: Vec<_> =
        json["steps"].as_array().unwrap().iter().filter_map(|step| step["command"].as_str()).collect();
    assert!(commands.contains(&"backsight revert 2"), "{commands:?}");
}

/// What `make run` ends with: a week to look around in, under two screens of text, and nothing of it left.
#[test]
fn the_sample_is_served_and_goes_with_its_server() {
    use std::io::{BufRead, BufReader};

    let fixture = Fixture::new();
    let temp = fixture.root().join("tmp");
    std::fs::create_dir(&temp).unwrap();
    let mut command = fixture.command("demo --serve");
    command.env("TMPDIR", &temp).env("LC_ALL", "C.UTF-8").stdout(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut shown = Vec::new();
    for line in lines {
        let is_last = line.starts_with("Ctrl-C ends it");
        shown.push(line);
        if is_last {
            break;
        }
    }
    // With what `make run` says before it.
    assert!(shown.len() + 3 <= 48, "{} lines: {shown:#?}", shown.len());
    let told = shown.join("\n");
    for part in ["Exact totals", "TypeError", "undo", "6 days ago", "watch", "install claude-code"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let url = shown.iter().find_map(|line| line.trim().strip_prefix("http://")).unwrap();
    let (authority, path) = url.split_once('/').unwrap();
    assert!(authority.starts_with("127.0.0.1:"), "{authority}");
    let server = crate::serving::server::Server::known(&serde_json::json!({
        "url": format!("http://{authority}"), "token": "", "ingest_key": "",
    }));
    let answer =
        server.raw(format!("GET /{path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n").as_bytes());
    assert!(matches!(answer.status, 200 | 303), "{answer:?}");
    let status = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(status.success() && child.wait().unwrap().success());
    assert_eq!(std::fs::read_dir(&temp).unwrap().count(), 0);
}
