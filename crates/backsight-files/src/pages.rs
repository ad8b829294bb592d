//! Writes through shared memory. The first one to a page moves the file's stamp; while that page is dirty the kernel moves no
//! stamp for what else is written to it. So a file is believed by its stamp only when none of its pages was dirty as it was
//! read: the next write then moves the stamp. One with dirty pages is read again by the next capture, until the kernel has
//! written them out, some thirty seconds later.

use std::fs::File;

use crate::cache::{FileTime, Stat};
use crate::platform::{self, CachedPages};

/// A page is written out by then where the kernel does not tell: 35 seconds are usual, and a busy disk takes longer.
const LONGEST_SECONDS: i64 = 120;

/// What the kernel said of a file's pages before the file was read.
pub(crate) struct PagesBefore(Option<CachedPages>);

impl PagesBefore {
    /// Asks after the stamp was looked at and before the content is: what is dirty later than now is stamped later, too.
    pub(crate) fn of(file: &File) -> Self {
        PagesBefore(platform::pages_of(file))
    }

    /// Whether every later write to the file, which has been read meanwhile, moves its stamp.
    pub(crate) fn shows_writes(&self, file: &File, stat: &Stat, looked_at: FileTime) -> bool {
        match self.0 {
            _ if stat.size == 0 => true,
            Some(pages) if pages.dirty > 0 => false,
            Some(pages) if pages.cached > 0 => true,
            // Reading has brought pages to memory, unless the file system keeps them where the kernel does not look: an
            // overlay has them in the file below.
            Some(_) if platform::pages_of(file).is_some_and(|pages| pages.cached > 0) => true,
            _ => stat.changed.seconds.saturating_add(LONGEST_SECONDS) < looked_at.seconds,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(cached: u64, dirty: u64) -> PagesBefore {
        PagesBefore(Some(CachedPages { cached, dirty }))
    }

    #[test]
    fn a_file_is_believed_when_none_of_its_pages_was_dirty() {
        let nameless = platform::nameless_file().unwrap();
        let stat = |size| Stat { size, changed: FileTime { seconds: 1000, nanoseconds: 0 }, ..Stat::default() };
        let shows = |pages: PagesBefore, size, seconds| {
            pages.shows_writes(&nameless, &stat(size), FileTime { seconds, nanoseconds: 0 })
        };
        assert!(shows(pages(3, 0), 9000, 1001));
        assert!(!shows(pages(3, 1), 9000, i64::MAX), "however old the stamp is");
        assert!(shows(PagesBefore(None), 0, 1001), "nothing can be written to a page of an empty file");
        for unknown in [|| pages(0, 0), || PagesBefore(None)] {
            assert!(!shows(unknown(), 9000, 1000 + LONGEST_SECONDS));
            assert!(shows(unknown(), 9000, 1001 + LONGEST_SECONDS));
        }
    }
}
