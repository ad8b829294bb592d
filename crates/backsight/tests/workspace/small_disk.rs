//! A small file system of a test's own.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Mounted where the machine lets us mount one, and unmounted when dropped.
pub struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Says so when the machine does not let us: then there is nothing to test.
    pub fn mount(path: &Path) -> Option<SmallDisk> {
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", "size=4m,nr_inodes=1000", "none"]).arg(path).output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(SmallDisk(path.to_owned()));
        }
        println!("cannot mount a file system here: nothing to test");
        None
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        drop(Command::new("umount").arg("--lazy").arg(&self.0).output());
    }
}
