//! A store that nothing can be written to can be looked at, whole, and is left as it is.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use backsight::report::OnConflict;
use backsight::request::{Log, Restore};
use backsight::{Code, Workspace};

use crate::lab::{open, stop_at};
use crate::picture::{self, Picture};
use crate::scene::Scene;

/// A read-only view of a directory, gone when dropped. Mounting needs root: a test that cannot have it fails.
struct View(PathBuf);

impl View {
    fn of(directory: &Path, at: &Path) -> View {
        fs::create_dir_all(at).unwrap();
        let mount = |arguments: &[&std::ffi::OsStr]| {
            let mounted = Command::new("mount").args(arguments).output().expect("`mount` is missing");
            assert!(mounted.status.success(), "cannot mount: run the tests as root, or with `sudo -E make test`");
        };
        mount(&["--bind".as_ref(), directory.as_os_str(), at.as_os_str()]);
        let view = View(at.to_owned());
        mount(&["-o".as_ref(), "remount,bind,ro".as_ref(), at.as_os_str()]);
        view
    }
}

impl Drop for View {
    fn drop(&mut self) {
        drop(Command::new("umount").arg("--lazy").arg(&self.0).output());
    }
}

/// Three steps, the last of them in the timeline's log only.
fn recorded() -> Scene {
    let scene = Scene::of(&["a", "b"]);
    for number in 1..=2 {
        scene.write("a", format!("{number}\n"));
        scene.workspace.track().unwrap();
    }
    scene
}

fn looks(workspace: &Workspace) {
    let path = "a".parse().unwrap();
    assert_eq!(workspace.log(&Log::default()).unwrap().rows.len(), 3);
    assert_eq!(workspace.get_file_at("@", &path).unwrap(), b"2\n");
    assert_eq!(workspace.get_file_at("1", &path).unwrap(), b"0\n");
    assert_eq!(workspace.show("@").unwrap().sequence_number.0, 3);
    assert_eq!(workspace.list_files("@").unwrap().len(), 2);
    assert_eq!(workspace.diff_full("1", None).unwrap().len(), 1);
    assert!(workspace.status().unwrap().clean);
    assert!(workspace.verify().unwrap().clean);
    assert_eq!(workspace.blame(&path, None).unwrap().line_count(), 1);
    let elsewhere = tempfile::tempdir().unwrap();
    let history = elsewhere.path().join("history");
    assert_eq!(workspace.export_store(&history).unwrap().rows, 3);
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 1, "nothing else is left there");
    let imported = elsewhere.path().join("imported");
    fs::create_dir(&imported).unwrap();
    open(&imported).import_store(&history).unwrap();
    assert_eq!(open(&imported).get_file_at("@", &path).unwrap(), b"2\n");
    assert!(
        workspace
            .restore_with(&Restore { reference: "1".to_owned(), dry_run: true, ..Default::default() })
            .unwrap()
            .changed
    );
    for error in [
        workspace.track().map(drop).unwrap_err(),
        workspace.restore("1").map(drop).unwrap_err(),
        workspace.undo(&Default::default()).map(drop).unwrap_err(),
    ] {
        assert_eq!(error.code(), Code::Io, "{error}");
        assert!(error.message().ends_with("cannot be written to"), "{error}");
    }
}

#[test]
fn a_read_only_mount_of_a_workspace_can_be_looked_at() {
    let scene = recorded();
    let at = scene.lab.path().join("view");
    // With the process that wrote it still there, and when it has gone.
    {
        let _view = View::of(&scene.root, &at);
        looks(&open(&at));
    }
    let Scene { root, workspace, lab: _lab } = scene;
    drop(workspace);
    let before = Picture::of(&root.join(".backsight"));
    let _view = View::of(&root, &at);
    looks(&open(&at));
    assert_eq!(Picture::of(&root.join(".backsight")), before);
}

/// What another process records meanwhile is seen.
#[test]
fn a_read_only_mount_shows_what_is_recorded_behind_it() {
    let scene = recorded();
    let _view = View::of(&scene.root, &scene.lab.path().join("view"));
    let looking = open(&scene.lab.path().join("view"));
    looks(&looking);
    scene.write("a", "3\n");
    scene.workspace.track().unwrap();
    assert_eq!(looking.show("@").unwrap().sequence_number.0, 4);
    assert_eq!(looking.get_file_at("@", &"a".parse().unwrap()).unwrap(), b"3\n");
}

/// A backup of the workspace, mounted so that nothing can be written: it has the identity of a store of this user's.
#[test]
fn a_mounted_backup_can_be_looked_at_and_a_copy_that_can_be_written_is_refused() {
    let scene = recorded();
    let (backup, at) = (scene.lab.path().join("backup"), scene.lab.path().join("view"));
    picture::copy(&scene.root, &backup);
    let store = backup.join(".backsight/store");
    for mode in [0o700, 0o500] {
        fs::set_permissions(&store, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
        assert_eq!(open(&backup).status().unwrap_err().code(), Code::StoreNotOurs);
    }
    let _view = View::of(&backup, &at);
    looks(&open(&at));
}

/// Settings decide what agents may run, and a copy may have been altered on its way.
#[test]
fn the_settings_of_a_mounted_backup_are_not_believed() {
    let scene = recorded();
    scene.workspace.config_set("max_files", "7").unwrap();
    let (backup, at) = (scene.lab.path().join("backup"), scene.lab.path().join("view"));
    picture::copy(&scene.root, &backup);
    let _view = View::of(&backup, &at);
    assert_ne!(open(&at).config_get("max_files").unwrap().value, "7");
    let _own = View::of(&scene.root, &scene.lab.path().join("own"));
    assert_eq!(open(&scene.lab.path().join("own")).config_get("max_files").unwrap().value, "7");
}

/// Rows in a log that cannot be read are never passed over.
#[test]
fn a_log_that_cannot_be_read_is_an_error_and_one_that_is_gone_is_none() {
    let scene = recorded();
    let (backup, at) = (scene.lab.path().join("backup"), scene.lab.path().join("view"));
    picture::copy(&scene.root, &backup);
    let store = backup.join(".backsight/store");
    assert!(fs::metadata(store.join("timeline.db-wal")).unwrap().len() > 0);
    fs::remove_file(store.join("timeline.db-shm")).unwrap();
    {
        let _view = View::of(&backup, &at);
        let error = open(&at).status().unwrap_err();
        assert!(error.message().contains("timeline.db-wal"), "{error}");
    }
    // Folded into the file there is nothing left to miss.
    let folded = rusqlite::Connection::open(scene.root.join(".backsight/store/timeline.db")).unwrap();
    folded.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    fs::copy(scene.root.join(".backsight/store/timeline.db"), store.join("timeline.db")).unwrap();
    fs::remove_file(store.join("timeline.db-wal")).unwrap();
    let _view = View::of(&backup, &at);
    looks(&open(&at));
}

/// A container with a volume that is mounted read-only. What is in it cannot be put back, and that stops nothing else.
#[test]
fn a_directory_that_is_mounted_read_only_stops_no_other_command() {
    let scene = Scene::of(&["a", "volume/m"]);
    ["a", "volume/m"].iter().for_each(|file| scene.write(file, "1\n"));
    let _view = View::of(&scene.root.join("volume"), &scene.root.join("volume"));
    let error = scene.workspace.restore("1").unwrap_err();
    assert!(error.message().contains("change files in `volume`"), "{error:?}");
    assert!(error.advises(&backsight_core::NextStep::WithSkip), "{error:?}");
    let next = open(&scene.root);
    // The state before the restore was recorded, as ever.
    assert!(next.status().unwrap().clean);
    assert_eq!([scene.text("a"), scene.text("volume/m")], ["1", "1"]);
    assert!(next.verify().unwrap().clean);
    next.gc(&Default::default()).unwrap();
    next.track().unwrap();
    let skipping = Restore { reference: "1".to_owned(), on_conflict: OnConflict::Skip, ..Default::default() };
    let applied = next.restore_with(&skipping).unwrap();
    assert!(applied.skipped.iter().any(|left| left.reason.contains("cannot be written to")), "{applied:?}");
    assert_eq!([scene.text("a"), scene.text("volume/m")], ["0", "1"]);
}

/// A restore was killed, and where it was at work nothing can be written now: whoever looks is not kept from it, whoever
/// wants to change something is, and it is finished when it can be.
#[test]
fn a_recovery_that_cannot_be_carried_out_yet_keeps_no_reader_out() {
    let mut waited = 0;
    for n in 0.. {
        let scene = Scene::of(&["a", "d/m"]);
        ["a", "d/m"].iter().for_each(|file| scene.write(file, "1\n"));
        let stopped = stop_at(&scene.root, n, &|workspace| workspace.restore("1").map(drop));
        {
            let _view = View::of(&scene.root.join("d"), &scene.root.join("d"));
            let workspace = open(&scene.root);
            workspace.log(&Log::default()).unwrap();
            workspace.get_file_at("1", &"a".parse().unwrap()).unwrap();
            workspace.status().unwrap();
            workspace.gc(&Default::default()).unwrap();
            let is_whole = workspace.verify().unwrap().clean;
            if let Err(error) = workspace.track() {
                assert!(!is_whole, "verify does not name what stops others: {error:?}");
                waited += 1;
            }
        }
        let workspace = open(&scene.root);
        workspace.status().unwrap();
        assert_eq!(scene.text("a"), scene.text("d/m"), "stopped at {n}");
        assert!(workspace.verify().unwrap().clean, "stopped at {n}");
        if stopped.is_ok() {
            break;
        }
    }
    assert!(waited > 0, "no recovery was in the way");
}
