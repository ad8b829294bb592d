//! Who may read and write a file is the same after a restore as before, or less, and what cannot be kept is told.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::Path;

use rustix::fs::{XattrFlags, getxattr, setxattr};

use crate::scene::Scene;

const ACCESS: &str = "system.posix_acl_access";
const DEFAULT: &str = "system.posix_acl_default";

/// An access control list as the kernel writes it: (tag, permissions, id).
fn list(entries: &[(u16, u16, u32)]) -> Vec<u8> {
    let mut bytes = 2u32.to_le_bytes().to_vec();
    for (tag, permissions, id) in entries {
        bytes.extend(tag.to_le_bytes());
        bytes.extend(permissions.to_le_bytes());
        bytes.extend(id.to_le_bytes());
    }
    bytes
}

/// Read and write for the owner and the user 1000, nothing for the group: its mode reads 0660.
fn for_one_user() -> Vec<u8> {
    let none = u32::MAX;
    list(&[(1, 6, none), (2, 6, 1000), (4, 0, none), (16, 6, none), (32, 0, none)])
}

fn attribute(path: &Path, name: &str) -> Option<Vec<u8>> {
    let mut buffer = vec![0; 4096];
    let length = getxattr(path, name, &mut buffer[..]).ok()?;
    buffer.truncate(length);
    Some(buffer)
}

fn set(path: &Path, name: &str, value: &[u8]) {
    setxattr(path, name, value, XattrFlags::empty()).unwrap_or_else(|error| panic!("set {name}: {error}"));
}

/// A change in the file itself, which keeps what belongs to it.
fn amend(path: &Path, text: &str) {
    OpenOptions::new().write(true).truncate(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

#[test]
fn a_restored_file_keeps_its_list_its_attributes_its_owner_and_its_capabilities() {
    let scene = Scene::of(&["f", "g"]);
    let path = scene.root.join("f");
    chown(&path, Some(4242), Some(4321)).unwrap();
    set(&path, ACCESS, &for_one_user());
    set(&path, "user.origin", b"somewhere");
    let capability = [1, 0, 0, 2, 0, 32, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    scene.workspace.track().unwrap();
    amend(&path, "x\n");
    set(&path, "security.capability", &capability);
    let applied = scene.workspace.restore("2").unwrap();
    assert_eq!(scene.text("f"), "0");
    assert!(applied.warnings.is_empty(), "{:?}", applied.warnings);
    assert_eq!(attribute(&path, ACCESS), Some(for_one_user()), "the group must not get what was the list's mask");
    assert_eq!(attribute(&path, "user.origin").as_deref(), Some(&b"somewhere"[..]));
    assert_eq!(attribute(&path, "security.capability").as_deref(), Some(&capability[..]));
    let found = fs::metadata(&path).unwrap();
    assert_eq!((found.uid(), found.gid(), found.mode() & 0o7777), (4242, 4321, 0o660));
    assert!(scene.workspace.status().unwrap().clean);
}

#[test]
fn a_file_that_comes_back_gets_what_its_own_directory_gives_and_nothing_of_the_stage() {
    let scene = Scene::empty();
    let none = u32::MAX;
    let generous = list(&[(1, 7, none), (2, 7, 1000), (4, 5, none), (16, 7, none), (32, 5, none)]);
    scene.write("closed/key", "secret\n");
    scene.write("shared/note", "text\n");
    // New directories in the workspace give the user 1000 everything; `closed` was made before that.
    set(&scene.root.join("shared"), DEFAULT, &generous);
    scene.chmod("closed/key", 0o640);
    scene.workspace.track().unwrap();
    scene.remove("closed/key");
    scene.remove("shared/note");
    set(&scene.root, DEFAULT, &generous);
    set(&scene.root.join(".backsight"), DEFAULT, &generous);
    scene.workspace.restore("1").unwrap();
    assert_eq!(attribute(&scene.root.join("closed/key"), ACCESS), None, "the user 1000 could not read it before");
    assert_eq!(fs::metadata(scene.root.join("closed/key")).unwrap().mode() & 0o7777, 0o640);
    assert!(attribute(&scene.root.join("shared/note"), ACCESS).is_some());
}

#[test]
fn a_file_in_a_directory_of_a_group_comes_back_to_that_group() {
    let scene = Scene::empty();
    scene.write("team/plan", "text\n");
    chown(scene.root.join("team"), None, Some(4321)).unwrap();
    chown(scene.root.join("team/plan"), None, Some(4321)).unwrap();
    scene.chmod("team", 0o2770);
    scene.chmod("team/plan", 0o660);
    scene.workspace.track().unwrap();
    scene.remove("team/plan");
    scene.workspace.restore("1").unwrap();
    assert_eq!(fs::metadata(scene.root.join("team/plan")).unwrap().gid(), 4321);
}

/// Snapshots hold neither groups nor lists: that another group may read it now is told, once for all files.
#[test]
fn a_file_that_comes_back_for_another_group_is_told() {
    let scene = Scene::of(&["key", "list", "open", "own"]);
    set(&scene.root.join("list"), ACCESS, &for_one_user());
    for (name, mode) in [("key", 0o640), ("open", 0o664), ("own", 0o600)] {
        chown(scene.root.join(name), None, Some(4321)).unwrap();
        scene.chmod(name, mode);
    }
    scene.workspace.track().unwrap();
    for name in ["key", "list", "open", "own"] {
        scene.remove(name);
    }
    let restored = || scene.workspace.restore("2").unwrap().warnings.join("\n");
    let all = restored();
    assert!(all.contains("`key` (and 1 more) came back for the group "), "{all}");
    scene.remove("open");
    scene.remove("own");
    assert_eq!(restored(), "", "others may read it, or its owner alone");
    scene.remove("list");
    let one = restored();
    assert!(one.contains("`list` came back for the group "), "{one}");
}
