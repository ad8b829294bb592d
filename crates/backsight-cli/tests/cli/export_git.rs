//! `milestone export-git`: agent work as history to review, judged by real git.

use std::fs;
use std::path::PathBuf;

use insta::assert_snapshot;
use serde_json::json;

use crate::fixture::{Fixture, numbered};

/// A workspace that is a Git repository with one commit, a staged file and a history of Backsight's own.
fn repository() -> Fixture {
    let fixture = Fixture::new();
    fixture.write("a.txt", &numbered(&[]));
    fixture.write("b.txt", "b\n");
    fixture.git("init -q -b main");
    fixture.git("add a.txt b.txt");
    fixture.git("commit -q -m start");
    fixture.done("track -m start");
    fixture.write("a.txt", &numbered(&[(2, "agent")]));
    fixture.done("track -m 'agent edits a' --tool edit --session s1 --message m1");
    fixture.write("c.txt", "c\n");
    fixture.done("track -m 'add c'");
    fixture.done("milestone create Start --end 1");
    fixture.done("milestone create 'Login works' -m 'As agreed.'");
    fixture.git("add c.txt");
    fixture
}

/// Everything in the repository that must not change.
fn untouched(fixture: &Fixture) -> Vec<String> {
    let mut seen: Vec<String> =
        ["rev-parse HEAD", "symbolic-ref HEAD", "status --porcelain", "rev-parse main", "stash list"]
            .iter()
            .map(|line| fixture.git(line))
            .collect();
    seen.push(format!("{:?}", fs::read(fixture.root().join(".git/index")).unwrap()));
    seen.push(fs::read_to_string(fixture.root().join(".git/config")).unwrap());
    seen.push(format!("{:?}", fixture.picture().at("a.txt")));
    seen
}

fn elsewhere(fixture: &Fixture) -> PathBuf {
    let path = fixture.base().join("review");
    fs::create_dir(&path).unwrap();
    fixture.git_in(&path, "init -q -b main");
    path
}

#[test]
fn a_milestone_becomes_commits_on_a_branch_that_continues_head() {
    let fixture = repository();
    let before = untouched(&fixture);
    let seen = fixture.run("milestone export-git 'Login works' --repo . --branch agent/login");
    assert_snapshot!(seen, @r"
    Wrote branch agent/login in [TMP]/ws/.: 2 commits (5 new objects)
      snapshots #2 and #3
      continues [SHORT]
      tip       [SHORT]
    ---- stderr
    note: HEAD, the index, the work tree and every other branch are as they were
    hint: review it with `git -C [TMP]/ws/. log -p [SHORT]..agent/login --`
    ---- exit 0
    ");
    assert_eq!(untouched(&fixture), before);
    fixture.git("fsck --strict --no-dangling");
    assert_eq!(
        fixture.git("log '--format=%an: %s' --reverse main..agent/login"),
        "edit: agent edits a\nBacksight: add c\n"
    );
    assert_eq!(fixture.git("diff --name-status main agent/login"), "M\ta.txt\nA\tc.txt\n");
    assert_eq!(fixture.git("show agent/login:a.txt"), numbered(&[(2, "agent")]));
    let trailers = fixture.git("log -1 --format=%(trailers) agent/login~1");
    for trailer in ["Backsight-Snapshot: #2 ", "Backsight-Tool: edit", "Backsight-Session: s1", "Backsight-Message: m1"]
    {
        assert!(trailers.contains(trailer), "{trailer}: {trailers}");
    }
}

#[test]
fn what_the_hint_says_shows_each_step_as_a_diff() {
    let fixture = repository();
    let seen = String::from_utf8(
        fixture.command("milestone export-git 'Login works' --repo . --branch agent/login").output().unwrap().stderr,
    );
    let seen = seen.unwrap();
    let command = seen.split("`git ").nth(1).unwrap().split('`').next().unwrap();
    let shown = fixture.git(command);
    assert!(shown.contains("-line 2\n+agent\n") && shown.contains("+++ b/c.txt"), "{shown}");
}

#[test]
fn another_repository_gets_a_history_that_starts_before_the_range() {
    let fixture = repository();
    let review = elsewhere(&fixture);
    let exported = fixture.ok("milestone export-git 'Login works' --repo ../review --branch steps");
    assert_eq!((exported["commits"].as_array().unwrap().len(), &exported["snapshots"]), (3, &json!([2, 3])));
    assert_eq!(
        fixture.git_in(&review, "log --format=%s --reverse steps"),
        "The files before #2\nagent edits a\nadd c\n"
    );
    assert_eq!(fixture.git_in(&review, "rev-parse steps").trim(), exported["tip"]);
    assert_eq!(
        fixture.git_in(&review, "diff --shortstat steps~2 steps~1").trim(),
        "1 file changed, 1 insertion(+), 1 deletion(-)"
    );
    fixture.git_in(&review, "fsck --strict --no-dangling");
    assert_eq!(fixture.git_in(&review, "status --porcelain"), "");
    // The same export makes the same commits.
    let again = fixture.ok("milestone export-git 'Login works' --repo ../review --branch again");
    assert_eq!((&again["tip"], &again["objects_written"]), (&exported["tip"], &json!(0)));
}

#[test]
fn a_range_and_a_single_snapshot_are_exported_too() {
    let fixture = repository();
    let review = elsewhere(&fixture);
    fixture.done("milestone export-git 1..3 --repo ../review --branch all");
    assert_eq!(fixture.git_in(&review, "log --format=%s --reverse all"), "start\nagent edits a\nadd c\n");
    fixture.done("milestone export-git 2 --repo ../review --branch one");
    assert_eq!(fixture.git_in(&review, "log --format=%s --reverse one"), "The files before #2\nagent edits a\n");
    let error = fixture.ask("milestone export-git 3..1 --repo ../review --branch back").fails("INVALID_RANGE", 3);
    assert!(error["hint"].as_str().unwrap().contains("`1..3`"), "{error}");
    assert_eq!(fixture.git_in(&review, "branch --list back"), "");
}

#[test]
fn squashed_it_is_one_commit_that_lists_the_steps() {
    let fixture = repository();
    fixture.done("milestone export-git 'Login works' --repo . --branch login --squash");
    assert_eq!(fixture.git("rev-list --count main..login").trim(), "1");
    assert_eq!(
        fixture.git("log -1 --format=%B login").trim(),
        "Login works\n\nAs agreed.\n\n* #2 agent edits a\n* #3 add c"
    );
    assert_eq!(fixture.git("diff --name-status main login"), "M\ta.txt\nA\tc.txt\n");
}

#[test]
fn onto_names_what_is_continued() {
    let fixture = repository();
    fixture.git("branch base");
    fixture.git("commit -q -m second");
    fixture.done("milestone export-git 'Login works' --repo . --branch login --onto base");
    assert_eq!(fixture.git("merge-base login main"), fixture.git("rev-parse base"));
    fixture.ask("milestone export-git 'Login works' --repo . --branch x --onto nowhere").fails("REF_NOT_FOUND", 4);
}

#[test]
fn a_dry_run_writes_nothing_and_says_the_same() {
    let fixture = repository();
    let objects = || fixture.git("count-objects -v");
    let before = (objects(), fixture.git("for-each-ref"));
    assert_snapshot!(fixture.run("milestone export-git 'Login works' --repo . --branch login --dry-run"), @r"
    Would write branch login in [TMP]/ws/.: 2 commits (5 new objects)
      snapshots #2 and #3
      continues [SHORT]
      tip       [SHORT]
    ---- stderr
    note: this was a dry run, nothing was written
    ---- exit 0
    ");
    assert_eq!((objects(), fixture.git("for-each-ref")), before);
    let planned = fixture.ok("milestone export-git 'Login works' --repo . --branch login --dry-run");
    assert_eq!(planned["tip"], fixture.ok("milestone export-git 'Login works' --repo . --branch login")["tip"]);
}

#[test]
fn refusals_say_what_to_do() {
    let fixture = repository();
    let before = (untouched(&fixture), fixture.git("for-each-ref"));
    let error = fixture.ask("milestone export-git 'Login works' --repo . --branch main").fails("GIT_REFUSED", 3);
    assert!(error["hint"].as_str().unwrap().contains("another name"), "{error}");
    fixture.ask("milestone export-git 'Login works' --repo . --branch 'bad..name'").fails("USAGE", 2);
    fixture.ask("milestone export-git 'Login works' --repo /nowhere --branch x").fails("REPOSITORY_NOT_FOUND", 4);
    fixture.ask("milestone export-git Nobody --repo . --branch x").fails("REF_NOT_FOUND", 4);
    assert_eq!(fixture.ask("milestone export-git 'Login works' --branch x").status, 2);
    assert_eq!((untouched(&fixture), fixture.git("for-each-ref")), before);
}

#[test]
fn a_linked_work_tree_says_where_the_branch_really_goes() {
    let fixture = repository();
    fixture.git("worktree add -q ../linked");
    let seen = fixture.run("milestone export-git 'Login works' --repo ../linked --branch steps");
    assert!(seen.contains("  really in [TMP]/ws/.git\n"), "{seen}");
    let exported = fixture.ok("milestone export-git 'Login works' --repo . --branch again");
    assert!(exported.get("written_to").is_none(), "{exported}");
    assert_eq!(fixture.git("branch --list steps again").lines().count(), 2);
}

#[test]
fn a_repository_with_a_symlink_for_a_part_is_refused_by_name() {
    for part in [".git", ".git/objects", ".git/objects/pack", ".git/refs", ".git/refs/heads", ".git/packed-refs"] {
        let fixture = repository();
        let review = elsewhere(&fixture);
        fixture.write("../review/f", "f");
        fixture.git_in(&review, "add f");
        fixture.git_in(&review, "commit -q -m f");
        fixture.git_in(&review, "pack-refs --all");
        let (path, real) = (review.join(part), fixture.base().join("real"));
        fs::rename(&path, &real).unwrap();
        std::os::unix::fs::symlink(&real, &path).unwrap();
        let refused =
            fixture.ask("milestone export-git 'Login works' --repo ../review --branch b").fails("GIT_REFUSED", 3);
        let message = refused["message"].as_str().unwrap();
        assert!(message.contains("is a symlink") && message.contains("real"), "{part}: {refused}");
    }
}
