//! A directory of a test's own, copies of a fixture in it, and what must hold whenever a workspace is opened again.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use backsight::report::{Kind, Snapshot};
use backsight::request::Log;
use backsight::{Disk, Error, Progress, RelPath, Settings, Workspace};
use tempfile::TempDir;

use crate::picture::{self, Picture};

/// More operations than any action has.
pub const PLENTY: u64 = 1 << 40;

/// A temporary directory, in memory where there is one: thousands of copies are made in it.
pub struct Lab {
    directory: TempDir,
    copies: AtomicU64,
}

impl Lab {
    pub fn new() -> Lab {
        let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
        let in_memory =
            mounts.lines().any(|line| line.split(' ').nth(1) == Some("/dev/shm") && line.contains(" tmpfs "));
        let mut builder = tempfile::Builder::new();
        let builder = builder.prefix("backsight-test-");
        let directory = if in_memory { builder.tempdir_in("/dev/shm") } else { builder.tempdir() };
        Lab { directory: directory.unwrap(), copies: AtomicU64::new(0) }
    }

    /// The same on a disk: a file system in memory has no pages to write out.
    pub fn on_disk() -> Lab {
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        Lab { directory, copies: AtomicU64::new(0) }
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// A new empty directory.
    pub fn empty(&self) -> PathBuf {
        let path = self.path().join(format!("{}", self.copies.fetch_add(1, Ordering::Relaxed)));
        fs::create_dir(&path).unwrap();
        path
    }

    /// A copy that is removed when dropped.
    pub fn copy(&self, fixture: &Path) -> Copy {
        let path = self.path().join(format!("{}", self.copies.fetch_add(1, Ordering::Relaxed)));
        picture::copy(fixture, &path);
        let record = vouch_for(&path.join(".backsight/store"));
        Copy { path, record }
    }
}

/// Where the tests' stores are known as theirs.
pub fn state() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("state")
}

/// A store that was copied or unpacked is not ours until it is adopted, which would drop what these tests are about. So it
/// gets an identity of its own, with the key of the original if it had one. Returns its record.
pub fn vouch_for(store: &Path) -> Option<PathBuf> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let records = state().join("backsight/stores");
    let inode = fs::metadata(store).ok()?.ino();
    let original = fs::read_to_string(store.join("identity")).unwrap_or_default();
    let known = (!original.is_empty()).then(|| fs::read(records.join(original.trim())).unwrap());
    let mut record: serde_json::Value = match known {
        Some(known) => serde_json::from_slice(&known).unwrap(),
        None => serde_json::json!({ "store": store, "key": "0".repeat(128) }),
    };
    record["inode"] = inode.into();
    fs::create_dir_all(&records).unwrap();
    let id = format!("{:016x}{:016x}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    fs::write(store.join("identity"), &id).unwrap();
    fs::write(records.join(&id), record.to_string()).unwrap();
    Some(records.join(id))
}

/// Copies a workspace to where the test needs it.
pub fn copy_to(from: &Path, to: &Path) {
    picture::copy(from, to);
    vouch_for(&to.join(".backsight/store"));
}

/// A copy of a fixture, removed when dropped.
pub struct Copy {
    path: PathBuf,
    record: Option<PathBuf>,
}

impl std::ops::Deref for Copy {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.path
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        // Directories may forbid what removing them needs.
        drop(fs::remove_dir_all(&self.path));
        self.record.as_ref().map(fs::remove_file);
    }
}

pub fn settings(disk: Disk) -> Settings {
    Settings {
        home: None,
        config_home: None,
        state_home: Some(state()),
        search_path: Vec::new(),
        wait: Duration::from_secs(10),
        process_name: "test".to_owned(),
        progress: Arc::new(|_| {}),
        cancelled: Arc::new(|| false),
        clock: Arc::new(|| backsight::Timestamp(1_700_000_000_000)),
        disk,
    }
}

pub fn open(root: &Path) -> Workspace {
    Workspace::open_with(root, settings(Disk::new())).unwrap()
}

pub fn open_on(root: &Path, disk: Disk) -> Workspace {
    Workspace::open_with(root, settings(disk)).unwrap()
}

/// Opens with a process that does something whenever it reports progress.
pub fn open_watched(root: &Path, disk: Disk, progress: impl Fn(Progress) + Send + Sync + 'static) -> Workspace {
    Workspace::open_with(root, Settings { progress: Arc::new(progress), ..settings(disk) }).unwrap()
}

pub type Outcome = Result<(), Error>;

/// How many operations an action has on a fresh copy of the fixture.
pub fn operations(lab: &Lab, fixture: &Path, action: &dyn Fn(&Workspace) -> Outcome) -> u64 {
    let copy = lab.copy(fixture);
    let disk = Disk::stopping_after(PLENTY);
    action(&open_on(&copy, disk.clone())).unwrap();
    PLENTY - disk.remaining().unwrap()
}

/// Runs an action that stops after `n` operations: a process that dies there.
pub fn stop_at(root: &Path, n: u64, action: &dyn Fn(&Workspace) -> Outcome) -> Outcome {
    action(&open_on(root, Disk::stopping_after(n)))
}

/// The `part`-th of `parts` equal shares of the numbers from 0 to `total`, spread over the whole range.
pub fn share(total: u64, part: u64, parts: u64) -> impl Iterator<Item = u64> {
    (part..=total).step_by(parts as usize)
}

/// The timeline, oldest first.
pub fn rows(workspace: &Workspace) -> Vec<Snapshot> {
    let mut rows = workspace.log(&Log::default()).unwrap().snapshots().cloned().collect::<Vec<_>>();
    rows.reverse();
    rows
}

pub fn kinds(workspace: &Workspace) -> Vec<Kind> {
    rows(workspace).iter().map(|row| row.kind).collect()
}

/// Everything in the store that nobody should find there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Strictness {
    /// After an open: no journal, nothing staged.
    Opened,
    /// After a capture: no half-written files either.
    Captured,
}

/// Files of ours that should not be there any more, one a line.
pub fn leftovers(root: &Path, strictness: Strictness) -> String {
    let mut found = Vec::new();
    let own = root.join(".backsight");
    walk(root, &mut |path| {
        let inside = path.strip_prefix(&own).ok();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let Some(inside) = inside else {
            found.extend(name.starts_with(".backsight-").then(|| path.display().to_string()));
            return;
        };
        let inside_text = inside.to_string_lossy().into_owned();
        let staged = inside_text.starts_with("stage") || inside_text.starts_with("store/journal/");
        let temporary = inside_text.starts_with("store/tmp/") || name.ends_with(".tmp") || name.ends_with("_tmp");
        let orphan = name.ends_with(".pack") && !path.with_extension("idx").exists();
        if staged || strictness == Strictness::Captured && temporary {
            found.push(inside_text);
        } else if strictness == Strictness::Captured && orphan {
            found.push("a pack without its index".to_owned());
        }
    });
    found.join(", ")
}

pub fn walk(directory: &Path, visit: &mut dyn FnMut(&Path)) {
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let path = entry.path();
        visit(&path);
        if entry.file_type().unwrap().is_dir() {
            walk(&path, visit);
        }
    }
}

/// Problems that `verify` finds; empty when the store is whole.
pub fn damage(workspace: &Workspace) -> String {
    let verified = workspace.verify().unwrap();
    let lines =
        verified.damage.iter().map(|damage| format!("    {} {} ({:?})\n", damage.what, damage.problem, damage.paths));
    lines.collect()
}

/// What Git itself thinks of the store; empty when it has nothing to say.
pub fn git_complaints(root: &Path) -> String {
    let store = root.join(".backsight/store/snapshots");
    let output = git(root)
        .args(["fsck", "--full", "--strict", "--no-dangling", "--no-progress"])
        .env("GIT_DIR", &store)
        .output()
        .unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let complaints = text.lines().filter(|line| !line.starts_with("notice:"));
    let failed = if output.status.success() { "" } else { "git fsck failed\n" };
    complaints.fold(failed.to_owned(), |all, line| format!("{all}    {line}\n"))
}

/// A `git` that nothing on this machine configures.
pub fn git(directory: &Path) -> Command {
    let mut command = Command::new("git");
    command.current_dir(directory).env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").env("HOME", "/nonexistent");
    command
}

/// The id Git gives the same files.
pub fn git_tree_id(lab: &Lab, picture: &Picture) -> String {
    let directory = lab.empty();
    let (tree, repository) = (directory.join("tree"), directory.join("repository"));
    fs::create_dir(&tree).unwrap();
    picture.paint(&tree);
    let run = |arguments: &[&str]| {
        let output =
            git(&tree).args(arguments).env("GIT_DIR", &repository).env("GIT_WORK_TREE", &tree).output().unwrap();
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    run(&["init", "--quiet"]);
    run(&["config", "core.logAllRefUpdates", "false"]);
    run(&["add", "--force", "--all", "."]);
    let id = run(&["write-tree"]);
    fs::remove_dir_all(&directory).unwrap();
    id
}

/// Every byte string that snapshots hold for a path.
pub fn stored_at(workspace: &Workspace, path: &str) -> Vec<Vec<u8>> {
    let path: RelPath = path.parse().unwrap();
    let held = rows(workspace).into_iter().filter(|row| row.expired_at.is_none());
    let read = held.filter_map(|row| workspace.get_file_at(row.id.as_str(), &path).ok());
    read.collect()
}

/// The files of a snapshot with their contents, as `list_files` and `get_file_at` give them.
pub fn contents(workspace: &Workspace, reference: &str) -> BTreeMap<Vec<u8>, (u16, Vec<u8>)> {
    let files = workspace.list_files(reference).unwrap();
    let read = |path: &RelPath| workspace.get_file_at(reference, path).unwrap();
    let with_bytes = |file: backsight::report::FileEntry| {
        let bytes = if file.blob.is_some() { read(&file.path) } else { Vec::new() };
        (file.path.as_bytes().to_vec(), (file.attributes.mode, bytes))
    };
    files.into_iter().map(with_bytes).collect()
}

/// An action whose fixture, outcome and rows are known, to be stopped anywhere.
pub struct Scenario<'a> {
    pub lab: &'a Lab,
    pub fixture: PathBuf,
    pub action: &'a dyn Fn(&Workspace) -> Outcome,
    /// The kind of step it records.
    pub kind: Kind,
    pub before: Picture,
    pub after: Picture,
    pub rows: Vec<Kind>,
    pub operations: u64,
}

/// Which of the two states a workspace is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Before,
    After,
}

impl<'a> Scenario<'a> {
    /// Runs the action once on a copy to learn where it leads.
    pub fn new(lab: &'a Lab, fixture: PathBuf, kind: Kind, action: &'a dyn Fn(&Workspace) -> Outcome) -> Self {
        let copy = lab.copy(&fixture);
        action(&open(&copy)).unwrap();
        let (before, after) = (Picture::of(&fixture), Picture::of(&copy));
        assert_ne!(before, after, "an action that changes nothing proves nothing");
        let rows = kinds(&open(&fixture));
        let operations = operations(lab, &fixture, action);
        Scenario { lab, fixture, action, kind, before, after, rows, operations }
    }

    /// A copy of the fixture in which the action died after `n` operations.
    pub fn stopped_at(&self, n: u64) -> Copy {
        let copy = self.lab.copy(&self.fixture);
        let outcome = stop_at(&copy, n, self.action);
        assert_eq!(outcome.is_ok(), n >= self.operations, "stopped at {n} of {}: {outcome:?}", self.operations);
        copy
    }

    /// Opens the workspace as the next process would, and finds it exactly before or exactly after.
    pub fn check(&self, root: &Path) -> Result<Side, String> {
        let workspace = open(root);
        let status = workspace.status().map_err(|error| format!("status fails: {error}"))?;
        let side = self.check_opened(&workspace, root)?;
        ensure(side == Side::Before || status.clean, || {
            format!("recorded, but the disk differs: {:?}", status.changes)
        })?;
        none(&format!("{side:?}, verify finds"), damage(&workspace))?;
        Ok(side)
    }

    /// The same without reading every file and object once more.
    pub fn check_quickly(&self, root: &Path) -> Result<Side, String> {
        self.check_opened(&open(root), root)
    }

    fn check_opened(&self, workspace: &Workspace, root: &Path) -> Result<Side, String> {
        // The first question is what recovers.
        let rows = workspace.log(&Log::default()).map_err(|error| format!("it cannot be opened: {error}"))?;
        let rows: Vec<Kind> = rows.snapshots().rev().map(|row| row.kind).collect();
        let side = self.side(root, &[])?;
        ensure(self.rows_allowed(side).contains(&rows), || format!("{side:?}, but the timeline has {rows:?}"))?;
        none(&format!("{side:?}, left behind"), leftovers(root, Strictness::Opened))?;
        Ok(side)
    }

    /// Which side the tree is on, some paths left out.
    pub fn side(&self, root: &Path, except: &[&str]) -> Result<Side, String> {
        let found = Picture::of(root).without(except);
        let (to_before, to_after) =
            (self.before.without(except).differences(&found), self.after.without(except).differences(&found));
        match (to_before.is_empty(), to_after.is_empty()) {
            (true, _) => Ok(Side::Before),
            (_, true) => Ok(Side::After),
            _ if to_before.lines().count() < to_after.lines().count() => {
                Err(format!("neither, but nearly before:\n{to_before}"))
            }
            _ => Err(format!("neither, but nearly after:\n{to_after}")),
        }
    }

    fn rows_allowed(&self, side: Side) -> [Vec<Kind>; 2] {
        let with_safety = [&self.rows[..], &[Kind::Safety]].concat();
        let with_step = |rows: &[Kind]| [rows, &[self.kind]].concat();
        match side {
            Side::Before => [self.rows.clone(), with_safety],
            Side::After => [with_step(&self.rows), with_step(&with_safety)],
        }
    }

    /// From wherever it stopped, the user can still go both ways, and nothing is left behind then.
    pub fn check_can_go_on(&self, root: &Path, side: Side) -> Result<(), String> {
        let workspace = open(root);
        if side == Side::Before {
            (self.action)(&workspace).map_err(|error| format!("cannot be repeated: {error}"))?;
            none("repeated, it leads elsewhere", self.after.differences(&Picture::of(root)))?;
        }
        let undo = Default::default();
        let back = if self.kind == Kind::Undo { workspace.redo(&undo) } else { workspace.undo(&undo) };
        back.map_err(|error| format!("cannot be taken back: {error}"))?;
        none("taken back, it leads elsewhere", self.before.differences(&Picture::of(root)))?;
        workspace.track().map_err(|error| format!("track fails: {error}"))?;
        none("left behind for good", leftovers(root, Strictness::Captured))?;
        none("at the end", damage(&workspace) + &git_complaints(root))
    }
}

pub fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

/// Nothing must have been found.
pub fn none(what: &str, found: String) -> Result<(), String> {
    ensure(found.is_empty(), || format!("{what}:\n{found}"))
}

/// What went wrong at which points, so that one failure does not hide the others.
#[derive(Default)]
pub struct Findings {
    points: usize,
    wrong: BTreeMap<String, Vec<String>>,
}

impl Findings {
    /// Notes the outcome at one point and hands back what was found there.
    pub fn note<T>(&mut self, point: impl std::fmt::Display, outcome: Result<T, String>) -> Option<T> {
        self.points += 1;
        outcome.map_err(|problem| self.wrong.entry(problem).or_default().push(point.to_string())).ok()
    }

    /// Fails if anything was wrong, with where each problem was met first.
    pub fn report(self) {
        println!("{} points", self.points);
        let count: usize = self.wrong.values().map(Vec::len).sum();
        let line = |(problem, points): (&String, &Vec<String>)| {
            format!("{} (and {} more): {problem}", points[0], points.len() - 1)
        };
        let shown: Vec<String> = self.wrong.iter().take(6).map(line).collect();
        assert!(self.wrong.is_empty(), "wrong at {count} of {} points:\n{}", self.points, shown.join("\n"));
    }
}
