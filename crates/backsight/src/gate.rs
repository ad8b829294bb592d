//! The gate in front of every store: it is this user's own, or it is not touched.
//!
//! A store can make us rename files, run debuggers and send data to an address, and Git, archives and other users can put
//! one anywhere. So a store counts only when this user made it on this machine (`identity`), nobody else can write to it,
//! and everything below it is a directory or a regular file. Of any other store nothing is read but its presence.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use backsight_core::{Code, Error, Result};
use backsight_files::{AnchoredPath, OWN_DIRECTORY, Seal};
use rustix::fs::{FileType, Stat};

use crate::identity::{self, Born};
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

    /// Whether its path still leads to it.
    pub(crate) fn is_in_place(&self) -> bool {
        let there = std::fs::symlink_metadata(self.directory.path());
        let held = self.directory.stat();
        matches!((there, held), (Ok(there), Ok(held)) if (there.dev(), there.ino()) == (held.st_dev, held.st_ino))
    }
}

/// The store of the workspace at `root`, if there is one. One that is not ours is an error.
pub(crate) fn find(root: &Path, settings: &Settings) -> Result<Option<OwnStore>> {
    for store in place::candidates(root, settings) {
        if let Some(found) = look(root, &store, settings)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

fn look(root: &Path, store: &Path, settings: &Settings) -> Result<Option<OwnStore>> {
    let own = place::own_directory(root, store);
    let Some(opened) = open(&own)? else { return Ok(None) };
    check(&opened, store)?;
    let directory = opened.join(store.strip_prefix(&own).unwrap_or(Path::new(place::STORE)));
    let Some(stat) = directory.look().map_err(|error| cannot_look(store, error))? else { return Ok(None) };
    if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
        return Err(Refusal::Kind(directory.path()).into_error(store));
    }
    let directory = directory.anchored().map_err(|error| cannot_look(store, error))?;
    let seal = match identity::of(&directory, settings)? {
        Born::Here(seal) => seal,
        Born::Unknown => return Err(Refusal::Unborn.into_error(store)),
        Born::Copied { from } => return Err(Refusal::Copied(from).into_error(store)),
    };
    // What stands in the workspace beside a store of the user's is used by restores.
    let beside = root.join(OWN_DIRECTORY);
    if own != beside
        && let Some(beside) = open(&beside)?
    {
        check(&beside, store)?;
    }
    check_below(&opened, store)?;
    Ok(Some(OwnStore { directory, seal }))
}

/// The directory that holds stores; nothing when there is none.
fn open(own: &Path) -> Result<Option<AnchoredPath>> {
    match AnchoredPath::open_directory(own) {
        Ok(opened) => Ok(Some(opened)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) if AnchoredPath::is_in_the_way(&error) => Err(Refusal::Kind(own.to_owned()).into_error(own)),
        Err(error) => Err(cannot_look(own, error)),
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
        Some(Refusal::Writable(path.path(), stat.st_mode & 0o7777))
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
        let listed = match directory.list() {
            // Another process removed it since it was listed.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && depth > 0 => continue,
            listed => listed.map_err(|error| cannot_look(store, error))?,
        };
        for (path, kind) in listed {
            entries += 1;
            if depth >= MAX_DEPTH || entries > MAX_ENTRIES {
                return Err(Refusal::Endless(path.path()).into_error(store));
            }
            match kind {
                FileType::RegularFile if is_objects => continue,
                FileType::RegularFile | FileType::Directory => match path.look() {
                    Ok(None) => continue,
                    Ok(Some(stat)) => {
                        problem_with(&path, &stat).map_or(Ok(()), |refusal| Err(refusal.into_error(store)))?;
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

/// Why a store is not touched.
enum Refusal {
    /// It has no identity, or one that this user has no record of.
    Unborn,
    /// It is a copy of one of this user's, or was moved by copying.
    Copied(PathBuf),
    /// Something stands where a store would be made.
    Shipped(PathBuf),
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
        let shown = store.display();
        let adopt = "use its history with `backsight init --adopt`, which keeps snapshots and drops whatever could act; \
                     or remove it with `rm -r .backsight`";
        let (reason, path, problem, hint) = match self {
            Refusal::Unborn => (
                "unborn",
                None,
                "was not made by you on this machine: it came with a clone, an archive or a backup".to_owned(),
                adopt.to_owned(),
            ),
            Refusal::Copied(from) => {
                ("copied", None, format!("is a copy of the store in `{}`", from.display()), adopt.to_owned())
            }
            Refusal::Shipped(path) => {
                let hint = format!("look at it, and remove it with `rm -r '{}'`", path.display());
                (
                    "shipped",
                    Some(path),
                    "cannot be made: something that Backsight did not put there stands beside it".to_owned(),
                    hint,
                )
            }
            Refusal::Owner(path, owner) => {
                let problem =
                    format!("belongs to user {owner}, and you are user {}", rustix::process::geteuid().as_raw());
                let hint =
                    "work as that user, or give a directory of your own a store with `backsight init`".to_owned();
                ("owner", Some(path), problem, hint)
            }
            Refusal::Writable(path, mode) => {
                let hint = format!(
                    "if you know who did that, forbid it with `chmod -R go-w '{}'`; where the file system has no permissions, use `backsight init --store user`",
                    path.display()
                );
                ("writable", Some(path), format!("can be written to by other users (mode {mode:o})"), hint)
            }
            Refusal::Kind(path) => {
                let hint = format!("remove it with `rm -r '{}'`", path.display());
                (
                    "special",
                    Some(path),
                    "holds what a store does not: a link, a FIFO, a device, or a file where a directory belongs"
                        .to_owned(),
                    hint,
                )
            }
            Refusal::Linked(path) => {
                let hint = format!("give it one name: `cp -p '{0}' '{0}.new' && mv '{0}.new' '{0}'`", path.display());
                (
                    "linked",
                    Some(path),
                    "holds a file with a second name, through which it is changed from elsewhere".to_owned(),
                    hint,
                )
            }
            Refusal::Endless(path) => {
                let hint = format!("remove what does not belong there, beginning with `{}`", path.display());
                ("endless", Some(path), "is larger or deeper than any store".to_owned(), hint)
            }
        };
        let place = path.as_ref().map_or_else(String::new, |path| format!(" (`{}`)", path.display()));
        Error::new(Code::StoreNotOurs, format!("the store in `{shown}` {problem}{place}; nothing of it was used"))
            .with_hint(hint)
            .with_details(serde_json::json!({
                "store": shown.to_string(),
                "reason": reason,
                "path": path.map(|path| path.display().to_string()),
            }))
    }
}
