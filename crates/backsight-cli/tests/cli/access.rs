//! At the command line: nobody may use a file after a restore who could not before, and what is not kept is said.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;

use rustix::fs::{XattrFlags, getxattr, setxattr};

use crate::fixture::Fixture;

const ACCESS: &str = "system.posix_acl_access";

/// Read and write for the owner and the user 1000, nothing for the group: the bits read 0660.
fn for_one_user() -> Vec<u8> {
    let entries: [(u16, u16, u32); 5] = [(1, 6, !0), (2, 6, 1000), (4, 0, !0), (16, 6, !0), (32, 0, !0)];
    let mut bytes = vec![2, 0, 0, 0];
    for (tag, permissions, id) in entries {
        bytes.extend([&tag.to_le_bytes()[..], &permissions.to_le_bytes(), &id.to_le_bytes()].concat());
    }
    bytes
}

fn list_of(path: &Path) -> Option<Vec<u8>> {
    let mut buffer = vec![0; 4096];
    let length = getxattr(path, ACCESS, &mut buffer[..]).ok()?;
    buffer.truncate(length);
    Some(buffer)
}

/// Owner, group, bits, and whether the list is the one above.
fn access(path: &Path) -> (u32, u32, u32, bool) {
    let found = fs::metadata(path).unwrap();
    (found.uid(), found.gid(), found.mode() & 0o7777, list_of(path) == Some(for_one_user()))
}

/// `key` with a list, `team` for a group.
fn guarded() -> Fixture {
    let fixture = Fixture::new();
    for name in ["key", "team"] {
        fixture.write(name, "secret\n");
        chown(fixture.root().join(name), Some(4242), Some(4321)).unwrap();
    }
    setxattr(fixture.root().join("key"), ACCESS, &for_one_user(), XattrFlags::empty()).unwrap();
    fs::set_permissions(fixture.root().join("team"), fs::Permissions::from_mode(0o640)).unwrap();
    fixture.track();
    fixture
}

#[test]
fn a_deleted_file_comes_back_for_those_who_could_use_it() {
    let fixture = guarded();
    let (key, team) = (fixture.root().join("key"), fixture.root().join("team"));
    let both = || (access(&key), access(&team));
    let before = both();
    assert_eq!(before, ((4242, 4321, 0o660, true), (4242, 4321, 0o640, false)));
    for way in ["restore 1", "undo", "revert @"] {
        fixture.remove("key");
        fixture.remove("team");
        fixture.track();
        let applied = fixture.ok(way);
        assert_eq!(both(), before, "{way}");
        assert!(applied.get("warnings").is_none_or(|found| found.as_array().unwrap().is_empty()), "{way}: {applied}");
    }
    assert_eq!(fixture.ok("track")["created"], false);
    fixture.verify();
}

/// Numbers of users and groups are another machine's there, and a stranger's list lets nobody in.
#[test]
fn a_history_that_moved_brings_no_list_and_no_group() {
    let fixture = guarded();
    fixture.done("export ../history");
    let copy = fixture.base().join("copy");
    fs::create_dir(&copy).unwrap();
    fixture.done("-C ../copy import ../history");
    let applied = fixture.ok("-C ../copy restore 1");
    for name in ["key", "team"] {
        let (_, gid, bits, has_list) = access(&copy.join(name));
        assert_eq!((bits, has_list), (0o600, false), "{name}: {applied}");
        assert_ne!(gid, 4321, "{name}");
    }
    let warnings = applied["warnings"].to_string();
    assert!(warnings.contains("`key` (and 1 more) gets fewer permissions than it had"), "{applied}");
    // Asked again, it says again why the bits are not those of the snapshot.
    let again = fixture.ok("-C ../copy restore 1");
    assert_eq!((&again["changed"], again["warnings"].to_string()), (&false.into(), warnings));
}
