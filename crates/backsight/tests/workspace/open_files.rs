//! Programs that keep files open and write on while a restore, its way back or its recovery runs. A model knows every line
//! that was ever written: each is on disk or in a snapshot, wherever the restore is stopped.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use backsight::report::Kind;
use backsight::{Code, Disk, Settings, Workspace};

use crate::lab::{
    Findings, Lab, Outcome, PLENTY, Scenario, Side, Strictness, damage, ensure, leftovers, none, open, settings, share,
    stored_at,
};
use crate::picture::Picture;
use crate::plans::{recorded, restore_first, small};

/// Files of the small plan as they are before the restore: replaced, removed, turned into something else, chmodded.
const HELD: [&str; 7] =
    ["replaced.txt", "moded.sh", "to-file", "from-link", "to-directory/y", "new/added.txt", "new/unrecorded.txt"];

/// A program that has files open and appends lines to them. It knows what it wrote, and to which path's file.
struct Program {
    root: PathBuf,
    held: Vec<(&'static str, File)>,
    lines: Mutex<Vec<(&'static str, String)>>,
    count: AtomicU64,
}

impl Program {
    fn holding(root: &Path, paths: &[&'static str]) -> Arc<Program> {
        let held = paths.iter().map(|path| (*path, append_to(&root.join(path)).unwrap())).collect();
        Arc::new(Program { root: root.to_owned(), held, lines: Mutex::default(), count: AtomicU64::new(0) })
    }

    /// One line to every file that was opened before the restore and still is a file: what no path leads to any more is
    /// gone, and a write to it is no part of any restore.
    fn write(&self) {
        for (path, file) in &self.held {
            self.append(path, file);
        }
    }

    /// One line to whatever stands at the paths now, as a program does that opens its file anew for each line.
    fn write_by_name(&self) {
        for (path, _) in &self.held {
            if let Ok(file) = append_to(&self.root.join(path)) {
                self.append(path, &file);
            }
        }
    }

    fn append(&self, path: &'static str, mut file: &File) {
        if file.metadata().unwrap().nlink() > 0 {
            let line = format!("line {} to {path}\n", self.count.fetch_add(1, Ordering::SeqCst));
            file.write_all(line.as_bytes()).unwrap();
            self.lines.lock().unwrap().push((path, line));
        }
    }

    /// Every line is on disk or in a snapshot.
    fn check(&self, workspace: &Workspace) -> Result<(), String> {
        let contains = |bytes: &[u8], line: &str| bytes.windows(line.len()).any(|found| found == line.as_bytes());
        for path in HELD {
            let lines: Vec<String> =
                self.lines.lock().unwrap().iter().filter(|(of, _)| *of == path).map(|(_, line)| line.clone()).collect();
            let on_disk = std::fs::read(self.root.join(path)).unwrap_or_default();
            let missing: Vec<&String> = lines.iter().filter(|line| !contains(&on_disk, line)).collect();
            if missing.is_empty() {
                continue;
            }
            let stored = stored_at(workspace, path);
            for line in missing {
                ensure(stored.iter().any(|bytes| contains(bytes, line)), || {
                    format!("a line to `{path}` is nowhere; on disk is {:?}", String::from_utf8_lossy(&on_disk))
                })?;
            }
        }
        Ok(())
    }
}

fn append_to(path: &Path) -> io::Result<File> {
    if path.is_symlink() {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    OpenOptions::new().append(true).open(path)
}

fn opened(root: &Path, disk: Disk) -> Workspace {
    Workspace::open_with(root, Settings { ..settings(disk) }).unwrap()
}

/// Lets the program act ahead of one operation, or ahead of every one from there on.
fn at(moment: u64, act: impl Fn() + Send + Sync + 'static) -> impl Fn(u64) -> io::Result<()> + Send + Sync + 'static {
    move |operation| {
        if operation == moment {
            act();
        }
        Ok(())
    }
}

/// What must hold when all is over, whatever was written when.
fn check(scenario: &Scenario<'_>, root: &Path, program: &Program, outcome: Option<&Outcome>) -> Result<(), String> {
    let workspace = open(root);
    workspace.status().map_err(|error| format!("status fails: {error}"))?;
    program.check(&workspace)?;
    none("left behind", leftovers(root, Strictness::Opened))?;
    let side = scenario.side(root, &HELD)?;
    if let Some(outcome) = outcome {
        let wanted = if outcome.is_ok() { Side::After } else { Side::Before };
        ensure(side == wanted, || format!("answered {outcome:?}, but the rest is {side:?}"))?;
    }
    Ok(())
}

#[test]
fn a_line_written_through_an_open_file_at_any_operation_of_a_restore_is_kept() {
    let lab = Lab::new();
    let scenario = Scenario::new(&lab, small(&lab), Kind::Restore, &restore_first);
    let mut findings = Findings::default();
    for moment in 0..=scenario.operations {
        let copy = lab.copy(&scenario.fixture);
        let program = Program::holding(&copy, &HELD);
        let writer = program.clone();
        let outcome = restore_first(&opened(&copy, Disk::new().watched(at(moment, move || writer.write()))));
        let checked = check(&scenario, &copy, &program, Some(&outcome));
        findings.note(format_args!("written ahead of operation {moment} of {}", scenario.operations), checked);
    }
    findings.report();
}

#[test]
fn a_line_written_by_name_at_any_operation_of_a_restore_is_kept() {
    let lab = Lab::new();
    let scenario = Scenario::new(&lab, small(&lab), Kind::Restore, &restore_first);
    let mut findings = Findings::default();
    for moment in 0..=scenario.operations {
        let copy = lab.copy(&scenario.fixture);
        let program = Program::holding(&copy, &HELD);
        let writer = program.clone();
        let act = move || {
            writer.write_by_name();
            writer.write();
        };
        let outcome = restore_first(&opened(&copy, Disk::new().watched(at(moment, act))));
        let checked = check(&scenario, &copy, &program, Some(&outcome));
        findings.note(format_args!("written ahead of operation {moment} of {}", scenario.operations), checked);
    }
    findings.report();
}

/// A restore that dies some operations after the write, another write while nothing runs, and a recovery during which the
/// program writes once more.
fn write_and_stop(part: u64, parts: u64) {
    let lab = Lab::new();
    let scenario = Scenario::new(&lab, small(&lab), Kind::Restore, &restore_first);
    let mut findings = Findings::default();
    for moment in share(scenario.operations, part, parts) {
        for later in [0, 1, 2, 3, 5, 8, 13, 21, 34, 55] {
            let copy = lab.copy(&scenario.fixture);
            let program = Program::holding(&copy, &HELD);
            let writer = program.clone();
            let disk = Disk::stopping_after(moment + later).watched(at(moment, move || writer.write()));
            drop(restore_first(&opened(&copy, disk)));
            program.write();
            let writer = program.clone();
            let recovering = opened(&copy, Disk::new().watched(at(later * 2, move || writer.write())));
            let recovered = recovering.status().map(drop).map_err(|error| format!("recovery fails: {error}"));
            let checked = recovered.and_then(|()| check(&scenario, &copy, &program, None));
            findings.note(format_args!("written at {moment}, stopped {later} later"), checked);
        }
    }
    findings.report();
}

#[test]
fn lines_written_before_and_after_a_crash_and_during_recovery_are_kept_first_third() {
    write_and_stop(0, 3);
}

#[test]
fn lines_written_before_and_after_a_crash_and_during_recovery_are_kept_second_third() {
    write_and_stop(1, 3);
}

#[test]
fn lines_written_before_and_after_a_crash_and_during_recovery_are_kept_last_third() {
    write_and_stop(2, 3);
}

#[test]
fn lines_written_while_a_recovery_is_stopped_too_are_kept() {
    let lab = Lab::new();
    let scenario = Scenario::new(&lab, small(&lab), Kind::Restore, &restore_first);
    let mut findings = Findings::default();
    for stop in share(scenario.operations, 5, 6) {
        for again in (0..40).step_by(3) {
            let copy = lab.copy(&scenario.fixture);
            let program = Program::holding(&copy, &HELD);
            drop(restore_first(&opened(&copy, Disk::stopping_after(stop))));
            let writer = program.clone();
            let disk = Disk::stopping_after(again + 2).watched(at(again, move || writer.write()));
            drop(opened(&copy, disk).status());
            let checked = check(&scenario, &copy, &program, None);
            findings.note(format_args!("stopped at {stop}, its recovery at {again}"), checked);
        }
    }
    findings.report();
}

/// One operation fails, as on a bad disk, and the next ones do not: the restore is done or all is as it was, and no later
/// command changes that.
#[test]
fn a_restore_in_which_one_operation_fails_is_done_or_undone_for_good() {
    let lab = Lab::new();
    let scenario = Scenario::new(&lab, small(&lab), Kind::Restore, &restore_first);
    let mut findings = Findings::default();
    for failing in 0..=scenario.operations {
        let copy = lab.copy(&scenario.fixture);
        let disk = Disk::new().watched(move |operation| match operation == failing {
            true => Err(io::Error::from_raw_os_error(5)),
            false => Ok(()),
        });
        let outcome = restore_first(&opened(&copy, disk));
        let found = Picture::of(&copy);
        let checked = || -> Result<(), String> {
            let side = scenario.check(&copy)?;
            let expected = if side == Side::After { &scenario.after } else { &scenario.before };
            none(&format!("{outcome:?}, then another command changed files"), expected.differences(&found))?;
            let says_done = outcome.as_ref().err().is_none_or(|error| {
                error.message().contains("the files are restored") || error.message().contains("stat cache")
            });
            ensure(says_done == (side == Side::After), || format!("{side:?}, but it answered {outcome:?}"))
        };
        findings.note(format_args!("operation {failing} of {} fails", scenario.operations), checked());
    }
    findings.report();
}

/// Two logs, the later of which is written to before its turn: the restore gives up, and the earlier one, which was
/// displaced by then and written to as well, is put back as the program left it.
#[test]
fn a_restore_that_gives_up_puts_back_a_file_that_was_written_to_while_displaced() {
    let lab = Lab::new();
    let mut first = Picture::default();
    first.file("a.log", 0o644, "start\n").file("m", 0o644, "one\n").file("z.log", 0o644, "start\n");
    let mut second = first.clone();
    second.file("a.log", 0o644, "start\ntwo\n").file("m", 0o644, "two\n").file("z.log", 0o644, "start\ntwo\n");
    let fixture = recorded(&lab, &[&first, &second]);
    open(&fixture).track().unwrap();
    let mut gave_up = 0;
    for moment in 0..60 {
        let copy = lab.copy(&fixture);
        let (a, z) = (append_to(&copy.join("a.log")).unwrap(), append_to(&copy.join("z.log")).unwrap());
        // Every attempt meets a newer line.
        let armed = AtomicU64::new(0);
        let root = copy.to_path_buf();
        let write = move || {
            let number = armed.fetch_add(1, Ordering::SeqCst);
            // Where two files cannot be exchanged, there is none for a moment.
            let standing = std::fs::metadata(root.join("a.log"));
            let displaced = standing.map_or(true, |found| found.ino() != a.metadata().unwrap().ino());
            if displaced {
                writeln!(&mut &a, "important {number}").unwrap();
                writeln!(&mut &z, "other {number}").unwrap();
            }
        };
        let disk = Disk::new().watched(move |operation| {
            if operation >= moment {
                write();
            }
            Ok(())
        });
        let outcome = restore_first(&opened(&copy, disk));
        if outcome.as_ref().err().is_none_or(|error| error.code() != Code::Raced) {
            continue;
        }
        gave_up += 1;
        let found = Picture::of(&copy);
        let text = |name: &str| std::fs::read_to_string(copy.join(name)).unwrap();
        assert!(text("a.log").starts_with("start\ntwo\nimportant"), "{moment}: {}", text("a.log"));
        assert_eq!(text("m"), "two\n");
        open(&copy).status().unwrap();
        assert_eq!(found.differences(&Picture::of(&copy)), "", "no later command carries it out");
        assert_eq!(damage(&open(&copy)), "");
    }
    assert!(gave_up > 3, "it gave up {gave_up} times");
}

#[test]
fn what_was_written_is_named_in_the_answer_and_the_record_is_what_is_on_disk() {
    let lab = Lab::new();
    let scenario = Scenario::new(&lab, small(&lab), Kind::Restore, &restore_first);
    let mut named = 0;
    for moment in 0..=scenario.operations {
        let copy = lab.copy(&scenario.fixture);
        let program = Program::holding(&copy, &["replaced.txt"]);
        let (writer, root) = (program.clone(), copy.to_path_buf());
        let displaced = move || std::fs::read(root.join("replaced.txt")).is_ok_and(|text| text == b"first\n");
        let act = move || {
            if displaced() {
                writer.write();
            }
        };
        let workspace = opened(&copy, Disk::new().watched(at(moment, act)));
        let applied = workspace.restore("1").unwrap();
        let written = program.lines.lock().unwrap().clone();
        let notes: Vec<&String> =
            applied.warnings.iter().filter(|note| note.contains("`replaced.txt` was written")).collect();
        assert_eq!(notes.len(), written.len(), "{moment}: {:?}", applied.warnings);
        assert!(workspace.status().unwrap().clean, "{moment}: what is recorded is what is on disk");
        named += notes.len();
    }
    assert!(named > 5, "{named} lines were written to a displaced file");
}

#[test]
fn a_program_that_never_stops_writing_does_not_hold_a_restore_up() {
    let lab = Lab::new();
    let scenario = Scenario::new(&lab, small(&lab), Kind::Restore, &restore_first);
    let copy = lab.copy(&scenario.fixture);
    let program = Program::holding(&copy, &["replaced.txt"]);
    let inode = program.held[0].1.metadata().unwrap().ino();
    let (writer, root) = (program.clone(), copy.to_path_buf());
    let is_displaced = AtomicBool::new(false);
    let disk = Disk::stopping_after(PLENTY).watched(move |_| {
        let stands = std::fs::metadata(root.join("replaced.txt")).map_or(0, |found| found.ino());
        if is_displaced.fetch_or(stands != inode, Ordering::SeqCst) {
            writer.write();
        }
        Ok(())
    });
    let workspace = opened(&copy, disk);
    let applied = workspace.restore("1").unwrap();
    assert!(applied.warnings.iter().any(|note| note.contains("`replaced.txt` was written")), "{:?}", applied.warnings);
    check(&scenario, &copy, &program, Some(&Ok(()))).unwrap();
}

/// What the program saved anew after a crash stays, and what it wrote to the displaced file before is stored.
#[test]
fn a_file_made_anew_after_a_crash_stays_and_the_displaced_one_is_stored() {
    let lab = Lab::new();
    let scenario = Scenario::new(&lab, small(&lab), Kind::Restore, &restore_first);
    let mut findings = Findings::default();
    for stop in 0..=scenario.operations {
        let copy = lab.copy(&scenario.fixture);
        let program = Program::holding(&copy, &["replaced.txt", "to-file", "from-link"]);
        drop(restore_first(&opened(&copy, Disk::stopping_after(stop))));
        program.write();
        let mut saved = Vec::new();
        for (path, held) in &program.held {
            let target = copy.join(path);
            // A program that replaces the very file it wrote to loses its lines without our help.
            let is_held = std::fs::metadata(&target).is_ok_and(|found| found.ino() == held.metadata().unwrap().ino());
            if target.is_dir() || is_held {
                continue;
            }
            let temporary = copy.with_extension("saved");
            std::fs::write(&temporary, "the program starts again\n").unwrap();
            std::fs::rename(&temporary, &target).unwrap();
            saved.push(*path);
        }
        let checked = check(&scenario, &copy, &program, None).and_then(|()| {
            let is_saved =
                |path: &str| std::fs::read(copy.join(path)).is_ok_and(|text| text == b"the program starts again\n");
            let lost: Vec<&&str> = saved.iter().filter(|path| !is_saved(path)).collect();
            ensure(lost.is_empty(), || format!("what was saved at {lost:?} is gone"))
        });
        findings.note(format_args!("stopped at {stop}"), checked);
    }
    findings.report();
}

/// Writes to `replaced.txt` once, after the commit point and before its turn: the first attempt has to be given up.
/// Afterwards `then` is asked about every operation on the way back, with its number there.
fn given_up(root: &Path, then: impl Fn(u64) -> io::Result<()> + Send + Sync + 'static) -> Disk {
    let journal = root.join(".backsight/store/journal");
    let (file, written, back) =
        (append_to(&root.join("replaced.txt")).unwrap(), AtomicBool::new(false), AtomicU64::new(0));
    Disk::new().watched(move |_| {
        if is_in(&journal, "commit") && !written.swap(true, Ordering::SeqCst) {
            (&file).write_all(b"in between\n")?;
        }
        if is_in(&journal, "back") { then(back.fetch_add(1, Ordering::SeqCst)) } else { Ok(()) }
    })
}

fn is_in(journal: &Path, phase: &str) -> bool {
    let entries = std::fs::read_dir(journal).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).any(|path| path.extension().is_some_and(|found| found == phase))
}

#[test]
fn a_restore_that_was_given_up_is_not_carried_out_wherever_its_way_back_ends() {
    let lab = Lab::new();
    let scenario = Scenario::new(&lab, small(&lab), Kind::Restore, &restore_first);
    let (mut findings, mut stopped) = (Findings::default(), 0);
    for end in 0..60 {
        let copy = lab.copy(&scenario.fixture);
        let is_dead = AtomicBool::new(false);
        let disk = given_up(&copy, move |operation| {
            is_dead.fetch_or(operation == end, Ordering::SeqCst);
            if is_dead.load(Ordering::SeqCst) { Err(io::Error::other("stopped by the test")) } else { Ok(()) }
        });
        if restore_first(&opened(&copy, disk)).is_ok() {
            continue;
        }
        stopped += 1;
        let checked = || -> Result<(), String> {
            let workspace = open(&copy);
            workspace.status().map_err(|error| format!("status fails: {error}"))?;
            let side = scenario.side(&copy, &["replaced.txt"])?;
            ensure(side == Side::Before, || "the next command carried it out".to_owned())?;
            let text = std::fs::read_to_string(copy.join("replaced.txt")).unwrap_or_default();
            ensure(text.ends_with("in between\n"), || format!("`replaced.txt` is {text:?}"))?;
            none("left behind", leftovers(&copy, Strictness::Opened))?;
            none("verify finds", damage(&workspace))
        };
        findings.note(format_args!("stopped at {end} of the way back"), checked());
    }
    findings.report();
    assert!(stopped > 15, "stopped {stopped} times");
}

#[test]
fn one_failure_on_the_way_back_is_made_up_for_by_the_next_command() {
    let lab = Lab::new();
    let scenario = Scenario::new(&lab, small(&lab), Kind::Restore, &restore_first);
    let (mut findings, mut failed) = (Findings::default(), 0);
    for failing in 0..60 {
        let copy = lab.copy(&scenario.fixture);
        let disk = given_up(&copy, move |operation| match operation == failing {
            true => Err(io::Error::from_raw_os_error(5)),
            false => Ok(()),
        });
        let outcome = restore_first(&opened(&copy, disk));
        failed += u64::from(outcome.is_err());
        let checked = || -> Result<(), String> {
            let workspace = open(&copy);
            workspace.status().map_err(|error| format!("status fails: {error}"))?;
            let side = scenario.side(&copy, &["replaced.txt"])?;
            let wanted = if outcome.is_ok() { Side::After } else { Side::Before };
            ensure(side == wanted, || format!("answered {outcome:?}, but the rest is {side:?}"))?;
            none("left behind", leftovers(&copy, Strictness::Opened))
        };
        findings.note(format_args!("operation {failing} of the way back fails"), checked());
    }
    findings.report();
    assert!(failed > 10, "failed {failed} times");
}

/// All is back and cleared, and only the journal entry is left when the process dies. What the user removes then is not
/// taken for something that is not back yet.
#[test]
fn a_file_removed_after_a_restore_was_given_up_stays_removed() {
    let lab = Lab::new();
    let copy = lab.copy(&small(&lab));
    let (journal, stage) = (copy.join(".backsight/store/journal"), copy.join(".backsight/stage"));
    let file = append_to(&copy.join("replaced.txt")).unwrap();
    let (written, was_back) = (AtomicBool::new(false), AtomicBool::new(false));
    let disk = Disk::new().watched(move |_| {
        if is_in(&journal, "commit") && !written.swap(true, Ordering::SeqCst) {
            (&file).write_all(b"in between\n")?;
        }
        let was_back = was_back.fetch_or(is_in(&journal, "back"), Ordering::SeqCst);
        if was_back && !stage.exists() { Err(io::Error::other("stopped by the test")) } else { Ok(()) }
    });
    restore_first(&opened(&copy, disk)).unwrap_err();
    std::fs::remove_file(copy.join("new/added.txt")).unwrap();
    open(&copy).status().unwrap();
    assert!(!copy.join("new/added.txt").exists(), "the user removed it");
    assert_eq!(leftovers(&copy, Strictness::Opened), "");
}

/// The stage is removed by hand while a restore is on its way back: what was in it comes from the store.
#[test]
fn a_way_back_whose_stage_is_gone_ends_before_all_the_same() {
    let lab = Lab::new();
    let scenario = Scenario::new(&lab, small(&lab), Kind::Restore, &restore_first);
    let copy = lab.copy(&scenario.fixture);
    let disk = given_up(&copy, |_| Err(io::Error::other("stopped by the test")));
    restore_first(&opened(&copy, disk)).unwrap_err();
    std::fs::remove_dir_all(copy.join(".backsight/stage")).unwrap();
    open(&copy).status().unwrap();
    assert_eq!(scenario.side(&copy, &["replaced.txt"]), Ok(Side::Before));
    assert_eq!(leftovers(&copy, Strictness::Opened), "");
}
