//! Files with several names, and the directories they are in: a write through one name is announced in that name's directory
//! only, so the directories of all names are looked at each time.

use std::collections::BTreeMap;

use rustix::fs::{FileType, Stat};

/// The inode of a file with several names.
pub(crate) fn inode_with_names(stat: &Stat) -> Option<u64> {
    let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    (is_file && stat.st_nlink > 1).then_some(stat.st_ino)
}

/// The files with several names that walks came by.
#[derive(Clone, Debug, Default)]
pub(crate) struct Linked {
    /// The inodes of such files in a directory; none is without any.
    inodes: BTreeMap<Vec<u8>, Vec<u64>>,
    /// In how many directories each of them was seen. One that has only one name left is forgotten: when it gets another one,
    /// the directory of the first has to be found again.
    directories: BTreeMap<u64, usize>,
}

impl Linked {
    /// Whether another name of the file was seen.
    pub(crate) fn knows(&self, inode: u64) -> bool {
        self.directories.contains_key(&inode)
    }

    /// The directories with such files.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Vec<u8>> {
        self.inodes.keys()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.inodes.is_empty()
    }

    pub(crate) fn has(&self, path: &[u8]) -> bool {
        self.inodes.contains_key(path)
    }

    /// A directory was looked at and has these files.
    pub(crate) fn set(&mut self, path: &[u8], inodes: &[u64]) {
        self.remove(path);
        if inodes.is_empty() {
            return;
        }
        for inode in inodes {
            *self.directories.entry(*inode).or_default() += 1;
        }
        self.inodes.insert(path.to_vec(), inodes.to_vec());
    }

    /// A directory is no more, or has none of them any more.
    pub(crate) fn remove(&mut self, path: &[u8]) {
        for inode in self.inodes.remove(path).unwrap_or_default() {
            if let Some(directories) = self.directories.get_mut(&inode) {
                *directories -= 1;
                if *directories == 0 {
                    self.directories.remove(&inode);
                }
            }
        }
    }

    /// Forgets directories that are no more.
    pub(crate) fn retain(&mut self, is_there: impl Fn(&[u8]) -> bool) {
        let gone: Vec<Vec<u8>> = self.inodes.keys().filter(|path| !is_there(path)).cloned().collect();
        gone.iter().for_each(|path| self.remove(path));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_as_long_as_a_directory_has_it() {
        let mut linked = Linked::default();
        linked.set(b"a", &[1, 2]);
        linked.set(b"b", &[2, 2]);
        assert!(linked.knows(1) && linked.knows(2) && linked.has(b"a"));
        linked.set(b"a", &[]);
        assert!(!linked.knows(1) && linked.knows(2) && !linked.has(b"a"));
        linked.retain(|path| path != b"b");
        assert!(linked.is_empty() && !linked.knows(2) && linked.paths().next().is_none());
    }
}
