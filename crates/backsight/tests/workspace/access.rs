//! Who may read and write a file is the same after a restore as before, or less, and what cannot be kept is told.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use backsight::Disk;
use backsight::request::{Restore, Revert, Undo};
use rustix::fs::{XattrFlags, getxattr, setxattr};

use crate::lab::{open, open_on, stop_at};
use crate::scene::{Scene, paths};

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
fn a_file_that_comes_back_gets_what_it_had_and_nothing_of_its_directory_or_the_stage() {
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
    assert_eq!(attribute(&scene.root.join("shared/note"), ACCESS), None, "it had none either");
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

/// `d` with a list of its own and one for what is made in it, and in it files with a list, for a group, and of a user.
fn guarded() -> Scene {
    let scene = Scene::of(&["other"]);
    for name in ["list", "d/list", "d/group", "d/tool", "d/open"] {
        scene.write(name, "secret\n");
    }
    for (name, mode) in [("d/group", 0o640), ("d/tool", 0o4750), ("d/open", 0o664)] {
        chown(scene.root.join(name), Some(4242), Some(4321)).unwrap();
        scene.chmod(name, mode);
    }
    set(&scene.root.join("list"), ACCESS, &for_one_user());
    set(&scene.root.join("d/list"), ACCESS, &for_one_user());
    let none = u32::MAX;
    let directory = list(&[(1, 7, none), (2, 5, 1000), (4, 0, none), (16, 5, none), (32, 0, none)]);
    set(&scene.root.join("d"), ACCESS, &directory);
    set(&scene.root.join("d"), DEFAULT, &directory);
    scene
}

/// Everything that says who may use what, by name.
fn access(root: &Path) -> Vec<String> {
    let of = |name: &&str| {
        let path = root.join(name);
        let found = fs::symlink_metadata(&path).ok()?;
        let lists = [attribute(&path, ACCESS), attribute(&path, DEFAULT)];
        Some(format!("{name} {} {} {:o} {lists:?}", found.uid(), found.gid(), found.mode() & 0o7777))
    };
    ["list", "d", "d/list", "d/group", "d/tool", "d/open"].iter().filter_map(of).collect()
}

fn remove_guarded(scene: &Scene) {
    scene.remove("list");
    scene.remove("d");
}

#[test]
fn what_was_deleted_comes_back_for_those_who_could_use_it_by_every_way_back() {
    let scene = guarded();
    let workspace = &scene.workspace;
    workspace.track().unwrap();
    let before = access(&scene.root);
    let check = |way: &str, applied: backsight::report::Applied| {
        assert_eq!(access(&scene.root), before, "{way}");
        assert!(applied.warnings.is_empty(), "{way}: {:?}", applied.warnings);
        assert!(workspace.status().unwrap().clean, "{way}");
        assert!(!workspace.track().unwrap().created, "{way}: what was recorded is what stands");
    };
    remove_guarded(&scene);
    check("restore", workspace.restore("2").unwrap());
    remove_guarded(&scene);
    let step = workspace.track().unwrap().snapshot.id.to_string();
    check("revert", scene.revert(&step).unwrap());
    remove_guarded(&scene);
    workspace.track().unwrap();
    check("undo", workspace.undo(&Undo::default()).unwrap());
    workspace.redo(&Undo::default()).unwrap();
    assert_eq!(access(&scene.root), Vec::<String>::new());
    check("undo again", workspace.undo(&Undo::default()).unwrap());
    // What another directory gives to new files is nobody's business here.
    remove_guarded(&scene);
    set(&scene.root, DEFAULT, &list(&[(1, 7, !0), (2, 7, 1001), (4, 7, !0), (16, 7, !0), (32, 7, !0)]));
    check("below another list", workspace.restore("2").unwrap());
}

/// Nobody but the owner and those on the list may use what the list guards, whatever instant the process dies at.
#[test]
fn a_killed_restore_and_its_recovery_widen_nothing_at_any_point() {
    let prepared = || {
        let scene = guarded();
        scene.workspace.track().unwrap();
        remove_guarded(&scene);
        scene.write("other", "changed\n");
        scene
    };
    let whole = prepared();
    whole.workspace.restore("2").unwrap();
    let after = access(&whole.root);
    let is_safe = |root: &Path| {
        for name in ["list", "d", "d/list"] {
            let Ok(found) = fs::symlink_metadata(root.join(name)) else { continue };
            let is_guarded = attribute(&root.join(name), ACCESS).is_some() || found.mode() & 0o077 == 0;
            assert!(is_guarded, "{name} has the mode {:o} and no list", found.mode());
        }
    };
    let (mut n, mut recovered) = (0, 0);
    loop {
        let scene = prepared();
        let outcome = stop_at(&scene.root, n, &|workspace| workspace.restore("2").map(drop));
        is_safe(&scene.root);
        open(&scene.root).status().unwrap();
        is_safe(&scene.root);
        let found = access(&scene.root);
        assert!(found.is_empty() || found == after, "stopped at {n}: {found:#?}");
        recovered += usize::from(!found.is_empty());
        if outcome.is_ok() {
            break;
        }
        n += 1;
    }
    assert!(n > 20 && recovered > 10, "{recovered} of {n} were carried out by the recovery");
}

/// A closed directory with secrets that everybody could read, opened and emptied since.
fn opened_since() -> Scene {
    let scene = Scene::of(&["a"]);
    for name in ["d/s1", "d/s2", "d/e/s3"] {
        scene.write(name, "secret\n");
        scene.chmod(name, 0o644);
    }
    scene.chmod("d", 0o700);
    scene.workspace.track().unwrap();
    for name in ["d/s1", "d/s2", "d/e/s3"] {
        scene.remove(name);
    }
    scene.write("d/public", "1\n");
    scene.chmod("d", 0o755);
    scene.workspace.track().unwrap();
    scene
}

fn mode(scene: &Scene, name: &str) -> Option<u32> {
    fs::symlink_metadata(scene.root.join(name)).map(|found| found.mode() & 0o7777).ok()
}

/// A directory that is to be closed is closed before anything comes into it.
#[test]
fn a_directory_is_closed_before_secrets_come_back_into_it() {
    let mut closed_first = 0;
    for n in 0.. {
        let scene = opened_since();
        let outcome = stop_at(&scene.root, n, &|workspace| workspace.restore("2").map(drop));
        let is_safe = |scene: &Scene| {
            let has_secrets = ["d/s1", "d/s2", "d/e/s3"].iter().any(|name| mode(scene, name).is_some());
            assert!(!has_secrets || mode(scene, "d") == Some(0o700), "stopped at {n}: d is {:?}", mode(scene, "d"));
            has_secrets
        };
        closed_first += usize::from(is_safe(&scene) && outcome.is_err());
        open(&scene.root).status().unwrap();
        let is_after = is_safe(&scene);
        assert_eq!(mode(&scene, "d"), Some(if is_after { 0o700 } else { 0o755 }), "stopped at {n}");
        if outcome.is_ok() {
            break;
        }
    }
    assert!(closed_first > 3, "it was stopped {closed_first} times with secrets in place");
}

/// One file of it comes back for those alone who could get to it then, and that is told.
#[test]
fn what_a_closed_directory_kept_from_others_stays_kept_from_them() {
    let scene = opened_since();
    let one = Restore { reference: "2".to_owned(), paths: paths(&["d/s1", "d/e"]), ..Restore::default() };
    let applied = scene.workspace.restore_with(&one).unwrap();
    assert_eq!(
        (mode(&scene, "d"), mode(&scene, "d/s1"), mode(&scene, "d/e/s3")),
        (Some(0o755), Some(0o600), Some(0o600))
    );
    assert!(applied.warnings.iter().any(|words| words.contains("fewer permissions")), "{:?}", applied.warnings);
    let scene = opened_since();
    scene.remove("d/public");
    scene.workspace.track().unwrap();
    // By a revert of the step that removed them, after which the directory was opened once more.
    let reverted = Revert { references: vec!["3".to_owned()], paths: paths(&["d/s2"]), ..Revert::default() };
    scene.workspace.revert_steps(&reverted).unwrap();
    assert_eq!(mode(&scene, "d/s2"), Some(0o600));
    // What it allows now it may go on to allow.
    scene.chmod("d/s2", 0o644);
    scene.write("d/s2", "public\n");
    scene.workspace.track().unwrap();
    let one = Restore { reference: "2".to_owned(), paths: paths(&["d/s2"]), ..Restore::default() };
    scene.workspace.restore_with(&one).unwrap();
    assert_eq!(mode(&scene, "d/s2"), Some(0o644));
}

/// Also where the directory's bits come back: it keeps the group that it has now, and those are others.
#[test]
fn a_directory_of_another_group_lets_nobody_to_what_it_kept_from_them() {
    let scene = Scene::of(&["a"]);
    scene.write("d/s", "secret\n");
    scene.chmod("d/s", 0o644);
    chown(scene.root.join("d"), None, Some(4321)).unwrap();
    scene.chmod("d", 0o750);
    scene.workspace.track().unwrap();
    scene.remove("d/s");
    scene.write("d/p", "public\n");
    scene.workspace.track().unwrap();
    // Of the same group it comes back as it was.
    scene.workspace.restore("2").unwrap();
    assert_eq!(mode(&scene, "d/s"), Some(0o644));
    scene.workspace.restore("3").unwrap();
    chown(scene.root.join("d"), None, Some(4322)).unwrap();
    scene.workspace.track().unwrap();
    let applied = scene.workspace.restore("2").unwrap();
    assert_eq!((mode(&scene, "d"), mode(&scene, "d/s")), (Some(0o750), Some(0o600)));
    assert!(applied.warnings.iter().any(|words| words.contains("fewer permissions")), "{:?}", applied.warnings);
}

/// Bits can shut a group out: of another group they would let it in, as everybody.
#[test]
fn a_group_that_was_shut_out_is_not_let_in() {
    let scene = Scene::of(&["a"]);
    scene.write("f", "marks\n");
    chown(scene.root.join("f"), None, Some(4321)).unwrap();
    scene.chmod("f", 0o604);
    scene.workspace.track().unwrap();
    scene.write("f", "x\n");
    chown(scene.root.join("f"), None, Some(4322)).unwrap();
    scene.chmod("f", 0o640);
    scene.workspace.track().unwrap();
    scene.workspace.restore("2").unwrap();
    assert_eq!(mode(&scene, "f"), Some(0o600));
}

/// A restore that gives up makes a directory again that it had removed.
#[test]
fn a_directory_that_is_put_back_has_its_list_again() {
    let scene = guarded();
    scene.workspace.track().unwrap();
    for name in ["d/list", "d/group", "d/tool", "d/open"] {
        scene.remove(name);
    }
    scene.workspace.track().unwrap();
    let before = access(&scene.root);
    let mut remade = 0;
    for failing in 0.. {
        let inode = |scene: &Scene| fs::metadata(scene.root.join("d")).map(|found| found.ino()).ok();
        let (stood, has_failed) = (inode(&scene), Arc::new(AtomicBool::new(false)));
        let failed = has_failed.clone();
        let disk = Disk::new().watched(move |n| match n == failing {
            true => {
                failed.store(true, Ordering::Relaxed);
                Err(std::io::Error::from_raw_os_error(5))
            }
            false => Ok(()),
        });
        // To the first snapshot, which has no `d`: it goes, and then the disk fails.
        if open_on(&scene.root, disk).restore("1").is_ok() {
            open(&scene.root).undo(&Undo::default()).unwrap();
        }
        open(&scene.root).status().unwrap();
        if !has_failed.load(Ordering::Relaxed) {
            break;
        }
        let found = access(&scene.root);
        if found.is_empty() {
            // It was past the point of no return, and the recovery went on.
            open(&scene.root).undo(&Undo::default()).unwrap();
        }
        assert_eq!(access(&scene.root), before, "failed at {failing}");
        remade += usize::from(inode(&scene) != stood);
    }
    assert!(remade > 0, "the directory was never removed");
}

#[test]
fn permissions_go_to_nobody_who_had_them_neither_then_nor_now() {
    let scene = Scene::of(&["lost", "bits", "locked", "moved", "made"]);
    let mode = |name: &str| fs::metadata(scene.root.join(name)).unwrap().mode() & 0o7777;
    set(&scene.root.join("lost"), ACCESS, &for_one_user());
    set(&scene.root.join("bits"), ACCESS, &for_one_user());
    for (name, bits) in [("locked", 0o660), ("moved", 0o660), ("made", 0o660)] {
        scene.chmod(name, bits);
    }
    scene.workspace.track().unwrap();
    // An editor that saves by a new file loses the list; another keeps the bits alone.
    scene.remove("lost");
    scene.write("lost", "new\n");
    scene.chmod("lost", 0o600);
    rustix::fs::removexattr(scene.root.join("bits"), ACCESS).unwrap();
    scene.chmod("bits", 0o600);
    // A list that came since, and lets nobody in by its mask.
    amend(&scene.root.join("locked"), "new\n");
    set(&scene.root.join("locked"), ACCESS, &for_one_user());
    scene.chmod("locked", 0o600);
    // Another group, which may do nothing.
    amend(&scene.root.join("moved"), "new\n");
    chown(scene.root.join("moved"), None, Some(4321)).unwrap();
    scene.chmod("moved", 0o600);
    amend(&scene.root.join("made"), "new\n");
    scene.chmod("made", 0o600);
    let applied = scene.workspace.restore("2").unwrap();
    assert_eq!(attribute(&scene.root.join("lost"), ACCESS), Some(for_one_user()), "the list is the file's again");
    assert_eq!(mode("bits"), 0o600, "the bits were a mask");
    assert_eq!(mode("locked"), 0o600, "the user 1000 is on the list by now, and was not then");
    assert_eq!((mode("moved"), mode("made")), (0o600, 0o660), "the group is another, or the same");
    let told = applied.warnings.join("\n");
    assert!(told.contains("`bits` (and 2 more) gets fewer permissions than it had"), "{told}");
    assert!(scene.workspace.status().unwrap().clean);
}

/// A list that changes alone is no change of the file, and is recorded with its next one.
#[test]
fn a_list_or_a_group_that_changes_alone_is_no_step() {
    let scene = Scene::of(&["f", "g"]);
    scene.chmod("f", 0o660);
    scene.workspace.track().unwrap();
    chown(scene.root.join("f"), None, Some(4321)).unwrap();
    set(&scene.root.join("f"), ACCESS, &for_one_user());
    assert!(!scene.workspace.track().unwrap().created);
    assert!(scene.workspace.status().unwrap().clean);
    scene.write("g", "1\n");
    assert!(scene.workspace.track().unwrap().created);
    scene.remove("f");
    scene.workspace.restore("3").unwrap();
    assert_eq!(attribute(&scene.root.join("f"), ACCESS), Some(for_one_user()));
    assert_eq!(fs::metadata(scene.root.join("f")).unwrap().gid(), 4321);
}

/// What stands beside a file that changes keeps what was recorded of it, although it is not read again.
#[test]
fn a_file_that_is_not_read_again_keeps_what_is_recorded_of_it() {
    let scene = guarded();
    scene.workspace.track().unwrap();
    let before = access(&scene.root);
    for text in ["1", "2", "3"] {
        scene.write("d/new", text);
        scene.write("beside", text);
        scene.workspace.track().unwrap();
    }
    remove_guarded(&scene);
    scene.workspace.track().unwrap();
    scene.workspace.restore("@~1").unwrap();
    assert_eq!(access(&scene.root), before);
}
