//! Tool calls: what the tool wrote is its step, everything else is somebody else's, and nothing is lost on the way.

use backsight::Code;
use backsight::report::{OnConflict, Origin, Strategy};
use backsight::request::{Begin, Revert, Unknown};

use crate::lab::stored_at;
use crate::scene::{Scene, by, names, path, strategy};

#[test]
fn what_a_call_wrote_is_its_step_and_what_stood_there_before_is_not() {
    let scene = Scene::of(&["a", "notes"]);
    scene.write("notes", "by hand\n");
    let call = scene.begin("writer", &[]);
    scene.write("a", "1\n");
    let step = scene.finish(&call);
    assert_eq!(scene.story(), ["1 track", "2 track writer: a; others: notes"]);
    assert_eq!(step.changes.len(), 1);
    assert!(scene.workspace.status().unwrap().clean);

    scene.revert("2").unwrap();
    assert_eq!((scene.text("a"), scene.text("notes")), ("0".to_owned(), "by hand".to_owned()));
}

#[test]
fn two_declared_calls_at_once_each_get_their_own_files() {
    let scene = Scene::of(&["a", "b", "c"]);
    let first = scene.begin("first", &["a"]);
    let second = scene.begin("second", &["b"]);
    scene.write("a", "first\n");
    scene.write("b", "second\n");
    scene.write("c", "user\n");
    assert_eq!(scene.unrecorded(), ["c", "a?", "b?"]);
    let left = names(&scene.finish(&first).left_to_open_calls);
    assert_eq!(left, ["b"], "the other call may have written it, as it said it would");
    scene.finish(&second);
    assert_eq!(scene.story(), ["1 track", "2 track first: a; others: c", "3 track second: b"]);

    scene.revert("2").unwrap();
    assert_eq!(["a", "b", "c"].map(|file| scene.text(file)), ["0", "second", "user"]);
    scene.revert("3").unwrap();
    assert_eq!(["a", "b", "c"].map(|file| scene.text(file)), ["0", "0", "user"]);
    scene.check_chain().unwrap();
}

#[test]
fn a_directory_that_a_declared_file_needs_is_the_calls_own() {
    let scene = Scene::of(&["a"]);
    let call = scene.begin("writer", &["new/deep/file"]);
    scene.write("new/deep/file", "1\n");
    assert_eq!(scene.unrecorded().iter().filter(|name| !name.ends_with('?')).count(), 0, "{:?}", scene.unrecorded());
    scene.finish(&call);
    assert_eq!(scene.story(), ["1 track", "2 track writer: new/deep/file"]);
    scene.revert("2").unwrap();
    assert!(!scene.root.join("new").exists(), "the directory came with the file and goes with it");
}

#[test]
fn a_directory_in_which_somebody_else_wrote_stays_when_the_call_is_reverted() {
    let scene = Scene::of(&["a"]);
    let call = scene.begin("writer", &["new/own"]);
    scene.write("new/own", "1\n");
    scene.write("new/theirs", "user\n");
    scene.finish(&call);
    scene.revert("2").unwrap();
    assert_eq!((scene.text("new/own"), scene.text("new/theirs")), ("-".to_owned(), "user".to_owned()));
    assert!(scene.workspace.status().unwrap().clean);
}

/// The directory had permissions of its own; taking the call back must bring them back too.
#[test]
fn a_removed_directory_comes_back_with_its_permissions() {
    let scene = Scene::empty();
    scene.write("d/own", "0\n");
    scene.write("d/theirs", "0\n");
    scene.chmod("d", 0o700);
    scene.workspace.track().unwrap();
    let before = scene.disk();
    let call = scene.begin("writer", &["d/own"]);
    scene.remove("d");
    scene.finish(&call);
    assert_eq!(scene.story(), ["1 track", "2 track writer: d/own; others: d/theirs"]);
    scene.revert("2").unwrap();
    assert_eq!(before.without(&["d/theirs"]).differences(&scene.disk().without(&["d/theirs"])), "");
    assert!(!scene.root.join("d/theirs").exists(), "somebody else removed it");
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(std::fs::metadata(scene.root.join("d")).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn an_abandoned_call_leaves_no_row_and_its_writes_are_anybodys() {
    let scene = Scene::of(&["a"]);
    let call = scene.begin("writer", &["a"]);
    scene.write("a", "1\n");
    assert_eq!(scene.unrecorded(), ["a?"]);
    scene.workspace.abandon(&call).unwrap();
    assert_eq!(scene.unrecorded(), ["a"]);
    assert_eq!(scene.try_finish(&call, Unknown::default()).unwrap_err().code(), Code::CallNotFound);
    assert_eq!(scene.story(), ["1 track"]);
}

#[test]
fn a_call_that_wrote_nothing_ends_without_a_row() {
    let scene = Scene::of(&["a"]);
    let call = scene.begin("writer", &[]);
    let nothing = scene.finish(&call);
    assert!(!nothing.created);
    assert_eq!(scene.workspace.open_calls().unwrap(), []);
    assert_eq!(scene.story(), ["1 track"]);
}

#[test]
fn the_first_call_of_all_has_what_was_there_before_it_as_its_start() {
    let scene = Scene::empty();
    scene.write("old", "0\n");
    let call = scene.begin("writer", &[]);
    scene.write("new", "1\n");
    scene.finish(&call);
    assert_eq!(scene.story(), ["1 track external", "2 track writer: new"]);
    scene.workspace.undo(&Default::default()).unwrap();
    assert_eq!((scene.text("old"), scene.text("new")), ("0".to_owned(), "-".to_owned()));
}

/// Somebody else's undo records everything first. What an open call had written by then is still that call's.
#[test]
fn an_undo_while_a_call_runs_does_not_take_its_work_away_from_it() {
    let scene = Scene::of(&["a", "b"]);
    scene.write("b", "1\n");
    scene.workspace.track().unwrap();
    let call = scene.begin("writer", &["a"]);
    scene.write("a", "1\n");
    scene.workspace.undo(&Default::default()).unwrap();
    let step = scene.finish(&call);
    assert!(step.created, "the call wrote `a`: {:?}", scene.story());
    scene.revert(step.snapshot.id.as_str()).unwrap();
    assert_eq!(scene.text("a"), "0");
}

/// A declared path belongs to whoever declared it, also while somebody who declares nothing records.
#[test]
fn a_plain_track_leaves_declared_paths_to_the_call_that_declared_them() {
    let scene = Scene::of(&["a", "b"]);
    let call = scene.begin("writer", &["a"]);
    scene.write("a", "1\n");
    scene.write("b", "1\n");
    scene.workspace.track().unwrap();
    let step = scene.finish(&call);
    assert!(step.created, "the call wrote `a`: {:?}", scene.story());
    scene.revert(step.snapshot.id.as_str()).unwrap();
    assert_eq!((scene.text("a"), scene.text("b")), ("0".to_owned(), "1".to_owned()));
}

#[test]
fn an_undeclared_call_leaves_declared_paths_to_the_call_that_declared_them() {
    let scene = Scene::of(&["a", "b"]);
    let declared = scene.begin("declared", &["a"]);
    let other = scene.begin("other", &[]);
    scene.write("a", "1\n");
    scene.write("b", "1\n");
    scene.finish(&other);
    let step = scene.finish(&declared);
    assert!(step.created, "the call wrote `a`: {:?}", scene.story());
}

/// The user's edits that an undo found are kept in a safety snapshot: they are not the session's that asked to undo.
#[test]
fn reverting_a_session_leaves_what_the_user_wrote_before_an_undo() {
    let scene = Scene::of(&["a", "b", "notes"]);
    let session = || backsight::report::Origin { session: Some("s".to_owned()), ..Default::default() };
    let track = |text: &str| {
        scene.write(text, "agent\n");
        let request = backsight::request::Track { origin: session(), ..Default::default() };
        scene.workspace.track_with(&request).unwrap();
    };
    track("a");
    track("b");
    scene.write("notes", "by hand\n");
    scene.workspace.undo(&backsight::request::Undo { origin: session(), ..Default::default() }).unwrap();
    assert_eq!(["a", "b", "notes"].map(|file| scene.text(file)), ["agent", "0", "by hand"]);
    scene.revert("session:s").unwrap();
    assert_eq!(["a", "b", "notes"].map(|file| scene.text(file)), ["0", "0", "by hand"]);
}

#[test]
fn a_path_the_user_edited_before_the_call_goes_back_to_the_users_edit() {
    for choice in [Strategy::Warn, Strategy::AutoIntegrate] {
        let scene = Scene::of(&["a"]);
        scene.write("a", "user\n");
        let call = scene.try_begin("writer", &["a"], strategy(choice)).unwrap().call.id.to_string();
        scene.write("a", "tool\n");
        let step = scene.try_finish(&call, strategy(choice)).unwrap();
        scene.revert(step.snapshot.id.as_str()).unwrap();
        assert_eq!(scene.text("a"), "user", "{choice}");
        assert!(stored_at(&scene.workspace, "a").contains(&b"user\n".to_vec()), "{choice}");
    }
}

/// The file was ignored when the call began, so nobody looked at it; that is not the same as not being there.
#[test]
fn a_file_that_was_ignored_when_the_call_began_is_never_deleted_by_its_revert() {
    let scene = Scene::empty();
    scene.write(".gitignore", "build/\n");
    scene.write("build/out", "precious\n");
    scene.workspace.track().unwrap();
    let call = scene.begin("writer", &[]);
    scene.write("build/out", "tool\n");
    let finish =
        backsight::request::Finish { call, declared: vec![path("build/out")], ..backsight::request::Finish::default() };
    let step = scene.workspace.finish(&finish).unwrap();
    drop(scene.revert(step.snapshot.id.as_str()));
    assert_eq!(scene.text("build/out"), "tool");
}

/// Where a file was, there is something nobody can read: that is not a deletion by the tool.
#[test]
fn what_cannot_be_seen_is_nobodys_change() {
    let scene = Scene::of(&["a", "pipe"]);
    let call = scene.begin("writer", &[]);
    scene.write("a", "1\n");
    scene.remove("pipe");
    let made = std::process::Command::new("mkfifo").arg(scene.root.join("pipe")).status().unwrap();
    assert!(made.success());
    let found = scene.workspace.detect_unknown_modifications(&[]).unwrap();
    assert_eq!(found.unseen.iter().map(|unseen| unseen.path.to_string()).collect::<Vec<_>>(), ["pipe"]);
    assert_eq!((scene.unrecorded(), scene.workspace.status().unwrap().clean), (vec!["a?".to_owned()], false));
    let step = scene.finish(&call);
    assert_eq!(step.unseen.len(), 1);
    assert_eq!(step.changes.len(), 1, "{:?}", step.changes);
    assert_eq!(scene.workspace.get_file_at("1", &path("pipe")).unwrap(), b"0\n");
    assert_eq!(names(&scene.workspace.show_detail("2").unwrap().affected_files), ["a"]);
}

/// The same, and the step is taken back: it never touched the path, so neither does its revert.
#[test]
fn a_revert_leaves_what_its_step_could_not_see() {
    let scene = Scene::of(&["a", "pipe"]);
    let call = scene.begin("writer", &[]);
    scene.write("a", "1\n");
    scene.remove("pipe");
    let made = std::process::Command::new("mkfifo").arg(scene.root.join("pipe")).status().unwrap();
    assert!(made.success());
    scene.finish(&call);
    scene.revert("2").unwrap();
    use std::os::unix::fs::FileTypeExt;
    assert!(std::fs::metadata(scene.root.join("pipe")).unwrap().file_type().is_fifo());
    assert_eq!(scene.text("a"), "0");
    scene.workspace.redo(&Default::default()).unwrap_err();
    scene.remove("pipe");
    scene.revert("3").unwrap();
    assert_eq!((scene.text("a"), scene.text("pipe")), ("1".to_owned(), "-".to_owned()));
}

fn session_of(name: &str, declared: &[&str]) -> Begin {
    let origin = Origin { session: Some(name.to_owned()), ..by("edit", declared) };
    Begin { origin, ..Begin::default() }
}

fn forty(changes: &[(usize, &str)]) -> String {
    let line = |number: usize| match changes.iter().find(|(at, _)| *at == number) {
        Some((_, text)) => format!("{text}\n"),
        None => format!("{number}\n"),
    };
    (1..=40).map(line).collect()
}

/// Neither can be told from the other, so both are told, and whoever takes the first back hears of the second.
#[test]
fn two_open_calls_that_declare_one_file_are_told_of_each_other() {
    let scene = Scene::empty();
    scene.write("f", forty(&[]));
    scene.workspace.track().unwrap();
    let [first, second] =
        ["A", "B"].map(|name| scene.workspace.begin(&session_of(name, &["f"])).unwrap().call.id.to_string());
    scene.write("f", forty(&[(5, "A"), (35, "B")]));
    let warnings = scene.finish(&first).warnings;
    assert_eq!(
        warnings,
        ["session `B` has not finished and declares `f` too: what it wrote there so far counts as this step's"]
    );
    let told = scene.finish(&second);
    assert!(!told.created);
    assert_eq!(
        told.warnings,
        ["#2 of session `A` was recorded while this call ran and holds what it had written to `f` by then"]
    );
    let revert = Revert { references: vec!["session:A".to_owned()], ..Revert::default() };
    let asks = scene.workspace.revert_steps(&revert).unwrap_err();
    assert_eq!(asks.code(), Code::Conflict);
    assert_eq!(asks.details()["conflicts"][0]["reason"], "session `B` was at work on it too when #2 was recorded");
    let revert = Revert { on_conflict: OnConflict::Merge, ..revert };
    for dry_run in [true, false] {
        let applied = scene.workspace.revert_steps(&Revert { dry_run, ..revert.clone() }).unwrap();
        assert_eq!(
            applied.warnings,
            [
                "session `B` was at work on `f` too when #2 was recorded: what it had written there is taken back with it"
            ]
        );
    }
}

/// Calls that declare other files, or come one after the other, hear nothing.
#[test]
fn calls_that_do_not_share_a_file_are_told_nothing() {
    let scene = Scene::of(&["f", "g"]);
    let [first, second] = [("A", "f"), ("B", "g")]
        .map(|(name, file)| scene.workspace.begin(&session_of(name, &[file])).unwrap().call.id.to_string());
    scene.write("f", "A\n");
    scene.write("g", "B\n");
    for call in [&first, &second] {
        assert_eq!(scene.finish(call).warnings, Vec::<String>::new());
    }
    let third = scene.workspace.begin(&session_of("C", &["f"])).unwrap().call.id.to_string();
    scene.write("f", "C\n");
    assert_eq!(scene.finish(&third).warnings, Vec::<String>::new());
    assert_eq!(scene.revert("session:C").unwrap().warnings, Vec::<String>::new());
}

#[test]
fn no_more_calls_are_open_than_can_be_looked_at() {
    let scene = Scene::of(&["a"]);
    let first = scene.begin("first", &["a"]);
    for _ in 1..256 {
        scene.begin("another", &["a"]);
    }
    let error = scene.workspace.begin(&Begin::default()).unwrap_err();
    assert_eq!(error.code(), Code::Busy);
    scene.finish(&first);
    scene.begin("one more", &["a"]);
}
