//! Where a store was born: a random id in the store, and under that id a record in the user's own state directory with the
//! store's key and its inode. What comes with a clone or an archive has no record; a copy of a store has another inode. For
//! a store outside its workspace the record also says which directory that is: not a path, which may lead to another one.

use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use backsight_core::{Code, Error, Result};
use backsight_files::{AnchoredPath, ObjectKind, Seal, device_of, object_id};
use rustix::fs::Stat;
use serde::{Deserialize, Serialize};

use crate::random;
use crate::settings::Settings;

/// The file in the store that holds its id.
const FILE: &str = "identity";
/// Ids and records are small.
const MAX_SIZE: u64 = 16 << 10;

/// Where a store was born.
pub(crate) enum Born {
    /// Made by this user on this machine.
    Here(Seal),
    /// There is no record of it.
    Unknown,
    /// No directory is known in which there could be one.
    Unrecorded,
    /// There is a record, of a store in another place.
    Copied {
        /// Where that one was last.
        from: PathBuf,
        /// Its key.
        seal: Seal,
    },
}

/// What the user's state directory knows about a store.
#[derive(Serialize, Deserialize)]
struct Record {
    /// Where it was made. A path that is no text is kept as far as it is one: it is only shown, and looked at for a copy.
    store: PathBuf,
    inode: u64,
    /// The store's key in hexadecimal digits.
    key: String,
    /// Whose store it is, for one that lies outside its workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    workspace: Option<Home>,
}

/// The directory of a workspace, as the user's state directory knows it. For a store outside it says whose that is. For one
/// inside it says that there was one: Git takes what is ignored for expendable, and removes the whole store for a file of
/// that name in a commit.
#[derive(Serialize, Deserialize)]
struct Home {
    root: PathBuf,
    inode: u64,
    /// When the workspace's directory was made, in nanoseconds, where the file system knows: an inode is used again.
    born: Option<u128>,
    /// Numbers of devices change when a machine starts: this one counts only where no time of birth is known.
    #[serde(default)]
    device: Option<u64>,
}

impl Home {
    fn of(root: &Path) -> Option<Home> {
        let found = std::fs::symlink_metadata(root).ok()?;
        let born = found.created().ok().and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
        let root = PathBuf::from(root.to_string_lossy().into_owned());
        Some(Home { root, inode: found.ino(), born: born.map(|since| since.as_nanos()), device: Some(found.dev()) })
    }

    /// Whether this is the same directory, wherever it was moved to.
    fn is(&self, now: &Home) -> bool {
        self.inode == now.inode
            && match (self.born, now.born) {
                (Some(then), Some(now_born)) => then == now_born && !self.is_cloned_as(now),
                // The inode may be another directory's by now, so the path must speak for it too.
                _ => self.device == now.device && self.root == now.root,
            }
    }

    /// Whether the directory still stands where it was, so that the other is of a clone of its whole file system.
    fn is_cloned_as(&self, now: &Home) -> bool {
        let stands = |there: Home| (there.inode, there.born) == (self.inode, self.born) && there.device != now.device;
        self.root != now.root && Home::of(&self.root).is_some_and(stands)
    }

    /// The file that leads from the directory to its store, below a directory of records.
    fn pointer(&self, records: &AnchoredPath) -> AnchoredPath {
        records.join(match (self.born, self.device) {
            (Some(born), _) => format!("{POINTERS}{}-{born}", self.inode),
            (None, device) => format!("{POINTERS}{}-on-{}", self.inode, device.unwrap_or_default()),
        })
    }

    /// Its file, below a directory of records.
    fn file(&self, records: &AnchoredPath) -> Result<AnchoredPath> {
        let name = object_id(ObjectKind::Blob, self.root.as_os_str().as_bytes())?;
        Ok(records.join(format!("{HOMES}{name}")))
    }
}

/// What the names of files about workspaces begin with; those about stores are ids.
const HOMES: &str = "home-";
/// The same of files that lead from workspaces to stores outside them.
const POINTERS: &str = "of-";

/// Whether a store outside its workspace is the one of the directory at `root`.
pub(crate) enum Belongs {
    Here,
    /// To a directory that was last seen at this path.
    Elsewhere(PathBuf),
}

/// Looks up whose store this is. A workspace that was moved is told by its directory, and its new path is noted.
pub(crate) fn belongs(store: &AnchoredPath, root: &Path, settings: &Settings) -> Result<Belongs> {
    let id = store.join(FILE).read(MAX_SIZE).ok().and_then(id_in);
    let (Some(id), Some(home)) = (id, Home::of(root)) else { return Ok(Belongs::Elsewhere(root.to_owned())) };
    for directory in directories(settings) {
        let (Some(record), Some(records)) = (record_of(&directory, &id)?, open_records(&directory)?) else { continue };
        match &record.workspace {
            Some(known) if !known.is(&home) => return Ok(Belongs::Elsewhere(known.root.clone())),
            Some(known) if known.root == home.root => {}
            // What cannot be noted now is noted another time: the directory itself is what counts.
            _ => drop(bind(&records, &id, Record { workspace: Some(home), ..record })),
        }
        return Ok(Belongs::Here);
    }
    Ok(Belongs::Here)
}

/// The stores outside that were last bound to the directory at `root`, wherever it was then.
pub(crate) fn bound(root: &Path, settings: &Settings) -> Vec<PathBuf> {
    let Some(home) = Home::of(root) else { return Vec::new() };
    let of = |directory: PathBuf| {
        let text = home.pointer(&open_records(&directory).ok()??).read(MAX_SIZE).ok()?;
        serde_json::from_slice::<PathBuf>(&text).ok()
    };
    directories(settings).into_iter().filter_map(of).collect()
}

/// Writes the record of a store, and where it lies for its workspace to find it.
fn bind(records: &AnchoredPath, id: &str, record: Record) -> Result<()> {
    write_over(records, &records.join(id), &record)?;
    match &record.workspace {
        Some(home) => write_over(records, &home.pointer(records), &record.store),
        None => Ok(()),
    }
}

/// Writes a file whole, in place of another.
fn write_over(records: &AnchoredPath, file: &AnchoredPath, value: &impl Serialize) -> Result<()> {
    let text = serde_json::to_vec(value).map_err(|error| Error::new(Code::Io, error.to_string()))?;
    let temporary = records.join(format!("new-{}", digits(&random::bytes::<8>()?)));
    write_new(&temporary, &text)?;
    temporary.rename(file).map_err(|error| Error::io(format!("write `{}`", file.display()), error))
}

/// Whether a store stood in the workspace at `root` and is gone.
pub(crate) fn is_gone(root: &Path, settings: &Settings) -> Result<bool> {
    let Some(home) = Home::of(root) else { return Ok(false) };
    for directory in directories(settings) {
        let Some(records) = open_records(&directory)? else { continue };
        let known = home.file(&records)?.read(MAX_SIZE).ok().and_then(|text| serde_json::from_slice(&text).ok());
        if known.is_some_and(|known: Home| known.root == home.root && known.is(&home)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Notes that the workspace at `root` has a store in itself.
pub(crate) fn settle(root: &Path, settings: &Settings) -> Result<()> {
    let Some(home) = Home::of(root) else { return Ok(()) };
    let file = home.file(&make_records(settings)?)?;
    let text = serde_json::to_vec(&home).map_err(|error| Error::new(Code::Io, error.to_string()))?;
    file.remove().map_err(|error| Error::io(format!("write `{}`", file.display()), error))?;
    match write_new(&file, &text) {
        // Another process was first.
        Err(_) if file.look().is_ok_and(|found| found.is_some()) => Ok(()),
        other => other,
    }
}

/// Forgets that there was a store: a new one is asked for.
pub(crate) fn forget(root: &Path, settings: &Settings) -> Result<()> {
    let Some(home) = Home::of(root) else { return Ok(()) };
    for directory in directories(settings) {
        let Some(records) = open_records(&directory)? else { continue };
        let file = home.file(&records)?;
        file.remove().map_err(|error| Error::io(format!("remove `{}`", file.display()), error))?;
    }
    Ok(())
}

/// Looks the store's id up in the user's records.
pub(crate) fn of(store: &AnchoredPath, settings: &Settings) -> Result<Born> {
    let directories = directories(settings);
    if directories.is_empty() {
        return Ok(Born::Unrecorded);
    }
    // An id that cannot be read is none.
    let Some(id) = store.join(FILE).read(MAX_SIZE).ok().and_then(id_in) else { return Ok(Born::Unknown) };
    let stat = store.stat().map_err(|error| Error::io(format!("look at `{}`", store.display()), error))?;
    let mut born = Born::Unknown;
    for directory in directories {
        let Some(record) = record_of(&directory, &id)? else { continue };
        match key_from(&record.key) {
            Some(key) if stat.st_ino == record.inode && !is_elsewhere(&record, &id, &stat) => {
                return Ok(Born::Here(Seal::new(key)));
            }
            Some(key) => born = Born::Copied { from: record.store, seal: Seal::new(key) },
            None => {}
        }
    }
    Ok(born)
}

/// Whether the store that the record is of still stands where it was made, so that this is another: a copy on another
/// file system may have the same inode.
fn is_elsewhere(record: &Record, id: &str, stat: &Stat) -> bool {
    if std::fs::symlink_metadata(&record.store).is_ok_and(|found| found.dev() == device_of(stat)) {
        return false;
    }
    let Ok(original) = AnchoredPath::open_directory(&record.store) else { return false };
    let has_id = original.join(FILE).read(MAX_SIZE).ok().and_then(id_in).is_some_and(|found| found == id);
    has_id && original.stat().is_ok_and(|found| found.st_ino == record.inode && found.st_dev != stat.st_dev)
}

fn record_of(directory: &Path, id: &str) -> Result<Option<Record>> {
    let Some(records) = open_records(directory)? else { return Ok(None) };
    match records.join(id).read(MAX_SIZE) {
        Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io(format!("read `{}`", records.join(id).display()), error)),
    }
}

/// Gives the new directory `making` an identity; its place will be `store`, for the workspace at `root`.
pub(crate) fn give(making: &AnchoredPath, store: &Path, root: &Path, settings: &Settings) -> Result<()> {
    let records = make_records(settings)?;
    let (id, key) = (random::bytes::<16>()?, random::bytes::<64>()?);
    let stat = making.stat().map_err(|error| Error::io(format!("look at `{}`", making.display()), error))?;
    let workspace = if store.starts_with(root) { None } else { Home::of(root) };
    let store = PathBuf::from(store.to_string_lossy().into_owned());
    bind(&records, &digits(&id), Record { store, inode: stat.st_ino, key: digits(&key), workspace })?;
    write_new(&making.join(FILE), format!("{}\n", digits(&id)).as_bytes())
}

fn write_new(file: &AnchoredPath, text: &[u8]) -> Result<()> {
    let write = || -> std::io::Result<()> {
        let mut opened = file.create()?;
        opened.write_all(text)?;
        opened.sync_all()
    };
    write().map_err(|error| Error::io(format!("write `{}`", file.display()), error))
}

/// Records of the user's; none when there are none yet. A directory that is not the user's own proves nothing.
fn open_records(directory: &Path) -> Result<Option<AnchoredPath>> {
    let records = match AnchoredPath::open_directory(directory) {
        Ok(records) => records,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io(format!("open `{}`", directory.display()), error)),
    };
    let stat = records.stat().map_err(|error| Error::io(format!("look at `{}`", directory.display()), error))?;
    if stat.st_uid == rustix::process::geteuid().as_raw() && stat.st_mode & 0o022 == 0 {
        return Ok(Some(records));
    }
    let message = format!(
        "`{}`, where Backsight keeps which stores are yours, belongs to user {} or can be written to by others",
        directory.display(),
        stat.st_uid
    );
    Err(Error::new(Code::StoreNotOurs, message)
        .with_hint("set HOME or XDG_STATE_HOME to a directory of your own, or forbid others to write there"))
}

fn make_records(settings: &Settings) -> Result<AnchoredPath> {
    use std::os::unix::fs::DirBuilderExt;
    let mut problem = Error::new(Code::Usage, "no home directory is known, so no store can be told from a stranger's")
        .with_hint("set HOME or XDG_STATE_HOME");
    for directory in directories(settings) {
        if let Some(owner) = other_owner(&directory) {
            let message =
                format!("`{}` is in a directory of user {owner}, so it cannot say what is yours", directory.display());
            problem = Error::new(Code::StoreNotOurs, message).with_hint(
                "under `sudo` use `sudo -H`; elsewhere set HOME or XDG_STATE_HOME to a directory of your own",
            );
            continue;
        }
        match std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&directory) {
            Ok(()) => {
                let gone = || Error::new(Code::Io, format!("`{}` is gone", directory.display()));
                return open_records(&directory)?.ok_or_else(gone);
            }
            Err(error) => problem = Error::io(format!("create `{}`", directory.display()), error),
        }
    }
    Err(problem)
}

/// Who owns the nearest directory that exists, when that is another user: making directories there would lock the user out
/// of a part of their own home.
fn other_owner(directory: &Path) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    let owner = directory.ancestors().find_map(|above| above.metadata().ok())?.uid();
    // What root owns is the system's, and asks for permission by itself.
    (owner != rustix::process::geteuid().as_raw() && owner != 0).then_some(owner)
}

/// Where records may be, first choice first.
fn directories(settings: &Settings) -> Vec<PathBuf> {
    settings.state_directories().into_iter().map(|directory| directory.join("stores")).collect()
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The id in the text of an identity file.
fn id_in(text: Vec<u8>) -> Option<String> {
    let text = String::from_utf8(text).ok()?;
    let id = text.trim_end();
    (id.len() == 32 && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))).then(|| id.to_owned())
}

fn key_from(text: &str) -> Option<[u8; 64]> {
    let byte = |at: usize| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
    let bytes: Vec<u8> = (0..text.len()).step_by(2).map(byte).collect::<Option<_>>()?;
    bytes.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_on_another_file_system_is_another_whatever_its_inode() {
        let directory = tempfile::tempdir().unwrap();
        let store = AnchoredPath::open_directory(directory.path()).unwrap();
        let id = "0123456789abcdef0123456789abcdef";
        write_new(&store.join(FILE), id.as_bytes()).unwrap();
        let mut stat = store.stat().unwrap();
        let record =
            Record { store: directory.path().to_owned(), inode: stat.st_ino, key: String::new(), workspace: None };
        assert!(!is_elsewhere(&record, id, &stat));
        stat.st_dev += 1;
        assert!(is_elsewhere(&record, id, &stat));
        // Moved away, or replaced by another store since.
        assert!(!is_elsewhere(&record, "fedcba9876543210fedcba9876543210", &stat));
        assert!(!is_elsewhere(&Record { store: directory.path().join("gone"), ..record }, id, &stat));
    }

    #[test]
    fn a_directory_is_known_by_more_than_its_inode() {
        let place = tempfile::tempdir().unwrap();
        let known = || Home::of(place.path()).unwrap();
        assert!(known().is(&known()));
        assert!(!known().is(&Home { born: Some(1), ..known() }), "the inode is used again");
        let gone = place.path().join("gone");
        let moved = Home { root: gone.clone(), ..known() };
        assert!(moved.is(&known()));
        assert!(moved.is(&Home { device: Some(0), ..known() }), "numbers of devices change");
        assert!(!known().is(&Home { root: gone, device: Some(0), ..known() }), "of a clone of the whole file system");
        let old = |root: &Path| Home { root: root.to_owned(), born: None, ..known() };
        assert!(old(place.path()).is(&old(place.path())));
        assert!(!old(&moved.root).is(&old(place.path())), "where no birth is known the path counts");
        assert!(!old(place.path()).is(&Home { device: Some(0), ..old(place.path()) }));
    }

    #[test]
    fn only_an_id_is_an_id() {
        let id = "0123456789abcdef0123456789abcdef";
        assert_eq!(id_in(format!("{id}\n").into_bytes()).as_deref(), Some(id));
        for hostile in ["", "..", "../../x", "0123456789ABCDEF0123456789ABCDEF", "0123456789abcdef0123456789abcde/"] {
            assert_eq!(id_in(hostile.as_bytes().to_vec()), None, "{hostile}");
        }
        assert_eq!(key_from(&digits(&[9; 64])), Some([9; 64]));
        assert_eq!(key_from("0"), None);
        assert_eq!(key_from(&"é".repeat(64)), None);
    }
}
