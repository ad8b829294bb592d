//! Below the root of a Git repository the root is the workspace, unless the user says otherwise.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::fixture::Fixture;

/// A command in a directory below the workspace.
fn run_in(fixture: &Fixture, directory: &str, line: &str) -> String {
    let mut command = fixture.command(line);
    command.current_dir(fixture.root().join(directory));
    fixture.transcript(command)
}

/// A repository with a directory deep in it.
fn repository() -> Fixture {
    let fixture = Fixture::in_memory();
    fixture.git("init -q .");
    fixture.write("src/deep/a.txt", "a\n");
    fixture
}

fn stores(fixture: &Fixture) -> Vec<PathBuf> {
    let directories = [".", "src", "src/deep", "sub", "sub/in"];
    directories.iter().map(PathBuf::from).filter(|path| fixture.root().join(path).join(".backsight").is_dir()).collect()
}

#[test]
fn the_root_of_the_repository_is_the_workspace_and_that_is_said() {
    for line in ["track -m first", "init", "begin --tool edit", "session start s1", "call -- true"] {
        let fixture = repository();
        let said = run_in(&fixture, "src/deep", line);
        assert_eq!(stores(&fixture), [Path::new(".")], "{line}: {said}");
        if !line.starts_with("call") {
            assert!(said.contains("note: the workspace is [TMP]/ws, the root of the Git repository"), "{line}: {said}");
        }
        // From then on it is an ordinary workspace.
        assert!(!run_in(&fixture, "src/deep", "status").contains("the root of the Git"), "{line}");
    }
    let fixture = repository();
    assert!(!fixture.run("track -m first").contains("the root of the Git"), "started at the root");
}

#[test]
fn a_directory_that_is_named_wins() {
    for (line, expected) in
        [("-C . track -m first", "src"), ("init .", "src"), ("init deep", "src/deep"), ("-C deep init", "src/deep")]
    {
        let fixture = repository();
        let said = run_in(&fixture, "src", line);
        assert_eq!(stores(&fixture), [Path::new(expected)], "{line}: {said}");
        assert!(!said.contains("the root of the Git"), "{line}: {said}");
    }
    // And so does a store above the repository.
    let fixture = repository();
    fixture.git_in(&fixture.root().join("src"), "init -q .");
    fixture.done("init");
    let _ = run_in(&fixture, "src/deep", "track -m first");
    assert_eq!(stores(&fixture), [Path::new(".")]);
}

#[test]
fn worktrees_and_submodules_are_their_own() {
    let fixture = repository();
    fixture.git("add .");
    fixture.git("commit -q -m first");
    fixture.git("worktree add -q sub");
    fixture.write("sub/in/b.txt", "b\n");
    assert!(fixture.root().join("sub/.git").is_file());
    let _ = run_in(&fixture, "sub/in", "track -m first");
    assert_eq!(stores(&fixture), [Path::new("sub")]);
}

#[test]
fn a_repository_of_the_home_directory_is_not_meant() {
    let fixture = Fixture::in_memory();
    let home = fixture.home();
    fixture.git_in(&home, "init -q .");
    fs::create_dir_all(home.join("project/deep")).unwrap();
    let mut command = fixture.command("track -m first");
    command.current_dir(home.join("project/deep"));
    let said = fixture.transcript(command);
    assert!(home.join("project/deep/.backsight").is_dir() && !home.join(".backsight").exists(), "{said}");
    let mut command = fixture.command("track -m first");
    command.current_dir(&home);
    assert!(fixture.transcript(command).contains("is your home directory"));
}

#[test]
fn a_hook_and_a_server_take_the_root_too() {
    let fixture = repository();
    let deep = fixture.root().join("src/deep");
    let event = json!({ "hook_event_name": "UserPromptSubmit", "session_id": "s1", "prompt_id": "m1", "cwd": deep });
    crate::hooks::hook(&fixture, "claude-code", event.to_string().as_bytes());
    assert_eq!(stores(&fixture), [Path::new(".")]);

    let fixture = repository();
    let mut command = fixture.command("mcp");
    command.current_dir(fixture.root().join("src"));
    let mut agent = crate::agents::client::Agent::spawn(command, "tester", crate::agents::client::Era::Modern);
    agent.open();
    agent.ok("files_track", json!({ "description": "first" }));
    assert_eq!(stores(&fixture), [Path::new(".")]);
}
