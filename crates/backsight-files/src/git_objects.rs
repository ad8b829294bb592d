//! The objects of a Git repository that is not ours, for reading only: loose, packed, and those it borrows from other
//! repositories (`objects/info/alternates`).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use backsight_core::{Code, Error, ObjectId, Result};

use crate::anchored::AnchoredPath;
use crate::ignore::path_of;
use crate::object::{Flaw, ObjectKind};
use crate::objects::{Copy, checked, parse_loose_within};
use crate::pack::Pack;
use backsight_core::bounded;

/// Repositories may borrow from others that borrow; Git follows no further either.
const MAX_ALTERNATES_DEPTH: usize = 5;
/// How many repositories are followed in all.
const MAX_PLACES: usize = 100;
/// The longest list of lenders that is read.
const MAX_ALTERNATES: u64 = 1 << 20;
/// How many bytes the indexes of all packs may take.
const MAX_INDEXES: u64 = 2 << 30;
/// The largest loose object that is read, as stored.
const MAX_STORED: u64 = 256 << 20;
/// The largest commit or tag that is read.
pub(crate) const MAX_COMMIT: u64 = 16 << 20;
/// The largest tree or file.
pub(crate) const MAX_OBJECT: u64 = 1 << 30;

/// The objects one repository can see.
#[derive(Debug)]
pub(crate) struct GitObjects {
    places: Vec<Place>,
}

/// One `objects` directory.
#[derive(Debug)]
struct Place {
    directory: PathBuf,
    packs: Vec<Pack>,
}

impl GitObjects {
    /// Opens the `objects` directory of a repository and every one it borrows from.
    pub(crate) fn open(directory: &Path) -> Result<Self> {
        let mut objects = GitObjects { places: Vec::new() };
        objects.add(directory, 0)?;
        Ok(objects)
    }

    fn add(&mut self, directory: &Path, depth: usize) -> Result<()> {
        // One that is gone holds nothing, and one may be named twice or in a circle.
        let Ok(directory) = directory.canonicalize() else { return Ok(()) };
        if depth > MAX_ALTERNATES_DEPTH
            || self.places.len() >= MAX_PLACES
            || self.places.iter().any(|place| place.directory == directory)
        {
            return Ok(());
        }
        let packs = packs_in(&directory.join("pack"))
            .map_err(|error| Error::io(format!("read the packs in `{}`", directory.display()), error))?;
        self.places.push(Place { directory: directory.clone(), packs });
        for alternate in alternates(&directory) {
            self.add(&alternate, depth + 1)?;
        }
        Ok(())
    }

    /// The `objects` directories, the repository's own first, without symlinks in their paths.
    pub(crate) fn places(&self) -> impl Iterator<Item = &Path> {
        self.places.iter().map(|place| place.directory.as_path())
    }

    /// Whether a copy is there. It is not read: like Git, this trusts what the repository lists.
    pub(crate) fn contains(&self, id: &ObjectId) -> bool {
        // A power cut leaves loose objects without bytes, and nobody can use those.
        let is_loose = |place: &Place| {
            fs::metadata(place.loose_path(id)).is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0)
        };
        self.places.iter().any(|place| place.packs.iter().any(|pack| pack.contains(id)))
            || self.places.iter().any(is_loose)
    }

    /// The object, if a copy is there that hashes to its id. One of more than `limit` bytes is refused before it is
    /// inflated: some kilobytes may claim to be gigabytes, and be it.
    pub(crate) fn read(&self, id: &ObjectId, limit: u64) -> Result<Option<(ObjectKind, Vec<u8>)>> {
        let mut damage = None;
        for place in &self.places {
            for copy in place.copies(id, limit)? {
                match copy {
                    Ok(found) => return Ok(Some(found)),
                    Err(Flaw::Damage(problem)) => damage = Some((place, problem)),
                    Err(trouble) => return Err(trouble.into_error(id)),
                }
            }
        }
        match damage {
            None => Ok(None),
            Some((place, problem)) => {
                let message = format!("object {id} in `{}` {problem}", place.directory.display());
                Err(Error::new(Code::Damaged, message).with_hint("see what is affected with `git fsck`"))
            }
        }
    }
}

impl Place {
    fn loose_path(&self, id: &ObjectId) -> PathBuf {
        let hex = id.to_string();
        self.directory.join(&hex[..2]).join(&hex[2..])
    }

    fn copies(&self, id: &ObjectId, limit: u64) -> Result<Vec<Copy>> {
        let packed = self.packs.iter().filter_map(|pack| pack.read_within(id, limit));
        let mut copies: Vec<_> =
            packed.map(|read| read.and_then(|found| checked(id, found.kind, found.content))).collect();
        match bounded::read(&self.loose_path(id), MAX_STORED) {
            Ok(bytes) => copies.push(
                parse_loose_within(&bytes[..], bytes.len() as u64, limit)
                    .and_then(|(kind, content)| checked(id, kind, content)),
            ),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(Error::io(format!("read object {id} in `{}`", self.directory.display()), error)),
        }
        Ok(copies)
    }
}

fn packs_in(directory: &Path) -> io::Result<Vec<Pack>> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut packs = Vec::new();
    let mut bytes = 0;
    for entry in entries {
        let entry = entry?;
        let path = entry.path();
        if path.extension().is_none_or(|extension| extension != "idx") {
            continue;
        }
        bytes += entry.metadata().map_or(0, |metadata| metadata.len());
        if bytes > MAX_INDEXES {
            let message = format!("the indexes of all packs take more than {MAX_INDEXES} bytes");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
        }
        match AnchoredPath::beside(&path).and_then(|index| Pack::open(&index)) {
            Ok(Ok(pack)) => packs.push(pack),
            // What an unreadable index lists is not found, and so written once more: never wrong, only larger.
            Ok(Err(_)) => {}
            // The user's git may be repacking.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(packs)
}

/// The `objects` directories that this one names as its lenders.
fn alternates(directory: &Path) -> Vec<PathBuf> {
    let text = bounded::read(&directory.join("info/alternates"), MAX_ALTERNATES).unwrap_or_default();
    let lines = text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty() && !line.starts_with(b"#"));
    lines.map(|line| directory.join(path_of(&unquoted(line)))).collect()
}

/// A line of `alternates`: plain, or in double quotes with C-style escapes.
fn unquoted(line: &[u8]) -> Vec<u8> {
    let Some(inner) = line.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")) else { return line.to_vec() };
    let mut bytes = Vec::new();
    let mut rest = inner;
    while let Some((&byte, tail)) = rest.split_first() {
        let octal = tail.get(..3).and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
        let (value, used) = match (byte, tail.first(), octal) {
            (b'\\', _, Some(value)) => (value, 3),
            (b'\\', Some(b'n'), _) => (b'\n', 1),
            (b'\\', Some(b't'), _) => (b'\t', 1),
            (b'\\', Some(other), _) => (*other, 1),
            _ => (byte, 0),
        };
        bytes.push(value);
        rest = tail.get(used..).unwrap_or_default();
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternates_are_read_as_git_writes_them() {
        assert_eq!(unquoted(b"/a b/objects"), b"/a b/objects");
        assert_eq!(unquoted(b"\"/a\\303\\244\\tb\\\"/objects\""), "/a\u{e4}\tb\"/objects".as_bytes());
        assert_eq!(unquoted(b"\"\\\""), b"\\");
    }
}
