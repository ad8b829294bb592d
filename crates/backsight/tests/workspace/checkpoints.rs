//! Seed 003's file checkpoints: names for files of a snapshot, never a second copy, and never in a snapshot's way.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use backsight::request::{Collect, ConfigChange};
use backsight::{Code, Disk, Settings, Timestamp, Workspace};

use crate::lab::settings;
use crate::scene::{Scene, names, path, paths};

const DAY: i64 = 86_400_000;

/// A workspace whose clock the test turns.
fn clocked(scene: &Scene) -> (Workspace, Arc<AtomicI64>) {
    let clock = Arc::new(AtomicI64::new(1_700_000_000_000));
    let hand = Arc::clone(&clock);
    let clock_of = Arc::new(move || Timestamp(hand.load(Ordering::Relaxed)));
    (Workspace::open_with(&scene.root, Settings { clock: clock_of, ..settings(Disk::new()) }).unwrap(), clock)
}

fn sequence_numbers(workspace: &Workspace) -> Vec<u64> {
    workspace.list_file_checkpoints().unwrap().iter().map(|checkpoint| checkpoint.sequence_number.0).collect()
}

fn keep_all(workspace: &Workspace, days: u64) {
    let change =
        ConfigChange { keep_all_checkpoints: Some(true), max_checkpoint_age: Some(days), ..ConfigChange::default() };
    workspace.update_config(&change).unwrap();
}

#[test]
fn every_snapshot_makes_one_and_only_the_latest_is_kept() {
    let scene = Scene::of(&["a", "d/b"]);
    let first = scene.workspace.load_file_checkpoint(None).unwrap().unwrap();
    assert_eq!(names(&first.files.keys().cloned().collect::<Vec<_>>()), ["a", "d/b"], "the first changed everything");
    scene.write("a", "1\n");
    scene.workspace.track().unwrap();
    assert_eq!(sequence_numbers(&scene.workspace), [2]);
    let second = scene.workspace.load_file_checkpoint(None).unwrap().unwrap();
    assert_eq!((second.files.len(), second.files[&path("a")].as_str()), (1, "1\n"));
    assert_eq!((second.metadata.total_files, second.metadata.total_size_bytes), (1, 2));
    assert!(scene.workspace.load_file_checkpoint(Some(first.id.as_str())).unwrap().is_none());
}

#[test]
fn all_are_kept_up_to_their_age_when_the_settings_say_so() {
    let scene = Scene::empty();
    let (workspace, clock) = clocked(&scene);
    keep_all(&workspace, 7);
    for number in 0..4 {
        scene.write("a", format!("{number}\n"));
        workspace.track().unwrap();
        clock.fetch_add(3 * DAY, Ordering::Relaxed);
    }
    // Made on days 0, 3, 6 and 9; when the last one was made the first was nine days old.
    assert_eq!(sequence_numbers(&workspace), [4, 3, 2]);
    assert_eq!(workspace.cleanup_old_checkpoints(Some(Timestamp(1_700_000_000_000 + 4 * DAY))).unwrap(), 1);
    assert_eq!(sequence_numbers(&workspace), [4, 3]);
    clock.fetch_add(100 * DAY, Ordering::Relaxed);
    assert_eq!(workspace.cleanup_old_checkpoints(None).unwrap(), 1);
    assert_eq!(sequence_numbers(&workspace), [4], "the latest one stays");
    assert!(workspace.verify().unwrap().clean && workspace.get_file_at("1", &path("a")).is_ok());
}

#[test]
fn named_files_are_remembered_as_they_are_in_the_snapshot() {
    let scene = Scene::of(&["a", "d/b", "d/c"]);
    scene.write("binary", b"\xff\x00");
    scene.workspace.track().unwrap();
    let id = scene.workspace.create_file_checkpoint("2", &paths(&["d", "binary"])).unwrap();
    scene.write("d/b", "later\n");
    let data = scene.workspace.load_file_checkpoint(Some(id.as_str())).unwrap().unwrap();
    assert_eq!(names(&data.files.keys().cloned().collect::<Vec<_>>()), ["d/b", "d/c"]);
    assert_eq!(data.files[&path("d/b")], "0\n");
    assert_eq!(scene.workspace.get_blob(&data.binary_files[&path("binary")]).unwrap(), b"\xff\x00");
    let error = scene.workspace.create_file_checkpoint("1", &paths(&["binary"])).unwrap_err();
    assert_eq!(error.code(), Code::PathNotFound);
}

#[test]
fn retention_keeps_the_contents_of_what_a_checkpoint_names() {
    let scene = Scene::of(&["a"]);
    keep_all(&scene.workspace, 0);
    let id = scene.workspace.create_file_checkpoint("1", &[]).unwrap();
    for number in 1..5 {
        scene.write("a", format!("{number}\n"));
        scene.workspace.track().unwrap();
    }
    scene.workspace.gc(&Collect { keep_count: Some(1), ..Collect::default() }).unwrap();
    let data = scene.workspace.load_file_checkpoint(Some(id.as_str())).unwrap().unwrap();
    assert_eq!(data.files[&path("a")], "0\n");
}

/// The snapshot is what counts.
#[test]
fn a_checkpoint_that_cannot_be_written_is_a_warning_and_the_snapshot_stands() {
    let scene = Scene::of(&["a"]);
    let database = rusqlite::Connection::open(scene.root.join(".backsight/store/timeline.db")).unwrap();
    database.execute_batch("ALTER TABLE checkpoints RENAME TO elsewhere").unwrap();
    scene.write("a", "1\n");
    let tracked = scene.workspace.track().unwrap();
    assert!(tracked.created);
    assert!(tracked.warnings.iter().any(|warning| warning.contains("file checkpoint")), "{:?}", tracked.warnings);
    let call = scene.begin("writer", &[]);
    scene.write("a", "2\n");
    assert!(!scene.finish(&call).warnings.is_empty());
    let undone = scene.workspace.undo(&Default::default()).unwrap();
    assert!(undone.changed && !undone.warnings.is_empty());
    assert_eq!(scene.story(), ["1 track", "2 track: a", "3 track writer: a", "4 undo: a"]);
    scene.check_chain().unwrap();
}
