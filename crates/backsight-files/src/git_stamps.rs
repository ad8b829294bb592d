//! Which files of a work tree are, by the word of Git's index, still what was added. For those that only a program could
//! convert, this tells an untouched one from one that was edited. When in doubt the index vouches for nothing.

use std::collections::HashMap;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use backsight_core::{ObjectId, bounded};

use crate::git_index::{self, MAX_BYTES};
use crate::ignore::id_length;
use crate::object::{IdHasher, ObjectKind};

/// The index's word about every file, or about none.
#[derive(Debug, Default)]
pub(crate) struct IndexStamps {
    stamps: HashMap<Vec<u8>, IndexStamp>,
    /// When the index was written, in seconds and nanoseconds: what changed in the same moment is not known.
    written: (i64, i64),
}

/// A file as it was when it was added.
#[derive(Debug)]
struct IndexStamp {
    id: Vec<u8>,
    /// Ten numbers as the index holds them: the times, where it lies, and its size.
    words: [u32; 10],
}

impl IndexStamps {
    pub(crate) fn load(git_dir: &Path) -> IndexStamps {
        let file = git_dir.join("index");
        let Ok(metadata) = file.metadata() else { return IndexStamps::default() };
        let Ok(bytes) = bounded::read(&file, MAX_BYTES) else { return IndexStamps::default() };
        let mut stamps = HashMap::new();
        let walked = git_index::walk(&bytes, id_length(git_dir), |listed| {
            let mut words = [0; 10];
            for (word, four) in words.iter_mut().zip(listed.stat.chunks_exact(4)) {
                *word = u32::from_be_bytes([four[0], four[1], four[2], four[3]]);
            }
            let stamp = IndexStamp { id: listed.id.to_vec(), words };
            // Of two entries for one path, which a conflict leaves, neither is what was added.
            match stamps.contains_key(listed.path) {
                true => drop(stamps.remove(listed.path)),
                false => drop(stamps.insert(listed.path.to_vec(), stamp)),
            }
            true
        });
        // A part of a split index does not know what the other replaces.
        let is_whole = walked.is_some_and(|end| git_index::shared_index(&bytes, end, id_length(git_dir)).is_none());
        let stamps = if is_whole { stamps } else { HashMap::new() };
        IndexStamps { stamps, written: (metadata.mtime(), metadata.mtime_nsec()) }
    }

    /// Whether `file`, which the index lists as `path`, is still the one that became the blob `checked_in`, and holds
    /// what the blob `content` does.
    pub(crate) fn vouches(&self, path: &[u8], file: &Path, checked_in: &ObjectId, content: &ObjectId) -> bool {
        let Some(stamp) = self.stamps.get(path) else { return false };
        stamp.id == checked_in.as_bytes()
            && std::fs::symlink_metadata(file).is_ok_and(|found| self.is_as_added(stamp, &found))
            && blob_id(file).is_ok_and(|id| id == Some(*content))
    }

    fn is_as_added(&self, stamp: &IndexStamp, found: &std::fs::Metadata) -> bool {
        let [ctime, ctime_nsec, mtime, mtime_nsec, _, inode, _, uid, gid, size] = stamp.words;
        let now = [found.ctime(), found.ctime_nsec(), found.mtime(), found.mtime_nsec()].map(|number| number as u32);
        found.is_file()
            && (found.mtime(), found.mtime_nsec()) < self.written
            && now == [ctime, ctime_nsec, mtime, mtime_nsec]
            && [found.ino() as u32, found.uid(), found.gid(), found.size() as u32] == [inode, uid, gid, size]
    }
}

/// The id that a file's bytes have as they are; none when it changes while it is read.
fn blob_id(file: &Path) -> io::Result<Option<ObjectId>> {
    let mut opened = bounded::open(file)?;
    let size = opened.metadata()?.len();
    let mut hasher = IdHasher::new(ObjectKind::Blob, size);
    let (mut buffer, mut left) = (vec![0; 1 << 18], size);
    loop {
        let count = opened.read(&mut buffer)?;
        if count == 0 {
            return Ok(hasher.finish().ok().filter(|_| left == 0));
        }
        let Some(rest) = left.checked_sub(count as u64) else { return Ok(None) };
        left = rest;
        hasher.update(&buffer[..count]);
    }
}
