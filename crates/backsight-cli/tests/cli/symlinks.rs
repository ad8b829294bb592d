//! Symlinks are text, never doors: nothing outside the workspace is ever read, written or deleted through one.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use crate::fixture::Fixture;
use crate::picture::Picture;

/// A directory beside the workspace that must stay as it is.
fn outside(fixture: &Fixture) -> PathBuf {
    let outside = fixture.base().join("outside");
    fs::create_dir_all(outside.join("sub")).unwrap();
    for name in ["a", "b", "new", "sub/c"] {
        fs::write(outside.join(name), "precious\n").unwrap();
    }
    outside
}

/// #1 and #2 differ in every file of `d`; then `d` is replaced by a symlink to the outside.
fn attacked() -> (Fixture, PathBuf, Picture) {
    let fixture = Fixture::new();
    let outside = outside(&fixture);
    fixture.write("d/a", "1\n");
    fixture.write("d/b", "1\n");
    fixture.write("d/sub/c", "1\n");
    fixture.track();
    fixture.write("d/a", "2\n");
    fixture.write("d/sub/c", "2\n");
    fixture.write("d/new", "2\n");
    fs::remove_file(fixture.root().join("d/b")).unwrap();
    fixture.ok("track --session s");
    fs::remove_dir_all(fixture.root().join("d")).unwrap();
    symlink(&outside, fixture.root().join("d")).unwrap();
    let picture = Picture::of(&outside);
    (fixture, outside, picture)
}

#[test]
fn no_command_reaches_through_a_directory_that_became_a_symlink() {
    for line in [
        "track",
        "restore 1",
        "restore 2",
        "restore 1 -- d/a",
        "restore 2 -- d/sub",
        "restore 1 -- d",
        "revert 2",
        "revert 2 --on-conflict skip",
        "revert 2 --on-conflict merge",
        "revert session:s -- d/new",
        "undo",
        "undo --on-conflict skip",
        "undo --on-conflict merge",
        "gc --keep-count 1",
    ] {
        let (fixture, outside, precious) = attacked();
        let answer = fixture.ask(line);
        Picture::of(&outside).expect(&precious, &format!("{line}: {}", answer.json));
        assert!(answer.status <= 4, "{line}: {}", answer.json);
        let listed = fixture.ok("ls @").to_string();
        assert!(!listed.contains("precious"), "{line}");
    }
}

#[test]
fn a_restore_replaces_the_symlink_itself() {
    let (fixture, outside, precious) = attacked();
    fixture.ok("restore 2");
    assert!(fixture.root().join("d").symlink_metadata().unwrap().is_dir());
    assert_eq!(fixture.read("d/a"), "2\n");
    Picture::of(&outside).expect(&precious, "restore");
    fixture.ok("undo");
    assert_eq!(fs::read_link(fixture.root().join("d")).unwrap(), outside);
    Picture::of(&outside).expect(&precious, "undo");
}

#[test]
fn a_parent_deeper_down_is_no_door_either() {
    let fixture = Fixture::new();
    let outside = outside(&fixture);
    fixture.write("x/y/sub/c", "1\n");
    fixture.write("x/y/a", "1\n");
    fixture.track();
    fixture.write("x/y/sub/c", "2\n");
    fixture.track();
    fs::rename(fixture.root().join("x/y"), fixture.root().join("x/moved")).unwrap();
    symlink(&outside, fixture.root().join("x/y")).unwrap();
    let precious = Picture::of(&outside);
    for line in ["restore 1 -- x/y/sub/c", "undo --on-conflict skip", "revert 2 --on-conflict merge", "restore 1"] {
        let answer = fixture.ask(line);
        Picture::of(&outside).expect(&precious, &format!("{line}: {}", answer.json));
    }
}

#[test]
fn a_file_that_became_a_symlink_is_not_written_through() {
    let fixture = Fixture::new();
    let outside = outside(&fixture);
    fixture.write("a", "1\n");
    fixture.track();
    fs::remove_file(fixture.root().join("a")).unwrap();
    symlink(outside.join("a"), fixture.root().join("a")).unwrap();
    fixture.ok("restore 1");
    assert_eq!(fixture.read("a"), "1\n");
    assert!(!fixture.root().join("a").symlink_metadata().unwrap().is_symlink());
    assert_eq!(fs::read_to_string(outside.join("a")).unwrap(), "precious\n");
}

#[test]
fn a_store_that_became_a_symlink_does_not_write_elsewhere() {
    let fixture = Fixture::new();
    let outside = outside(&fixture);
    symlink(&outside, fixture.root().join(".backsight")).unwrap();
    fixture.write("a", "1\n");
    let precious = Picture::of(&outside);
    let answer = fixture.ask("track");
    // Refused, or a store made there: but nothing that was there is touched.
    for (path, thing) in precious.0 {
        assert_eq!(Picture::of(&outside).0.get(&path), Some(&thing), "{}", answer.json);
    }
}

#[test]
fn links_to_the_workspace_itself_and_loops_are_only_text() {
    let fixture = Fixture::new();
    fixture.write("a", "a\n");
    symlink(".", fixture.root().join("self")).unwrap();
    symlink("loop2", fixture.root().join("loop1")).unwrap();
    symlink("loop1", fixture.root().join("loop2")).unwrap();
    symlink("/", fixture.root().join("top")).unwrap();
    symlink(fixture.home(), fixture.root().join("home")).unwrap();
    symlink("x".repeat(4000), fixture.root().join("long")).unwrap();
    let tracked = fixture.ok("track");
    assert_eq!(tracked["coverage"]["files"], 7);
    let before = fixture.picture();
    for name in ["self", "loop1", "loop2", "top", "home", "long"] {
        fs::remove_file(fixture.root().join(name)).unwrap();
        fixture.write(name, "a file\n");
    }
    fixture.ok("restore 1");
    fixture.picture().expect(&before, "restore");
    assert_eq!(fixture.cat("1", b"top"), b"/");
}

/// A workspace reached through a symlink is the same workspace.
#[test]
fn a_workspace_named_through_a_symlink_is_the_same() {
    let fixture = Fixture::new();
    fixture.write("a", "1\n");
    fixture.track();
    symlink(fixture.root(), fixture.base().join("alias")).unwrap();
    fixture.write("a", "2\n");
    let alias = fixture.base().join("alias");
    let tracked = fixture.ok(&format!("-C {} track", alias.display()));
    assert_eq!(tracked["sequence_number"], 2);
    fixture.ok(&format!("-C {} restore 1", alias.display()));
    assert_eq!(fixture.read("a"), "1\n");
}

/// Hard links: the restored path becomes a file of its own, the other name keeps its bytes.
#[test]
fn another_name_of_a_hard_linked_file_keeps_its_bytes() {
    let fixture = Fixture::new();
    let outside = outside(&fixture);
    fixture.write("a", "1\n");
    fixture.track();
    fs::remove_file(fixture.root().join("a")).unwrap();
    fs::hard_link(outside.join("a"), fixture.root().join("a")).unwrap();
    fixture.ok("restore 1");
    assert_eq!(fixture.read("a"), "1\n");
    assert_eq!(fs::read_to_string(outside.join("a")).unwrap(), "precious\n");
}

/// Someone swaps a directory for a symlink and back while restores run: no moment is open to the outside.
#[test]
fn a_directory_swapped_for_a_symlink_in_the_middle_of_a_restore_is_no_door() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let fixture = Fixture::new();
    let outside = fixture.base().join("outside");
    fs::create_dir(&outside).unwrap();
    for version in 1..=2 {
        for number in 0..40 {
            fixture.write(&format!("d/f{number}"), &format!("{version}\n"));
        }
        fixture.write(&format!("d/only-{version}"), "x\n");
        fixture.track();
    }
    for number in 0..40 {
        // The same bytes as #2: even a check of the content would let these pass.
        fs::write(outside.join(format!("f{number}")), "2\n").unwrap();
        fs::write(outside.join("only-2"), "x\n").unwrap();
    }
    let precious = Picture::of(&outside);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (place, aside) = (fixture.root().join("d"), fixture.base().join("aside"));
            for _ in 0..1_000_000 {
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                // A restore may have put something else there: then there is nothing to swap this time.
                if fs::rename(&place, &aside).is_ok() {
                    let _ = symlink(&outside, &place);
                    std::thread::yield_now();
                    let _ = fs::remove_file(&place);
                    let _ = fs::remove_dir_all(&place);
                    if fs::rename(&aside, &place).is_err() {
                        fs::remove_dir_all(&aside).unwrap();
                    }
                }
            }
        });
        let answers: Vec<_> = (0..16).map(|round| fixture.ask(&format!("restore {}", 1 + round % 2))).collect();
        stop.store(true, Ordering::Relaxed);
        for answer in answers {
            assert!([0, 3, 6].contains(&answer.status), "{}", answer.json);
        }
    });
    Picture::of(&outside).expect(&precious, "the outside");
    fixture.ok("restore 1");
    fixture.verify();
}
