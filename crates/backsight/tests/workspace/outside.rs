//! A store outside its workspace (`init --store user`) is the directory's, not the path's: it follows the one and is refused
//! to any other that has the other's place.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use backsight::request::{Init, Log, StorePlace, Undo};
use backsight::{Error, Workspace};
use backsight_core::NextStep;

use crate::gate::{User, why};
use crate::small_disk::SmallDisk;

/// A user whose workspace has its store outside and two states of a file.
fn with_history_outside() -> User {
    let user = User::with_store(StorePlace::User);
    fs::write(user.root.join("a.txt"), "two\n").unwrap();
    user.open().track().unwrap();
    user
}

fn rows(workspace: &Workspace) -> usize {
    workspace.log(&Log::default()).unwrap().rows.len()
}

#[test]
fn a_moved_workspace_finds_its_store_outside_again() {
    let user = with_history_outside();
    let moved = user.lab.path().join("moved");
    fs::rename(&user.root, &moved).unwrap();
    assert_eq!(rows(&user.open_at(&moved)), 2);
    user.open_at(&moved).undo(&Undo::default()).unwrap();
    assert_eq!(fs::read_to_string(moved.join("a.txt")).unwrap(), "one\n");
    // And once more, from where it is now.
    let again = user.lab.path().join("again");
    fs::rename(&moved, &again).unwrap();
    assert_eq!(rows(&user.open_at(&again)), 3);
    assert_eq!(Workspace::discover(&again, &user.settings()), Some(again.canonicalize().unwrap()));
}

#[test]
fn another_directory_at_the_path_of_a_workspace_does_not_get_its_history() {
    let user = with_history_outside();
    let moved = user.lab.path().join("moved");
    fs::rename(&user.root, &moved).unwrap();
    fs::create_dir(&user.root).unwrap();
    fs::write(user.root.join("a.txt"), "of another project\n").unwrap();
    let refused = |error: Error| {
        assert_eq!(why(&error).0, "elsewhere");
        assert!(error.message().contains(&user.root.display().to_string()), "{error}");
        let steps: Vec<&NextStep> = error.advice().iter().filter_map(|advice| advice.step.as_ref()).collect();
        assert!(matches!(steps[..], [NextStep::AdoptStore { .. }, NextStep::MakeStoreIn { .. }]), "{steps:?}");
    };
    refused(user.open().track().unwrap_err());
    refused(user.open().undo(&Undo::default()).unwrap_err());
    refused(user.open().log(&Log::default()).unwrap_err());
    refused(user.open().init(&Init::default()).unwrap_err());
    // Moved and replaced: the one is found, the other is told where it went.
    assert_eq!(rows(&user.open_at(&moved)), 2);
    let error = user.open().track().unwrap_err();
    assert!(error.message().contains(&moved.display().to_string()), "{error}");
    assert_eq!(fs::read_to_string(user.root.join("a.txt")).unwrap(), "of another project\n");
    // A history of its own, outside again, leaves the other alone.
    assert!(user.open().init(&Init { store: StorePlace::User, anew: true, ..Init::default() }).unwrap());
    user.open().track().unwrap();
    assert_eq!((rows(&user.open()), rows(&user.open_at(&moved))), (1, 2));
    assert!(!user.open().init(&Init { anew: true, ..Init::default() }).unwrap(), "it has one now");
}

#[test]
fn a_workspace_restored_from_a_backup_goes_on_with_a_copy_of_its_history() {
    let user = with_history_outside();
    let backup = user.lab.path().join("backup");
    crate::picture::copy(&user.root, &backup);
    fs::remove_dir_all(&user.root).unwrap();
    fs::rename(&backup, &user.root).unwrap();
    assert_eq!(user.refusal().0, "elsewhere");
    let adopted = user.open().adopt().unwrap();
    assert!(adopted.is_left_in_place && adopted.rows >= 2, "{adopted:?}");
    assert!(Path::new(&adopted.set_aside).is_dir());
    assert_eq!(rows(&user.open()), 2);
    user.open().undo(&Undo::default()).unwrap();
    assert_eq!(fs::read_to_string(user.root.join("a.txt")).unwrap(), "one\n");
}

#[test]
fn a_directory_that_was_removed_and_made_anew_is_another() {
    let user = with_history_outside();
    fs::remove_dir_all(&user.root).unwrap();
    fs::create_dir(&user.root).unwrap();
    assert_eq!(user.refusal().0, "elsewhere");
    assert!(user.open().init(&Init { anew: true, ..Init::default() }).unwrap());
    assert_eq!(user.open().track().map(|_| rows(&user.open())).unwrap(), 1);
    assert!(user.own("store").is_dir());
}

#[test]
fn a_store_outside_that_no_directory_is_recorded_for_is_bound_to_the_one_that_uses_it() {
    let user = with_history_outside();
    for entry in fs::read_dir(user.records()).unwrap().map(|entry| entry.unwrap().path()) {
        match entry.file_name().unwrap().to_str().unwrap() {
            name if name.starts_with("of-") => fs::remove_file(&entry).unwrap(),
            _ => {
                let mut record: serde_json::Value = serde_json::from_slice(&fs::read(&entry).unwrap()).unwrap();
                record.as_object_mut().unwrap().remove("workspace");
                fs::write(&entry, record.to_string()).unwrap();
            }
        }
    }
    assert_eq!(rows(&user.open()), 2);
    let moved = user.lab.path().join("moved");
    fs::rename(&user.root, &moved).unwrap();
    assert_eq!(rows(&user.open_at(&moved)), 2);
}

#[test]
fn another_file_system_at_the_path_of_a_workspace_is_another_directory() {
    let user = with_history_outside();
    let disk = crate::small_disk::SmallDisk::mount(&user.root);
    fs::write(user.root.join("a.txt"), "of another disk\n").unwrap();
    assert_eq!(user.refusal().0, "elsewhere");
    assert_eq!(why(&user.open().undo(&Undo::default()).unwrap_err()).0, "elsewhere");
    assert_eq!(fs::read_to_string(user.root.join("a.txt")).unwrap(), "of another disk\n");
    drop(disk);
    assert_eq!(rows(&user.open()), 2);
}

/// A disk image and its exact copy, both mounted: every inode, birth and id is there twice, on two devices.
struct Cloned {
    user: User,
    disks: Vec<SmallDisk>,
    first: PathBuf,
    second: PathBuf,
}

impl Cloned {
    /// With a store of two snapshots in the image, before it was copied.
    fn new(place: StorePlace) -> Cloned {
        let user = User::with_store(StorePlace::Workspace);
        let [image, copy] = ["image", "copy"].map(|name| user.lab.path().join(name));
        let [first, second] = ["first", "second"].map(|name| user.lab.path().join(name));
        for directory in [&first, &second] {
            fs::create_dir(directory).unwrap();
        }
        let disk = SmallDisk::with_small_blocks(&image, &first);
        let root = first.join("root");
        fs::create_dir(&root).unwrap();
        fs::write(root.join("a.txt"), "one\n").unwrap();
        user.open_at(&root).init(&Init { store: place, ..Init::default() }).unwrap();
        user.open_at(&root).track().unwrap();
        drop(disk);
        fs::copy(&image, &copy).unwrap();
        let disks = vec![SmallDisk::of_image(&image, &first), SmallDisk::of_image(&copy, &second)];
        Cloned { user, disks, first: root, second: second.join("root") }
    }
}

/// The inode and the id are the same: what tells them apart is that the one still stands where it was made.
#[test]
fn a_store_on_the_copy_of_a_disk_is_a_copy_while_the_disk_is_there() {
    let mut cloned = Cloned::new(StorePlace::Workspace);
    assert_eq!(rows(&cloned.user.open_at(&cloned.first)), 1);
    assert_eq!(why(&cloned.user.open_at(&cloned.second).track().unwrap_err()).0, "copied");
    // The disk was moved to another place: then it is the one.
    cloned.disks.remove(0);
    assert_eq!(rows(&cloned.user.open_at(&cloned.second)), 1);
}

#[test]
fn a_workspace_on_the_copy_of_a_disk_does_not_get_the_store_outside_while_the_disk_is_there() {
    let mut cloned = Cloned::new(StorePlace::User);
    assert_eq!(rows(&cloned.user.open_at(&cloned.first)), 1);
    assert_eq!(why(&cloned.user.open_at(&cloned.second).track().unwrap_err()).0, "elsewhere");
    cloned.disks.remove(0);
    assert_eq!(rows(&cloned.user.open_at(&cloned.second)), 1);
}

/// What stands in the workspace beside a store outside is used by restores: others must not be able to write there.
#[test]
fn a_directory_of_ours_beside_a_store_outside_passes_the_gate_too() {
    let user = with_history_outside();
    let beside = user.own("");
    fs::create_dir_all(&beside).unwrap();
    for (mode, is_taken) in [(0o700, true), (0o777, false), (0o755, true), (0o770, false)] {
        fs::set_permissions(&beside, fs::Permissions::from_mode(mode)).unwrap();
        match user.open().track() {
            Ok(_) => assert!(is_taken, "{mode:o}"),
            Err(error) => assert_eq!((why(&error).0.as_str(), is_taken), ("writable", false), "{mode:o}"),
        }
    }
}
