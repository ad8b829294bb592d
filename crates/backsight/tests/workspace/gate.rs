//! The gate in front of every store, through the library: which store is believed, and what is said of any other.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};

use backsight::request::{Collect, Init, Log, StorePlace, Track};
use backsight::{Code, Disk, Error, Settings, Workspace};

use crate::lab::{Lab, settings};

/// A user with a home directory of their own, so that no other test knows their stores.
struct User {
    lab: Lab,
    root: PathBuf,
}

impl User {
    fn new() -> User {
        let lab = Lab::new();
        let root = lab.empty().canonicalize().unwrap();
        fs::write(root.join("a.txt"), "one\n").unwrap();
        User { lab, root }
    }

    /// One who recorded a step.
    fn with_store(place: StorePlace) -> User {
        let user = User::new();
        assert!(user.open().init(&Init { store: place, ..Init::default() }).unwrap());
        user.open().track().unwrap();
        user
    }

    fn records(&self) -> PathBuf {
        self.lab.path().join("state/backsight/stores")
    }

    fn open(&self) -> Workspace {
        self.open_at(&self.root)
    }

    fn open_at(&self, root: &Path) -> Workspace {
        let state = Some(self.lab.path().join("state"));
        Workspace::open_with(root, Settings { state_home: state, ..settings(Disk::new()) }).unwrap()
    }

    fn own(&self, name: &str) -> PathBuf {
        self.root.join(".backsight").join(name)
    }

    /// Why its store is refused, and about which path.
    fn refusal(&self) -> (String, String) {
        why(&self.open().track().unwrap_err())
    }

    fn assert_refused(&self, reason: &str, path: &Path) {
        assert_eq!(self.refusal(), (reason.to_owned(), path.display().to_string()));
    }
}

fn why(error: &Error) -> (String, String) {
    assert_eq!(error.code(), Code::StoreNotOurs, "{error}");
    assert!(error.hint().is_some_and(|hint| !hint.is_empty()), "{error}");
    assert!(error.message().contains("nothing of it was used"), "{error}");
    let text = |key: &str| error.details()[key].as_str().unwrap_or_default().to_owned();
    (text("reason"), text("path"))
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_store_that_this_user_made_is_used_wherever_it_is() {
    for place in [StorePlace::Workspace, StorePlace::User] {
        let user = User::with_store(place);
        assert!(!user.open().init(&Init::default()).unwrap(), "it is there already");
        assert_eq!(user.open().log(&Log::default()).unwrap().rows.len(), 1);
    }
}

#[test]
fn without_its_record_every_call_of_the_library_refuses_it() {
    let user = User::with_store(StorePlace::Workspace);
    fs::remove_dir_all(user.records()).unwrap();
    let workspace = user.open();
    let refused = [
        workspace.track().map(drop),
        workspace.track_with(&Track::default()).map(drop),
        workspace.init(&Init::default()).map(drop),
        workspace.status().map(drop),
        workspace.log(&Log::default()).map(drop),
        workspace.show("@").map(drop),
        workspace.restore("@").map(drop),
        workspace.undo(&backsight::request::Undo::default()).map(drop),
        workspace.gc(&Collect::default()).map(drop),
        workspace.verify().map(drop),
        workspace.usage().map(drop),
        workspace.config_list().map(drop),
        workspace.config_set("max_files", "7").map(drop),
        workspace.milestones().map(drop),
        workspace.watch(),
        workspace.browser().map(drop),
        workspace.debugger().map(drop),
        workspace.store().map(drop),
        workspace.store_path().map(drop),
    ];
    for (number, outcome) in refused.into_iter().enumerate() {
        let error = outcome.expect_err(&format!("call {number}"));
        assert_eq!(why(&error), ("unborn".to_owned(), String::new()), "call {number}");
        assert!(error.hint().unwrap().contains("init --adopt"), "{error}");
    }
}

#[test]
fn an_id_that_is_no_id_or_a_record_that_is_no_record_proves_nothing() {
    let unborn = ("unborn".to_owned(), String::new());
    for id in ["", "x", "../../stores/x", &"0".repeat(32)] {
        let user = User::with_store(StorePlace::Workspace);
        fs::write(user.own("store/identity"), id).unwrap();
        assert_eq!(user.refusal(), unborn, "{id}");
    }
    for record in ["", "{}", r#"{"store":"/","inode":0,"key":""}"#] {
        let user = User::with_store(StorePlace::Workspace);
        let file = fs::read_dir(user.records()).unwrap().next().unwrap().unwrap().path();
        fs::write(file, record).unwrap();
        assert_eq!(user.refusal(), unborn, "{record}");
    }
}

#[test]
fn records_that_another_user_could_have_written_prove_nothing() {
    let user = User::with_store(StorePlace::Workspace);
    set_mode(&user.records(), 0o770);
    let error = user.open().track().unwrap_err();
    assert_eq!(error.code(), Code::StoreNotOurs);
    assert!(error.message().contains("can be written to by others"), "{error}");
    set_mode(&user.records(), 0o700);
    user.open().track().unwrap();
    chown(user.records(), Some(65534), None).expect("tests of other owners run as root");
    assert_eq!(user.open().track().unwrap_err().code(), Code::StoreNotOurs);
}

#[test]
fn a_copy_is_told_from_a_moved_store() {
    let user = User::with_store(StorePlace::Workspace);
    let moved = user.lab.path().join("moved");
    fs::rename(&user.root, &moved).unwrap();
    user.open_at(&moved).track().unwrap();
    crate::picture::copy(&moved, &user.root);
    let error = user.open().track().unwrap_err();
    assert_eq!(why(&error).0, "copied");
    let original = user.own("store").display().to_string();
    assert!(error.message().contains(&format!("a copy of the store in `{original}`")), "{error}");
    user.open_at(&moved).track().unwrap();
}

#[test]
fn what_others_own_or_can_write_to_is_refused_by_its_path() {
    for name in ["", "store", "store/timeline.db", "store/snapshots", "store/snapshots/objects/pack"] {
        for mode in [0o020, 0o002] {
            let user = User::with_store(StorePlace::Workspace);
            let path = user.own(name);
            let path = path.components().collect::<PathBuf>();
            set_mode(&path, (path.metadata().unwrap().mode() & 0o777) | mode);
            user.assert_refused("writable", &path);
            let said = user.open().track().unwrap_err().hint().unwrap().to_owned();
            assert!(said.contains(&format!("chmod -R go-w '{}'", path.display())), "{said}");
        }
        let user = User::with_store(StorePlace::Workspace);
        let path = user.own(name).components().collect::<PathBuf>();
        chown(&path, Some(65534), None).expect("tests of other owners run as root");
        user.assert_refused("owner", &path);
        assert!(user.open().track().unwrap_err().message().contains("belongs to user 65534, and you are user "));
    }
}

#[test]
fn what_is_neither_a_directory_nor_a_file_with_one_name_is_refused() {
    for name in ["store/link", "store/cache/link", "store/snapshots/objects/link", "link", "store/stage/link"] {
        let user = User::with_store(StorePlace::Workspace);
        let path = user.own(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        set_mode(path.parent().unwrap(), 0o700);
        symlink("/etc/passwd", &path).unwrap();
        user.assert_refused("special", &path);
    }
    let user = User::with_store(StorePlace::Workspace);
    fs::hard_link(user.own("store/timeline.db"), user.lab.path().join("second")).unwrap();
    user.assert_refused("linked", &user.own("store/timeline.db"));
    // Something else than a directory where the store or its holder belongs.
    for name in ["", "store"] {
        let user = User::with_store(StorePlace::Workspace);
        let path = user.own(name).components().collect::<PathBuf>();
        fs::rename(&path, user.lab.path().join("elsewhere")).unwrap();
        symlink(user.lab.path().join("elsewhere"), &path).unwrap();
        user.assert_refused("special", &path);
        fs::remove_file(&path).unwrap();
        fs::write(&path, "").unwrap();
        set_mode(&path, 0o600);
        user.assert_refused("special", &path);
    }
}

#[test]
fn files_on_their_way_through_a_restore_and_what_was_put_aside_are_nobodys_business() {
    let user = User::with_store(StorePlace::Workspace);
    for name in ["stage", "set-aside"] {
        fs::create_dir_all(user.own(name).join("0123456789abcdef")).unwrap();
        symlink("/etc/passwd", user.own(name).join("0123456789abcdef/0")).unwrap();
        set_mode(&user.own(name), 0o700);
    }
    // Of objects only the kind matters: they are checked against their ids.
    let packs = user.own("store/snapshots/objects/pack");
    let pack = fs::read_dir(packs).unwrap().next().unwrap().unwrap().path();
    set_mode(&pack, 0o666);
    user.open().track().unwrap();
}

#[test]
fn what_is_deeper_than_any_store_is_not_walked() {
    let user = User::with_store(StorePlace::Workspace);
    // Its eighth level is the last.
    let deep = user.own("store/1/2/3/4/5/6");
    fs::create_dir_all(&deep).unwrap();
    user.open().track().unwrap();
    fs::create_dir(deep.join("7")).unwrap();
    fs::create_dir(deep.join("7/8")).unwrap();
    user.assert_refused("endless", &deep.join("7/8"));
}

#[test]
fn a_new_store_is_made_beside_nothing_that_came_with_the_directory() {
    for shipped in ["config.toml", "stage/", "store.bak/", ".gitignore/", "making-x", "set-aside"] {
        let user = User::new();
        let path = user.own(shipped).components().collect::<PathBuf>();
        match shipped.ends_with('/') {
            true => fs::create_dir_all(&path).unwrap(),
            false => {
                fs::create_dir_all(user.own("")).unwrap();
                fs::write(&path, "").unwrap();
            }
        }
        user.assert_refused("shipped", &path);
        assert!(!user.own("store").exists(), "{shipped}");
    }
    // What a clean or a crash leaves of ours is no hindrance.
    let user = User::new();
    fs::create_dir_all(user.own("making-0123456789abcdef")).unwrap();
    fs::create_dir_all(user.own("set-aside")).unwrap();
    fs::write(user.own(".gitignore"), "*\n").unwrap();
    user.open().track().unwrap();
}

#[test]
fn what_stands_in_the_workspace_beside_a_store_of_the_users_is_checked_too() {
    let user = User::with_store(StorePlace::User);
    let own = user.root.join(".backsight");
    assert!(!own.join("store").exists());
    fs::create_dir_all(&own).unwrap();
    set_mode(&own, 0o700);
    user.open().track().unwrap();
    set_mode(&own, 0o777);
    user.assert_refused("writable", &own);
    fs::remove_dir_all(&own).unwrap();
    symlink(user.lab.path(), &own).unwrap();
    user.assert_refused("special", &own);
}

#[test]
fn a_workspace_that_is_held_open_sees_that_its_store_was_replaced() {
    let user = User::with_store(StorePlace::Workspace);
    let workspace = user.open();
    workspace.track().unwrap();
    fs::rename(user.own("store"), user.lab.path().join("mine")).unwrap();
    let stranger = User::with_store(StorePlace::Workspace);
    crate::picture::copy(&stranger.own("store"), &user.own("store"));
    fs::write(user.root.join("a.txt"), "two\n").unwrap();
    assert_eq!(why(&workspace.track().unwrap_err()).0, "unborn");
}

#[test]
fn of_many_that_make_the_store_at_once_each_finds_it() {
    for _ in 0..50 {
        let user = User::new();
        let made: Vec<bool> = std::thread::scope(|scope| {
            let makers: Vec<_> = (0..4).map(|_| scope.spawn(|| user.open().init(&Init::default()).unwrap())).collect();
            makers.into_iter().map(|maker| maker.join().unwrap()).collect()
        });
        assert!(made.contains(&true), "{made:?}");
        assert_eq!(fs::read_dir(user.own("")).unwrap().count(), 2, "the store and .gitignore");
    }
}
