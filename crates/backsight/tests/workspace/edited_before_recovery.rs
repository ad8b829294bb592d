//! Between a crash and its recovery the user goes on working: none of that is lost or overwritten.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use backsight::report::Kind;

use crate::lab::{Findings, Lab, Scenario, Side, Strictness, damage, ensure, leftovers, none, open, stored_at};
use crate::plans::{restore_first, small};

const TEXT: &str = "the user's own words\n";

/// Paths of every kind: swapped, created, removed, filled, emptied, changed into something else.
const PATHS: [&str; 10] = [
    "replaced.txt",
    "moded.sh",
    "new/added.txt",
    "new/user.txt",
    "gone/deleted.txt",
    "to-file",
    "to-directory",
    "from-link",
    "new-empty/user.txt",
    "empty/user.txt",
];

/// Saves a file at the path, or inside when it is a directory, whatever the crash left there. Answers where.
fn save(root: &Path, path: &str) -> Option<String> {
    let mut target = path.to_owned();
    if root.join(path).is_dir() {
        target += "/user.txt";
    }
    let file = root.join(&target);
    let parent = file.parent().unwrap();
    if parent.exists() && !parent.is_dir() {
        return None;
    }
    fs::create_dir_all(parent).unwrap();
    if file.is_symlink() {
        fs::remove_file(&file).unwrap();
    }
    fs::write(&file, TEXT).unwrap();
    Some(target)
}

fn check(scenario: &Scenario<'_>, root: &Path, edited: &[String]) -> Result<(), String> {
    let committed = fs::read_dir(root.join(".backsight/store/journal")).is_ok_and(|entries| {
        entries
            .flatten()
            .any(|entry| entry.path().extension().is_some_and(|phase| phase == "commit" || phase == "done"))
    });
    let workspace = open(root);
    workspace.status().map_err(|error| format!("status fails: {error}"))?;
    for path in edited {
        let found = fs::read_to_string(root.join(path));
        ensure(found.as_ref().is_ok_and(|text| text == TEXT), || format!("the edit of `{path}` is gone: {found:?}"))?;
    }
    let except: Vec<&str> = edited.iter().map(String::as_str).collect();
    // Where a directory of the plan's stays for the user's sake, so does its mode; both count as edited.
    let side = scenario.side(root, &except)?;
    ensure(!committed || side == Side::After, || format!("committed, but the rest is {side:?}"))?;
    none("left behind", leftovers(root, Strictness::Opened))?;
    none("verify finds", damage(&workspace))
}

/// The next restore stores the edits and goes all the way.
fn check_next_restore(scenario: &Scenario<'_>, root: &Path, edited: &[String]) -> Result<(), String> {
    let workspace = open(root);
    workspace.restore("1").map_err(|error| format!("the next restore fails: {error}"))?;
    none("the next restore leads elsewhere", scenario.after.differences(&crate::picture::Picture::of(root)))?;
    for path in edited {
        ensure(stored_at(&workspace, path).contains(&TEXT.as_bytes().to_vec()), || {
            format!("the edit of `{path}` was not stored")
        })?;
    }
    Ok(())
}

#[test]
fn a_file_saved_between_crash_and_recovery_stays_and_the_rest_is_finished() {
    let lab = Lab::new();
    let scenario = Scenario::new(&lab, small(&lab), Kind::Restore, &restore_first);
    let mut findings = Findings::default();
    for n in 0..=scenario.operations {
        let crashed = scenario.stopped_at(n);
        // Every path at every second point; the test below takes all of them at every point.
        for path in PATHS.iter().skip(n as usize % 2).step_by(2) {
            let copy = lab.copy(&crashed);
            let Some(edited) = save(&copy, path) else { continue };
            let edited = [edited];
            let checked = check(&scenario, &copy, &edited).and_then(|()| match n % 8 {
                0 => check_next_restore(&scenario, &copy, &edited),
                _ => Ok(()),
            });
            findings
                .note(format_args!("stopped at {n} of {}, then `{}` saved", scenario.operations, edited[0]), checked);
        }
    }
    findings.report();
}

#[test]
fn files_saved_everywhere_between_crash_and_recovery_all_stay() {
    let lab = Lab::new();
    let scenario = Scenario::new(&lab, small(&lab), Kind::Restore, &restore_first);
    let mut findings = Findings::default();
    for n in 0..=scenario.operations {
        let copy = scenario.stopped_at(n);
        let edited: Vec<String> = PATHS.iter().filter_map(|path| save(&copy, path)).collect();
        let checked = check(&scenario, &copy, &edited).and_then(|()| check_next_restore(&scenario, &copy, &edited));
        findings.note(format_args!("stopped at {n} of {}", scenario.operations), checked);
    }
    findings.report();
}

#[test]
fn a_symlink_put_in_place_of_a_directory_between_crash_and_recovery_is_not_followed() {
    let lab = Lab::new();
    let scenario = Scenario::new(&lab, small(&lab), Kind::Restore, &restore_first);
    let mut findings = Findings::default();
    for n in 0..=scenario.operations {
        let copy = scenario.stopped_at(n);
        let outside = lab.empty();
        for name in ["added.txt", "unrecorded.txt", "deleted.txt"] {
            fs::write(outside.join(name), TEXT).unwrap();
        }
        for directory in ["new", "gone"] {
            drop(fs::remove_dir_all(copy.join(directory)));
            symlink(&outside, copy.join(directory)).unwrap();
        }
        let checked = || -> Result<(), String> {
            open(&copy).status().map_err(|error| format!("status fails: {error}"))?;
            for name in ["added.txt", "unrecorded.txt", "deleted.txt"] {
                let found = fs::read_to_string(outside.join(name));
                ensure(found.as_ref().is_ok_and(|text| text == TEXT), || {
                    format!("`{name}` outside was changed: {found:?}")
                })?;
            }
            ensure(fs::read_dir(&outside).unwrap().count() == 3, || "something was made outside".to_owned())?;
            ensure(copy.join("new").is_symlink() && copy.join("gone").is_symlink(), || {
                "the user's symlinks are gone".to_owned()
            })?;
            scenario.side(&copy, &["new", "gone"])?;
            none("left behind", leftovers(&copy, Strictness::Opened))
        };
        findings.note(format_args!("stopped at {n} of {}", scenario.operations), checked());
    }
    findings.report();
}
