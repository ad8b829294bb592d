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

/// With what `make run` says before and after it.
#[test]
fn the_demo_fits_two_screens() {
    let fixture = Fixture::new();
    let story = story(&fixture);
    let shown: Vec<&str> = story.split("\n---- ").next().unwrap().lines().collect();
    assert!(shown.len() + 3 <= 48, "{} lines", shown.len());
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
    assert_eq!(lines[2..4], ["cargo build --profile quick -p backsight-cli", "backsight demo"], "{said}");
    assert!(lines[4].contains("cargo install --path crates/backsight-cli"), "{said}");
    assert_eq!(lines.last(), Some(&"backsight serve"), "{said}");
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
