//! `revert` undoes steps and keeps everyone else's edits; `restore` goes to a state. Never the one for the other.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::fixture::{Fixture, numbered};

/// The paths of a list of changes or conflicts.
fn paths(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|entry| entry["path"].as_str().unwrap()).collect()
}

fn chmod(fixture: &Fixture, path: &str, mode: u32) {
    fs::set_permissions(fixture.root().join(path), fs::Permissions::from_mode(mode)).unwrap();
}

fn mode(fixture: &Fixture, path: &str) -> u32 {
    fs::symlink_metadata(fixture.root().join(path)).unwrap().permissions().mode() & 0o7777
}

/// #1 holds `a.txt` and `b.txt`, then `step` is recorded as #2.
fn after_step(step: impl FnOnce(&Fixture)) -> Fixture {
    let fixture = Fixture::new();
    fixture.write("a.txt", &numbered(&[]));
    fixture.write("b.txt", &numbered(&[]));
    fixture.write("dir/c.txt", "c\n");
    assert_eq!(fixture.track(), 1);
    step(&fixture);
    assert_eq!(fixture.ok("track --tool edit --session s1")["sequence_number"], 2);
    fixture
}

/// Refused: exit 3, every conflict named, nothing changed on disk and nothing recorded over it.
#[track_caller]
fn refused(fixture: &Fixture, line: &str, expected: &[&str]) {
    let before = fixture.picture();
    let error = fixture.ask(line).fails("CONFLICT", 3);
    fixture.picture().expect(&before, line);
    for path in expected {
        assert!(paths(&error["details"]["conflicts"]).contains(path), "{error}");
    }
}

#[test]
fn an_edit_of_another_file_is_kept() {
    let fixture = after_step(|fixture| fixture.write("a.txt", &numbered(&[(5, "agent")])));
    fixture.write("b.txt", "mine\n");
    fixture.write("new.txt", "mine too\n");
    let applied = fixture.ok("revert '#2'");
    assert_eq!(paths(&applied["reverted"]), ["a.txt"]);
    assert_eq!((fixture.read("a.txt"), fixture.read("b.txt")), (numbered(&[]), "mine\n".to_owned()));
    assert_eq!(fixture.read("new.txt"), "mine too\n");
}

#[test]
fn an_edit_elsewhere_in_the_file_is_merged() {
    let fixture = after_step(|fixture| fixture.write("a.txt", &numbered(&[(2, "agent")])));
    fixture.write("a.txt", &numbered(&[(2, "agent"), (9, "mine")]));
    let applied = fixture.ok("revert '#2'");
    assert_eq!(paths(&applied["merged"]), ["a.txt"]);
    assert_eq!(fixture.read("a.txt"), numbered(&[(9, "mine")]));
    fixture.ok("undo");
    assert_eq!(fixture.read("a.txt"), numbered(&[(2, "agent"), (9, "mine")]));
}

#[test]
fn an_edit_of_the_same_place_is_a_conflict_and_nothing_changes() {
    let fixture = after_step(|fixture| {
        fixture.write("a.txt", &numbered(&[(2, "agent")]));
        fixture.write("b.txt", &numbered(&[(2, "agent")]));
        fixture.write("created.txt", "agent\n");
    });
    fixture.write("a.txt", &numbered(&[(2, "mine")]));
    refused(&fixture, "revert '#2'", &["a.txt"]);
    refused(&fixture, "undo", &["a.txt"]);
    let applied = fixture.ok("revert '#2' --on-conflict skip");
    assert_eq!(paths(&applied["skipped"]), ["a.txt"]);
    assert_eq!((fixture.read("a.txt"), fixture.read("b.txt")), (numbered(&[(2, "mine")]), numbered(&[])));
    assert!(!fixture.root().join("created.txt").exists());
}

#[test]
fn a_conflict_that_is_merged_keeps_both_sides() {
    let fixture = after_step(|fixture| fixture.write("a.txt", &numbered(&[(2, "agent")])));
    fixture.write("a.txt", &numbered(&[(2, "mine"), (9, "mine too")]));
    let answer = fixture.ask("revert '#2' --on-conflict merge");
    assert_eq!((answer.status, paths(&answer.json["conflicts"])), (1, vec!["a.txt"]));
    let text = fixture.read("a.txt");
    for part in ["<<<<<<<", "mine\n", "line 2\n", ">>>>>>>", "mine too\n"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    fixture.ok("undo");
    assert_eq!(fixture.read("a.txt"), numbered(&[(2, "mine"), (9, "mine too")]));
}

#[test]
fn a_binary_conflict_is_never_merged_with_markers() {
    let fixture = after_step(|fixture| fs::write(fixture.root().join("a.txt"), b"\0agent\n").unwrap());
    fs::write(fixture.root().join("a.txt"), b"\0mine\n").unwrap();
    refused(&fixture, "revert '#2'", &["a.txt"]);
    let answer = fixture.ask("revert '#2' --on-conflict merge");
    assert_eq!(fs::read(fixture.root().join("a.txt")).unwrap(), b"\0mine\n", "{}", answer.json);
}

#[test]
fn a_file_the_step_created_goes() {
    let fixture = after_step(|fixture| fixture.write("deep/er/new.txt", "agent\n"));
    fixture.ok("revert '#2'");
    assert!(!fixture.root().join("deep").exists(), "the directories it was made for go too");
    fixture.ok("undo");
    assert_eq!(fixture.read("deep/er/new.txt"), "agent\n");
}

#[test]
fn a_file_the_step_created_and_the_user_edited_is_a_conflict() {
    let fixture = after_step(|fixture| fixture.write("new.txt", "agent\n"));
    fixture.write("new.txt", "agent\nmine\n");
    refused(&fixture, "revert '#2'", &["new.txt"]);
    fixture.ok("revert '#2' --on-conflict skip");
    assert_eq!(fixture.read("new.txt"), "agent\nmine\n");
}

#[test]
fn a_directory_the_step_created_stays_while_others_use_it() {
    let fixture = after_step(|fixture| fixture.write("new/agent.txt", "agent\n"));
    fixture.write("new/mine.txt", "mine\n");
    fixture.ok("revert '#2'");
    assert!(!fixture.root().join("new/agent.txt").exists());
    assert_eq!(fixture.read("new/mine.txt"), "mine\n");
}

#[test]
fn a_file_the_step_deleted_comes_back_with_its_directory() {
    let fixture = after_step(|fixture| fs::remove_dir_all(fixture.root().join("dir")).unwrap());
    fixture.ok("revert '#2'");
    assert_eq!(fixture.read("dir/c.txt"), "c\n");
}

#[test]
fn a_file_the_step_deleted_and_the_user_made_again_is_a_conflict() {
    let fixture = after_step(|fixture| fixture.remove("b.txt"));
    fixture.write("b.txt", "mine\n");
    refused(&fixture, "revert '#2'", &["b.txt"]);
}

#[test]
fn a_file_where_a_deleted_directory_was_is_a_conflict() {
    let fixture = after_step(|fixture| fs::remove_dir_all(fixture.root().join("dir")).unwrap());
    fixture.write("dir", "mine\n");
    refused(&fixture, "revert '#2'", &["dir"]);
    fixture.ok("revert '#2' --on-conflict skip");
    assert_eq!(fixture.read("dir"), "mine\n");
}

#[test]
fn a_file_the_step_edited_and_the_user_deleted_is_a_conflict() {
    let fixture = after_step(|fixture| fixture.write("b.txt", "agent\n"));
    fixture.remove("b.txt");
    refused(&fixture, "revert '#2'", &["b.txt"]);
    fixture.ok("revert '#2' --on-conflict skip");
    assert!(!fixture.root().join("b.txt").exists());
}

#[test]
fn a_rename_by_the_step_is_taken_back() {
    let fixture = after_step(|fixture| {
        fs::rename(fixture.root().join("a.txt"), fixture.root().join("moved.txt")).unwrap();
    });
    let shown = fixture.ok("show '#2'");
    assert!(shown.to_string().contains("\"renamed\""), "{shown}");
    fixture.ok("revert '#2'");
    assert_eq!(fixture.read("a.txt"), numbered(&[]));
    assert!(!fixture.root().join("moved.txt").exists());
}

#[test]
fn a_renamed_file_that_the_user_edited_is_never_lost() {
    let fixture = after_step(|fixture| {
        fs::rename(fixture.root().join("a.txt"), fixture.root().join("moved.txt")).unwrap();
    });
    fixture.write("moved.txt", &numbered(&[(9, "mine")]));
    let answer = fixture.ask("revert '#2'");
    let texts: Vec<String> =
        fixture.picture().files().map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned()).collect();
    assert!(texts.iter().any(|text| text.contains("mine")), "{}", answer.json);
}

#[test]
fn a_chmod_by_the_step_is_taken_back_and_later_text_kept() {
    let fixture = after_step(|fixture| chmod(fixture, "a.txt", 0o755));
    fixture.write("a.txt", &numbered(&[(3, "mine")]));
    fixture.ok("revert '#2'");
    assert_eq!((mode(&fixture, "a.txt"), fixture.read("a.txt")), (0o644, numbered(&[(3, "mine")])));
}

#[test]
fn a_later_chmod_is_kept_when_the_text_goes_back() {
    let fixture = after_step(|fixture| fixture.write("a.txt", &numbered(&[(3, "agent")])));
    chmod(&fixture, "a.txt", 0o600);
    fixture.ok("revert '#2'");
    assert_eq!((mode(&fixture, "a.txt"), fixture.read("a.txt")), (0o600, numbered(&[])));
}

#[test]
fn a_chmod_of_a_directory_is_taken_back() {
    let fixture = after_step(|fixture| chmod(fixture, "dir", 0o700));
    fixture.ok("revert '#2'");
    assert_eq!(mode(&fixture, "dir"), 0o755);
    fixture.ok("undo");
    assert_eq!(mode(&fixture, "dir"), 0o700);
}

/// Three agent steps on three places of one file, with the user's own step between them.
fn interleaved() -> Fixture {
    let fixture = Fixture::new();
    fixture.write("a.txt", &numbered(&[]));
    fixture.track();
    fixture.write("a.txt", &numbered(&[(1, "one")]));
    fixture.ok("track --session s1 --message m1");
    fixture.write("a.txt", &numbered(&[(1, "one"), (4, "user")]));
    fixture.ok("track --session user");
    fixture.write("a.txt", &numbered(&[(1, "one"), (4, "user"), (7, "two")]));
    fixture.write("new.txt", "new\n");
    fixture.ok("track --session s1 --message m2");
    fixture.write("a.txt", &numbered(&[(1, "one"), (4, "user"), (7, "two"), (10, "three")]));
    fixture.ok("track --session s2");
    fixture
}

#[test]
fn all_steps_of_a_session_are_undone_and_no_other() {
    let fixture = interleaved();
    let applied = fixture.ok("revert session:s1");
    assert_eq!(applied["targets"], json!([4, 2]), "newest first");
    assert_eq!(fixture.read("a.txt"), numbered(&[(4, "user"), (10, "three")]));
    assert!(!fixture.root().join("new.txt").exists());
    fixture.ok("undo");
    assert_eq!(fixture.read("a.txt"), numbered(&[(1, "one"), (4, "user"), (7, "two"), (10, "three")]));
    assert_eq!(fixture.read("new.txt"), "new\n");
}

#[test]
fn several_references_are_undone_in_the_right_order_however_they_are_given() {
    for line in ["revert 2 4", "revert 4 2", "revert message:m1 message:m2", "revert 4 2 4"] {
        let fixture = interleaved();
        fixture.ok(line);
        assert_eq!(fixture.read("a.txt"), numbered(&[(4, "user"), (10, "three")]), "{line}");
        assert!(!fixture.root().join("new.txt").exists(), "{line}");
    }
}

/// Steps on the same line: only together, newest first, do they revert without conflict.
#[test]
fn steps_that_build_on_each_other_are_undone_together() {
    let fixture = Fixture::new();
    for text in ["0\n", "1\n", "2\n", "3\n"] {
        fixture.write("a.txt", text);
        fixture.ok("track --session s");
    }
    refused(&fixture, "revert 2", &["a.txt"]);
    fixture.ok("revert 3 2 4");
    assert_eq!(fixture.read("a.txt"), "0\n");
}

#[test]
fn only_the_paths_named_are_reverted() {
    let fixture = after_step(|fixture| {
        fixture.write("a.txt", "agent\n");
        fixture.write("dir/c.txt", "agent\n");
        fixture.write("dir/d.txt", "agent\n");
    });
    let applied = fixture.ok("revert '#2' -- dir");
    assert_eq!(paths(&applied["reverted"]), ["dir/c.txt", "dir/d.txt"]);
    assert_eq!(fixture.read("a.txt"), "agent\n");
    assert!(!fixture.root().join("dir/d.txt").exists());
}

#[test]
fn a_conflict_outside_the_paths_named_does_not_matter() {
    let fixture = after_step(|fixture| {
        fixture.write("a.txt", "agent\n");
        fixture.write("b.txt", "agent\n");
    });
    fixture.write("a.txt", "mine\n");
    fixture.ok("revert '#2' -- b.txt");
    assert_eq!((fixture.read("a.txt").as_str(), fixture.read("b.txt")), ("mine\n", numbered(&[])));
}

#[test]
fn a_declared_write_set_is_all_that_is_undone() {
    let fixture = Fixture::new();
    fixture.write("a.txt", "a\n");
    fixture.write("b.txt", "b\n");
    fixture.track();
    fixture.write("a.txt", "agent\n");
    fixture.write("b.txt", "someone else at the same time\n");
    fixture.write("c.txt", "agent, new\n");
    fixture.ok("track --declare a.txt --declare c.txt");
    fixture.ok("revert @");
    assert_eq!(fixture.read("a.txt"), "a\n");
    assert_eq!(fixture.read("b.txt"), "someone else at the same time\n");
    assert!(!fixture.root().join("c.txt").exists());
}

#[test]
fn undo_of_a_step_with_a_declared_write_set_keeps_the_rest() {
    let fixture = Fixture::new();
    fixture.write("a.txt", "a\n");
    fixture.write("b.txt", "b\n");
    fixture.track();
    fixture.write("a.txt", "agent\n");
    fixture.write("b.txt", "someone else\n");
    fixture.ok("track --declare a.txt");
    fixture.ok("undo");
    assert_eq!(fixture.read("a.txt"), "a\n");
    // Whatever undo does with the other path, those bytes must not be lost.
    let seq = fixture.ok("status")["latest"]["sequence_number"].as_u64().unwrap();
    let held = (1..=seq).any(|seq| fixture.cat(&format!("#{seq}"), b"b.txt") == b"someone else\n");
    assert!(fixture.read("b.txt") == "someone else\n" || held);
}

#[test]
fn paths_that_leave_the_workspace_or_enter_a_git_are_refused() {
    let fixture = after_step(|fixture| fixture.write("a.txt", "agent\n"));
    fs::create_dir(fixture.root().join(".git")).unwrap();
    for path in ["../outside", "/etc/passwd", ".git/config", "dir/../../x", "dir/.git/hooks"] {
        for line in ["restore '#1' --", "revert '#2' --", "restore '#1' --dry-run --"] {
            let answer = fixture.ask(&format!("{line} {path}"));
            assert_eq!((answer.code(), answer.status), ("INVALID_PATH", 2), "{line} {path}: {}", answer.json);
        }
    }
}

#[test]
fn a_path_the_step_never_touched_is_not_silently_reverted() {
    let fixture = after_step(|fixture| fixture.write("a.txt", "agent\n"));
    let before = fixture.picture();
    let answer = fixture.ask("revert '#2' -- no-such-file");
    fixture.picture().expect(&before, "revert of a path that is nowhere");
    assert!(answer.status == 4 || answer.json["changed"] == false, "{}", answer.json);
}

#[test]
fn reverting_a_revert_brings_the_step_back() {
    let fixture = after_step(|fixture| fixture.write("a.txt", &numbered(&[(2, "agent")])));
    fixture.ok("revert '#2'");
    fixture.write("a.txt", &numbered(&[(9, "mine")]));
    fixture.ok("revert @");
    assert_eq!(fixture.read("a.txt"), numbered(&[(2, "agent"), (9, "mine")]));
}

#[test]
fn the_first_snapshot_has_nothing_before_it() {
    let fixture = Fixture::new();
    fixture.write("a.txt", "a\n");
    fixture.track();
    assert_eq!(fixture.ok("track")["created"], false);
    fixture.write("a.txt", "mine\n");
    for line in ["revert @", "undo"] {
        fixture.ask(line).fails("NOTHING_TO_UNDO", 4);
        assert_eq!(fixture.read("a.txt"), "mine\n");
    }
}

/// The plan without what only a real run has.
fn plan(mut answer: Value) -> Value {
    let object = answer.as_object_mut().unwrap();
    for key in ["dry_run", "plan", "snapshot", "safety"] {
        object.remove(key);
    }
    answer
}

/// Nothing below the store's data may change either; the stat cache may.
fn stored(fixture: &Fixture) -> String {
    fixture.ok("log --limit 1000").to_string()
}

#[test]
fn a_dry_run_says_exactly_what_the_run_then_does_and_changes_nothing() {
    for line in [
        "restore 1",
        "restore 1 -- dir a.txt",
        "restore @",
        "revert 2",
        "revert 2 --on-conflict skip",
        "revert 2 --on-conflict merge",
        "revert session:s1 --on-conflict merge -- a.txt dir",
        "undo --on-conflict skip",
        "undo --on-conflict merge",
    ] {
        let fixture = after_step(|fixture| {
            fixture.write("a.txt", &numbered(&[(2, "agent")]));
            fixture.write("b.txt", &numbered(&[(2, "agent")]));
            fs::rename(fixture.root().join("dir/c.txt"), fixture.root().join("dir/moved.txt")).unwrap();
            fixture.write("new/file.txt", "agent\n");
        });
        fixture.write("a.txt", &numbered(&[(2, "mine")]));
        fixture.write("b.txt", &numbered(&[(2, "agent"), (9, "mine")]));
        fixture.write("mine.txt", "mine\n");
        chmod(&fixture, "dir/moved.txt", 0o600);
        let (before, log) = (fixture.picture(), stored(&fixture));
        let (command, rest) = line.split_once(' ').unwrap();
        let dry = fixture.ask(&format!("{command} --dry-run {rest}"));
        fixture.picture().expect(&before, &format!("dry run of {line}"));
        assert_eq!(stored(&fixture), log, "dry run of {line}");
        let real = fixture.ask(line);
        assert_eq!(dry.status, real.status, "{line}: {} {}", dry.json, real.json);
        if real.json["changed"] == true {
            assert_eq!(fixture.ok("status")["clean"], true, "{line}");
        }
        assert_eq!(plan(dry.json), plan(real.json), "{line}");
        fixture.verify();
    }
}

/// What the plan names is what changes on disk, no more and no less.
#[test]
fn the_report_names_every_path_that_changed() {
    let fixture = after_step(|fixture| {
        fixture.write("a.txt", "agent\n");
        fixture.write("new/file.txt", "agent\n");
        fixture.remove("dir/c.txt");
    });
    let before = fixture.picture();
    let applied = fixture.ok("restore 1");
    let after = fixture.picture();
    let keys = before.0.keys().chain(after.0.keys());
    let changed: std::collections::BTreeSet<&str> = keys
        .filter(|key| before.0.get(*key) != after.0.get(*key))
        .map(|key| std::str::from_utf8(key).unwrap())
        .collect();
    let reported: std::collections::BTreeSet<&str> = paths(&applied["reverted"]).into_iter().collect();
    assert!(reported.is_subset(&changed), "{reported:?} {changed:?}");
    let files: Vec<_> = changed.iter().filter(|path| **path != "new").collect();
    assert!(files.iter().all(|path| reported.contains(**path)), "{reported:?} {changed:?}");
}

/// A file that was captured, deleted, and made again under a new ignore rule is the user's; no snapshot holds it.
#[test]
fn an_ignored_file_where_a_deleted_one_was_is_not_overwritten() {
    for line in ["revert '#2'", "restore '#1'", "undo", "restore '#1' -- b.txt", "undo 2"] {
        let fixture = after_step(|fixture| fixture.remove("b.txt"));
        fixture.write(".gitignore", "b.txt\n");
        fixture.track();
        fixture.write("b.txt", "mine, ignored\n");
        let line = if line == "undo" { "undo 2" } else { line };
        let answer = fixture.ask(line);
        if fixture.root().join("b.txt").exists() && fixture.read("b.txt") == "mine, ignored\n" {
            continue;
        }
        let latest = fixture.ok("status")["latest"]["sequence_number"].as_u64().unwrap();
        let held = (1..=latest).any(|seq| {
            let output = fixture.command(&format!("cat '#{seq}' b.txt")).output().unwrap();
            output.status.success() && output.stdout == b"mine, ignored\n"
        });
        assert!(held, "{line} lost an ignored file: {}", answer.json);
    }
}

#[test]
fn session_and_message_references_that_name_nothing_are_errors() {
    let fixture = interleaved();
    for reference in ["session:nobody", "message:none", "part:none", "#99", "@~99", "ffff0000", "zzzz"] {
        for command in ["revert", "show", "ls", "restore", "patch", "diff"] {
            let answer = fixture.ask(&format!("{command} '{reference}'"));
            assert_eq!((answer.code(), answer.status), ("REF_NOT_FOUND", 4), "{command} {reference}: {}", answer.json);
        }
    }
}
