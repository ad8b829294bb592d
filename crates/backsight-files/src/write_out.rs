//! Writes through shared memory. While a page is dirty the kernel moves no time stamp for what else is written to it, so a
//! file that was read in that state would look unchanged after the next write. Once the page is on its way to the disk, the
//! next write moves the stamp again: so a file whose stamp is new is sent on its way before it is read.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::platform;

/// So many files are written out in one capture: each may wait for a write that is under way already.
const MOST: u64 = 64;
/// What is smaller is hardly worth mapping.
const PAGE: u64 = 4096;

/// What one capture may still write out.
pub(crate) struct WriteOut {
    left: AtomicU64,
    /// All files are read that can be written out; else only those that look like what programs map.
    is_all: bool,
}

impl WriteOut {
    /// For a capture that reads so many files.
    pub(crate) fn of(files: u64) -> Self {
        WriteOut { left: AtomicU64::new(MOST), is_all: files <= MOST }
    }

    /// Writes a regular file out that is about to be looked at and read. A file system that cannot do it has no pages to
    /// write out.
    pub(crate) fn prepare(&self, file: &File, size: u64) {
        let is_meant = self.is_all || size >= PAGE && is_binary(file);
        let take = |left: u64| left.checked_sub(1);
        if is_meant && self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok() {
            platform::start_writing_out(file);
        }
    }
}

fn is_binary(file: &File) -> bool {
    let mut start = [0; 512];
    file.read_at(&mut start, 0).is_ok_and(|count| start[..count].contains(&0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_files_only_those_are_written_out_that_programs_map_and_not_all_of_them() {
        let directory = tempfile::tempdir().unwrap();
        let file = |name: &str, bytes: &[u8]| {
            let path = directory.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            File::open(path).unwrap()
        };
        let (text, binary) = (file("text", &[b'a'; 8192]), file("binary", &[0; 8192]));
        let left = |write_out: &WriteOut| write_out.left.load(Ordering::Relaxed);
        let many = WriteOut::of(1000);
        many.prepare(&text, 8192);
        many.prepare(&binary, 100);
        assert_eq!(left(&many), MOST);
        (0..2 * MOST).for_each(|_| many.prepare(&binary, 8192));
        assert_eq!(left(&many), 0);
        let few = WriteOut::of(3);
        few.prepare(&text, 10);
        assert_eq!(left(&few), MOST - 1);
    }
}
