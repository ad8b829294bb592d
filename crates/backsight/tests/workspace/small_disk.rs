//! A small file system of a test's own.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Unmounted when dropped. Mounting needs root: a test that cannot have what it needs fails, it does not pretend.
pub struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Says so when the machine does not let us: then there is nothing to test.
    pub fn mount(path: &Path) -> SmallDisk {
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", "size=4m,nr_inodes=1000", "none"]).arg(path).output();
        let mounted = mounted.expect("`mount` is missing: apt-get install mount");
        assert!(
            mounted.status.success(),
            "cannot mount a file system: run the tests as root, or with `sudo -E make test`"
        );
        SmallDisk(path.to_owned())
    }

    /// The same directory at a second place: another mount of one device, as a container's volume is.
    pub fn bind(directory: &Path, path: &Path) -> SmallDisk {
        let bound = Command::new("mount").arg("--bind").args([directory, path]).output();
        let bound = bound.expect("`mount` is missing: apt-get install mount");
        assert!(bound.status.success(), "cannot bind a directory: run the tests as root, or with `sudo -E make test`");
        SmallDisk(path.to_owned())
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
