//! What this machine can do at best, with no snapshot behind it: a bare parallel stat walk, and a bare parallel
//! read + hash + compress pass. Both do the least work that could answer the question.

use std::ffi::CStr;
use std::fs;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use flate2::{Compress, Compression, FlushCompress};
use rayon::Scope;
use rayon::prelude::*;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawDir, openat, statat};

use crate::Result;
use crate::tree::{IGNORED, Tree};

/// What a walk found.
pub struct Walk {
    /// How long it took.
    pub elapsed: Duration,
    /// How many entries were asked for their metadata.
    pub entries: u64,
}

/// Lists every directory and asks for the metadata of every entry, on all cores. It enters neither `.backsight` nor
/// `.git` nor the ignored directory, so it looks at exactly what a snapshot must look at.
pub fn stat_walk(root: &Path) -> Result<Walk> {
    let start = Instant::now();
    let entries = AtomicU64::new(0);
    let failures = AtomicU64::new(0);
    let walker = Walker { entries: &entries, failures: &failures };
    let root = openat(CWD, root, DIRECTORY, Mode::empty())?;
    rayon::scope(|scope| walker.directory(root, scope));
    let elapsed = start.elapsed();
    match failures.into_inner() {
        0 => Ok(Walk { elapsed, entries: entries.into_inner() }),
        count => Err(format!("the stat walk failed on {count} entries").into()),
    }
}

const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC).union(OFlags::NOFOLLOW);

#[derive(Clone, Copy)]
struct Walker<'a> {
    entries: &'a AtomicU64,
    failures: &'a AtomicU64,
}

impl<'a> Walker<'a> {
    fn directory(self, directory: OwnedFd, scope: &Scope<'a>) {
        let mut buffer = [MaybeUninit::uninit(); 16_384];
        let mut listing = RawDir::new(&directory, &mut buffer);
        let mut seen = 0;
        while let Some(entry) = listing.next() {
            let Ok(entry) = entry else {
                self.failures.fetch_add(1, Ordering::Relaxed);
                break;
            };
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b".." | b".git" | b".backsight") {
                continue;
            }
            seen += 1;
            match statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Directory => {
                    self.enter(&directory, name, scope);
                }
                Ok(_) => {}
                Err(_) => self.fail(),
            }
        }
        self.entries.fetch_add(seen, Ordering::Relaxed);
    }

    fn enter(self, directory: &OwnedFd, name: &CStr, scope: &Scope<'a>) {
        if name.to_bytes() == IGNORED.as_bytes() {
            return;
        }
        match openat(directory, name, DIRECTORY, Mode::empty()) {
            Ok(child) => scope.spawn(move |scope| self.directory(child, scope)),
            Err(_) => self.fail(),
        }
    }

    fn fail(self) {
        self.failures.fetch_add(1, Ordering::Relaxed);
    }
}

/// What a pass over the contents produced.
pub struct Pass {
    /// How long it took.
    pub elapsed: Duration,
    /// The compressed bytes, thrown away.
    pub compressed: u64,
}

/// Reads every file, hashes it as a Git blob with collision detection and deflates it at level 1, on all cores.
/// Nothing is written.
pub fn content_pass(tree: &Tree) -> Result<Pass> {
    let start = Instant::now();
    let sizes: std::result::Result<Vec<u64>, String> = tree
        .files
        .par_iter()
        .map_init(
            || (Compress::new(Compression::new(1), true), Vec::new()),
            |(compress, buffer), path| {
                digest(&tree.root.join(path), compress, buffer).map_err(|error| error.to_string())
            },
        )
        .collect();
    let elapsed = start.elapsed();
    Ok(Pass { elapsed, compressed: sizes?.iter().sum() })
}

fn digest(path: &Path, compress: &mut Compress, buffer: &mut Vec<u8>) -> Result<u64> {
    let content = fs::read(path)?;
    let mut hasher = sha1dc::Hasher::new();
    hasher.update(format!("blob {}\0", content.len()).as_bytes());
    hasher.update(&content);
    std::hint::black_box(hasher.finalize()?);
    // Deflate never grows its input by more than this, so one call finishes the stream.
    buffer.resize(buffer.len().max(content.len() + content.len() / 500 + 128), 0);
    compress.reset();
    compress.compress(&content, buffer, FlushCompress::Finish)?;
    Ok(compress.total_out())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Shape;

    #[test]
    fn both_limits_see_every_file_once() {
        let directory = tempfile::tempdir().unwrap();
        let tree = Tree::generate(&directory.path().join("t"), Shape { files: 300, bytes: 300_000, seed: 3 }).unwrap();
        let walk = stat_walk(&tree.root).unwrap();
        assert!(walk.entries as usize > tree.files.len(), "{}", walk.entries);
        let pass = content_pass(&tree).unwrap();
        assert!(pass.compressed > tree.bytes / 6 && pass.compressed < tree.bytes, "{}", pass.compressed);
    }
}
