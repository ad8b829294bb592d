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

    /// A disk of 16 MB in `image` with blocks that are smaller than a page, as `mkfs` makes them on small disks.
    pub fn with_small_blocks(image: &Path, path: &Path) -> SmallDisk {
        std::fs::File::create_new(image).unwrap().set_len(16 << 20).unwrap();
        let made = Command::new("mkfs.ext4").args(["-q", "-b", "1024", "-m", "0"]).arg(image).output();
        let made = made.expect("`mkfs.ext4` is missing: apt-get install e2fsprogs");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        SmallDisk::of_image(image, path)
    }

    /// What is in an image.
    pub fn of_image(image: &Path, path: &Path) -> SmallDisk {
        let mounted = Command::new("mount").args(["-o", "loop"]).args([image, path]).output();
        let mounted = mounted.expect("`mount` is missing: apt-get install mount");
        assert!(mounted.status.success(), "cannot mount a disk: run the tests as root, or with `sudo -E make test`");
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
