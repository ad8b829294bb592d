//! Where a store was born: a random id in the store, and under that id a record in the user's own state directory with the
//! store's key and its inode. What comes with a clone or an archive has no record; a copy of a store has another inode.

use std::io::Write;
use std::path::{Path, PathBuf};

use backsight_core::{Code, Error, Result};
use backsight_files::{AnchoredPath, Seal};
use serde::{Deserialize, Serialize};

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
    /// There is a record, of a store in another place.
    Copied {
        /// Where that one was last.
        from: PathBuf,
    },
}

/// What the user's state directory knows about a store.
#[derive(Serialize, Deserialize)]
struct Record {
    /// Where it was made, for people.
    store: PathBuf,
    inode: u64,
    /// The store's key in hexadecimal digits.
    key: String,
}

/// Looks the store's id up in the user's records.
pub(crate) fn of(store: &AnchoredPath, settings: &Settings) -> Result<Born> {
    let Some(records) = open_records(settings)? else { return Ok(Born::Unknown) };
    // An id that cannot be read is none.
    let Some(id) = store.join(FILE).read(MAX_SIZE).ok().and_then(id_in) else { return Ok(Born::Unknown) };
    let record = match records.join(&id).read(MAX_SIZE) {
        Ok(bytes) => serde_json::from_slice::<Record>(&bytes).ok(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(Error::io(format!("read `{}`", records.join(&id).display()), error)),
    };
    let Some(record) = record else { return Ok(Born::Unknown) };
    let stat = store.stat().map_err(|error| Error::io(format!("look at `{}`", store.display()), error))?;
    match key_from(&record.key) {
        Some(key) if stat.st_ino == record.inode => Ok(Born::Here(Seal::new(key))),
        Some(_) => Ok(Born::Copied { from: record.store }),
        None => Ok(Born::Unknown),
    }
}

/// Gives the new directory `making` an identity; its place will be `store`.
pub(crate) fn give(making: &AnchoredPath, store: &Path, settings: &Settings) -> Result<()> {
    let records = make_records(settings)?;
    let (id, key) = (random::<16>()?, random::<64>()?);
    let stat = making.stat().map_err(|error| Error::io(format!("look at `{}`", making.display()), error))?;
    let record = Record { store: store.to_owned(), inode: stat.st_ino, key: digits(&key) };
    let text = serde_json::to_vec(&record).map_err(|error| Error::new(Code::Io, error.to_string()))?;
    write_new(&records.join(digits(&id)), &text)?;
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

/// The user's records; none when there are none yet. A directory that is not the user's own proves nothing.
fn open_records(settings: &Settings) -> Result<Option<AnchoredPath>> {
    let Some(directory) = directory(settings) else { return Ok(None) };
    let records = match AnchoredPath::open_directory(&directory) {
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
    let Some(directory) = directory(settings) else {
        return Err(Error::new(Code::Usage, "no home directory is known, so no store can be told from a stranger's")
            .with_hint("set HOME or XDG_STATE_HOME"));
    };
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&directory)
        .map_err(|error| Error::io(format!("create `{}`", directory.display()), error))?;
    open_records(settings)?.ok_or_else(|| Error::new(Code::Io, format!("`{}` is gone", directory.display())))
}

fn directory(settings: &Settings) -> Option<PathBuf> {
    Some(settings.state_directory()?.join("stores"))
}

fn random<const COUNT: usize>() -> Result<[u8; COUNT]> {
    let mut random = [0; COUNT];
    getrandom::fill(&mut random).map_err(|error| Error::new(Code::Io, format!("cannot draw a random id: {error}")))?;
    Ok(random)
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
