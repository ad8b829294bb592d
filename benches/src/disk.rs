//! Bytes on disk, as `du` counts them.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::Result;

/// The size of a directory and everything below it.
#[derive(Clone, Copy, Default)]
pub struct Size {
    /// The bytes files say they have.
    pub apparent: u64,
    /// The bytes of the blocks they occupy.
    pub allocated: u64,
}

impl Size {
    /// How much larger than `before`, for each of `count`.
    pub fn growth_per(self, before: Size, count: usize) -> Size {
        let share = |now: u64, before: u64| now.saturating_sub(before) / count.max(1) as u64;
        Size { apparent: share(self.apparent, before.apparent), allocated: share(self.allocated, before.allocated) }
    }
}

/// Adds everything up, without following symlinks. Directories count with their blocks only.
pub fn usage(path: &Path) -> Result<Size> {
    let metadata = fs::symlink_metadata(path)?;
    let mut size = Size { apparent: 0, allocated: metadata.blocks() * 512 };
    if !metadata.is_dir() {
        size.apparent = metadata.len();
        return Ok(size);
    }
    for entry in fs::read_dir(path)? {
        let below = usage(&entry?.path())?;
        size.apparent += below.apparent;
        size.allocated += below.allocated;
    }
    Ok(size)
}
