//! The gate in front of every store, through the library: which store is believed, and what is said of any other.

use backsight_core::NextStep;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};

use backsight::request::{Collect, Init, Log, StorePlace, Track, Undo};
use backsight::{Code, Disk, Error, Settings, Workspace};

use crate::lab::{Lab, settings};

/// A user with a home directory of their own, so that no other test knows their stores.
pub struct User {
    pub lab: Lab,
    pub root: PathBuf,
}

impl User {
    fn new() -> User {
        let lab = Lab::new();
        let root = lab.empty().canonicalize().unwrap();
        fs::write(root.join("a.txt"), "one\n").unwrap();
        User { lab, root }
    }

    /// One who recorded a step.
    pub fn with_store(place: StorePlace) -> User {
        let user = User::new();
        assert!(user.open().init(&Init { store: place, ..Init::default() }).unwrap());
        user.open().track().unwrap();
        user
    }

    pub fn records(&self) -> PathBuf {
        self.lab.path().join("state/backsight/stores")
    }

    pub fn open(&self) -> Workspace {
        self.open_at(&self.root)
    }

    pub fn open_at(&self, root: &Path) -> Workspace {
        Workspace::open_with(root, self.settings()).unwrap()
    }

    pub fn settings(&self) -> Settings {
        Settings { state_home: Some(self.lab.path().join("state")), ..settings(Disk::new()) }
    }

    pub fn own(&self, name: &str) -> PathBuf {
        self.root.join(".backsight").join(name)
    }

    /// Why its store is refused, and about which path.
    pub fn refusal(&self) -> (String, String) {
        why(&self.open().track().unwrap_err())
    }

    fn assert_refused(&self, reason: &str, path: &Path) {
        assert_eq!(self.refusal(), (reason.to_owned(), path.display().to_string()));
    }
}

pub fn why(error: &Error) -> (String, String) {
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
        workspace.store().map(drop),
        workspace.store_path().map(drop),
    ];
    for (number, outcome) in refused.into_iter().enumerate() {
        let error = outcome.expect_err(&format!("call {number}"));
        assert_eq!(why(&error), ("unborn".to_owned(), String::new()), "call {number}");
        let directory = workspace.root().to_str().map(str::to_owned);
        assert!(error.advises(&NextStep::AdoptStore { directory }), "{error:?}");
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
        let id = fs::read_to_string(user.own("store/identity")).unwrap();
        fs::write(user.records().join(id.trim()), record).unwrap();
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
    assert!(error.message().contains(&format!("the one you made was in `{original}`")), "{error}");
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
            let error = user.open().track().unwrap_err();
            let shown = format!("(mode {:o})", path.metadata().unwrap().mode() & 0o777);
            assert!(error.message().contains(&shown), "{error}");
            let said = error.hint().unwrap().to_owned();
            assert!(said.contains(&format!("chmod -R go-w {}`", user.root.join(".backsight").display())), "{said}");
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
    let error = workspace.track().unwrap_err();
    assert!(error.message().contains("was replaced while this process had it open"), "{error}");
    assert_eq!(why(&user.open().track().unwrap_err()).0, "unborn");
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

#[test]
fn without_a_home_directory_nothing_is_called_a_strangers() {
    let user = User::with_store(StorePlace::Workspace);
    let homeless = Settings { home: None, state_home: None, ..settings(Disk::new()) };
    let error = Workspace::open_with(&user.root, homeless).unwrap().track().unwrap_err();
    assert_eq!(why(&error).0, "no_records");
    assert!(error.hint().unwrap().contains("HOME") && !error.hint().unwrap().contains("rm "), "{error}");
}

#[test]
fn records_are_not_made_in_the_home_of_another_user() {
    let user = User::new();
    let home = user.lab.path().join("home");
    fs::create_dir(&home).unwrap();
    chown(&home, Some(65534), None).expect("tests of other owners run as root");
    let borrowed = Settings { home: Some(home.clone()), state_home: None, ..settings(Disk::new()) };
    let error = Workspace::open_with(&user.root, borrowed).unwrap().track().unwrap_err();
    assert_eq!(error.code(), Code::StoreNotOurs);
    assert!(error.hint().unwrap().contains("sudo -H"), "{error}");
    assert_eq!(fs::read_dir(&home).unwrap().count(), 0);
}

#[test]
fn a_store_that_the_users_git_tracks_is_refused_and_named() {
    let user = User::with_store(StorePlace::Workspace);
    let git = |arguments: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.current_dir(&user.root).args(["-c", "user.name=a", "-c", "user.email=a"]).args(arguments);
        assert!(command.env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap().status.success(), "{arguments:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "-A"]);
    user.open().track().unwrap();
    fs::write(user.own("store/config.toml"), "").unwrap();
    set_mode(&user.own("store/config.toml"), 0o600);
    git(&[
        "update-index",
        "--add",
        "--cacheinfo",
        "100644,e69de29bb2d1d6434b8b29ae775ad8c2e48c5391,.backsight/store/config.toml",
    ]);
    let error = user.open().track().unwrap_err();
    assert_eq!(why(&error).0, "tracked");
    assert!(error.message().contains(".backsight/store/config.toml"), "{error}");
    git(&["rm", "-q", "-r", "--cached", ".backsight"]);
    user.open().track().unwrap();
}

/// Runs Git in a directory, with none of the machine's settings.
fn git(directory: &Path, arguments: &[&str]) {
    let mut command = std::process::Command::new("git");
    command.current_dir(directory).args(["-c", "user.name=a", "-c", "user.email=a"]).args(arguments);
    let output = command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null").output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

const EMPTY: &str = "100644,e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";

#[test]
fn a_repository_further_out_that_tracks_the_store_is_found() {
    let lab = Lab::new();
    let outer = lab.empty().canonicalize().unwrap();
    let root = outer.join("vendor/lib");
    fs::create_dir_all(&root).unwrap();
    fs::write(root.join("a.txt"), "one\n").unwrap();
    git(&outer, &["init", "-q"]);
    git(&root, &["init", "-q"]);
    let user = User { lab, root };
    user.open().track().unwrap();
    git(&outer, &["update-index", "--add", "--cacheinfo", &format!("{EMPTY},vendor/lib/.backsight/store/config.toml")]);
    let error = user.open().track().unwrap_err();
    assert_eq!(why(&error).0, "tracked");
    let hint = error.hint().unwrap();
    assert!(hint.contains(&format!("git -C {} rm -r --cached", outer.display())), "{hint}");
    git(&outer, &["rm", "-q", "-r", "--cached", user.own("").to_str().unwrap()]);
    user.open().track().unwrap();
}

#[test]
fn a_split_index_that_tracks_the_store_is_found() {
    let user = User::with_store(StorePlace::Workspace);
    let git = |arguments: &[&str]| git(&user.root, arguments);
    git(&["init", "-q"]);
    git(&["update-index", "--add", "--cacheinfo", &format!("{EMPTY},.backsight/store/config.toml")]);
    git(&["update-index", "--split-index"]);
    let error = user.open().track().unwrap_err();
    assert_eq!(why(&error).0, "tracked");
    assert!(error.hint().unwrap().contains("--no-split-index"), "{error:?}");
    git(&["update-index", "--no-split-index"]);
    git(&["rm", "-q", "-r", "--cached", ".backsight"]);
    let _ = fs::remove_file(user.own("store/config.toml"));
    user.open().track().unwrap();
}

/// Git follows it, to a directory as well as to a file that names one.
#[test]
fn a_repository_behind_a_link_that_tracks_the_store_is_found() {
    let user = User::with_store(StorePlace::Workspace);
    let elsewhere = user.root.with_extension("data");
    git(&user.root, &["init", "-q"]);
    git(&user.root, &["update-index", "--add", "--cacheinfo", &format!("{EMPTY},.backsight/store/config.toml")]);
    fs::rename(user.root.join(".git"), &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, user.root.join(".git")).unwrap();
    assert_eq!(why(&user.open().track().unwrap_err()).0, "tracked");
    git(&user.root, &["rm", "-q", "-r", "--cached", ".backsight"]);
    user.open().track().unwrap();
}

/// Git takes what it ignores for expendable: a commit with a file of that name replaces the whole store.
#[test]
fn a_store_that_git_removed_is_missed_until_another_is_asked_for() {
    let user = User::with_store(StorePlace::Workspace);
    git(&user.root, &["init", "-q", "-b", "main"]);
    git(&user.root, &["add", "a.txt"]);
    git(&user.root, &["commit", "-q", "-m", "one"]);
    git(&user.root, &["update-index", "--add", "--cacheinfo", &format!("{EMPTY},.backsight")]);
    git(&user.root, &["hash-object", "-w", "-t", "blob", "/dev/null"]);
    git(&user.root, &["commit", "-q", "-m", "a file of that name"]);
    git(&user.root, &["branch", "theirs"]);
    git(&user.root, &["reset", "-q", "--soft", "HEAD~1"]);
    git(&user.root, &["rm", "-q", "--cached", ".backsight"]);
    user.open().track().unwrap();
    git(&user.root, &["checkout", "-q", "theirs"]);
    assert!(fs::symlink_metadata(user.root.join(".backsight")).unwrap().is_file(), "the store is gone");
    git(&user.root, &["checkout", "-q", "main"]);
    let missed = |error: Error| assert_eq!((error.code(), error.message().contains("is gone")), (Code::Damaged, true));
    missed(user.open().track().unwrap_err());
    missed(user.open().status().unwrap_err());
    assert!(user.open().init(&Init::default()).unwrap());
    user.open().track().unwrap();
    // Another directory at the same place is another workspace.
    fs::rename(&user.root, user.root.with_extension("old")).unwrap();
    fs::create_dir(&user.root).unwrap();
    user.open().track().unwrap();
}

#[test]
fn what_keeps_the_store_out_of_git_is_put_back() {
    let user = User::with_store(StorePlace::Workspace);
    let files = [".gitignore", "store/.git", "store/snapshots/HEAD", "store/snapshots/config"];
    let before = files.map(|name| fs::read(user.own(name)).unwrap());
    for name in files {
        fs::write(user.own(name), "!*\n").unwrap();
    }
    user.open().track().unwrap();
    assert_eq!(files.map(|name| fs::read(user.own(name)).unwrap()), before);
}

#[test]
fn a_rollback_journal_is_never_carried_out() {
    let user = User::with_store(StorePlace::Workspace);
    let journal = user.own("store/timeline.db-journal");
    fs::write(&journal, "x").unwrap();
    set_mode(&journal, 0o600);
    user.assert_refused("foreign", &journal);
    fs::remove_file(&journal).unwrap();
    user.open().track().unwrap();
}

/// The next step can be followed as it stands, whatever a stranger called things.
#[test]
fn a_hint_runs_nothing_that_a_stranger_wrote() {
    let user = User::new();
    fs::create_dir_all(user.own("")).unwrap();
    fs::write(user.own("x';touch RAN;'"), "").unwrap();
    let hint = user.open().status().unwrap_err().hint().unwrap().to_owned();
    let command = hint.split('`').nth(1).unwrap();
    let ran = std::process::Command::new("sh").args(["-c", command]).current_dir(&user.root).status().unwrap();
    assert!(ran.success(), "{command}");
    assert!(!user.root.join("RAN").exists(), "{command}");
    user.open().track().unwrap();
}

#[test]
fn rows_that_were_only_in_a_lost_log_are_missed() {
    let user = User::with_store(StorePlace::Workspace);
    fs::write(user.own("store/timeline.db-wal"), "").unwrap();
    for error in [user.open().status().map(drop), user.open().track().map(drop)] {
        let error = error.unwrap_err();
        assert_eq!(error.code(), Code::Damaged, "{error}");
        assert!(error.message().contains("holds no rows although snapshots were recorded"), "{error}");
    }
}

/// What is left of the log is read, so the timeline merely ends earlier.
#[test]
fn rows_that_were_lost_in_part_are_missed_with_the_next_step() {
    let user = User::with_store(StorePlace::Workspace);
    let files = ["store/timeline.db", "store/timeline.db-wal", "store/timeline.db-shm"].map(|name| user.own(name));
    let kept = files.clone().map(|file| fs::read(file).ok());
    for text in ["two\n", "three\n"] {
        fs::write(user.root.join("a.txt"), text).unwrap();
        assert_eq!(user.open().track().unwrap().warnings, Vec::<String>::new());
    }
    for (file, bytes) in files.iter().zip(&kept) {
        match bytes {
            Some(bytes) => fs::write(file, bytes).unwrap(),
            None => drop(fs::remove_file(file)),
        }
    }
    fs::write(user.root.join("a.txt"), "four\n").unwrap();
    let tracked = user.open().track().unwrap();
    assert_eq!(tracked.snapshot.sequence_number.0, 4, "no number is given out twice");
    let told = tracked.warnings.join("\n");
    assert!(told.contains("the rows from #2 to #3 are gone from the timeline"), "{told}");
    fs::write(user.root.join("a.txt"), "five\n").unwrap();
    assert_eq!(user.open().track().unwrap().warnings, Vec::<String>::new(), "it is told once");
}

#[test]
fn names_far_beyond_the_rows_use_no_numbers_up() {
    for number in ["9223372036854775806", "18446744073709551615", "4294967999999"] {
        let user = User::with_store(StorePlace::Workspace);
        let names = user.own("store/snapshots/packed-refs");
        let before = fs::read(&names).unwrap();
        let text = format!("{}{} refs/backsight/{number}/tree\n", String::from_utf8_lossy(&before), "7".repeat(40));
        fs::write(&names, text).unwrap();
        fs::write(user.root.join("a.txt"), "two\n").unwrap();
        assert_eq!(user.open().track().unwrap_err().code(), Code::Damaged, "{number}");
        fs::write(&names, &before).unwrap();
        assert_eq!(user.open().track().unwrap().snapshot.sequence_number.0, 2, "{number}");
    }
}

#[test]
fn adopting_ones_own_store_changes_nothing() {
    let user = User::with_store(StorePlace::Workspace);
    user.open().config_set("max_files", "77").unwrap();
    assert_eq!(user.open().adopt().unwrap_err().code(), Code::Usage);
    assert_eq!(user.open().config_get("max_files").unwrap().value, "77");
    assert!(!user.own("set-aside").exists());
}

#[test]
fn a_store_of_the_users_is_found_by_a_client_without_the_rest_of_the_environment() {
    let user = User::new();
    let (home, state) = (user.lab.path().join("home"), user.lab.path().join("state"));
    fs::create_dir(&home).unwrap();
    let known =
        |state: Option<PathBuf>| Settings { home: Some(home.clone()), state_home: state, ..settings(Disk::new()) };
    let terminal = Workspace::open_with(&user.root, known(Some(state))).unwrap();
    terminal.init(&Init { store: StorePlace::User, ..Init::default() }).unwrap();
    terminal.track().unwrap();
    // A client that knows only the home directory would make another store beside it if nothing told it of this one.
    let client = Workspace::open_with(&user.root, known(None)).unwrap();
    assert_eq!(client.log(&Log::default()).unwrap().rows.len(), 1);
}

#[test]
fn an_adopted_history_gives_no_right_to_run_as_the_user_or_to_write_for_everybody() {
    let user = User::with_store(StorePlace::Workspace);
    let mode = |name: &str| fs::metadata(user.root.join(name)).unwrap().mode() & 0o7777;
    let set = |name: &str, mode| fs::set_permissions(user.root.join(name), fs::Permissions::from_mode(mode)).unwrap();
    fs::write(user.root.join("tool"), "#!/bin/sh\n").unwrap();
    fs::create_dir(user.root.join("d")).unwrap();
    set("tool", 0o6755);
    set("a.txt", 0o666);
    set("d", 0o777);
    user.open().track().unwrap();
    set("tool", 0o755);
    fs::write(user.root.join("a.txt"), "two\n").unwrap();
    set("a.txt", 0o644);
    set("d", 0o755);
    user.open().track().unwrap();
    fs::remove_dir_all(user.records()).unwrap();
    user.open().adopt().unwrap();
    let applied = user.open().restore("2").unwrap();
    assert_eq!(fs::read_to_string(user.root.join("a.txt")).unwrap(), "one\n");
    assert_eq!((mode("tool"), mode("a.txt"), mode("d")), (0o755, 0o644, 0o755));
    assert_eq!(applied.warnings.iter().filter(|warning| warning.contains("adopted")).count(), 3, "{applied:?}");
    assert!(user.open().status().unwrap().clean);
    // What the user gives and records is the user's own.
    set("tool", 0o4755);
    let own = user.open().track().unwrap();
    set("tool", 0o755);
    user.open().restore(own.snapshot.id.as_str()).unwrap();
    assert_eq!(mode("tool"), 0o4755);
}

/// The first step after the adoption began with what was adopted, so taking it back brings that again.
#[test]
fn a_step_taken_back_to_what_was_adopted_gives_no_more_than_the_adopted_snapshot() {
    let user = User::with_store(StorePlace::Workspace);
    let (tool, key) = (user.root.join("tool"), user.root.join("key"));
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o7777;
    for (path, bits) in [(&tool, 0o4755), (&key, 0o640)] {
        fs::write(path, "#!/bin/sh\n").unwrap();
        std::os::unix::fs::chown(path, None, Some(4321)).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(bits)).unwrap();
    }
    let none = u32::MAX;
    let entries: [(u16, u16, u32); 5] = [(1, 6, none), (2, 6, 1000), (4, 0, none), (16, 6, none), (32, 0, none)];
    let entries = entries
        .iter()
        .flat_map(|(tag, bits, id)| [&tag.to_le_bytes()[..], &bits.to_le_bytes(), &id.to_le_bytes()].concat());
    let list: Vec<u8> = [2, 0, 0, 0].into_iter().chain(entries).collect();
    let (listed, name) = (user.root.join("listed"), "system.posix_acl_access");
    fs::write(&listed, "text\n").unwrap();
    rustix::fs::setxattr(&listed, name, &list, rustix::fs::XattrFlags::empty()).unwrap();
    user.open().track().unwrap();
    fs::remove_dir_all(user.records()).unwrap();
    user.open().adopt().unwrap();
    for path in [&tool, &key, &listed] {
        fs::remove_file(path).unwrap();
    }
    user.open().track().unwrap();
    let applied = user.open().undo(&Undo::default()).unwrap();
    assert_eq!((mode(&tool), mode(&key), mode(&listed)), (0o755, 0o600, 0o600), "{applied:?}");
    assert!(rustix::fs::getxattr(&listed, name, &mut [0; 256][..]).is_err(), "a stranger's list lets nobody in");
    assert!(applied.warnings.iter().any(|warning| warning.contains("fewer permissions")), "{applied:?}");
}

/// A handle that was let in once does not let in what came since.
#[test]
fn a_store_that_is_exchanged_under_an_open_workspace_is_looked_at_anew() {
    let (user, other) = (User::with_store(StorePlace::Workspace), User::with_store(StorePlace::Workspace));
    let (looked, worked) = (user.open(), user.open());
    assert!(looked.store_path().unwrap().is_some());
    worked.track().unwrap();
    let own = user.root.join(".backsight");
    fs::rename(&own, user.root.with_extension("aside")).unwrap();
    fs::rename(other.root.join(".backsight"), &own).unwrap();
    assert_eq!(why(&looked.store_path().unwrap_err()).0, "unborn");
    assert_eq!(why(&looked.track().unwrap_err()).0, "unborn");
    assert_eq!(worked.track().unwrap_err().code(), Code::WorkspaceNotFound, "it was replaced");
}

/// A restore keeps its files there, wherever the store is.
#[test]
fn the_directory_in_the_workspace_is_looked_at_too_when_the_store_is_elsewhere() {
    let user = User::with_store(StorePlace::User);
    let own = user.root.join(".backsight");
    fs::create_dir_all(&own).unwrap();
    set_mode(&own, 0o755);
    user.open().track().unwrap();
    set_mode(&own, 0o777);
    user.assert_refused("writable", &own);
}

#[test]
fn what_others_can_write_to_is_closed_to_them_when_it_is_adopted() {
    for (mode, then) in [(0o775, 0o700), (0o777, 0o700), (0o755, 0o755), (0o700, 0o700)] {
        let user = User::with_store(StorePlace::Workspace);
        fs::remove_dir_all(user.records()).unwrap();
        let own = user.root.join(".backsight");
        set_mode(&own, mode);
        user.open().adopt().unwrap();
        assert_eq!(own.metadata().unwrap().mode() & 0o777, then, "after {mode:o}");
        user.open().track().unwrap();
    }
}

/// Restores keep their files there, also where the store is elsewhere.
#[test]
fn what_stands_in_the_workspace_beside_a_store_elsewhere_is_looked_at_too() {
    let user = User::with_store(StorePlace::User);
    let own = user.root.join(".backsight");
    fs::create_dir_all(&own).unwrap();
    set_mode(&own, 0o777);
    user.assert_refused("writable", &own);
    set_mode(&own, 0o700);
    user.open().track().unwrap();
    chown(&own, Some(4242), None).unwrap();
    user.assert_refused("owner", &own);
    fs::remove_dir_all(&own).unwrap();
    symlink(user.lab.path(), &own).unwrap();
    assert_eq!(user.refusal().0, "special");
}

/// Nothing is in it yet, but whoever can write to it could put something there while a store is made.
#[test]
fn no_store_is_made_in_an_empty_directory_that_others_can_write_to() {
    let user = User::new();
    let own = user.root.join(".backsight");
    fs::create_dir(&own).unwrap();
    set_mode(&own, 0o777);
    user.assert_refused("writable", &own);
    assert!(fs::read_dir(&own).unwrap().next().is_none(), "nothing was made");
    set_mode(&own, 0o700);
    chown(&own, Some(4242), None).unwrap();
    user.assert_refused("owner", &own);
    chown(&own, Some(0), None).unwrap();
    user.open().track().unwrap();
}
