//! The watcher is a hint: whatever it is not told, misses or has reason to doubt, a watching workspace says exactly what
//! one says that walks everything and trusts nothing.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier};

use backsight::report::{WatchMood, WorkspaceStatus};
use backsight::request::{Begin, Finish, Track};
use backsight::{CallSettings, Code, Disk, Progress, Settings, Workspace};

use crate::lab::{Lab, git, open, settings};
use crate::scene::by;

/// A workspace that watches, with a few directories recorded.
pub struct Watched {
    pub lab: Lab,
    pub root: PathBuf,
    pub workspace: Workspace,
}

impl Watched {
    pub fn new() -> Watched {
        let lab = Lab::new();
        let root = lab.empty();
        Watched::at(lab, root)
    }

    fn at(lab: Lab, root: PathBuf) -> Watched {
        for directory in ["src/deep/er", "docs", "empty"] {
            fs::create_dir_all(root.join(directory)).unwrap();
        }
        for file in ["top.txt", "src/a.rs", "src/b.rs", "src/deep/c.rs", "src/deep/er/d.rs", "docs/read.md"] {
            fs::write(root.join(file), format!("{file}\n")).unwrap();
        }
        let workspace = open(&root);
        workspace.watch().unwrap();
        workspace.track().unwrap();
        let watched = Watched { lab, root, workspace };
        watched.settle();
        watched
    }

    /// Captures until every file is vouched for: then only events lead to another visit.
    pub fn settle(&self) {
        std::thread::sleep(std::time::Duration::from_millis(12));
        self.workspace.track().unwrap();
        self.workspace.status().unwrap();
        assert_eq!(self.workspace.watch_report().state, WatchMood::Watching, "{:?}", self.workspace.watch_report());
    }

    pub fn write(&self, path: &str, text: &str) {
        fs::create_dir_all(self.root.join(path).parent().unwrap()).unwrap();
        fs::write(self.root.join(path), text).unwrap();
    }

    /// The watching workspace says what a new one says, looking and recording; `walks` says how it got there.
    pub fn agrees(&self, walks: Walks) {
        let before = self.workspace.watch_report();
        assert_same(&self.root, &self.workspace.status().unwrap(), "status");
        let after = self.workspace.watch_report();
        match walks {
            Walks::Part => assert_eq!(after.full_walks, before.full_walks, "{after:?}"),
            Walks::All => assert!(after.full_walks > before.full_walks, "{after:?}"),
            Walks::Any => {}
        }
        self.workspace.track().unwrap();
        let status = self.workspace.status().unwrap();
        assert_same(&self.root, &status, "status after track");
        assert!(status.changes.is_empty(), "{:?}", status.changes);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Walks {
    Part,
    All,
    Any,
}

/// What somebody sees who never looked before: no stat cache, no watcher.
pub fn truth(root: &Path) -> WorkspaceStatus {
    let cache = root.join(".backsight/store/cache");
    let away = root.join(".backsight/cache-away");
    fs::rename(&cache, &away).unwrap();
    let status = open(root).status();
    fs::remove_dir_all(&cache).unwrap();
    fs::rename(&away, &cache).unwrap();
    status.unwrap()
}

pub fn assert_same(root: &Path, found: &WorkspaceStatus, when: &str) {
    let expected = truth(root);
    let told = |status: &WorkspaceStatus| {
        let changes: String = status.changes.iter().map(|change| format!("{change:?}\n")).collect();
        let latest = status.latest.as_ref().map(|latest| latest.sequence_number);
        format!("{latest:?} clean {}\n{changes}{:?}\n{:?}", status.clean, status.unseen, status.coverage)
    };
    assert_eq!(told(found), told(&expected), "{when}");
}

fn hook(path: &Path, times: usize) {
    for number in 0..times {
        fs::write(path, number.to_string()).unwrap();
    }
}

#[test]
fn one_edit_costs_one_visit() {
    let watched = Watched::new();
    watched.write("src/deep/c.rs", "edited\n");
    watched.agrees(Walks::Part);
    let report = watched.workspace.watch_report();
    assert_eq!((report.state, report.directories, report.missed), (WatchMood::Watching, 6, 0), "{report:?}");
}

#[test]
fn nothing_new_is_answered_from_memory() {
    let watched = Watched::new();
    let before = watched.workspace.watch_report();
    for _ in 0..5 {
        assert!(watched.workspace.status().unwrap().clean);
    }
    assert_eq!(watched.workspace.watch_report(), before);
    // Also when something differs, as long as nothing else happens.
    watched.write("docs/read.md", "edited\n");
    assert_eq!(watched.workspace.status().unwrap().changes.len(), 1);
    let before = watched.workspace.watch_report();
    for _ in 0..5 {
        assert_eq!(watched.workspace.status().unwrap().changes.len(), 1);
    }
    assert_eq!(watched.workspace.watch_report(), before);
    // Looking made nothing clean.
    watched.agrees(Walks::Part);
}

#[test]
fn every_kind_of_change_is_seen() {
    let watched = Watched::new();
    let root = &watched.root;
    let steps: [&dyn Fn(); 16] = [
        &|| watched.write("src/new.rs", "new\n"),
        &|| fs::rename(root.join("src/new.rs"), root.join("docs/moved.rs")).unwrap(),
        &|| fs::remove_file(root.join("docs/moved.rs")).unwrap(),
        &|| fs::set_permissions(root.join("src/a.rs"), fs::Permissions::from_mode(0o755)).unwrap(),
        &|| fs::set_permissions(root.join("src"), fs::Permissions::from_mode(0o700)).unwrap(),
        &|| symlink("a.rs", root.join("src/link")).unwrap(),
        &|| fs::remove_file(root.join("src/link")).unwrap(),
        &|| symlink("b.rs", root.join("src/link")).unwrap(),
        &|| fs::create_dir_all(root.join("x/y/z")).unwrap(),
        &|| watched.write("x/y/z/deep.txt", "in a new directory\n"),
        &|| watched.write("x/y/z/deep.txt", "in a directory that is known by now\n"),
        &|| fs::remove_dir_all(root.join("x")).unwrap(),
        &|| watched.write("p/q/r/s/t.txt", "directory and file between two captures\n"),
        &|| fs::File::options().append(true).open(root.join("top.txt")).unwrap().set_len(2).unwrap(),
        &|| {
            fs::remove_dir_all(root.join("src/deep")).unwrap();
            watched.write("src/deep/other.rs", "the same directory, another one\n");
        },
        &|| {
            fs::remove_file(root.join("docs/read.md")).unwrap();
            watched.write("docs/read.md/inside.md", "a directory where a file was\n");
        },
    ];
    for (number, step) in steps.iter().enumerate() {
        eprintln!("step {number}");
        step();
        watched.agrees(Walks::Part);
        if number % 3 == 0 {
            watched.settle();
        }
    }
}

#[test]
fn a_moved_directory_takes_its_contents_along() {
    let watched = Watched::new();
    fs::rename(watched.root.join("src/deep"), watched.root.join("docs/deep")).unwrap();
    watched.agrees(Walks::All);
    watched.settle();
    // Its watches speak of the new place.
    watched.write("docs/deep/er/d.rs", "edited after the move\n");
    watched.agrees(Walks::Part);
    // From outside and to the outside.
    let outside = watched.lab.empty();
    fs::rename(watched.root.join("docs/deep"), outside.join("deep")).unwrap();
    watched.agrees(Walks::All);
    watched.settle();
    fs::write(outside.join("deep/er/d.rs"), "edited outside\n").unwrap();
    watched.agrees(Walks::Any);
    fs::rename(outside.join("deep"), watched.root.join("back")).unwrap();
    watched.agrees(Walks::Any);
    watched.settle();
    watched.write("back/er/d.rs", "edited inside again\n");
    watched.agrees(Walks::Part);
}

#[test]
fn more_events_than_the_queue_holds_mean_a_walk() {
    let watched = Watched::new();
    let limit: usize = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap().trim().parse().unwrap();
    // Two files in turn, or the kernel would fold equal events into one.
    for number in 0..limit {
        hook(&watched.root.join(if number % 2 == 0 { "src/a.rs" } else { "src/b.rs" }), 1);
    }
    watched.write("docs/read.md", "lost in the flood\n");
    watched.agrees(Walks::All);
    let doubt = watched.workspace.watch_report().doubt.unwrap();
    assert!(doubt.contains("queue"), "{doubt}");
    watched.settle();
    watched.write("docs/read.md", "after the flood\n");
    watched.agrees(Walks::Part);
}

#[test]
fn a_replaced_root_is_walked() {
    let watched = Watched::new();
    let away = watched.lab.path().join("away");
    fs::rename(&watched.root, &away).unwrap();
    crate::lab::copy_to(&away, &watched.root);
    // With another store in its place this process has nothing to say about it.
    let error = watched.workspace.status().unwrap_err();
    assert!(error.message().contains("was replaced"), "{error}");
    fs::remove_dir_all(watched.root.join(".backsight")).unwrap();
    fs::rename(away.join(".backsight"), watched.root.join(".backsight")).unwrap();
    fs::write(watched.root.join("src/a.rs"), "in the other root\n").unwrap();
    watched.agrees(Walks::All);
    watched.settle();
    watched.write("src/b.rs", "edited in the other root\n");
    fs::write(away.join("src/a.rs"), "edited in the old root\n").unwrap();
    watched.agrees(Walks::Part);
}

#[test]
fn ignore_rules_of_every_kind_are_noticed() {
    let lab = Lab::new();
    let (outer, home) = (lab.empty(), lab.empty());
    let root = outer.join("work");
    fs::create_dir(&root).unwrap();
    assert!(git(&outer).args(["init", "--quiet"]).status().unwrap().success());
    let workspace = {
        let settings = Settings { home: Some(home.clone()), ..settings(Disk::new()) };
        Workspace::open_with(&root, settings).unwrap()
    };
    for file in ["a.log", "b.tmp", "c.bak", "d.out", "e.old", "sub/f.gen", "nest/g.obj"] {
        fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
        fs::write(root.join(file), "x\n").unwrap();
    }
    fs::write(root.join(".gitignore"), "*.log\n*.tmp\n*.bak\n*.out\n*.old\n*.gen\n*.obj\n").unwrap();
    workspace.watch().unwrap();
    workspace.track().unwrap();
    let ignored = || workspace.status().unwrap().coverage.ignored;
    let fresh = || {
        let settings = Settings { home: Some(home.clone()), ..settings(Disk::new()) };
        Workspace::open_with(&root, settings).unwrap().status().unwrap().coverage.ignored
    };
    assert_eq!((ignored(), fresh()), (7, 7));
    let kinds: [(&str, &dyn Fn()); 9] = [
        ("a .gitignore inside", &|| fs::write(root.join(".gitignore"), "*.log\n").unwrap()),
        ("a new .gitignore below", &|| fs::write(root.join("sub/.gitignore"), "*.gen\n").unwrap()),
        ("a .gitignore above", &|| fs::write(outer.join(".gitignore"), "*.tmp\n").unwrap()),
        ("info/exclude", &|| fs::write(outer.join(".git/info/exclude"), "*.bak\n").unwrap()),
        ("the user's file", &|| {
            fs::create_dir_all(home.join(".config/git")).unwrap();
            fs::write(home.join(".config/git/ignore"), "*.out\n").unwrap();
        }),
        ("core.excludesFile", &|| {
            fs::write(home.join("mine"), "*.old\n").unwrap();
            fs::write(home.join(".gitconfig"), format!("[core]\nexcludesFile = {}\n", home.join("mine").display()))
                .unwrap();
        }),
        ("a nested repository", &|| {
            assert!(git(&root.join("nest")).args(["init", "--quiet"]).status().unwrap().success());
        }),
        ("its info/exclude", &|| fs::write(root.join("nest/.git/info/exclude"), "*.obj\n").unwrap()),
        ("our own setting", &|| drop(workspace.config_set("exclude", "[\"*.md\"]").unwrap())),
    ];
    for (kind, change) in kinds {
        workspace.status().unwrap();
        change();
        let before = workspace.watch_report().full_walks;
        assert_eq!(ignored(), fresh(), "{kind}");
        assert!(workspace.watch_report().full_walks > before, "{kind}");
    }
    // What the user's Git begins to track is covered, whatever is ignored.
    fs::write(root.join("new.log"), "x\n").unwrap();
    assert_eq!(ignored(), fresh());
    let covered =
        |workspace: &Workspace| workspace.status().unwrap().changes.iter().any(|c| c.path.to_string() == "new.log");
    assert!(!covered(&workspace));
    assert!(git(&outer).args(["add", "--force", "work/new.log"]).status().unwrap().success());
    assert!(covered(&workspace));
}

#[test]
fn files_in_an_ignored_directory_that_are_covered_all_the_same_are_watched() {
    let watched = Watched::new();
    watched.write("out/kept/a.js", "tracked before it was ignored\n");
    watched.workspace.track().unwrap();
    watched.write(".gitignore", "out/\n");
    watched.agrees(Walks::All);
    watched.settle();
    watched.write("out/kept/a.js", "built again\n");
    watched.write("out/kept/b.js", "ignored\n");
    watched.agrees(Walks::Part);
    watched.write("out/other/c.js", "ignored\n");
    watched.agrees(Walks::Any);
    fs::remove_dir_all(watched.root.join("out")).unwrap();
    watched.agrees(Walks::Any);
}

#[test]
fn an_ignored_path_that_somebody_declares_is_covered_and_stays_so() {
    let watched = Watched::new();
    watched.write(".gitignore", "*.log\n");
    watched.write("src/a.log", "ignored\n");
    watched.agrees(Walks::All);
    let origin = by("tool", &["src/a.log"]);
    let tracked = watched.workspace.track_with(&Track { origin: origin.clone(), ..Track::default() }).unwrap();
    assert_eq!(tracked.changes.len(), 1, "{tracked:?}");
    watched.agrees(Walks::Any);
    watched.write("src/a.log", "edited\n");
    watched.agrees(Walks::Part);
    // Looking at one in passing does not make it covered.
    watched.write("src/b.log", "ignored\n");
    let call = watched.workspace.begin(&Begin { origin: by("tool", &["src/b.log"]), ..Begin::default() }).unwrap();
    watched.agrees(Walks::Any);
    watched.workspace.abandon(call.call.id.as_str()).unwrap();
    // What was captured once is covered when it comes back, though a look saw it gone.
    fs::remove_file(watched.root.join("src/a.log")).unwrap();
    watched.workspace.status().unwrap();
    watched.write("src/a.log", "back\n");
    watched.agrees(Walks::Part);
}

#[test]
fn a_directory_that_came_and_went_between_two_snapshots_leaves_nothing_behind() {
    let watched = Watched::new();
    watched.write(".gitignore", "*.log\n");
    watched.agrees(Walks::All);
    watched.write("brief/inner/a.log", "ignored\n");
    watched.write("brief/.gitignore", "*.tmp\n");
    watched.workspace.status().unwrap();
    fs::remove_dir_all(watched.root.join("brief")).unwrap();
    watched.agrees(Walks::Any);
}

#[test]
fn another_process_that_records_is_noticed() {
    let watched = Watched::new();
    watched.write("src/a.rs", "by us, not recorded\n");
    watched.workspace.status().unwrap();
    watched.write("src/b.rs", "recorded by another\n");
    let other = open(&watched.root);
    other.track().unwrap();
    watched.agrees(Walks::All);
    watched.write("docs/read.md", "x\n");
    other.undo(&Default::default()).unwrap();
    watched.agrees(Walks::All);
    other.gc(&Default::default()).unwrap();
    watched.agrees(Walks::Any);
    watched.workspace.gc(&Default::default()).unwrap();
    watched.write("docs/read.md", "y\n");
    watched.agrees(Walks::Part);
}

#[test]
fn a_file_with_several_names_is_seen_through_each_of_them() {
    let watched = Watched::new();
    let outside = watched.lab.empty().join("outside");
    fs::hard_link(watched.root.join("src/a.rs"), watched.root.join("docs/same.rs")).unwrap();
    watched.agrees(Walks::All);
    watched.settle();
    for name in ["src/a.rs", "docs/same.rs"] {
        fs::write(watched.root.join(name), format!("through {name}\n")).unwrap();
        watched.agrees(Walks::Part);
    }
    fs::hard_link(watched.root.join("src/a.rs"), &outside).unwrap();
    fs::write(&outside, "through a name outside\n").unwrap();
    watched.agrees(Walks::Part);
    fs::remove_file(watched.root.join("docs/same.rs")).unwrap();
    watched.agrees(Walks::Part);
    fs::remove_dir_all(watched.root.join("docs")).unwrap();
    watched.agrees(Walks::Any);
}

/// Of a file that had only one name for a while, the first name must be found again when it gets another one.
#[test]
fn a_file_that_gets_another_name_again_is_seen_through_both() {
    let watched = Watched::new();
    let [first, second, third] = ["src/a.rs", "docs/same.rs", "empty/same.rs"].map(|name| watched.root.join(name));
    fs::hard_link(&first, &second).unwrap();
    watched.agrees(Walks::All);
    fs::remove_file(&second).unwrap();
    watched.agrees(Walks::Part);
    watched.settle();
    fs::hard_link(&first, &third).unwrap();
    watched.agrees(Walks::All);
    fs::write(&third, "through the new name\n").unwrap();
    watched.agrees(Walks::Part);
}

#[test]
fn a_verification_finds_what_no_event_announced() {
    let watched = Watched::new();
    let report = watched.workspace.verify_watch().unwrap();
    assert_eq!((report.missed, report.verified_at.is_some()), (0, true), "{report:?}");
    // The kernel does not tell a directory that one of its files got another name elsewhere.
    let outside = watched.lab.empty().join("outside");
    fs::hard_link(watched.root.join("src/a.rs"), &outside).unwrap();
    fs::write(&outside, "through a name outside that nobody knew of\n").unwrap();
    let report = watched.workspace.verify_watch().unwrap();
    assert_eq!(report.missed, 1, "{report:?}");
    watched.agrees(Walks::Part);
    fs::write(&outside, "and again\n").unwrap();
    watched.agrees(Walks::Part);
}

#[test]
fn unreadable_special_and_large_files_are_reported_as_a_walk_would() {
    let watched = Watched::new();
    rustix_fifo(&watched.root.join("src/pipe"));
    watched.agrees(Walks::Part);
    watched.workspace.config_set("max_file_size", "100").unwrap();
    watched.agrees(Walks::All);
    watched.write("docs/large.bin", &"x".repeat(1000));
    watched.agrees(Walks::Part);
    watched.write("docs/large.bin", "small after all");
    watched.agrees(Walks::Part);
    fs::remove_file(watched.root.join("src/pipe")).unwrap();
    watched.agrees(Walks::Part);
    watched.workspace.config_set("max_files", "9").unwrap();
    watched.workspace.status().unwrap();
    for number in 0..9 {
        watched.write(&format!("many/{number}"), "x");
    }
    assert_eq!(watched.workspace.status().unwrap_err().code(), Code::TooLarge);
}

fn rustix_fifo(path: &Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn calls_restores_and_undos_go_on_watching() {
    let watched = Watched::new();
    let workspace = &watched.workspace;
    let first = workspace.status().unwrap().latest.unwrap();
    watched.write("docs/read.md", "by hand\n");
    let call = workspace.begin(&Begin::default()).unwrap();
    watched.write("src/a.rs", "by the tool\n");
    watched.write("src/new/file.rs", "by the tool\n");
    assert_same(&watched.root, &workspace.status().unwrap(), "in a call");
    workspace.finish(&Finish { call: call.call.id.to_string(), ..Finish::default() }).unwrap();
    assert_same(&watched.root, &workspace.status().unwrap(), "after a call");
    workspace.undo(&Default::default()).unwrap();
    assert_same(&watched.root, &workspace.status().unwrap(), "after an undo");
    workspace.redo(&Default::default()).unwrap();
    assert_same(&watched.root, &workspace.status().unwrap(), "after a redo");
    workspace.restore(first.id.as_str()).unwrap();
    assert_same(&watched.root, &workspace.status().unwrap(), "after a restore");
    watched.settle();
    watched.write("src/b.rs", "edited\n");
    watched.agrees(Walks::Part);
}

#[test]
fn two_calls_have_progress_and_cancellation_of_their_own() {
    let watched = Watched::new();
    for directory in 0..40 {
        for file in 0..150 {
            watched.write(&format!("bulk/{directory}/{file}"), &format!("{directory} {file}\n"));
        }
    }
    let before = watched.workspace.status().unwrap();
    watched.write("top.txt", "so that the answer is not known already\n");
    let (told, barrier) = (Arc::new([AtomicU64::new(0), AtomicU64::new(0)]), Arc::new(Barrier::new(2)));
    let handle = |number: usize, stops: bool| {
        let (counter, asked) = (told.clone(), Arc::new(AtomicBool::new(false)));
        let seen = asked.clone();
        watched.workspace.for_call(CallSettings {
            progress: Some(Arc::new(move |progress| {
                if matches!(progress, Progress::Storing { .. }) {
                    counter[number].fetch_add(1, Ordering::Relaxed);
                    seen.store(true, Ordering::Relaxed);
                }
            })),
            // Taken back in the midst of reading.
            cancelled: Some(Arc::new(move || stops && asked.load(Ordering::Relaxed))),
            ..CallSettings::default()
        })
    };
    let (stopped, whole) = (handle(0, true), handle(1, false));
    std::thread::scope(|scope| {
        let waiting = barrier.clone();
        let looking = scope.spawn(move || {
            waiting.wait();
            whole.status().unwrap()
        });
        barrier.wait();
        let error = stopped.track().unwrap_err();
        assert_eq!(error.code(), Code::Cancelled);
        looking.join().unwrap();
    });
    assert!(told[0].load(Ordering::Relaxed) > 0 && told[1].load(Ordering::Relaxed) > 0);
    let after = watched.workspace.status().unwrap();
    assert_eq!(after.snapshots, before.snapshots, "nothing was recorded");
    watched.agrees(Walks::Part);
    let tracked = watched.workspace.status().unwrap();
    assert_eq!(tracked.snapshots, before.snapshots + 1);
}

/// What is written through an ignored name is announced in that name's directory alone, and changes the other name's file.
#[test]
fn a_file_that_gets_an_ignored_name_is_seen_through_it() {
    let watched = Watched::new();
    watched.write(".gitignore", "*.log\n");
    watched.agrees(Walks::Any);
    watched.settle();
    let hidden = watched.root.join("docs/x.log");
    fs::hard_link(watched.root.join("src/a.rs"), &hidden).unwrap();
    watched.agrees(Walks::All);
    fs::set_permissions(&hidden, fs::Permissions::from_mode(0o626)).unwrap();
    watched.agrees(Walks::Part);
    fs::write(&hidden, "through the ignored name\n").unwrap();
    watched.agrees(Walks::Part);
}
