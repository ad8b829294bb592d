//! Another writer at any instant of a restore: its edit is on disk or in a snapshot, and everything else is whole.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use backsight::report::Kind;
use backsight::{Code, Disk, Progress, Workspace};

use crate::lab::{
    Findings, Lab, Outcome, PLENTY, Scenario, Side, Strictness, damage, ensure, leftovers, none, open, open_watched,
    stored_at,
};
use crate::picture::Picture;
use crate::plans::{restore_first, small};

/// Every kind of path a restore handles, and how an editor gets at it while the restore runs.
const EDITS: [&str; 11] = [
    "replaced.txt",
    "moded.sh",
    "new/added.txt",
    "to-file",
    "from-link",
    "to-directory/y",
    "to-directory/user.txt",
    "empty",
    "gone/deleted.txt",
    "new-empty/user.txt",
    "untouched.txt",
];

const TEXT: &str = "the user's own words\n";

/// Writes like an editor that replaces files: no reader ever sees half of it. False when nothing can be written there.
fn edit(root: &Path, path: &str, text: &str) -> bool {
    let target = root.join(path);
    let parent = target.parent().unwrap();
    if target.is_dir() || (parent.exists() && !parent.is_dir()) {
        return false;
    }
    let temporary = root.parent().unwrap().join(format!("edit-{}", root.file_name().unwrap().to_string_lossy()));
    fs::write(&temporary, text).unwrap();
    fs::create_dir_all(parent).is_ok() && fs::rename(&temporary, target).is_ok()
}

/// Edits `path` once, when the restore has come to `moment`. Says how many operations had been done by then.
struct Editor {
    done: Mutex<Option<u64>>,
}

impl Editor {
    fn opened(root: &Path, path: &'static str, moment: u64, disk: Disk) -> (Workspace, Arc<Editor>) {
        let editor = Arc::new(Editor { done: Mutex::new(None) });
        let (watching, root_of, counted) = (editor.clone(), root.to_owned(), disk.clone());
        let workspace = open_watched(root, disk, move |progress| {
            let mut done = watching.done.lock().unwrap();
            if matches!(progress, Progress::Applying { done: now, .. } if now == moment)
                && done.is_none()
                && edit(&root_of, path, TEXT)
            {
                *done = Some(counted.remaining().map_or(0, |left| PLENTY.saturating_sub(left)));
            }
        });
        (workspace, editor)
    }

    /// How many operations were done when it edited; none when it never did.
    fn edited(&self) -> Option<u64> {
        *self.done.lock().unwrap()
    }
}

/// How many moments a restore of the fixture has.
fn moments(scenario: &Scenario<'_>) -> u64 {
    let copy = scenario.lab.copy(&scenario.fixture);
    let total = Arc::new(AtomicU64::new(0));
    let seen = total.clone();
    let workspace = open_watched(&copy, Disk::new(), move |progress| {
        if let Progress::Applying { total, .. } = progress {
            seen.store(total, Ordering::SeqCst);
        }
    });
    restore_first(&workspace).unwrap();
    total.load(Ordering::SeqCst)
}

/// The edit is on disk or in a snapshot; whatever else there is, is exactly before or exactly after.
fn check_edited(scenario: &Scenario<'_>, root: &Path, path: &str) -> Result<Side, String> {
    let workspace = open(root);
    workspace.status().map_err(|error| format!("status fails: {error}"))?;
    none("left behind", leftovers(root, Strictness::Opened))?;
    let side = scenario.side(root, &[path])?;
    let on_disk = fs::read(root.join(path)).is_ok_and(|bytes| bytes == TEXT.as_bytes());
    let stored = || stored_at(&workspace, path).iter().any(|bytes| bytes == TEXT.as_bytes());
    ensure(on_disk || stored(), || format!("{side:?}, but the edit of `{path}` is neither on disk nor in a snapshot"))?;
    Ok(side)
}

#[test]
fn an_edit_at_any_moment_of_a_restore_is_kept_and_the_restore_succeeds_or_changes_nothing() {
    let lab = Lab::new();
    let scenario = Scenario::new(&lab, small(&lab), Kind::Restore, &restore_first);
    let mut findings = Findings::default();
    for path in EDITS {
        for moment in 0..=moments(&scenario) {
            let copy = lab.copy(&scenario.fixture);
            let (workspace, editor) = Editor::opened(&copy, path, moment, Disk::new());
            let outcome = restore_first(&workspace);
            drop(workspace);
            if editor.edited().is_none() {
                continue;
            }
            let checked = check_edited(&scenario, &copy, path).and_then(|side| {
                let wanted = if outcome.is_ok() { Side::After } else { Side::Before };
                ensure(side == wanted, || format!("answered {outcome:?}, but the rest is {side:?}"))?;
                if moment % 4 == 0 { none("verify finds", damage(&open(&copy))) } else { Ok(()) }
            });
            findings.note(format_args!("`{path}` edited at moment {moment}"), checked);
        }
    }
    findings.report();
}

fn stop_while_edited(edits: &[&'static str], moment_of: impl Fn(u64) -> u64) {
    let lab = Lab::new();
    let scenario = Scenario::new(&lab, small(&lab), Kind::Restore, &restore_first);
    let moment = moment_of(moments(&scenario));
    let mut findings = Findings::default();
    for &path in edits {
        let whole = lab.copy(&scenario.fixture);
        let disk = Disk::stopping_after(PLENTY);
        let (workspace, editor) = Editor::opened(&whole, path, moment, disk.clone());
        drop(restore_first(&workspace));
        let Some(start) = editor.edited() else { continue };
        let total = PLENTY - disk.remaining().unwrap();
        // From the edit until well into the second attempt, which is a restore like any other.
        for n in start..total.min(start + 90) {
            let copy = lab.copy(&scenario.fixture);
            let (workspace, editor) = Editor::opened(&copy, path, moment, Disk::stopping_after(n));
            let outcome: Outcome = restore_first(&workspace);
            drop(workspace);
            assert!(outcome.is_err() && editor.edited().is_some(), "{n}");
            findings.note(
                format_args!("`{path}` edited after {start} operations, stopped at {n} of {total}"),
                check_edited(&scenario, &copy, path),
            );
        }
    }
    findings.report();
}

#[test]
fn a_restore_that_meets_an_edit_and_dies_at_any_operation_keeps_the_edit_of_files() {
    stop_while_edited(&EDITS[..5], |moments| moments / 2 - 1);
}

#[test]
fn a_restore_that_meets_an_edit_and_dies_at_any_operation_keeps_the_edit_in_directories() {
    stop_while_edited(&EDITS[5..10], |moments| moments / 2 - 1);
}

#[test]
fn a_restore_that_meets_an_edit_half_way_and_dies_at_any_operation_keeps_the_edit() {
    stop_while_edited(&["replaced.txt", "to-link", "moded.sh", "to-file"], |moments| moments / 2 + 8);
}

#[test]
fn a_file_edited_again_in_every_attempt_makes_the_restore_give_up_with_nothing_changed() {
    let lab = Lab::new();
    let scenario = Scenario::new(&lab, small(&lab), Kind::Restore, &restore_first);
    let moment = moments(&scenario) / 2 - 1;
    let copy = lab.copy(&scenario.fixture);
    let edits = Arc::new(AtomicU64::new(0));
    let (counted, root) = (edits.clone(), copy.to_path_buf());
    let workspace = open_watched(&copy, Disk::new(), move |progress| {
        if matches!(progress, Progress::Applying { done, .. } if done == moment) {
            let number = counted.fetch_add(1, Ordering::SeqCst);
            assert!(edit(&root, "replaced.txt", &format!("edit {number}\n")));
        }
    });
    let refused = workspace.restore("1").unwrap_err();
    assert_eq!(refused.code(), Code::Raced, "{refused}");
    let last = edits.load(Ordering::SeqCst) - 1;
    assert_eq!(
        fs::read_to_string(copy.join("replaced.txt")).unwrap(),
        format!("edit {last}\n"),
        "the last edit stands"
    );
    assert_eq!(scenario.side(&copy, &["replaced.txt"]), Ok(Side::Before));
    assert_eq!(leftovers(&copy, Strictness::Captured), "");
    for number in 0..last {
        let stored = stored_at(&open(&copy), "replaced.txt");
        assert!(
            stored.contains(&format!("edit {number}\n").into_bytes()),
            "edit {number} was seen by a capture and is lost"
        );
    }
    open(&copy).restore("1").unwrap();
    assert_eq!(scenario.side(&copy, &[]), Ok(Side::After));
}

#[test]
fn what_a_busy_writer_wrote_last_is_on_disk_or_in_a_snapshot() {
    let lab = Lab::new();
    let scenario = Scenario::new(&lab, small(&lab), Kind::Restore, &restore_first);
    let mut findings = Findings::default();
    for round in 0..60u64 {
        let copy = lab.copy(&scenario.fixture);
        let path = ["replaced.txt", "new/added.txt", "from-link"][round as usize % 3];
        let stop = AtomicBool::new(false);
        let (outcome, last) = std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                let (mut number, mut last) = (0u64, None);
                while !stop.load(Ordering::SeqCst) {
                    let text = format!("written {number} in round {round}\n");
                    // A directory of the restore's may be on its way out: then the editor could not save either.
                    if copy.join(path).parent().unwrap().is_dir() && edit_existing(&copy, path, &text) {
                        last = Some(text);
                    }
                    number += 1;
                }
                last
            });
            let outcome = open(&copy).restore("1").map(drop);
            stop.store(true, Ordering::SeqCst);
            (outcome, writer.join().unwrap())
        });
        let checked = || -> Result<(), String> {
            let side = scenario.side(&copy, &[path])?;
            let wanted = if outcome.is_ok() { Side::After } else { Side::Before };
            ensure(side == wanted, || format!("answered {outcome:?}, but the rest is {side:?}"))?;
            none("left behind", leftovers(&copy, Strictness::Opened))?;
            let Some(last) = last else { return Ok(()) };
            let on_disk = fs::read(copy.join(path)).is_ok_and(|bytes| bytes == last.as_bytes());
            let stored = || stored_at(&open(&copy), path).contains(&last.clone().into_bytes());
            ensure(on_disk || stored(), || {
                let found = Picture::of(&copy).0.get(path.as_bytes()).cloned();
                format!("answered {outcome:?}; `{}` is nowhere, on disk is {found:?}", last.trim())
            })
        };
        findings.note(format_args!("round {round}, `{path}`"), checked());
    }
    findings.report();
}

/// The same as `edit`, for a file whose directory is there.
fn edit_existing(root: &Path, path: &str, text: &str) -> bool {
    let temporary = root.parent().unwrap().join(format!("edit-{}", root.file_name().unwrap().to_string_lossy()));
    fs::write(&temporary, text).unwrap();
    fs::rename(&temporary, root.join(path)).is_ok()
}
