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
    Wrote branch agent/login in [TMP]/ws: 2 commits (5 new objects)
      snapshots #2 and #3
      continues [SHORT]
      tip       [SHORT]
    ---- stderr
    note: HEAD, the index, the work tree and every other branch are as they were
    hint: review it with `git -C [TMP]/ws log -p [SHORT]..agent/login --`
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

/// Each path with its reason.
fn kept(exported: &serde_json::Value) -> Vec<String> {
    let text =
        |kept: &serde_json::Value| format!("{}: {}", kept["path"].as_str().unwrap(), kept["reason"].as_str().unwrap());
    exported["kept"].as_array().unwrap().iter().map(text).collect()
}

#[test]
fn what_a_snapshot_could_not_see_stays_as_the_repository_has_it() {
    for sparse_index in ["--no-sparse-index", "--sparse-index"] {
        let fixture = Fixture::new();
        for (path, text) in [("a/f", "0"), ("b/g", "0"), ("b/deep/h", "0"), ("gone", "0"), ("made/x", "x")] {
            fixture.write(path, text);
        }
        fixture.write("large.bin", &"x".repeat(300_000));
        fixture.write("hidden/tracked", "t");
        fixture.git("init -q -b main");
        fixture.git("init -q -b main lib");
        fixture.write("lib/lib.c", "c");
        fixture.git("-C lib add lib.c");
        fixture.git("-C lib commit -q -m lib");
        fixture.git("add .");
        fixture.git("commit -q -m first");
        fixture.git(&format!("sparse-checkout set --cone {sparse_index} a made hidden"));
        // What Git tracks is captured whatever is excluded; this is only in the last commit.
        fixture.git("rm -q --cached hidden/tracked");
        fixture.done("config set max_file_size 100000");
        fixture.done("config set exclude hidden/");
        fixture.done("track");
        fixture.write("a/f", "1");
        fixture.remove("gone");
        fixture.done("track -m one");
        fixture.write("lib/lib.c", "changed");
        // One that was seen grows over the limit: it stays as the commit before has it.
        fixture.write("made/x", &"y".repeat(200_000));
        fixture.done("track -m two");
        fixture.done("milestone create All");
        let planned = fixture.ok("milestone export-git All --repo . --branch steps --dry-run");
        let exported = fixture.ok("milestone export-git All --repo . --branch steps");
        assert_eq!((&planned["kept"], &planned["tip"]), (&exported["kept"], &exported["tip"]));
        assert_eq!(fixture.git("diff --name-status main steps"), "M\ta/f\nD\tgone\n", "{sparse_index}: {exported:#}");
        let named = kept(&exported);
        assert_eq!(exported["kept_total"], named.len());
        for expected in ["hidden: ignored", "large.bin: too large", "lib: submodule"] {
            assert!(named.iter().any(|kept| kept == expected), "{expected}: {named:?}");
        }
        assert!(named.iter().any(|kept| kept == "made/x: too large"), "{named:?}");
        assert!(named.iter().any(|kept| kept.starts_with('b') && kept.contains("sparse checkout")), "{named:?}");
        // The branch alone: Git forgets a tree of its sparse index when a file of it goes.
        fixture.git("fsck --strict --no-dangling steps");
        let seen = fixture.run("milestone export-git All --repo . --branch again");
        assert!(seen.contains(", as in the commit before: "), "{seen}");
    }
}

#[test]
fn a_workspace_below_the_root_stays_in_its_directory() {
    let fixture = Fixture::new();
    fixture.write("top", "t");
    fixture.write("sub/app/f", "0");
    fixture.write("sub/other", "o");
    fixture.git("init -q -b main");
    fixture.git("add .");
    fixture.git("commit -q -m first");
    fixture.git("clone -q . ../clone");
    fixture.done("-C sub/app init");
    fixture.done("-C sub/app track");
    fixture.write("sub/app/f", "1");
    fixture.write("sub/app/new/g", "g");
    fixture.done("-C sub/app track");
    fixture.done("-C sub/app milestone create All");
    let mut branch = 0;
    let mut export = |repository: &str, onto: &str| {
        branch += 1;
        let path = fixture.root().join(repository);
        let line = format!("-C sub/app milestone export-git All --branch b{branch} {onto} --repo");
        let exported = fixture.ok(&format!("{line} {}", path.display()));
        let changes = fixture.git_in(&path, &format!("diff --name-status main b{branch}"));
        (exported["below"].as_str().unwrap().to_owned(), changes)
    };
    let expected = ("sub/app".to_owned(), "M\tsub/app/f\nA\tsub/app/new/g\n".to_owned());
    assert_eq!(export(".", ""), expected);
    assert_eq!(export(".git", ""), expected);
    assert_eq!(export(".", "--onto main"), expected);
    assert_eq!(export("../clone", "--onto main"), expected);
    // A history of its own has them at the same place.
    let linked = fixture.base().join("linked");
    fixture.git("worktree add -q ../linked");
    fixture.ok(&format!("-C sub/app milestone export-git All --branch own --repo {}", linked.display()));
    assert_eq!(fixture.git("ls-tree -r --name-only own"), "sub/app/f\nsub/app/new/g\n");
    fixture.git("fsck --strict --no-dangling");
}

#[test]
fn a_workspace_in_a_submodule_goes_to_the_submodule() {
    let fixture = Fixture::new();
    fixture.write("top", "t");
    fixture.git("init -q -b main");
    fixture.write("lib/f", "0");
    fixture.git("init -q -b main lib");
    fixture.git("-C lib add f");
    fixture.git("-C lib commit -q -m lib");
    fixture.git("add top lib");
    fixture.git("commit -q -m first");
    fixture.done("-C lib init");
    fixture.done("-C lib track");
    fixture.write("lib/f", "1");
    fixture.done("-C lib track");
    let refused = fixture.ask("-C lib milestone export-git 2 --repo .. --branch b").fails("GIT_REFUSED", 3);
    assert!(refused["hint"].as_str().unwrap().contains("submodule's own"), "{refused}");
    fixture.done("-C lib milestone export-git 2 --repo . --branch b");
    assert_eq!(fixture.git("-C lib diff --name-status main b"), "M\tf\n");
}

#[test]
fn the_first_snapshot_is_no_commit_where_the_repository_holds_it() {
    let fixture = repository();
    let exported = fixture.ok("milestone export-git 1..3 --repo . --branch steps");
    assert_eq!((exported["commits"].as_array().unwrap().len(), &exported["snapshots"]), (2, &json!([1, 2, 3])));
    assert_eq!(fixture.git("log --format=%s --reverse main..steps"), "agent edits a\nadd c\n");
    fixture.ask("milestone export-git 1 --repo . --branch none").fails("INVALID_RANGE", 3);
}

#[test]
fn a_dry_run_writes_nothing_and_says_the_same() {
    let fixture = repository();
    let objects = || fixture.git("count-objects -v");
    let before = (objects(), fixture.git("for-each-ref"));
    assert_snapshot!(fixture.run("milestone export-git 'Login works' --repo . --branch login --dry-run"), @r"
    Would write branch login in [TMP]/ws: 2 commits (5 new objects)
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

#[test]
fn commits_hold_what_git_would_have_added_and_filters_are_named() {
    let fixture = Fixture::new();
    fixture.git("init -q -b main");
    fixture.git("config core.autocrlf true");
    fixture.git("config filter.up.clean 'tr a-z A-Z'");
    fixture.write(".gitattributes", "*.bin filter=up\n*.key filter=git-crypt\n");
    for (path, text) in [("f.txt", "one\r\n"), ("g.bin", "hello\n"), ("a", "1\n")] {
        fixture.write(path, text);
    }
    fixture.git("add .");
    fixture.git("commit -q -m first");
    fixture.done("track");
    fixture.write("a", "2\r\n");
    fixture.write("g.bin", "changed\n");
    fixture.write("new.key", "plain\n");
    fixture.done("track");
    fixture.done("milestone create M");
    let exported = fixture.ok("milestone export-git M --repo . --branch steps");
    assert_eq!(fixture.git("diff --name-status main steps"), "M\ta\n");
    assert_eq!(fixture.git("show steps:a"), "2\n");
    assert_eq!(
        kept(&exported),
        [
            "g.bin: converted by a filter that Backsight does not run",
            "new.key: new and left out: converted by a filter that Backsight does not run"
        ]
    );
    let seen = fixture.run("milestone export-git M --repo . --branch again");
    assert!(seen.contains("2 paths, as in the commit before: g.bin (converted by a filter"), "{seen}");
}
