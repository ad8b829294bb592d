//! What restore, revert, undo and redo do about what stands in their way, and how far they go.

use backsight_core::NextStep;
use std::fs;
use std::io::Write;

use backsight::report::{Applied, OnConflict};
use backsight::request::{Restore, Revert, Undo};
use backsight::{Code, Disk, Progress};

use crate::lab::open_watched;
use crate::scene::{Scene, paths};

fn skipped(applied: &Applied) -> Vec<String> {
    applied.skipped.iter().map(|conflict| format!("{}: {}", conflict.path, conflict.reason)).collect()
}

fn to_first(on_conflict: OnConflict) -> Restore {
    Restore { reference: "1".to_owned(), on_conflict, ..Restore::default() }
}

/// A file that stands where a snapshot has one and that no capture holds: it outgrew the limit.
fn outgrown() -> Scene {
    let scene = Scene::of(&["a", "dir/large"]);
    scene.workspace.config_set("max_file_size", "1000").unwrap();
    scene.write("a", "1\n");
    scene.write("dir/large", "x".repeat(5000));
    scene.write("made/later", "1\n");
    scene.workspace.track().unwrap();
    scene
}

#[test]
fn a_restore_leaves_what_it_cannot_store_and_names_it() {
    let scene = outgrown();
    let before = scene.disk();
    let error = scene.workspace.restore_with(&to_first(OnConflict::Refuse)).unwrap_err();
    assert_eq!(error.code(), Code::NotCovered);
    assert!(error.advises(&NextStep::WithSkip), "{error:?}");
    assert_eq!(scene.disk(), before);
    for on_conflict in [OnConflict::Skip, OnConflict::Merge] {
        let scene = outgrown();
        let dry = Restore { dry_run: true, ..to_first(on_conflict) };
        assert_eq!(skipped(&scene.workspace.restore_with(&dry).unwrap()), ["dir/large: too large"]);
        let applied = scene.workspace.restore_with(&to_first(on_conflict)).unwrap();
        assert_eq!(skipped(&applied), ["dir/large: too large"]);
        assert_eq!((scene.text("a"), scene.text("made/later")), ("0".to_owned(), "-".to_owned()));
        assert_eq!(scene.text("dir/large").len(), 5000);
        scene.check_chain().unwrap();
    }
}

/// Nothing can be put below what is not a directory any more and is not to be restored itself: the plan says so, and does
/// not fail later for a reason that is not true.
#[test]
fn a_path_below_what_is_a_file_or_a_link_now_is_a_conflict() {
    for (make, words) in [
        ((|place: &std::path::Path| fs::write(place, "1\n").unwrap()) as fn(&std::path::Path), "`d` is a file now"),
        (|place| std::os::unix::fs::symlink("a", place).unwrap(), "`d` is a symlink now"),
    ] {
        let scene = Scene::of(&["a", "d/e/f", "d/g"]);
        fs::remove_dir_all(scene.root.join("d")).unwrap();
        make(&scene.root.join("d"));
        scene.workspace.track().unwrap();
        let below = |on_conflict| Restore { paths: paths(&["a", "d/e/f"]), ..to_first(on_conflict) };
        let before = scene.disk();
        let dry = Restore { dry_run: true, ..below(OnConflict::Refuse) };
        for request in [dry, below(OnConflict::Refuse)] {
            let error = scene.workspace.restore_with(&request).unwrap_err();
            assert_eq!(error.code(), Code::NotCovered, "{error:?}");
        }
        assert_eq!(scene.disk(), before);
        scene.write("a", "1\n");
        let applied = scene.workspace.restore_with(&below(OnConflict::Skip)).unwrap();
        assert!(skipped(&applied).contains(&format!("d/e/f: {words}")), "{:?}", skipped(&applied));
        assert_eq!((scene.text("a"), scene.text("d/e/f")), ("0".to_owned(), "-".to_owned()));
        let whole = Restore { paths: paths(&["d"]), ..to_first(OnConflict::Refuse) };
        scene.workspace.restore_with(&whole).unwrap();
        assert_eq!(scene.text("d/e/f"), "0");
    }
}

/// A directory that holds such a file stays, with everything in it, where the snapshot has a file.
#[test]
fn what_a_restore_leaves_it_leaves_whole() {
    let scene = Scene::of(&["a", "place"]);
    scene.workspace.config_set("max_file_size", "1000").unwrap();
    scene.remove("place");
    scene.write("place/large", "x".repeat(5000));
    scene.write("place/small", "1\n");
    scene.write("a", "1\n");
    scene.workspace.track().unwrap();
    let applied = scene.workspace.restore_with(&to_first(OnConflict::Skip)).unwrap();
    let paths: Vec<String> = applied.skipped.iter().map(|conflict| conflict.path.to_string()).collect();
    assert_eq!(paths, ["place", "place/small"]);
    assert_eq!((scene.text("a"), scene.text("place/small")), ("0".to_owned(), "1".to_owned()));
    scene.check_chain().unwrap();
}

/// Two files, of which one is written to whenever a restore is about to put files in place.
fn busy() -> Scene {
    let scene = Scene::of(&["a", "log"]);
    scene.write("a", "1\n");
    scene.write("log", "0\n1\n");
    scene.workspace.track().unwrap();
    let log = scene.root.join("log");
    let workspace = open_watched(&scene.root, Disk::new(), move |progress| {
        if matches!(progress, Progress::Applying { done: 0, .. }) {
            fs::OpenOptions::new().append(true).open(&log).unwrap().write_all(b"more\n").unwrap();
        }
    });
    Scene { workspace, ..scene }
}

#[test]
fn one_busy_log_does_not_make_a_restore_impossible() {
    let scene = busy();
    let error = scene.workspace.restore_with(&to_first(OnConflict::Refuse)).unwrap_err();
    assert_eq!(error.code(), Code::Raced);
    assert!(error.advises(&NextStep::WithSkip), "{error:?}");
    assert_eq!(scene.text("a"), "1");

    let scene = busy();
    let applied = scene.workspace.restore_with(&to_first(OnConflict::Skip)).unwrap();
    assert_eq!(skipped(&applied), ["log: another program keeps writing to it"]);
    assert_eq!(scene.text("a"), "0");
    assert!(scene.text("log").starts_with("0\n1\nmore"), "{}", scene.text("log"));

    let scene = busy();
    let skip = Revert { references: vec!["2".to_owned()], on_conflict: OnConflict::Skip, ..Revert::default() };
    let applied = scene.workspace.revert_steps(&skip).unwrap();
    assert_eq!(applied.skipped.iter().map(|conflict| conflict.path.to_string()).collect::<Vec<_>>(), ["log"]);
    assert_eq!(scene.text("a"), "0");
    scene.check_chain().unwrap();
}

fn lines(changes: &[(usize, &str)]) -> String {
    let line = |number: usize| {
        changes.iter().find(|(at, _)| *at == number).map_or(number.to_string(), |(_, text)| (*text).to_owned())
    };
    (1..=30).map(|number| line(number) + "\n").collect()
}

/// Two steps of one session in `f`, of which only the first can be taken back; two files beside it can.
#[test]
fn a_file_that_is_skipped_is_left_wholly_alone() {
    let scene = Scene::empty();
    scene.write("f", lines(&[]));
    scene.write("g", "0\n");
    scene.workspace.track().unwrap();
    scene.write("f", lines(&[(5, "A")]));
    scene.workspace.track().unwrap();
    scene.write("f", lines(&[(5, "A"), (20, "B")]));
    scene.write("g", "1\n");
    scene.workspace.track().unwrap();
    scene.write("f", lines(&[(5, "A"), (20, "person")]));
    let steps =
        |on_conflict| Revert { references: vec!["2".to_owned(), "3".to_owned()], on_conflict, ..Revert::default() };
    assert_eq!(scene.workspace.revert_steps(&steps(OnConflict::Refuse)).unwrap_err().code(), Code::Conflict);
    let applied = scene.workspace.revert_steps(&steps(OnConflict::Skip)).unwrap();
    assert_eq!(skipped(&applied), ["f: 1 later edit overlaps the step"]);
    assert!(applied.merged.is_empty(), "{:?}", applied.merged);
    assert_eq!(
        (scene.text("f"), scene.text("g")),
        (lines(&[(5, "A"), (20, "person")]).trim_end().to_owned(), "0".to_owned())
    );
}

/// The newer step could be taken back at the file; the older one, which comes second, cannot.
#[test]
fn what_a_newer_step_was_to_do_to_a_skipped_file_is_not_done_either() {
    let scene = Scene::empty();
    scene.write("f", lines(&[]));
    scene.workspace.track().unwrap();
    scene.write("f", lines(&[(5, "A")]));
    scene.workspace.track().unwrap();
    scene.write("f", lines(&[(5, "A"), (20, "B")]));
    scene.write("dir/made", "1\n");
    scene.workspace.track().unwrap();
    scene.write("f", lines(&[(5, "person"), (20, "B")]));
    let before = scene.text("f");
    let steps =
        Revert { references: vec!["2".to_owned(), "3".to_owned()], on_conflict: OnConflict::Skip, ..Revert::default() };
    let applied = scene.workspace.revert_steps(&steps).unwrap();
    assert_eq!(skipped(&applied).len(), 1);
    assert_eq!((scene.text("f"), scene.text("dir/made")), (before, "-".to_owned()));
}

/// `made` was recorded in three steps after the first.
fn three_steps() -> Scene {
    let scene = Scene::of(&["a"]);
    for number in 1..=3 {
        scene.write("a", format!("{number}\n"));
        scene.write(&format!("made{number}"), "1\n");
        scene.workspace.track().unwrap();
    }
    scene
}

fn steps(count: usize) -> Undo {
    Undo { count, ..Undo::default() }
}

#[test]
fn a_redo_mirrors_an_undo_of_several_steps() {
    for parts in [vec![3], vec![1, 1, 1], vec![1, 2], vec![2, 1]] {
        let scene = three_steps();
        let done = scene.disk();
        scene.workspace.undo(&steps(3)).unwrap();
        assert_eq!((scene.text("a"), scene.text("made1")), ("0".to_owned(), "-".to_owned()));
        let mut at = 0;
        for count in &parts {
            scene.workspace.redo(&steps(*count)).unwrap();
            at += count;
            assert_eq!(scene.text("a"), at.to_string(), "{parts:?}");
            assert_eq!(scene.text(&format!("made{at}")), "1", "{parts:?}");
            assert_eq!(scene.workspace.status().unwrap().redoable, 3 - at as u64, "{parts:?}");
        }
        assert_eq!(scene.disk(), done, "{parts:?}");
        // And all of it once more, the other way.
        scene.workspace.undo(&steps(3)).unwrap();
        assert_eq!(scene.text("a"), "0", "{parts:?}");
        scene.check_chain().unwrap();
    }
}

#[test]
fn a_redo_of_more_than_was_undone_is_refused() {
    let scene = three_steps();
    scene.workspace.undo(&steps(2)).unwrap();
    let error = scene.workspace.redo(&steps(3)).unwrap_err();
    assert_eq!(error.code(), Code::NothingToUndo);
    assert_eq!(error.message(), "there are only 2 steps to redo, not 3");
    scene.workspace.redo(&steps(1)).unwrap();
    scene.workspace.undo(&steps(1)).unwrap();
    scene.workspace.redo(&steps(2)).unwrap();
    assert_eq!(scene.text("a"), "3");
}

/// Edits on other files stay, and a step of a session that was brought back alone is in effect again.
#[test]
fn a_redo_of_some_keeps_edits_elsewhere() {
    let scene = three_steps();
    scene.workspace.undo(&steps(3)).unwrap();
    scene.write("mine", "1\n");
    scene.workspace.redo(&steps(2)).unwrap();
    assert_eq!(
        (scene.text("a"), scene.text("mine"), scene.text("made3")),
        ("2".to_owned(), "1".to_owned(), "-".to_owned())
    );
}
