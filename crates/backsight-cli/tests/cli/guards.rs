//! Places nobody means to track, limits, and what the environment must not change.

use std::fs;

use crate::fixture::{Answer, ArgJson, Fixture};
use crate::picture::Picture;

#[test]
fn home_and_everything_above_it_are_refused_with_a_way_on() {
    let fixture = Fixture::new();
    fs::write(fixture.home().join("file"), "x").unwrap();
    let home = fixture.home();
    for directory in [home.clone(), home.parent().unwrap().to_owned(), "/".into()] {
        for line in ["track", "init", "status"] {
            let answer = fixture.ask(&format!("-C {} {line}", directory.display()));
            if line == "status" && answer.status == 0 {
                continue;
            }
            assert_eq!((answer.code(), answer.status), ("WORKSPACE_REFUSED", 3), "{}", answer.json);
            assert!(answer.json["error"]["hint"].as_str().unwrap().contains("--any-root"), "{}", answer.json);
            assert!(!directory.join(".backsight").exists(), "{}", directory.display());
        }
    }
    assert!(!home.join(".backsight").exists());
}

#[test]
fn any_root_allows_home_when_asked() {
    let fixture = Fixture::new();
    fs::write(fixture.home().join("file"), "x").unwrap();
    let at = format!("-C {}", fixture.home().display());
    fixture.ok(&format!("{at} init --any-root"));
    assert_eq!(fixture.ok(&format!("{at} track"))["coverage"]["files"], 1);
}

#[test]
fn a_directory_inside_home_is_fine() {
    let fixture = Fixture::new();
    let project = fixture.home().join("project");
    fs::create_dir(&project).unwrap();
    fs::write(project.join("a"), "a").unwrap();
    assert_eq!(fixture.ok(&format!("-C {} track", project.display()))["created"], true);
}

#[test]
fn too_many_files_are_refused_before_anything_is_stored() {
    let fixture = Fixture::new();
    fixture.write("a", "a");
    fixture.track();
    fixture.done("config set max_files 20");
    for number in 0..30 {
        fixture.write(&format!("n{number}"), "x");
    }
    let error = fixture.ask("track").fails("TOO_LARGE", 3);
    assert!(error["hint"].as_str().unwrap().contains("max_files"), "{error}");
    assert!(error["message"].as_str().unwrap().contains("20"), "{error}");
    assert_eq!(fixture.ok("log")["rows"].as_array().unwrap().len(), 1);
    fixture.done("config set max_files 100");
    assert_eq!(fixture.ok("track")["coverage"]["files"], 31);
}

#[test]
fn too_many_new_bytes_are_refused_before_anything_is_stored() {
    let fixture = Fixture::new();
    fixture.write("a", "a");
    fixture.track();
    fixture.done("config set max_new_bytes 1000");
    fixture.write("b", &"x".repeat(900));
    fixture.write("c", &"y".repeat(900));
    let error = fixture.ask("track").fails("TOO_LARGE", 3);
    assert!(error["hint"].as_str().unwrap().contains("max_new_bytes"), "{error}");
    fixture.remove("c");
    fixture.track();
}

#[test]
fn git_clean_leaves_the_store_and_git_never_sees_it() {
    let fixture = Fixture::new();
    fixture.git("init -q .");
    fixture.write("a", "a\n");
    fixture.git("add a");
    fixture.git("commit -q -m x");
    fixture.track();
    for line in ["status --porcelain --ignored=no", "add -A -n .", "ls-files -o --exclude-standard"] {
        assert_eq!(fixture.git(line), "", "{line}");
    }
    fixture.write("junk", "j\n");
    fixture.write("a", "2\n");
    fixture.track();
    for flags in ["-fdx", "-fdX", "-fd"] {
        fixture.git(&format!("clean {flags}"));
        fixture.verify();
        assert_eq!(fixture.ok("log")["rows"].as_array().unwrap().len(), 2, "{flags}");
        assert_eq!(fixture.git("status --porcelain"), " M a\n", "{flags}");
    }
    fixture.ok("restore 2");
    assert_eq!(fixture.read("junk"), "j\n");
    assert_eq!(fixture.git("status --porcelain"), " M a\n?? junk\n");
}

#[test]
fn a_lost_gitignore_around_the_store_is_written_again() {
    let fixture = Fixture::new();
    fixture.git("init -q .");
    fixture.write("a", "a\n");
    fixture.track();
    fs::remove_file(fixture.root().join(".backsight/.gitignore")).unwrap();
    fs::remove_file(fixture.root().join(".backsight/store/.git")).unwrap();
    fixture.write("a", "b\n");
    fixture.track();
    assert!(!fixture.git("status --porcelain").contains("backsight"));
    fixture.git("clean -fdx");
    assert!(fixture.root().join(".backsight/store/snapshots").is_dir());
}

#[test]
fn a_rule_that_unignores_everything_does_not_capture_the_store() {
    let fixture = Fixture::new();
    fixture.write(".gitignore", "!*\n!.backsight\n!.backsight/**\n");
    fixture.write("a", "a\n");
    fixture.track();
    assert_eq!(fixture.ok("track")["created"], false);
    assert!(!fixture.ok("ls @").to_string().contains("backsight"));
}

#[test]
fn the_git_environment_has_no_effect() {
    let fixture = Fixture::new();
    fixture.git("init -q .");
    fixture.write("a", "a\n");
    let elsewhere = fixture.base().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("ignores"), "*\n").unwrap();
    let before = Picture::of(&elsewhere);
    let run = |line: &str| {
        let mut command = fixture.command(line).arg_json();
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR", "GIT_CEILING_DIRECTORIES"] {
            command.env(name, &elsewhere);
        }
        command.env("GIT_INDEX_FILE", elsewhere.join("index")).env("GIT_NAMESPACE", "x");
        command.env("GIT_CONFIG_COUNT", "1").env("GIT_CONFIG_KEY_0", "core.excludesFile");
        command.env("GIT_CONFIG_VALUE_0", elsewhere.join("ignores"));
        command.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", &elsewhere);
        Answer::of(&mut command, line).ok()
    };
    assert_eq!(run("track")["coverage"]["files"], 1);
    fixture.write("a", "b\n");
    run("track");
    run("restore 1");
    assert_eq!(fixture.read("a"), "a\n");
    run("verify");
    Picture::of(&elsewhere).expect(&before, "nothing is written where GIT_DIR points");
}

/// No git on the PATH, nothing but HOME in the environment, no locale, stdin closed, a strange working directory.
#[test]
fn a_bare_environment_is_enough() {
    let fixture = Fixture::new();
    fixture.write("a", "a\n");
    for line in ["track", "status", "log", "restore @", "verify", "doctor", "usage", "gc"] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_backsight"));
        command.arg("--json").args(line.split(' ')).env_clear().current_dir(fixture.root());
        command.stdin(std::process::Stdio::null()).env("HOME", fixture.home());
        Answer::of(&mut command, line).ok();
        command.env("PATH", "").env("LANG", "\u{1F980}");
        Answer::of(&mut command, line).ok();
    }
}

/// From a subdirectory the same workspace is found, and paths are taken from there.
#[test]
fn a_subdirectory_belongs_to_its_workspace() {
    let fixture = Fixture::new();
    fixture.write("sub/deep/a", "1\n");
    fixture.write("b", "1\n");
    fixture.track();
    fixture.write("sub/deep/a", "2\n");
    fixture.write("b", "2\n");
    let sub = fixture.root().join("sub/deep");
    let answer = Answer::of(fixture.command("restore 1 -- a").arg_json().current_dir(&sub), "restore").ok();
    assert_eq!(answer["reverted"][0]["path"], "sub/deep/a");
    assert_eq!((fixture.read("sub/deep/a").as_str(), fixture.read("b").as_str()), ("1\n", "2\n"));
    assert!(!sub.join(".backsight").exists());
}

/// `init --store user` keeps everything outside the tree.
#[test]
fn a_store_outside_the_tree_leaves_the_tree_alone() {
    let fixture = Fixture::new();
    fixture.write("a", "1\n");
    fixture.ok("init --store user");
    fixture.track();
    fixture.write("a", "2\n");
    fixture.track();
    fixture.ok("restore 1");
    assert_eq!(fixture.read("a"), "1\n");
    assert!(!fixture.root().join(".backsight").exists());
    fixture.verify();
    fixture.ok("undo");
    assert_eq!(fixture.read("a"), "2\n");
}

/// The history of one project is never carried out on the files of another that has its path.
#[test]
fn a_store_outside_the_tree_follows_its_directory_and_no_other() {
    let fixture = Fixture::new();
    fixture.write("w/a", "1\n");
    fixture.write("other/a", "precious, of another project\n");
    fixture.done("-C w init --store user .");
    fixture.done("-C w track");
    fixture.write("w/a", "2\n");
    fixture.done("-C w track");
    std::fs::rename(fixture.root().join("w"), fixture.root().join("moved")).unwrap();
    std::fs::rename(fixture.root().join("other"), fixture.root().join("w")).unwrap();
    fixture.done("-C moved undo");
    assert_eq!(fixture.read("moved/a"), "1\n");
    for line in [
        "status",
        "log",
        "track",
        "undo",
        "undo --on-conflict skip",
        "restore 1",
        "revert 2",
        "diff",
        "verify",
        "gc",
        "begin",
        "config",
        "serve --port 0",
    ] {
        fixture.ask(&format!("-C w {line}")).fails("STORE_NOT_OURS", 3);
    }
    assert_eq!(fixture.read("w/a"), "precious, of another project\n");
    let said = fixture.run("-C w status");
    assert!(said.contains("is of another directory than") && said.contains("init --adopt"), "{said}");
    fixture.done("-C w init --store user .");
    fixture.done("-C w track");
    assert_eq!(fixture.ok("-C w log")["rows"].as_array().map(Vec::len), Some(1));
    assert_eq!(fixture.ok("-C moved log")["rows"].as_array().map(Vec::len), Some(3));
}
