//! A tree of files as a value: painted on disk, taken from disk, compared to the last permission bit.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// What stands at a path.
#[derive(Clone, PartialEq, Eq)]
pub enum Thing {
    File {
        mode: u32,
        bytes: Vec<u8>,
    },
    Link {
        text: Vec<u8>,
    },
    Directory {
        mode: u32,
    },
    /// A FIFO, socket or device.
    Other,
}

impl std::fmt::Debug for Thing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Thing::File { mode, bytes } if bytes.len() > 60 => {
                write!(f, "file {mode:04o} of {} bytes `{}...`", bytes.len(), bytes[..40].escape_ascii())
            }
            Thing::File { mode, bytes } => write!(f, "file {mode:04o} `{}`", bytes.escape_ascii()),
            Thing::Link { text } => write!(f, "symlink to `{}`", text.escape_ascii()),
            Thing::Directory { mode } => write!(f, "directory {mode:04o}"),
            Thing::Other => f.write_str("something else"),
        }
    }
}

/// Every path of a workspace, its own `.backsight` left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picture(pub BTreeMap<Vec<u8>, Thing>);

impl Picture {
    pub fn file(&mut self, path: &str, mode: u32, bytes: impl AsRef<[u8]>) -> &mut Self {
        self.put(path.as_bytes(), Thing::File { mode, bytes: bytes.as_ref().to_vec() })
    }

    pub fn link(&mut self, path: &str, text: &str) -> &mut Self {
        self.put(path.as_bytes(), Thing::Link { text: text.as_bytes().to_vec() })
    }

    pub fn directory(&mut self, path: &str, mode: u32) -> &mut Self {
        self.put(path.as_bytes(), Thing::Directory { mode })
    }

    /// Puts a thing in place of whatever is at the path or in its way, with the directories above it.
    pub fn put(&mut self, path: &[u8], thing: Thing) -> &mut Self {
        for (index, _) in path.iter().enumerate().filter(|(_, byte)| **byte == b'/') {
            let above = self.0.entry(path[..index].to_vec()).or_insert(Thing::Directory { mode: 0o755 });
            if !matches!(above, Thing::Directory { .. }) {
                *above = Thing::Directory { mode: 0o755 };
            }
        }
        if !matches!(thing, Thing::Directory { .. }) {
            self.remove(path);
        }
        self.0.insert(path.to_vec(), thing);
        self
    }

    /// Removes a path and everything below it.
    pub fn remove(&mut self, path: &[u8]) -> &mut Self {
        let below = [path, b"/"].concat();
        self.0.retain(|other, _| other != path && !other.starts_with(&below));
        self
    }

    /// How many files and symlinks there are.
    pub fn files(&self) -> usize {
        self.0.values().filter(|thing| !matches!(thing, Thing::Directory { .. })).count()
    }

    /// The same without some paths, what is below them, and the directories above them.
    pub fn without(&self, paths: &[&str]) -> Picture {
        let mut left = self.clone();
        for path in paths {
            left.remove(path.as_bytes());
            for (index, _) in path.bytes().enumerate().filter(|(_, byte)| *byte == b'/') {
                left.0.remove(&path.as_bytes()[..index]);
            }
        }
        left
    }

    /// What is on disk.
    pub fn of(root: &Path) -> Picture {
        let mut picture = Picture::default();
        picture.read(root, root);
        picture
    }

    fn read(&mut self, root: &Path, directory: &Path) {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().as_os_str().as_bytes().to_vec();
            if name == b".backsight" {
                continue;
            }
            let metadata = fs::symlink_metadata(&path).unwrap();
            let mode = metadata.mode() & 0o7777;
            let thing = if metadata.is_dir() {
                self.read(root, &path);
                Thing::Directory { mode }
            } else if metadata.is_symlink() {
                Thing::Link { text: fs::read_link(&path).unwrap().into_os_string().into_vec() }
            } else if metadata.is_file() {
                Thing::File { mode, bytes: fs::read(&path).unwrap() }
            } else {
                Thing::Other
            };
            self.0.insert(name, thing);
        }
    }

    /// Makes the disk show this picture, touching only what differs.
    pub fn paint(&self, root: &Path) {
        let now = Picture::of(root);
        let is_directory = |thing: Option<&Thing>| matches!(thing, Some(Thing::Directory { .. }));
        for (path, thing) in now.0.iter().rev() {
            let wanted = self.0.get(path);
            if wanted == Some(thing) || (is_directory(wanted) && is_directory(Some(thing))) {
                continue;
            }
            match thing {
                Thing::Directory { .. } => fs::remove_dir(at(root, path)).unwrap(),
                _ => fs::remove_file(at(root, path)).unwrap(),
            }
        }
        for (path, thing) in &self.0 {
            if now.0.get(path) != Some(thing) {
                make(&at(root, path), thing);
            }
        }
        // Innermost first, in case a directory lets nobody in.
        for (path, thing) in self.0.iter().rev() {
            if let Thing::Directory { mode } = thing {
                fs::set_permissions(at(root, path), fs::Permissions::from_mode(*mode)).unwrap();
            }
        }
    }

    /// One line for each path that differs; empty when none does.
    pub fn differences(&self, found: &Picture) -> String {
        let mut lines = String::new();
        let paths: std::collections::BTreeSet<_> = self.0.keys().chain(found.0.keys()).collect();
        for path in paths {
            let (wanted, got) = (self.0.get(path), found.0.get(path));
            if wanted != got {
                lines += &format!("    `{}`: expected {wanted:?}, found {got:?}\n", path.escape_ascii());
            }
        }
        lines
    }
}

pub fn at(root: &Path, path: &[u8]) -> PathBuf {
    root.join(OsStr::from_bytes(path))
}

fn make(path: &Path, thing: &Thing) {
    match thing {
        Thing::Directory { .. } if path.is_dir() => {}
        Thing::Directory { .. } => fs::create_dir(path).unwrap(),
        Thing::Link { text } => symlink(OsStr::from_bytes(text), path).unwrap(),
        Thing::File { mode, bytes } => {
            fs::write(path, bytes).unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(*mode)).unwrap();
        }
        Thing::Other => panic!("cannot make `{}`", path.display()),
    }
}

/// Copies a directory tree with its permissions and times, into a directory that is made or was empty.
pub fn copy(from: &Path, to: &Path) {
    if !to.is_dir() {
        fs::create_dir(to).unwrap();
    }
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            copy(&source, &target);
        } else if kind.is_symlink() {
            symlink(fs::read_link(&source).unwrap(), &target).unwrap();
        } else {
            let metadata = entry.metadata().unwrap();
            fs::copy(&source, &target).unwrap();
            let times = fs::FileTimes::new().set_modified(metadata.modified().unwrap());
            fs::File::open(&target).unwrap().set_times(times).unwrap();
        }
    }
    fs::set_permissions(to, fs::metadata(from).unwrap().permissions()).unwrap();
}
