//! Writers race against captures of a watching workspace; whenever they pause, it says what a whole walk says.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use backsight::request::{Begin, Finish};
use backsight::{CallSettings, Workspace};

use crate::watching::{Watched, assert_same};

/// Numbers that follow from a seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % sides
    }

    fn directory(&mut self) -> PathBuf {
        let depth = self.roll(4);
        (0..depth).map(|_| ["a", "b", "c", "out"][self.roll(4) as usize]).collect()
    }

    fn file(&mut self) -> PathBuf {
        self.directory().join(["one", "two", "three.log", "four"][self.roll(4) as usize])
    }
}

/// Does something to the tree. Much of it fails, because others do things too; that is part of it.
fn disturb(root: &Path, dice: &mut Dice) {
    let (file, other) = (root.join(dice.file()), root.join(dice.file()));
    let (directory, elsewhere) = (root.join(dice.directory()), root.join(dice.directory()));
    let is_root = |path: &Path| path == root;
    let text = format!("{}\n", dice.roll(1000));
    match dice.roll(22) {
        0..=6 => drop(fs::write(&file, text)),
        7..=8 => drop(fs::create_dir_all(&directory)),
        9 => drop(fs::create_dir_all(file.parent().unwrap()).and_then(|()| fs::write(&file, text))),
        10 => drop(fs::rename(&file, &other)),
        11 if !is_root(&directory) && !is_root(&elsewhere) => drop(fs::rename(&directory, &elsewhere)),
        12..=13 => drop(fs::remove_file(&file)),
        14 if !is_root(&directory) => drop(fs::remove_dir_all(&directory)),
        15 => drop(fs::set_permissions(&file, fs::Permissions::from_mode(0o600 + dice.roll(64) as u32))),
        16 if !is_root(&directory) => {
            drop(fs::set_permissions(&directory, fs::Permissions::from_mode(0o700 + dice.roll(64) as u32)));
        }
        17 => drop(fs::remove_file(&file).and_then(|()| symlink(&text, &file))),
        // What is below an ignored directory is not announced, and that is said.
        18 if !other.components().any(|part| part.as_os_str() == "out") => {
            drop(fs::hard_link(&file, &other));
        }
        19 => {
            use std::io::Write;
            let opened = fs::File::options().append(true).open(&file);
            drop(opened.and_then(|mut opened| opened.write_all(text.as_bytes())));
        }
        20 if dice.roll(4) == 0 => {
            let rules = ["", "*.log\n", "out/\n", "out/\n!out/one\n*.log\n"][dice.roll(4) as usize];
            drop(fs::write(directory.join(".gitignore"), rules));
        }
        21 => drop(fs::remove_file(directory.join(".gitignore"))),
        _ => drop(fs::remove_file(&other)),
    }
}

fn race(seed: u64, writers: u64, time: Duration) {
    eprintln!("seed {seed}");
    let watched = Watched::new();
    let (gate, over, pauses) = (RwLock::new(()), AtomicBool::new(false), AtomicU64::new(0));
    let began = Instant::now();
    std::thread::scope(|scope| {
        for writer in 0..writers {
            let (gate, over, root) = (&gate, &over, &watched.root);
            scope.spawn(move || {
                let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (writer + 1).wrapping_mul(0xbf58_476d));
                while !over.load(Ordering::Relaxed) {
                    let running = gate.read().unwrap_or_else(PoisonError::into_inner);
                    (0..dice.roll(12)).for_each(|_| disturb(root, &mut dice));
                    drop(running);
                    if dice.roll(3) == 0 {
                        std::thread::sleep(Duration::from_micros(dice.roll(3000)));
                    }
                }
            });
        }
        // A failed comparison must not leave the writers running.
        let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut dice = Dice(seed | 1);
            while began.elapsed() < time {
                // Captures that run while files change, of every sort.
                for _ in 0..dice.roll(4) {
                    match dice.roll(4) {
                        0 => drop(watched.workspace.status().unwrap()),
                        1 => {
                            let call = watched.workspace.begin(&Begin::default()).unwrap();
                            let finish = Finish { call: call.call.id.to_string(), ..Finish::default() };
                            drop(watched.workspace.finish(&finish).unwrap());
                        }
                        _ => drop(watched.workspace.track().unwrap()),
                    }
                }
                let paused = gate.write().unwrap();
                let status = watched.workspace.status().unwrap();
                assert_same(&watched.root, &status, &format!("seed {seed}, {:?}", watched.workspace.watch_report()));
                if dice.roll(2) == 0 {
                    watched.workspace.track().unwrap();
                    let status = watched.workspace.status().unwrap();
                    assert_same(&watched.root, &status, &format!("seed {seed}, after track"));
                }
                drop(paused);
                pauses.fetch_add(1, Ordering::Relaxed);
            }
        }));
        over.store(true, Ordering::Relaxed);
        if let Err(panic) = checked {
            std::panic::resume_unwind(panic);
        }
    });
    let report = watched.workspace.watch_report();
    eprintln!("seed {seed}: {} comparisons, {report:?}", pauses.into_inner());
    assert!(report.partial_walks > 0, "{report:?}");
}

fn seed(default: u64) -> u64 {
    std::env::var("BACKSIGHT_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn whatever_writers_do_the_watcher_says_what_a_walk_says() {
    for round in 0..4 {
        race(seed(11) + round, 1 + round % 3, Duration::from_millis(2500));
    }
}

#[test]
fn a_look_that_was_under_way_when_watching_began_is_not_relied_on() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("a.txt");
    fs::write(&file, "one\n").unwrap();
    let workspace = Workspace::open(directory.path()).unwrap();
    workspace.track().unwrap();
    let other = workspace.for_call(CallSettings::default());
    let begins = workspace.for_call(CallSettings {
        // Asked in the midst of the walk.
        cancelled: Some(Arc::new(move || other.watch().is_err())),
        ..CallSettings::default()
    });
    assert!(begins.status().unwrap().clean);
    fs::write(&file, "two\n").unwrap();
    assert!(!workspace.status().unwrap().clean);
    assert!(workspace.track().unwrap().created);
}
