//! The exact picture of a directory: every path with its kind, all permission bits, and its bytes or link text.
//! Two pictures are equal only when nothing a user could notice differs.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// What stands at a path.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Thing {
    File { mode: u32, bytes: Vec<u8> },
    Link(Vec<u8>),
    Directory { mode: u32 },
    Special,
}

impl fmt::Debug for Thing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = |bytes: &[u8]| String::from_utf8_lossy(&bytes[..bytes.len().min(60)]).into_owned();
        match self {
            Thing::File { mode, bytes } => write!(f, "file {mode:04o} {} bytes {:?}", bytes.len(), short(bytes)),
            Thing::Link(text) => write!(f, "link {:?}", short(text)),
            Thing::Directory { mode } => write!(f, "directory {mode:04o}"),
            Thing::Special => f.write_str("special"),
        }
    }
}

/// Every path below a directory.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Picture(pub BTreeMap<Vec<u8>, Thing>);

impl fmt::Debug for Picture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.0.iter().map(|(path, thing)| (String::from_utf8_lossy(path), thing))).finish()
    }
}

impl Picture {
    /// Everything below `root` except Backsight's own directory.
    pub fn of(root: &Path) -> Self {
        let mut things = BTreeMap::new();
        walk(root, Path::new(""), &mut |path, full| {
            if path == Path::new(".backsight") {
                return false;
            }
            things.insert(path.as_os_str().as_bytes().to_vec(), thing(full));
            true
        });
        Picture(things)
    }

    /// Only what is at or below `path`.
    pub fn at(&self, path: &str) -> Picture {
        let inside = |key: &[u8]| key == path.as_bytes() || key.starts_with(format!("{path}/").as_bytes());
        Picture(self.0.iter().filter(|(key, _)| inside(key)).map(|(key, thing)| (key.clone(), thing.clone())).collect())
    }

    /// Everything but what is at or below `path`.
    pub fn without(&self, path: &str) -> Picture {
        let inside = self.at(path);
        let rest = self.0.iter().filter(|(key, _)| !inside.0.contains_key(*key));
        Picture(rest.map(|(key, thing)| (key.clone(), thing.clone())).collect())
    }

    pub fn files(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.0.iter().filter_map(|(path, thing)| match thing {
            Thing::File { bytes, .. } => Some((path.as_slice(), bytes.as_slice())),
            _ => None,
        })
    }

    /// The paths at which two pictures differ, for a message that fits a screen.
    pub fn difference(&self, other: &Picture) -> String {
        let mut text = String::new();
        let keys: std::collections::BTreeSet<_> = self.0.keys().chain(other.0.keys()).collect();
        for key in keys {
            let (left, right) = (self.0.get(key), other.0.get(key));
            if left != right {
                text.push_str(&format!("  {}: {left:?} != {right:?}\n", String::from_utf8_lossy(key)));
            }
        }
        text
    }

    /// Fails with the differences only.
    #[track_caller]
    pub fn expect(&self, expected: &Picture, what: &str) {
        assert!(self == expected, "{what} (found != expected):\n{}", self.difference(expected));
    }
}

/// Inode and time of last write of every file: what a restore must not disturb without need.
pub fn identities(root: &Path) -> BTreeMap<PathBuf, (u64, i64, i64)> {
    let mut found = BTreeMap::new();
    walk(root, Path::new(""), &mut |path, full| {
        if path == Path::new(".backsight") {
            return false;
        }
        let metadata = full.symlink_metadata().unwrap();
        if !metadata.is_dir() {
            found.insert(path.to_owned(), (metadata.ino(), metadata.mtime(), metadata.mtime_nsec()));
        }
        true
    });
    found
}

/// Calls `visit(relative, full)` for every path, parents first; false means "do not go in".
pub fn walk(root: &Path, below: &Path, visit: &mut dyn FnMut(&Path, &Path) -> bool) {
    let mut names: Vec<_> = fs::read_dir(root.join(below)).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    for name in names {
        let path = below.join(&name);
        let full = root.join(&path);
        let is_directory = full.symlink_metadata().unwrap().is_dir();
        if visit(&path, &full) && is_directory {
            walk(root, &path, visit);
        }
    }
}

fn thing(path: &Path) -> Thing {
    let metadata = path.symlink_metadata().unwrap();
    let kind = metadata.file_type();
    let mode = metadata.permissions().mode() & 0o7777;
    if kind.is_symlink() {
        Thing::Link(fs::read_link(path).unwrap().as_os_str().as_bytes().to_vec())
    } else if kind.is_dir() {
        Thing::Directory { mode }
    } else if kind.is_fifo() || kind.is_socket() || kind.is_char_device() || kind.is_block_device() {
        Thing::Special
    } else {
        Thing::File { mode, bytes: fs::read(path).unwrap() }
    }
}

/// A path from bytes.
pub fn path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}
