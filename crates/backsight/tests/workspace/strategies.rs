//! Seed 003's strategies on one and the same scenario: each does something else, at each of the three places where a
//! step is recorded, and says exactly what it did.

use backsight::report::{ChangeType, OnConflict, Strategy, UnknownChange};
use backsight::request::{ConfigChange, Revert, Undo, Unknown, Validation};
use backsight::{Code, Error};

use crate::scene::{Scene, names, path, paths, strategy};

const FORCED: Unknown = Unknown { strategy: Some(Strategy::Strict), force: true };
const STORY: [&str; 1] = ["1 track"];

/// `a` is for the tool; everything else is about to be changed by the user.
fn scene() -> Scene {
    Scene::of(&["a", "b", "c", "t.log"])
}

fn user_changes(scene: &Scene) {
    scene.write("b", "user\n");
    scene.remove("c");
    scene.write("u", "user\n");
    scene.write("t.log", "user\n");
}

const UNKNOWN: [&str; 3] = ["b", "c", "u"];

fn found(changes: &[UnknownChange]) -> Vec<String> {
    changes.iter().map(|change| change.file_path.to_string()).collect()
}

/// Refused: the files are named, and nothing has changed.
fn check_refused(scene: &Scene, error: &Error, rows: &[&str]) {
    assert_eq!(error.code(), Code::StateMismatch);
    for name in ["b (modified)", "c (deleted)", "u (created)"] {
        assert!(error.message().contains(name), "{error}");
    }
    assert!(!error.message().contains("t.log"), "{error}");
    assert_eq!(error.details()["unknown_changes"].as_array().unwrap().len(), 3);
    assert!(error.hint().is_some());
    assert_eq!(scene.story(), rows);
    assert_eq!(scene.workspace.show("@").unwrap().sequence_number.0, rows.len() as u64);
}

/// The tool's step in the row is taken back and brought again; the user's files are as the user left them.
fn check_undo_and_revert(scene: &Scene, step: &str) {
    let users = || ["b", "c", "u", "t.log"].map(|file| scene.text(file));
    let as_left = ["user", "-", "user", "user"];
    assert_eq!(users(), as_left);
    scene.workspace.undo(&Undo::default()).unwrap();
    assert_eq!((scene.text("a"), users()), ("0".to_owned(), as_left.map(str::to_owned)));
    scene.workspace.redo(&Undo::default()).unwrap();
    assert_eq!((scene.text("a"), users()), ("tool".to_owned(), as_left.map(str::to_owned)));
    scene.revert(step).unwrap();
    assert_eq!((scene.text("a"), users()), ("0".to_owned(), as_left.map(str::to_owned)));
    assert!(scene.workspace.status().unwrap().clean);
    scene.check_chain().unwrap();
}

fn disable(scene: &Scene) {
    let off = ConfigChange { enable_unknown_change_detection: Some(false), ..ConfigChange::default() };
    scene.workspace.update_config(&off).unwrap();
}

#[test]
fn a_declared_track_under_each_strategy() {
    let prepare = || {
        let scene = scene();
        user_changes(&scene);
        scene.write("a", "tool\n");
        scene
    };

    let strict = prepare();
    let error = strict.try_track("writer", &["a"], strategy(Strategy::Strict)).unwrap_err();
    check_refused(&strict, &error, &STORY);
    assert_eq!(strict.unrecorded(), ["a", "b", "c", "u"]);

    for (unknown, name) in [(strategy(Strategy::Warn), "warn"), (FORCED, "force")] {
        let warn = prepare();
        let reply = warn.try_track("writer", &["a"], unknown).unwrap();
        assert_eq!(found(&reply.unknown_changes), UNKNOWN, "{name}");
        assert_eq!((reply.integrated, reply.snapshot.files_changed, reply.changes.len()), (None, 1, 1), "{name}");
        assert_eq!(warn.story(), ["1 track", "2 track writer: a; others: b c u"], "{name}");
        assert_eq!(reply.snapshot.unknown_changes, reply.unknown_changes, "{name}");
        assert!(reply.snapshot.start_tree.is_some() && warn.workspace.status().unwrap().clean, "{name}");
        check_undo_and_revert(&warn, "2");
    }

    let integrate = prepare();
    let reply = integrate.try_track("writer", &["a"], strategy(Strategy::AutoIntegrate)).unwrap();
    assert_eq!(found(&reply.unknown_changes), UNKNOWN);
    assert_eq!(integrate.story(), ["1 track", "2 external external: b c t.log u", "3 track writer: a"]);
    assert_eq!(reply.integrated.map(|seq| seq.0), Some(2));
    assert_eq!(reply.snapshot.start_tree, None);
    check_undo_and_revert(&integrate, "3");
    // The compensating snapshot is a step that can be reverted like any other.
    integrate.revert("2").unwrap();
    assert_eq!(["b", "c", "u", "t.log"].map(|file| integrate.text(file)), ["0", "0", "-", "0"]);

    let disabled = prepare();
    disable(&disabled);
    let reply = disabled.try_track("writer", &["a"], strategy(Strategy::Strict)).unwrap();
    assert_eq!(found(&reply.unknown_changes), [""; 0]);
    assert_eq!(disabled.story(), ["1 track", "2 track writer: a"]);
    check_undo_and_revert(&disabled, "2");
}

#[test]
fn beginning_a_call_under_each_strategy() {
    let prepare = || {
        let scene = scene();
        user_changes(&scene);
        scene
    };
    let go_on = |scene: &Scene, call: &str| {
        scene.write("a", "tool\n");
        scene.finish(call)
    };

    let strict = prepare();
    let error = strict.try_begin("writer", &[], strategy(Strategy::Strict)).unwrap_err();
    check_refused(&strict, &error, &STORY);
    assert_eq!(strict.workspace.open_calls().unwrap(), []);

    for unknown in [strategy(Strategy::Warn), FORCED] {
        let warn = prepare();
        let begun = warn.try_begin("writer", &[], unknown).unwrap();
        assert_eq!(found(&begun.unknown_changes), UNKNOWN);
        assert_eq!((begun.integrated, begun.call.based_on.0), (None, 1));
        assert_eq!(warn.story(), STORY, "nothing is recorded yet");
        go_on(&warn, begun.call.id.as_str());
        assert_eq!(warn.story(), ["1 track", "2 track writer: a; others: b c u"]);
        check_undo_and_revert(&warn, "2");
    }

    let integrate = prepare();
    let begun = integrate.try_begin("writer", &[], strategy(Strategy::AutoIntegrate)).unwrap();
    assert_eq!(found(&begun.unknown_changes), UNKNOWN);
    assert_eq!((begun.integrated.map(|seq| seq.0), begun.call.based_on.0), (Some(2), 2));
    assert_eq!(integrate.story(), ["1 track", "2 external external: b c t.log u"]);
    let reply = go_on(&integrate, begun.call.id.as_str());
    assert_eq!((found(&reply.unknown_changes).len(), reply.integrated), (0, None));
    assert_eq!(integrate.story()[2..], ["3 track writer: a"]);
    check_undo_and_revert(&integrate, "3");

    let disabled = prepare();
    disable(&disabled);
    let begun = disabled.try_begin("writer", &[], strategy(Strategy::Strict)).unwrap();
    assert_eq!(found(&begun.unknown_changes), [""; 0]);
    go_on(&disabled, begun.call.id.as_str());
    assert_eq!(disabled.story(), ["1 track", "2 track writer: a"]);
    check_undo_and_revert(&disabled, "2");
}

#[test]
fn finishing_a_call_under_each_strategy() {
    let prepare = || {
        let scene = scene();
        let call = scene.begin("writer", &["a"]);
        user_changes(&scene);
        scene.write("a", "tool\n");
        (scene, call)
    };

    let (strict, call) = prepare();
    let error = strict.try_finish(&call, strategy(Strategy::Strict)).unwrap_err();
    check_refused(&strict, &error, &STORY);
    assert_eq!(strict.workspace.open_calls().unwrap().len(), 1, "it can be finished otherwise");
    strict.finish(&call);
    check_undo_and_revert(&strict, "2");

    for unknown in [strategy(Strategy::Warn), FORCED] {
        let (warn, call) = prepare();
        let reply = warn.try_finish(&call, unknown).unwrap();
        assert_eq!(found(&reply.unknown_changes), UNKNOWN);
        assert_eq!(warn.story(), ["1 track", "2 track writer: a; others: b c u"]);
        check_undo_and_revert(&warn, "2");
    }

    let (integrate, call) = prepare();
    let reply = integrate.try_finish(&call, strategy(Strategy::AutoIntegrate)).unwrap();
    assert_eq!((found(&reply.unknown_changes).len(), reply.integrated.map(|seq| seq.0)), (3, Some(2)));
    assert_eq!(integrate.story(), ["1 track", "2 external external: b c t.log u", "3 track writer: a"]);
    check_undo_and_revert(&integrate, "3");

    let (disabled, call) = prepare();
    disable(&disabled);
    let reply = disabled.try_finish(&call, strategy(Strategy::Strict)).unwrap();
    assert_eq!(found(&reply.unknown_changes), [""; 0]);
    assert_eq!(disabled.story(), ["1 track", "2 track writer: a"]);
    check_undo_and_revert(&disabled, "2");
}

#[test]
fn the_setting_decides_when_the_caller_says_nothing() {
    for choice in Strategy::ALL {
        let scene = scene();
        let change = ConfigChange { unknown_change_strategy: Some(choice), ..ConfigChange::default() };
        scene.workspace.update_config(&change).unwrap();
        user_changes(&scene);
        scene.write("a", "tool\n");
        let reply = scene.try_track("writer", &["a"], Unknown::default());
        match choice {
            Strategy::Strict => check_refused(&scene, &reply.unwrap_err(), &STORY),
            Strategy::Warn => assert_eq!(scene.story()[1..], ["2 track writer: a; others: b c u"]),
            Strategy::AutoIntegrate => assert_eq!(scene.story().len(), 3),
        }
        assert_eq!(scene.workspace.status().unwrap().strategy, choice);
    }
}

/// `t.log` alone has changed: it is never unknown, so nothing is refused and nothing is listed; it is recorded all the same.
#[test]
fn excluded_paths_are_recorded_and_never_unknown() {
    for choice in Strategy::ALL {
        let scene = Scene::of(&["a", "t.log", "x_generated.rs", "node_modules/p/index.js", "keep.txt"]);
        for file in ["t.log", "x_generated.rs", "node_modules/p/index.js", "new.tmp"] {
            scene.write(file, "user\n");
        }
        let detected = scene.workspace.detect_unknown_modifications(&[]).unwrap();
        assert_eq!((detected.has_unknown_changes, detected.excluded), (false, 4));
        assert!(!scene.workspace.status().unwrap().clean, "excluded is not unchanged");
        let call = scene.try_begin("writer", &["a"], strategy(choice)).unwrap();
        assert_eq!((call.unknown_changes.len(), call.integrated), (0, None));
        scene.write("a", "tool\n");
        let reply = scene.try_finish(call.call.id.as_str(), strategy(choice)).unwrap();
        assert_eq!((reply.unknown_changes.len(), reply.integrated), (0, None), "{choice}");
        assert_eq!(scene.story(), ["1 track", "2 track writer: a"], "{choice}");
        assert!(scene.workspace.status().unwrap().clean);
        scene.revert("2").unwrap();
        let texts = ["a", "t.log", "new.tmp", "node_modules/p/index.js"].map(|file| scene.text(file));
        assert_eq!(texts, ["0", "user", "user", "user"], "{choice}");
    }
}

#[test]
fn a_path_that_the_user_and_then_the_tool_changed() {
    // Listed: the row holds both changes, and only the tool's is its step.
    let warn = scene();
    warn.write("a", "user\n");
    let call = warn.begin("writer", &[]);
    warn.write("a", "tool\n");
    let reply = warn.finish(&call);
    assert_eq!(found(&reply.unknown_changes), ["a"]);
    assert_eq!(warn.story(), ["1 track", "2 track writer: a; others: a"]);
    let diff = warn.workspace.changes_of("2").unwrap();
    assert_eq!(diff.len(), 1);
    warn.workspace.undo(&Undo::default()).unwrap();
    assert_eq!(warn.text("a"), "user");
    let users = reply.unknown_changes[0].actual_hash.unwrap();
    assert_eq!(warn.workspace.get_blob(&users).unwrap(), b"user\n");

    // Integrated at the beginning, and at the end: both states are snapshots.
    for at_the_beginning in [true, false] {
        let scene = scene();
        scene.write("a", "user\n");
        let integrate = strategy(Strategy::AutoIntegrate);
        let (first, second) =
            if at_the_beginning { (integrate, Unknown::default()) } else { (Unknown::default(), integrate) };
        let call = scene.try_begin("writer", &[], first).unwrap().call.id.to_string();
        scene.write("a", "tool\n");
        scene.try_finish(&call, second).unwrap();
        assert_eq!(scene.story(), ["1 track", "2 external external: a", "3 track writer: a"]);
        scene.workspace.undo(&Undo::default()).unwrap();
        assert_eq!(scene.text("a"), "user");
        scene.revert("2").unwrap();
        assert_eq!(scene.text("a"), "0");
    }

    // Refused at the end: the user's edit is named.
    let strict = scene();
    strict.write("a", "user\n");
    let call = strict.begin("writer", &[]);
    strict.write("a", "tool\n");
    let error = strict.try_finish(&call, strategy(Strategy::Strict)).unwrap_err();
    assert!(error.code() == Code::StateMismatch && error.message().contains("a (modified)"), "{error}");
}

#[test]
fn a_tool_that_puts_the_users_edit_back_has_done_something() {
    for choice in [Strategy::Warn, Strategy::AutoIntegrate] {
        for text in [Some("user\n"), None] {
            let scene = scene();
            match text {
                Some(text) => scene.write("b", text),
                None => scene.remove("b"),
            }
            let call = scene.begin("writer", &[]);
            scene.write("b", "0\n");
            let reply = scene.try_finish(&call, strategy(choice)).unwrap();
            assert!(reply.created && reply.changes.len() == 1, "{choice}: {:?}", scene.story());
            match choice {
                Strategy::AutoIntegrate => {
                    assert_eq!(scene.story(), ["1 track", "2 external external: b", "3 track writer: b"]);
                }
                _ => assert_eq!(scene.story(), ["1 track", "2 track writer: b; others: b"]),
            }
            scene.workspace.undo(&Undo::default()).unwrap();
            assert_eq!(scene.text("b"), text.unwrap_or("-").trim_end(), "{choice}");
            scene.workspace.redo(&Undo::default()).unwrap();
            assert_eq!(scene.text("b"), "0", "{choice}");
            scene.check_chain().unwrap();
        }
    }
}

#[test]
fn directories_that_come_and_go_are_told_apart() {
    let scene = Scene::of(&["a", "old/one", "old/two"]);
    std::fs::create_dir(scene.root.join("users-empty")).unwrap();
    let call = scene.begin("writer", &["old", "new", "tools-empty"]);
    scene.remove("old");
    scene.write("new/deep/file", "tool\n");
    std::fs::create_dir(scene.root.join("tools-empty")).unwrap();
    scene.write("users/dir/file", "user\n");
    let reply = scene.finish(&call);
    assert_eq!(found(&reply.unknown_changes), ["users/dir/file", "users-empty"]);
    scene.revert("2").unwrap();
    assert_eq!(
        ["old/one", "old/two", "new/deep/file", "users/dir/file"].map(|file| scene.text(file)),
        ["0", "0", "-", "user"]
    );
    let there = ["new", "tools-empty", "users-empty", "users/dir"].map(|directory| scene.root.join(directory).is_dir());
    assert_eq!(there, [false, false, true, true]);
    assert!(scene.workspace.status().unwrap().clean);
}

#[test]
fn renames_and_modes_belong_to_whoever_made_them() {
    let scene = Scene::of(&["a", "b", "c"]);
    scene.write("a", "a's content\n");
    scene.write("b", "b's content\n");
    scene.workspace.track().unwrap();
    let call = scene.begin("writer", &["a", "a2"]);
    let rename = |from: &str, to: &str| std::fs::rename(scene.root.join(from), scene.root.join(to)).unwrap();
    rename("a", "a2");
    rename("b", "b2");
    scene.chmod("c", 0o600);
    let detected = scene.workspace.detect_unknown_modifications(&[]).unwrap();
    let types: Vec<(String, ChangeType)> =
        detected.unknown_changes.iter().map(|change| (change.file_path.to_string(), change.change_type)).collect();
    let expected = [("b", ChangeType::Deleted), ("b2", ChangeType::Created), ("c", ChangeType::Modified)];
    assert_eq!(types, expected.map(|(name, change)| (name.to_owned(), change)));
    assert_eq!(names(&detected.pending), ["a", "a2"]);
    let reply = scene.finish(&call);
    assert_eq!(reply.changes.len(), 1, "one rename: {:?}", reply.changes);
    assert_eq!(reply.changes[0].from_path, Some(path("a")));
    scene.revert("3").unwrap();
    assert_eq!(["a", "a2", "b", "b2"].map(|file| scene.text(file)), ["a's content", "-", "-", "b's content"]);
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(std::fs::metadata(scene.root.join("c")).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn unknown_changes_have_real_diffs_whatever_they_are() {
    let scene = Scene::of(&["text", "gone", "moded", "binary", "crlf"]);
    scene.write("binary", b"\x00\x01");
    scene.write("crlf", "one\r\ntwo\r\n");
    scene.workspace.track().unwrap();
    scene.write("text", "1");
    scene.remove("gone");
    scene.chmod("moded", 0o755);
    scene.write("binary", b"\x00\x02");
    scene.write("crlf", "one\r\n2\r\n");
    scene.write("new file", "new\n");
    let found = scene.workspace.detect_unknown_modifications(&[]).unwrap();
    let diff = |name: &str| {
        let change = found.unknown_changes.iter().find(|change| change.file_path.to_string() == name).unwrap();
        change.diff.clone().unwrap_or_default()
    };
    assert!(diff("text").contains("-0\n+1\n\\ No newline at end of file"), "{}", diff("text"));
    assert!(diff("gone").contains("deleted file mode 100644") && diff("gone").contains("-0\n"), "{}", diff("gone"));
    assert!(diff("moded").contains("old mode 100644\nnew mode 100755"), "{}", diff("moded"));
    assert!(diff("binary").contains("Binary files"), "{}", diff("binary"));
    assert!(diff("crlf").contains("-two\r\n+2\r\n"), "{}", diff("crlf"));
    assert!(
        diff("new file").contains("new file mode 100644") && diff("new file").contains("+new\n"),
        "{}",
        diff("new file")
    );
    let all: String = found.unknown_changes.iter().filter_map(|change| change.diff.clone()).collect();
    assert_eq!(found.generated_diff.as_deref(), Some(all.as_str()));
    assert_eq!(found.affected_files.len(), 6);
    let only = scene.workspace.detect_unknown_modifications(&paths(&["gone", "text"])).unwrap();
    assert_eq!(names(&only.affected_files), ["gone", "text"]);
}

#[test]
fn validating_and_handling_do_what_the_strategy_says() {
    let validate = |scene: &Scene, choice, auto_handle, force| {
        let unknown = Unknown { strategy: Some(choice), force };
        scene.workspace.validate_file_state_before_snapshot(&[], &Validation { unknown, auto_handle }).unwrap()
    };
    let prepare = || {
        let scene = scene();
        user_changes(&scene);
        scene
    };
    let strict = prepare();
    let answer = validate(&strict, Strategy::Strict, true, false);
    assert!(!answer.success && answer.error.is_some() && answer.handled.is_none());
    assert!(validate(&strict, Strategy::Strict, true, true).success);
    check_refused(
        &strict,
        &strict.workspace.handle_unknown_changes(&[], &strategy(Strategy::Strict)).unwrap_err(),
        &STORY,
    );

    let warn = prepare();
    let answer = validate(&warn, Strategy::Warn, true, false);
    assert!(answer.success && !answer.warnings.is_empty());
    let handled = warn.workspace.handle_unknown_changes(&[], &strategy(Strategy::Warn)).unwrap();
    assert_eq!(
        (names(&handled.modified_files), handled.compensating_snapshot_id),
        (UNKNOWN.map(str::to_owned).to_vec(), None)
    );
    assert_eq!(warn.story(), STORY);

    let integrate = prepare();
    assert!(validate(&integrate, Strategy::AutoIntegrate, false, false).handled.is_none());
    assert_eq!(integrate.story(), STORY);
    let handled = validate(&integrate, Strategy::AutoIntegrate, true, false).handled.unwrap();
    assert_eq!(handled.compensating_sequence_number.map(|seq| seq.0), Some(2));
    assert_eq!(integrate.story(), ["1 track", "2 external external: b c t.log u"]);
    assert!(integrate.workspace.validate_workspace_sync().unwrap().in_sync);
    let nothing = integrate.workspace.handle_unknown_changes(&[], &strategy(Strategy::AutoIntegrate)).unwrap();
    assert!(nothing.success && nothing.compensating_snapshot_id.is_none());
}

/// Only what was asked for is recorded; the rest stays unknown.
#[test]
fn handling_some_files_records_just_these() {
    let scene = Scene::of(&["a", "d/one", "d/two"]);
    scene.write("d/one", "user\n");
    scene.write("d/two", "user\n");
    scene.write("new/deep/x", "user\n");
    scene.write("new/deep/y", "user\n");
    scene.chmod("new", 0o700);
    let some = paths(&["d/one", "new/deep/x"]);
    scene.workspace.handle_unknown_changes(&some, &strategy(Strategy::AutoIntegrate)).unwrap();
    assert_eq!(scene.story(), ["1 track", "2 external external: d/one new/deep/x"]);
    assert_eq!(
        scene.unrecorded().into_iter().filter(|name| name != "new").collect::<Vec<_>>(),
        ["d/two", "new/deep/y"]
    );
    scene.workspace.handle_unknown_changes(&[], &strategy(Strategy::AutoIntegrate)).unwrap();
    assert!(scene.workspace.validate_workspace_sync().unwrap().in_sync);
    scene.check_chain().unwrap();
}

#[test]
fn a_conflict_with_a_later_edit_names_the_path_and_both_versions() {
    let scene = scene();
    let call = scene.begin("writer", &["a"]);
    scene.write("a", "tool\n");
    scene.write("b", "user\n");
    scene.finish(&call);
    scene.write("a", "user, later\n");
    let before = scene.disk();
    let error = scene.revert("2").unwrap_err();
    assert_eq!(error.code(), Code::Conflict);
    assert_eq!(error.details()["conflicts"][0]["path"], "a");
    assert_eq!(before.differences(&scene.disk()), "");
    let skip = Revert { references: vec!["2".to_owned()], on_conflict: OnConflict::Skip, ..Revert::default() };
    let skipped = scene.workspace.revert_steps(&skip).unwrap();
    let blob = |id: Option<backsight::ObjectId>| scene.workspace.get_blob(&id.unwrap()).unwrap();
    let conflict = &skipped.skipped[0];
    assert_eq!((blob(conflict.step), blob(conflict.wanted)), (b"tool\n".to_vec(), b"0\n".to_vec()));
    assert_eq!(before.differences(&scene.disk()), "");
}

/// What cannot be looked at may have changed: the strict strategy does not take it for unchanged.
#[test]
fn strict_refuses_what_it_cannot_look_at() {
    let scene = scene();
    let call = scene.begin("writer", &["d"]);
    std::fs::remove_file(scene.root.join("a")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(scene.root.join("a")).status().unwrap();
    assert!(made.success());
    let error = scene.try_begin("another", &["d"], strategy(Strategy::Strict)).unwrap_err();
    assert_eq!(error.details()["unseen"][0]["path"], "a", "{error}");
    scene.write("d", "tool\n");
    let error = scene.try_track("writer", &["d"], strategy(Strategy::Strict)).unwrap_err();
    assert_eq!(error.details()["unseen"][0]["path"], "a", "{error}");
    scene.finish(&call);
}

/// A call that declared its files says nothing about the others: what the user changed there is as unknown as ever.
#[test]
fn another_call_that_declared_its_files_does_not_switch_the_strategies_off() {
    let prepare = || {
        let scene = scene();
        scene.begin("other", &["a"]);
        user_changes(&scene);
        assert_eq!(scene.unrecorded(), UNKNOWN);
        scene
    };
    let strict = prepare();
    let error = strict.try_begin("writer", &["d"], strategy(Strategy::Strict)).unwrap_err();
    check_refused(&strict, &error, &STORY);
    strict.write("d", "tool\n");
    let error = strict.try_track("writer", &["d"], strategy(Strategy::Strict)).unwrap_err();
    check_refused(&strict, &error, &STORY);

    let warn = prepare();
    let begun = warn.try_begin("writer", &["d"], strategy(Strategy::Warn)).unwrap();
    assert_eq!(found(&begun.unknown_changes), UNKNOWN);

    let integrate = prepare();
    integrate.write("a", "the other's, not finished\n");
    let begun = integrate.try_begin("writer", &["d"], strategy(Strategy::AutoIntegrate)).unwrap();
    assert_eq!(begun.integrated.map(|seq| seq.0), Some(2));
    assert_eq!(integrate.story(), ["1 track", "2 external external: b c t.log u"]);
    assert_eq!(integrate.unrecorded(), ["a?"], "what the other call wrote is still its own");
}
