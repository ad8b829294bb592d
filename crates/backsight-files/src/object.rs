//! Git objects as values: kinds, ids, and the compressed form they are stored in.

use std::io::{self, Read, Write};

use backsight_core::{Code, Error, NextStep, ObjectId, Result};
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

/// The kinds of object a store holds. Backsight writes blobs and trees; the others can only come from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ObjectKind {
    /// A file's bytes or a symlink's text.
    Blob,
    /// A directory.
    Tree,
    /// A commit.
    Commit,
    /// A tag.
    Tag,
}

impl ObjectKind {
    /// The name in an object's header.
    pub fn as_str(self) -> &'static str {
        match self {
            ObjectKind::Blob => "blob",
            ObjectKind::Tree => "tree",
            ObjectKind::Commit => "commit",
            ObjectKind::Tag => "tag",
        }
    }

    pub(crate) fn from_name(name: &[u8]) -> Option<Self> {
        [ObjectKind::Blob, ObjectKind::Tree, ObjectKind::Commit, ObjectKind::Tag]
            .into_iter()
            .find(|kind| kind.as_str().as_bytes() == name)
    }

    /// The number in a pack entry's header.
    pub(crate) fn pack_code(self) -> u8 {
        match self {
            ObjectKind::Commit => 1,
            ObjectKind::Tree => 2,
            ObjectKind::Blob => 3,
            ObjectKind::Tag => 4,
        }
    }
}

/// What precedes an object's content when it is hashed, and in a loose object.
pub(crate) fn header(kind: ObjectKind, size: u64) -> Vec<u8> {
    format!("{} {size}\0", kind.as_str()).into_bytes()
}

/// Computes an id while the content streams by.
pub(crate) struct IdHasher(sha1dc::Hasher);

impl IdHasher {
    pub(crate) fn new(kind: ObjectKind, size: u64) -> Self {
        let mut hasher = sha1dc::Hasher::new();
        hasher.update(&header(kind, size));
        IdHasher(hasher)
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub(crate) fn finish(self) -> Result<ObjectId> {
        match self.0.finalize() {
            Ok(digest) => Ok(ObjectId::from_bytes(digest.to_bytes())),
            Err(_) => Err(Error::new(Code::Damaged, "content was built to collide with another object's id")
                .with_hint("find out who made this file: an ordinary file never looks like this")),
        }
    }
}

/// The id of an object held in memory.
pub fn object_id(kind: ObjectKind, content: &[u8]) -> Result<ObjectId> {
    let mut hasher = IdHasher::new(kind, content.len() as u64);
    hasher.update(content);
    hasher.finish()
}

/// Level 1: three times the speed of level 3 for a third more room, and gc may pack tighter later.
const LEVEL: Compression = Compression::new(1);

pub(crate) fn encoder<W: Write>(output: W) -> ZlibEncoder<W> {
    ZlibEncoder::new(output, LEVEL)
}

/// The most that zlib makes of one byte; Deflate cannot do better than 1032 to 1.
const MAX_RATIO: u64 = 1040;
/// The largest object other than a file: a directory of some ten million names.
const MAX_STRUCTURE: u64 = 1 << 30;

/// Refuses a size that cannot be true: one that the `stored` bytes cannot hold, or that no tree, commit or tag has.
/// Files may be as large as their workspace allowed.
pub(crate) fn check_size(kind: ObjectKind, size: u64, stored: u64) -> Result<(), String> {
    if size > stored.saturating_mul(MAX_RATIO) {
        return Err(format!("says it holds {size} bytes, more than {stored} stored bytes can"));
    }
    if kind != ObjectKind::Blob && size > MAX_STRUCTURE {
        return Err(format!("is a {} of {size} bytes, where {MAX_STRUCTURE} are the most", kind.as_str()));
    }
    Ok(())
}

/// Refuses to read what is larger than the caller wants, which says nothing against the object.
pub(crate) fn check_limit(size: u64, limit: u64) -> Result<(), Flaw> {
    if size <= limit {
        return Ok(());
    }
    let message = format!("it holds {size} bytes, where {limit} are the most that is read");
    Err(Flaw::Trouble(io::Error::new(io::ErrorKind::FileTooLarge, message)))
}

/// Why a copy of an object cannot be had.
#[derive(Debug)]
pub(crate) enum Flaw {
    /// It is not what it should be.
    Damage(String),
    /// The system did not let us read it, for want of memory or because of the device: that says nothing about the copy.
    Trouble(io::Error),
}

impl Flaw {
    /// The failure to inflate what was read.
    pub(crate) fn inflating(error: io::Error) -> Flaw {
        match error.kind() {
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => {
                Flaw::Damage(format!("cannot be inflated: {error}"))
            }
            _ => Flaw::Trouble(error),
        }
    }

    /// As the error of whoever needs the object.
    pub(crate) fn into_error(self, id: &ObjectId) -> Error {
        match self {
            Flaw::Damage(problem) => Error::new(Code::Damaged, format!("object {id} {problem}"))
                .then("see what is affected", NextStep::VerifyStore),
            Flaw::Trouble(error) if error.kind() == io::ErrorKind::OutOfMemory => {
                Error::io(format!("read object {id}"), error)
                    .with_hint("give it more memory, or free some: the object is held in memory whole")
            }
            Flaw::Trouble(error) => Error::io(format!("read object {id}"), error),
        }
    }
}

impl From<String> for Flaw {
    fn from(problem: String) -> Flaw {
        Flaw::Damage(problem)
    }
}

impl From<&str> for Flaw {
    fn from(problem: &str) -> Flaw {
        Flaw::Damage(problem.to_owned())
    }
}

/// Inflates exactly `size` bytes, or says what is wrong.
pub(crate) fn inflate(input: impl Read, size: u64) -> Result<Vec<u8>, Flaw> {
    read_exactly(ZlibDecoder::new(input), size)
}

/// Reads exactly `size` bytes of what is inflated, or says what is wrong.
pub(crate) fn read_exactly(input: impl Read, size: u64) -> Result<Vec<u8>, Flaw> {
    // The declared size may itself be damaged, so it is not trusted for an allocation.
    let mut content = Vec::with_capacity(size.min(1 << 20) as usize);
    let mut limited = input.take(size.saturating_add(1));
    limited.read_to_end(&mut content).map_err(Flaw::inflating)?;
    if content.len() as u64 > size {
        return Err(format!("holds more than the {size} bytes its header says").into());
    }
    if content.len() as u64 != size {
        return Err(format!("holds {} bytes where its header says {size}", content.len()).into());
    }
    Ok(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_gits() {
        let empty_tree = object_id(ObjectKind::Tree, b"").unwrap();
        assert_eq!(empty_tree.to_string(), "4b825dc642cb6eb9a060e54bf8d69288fbee4904");
        let hello = object_id(ObjectKind::Blob, b"hello\n").unwrap();
        assert_eq!(hello.to_string(), "ce013625030ba8dba906f756967f9e9ca394464a");
    }

    struct NoMemory;

    impl Read for NoMemory {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::from(io::ErrorKind::OutOfMemory))
        }
    }

    #[test]
    fn what_the_system_refuses_is_no_damage() {
        let id = object_id(ObjectKind::Blob, b"").unwrap();
        let refused = read_exactly(NoMemory, 5).unwrap_err().into_error(&id);
        assert_eq!(refused.code(), Code::Io, "{refused}");
        assert!(refused.hint().is_some_and(|hint| hint.contains("memory")), "{refused:?}");
        let torn = inflate(&b"nonsense"[..], 5).unwrap_err().into_error(&id);
        assert_eq!(torn.code(), Code::Damaged, "{torn}");
    }

    #[test]
    fn a_wrong_size_is_noticed_both_ways() {
        let mut encoder = encoder(Vec::new());
        encoder.write_all(b"hello").unwrap();
        let packed = encoder.finish().unwrap();
        assert_eq!(inflate(&packed[..], 5).unwrap(), b"hello");
        assert!(inflate(&packed[..], 4).is_err());
        assert!(inflate(&packed[..], 6).is_err());
        assert!(inflate(&packed[..packed.len() - 6], 5).is_err());
    }
}
