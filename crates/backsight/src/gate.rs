//! The gate in front of every store: it is this user's own, or it is not touched.
//!
//! A store can make us rename files, run debuggers and send data to an address, and Git, archives and other users can put
//! one anywhere. So a store counts only when this user made it on this machine (`identity`), nobody else can write to it,
//! and everything below it is a directory or a regular file. Of any other store nothing is read but its presence.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use backsight_core::{Advice, Code, Error, NextStep, Result, quote, shell_word};
use backsight_files::{AnchoredPath, OWN_DIRECTORY, Seal, TrackedPath, device_of, mode_of};
use rustix::fs::{FileType, Stat};

use crate::identity::{self, Belongs, Born};
use crate::place;
use crate::settings::Settings;

/// Deeper than any store is.
const MAX_DEPTH: usize = 8;
/// More entries than any store has.
const MAX_ENTRIES: usize = 1_000_000;
/// Below these nothing is looked at and nothing is believed: files of the user's on their way through a restore, and what
/// an adoption put aside.
const NOT_ENTERED: [&str; 2] = ["stage", place::SET_ASIDE];

/// A store that passed the gate, held open.
#[derive(Clone, Debug)]
pub struct OwnStore {
    directory: AnchoredPath,
    seal: Seal,
    access: Access,
}

/// What can be done with a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Everything.
    Full,
    /// Nothing can be written to it, so it can only be looked at.
    Look,
    /// The same, and it is a copy of one of this user's, such as a mounted backup: its settings are not believed.
    LookAtCopy,
}

impl OwnStore {
    /// The store's directory.
    pub fn directory(&self) -> &AnchoredPath {
        &self.directory
    }

    /// Under what files of the store are believed that could make a process act.
    pub fn seal(&self) -> &Seal {
        &self.seal
    }

    /// What can be done with it.
    pub(crate) fn access(&self) -> Access {
        self.access
    }

    /// Whether it can only be looked at.
    pub fn is_read_only(&self) -> bool {
        self.access != Access::Full
    }

    /// Whether its path still leads to it.
    pub(crate) fn is_in_place(&self) -> bool {
        let there = std::fs::symlink_metadata(self.directory.path());
        let held = self.directory.stat();
        matches!((there, held), (Ok(there), Ok(held)) if (there.dev(), there.ino()) == (device_of(&held), held.st_ino))
    }
}

/// The store of the workspace at `root`, if there is one. One that is not ours is an error.
pub(crate) fn find(root: &Path, settings: &Settings) -> Result<Option<OwnStore>> {
    if let Some(found) = standing(root, settings)? {
        return Ok(Some(found));
    }
    check_free(root)?;
    if !identity::is_gone(root, settings)? {
        return Ok(None);
    }
    // Another process may have made it since it was looked for.
    standing(root, settings)?.map_or_else(|| Err(gone(root)), |found| Ok(Some(found)))
}

/// Names what came with the directory, before anything is made beside it.
pub(crate) fn check_free(root: &Path) -> Result<()> {
    let own = root.join(OWN_DIRECTORY);
    open(&own)?.map_or(Ok(()), |opened| check_empty(&opened, &own.join(place::STORE)))
}

fn standing(root: &Path, settings: &Settings) -> Result<Option<OwnStore>> {
    for store in place::candidates(root, settings) {
        if let Some(found) = look(root, &store, settings)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// The store that stands for the path of `root` and belongs to another directory that was there, if it is this user's.
pub(crate) fn belongs_elsewhere(root: &Path, settings: &Settings) -> Option<OwnStore> {
    for store in place::candidates(root, settings) {
        match inspect(root, &store, settings) {
            Ok(None) => {}
            Ok(Some((found, Belongs::Elsewhere(_)))) => return Some(found),
            Ok(Some((_, Belongs::Here))) | Err(_) => return None,
        }
    }
    None
}

fn gone(root: &Path) -> Error {
    let own = root.join(OWN_DIRECTORY);
    let message = format!("the history that was in `{}` is gone", quote(own.as_os_str().as_bytes()));
    Error::new(Code::Damaged, message)
        .with_hint("Git removes it when a commit or branch has something of that name; bring it back from a backup")
        .or("begin a new one", NextStep::MakeStoreIn { directory: root.display().to_string() })
}

/// The store at a place, which must be of this very directory.
fn look(root: &Path, store: &Path, settings: &Settings) -> Result<Option<OwnStore>> {
    match inspect(root, store, settings)? {
        Some((_, Belongs::Elsewhere(was))) => Err(Refusal::Elsewhere { was, root: root.to_owned() }.into_error(store)),
        Some((found, Belongs::Here)) => Ok(Some(found)),
        None => Ok(None),
    }
}

fn inspect(root: &Path, store: &Path, settings: &Settings) -> Result<Option<(OwnStore, Belongs)>> {
    let own = place::own_directory(root, store);
    let Some(opened) = open(&own)? else { return Ok(None) };
    check(&opened, store)?;
    let directory = opened.join(store.strip_prefix(&own).unwrap_or(Path::new(place::STORE)));
    let Some(stat) = directory.look().map_err(|error| cannot_look(store, error))? else { return Ok(None) };
    if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
        return Err(Refusal::Kind(directory.path()).into_error(store));
    }
    let directory = directory.anchored().map_err(|error| cannot_look(store, error))?;
    let is_read_only = directory.is_read_only().map_err(|error| cannot_look(store, error))?;
    let (seal, access) = match identity::of(&directory, settings)? {
        Born::Here(seal) => (seal, if is_read_only { Access::Look } else { Access::Full }),
        // Nothing of it is carried out where nothing can be written. Permissions are no proof: an archive brings them along.
        Born::Copied { seal, .. }
            if directory.is_on_read_only_mount().map_err(|error| cannot_look(store, error))? =>
        {
            (seal, Access::LookAtCopy)
        }
        Born::Unknown => return Err(Refusal::Unborn.into_error(store)),
        Born::Unrecorded => return Err(Refusal::NoRecords.into_error(store)),
        Born::Copied { from, .. } => return Err(Refusal::Copied(from).into_error(store)),
    };
    // What stands in the workspace beside a store of the user's is used by restores.
    let beside = root.join(OWN_DIRECTORY);
    if own != beside
        && let Some(beside) = open(&beside)?
    {
        check(&beside, store)?;
    }
    check_below(&opened, store)?;
    match backsight_files::tracked_by_git(root, OWN_DIRECTORY) {
        Some(tracked) => Err(Refusal::Tracked(tracked).into_error(store)),
        None => {
            let belongs = match store.starts_with(root) {
                true => Belongs::Here,
                false => identity::belongs(&directory, root, settings)?,
            };
            Ok(Some((OwnStore { directory, seal, access }, belongs)))
        }
    }
}

/// The directory that holds stores; nothing when there is none.
fn open(own: &Path) -> Result<Option<AnchoredPath>> {
    match AnchoredPath::open_directory(own) {
        Ok(opened) => Ok(Some(opened)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) if AnchoredPath::is_in_the_way(&error) => Err(Refusal::Kind(own.to_owned()).into_error(own)),
        Err(error) => match std::fs::symlink_metadata(own) {
            Ok(found) if found.uid() != rustix::process::geteuid().as_raw() => {
                Err(Refusal::Owner(own.to_owned(), found.uid()).into_error(own))
            }
            _ => Err(cannot_look(own, error)),
        },
    }
}

fn cannot_look(store: &Path, error: std::io::Error) -> Error {
    Error::io(format!("look at the store in `{}`", store.display()), error)
}

/// Refuses a directory that is about to hold a new store and is not ours, or holds anything already. A store that another
/// process made meanwhile is no hindrance: the caller looks again.
pub(crate) fn check_empty(own: &AnchoredPath, store: &Path) -> Result<()> {
    check(own, store)?;
    for (path, kind) in own.list().map_err(|error| cannot_look(store, error))? {
        let name = path.file_name().to_string_lossy();
        let is_ours = match kind {
            FileType::RegularFile => name == ".gitignore",
            FileType::Directory => name.starts_with(place::MAKING) || name == place::SET_ASIDE || name == place::STORE,
            _ => false,
        };
        if !is_ours {
            return Err(Refusal::Shipped(path.path()).into_error(store));
        }
    }
    Ok(())
}

/// Forbids other users to write to a directory of this user's that is about to hold an adopted store.
pub(crate) fn make_private(own: &AnchoredPath, store: &Path) -> Result<()> {
    let stat = own.stat().map_err(|error| cannot_look(store, error))?;
    if stat.st_uid == rustix::process::geteuid().as_raw() && stat.st_mode & 0o022 != 0 {
        own.set_mode(0o700).map_err(|error| cannot_look(store, error))?;
    }
    check(own, store)
}

/// Refuses what another user owns or can write to, and what is no directory or file.
fn check(path: &AnchoredPath, store: &Path) -> Result<()> {
    let stat = path.stat().map_err(|error| cannot_look(store, error))?;
    problem_with(path, &stat).map_or(Ok(()), |refusal| Err(refusal.into_error(store)))
}

fn problem_with(path: &AnchoredPath, stat: &Stat) -> Option<Refusal> {
    let kind = FileType::from_raw_mode(stat.st_mode);
    if !matches!(kind, FileType::Directory | FileType::RegularFile) {
        Some(Refusal::Kind(path.path()))
    } else if stat.st_uid != rustix::process::geteuid().as_raw() {
        Some(Refusal::Owner(path.path(), stat.st_uid))
    } else if stat.st_mode & 0o022 != 0 {
        Some(Refusal::Writable(path.path(), mode_of(stat) & 0o7777))
    } else if kind == FileType::RegularFile && stat.st_nlink != 1 {
        Some(Refusal::Linked(path.path()))
    } else {
        None
    }
}

/// The same for everything below. Objects are checked against their ids whenever they are read, and never written in
/// place, so of them only the kind matters.
fn check_below(own: &AnchoredPath, store: &Path) -> Result<()> {
    let mut pending = vec![(own.clone(), 0, false)];
    let mut entries = 0;
    while let Some((directory, depth, is_objects)) = pending.pop() {
        // Held open, so that the way to it is not gone again for each thing in it.
        let directory = match directory.anchored() {
            // Another process removed it since it was listed.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && depth > 0 => continue,
            opened => opened.map_err(|error| cannot_look(store, error))?,
        };
        for (path, kind) in directory.list().map_err(|error| cannot_look(store, error))? {
            entries += 1;
            if depth >= MAX_DEPTH || entries > MAX_ENTRIES {
                return Err(Refusal::Endless(path.path()).into_error(store));
            }
            match kind {
                FileType::RegularFile if is_objects => continue,
                FileType::RegularFile | FileType::Directory => match path.look() {
                    Ok(None) => continue,
                    Ok(Some(stat)) => {
                        let problem = problem_with(&path, &stat).or_else(|| is_foreign(&path));
                        problem.map_or(Ok(()), |refusal| Err(refusal.into_error(store)))?;
                    }
                    Err(error) => return Err(cannot_look(store, error)),
                },
                _ => return Err(Refusal::Kind(path.path()).into_error(store)),
            }
            if kind == FileType::Directory && !(depth == 0 && NOT_ENTERED.iter().any(|name| path.file_name() == *name))
            {
                let is_objects = is_objects || path.file_name() == "objects";
                pending.push((path, depth + 1, is_objects));
            }
        }
    }
    Ok(())
}

/// SQLite carries out a rollback journal wherever it finds one, and a journal can name files anywhere. The timeline never
/// has one: it is made without, and keeps a write-ahead log from then on.
fn is_foreign(path: &AnchoredPath) -> Option<Refusal> {
    let name = path.file_name().as_bytes();
    let is_database = name.starts_with(b"timeline.db");
    let is_ours = [&b"timeline.db"[..], b"timeline.db-wal", b"timeline.db-shm"].contains(&name);
    (is_database && !is_ours).then(|| Refusal::Foreign(path.path()))
}

/// Why a store is not touched.
enum Refusal {
    /// It has no identity, or one that this user has no record of.
    Unborn,
    /// No directory is known in which this user's records could be.
    NoRecords,
    /// It is a copy of one of this user's, or was moved by copying.
    Copied(PathBuf),
    /// It is this user's, and of another directory than the one that has its path now.
    Elsewhere {
        was: PathBuf,
        root: PathBuf,
    },
    /// Something stands where a store would be made.
    Shipped(PathBuf),
    /// The user's Git tracks what stands here, so that a pull writes into the store.
    Tracked(TrackedPath),
    /// A file that only another version of SQLite, or a stranger, would put there.
    Foreign(PathBuf),
    Owner(PathBuf, u32),
    Writable(PathBuf, u32),
    /// A symlink, FIFO, socket or device, or something that should be a directory.
    Kind(PathBuf),
    /// A file with several names.
    Linked(PathBuf),
    Endless(PathBuf),
}

impl Refusal {
    fn into_error(self, store: &Path) -> Error {
        let own = store.parent().unwrap_or(store);
        let shown = quote(store.as_os_str().as_bytes());
        let (reason, problem) = (self.reason(), self.problem());
        let advice = self.advice(own);
        let path = match self {
            Refusal::Unborn
            | Refusal::NoRecords
            | Refusal::Copied(_)
            | Refusal::Tracked(_)
            | Refusal::Elsewhere { .. } => None,
            Refusal::Shipped(path)
            | Refusal::Foreign(path)
            | Refusal::Owner(path, _)
            | Refusal::Writable(path, _)
            | Refusal::Kind(path)
            | Refusal::Linked(path)
            | Refusal::Endless(path) => Some(quote(path.as_os_str().as_bytes())),
        };
        let place = path.as_ref().map_or_else(String::new, |path| format!(" (`{path}`)"));
        Error::new(Code::StoreNotOurs, format!("the store in `{shown}` {problem}{place}; nothing of it was used"))
            .with_advice(advice)
            .with_details(serde_json::json!({ "store": shown, "reason": reason, "path": path }))
    }

    fn reason(&self) -> &'static str {
        match self {
            Refusal::Unborn => "unborn",
            Refusal::NoRecords => "no_records",
            Refusal::Copied(_) => "copied",
            Refusal::Elsewhere { .. } => "elsewhere",
            Refusal::Shipped(_) => "shipped",
            Refusal::Tracked(_) => "tracked",
            Refusal::Foreign(_) => "foreign",
            Refusal::Owner(..) => "owner",
            Refusal::Writable(..) => "writable",
            Refusal::Kind(_) => "special",
            Refusal::Linked(_) => "linked",
            Refusal::Endless(_) => "endless",
        }
    }

    /// What is wrong with the store, as the end of a sentence about it.
    fn problem(&self) -> String {
        match self {
            Refusal::Unborn => {
                "was not made by you on this machine: it came with a clone, an archive or a backup".to_owned()
            }
            Refusal::NoRecords => {
                "cannot be told from a stranger's: no home directory is known, and your records of stores are there"
                    .to_owned()
            }
            Refusal::Copied(from) => {
                let from = quote(from.as_os_str().as_bytes());
                format!("is a copy: the one you made was in `{from}`, on this or another disk")
            }
            Refusal::Elsewhere { was, root } if was == root => {
                let root = quote(root.as_os_str().as_bytes());
                format!(
                    "is of another directory that was `{root}`: the one there now was put in its place or made anew"
                )
            }
            Refusal::Elsewhere { was, root } => {
                let (was, root) = (quote(was.as_os_str().as_bytes()), quote(root.as_os_str().as_bytes()));
                format!("is of another directory than `{root}`, one that was `{was}` when it was last used")
            }
            Refusal::Shipped(_) => {
                "cannot be made: something that Backsight did not put there stands beside it".to_owned()
            }
            Refusal::Tracked(tracked) => {
                format!("can be changed by a pull: your Git tracks `{}`", quote(tracked.path.as_bytes()))
            }
            Refusal::Foreign(_) => "holds a file that Backsight does not write".to_owned(),
            Refusal::Owner(_, owner) => {
                format!("belongs to user {owner}, and you are user {}", rustix::process::geteuid().as_raw())
            }
            Refusal::Writable(_, mode) => format!("can be written to by other users (mode {mode:o})"),
            Refusal::Kind(_) => {
                "holds what a store does not: a link, a FIFO, a device, or a file where a directory belongs".to_owned()
            }
            Refusal::Linked(_) => {
                "holds a file with a second name, through which it is changed from elsewhere".to_owned()
            }
            Refusal::Endless(_) => "is larger or deeper than any store".to_owned(),
        }
    }

    /// What to do; a command in it can be followed as it stands, from anywhere. A name that a stranger chose is in none of
    /// them but as one quoted word.
    fn advice(&self, own: &Path) -> Vec<Advice> {
        let word = |path: &Path| shell_word(path.as_os_str().as_bytes());
        // What is no text is not in the words of any interface: there the workspace at hand is meant.
        let directory = own.parent().unwrap_or(own).to_str().map(str::to_owned);
        let adopt = || NextStep::AdoptStore { directory: directory.clone() };
        let plain = |text: String| vec![Advice::plain(text)];
        match self {
            Refusal::Unborn | Refusal::Copied(_) => vec![
                Advice::step("use its history, keeping snapshots and dropping whatever could act,", adopt()),
                Advice::plain(format!("put it aside with `mv {0} {0}.theirs`", word(own))),
            ],
            Refusal::Elsewhere { root, .. } => {
                let here = root.to_str().map(str::to_owned);
                let anew = here.clone().map_or(NextStep::MakeStore, |directory| NextStep::MakeStoreIn { directory });
                vec![
                    Advice::step(
                        "if these are the same files, restored from a backup or copied, take its history along",
                        NextStep::AdoptStore { directory: here },
                    ),
                    Advice::step("if it is another project, begin a history of its own", anew),
                ]
            }
            Refusal::NoRecords => plain("set HOME or XDG_STATE_HOME, as they are in your own terminal".to_owned()),
            Refusal::Shipped(path) => plain(format!("look at it, and remove it with `rm -r -- {}`", word(path))),
            Refusal::Tracked(tracked) => {
                let top = word(&tracked.repository);
                let whole = if tracked.is_split {
                    format!("git -C {top} update-index --no-split-index; ")
                } else {
                    String::new()
                };
                plain(format!(
                    "see what came with `git -C {top} ls-files {0}`, take it out of Git with `{whole}git -C {top} rm -r \
                     --cached {0}`, drop settings that came with it with `rm -f {1}`, then verify the store",
                    word(own),
                    word(&own.join(place::STORE).join("config.toml"))
                ))
            }
            Refusal::Foreign(path) => plain(format!("remove it with `rm -- {}`", word(path))),
            Refusal::Owner(..) => vec![
                Advice::plain("work as that user"),
                Advice::step("give a directory of your own a store", NextStep::MakeStore),
            ],
            Refusal::Writable(..) => vec![
                Advice::plain(format!("if you know who did that, forbid it with `chmod -R go-w {}`", word(own))),
                Advice::step("where the file system has no permissions, make one elsewhere", NextStep::MakeUserStore),
            ],
            Refusal::Kind(path) => plain(format!("remove it with `rm -r -- {}`", word(path))),
            Refusal::Linked(_) => {
                let copy = word(&own.with_extension("copy"));
                let purpose = format!(
                    "give every file one name: `cp -a {0} {copy} && rm -r {0} && mv {copy} {0}`; then adopt the store",
                    word(own)
                );
                vec![Advice::step(purpose, adopt())]
            }
            Refusal::Endless(path) => {
                plain(format!("remove what does not belong there, beginning with {}", word(path)))
            }
        }
    }
}
